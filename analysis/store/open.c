/* open: see store.h. Opening, the list of tables and their columns; scans are in cursor.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/store/store.h"
#include "analysis/store/store_internal.h"

enum {
    STORE_BUSY_MS = 200, /* a reader waits this long for a writer that is just finishing */
    STORE_LOCK_BYTE = 0x40000000, /* SQLite file format: the lock-byte page */
    STORE_LOCK_LEN = 512
};

/* SQLite's own message without bytes that could harm a terminal: it may quote the file. */
static const char *store_db_message(struct store *store, char out[200])
{
    (void)snprintf(out, 200, "%s", store->db == NULL ? "no database" : sqlite3_errmsg(store->db));
    for (size_t i = 0; out[i] != '\0'; i++) {
        if ((unsigned char)out[i] < 0x20 || (unsigned char)out[i] >= 0x7f) {
            out[i] = '?';
        }
    }
    return out;
}

int store_fail(struct store *store, struct err *err)
{
    char message[200];
    int code = store->db == NULL ? SQLITE_NOMEM : sqlite3_errcode(store->db);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return err_set(err,
                       "%s: the database is damaged (cut while copied, or its export was killed): "
                       "copy or export it again",
                       store->path);
    case SQLITE_NOTADB:
        return err_set(err, "%s: not a SQLite database, or an encrypted one", store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, "%s: locked by a program that writes it: try again when it is done",
                       store->path);
    case SQLITE_NOMEM:
        return err_nomem(err, store->path);
    default:
        return err_set(err, "%s: cannot be read: %s", store->path,
                       store_db_message(store, message));
    }
}

/* "file:" URI of a path: everything but the plainest bytes is escaped. */
static void store_uri(struct buf *out, const char *path, bool immutable)
{
    buf_adds(out, "file:");
    while (path[0] == '/' && path[1] == '/') {
        path++; /* "//x" would read as a host name */
    }
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr("/._-", c) != NULL) {
            buf_addc(out, (char)c);
        } else {
            buf_addf(out, "%%%02X", c);
        }
    }
    buf_adds(out, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
}

