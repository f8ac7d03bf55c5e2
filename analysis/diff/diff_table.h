/*
 * diff_table: a comparison as tables.
 */
#ifndef CUTLINE_DIFF_DIFF_TABLE_H
#define CUTLINE_DIFF_DIFF_TABLE_H

#include "analysis/base/buf.h"
#include "analysis/diff/diff.h"
#include "analysis/table/table.h"

struct diff_table_options {
    bool changed; /* leave out rows that are the same in both, but for totals */
    int64_t max_rows; /* of a section, -1 = all */
};

/* All sections in one table with every column: for csv, tsv and json. NULL: no memory. */
struct table *diff_table(const struct diff *diff, const struct diff_table_options *options);
/* One section with the columns that a person reads; *left_out rows are not in it. */
struct table *diff_section_table(const struct diff *diff, enum diff_section section,
                                 const struct diff_table_options *options, size_t *left_out);
/* "same", "slower", "faster", "noise", "new", "gone". */
const char *diff_verdict(const struct diff *diff, const struct diff_row *row);
/* Old time over new: of the means, of the totals where rows are sums. NAN where one is missing. */
double diff_speed_up(const struct diff *diff, const struct diff_row *row);
/* "Kernels". */
const char *diff_section_title(enum diff_section section);
/* Is the row shown, where so many of its section were shown before it? */
bool diff_kept(const struct diff *diff, const struct diff_table_options *options,
               const struct diff_row *row, int64_t rows);

#endif
