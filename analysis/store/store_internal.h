/*
 * What the files of the reading side share with each other; nothing outside analysis/store
 * includes this.
 */
#ifndef CUTLINE_STORE_STORE_INTERNAL_H
#define CUTLINE_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "analysis/base/arena.h"
#include "analysis/store/file.h"
#include "analysis/store/store.h"

struct store_table_info {
    const char *name;
    const char **columns; /* NULL until asked for */
    int column_count;
    const char *row_id; /* the word for the row id; "" where rows have none that can be named */
};

struct store_label {
    int64_t id;
    const char *text;
};

struct store {
    sqlite3 *db;
    struct store_file *file; /* shared */
    const char *path; /* of file */
    struct arena arena; /* names of tables and columns, labels */
    struct store_table_info *tables;
    int table_count;
    int table_cap;
    struct store_label *labels[STORE_ENUM_COUNT]; /* of the file; NULL until asked for */
    int label_count[STORE_ENUM_COUNT];
    bool labels_read[STORE_ENUM_COUNT];
};

/* The table of that name, else the newest "NAME_V<n>" (seen in the wild); NULL where neither is. */
struct store_table_info *store_find_table(struct store *store, const char *table);

/* The word for the row id of the table, "" where it has none or columns took all its words: then
 * rows are numbered from 1 as they come. */
const char *store_row_id(struct store *store, struct store_table_info *table);

/* guard.c: from here on the connection reads the tables of the store, and nothing else. */
void store_guard(struct store *store);

/* Sets err from the connection's last error: what it means for a capture and what to do. */
int store_fail(struct store *store, struct err *err);

/* sniff.c: 0 where path names a regular file with anything in it; else -1 with err set. */
int store_sniff_path(const char *path, struct err *err);
/* sniff.c: 0 where it is a SQLite file of full length; else -1 with err set. */
int store_sniff(const struct store_file *file, struct err *err);
/* sniff.c: is this the name of a table that captures have? */
bool store_sniff_name(const char *table);
/* sniff.c: why the tables of an open database are not those of a capture; 0 where they are. */
int store_sniff_tables(struct store *store, struct err *err);

#endif
