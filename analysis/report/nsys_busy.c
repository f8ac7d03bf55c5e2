/*
 * nsys_busy: gpu_gaps and gpu_time_util of `nsys analyze`: times in which a process leaves a
 * device without work. Graph launches count as work here; in nsys a capture at graph level looks
 * idle.
 *
 * Busy are all ops of all contexts and streams of one process on one device; for gaps also the
 * profiling overhead of that process between its first and its last op.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/report/common.h"
#include "analysis/report/nsys_rules.h"
#include "analysis/report/report_list.h"

/* One busy interval. */
struct busy_op {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t context; /* -1: profiling overhead */
};

/* The work of one process on one device, by begin. */
struct busy_work {
    struct trace_slice lanes; /* of the process on the device */
    uint32_t process;
    int64_t device_id;
    int64_t pid;
    struct busy_op *ops; /* owned */
    size_t count;
    int64_t begin_ns; /* of the ops alone, without overhead */
    int64_t end_ns;
};

static int busy_op_compare(const void *left, const void *right, const void *arg)
{
    (void)arg;
    const struct busy_op *a = left;
    const struct busy_op *b = right;
    if (a->begin_ns != b->begin_ns) {
        return COMPARE(a->begin_ns, b->begin_ns);
    }
    return COMPARE(a->end_ns, b->end_ns);
}

/* Is the lane, of those of the process on the device, of that number of the device? */
static bool busy_is_work_lane(const struct report_context *c, const struct trace_lane *lane,
                              const struct busy_work *work)
{
    return lane->device_id == work->device_id && select_lane(c->trace, c->select, lane);
}

static void busy_work_ops(const struct report_context *c, struct busy_work *work)
{
    const struct trace *trace = c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    for (uint32_t lane = work->lanes.first; lane < work->lanes.end; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (!busy_is_work_lane(c, l, work)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            if (kit_event(c, TRACE_GPU, i, KIT_BUSY)) {
                work->ops[work->count++] =
                    (struct busy_op){gpu->begin_ns[i], gpu->end_ns[i], l->context_id};
            }
        }
    }
    work->begin_ns = INT64_MAX;
    work->end_ns = INT64_MIN;
    for (uint32_t lane = 0; lane < work->count; lane++) {
        const struct busy_op *op = &work->ops[lane];
        work->begin_ns = op->begin_ns < work->begin_ns ? op->begin_ns : work->begin_ns;
        work->end_ns = op->end_ns > work->end_ns ? op->end_ns : work->end_ns;
    }
}

/* Profiling overhead of the process that lies within its work. */
static void busy_work_overhead(const struct report_context *c, struct busy_work *work)
{
    const struct trace *trace = c->trace;
    const struct trace_events *events = &trace->events[TRACE_OVERHEAD];
    struct trace_slice lanes = trace_process_lanes(trace, work->process);
    for (uint32_t lane = lanes.first; lane < lanes.end; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (l->table != TRACE_OVERHEAD) {
            continue;
        }
        uint32_t end = l->first + l->count;
        uint32_t i = l->first;
        BISECT(uint32_t, i, end, mid, events->begin_ns[mid] < work->begin_ns)
        for (; i < end && events->begin_ns[i] <= work->end_ns; i++) {
            if (trace->names[events->name[i]].kind == TRACE_OVERHEAD_PROFILER &&
                events->end_ns[i] <= work->end_ns) {
                work->ops[work->count++] =
                    (struct busy_op){events->begin_ns[i], events->end_ns[i], -1};
            }
        }
    }
}

/* Profiling overhead of a process, at most: the room that it takes. */
static size_t busy_overhead_most(const struct trace *trace, uint32_t process)
{
    struct trace_slice lanes = trace_process_lanes(trace, process);
    size_t most = 0;
    for (uint32_t lane = lanes.first; lane < lanes.end; lane++) {
        most += trace->lanes[lane].table == TRACE_OVERHEAD ? trace->lanes[lane].count : 0;
    }
    return most;
}

/* The work of the process and device of GPU lane `lane`, of the lanes of both; count 0 where an
 * earlier lane was of the same. 0 or -1. */
