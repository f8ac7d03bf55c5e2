/* memory_db: see memory_db.h. Changes are made in a transaction that is rolled back. */
#include "analysis/fuzz/memory_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fuzz/fuzz.h"

enum {
    STATEMENTS_MAX = 1024,
    COLUMNS_MAX = 1024,
    PATH_BYTES = 64
};

/* A compiled statement that is kept. */
struct kept {
    char *sql;
    sqlite3_stmt *stmt;
    bool in_use;
};

/* A column, and the statements that change it, compiled when first needed. */
struct column {
    char *table;
    char *name;
    int64_t rows; /* of the table, before any change */
    sqlite3_stmt *stmts[MEMORY_CHANGE_COUNT];
};

struct memory_db {
    sqlite3 *db;
    char path[PATH_BYTES];
    struct kept kept[STATEMENTS_MAX];
    size_t kept_count;
    struct column columns[COLUMNS_MAX];
    size_t column_count;
    bool changed;
};

static struct memory_db *in_use;

/* The functions themselves, and what stands in their place: names that the linker makes. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
int __real_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs);
int __real_sqlite3_close(sqlite3 *db);
int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **stmt,
                              const char **tail);
int __real_sqlite3_finalize(sqlite3_stmt *stmt);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                        void *arg, char **message);
int __real_sqlite3_set_authorizer(sqlite3 *db,
                                  int (*call)(void *, int, const char *, const char *, const char *,
                                              const char *),
                                  void *arg);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_close(sqlite3 *db);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **stmt,
                              const char **tail);
int __wrap_sqlite3_finalize(sqlite3_stmt *stmt);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                        void *arg, char **message);
int __wrap_sqlite3_set_authorizer(sqlite3 *db,
                                  int (*call)(void *, int, const char *, const char *, const char *,
                                              const char *),
                                  void *arg);

int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs)
{
    if (in_use == NULL) {
        return __real_sqlite3_open_v2(name, db, flags, vfs);
    }
    *db = in_use->db;
    return SQLITE_OK;
}

int __wrap_sqlite3_close(sqlite3 *db)
{
    return in_use != NULL && db == in_use->db ? SQLITE_OK : __real_sqlite3_close(db);
}

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **stmt,
                              const char **tail)
{
    if (in_use == NULL || db != in_use->db || bytes >= 0 || tail != NULL) {
        return __real_sqlite3_prepare_v2(db, sql, bytes, stmt, tail);
    }
    for (size_t i = 0; i < in_use->kept_count; i++) {
        struct kept *kept = &in_use->kept[i];
        if (!kept->in_use && strcmp(kept->sql, sql) == 0) {
            kept->in_use = true;
            *stmt = kept->stmt;
            return SQLITE_OK;
        }
    }
    int code = __real_sqlite3_prepare_v2(db, sql, bytes, stmt, tail);
    if (code == SQLITE_OK && *stmt != NULL && in_use->kept_count < STATEMENTS_MAX) {
        struct kept *kept = &in_use->kept[in_use->kept_count++];
        *kept = (struct kept){strdup(sql), *stmt, true};
        FUZZ_HOLDS(kept->sql != NULL);
    }
    return code;
}

int __wrap_sqlite3_finalize(sqlite3_stmt *stmt)
{
    for (size_t i = 0; in_use != NULL && stmt != NULL && i < in_use->kept_count; i++) {
        if (in_use->kept[i].stmt == stmt) {
            FUZZ_HOLDS(in_use->kept[i].in_use);
            in_use->kept[i].in_use = false;
            (void)sqlite3_clear_bindings(stmt);
            return sqlite3_reset(stmt);
        }
    }
    return __real_sqlite3_finalize(stmt);
}

/* The settings of a new connection would throw the kept statements away; the probe finds no fault. */
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                        void *arg, char **message)
{
    return in_use != NULL && db == in_use->db ? SQLITE_OK
                                              : __real_sqlite3_exec(db, sql, row, arg, message);
}

