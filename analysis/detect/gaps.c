/*
 * gaps: the complement of each device's union, see gaps.h.
 *
 * The ops beside the gaps are found in one pass over the lanes of the device: an op that ends where an
 * interval of the union ends, or begins where one begins, is noted for it. Ends and begins ascend in a
 * lane as in the union, so that the interval of an op is searched from that of the op before on, in
 * steps that double ("exponential search", Bentley and Yao 1976): O(ops x log(intervals / ops)).
 */
#include "analysis/detect/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

/* The search in one device. */
struct gaps_search {
    const struct trace *trace;
    const struct busy *busy;
    const struct gaps_query *query;
    uint32_t device;
    /* The intervals of the union in the window, [first, first + count), and the ops beside them. */
    uint32_t first;
    uint32_t count;
    uint32_t *enders; /* of each: a kept op that ends at its end */
    uint32_t *beginners; /* ... that begins at its begin */
    struct gaps *out;
    gaps_fn *visit;
    void *arg;
};

static bool gaps_kept(const struct gaps_search *search, uint32_t op)
{
    return busy_keeps(search->busy, op);
}

/* The first of ascending times from `at` on that is not before t; count if none. */
static uint32_t gaps_seek(const int64_t *times_ns, uint32_t at, uint32_t count, int64_t t_ns)
{
    uint32_t step = 1;
    uint32_t end = at;
    while (end < count && times_ns[end] < t_ns) {
        at = end + 1;
        end = count - end > step ? end + step : count;
        step *= 2;
    }
    BISECT(uint32_t, at, end, mid, times_ns[mid] < t_ns)
    return at;
}

/* Notes the ops of a lane. Lanes come last to first, so that the first one stands; of the ops of a
 * lane the last that ends, and the first that begins. */
static void gaps_note_lane(struct gaps_search *search, const struct trace_lane *lane)
{
    const struct trace_events *gpu = &search->trace->events[TRACE_GPU];
    const struct busy_union *all = &search->busy->devices[search->device];
    const int64_t *begins_ns = all->begin_ns + search->first;
    const int64_t *ends_ns = all->end_ns + search->first;
    uint32_t last = lane->first + lane->count;
    uint32_t i = lane->first;
    uint32_t begin = 0;
    uint32_t end = 0;
    BISECT(uint32_t, i, last, mid, gpu->end_ns[mid] < begins_ns[0])
    for (; i < last && gpu->begin_ns[i] <= ends_ns[search->count - 1]; i++) {
        if (!gaps_kept(search, i)) {
            continue;
        }
        begin = gaps_seek(begins_ns, begin, search->count, gpu->begin_ns[i]);
        end = gaps_seek(ends_ns, end, search->count, gpu->end_ns[i]);
        if (end < search->count && ends_ns[end] == gpu->end_ns[i]) {
            search->enders[end] = i;
        }
        if (begin < search->count && begins_ns[begin] == gpu->begin_ns[i] &&
            (search->beginners[begin] == TRACE_NONE || search->beginners[begin] >= last ||
             search->beginners[begin] < lane->first)) {
            search->beginners[begin] = i;
        }
    }
}

/* Finds the ops beside the intervals of the window. 0 or -1. */
static int gaps_note(struct gaps_search *search, struct err *err)
{
    const struct trace_device *device = &search->trace->devices[search->device];
    size_t bytes = ((size_t)search->count + 1) * sizeof *search->enders;
    search->enders = malloc(bytes);
    search->beginners = malloc(bytes);
    if (search->enders == NULL || search->beginners == NULL) {
        return err_nomem(err, "gaps");
    }
    memset(search->enders, 0xff, bytes);
    memset(search->beginners, 0xff, bytes);
    for (uint32_t l = device->lane_count; l > 0 && search->count > 0; l--) {
        gaps_note_lane(search, &search->trace->lanes[device->first_lane + l - 1]);
    }
    return 0;
}

static int64_t gaps_clip(int64_t t_ns, int64_t begin_ns, int64_t end_ns)
{
    if (t_ns < begin_ns) {
        return begin_ns;
    }
    return t_ns > end_ns ? end_ns : t_ns;
}

