/*
 * series_internal: how level series are made, between series*.c alone.
 */
#ifndef CUTLINE_TIMELINE_SERIES_INTERNAL_H
#define CUTLINE_TIMELINE_SERIES_INTERNAL_H

#include "analysis/timeline/series.h"

enum {
    SERIES_BLOCK = 256 /* points */
};

/* A change of a level. */
struct series_change {
    int64_t at_ns;
    int64_t delta;
};

/* Makes at_ns and value of the sums of changes[0..count), which it sorts, and the blocks. 0 or -1.
 */
int series_from_changes(struct series *series, struct series_change *changes, size_t count);
/* Makes the blocks, min and max of at_ns and value, which are ascending. 0 or -1. */
int series_finish(struct series *series);
/* Makes times and values as narrow as they fit: of a series that is done. Without memory they stay as
 * they are. */
void series_pack(struct series *series);

/* Time and value of a point. */
static inline int64_t series_at(const struct series *series, size_t i)
{
    return series->at_ns != NULL ? series->at_ns[i]
                                 : series->block_at_ns[i / SERIES_BLOCK] + series->after_ns[i];
}

static inline int64_t series_value(const struct series *series, size_t i)
{
    return series->value != NULL ? series->value[i] : series->small_value[i];
}

/* One more series of zeros; NULL without memory. */
struct series *series_set_add(struct series_set *set);
/* The set from the shelf. False where it is not there. */
bool series_set_take(const struct trace *trace, struct series_set *set);

#endif
