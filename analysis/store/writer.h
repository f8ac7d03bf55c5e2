/* Writes a capture file: the tables of an nsys export of schema 3.25.0 and our CUTLINE_* tables.
 *
 * Calls in order:
 *
 *     struct store_writer *w;
 *     store_writer_open("out.sqlite", NULL, &w, err);
 *     store_writer_string(w, "sgemm", 5, &name, err);
 *     struct store_cell row[STORE_KERNEL_N] = {
 *         [STORE_KERNEL_START] = store_cell_int(1000), [STORE_KERNEL_SHORT_NAME] =
 * store_cell_int(name),
 * ...}; store_writer_row(w, STORE_TABLE_KERNEL, row, err);     any tables, in any order, many times
 *     store_writer_finish(w, err);                           or store_writer_abandon(w)
 *
 * A row is an array of cells, one for each column of its table; a cell that was not set is NULL.
 * The enumerators STORE_<TABLE>_<COLUMN> index it and STORE_<TABLE>_N is its length; they are made
 * from schema.h. Rows are stored in the order given: give them sorted by start, as readers
 * of such files like them.
 *
 * The file is written under a temporary name in the same folder, in one transaction with no
 * journal, is flushed to disk, and only then gets its name: a half written capture is never seen
 * under it, and no -journal, -wal or -shm file is ever there. Tables are created with their first
 * row; those that every export has (StringIds, PROCESSES, META_DATA_*, ENUM_*, ...) are always
 * there.
 *
 * Not thread safe: one writer belongs to one thread. */
#ifndef CUTLINE_ANALYSIS_STORE_WRITER_H
#define CUTLINE_ANALYSIS_STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/schema.h"

#define STORE_X_TABLE(table, name, when) STORE_TABLE_##table,
#define STORE_X_COLUMN(table, column, name, type) STORE_##table##_##column,
#define STORE_X_COLUMNS(table, name, when) \
    enum store_column_##table{STORE_##table##_COLUMNS(STORE_X_COLUMN) STORE_##table##_N};

/* STORE_TABLE_KERNEL, STORE_TABLE_NVTX, ... */
enum store_table {
    STORE_TABLES(STORE_X_TABLE) STORE_TABLE_N
};

/* STORE_KERNEL_START, STORE_KERNEL_END, ..., STORE_KERNEL_N for each table. */
STORE_TABLES(STORE_X_COLUMNS)

enum store_cell_type {
    STORE_CELL_NULL,
    STORE_CELL_INT,
    STORE_CELL_REAL,
    STORE_CELL_TEXT,
    STORE_CELL_BLOB,
};

/* One value of a row. A zeroed cell is NULL. Text is UTF-8, need not end in NUL, and is read during
 * store_writer_row only. */
struct store_cell {
    enum store_cell_type type;
    uint32_t len; /* of text or a blob, in bytes */
    union {
        int64_t i; /* unsigned 64-bit values are stored as the signed number of the same bits */
        double d;
        const char *s;
    } as;
};

static inline struct store_cell store_cell_int(int64_t value)
{
    return (struct store_cell){.type = STORE_CELL_INT, .as = {.i = value}};
}

static inline struct store_cell store_cell_real(double value)
{
    return (struct store_cell){.type = STORE_CELL_REAL, .as = {.d = value}};
}

static inline struct store_cell store_cell_text(const char *text, size_t len)
{
    return (struct store_cell){.type = STORE_CELL_TEXT, .len = (uint32_t)len, .as = {.s = text}};
}

static inline struct store_cell store_cell_blob(const void *bytes, size_t len)
{
    return (struct store_cell){.type = STORE_CELL_BLOB, .len = (uint32_t)len, .as = {.s = bytes}};
}

/* The id that PROCESSES, NVTX_EVENTS and others use: hardware 0, virtual machine 1, 24 bits of pid,
 * 24 bits of tid. A globalPid is the id with tid 0. */
static inline int64_t store_global_tid(uint32_t pid, uint32_t tid)
{
    return (int64_t)(UINT64_C(1) << 48 | (uint64_t)(pid & 0xFFFFFFU) << 24 | (tid & 0xFFFFFFU));
}

struct store_writer_opts {
    bool overwrite; /* replace a file of that name; else an existing one is an error */
    int page_size_bytes; /* 0: 4096, as nsys; 65536 is faster for captures of hundreds of MB */
};

struct store_writer;

/* Begins a capture that will be named path. opts may be NULL for the defaults. On success *w is the
 * caller's until finish or abandon. Returns 0, or -1: the folder cannot be written, or a file of
 * that name exists (and overwrite is off). */
int store_writer_open(const char *path, const struct store_writer_opts *opts,
                      struct store_writer **w, struct err *err);

/* The StringIds id (from 1 up) of text[0..len), the same for the same bytes; the text is copied.
 * Cost: one hash and one comparison, and one insert for a new text. Returns 0, or -1. */
int store_writer_string(struct store_writer *w, const char *text, size_t len, int64_t *id,
                        struct err *err);

/* Adds a row of STORE_<TABLE>_N cells. Returns 0, or -1: the disk is full, or a NOT NULL column is
 * NULL. After a failure only store_writer_abandon is allowed. */
int store_writer_row(struct store_writer *w, enum store_table table, const struct store_cell *cells,
                     struct err *err);

/* Adds a name and a value (NULL: no value) to a table of that shape: STORE_TABLE_META_EXPORT,
 * STORE_TABLE_META_CAPTURE or STORE_TABLE_CUTLINE_RECORDER. Returns 0, or -1. The product and
 * schema version of META_DATA_EXPORT are written by the writer itself. */
int store_writer_note(struct store_writer *w, enum store_table table, const char *name,
                      const char *value, struct err *err);

/* Gives the globalPid to the rows of kernels, copies, sets and waits that have none so far. Returns 0,
 * or -1. */
int store_writer_set_processes(struct store_writer *w, int64_t global_pid, struct err *err);

/* How many rows were added to a table so far. */
int64_t store_writer_rows(const struct store_writer *w, enum store_table table);

/* The name of a table in the file, for example "CUPTI_ACTIVITY_KIND_KERNEL"; never NULL. */
const char *store_table_name(enum store_table table);

/* Commits, flushes to disk, and gives the file its name. Frees w, on failure too (then nothing is
 * left on disk). Returns 0, or -1. */
int store_writer_finish(struct store_writer *w, struct err *err);

/* Gives up: removes what was written and frees w. w may be NULL. */
void store_writer_abandon(struct store_writer *w);

#endif
