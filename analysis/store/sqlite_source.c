/* sqlite_source: captures that are SQLite files; see source.h. Rows are in sqlite_rows.c, what SQLite
 * sees of the file in vfs.c, what a connection may do in guard.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/store/file_internal.h"
#include "analysis/store/store_internal.h"

enum {
    SQLITE_BUSY_MS = 200, /* a reader waits this long for a writer that is just finishing */
    SQLITE_COLUMNS_MAX = STORE_COLUMNS_MAX * 4
};

struct sqlite_row_id {
    const char *table; /* of the store's list */
    const char *word;
};

/* SQLite's own message without bytes that could harm a terminal: it may quote the file. */
static const char *db_message(sqlite3 *db, char out[200])
{
    (void)snprintf(out, 200, "%s", db == NULL ? "no database" : sqlite3_errmsg(db));
    for (size_t i = 0; out[i] != '\0'; i++) {
        if ((unsigned char)out[i] < 0x20 || (unsigned char)out[i] >= 0x7f) {
            out[i] = '?';
        }
    }
    return out;
}

int sqlite_fail(struct sqlite_connection *connection, struct err *err)
{
    const char *path = connection->store->path;
    char message[200];
    int code = connection->db == NULL ? SQLITE_NOMEM : sqlite3_errcode(connection->db);
    if (store_file_check(connection->store->file, err) != 0) {
        return -1; /* whatever was found in it */
    }
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return err_set(err,
                       "%s: the database is damaged (cut while copied, or its export was killed): "
                       "copy or export it again",
                       path);
    case SQLITE_NOTADB:
        return err_set(err, "%s: not a SQLite database, or an encrypted one", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, "%s: locked by a program that writes it: try again when it is done",
                       path);
    case SQLITE_NOMEM:
        return err_nomem(err, path);
    default:
        return err_set(err, "%s: cannot be read: %s", path, db_message(connection->db, message));
    }
}

/*
 * A name in place of the path: file->vfs opens the one file that it is for. Nothing that a
 * stranger's file describes may run: no functions in views, triggers, generated columns.
 */
