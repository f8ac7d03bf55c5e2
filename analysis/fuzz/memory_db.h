/*
 * memory_db: captures in memory whose columns are changed between one reading and the next.
 *
 * The program opens captures by path, and each time SQLite would parse the schema and compile every
 * statement anew, which takes longer than all the rest. The target is therefore linked so that the
 * calls of sqlite3_open_v2, sqlite3_prepare_v2 and their ends come here (the linker's --wrap): while
 * a memory_db is in use, all opens give its one connection, and statements are kept. Not for threads.
 *
 *     memory_db_new (each once) -> (memory_db_use -> memory_db_change ... read ... memory_db_restore)
 */
#ifndef CUTLINE_ANALYSIS_MEMORY_DB_H
#define CUTLINE_ANALYSIS_MEMORY_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_db;

/* What is done with a cell, or with its row. */
enum memory_change {
    MEMORY_SET_INT, /* to value */
    MEMORY_SET_SMALL, /* to value modulo 256, as most ids and enums are small */
    MEMORY_SET_LIMIT, /* to one of the numbers at which types end */
    MEMORY_SET_REAL, /* to the bits of value as a number */
    MEMORY_SET_TEXT, /* to the bytes of value, up to the first 0 */
    MEMORY_SET_BLOB,
    MEMORY_SET_NULL,
    MEMORY_ADD, /* adds value modulo 2^16, less 2^15 */
    MEMORY_SET_ALL, /* all cells of the column to value */
    MEMORY_COPY, /* to what the row number value has */
    MEMORY_REMOVE, /* the row */
    MEMORY_REPEAT, /* the row once more */
    MEMORY_CHANGE_COUNT,
};

/* A database of the SQL text, NULL where that fails. It lives as long as the program. */
struct memory_db *memory_db_new(const char *sql);
/* A file with the same contents, for what looks at the file before it is opened. */
const char *memory_db_path(const struct memory_db *db);
/* Opens give this one from now on; NULL: they open files. */
void memory_db_use(struct memory_db *db);
/* Columns of all tables. */
size_t memory_db_columns(const struct memory_db *db);
void memory_db_change(struct memory_db *db, size_t column, uint8_t row, enum memory_change change,
                      int64_t value);
/* Undoes all changes. */
void memory_db_restore(struct memory_db *db);

#endif
