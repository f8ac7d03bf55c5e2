/*
 * findings_idle: idle gaps by cause, and launch-bound zones.
 */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/density.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/gaps.h"
#include "analysis/detect/own_rules.h"

static const char *const cause_advice[CAUSE_KIND_COUNT] = {
    [CAUSE_UNKNOWN] = "Record CUDA API calls too (-t cuda), then the cause can be told.",
    [CAUSE_DEVICE_WAIT] = "Look at what the stream waits for: fewer events between streams, or "
                          "more work beside it.",
    [CAUSE_SLOW_LAUNCH] = "Warm up before the part that counts (lazy loading, "
                          "CUDA_MODULE_LOADING=EAGER); keep fewer launches in flight.",
    [CAUSE_SYNC] = "Synchronise less often: wait for an event of the work that is needed, once a "
                   "step.",
    [CAUSE_COPY] = "Use pinned memory (pin_memory) and cudaMemcpyAsync (non_blocking) on a stream "
                   "of its own.",
    [CAUSE_ALLOC] = "Allocate once and reuse: a caching allocator, cudaMallocAsync with a pool.",
    [CAUSE_MODULE] = "Load modules before the part that counts; cache compiled kernels.",
    [CAUSE_OSRT] = "Move locks, I/O and sleeps to other threads (num_workers, prefetch_factor).",
    [CAUSE_PROFILER] = "The profiler itself took this time: leave it out of the count.",
    [CAUSE_AFTER_BLOCKING] = "Wait for the device less often (.item(), .cpu(), print): queue the "
                             "next work first.",
    [CAUSE_SLOW_HOST] = "Host work holds up the device: num_workers, CUDA graphs, "
                        "torch.compile, less Python between launches.",
};

static const char slow_copy_advice[] =
    "The call that copies takes this time before the device begins: copy less often and more at "
    "once, from pinned memory (pin_memory), with cudaMemcpyAsync.";

/* ---- idle gaps ---- */

/* Adds "; most NAME (TIME)" for the largest sum of a key; "largest part" where it is not half. */
static void idle_most(const struct findings_maker *maker, const struct gaps *gaps,
                      const struct cause *causes, enum causes_key key, struct buf *out)
{
    size_t count = 0;
    struct causes_sum *sums = causes_sum(maker->facts, gaps, causes, key, &count, NULL);
    size_t at = 0;
    while (at < count && sums[at].name_len == 0) {
        at++;
    }
    if (at < count) {
        char time[TIMEFMT_BYTES];
        buf_adds(out, sums[at].total_ns >= gaps->all_ns / 2 ? "; most " : "; largest part ");
        buf_adds(out, key == CAUSES_BY_NVTX ? "in range " : "");
        buf_add(out, sums[at].name, sums[at].name_len);
        buf_addf(out, " (%s)", timefmt_duration(sums[at].total_ns, time));
    }
    free(sums);
}

/* A launch that is slow as it copies is no matter of warming up. */
static const char *idle_advice(const struct findings_maker *maker, const struct gaps *gaps,
                               const struct cause *causes, enum cause_kind kind)
{
    const struct trace *trace = maker->trace;
    int64_t copy_ns = 0;
    for (size_t i = 0; kind == CAUSE_SLOW_LAUNCH && i < gaps->count; i++) {
        uint32_t call = causes[i].launch;
        bool copies = call != TRACE_NONE &&
                      (trace->names[trace->events[TRACE_API].name[call]].api & TRACE_API_COPY) != 0;
        copy_ns += copies ? gaps->list[i].end_ns - gaps->list[i].begin_ns : 0;
    }
    return 2 * copy_ns > gaps->all_ns ? slow_copy_advice : cause_advice[kind];
}