static int busy_work_new(const struct report_context *c, struct trace_slice lanes, uint32_t lane,
                         bool overhead, struct busy_work *out, struct err *err)
{
    const struct trace *trace = c->trace;
    const struct trace_lane *l = &trace->lanes[lane];
    size_t most = busy_overhead_most(trace, l->process) + 1;
    *out = (struct busy_work){.lanes = lanes,
                              .process = l->process,
                              .device_id = l->device_id,
                              .pid = trace->processes[l->process].pid};
    for (uint32_t other = lanes.first; other < lanes.end; other++) {
        if (busy_is_work_lane(c, &trace->lanes[other], out)) {
            if (other < lane) {
                return 0;
            }
            most += trace->lanes[other].count;
        }
    }
    out->ops = malloc(most * sizeof *out->ops);
    if (out->ops == NULL) {
        return err_nomem(err, "the work of a device");
    }
    busy_work_ops(c, out);
    if (out->count > 0 && overhead) {
        busy_work_overhead(c, out);
    }
    /* The lanes come one after the other, each in order. */
    return sort_runs(out->ops, out->count, sizeof *out->ops, busy_op_compare, NULL) != 0
               ? err_nomem(err, "the work of a device")
               : 0;
}

typedef void busy_visit_fn(const struct report_context *c, const struct busy_work *work,
                           struct table *table);

/* Visits the devices of the process on the lanes, which are of one device of the trace. */
static int busy_lanes(const struct report_context *c, struct trace_slice lanes, bool overhead,
                      busy_visit_fn *visit, struct table *table, struct err *err)
{
    for (uint32_t lane = lanes.first; lane < lanes.end; lane++) {
        struct busy_work work;
        if (!select_lane(c->trace, c->select, &c->trace->lanes[lane])) {
            continue;
        }
        int rc = busy_work_new(c, lanes, lane, overhead, &work, err);
        if (rc == 0 && work.count > 0) {
            visit(c, &work, table);
        }
        free(work.ops);
        if (rc != 0) {
            return -1;
        }
    }
    return 0;
}

/* Visits each process and device: their lanes follow each other. 0 or -1. */
static int busy_each(const struct report_context *c, bool overhead, busy_visit_fn *visit,
                     struct table *table, struct err *err)
{
    const struct trace_lane *lanes = c->trace->lanes;
    struct trace_slice slice = {0, 0};
    while (slice.end < c->trace->lane_count && lanes[slice.end].table == TRACE_GPU) {
        slice.first = slice.end;
        do {
            slice.end++;
        } while (slice.end < c->trace->lane_count && lanes[slice.end].table == TRACE_GPU &&
                 lanes[slice.end].device == lanes[slice.first].device &&
                 lanes[slice.end].process == lanes[slice.first].process);
        if (busy_lanes(c, slice, overhead, visit, table, err) != 0) {
            return -1;
        }
    }
    return 0;
}

enum gaps_arg {
    GAPS_ARG_ROWS,
    GAPS_ARG_START,
    GAPS_ARG_END,
    GAPS_ARG_NVTX,
    GAPS_ARG_GAP,
};

static const struct report_arg GAPS_ARGS[] = {
    RULES_COMMON_ARGS,
    {"gap", REPORT_ARG_TIME, 1000000, "500ms",
     "list gaps longer than this; a bare number is in ms"},
    {0},
};

enum gaps_column {
    GAPS_ROW,
    GAPS_DURATION,
    GAPS_START,
    GAPS_PID,
    GAPS_DEVICE,
    GAPS_CONTEXT,
};

static const struct table_column GAPS_COLUMNS[] = {
    [GAPS_ROW] = {"Row#", TABLE_INT, 0},         [GAPS_DURATION] = {"Duration", TABLE_TIME, 0},
    [GAPS_START] = {"Start", TABLE_TIME, 0},     [GAPS_PID] = {"PID", TABLE_INT, 0},
    [GAPS_DEVICE] = {"Device ID", TABLE_INT, 0}, [GAPS_CONTEXT] = {"Context ID", TABLE_INT, 0},
};

/* Sweep: the union grows op by op; where the next op begins after its end, there is a gap. */
static void gaps_visit(const struct report_context *c, const struct busy_work *work,
                       struct table *table)
{
    int64_t end_ns = work->ops[0].end_ns;
    int64_t context = work->ops[0].context;
    for (size_t i = 1; i < work->count; i++) {
        const struct busy_op *op = &work->ops[i];
        int64_t gap = op->begin_ns - end_ns;
        if (gap > 0 && gap > c->args[GAPS_ARG_GAP].i) {
            table_put_empty(table); /* numbered when all are sorted */
            table_put_int(table, gap);
            table_put_int(table, end_ns);
            table_put_int(table, work->pid);
            table_put_int(table, work->device_id);
            if (context < 0) {
                table_put_empty(table);
            } else {
                table_put_int(table, context);
            }
        }
        if (op->end_ns >= end_ns) {
            end_ns = op->end_ns;
            context = op->context >= 0 ? op->context : context;
        }
    }
}

