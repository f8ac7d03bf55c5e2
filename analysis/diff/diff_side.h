/*
 * diff_side: one capture summed up for a comparison: an entry for each kernel, copy, API call,
 * NVTX range and cause of idle. Used by diff alone.
 */
#ifndef CUTLINE_DIFF_DIFF_SIDE_H
#define CUTLINE_DIFF_DIFF_SIDE_H

#include "analysis/base/arena.h"
#include "analysis/diff/diff.h"

enum {
    DIFF_SHAPE_DIMS = 6 /* grid x y z, block x y z */
};

struct diff_entry {
    uint8_t section; /* enum diff_section */
    uint8_t table; /* enum trace_table of event */
    bool is_count; /* see diff_row */
    const char *key; /* equal keys of a section are one entry; in the arena */
    const char *brief; /* kernels: short name; in the trace */
    uint32_t event; /* the longest instance, TRACE_NONE */
    uint32_t first; /* kernels: the first instance, for the shape */
    int64_t first_ns;
    int64_t longest_ns;
    int64_t count;
    int64_t total_ns;
    double mean_ns; /* running mean and sum of squared deviations (Welford, 1962) */
    double m2;
    int64_t shape[DIFF_SHAPE_DIMS];
};

struct diff_sum {
    struct diff_entry *list; /* by section, then by key; totals in their fixed order; owned */
    size_t count;
    int64_t steps;
};

/* which: 0 BASE, 1 NEW. Keys are sanitised copies in the arena. O(n log n). 0 or -1. */
int diff_sum_make(const struct facts *facts, const struct diff_options *options, int which,
                  struct arena *arena, struct diff_sum *out, struct err *err);
void diff_sum_free(struct diff_sum *sum);
/* Reads the launch shapes of the kernels that are marked (their shape[0] is -1). A file that cannot
 * be read leaves them unknown. */
void diff_sum_shapes(const struct facts *facts, struct diff_sum *sum);

#endif
