/*
 * unified_memory: pages of managed memory that the driver moved between host and device because one
 * of them touched what lay with the other. Page migrations have no launching call (CUDA C++
 * Programming Guide, "Unified Memory Programming").
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/detect/transfers.h"

static const struct report_arg ARGS[] = {DETECTOR_TIME_ARGS, {0}};

static const struct table_column COLUMNS[] = {
    {"Count", TABLE_INT, 0},      {"Total Bytes", TABLE_INT, 0},   {"Total Time", TABLE_TIME, 0},
    {"Avg", TABLE_TIME_1, 0},     {"Exposed Time", TABLE_TIME, 0}, {"PID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},  {"Src Kind", TABLE_TEXT, 0},     {"Dst Kind", TABLE_TEXT, 0},
    {"Operation", TABLE_TEXT, 0},
};

static bool has_migrations(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (trace->names[i].kind == TRACE_MIGRATION) {
            return true;
        }
    }
    return false;
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    return transfers_detect(context, INT64_MAX, out, err);
}

static bool kept(const struct report_context *context, const struct transfer *one)
{
    return context->trace->names[one->name].kind == TRACE_MIGRATION && transfers_kept(context, one);
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct transfers *found = data;
    const struct transfer *one = &found->list[i];
    if (!kept(context, one)) {
        return;
    }
    table_put_int(table, one->count);
    rules_put_known(table, one->bytes);
    table_put_int(table, one->total_ns);
    table_put_real(table, (double)one->total_ns / (double)one->count);
    table_put_int(table, one->total_ns - one->hidden_ns);
    transfers_put_place(table, context->trace, one);
    rules_put_op(table, context->trace, one->longest);
}

/* "HtoD 52.4 MB in 300 migrations" for each direction. */
static const char *directions(struct findings_maker *maker, const struct report_context *context,
                              const struct transfers *found, uint32_t device)
{
    struct buf text = {0};
    uint32_t count;
    const uint32_t *order = transfers_of(found, device, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct transfer *one = &found->list[order[i]];
        char bytes[TIMEFMT_BYTES];
        char time[TIMEFMT_BYTES];
        if (!kept(context, one)) {
            continue;
        }
        buf_addf(&text, "%s%s: %" PRIu32 " migrations, ", text.len > 0 ? "; " : "",
                 maker->trace->names[one->name].brief, one->count);
        if (one->bytes >= 0) {
            buf_addf(&text, "%s, ", timefmt_bytes(one->bytes, bytes));
        }
        buf_addf(&text, "%s", timefmt_duration(one->total_ns, time));
    }
    const char *kept_text = findings_keep(maker, &text);
    buf_free(&text);
    return kept_text;
}

static void add(struct findings_maker *maker, const struct report_context *context,
                const struct transfers *found, uint32_t device)
{
    const struct trace *trace = maker->trace;
    struct transfer sum = {.longest = TRACE_NONE};
    int64_t bytes = 0;
    uint32_t count;
    const uint32_t *order = transfers_of(found, device, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct transfer *one = &found->list[order[i]];
        if (!kept(context, one)) {
            continue;
        }
        sum.count += one->count;
        sum.total_ns += one->total_ns;
        sum.hidden_ns += one->hidden_ns;
        bytes = i64_add(bytes, one->bytes > 0 ? one->bytes : 0);
        if (sum.longest == TRACE_NONE || one->longest_exposed_ns > sum.longest_exposed_ns) {
            sum.longest = one->longest;
            sum.longest_exposed_ns = one->longest_exposed_ns;
        }
    }
    if (sum.count == 0) {
        return;
    }
    char moved[TIMEFMT_BYTES];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    long long id = (long long)trace->devices[device].id;
    const struct finding one = {
        .rule = DETECT_UNIFIED_MEMORY.rule.name,
        .title = findings_words(maker, "GPU %lld: %u page migrations of unified memory, %s", id,
                                (unsigned)sum.count, timefmt_bytes(bytes, moved)),
        .evidence = directions(maker, context, found, device),
        .advice = findings_advice(maker, ADVICE_OF_MIGRATIONS, 0, TRACE_NONE),
        .show = findings_words(maker, "cutline analyze -r unified_memory --device %lld", id),
        .recoverable_ns = sum.total_ns - sum.hidden_ns,
        .value = sum.count,
        .begin_ns = gpu->begin_ns[sum.longest],
        .end_ns = gpu->end_ns[sum.longest],
        .device = device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &one);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    for (uint32_t d = 0; d < context->trace->device_count; d++) {
        if (detector_keeps(context, d)) {
            add(maker, context, data, d);
        }
    }
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_UNIFIED_MEMORY = {
    .rule = {.name = "unified_memory",
             .title = "Unified Memory Migrations",
             .kind = REPORT_RULE,
             .help = "pages of managed memory that moved between host and device on demand",
             .advice =
                 "Move the pages before they are touched (cudaMemPrefetchAsync), say where they "
                 "belong (cudaMemAdvise), or use explicit copies.",
             .missing = "unified memory data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = has_migrations,
    .find = find,
    .drop = transfers_drop,
    .finding = finding,
};
