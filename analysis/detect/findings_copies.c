/*
 * findings_copies: copies, low utilisation and opaque graphs.
 */
#include <stdlib.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/lowuse.h"
#include "analysis/detect/opaque.h"
#include "analysis/detect/own_rules.h"
#include "analysis/detect/transfers.h"

enum {
    SMALL_BYTES = 65536, /* the defaults of small_copies */
    SMALL_MIN = 16,
};

/* ---- copies ---- */

static void small_finding(struct findings_maker *maker, const struct transfer *one)
{
    const struct trace *trace = maker->trace;
    char calls[TIMEFMT_BYTES];
    bool crosses = transfers_crosses(&trace->names[one->name]);
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct finding finding = {
        .rule = RULE_SMALL_COPIES.name,
        .title = findings_words(maker, "GPU %lld: %u small copies, %s",
                                (long long)trace->devices[one->device].id, (unsigned)one->count,
                                trace->names[one->name].brief),
        .within = crosses ? RULE_HIDDEN_TRANSFERS.name : NULL,
        .evidence = findings_words(maker, "%.0f bytes each on average; their calls took %s%s",
                                   (double)one->bytes / (double)one->count,
                                   timefmt_duration(one->call_ns, calls),
                                   crosses ? "; hidden_transfers counts this time too" : ""),
        .advice = crosses ? RULE_SMALL_COPIES.advice
                          : "Copy once: gather small tensors in one buffer, or let the kernel "
                            "that needs them read them where they are.",
        .show = "cutline analyze -r small_copies",
        .recoverable_ns = one->total_ns - one->hidden_ns,
        .value = (double)one->count,
        .begin_ns = gpu->begin_ns[one->longest],
        .end_ns = gpu->end_ns[one->longest],
        .device = one->device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &finding);
}

/* Time that a device is busy in the window. */
static int64_t busy_ns(const struct findings_maker *maker, const struct trace_device *device)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < device->busy_count; i++) {
        int64_t begin_ns = device->busy_begin_ns[i];
        int64_t end_ns = device->busy_end_ns[i];
        begin_ns = begin_ns < maker->options->begin_ns ? maker->options->begin_ns : begin_ns;
        end_ns = end_ns > maker->options->end_ns ? maker->options->end_ns : end_ns;
        ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
    }
    return ns;
}

/* Copying beside kernels wins no more than kernels take: says so where that is less. */
static const char *hidden_advice(struct findings_maker *maker, const struct trace_device *device,
                                 int64_t exposed_ns)
{
    int64_t other_ns = busy_ns(maker, device) - exposed_ns;
    char other[TIMEFMT_BYTES];
    if (other_ns >= exposed_ns) {
        return RULE_HIDDEN_TRANSFERS.advice;
    }
    return findings_words(maker,
                          "Copy less (keep data on the device) or faster (pinned memory): other "
                          "work takes %s, so copying beside it can hide no more than that.",
                          timefmt_duration(other_ns > 0 ? other_ns : 0, other));
}

