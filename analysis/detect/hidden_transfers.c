/*
 * hidden_transfers: the share of copy time that is hidden behind kernels of the same device.
 */
#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/detect/transfers.h"

static const struct report_arg ARGS[] = {DETECTOR_TIME_ARGS, {0}};

static const struct table_column COLUMNS[] = {
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

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    return transfers_detect(context, INT64_MAX, out, err);
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct transfers *found = data;
    const struct transfer *one = &found->list[i];
    if (!transfers_kept(context, one)) {
        return;
    }
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
    transfers_put_place(table, trace, one);
    table_put_int(table, trace->events[TRACE_GPU].begin_ns[one->longest]);
    table_put_int(table, one->longest_exposed_ns);
    rules_put_op(table, trace, one->longest);
}

static int note(const struct report_context *context, int by, const void *data, struct buf *out,
                struct err *err)
{
    (void)by;
    (void)err;
    transfers_note(context, data, 0, out);
    return 0;
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
static const char *hidden_advice(struct findings_maker *maker, uint32_t facts, int64_t other_ns,
                                 const struct transfer *sum)
{
    char other[TIMEFMT_BYTES];
    struct buf text = {0};
    if (other_ns < sum->total_ns - sum->hidden_ns) {
        facts |= ADVICE_NO_ROOM;
    }
    const struct advice_case of = {
        .topic = ADVICE_OF_TRANSFERS,
        .facts = facts | findings_program(maker, sum->process),
        .time = timefmt_duration(other_ns > 0 ? other_ns : 0, other),
    };
    advice_put(&text, &of);
    const char *kept = findings_keep(maker, &text);
    buf_free(&text);
    return kept;
}

/* What copying beside other work wins: no more than that work takes. Where it takes next to nothing,
 * the rest of the advice is what counts, and the capture cannot tell what it wins. */
static int64_t winnable(const struct findings_maker *maker, uint32_t device, int64_t exposed_ns,
                        int64_t other_ns)
{
    const struct trace_device *of = &maker->trace->devices[device];
    int64_t begin_ns = of->busy_begin_ns[0];
    int64_t end_ns = of->busy_end_ns[of->busy_count - 1];
    begin_ns = begin_ns > maker->options->begin_ns ? begin_ns : maker->options->begin_ns;
    end_ns = end_ns < maker->options->end_ns ? end_ns : maker->options->end_ns;
    if (other_ns >= exposed_ns) {
        return exposed_ns;
    }
    return other_ns >= (end_ns - begin_ns) / 1000 ? other_ns : -1;
}

/* "; exposed: 100 % pinned memory, 100 % in asynchronous calls, 0 % on streams of kernels". */
static void put_facts(const int64_t *fact_ns, int64_t exposed_ns, struct buf *out)
{
    static const struct {
        uint32_t fact;
        const char *words;
        bool if_none; /* said of 0 %, too */
    } told[] = {
        {ADVICE_PAGEABLE, "pageable memory", false},
        {ADVICE_PINNED, "pinned memory", false},
        {ADVICE_BETWEEN, "between devices", false},
        {ADVICE_ASYNC, "in asynchronous calls", true},
        {ADVICE_SAME_STREAM, "on streams of kernels", true},
    };
    const char *between = "; exposed: ";
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        int bit = 0;
        while (told[i].fact >> bit != 1) {
            bit++;
        }
        if ((fact_ns[bit] > 0 && fact_ns[bit] >= exposed_ns / 100) || told[i].if_none) {
            buf_addf(out, "%s%.0f %% %s", between, findings_percent(fact_ns[bit], exposed_ns),
                     told[i].words);
            between = ", ";
        }
    }
}

/* Copies of one device between memories, summed up. */
static void hidden_finding(struct findings_maker *maker, const struct transfers *transfers,
                           uint32_t device)
{
    const struct trace *trace = maker->trace;
    struct transfer sum = {.longest = TRACE_NONE};
    uint32_t count;
    const uint32_t *order = transfers_of(transfers, device, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct transfer *one = &transfers->list[order[i]];
        if (!shared_is_transfer(&trace->names[one->name])) {
            continue;
        }
        if (sum.count == 0) { /* the one with the most exposed time */
            sum.process = one->process;
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
    int64_t exposed_ns = transfers_exposed_ns(maker->shared, device, maker->options->begin_ns,
                                              maker->options->end_ns);
    int64_t fact_ns[ADVICE_FACTS];
    uint32_t facts = transfers_facts(trace, transfers, device, fact_ns);
    struct buf evidence = {0};
    buf_addf(&evidence, "%u copies, %s in all; longest exposed time %s (%s)", (unsigned)sum.count,
             timefmt_duration(sum.total_ns, total),
             timefmt_duration(sum.longest_exposed_ns, longest),
             trace->names[gpu->name[sum.longest]].brief);
    put_facts(fact_ns, sum.total_ns - sum.hidden_ns, &evidence);
    int64_t other_ns = busy_ns(maker, &trace->devices[device]) - exposed_ns;
    const struct finding finding = {
        .rule = DETECT_HIDDEN_TRANSFERS.rule.name,
        .title = findings_words(
            maker, "GPU %lld: %.0f %% of copy time is not hidden behind kernels", id, exposed),
        .evidence = findings_keep(maker, &evidence),
        .advice = hidden_advice(maker, facts, other_ns, &sum),
        .show = findings_words(maker, "cutline analyze -r hidden_transfers --device %lld", id),
        .rank_ns = exposed_ns,
        .recoverable_ns = winnable(maker, device, exposed_ns, other_ns),
        .value = exposed,
        .begin_ns = gpu->begin_ns[sum.longest],
        .end_ns = gpu->end_ns[sum.longest],
        .device = device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &finding);
    buf_free(&evidence);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    for (uint32_t d = 0; d < context->trace->device_count; d++) {
        if (detector_keeps(context, d)) {
            hidden_finding(maker, data, d);
        }
    }
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_HIDDEN_TRANSFERS = {
    .rule = {.name = "hidden_transfers",
             .title = "Hidden Transfers",
             .kind = REPORT_RULE,
             .help = "the share of copy time that is hidden behind kernels of the same device",
             .advice = "Copy while kernels run: pinned memory, cudaMemcpyAsync on a second stream, "
                       "prefetching.",
             .missing = "GPU memory data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = transfers_any,
    .find = find,
    .drop = transfers_drop,
    .note = note,
    .finding = finding,
};
