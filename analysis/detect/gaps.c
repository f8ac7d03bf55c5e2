/*
 * gaps: the complement of each device's union, see gaps.h.
 *
 * The ops beside a gap are found with one cursor for each lane, which only moves forward: O(ops +
 * gaps x lanes) in all.
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
    uint32_t *cursors; /* of each lane: the first op that may end after the gap's begin */
    struct gaps *out;
    gaps_fn *visit;
    void *arg;
};

static bool gaps_kept(const struct gaps_search *search, uint32_t op)
{
    return busy_keeps(search->busy, op);
}

/* A kept op of the device that ends at t; TRACE_NONE if none. Moves the cursors to t. */
static uint32_t gaps_before(struct gaps_search *search, int64_t t_ns)
{
    const struct trace_device *device = &search->trace->devices[search->device];
    const int64_t *end_ns = search->trace->events[TRACE_GPU].end_ns;
    uint32_t found = TRACE_NONE;
    for (uint32_t l = 0; l < device->lane_count; l++) {
        const struct trace_lane *lane = &search->trace->lanes[device->first_lane + l];
        uint32_t at = search->cursors[l];
        while (at < lane->first + lane->count && end_ns[at] <= t_ns) {
            at++;
        }
        search->cursors[l] = at;
        while (found == TRACE_NONE && at > lane->first && end_ns[at - 1] == t_ns) {
            at--;
            found = gaps_kept(search, at) ? at : found;
        }
    }
    return found;
}

/* A kept op of the device that begins at t. The cursors are not after it. */
static uint32_t gaps_after(struct gaps_search *search, int64_t t_ns)
{
    const struct trace_device *device = &search->trace->devices[search->device];
    const int64_t *begin_ns = search->trace->events[TRACE_GPU].begin_ns;
    uint32_t found = TRACE_NONE;
    for (uint32_t l = 0; l < device->lane_count; l++) {
        const struct trace_lane *lane = &search->trace->lanes[device->first_lane + l];
        uint32_t end = lane->first + lane->count;
        uint32_t at = search->cursors[l];
        while (at < end && begin_ns[at] < t_ns) {
            at++;
        }
        search->cursors[l] = at;
        for (; found == TRACE_NONE && at < end && begin_ns[at] == t_ns; at++) {
            found = gaps_kept(search, at) ? at : found;
        }
    }
    return found;
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
    gap.before = gaps_before(search, all->end_ns[i]);
    gap.after = gaps_after(search, all->begin_ns[i + 1]);
    return search->visit(search->arg, &gap, err);
}

static int gaps_device(struct gaps_search *search, struct err *err)
{
    const struct trace_device *device = &search->trace->devices[search->device];
    const struct busy_union *all = &search->busy->devices[search->device];
    int status = 0;
    if (all->count == 0) {
        return 0;
    }
    search->cursors = malloc(((size_t)device->lane_count + 1) * sizeof *search->cursors);
    if (search->cursors == NULL) {
        return err_nomem(err, "gaps");
    }
    for (uint32_t i = 0; i < device->lane_count; i++) {
        search->cursors[i] = search->trace->lanes[device->first_lane + i].first;
    }
    search->out->span_ns +=
        gaps_span_ns(search->busy, search->device, search->query->begin_ns, search->query->end_ns);
    for (uint32_t i = 0; i + 1 < all->count && status == 0; i++) {
        status = gaps_between(search, all, i, err);
    }
    free(search->cursors);
    search->cursors = NULL;
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
