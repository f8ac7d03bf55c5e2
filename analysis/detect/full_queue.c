/*
 * full_queue: launching calls that are long because about 1,024 launches are queued, so that each has
 * to wait for one to end. The device is busy then: launching is not what is slow.
 *
 * A call counts if it takes LONG_TIMES the median of the launching calls of its thread or more, and
 * QUEUE_FULL launches of its process on its device were queued as it began (facts/queue.h): an
 * ordinary launch varies by a factor of two or three, one that waits for a kernel is another thing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/facts/queue.h"

enum {
    LONG_TIMES = 4,
    LANES_MAX =
        256, /* streams of a device: what is spread over more is not one queue, and is not counted */
    SAMPLES = 4096, /* calls of a thread that its median is of, spread over all */
};

static const struct report_arg ARGS[] = {DETECTOR_TIME_ARGS, {0}};

static const struct table_column COLUMNS[] = {
    {"Calls", TABLE_INT, 0},       {"Total Time", TABLE_TIME, 0},
    {"Longest", TABLE_TIME, 0},    {"Usual Call", TABLE_TIME, 0},
    {"Most Queued", TABLE_INT, 0}, {"GPU busy (%)", TABLE_PERCENT, 0},
    {"PID", TABLE_INT, 0},         {"TID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},
};

/* The long calls of one thread on one device. */
struct held {
    uint32_t thread;
    uint32_t device;
    uint32_t calls;
    uint32_t most; /* queued */
    int64_t total_ns;
    int64_t longest_ns;
    uint32_t longest; /* API index */
    int64_t usual_ns;
    int64_t begin_ns; /* of the first, end of the last */
    int64_t end_ns;
    int64_t busy_ns; /* the device, meanwhile */
};

struct found {
    struct held *list; /* owned */
    size_t count;
    size_t cap;
};

static void drop(void *data)
{
    struct found *found = data;
    free(found->list);
    free(found);
}

static bool is_launch(const struct trace *trace, uint32_t api)
{
    return (trace->names[trace->events[TRACE_API].name[api]].api & TRACE_API_LAUNCH) != 0 &&
           trace->events[TRACE_API].link[api] != TRACE_NONE;
}

/* The median launching call of a lane, of some that are spread over it; 0: none. */
static int64_t usual_ns(const struct trace *trace, const struct trace_lane *lane, int64_t *times_ns)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t step = lane->count / SAMPLES + 1;
    size_t count = 0;
    for (uint32_t i = 0; i < lane->count && count < SAMPLES; i += step) {
        if (is_launch(trace, lane->first + i)) {
            times_ns[count++] = api->end_ns[lane->first + i] - api->begin_ns[lane->first + i];
        }
    }
    if (count == 0) {
        return 0;
    }
    sort_i64(times_ns, count);
    return times_ns[count / 4]; /* most may wait: the quicker ones are the usual */
}

static struct held *held_of(struct found *found, uint32_t thread, uint32_t device)
{
    for (size_t i = found->count; i > 0; i--) {
        if (found->list[i - 1].thread == thread && found->list[i - 1].device == device) {
            return &found->list[i - 1];
        }
        if (found->list[i - 1].thread != thread) {
            break;
        }
    }
    struct held *list = array_grow(found->list, &found->cap, found->count + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    found->list = list;
    list[found->count] = (struct held){.thread = thread, .device = device, .begin_ns = INT64_MAX};
    return &list[found->count++];
}

/* The op of a call, where it could be held up: it began after the call returned. */
static uint32_t queued_op(const struct trace *trace, uint32_t api)
{
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(trace, api, &count);
    bool is_queued = count > 0 && trace->events[TRACE_GPU].begin_ns[ops[0]] >
                                      trace->events[TRACE_API].end_ns[api];
    return is_queued ? ops[0] : TRACE_NONE;
}

static int add_call(const struct trace *trace, const struct trace_lane *lane, uint32_t api,
                    int64_t usual, struct found *found)
{
    const struct trace_events *calls = &trace->events[TRACE_API];
    int64_t ns = calls->end_ns[api] - calls->begin_ns[api];
    uint32_t op =
        ns / LONG_TIMES >= usual && is_launch(trace, api) ? queued_op(trace, api) : TRACE_NONE;
    if (op == TRACE_NONE) {
        return 0;
    }
    const struct trace_lane *on = &trace->lanes[trace_lane_of(trace, TRACE_GPU, op)];
    if (trace->devices[on->device].lane_count > LANES_MAX) {
        return 0;
    }
    uint32_t depth = queue_depth(trace, on->process, on->device, calls->begin_ns[api]);
    if (depth < QUEUE_FULL) {
        return 0;
    }
    struct held *held = held_of(found, lane->thread, on->device);
    if (held == NULL) {
        return -1;
    }
    held->calls++;
    held->total_ns += ns;
    held->usual_ns = usual;
    held->most = depth > held->most ? depth : held->most;
    if (ns > held->longest_ns) {
        held->longest_ns = ns;
        held->longest = api;
    }
    held->begin_ns = calls->begin_ns[api] < held->begin_ns ? calls->begin_ns[api] : held->begin_ns;
    held->end_ns = calls->end_ns[api] > held->end_ns ? calls->end_ns[api] : held->end_ns;
    return 0;
}

static int find_calls(const struct report_context *context, struct found *found)
{
    const struct trace *trace = context->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct selection *select = context->select;
    int64_t *times_ns = malloc(SAMPLES * sizeof *times_ns);
    int rc = times_ns == NULL ? -1 : 0;
    for (uint32_t l = 0; rc == 0 && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->kind != TRACE_LANE_API || lane->count < QUEUE_FULL) {
            continue;
        }
        int64_t usual = usual_ns(trace, lane, times_ns);
        for (uint32_t i = lane->first; rc == 0 && usual > 0 && i < lane->first + lane->count; i++) {
            if (select_time(select, api->begin_ns[i], api->end_ns[i])) {
                rc = add_call(trace, lane, i, usual, found);
            }
        }
    }
    free(times_ns);
    return rc;
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    const struct facts *facts = shared_facts(context->shared, err);
    struct found *found = facts != NULL ? calloc(1, sizeof *found) : NULL;
    if (found == NULL) {
        return err_nomem(err, "the launching calls");
    }
    out->data = found;
    if (find_calls(context, found) != 0) {
        return err_nomem(err, "the launching calls");
    }
    for (size_t i = 0; i < found->count; i++) {
        struct held *held = &found->list[i];
        held->busy_ns = facts_busy_ns(facts, held->device, held->begin_ns, held->end_ns);
    }
    out->count = found->count;
    return 0;
}

