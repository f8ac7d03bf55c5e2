/*
 * detail: see detail.h. What the model does not hold is fetched from the file by row id, one row at
 * a time, when a person asks for it.
 */
#include "viewer/app/detail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/measure.h"
#include "analysis/facts/failures.h"
#include "analysis/facts/nvtx_path.h"
#include "analysis/facts/queue.h"
#include "analysis/report/gpu_rows.h"
#include "analysis/report/occupancy.h"
#include "analysis/store/schema.h"
#include "analysis/store/store.h"
#include "viewer/app/app_internal.h"
#include "viewer/app/detail_fields.h"

/* The columns of a table of the file. */
struct detail_table {
    const char *name;
    const char *const *columns;
    int count;
};

#define DETAIL_COLUMN(table, id, name, type) name,
#define DETAIL_COLUMNS(table, list) \
    static const char *const DETAIL_##table[] = {list(DETAIL_COLUMN)}
/* clang-format off */
DETAIL_COLUMNS(KERNEL, STORE_KERNEL_COLUMNS);
DETAIL_COLUMNS(MEMCPY, STORE_MEMCPY_COLUMNS);
DETAIL_COLUMNS(MEMSET, STORE_MEMSET_COLUMNS);
DETAIL_COLUMNS(GRAPH, STORE_GRAPH_TRACE_COLUMNS);
DETAIL_COLUMNS(RUNTIME, STORE_RUNTIME_COLUMNS);
DETAIL_COLUMNS(NVTX, STORE_NVTX_COLUMNS);
DETAIL_COLUMNS(OSRT, STORE_OSRT_COLUMNS);
DETAIL_COLUMNS(OVERHEAD, STORE_OVERHEAD_COLUMNS);
DETAIL_COLUMNS(PROFILER, STORE_PROFILER_OVERHEAD_COLUMNS);
/* clang-format on */

#define DETAIL_TABLE(text, list) \
    { \
        text, list, (int)(sizeof(list) / sizeof((list)[0])) \
    }
static const struct detail_table DETAIL_TABLES[] = {
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_KERNEL", DETAIL_KERNEL),
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_MEMCPY", DETAIL_MEMCPY),
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_MEMSET", DETAIL_MEMSET),
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", DETAIL_GRAPH),
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_RUNTIME", DETAIL_RUNTIME),
    DETAIL_TABLE("NVTX_EVENTS", DETAIL_NVTX),
    DETAIL_TABLE("OSRT_API", DETAIL_OSRT),
    DETAIL_TABLE("CUPTI_ACTIVITY_KIND_OVERHEAD", DETAIL_OVERHEAD),
    DETAIL_TABLE("PROFILER_OVERHEAD", DETAIL_PROFILER),
};

static const struct detail_table *detail_table(const char *name)
{
    for (size_t i = 0; i < sizeof DETAIL_TABLES / sizeof DETAIL_TABLES[0]; i++) {
        if (strcmp(DETAIL_TABLES[i].name, name) == 0) {
            return &DETAIL_TABLES[i];
        }
    }
    return NULL;
}

void detail_free(struct detail *detail)
{
    buf_free(&detail->title);
    buf_free(&detail->facts);
    buf_free(&detail->origin);
    arena_free(&detail->arena);
    store_close(detail->store);
    detail->store = NULL;
    free(detail->devices);
    detail->devices = NULL;
}

static void detail_add(struct detail *detail, const char *key, const char *value, size_t len)
{
    if (detail->field_count == DETAIL_FIELDS) {
        return;
    }
    const char *copy = arena_copy(&detail->arena, value, len);
    if (copy == NULL) {
        return;
    }
    struct detail_field *field = &detail->fields[detail->field_count++];
    field->key = key;
    field->value = copy;
    field->value_len = len;
}

/* Reads the row of the event: every column that is there and not NULL becomes a field. */
static void detail_fetch(struct app *app, const char *source)
{
    struct detail *detail = &app->detail;
    const struct detail_table *table = detail_table(source);
    int64_t row = app->trace->events[app->event.table].row[app->event.index];
    struct store_cursor *cursor = NULL;
    struct err err = {0};
    if (table == NULL || detail->store_failed) {
        return;
    }
    if (detail->store == NULL) {
        detail->store = trace_store(app->trace, &err);
    }
    if (detail->store == NULL) {
        detail->store_failed = true;
        return;
    }
    struct store_scan scan =
        (struct store_scan){table->name, table->columns, table->count, row, row + 1};
    cursor = store_scan(detail->store, &scan, &err);
    if (cursor == NULL) {
        return;
    }
    if (store_next(cursor, &err) == 1) {
        for (int i = 0; i < table->count; i++) {
            size_t len = 0;
            const char *text = store_text(cursor, i, &len);
            if (text != NULL) {
                detail_add(detail, table->columns[i], text, len);
            }
        }
    }
    store_cursor_close(cursor);
}