static int gaps_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct table *table = TABLE_NEW(REPORT_RULE_GPU_GAPS.title, GAPS_COLUMNS);
    out->status = c->trace->device_count > 0 ? REPORT_ROWS : REPORT_MISSING;
    if (table == NULL || busy_each(c, true, gaps_visit, table, err) != 0) {
        table_free(table);
        return -1;
    }
    table_sort(table, GAPS_START, false);
    table_sort(table, GAPS_DURATION, true);
    rules_sum(table, GAPS_DURATION, GAPS_START, &out->sum);
    rules_limit(table, &c->args[GAPS_ARG_ROWS], &out->note);
    table_number_rows(table, GAPS_ROW);
    out->table = table;
    return 0;
}

const struct report REPORT_RULE_GPU_GAPS = {
    .name = "gpu_gaps",
    .title = "GPU Gaps",
    .kind = REPORT_RULE,
    .help = "times in which a process leaves a device without any work",
    .advice =
        "Find what the CPU does in the gap: idle_gaps names the cause of each; NVTX ranges and "
        "OS runtime data make it clearer.",
    .missing = "GPU trace data",
    .args = GAPS_ARGS,
    .run = gaps_run,
};

enum util_arg {
    UTIL_ARG_ROWS,
    UTIL_ARG_START,
    UTIL_ARG_END,
    UTIL_ARG_NVTX,
    UTIL_ARG_THRESHOLD,
    UTIL_ARG_CHUNKS,
};

static const struct report_arg UTIL_ARGS[] = {
    RULES_COMMON_ARGS,
    {"threshold", REPORT_ARG_REAL, 0, "50",
     "list times in which less than this percentage is in use"},
    {"chunks", REPORT_ARG_INT, 0, "30", "equal parts that the time is cut into, 1 to 1000"},
    {0},
};

enum util_column {
    UTIL_ROW,
    UTIL_IN_USE, /* nsys's number: the sum over all streams, above 100 % where they overlap */
    UTIL_UNION,
    UTIL_DURATION,
    UTIL_START,
    UTIL_PID,
    UTIL_DEVICE,
    UTIL_CONTEXT,
};

static const struct table_column UTIL_COLUMNS[] = {
    [UTIL_ROW] = {"Row#", TABLE_INT, 0},
    [UTIL_IN_USE] = {"In-Use (%)", TABLE_PERCENT, 0},
    [UTIL_UNION] = {"Union (%)", TABLE_PERCENT, 0},
    [UTIL_DURATION] = {"Duration", TABLE_TIME, 0},
    [UTIL_START] = {"Start", TABLE_TIME, 0},
    [UTIL_PID] = {"PID", TABLE_INT, 0},
    [UTIL_DEVICE] = {"Device ID", TABLE_INT, 0},
    [UTIL_CONTEXT] = {"Context ID", TABLE_INT, 0},
};

enum {
    UTIL_CHUNKS_MAX = 1000
};

struct util_chunks {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t chunk_ns;
    size_t count;
    int64_t *sum_ns; /* owned: of all ops */
    int64_t *union_ns; /* owned: of their union */
};

/* Adds the part of [begin, end) in each chunk. O(chunks touched). */
static void util_spread(const struct util_chunks *chunks, int64_t *into, int64_t begin_ns,
                        int64_t end_ns)
{
    int64_t at = begin_ns > chunks->begin_ns ? begin_ns : chunks->begin_ns;
    int64_t stop = end_ns < chunks->end_ns ? end_ns : chunks->end_ns;
    while (at < stop) {
        int64_t k = (at - chunks->begin_ns) / chunks->chunk_ns;
        int64_t next = chunks->begin_ns + (k + 1) * chunks->chunk_ns;
        int64_t here = next < stop ? next : stop;
        into[k] += here - at;
        at = here;
    }
}

static void util_measure(const struct busy_work *work, struct util_chunks *chunks)
{
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < work->count; i++) {
        const struct busy_op *op = &work->ops[i];
        util_spread(chunks, chunks->sum_ns, op->begin_ns, op->end_ns);
        util_spread(chunks, chunks->union_ns, op->begin_ns > end_ns ? op->begin_ns : end_ns,
                    op->end_ns);
        end_ns = op->end_ns > end_ns ? op->end_ns : end_ns;
    }
}