/* Copies of one device between memories, summed up. */
static void hidden_finding(struct findings_maker *maker, const struct transfers *transfers,
                           uint32_t device)
{
    const struct trace *trace = maker->trace;
    struct transfer sum = {.longest = TRACE_NONE};
    for (size_t i = 0; i < transfers->count; i++) {
        const struct transfer *one = &transfers->list[i];
        if (one->device != device || !transfers_crosses(&trace->names[one->name])) {
            continue;
        }
        sum.count += one->count;
        sum.total_ns += one->total_ns;
        sum.hidden_ns += one->hidden_ns;
        if (sum.longest == TRACE_NONE || one->longest_exposed_ns > sum.longest_exposed_ns) {
            sum.longest = one->longest;
            sum.longest_exposed_ns = one->longest_exposed_ns;
        }
    }
    if (sum.count == 0 || sum.total_ns == sum.hidden_ns) {
        return;
    }
    char total[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    long long id = (long long)trace->devices[device].id;
    double exposed = findings_percent(sum.total_ns - sum.hidden_ns, sum.total_ns);
    int64_t exposed_ns =
        transfers_exposed_ns(trace, device, maker->options->begin_ns, maker->options->end_ns);
    const struct finding finding = {
        .rule = RULE_HIDDEN_TRANSFERS.name,
        .title = findings_words(
            maker, "GPU %lld: %.0f %% of copy time is not hidden behind kernels", id, exposed),
        .evidence = findings_words(maker, "%u copies, %s in all; longest exposed time %s (%s)",
                                   (unsigned)sum.count, timefmt_duration(sum.total_ns, total),
                                   timefmt_duration(sum.longest_exposed_ns, longest),
                                   trace->names[gpu->name[sum.longest]].brief),
        .advice = hidden_advice(maker, &trace->devices[device], exposed_ns),
        .show = findings_words(maker, "cutline analyze -r hidden_transfers --device %lld", id),
        .recoverable_ns = exposed_ns,
        .value = exposed,
        .begin_ns = gpu->begin_ns[sum.longest],
        .end_ns = gpu->end_ns[sum.longest],
        .device = device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &finding);
}

int findings_copies(struct findings_maker *maker)
{
    struct transfers_options options = {.max_bytes = SMALL_BYTES,
                                        .begin_ns = maker->options->begin_ns,
                                        .end_ns = maker->options->end_ns,
                                        .device = maker->options->device};
    struct transfers transfers;
    if (transfers_find(maker->facts, &options, &transfers, maker->err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < transfers.count; i++) {
        if (transfers.list[i].count >= SMALL_MIN) {
            small_finding(maker, &transfers.list[i]);
        }
    }
    transfers_free(&transfers);
    options.max_bytes = INT64_MAX;
    if (transfers_find(maker->facts, &options, &transfers, maker->err) != 0) {
        return -1;
    }
    for (uint32_t d = 0; d < maker->trace->device_count; d++) {
        hidden_finding(maker, &transfers, d);
    }
    transfers_free(&transfers);
    return 0;
}

/* ---- utilisation and graphs ---- */

int findings_low(struct findings_maker *maker)
{
    struct lowuse_options options = LOWUSE_DEFAULTS;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    options.device = maker->options->device;
    struct lowuse lowuse;
    if (lowuse_find(maker->facts, &options, &lowuse, maker->err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < lowuse.count; i++) {
        const struct lowuse_zone *zone = &lowuse.list[i];
        char length[TIMEFMT_BYTES];
        char at[TIMEFMT_BYTES];
        int64_t length_ns = zone->end_ns - zone->begin_ns;
        double busy = findings_percent(zone->busy_ns, length_ns);
        const struct finding finding = {
            .rule = RULE_LOW_UTILISATION.name,
            .within = RULE_IDLE_GAPS.name,
            .title = findings_words(maker, "GPU %lld busy only %.1f %% for %s",
                                    (long long)maker->trace->devices[zone->device].id, busy,
                                    timefmt_duration(length_ns, length)),
            .evidence = findings_words(maker,
                                       "below 80 %% in every second from %s on; idle_gaps counts "
                                       "this time",
                                       timefmt_at(zone->begin_ns, 1000000, at)),
            .advice = RULE_LOW_UTILISATION.advice,
            .show = "cutline analyze -r low_utilisation",
            .recoverable_ns = -1,
            .value = 100.0 - busy,
            .begin_ns = zone->begin_ns,
            .end_ns = zone->end_ns,
            .device = zone->device,
            .thread = TRACE_NONE,
        };
        findings_add(maker, &finding);
    }
    lowuse_free(&lowuse);
    return 0;
}

int findings_opaque(struct findings_maker *maker)
{
    const struct trace *trace = maker->trace;
    size_t count = 0;
    struct opaque_graph *graphs =
        opaque_find(trace, maker->options->begin_ns, maker->options->end_ns, &count, maker->err);
    if (graphs == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct opaque_graph *graph = &graphs[i];
        const struct trace_device *device = &trace->devices[graph->device];
        char total[TIMEFMT_BYTES];
        if (maker->options->device != TRACE_NONE && maker->options->device != graph->device) {
            continue;
        }
        double share = findings_percent(graph->total_ns, device->busy_sum_ns[device->busy_count]);
        const struct finding finding = {
            .rule = RULE_GRAPH_OPAQUE.name,
            .title =
                findings_words(maker, "GPU %lld: %s hides its kernels, %.1f %% of the busy time",
                               (long long)device->id, trace->names[graph->name].brief, share),
            .evidence =
                findings_words(maker, "%u launches, %s in all, recorded as one block each",
                               (unsigned)graph->launches, timefmt_duration(graph->total_ns, total)),
            .advice = RULE_GRAPH_OPAQUE.advice,
            .show = "cutline analyze -r graph_opaque",
            .recoverable_ns = -1,
            .value = share,
            .begin_ns = trace->events[TRACE_GPU].begin_ns[graph->longest],
            .end_ns = trace->events[TRACE_GPU].end_ns[graph->longest],
            .device = graph->device,
            .thread = TRACE_NONE,
        };
        findings_add(maker, &finding);
    }
    free(graphs);
    return 0;
}
