/*
 * table: the typed result of a query, and its text forms.
 *
 * A query fills a table cell by cell, row by row; the formats (column, table, csv, tsv, json) know
 * only the types. An empty cell is empty text in csv, null in json, never 0. Output goes to a sink,
 * so that nothing here prints.
 *
 *     table_new(title) -> table_column... -> (table_int | table_real | table_text | table_empty)...
 *     -> table_sort? -> table_format -> table_free
 *
 * Cells are put left to right; a row is complete when all columns are filled.
 */
#ifndef CUTLINE_TABLE_TABLE_H
#define CUTLINE_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

struct table;

enum table_type {
    TABLE_TEXT,
    TABLE_INT, /* a plain integer: ids, counts */
    TABLE_REAL, /* a double with table_column.decimals decimals */
    TABLE_TIME, /* integer ns, printed in the time unit; header gets " (ns)" */
    TABLE_TIME_1, /* double ns, 1 decimal in ns (averages, deviations); header gets " (ns)" */
    TABLE_PERCENT, /* double, 1 decimal */
    TABLE_MB, /* bytes as double, printed in MB = 10^6 bytes with 3 decimals */
};

struct table_column {
    const char *header; /* lives as long as the table; without the unit */
    enum table_type type;
    int decimals; /* TABLE_REAL */
};

/* A table without columns or rows. title is copied ("CUDA GPU Kernel Summary"). NULL: no memory. */
struct table *table_new(const char *title, const struct table_column *columns, int column_count);
/* The same of an array of columns. */
#define TABLE_NEW(title, columns) \
    table_new((title), (columns), (int)(sizeof(columns) / sizeof((columns)[0])))
void table_free(struct table *table);

/* Puts the next cell. Text is copied. A failure (no memory) is remembered: see table_failed. */
void table_put_text(struct table *table, const char *text, size_t len);
void table_put_int(struct table *table, int64_t value);
void table_put_real(struct table *table, double value);
void table_put_empty(struct table *table);
bool table_failed(const struct table *table);

size_t table_rows(const struct table *table);
int table_columns(const struct table *table);
const char *table_title(const struct table *table);

/* One cell, for lists on the screen and for tests. */
struct table_cell {
    bool empty;
    int64_t i; /* TABLE_INT, TABLE_TIME */
    double real; /* the other numeric types */
    const char *text; /* TABLE_TEXT; lives as long as the table */
    size_t len;
};
struct table_cell table_cell_at(const struct table *table, size_t row, int column);

/* Stable sort by one column. */
void table_sort(struct table *table, int column, bool descending);
/* Fills a column of integers with the numbers of the rows, from 1. */
void table_number_rows(struct table *table, int column);
/* Gives each average and percent (TIME_1, PERCENT) the value that fn makes of it. */
void table_map_averages(struct table *table, double (*fn)(double value));
/* Keeps the first n rows. */
void table_truncate(struct table *table, size_t rows);

enum table_format {
    TABLE_FORMAT_COLUMN, /* for people: aligned columns, dashes under the headers, as nsys prints */
    TABLE_FORMAT_TABLE, /* the same with a frame */
    TABLE_FORMAT_CSV,
    TABLE_FORMAT_TSV,
    TABLE_FORMAT_JSON, /* an array of objects; always parses (document.h makes a document of it) */
};

struct table_output {
    enum table_format format;
    int64_t time_unit_ns; /* 1, 1000, 1000000 or 1000000000 */
    bool ascii; /* COLUMN and TABLE: only ASCII */
    bool spreadsheet; /* CSV and TSV: no text begins like a formula */
};

/* Where text goes: returns 0, or nonzero to stop. */
struct table_sink {
    int (*write)(void *arg, const char *data, size_t len);
    void *arg;
};

/* Writes the whole table in one format. 0, or -1 (memory, or the sink stopped). */
int table_write(const struct table *table, const struct table_output *output,
                const struct table_sink *sink, struct err *err);
/* Adds the header of a column with its unit: "Total Time (ns)". */
void table_header(const struct table *table, int column, int64_t time_unit_ns, struct buf *out);
/* The name of a time unit: "ns", "us", "ms", "s". */
const char *table_unit_name(int64_t time_unit_ns);
/* Adds the text with the blocks of sparklines as ASCII; all else as it is. */
void table_text_ascii(struct buf *out, const char *text, size_t len);
/* The format of a name ("column", "table", "csv", "tsv", "json"), -1 if none. */
int table_format_by_name(const char *name);

#endif
