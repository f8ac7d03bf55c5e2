/*
 * launch_density: zones in which a thread launches too many small kernels to keep the device busy;
 * by=thread and by=time show how densely each thread launches. As findings: one for each thread and
 * device with zones.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/density.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/facts/cover.h"
#include "analysis/filter/select.h"

enum {
    ARG_QUEUE,
    ARG_BUSY,
    ARG_RUN,
    ARG_EVERY,
    ARG_BY,
    ARG_STEP,
    ARG_ROWS,
    DEFAULT_STEPS = 100,
    MAX_STEPS = 1000000,
};

#define NS_PER_MS 1e6

static const struct report_arg ARGS[] = {
    {"queue", REPORT_ARG_TIME, 1, "20us", "the device keeps up where ops start within TIME"},
    {"busy", REPORT_ARG_REAL, 0, "80", "... and is busy for less than PERCENT"},
    {"run", REPORT_ARG_INT, 0, "32", "... over N launches or more"},
    {"every", REPORT_ARG_TIME, 1, "100us", "... one launch in TIME or more often"},
    {"by", REPORT_ARG_TEXT, 0, "zone",
     "zone: launch-bound zones; thread; time: launches over time"},
    {"step", REPORT_ARG_TIME, 1, NULL, "by=time: length of a step; a hundredth of the span"},
    {"rows", REPORT_ARG_INT, 0, "-1", "list at most N rows; -1 = all"},
    DETECTOR_TIME_ARGS,
    {0},
};

static const struct table_column ZONE_COLUMNS[] = {
    {"Start", TABLE_TIME, 0},       {"Duration", TABLE_TIME, 0}, {"PID", TABLE_INT, 0},
    {"TID", TABLE_INT, 0},          {"Device ID", TABLE_INT, 0}, {"Launches", TABLE_INT, 0},
    {"Interval", TABLE_TIME, 0},    {"Op Avg", TABLE_TIME, 0},   {"Queue Med", TABLE_TIME, 0},
    {"Busy (%)", TABLE_PERCENT, 0}, {"Idle", TABLE_TIME, 0},     {"First Op", TABLE_TEXT, 0},
    {"NVTX", TABLE_TEXT, 0},
};

static const struct table_column SERIES_COLUMNS[] = {
    {"PID", TABLE_INT, 0},          {"TID", TABLE_INT, 0},      {"Device ID", TABLE_INT, 0},
    {"Launches", TABLE_INT, 0},     {"Start", TABLE_TIME, 0},   {"Duration", TABLE_TIME, 0},
    {"Launches/ms", TABLE_REAL, 3}, {"Peak/ms", TABLE_REAL, 0}, {"Op Avg", TABLE_TIME, 0},
    {"Queue Med", TABLE_TIME, 0},   {"Zones", TABLE_INT, 0},    {"In zones", TABLE_INT, 0},
};

static const struct table_column TIME_COLUMNS[] = {
    {"Start", TABLE_TIME, 0},       {"Duration", TABLE_TIME, 0},    {"PID", TABLE_INT, 0},
    {"TID", TABLE_INT, 0},          {"Device ID", TABLE_INT, 0},    {"Launches", TABLE_INT, 0},
    {"Launches/ms", TABLE_REAL, 3}, {"Busy (%)", TABLE_PERCENT, 0},
};

/* The tables, in the order of the words for "by". */
enum {
    BY_ZONE,
    BY_THREAD,
    BY_TIME,
};

/* The launches of one series in one step of time. */
struct step {
    const struct density_series *series;
    int64_t begin_ns;
    int64_t length_ns;
    int64_t launches;
};

struct launches {
    struct density density;
    struct step *steps; /* BY_TIME */
    size_t step_count;
    size_t step_cap;
};

/* Is it kept by --device and --process? */
static bool kept(const struct report_context *context, uint32_t thread, uint32_t device)
{
    const struct trace *trace = context->trace;
    const struct selection *select = context->select;
    return !select->none && (select->device < 0 || trace->devices[device].id == select->device) &&
           (select->process == TRACE_NONE || trace->threads[thread].process == select->process);
}

/* ---- finding ---- */

/* Calls of a thread that launch on a device, by step. Ops count: each call at its first one. */
static void count_steps(const struct trace *trace, const struct density_series *series,
                        int64_t step_ns, struct step *steps)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t last = TRACE_NONE;
    for (uint32_t i = 0; i < trace->launch_op_count; i++) {
        uint32_t op = trace->launch_ops[i];
        uint32_t call = gpu->link[op];
        uint8_t kind = trace->names[gpu->name[op]].kind;
        if (call == last || (kind != TRACE_KERNEL && kind != TRACE_GRAPH) ||
            api->begin_ns[call] < series->begin_ns || api->end_ns[call] > series->end_ns ||
            trace->lanes[trace_lane_of(trace, TRACE_GPU, op)].device != series->device ||
            trace->lanes[trace_lane_of(trace, TRACE_API, call)].thread != series->thread) {
            continue;
        }
        last = call;
        steps[(api->begin_ns[call] - series->begin_ns) / step_ns].launches++;
    }
}

