/* The ENUM_* tables of a capture file: numbers, names and labels as exports of schema 3.25.0 have
 * them, reduced to the numbers that a capture of CUDA and NVTX can hold. The spelling is that of
 * the exports, the slips included, since tools compare labels. */
#ifndef CUTLINE_ANALYSIS_STORE_WRITER_ENUMS_H
#define CUTLINE_ANALYSIS_STORE_WRITER_ENUMS_H

#include <stddef.h>

struct store_enum_row {
    int id;
    const char *name;
    const char *label;
};

struct store_enum_table {
    const char *name; /* ENUM_... */
    const struct store_enum_row *rows;
    size_t n;
};

extern const struct store_enum_table store_enum_tables[];
extern const size_t store_enum_tables_n;

#endif
