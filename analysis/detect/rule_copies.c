/*
 * rule_copies: small_copies and hidden_transfers, two tables of the same rows.
 */
#include "analysis/base/timefmt.h"
#include "analysis/detect/own_rules.h"
#include "analysis/detect/rules_text.h"
#include "analysis/detect/transfers.h"
#include "analysis/filter/select.h"

enum {
    SMALL_ARG_BYTES,
    SMALL_ARG_MIN,
};

#define TIME_ARGS                                                                                  \
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME"},                                   \
        {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"},                                \
    {                                                                                              \
        "nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]"          \
    }

static const struct report_arg SMALL_ARGS[] = {
    {"bytes", REPORT_ARG_INT, 0, "65536", "copies of at most N bytes"},
    {"min", REPORT_ARG_INT, 0, "16", "list kinds with N such copies or more"},
    TIME_ARGS,
    {0},
};

static const struct report_arg HIDDEN_ARGS[] = {TIME_ARGS, {0}};

static const struct table_column SMALL_COLUMNS[] = {
    {"Count", TABLE_INT, 0},     {"Avg Bytes", TABLE_REAL, 0},    {"Total Time", TABLE_TIME, 0},
    {"Avg", TABLE_TIME_1, 0},    {"Exposed Time", TABLE_TIME, 0}, {"Call Time", TABLE_TIME, 0},
    {"PID", TABLE_INT, 0},       {"Device ID", TABLE_INT, 0},     {"Src Kind", TABLE_TEXT, 0},
    {"Dst Kind", TABLE_TEXT, 0}, {"Operation", TABLE_TEXT, 0},
};

static const struct table_column HIDDEN_COLUMNS[] = {
    {"Hidden (%)", TABLE_PERCENT, 0},
    {"Total Time", TABLE_TIME, 0},
    {"Hidden Time", TABLE_TIME, 0},
    {"Exposed Time", TABLE_TIME, 0},
    {"Count", TABLE_INT, 0},
    {"Total Bytes", TABLE_MB, 0},
    {"PID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},
    {"Src Kind", TABLE_TEXT, 0},
    {"Dst Kind", TABLE_TEXT, 0},
    {"Worst Start", TABLE_TIME, 0},
    {"Worst Exposed", TABLE_TIME, 0},
    {"Operation", TABLE_TEXT, 0},
};

static bool kept(const struct report_context *context, const struct transfer *one)
{
    const struct selection *select = context->select;
    return !select->none &&
           (select->device < 0 || context->trace->devices[one->device].id == select->device) &&
           (select->process == TRACE_NONE || one->process == select->process) &&
           select_name(select, one->name);
}

static void put_place(struct table *table, const struct trace *trace, const struct transfer *one)
{
    rules_put_pid(table, trace, one->process);
    table_put_int(table, trace->devices[one->device].id);
    rules_put_mem_kind(table, one->src_kind);
    rules_put_mem_kind(table, one->dst_kind);
}

static void put_small(struct table *table, const struct trace *trace, const struct transfer *one)
{
    table_put_int(table, one->count);
    table_put_real(table, (double)one->bytes / (double)one->count);
    table_put_int(table, one->total_ns);
    table_put_real(table, (double)one->total_ns / (double)one->count);
    table_put_int(table, one->total_ns - one->hidden_ns);
    table_put_int(table, one->call_ns);
    put_place(table, trace, one);
    rules_put_op(table, trace, one->longest);
}

static void put_hidden(struct table *table, const struct trace *trace, const struct transfer *one)
{
    rules_put_percent(table, one->hidden_ns, one->total_ns);
    table_put_int(table, one->total_ns);
    table_put_int(table, one->hidden_ns);
    table_put_int(table, one->total_ns - one->hidden_ns);
    table_put_int(table, one->count);
    if (one->bytes < 0) {
        table_put_empty(table);
    } else {
        table_put_real(table, (double)one->bytes);
    }
    put_place(table, trace, one);
    table_put_int(table, trace->events[TRACE_GPU].begin_ns[one->longest]);
    table_put_int(table, one->longest_exposed_ns);
    rules_put_op(table, trace, one->longest);
}

/* What both rules share: find, filter, put. min: rows with fewer copies are left out. */
static int fill(const struct report_context *context, int64_t max_bytes, int64_t min,
                void (*put)(struct table *, const struct trace *, const struct transfer *),
                struct report_result *out, struct err *err)
{
    const struct transfers_options options = {.max_bytes = max_bytes,
                                              .begin_ns = context->select->begin_ns,
                                              .end_ns = context->select->end_ns,
                                              .device = TRACE_NONE};
    struct transfers transfers = {0};
    struct facts *facts = facts_new(context->trace, err);
    int rc = facts == NULL ? -1 : transfers_find(facts, &options, &transfers, err);
    int64_t total_ns = 0;
    int64_t hidden_ns = 0;
    int64_t count = 0;
    for (size_t i = 0; rc == 0 && i < transfers.count; i++) {
        const struct transfer *one = &transfers.list[i];
        if (one->count < min || !kept(context, one)) {
            continue;
        }
        put(out->table, context->trace, one);
        total_ns += one->total_ns;
        hidden_ns += one->hidden_ns;
        count += one->count;
    }
    if (rc == 0) {
        char total[TIMEFMT_BYTES];
        buf_addf(&out->note, "%lld copies, total %s, %.1f %% hidden behind kernels\n",
                 (long long)count, timefmt_duration(total_ns, total),
                 total_ns > 0 ? 100.0 * (double)hidden_ns / (double)total_ns : 0.0);
    }
    transfers_free(&transfers);
    facts_free(facts);
    return rc;
}

static bool has_copies(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (trace->names[i].kind == TRACE_MEMCPY || trace->names[i].kind == TRACE_MIGRATION) {
            return true;
        }
    }
    return false;
}

