/* cursor: a pass over one table by column name; see store.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/store/store_internal.h"

struct store_cursor {
    struct store *store;
    sqlite3_stmt *stmt; /* NULL: a missing table */
    int columns;
    bool numbered; /* rows have no id: they are counted */
    int64_t number;
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
 * another tool added must not turn the pass over the table into one over the index. Rows without
 * an id come in the order of their key, which is that of the table. */
static void cursor_sql(struct buf *sql, struct store *store, const struct store_scan *scan,
                       const char *table, const char *row_id)
{
    bool numbered = row_id[0] == '\0';
    buf_addf(sql, "SELECT %s", numbered ? "0" : row_id);
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
    if (numbered) {
        buf_adds(sql, cursor_bounded(scan) ? " LIMIT ?2 OFFSET ?1" : "");
    } else {
        if (cursor_bounded(scan)) {
            buf_addf(sql, " WHERE %s >= ?1 AND %s < ?2", row_id, row_id);
        }
        buf_addf(sql, " ORDER BY %s", row_id);
    }
}

/* Binds the bounds: ids, or of rows that are counted from 1 how many to pass over and to take. */
static void cursor_bind(struct store_cursor *cursor, const struct store_scan *scan)
{
    int64_t first = scan->first_row;
    int64_t end = scan->end_row;
    if (cursor->numbered) {
        first = first > 1 ? first - 1 : 0;
        end = end > first + 1 ? end - first - 1 : 0;
        cursor->number = first;
    }
    (void)sqlite3_bind_int64(cursor->stmt, 1, first);
    (void)sqlite3_bind_int64(cursor->stmt, 2, end);
}

struct store_cursor *store_scan(struct store *store, const struct store_scan *scan, struct err *err)
{
    struct store_table_info *table = store_find_table(store, scan->table);
    const char *row_id = table == NULL ? "" : store_row_id(store, table);
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
    if (store_file_check(store->file, err) != 0) {
        store_cursor_close(cursor);
        return NULL;
    }
    cursor->numbered = row_id[0] == '\0';
    cursor_sql(&sql, store, scan, table->name, row_id);
    if (buf_failed(&sql)) {
        code = SQLITE_NOMEM;
        (void)err_nomem(err, scan->table);
    } else {
        code = sqlite3_prepare_v2(store->db, buf_text(&sql), -1, &cursor->stmt, NULL);
        if (code != SQLITE_OK) {
            (void)store_fail(store, err);
        } else if (cursor_bounded(scan)) {
            cursor_bind(cursor, scan);
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
        cursor->number++;
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
    return cursor->numbered ? cursor->number : sqlite3_column_int64(cursor->stmt, 0);
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
