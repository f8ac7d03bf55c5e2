/*
 * idle_gaps: times in which a device runs nothing at all, each with its cause; by=... sums them.
 * As findings: one for each device and kind of cause.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"

enum {
    ARG_MIN,
    ARG_BY,
    ARG_ROWS,
    NOTE_SUMS = 8, /* lines of each sum in the note */
    NOTE_NAME_COLS = 44,
};

static const struct report_arg ARGS[] = {
    {"min", REPORT_ARG_TIME, 1, "50us", "list gaps of TIME and longer"},
    {"by", REPORT_ARG_TEXT, 0, "gap", "gap: each gap; cause, evidence, nvtx: sums by it"},
    {"rows", REPORT_ARG_INT, 0, "-1", "list at most N rows; -1 = all"},
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME; gaps are clipped"},
    {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"},
    {"nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]"},
    {0},
};

static const struct table_column GAP_COLUMNS[] = {
    {"Start", TABLE_TIME, 0},     {"End", TABLE_TIME, 0},          {"Duration", TABLE_TIME, 0},
    {"Device ID", TABLE_INT, 0},  {"PID before", TABLE_INT, 0},    {"PID after", TABLE_INT, 0},
    {"Op before", TABLE_TEXT, 0}, {"Op after", TABLE_TEXT, 0},     {"Cause", TABLE_TEXT, 0},
    {"Evidence", TABLE_TEXT, 0},  {"Share (%)", TABLE_PERCENT, 0}, {"Stream", TABLE_INT, 0},
    {"TID", TABLE_INT, 0},        {"Launch call", TABLE_TEXT, 0},  {"NVTX", TABLE_TEXT, 0},
    {"Why", TABLE_TEXT, 0},
};

static const struct table_column SUM_COLUMNS[] = {
    {"Idle (%)", TABLE_PERCENT, 0}, {"Total Time", TABLE_TIME, 0}, {"Gaps", TABLE_INT, 0},
    {"Avg", TABLE_TIME_1, 0},       {"Name", TABLE_TEXT, 0},       {"Cause", TABLE_TEXT, 0},
};

/* The tables, in the order of the words for "by". */
enum {
    BY_GAP,
    BY_CAUSE,
    BY_EVIDENCE,
    BY_NVTX,
};

static enum causes_key by_key(int by)
{
    return (enum causes_key)(CAUSES_BY_KIND + (by - BY_CAUSE));
}

struct idle {
    struct gaps gaps;
    struct cause *causes; /* of gaps.list */
    struct causes_sum *sums; /* of the key; NULL where each gap is a row */
};

/* ---- finding ---- */

static uint32_t device_index(const struct trace *trace, int64_t id)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        if (trace->devices[i].id == id) {
            return i;
        }
    }
    return TRACE_NONE;
}

static void drop(void *data)
{
    struct idle *idle = data;
    gaps_free(&idle->gaps);
    free(idle->causes);
    free(idle->sums);
    free(idle);
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    const struct trace *trace = context->trace;
    const struct selection *select = context->select;
    const struct gaps_query query = {.device = device_index(trace, select->device),
                                     .min_ns = context->args[ARG_MIN].i,
                                     .begin_ns = select->begin_ns,
                                     .end_ns = select->end_ns};
    if (select->none || (select->device >= 0 && query.device == TRACE_NONE)) {
        return 0;
    }
    const struct busy *busy = shared_busy(context->shared, SHARED_ALL, err);
    const struct facts *facts = shared_facts(context->shared, err);
    if (busy == NULL || facts == NULL) {
        return -1;
    }
    struct idle *idle = calloc(1, sizeof *idle);
    if (idle == NULL) {
        return err_nomem(err, "the gaps");
    }
    out->data = idle;
    if (gaps_find(trace, busy, &query, &idle->gaps, err) != 0) {
        return -1;
    }
    out->count = idle->gaps.count;
    idle->causes = causes_find(facts, &idle->gaps, err);
    if (idle->causes == NULL) {
        return -1;
    }
    if (by == BY_GAP) {
        return 0;
    }
    idle->sums = causes_sum(facts, &idle->gaps, idle->causes, by_key(by), &out->count, err);
    return idle->sums == NULL && idle->gaps.count > 0 ? -1 : 0;
}

/* ---- tables ---- */

static void put_why(struct table *table, const struct facts *facts, const struct gap *gap,
                    const struct cause *cause)
{
    struct buf why = {0};
    cause_text(facts, gap, cause, &why);
    table_put_text(table, buf_text(&why), why.len);
    buf_free(&why);
}

static void put_cause(struct table *table, const struct facts *facts, const struct gap *gap,
                      const struct cause *cause)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    rules_put_text(table, cause_name((enum cause_kind)cause->kind));
    rules_put_text(table, cause_evidence(facts, cause));
    if (cause->evidence == TRACE_NONE) {
        table_put_empty(table);
    } else {
        rules_put_percent(table, cause->evidence_ns, gap->end_ns - gap->begin_ns);
    }
    if (cause->lane == TRACE_NONE) {
        table_put_empty(table);
    } else {
        table_put_int(table, trace->lanes[cause->lane].stream_id);
    }
    if (cause->thread == TRACE_NONE) {
        table_put_empty(table);
    } else {
        table_put_int(table, trace->threads[cause->thread].tid);
    }
    rules_put_text(
        table, cause->launch == TRACE_NONE ? NULL : trace->names[api->name[cause->launch]].brief);
    rules_put_path(table, facts, cause->thread, gap->begin_ns);
    put_why(table, facts, gap, cause);
}

