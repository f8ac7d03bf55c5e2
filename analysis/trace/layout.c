/*
 * layout: lanes for the events of one track.
 *
 * Both take events in order of begin, of equals the longest first, and promise that the events of a
 * lane do not overlap, so that begins and ends both ascend in it.
 */
#include <stdlib.h>

#include "analysis/trace/trace_internal.h"

/*
 * Nesting: an event lies one lane below the innermost one that is still running. A stack of running
 * events; one that crosses its parent's end is treated as inside it. O(n).
 */
uint32_t layout_nested(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth)
{
    uint32_t cap = 64;
    uint32_t used = 0;
    uint32_t lanes = 0;
    int64_t *stack = malloc(cap * sizeof *stack); /* ends of the running events */
    uint32_t i;
    if (stack == NULL) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        uint32_t event = order[i];
        while (used > 0 && stack[used - 1] <= begin_ns[event]) {
            used--;
        }
        if (used == cap) {
            int64_t *grown = realloc(stack, (size_t)cap * 2 * sizeof *stack);
            if (grown == NULL) {
                free(stack);
                return 0;
            }
            stack = grown;
            cap *= 2;
        }
        depth[event] = used;
        stack[used++] = end_ns[event];
        lanes = used > lanes ? used : lanes;
    }
    free(stack);
    return lanes;
}

/* A running event: the lane it lies in. The heap has the earliest end on top. */
struct running {
    int64_t end_ns;
    uint32_t lane;
};

struct packing {
    struct running *heap;
    uint32_t heap_count;
    uint32_t *free_lanes; /* a heap too: the lowest number on top */
    uint32_t free_count;
    uint32_t cap;
    uint32_t lanes;
};

static void heap_push(struct packing *packing, int64_t end_ns, uint32_t lane)
{
    struct running *heap = packing->heap;
    uint32_t at = packing->heap_count++;
    while (at > 0 && heap[(at - 1) / 2].end_ns > end_ns) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = (struct running){end_ns, lane};
}

static uint32_t heap_pop(struct packing *packing)
{
    struct running *heap = packing->heap;
    uint32_t lane = heap[0].lane;
    struct running last = heap[--packing->heap_count];
    uint32_t count = packing->heap_count;
    uint32_t at = 0;
    while (at * 2 + 1 < count) {
        uint32_t child = at * 2 + 1;
        if (child + 1 < count && heap[child + 1].end_ns < heap[child].end_ns) {
            child++;
        }
        if (heap[child].end_ns >= last.end_ns) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return lane;
}

static void free_push(struct packing *packing, uint32_t lane)
{
    uint32_t *heap = packing->free_lanes;
    uint32_t at = packing->free_count++;
    while (at > 0 && heap[(at - 1) / 2] > lane) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = lane;
}

static uint32_t free_pop(struct packing *packing)
{
    uint32_t *heap = packing->free_lanes;
    uint32_t lane = heap[0];
    uint32_t last = heap[--packing->free_count];
    uint32_t count = packing->free_count;
    uint32_t at = 0;
    while (at * 2 + 1 < count) {
        uint32_t child = at * 2 + 1;
        if (child + 1 < count && heap[child + 1] < heap[child]) {
            child++;
        }
        if (heap[child] >= last) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return lane;
}

static bool packing_grow(struct packing *packing)
{
    uint32_t cap = packing->cap == 0 ? 16 : packing->cap * 2;
    struct running *heap = realloc(packing->heap, cap * sizeof *heap);
    uint32_t *free_lanes;
    if (heap == NULL) {
        return false;
    }
    packing->heap = heap;
    free_lanes = realloc(packing->free_lanes, cap * sizeof *free_lanes);
    if (free_lanes == NULL) {
        return false;
    }
    packing->free_lanes = free_lanes;
    packing->cap = cap;
    return true;
}

/*
 * Packing: an event lies in the lowest lane that is free when it begins (interval partitioning,
 * which needs no more lanes than events that run at the same time). O(n log k) for k lanes.
 */
uint32_t layout_packed(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth)
{
    struct packing packing = {0};
    uint32_t i;
    for (i = 0; i < count; i++) {
        uint32_t event = order[i];
        uint32_t lane;
        while (packing.heap_count > 0 && packing.heap[0].end_ns <= begin_ns[event]) {
            free_push(&packing, heap_pop(&packing));
        }
        if (packing.free_count == 0 && packing.lanes == packing.cap && !packing_grow(&packing)) {
            packing.lanes = 0;
            break;
        }
        lane = packing.free_count > 0 ? free_pop(&packing) : packing.lanes++;
        depth[event] = lane;
        heap_push(&packing, end_ns[event], lane);
    }
    free(packing.heap);
    free(packing.free_lanes);
    return packing.lanes;
}