int __wrap_sqlite3_set_authorizer(sqlite3 *db,
                                  int (*call)(void *, int, const char *, const char *, const char *,
                                              const char *),
                                  void *arg)
{
    return in_use != NULL && db == in_use->db ? SQLITE_OK
                                              : __real_sqlite3_set_authorizer(db, call, arg);
}

static void run(struct memory_db *db, const char *sql)
{
    FUZZ_HOLDS(__real_sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepare(struct memory_db *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    FUZZ_HOLDS(__real_sqlite3_prepare_v2(db->db, sql, -1, &stmt, NULL) == SQLITE_OK);
    return stmt;
}

static int64_t count_rows(struct memory_db *db, const char *table)
{
    char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", table);
    sqlite3_stmt *stmt = prepare(db, sql);
    int64_t rows = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    (void)__real_sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return rows;
}

static void list_columns(struct memory_db *db)
{
    sqlite3_stmt *stmt =
        prepare(db, "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
                    "WHERE m.type = 'table' ORDER BY m.rowid, c.cid");
    while (db->column_count < COLUMNS_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        struct column *column = &db->columns[db->column_count++];
        column->table = strdup((const char *)sqlite3_column_text(stmt, 0));
        column->name = strdup((const char *)sqlite3_column_text(stmt, 1));
        column->rows = count_rows(db, column->table);
        FUZZ_HOLDS(column->table != NULL && column->name != NULL);
    }
    (void)__real_sqlite3_finalize(stmt);
}

/* Files of all databases are removed at the end. */
static struct memory_db *all[64];
static size_t all_count;

static void remove_files(void)
{
    for (size_t i = 0; i < all_count; i++) {
        (void)unlink(all[i]->path);
    }
}

/* Makes the database of the text, and a file with what it holds. */
static bool fill(struct memory_db *db, const char *sql)
{
    char command[PATH_BYTES + 32];
    sqlite3_int64 bytes = 0;
    if (sqlite3_open(":memory:", &db->db) != SQLITE_OK ||
        sqlite3_exec(db->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return false;
    }
    (void)snprintf(db->path, sizeof db->path, "/tmp/cutline-fuzz-%ld-%zu", (long)getpid(),
                   all_count);
    (void)snprintf(command, sizeof command, "VACUUM INTO '%s'", db->path);
    (void)unlink(db->path);
    if (sqlite3_exec(db->db, command, NULL, NULL, NULL) != SQLITE_OK) {
        return false;
    }
    /* From here on in the form in which a file would be: one piece of memory. */
    unsigned char *image = sqlite3_serialize(db->db, "main", &bytes, 0);
    return image != NULL && sqlite3_deserialize(db->db, "main", image, bytes, bytes,
                                                SQLITE_DESERIALIZE_FREEONCLOSE |
                                                    SQLITE_DESERIALIZE_RESIZEABLE) == SQLITE_OK;
}

struct memory_db *memory_db_new(const char *sql)
{
    struct memory_db *db = calloc(1, sizeof *db);
    struct memory_db *before = in_use;
    in_use = NULL;
    if (db == NULL || all_count == sizeof all / sizeof all[0] || !fill(db, sql)) {
        return NULL;
    }
    if (all_count == 0) {
        FUZZ_HOLDS(atexit(remove_files) == 0);
    }
    all[all_count++] = db;
    list_columns(db);
    in_use = before;
    return db;
}

const char *memory_db_path(const struct memory_db *db)
{
    return db->path;
}

void memory_db_use(struct memory_db *db)
{
    in_use = db;
}

size_t memory_db_columns(const struct memory_db *db)
{
    return db->column_count;
}

static void bind_value(sqlite3_stmt *stmt, enum memory_change change, int64_t value)
{
    static const int64_t LIMITS[] = {0,
                                     1,
                                     -1,
                                     INT32_MAX,
                                     INT32_MIN,
                                     UINT32_MAX,
                                     INT64_MAX,
                                     INT64_MIN,
                                     1LL << 62,
                                     -(1LL << 62),
                                     1LL << 24,
                                     (1LL << 24) - 1,
                                     1LL << 53,
                                     INT64_MAX / 2,
                                     INT64_MIN / 2,
                                     1000000000LL};
    char text[sizeof value + 1] = {0};
    double real;
    memcpy(text, &value, sizeof value);
    memcpy(&real, &value, sizeof value);
    switch (change) {
    case MEMORY_SET_SMALL:
        (void)sqlite3_bind_int64(stmt, 1, value & 255);
        break;
    case MEMORY_SET_LIMIT:
        (void)sqlite3_bind_int64(stmt, 1, LIMITS[value & 15]);
        break;
    case MEMORY_SET_REAL:
        (void)sqlite3_bind_double(stmt, 1, real);
        break;
    case MEMORY_SET_TEXT:
        (void)sqlite3_bind_text(stmt, 1, text, -1, SQLITE_TRANSIENT);
        break;
    case MEMORY_SET_BLOB:
        (void)sqlite3_bind_blob(stmt, 1, text, sizeof value, SQLITE_TRANSIENT);
        break;
    case MEMORY_SET_NULL:
        (void)sqlite3_bind_null(stmt, 1);
        break;
    case MEMORY_ADD:
        (void)sqlite3_bind_int64(stmt, 1, (value & 65535) - 32768);
        break;
    case MEMORY_COPY:
        (void)sqlite3_bind_int64(stmt, 1, value & 255);
        break;
    default:
        (void)sqlite3_bind_int64(stmt, 1, value);
        break;
    }
}

#define WHERE_ROW "WHERE rowid = (SELECT rowid FROM \"%w\" LIMIT 1 OFFSET ?2)"

/* A statement about row ?2 of the column's table, in which the value is ?1. */
static char *write_sql(enum memory_change change, const struct column *column)
{
    const char *table = column->table;
    const char *name = column->name;
    switch (change) {
    case MEMORY_ADD:
        return sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = \"%w\" + ?1 " WHERE_ROW, table,
                               name, name, table);
    case MEMORY_SET_ALL:
        return sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?1", table, name);
    case MEMORY_COPY:
        return sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = (SELECT \"%w\" FROM \"%w\" "
                               "LIMIT 1 OFFSET ?1) " WHERE_ROW,
                               table, name, name, table, table);
    case MEMORY_REMOVE:
        return sqlite3_mprintf("DELETE FROM \"%w\" " WHERE_ROW, table, table);
    case MEMORY_REPEAT:
        return sqlite3_mprintf("INSERT OR IGNORE INTO \"%w\" SELECT * FROM \"%w\" " WHERE_ROW,
                               table, table, table);
    default:
        return sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?1 " WHERE_ROW, table, name,
                               table);
    }
}

void memory_db_change(struct memory_db *db, size_t column, uint8_t row, enum memory_change change,
                      int64_t value)
{
    struct column *at = &db->columns[column % db->column_count];
    sqlite3_stmt **stmt = &at->stmts[change < MEMORY_ADD ? MEMORY_SET_INT : change];
    if (!db->changed) {
        run(db, "BEGIN");
        db->changed = true;
    }
    if (*stmt == NULL) {
        char *sql = write_sql(change, at);
        FUZZ_HOLDS(sql != NULL);
        *stmt = prepare(db, sql);
        sqlite3_free(sql);
    }
    bind_value(*stmt, change, value);
    (void)sqlite3_bind_int64(*stmt, 2, at->rows == 0 ? 0 : row % at->rows);
    (void)sqlite3_step(*stmt); /* a rule of the schema may forbid it */
    (void)sqlite3_reset(*stmt);
}

void memory_db_restore(struct memory_db *db)
{
    if (db->changed) {
        run(db, "ROLLBACK");
        db->changed = false;
    }
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
