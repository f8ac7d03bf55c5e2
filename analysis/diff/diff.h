/*
 * diff: two captures compared: totals, then kernels, API calls, NVTX ranges and causes of idle.
 *
 * Rows of one kind are matched by full name; kernels that are left over are matched by short name
 * and launch shape (grid and block), so that a changed template argument does not look like one
 * kernel gone and another new; what is left after that is new or gone.
 */
#ifndef CUTLINE_DIFF_DIFF_H
#define CUTLINE_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/facts/facts.h"

enum diff_section {
    DIFF_TOTAL, /* span (first to last op of any device), GPU busy and idle (summed over devices),
                   launches (kernels and graphs), copies, copied bytes: times or counts */
    DIFF_KERNEL,
    DIFF_COPY,
    DIFF_API,
    DIFF_NVTX,
    DIFF_CAUSE,
    DIFF_SECTION_COUNT,
};

enum diff_status {
    DIFF_BOTH,
    DIFF_RENAMED, /* matched by short name and launch shape */
    DIFF_NEW,
    DIFF_GONE,
};

/* One side of a row, as counted; diff_count and diff_total_ns give it per step. */
struct diff_side {
    int64_t count; /* 0 = not there */
    int64_t total_ns;
    double mean_ns;
    double half_width_ns; /* of the 95 % range of the mean, from the spread of the instances; 0 for
                             fewer than two */
};

struct diff_row {
    uint8_t section; /* enum diff_section */
    uint8_t status; /* enum diff_status */
    bool is_count; /* DIFF_TOTAL rows that count: look at count, not at times */
    bool noise; /* the means differ by less than their ranges allow */
    const char *name; /* in NEW, or in BASE where gone; sanitised */
    const char *base_name; /* where it differs, else NULL */
    struct diff_side side[2]; /* BASE, NEW */
    uint32_t event; /* in NEW (BASE where gone): the longest instance; TRACE_NONE */
    uint8_t table;
};

struct diff_options {
    const char *per; /* NVTX range name: times and counts are per instance of it; NULL = whole */
    bool exact; /* keep PyTorch's numbers of calls (", seq = 5, op_id = 7") in range names;
                        without it they are left out, so that the same call compares */
    int64_t begin_ns[2]; /* windows, INT64_MIN, INT64_MAX = everywhere */
    int64_t end_ns[2];
};

struct diff {
    struct diff_row *rows; /* by section, then by largest change of total time */
    size_t count;
    int64_t steps[2]; /* instances of `per`, 1 without it */
    struct arena arena;
};

/*
 * [0] is BASE, [1] is NEW. O(n log n). 0, or -1: no memory, or `per` is not in both.
 */
int diff_make(const struct facts *const facts[2], const struct diff_options *options,
              struct diff *out, struct err *err);
void diff_free(struct diff *diff);
const char *diff_section_name(enum diff_section section);

/* Per step: the count and the time of one side. */
double diff_count(const struct diff *diff, const struct diff_row *row, int side);
double diff_total_ns(const struct diff *diff, const struct diff_row *row, int side);
/*
 * How much slower NEW is, in percent of BASE: of the mean for kernels, calls and ranges that are in
 * both, of the total for totals and causes; 0 where it is within the noise or there is no BASE.
 */
double diff_slower_percent(const struct diff *diff, const struct diff_row *row);
/*
 * The first row that is slower by more than percent and weighs: span, GPU busy time, or a kernel,
 * copy or range with 1 % of the time of its section. NULL where there is none.
 */
const struct diff_row *diff_regression(const struct diff *diff, double percent);

#endif
