/*
 * table_internal: the insides of a table, for table.c and table_format.c alone.
 *
 * Cells are 8 bytes, row after row: an integer, a double, or the number of an interned text. Empty
 * is a value that cannot occur: INT64_MIN, a NaN, INTERN_NONE.
 */
#ifndef CUTLINE_TABLE_TABLE_INTERNAL_H
#define CUTLINE_TABLE_TABLE_INTERNAL_H

#include "analysis/base/intern.h"
#include "analysis/table/table.h"

union table_slot {
    int64_t i;
    double real;
    uint64_t text; /* id in texts */
};

struct table {
    char *title; /* owned */
    struct table_column *columns;
    int column_count;
    union table_slot *slots; /* rows * column_count and the cells of an unfinished row */
    size_t slot_count;
    size_t slot_cap;
    struct intern texts;
    bool failed;
};

#endif