static int run_small(const struct report_context *context, struct report_result *out,
                     struct err *err)
{
    out->table = table_new(RULE_SMALL_COPIES.title, SMALL_COLUMNS,
                           (int)(sizeof(SMALL_COLUMNS) / sizeof(SMALL_COLUMNS[0])));
    if (out->table == NULL) {
        return err_nomem(err, "the table of copies");
    }
    if (!has_copies(context->trace)) {
        out->status = REPORT_MISSING;
        return 0;
    }
    return fill(context, context->args[SMALL_ARG_BYTES].i, context->args[SMALL_ARG_MIN].i,
                put_small, out, err);
}

static int run_hidden(const struct report_context *context, struct report_result *out,
                      struct err *err)
{
    out->table = table_new(RULE_HIDDEN_TRANSFERS.title, HIDDEN_COLUMNS,
                           (int)(sizeof(HIDDEN_COLUMNS) / sizeof(HIDDEN_COLUMNS[0])));
    if (out->table == NULL) {
        return err_nomem(err, "the table of copies");
    }
    if (!has_copies(context->trace)) {
        out->status = REPORT_MISSING;
        return 0;
    }
    return fill(context, INT64_MAX, 0, put_hidden, out, err);
}

const struct report RULE_SMALL_COPIES = {
    .name = "small_copies",
    .title = "Small Copies",
    .kind = REPORT_RULE,
    .help = "copies so small that the call costs more than the transfer",
    .advice = "Copy once: gather small tensors in one buffer, or keep them on the device.",
    .missing = "GPU memory data",
    .args = SMALL_ARGS,
    .kinds = RULES_OPS | 1U << TRACE_API_CALL,
    .run = run_small,
};

const struct report RULE_HIDDEN_TRANSFERS = {
    .name = "hidden_transfers",
    .title = "Hidden Transfers",
    .kind = REPORT_RULE,
    .help = "the share of copy time that is hidden behind kernels of the same device",
    .advice = "Copy while kernels run: pinned memory, cudaMemcpyAsync on a second stream, "
              "prefetching.",
    .missing = "GPU memory data",
    .args = HIDDEN_ARGS,
    .kinds = RULES_OPS,
    .run = run_hidden,
};