/* Adds the steps of one series. */
static int steps_add(const struct report_context *context, const struct density_series *series,
                     struct launches *out, struct err *err)
{
    int64_t span_ns = series->end_ns - series->begin_ns;
    int64_t step_ns =
        context->args[ARG_STEP].given ? context->args[ARG_STEP].i : span_ns / DEFAULT_STEPS + 1;
    if (step_ns < 1 || span_ns / step_ns >= MAX_STEPS) {
        return err_set(err,
                       "launch_density: step=%lld ns gives more than %d rows; use a longer one",
                       (long long)step_ns, MAX_STEPS);
    }
    size_t count = (size_t)(span_ns / step_ns) + 1;
    struct step *steps =
        array_grow(out->steps, &out->step_cap, out->step_count + count, sizeof *steps);
    if (steps == NULL) {
        return err_nomem(err, "the steps of launch_density");
    }
    out->steps = steps;
    steps += out->step_count;
    out->step_count += count;
    for (size_t i = 0; i < count; i++) {
        steps[i] = (struct step){.series = series,
                                 .begin_ns = series->begin_ns + (int64_t)i * step_ns,
                                 .length_ns = step_ns};
    }
    count_steps(context->trace, series, step_ns, steps);
    return 0;
}

static int steps_find(const struct report_context *context, struct launches *out, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < out->density.series_count && rc == 0; i++) {
        const struct density_series *series = &out->density.series[i];
        if (kept(context, series->thread, series->device)) {
            rc = steps_add(context, series, out, err);
        }
    }
    return rc;
}

static void drop(void *data)
{
    struct launches *found = data;
    density_free(&found->density);
    free(found->steps);
    free(found);
}

struct density_options density_defaults(void)
{
    const struct report *rule = &DETECT_LAUNCH_DENSITY.rule;
    return (struct density_options){.queue_ns = report_default(rule, "queue").i,
                                    .busy_percent = report_default(rule, "busy").real,
                                    .run = (uint32_t)report_default(rule, "run").i,
                                    .every_ns = report_default(rule, "every").i,
                                    .begin_ns = INT64_MIN,
                                    .end_ns = INT64_MAX};
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    const struct density_options options = {.queue_ns = context->args[ARG_QUEUE].i,
                                            .busy_percent = context->args[ARG_BUSY].real,
                                            .run = (uint32_t)context->args[ARG_RUN].i,
                                            .every_ns = context->args[ARG_EVERY].i,
                                            .begin_ns = context->select->begin_ns,
                                            .end_ns = context->select->end_ns};
    int64_t least = context->args[ARG_RUN].i;
    if (least < 2 || least > INT32_MAX) {
        return err_set(err, "launch_density: run=%lld: use 2 or more", (long long)least);
    }
    const struct facts *facts = shared_facts(context->shared, err);
    struct launches *found = facts != NULL ? calloc(1, sizeof *found) : NULL;
    if (found == NULL) {
        return err_nomem(err, "the launches");
    }
    out->data = found;
    if (density_find(facts, &options, &found->density, err) != 0 ||
        (by == BY_TIME && steps_find(context, found, err) != 0)) {
        return -1;
    }
    const size_t counts[] = {[BY_ZONE] = found->density.zone_count,
                             [BY_THREAD] = found->density.series_count,
                             [BY_TIME] = found->step_count};
    out->count = by == DETECTOR_FINDINGS ? 0 : counts[by];
    return 0;
}

/* ---- tables ---- */

static void put_place(struct table *table, const struct trace *trace, uint32_t thread,
                      uint32_t device)
{
    rules_put_pid(table, trace, trace->threads[thread].process);
    table_put_int(table, trace->threads[thread].tid);
    table_put_int(table, trace->devices[device].id);
}

static void put_zone(struct table *table, const struct report_context *context, const void *data,
                     size_t i)
{
    const struct launches *launches = data;
    const struct facts *facts = shared_facts(context->shared, NULL);
    const struct density_zone *zone = &launches->density.zones[i];
    if (!kept(context, zone->thread, zone->device)) {
        return;
    }
    const struct trace *trace = facts->trace;
    int64_t length_ns = zone->end_ns - zone->begin_ns;
    table_put_int(table, zone->begin_ns);
    table_put_int(table, length_ns);
    put_place(table, trace, zone->thread, zone->device);
    table_put_int(table, zone->launches);
    table_put_int(table, zone->interval_ns);
    table_put_int(table, zone->op_ns);
    table_put_int(table, zone->queue_ns);
    rules_put_percent(table, zone->busy_ns, length_ns);
    table_put_int(table, zone->idle_ns);
    rules_put_op(table, trace, zone->first_op);
    rules_put_path(table, facts, zone->thread,
                   trace->events[TRACE_API].begin_ns[zone->first_launch]);
}

