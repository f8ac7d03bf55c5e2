/* The capture writer: see writer.h for the contract.
 *
 * Speed comes from four things: one transaction with no journal, statements prepared once, no file
 * locks (the file has no name that anyone knows), and values that are the same as in the row before
 * are not bound again, which is most of the 40 columns of a kernel row.
 *
 * Cost: O(length) a string, O(columns) a row; memory: the distinct strings and 32 MiB of pages. */
#include "analysis/store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/store/writer_enums.h"

#define SCHEMA_MAJOR "3"
#define SCHEMA_MINOR "25"
#define SCHEMA_MICRO "0"

enum {
    CACHE_KIB = 32 * 1024
};

enum column_type {
    STORE_INT,
    STORE_INT_NOT_NULL,
    STORE_INT_KEY,
    STORE_REAL,
    STORE_TEXT,
    STORE_TEXT_NOT_NULL,
};

enum table_when {
    STORE_LAZY,
    STORE_ALWAYS
};

static const char *const type_sql[] = {
    [STORE_INT] = "INTEGER",
    [STORE_INT_NOT_NULL] = "INTEGER NOT NULL",
    [STORE_INT_KEY] = "INTEGER NOT NULL PRIMARY KEY",
    [STORE_REAL] = "REAL",
    [STORE_TEXT] = "TEXT",
    [STORE_TEXT_NOT_NULL] = "TEXT NOT NULL",
};

struct column_desc {
    const char *name;
    enum column_type type;
};

struct table_desc {
    const char *name;
    enum table_when when;
    int n;
    const struct column_desc *columns;
};

#define COLUMN_DESC(table, column, text, type) {text, type},
#define COLUMN_ARRAY(table, text, when) \
    static const struct column_desc columns_##table[] = {STORE_##table##_COLUMNS(COLUMN_DESC)};
#define TABLE_DESC(table, text, when) {text, when, STORE_##table##_N, columns_##table},

STORE_TABLES(COLUMN_ARRAY)

static const struct table_desc tables[] = {STORE_TABLES(TABLE_DESC)};

/* One table of the file: its INSERT and the values that are bound to it now. */
struct out_table {
    sqlite3_stmt *insert; /* NULL: not created yet */
    struct store_cell *bound;
    int64_t rows;
};

struct store_writer {
    sqlite3 *db;
    int fd; /* of the temporary file, for fsync */
    char *path; /* the name it will get */
    char *temp; /* the name it has */
    bool overwrite;
    struct out_table out[STORE_TABLE_N];
    struct intern strings; /* StringIds: the id in the file is one more */
    struct buf sql; /* the statement that is being made */
};

const char *store_table_name(enum store_table table)
{
    return tables[table].name;
}

