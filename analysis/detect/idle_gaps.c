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
#include "analysis/detect/idle_tally.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"

enum {
    ARG_MIN,
    ARG_BY,
    ARG_ROWS,
    NOTE_SUMS = 8, /* lines of each sum in the note */
    NOTE_NAME_COLS = 44,
    /* A gap in which the slowest thread that is called one that launches (launch_density, every) would
     * have launched ten times is one of other work. */
    LONG_LAUNCHES = 10,
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
    const struct gaps_query query = {.device = trace_device_of(trace, select->device),
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
    if (by == DETECTOR_FINDINGS) {
        return 0;
    }
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

static void put_path(struct table *table, const struct facts *facts, const struct gap *gap,
                     const struct cause *cause)
{
    struct buf path = {0};
    cause_path(facts, gap, cause, &path);
    if (path.len == 0) {
        table_put_empty(table);
    } else {
        table_put_text(table, path.data, path.len);
    }
    buf_free(&path);
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
    put_path(table, facts, gap, cause);
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

/* Adds "; most NAME (TIME)" for the text with the most time, "largest part" where that is not half,
 * and the next two; those below a fifth say nothing. */
static void most(const struct trace *trace, const struct idle_named *named, const char *lead,
                 int64_t whole_ns, struct buf *out)
{
    uint32_t ids[3];
    int count = idle_named_top(named, ids, (int)ARRAY_LEN(ids));
    for (int i = 0; i < count; i++) {
        const struct idle_entry *entry = &named->list[ids[i]];
        char time[TIMEFMT_BYTES];
        if (intern_len(&named->texts, ids[i]) == 0 || entry->ns * 5 < whole_ns) {
            break;
        }
        const char *first = entry->ns >= whole_ns / 2 ? "; most " : "; largest part ";
        buf_addf(out, "%s%s", i == 0 ? first : ", ", i == 0 ? lead : "");
        idle_named_text(named, trace, ids[i], out);
        buf_addf(out, " (%s)", timefmt_duration(entry->ns, time));
    }
}

/* What the facts of the gaps say beside the names of calls, where advice rests on it. */
static void put_facts(const struct idle_sum *sum, enum cause_kind kind, struct buf *out)
{
    static const struct {
        enum cause_kind kind;
        uint32_t fact;
        const char *words;
    } told[] = {
        {CAUSE_SLOW_LAUNCH, ADVICE_FIRST, "first launches of their kernels, or code loaded"},
        {CAUSE_SLOW_LAUNCH, ADVICE_QUEUE, "while the command buffer was full"},
        {CAUSE_SLOW_LAUNCH, ADVICE_PAGEABLE, "copies of pageable memory"},
        {CAUSE_SLOW_LAUNCH, ADVICE_HELD, "the thread had waited for the device before it"},
        {CAUSE_COPY, ADVICE_PAGEABLE, "pageable memory"},
        {CAUSE_COPY, ADVICE_PINNED, "pinned memory"},
        {CAUSE_AFTER_BLOCKING, ADVICE_TO_DEVICE, "after copies to the device"},
    };
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        if (told[i].kind == kind && (idle_sum_facts(sum) & told[i].fact) != 0) {
            char time[TIMEFMT_BYTES];
            int bit = 0;
            while (told[i].fact >> bit != 1) {
                bit++;
            }
            buf_addf(out, "; %s %s", told[i].words, timefmt_duration(sum->fact_ns[bit], time));
        }
    }
}

/* What is known of the gaps of one kind, in one line. */
static void evidence_text(const struct findings_maker *maker, const struct idle_sum *sum,
                          struct buf *out)
{
    char time[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    char least[TIMEFMT_BYTES];
    const struct cause *cause = &sum->longest_cause;
    buf_addf(out, "%zu gap%s of %s and longer, %s in all, longest %s", sum->count,
             sum->count == 1 ? "" : "s", findings_time(IDLE_TALLY_LEAST_NS, least),
             timefmt_duration(sum->ns, time),
             timefmt_duration(sum->longest.end_ns - sum->longest.begin_ns, longest));
    most(maker->trace, &sum->calls, cause->kind == CAUSE_AFTER_BLOCKING ? "after " : "", sum->ns,
         out);
    most(maker->trace, &sum->ranges, "in range ", sum->ns, out);
    put_facts(sum, (enum cause_kind)cause->kind, out);
    if (cause->wait != NULL) {
        buf_adds(out, "; ");
        cause_event(maker->facts, cause, out);
    }
    struct buf split = {0};
    cause_split(sum->part_ns, &split);
    if (split.len > 0) {
        buf_addf(out, "; split: %s", buf_text(&split));
    }
    buf_free(&split);
    if ((cause->doubt & CAUSE_NO_API) != 0) {
        buf_adds(out, "; no API calls in the capture");
    }
    if ((cause->doubt & CAUSE_NO_OSRT) != 0) {
        buf_adds(out, "; OS calls were not recorded");
    }
}

/* The call with the most time; NULL: none. */
static const char *top_call(const struct findings_maker *maker, const struct idle_named *calls,
                            struct buf *out)
{
    uint32_t id;
    if (idle_named_top(calls, &id, 1) == 0) {
        return NULL;
    }
    idle_named_text(calls, maker->trace, id, out);
    return buf_text(out);
}

static const char *advice_text(struct findings_maker *maker, const struct idle_sum *sum,
                               enum cause_kind kind)
{
    const struct cause *cause = &sum->longest_cause;
    char time[TIMEFMT_BYTES];
    struct buf call = {0};
    struct buf wait = {0};
    struct buf text = {0};
    uint32_t facts = idle_sum_facts(sum) | maker->capture_facts;
    int64_t count = (int64_t)sum->count;
    int64_t ns = sum->ns / count;
    if (kind == CAUSE_SLOW_LAUNCH) {
        ns = sum->part_ns[CAUSE_PART_LAUNCH] / count;
    } else if (kind == CAUSE_SLOW_HOST && (facts & ADVICE_LONG) != 0) {
        ns = cause->part_ns[CAUSE_PART_CPU];
    }
    if (cause->thread != TRACE_NONE) {
        facts |= findings_program(maker, maker->trace->threads[cause->thread].process);
    }
    const struct advice_case of = {.topic = ADVICE_OF_CAUSE + (int)kind,
                                   .facts = facts,
                                   .call = top_call(maker, &sum->calls, &call),
                                   .wait = top_call(maker, &sum->waits, &wait),
                                   .time = timefmt_duration(ns, time)};
    advice_put(&text, &of);
    const char *kept_text = findings_keep(maker, &text);
    buf_free(&text);
    buf_free(&call);
    buf_free(&wait);
    return kept_text;
}

/* One finding for the gaps of one kind of one device. */
static void idle_finding(struct findings_maker *maker, const struct idle_sum *sum,
                         enum cause_kind kind, int64_t span_ns)
{
    uint32_t index = sum->longest.device;
    long long device = (long long)maker->trace->devices[index].id;
    double share = findings_percent(sum->ns, span_ns);
    /* The table lists the long ones; where these are not half, it is asked for the short ones. */
    const char *shown = 2 * sum->long_ns >= sum->ns ? "" : ":min=1us";
    struct buf evidence = {0};
    evidence_text(maker, sum, &evidence);
    const struct finding one = {
        .rule = DETECT_IDLE_GAPS.rule.name,
        .title = findings_words(maker, "GPU %lld idle %.1f %% of %s: %s", device, share,
                                findings_span(maker), cause_name(kind)),
        .evidence = findings_keep(maker, &evidence),
        .advice = advice_text(maker, sum, kind),
        .show =
            findings_words(maker, "cutline analyze -r idle_gaps%s --device %lld", shown, device),
        .recoverable_ns = sum->ns,
        .value = findings_percent(sum->long_ns, span_ns),
        .begin_ns = sum->longest.begin_ns,
        .end_ns = sum->longest.end_ns,
        .device = index,
        .thread = sum->longest_cause.thread,
    };
    buf_free(&evidence);
    findings_add(maker, &one);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    (void)data;
    const struct selection *select = context->select;
    const struct idle_tally_query query = {
        .facts = maker->facts,
        .busy = shared_busy(context->shared, SHARED_ALL, maker->err),
        .gaps = {.device = trace_device_of(context->trace, select->device),
                 .min_ns = context->args[ARG_MIN].i,
                 .begin_ns = select->begin_ns,
                 .end_ns = select->end_ns},
        .density = launch_density_zones(findings_found(maker, &DETECT_LAUNCH_DENSITY)),
        .long_ns = LONG_LAUNCHES * density_defaults().every_ns,
    };
    struct idle_tally tally = {0};
    uint32_t devices = context->trace->device_count;
    int rc = query.busy == NULL ? -1 : idle_tally_make(&query, &tally, maker->err);
    for (uint32_t i = 0; rc == 0 && i < devices * CAUSE_KIND_COUNT; i++) {
        if (tally.sums[i].count > 0) {
            int64_t span_ns =
                gaps_span_ns(query.busy, i / CAUSE_KIND_COUNT, select->begin_ns, select->end_ns);
            idle_finding(maker, &tally.sums[i], (enum cause_kind)(i % CAUSE_KIND_COUNT), span_ns);
        }
    }
    maker->sync_idle_ns = tally.sync_ns;
    maker->zones = tally.zones;
    tally.zones = NULL;
    idle_tally_free(&tally, devices);
    return rc;
}

const struct detector DETECT_IDLE_GAPS = {
    .rule = {.name = "idle_gaps",
             .title = "Idle Gaps",
             .kind = REPORT_RULE,
             .help = "times in which a device runs nothing at all, and the cause of each",
             .advice = "Keep the device fed: fewer waits, work queued ahead, other work in other "
                       "threads.",
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
