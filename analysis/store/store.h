/*
 * store: a capture file, opened for reading. The only door to SQLite for everything above.
 *
 * A capture is any SQLite file with nsys's StringIds table beside at least one other table of an
 * nsys export (any version since 2020), or one of our own. Every other table and every column is
 * optional.
 *
 * Call order:
 *     store_open -> (store_has_table | store_scan -> cursor_next... -> cursor_close |
 * store_enum_label)
 *     -> store_close
 * A store and its cursors belong to one thread; a second thread opens its own store on the same
 * file.
 */
#ifndef CUTLINE_STORE_STORE_H
#define CUTLINE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/capture.h"

struct store;
struct store_cursor;
struct store_file;

/*
 * A connection to an open file (file.h), which lives at least as long. Fails with one clear line
 * where the file is locked, damaged, another program's SQLite (names nvprof and DLProf files), a
 * database without tables, or was written to since it was opened. NULL on failure.
 */
struct store *store_open_file(struct store_file *file, struct err *err);
/* The same for a file that nothing else reads. */
struct store *store_open(const char *path, struct err *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);

/*
 * Is the table there? Empty tables are there. Here and in all that follows a table is found by its
 * exact name, or else as the newest NAME_V<n>.
 */
bool store_has_table(struct store *store, const char *table);
/* Is the column there? */
bool store_has_column(struct store *store, const char *table, const char *column);
/* Rows of a table, 0 where it is missing; -1 on an unreadable file (err says). */
int64_t store_count(struct store *store, const char *table, struct err *err);
/* One past the largest rowid, 0 where the table is missing or empty: a cheap upper bound of rows.
 */
int64_t store_row_bound(struct store *store, const char *table);

/*
 * A pass over one table in rowid order. columns are names; a column that the file lacks reads as
 * NULL. A missing table gives a cursor without rows. The names must outlive the cursor.
 * first_row..end_row (rowids, half-open) bounds the pass; 0, INT64_MAX = all, and so is 0, 0.
 */
struct store_scan {
    const char *table;
    const char *const *columns;
    int column_count; /* at most STORE_COLUMNS_MAX */
    int64_t first_row;
    int64_t end_row;
};

enum {
    STORE_COLUMNS_MAX = 64
};

/* NULL on failure. */
struct store_cursor *store_scan(struct store *store, const struct store_scan *scan,
                                struct err *err);
/* 1: a row is there; 0: the end; -1: the file could not be read on (err says; rows so far stand).
 */
int store_next(struct store_cursor *cursor, struct err *err);
void store_cursor_close(struct store_cursor *cursor);

/* The current row. Column numbers count from 0 as in columns[]. */
int64_t store_rowid(struct store_cursor *cursor);
bool store_is_null(struct store_cursor *cursor, int column);
/* Integer value (text and real are converted); fallback where NULL. */
int64_t store_int(struct store_cursor *cursor, int column, int64_t fallback);
double store_real(struct store_cursor *cursor, int column, double fallback);
/* Text or blob bytes, NULL where NULL; valid until the next store_next or close. Not sanitised. */
const char *store_text(struct store_cursor *cursor, int column, size_t *len);

/*
 * The label of an enum value: from the file's ENUM_ table where it has one (also under the old,
 * misspelt names), else from the built-in list. NULL where unknown. Lives as long as the store.
 */
enum store_enum {
    STORE_ENUM_MEMCPY_OPER, /* copyKind: "Host-to-Device" or, in old files, "HtoD" */
    STORE_ENUM_MEM_KIND, /* srcKind, dstKind, memKind: "Pageable" */
    STORE_ENUM_OVERHEAD, /* overheadType */
    STORE_ENUM_MIGRATION, /* migrationCause */
    STORE_ENUM_STREAM, /* stream flag */
    STORE_ENUM_COUNT,
};
const char *store_enum_label(struct store *store, enum store_enum which, int64_t value);

/* See capture.h. */
static inline int64_t store_pid(int64_t global_id)
{
    return cutline_pid(global_id);
}
static inline int64_t store_tid(int64_t global_id)
{
    return cutline_tid(global_id);
}
static inline int64_t store_global_pid(int64_t global_tid)
{
    return cutline_global_pid(global_tid);
}

#endif