static void put_series(struct table *table, const struct report_context *context, const void *data,
                       size_t row)
{
    const struct launches *found = data;
    const struct density *density = &found->density;
    const struct density_series *series = &density->series[row];
    if (!kept(context, series->thread, series->device)) {
        return;
    }
    int64_t zones = 0;
    int64_t launches = 0;
    for (size_t i = 0; i < density->zone_count; i++) {
        if (density->zones[i].thread == series->thread &&
            density->zones[i].device == series->device) {
            zones++;
            launches += density->zones[i].launches;
        }
    }
    put_place(table, context->trace, series->thread, series->device);
    table_put_int(table, series->launches);
    table_put_int(table, series->begin_ns);
    table_put_int(table, series->end_ns - series->begin_ns);
    table_put_real(table, series->per_ms);
    table_put_real(table, series->peak_per_ms);
    table_put_int(table, series->op_ns);
    table_put_int(table, series->queue_ns);
    table_put_int(table, zones);
    table_put_int(table, launches);
}

static void put_step(struct table *table, const struct report_context *context, const void *data,
                     size_t i)
{
    const struct launches *found = data;
    const struct step *step = &found->steps[i];
    const struct facts *facts = shared_facts(context->shared, NULL);
    int64_t busy_ns = facts_busy_ns(facts, step->series->device, step->begin_ns,
                                    step->begin_ns + step->length_ns);
    table_put_int(table, step->begin_ns);
    table_put_int(table, step->length_ns);
    put_place(table, context->trace, step->series->thread, step->series->device);
    table_put_int(table, step->launches);
    table_put_real(table, (double)step->launches * NS_PER_MS / (double)step->length_ns);
    rules_put_percent(table, busy_ns, step->length_ns);
}

static const struct detector_table TABLES[] = {
    [BY_ZONE] = {"zone", DETECTOR_COLUMNS(ZONE_COLUMNS), put_zone},
    [BY_THREAD] = {"thread", DETECTOR_COLUMNS(SERIES_COLUMNS), put_series},
    [BY_TIME] = {"time", DETECTOR_COLUMNS(TIME_COLUMNS), put_step},
};

static int note(const struct report_context *context, int by, const void *data, struct buf *out,
                struct err *err)
{
    (void)by;
    (void)err;
    const struct launches *found = data;
    const struct density *density = &found->density;
    char idle[TIMEFMT_BYTES];
    int64_t idle_ns = 0;
    int64_t launches = 0;
    size_t zones = 0;
    for (size_t i = 0; i < density->zone_count; i++) {
        const struct density_zone *zone = &density->zones[i];
        if (!kept(context, zone->thread, zone->device)) {
            continue;
        }
        zones++;
        idle_ns += zone->idle_ns;
        launches += zone->launches;
    }
    buf_addf(out, "%zu launch-bound zones, %lld launches, %s idle between their ops\n", zones,
             (long long)launches, timefmt_duration(idle_ns, idle));
    return 0;
}

/* ---- findings ---- */

/* What the zones of one series add up to. */
struct zone_sum {
    const struct density_zone *worst;
    int64_t zones;
    int64_t launches;
    int64_t length_ns;
    int64_t busy_ns;
    int64_t op_ns; /* sum over launches */
    int64_t idle_ns; /* in gaps that launching explains */
    int64_t gaps; /* ... so many */
};

static struct zone_sum zones_sum(const struct findings_maker *maker, const struct density *density,
                                 const struct density_series *series)
{
    struct zone_sum sum = {0};
    for (size_t i = 0; i < density->zone_count; i++) {
        const struct density_zone *zone = &density->zones[i];
        if (zone->thread != series->thread || zone->device != series->device) {
            continue;
        }
        if (sum.worst == NULL) {
            sum.worst = zone;
        }
        sum.zones++;
        sum.launches += zone->launches;
        sum.length_ns += zone->end_ns - zone->begin_ns;
        sum.busy_ns += zone->busy_ns;
        sum.op_ns += zone->op_ns * zone->launches;
        sum.idle_ns += maker->zones != NULL ? maker->zones[i].ns : 0;
        sum.gaps += maker->zones != NULL ? maker->zones[i].gaps : 0;
    }
    return sum;
}

/* Are graphs launched in the zones? The first launch of the worst one speaks for all. */
static uint32_t graph_fact(const struct trace *trace, const struct zone_sum *sum)
{
    uint32_t name = trace->events[TRACE_API].name[sum->worst->first_launch];
    return (trace->names[name].api & TRACE_API_GRAPH) != 0 ? ADVICE_GRAPH : 0;
}

