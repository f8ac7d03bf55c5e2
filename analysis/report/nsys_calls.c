/*
 * nsys_calls: the rules of `nsys analyze` about single calls: asynchronous copies of pageable
 * memory, synchronous copies and sets, synchronisation.
 *
 * A copy is joined to the call that made it by process and correlation id (the trace's link).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/report/common.h"
#include "analysis/report/nsys_rules.h"
#include "analysis/report/report_list.h"

void rules_sum(const struct table *table, int duration, int start, struct report_sum *sum)
{
    for (size_t i = 0; i < table_rows(table); i++) {
        int64_t ns = table_cell_at(table, i, duration).i;
        sum->total_ns += ns;
        if (i == 0 || ns > sum->longest_ns) {
            sum->longest_ns = ns;
            sum->longest_begin_ns = table_cell_at(table, i, start).i;
        }
    }
}

void rules_limit(struct table *table, const struct report_value *rows, struct buf *note)
{
    size_t limit = (size_t)(rows->i < 0 ? INT64_MAX : rows->i);
    if (table_rows(table) > limit) {
        char number[TIMEFMT_BYTES];
        char all[TIMEFMT_BYTES];
        buf_addf(note, "The top %s of %s results are displayed; rows=-1 shows all.\n",
                 timefmt_count((int64_t)limit, number),
                 timefmt_count((int64_t)table_rows(table), all));
        table_truncate(table, limit);
    }
}

enum {
    RULE_PAGEABLE = 0,
    RULE_PINNED = 1,
    RULE_MANAGED = 4,
    RULE_HTOD = 1,
    RULE_DTOD = 8,
    RULE_SMALL_BYTES = 64 * 1024, /* a copy of up to 64 KB to the device does not block */
};

/* The part of a copy or set that is in the file. */
struct rule_copy {
    int64_t bytes;
    int64_t green;
    int src; /* memory kinds; -1 unknown */
    int dst;
    bool read;
};

/* The work of one rule. */
struct rule_copies {
    const struct report_context *c;
    struct selected events;
    struct rule_copy *copies; /* parallel to events */
    struct store *store; /* shared */
};

static void rule_copy_row(void *arg, size_t k, struct store_cursor *row)
{
    struct rule_copies *work = arg;
    work->copies[k] = (struct rule_copy){.bytes = store_int(row, 0, 0),
                                         .src = (int)store_int(row, 1, -1),
                                         .dst = (int)store_int(row, 2, -1),
                                         .green = store_int(row, 3, 0),
                                         .read = true};
}

static void rule_copies_free(struct rule_copies *work)
{
    selected_free(&work->events);
    free(work->copies);
}

/* Reads the copies (or sets) that are kept. On -1 the caller frees as well. */
static int rule_copies_new(const struct report_context *c, enum trace_kind kind,
                           struct rule_copies *out, struct err *err)
{
    static const char *const COPY[] = {"bytes", "srcKind", "dstKind", "greenContextId"};
    static const char *const SET[] = {"bytes", "memKind", "memKind", "greenContextId"};
    struct rows_query rows = {.table = TRACE_GPU,
                              .kinds = 1U << kind,
                              .columns = kind == TRACE_MEMSET ? SET : COPY,
                              .column_count = 4,
                              .visit = rule_copy_row,
                              .arg = out};
    *out = (struct rule_copies){.c = c};
    if (selected_new(c->trace, c->select, TRACE_GPU, 1U << kind, &out->events, err) != 0) {
        return -1;
    }
    out->copies = calloc(out->events.count + 1, sizeof *out->copies);
    if (out->copies == NULL) {
        return err_nomem(err, "the copies");
    }
    if (out->events.count == 0) {
        return 0;
    }
    out->store = shared_store(c->shared, err);
    return out->store == NULL
               ? -1
               : rows_visit(c->trace, out->store, out->events.list, out->events.count, &rows, err);
}

/* The name of the call that made op k, "" where the file has none. */
static struct kit_text rule_call(const struct rule_copies *work, size_t k)
{
    const struct trace *trace = work->c->trace;
    uint32_t link = trace->events[TRACE_GPU].link[work->events.list[k]];
    if (link == TRACE_NONE) {
        return (struct kit_text){"", 0};
    }
    return kit_api(trace, trace->events[TRACE_API].name[link]);
}

static bool rule_begins(struct kit_text text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.text, with, len) == 0;
}

static bool rule_is_async(struct kit_text text)
{
    for (size_t i = 0; i + 5 <= text.len; i++) {
        if (memcmp(text.text + i, "Async", 5) == 0) {
            return true;
        }
    }
    return false;
}

