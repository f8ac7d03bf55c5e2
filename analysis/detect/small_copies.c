/*
 * small_copies: copies so small that the call costs more than the transfer.
 */
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/detect/transfers.h"

enum {
    ARG_BYTES,
    ARG_MIN,
};

static const struct report_arg ARGS[] = {
    {"bytes", REPORT_ARG_INT, 0, "65536", "copies of at most N bytes"},
    {"min", REPORT_ARG_INT, 0, "16", "list kinds with N such copies or more"},
    DETECTOR_TIME_ARGS,
    {0},
};

static const struct table_column COLUMNS[] = {
    {"Count", TABLE_INT, 0},     {"Avg Bytes", TABLE_REAL, 0},    {"Total Time", TABLE_TIME, 0},
    {"Avg", TABLE_TIME_1, 0},    {"Exposed Time", TABLE_TIME, 0}, {"Call Time", TABLE_TIME, 0},
    {"PID", TABLE_INT, 0},       {"Device ID", TABLE_INT, 0},     {"Src Kind", TABLE_TEXT, 0},
    {"Dst Kind", TABLE_TEXT, 0}, {"Operation", TABLE_TEXT, 0},
};

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    return transfers_detect(context, context->args[ARG_BYTES].i, out, err);
}

static bool kept(const struct report_context *context, const struct transfer *one)
{
    return one->count >= context->args[ARG_MIN].i && transfers_kept(context, one) &&
           context->trace->names[one->name].kind == TRACE_MEMCPY;
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct transfers *found = data;
    const struct transfer *one = &found->list[i];
    if (!kept(context, one)) {
        return;
    }
    table_put_int(table, one->count);
    table_put_real(table, (double)one->bytes / (double)one->count);
    table_put_int(table, one->total_ns);
    table_put_real(table, (double)one->total_ns / (double)one->count);
    table_put_int(table, one->total_ns - one->hidden_ns);
    table_put_int(table, one->call_ns);
    transfers_put_place(table, trace, one);
    rules_put_op(table, trace, one->longest);
}

static int note(const struct report_context *context, int by, const void *data, struct buf *out,
                struct err *err)
{
    (void)by;
    (void)err;
    transfers_note(context, data, context->args[ARG_MIN].i, out);
    return 0;
}

/* Time in which a device runs neither kernels nor copies from or to another memory: what copies within it
 * can win at most, beside what hidden_transfers counts. */
static int64_t moves_alone_ns(const struct findings_maker *maker, uint32_t device)
{
    const struct busy *all = shared_busy(maker->shared, SHARED_ALL, NULL);
    const struct busy *others = shared_busy(maker->shared, SHARED_WORK_TRANSFERS, NULL);
    int64_t begin_ns = maker->options->begin_ns;
    int64_t end_ns = maker->options->end_ns;
    if (all == NULL || others == NULL) {
        return 0;
    }
    return busy_device_ns(all, device, begin_ns, end_ns) -
           busy_device_ns(others, device, begin_ns, end_ns);
}

static void small_finding(struct findings_maker *maker, const struct transfer *one)
{
    const struct trace *trace = maker->trace;
    char calls[TIMEFMT_BYTES];
    bool crosses = shared_is_transfer(&trace->names[one->name]);
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    int64_t exposed_ns = one->total_ns - one->hidden_ns;
    int64_t alone_ns = moves_alone_ns(maker, one->device);
    const struct finding finding = {
        .rule = DETECT_SMALL_COPIES.rule.name,
        .title = findings_words(maker, "GPU %lld: %u small copies, %s",
                                (long long)trace->devices[one->device].id, (unsigned)one->count,
                                trace->names[one->name].brief),
        .within = crosses ? DETECT_HIDDEN_TRANSFERS.rule.name : NULL,
        .evidence = findings_words(maker, "%.0f bytes each on average; their calls took %s%s",
                                   (double)one->bytes / (double)one->count,
                                   timefmt_duration(one->call_ns, calls),
                                   crosses ? "; hidden_transfers counts this time too" : ""),
        .advice = findings_advice(maker, crosses ? ADVICE_OF_SMALL_COPIES : ADVICE_OF_SMALL_MOVES,
                                  0, one->process),
        .show = "cutline analyze -r small_copies",
        .recoverable_ns = crosses || alone_ns > exposed_ns ? exposed_ns : alone_ns,
        .value = (double)one->count,
        .begin_ns = gpu->begin_ns[one->longest],
        .end_ns = gpu->end_ns[one->longest],
        .device = one->device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &finding);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct transfers *found = data;
    for (size_t i = 0; i < found->count; i++) {
        if (kept(context, &found->list[i])) {
            small_finding(maker, &found->list[i]);
        }
    }
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_SMALL_COPIES = {
    .rule = {.name = "small_copies",
             .title = "Small Copies",
             .kind = REPORT_RULE,
             .help = "copies so small that the call costs more than the transfer",
             .advice = "Copy once: gather the data in one buffer, or keep it on the device.",
             .missing = "GPU memory data",
             .args = ARGS,
             .kinds = RULES_OPS | 1U << TRACE_API_CALL,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = transfers_any,
    .find = find,
    .drop = transfers_drop,
    .note = note,
    .finding = finding,
};
