/*
 * layout: lanes for the events of one track.
 *
 * Both take events in order of begin, of equals the longest first, and promise that the events of a
 * lane do not overlap, so that begins and ends both ascend in it.
 */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/partition.h"
#include "analysis/trace/trace_internal.h"

/*
 * Nesting: an event lies one lane below the innermost one that is still running. A stack of running
 * events; one that crosses its parent's end is treated as inside it. O(n).
 */
uint32_t layout_nested(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth)
{
    uint32_t used = 0;
    uint32_t lanes = 0;
    size_t cap = 0;
    int64_t *stack = NULL; /* ends of the running events */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = order[i];
        while (used > 0 && stack[used - 1] <= begin_ns[event]) {
            used--;
        }
        int64_t *grown = array_grow(stack, &cap, (size_t)used + 1, sizeof *stack);
        if (grown == NULL) {
            free(stack);
            return 0;
        }
        stack = grown;
        depth[event] = used;
        stack[used++] = end_ns[event];
        lanes = used > lanes ? used : lanes;
    }
    free(stack);
    return lanes;
}

/*
 * Packing: an event lies in the lowest lane that is free when it begins (interval partitioning,
 * which needs no more lanes than events that run at the same time). O(n log k) for k lanes.
 */
uint32_t layout_packed(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth)
{
    struct partition rows = {0};
    uint32_t row = 0;
    for (uint32_t i = 0; i < count && row != PARTITION_FULL; i++) {
        row = partition_row(&rows, begin_ns[order[i]], end_ns[order[i]]);
        depth[order[i]] = row;
    }
    uint32_t lanes = row == PARTITION_FULL ? 0 : rows.row_count;
    partition_free(&rows);
    return lanes;
}