/* What one graph in place of the launches would win: each gap becomes as short as one between ops that
 * are queued; adds the computation. All of it where the capture has no such ops. */
static int64_t graph_wins(const struct trace *trace, const struct zone_sum *sum, uint32_t device,
                          struct buf *out)
{
    char idle[TIMEFMT_BYTES];
    char follow[TIMEFMT_BYTES];
    char wins[TIMEFMT_BYTES];
    uint32_t pairs = 0;
    int64_t follow_ns = cover_follow_ns(trace, device, &pairs);
    if (pairs == 0) {
        buf_addf(out,
                 "; a graph wins at most the %s of their gaps (no op of this device was queued, so "
                 "how soon one follows another is unknown)",
                 timefmt_duration(sum->idle_ns, idle));
        return sum->idle_ns;
    }
    int64_t left_ns = follow_ns < sum->idle_ns / (sum->gaps > 0 ? sum->gaps : 1)
                          ? follow_ns * sum->gaps
                          : sum->idle_ns;
    buf_addf(out,
             "; queued ops follow each other in %s (median of %u), so a graph wins %s: %s less "
             "%lld gaps of that",
             timefmt_duration(follow_ns, follow), (unsigned)pairs,
             timefmt_duration(sum->idle_ns - left_ns, wins), timefmt_duration(sum->idle_ns, idle),
             (long long)sum->gaps);
    return sum->idle_ns - left_ns;
}

static void zones_finding(struct findings_maker *maker, const struct density_series *series,
                          const struct zone_sum *sum)
{
    const struct trace *trace = maker->trace;
    char every[TIMEFMT_BYTES];
    char op[TIMEFMT_BYTES];
    char length[TIMEFMT_BYTES];
    long long device = (long long)trace->devices[series->device].id;
    struct buf evidence = {0};
    buf_addf(&evidence,
             "%lld zone%s, %s in all: %lld launches, one in %s, ops of %s, device busy %.0f %% of "
             "it",
             (long long)sum->zones, sum->zones == 1 ? "" : "s",
             timefmt_duration(sum->length_ns, length), (long long)sum->launches,
             timefmt_duration(sum->length_ns / sum->launches, every),
             timefmt_duration(sum->op_ns / sum->launches, op),
             findings_percent(sum->busy_ns, sum->length_ns));
    int64_t wins_ns = graph_wins(trace, sum, series->device, &evidence);
    const struct finding finding = {
        .rule = DETECT_LAUNCH_DENSITY.rule.name,
        .title =
            findings_words(maker, "GPU %lld keeps up with thread %lld: too many small launches",
                           device, (long long)trace->threads[series->thread].tid),
        .evidence = findings_keep(maker, &evidence),
        .advice = findings_advice(maker, ADVICE_OF_DENSITY, graph_fact(trace, sum),
                                  trace->threads[series->thread].process),
        .show = findings_words(maker, "cutline analyze -r launch_density --device %lld", device),
        .recoverable_ns = wins_ns,
        .value = (double)sum->zones,
        .begin_ns = sum->worst->begin_ns,
        .end_ns = sum->worst->end_ns,
        .device = series->device,
        .thread = series->thread,
    };
    findings_add(maker, &finding);
    buf_free(&evidence);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct launches *found = data;
    const struct density *density = &found->density;
    for (size_t i = 0; i < density->series_count; i++) {
        const struct density_series *series = &density->series[i];
        if (!kept(context, series->thread, series->device)) {
            continue;
        }
        struct zone_sum sum = zones_sum(maker, density, series);
        if (sum.worst != NULL) {
            zones_finding(maker, series, &sum);
        }
    }
    return 0;
}

const struct density *launch_density_zones(const void *data)
{
    const struct launches *found = data;
    return found != NULL ? &found->density : NULL;
}

static bool has_data(const struct trace *trace)
{
    return trace->launch_op_count > 0;
}

const struct detector DETECT_LAUNCH_DENSITY = {
    .rule = {.name = "launch_density",
             .title = "Launch Density",
             .kind = REPORT_RULE,
             .help = "zones in which a thread launches too many small kernels to keep the device "
                     "busy",
             .advice = "Launch less often: CUDA graphs, fused or larger kernels.",
             .missing = "kernel launches",
             .args = ARGS,
             .kinds = RULES_OPS | 1U << TRACE_API_CALL | 1U << TRACE_NVTX_PUSHPOP,
             .run = detector_run},
    .tables = TABLES,
    .table_count = ARRAY_LEN(TABLES),
    .timeline_list = "zones",
    .has_data = has_data,
    .find = find,
    .drop = drop,
    .note = note,
    .finding = finding,
};