int64_t store_writer_rows(const struct store_writer *w, enum store_table table)
{
    return w->out[table].rows;
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static int fail_sql(struct store_writer *w, struct err *err)
{
    int code = sqlite3_errcode(w->db);
    const char *hint = code == SQLITE_FULL || code == SQLITE_IOERR
                           ? "; is the disk full? free some space or choose another folder"
                           : "";
    return err_set(err, "cannot write '%s': %s%s", w->path, sqlite3_errmsg(w->db), hint);
}

/* sql may be NULL: then the error is set already. */
static int run_sql(struct store_writer *w, const char *sql, struct err *err)
{
    if (!sql) {
        return -1;
    }
    return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_sql(w, err);
}

static int prepare(struct store_writer *w, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    if (!sql) {
        return -1;
    }
    int code = sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    return code == SQLITE_OK ? 0 : fail_sql(w, err);
}

/* The text of the made statement, or NULL with the error set. */
static const char *made_sql(struct store_writer *w, struct err *err)
{
    return buf_failed(&w->sql) ? err_null(err, "out of memory while writing '%s'", w->path)
                               : buf_text(&w->sql);
}

static const char *sql_create(struct store_writer *w, const struct table_desc *table,
                              struct err *err)
{
    buf_reset(&w->sql);
    buf_addf(&w->sql, "CREATE TABLE %s", table->name);
    for (int i = 0; i < table->n; i++) {
        buf_addf(&w->sql, "%s%s %s", i == 0 ? " (" : ", ", table->columns[i].name,
                 type_sql[table->columns[i].type]);
    }
    buf_adds(&w->sql, ")");
    return made_sql(w, err);
}

static const char *sql_insert(struct store_writer *w, const struct table_desc *table,
                              struct err *err)
{
    buf_reset(&w->sql);
    buf_addf(&w->sql, "INSERT INTO %s VALUES (?", table->name);
    for (int i = 1; i < table->n; i++) {
        buf_adds(&w->sql, ",?");
    }
    buf_adds(&w->sql, ")");
    return made_sql(w, err);
}

static int create_table(struct store_writer *w, enum store_table id, struct err *err)
{
    const struct table_desc *table = &tables[id];
    struct out_table *out = &w->out[id];
    out->bound = calloc((size_t)table->n, sizeof *out->bound);
    if (!out->bound) {
        return err_nomem(err, w->path);
    }
    if (run_sql(w, sql_create(w, table, err), err) < 0) {
        return -1;
    }
    return prepare(w, sql_insert(w, table, err), &out->insert, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int bind_cell(sqlite3_stmt *stmt, int at, const struct store_cell *cell)
{
    switch (cell->type) {
    case STORE_CELL_INT:
        return sqlite3_bind_int64(stmt, at, cell->as.i);
    case STORE_CELL_REAL:
        return sqlite3_bind_double(stmt, at, cell->as.d);
    case STORE_CELL_TEXT:
        return sqlite3_bind_text(stmt, at, cell->as.s, (int)cell->len, SQLITE_STATIC);
    case STORE_CELL_BLOB:
        return sqlite3_bind_blob(stmt, at, cell->as.s, (int)cell->len, SQLITE_STATIC);
    case STORE_CELL_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, at);
}

/* Whether the value that is bound is the wanted one. Text and blobs are bound each time: their
 * bytes live only for one call. A real is compared as a number of the same bits, which the union
 * allows. */
static bool same_cell(const struct store_cell *a, const struct store_cell *b)
{
    if (a->type != b->type || a->type == STORE_CELL_TEXT || a->type == STORE_CELL_BLOB) {
        return false;
    }
    return a->type == STORE_CELL_NULL || a->as.i == b->as.i;
}

int store_writer_row(struct store_writer *w, enum store_table table, const struct store_cell *cells,
                     struct err *err)
{
    struct out_table *out = &w->out[table];
    if (!out->insert && create_table(w, table, err) < 0) {
        return -1;
    }
    for (int i = 0; i < tables[table].n; i++) {
        if (same_cell(&out->bound[i], &cells[i])) {
            continue;
        }
        if (bind_cell(out->insert, i + 1, &cells[i]) != SQLITE_OK) {
            return fail_sql(w, err);
        }
        out->bound[i] = cells[i];
    }
    int code = sqlite3_step(out->insert);
    if (code != SQLITE_DONE) {
        (void)fail_sql(w, err);
    }
    (void)sqlite3_reset(out->insert);
    out->rows += code == SQLITE_DONE;
    return code == SQLITE_DONE ? 0 : -1;
}

int store_writer_note(struct store_writer *w, enum store_table table, const char *name,
                      const char *value, struct err *err)
{
    struct store_cell row[STORE_META_EXPORT_N] = {
        [STORE_META_EXPORT_NAME] = store_cell_text(name, strlen(name)),
    };
    if (value) {
        row[STORE_META_EXPORT_VALUE] = store_cell_text(value, strlen(value));
    }
    return store_writer_row(w, table, row, err);
}

/* ---- strings --------------------------------------------------------------------------------- */

int store_writer_string(struct store_writer *w, const char *text, size_t len, int64_t *id,
                        struct err *err)
{
    uint32_t known = w->strings.count;
    uint32_t at = intern_add(&w->strings, text, len);
    if (at == INTERN_NONE) {
        return err_nomem(err, w->path);
    }
    *id = (int64_t)at + 1;
    if (at < known) {
        return 0;
    }
    struct store_cell row[STORE_STRING_IDS_N] = {
        [STORE_STRING_IDS_ID] = store_cell_int(*id),
        [STORE_STRING_IDS_VALUE] = store_cell_text(text, len),
    };
    return store_writer_row(w, STORE_TABLE_STRING_IDS, row, err);
}

/* ---- open, finish, abandon ------------------------------------------------------------------- */

static int create_enum(struct store_writer *w, const struct store_enum_table *table,
                       struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    buf_reset(&w->sql);
    buf_addf(&w->sql, "CREATE TABLE %s (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)",
             table->name);
    if (run_sql(w, made_sql(w, err), err) < 0) {
        return -1;
    }
    buf_reset(&w->sql);
    buf_addf(&w->sql, "INSERT INTO %s VALUES (?, ?, ?)", table->name);
    if (prepare(w, made_sql(w, err), &stmt, err) < 0) {
        return -1;
    }
    int code = SQLITE_DONE;
    for (size_t i = 0; i < table->n && code == SQLITE_DONE; i++) {
        (void)sqlite3_bind_int(stmt, 1, table->rows[i].id);
        (void)sqlite3_bind_text(stmt, 2, table->rows[i].name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(stmt, 3, table->rows[i].label, -1, SQLITE_STATIC);
        code = sqlite3_step(stmt);
        (void)sqlite3_reset(stmt);
    }
    int result = code == SQLITE_DONE ? 0 : fail_sql(w, err);
    (void)sqlite3_finalize(stmt);
    return result;
}

static int create_always(struct store_writer *w, struct err *err)
{
    static const char *const notes[][2] = {
        {"EXPORT_PRODUCT_NAME", "cutline"},
        {"EXPORT_PRODUCT_VERSION", CUTLINE_VERSION},
        {"EXPORT_SCHEMA_VERSION", SCHEMA_MAJOR "." SCHEMA_MINOR "." SCHEMA_MICRO},
        {"EXPORT_SCHEMA_VERSION_MAJOR", SCHEMA_MAJOR},
        {"EXPORT_SCHEMA_VERSION_MINOR", SCHEMA_MINOR},
        {"EXPORT_SCHEMA_VERSION_MICRO", SCHEMA_MICRO},
        {"EXPORT_PARAM_EXPORT_TYPE", "SQLite"},
        {"EXPORT_PARAM_LAZY", "true"},
    };
    for (int i = 0; i < STORE_TABLE_N; i++) {
        if (tables[i].when == STORE_ALWAYS && create_table(w, (enum store_table)i, err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < store_enum_tables_n; i++) {
        if (create_enum(w, &store_enum_tables[i], err) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (store_writer_note(w, STORE_TABLE_META_EXPORT, notes[i][0], notes[i][1], err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The length of the folder part of a path, the slash included; 0 for a bare name. */
static int folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Creates the temporary file beside the final one: FOLDER/.NAME.PID.N.tmp. */
static int create_temp(struct store_writer *w, struct err *err)
{
    size_t size = strlen(w->path) + 64;
    int folder = folder_len(w->path);
    w->temp = malloc(size);
    if (!w->temp) {
        return err_nomem(err, w->path);
    }
    for (int n = 0; n < 1000 && w->fd < 0; n++) {
        (void)snprintf(w->temp, size, "%.*s.%s.%ld.%d.tmp", folder, w->path, w->path + folder,
                       (long)getpid(), n);
        w->fd = open(w->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (w->fd < 0) {
        int code = errno;
        free(w->temp);
        w->temp = NULL;
        return err_set(err, "cannot write '%s': %s; choose another name or folder", w->path,
                       strerror(code));
    }
    return 0;
}

static int open_database(struct store_writer *w, const struct store_writer_opts *opts,
                         struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(w->temp, &w->db, flags, "unix-none") != SQLITE_OK) {
        return fail_sql(w, err);
    }
    buf_reset(&w->sql);
    buf_addf(&w->sql,
             "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -%d; BEGIN",
             opts->page_size_bytes ? opts->page_size_bytes : 4096, CACHE_KIB);
    return run_sql(w, made_sql(w, err), err);
}

static int name_taken(const char *path, struct err *err)
{
    return err_set(err, "'%s' exists already; choose another name or overwrite it", path);
}

int store_writer_open(const char *path, const struct store_writer_opts *opts,
                      struct store_writer **w, struct err *err)
{
    static const struct store_writer_opts defaults = {0};
    struct stat there;
    opts = opts ? opts : &defaults;
    *w = NULL;
    if (!opts->overwrite && lstat(path, &there) == 0) {
        return name_taken(path, err);
    }
    struct store_writer *made = calloc(1, sizeof *made);
    if (!made) {
        return err_nomem(err, path);
    }
    made->fd = -1;
    made->overwrite = opts->overwrite;
    made->path = strdup(path);
    if (!made->path) {
        free(made);
        return err_nomem(err, path);
    }
    if (create_temp(made, err) < 0 || open_database(made, opts, err) < 0 ||
        create_always(made, err) < 0) {
        store_writer_abandon(made);
        return -1;
    }
    *w = made;
    return 0;
}

static void close_database(struct store_writer *w)
{
    for (int i = 0; i < STORE_TABLE_N; i++) {
        (void)sqlite3_finalize(w->out[i].insert);
        w->out[i].insert = NULL;
    }
    (void)sqlite3_close(w->db);
    w->db = NULL;
}

/* Names the finished file. link() refuses an existing name in one step; where a file system has no
 * links, rename() does it. */
static int give_name(struct store_writer *w, struct err *err)
{
    if (!w->overwrite) {
        if (link(w->temp, w->path) == 0) {
            return 0;
        }
        if (errno == EEXIST) {
            return name_taken(w->path, err);
        }
    }
    if (rename(w->temp, w->path) != 0) {
        return err_set(err, "cannot name '%s': %s", w->path, strerror(errno));
    }
    free(w->temp);
    w->temp = NULL;
    return 0;
}

static void sync_folder(const char *path)
{
    char *folder = strdup(path);
    if (!folder) {
        return;
    }
    folder[folder_len(path)] = '\0';
    int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

int store_writer_set_processes(struct store_writer *w, int64_t global_pid, struct err *err)
{
    static const enum store_table TABLES[] = {STORE_TABLE_KERNEL, STORE_TABLE_MEMCPY,
                                              STORE_TABLE_MEMSET, STORE_TABLE_SYNC};
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        if (w->out[TABLES[i]].rows == 0) {
            continue;
        }
        buf_reset(&w->sql);
        buf_addf(&w->sql, "UPDATE %s SET globalPid = %lld WHERE globalPid IS NULL",
                 store_table_name(TABLES[i]), (long long)global_pid);
        if (run_sql(w, made_sql(w, err), err) < 0) {
            return -1;
        }
    }
    return 0;
}

int store_writer_finish(struct store_writer *w, struct err *err)
{
    int result = run_sql(w, "COMMIT", err);
    close_database(w);
    if (result == 0 && fsync(w->fd) != 0) {
        result = err_set(err, "cannot write '%s': %s", w->path, strerror(errno));
    }
    if (result == 0) {
        result = give_name(w, err);
    }
    if (result == 0) {
        sync_folder(w->path);
    }
    store_writer_abandon(w);
    return result;
}

void store_writer_abandon(struct store_writer *w)
{
    if (!w) {
        return;
    }
    close_database(w);
    if (w->fd >= 0) {
        (void)close(w->fd);
    }
    if (w->temp) {
        (void)unlink(w->temp);
    }
    for (int i = 0; i < STORE_TABLE_N; i++) {
        free(w->out[i].bound);
    }
    intern_free(&w->strings);
    buf_free(&w->sql);
    free(w->temp);
    free(w->path);
    free(w);
}
