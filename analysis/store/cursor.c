/* cursor: a pass over one table by column name; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/store/store_internal.h"

struct store_cursor {
    struct store *store;
    sqlite3_stmt *stmt; /* NULL: a missing table */
    int columns;
};

/* A quoted SQL name. */
static void cursor_name(struct buf *sql, const char *name)
{
    buf_addc(sql, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"') {
            buf_addc(sql, '"');
        }
        buf_addc(sql, *name);
    }
    buf_addc(sql, '"');
}

static bool cursor_bounded(const struct store_scan *scan)
{
    return scan->first_row > 0 || (scan->end_row > 0 && scan->end_row < INT64_MAX);
}

/* SELECT of the columns that are there, NULL in place of the others. NOT INDEXED: an index that
 * another tool added must not turn the pass over the table into one over the index. */
static void cursor_sql(struct buf *sql, struct store *store, const struct store_scan *scan,
                       const char *table)
{
    buf_adds(sql, "SELECT rowid");
    for (int i = 0; i < scan->column_count; i++) {
        buf_adds(sql, ", ");
        if (store_has_column(store, scan->table, scan->columns[i])) {
            cursor_name(sql, scan->columns[i]);
        } else {
            buf_adds(sql, "NULL");
        }
    }
    buf_adds(sql, " FROM ");
    cursor_name(sql, table);
    buf_adds(sql, " NOT INDEXED");
    if (cursor_bounded(scan)) {
        buf_adds(sql, " WHERE rowid >= ?1 AND rowid < ?2");
    }
    buf_adds(sql, " ORDER BY rowid");
}

struct store_cursor *store_scan(struct store *store, const struct store_scan *scan, struct err *err)
{
    const struct store_table_info *table = store_find_table(store, scan->table);
    struct store_cursor *cursor = calloc(1, sizeof *cursor);
    struct buf sql = {0};
    int code = SQLITE_OK;
    if (cursor == NULL) {
        return err_null(err, "not enough memory to read %s", scan->table);
    }
    cursor->store = store;
    cursor->columns = scan->column_count;
    if (table == NULL) {
        return cursor;
    }
    cursor_sql(&sql, store, scan, table->name);
    if (buf_failed(&sql)) {
        code = SQLITE_NOMEM;
        (void)err_nomem(err, scan->table);
    } else {
        code = sqlite3_prepare_v2(store->db, buf_text(&sql), -1, &cursor->stmt, NULL);
        if (code != SQLITE_OK) {
            (void)store_fail(store, err);
        } else if (cursor_bounded(scan)) {
            (void)sqlite3_bind_int64(cursor->stmt, 1, scan->first_row);
            (void)sqlite3_bind_int64(cursor->stmt, 2, scan->end_row);
        }
    }
    buf_free(&sql);
    if (code != SQLITE_OK) {
        store_cursor_close(cursor);
        return NULL;
    }
    return cursor;
}

int store_next(struct store_cursor *cursor, struct err *err)
{
    if (cursor->stmt == NULL) {
        return 0;
    }
    switch (sqlite3_step(cursor->stmt)) {
    case SQLITE_ROW:
        return 1;
    case SQLITE_DONE:
        return 0;
    default:
        return store_fail(cursor->store, err);
    }
}

void store_cursor_close(struct store_cursor *cursor)
{
    if (cursor != NULL) {
        sqlite3_finalize(cursor->stmt);
        free(cursor);
    }
}

int64_t store_rowid(struct store_cursor *cursor)
{
    return sqlite3_column_int64(cursor->stmt, 0);
}

bool store_is_null(struct store_cursor *cursor, int column)
{
    return sqlite3_column_type(cursor->stmt, column + 1) == SQLITE_NULL;
}

int64_t store_int(struct store_cursor *cursor, int column, int64_t fallback)
{
    /* NULL reads as 0: only a 0 needs a second look, and none where 0 is the fallback. */
    int64_t value = sqlite3_column_int64(cursor->stmt, column + 1);
    return value == 0 && fallback != 0 && store_is_null(cursor, column) ? fallback : value;
}

double store_real(struct store_cursor *cursor, int column, double fallback)
{
    return store_is_null(cursor, column) ? fallback
                                         : sqlite3_column_double(cursor->stmt, column + 1);
}

const char *store_text(struct store_cursor *cursor, int column, size_t *len)
{
    const char *text;
    *len = 0;
    if (store_is_null(cursor, column)) {
        return NULL;
    }
    if (sqlite3_column_type(cursor->stmt, column + 1) == SQLITE_BLOB) {
        text = sqlite3_column_blob(cursor->stmt, column + 1);
        text = text == NULL ? "" : text; /* an empty blob has no address */
    } else {
        text = (const char *)sqlite3_column_text(cursor->stmt, column + 1);
    }
    if (text != NULL) {
        *len = (size_t)sqlite3_column_bytes(cursor->stmt, column + 1);
    }
    return text;
}
