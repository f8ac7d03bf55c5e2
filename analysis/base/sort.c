/* sort: see sort.h. */
#include "analysis/base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"

struct runs {
    size_t count;
    size_t size;
    sort_runs_fn *compare;
    const void *arg;
};

static int runs_compare(const struct runs *runs, const char *a, const char *b)
{
    return runs->compare(a, b, runs->arg);
}

/* One past the ascending run that begins at `from`. */
static size_t run_end(const struct runs *runs, const char *list, size_t from)
{
    size_t end = from + 1;
    while (end < runs->count &&
           runs_compare(runs, list + (end - 1) * runs->size, list + end * runs->size) <= 0) {
        end++;
    }
    return end;
}

/* Merges [from, mid) and [mid, to). What the one run has ahead of the next element of the other is
 * copied at once. */
static void run_merge(const struct runs *runs, const char *in, const size_t bounds[3], char *out)
{
    size_t size = runs->size;
    const char *a = in + bounds[0] * size;
    const char *b = in + bounds[1] * size;
    const char *a_end = b;
    const char *b_end = in + bounds[2] * size;
    char *to = out + bounds[0] * size;
    while (a < a_end && b < b_end) {
        const char *from = a;
        while (a < a_end && runs_compare(runs, a, b) <= 0) {
            a += size;
        }
        memcpy(to, from, (size_t)(a - from));
        to += a - from;
        from = b;
        while (a < a_end && b < b_end && runs_compare(runs, a, b) > 0) {
            b += size;
        }
        memcpy(to, from, (size_t)(b - from));
        to += b - from;
    }
    memcpy(to, a, (size_t)(a_end - a));
    to += a_end - a;
    memcpy(to, b, (size_t)(b_end - b));
}

/* Merges the runs in pairs into out. Returns whether one is left. */
static int runs_pass(const struct runs *runs, const char *in, char *out)
{
    size_t from = 0;
    size_t merged = 0;
    while (from < runs->count) {
        size_t mid = run_end(runs, in, from);
        size_t to = mid < runs->count ? run_end(runs, in, mid) : mid;
        const size_t bounds[3] = {from, mid, to};
        run_merge(runs, in, bounds, out);
        merged++;
        from = to;
    }
    return merged <= 1;
}

int sort_runs(void *list, size_t count, size_t size, sort_runs_fn *compare, const void *arg)
{
    const struct runs runs = {count, size, compare, arg};
    if (count < 2 || run_end(&runs, list, 0) == count) {
        return 0;
    }
    char *scratch = malloc(count * size);
    if (scratch == NULL) {
        return -1;
    }
    char *in = list;
    char *out = scratch;
    int is_one = 0;
    while (!is_one) {
        is_one = runs_pass(&runs, in, out);
        char *swap = in;
        in = out;
        out = swap;
    }
    if (in != list) {
        memcpy(list, in, count * size);
    }
    free(scratch);
    return 0;
}

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

int sort_by_time(const int64_t *begin_ns, const int64_t *end_ns, uint32_t *order, uint32_t count)
{
    const struct order by = {begin_ns, end_ns};
    uint32_t *spare = malloc(((size_t)count + 1) * sizeof *spare);
    if (spare == NULL) {
        return -1;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t at = 0; at + width < count; at += 2 * width) {
            uint64_t len = count - at < 2 * width ? count - at : 2 * width;
            if (order_wrong(&by, order[at + width - 1], order[at + width])) {
                order_merge(&by, order + at, (uint32_t)width, (uint32_t)len, spare);
            }
        }
    }
    free(spare);
    return 0;
}

void sort_list(void *list, size_t count, size_t size, sort_compare_fn *compare)
{
    if (count > 1) {
        qsort(list, count, size, compare);
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return COMPARE(*x, *y);
}

void sort_i64(int64_t *values, size_t count)
{
    sort_list(values, count, sizeof *values, by_value);
}

/* Moves the values of [low, high] around one of them: [low, *j] are not larger, [*i, high] not smaller. */
static void split_i64(int64_t *values, size_t low, size_t high, size_t *i, size_t *j)
{
    /* A place that the order of the values knows nothing of. */
    size_t width = high - low + 1;
    int64_t pivot = values[low + (size_t)(UINT64_C(0x9e3779b97f4a7c15) * width >> 32) % width];
    *i = low;
    *j = high;
    while (*i <= *j) {
        while (values[*i] < pivot) {
            (*i)++;
        }
        while (values[*j] > pivot) {
            (*j)--;
        }
        if (*i <= *j) {
            int64_t value = values[*i];
            values[*i] = values[*j];
            values[*j] = value;
            (*i)++;
            if (*j == 0) {
                return;
            }
            (*j)--;
        }
    }
}

void sort_nth_i64(int64_t *values, size_t count, size_t nth)
{
    size_t low = 0;
    size_t high = count - 1;
    while (low < high) {
        size_t i;
        size_t j;
        split_i64(values, low, high, &i, &j);
        if (nth <= j && j < high) {
            high = j;
        } else if (nth >= i) {
            low = i;
        } else {
            return;
        }
    }
}
