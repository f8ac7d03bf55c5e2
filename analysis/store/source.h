/*
 * source: where a store gets tables and rows from. The seam for input formats: a format is one file with
 * a `struct source`, and a line in SOURCES (sniff.c) that knows its files by their first bytes.
 *
 * What a source gives are the tables of an nsys export (any of them, StringIds beside at least one
 * other), each with named columns and rows with ids that ascend. A column may be missing, a value may
 * be NULL. The store knows tables and columns by what list_tables and list_columns told it, answers for
 * those that are missing, and asks only for those that are there.
 *
 *     connect -> list_tables -> (list_columns | count | last_row | scan -> next... -> close)
 *     -> disconnect
 *
 * A connection belongs to one thread; a file has as many as it likes, also at once.
 */
#ifndef CUTLINE_STORE_SOURCE_H
#define CUTLINE_STORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/file.h"
#include "analysis/store/store.h"

struct source {
    /* A connection to the store's file; NULL with err set on failure. */
    void *(*connect)(struct store *store, struct err *err);
    void (*disconnect)(void *connection);

    /* Calls source_add_table for each table. 0, or -1 with err set. */
    int (*list_tables)(void *connection, struct err *err);
    /* Calls source_add_column for each column of a table; none where they cannot be read. */
    void (*list_columns)(void *connection, const char *table);

    /* Rows of a table; -1 with err set. */
    int64_t (*count)(void *connection, const char *table, struct err *err);
    /* The largest id of a row, or more; 0 for a table that is empty or cannot be read. */
    int64_t (*last_row)(void *connection, const char *table);

    /*
     * The rows of scan->table in the order of their ids, within the bounds of the scan. A column that
     * is NULL reads as NULL. The scan outlives this call only. NULL with err set on failure.
     */
    void *(*scan)(void *connection, const struct store_scan *scan, struct err *err);
    /* 1: a row is there; 0: the end; -1 with err set. */
    int (*next)(void *rows, struct err *err);
    void (*close)(void *rows);

    /* The current row. Columns count from 0 as in the scan; NULL reads as 0 and as no text. */
    int64_t (*row_id)(void *rows);
    bool (*is_null)(void *rows, int column);
    int64_t (*integer)(void *rows, int column);
    double (*real)(void *rows, int column);
    const char *(*text)(void *rows, int column, size_t *len);
};

/* SQLite databases: sqlite_source.c. */
extern const struct source SOURCE_SQLITE;

/* For list_tables and list_columns. The names are copied. 0, or -1 without memory. */
int source_add_table(struct store *store, const char *name);
int source_add_column(struct store *store, const char *table, const char *name);

/* What a source was given to read from with source_file; NULL for a file on disk. */
void *source_input(const struct store *store);

/*
 * A capture that is not a file on disk: rows of `source` from `input`, which lives as long as the
 * result. The name stands for the path in messages. NULL on failure.
 */
struct store_file *source_file(const struct source *source, void *input, const char *name,
                               struct err *err);

#endif