static bool kept(const struct report_context *context, const struct held *held)
{
    const struct selection *select = context->select;
    return detector_keeps(context, held->device) &&
           (select->process == TRACE_NONE ||
            context->trace->threads[held->thread].process == select->process);
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct found *found = data;
    const struct held *held = &found->list[i];
    if (!kept(context, held)) {
        return;
    }
    table_put_int(table, held->calls);
    table_put_int(table, held->total_ns);
    table_put_int(table, held->longest_ns);
    table_put_int(table, held->usual_ns);
    table_put_int(table, held->most);
    rules_put_percent(table, held->busy_ns, held->end_ns - held->begin_ns);
    rules_put_pid(table, trace, trace->threads[held->thread].process);
    table_put_int(table, trace->threads[held->thread].tid);
    table_put_int(table, trace->devices[held->device].id);
}

static void add(struct findings_maker *maker, const struct held *held)
{
    const struct trace *trace = maker->trace;
    char total[TIMEFMT_BYTES];
    char usual[TIMEFMT_BYTES];
    char longest[TIMEFMT_BYTES];
    long long device = (long long)trace->devices[held->device].id;
    const struct finding one = {
        .rule = DETECT_FULL_QUEUE.rule.name,
        .title =
            findings_words(maker, "GPU %lld: %" PRIu32 " launch calls wait for room in the queue",
                           device, held->calls),
        .evidence = findings_words(
            maker,
            "thread %" PRId64 " is in them for %s, longest %s, usual ones take %s; up to %" PRIu32
            " launches were queued, and the device was busy for %.1f %% of the time from the first "
            "to the last",
            trace->threads[held->thread].tid, timefmt_duration(held->total_ns, total),
            timefmt_duration(held->longest_ns, longest), timefmt_duration(held->usual_ns, usual),
            held->most, findings_percent(held->busy_ns, held->end_ns - held->begin_ns)),
        .advice = DETECT_FULL_QUEUE.rule.advice,
        .show = findings_words(maker, "cutline analyze -r full_queue --device %lld", device),
        .recoverable_ns = -1,
        .value = held->calls,
        .begin_ns = trace->events[TRACE_API].begin_ns[held->longest],
        .end_ns = trace->events[TRACE_API].end_ns[held->longest],
        .device = held->device,
        .thread = held->thread,
    };
    findings_add(maker, &one);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct found *found = data;
    for (size_t i = 0; i < found->count; i++) {
        if (kept(context, &found->list[i])) {
            add(maker, &found->list[i]);
        }
    }
    return 0;
}

static bool has_data(const struct trace *trace)
{
    return trace->launch_op_count > 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_FULL_QUEUE = {
    .rule = {.name = "full_queue",
             .title = "Full Queue",
             .kind = REPORT_RULE,
             .help = "launching calls that are long because about 1,024 launches are queued",
             .advice =
                 "Launching is not slow: about 1,024 launches are queued, and each call waits "
                 "for one to end. The thread has time for other work.",
             .missing = "kernel launches",
             .args = ARGS,
             .kinds = RULES_OPS | 1U << TRACE_API_CALL,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .has_data = has_data,
    .find = find,
    .drop = drop,
    .finding = finding,
};
