/*
 * findings: each rule is asked once for what it finds with its defaults, and each answer becomes
 * one finding for each device, thread or kind of copy. Time is counted once where rules overlap:
 * gaps of 50 us and longer belong to idle_gaps, shorter ones inside launch-bound zones to
 * launch_density; gpu_gaps, gpu_time_util and low_utilisation see the same idle time again and get
 * no time of their own. Only cuda_api_sync repeats what idle_gaps counts, and says so.
 */
#include "analysis/query/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/query/causes.h"
#include "analysis/query/density.h"
#include "analysis/query/gaps.h"
#include "analysis/query/lowuse.h"
#include "analysis/query/opaque.h"
#include "analysis/query/report.h"
#include "analysis/query/rules_own.h"
#include "analysis/query/rules_text.h"
#include "analysis/query/transfers.h"

enum {
    SMALL_BYTES = 65536, /* the defaults of small_copies */
    SMALL_MIN = 16,
};

#define GAP_MIN_NS INT64_C(50000) /* the default of idle_gaps */

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

/* What findings_make carries. */
struct maker {
    const struct facts *facts;
    const struct trace *trace;
    const struct findings_options *options;
    struct findings *out;
    size_t cap;
    int64_t sync_idle_ns; /* idle time that synchronising calls explain */
    bool failed;
    struct err *err;
};

/* ---- texts ---- */

/* Formats, makes safe, and keeps in the arena. "" without memory, and maker->failed. */
static const char *text_keep(struct maker *maker, const struct buf *text)
{
    struct buf safe = {0};
    utf8_sanitize(&safe, buf_text(text), text->len, false);
    const char *copy =
        buf_failed(&safe) ? NULL : arena_copy(&maker->out->arena, buf_text(&safe), safe.len);
    buf_free(&safe);
    maker->failed |= copy == NULL || buf_failed(text);
    return copy != NULL ? copy : "";
}