/* Puts the run of chunks [first, last). */
static void util_put(const struct busy_work *work, const struct util_chunks *chunks, size_t first,
                     size_t last, struct table *table)
{
    int64_t begin = chunks->begin_ns + (int64_t)first * chunks->chunk_ns;
    int64_t end = chunks->begin_ns + (int64_t)last * chunks->chunk_ns;
    int64_t sum = 0;
    int64_t all = 0;
    end = end < chunks->end_ns ? end : chunks->end_ns;
    for (size_t k = first; k < last; k++) {
        sum += chunks->sum_ns[k];
        all += chunks->union_ns[k];
    }
    table_put_empty(table); /* numbered when all are sorted */
    table_put_real(table, 100.0 * (double)sum / (double)(end - begin));
    table_put_real(table, 100.0 * (double)all / (double)(end - begin));
    table_put_int(table, end - begin);
    table_put_int(table, begin);
    table_put_int(table, work->pid);
    table_put_int(table, work->device_id);
    table_put_int(table, work->ops[0].context);
}

/* Chunks below the threshold, neighbours as one row. */
static void util_list(const struct report_context *c, const struct busy_work *work,
                      const struct util_chunks *chunks, struct table *table)
{
    size_t first = 0;
    for (size_t k = 0; k <= chunks->count; k++) {
        bool low = false;
        if (k < chunks->count) {
            int64_t begin = chunks->begin_ns + (int64_t)k * chunks->chunk_ns;
            int64_t end = begin + chunks->chunk_ns;
            end = end < chunks->end_ns ? end : chunks->end_ns;
            low = 100.0 * (double)chunks->sum_ns[k] <
                  c->args[UTIL_ARG_THRESHOLD].real * (double)(end - begin);
        }
        if (!low) {
            if (k > first) {
                util_put(work, chunks, first, k, table);
            }
            first = k + 1;
        }
    }
}

static void util_visit(const struct report_context *c, const struct busy_work *work,
                       struct table *table)
{
    int64_t parts = c->args[UTIL_ARG_CHUNKS].i;
    struct util_chunks chunks = {.begin_ns = work->begin_ns, .end_ns = work->end_ns};
    int64_t span = chunks.end_ns - chunks.begin_ns;
    if (span <= 0) {
        return;
    }
    chunks.chunk_ns = (span + parts - 1) / parts;
    chunks.count = (size_t)((span + chunks.chunk_ns - 1) / chunks.chunk_ns);
    chunks.sum_ns = calloc(chunks.count + 1, sizeof *chunks.sum_ns);
    chunks.union_ns = calloc(chunks.count + 1, sizeof *chunks.union_ns);
    if (chunks.sum_ns != NULL && chunks.union_ns != NULL) {
        util_measure(work, &chunks);
        util_list(c, work, &chunks, table);
    }
    free(chunks.sum_ns);
    free(chunks.union_ns);
}

static int util_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    int64_t parts = c->args[UTIL_ARG_CHUNKS].i;
    if (parts < 1 || parts > UTIL_CHUNKS_MAX) {
        return err_set(err, "chunks=%lld: give a number from 1 to %d", (long long)parts,
                       UTIL_CHUNKS_MAX);
    }
    struct table *table = TABLE_NEW(REPORT_RULE_GPU_TIME_UTIL.title, UTIL_COLUMNS);
    out->status = c->trace->device_count > 0 ? REPORT_ROWS : REPORT_MISSING;
    if (table == NULL || busy_each(c, false, util_visit, table, err) != 0) {
        table_free(table);
        return -1;
    }
    table_sort(table, UTIL_DURATION, true);
    table_sort(table, UTIL_IN_USE, false);
    rules_sum(table, UTIL_DURATION, UTIL_START, &out->sum);
    rules_limit(table, &c->args[UTIL_ARG_ROWS], &out->note);
    table_number_rows(table, UTIL_ROW);
    out->table = table;
    return 0;
}

const struct report REPORT_RULE_GPU_TIME_UTIL = {
    .name = "gpu_time_util",
    .title = "GPU Time Utilization",
    .kind = REPORT_RULE,
    .help = "times in which a process uses a device little",
    .advice = "Give the device more work at once, or make what the CPU does in between shorter: "
              "idle_gaps and launch_density say which.",
    .missing = "GPU trace data",
    .args = UTIL_ARGS,
    .run = util_run,
};
