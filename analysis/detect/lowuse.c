/*
 * lowuse: the busy time of the window that begins at t is B(t + w) - B(t), with B the running busy
 * time. Between the times at which an end of the window meets an edge of a busy interval it grows
 * or falls by 1 ns a ns or stays, so the first and the last low window are found exactly.
 */
#include "analysis/detect/lowuse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

struct sweep {
    const struct facts *facts;
    uint32_t device;
    int64_t window_ns;
    double limit_ns; /* low = less busy time than this */
    struct lowuse *out;
    size_t cap;
    bool failed;
};

static int64_t edge(const struct trace_device *device, uint32_t i)
{
    return i % 2 == 0 ? device->busy_begin_ns[i / 2] : device->busy_end_ns[i / 2];
}

static void zone_add(struct sweep *sweep, int64_t begin_ns, int64_t end_ns)
{
    struct lowuse *out = sweep->out;
    struct lowuse_zone *last = out->count > 0 ? &out->list[out->count - 1] : NULL;
    if (last != NULL && last->device == sweep->device && begin_ns <= last->end_ns) {
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return;
    }
    struct lowuse_zone *list =
        array_grow(out->list, &sweep->cap, (size_t)out->count + 1, sizeof *list);
    if (list == NULL) {
        sweep->failed = true;
        return;
    }
    out->list = list;
    out->list[out->count++] =
        (struct lowuse_zone){.device = sweep->device, .begin_ns = begin_ns, .end_ns = end_ns};
}

/* Windows that begin in [t0, t1], over which the busy time goes from f0 to f1 by 1, 0 or -1 ns a
 * ns: the first and the last that are low. */
static void segment(struct sweep *sweep, int64_t t0, double f0, int64_t t1, double f1)
{
    double limit = sweep->limit_ns;
    if (f0 >= limit && f1 >= limit) {
        return;
    }
    if (f0 >= limit) {
        t0 += (int64_t)floor(f0 - limit) + 1;
    } else if (f1 >= limit) {
        t1 = t0 + (int64_t)ceil(limit - f0) - 1;
    }
    zone_add(sweep, t0, t1 + sweep->window_ns);
}

static double busy_at(const struct sweep *sweep, int64_t t_ns)
{
    return (double)facts_busy_ns(sweep->facts, sweep->device, t_ns, t_ns + sweep->window_ns);
}

static void device_sweep(struct sweep *sweep, int64_t begin_ns, int64_t end_ns)
{
    const struct trace_device *device = &sweep->facts->trace->devices[sweep->device];
    uint32_t edges = device->busy_count * 2;
    uint32_t head = 0; /* next edge for t, and for t + window */
    uint32_t tail = 0;
    int64_t last_ns = end_ns - sweep->window_ns;
    int64_t t0 = begin_ns;
    double f0 = busy_at(sweep, t0);
    if (last_ns == begin_ns && f0 < sweep->limit_ns) {
        zone_add(sweep, begin_ns, end_ns);
    }
    while (t0 < last_ns && !sweep->failed) {
        while (head < edges && edge(device, head) <= t0) {
            head++;
        }
        while (tail < edges && edge(device, tail) - sweep->window_ns <= t0) {
            tail++;
        }
        int64_t t1 = last_ns;
        if (head < edges && edge(device, head) < t1) {
            t1 = edge(device, head);
        }
        if (tail < edges && edge(device, tail) - sweep->window_ns < t1) {
            t1 = edge(device, tail) - sweep->window_ns;
        }
        double f1 = busy_at(sweep, t1);
        segment(sweep, t0, f0, t1, f1);
        t0 = t1;
        f0 = f1;
    }
}

static int idle_cmp(const void *a, const void *b)
{
    const struct lowuse_zone *x = a;
    const struct lowuse_zone *y = b;
    int64_t xi = x->end_ns - x->begin_ns - x->busy_ns;
    int64_t yi = y->end_ns - y->begin_ns - y->busy_ns;
    if (xi != yi) {
        return xi < yi ? 1 : -1;
    }
    return COMPARE(x->begin_ns, y->begin_ns);
}

int lowuse_find(const struct facts *facts, const struct lowuse_options *options, struct lowuse *out,
                struct err *err)
{
    const struct trace *trace = facts->trace;
    *out = (struct lowuse){0};
    if (options->window_ns < 1) {
        return err_set(err, "a window of %lld ns: 1 or more are needed",
                       (long long)options->window_ns);
    }
    struct sweep sweep = {.facts = facts, .out = out};
    for (uint32_t i = 0; i < trace->device_count && !sweep.failed; i++) {
        const struct trace_device *device = &trace->devices[i];
        if (device->busy_count == 0 || (options->device != TRACE_NONE && options->device != i)) {
            continue;
        }
        int64_t begin_ns = device->busy_begin_ns[0];
        int64_t end_ns = device->busy_end_ns[device->busy_count - 1];
        begin_ns = begin_ns > options->begin_ns ? begin_ns : options->begin_ns;
        end_ns = end_ns < options->end_ns ? end_ns : options->end_ns;
        if (end_ns <= begin_ns) {
            continue;
        }
        int64_t span_ns = end_ns - begin_ns;
        sweep.device = i;
        sweep.window_ns = options->window_ns < span_ns ? options->window_ns : span_ns;
        sweep.limit_ns = options->percent / 100.0 * (double)sweep.window_ns;
        device_sweep(&sweep, begin_ns, end_ns);
    }
    if (sweep.failed) {
        lowuse_free(out);
        return err_nomem(err, "times of low utilisation");
    }
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].busy_ns =
            facts_busy_ns(facts, out->list[i].device, out->list[i].begin_ns, out->list[i].end_ns);
    }
    if (out->count > 0) {
        sort_list(out->list, out->count, sizeof(*out->list), idle_cmp);
    }
    return 0;
}

void lowuse_free(struct lowuse *lowuse)
{
    free(lowuse->list);
    *lowuse = (struct lowuse){0};
}
