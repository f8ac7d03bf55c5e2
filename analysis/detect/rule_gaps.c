/*
 * rule_gaps: idle_gaps as a table: the gaps with their causes, or sums of them.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/own_rules.h"
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

static void put_gap(struct table *table, const struct facts *facts, const struct gap *gap,
                    const struct cause *cause)
{
    const struct trace *trace = facts->trace;
    table_put_int(table, gap->begin_ns);
    table_put_int(table, gap->end_ns);
    table_put_int(table, gap->end_ns - gap->begin_ns);
    table_put_int(table, trace->devices[gap->device].id);
    rules_put_pid(table, trace, op_process(trace, gap->before));
    rules_put_pid(table, trace, op_process(trace, gap->after));
    rules_put_op(table, trace, gap->before);
    rules_put_op(table, trace, gap->after);
    put_cause(table, facts, gap, cause);
}

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

/* ---- tables ---- */

static int table_gaps(const struct report_context *context, const struct facts *facts,
                      const struct gaps *gaps, const struct cause *causes,
                      struct report_result *out)
{
    const struct trace_events *gpu = &facts->trace->events[TRACE_GPU];
    for (size_t i = 0; i < gaps->count; i++) {
        const struct gap *gap = &gaps->list[i];
        bool kept =
            context->select->name_bits == NULL ||
            (gap->before != TRACE_NONE && select_name(context->select, gpu->name[gap->before])) ||
            (gap->after != TRACE_NONE && select_name(context->select, gpu->name[gap->after]));
        if (kept) {
            put_gap(out->table, facts, gap, &causes[i]);
        }
    }
    return 0;
}

static int table_sums(const struct facts *facts, const struct gaps *gaps,
                      const struct cause *causes, enum causes_key key, struct report_result *out,
                      struct err *err)
{
    size_t count = 0;
    struct causes_sum *sums = causes_sum(facts, gaps, causes, key, &count, err);
    if (sums == NULL) {
        return gaps->count == 0 ? 0 : -1;
    }
    for (size_t i = 0; i < count; i++) {
        rules_put_percent(out->table, sums[i].total_ns, gaps->span_ns);
        table_put_int(out->table, sums[i].total_ns);
        table_put_int(out->table, sums[i].count);
        table_put_real(out->table, (double)sums[i].total_ns / (double)sums[i].count);
        if (sums[i].name_len == 0) {
            table_put_empty(out->table);
        } else {
            table_put_text(out->table, sums[i].name, sums[i].name_len);
        }
        rules_put_text(out->table, key == CAUSES_BY_EVIDENCE
                                       ? cause_name((enum cause_kind)sums[i].kind)
                                       : NULL);
    }
    free(sums);
    return 0;
}

/* The key of "by": -1 = each gap, -2 = no such key. */
static int by_key(const char *by)
{
    static const char *const keys[] = {"cause", "evidence", "nvtx"};
    if (by == NULL || strcmp(by, "gap") == 0) {
        return -1;
    }
    for (int i = 0; i <= CAUSES_BY_NVTX; i++) {
        if (strcmp(by, keys[i]) == 0) {
            return i;
        }
    }
    return -2;
}

static uint32_t device_index(const struct trace *trace, int64_t id)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        if (trace->devices[i].id == id) {
            return i;
        }
    }
    return TRACE_NONE;
}

static int fill(const struct report_context *context, int by, struct report_result *out,
                struct err *err)
{
    const struct trace *trace = context->trace;
    const struct selection *select = context->select;
    const struct gaps_query query = {.device = device_index(trace, select->device),
                                     .min_ns = context->args[ARG_MIN].i,
                                     .begin_ns = select->begin_ns,
                                     .end_ns = select->end_ns};
    int rc = -1;
    struct gaps gaps = {0};
    struct cause *causes = NULL;
    struct busy *busy = busy_new(trace, NULL, err);
    struct facts *facts = facts_new(trace, err);
    if (busy == NULL || facts == NULL || gaps_find(trace, busy, &query, &gaps, err) != 0) {
        goto out;
    }
    causes = causes_find(facts, &gaps, err);
    if (causes == NULL) {
        goto out;
    }
    note_total(&gaps, query.min_ns, &out->note);
    rc = by < 0 ? table_gaps(context, facts, &gaps, causes, out)
                : table_sums(facts, &gaps, causes, (enum causes_key)by, out, err);
    if (rc == 0 && by < 0) {
        rc = note_sums(facts, &gaps, causes, &out->note, err);
    }
    if (context->args[ARG_ROWS].i >= 0) {
        table_truncate(out->table, (size_t)context->args[ARG_ROWS].i);
    }
out:
    free(causes);
    gaps_free(&gaps);
    facts_free(facts);
    busy_free(busy);
    return rc;
}

static int run(const struct report_context *context, struct report_result *out, struct err *err)
{
    int by = by_key(context->args[ARG_BY].text);
    if (by == -2) {
        return err_set(err, "idle_gaps: by=%.40s: use gap, cause, evidence or nvtx",
                       context->args[ARG_BY].text);
    }
    bool sums = by >= 0;
    int columns = sums ? (int)(sizeof(SUM_COLUMNS) / sizeof(SUM_COLUMNS[0]))
                       : (int)(sizeof(GAP_COLUMNS) / sizeof(GAP_COLUMNS[0]));
    out->table = table_new(RULE_IDLE_GAPS.title, sums ? SUM_COLUMNS : GAP_COLUMNS, columns);
    if (out->table == NULL) {
        return err_nomem(err, "the table of gaps");
    }
    if (context->trace->events[TRACE_GPU].count == 0) {
        out->status = REPORT_MISSING;
        return 0;
    }
    bool no_device = context->select->none ||
                     (context->select->device >= 0 &&
                      device_index(context->trace, context->select->device) == TRACE_NONE);
    return no_device ? 0 : fill(context, by, out, err);
}

const struct report RULE_IDLE_GAPS = {
    .name = "idle_gaps",
    .title = "Idle Gaps",
    .kind = REPORT_RULE,
    .help = "times in which a device runs nothing at all, and the cause of each",
    .advice = "Keep the device fed: fewer waits, work queued ahead, CUDA graphs, loading in other "
              "threads.",
    .missing = "GPU data",
    .args = ARGS,
    .run = run,
};
