/*
 * density: series of launches, windows over them, zones.
 *
 * The launches of all threads are gathered in one pass over launch_ops and sorted by (thread,
 * device, call). The end of a window is the largest op end in it; that sliding maximum comes from
 * prefix and suffix maxima in blocks of the window's length (van Herk, 1992; Gil and Werman, 1993),
 * so that the cost does not depend on the length.
 */
#include "analysis/detect/density.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/facts/nvtx_path.h"

#define NS_PER_MS INT64_C(1000000)

struct launch {
    uint32_t thread;
    uint32_t device;
    uint32_t api;
    uint32_t op; /* the first */
    bool held; /* the thread waited for the device since the launch before */
    int64_t call_begin_ns;
    int64_t call_end_ns;
    int64_t op_begin_ns;
    int64_t op_end_ns;
};

struct launches {
    struct launch *list;
    size_t count;
};

static int launch_cmp(const void *a, const void *b, const void *arg)
{
    (void)arg;
    const struct launch *x = a;
    const struct launch *y = b;
    if (x->thread != y->thread) {
        return COMPARE(x->thread, y->thread);
    }
    if (x->device != y->device) {
        return COMPARE(x->device, y->device);
    }
    if (x->call_begin_ns != y->call_begin_ns) {
        return COMPARE(x->call_begin_ns, y->call_begin_ns);
    }
    return COMPARE(x->api, y->api);
}

/* An op that begins before its call, by the clocks, begins with it. */
static int64_t queue_ns(const struct launch *launch)
{
    int64_t begin_ns =
        launch->op_begin_ns > launch->call_begin_ns ? launch->op_begin_ns : launch->call_begin_ns;
    return begin_ns - launch->call_end_ns;
}

static bool is_launch(const struct trace *trace, uint32_t gpu)
{
    uint8_t kind = trace->names[trace->events[TRACE_GPU].name[gpu]].kind;
    return kind == TRACE_KERNEL || kind == TRACE_GRAPH;
}

/* All ops of one call on one device are one launch: the last of the list, where it is the same. */
static void launches_add(const struct facts *facts, uint32_t op, struct launches *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t call = gpu->link[op];
    uint32_t device = trace->lanes[trace_lane_of(trace, TRACE_GPU, op)].device;
    for (size_t i = out->count; i > 0 && out->list[i - 1].api == call; i--) {
        struct launch *last = &out->list[i - 1];
        if (last->device != device) {
            continue;
        }
        if (gpu->end_ns[op] > last->op_end_ns) {
            last->op_end_ns = gpu->end_ns[op];
        }
        return;
    }
    out->list[out->count++] = (struct launch){
        .thread = trace->lanes[trace_lane_of(trace, TRACE_API, call)].thread,
        .device = device,
        .api = call,
        .op = op,
        .call_begin_ns = api->begin_ns[call],
        .call_end_ns = api->end_ns[call],
        .op_begin_ns = gpu->begin_ns[op],
        .op_end_ns = gpu->end_ns[op],
    };
}

static int launches_gather(const struct facts *facts, const struct density_options *options,
                           struct launches *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    out->list = malloc(((size_t)trace->launch_op_count + 1) * sizeof(*out->list));
    if (out->list == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < trace->launch_op_count; i++) {
        uint32_t op = trace->launch_ops[i];
        if (is_launch(trace, op) && gpu->begin_ns[op] >= options->begin_ns &&
            gpu->end_ns[op] <= options->end_ns) {
            launches_add(facts, op, out);
        }
    }
    return sort_runs(out->list, out->count, sizeof *out->list, launch_cmp, NULL);
}

/* ---- windows ---- */

/* What the passes over one series need: arrays of `count` (count + 1 for good). */
struct work {
    const struct facts *facts;
    const struct density_options *options;
    int64_t *prefix_ns; /* largest op end since the begin of its block */
    int64_t *suffix_ns; /* ... up to the end of its block */
    uint32_t *good; /* launches before i that started at once */
    uint32_t *held; /* launches before i that a wait held up */
    int64_t *scratch;
};

/* Marks the launches of a series that a call which waits for the device came before. */
static void mark_held(const struct facts *facts, struct launch *list, size_t count)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct facts_thread *lanes = &facts->threads[list[0].thread];
    for (uint32_t l = lanes->first[TRACE_API]; l < lanes->end[TRACE_API]; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t i = trace_lane_lower(trace, lane, list[0].call_begin_ns);
        size_t at = 0;
        for (; i < lane->first + lane->count; i++) {
            uint16_t flags = trace->names[api->name[i]].api;
            if ((flags & (TRACE_API_SYNC | TRACE_API_COPY)) == 0 || !facts_call_waits(facts, i)) {
                continue;
            }
            while (at < count && list[at].call_begin_ns < api->begin_ns[i]) {
                at++;
            }
            if (at == count) {
                break;
            }
            list[at].held = true;
        }
    }
}

