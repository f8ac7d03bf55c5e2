/*
 * rule_density: launch_density as a table: zones, threads, or launches over time.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/density.h"
#include "analysis/detect/own_rules.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"

enum {
    ARG_QUEUE,
    ARG_BUSY,
    ARG_RUN,
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
    {"by", REPORT_ARG_TEXT, 0, "zone",
     "zone: launch-bound zones; thread; time: launches over time"},
    {"step", REPORT_ARG_TIME, 1, NULL, "by=time: length of a step; a hundredth of the span"},
    {"rows", REPORT_ARG_INT, 0, "-1", "list at most N rows; -1 = all"},
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME"},
    {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"},
    {"nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]"},
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

enum by {
    BY_ZONE,
    BY_THREAD,
    BY_TIME,
    BY_COUNT,
};

static const struct {
    const char *name;
    const struct table_column *columns;
    int count;
} BY[BY_COUNT] = {
    {"zone", ZONE_COLUMNS, (int)(sizeof(ZONE_COLUMNS) / sizeof(ZONE_COLUMNS[0]))},
    {"thread", SERIES_COLUMNS, (int)(sizeof(SERIES_COLUMNS) / sizeof(SERIES_COLUMNS[0]))},
    {"time", TIME_COLUMNS, (int)(sizeof(TIME_COLUMNS) / sizeof(TIME_COLUMNS[0]))},
};

/* Is it kept by --device and --process? */
static bool kept(const struct report_context *context, uint32_t thread, uint32_t device)
{
    const struct trace *trace = context->trace;
    const struct selection *select = context->select;
    return !select->none && (select->device < 0 || trace->devices[device].id == select->device) &&
           (select->process == TRACE_NONE || trace->threads[thread].process == select->process);
}

static void put_place(struct table *table, const struct trace *trace, uint32_t thread,
                      uint32_t device)
{
    rules_put_pid(table, trace, trace->threads[thread].process);
    table_put_int(table, trace->threads[thread].tid);
    table_put_int(table, trace->devices[device].id);
}

static void put_zone(struct table *table, const struct facts *facts,
                     const struct density_zone *zone)
{
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

static void put_series(struct table *table, const struct trace *trace,
                       const struct density *density, const struct density_series *series)
{
    int64_t zones = 0;
    int64_t launches = 0;
    for (size_t i = 0; i < density->zone_count; i++) {
        if (density->zones[i].thread == series->thread &&
            density->zones[i].device == series->device) {
            zones++;
            launches += density->zones[i].launches;
        }
    }
    put_place(table, trace, series->thread, series->device);
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

/* ---- launches over time ---- */

/* Calls of a thread that launch on a device, by step. Ops count: each call at its first one. */
static void count_steps(const struct trace *trace, const struct density_series *series,
                        int64_t step_ns, int64_t *steps)
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
        steps[(api->begin_ns[call] - series->begin_ns) / step_ns]++;
    }
}

static int put_steps(const struct report_context *context, const struct facts *facts,
                     const struct density_series *series, struct table *table, struct err *err)
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
    int64_t *steps = calloc(count, sizeof(*steps));
    if (steps == NULL) {
        return err_nomem(err, "the steps of launch_density");
    }
    count_steps(facts->trace, series, step_ns, steps);
    for (size_t i = 0; i < count; i++) {
        int64_t begin_ns = series->begin_ns + (int64_t)i * step_ns;
        int64_t busy_ns = facts_busy_ns(facts, series->device, begin_ns, begin_ns + step_ns);
        table_put_int(table, begin_ns);
        table_put_int(table, step_ns);
        put_place(table, facts->trace, series->thread, series->device);
        table_put_int(table, steps[i]);
        table_put_real(table, (double)steps[i] * NS_PER_MS / (double)step_ns);
        rules_put_percent(table, busy_ns, step_ns);
    }
    free(steps);
    return 0;
}

/* ---- the rule ---- */

static void note(const struct report_context *context, const struct density *density,
                 struct buf *out)
{
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
}

static int put_rows(const struct report_context *context, const struct facts *facts,
                    const struct density *density, enum by by, struct report_result *out,
                    struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < density->zone_count && by == BY_ZONE; i++) {
        const struct density_zone *zone = &density->zones[i];
        if (kept(context, zone->thread, zone->device)) {
            put_zone(out->table, facts, zone);
        }
    }
    for (size_t i = 0; i < density->series_count && by != BY_ZONE && rc == 0; i++) {
        const struct density_series *series = &density->series[i];
        if (!kept(context, series->thread, series->device)) {
            continue;
        }
        if (by == BY_THREAD) {
            put_series(out->table, facts->trace, density, series);
        } else {
            rc = put_steps(context, facts, series, out->table, err);
        }
    }
    note(context, density, &out->note);
    if (context->args[ARG_ROWS].i >= 0) {
        table_truncate(out->table, (size_t)context->args[ARG_ROWS].i);
    }
    return rc;
}

static int fill(const struct report_context *context, enum by by, struct report_result *out,
                struct err *err)
{
    const struct density_options options = {.queue_ns = context->args[ARG_QUEUE].i,
                                            .busy_percent = context->args[ARG_BUSY].real,
                                            .run = (uint32_t)context->args[ARG_RUN].i,
                                            .begin_ns = context->select->begin_ns,
                                            .end_ns = context->select->end_ns};
    struct density density = {0};
    struct facts *facts = facts_new(context->trace, err);
    int rc = facts == NULL ? -1 : density_find(facts, &options, &density, err);
    if (rc == 0) {
        rc = put_rows(context, facts, &density, by, out, err);
    }
    density_free(&density);
    facts_free(facts);
    return rc;
}

static int run(const struct report_context *context, struct report_result *out, struct err *err)
{
    const char *word = context->args[ARG_BY].text;
    int by = 0;
    while (by < BY_COUNT && word != NULL && strcmp(word, BY[by].name) != 0) {
        by++;
    }
    if (by == BY_COUNT) {
        return err_set(err, "launch_density: by=%.40s: use zone, thread or time", word);
    }
    int64_t least = context->args[ARG_RUN].i;
    if (least < 2 || least > INT32_MAX) {
        return err_set(err, "launch_density: run=%lld: use 2 or more", (long long)least);
    }
    out->table = table_new(RULE_LAUNCH_DENSITY.title, BY[by].columns, BY[by].count);
    if (out->table == NULL) {
        return err_nomem(err, "the table of launches");
    }
    if (context->trace->launch_op_count == 0) {
        out->status = REPORT_MISSING;
        return 0;
    }
    return fill(context, (enum by)by, out, err);
}

const struct report RULE_LAUNCH_DENSITY = {
    .name = "launch_density",
    .title = "Launch Density",
    .kind = REPORT_RULE,
    .help = "zones in which a thread launches too many small kernels to keep the device busy",
    .advice = "Launch less often: CUDA graphs, fused kernels (torch.compile), larger batches.",
    .missing = "kernel launches",
    .args = ARGS,
    .kinds = RULES_OPS | 1U << TRACE_API_CALL | 1U << TRACE_NVTX_PUSHPOP,
    .run = run,
};
