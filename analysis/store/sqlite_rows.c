/* sqlite_rows: a pass over one table of a SQLite file by column name; see source.h. */
#include <stdlib.h>

#include "analysis/base/buf.h"
#include "analysis/store/store_internal.h"

struct sqlite_rows {
    struct sqlite_connection *connection;
    sqlite3_stmt *stmt;
    bool numbered; /* rows have no id: they are counted */
    int64_t number;
};

/* A quoted SQL name. */
static void add_name(struct buf *sql, const char *name)
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

static bool is_bounded(const struct store_scan *scan)
{
    return scan->first_row > 0 || (scan->end_row > 0 && scan->end_row < INT64_MAX);
}

/* SELECT of the columns that are there, NULL in place of the others. NOT INDEXED: an index that
 * another tool added must not turn the pass over the table into one over the index. Rows without
 * an id come in the order of their key, which is that of the table. */
static void add_select(struct buf *sql, const struct store_scan *scan, const char *row_id)
{
    bool numbered = row_id[0] == '\0';
    buf_addf(sql, "SELECT %s", numbered ? "0" : row_id);
    for (int i = 0; i < scan->column_count; i++) {
        buf_adds(sql, ", ");
        if (scan->columns[i] != NULL) {
            add_name(sql, scan->columns[i]);
        } else {
            buf_adds(sql, "NULL");
        }
    }
    buf_adds(sql, " FROM ");
    add_name(sql, scan->table);
    buf_adds(sql, " NOT INDEXED");
    if (numbered) {
        buf_adds(sql, is_bounded(scan) ? " LIMIT ?2 OFFSET ?1" : "");
    } else {
        if (is_bounded(scan)) {
            buf_addf(sql, " WHERE %s >= ?1 AND %s < ?2", row_id, row_id);
        }
        buf_addf(sql, " ORDER BY %s", row_id);
    }
}

/* Binds the bounds: ids, or of rows that are counted from 1 how many to pass over and to take. */
static void bind_bounds(struct sqlite_rows *rows, const struct store_scan *scan)
{
    int64_t first = scan->first_row;
    int64_t end = scan->end_row;
    if (rows->numbered) {
        first = first > 1 ? first - 1 : 0;
        end = end > first + 1 ? end - first - 1 : 0;
        rows->number = first;
    }
    (void)sqlite3_bind_int64(rows->stmt, 1, first);
    (void)sqlite3_bind_int64(rows->stmt, 2, end);
}

void *sqlite_scan(void *connection, const struct store_scan *scan, struct err *err)
{
    const char *row_id = sqlite_row_word(connection, scan->table);
    struct sqlite_rows *rows = calloc(1, sizeof *rows);
    struct buf sql = {0};
    int code = SQLITE_OK;
    if (rows == NULL) {
        return err_null(err, "not enough memory to read %s", scan->table);
    }
    rows->connection = connection;
    rows->numbered = row_id[0] == '\0';
    add_select(&sql, scan, row_id);
    if (buf_failed(&sql)) {
        code = SQLITE_NOMEM;
        (void)err_nomem(err, scan->table);
    } else {
        code = sqlite3_prepare_v2(rows->connection->db, buf_text(&sql), -1, &rows->stmt, NULL);
        if (code != SQLITE_OK) {
            (void)sqlite_fail(rows->connection, err);
        } else if (is_bounded(scan)) {
            bind_bounds(rows, scan);
        }
    }
    buf_free(&sql);
    if (code != SQLITE_OK) {
        sqlite_close_rows(rows);
        return NULL;
    }
    return rows;
}

int sqlite_next(void *rows, struct err *err)
{
    struct sqlite_rows *self = rows;
    switch (sqlite3_step(self->stmt)) {
    case SQLITE_ROW:
        self->number++;
        return 1;
    case SQLITE_DONE:
        return 0;
    default:
        return sqlite_fail(self->connection, err);
    }
}

void sqlite_close_rows(void *rows)
{
    struct sqlite_rows *self = rows;
    sqlite3_finalize(self->stmt);
    free(self);
}

int64_t sqlite_row_id(void *rows)
{
    struct sqlite_rows *self = rows;
    return self->numbered ? self->number : sqlite3_column_int64(self->stmt, 0);
}

bool sqlite_is_null(void *rows, int column)
{
    struct sqlite_rows *self = rows;
    return sqlite3_column_type(self->stmt, column + 1) == SQLITE_NULL;
}

int64_t sqlite_integer(void *rows, int column)
{
    struct sqlite_rows *self = rows;
    return sqlite3_column_int64(self->stmt, column + 1);
}

double sqlite_real(void *rows, int column)
{
    struct sqlite_rows *self = rows;
    return sqlite3_column_double(self->stmt, column + 1);
}

const char *sqlite_text(void *rows, int column, size_t *len)
{
    struct sqlite_rows *self = rows;
    const char *text;
    if (sqlite3_column_type(self->stmt, column + 1) == SQLITE_BLOB) {
        text = sqlite3_column_blob(self->stmt, column + 1);
        text = text == NULL ? "" : text; /* an empty blob has no address */
    } else {
        text = (const char *)sqlite3_column_text(self->stmt, column + 1);
    }
    if (text != NULL) {
        *len = (size_t)sqlite3_column_bytes(self->stmt, column + 1);
    }
    return text;
}
