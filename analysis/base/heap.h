/*
 * heap: a binary heap of (key, value), smallest key on top, equal keys by value (Williams,
 * "Algorithm 232: Heapsort", 1964). The caller owns the items and sees to it that they have room.
 * Push, pop and replace are O(log n).
 */
#ifndef CUTLINE_BASE_HEAP_H
#define CUTLINE_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint32_t value;
};

struct heap {
    struct heap_item *items; /* items[0] is the smallest */
    uint32_t count;
};

static inline bool heap_less(struct heap_item a, struct heap_item b)
{
    return a.key != b.key ? a.key < b.key : a.value < b.value;
}

/* There must be room for one more. */
static inline void heap_push(struct heap *heap, int64_t key, uint32_t value)
{
    const struct heap_item item = {key, value};
    uint32_t at = heap->count++;
    while (at > 0 && heap_less(item, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

/* Puts an item in the place of the smallest. The heap must not be empty. */
static inline void heap_replace(struct heap *heap, int64_t key, uint32_t value)
{
    const struct heap_item item = {key, value};
    uint32_t at = 0;
    while (at * 2 + 1 < heap->count) {
        uint32_t child = at * 2 + 1;
        if (child + 1 < heap->count && heap_less(heap->items[child + 1], heap->items[child])) {
            child++;
        }
        if (!heap_less(heap->items[child], item)) {
            break;
        }
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = item;
}

/* Takes the smallest. The heap must not be empty. */
static inline struct heap_item heap_pop(struct heap *heap)
{
    struct heap_item top = heap->items[0];
    struct heap_item last = heap->items[--heap->count];
    if (heap->count > 0) {
        heap_replace(heap, last.key, last.value);
    }
    return top;
}

/* The second smallest key; INT64_MAX if there is none. O(1). */
static inline int64_t heap_second_key(const struct heap *heap)
{
    int64_t left = heap->count > 1 ? heap->items[1].key : INT64_MAX;
    int64_t right = heap->count > 2 ? heap->items[2].key : INT64_MAX;
    return left < right ? left : right;
}

#endif