static const char *text_of(struct maker *maker, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

static const char *text_of(struct maker *maker, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    struct buf text = {0};
    if (len > 0)
        buf_adds(&text, line);
    const char *kept = text_keep(maker, &text);
    buf_free(&text);
    return kept;
}

/* Keeps a finding. */
static void finding_add(struct maker *maker, const struct finding *finding)
{
    struct findings *out = maker->out;
    if (out->count == maker->cap) {
        size_t cap = maker->cap * 2 + 32;
        struct finding *list = realloc(out->list, cap * sizeof(*list));
        if (list == NULL) {
            maker->failed = true;
            return;
        }
        out->list = list;
        maker->cap = cap;
    }
    out->list[out->count++] = *finding;
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/* ---- idle gaps ---- */

/* Adds ", most NAME (TIME)" for the largest sum of a key. */
static void idle_most(const struct maker *maker, const struct gaps *gaps,
                      const struct cause *causes, enum causes_key key, struct buf *out)
{
    size_t count = 0;
    struct causes_sum *sums = causes_sum(maker->facts, gaps, causes, key, &count, NULL);
    size_t at = 0;
    while (at < count && sums[at].name_len == 0)
        at++;
    if (at < count) {
        char time[TIMEFMT_BYTES];
        buf_adds(out, key == CAUSES_BY_NVTX ? "; most in range " : "; most ");
        buf_add(out, sums[at].name, sums[at].name_len);
        buf_addf(out, " (%s)", timefmt_duration(sums[at].total_ns, time));
    }
    free(sums);
}

/* One finding for the gaps of one kind of one device; sub holds them alone, longest first. */
static void idle_finding(struct maker *maker, const struct gaps *sub, const struct cause *causes,
                         enum cause_kind kind)
{
    char time[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const struct trace_device *device = &maker->trace->devices[sub->list[0].device];
    double share = percent(sub->all_ns, sub->span_ns);
    struct buf evidence = {0};
    buf_addf(&evidence, "%zu gap%s of 50 us and longer, %s in all, longest %s", sub->count,
             sub->count == 1 ? "" : "s", timefmt_duration(sub->all_ns, time),
             timefmt_duration(sub->list[0].end_ns - sub->list[0].begin_ns, longest));
    idle_most(maker, sub, causes, CAUSES_BY_EVIDENCE, &evidence);
    idle_most(maker, sub, causes, CAUSES_BY_NVTX, &evidence);
    if ((causes[0].doubt & CAUSE_NO_API) != 0)
        buf_adds(&evidence, "; no API calls in the capture");
    if ((causes[0].doubt & CAUSE_NO_OSRT) != 0)
        buf_adds(&evidence, "; OS calls were not recorded");
    const struct finding finding = {
        .rule = RULE_IDLE_GAPS.name,
        .title = text_of(maker, "GPU %lld idle %.1f %% of its span: %s", (long long)device->id,
                         share, cause_name(kind)),
        .evidence = text_keep(maker, &evidence),
        .advice = cause_advice[kind],
        .show = text_of(maker, "cutline analyze -r idle_gaps --device %lld", (long long)device->id),
        .recoverable_ns = sub->all_ns,
        .value = share,
        .begin_ns = sub->list[0].begin_ns,
        .end_ns = sub->list[0].end_ns,
        .device = sub->list[0].device,
        .thread = causes[0].thread,
    };
    buf_free(&evidence);
    finding_add(maker, &finding);
}

/* Gaps that a synchronising call explains, for cuda_api_sync. */
static bool is_sync(const struct maker *maker, const struct cause *cause)
{
    const struct trace *trace = maker->trace;
    if (cause->evidence == TRACE_NONE || cause->table != TRACE_API ||
        (cause->kind != CAUSE_SYNC && cause->kind != CAUSE_AFTER_BLOCKING))
        return false;
    uint32_t name = trace->events[TRACE_API].name[cause->evidence];
    return (trace->names[name].api & TRACE_API_SYNC) != 0;
}

static void idle_kinds(struct maker *maker, const struct gaps *gaps, const struct cause *causes)
{
    struct gap *list = malloc((gaps->count + 1) * sizeof(*list));
    struct cause *of = malloc((gaps->count + 1) * sizeof(*of));
    maker->failed |= list == NULL || of == NULL;
    for (int kind = 0; kind < CAUSE_KIND_COUNT && !maker->failed; kind++) {
        struct gaps sub = {.list = list, .span_ns = gaps->span_ns};
        for (size_t i = 0; i < gaps->count; i++) {
            if (causes[i].kind != kind)
                continue;
            list[sub.count] = gaps->list[i];
            of[sub.count++] = causes[i];
            int64_t ns = gaps->list[i].end_ns - gaps->list[i].begin_ns;
            sub.all_ns += ns;
            maker->sync_idle_ns += is_sync(maker, &causes[i]) ? ns : 0;
        }
        if (sub.count > 0)
            idle_finding(maker, &sub, of, (enum cause_kind)kind);
    }
    free(list);
    free(of);
}

static int find_idle(struct maker *maker)
{
    struct busy *busy = busy_new(maker->trace, NULL, maker->err);
    int rc = busy == NULL ? -1 : 0;
    for (uint32_t d = 0; rc == 0 && d < maker->trace->device_count; d++) {
        if (maker->options->device != TRACE_NONE && maker->options->device != d)
            continue;
        const struct gaps_query query = {.device = d,
                                         .min_ns = GAP_MIN_NS,
                                         .begin_ns = maker->options->begin_ns,
                                         .end_ns = maker->options->end_ns};
        struct gaps gaps = {0};
        struct cause *causes = NULL;
        rc = gaps_find(maker->trace, busy, &query, &gaps, maker->err);
        if (rc == 0)
            causes = causes_find(maker->facts, &gaps, maker->err);
        if (causes != NULL)
            idle_kinds(maker, &gaps, causes);
        else
            rc = -1;
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
    uint32_t high = device->busy_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (device->busy_end_ns[mid] < begin_ns)
            low = mid + 1;
        else
            high = mid;
    }
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

static struct zone_sum zones_sum(const struct maker *maker, const struct density *density,
                                 const struct density_series *series)
{
    struct zone_sum sum = {0};
    for (size_t i = 0; i < density->zone_count; i++) {
        const struct density_zone *zone = &density->zones[i];
        if (zone->thread != series->thread || zone->device != series->device)
            continue;
        if (sum.worst == NULL)
            sum.worst = zone;
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

static void zones_finding(struct maker *maker, const struct density_series *series,
                          const struct zone_sum *sum)
{
    const struct trace *trace = maker->trace;
    char every[TIMEFMT_BYTES];
    char op[TIMEFMT_BYTES];
    char length[TIMEFMT_BYTES];
    long long device = (long long)trace->devices[series->device].id;
    const struct finding finding = {
        .rule = RULE_LAUNCH_DENSITY.name,
        .title = text_of(maker, "GPU %lld keeps up with thread %lld: too many small launches",
                         device, (long long)trace->threads[series->thread].tid),
        .evidence = text_of(maker,
                            "%lld zone%s, %s in all: %lld launches, one in %s, ops of %s, device "
                            "busy %.0f %%",
                            (long long)sum->zones, sum->zones == 1 ? "" : "s",
                            timefmt_duration(sum->length_ns, length), (long long)sum->launches,
                            timefmt_duration(sum->length_ns / sum->launches, every),
                            timefmt_duration(sum->op_ns / sum->launches, op),
                            percent(sum->busy_ns, sum->length_ns)),
        .advice = RULE_LAUNCH_DENSITY.advice,
        .show = text_of(maker, "cutline analyze -r launch_density --device %lld", device),
        .recoverable_ns = sum->recoverable_ns,
        .value = (double)sum->zones,
        .begin_ns = sum->worst->begin_ns,
        .end_ns = sum->worst->end_ns,
        .device = series->device,
        .thread = series->thread,
    };
    finding_add(maker, &finding);
}

static int find_density(struct maker *maker)
{
    struct density_options options = DENSITY_DEFAULTS;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    struct density density;
    if (density_find(maker->facts, &options, &density, maker->err) != 0)
        return -1;
    for (size_t i = 0; i < density.series_count; i++) {
        const struct density_series *series = &density.series[i];
        if (maker->options->device != TRACE_NONE && maker->options->device != series->device)
            continue;
        struct zone_sum sum = zones_sum(maker, &density, series);
        if (sum.worst != NULL)
            zones_finding(maker, series, &sum);
    }
    density_free(&density);
    return 0;
}

/* ---- copies ---- */

static void small_finding(struct maker *maker, const struct transfer *one)
{
    const struct trace *trace = maker->trace;
    char calls[TIMEFMT_BYTES];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct finding finding = {
        .rule = RULE_SMALL_COPIES.name,
        .title = text_of(maker, "GPU %lld: %u small copies, %s",
                         (long long)trace->devices[one->device].id, (unsigned)one->count,
                         trace->names[one->name].brief),
        .evidence =
            text_of(maker, "%.0f bytes each on average; their calls took %s",
                    (double)one->bytes / (double)one->count, timefmt_duration(one->call_ns, calls)),
        .advice = RULE_SMALL_COPIES.advice,
        .show = "cutline analyze -r small_copies",
        .recoverable_ns = one->total_ns - one->hidden_ns,
        .value = (double)one->count,
        .begin_ns = gpu->begin_ns[one->longest],
        .end_ns = gpu->end_ns[one->longest],
        .device = one->device,
    };
    finding_add(maker, &finding);
}

/* Copies of one device between memories, summed up. */
static void hidden_finding(struct maker *maker, const struct transfers *transfers, uint32_t device)
{
    const struct trace *trace = maker->trace;
    struct transfer sum = {.longest = TRACE_NONE};
    for (size_t i = 0; i < transfers->count; i++) {
        const struct transfer *one = &transfers->list[i];
        if (one->device != device || !transfers_crosses(&trace->names[one->name]))
            continue;
        sum.count += one->count;
        sum.total_ns += one->total_ns;
        sum.hidden_ns += one->hidden_ns;
        if (sum.longest == TRACE_NONE || one->longest_exposed_ns > sum.longest_exposed_ns) {
            sum.longest = one->longest;
            sum.longest_exposed_ns = one->longest_exposed_ns;
        }
    }
    if (sum.count == 0 || sum.total_ns == sum.hidden_ns)
        return;
    char total[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    long long id = (long long)trace->devices[device].id;
    double exposed = percent(sum.total_ns - sum.hidden_ns, sum.total_ns);
    const struct finding finding = {
        .rule = RULE_HIDDEN_TRANSFERS.name,
        .title = text_of(maker, "GPU %lld: %.0f %% of copy time is not hidden behind kernels", id,
                         exposed),
        .evidence = text_of(maker, "%u copies, %s in all; longest exposed time %s (%s)",
                            (unsigned)sum.count, timefmt_duration(sum.total_ns, total),
                            timefmt_duration(sum.longest_exposed_ns, longest),
                            trace->names[gpu->name[sum.longest]].brief),
        .advice = RULE_HIDDEN_TRANSFERS.advice,
        .show = text_of(maker, "cutline analyze -r hidden_transfers --device %lld", id),
        .recoverable_ns =
            transfers_exposed_ns(trace, device, maker->options->begin_ns, maker->options->end_ns),
        .value = exposed,
        .begin_ns = gpu->begin_ns[sum.longest],
        .end_ns = gpu->end_ns[sum.longest],
        .device = device,
    };
    finding_add(maker, &finding);
}

static int find_copies(struct maker *maker)
{
    struct transfers_options options = {.max_bytes = SMALL_BYTES,
                                        .begin_ns = maker->options->begin_ns,
                                        .end_ns = maker->options->end_ns,
                                        .device = maker->options->device};
    struct transfers transfers;
    if (transfers_find(maker->facts, &options, &transfers, maker->err) != 0)
        return -1;
    for (size_t i = 0; i < transfers.count; i++) {
        if (transfers.list[i].count >= SMALL_MIN)
            small_finding(maker, &transfers.list[i]);
    }
    transfers_free(&transfers);
    options.max_bytes = INT64_MAX;
    if (transfers_find(maker->facts, &options, &transfers, maker->err) != 0)
        return -1;
    for (uint32_t d = 0; d < maker->trace->device_count; d++)
        hidden_finding(maker, &transfers, d);
    transfers_free(&transfers);
    return 0;
}

/* ---- utilisation and graphs ---- */

static int find_low(struct maker *maker)
{
    struct lowuse_options options = LOWUSE_DEFAULTS;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    options.device = maker->options->device;
    struct lowuse lowuse;
    if (lowuse_find(maker->facts, &options, &lowuse, maker->err) != 0)
        return -1;
    for (size_t i = 0; i < lowuse.count; i++) {
        const struct lowuse_zone *zone = &lowuse.list[i];
        char length[TIMEFMT_BYTES];
        char at[TIMEFMT_BYTES];
        int64_t length_ns = zone->end_ns - zone->begin_ns;
        double busy = percent(zone->busy_ns, length_ns);
        const struct finding finding = {
            .rule = RULE_LOW_UTILISATION.name,
            .title = text_of(maker, "GPU %lld busy only %.1f %% for %s",
                             (long long)maker->trace->devices[zone->device].id, busy,
                             timefmt_duration(length_ns, length)),
            .evidence = text_of(maker,
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
        finding_add(maker, &finding);
    }
    lowuse_free(&lowuse);
    return 0;
}

static int find_opaque(struct maker *maker)
{
    const struct trace *trace = maker->trace;
    size_t count = 0;
    struct opaque_graph *graphs =
        opaque_find(trace, maker->options->begin_ns, maker->options->end_ns, &count, maker->err);
    if (graphs == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct opaque_graph *graph = &graphs[i];
        const struct trace_device *device = &trace->devices[graph->device];
        char total[TIMEFMT_BYTES];
        if (maker->options->device != TRACE_NONE && maker->options->device != graph->device)
            continue;
        double share = percent(graph->total_ns, device->busy_sum_ns[device->busy_count]);
        const struct finding finding = {
            .rule = RULE_GRAPH_OPAQUE.name,
            .title = text_of(maker, "GPU %lld: %s hides its kernels, %.1f %% of the busy time",
                             (long long)device->id, trace->names[graph->name].brief, share),
            .evidence =
                text_of(maker, "%u launches, %s in all, recorded as one block each",
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
        finding_add(maker, &finding);
    }
    free(graphs);
    return 0;
}

/* ---- NVIDIA's rules ---- */

/* How much of what a rule of nsys lists could be won. */
enum worth {
    WORTH_COPIES, /* its durations, as far as copies are exposed */
    WORTH_TIME,   /* its durations */
    WORTH_SYNC,   /* idle time that synchronising calls explain */
    WORTH_NONE,   /* counted by another rule */
};

static const struct {
    const char *name;
    enum worth worth;
} WORTHS[] = {
    {"cuda_memcpy_async", WORTH_COPIES},
    {"cuda_memcpy_sync",  WORTH_COPIES},
    {"cuda_memset_sync",  WORTH_TIME  },
    {"cuda_api_sync",     WORTH_SYNC  },
    {"gpu_gaps",          WORTH_NONE  },
    {"gpu_time_util",     WORTH_NONE  },
};

static int column_of(const struct table *table, const char *header)
{
    for (int i = 0; i < table_columns(table); i++) {
        if (strcmp(table_column_at(table, i)->header, header) == 0)
            return i;
    }
    return -1;
}

static int64_t exposed_all(const struct maker *maker)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < maker->trace->device_count; d++) {
        int64_t one =
            transfers_exposed_ns(maker->trace, d, maker->options->begin_ns, maker->options->end_ns);
        ns += one > 0 ? one : 0;
    }
    return ns;
}

static int64_t worth_ns(const struct maker *maker, enum worth worth, int64_t total_ns)
{
    int64_t limit_ns = worth == WORTH_SYNC     ? maker->sync_idle_ns
                       : worth == WORTH_COPIES ? exposed_all(maker)
                       : worth == WORTH_TIME   ? INT64_MAX
                                               : -1;
    return total_ns < limit_ns ? total_ns : limit_ns;
}

/* What the rows of a rule add up to; the longest is where to look. */
static void nsys_finding(struct maker *maker, const struct report *rule, enum worth worth,
                         const struct table *table)
{
    int duration = column_of(table, "Duration");
    int start = column_of(table, "Start");
    int64_t total_ns = 0;
    int64_t longest_ns = 0;
    int64_t begin_ns = 0;
    size_t rows = table_rows(table);
    for (size_t i = 0; i < rows && duration >= 0 && start >= 0; i++) {
        int64_t ns = table_cell_at(table, i, duration).i;
        total_ns += ns;
        if (i == 0 || ns > longest_ns) {
            longest_ns = ns;
            begin_ns = table_cell_at(table, i, start).i;
        }
    }
    char total[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const char *again = worth == WORTH_SYNC   ? "; the idle time after them is in idle_gaps too"
                        : worth == WORTH_NONE ? "; idle_gaps counts this time"
                                              : "";
    const struct finding finding = {
        .rule = rule->name,
        .title = text_of(maker, "%s: %zu", rule->title, rows),
        .evidence = text_of(maker, "%s in all, longest %s%s", timefmt_duration(total_ns, total),
                            timefmt_duration(longest_ns, longest), again),
        .advice = rule->advice != NULL ? rule->advice : "",
        .show = text_of(maker, "cutline analyze -r %s", rule->name),
        .recoverable_ns = worth_ns(maker, worth, total_ns),
        .value = (double)rows,
        .begin_ns = begin_ns,
        .end_ns = begin_ns + longest_ns,
        .device = TRACE_NONE,
        .thread = TRACE_NONE,
    };
    finding_add(maker, &finding);
}

static int find_nsys(struct maker *maker)
{
    struct report_options options = REPORT_OPTIONS_ALL;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    if (maker->options->device != TRACE_NONE)
        options.device = maker->trace->devices[maker->options->device].id;
    for (size_t i = 0; i < sizeof(WORTHS) / sizeof(WORTHS[0]); i++) {
        char spec[64];
        struct report_call call;
        struct report_result result = {0};
        (void)snprintf(spec, sizeof(spec), "%s:rows=-1", WORTHS[i].name);
        if (report_call_parse(REPORT_RULE, spec, &call, maker->err) != 0)
            return -1;
        int rc = report_run(maker->trace, &call, &options, &result, maker->err);
        if (rc == 0 && result.status == REPORT_ROWS && table_rows(result.table) > 0)
            nsys_finding(maker, call.report, WORTHS[i].worth, result.table);
        report_result_free(&result);
        report_call_free(&call);
        if (rc != 0)
            return -1;
    }
    return 0;
}

/* ---- public ---- */

static int finding_cmp(const void *a, const void *b)
{
    const struct finding *x = a;
    const struct finding *y = b;
    if (x->recoverable_ns != y->recoverable_ns)
        return x->recoverable_ns < y->recoverable_ns ? 1 : -1;
    int c = strcmp(x->rule, y->rule);
    return c != 0 ? c : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

int findings_make(const struct facts *facts, const struct findings_options *options,
                  struct findings *out, struct err *err)
{
    *out = (struct findings){0};
    struct maker maker = {
        .facts = facts, .trace = facts->trace, .options = options, .out = out, .err = err};
    int rc = find_idle(&maker) != 0 || find_density(&maker) != 0 || find_copies(&maker) != 0 ||
                     find_low(&maker) != 0 || find_opaque(&maker) != 0 || find_nsys(&maker) != 0
                 ? -1
                 : 0;
    if (rc == 0 && maker.failed)
        rc = err_nomem(err, "the findings");
    if (rc != 0) {
        findings_free(out);
        return -1;
    }
    if (out->count > 0)
        qsort(out->list, out->count, sizeof(*out->list), finding_cmp);
    return 0;
}

void findings_free(struct findings *findings)
{
    free(findings->list);
    arena_free(&findings->arena);
    *findings = (struct findings){0};
}