static void rule_put_kind(const struct rule_copies *work, struct table *table, int kind)
{
    const char *label = kind < 0 ? NULL : store_enum_label(work->store, STORE_ENUM_MEM_KIND, kind);
    if (label == NULL) {
        table_put_empty(table);
    } else {
        kit_put(table, label);
    }
}

/* Duration, start, kinds, bytes and where: one row. */
static void rule_put_copy(const struct rule_copies *work, struct table *table, size_t k, bool set)
{
    const struct trace *trace = work->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t i = work->events.list[k];
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_GPU, i)];
    const struct rule_copy *copy = &work->copies[k];
    table_put_int(table, gpu->end_ns[i] - gpu->begin_ns[i]);
    table_put_int(table, gpu->begin_ns[i]);
    rule_put_kind(work, table, copy->src);
    if (!set) {
        rule_put_kind(work, table, copy->dst);
    }
    table_put_int(table, copy->bytes);
    table_put_int(table, trace->processes[lane->process].pid);
    table_put_int(table, lane->device_id);
    table_put_int(table, lane->context_id);
    if (copy->green == 0) {
        table_put_empty(table);
    } else {
        table_put_int(table, copy->green);
    }
    table_put_int(table, lane->stream_id);
    kit_put_text(table, rule_call(work, k));
}

static const struct report_arg RULE_ARGS[] = {RULES_COMMON_ARGS, {0}};

/* The first columns of all rules here. */
enum {
    COLUMN_DURATION,
    COLUMN_START,
};

static const struct table_column COPY_COLUMNS[] = {
    {"Duration", TABLE_TIME, 0}, {"Start", TABLE_TIME, 0},     {"Src Kind", TABLE_TEXT, 0},
    {"Dst Kind", TABLE_TEXT, 0}, {"Bytes", TABLE_INT, 0},      {"PID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0}, {"Context ID", TABLE_INT, 0}, {"Green Context ID", TABLE_INT, 0},
    {"Stream ID", TABLE_INT, 0}, {"API Name", TABLE_TEXT, 0},
};

static const struct table_column SET_COLUMNS[] = {
    {"Duration", TABLE_TIME, 0},    {"Start", TABLE_TIME, 0},
    {"Memory Kind", TABLE_TEXT, 0}, {"Bytes", TABLE_INT, 0},
    {"PID", TABLE_INT, 0},          {"Device ID", TABLE_INT, 0},
    {"Context ID", TABLE_INT, 0},   {"Green Context ID", TABLE_INT, 0},
    {"Stream ID", TABLE_INT, 0},    {"API Name", TABLE_TEXT, 0},
};

typedef bool rule_wanted_fn(const struct rule_copies *work, size_t k);

/* Asynchronous by name, but pageable memory on one side. */
static bool rule_is_pageable_async(const struct rule_copies *work, size_t k)
{
    struct kit_text call = rule_call(work, k);
    const struct rule_copy *copy = &work->copies[k];
    return rule_begins(call, "cudaMemcpy") && rule_is_async(call) &&
           (copy->src == RULE_PAGEABLE || copy->dst == RULE_PAGEABLE);
}

/* Synchronous; neither within a device nor small and to the device, which return early. */
static bool rule_is_sync_copy(const struct rule_copies *work, size_t k)
{
    const struct trace *trace = work->c->trace;
    struct kit_text call = rule_call(work, k);
    uint32_t name = trace->events[TRACE_GPU].name[work->events.list[k]];
    int kind = trace->names[name].copy_kind;
    return rule_begins(call, "cudaMemcpy") && !rule_is_async(call) && kind != RULE_DTOD &&
           !(kind == RULE_HTOD && work->copies[k].bytes <= RULE_SMALL_BYTES);
}

/* Synchronous, on memory that makes the call wait. */
static bool rule_is_sync_set(const struct rule_copies *work, size_t k)
{
    struct kit_text call = rule_call(work, k);
    int kind = work->copies[k].src;
    return rule_begins(call, "cudaMemset") && !rule_is_async(call) &&
           (kind == RULE_PINNED || kind == RULE_MANAGED);
}

static int rule_copies_run(const struct report_context *c, const struct report *rule,
                           rule_wanted_fn *wanted, struct report_result *out, struct err *err)
{
    bool set = rule == &REPORT_RULE_CUDA_MEMSET_SYNC;
    int64_t has = set ? c->trace->counts.memsets : c->trace->counts.memcpys;
    struct rule_copies work;
    int rc = rule_copies_new(c, set ? TRACE_MEMSET : TRACE_MEMCPY, &work, err);
    out->status = has > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = set ? TABLE_NEW(rule->title, SET_COLUMNS) : TABLE_NEW(rule->title, COPY_COLUMNS);
    for (size_t k = 0; rc == 0 && out->table != NULL && k < work.events.count; k++) {
        if (work.copies[k].read && wanted(&work, k)) {
            rule_put_copy(&work, out->table, k, set);
        }
    }
    rule_copies_free(&work);
    if (rc == 0 && out->table != NULL) {
        table_sort(out->table, COLUMN_DURATION, true);
        rules_sum(out->table, COLUMN_DURATION, COLUMN_START, &out->sum);
        rules_limit(out->table, &c->args[RULES_ARG_ROWS], &out->note);
    }
    return rc;
}

static int rule_memcpy_async(const struct report_context *c, struct report_result *out,
                             struct err *err)
{
    return rule_copies_run(c, &REPORT_RULE_CUDA_MEMCPY_ASYNC, rule_is_pageable_async, out, err);
}

static int rule_memcpy_sync(const struct report_context *c, struct report_result *out,
                            struct err *err)
{
    return rule_copies_run(c, &REPORT_RULE_CUDA_MEMCPY_SYNC, rule_is_sync_copy, out, err);
}

static int rule_memset_sync(const struct report_context *c, struct report_result *out,
                            struct err *err)
{
    return rule_copies_run(c, &REPORT_RULE_CUDA_MEMSET_SYNC, rule_is_sync_set, out, err);
}

static int rule_api_sync(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct table_column COLUMNS[] = {
        {"Duration", TABLE_TIME, 0}, {"Start", TABLE_TIME, 0},    {"PID", TABLE_INT, 0},
        {"TID", TABLE_INT, 0},       {"API Name", TABLE_TEXT, 0},
    };
    const struct trace *trace = c->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    struct selected events;
    out->status = trace->counts.api_calls > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_RULE_CUDA_API_SYNC.title, COLUMNS);
    if (out->table == NULL ||
        selected_new(c->trace, c->select, TRACE_API, UINT32_MAX, &events, err) != 0) {
        return -1;
    }
    for (size_t k = 0; k < events.count; k++) {
        uint32_t i = events.list[k];
        struct kit_text call = kit_api(trace, api->name[i]);
        if (rule_begins(call, "cudaDeviceSynchronize") ||
            rule_begins(call, "cudaStreamSynchronize")) {
            const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_API, i)];
            table_put_int(out->table, api->end_ns[i] - api->begin_ns[i]);
            table_put_int(out->table, api->begin_ns[i]);
            table_put_int(out->table, trace->processes[lane->process].pid);
            table_put_int(out->table, trace->threads[lane->thread].tid);
            kit_put_text(out->table, call);
        }
    }
    selected_free(&events);
    table_sort(out->table, COLUMN_DURATION, true);
    rules_sum(out->table, COLUMN_DURATION, COLUMN_START, &out->sum);
    rules_limit(out->table, &c->args[RULES_ARG_ROWS], &out->note);
    return 0;
}