static uint32_t op_process(const struct trace *trace, uint32_t gpu)
{
    return gpu == TRACE_NONE ? TRACE_NONE
                             : trace->lanes[trace_lane_of(trace, TRACE_GPU, gpu)].process;
}

static bool kept(const struct report_context *context, uint32_t op)
{
    return op != TRACE_NONE &&
           select_name(context->select, context->trace->events[TRACE_GPU].name[op]);
}

static void put_gap(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct idle *idle = data;
    const struct facts *facts = shared_facts(context->shared, NULL);
    const struct trace *trace = context->trace;
    const struct gap *gap = &idle->gaps.list[i];
    if (context->select->name_bits != NULL && !kept(context, gap->before) &&
        !kept(context, gap->after)) {
        return;
    }
    table_put_int(table, gap->begin_ns);
    table_put_int(table, gap->end_ns);
    table_put_int(table, gap->end_ns - gap->begin_ns);
    table_put_int(table, trace->devices[gap->device].id);
    rules_put_pid(table, trace, op_process(trace, gap->before));
    rules_put_pid(table, trace, op_process(trace, gap->after));
    rules_put_op(table, trace, gap->before);
    rules_put_op(table, trace, gap->after);
    put_cause(table, facts, gap, &idle->causes[i]);
}

static void put_sum(struct table *table, const struct idle *idle, size_t i)
{
    const struct causes_sum *sum = &idle->sums[i];
    rules_put_percent(table, sum->total_ns, idle->gaps.span_ns);
    table_put_int(table, sum->total_ns);
    table_put_int(table, sum->count);
    table_put_real(table, (double)sum->total_ns / (double)sum->count);
    if (sum->name_len == 0) {
        table_put_empty(table);
    } else {
        table_put_text(table, sum->name, sum->name_len);
    }
}

static void put_plain_sum(struct table *table, const struct report_context *context,
                          const void *data, size_t i)
{
    (void)context;
    put_sum(table, data, i);
    table_put_empty(table);
}

static void put_evidence_sum(struct table *table, const struct report_context *context,
                             const void *data, size_t i)
{
    (void)context;
    const struct idle *idle = data;
    put_sum(table, idle, i);
    rules_put_text(table, cause_name((enum cause_kind)idle->sums[i].kind));
}

static const struct detector_table TABLES[] = {
    [BY_GAP] = {"gap", DETECTOR_COLUMNS(GAP_COLUMNS), put_gap},
    [BY_CAUSE] = {"cause", DETECTOR_COLUMNS(SUM_COLUMNS), put_plain_sum},
    [BY_EVIDENCE] = {"evidence", DETECTOR_COLUMNS(SUM_COLUMNS), put_evidence_sum},
    [BY_NVTX] = {"nvtx", DETECTOR_COLUMNS(SUM_COLUMNS), put_plain_sum},
};

/* ---- notes ---- */

static void note_total(const struct gaps *gaps, int64_t min_ns, struct buf *note)
{
    char total[TIMEFMT_BYTES];
    char span[TIMEFMT_BYTES];
    char min[TIMEFMT_BYTES];
    int64_t shown_ns = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        shown_ns += gaps->list[i].end_ns - gaps->list[i].begin_ns;
    }
    double whole = gaps->span_ns > 0 ? (double)gaps->span_ns : 1.0;
    buf_addf(note, "%zu gaps, total %s, %.1f %% of the span of %s\n", gaps->all_count,
             timefmt_duration(gaps->all_ns, total), 100.0 * (double)gaps->all_ns / whole,
             timefmt_duration(gaps->span_ns, span));
    buf_addf(note, "%zu of them %s or longer, total %s, %.1f %%\n", gaps->count,
             timefmt_duration(min_ns, min), timefmt_duration(shown_ns, total),
             100.0 * (double)shown_ns / whole);
}

/* A name cut to fit, made safe. */
static void note_name(const char *name, size_t len, struct buf *note)
{
    struct buf safe = {0};
    utf8_sanitize(&safe, name, len, false);
    const char *text = buf_text(&safe);
    size_t at = 0;
    int cols = 0;
    while (at < safe.len) {
        uint32_t cp = 0;
        size_t bytes = utf8_decode(text + at, safe.len - at, &cp);
        int width = utf8_width(cp);
        cols += width > 0 ? width : 0;
        if (cols > NOTE_NAME_COLS) {
            break;
        }
        at += bytes;
    }
    buf_add(note, text, at);
    if (at < safe.len) {
        buf_adds(note, "...");
    }
    buf_free(&safe);
}