/* One finding for the gaps of one kind of one device; sub holds them alone, longest first. */
static void idle_finding(struct findings_maker *maker, const struct gaps *sub,
                         const struct cause *causes, enum cause_kind kind)
{
    char time[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const struct trace_device *device = &maker->trace->devices[sub->list[0].device];
    double share = findings_percent(sub->all_ns, sub->span_ns);
    struct buf evidence = {0};
    buf_addf(&evidence, "%zu gap%s of 50 us and longer, %s in all, longest %s", sub->count,
             sub->count == 1 ? "" : "s", timefmt_duration(sub->all_ns, time),
             timefmt_duration(sub->list[0].end_ns - sub->list[0].begin_ns, longest));
    idle_most(maker, sub, causes, CAUSES_BY_EVIDENCE, &evidence);
    idle_most(maker, sub, causes, CAUSES_BY_NVTX, &evidence);
    if ((causes[0].doubt & CAUSE_NO_API) != 0) {
        buf_adds(&evidence, "; no API calls in the capture");
    }
    if ((causes[0].doubt & CAUSE_NO_OSRT) != 0) {
        buf_adds(&evidence, "; OS calls were not recorded");
    }
    const struct finding finding = {
        .rule = RULE_IDLE_GAPS.name,
        .title = findings_words(maker, "GPU %lld idle %.1f %% of its span: %s",
                                (long long)device->id, share, cause_name(kind)),
        .evidence = findings_keep(maker, &evidence),
        .advice = idle_advice(maker, sub, causes, kind),
        .show = findings_words(maker, "cutline analyze -r idle_gaps --device %lld",
                               (long long)device->id),
        .recoverable_ns = sub->all_ns,
        .value = share,
        .begin_ns = sub->list[0].begin_ns,
        .end_ns = sub->list[0].end_ns,
        .device = sub->list[0].device,
        .thread = causes[0].thread,
    };
    buf_free(&evidence);
    findings_add(maker, &finding);
}

/* Gaps that a synchronising call explains, for cuda_api_sync. */
static bool is_sync(const struct findings_maker *maker, const struct cause *cause)
{
    const struct trace *trace = maker->trace;
    if (cause->evidence == TRACE_NONE || cause->table != TRACE_API ||
        (cause->kind != CAUSE_SYNC && cause->kind != CAUSE_AFTER_BLOCKING)) {
        return false;
    }
    uint32_t name = trace->events[TRACE_API].name[cause->evidence];
    return (trace->names[name].api & TRACE_API_SYNC) != 0;
}

static void idle_kinds(struct findings_maker *maker, const struct gaps *gaps,
                       const struct cause *causes)
{
    struct gap *list = malloc((gaps->count + 1) * sizeof(*list));
    struct cause *of = malloc((gaps->count + 1) * sizeof(*of));
    maker->failed |= list == NULL || of == NULL;
    for (int kind = 0; kind < CAUSE_KIND_COUNT && !maker->failed; kind++) {
        struct gaps sub = {.list = list, .span_ns = gaps->span_ns};
        for (size_t i = 0; i < gaps->count; i++) {
            if (causes[i].kind != kind) {
                continue;
            }
            list[sub.count] = gaps->list[i];
            of[sub.count++] = causes[i];
            int64_t ns = gaps->list[i].end_ns - gaps->list[i].begin_ns;
            sub.all_ns += ns;
            maker->sync_idle_ns += is_sync(maker, &causes[i]) ? ns : 0;
        }
        if (sub.count > 0) {
            idle_finding(maker, &sub, of, (enum cause_kind)kind);
        }
    }
    free(list);
    free(of);
}

int findings_idle(struct findings_maker *maker)
{
    struct busy *busy = busy_new(maker->trace, NULL, maker->err);
    int rc = busy == NULL ? -1 : 0;
    for (uint32_t d = 0; rc == 0 && d < maker->trace->device_count; d++) {
        if (maker->options->device != TRACE_NONE && maker->options->device != d) {
            continue;
        }
        const struct gaps_query query = {.device = d,
                                         .min_ns = GAP_MIN_NS,
                                         .begin_ns = maker->options->begin_ns,
                                         .end_ns = maker->options->end_ns};
        struct gaps gaps = {0};
        struct cause *causes = NULL;
        rc = gaps_find(maker->trace, busy, &query, &gaps, maker->err);
        if (rc == 0) {
            causes = causes_find(maker->facts, &gaps, maker->err);
        }
        if (causes != NULL) {
            idle_kinds(maker, &gaps, causes);
        } else {
            rc = -1;
        }
        free(causes);
        gaps_free(&gaps);
    }
    busy_free(busy);
    return rc;
}

/* ---- launch-bound zones ---- */

/* Idle time of a device in [begin, end) in gaps shorter than idle_gaps lists. */
static int64_t short_idle(const struct trace_device *device, int64_t begin_ns, int64_t end_ns)
{
    int64_t ns = 0;
    uint32_t low = 0;
    BISECT(uint32_t, low, device->busy_count, mid, device->busy_end_ns[mid] < begin_ns)
    for (uint32_t i = low; i + 1 < device->busy_count && device->busy_begin_ns[i + 1] <= end_ns;
         i++) {
        int64_t gap_ns = device->busy_begin_ns[i + 1] - device->busy_end_ns[i];
        ns += gap_ns < GAP_MIN_NS ? gap_ns : 0;
    }
    return ns;
}

/* What the zones of one series add up to. */
struct zone_sum {
    const struct density_zone *worst;
    int64_t zones;
    int64_t launches;
    int64_t length_ns;
    int64_t busy_ns;
    int64_t op_ns; /* sum over launches */
    int64_t recoverable_ns;
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
        sum.recoverable_ns +=
            short_idle(&maker->trace->devices[zone->device], zone->begin_ns, zone->end_ns);
    }
    return sum;
}

