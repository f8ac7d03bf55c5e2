/* open: see store.h. Opening, the list of tables and their columns; scans are in cursor.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/store/file_internal.h"
#include "analysis/store/store.h"
#include "analysis/store/store_internal.h"

enum {
    STORE_BUSY_MS = 200 /* a reader waits this long for a writer that is just finishing */
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
    if (store_file_check(store->file, err) != 0) {
        return -1; /* whatever was found in it */
    }
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

static int store_probe(struct store *store)
{
    return sqlite3_exec(store->db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
}

/*
 * A name in place of the path: file->vfs opens the one file that it is for. Nothing that a
 * stranger's file describes may run: no functions in views, triggers, generated columns.
 */
static int store_connect(struct store *store, struct err *err)
{
    int code = sqlite3_open_v2("capture", &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                               store->file->vfs_name);
    if (code == SQLITE_OK) {
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
        code = sqlite3_exec(store->db,
                            "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA temp_store=2",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        store_guard(store);
        code = store_probe(store);
    }
    return code == SQLITE_OK ? 0 : store_fail(store, err);
}

/* Adds a table to the list. 0, or -1 without memory. */
static int store_add_table(struct store *store, const char *name)
{
    const char *copy = arena_copy(&store->arena, name, strlen(name));
    if (store->table_count == store->table_cap) {
        int cap = store->table_cap == 0 ? 64 : store->table_cap * 2;
        struct store_table_info *grown = realloc(store->tables, (size_t)cap * sizeof *grown);
        if (grown == NULL) {
            return -1;
        }
        store->tables = grown;
        store->table_cap = cap;
    }
    if (copy == NULL) {
        return -1;
    }
    struct store_table_info *table = &store->tables[store->table_count++];
    *table = (struct store_table_info){.name = copy};
    return 0;
}

/* The row of a virtual table has no page of its own; who edits that still writes what it is. */
static bool store_is_virtual(sqlite3_stmt *stmt)
{
    static const char create[] = "CREATE VIRTUAL";
    const char *sql = (const char *)sqlite3_column_text(stmt, 2);
    return sqlite3_column_int64(stmt, 1) == 0 ||
           (sql != NULL && sqlite3_strnicmp(sql, create, (int)sizeof create - 1) == 0);
}

/* Tables of modules that run code on what a stranger wrote are left out; one that stands where a
 * capture has a table of events is no capture. */
static int store_list_row(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
    const char *name = (const char *)sqlite3_column_text(stmt, 0);
    if (name == NULL) {
        return 0;
    }
    if (!store_is_virtual(stmt)) {
        return store_add_table(store, name) == 0 ? 0 : err_nomem(err, store->path);
    }
    return store_sniff_name(name) ? err_set(err,
                                            "%s: its table %.60s is a virtual one, which no "
                                            "program that captures writes: not read",
                                            store->path, name)
                                  : 0;
}

static int store_list_tables(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int status = 0;
    int code = SQLITE_ROW;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' "
                           "ORDER BY rowid",
                           -1, &stmt, NULL) != SQLITE_OK) {
        return store_fail(store, err);
    }
    while (status == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        status = store_list_row(store, stmt, err);
    }
    if (status == 0 && code != SQLITE_DONE) {
        status = store_fail(store, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

struct store *store_open_file(struct store_file *file, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return err_null(err, "not enough memory to open %s", store_file_path(file));
    }
    store->file = store_file_share(file);
    store->path = store_file_path(file);
    if (store_connect(store, err) == 0 && store_list_tables(store, err) == 0 &&
        store_sniff_tables(store, err) == 0 && store_file_check(file, err) == 0) {
        return store;
    }
    (void)store_file_check(file, err); /* that comes before whatever was found in it */
    store_close(store);
    return NULL;
}

struct store *store_open(const char *path, struct err *err)
{
    struct store_file *file = store_file_open(path, err);
    struct store *store = file == NULL ? NULL : store_open_file(file, err);
    store_file_close(file);
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
    store_file_close(store->file);
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
    char *sql = sqlite3_mprintf("PRAGMA table_info(\"%w\")", table->name);
    if (sql != NULL) {
        (void)sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
        sqlite3_free(sql);
    }
    while (stmt != NULL && count < max && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
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

const char *store_row_id(struct store *store, struct store_table_info *table)
{
    /* SQLite: CREATE TABLE, "ROWIDs and the INTEGER PRIMARY KEY". A column of that name hides it. */
    static const char *const words[] = {"rowid", "_rowid_", "oid"};
    if (table->row_id != NULL) {
        return table->row_id;
    }
    table->row_id = "";
    for (size_t i = 0; i < sizeof words / sizeof words[0] && table->row_id[0] == '\0'; i++) {
        sqlite3_stmt *stmt = NULL;
        char *sql = NULL;
        if (!store_has_column(store, table->name, words[i])) {
            sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", words[i], table->name);
        }
        if (sql != NULL && sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
            table->row_id = words[i];
        }
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    return table->row_id;
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
    struct store_table_info *info = store_find_table(store, table);
    const char *word = info == NULL ? "" : store_row_id(store, info);
    char what[32];
    bool ok;
    (void)snprintf(what, sizeof what, "max(%s)", word);
    int64_t last = store_number(store, word[0] == '\0' ? "count(*)" : what, table, 0, &ok);
    return last < 0 || last == INT64_MAX ? 0 : last + (last > 0);
}