static void work_fill(struct work *work, const struct launch *list, size_t count)
{
    size_t run = work->options->run;
    work->good[0] = 0;
    work->held[0] = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t end_ns = list[i].op_end_ns;
        bool first = i % run == 0;
        work->prefix_ns[i] =
            first || end_ns > work->prefix_ns[i - 1] ? end_ns : work->prefix_ns[i - 1];
        work->held[i + 1] = work->held[i] + list[i].held;
        work->good[i + 1] = work->good[i] + (queue_ns(&list[i]) < work->options->queue_ns);
    }
    for (size_t i = count; i-- > 0;) {
        int64_t end_ns = list[i].op_end_ns;
        bool last = i + 1 == count || (i + 1) % run == 0;
        work->suffix_ns[i] =
            last || end_ns > work->suffix_ns[i + 1] ? end_ns : work->suffix_ns[i + 1];
    }
}

/* Is the window of `run` launches from i on launch-bound? O(log n). */
static bool window_bound(const struct work *work, const struct launch *list, size_t i)
{
    size_t run = work->options->run;
    if ((size_t)(work->good[i + run] - work->good[i]) * 2 <= run ||
        (size_t)(work->held[i + run] - work->held[i + 1]) * DENSITY_HELD > run ||
        (list[i + run - 1].call_end_ns - list[i].call_end_ns) / (int64_t)(run - 1) >
            work->options->every_ns) {
        return false;
    }
    int64_t begin_ns = list[i].op_begin_ns;
    int64_t a = work->suffix_ns[i];
    int64_t b = work->prefix_ns[i + run - 1];
    int64_t end_ns = a > b ? a : b;
    if (end_ns <= begin_ns) {
        return false;
    }
    int64_t busy_ns = facts_busy_ns(work->facts, list[i].device, begin_ns, end_ns);
    return 100.0 * (double)busy_ns < work->options->busy_percent * (double)(end_ns - begin_ns);
}

static int64_t median_queue(struct work *work, const struct launch *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        work->scratch[i] = queue_ns(&list[i]);
    }
    if (count == 0) {
        return 0;
    }
    sort_nth_i64(work->scratch, count, count / 2);
    int64_t high = work->scratch[count / 2];
    if (count % 2 != 0) {
        return high;
    }
    int64_t low = work->scratch[0];
    for (size_t i = 1; i < count / 2; i++) {
        low = work->scratch[i] > low ? work->scratch[i] : low;
    }
    return low / 2 + high / 2;
}

static int64_t mean_op(const struct launch *list, size_t count)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        sum_ns += list[i].op_end_ns - list[i].op_begin_ns;
    }
    return count > 0 ? sum_ns / (int64_t)count : 0;
}

/* The zone of the launches [first, end) of a series, its queued edges cut off. */
static struct density_zone zone_make(struct work *work, const struct launch *list, size_t first,
                                     size_t end)
{
    const struct density_options *options = work->options;
    while (end - first > options->run && queue_ns(&list[first]) >= options->queue_ns) {
        first++;
    }
    while (end - first > options->run && queue_ns(&list[end - 1]) >= options->queue_ns) {
        end--;
    }
    const struct launch *head = &list[first];
    size_t count = end - first;
    struct density_zone zone = {
        .thread = head->thread,
        .device = head->device,
        .launches = (uint32_t)count,
        .first_launch = head->api,
        .first_op = head->op,
        .begin_ns = head->op_begin_ns,
        .end_ns = head->op_end_ns,
        .interval_ns =
            count > 1 ? (list[end - 1].call_end_ns - head->call_end_ns) / (int64_t)(count - 1) : 0,
        .op_ns = mean_op(head, count),
        .queue_ns = median_queue(work, head, count),
        .nvtx = nvtx_path_leaf(work->facts, head->thread, head->call_begin_ns),
    };
    for (size_t i = first; i < end; i++) {
        if (list[i].op_end_ns > zone.end_ns) {
            zone.end_ns = list[i].op_end_ns;
        }
        if (list[i].op_begin_ns < zone.begin_ns) {
            zone.begin_ns = list[i].op_begin_ns;
        }
    }
    zone.busy_ns = facts_busy_ns(work->facts, zone.device, zone.begin_ns, zone.end_ns);
    zone.idle_ns = zone.end_ns - zone.begin_ns - zone.busy_ns;
    return zone;
}

