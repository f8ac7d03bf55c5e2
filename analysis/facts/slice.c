/* slice: see slice.h. The events of a lane do not overlap, so their ends are in order, too. */
#include "analysis/facts/slice.h"

uint32_t slice_begin(const struct trace *trace, const struct trace_lane *lane, int64_t t_ns)
{
    const int64_t *begin_ns = trace->events[lane->table].begin_ns;
    uint32_t low = lane->first;
    uint32_t high = lane->first + lane->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (begin_ns[mid] < t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

struct slice slice_of(const struct trace *trace, const struct trace_lane *lane, int64_t begin_ns,
                      int64_t end_ns)
{
    const struct trace_events *events = &trace->events[lane->table];
    struct slice slice = {.to = slice_begin(trace, lane, end_ns)};
    uint32_t low = lane->first;
    uint32_t high = slice.to;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (events->end_ns[mid] < begin_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    /* What ends where the window begins is out, unless it begins there as well. */
    while (low < slice.to && events->end_ns[low] == begin_ns && events->begin_ns[low] < begin_ns) {
        low++;
    }
    slice.from = low;
    return slice;
}
