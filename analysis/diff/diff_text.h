/*
 * diff_text: a comparison as a page for people, at most so many columns wide.
 */
#ifndef CUTLINE_DIFF_DIFF_TEXT_H
#define CUTLINE_DIFF_DIFF_TEXT_H

#include "analysis/base/buf.h"
#include "analysis/diff/diff.h"
#include "analysis/diff/diff_table.h"

enum {
    DIFF_TEXT_COLS = 79, /* the narrowest page */
    DIFF_TEXT_FULL_COLS = 140, /* from here on kernels have their full names */
};

/*
 * Adds one section: times before and after with their units, the change of the total, counts, the
 * speed-up of the mean, the verdict, the name: a kernel's short name, cut to what is left of cols.
 * Nothing where the section has no rows. facts as for diff_make.
 */
void diff_text(const struct facts *const facts[2], const struct diff *diff,
               enum diff_section section, const struct diff_table_options *options, size_t cols,
               struct buf *out);

#endif
