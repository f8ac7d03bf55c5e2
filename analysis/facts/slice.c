/* slice: see slice.h. The events of a lane do not overlap, so their ends are in order, too. */
#include "analysis/facts/slice.h"

#include "analysis/base/array.h"

uint32_t slice_begin(const struct trace *trace, const struct trace_lane *lane, int64_t t_ns)
{
    const int64_t *begin_ns = trace->events[lane->table].begin_ns;
    uint32_t low = lane->first;
    BISECT(uint32_t, low, lane->first + lane->count, mid, begin_ns[mid] < t_ns)
    return low;
}

struct slice slice_of(const struct trace *trace, const struct trace_lane *lane, int64_t begin_ns,
                      int64_t end_ns)
{
    const struct trace_events *events = &trace->events[lane->table];
    struct slice slice = {.to = slice_begin(trace, lane, end_ns)};
    uint32_t low = lane->first;
    BISECT(uint32_t, low, slice.to, mid, events->end_ns[mid] < begin_ns)
    /* What ends where the window begins is out, unless it begins there as well. */
    while (low < slice.to && events->end_ns[low] == begin_ns && events->begin_ns[low] < begin_ns) {
        low++;
    }
    slice.from = low;
    return slice;
}
