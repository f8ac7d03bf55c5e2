/*
 * order: a stable bottom-up merge sort of event numbers that leaves alone what is in order.
 *
 * Rows of an export are nearly sorted, or are a few sorted runs one after the other: two halves
 * that already follow each other are not merged, so such data costs O(n); anything else O(n log n).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace_internal.h"

struct order {
    const int64_t *begin_ns;
    const int64_t *end_ns;
};

/* Does b have to come before a, where a comes first now? */
static bool order_wrong(const struct order *order, uint32_t a, uint32_t b)
{
    if (order->begin_ns[a] != order->begin_ns[b]) {
        return order->begin_ns[a] > order->begin_ns[b];
    }
    return order->end_ns[a] < order->end_ns[b];
}

/* Merges events[0..left) and events[left..count); spare holds left numbers. */
static void order_merge(const struct order *order, uint32_t *events, uint32_t left, uint32_t count,
                        uint32_t *spare)
{
    uint32_t i = 0;
    uint32_t j = left;
    uint32_t out = 0;
    memcpy(spare, events, left * sizeof *spare);
    while (i < left && j < count) {
        if (order_wrong(order, spare[i], events[j])) {
            events[out++] = events[j++];
        } else {
            events[out++] = spare[i++];
        }
    }
    memcpy(events + out, spare + i, (left - i) * sizeof *spare);
}

int order_sort(const int64_t *begin_ns, const int64_t *end_ns, uint32_t *order, uint32_t count)
{
    const struct order by = {begin_ns, end_ns};
    uint32_t *spare = malloc(((size_t)count + 1) * sizeof *spare);
    uint64_t width;
    if (spare == NULL) {
        return -1;
    }
    for (width = 1; width < count; width *= 2) {
        uint64_t at;
        for (at = 0; at + width < count; at += 2 * width) {
            uint64_t len = count - at < 2 * width ? count - at : 2 * width;
            if (order_wrong(&by, order[at + width - 1], order[at + width])) {
                order_merge(&by, order + at, (uint32_t)width, (uint32_t)len, spare);
            }
        }
    }
    free(spare);
    return 0;
}