static void note_sum(const struct causes_sum *sum, enum causes_key key, struct buf *note)
{
    char total[TIMEFMT_BYTES];
    const char *none = key == CAUSES_BY_NVTX ? "(no range)" : "(no call)";
    buf_addf(note, "  %9s  %6u  ", timefmt_duration(sum->total_ns, total), (unsigned)sum->count);
    if (sum->name_len > 0) {
        note_name(sum->name, sum->name_len, note);
    } else {
        buf_adds(note, none);
    }
    buf_addc(note, '\n');
}

static int note_sums(const struct facts *facts, const struct gaps *gaps, const struct cause *causes,
                     struct buf *note, struct err *err)
{
    static const char *const heads[] = {"by cause", "by evidence", "by NVTX range"};
    for (int key = CAUSES_BY_KIND; key <= CAUSES_BY_NVTX; key++) {
        size_t count = 0;
        struct causes_sum *sums =
            causes_sum(facts, gaps, causes, (enum causes_key)key, &count, err);
        if (sums == NULL) {
            return gaps->count == 0 ? 0 : -1;
        }
        if (key != CAUSES_BY_NVTX || count > 1 || sums[0].name[0] != '\0') {
            buf_addf(note, "recoverable %s: time, gaps\n", heads[key]);
            for (size_t i = 0; i < count && i < NOTE_SUMS; i++) {
                note_sum(&sums[i], (enum causes_key)key, note);
            }
            if (count > NOTE_SUMS) {
                buf_addf(note, "  and %zu more\n", count - NOTE_SUMS);
            }
        }
        free(sums);
    }
    return 0;
}

static int note(const struct report_context *context, int by, const void *data, struct buf *out,
                struct err *err)
{
    const struct idle *idle = data;
    note_total(&idle->gaps, context->args[ARG_MIN].i, out);
    if (by != BY_GAP) {
        return 0;
    }
    const struct facts *facts = shared_facts(context->shared, err);
    return note_sums(facts, &idle->gaps, idle->causes, out, err);
}

/* ---- findings ---- */

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
                         const struct cause *causes, enum cause_kind kind, int64_t min_ns)
{
    char time[TIMEFMT_BYTES];
    char least[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    const struct trace_device *device = &maker->trace->devices[sub->list[0].device];
    double share = findings_percent(sub->all_ns, sub->span_ns);
    struct buf evidence = {0};
    buf_addf(&evidence, "%zu gap%s of %s and longer, %s in all, longest %s", sub->count,
             sub->count == 1 ? "" : "s", findings_time(min_ns, least),
             timefmt_duration(sub->all_ns, time),
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
        .rule = DETECT_IDLE_GAPS.rule.name,
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

/* The gaps of a kind on a device become sub; their causes go to of. Both have room for all. */
static void idle_pick(const struct idle *idle, uint32_t device, int kind, struct gaps *sub,
                      struct cause *of)
{
    for (size_t i = 0; i < idle->gaps.count; i++) {
        const struct gap *gap = &idle->gaps.list[i];
        if (gap->device == device && idle->causes[i].kind == kind) {
            sub->all_ns += gap->end_ns - gap->begin_ns;
            of[sub->count] = idle->causes[i];
            sub->list[sub->count++] = *gap;
        }
    }
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct idle *idle = data;
    const struct busy *busy = shared_busy(context->shared, SHARED_ALL, maker->err);
    struct gap *list = malloc((idle->gaps.count + 1) * sizeof *list);
    struct cause *of = malloc((idle->gaps.count + 1) * sizeof *of);
    maker->failed |= list == NULL || of == NULL || busy == NULL;
    for (uint32_t d = 0; d < context->trace->device_count && !maker->failed; d++) {
        for (int kind = 0; kind < CAUSE_KIND_COUNT; kind++) {
            struct gaps sub = {.list = list};
            idle_pick(idle, d, kind, &sub, of);
            if (sub.count > 0) {
                sub.span_ns =
                    gaps_span_ns(busy, d, context->select->begin_ns, context->select->end_ns);
                idle_finding(maker, &sub, of, (enum cause_kind)kind, context->args[ARG_MIN].i);
            }
        }
    }
    for (size_t i = 0; i < idle->gaps.count; i++) {
        if (is_sync(maker, &idle->causes[i])) {
            maker->sync_idle_ns += idle->gaps.list[i].end_ns - idle->gaps.list[i].begin_ns;
        }
    }
    free(list);
    free(of);
    return 0;
}

const struct detector DETECT_IDLE_GAPS = {
    .rule = {.name = "idle_gaps",
             .title = "Idle Gaps",
             .kind = REPORT_RULE,
             .help = "times in which a device runs nothing at all, and the cause of each",
             .advice = "Keep the device fed: fewer waits, work queued ahead, CUDA graphs, loading "
                       "in other threads.",
             .missing = "GPU data",
             .args = ARGS,
             .run = detector_run},
    .tables = TABLES,
    .table_count = ARRAY_LEN(TABLES),
    .timeline_list = "gaps",
    .has_data = detector_has_gpu,
    .find = find,
    .drop = drop,
    .note = note,
    .finding = finding,
};
