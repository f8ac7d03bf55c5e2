/*
 * array: growing arrays, comparing numbers, and searching what is sorted.
 */
#ifndef CUTLINE_BASE_ARRAY_H
#define CUTLINE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Room for at least `count` elements of `size` bytes in a list from malloc that holds *cap (NULL
 * and 0 at first). Returns the list, which may have moved, with *cap set; NULL without memory or
 * where the bytes do not fit a size_t: then the old list is as it was. Capacities double, so n
 * appends cost O(n).
 */
void *array_grow(void *list, size_t *cap, size_t count, size_t size);
/* The same, and what is new is zero. */
void *array_grow_zeroed(void *list, size_t *cap, size_t count, size_t size);
/* The same where the list is made to measure: exactly `count` elements, at least one. */
void *array_resize(void *list, size_t count, size_t size);

/* Below, at or above 0, for sorting numbers of one type. Evaluates its arguments twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Binary search: moves `at`, of an unsigned type, to the first place in [at, end) for which `before`, an
 * expression over `mid`, is false; end if there is none. `before` is true for the first places and
 * false for the rest. O(log n).
 *
 *     size_t at = 0;
 *     BISECT(size_t, at, count, mid, list[mid].key < key)
 */
#define BISECT(type, at, end, mid, before) \
    for (type bisect_end = (end); (at) < bisect_end;) { \
        type mid = (at) + (bisect_end - (at)) / 2; \
        if (before) { \
            (at) = mid + 1; \
        } else { \
            bisect_end = mid; \
        } \
    }

/* The first place whose value is at least `value`; count if there is none. O(log n). */
static inline size_t lower_bound_i64(const int64_t *sorted, size_t count, int64_t value)
{
    size_t low = 0;
    BISECT(size_t, low, count, mid, sorted[mid] < value)
    return low;
}

/* The first place whose value is above `value`; count if there is none. O(log n). */
static inline size_t upper_bound_i64(const int64_t *sorted, size_t count, int64_t value)
{
    return value == INT64_MAX ? count : lower_bound_i64(sorted, count, value + 1);
}

#endif