/* The value of a column as text, NULL where the file has none. */
static const char *detail_value(const struct detail *detail, const char *key)
{
    for (int i = 0; i < detail->field_count; i++) {
        if (strcmp(detail->fields[i].key, key) == 0) {
            return detail->fields[i].value;
        }
    }
    return NULL;
}

static void detail_fact(struct detail *detail, const char *lead, const char *key)
{
    const char *value = detail_value(detail, key);
    if (value != NULL) {
        buf_addf(&detail->facts, "   %s %s", lead, value);
    }
}

static void detail_triple(struct detail *detail, const char *lead, const char *x, const char *y,
                          const char *z)
{
    const char *a = detail_value(detail, x);
    const char *b = detail_value(detail, y);
    const char *c = detail_value(detail, z);
    if (a != NULL && b != NULL && c != NULL) {
        buf_addf(&detail->facts, "   %s %sx%sx%s", lead, a, b, c);
    }
}

static int64_t detail_number(const struct detail *detail, const char *key, int64_t fallback)
{
    const char *value = detail_value(detail, key);
    char *end = NULL;
    long long number = value != NULL ? strtoll(value, &end, 10) : 0;
    return value != NULL && end != value ? (int64_t)number : fallback;
}

static void detail_kernel(struct detail *detail)
{
    char bytes[TIMEFMT_BYTES];
    int64_t shared = i64_add(detail_number(detail, "staticSharedMemory", 0),
                             detail_number(detail, "dynamicSharedMemory", 0));
    detail_triple(detail, "grid", "gridX", "gridY", "gridZ");
    detail_triple(detail, "block", "blockX", "blockY", "blockZ");
    detail_fact(detail, "regs", "registersPerThread");
    if (detail_value(detail, "staticSharedMemory") != NULL) {
        buf_addf(&detail->facts, "   smem %s", timefmt_bytes(shared, bytes));
    }
}

/* The occupancy that the launch allows and what limits it, as a field. */
static void detail_occupancy(struct app *app, uint32_t device)
{
    struct detail *detail = &app->detail;
    char text[TIMEFMT_BYTES * 2];
    if (detail->store == NULL || device >= app->trace->device_count) {
        return;
    }
    if (detail->devices == NULL) {
        detail->devices = calloc((size_t)app->trace->device_count + 1, sizeof *detail->devices);
        if (detail->devices == NULL ||
            occupancy_devices(app->trace, detail->store, detail->devices, NULL) != 0) {
            return;
        }
    }
    /* Numbers that no launch has are taken as unknown. */
    const struct gpu_row row = {
        .block = {detail_number(detail, "blockX", -1), detail_number(detail, "blockY", -1),
                  detail_number(detail, "blockZ", -1)},
        .registers = detail_number(detail, "registersPerThread", -1),
        .static_smem_bytes = detail_number(detail, "staticSharedMemory", -1),
        .dynamic_smem_bytes = detail_number(detail, "dynamicSharedMemory", -1)};
    const struct occupancy_launch launch = occupancy_launch_of(&row);
    const struct occupancy found = occupancy_of(&detail->devices[device], &launch);
    if (found.percent >= 0) {
        int len = snprintf(text, sizeof text, "at most %.1f %%", found.percent);
        detail_add(detail, "occupancy", text, (size_t)len);
        detail_add(detail, "limited by", found.limiter, strlen(found.limiter));
    }
}

static void detail_copy(struct detail *detail, int64_t ns)
{
    char bytes[TIMEFMT_BYTES];
    int64_t size = detail_number(detail, "bytes", -1);
    if (size < 0) {
        return;
    }
    buf_addf(&detail->facts, "   %s", timefmt_bytes(size, bytes));
    if (ns > 0) {
        buf_addf(&detail->facts, "   %.2f GB/s", (double)size / (double)ns);
    }
}

