/*
 * lowuse: times in which a device is busy for less than a share of every window of some length.
 *
 * A window is low where the union of the device's ops covers less than percent of it. A zone is a
 * maximal union of low windows; a device whose ops span less than a window is one window.
 */
#ifndef CUTLINE_DETECT_LOWUSE_H
#define CUTLINE_DETECT_LOWUSE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"

struct lowuse_options {
    double percent;    /* default 80 */
    int64_t window_ns; /* default 1 s, at least 1 */
    int64_t begin_ns;  /* clip to [begin, end); INT64_MIN, INT64_MAX = everywhere */
    int64_t end_ns;
    uint32_t device; /* TRACE_NONE = all */
};
#define LOWUSE_DEFAULTS                                                                            \
    ((struct lowuse_options){.percent = 80.0,                                                      \
                             .window_ns = 1000000000,                                              \
                             .begin_ns = INT64_MIN,                                                \
                             .end_ns = INT64_MAX,                                                  \
                             .device = TRACE_NONE})

struct lowuse_zone {
    uint32_t device;
    int64_t begin_ns;
    int64_t end_ns;
    int64_t busy_ns;
};

struct lowuse {
    struct lowuse_zone *list; /* most idle first; owned */
    size_t count;
};

/* O(n log n) for n busy intervals. 0 or -1. */
int lowuse_find(const struct facts *facts, const struct lowuse_options *options, struct lowuse *out,
                struct err *err);
void lowuse_free(struct lowuse *lowuse);

#endif
