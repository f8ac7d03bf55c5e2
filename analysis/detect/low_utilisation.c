/*
 * low_utilisation: times in which a device is busy for less than a share of every window of some
 * length.
 *
 * The busy time of the window that begins at t is B(t + w) - B(t), with B the running busy time.
 * Between the times at which an end of the window meets an edge of a busy interval it grows or
 * falls by 1 ns a ns or stays, so the first and the last low window are found exactly.
 */
#include "analysis/detect/low_utilisation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"

enum {
    ARG_THRESHOLD,
    ARG_WINDOW,
};

static const struct report_arg ARGS[] = {
    {"threshold", REPORT_ARG_REAL, 0, "80", "low is less than PERCENT"},
    {"window", REPORT_ARG_TIME, 1000000000, "1s", "... over any TIME"},
    DETECTOR_TIME_ARGS,
    {0},
};

static const struct table_column COLUMNS[] = {
    {"Busy (%)", TABLE_PERCENT, 0}, {"Duration", TABLE_TIME, 0}, {"Idle", TABLE_TIME, 0},
    {"Start", TABLE_TIME, 0},       {"End", TABLE_TIME, 0},      {"Device ID", TABLE_INT, 0},
};

/* ---- windows ---- */

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
    struct lowuse_zone *list = array_grow(out->list, &sweep->cap, out->count + 1, sizeof *list);
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

/* Busy time before t, which lies in front of edge i and behind the one before it. O(1). */
static int64_t busy_until(const struct trace_device *device, uint32_t i, int64_t t_ns)
{
    bool inside = i % 2 == 1;
    return device->busy_sum_ns[i / 2] + (inside ? t_ns - device->busy_begin_ns[i / 2] : 0);
}

static void device_sweep(struct sweep *sweep, int64_t begin_ns, int64_t end_ns)
{
    const struct trace_device *device = &sweep->facts->trace->devices[sweep->device];
    uint32_t edges = device->busy_count * 2;
    uint32_t head = 0; /* next edge for t, and for t + window */
    uint32_t tail = 0;
    int64_t last_ns = end_ns - sweep->window_ns;
    int64_t t0 = begin_ns;
    double f0 = (double)facts_busy_ns(sweep->facts, sweep->device, t0, t0 + sweep->window_ns);
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
        double f1 = (double)(busy_until(device, tail, t1 + sweep->window_ns) -
                             busy_until(device, head, t1));
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

struct lowuse_options lowuse_defaults(void)
{
    const struct report *rule = &DETECT_LOW_UTILISATION.rule;
    return (struct lowuse_options){.percent = report_default(rule, "threshold").real,
                                   .window_ns = report_default(rule, "window").i,
                                   .begin_ns = INT64_MIN,
                                   .end_ns = INT64_MAX,
                                   .device = TRACE_NONE};
}

/* ---- the detector ---- */

static void drop(void *data)
{
    lowuse_free(data);
    free(data);
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    const struct lowuse_options options = {.percent = context->args[ARG_THRESHOLD].real,
                                           .window_ns = context->args[ARG_WINDOW].i,
                                           .begin_ns = context->select->begin_ns,
                                           .end_ns = context->select->end_ns,
                                           .device = TRACE_NONE};
    const struct facts *facts = shared_facts(context->shared, err);
    struct lowuse *found = facts != NULL ? calloc(1, sizeof *found) : NULL;
    if (found == NULL) {
        return err_nomem(err, "times of low utilisation");
    }
    out->data = found;
    int rc = lowuse_find(facts, &options, found, err);
    out->count = found->count;
    return rc;
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct lowuse *found = data;
    const struct lowuse_zone *zone = &found->list[i];
    int64_t length_ns = zone->end_ns - zone->begin_ns;
    if (!detector_keeps(context, zone->device)) {
        return;
    }
    rules_put_percent(table, zone->busy_ns, length_ns);
    table_put_int(table, length_ns);
    table_put_int(table, length_ns - zone->busy_ns);
    table_put_int(table, zone->begin_ns);
    table_put_int(table, zone->end_ns);
    table_put_int(table, context->trace->devices[zone->device].id);
}

/* "below 80 % in every second": of the arguments. */
static void low_words(const struct report_context *context, struct buf *out)
{
    char window[TIMEFMT_BYTES];
    int64_t window_ns = context->args[ARG_WINDOW].i;
    buf_addf(out, "below %g %% in every %s", context->args[ARG_THRESHOLD].real,
             window_ns == 1000000000 ? "second" : findings_time(window_ns, window));
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct lowuse *found = data;
    struct buf low = {0};
    low_words(context, &low);
    for (size_t i = 0; i < found->count; i++) {
        const struct lowuse_zone *zone = &found->list[i];
        char length[TIMEFMT_BYTES];
        char at[TIMEFMT_BYTES];
        int64_t length_ns = zone->end_ns - zone->begin_ns;
        double busy = findings_percent(zone->busy_ns, length_ns);
        if (!detector_keeps(context, zone->device)) {
            continue;
        }
        const struct finding one = {
            .rule = DETECT_LOW_UTILISATION.rule.name,
            .within = DETECT_IDLE_GAPS.rule.name,
            .title = findings_words(maker, "GPU %lld busy only %.1f %% for %s",
                                    (long long)context->trace->devices[zone->device].id, busy,
                                    timefmt_duration(length_ns, length)),
            .evidence = findings_words(maker, "%s from %s on; idle_gaps counts this time",
                                       buf_text(&low), timefmt_at(zone->begin_ns, 1000000, at)),
            .advice = DETECT_LOW_UTILISATION.rule.advice,
            .show = "cutline analyze -r low_utilisation",
            .recoverable_ns = -1,
            .value = 100.0 - busy,
            .begin_ns = zone->begin_ns,
            .end_ns = zone->end_ns,
            .device = zone->device,
            .thread = TRACE_NONE,
        };
        findings_add(maker, &one);
    }
    buf_free(&low);
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_LOW_UTILISATION = {
    .rule = {.name = "low_utilisation",
             .title = "Low Utilisation",
             .kind = REPORT_RULE,
             .help = "times in which a device is busy for less than 80 % of any second",
             .advice =
                 "See idle_gaps for why; larger batches and more work in flight raise the share.",
             .missing = "GPU data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .value_is_worst = true,
    .has_data = detector_has_gpu,
    .find = find,
    .drop = drop,
    .finding = finding,
};
