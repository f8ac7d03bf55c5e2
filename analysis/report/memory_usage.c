/*
 * memory_usage: mem_usage: allocations of device memory over time. memory.h says which allocation
 * a free ends; frees of what was allocated before the capture count as such, not against the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/times.h"
#include "analysis/facts/memory.h"
#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/table/spark.h"

enum {
    MEMORY_SPARK_COLS = 32,
};

enum {
    MEMORY_PID,
    MEMORY_DEVICE_ID,
    MEMORY_MEMORY_KIND,
    MEMORY_ALLOCATIONS,
    MEMORY_FREES,
    MEMORY_ALLOCATED,
    MEMORY_FREED,
    MEMORY_PEAK,
    MEMORY_PEAK_AT,
    MEMORY_STILL_ALLOCATED,
    MEMORY_ALLOCATIONS_LEFT,
    MEMORY_FREES_FROM_BEFORE,
    MEMORY_ALLOCATED_OVER_TIME,
};

static const struct table_column MEMORY_COLUMNS[] = {
    [MEMORY_PID] = {"PID", TABLE_INT, 0},
    [MEMORY_DEVICE_ID] = {"Device ID", TABLE_INT, 0},
    [MEMORY_MEMORY_KIND] = {"Memory Kind", TABLE_TEXT, 0},
    [MEMORY_ALLOCATIONS] = {"Allocations", TABLE_INT, 0},
    [MEMORY_FREES] = {"Frees", TABLE_INT, 0},
    [MEMORY_ALLOCATED] = {"Allocated", TABLE_MB, 0},
    [MEMORY_FREED] = {"Freed", TABLE_MB, 0},
    [MEMORY_PEAK] = {"Peak", TABLE_MB, 0},
    [MEMORY_PEAK_AT] = {"Peak At", TABLE_TIME, 0},
    [MEMORY_STILL_ALLOCATED] = {"Still Allocated", TABLE_MB, 0},
    [MEMORY_ALLOCATIONS_LEFT] = {"Allocations Left", TABLE_INT, 0},
    [MEMORY_FREES_FROM_BEFORE] = {"Frees from Before", TABLE_INT, 0},
    [MEMORY_ALLOCATED_OVER_TIME] = {"Allocated over Time", TABLE_TEXT, 0},
};

/* What one process has on one device, of one memory kind. */
struct memory_key {
    int64_t global_pid;
    int64_t device;
    int64_t kind;
};

struct memory_sum {
    struct memory_key key;
    int64_t allocations;
    int64_t frees;
    int64_t allocated_bytes;
    int64_t freed_bytes;
    int64_t now_bytes;
    int64_t peak_bytes;
    int64_t peak_ns;
    int64_t live;
    int64_t unknown_frees;
    double over_time[MEMORY_SPARK_COLS]; /* the most in each part of the time */
    size_t column; /* the last part that was written */
};

struct memory_work {
    const struct report_context *c;
    struct memory_events events;
    struct intern groups; /* of memory_key */
    struct memory_sum *sums;
    int64_t begin_ns;
    int64_t end_ns;
};

static bool memory_kept(const struct report_context *c, const struct memory_event *event)
{
    const struct selection *select = c->select;
    if (select->none || (select->device >= 0 && event->device_id != select->device)) {
        return false;
    }
    return select->process == TRACE_NONE ||
           c->trace->processes[select->process].global_pid == event->global_pid;
}

/* Leaves what the selection keeps; a free and its allocation are both kept or neither. */
static void memory_select(struct memory_work *work)
{
    size_t kept = 0;
    for (size_t k = 0; k < work->events.count; k++) {
        if (memory_kept(work->c, &work->events.list[k])) {
            work->events.list[kept++] = work->events.list[k];
        }
    }
    work->events.count = kept;
}

/* The level so far holds from the last written part to the part of t. */
static void memory_level(const struct memory_work *work, struct memory_sum *sum, int64_t t_ns)
{
    double span = (double)(work->end_ns - work->begin_ns) + 1.0;
    size_t column = (size_t)((double)(t_ns - work->begin_ns) / span * MEMORY_SPARK_COLS);
    double level = (double)sum->now_bytes;
    while (sum->column < column && sum->column + 1 < MEMORY_SPARK_COLS) {
        sum->over_time[++sum->column] = level;
    }
    if (sum->over_time[sum->column] < level) {
        sum->over_time[sum->column] = level;
    }
}

/* The sum that an event of this kind of memory belongs to. NULL: no memory. */
static struct memory_sum *memory_sum_of(struct memory_work *work, const struct memory_event *event,
                                        int32_t kind)
{
    struct memory_key key = {event->global_pid, event->device_id, kind};
    uint32_t group = intern_add(&work->groups, (const char *)&key, sizeof key);
    if (group == INTERN_NONE) {
        return NULL;
    }
    work->sums[group].key = key;
    return &work->sums[group];
}