/* Reads the first page; SQLITE_OK or SQLite's code. */
static int store_probe(struct store *store)
{
    return sqlite3_exec(store->db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
}

static int store_connect(struct store *store, bool immutable)
{
    struct buf uri = {0};
    int code = SQLITE_NOMEM;
    sqlite3_close(store->db);
    store->db = NULL;
    store->immutable = immutable;
    store_uri(&uri, store->path, immutable);
    if (!buf_failed(&uri)) {
        code = sqlite3_open_v2(buf_text(&uri), &store->db,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    }
    buf_free(&uri);
    if (code != SQLITE_OK) {
        return code;
    }
    /* Nothing in a stranger's file may run: no functions in views, triggers, generated columns. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    (void)sqlite3_exec(store->db,
                       "PRAGMA mmap_size=1099511627776; PRAGMA cell_size_check=ON;"
                       "PRAGMA query_only=ON",
                       NULL, NULL, NULL);
    return store_probe(store);
}

/* Who holds SQLite's lock? > 0: that process; 0: nobody; -1: the file system has no locks. */
static long store_lock_holder(const char *path)
{
    struct flock lock = {.l_type = F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = STORE_LOCK_BYTE,
                         .l_len = STORE_LOCK_LEN};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long holder = -1;
    if (fd < 0) {
        return -1;
    }
    if (fcntl(fd, F_GETLK, &lock) == 0) {
        holder = lock.l_type == F_UNLCK ? 0 : (lock.l_pid > 0 ? (long)lock.l_pid : 1);
    }
    (void)close(fd);
    return holder;
}

/* Is there a file PATH+suffix that is not empty? */
static bool store_beside(const char *path, const char *suffix)
{
    struct buf name = {0};
    struct stat st;
    buf_adds(&name, path);
    buf_adds(&name, suffix);
    bool found = !buf_failed(&name) && stat(buf_text(&name), &st) == 0 && st.st_size > 0;
    buf_free(&name);
    return found;
}

/* Opens normally; without locks where locks or the folder forbid it and nothing would be missed. */
static int store_open_db(struct store *store, struct err *err)
{
    int code = store_connect(store, false);
    if (code == SQLITE_OK) {
        return 0;
    }
    if ((code & 0xff) == SQLITE_BUSY && store_lock_holder(store->path) > 0) {
        return store_fail(store, err);
    }
    if ((code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT ||
        (code & 0xff) == SQLITE_NOMEM) {
        return store_fail(store, err);
    }
    if (store_beside(store->path, "-journal")) {
        return err_set(err,
                       "%s: its writer was killed half way (%s-journal is there): export again, or "
                       "open it once with sqlite3 in a writable folder",
                       store->path, store->path);
    }
    if (store_beside(store->path, "-wal")) {
        return err_set(err,
                       "%s: its newest rows are in %s-wal, which cannot be read here: copy both "
                       "to a writable folder",
                       store->path, store->path);
    }
    code = store_connect(store, true);
    return code == SQLITE_OK ? 0 : store_fail(store, err);
}

static int store_list_tables(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int cap = 0;
    int code;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid", -1,
                           &stmt, NULL) != SQLITE_OK) {
        return store_fail(store, err);
    }
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (name == NULL) {
            continue;
        }
        if (store->table_count == cap) {
            cap = cap == 0 ? 64 : cap * 2;
            struct store_table_info *grown = realloc(store->tables, (size_t)cap * sizeof *grown);
            if (grown == NULL) {
                break;
            }
            store->tables = grown;
        }
        store->tables[store->table_count] = (struct store_table_info){0};
        store->tables[store->table_count].name =
            arena_copy(&store->arena, name, (size_t)sqlite3_column_bytes(stmt, 0));
        if (store->tables[store->table_count].name == NULL) {
            break;
        }
        store->table_count++;
    }
    if (code != SQLITE_DONE) {
        (void)(code == SQLITE_ROW ? err_nomem(err, store->path) : store_fail(store, err));
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE ? 0 : -1;
}

struct store *store_open(const char *path, struct err *err)
{
    if (store_sniff(path, err) != 0) {
        return NULL;
    }
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return err_null(err, "not enough memory to open %s", path);
    }
    store->path = malloc(strlen(path) + 1);
    if (store->path == NULL) {
        free(store);
        return err_null(err, "not enough memory to open %s", path);
    }
    memcpy(store->path, path, strlen(path) + 1);
    if (store_open_db(store, err) != 0 || store_list_tables(store, err) != 0 ||
        store_sniff_tables(store, err) != 0) {
        store_close(store);
        return NULL;
    }
    return store;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    sqlite3_close(store->db);
    for (int i = 0; i < STORE_ENUM_COUNT; i++) {
        free(store->labels[i]);
    }
    free(store->tables);
    free(store->path);
    arena_free(&store->arena);
    free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

/* The n of "NAME_V<n>" for the table name, -1 where it is not of that form. */
static long store_variant(const char *name, const char *table)
{
    size_t len = strlen(table);
    char *end;
    if (strncmp(name, table, len) != 0 || strncmp(name + len, "_V", 2) != 0 ||
        name[len + 2] < '0' || name[len + 2] > '9') {
        return -1;
    }
    errno = 0;
    long n = strtol(name + len + 2, &end, 10);
    return *end != '\0' || errno != 0 ? -1 : n;
}

struct store_table_info *store_find_table(struct store *store, const char *table)
{
    struct store_table_info *best = NULL;
    long best_variant = -1;
    for (int i = 0; i < store->table_count; i++) {
        if (strcmp(store->tables[i].name, table) == 0) {
            return &store->tables[i];
        }
        long variant = store_variant(store->tables[i].name, table);
        if (variant > best_variant) {
            best = &store->tables[i];
            best_variant = variant;
        }
    }
    return best;
}

bool store_has_table(struct store *store, const char *table)
{
    return store_find_table(store, table) != NULL;
}

/* Reads the names of a table's columns once. Without memory the table has none. */
static void store_read_columns(struct store *store, struct store_table_info *table)
{
    const char *names[STORE_COLUMNS_MAX * 4];
    const int max = (int)(sizeof names / sizeof names[0]);
    sqlite3_stmt *stmt = NULL;
    int count = 0;
    if (sqlite3_prepare_v2(store->db, "SELECT name FROM pragma_table_info(?1)", -1, &stmt, NULL) !=
        SQLITE_OK) {
        return;
    }
    (void)sqlite3_bind_text(stmt, 1, table->name, -1, SQLITE_STATIC);
    while (count < max && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        names[count] = name == NULL ? NULL : arena_copy(&store->arena, name, strlen(name));
        count += names[count] != NULL;
    }
    sqlite3_finalize(stmt);
    table->columns = arena_alloc(&store->arena, (size_t)(count + 1) * sizeof *table->columns);
    if (table->columns != NULL) {
        memcpy(table->columns, names, (size_t)count * sizeof *names);
        table->column_count = count;
    }
}

bool store_has_column(struct store *store, const char *table, const char *column)
{
    struct store_table_info *info = store_find_table(store, table);
    if (info == NULL) {
        return false;
    }
    if (info->columns == NULL) {
        store_read_columns(store, info);
    }
    for (int i = 0; info->columns != NULL && i < info->column_count; i++) {
        if (sqlite3_stricmp(info->columns[i], column) == 0) {
            return true;
        }
    }
    return false;
}

/* One number of one row of "SELECT WHAT FROM TABLE"; missing where the table is missing, NULL, or
 * the statement fails (*ok false then). */
static int64_t store_number(struct store *store, const char *what, const char *table,
                            int64_t missing, bool *ok)
{
    struct store_table_info *info = store_find_table(store, table);
    sqlite3_stmt *stmt = NULL;
    int64_t value = missing;
    *ok = true;
    if (info == NULL) {
        return missing;
    }
    char *sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", what, info->name);
    *ok = sql != NULL && sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
          sqlite3_step(stmt) == SQLITE_ROW;
    if (*ok && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        value = sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return value;
}

int64_t store_count(struct store *store, const char *table, struct err *err)
{
    bool ok;
    int64_t count = store_number(store, "count(*)", table, 0, &ok);
    if (!ok) {
        return store_fail(store, err);
    }
    return count;
}

int64_t store_row_bound(struct store *store, const char *table)
{
    bool ok;
    int64_t last = store_number(store, "max(rowid)", table, 0, &ok);
    return last < 0 || last == INT64_MAX ? 0 : last + (last > 0);
}