/* "stream 7   412.3 us   ..." */
static void detail_facts(struct app *app, const struct trace_name *name)
{
    struct detail *detail = &app->detail;
    uint32_t lane_index =
        trace_lane_of(app->trace, (enum trace_table)app->event.table, app->event.index);
    const struct trace_lane *lane = &app->trace->lanes[lane_index];
    int64_t begin_ns = app_event_begin(app, app->event);
    int64_t ns = app_event_end(app, app->event) - begin_ns;
    char text[TIMEFMT_BYTES];
    if (lane->device != TRACE_NONE) {
        buf_addf(&detail->facts, "GPU %lld stream %lld",
                 (long long)app->trace->devices[lane->device].id, (long long)lane->stream_id);
    } else if (lane->thread != TRACE_NONE) {
        const struct trace_thread *thread = &app->trace->threads[lane->thread];
        buf_addf(&detail->facts, "thread %lld", (long long)thread->tid);
        if (thread->name_len > 0) {
            buf_addf(&detail->facts, " %.*s", (int)(thread->name_len < 40 ? thread->name_len : 40),
                     thread->name);
        }
    }
    buf_addf(&detail->facts, "   %s", timefmt_duration(ns, text));
    buf_addf(&detail->facts, "   at %s", timefmt_at(begin_ns, 1000, text));
    if (name->kind == TRACE_KERNEL) {
        detail_kernel(detail);
        detail_occupancy(app, lane->device);
    } else if (name->kind == TRACE_MEMCPY || name->kind == TRACE_MEMSET ||
               name->kind == TRACE_MIGRATION) {
        detail_copy(detail, ns);
    } else if (name->kind == TRACE_API_CALL && detail_value(detail, "returnValue") != NULL &&
               detail_number(detail, "returnValue", 0) != 0) {
        int64_t code = detail_number(detail, "returnValue", 0);
        buf_adds(&detail->facts, failures_is(code, name->brief) ? "   FAILED: " : "   ");
        failures_put_code(&detail->facts, code, name->brief);
    }
    if (app->event.table == TRACE_NVTX && trace_is_open(app->trace, app->event.index)) {
        buf_adds(&detail->facts, "   still open at the end");
    }
}

static void detail_path(struct app *app, uint32_t thread, int64_t t_ns, const char *lead)
{
    const struct facts *facts = app_facts(app);
    struct buf path = {0};
    if (facts != NULL) {
        nvtx_path_text(facts, thread, t_ns, &path);
    }
    if (path.len > 0) {
        buf_adds(&app->detail.origin, lead);
        buf_add(&app->detail.origin, path.data, path.len);
    }
    buf_free(&path);
}

/* "waited 30.0 ms: AllReduce on stream 40 ran for 30.0 ms of it", or "queued 3.20 us". */
static void detail_waited(struct app *app, int64_t queue_ns)
{
    const struct facts *facts = app_facts(app);
    struct queue_wait wait;
    struct buf text = {0};
    char time[TIMEFMT_BYTES];
    if (facts != NULL && queue_wait_of(facts, app->event.index, &wait)) {
        queue_wait_put(facts, &wait, &text);
    }
    if (text.len > 0) {
        buf_add(&app->detail.origin, text.data, text.len);
    } else {
        buf_addf(&app->detail.origin, "queued %s", timefmt_duration(queue_ns, time));
    }
    buf_free(&text);
}

/* "; 1024 launches were queued as it began, so it waited for one to end" */
static void detail_queued(struct app *app, uint32_t op)
{
    const struct trace *trace = app->trace;
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_GPU, op)];
    uint32_t depth =
        queue_depth(trace, lane->process, lane->device, app_event_begin(app, app->event));
    if (depth > 0) {
        buf_addf(&app->detail.origin, "; %u %s queued as it began%s", (unsigned)depth,
                 depth == 1 ? "launch was" : "launches were",
                 depth >= QUEUE_FULL ? ": the queue is full, it waits for one to end" : "");
    }
}

/* "launched by cudaLaunchKernel (thread 4242) 18.4 us before; in step > forward" */
static void detail_launched(struct app *app)
{
    const struct trace *trace = app->trace;
    struct buf *out = &app->detail.origin;
    uint32_t call = trace->events[TRACE_GPU].link[app->event.index];
    char text[TIMEFMT_BYTES];
    if (call == TRACE_NONE) {
        buf_adds(out, "the capture has no call that launched it");
        return;
    }
    uint32_t thread = trace->lanes[trace_lane_of(trace, TRACE_API, call)].thread;
    int64_t begin_ns = app_event_begin(app, app->event);
    int64_t queue_ns = begin_ns - trace->events[TRACE_API].end_ns[call];
    int64_t early_ns = trace->events[TRACE_API].begin_ns[call] - begin_ns;
    buf_addf(out, "launched by %s (thread %lld), ",
             trace->names[trace->events[TRACE_API].name[call]].brief,
             (long long)trace->threads[thread].tid);
    if (early_ns > 0) {
        buf_addf(out, "began %s before that call (the clocks differ)",
                 timefmt_duration(early_ns, text));
    } else if (queue_ns >= 0) {
        detail_waited(app, queue_ns);
    } else {
        buf_addf(out, "began %s before the call returned", timefmt_duration(-queue_ns, text));
    }
    detail_path(app, thread, trace->events[TRACE_API].begin_ns[call], "; in ");
}

