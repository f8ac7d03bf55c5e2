/*
 * graph_opaque: graphs of which the capture holds each launch as one block, not the kernels inside.
 */
#include "analysis/detect/graph_opaque.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/facts/cover.h"
#include "analysis/filter/select.h"

static const struct report_arg ARGS[] = {DETECTOR_TIME_ARGS, {0}};

static const struct table_column COLUMNS[] = {
    {"GPU busy (%)", TABLE_PERCENT, 0}, {"Total Time", TABLE_TIME, 0}, {"Launches", TABLE_INT, 0},
    {"Avg", TABLE_TIME_1, 0},           {"Max", TABLE_TIME, 0},        {"PID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},        {"Graph", TABLE_TEXT, 0},
};

struct graphs {
    struct opaque_graph *list; /* owned */
    size_t count;
};

static int key_cmp(const void *a, const void *b)
{
    const struct opaque_graph *x = a;
    const struct opaque_graph *y = b;
    if (x->device != y->device) {
        return COMPARE(x->device, y->device);
    }
    if (x->process != y->process) {
        return COMPARE(x->process, y->process);
    }
    return COMPARE(x->name, y->name);
}

static int total_cmp(const void *a, const void *b)
{
    const struct opaque_graph *x = a;
    const struct opaque_graph *y = b;
    if (x->total_ns != y->total_ns) {
        return x->total_ns < y->total_ns ? 1 : -1;
    }
    return key_cmp(a, b);
}

static size_t gather(const struct trace *trace, int64_t begin_ns, int64_t end_ns,
                     struct opaque_graph *list)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t n = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t end = lane->table == TRACE_GPU ? lane->first + lane->count : lane->first;
        for (uint32_t i = lane->first; i < end; i++) {
            if (trace->names[gpu->name[i]].kind != TRACE_GRAPH || gpu->end_ns[i] < begin_ns ||
                gpu->begin_ns[i] >= end_ns) {
                continue;
            }
            int64_t ns = gpu->end_ns[i] - gpu->begin_ns[i];
            list[n++] = (struct opaque_graph){.process = lane->process,
                                              .device = lane->device,
                                              .name = gpu->name[i],
                                              .launches = 1,
                                              .longest = i,
                                              .total_ns = ns,
                                              .longest_ns = ns};
        }
    }
    return n;
}

static void merge(struct opaque_graph *into, const struct opaque_graph *one)
{
    into->launches += one->launches;
    into->total_ns += one->total_ns;
    if (one->longest_ns > into->longest_ns) {
        into->longest_ns = one->longest_ns;
        into->longest = one->longest;
    }
}

struct opaque_graph *opaque_find(const struct trace *trace, int64_t begin_ns, int64_t end_ns,
                                 size_t *count, struct err *err)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t bound = 1;
    for (uint32_t i = 0; i < gpu->count; i++) {
        bound += trace->names[gpu->name[i]].kind == TRACE_GRAPH;
    }
    *count = 0;
    struct opaque_graph *list = calloc(bound, sizeof(*list));
    if (list == NULL) {
        err_nomem(err, "the graphs of a capture");
        return NULL;
    }
    size_t n = gather(trace, begin_ns, end_ns, list);
    if (n == 0) {
        return list;
    }
    sort_list(list, n, sizeof(*list), key_cmp);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (key_cmp(&list[kept], &list[i]) == 0) {
            merge(&list[kept], &list[i]);
        } else {
            list[++kept] = list[i];
        }
    }
    *count = kept + 1;
    sort_list(list, *count, sizeof(*list), total_cmp);
    return list;
}

static void drop(void *data)
{
    struct graphs *found = data;
    free(found->list);
    free(found);
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    struct graphs *found = calloc(1, sizeof *found);
    if (found == NULL) {
        return err_nomem(err, "the graphs of a capture");
    }
    out->data = found;
    found->list = opaque_find(context->trace, context->select->begin_ns, context->select->end_ns,
                              &found->count, err);
    out->count = found->count;
    return found->list == NULL ? -1 : 0;
}

static bool kept(const struct report_context *context, const struct opaque_graph *graph)
{
    const struct selection *select = context->select;
    return detector_keeps(context, graph->device) &&
           (select->process == TRACE_NONE || select->process == graph->process);
}

/* Percent of the busy time of its device in which a graph runs; launches may run side by side. */
static double share_of(const struct facts *facts, const struct opaque_graph *graph,
                       int64_t begin_ns, int64_t end_ns)
{
    int64_t cover_ns = cover_of_name(facts->trace, graph->device, graph->name, begin_ns, end_ns);
    return findings_percent(cover_ns > 0 ? cover_ns : 0,
                            facts_busy_ns(facts, graph->device, begin_ns, end_ns));
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct graphs *found = data;
    const struct opaque_graph *graph = &found->list[i];
    const struct trace_device *device = &trace->devices[graph->device];
    if (!kept(context, graph)) {
        return;
    }
    table_put_real(table, share_of(shared_facts(context->shared, NULL), graph,
                                   context->select->begin_ns, context->select->end_ns));
    table_put_int(table, graph->total_ns);
    table_put_int(table, graph->launches);
    table_put_real(table, (double)graph->total_ns / (double)graph->launches);
    table_put_int(table, graph->longest_ns);
    rules_put_pid(table, trace, graph->process);
    table_put_int(table, device->id);
    rules_put_op(table, trace, graph->longest);
}

static void add(struct findings_maker *maker, const struct trace *trace,
                const struct opaque_graph *graph)
{
    const struct trace_device *device = &trace->devices[graph->device];
    char total[TIMEFMT_BYTES];
    double share = share_of(maker->facts, graph, maker->options->begin_ns, maker->options->end_ns);
    const struct finding one = {
        .rule = DETECT_GRAPH_OPAQUE.rule.name,
        .title = findings_words(maker, "GPU %lld: %s hides its kernels, %.1f %% of the busy time",
                                (long long)device->id, trace->names[graph->name].brief, share),
        .evidence =
            findings_words(maker, "%u launches, %s in all, recorded as one block each",
                           (unsigned)graph->launches, timefmt_duration(graph->total_ns, total)),
        .advice = DETECT_GRAPH_OPAQUE.rule.advice,
        .show = "cutline analyze -r graph_opaque",
        .recoverable_ns = -1,
        .rank_ns = graph->total_ns / 20, /* as a kernel in top_kernels */
        .value = share,
        .begin_ns = trace->events[TRACE_GPU].begin_ns[graph->longest],
        .end_ns = trace->events[TRACE_GPU].end_ns[graph->longest],
        .device = graph->device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &one);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct graphs *found = data;
    for (size_t i = 0; i < found->count; i++) {
        if (kept(context, &found->list[i])) {
            add(maker, context->trace, &found->list[i]);
        }
    }
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_GRAPH_OPAQUE = {
    .rule = {.name = "graph_opaque",
             .title = "Opaque Graphs",
             .kind = REPORT_RULE,
             .help = "graph launches that were recorded as one block, their kernels unknown",
             .advice = "Record with --cuda-graph-trace=node to see the kernels inside.",
             .missing = "GPU data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = detector_has_gpu,
    .find = find,
    .drop = drop,
    .finding = finding,
};
