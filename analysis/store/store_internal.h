/*
 * What the files of the reading side share with each other; nothing outside analysis/store
 * includes this.
 */
#ifndef CUTLINE_STORE_STORE_INTERNAL_H
#define CUTLINE_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "analysis/base/arena.h"
#include "analysis/store/store.h"

struct store_table_info {
    const char *name;
    const char **columns; /* NULL until asked for */
    int column_count;
};

struct store_label {
    int64_t id;
    const char *text;
};

struct store {
    sqlite3 *db;
    char *path;
    struct arena arena; /* names of tables and columns, labels */
    struct store_table_info *tables;
    int table_count;
    struct store_label *labels[STORE_ENUM_COUNT]; /* of the file; NULL until asked for */
    int label_count[STORE_ENUM_COUNT];
    bool labels_read[STORE_ENUM_COUNT];
    bool immutable; /* opened without locks */
};

/* The table of that name, else the newest "NAME_V<n>" (seen in the wild); NULL where neither is. */
struct store_table_info *store_find_table(struct store *store, const char *table);

/* Sets err from the connection's last error: what it means for a capture and what to do. */
int store_fail(struct store *store, struct err *err);

/* sniff.c: 0 where path is a readable SQLite file of full length; else -1 with err set. */
int store_sniff(const char *path, struct err *err);
/* sniff.c: why the tables of an open database are not those of a capture; 0 where they are. */
int store_sniff_tables(struct store *store, struct err *err);

#endif
