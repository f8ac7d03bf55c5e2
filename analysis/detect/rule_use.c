/*
 * rule_use: low_utilisation and graph_opaque.
 */
#include <stdlib.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/lowuse.h"
#include "analysis/detect/opaque.h"
#include "analysis/detect/own_rules.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"

enum {
    LOW_ARG_THRESHOLD,
    LOW_ARG_WINDOW,
};

static const struct report_arg LOW_ARGS[] = {
    {"threshold", REPORT_ARG_REAL, 0, "80", "low is less than PERCENT"},
    {"window", REPORT_ARG_TIME, 1000000000, "1s", "... over any TIME"},
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME"},
    {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"},
    {"nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]"},
    {0},
};

static const struct table_column LOW_COLUMNS[] = {
    {"Busy (%)", TABLE_PERCENT, 0}, {"Duration", TABLE_TIME, 0}, {"Idle", TABLE_TIME, 0},
    {"Start", TABLE_TIME, 0},       {"End", TABLE_TIME, 0},      {"Device ID", TABLE_INT, 0},
};

static const struct table_column OPAQUE_COLUMNS[] = {
    {"GPU busy (%)", TABLE_PERCENT, 0}, {"Total Time", TABLE_TIME, 0}, {"Launches", TABLE_INT, 0},
    {"Avg", TABLE_TIME_1, 0},           {"Max", TABLE_TIME, 0},        {"PID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},        {"Graph", TABLE_TEXT, 0},
};

static bool kept(const struct report_context *context, uint32_t device)
{
    const struct selection *select = context->select;
    return !select->none &&
           (select->device < 0 || context->trace->devices[device].id == select->device);
}

static int run_low(const struct report_context *context, struct report_result *out, struct err *err)
{
    out->table = table_new(RULE_LOW_UTILISATION.title, LOW_COLUMNS,
                           (int)(sizeof(LOW_COLUMNS) / sizeof(LOW_COLUMNS[0])));
    if (out->table == NULL) {
        return err_nomem(err, "the table of utilisation");
    }
    if (context->trace->events[TRACE_GPU].count == 0) {
        out->status = REPORT_MISSING;
        return 0;
    }
    struct lowuse_options options = LOWUSE_DEFAULTS;
    options.percent = context->args[LOW_ARG_THRESHOLD].real;
    options.window_ns = context->args[LOW_ARG_WINDOW].i;
    options.begin_ns = context->select->begin_ns;
    options.end_ns = context->select->end_ns;
    struct lowuse lowuse = {0};
    struct facts *facts = facts_new(context->trace, err);
    int rc = facts == NULL ? -1 : lowuse_find(facts, &options, &lowuse, err);
    for (size_t i = 0; rc == 0 && i < lowuse.count; i++) {
        const struct lowuse_zone *zone = &lowuse.list[i];
        int64_t length_ns = zone->end_ns - zone->begin_ns;
        if (!kept(context, zone->device)) {
            continue;
        }
        rules_put_percent(out->table, zone->busy_ns, length_ns);
        table_put_int(out->table, length_ns);
        table_put_int(out->table, length_ns - zone->busy_ns);
        table_put_int(out->table, zone->begin_ns);
        table_put_int(out->table, zone->end_ns);
        table_put_int(out->table, context->trace->devices[zone->device].id);
    }
    lowuse_free(&lowuse);
    facts_free(facts);
    return rc;
}

static int run_opaque(const struct report_context *context, struct report_result *out,
                      struct err *err)
{
    const struct trace *trace = context->trace;
    out->table = table_new(RULE_GRAPH_OPAQUE.title, OPAQUE_COLUMNS,
                           (int)(sizeof(OPAQUE_COLUMNS) / sizeof(OPAQUE_COLUMNS[0])));
    if (out->table == NULL) {
        return err_nomem(err, "the table of graphs");
    }
    if (trace->events[TRACE_GPU].count == 0) {
        out->status = REPORT_MISSING;
        return 0;
    }
    size_t count = 0;
    struct opaque_graph *graphs =
        opaque_find(trace, context->select->begin_ns, context->select->end_ns, &count, err);
    if (graphs == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct opaque_graph *graph = &graphs[i];
        const struct trace_device *device = &trace->devices[graph->device];
        if (!kept(context, graph->device) || (context->select->process != TRACE_NONE &&
                                              context->select->process != graph->process)) {
            continue;
        }
        rules_put_percent(out->table, graph->total_ns, device->busy_sum_ns[device->busy_count]);
        table_put_int(out->table, graph->total_ns);
        table_put_int(out->table, graph->launches);
        table_put_real(out->table, (double)graph->total_ns / (double)graph->launches);
        table_put_int(out->table, graph->longest_ns);
        rules_put_pid(out->table, trace, graph->process);
        table_put_int(out->table, device->id);
        rules_put_op(out->table, trace, graph->longest);
    }
    free(graphs);
    return 0;
}

const struct report RULE_LOW_UTILISATION = {
    .name = "low_utilisation",
    .title = "Low Utilisation",
    .kind = REPORT_RULE,
    .help = "times in which a device is busy for less than 80 % of any second",
    .advice = "See idle_gaps for why; larger batches and more work in flight raise the share.",
    .missing = "GPU data",
    .args = LOW_ARGS,
    .kinds = RULES_OPS,
    .run = run_low,
};

static const struct report_arg OPAQUE_ARGS[] = {
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME"},
    {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"},
    {"nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]"},
    {0},
};

const struct report RULE_GRAPH_OPAQUE = {
    .name = "graph_opaque",
    .title = "Opaque Graphs",
    .kind = REPORT_RULE,
    .help = "graph launches that were recorded as one block, their kernels unknown",
    .advice = "Record with --cuda-graph-trace=node to see the kernels inside.",
    .missing = "GPU data",
    .args = OPAQUE_ARGS,
    .kinds = RULES_OPS,
    .run = run_opaque,
};
