/*
 * failed_calls: CUDA calls that failed. What failed explains what is missing, so its findings come
 * before all others.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/utf8.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/facts/failures.h"

static const struct report_arg ARGS[] = {{0}};

static const struct table_column COLUMNS[] = {
    {"Failed", TABLE_INT, 0}, {"Calls", TABLE_INT, 0},  {"First (ns)", TABLE_INT, 0},
    {"Status", TABLE_INT, 0}, {"Error", TABLE_TEXT, 0}, {"Bytes", TABLE_INT, 0},
    {"Call", TABLE_TEXT, 0},
};

static bool has_calls(const struct trace *trace)
{
    return trace->events[TRACE_API].count > 0;
}

static void drop(void *data)
{
    failures_free(data);
    free(data);
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    struct failures *found = calloc(1, sizeof *found);
    if (found == NULL) {
        return err_nomem(err, "the failed calls");
    }
    out->data = found;
    int rc = failures_new(context->trace, shared_store(context->shared, NULL), found, err);
    out->count = found->count;
    return rc;
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct failures *found = data;
    const struct failure *failure = &found->list[i];
    const struct trace_name *name = &trace->names[failure->name];
    const char *error = failures_code_name(failure->code, name->brief);
    table_put_int(table, failure->count);
    table_put_int(table, failure->calls);
    table_put_int(table, trace->events[TRACE_API].begin_ns[failure->first]);
    table_put_int(table, failure->code);
    rules_put_text(table, error);
    rules_put_known(table, failure->bytes);
    table_put_text(table, name->brief, name->brief_len);
}

static void add(struct findings_maker *maker, const struct failures *failures,
                const struct failure *failure)
{
    const struct trace *trace = maker->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    struct buf title = {0};
    struct buf evidence = {0};
    failures_put(&title, trace, failure);
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_API, failure->first)];
    buf_addf(&evidence, "first at %.6f s, thread %" PRId64,
             (double)api->begin_ns[failure->first] / 1e9, trace->threads[lane->thread].tid);
    if (failure->is_sticky && failures->after_sticky > 0) {
        buf_addf(&evidence,
                 "; the context is lost: %" PRIu32 " failed calls after it follow from it",
                 failures->after_sticky);
    } else if (failure->is_work && failures->work_failed == failures->work_calls) {
        buf_addf(&evidence, "; no call of this capture put work on a GPU");
    }
    if (failure->code == FAILURE_OUT_OF_MEMORY && failure->bytes < 0) {
        buf_adds(&evidence, "; how much was asked for is not in the capture "
                            "(--cuda-memory-usage=true records it)");
    }
    const char *advice = failures_advice(failure->code);
    const struct finding one = {
        .rule = DETECT_FAILED_CALLS.rule.name,
        .title = findings_keep(maker, &title),
        .evidence = findings_keep(maker, &evidence),
        .advice = advice != NULL ? advice : DETECT_FAILED_CALLS.rule.advice,
        .show = "cutline analyze -r failed_calls",
        .is_first = true,
        .recoverable_ns = -1,
        .value = failure->count,
        .begin_ns = api->begin_ns[failure->first],
        .end_ns = api->end_ns[failure->first],
        .device = TRACE_NONE,
        .thread = lane->thread,
    };
    findings_add(maker, &one);
    buf_free(&title);
    buf_free(&evidence);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    (void)context;
    const struct failures *failures = data;
    for (size_t i = 0; i < failures->count; i++) {
        add(maker, failures, &failures->list[i]);
    }
    return 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_FAILED_CALLS = {
    .rule = {.name = "failed_calls",
             .title = "Failed Calls",
             .kind = REPORT_RULE,
             .help = "CUDA calls that failed, with the name of their status",
             .advice = "Check the status of every CUDA call where it is made.",
             .missing = "CUDA API data",
             .args = ARGS,
             .kinds = 1U << TRACE_API_CALL,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = has_calls,
    .find = find,
    .drop = drop,
    .finding = finding,
};
