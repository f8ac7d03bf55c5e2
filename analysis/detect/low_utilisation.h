/*
 * low_utilisation: times in which a device is busy for less than a share of every window of some length.
 *
 * A window is low where the union of the device's ops covers less than percent of it. A zone is a
 * maximal union of low windows; a device whose ops span less than a window is one window.
 */
#ifndef CUTLINE_DETECT_LOW_UTILISATION_H
#define CUTLINE_DETECT_LOW_UTILISATION_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"

struct lowuse_options {
    double percent;
    int64_t window_ns; /* at least 1 */
    int64_t begin_ns; /* clip to [begin, end); INT64_MIN, INT64_MAX = everywhere */
    int64_t end_ns;
    uint32_t device; /* TRACE_NONE = all */
};
/* Those of the arguments of low_utilisation. */
struct lowuse_options lowuse_defaults(void);

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