static int open_database(struct sqlite_connection *connection, struct err *err)
{
    int code =
        sqlite3_open_v2("capture", &connection->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        connection->store->file->vfs_name);
    if (code == SQLITE_OK) {
        (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_busy_timeout(connection->db, SQLITE_BUSY_MS);
        code = sqlite3_exec(connection->db,
                            "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA temp_store=2",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        sqlite_guard(connection);
        code =
            sqlite3_exec(connection->db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? 0 : sqlite_fail(connection, err);
}

static void sqlite_disconnect(void *connection)
{
    struct sqlite_connection *self = connection;
    sqlite3_close(self->db);
    free(self->row_ids);
    free(self);
}

static void *sqlite_connect(struct store *store, struct err *err)
{
    struct sqlite_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        return err_null(err, "not enough memory to open %s", store->path);
    }
    connection->store = store;
    if (open_database(connection, err) != 0) {
        sqlite_disconnect(connection);
        return NULL;
    }
    return connection;
}

/* The row of a virtual table has no page of its own; who edits that still writes what it is. */
static bool is_virtual(sqlite3_stmt *stmt)
{
    static const char create[] = "CREATE VIRTUAL";
    const char *sql = (const char *)sqlite3_column_text(stmt, 2);
    return sqlite3_column_int64(stmt, 1) == 0 ||
           (sql != NULL && sqlite3_strnicmp(sql, create, (int)sizeof create - 1) == 0);
}

/* Tables of modules that run code on what a stranger wrote are left out; one that stands where a
 * capture has a table of events is no capture. */
static int list_row(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
    const char *name = (const char *)sqlite3_column_text(stmt, 0);
    if (name == NULL) {
        return 0;
    }
    if (!is_virtual(stmt)) {
        return source_add_table(store, name) == 0 ? 0 : err_nomem(err, store->path);
    }
    return store_sniff_name(name) ? err_set(err,
                                            "%s: its table %.60s is a virtual one, which no "
                                            "program that captures writes: not read",
                                            store->path, name)
                                  : 0;
}

static int sqlite_list_tables(void *connection, struct err *err)
{
    struct sqlite_connection *self = connection;
    sqlite3_stmt *stmt = NULL;
    int status = 0;
    int code = SQLITE_ROW;
    if (sqlite3_prepare_v2(self->db,
                           "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' "
                           "ORDER BY rowid",
                           -1, &stmt, NULL) != SQLITE_OK) {
        return sqlite_fail(self, err);
    }
    while (status == 0 && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        status = list_row(self->store, stmt, err);
    }
    if (status == 0 && code != SQLITE_DONE) {
        status = sqlite_fail(self, err);
    }
    sqlite3_finalize(stmt);
    return status;
}

static void sqlite_list_columns(void *connection, const char *table)
{
    struct sqlite_connection *self = connection;
    sqlite3_stmt *stmt = NULL;
    int count = 0;
    char *sql = sqlite3_mprintf("PRAGMA table_info(\"%w\")", table);
    if (sql != NULL) {
        (void)sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL);
        sqlite3_free(sql);
    }
    while (stmt != NULL && count < SQLITE_COLUMNS_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        count += name != NULL && source_add_column(self->store, table, name) == 0;
    }
    sqlite3_finalize(stmt);
}

static const char *find_row_word(struct sqlite_connection *connection, const char *table)
{
    /* SQLite: CREATE TABLE, "ROWIDs and the INTEGER PRIMARY KEY". A column of that name hides it. */
    static const char *const words[] = {"rowid", "_rowid_", "oid"};
    const char *found = "";
    for (size_t i = 0; i < ARRAY_LEN(words) && found[0] == '\0'; i++) {
        sqlite3_stmt *stmt = NULL;
        char *sql = NULL;
        if (!store_has_column(connection->store, table, words[i])) {
            sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", words[i], table);
        }
        if (sql != NULL && sqlite3_prepare_v2(connection->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
            found = words[i];
        }
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    return found;
}

const char *sqlite_row_word(struct sqlite_connection *connection, const char *table)
{
    struct store_table_info *info = store_exact_table(connection->store, table);
    for (size_t i = 0; i < connection->row_id_count; i++) {
        if (connection->row_ids[i].table == info->name) {
            return connection->row_ids[i].word;
        }
    }
    const char *word = find_row_word(connection, table);
    struct sqlite_row_id *grown = array_grow(connection->row_ids, &connection->row_id_cap,
                                             connection->row_id_count + 1, sizeof *grown);
    if (grown != NULL) {
        connection->row_ids = grown;
        grown[connection->row_id_count++] = (struct sqlite_row_id){info->name, word};
    }
    return word;
}

/* One number of one row of "SELECT WHAT FROM TABLE", 0 for NULL. False where the statement fails. */
static bool read_number(struct sqlite_connection *connection, const char *what, const char *table,
                        int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", what, table);
    bool ok = sql != NULL &&
              sqlite3_prepare_v2(connection->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
              sqlite3_step(stmt) == SQLITE_ROW;
    *out = ok ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return ok;
}

static int64_t sqlite_count(void *connection, const char *table, struct err *err)
{
    int64_t count;
    return read_number(connection, "count(*)", table, &count) ? count
                                                              : sqlite_fail(connection, err);
}

static int64_t sqlite_last_row(void *connection, const char *table)
{
    const char *word = sqlite_row_word(connection, table);
    char what[32];
    int64_t last;
    (void)snprintf(what, sizeof what, "max(%s)", word);
    (void)read_number(connection, word[0] == '\0' ? "count(*)" : what, table, &last);
    return last;
}

const struct source SOURCE_SQLITE = {
    .connect = sqlite_connect,
    .disconnect = sqlite_disconnect,
    .list_tables = sqlite_list_tables,
    .list_columns = sqlite_list_columns,
    .count = sqlite_count,
    .last_row = sqlite_last_row,
    .scan = sqlite_scan,
    .next = sqlite_next,
    .close = sqlite_close_rows,
    .row_id = sqlite_row_id,
    .is_null = sqlite_is_null,
    .integer = sqlite_integer,
    .real = sqlite_real,
    .text = sqlite_text,
};