static void series_zones(struct work *work, const struct launch *list, size_t count,
                         struct density *out)
{
    size_t run = work->options->run;
    size_t first = 0;
    size_t end = 0; /* of the zone that is open, 0 = none */
    for (size_t i = 0; i + run <= count; i++) {
        if (!window_bound(work, list, i)) {
            continue;
        }
        if (end != 0 && i > end) {
            out->zones[out->zone_count++] = zone_make(work, list, first, end);
        }
        if (end == 0 || i > end) {
            first = i;
        }
        end = i + run;
    }
    if (end != 0) {
        out->zones[out->zone_count++] = zone_make(work, list, first, end);
    }
}

/* ---- series ---- */

static struct density_series series_make(struct work *work, const struct launch *list, size_t count)
{
    struct density_series series = {
        .thread = list[0].thread,
        .device = list[0].device,
        .launches = (uint32_t)count,
        .begin_ns = list[0].call_begin_ns,
        .end_ns = list[0].call_end_ns,
        .queue_ns = median_queue(work, list, count),
        .op_ns = mean_op(list, count),
    };
    size_t in_ms = 0;
    size_t peak = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].call_end_ns > series.end_ns) {
            series.end_ns = list[i].call_end_ns;
        }
        bool same =
            i > 0 && list[i].call_begin_ns / NS_PER_MS == list[i - 1].call_begin_ns / NS_PER_MS;
        in_ms = same ? in_ms + 1 : 1;
        peak = in_ms > peak ? in_ms : peak;
    }
    int64_t span_ns = series.end_ns - series.begin_ns;
    series.per_ms = span_ns > 0 ? (double)count * (double)NS_PER_MS / (double)span_ns : 0.0;
    series.peak_per_ms = (double)peak;
    return series;
}

static int zone_cmp(const void *a, const void *b)
{
    const struct density_zone *x = a;
    const struct density_zone *y = b;
    if (x->idle_ns != y->idle_ns) {
        return x->idle_ns < y->idle_ns ? 1 : -1;
    }
    return COMPARE(x->begin_ns, y->begin_ns);
}

static void series_all(struct work *work, const struct launches *launches, struct density *out)
{
    for (size_t i = 0; i < launches->count;) {
        struct launch *list = &launches->list[i];
        size_t count = 1;
        while (i + count < launches->count && list[count].thread == list->thread &&
               list[count].device == list->device) {
            count++;
        }
        mark_held(work->facts, list, count);
        work_fill(work, list, count);
        out->series[out->series_count++] = series_make(work, list, count);
        series_zones(work, list, count, out);
        i += count;
    }
    if (out->zone_count > 0) {
        sort_list(out->zones, out->zone_count, sizeof(*out->zones), zone_cmp);
    }
}

static size_t series_count(const struct launches *launches)
{
    size_t count = 0;
    for (size_t i = 0; i < launches->count; i++) {
        const struct launch *at = &launches->list[i];
        count += i == 0 || at->thread != at[-1].thread || at->device != at[-1].device;
    }
    return count;
}

int density_find(const struct facts *facts, const struct density_options *options,
                 struct density *out, struct err *err)
{
    *out = (struct density){0};
    if (options->run < 2) {
        return err_set(err, "a launch-bound run of %u launches: 2 or more are needed",
                       options->run);
    }
    int rc = -1;
    struct launches launches = {0};
    struct work work = {.facts = facts, .options = options};
    if (launches_gather(facts, options, &launches) != 0) {
        goto out;
    }
    size_t n = launches.count + 1;
    work.prefix_ns = malloc(n * sizeof(*work.prefix_ns));
    work.suffix_ns = malloc(n * sizeof(*work.suffix_ns));
    work.scratch = malloc(n * sizeof(*work.scratch));
    work.good = malloc(n * sizeof(*work.good));
    work.held = malloc((n + 1) * sizeof(*work.held));
    out->zones = malloc((n / options->run + 1) * sizeof(*out->zones));
    out->series = malloc((series_count(&launches) + 1) * sizeof(*out->series));
    if (work.prefix_ns == NULL || work.suffix_ns == NULL || work.scratch == NULL ||
        work.good == NULL || work.held == NULL || out->zones == NULL || out->series == NULL) {
        goto out;
    }
    series_all(&work, &launches, out);
    rc = 0;
out:
    free(launches.list);
    free(work.prefix_ns);
    free(work.suffix_ns);
    free(work.scratch);
    free(work.good);
    free(work.held);
    if (rc != 0) {
        density_free(out);
        err_nomem(err, "the density of launches");
    }
    return rc;
}

void density_free(struct density *density)
{
    free(density->zones);
    free(density->series);
    *density = (struct density){0};
}