/* The allocation that the event ends, out of its sum. 0 or -1. */
static int memory_end(struct memory_work *work, const struct memory_event *event)
{
    struct memory_sum *sum =
        memory_sum_of(work, event, event->ended_bytes < 0 ? event->kind : event->ended_kind);
    if (sum == NULL) {
        return -1;
    }
    sum->frees += event->is_free ? 1 : 0;
    if (event->ended_bytes < 0) {
        sum->unknown_frees++;
        return 0;
    }
    memory_level(work, sum, event->at_ns);
    sum->freed_bytes = i64_add(sum->freed_bytes, event->is_free ? event->ended_bytes : 0);
    sum->now_bytes = i64_subtract(sum->now_bytes, event->ended_bytes);
    sum->live--;
    return 0;
}

static int memory_alloc(struct memory_work *work, const struct memory_event *event)
{
    struct memory_sum *sum = memory_sum_of(work, event, event->kind);
    if (sum == NULL) {
        return -1;
    }
    memory_level(work, sum, event->at_ns);
    sum->allocations++;
    sum->allocated_bytes = i64_add(sum->allocated_bytes, event->bytes);
    sum->now_bytes = i64_add(sum->now_bytes, event->bytes);
    sum->live++;
    if (sum->now_bytes > sum->peak_bytes) {
        sum->peak_bytes = sum->now_bytes;
        sum->peak_ns = event->at_ns;
    }
    memory_level(work, sum, event->at_ns);
    return 0;
}

/* 0, or -1 for want of memory. */
static int memory_play(struct memory_work *work)
{
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < work->events.count; k++) {
        const struct memory_event *event = &work->events.list[k];
        if (event->is_free || event->ended_bytes >= 0) {
            rc = memory_end(work, event);
        }
        if (rc == 0 && !event->is_free) {
            rc = memory_alloc(work, event);
        }
    }
    return rc;
}

static void memory_put(const struct memory_work *work, struct memory_sum *sum, struct store *store,
                       struct table *table)
{
    const char *kind = store_enum_label(store, STORE_ENUM_MEM_KIND, sum->key.kind);
    struct buf line = {0};
    memory_level(work, sum, work->end_ns);
    table_put_int(table, store_pid(sum->key.global_pid));
    table_put_int(table, sum->key.device);
    kit_put(table, kind == NULL ? "" : kind);
    table_put_int(table, sum->allocations);
    table_put_int(table, sum->frees);
    table_put_int(table, sum->allocated_bytes);
    table_put_int(table, sum->freed_bytes);
    table_put_int(table, sum->peak_bytes);
    if (sum->peak_bytes > 0) {
        table_put_int(table, sum->peak_ns);
    } else {
        table_put_empty(table);
    }
    table_put_int(table, sum->now_bytes);
    table_put_int(table, sum->live);
    table_put_int(table, sum->unknown_frees);
    spark_line(&line, sum->over_time, MEMORY_SPARK_COLS, 0, false);
    table_put_text(table, buf_text(&line), line.len);
    buf_free(&line);
}

static int memory_table(struct memory_work *work, struct store *store, struct table *table,
                        struct err *err)
{
    size_t count = work->events.count;
    work->sums = calloc(count + 1, sizeof *work->sums);
    if (work->sums == NULL) {
        return err_nomem(err, "the allocations");
    }
    work->begin_ns = work->events.list[0].at_ns;
    work->end_ns = work->events.list[count - 1].at_ns;
    if (work->c->trace->end_ns > work->end_ns) {
        work->end_ns = work->c->trace->end_ns;
    }
    if (memory_play(work) != 0) {
        return err_nomem(err, "the allocations");
    }
    for (uint32_t g = 0; g < work->groups.count; g++) {
        memory_put(work, &work->sums[g], store, table);
    }
    table_sort(table, MEMORY_PEAK, true);
    return 0;
}

static int memory_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct memory_work work = {.c = c};
    struct store *store = shared_store(c->shared, err);
    int rc = store == NULL ? -1 : memory_read(store, &work.events, err);
    out->table = TABLE_NEW(REPORT_MEM_USAGE.title, MEMORY_COLUMNS);
    out->status = store != NULL && store_row_bound(store, "CUDA_GPU_MEMORY_USAGE_EVENTS") > 0
                      ? REPORT_ROWS
                      : REPORT_MISSING;
    memory_select(&work);
    if (rc == 0 && work.events.count > 0 && out->table != NULL) {
        rc = memory_table(&work, store, out->table, err);
    }
    memory_free(&work.events);
    free(work.sums);
    intern_free(&work.groups);
    return rc;
}

const struct report REPORT_MEM_USAGE = {
    .name = "mem_usage",
    .title = "CUDA Memory Usage",
    .kinds = KIT_BUSY,
    .help =
        "allocations of each process and device: peak, what is left at the end, the course over "
        "time (a capture with --cuda-memory-usage=true)",
    .missing = "CUDA memory usage data",
    .run = memory_run,
};
