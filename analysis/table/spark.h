/*
 * spark: sparklines and histograms as text: the one place that turns values into levels and bars.
 */
#ifndef CUTLINE_TABLE_SPARK_H
#define CUTLINE_TABLE_SPARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"

enum {
    SPARK_LEVELS = 8, /* 1..8 are bars, 0 is nothing */
    SPARK_BINS_MAX = 64,
};

/* The level of a value on the scale 0..max: 0 only for 0 (and less, and no number), else 1..8. */
int spark_level(double value, double max);
/* The text of a level, one column wide: blank and U+2581..U+2588, or with ascii " .:-=+*#@". */
const char *spark_glyph(int level, bool ascii);
/* Adds one column for each value; max 0 = the largest of them. A NaN is a blank. */
void spark_line(struct buf *out, const double *values, size_t count, double max, bool ascii);
/* Adds a bar of value / max of `cols` columns: eighths of a block, or with ascii '#'. Not padded.
 */
void spark_bar(struct buf *out, double value, double max, int cols, bool ascii);

/* A histogram on a log scale: bin i holds values in [edge(i), edge(i + 1)). */
struct spark_bins {
    int count; /* bins, 0 = no values */
    int64_t low;
    int64_t high; /* the last bin holds it */
    uint32_t bin[SPARK_BINS_MAX];
    uint32_t max; /* the largest bin */
};
/* Bins of positive values; those below 1 count as 1. bins <= SPARK_BINS_MAX; one bin where all
 * values are equal. O(n log bins). */
void spark_bins_make(struct spark_bins *out, const int64_t *values, size_t count, int bins);
/* The lower edge of bin i, 0 <= i <= count; edge(count) is one past high. */
int64_t spark_bins_edge(const struct spark_bins *bins, int i);
/* The bin of a value, -1 where it is out of range. */
int spark_bins_of(const struct spark_bins *bins, int64_t value);
/* Adds the bins as a sparkline, one column each. */
void spark_bins_line(struct buf *out, const struct spark_bins *bins, bool ascii);

#endif