/* "put 2 ops on the GPU, the first begins 18.4 us after it" */
static void detail_launches(struct app *app)
{
    const struct trace *trace = app->trace;
    struct buf *out = &app->detail.origin;
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(trace, app->event.index, &count);
    uint32_t thread = trace->lanes[trace_lane_of(trace, TRACE_API, app->event.index)].thread;
    char text[TIMEFMT_BYTES];
    if (count > 0) {
        const struct trace_name *name = &trace->names[trace->events[TRACE_GPU].name[ops[0]]];
        int64_t wait_ns =
            trace->events[TRACE_GPU].begin_ns[ops[0]] - app_event_end(app, app->event);
        buf_addf(out, "puts %u %s on the GPU (%.*s), %s ", (unsigned)count,
                 count == 1 ? "op" : "ops", (int)(name->brief_len < 60 ? name->brief_len : 60),
                 name->brief, timefmt_duration(wait_ns < 0 ? -wait_ns : wait_ns, text));
        buf_adds(out, wait_ns < 0 ? "before it returned" : "after it returned");
        detail_queued(app, ops[0]);
    }
    detail_path(app, thread, app_event_begin(app, app->event), count > 0 ? "; in " : "in ");
}

/* "; in step 3 > IO 190, 99 % of the gap" */
static void detail_gap_path(struct app *app, const struct gap *gap, const struct cause *cause)
{
    struct buf path = {0};
    cause_path(app_facts(app), gap, cause, &path);
    if (path.len > 0) {
        double share = 100.0 * (double)cause->nvtx_ns / (double)(gap->end_ns - gap->begin_ns);
        buf_adds(&app->detail.origin, "; in ");
        buf_add(&app->detail.origin, path.data, path.len);
        buf_addf(&app->detail.origin, ", %.0f %% of the gap", share);
    }
    buf_free(&path);
}

static void detail_gap(struct app *app)
{
    struct detail *detail = &app->detail;
    const struct trace_device *gpu = &app->trace->devices[app->gap_device];
    struct gaps_query query = {app->gap_device, 0, app->gap_begin_ns, app->gap_end_ns};
    const struct facts *facts = app_facts(app);
    struct gaps gaps = {0};
    struct cause cause;
    char text[TIMEFMT_BYTES];
    buf_addf(&detail->title, "idle gap of GPU %lld: %s", (long long)gpu->id,
             timefmt_duration(app->gap_end_ns - app->gap_begin_ns, text));
    buf_addf(&detail->title, " at %s", timefmt_at(app->gap_begin_ns, 1000, text));
    if (facts == NULL || gaps_find(app->trace, app_busy(app), &query, &gaps, NULL) != 0) {
        return;
    }
    if (gaps.count > 0) {
        const struct gap *gap = &gaps.list[0];
        cause_of(facts, gap, &cause);
        buf_addf(&detail->facts, "cause: %s: ", cause_name((enum cause_kind)cause.kind));
        cause_text(facts, gap, &cause, &detail->facts);
        if (gap->before != TRACE_NONE && gap->after != TRACE_NONE) {
            const uint32_t *names = app->trace->events[TRACE_GPU].name;
            const struct trace_name *before = &app->trace->names[names[gap->before]];
            const struct trace_name *after = &app->trace->names[names[gap->after]];
            buf_addf(&detail->origin, "after %.*s, before %.*s",
                     (int)(before->brief_len < 100 ? before->brief_len : 100), before->brief,
                     (int)(after->brief_len < 100 ? after->brief_len : 100), after->brief);
        }
        detail_gap_path(app, gap, &cause);
    }
    gaps_free(&gaps);
}

static void detail_tops(struct app *app, const struct list *list, const char *lead)
{
    struct buf *out = &app->detail.origin;
    char text[TIMEFMT_BYTES];
    if (list->count == 0) {
        return;
    }
    buf_addf(out, "%s%s ", out->len > 0 ? "; " : "", lead);
    for (size_t i = 0; i < list->count && i < 3; i++) {
        const struct trace_name *name = &app->trace->names[list->rows[i].name];
        buf_addf(out, "%s%.*s %s", i > 0 ? ", " : "",
                 (int)(name->brief_len < 40 ? name->brief_len : 40), name->brief,
                 timefmt_duration(list->rows[i].inside_ns, text));
    }
}