const struct report REPORT_RULE_CUDA_MEMCPY_ASYNC = {
    .name = "cuda_memcpy_async",
    .title = "CUDA Async Memcpy with Pageable Memory",
    .kind = REPORT_RULE,
    .help = "asynchronous copies that pageable memory makes synchronous",
    .advice = "Copy from and to pinned memory (cudaMallocHost), so that the copy "
              "runs beside kernels and the CPU goes on.",
    .missing = "CUDA memory transfers data",
    .args = RULE_ARGS,
    .run = rule_memcpy_async,
};
const struct report REPORT_RULE_CUDA_MEMCPY_SYNC = {
    .name = "cuda_memcpy_sync",
    .title = "CUDA Synchronous Memcpy",
    .kind = REPORT_RULE,
    .help = "copies that make the CPU wait",
    .advice = "Use cudaMemcpyAsync with pinned memory on a stream of its own.",
    .missing = "CUDA memory transfers data",
    .args = RULE_ARGS,
    .run = rule_memcpy_sync,
};
const struct report REPORT_RULE_CUDA_MEMSET_SYNC = {
    .name = "cuda_memset_sync",
    .title = "CUDA Synchronous Memset",
    .kind = REPORT_RULE,
    .help = "sets of host memory that make the CPU wait",
    .advice = "Use cudaMemsetAsync.",
    .missing = "CUDA memory transfers data",
    .args = RULE_ARGS,
    .run = rule_memset_sync,
};
const struct report REPORT_RULE_CUDA_API_SYNC = {
    .name = "cuda_api_sync",
    .title = "CUDA Synchronization APIs",
    .kind = REPORT_RULE,
    .help = "calls that wait for a device or a stream",
    .advice = "Wait for less: order work with events and cudaStreamWaitEvent, and read "
              "results later.",
    .missing = "CUDA trace data",
    .args = RULE_ARGS,
    .run = rule_api_sync,
};