int64_t gaps_span_ns(const struct busy *busy, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
    const struct busy_union *all = &busy->devices[device];
    if (all->count == 0) {
        return 0;
    }
    return gaps_clip(all->end_ns[all->count - 1], begin_ns, end_ns) -
           gaps_clip(all->begin_ns[0], begin_ns, end_ns);
}

/* The gap between busy interval i and the next. */
static int gaps_between(struct gaps_search *search, const struct busy_union *all, uint32_t i,
                        struct err *err)
{
    const struct gaps_query *query = search->query;
    struct gap gap = {
        .begin_ns = gaps_clip(all->end_ns[i], query->begin_ns, query->end_ns),
        .end_ns = gaps_clip(all->begin_ns[i + 1], query->begin_ns, query->end_ns),
        .device = search->device,
    };
    if (gap.end_ns <= gap.begin_ns) {
        return 0;
    }
    search->out->all_count++;
    search->out->all_ns += gap.end_ns - gap.begin_ns;
    if (gap.end_ns - gap.begin_ns < search->query->min_ns) {
        return 0;
    }
    gap.before = search->enders[i - search->first];
    gap.after = search->beginners[i + 1 - search->first];
    return search->visit(search->arg, &gap, err);
}

/* The intervals that bound gaps of the window: the last one that ends before it, to the first one
 * that begins after it. */
static void gaps_window(struct gaps_search *search, const struct busy_union *all)
{
    uint32_t first = busy_union_lower(all, search->query->begin_ns);
    uint32_t end = busy_union_upper(all, search->query->end_ns);
    search->first = first > 0 ? first - 1 : 0;
    end = end < all->count ? end + 1 : end;
    search->count = end > search->first ? end - search->first : 0;
}

static int gaps_device(struct gaps_search *search, struct err *err)
{
    const struct busy_union *all = &search->busy->devices[search->device];
    if (all->count == 0) {
        return 0;
    }
    search->out->span_ns +=
        gaps_span_ns(search->busy, search->device, search->query->begin_ns, search->query->end_ns);
    gaps_window(search, all);
    int status = gaps_note(search, err);
    for (uint32_t i = search->first; i + 1 < search->first + search->count && status == 0; i++) {
        status = gaps_between(search, all, i, err);
    }
    free(search->enders);
    free(search->beginners);
    search->enders = NULL;
    search->beginners = NULL;
    return status;
}

static int gaps_order(const void *a, const void *b)
{
    const struct gap *x = a;
    const struct gap *y = b;
    int64_t x_ns = x->end_ns - x->begin_ns;
    int64_t y_ns = y->end_ns - y->begin_ns;
    if (x_ns != y_ns) {
        return COMPARE(y_ns, x_ns);
    }
    if (x->begin_ns != y->begin_ns) {
        return COMPARE(x->begin_ns, y->begin_ns);
    }
    return COMPARE(x->device, y->device);
}

int gaps_each(const struct trace *trace, const struct busy *busy, const struct gaps_query *query,
              gaps_fn *visit, void *arg, struct gaps *out, struct err *err)
{
    struct gaps_search search = {
        .trace = trace, .busy = busy, .query = query, .out = out, .visit = visit, .arg = arg};
    *out = (struct gaps){0};
    for (uint32_t d = 0; d < trace->device_count; d++) {
        search.device = d;
        if ((query->device == TRACE_NONE || query->device == d) && gaps_device(&search, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The list that grows. */
struct gaps_list {
    struct gap *list;
    size_t count;
    size_t cap;
};

static int gaps_add(void *arg, const struct gap *gap, struct err *err)
{
    struct gaps_list *to = arg;
    struct gap *grown = array_grow(to->list, &to->cap, to->count + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "gaps");
    }
    to->list = grown;
    to->list[to->count++] = *gap;
    return 0;
}

int gaps_find(const struct trace *trace, const struct busy *busy, const struct gaps_query *query,
              struct gaps *out, struct err *err)
{
    struct gaps_list found = {0};
    int rc = gaps_each(trace, busy, query, gaps_add, &found, out, err);
    out->list = found.list;
    out->count = found.count;
    if (rc != 0) {
        gaps_free(out);
        return -1;
    }
    if (out->count > 0) {
        sort_list(out->list, out->count, sizeof *out->list, gaps_order);
    }
    return 0;
}

void gaps_free(struct gaps *gaps)
{
    free(gaps->list);
    *gaps = (struct gaps){0};
}