static void detail_parts(struct app *app, const struct measure *found)
{
    struct buf *out = &app->detail.facts;
    const struct overlap_parts *parts = &found->parts;
    double all =
        found->end_ns > found->begin_ns ? 100.0 / (double)(found->end_ns - found->begin_ns) : 0.0;
    char text[TIMEFMT_BYTES];
    buf_addf(out,
             "compute %.1f %%, communication %.1f %%, both %.1f %%, only copies %.1f %%, "
             "idle %.1f %%",
             (double)parts->compute_only_ns * all, (double)parts->communication_only_ns * all,
             (double)parts->both_ns * all, (double)parts->copy_only_ns * all,
             (double)parts->idle_ns * all);
    for (size_t i = 0; i < found->kind_count && i < 3; i++) {
        buf_addf(out, "%s %s %s", i == 0 ? "   idle by" : ",", found->by_kind[i].name,
                 timefmt_duration(found->by_kind[i].total_ns, text));
    }
}

/* What is between A and B. */
static void detail_measure(struct app *app)
{
    struct detail *detail = &app->detail;
    struct measure_query query = {.facts = app_facts(app),
                                  .busy = app_busy(app),
                                  .terms = app->filter.terms,
                                  .device = app_device(app)};
    struct measure found = {0};
    struct err err = {0};
    char span[TIMEFMT_BYTES];
    char ops[TIMEFMT_BYTES];
    app_span(app, &query.begin_ns, &query.end_ns);
    buf_addf(&detail->title, "A to B: %s", timefmt_duration(query.end_ns - query.begin_ns, span));
    if (query.device == TRACE_NONE || query.facts == NULL) {
        return;
    }
    query.overlap = app_overlap(app);
    if (measure_make(&query, &found, &err) != 0) {
        return;
    }
    buf_addf(&detail->title, "   GPU %lld busy %.1f %%, idle %s, %s ops",
             (long long)app->trace->devices[query.device].id, found.busy_percent,
             timefmt_duration(found.idle_ns, span), timefmt_count(found.ops, ops));
    detail_parts(app, &found);
    detail_tops(app, &found.gpu, "ops");
    detail_tops(app, &found.api, "calls");
    measure_free(&found);
}

/* Where the file was written to since it was loaded, its row may be another's: none is shown. */
static void detail_event(struct app *app)
{
    struct detail *detail = &app->detail;
    const struct trace_name *name = app_event_name(app, app->event);
    buf_add(&detail->title, name->full, name->full_len);
    detail_fetch(
        app, trace_source_table(app->trace, (enum trace_table)app->event.table, app->event.index));
    bool changed = trace_check(app->trace, NULL) != 0;
    if (changed) {
        detail->field_count = 0;
    }
    detail_facts(app, name);
    if (changed) {
        buf_adds(&detail->facts, "   (the file has changed: no more is known)");
    }
    detail_fields_shape(detail);
    if (app->event.table == TRACE_GPU) {
        detail_launched(app);
    } else if (app->event.table == TRACE_API) {
        detail_launches(app);
    }
}

static bool detail_is_fresh(const struct app *app)
{
    const struct detail *detail = &app->detail;
    return detail->made && detail->table == app->event.table && detail->index == app->event.index &&
           detail->gap_begin_ns == (app_has_gap(app) ? app->gap_begin_ns : INT64_MIN) &&
           detail->gap_device == app->gap_device && detail->span_stamp == app->span_stamp &&
           detail->filter_stamp == app->filter.stamp;
}

void detail_make(struct app *app)
{
    struct detail *detail = &app->detail;
    if (detail_is_fresh(app)) {
        return;
    }
    detail->made = true;
    detail->table = app->event.table;
    detail->index = app->event.index;
    detail->gap_begin_ns = app_has_gap(app) ? app->gap_begin_ns : INT64_MIN;
    detail->gap_device = app->gap_device;
    detail->span_stamp = app->span_stamp;
    detail->filter_stamp = app->filter.stamp;
    detail->field_count = 0;
    buf_reset(&detail->title);
    buf_reset(&detail->facts);
    buf_reset(&detail->origin);
    arena_reset(&detail->arena);
    if (app_has_gap(app)) {
        detail_gap(app);
    } else if (app_has_event(app)) {
        detail_event(app);
    } else if (app->mark_count == 2) {
        detail_measure(app);
    }
}
