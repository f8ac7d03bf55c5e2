/*
 * What the files of the reading side share with each other; nothing outside analysis/store
 * includes this.
 */
#ifndef CUTLINE_STORE_STORE_INTERNAL_H
#define CUTLINE_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "analysis/base/arena.h"
#include "analysis/store/file.h"
#include "analysis/store/source.h"
#include "analysis/store/store.h"

struct store_table_info {
    const char *name;
    const char **columns;
    size_t column_count;
    size_t column_cap;
    bool columns_listed;
};

struct store_label {
    int64_t id;
    const char *text;
};

struct store {
    const struct source *source; /* of file */
    void *connection; /* of source */
    struct store_file *file; /* shared */
    const char *path; /* of file */
    struct arena arena; /* names of tables and columns, labels */
    struct store_table_info *tables;
    size_t table_count;
    size_t table_cap;
    struct store_label *labels[STORE_ENUM_COUNT]; /* of the file; NULL until asked for */
    int label_count[STORE_ENUM_COUNT];
    bool labels_read[STORE_ENUM_COUNT];
};

/* A source's connection to a SQLite file. */
struct sqlite_connection {
    sqlite3 *db;
    struct store *store;
    struct sqlite_row_id *row_ids; /* of the tables that were asked for */
    size_t row_id_count;
    size_t row_id_cap;
};

/* The table of exactly that name; NULL where it is not. */
struct store_table_info *store_exact_table(const struct store *store, const char *table);

/* sqlite_rows.c: for SOURCE_SQLITE. */
void *sqlite_scan(void *connection, const struct store_scan *scan, struct err *err);
int sqlite_next(void *rows, struct err *err);
void sqlite_close_rows(void *rows);
int64_t sqlite_row_id(void *rows);
bool sqlite_is_null(void *rows, int column);
int64_t sqlite_integer(void *rows, int column);
double sqlite_real(void *rows, int column);
const char *sqlite_text(void *rows, int column, size_t *len);

/* The word for the row id of the table, "" where it has none or columns took all its words: then
 * rows are numbered from 1 as they come. */
const char *sqlite_row_word(struct sqlite_connection *connection, const char *table);

/* guard.c: from here on the connection reads the tables of the store, and nothing else. */
void sqlite_guard(struct sqlite_connection *connection);

/* Sets err from the connection's last error: what it means for a capture and what to do. -1. */
int sqlite_fail(struct sqlite_connection *connection, struct err *err);

/* sniff.c: 0 where path names a regular file with anything in it; else -1 with err set. */
int store_sniff_path(const char *path, struct err *err);
/* sniff.c: what reads the file, which is of full length; NULL with err set where nothing does. */
const struct source *store_sniff(const struct store_file *file, struct err *err);
/* sniff.c: is this the name of a table that captures have? */
bool store_sniff_name(const char *table);
/* sniff.c: why the tables of an open database are not those of a capture; 0 where they are. */
int store_sniff_tables(struct store *store, struct err *err);

#endif
