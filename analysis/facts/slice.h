/*
 * slice: the events of a lane that a window holds.
 */
#ifndef CUTLINE_FACTS_SLICE_H
#define CUTLINE_FACTS_SLICE_H

#include <stdint.h>

#include "analysis/trace/trace.h"

struct slice {
    uint32_t from; /* [from, to) of the lane's table */
    uint32_t to;
};

/*
 * Events that overlap [begin, end), or lie in it without length. Only the first and the last can
 * stick out of the window. O(log n).
 */
struct slice slice_of(const struct trace *trace, const struct trace_lane *lane, int64_t begin_ns,
                      int64_t end_ns);
/* The first event of the lane that begins at t or later; one past the last if none. O(log n). */
uint32_t slice_begin(const struct trace *trace, const struct trace_lane *lane, int64_t t_ns);
/* The part of [begin, end) that lies in [low, high). */
static inline int64_t slice_inside(int64_t begin_ns, int64_t end_ns, int64_t low_ns,
                                   int64_t high_ns)
{
    int64_t from_ns = begin_ns > low_ns ? begin_ns : low_ns;
    int64_t to_ns = end_ns < high_ns ? end_ns : high_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

#endif