static void zones_finding(struct findings_maker *maker, const struct density_series *series,
                          const struct zone_sum *sum)
{
    const struct trace *trace = maker->trace;
    char every[TIMEFMT_BYTES];
    char op[TIMEFMT_BYTES];
    char length[TIMEFMT_BYTES];
    long long device = (long long)trace->devices[series->device].id;
    const struct finding finding = {
        .rule = RULE_LAUNCH_DENSITY.name,
        .title =
            findings_words(maker, "GPU %lld keeps up with thread %lld: too many small launches",
                           device, (long long)trace->threads[series->thread].tid),
        .evidence =
            findings_words(maker,
                           "%lld zone%s, %s in all: %lld launches, one in %s, ops of %s, device "
                           "busy %.0f %%",
                           (long long)sum->zones, sum->zones == 1 ? "" : "s",
                           timefmt_duration(sum->length_ns, length), (long long)sum->launches,
                           timefmt_duration(sum->length_ns / sum->launches, every),
                           timefmt_duration(sum->op_ns / sum->launches, op),
                           findings_percent(sum->busy_ns, sum->length_ns)),
        .advice = RULE_LAUNCH_DENSITY.advice,
        .show = findings_words(maker, "cutline analyze -r launch_density --device %lld", device),
        .recoverable_ns = sum->recoverable_ns,
        .value = (double)sum->zones,
        .begin_ns = sum->worst->begin_ns,
        .end_ns = sum->worst->end_ns,
        .device = series->device,
        .thread = series->thread,
    };
    findings_add(maker, &finding);
}

int findings_density(struct findings_maker *maker)
{
    struct density_options options = DENSITY_DEFAULTS;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    struct density density;
    if (density_find(maker->facts, &options, &density, maker->err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < density.series_count; i++) {
        const struct density_series *series = &density.series[i];
        if (maker->options->device != TRACE_NONE && maker->options->device != series->device) {
            continue;
        }
        struct zone_sum sum = zones_sum(maker, &density, series);
        if (sum.worst != NULL) {
            zones_finding(maker, series, &sum);
        }
    }
    density_free(&density);
    return 0;
}
