/*
 * report_memory: mem_usage: allocations of device memory over time, from
 * CUDA_GPU_MEMORY_USAGE_EVENTS. A free is paired with the allocation of the same process, device
 * and address; frees of what was allocated before the capture count as such, not against the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/query/report_kit.h"
#include "analysis/query/report_list.h"
#include "analysis/query/spark.h"

enum {
    MEMORY_SPARK_COLS = 32,
};

static const struct table_column MEMORY_COLUMNS[] = {
    {"PID",                 TABLE_INT,  0},
    {"Device ID",           TABLE_INT,  0},
    {"Memory Kind",         TABLE_TEXT, 0},
    {"Allocations",         TABLE_INT,  0},
    {"Frees",               TABLE_INT,  0},
    {"Allocated",           TABLE_MB,   0},
    {"Freed",               TABLE_MB,   0},
    {"Peak",                TABLE_MB,   0},
    {"Peak At",             TABLE_TIME, 0},
    {"Still Allocated",     TABLE_MB,   0},
    {"Allocations Left",    TABLE_INT,  0},
    {"Frees from Before",   TABLE_INT,  0},
    {"Allocated over Time", TABLE_TEXT, 0},
};

/* One event. */
struct memory_event {
    int64_t at_ns;
    int64_t global_pid;
    int64_t device;
    int64_t address;
    int64_t bytes;
    int64_t row;
    int kind;
    bool is_free;
};

struct memory_events {
    struct memory_event *list; /* owned, by time */
    size_t count;
    size_t cap;
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
    size_t column;                       /* the last part that was written */
};

/* A live allocation, in a table by its key. */
struct memory_block_key {
    int64_t global_pid;
    int64_t device;
    int64_t address;
};

struct memory_work {
    const struct report_context *c;
    struct memory_events events;
    struct intern groups; /* of memory_key */
    struct memory_sum *sums;
    struct intern blocks; /* of memory_block_key */
    int64_t *block_bytes; /* owned, by block; -1 = not live */
    uint32_t *block_group;
    int64_t begin_ns;
    int64_t end_ns;
};

static int memory_event_compare(const void *left, const void *right)
{
    const struct memory_event *a = left;
    const struct memory_event *b = right;
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns ? -1 : 1;
    }
    return (a->row > b->row) - (a->row < b->row);
}

static bool memory_kept(const struct report_context *c, const struct memory_event *event)
{
    const struct report_select *select = c->select;
    if (select->none || (select->device >= 0 && event->device != select->device)) {
        return false;
    }
    return select->process == TRACE_NONE ||
           c->trace->processes[select->process].global_pid == event->global_pid;
}

static int memory_add(struct memory_events *events, const struct memory_event *event)
{
    if (events->count == events->cap) {
        size_t cap = events->cap == 0 ? 256 : events->cap * 2;
        struct memory_event *grown = realloc(events->list, cap * sizeof *grown);
        if (grown == NULL) {
            return -1;
        }
        events->list = grown;
        events->cap = cap;
    }
    events->list[events->count++] = *event;
    return 0;
}

static int memory_read(struct memory_work *work, struct store *store, struct err *err)
{
    static const char *const COLUMNS[] = {"start", "globalPid", "deviceId",           "address",
                                          "bytes", "memKind",   "memoryOperationType"};
    struct store_scan scan = {.table = "CUDA_GPU_MEMORY_USAGE_EVENTS",
                              .columns = COLUMNS,
                              .column_count = 7,
                              .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int more = cursor == NULL ? -1 : 1;
    while (more == 1 && (more = store_next(cursor, err)) == 1) {
        struct memory_event event = {.at_ns = store_int(cursor, 0, 0),
                                     .global_pid = store_int(cursor, 1, 0),
                                     .device = store_int(cursor, 2, 0),
                                     .address = store_int(cursor, 3, 0),
                                     .bytes = store_int(cursor, 4, 0),
                                     .kind = (int)store_int(cursor, 5, -1),
                                     .is_free = store_int(cursor, 6, 0) == 1,
                                     .row = store_rowid(cursor)};
        if (memory_kept(work->c, &event) && memory_add(&work->events, &event) != 0) {
            more = err_nomem(err, "the allocations");
        }
    }
    store_cursor_close(cursor);
    if (work->events.count > 0) {
        qsort(work->events.list, work->events.count, sizeof *work->events.list,
              memory_event_compare);
    }
    return more < 0 ? -1 : 0;
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

static void memory_free(struct memory_work *work, const struct memory_event *event, uint32_t block,
                        struct memory_sum *named)
{
    int64_t bytes = work->block_bytes[block];
    struct memory_sum *sum = bytes < 0 ? named : &work->sums[work->block_group[block]];
    sum->frees++;
    if (bytes < 0) {
        sum->unknown_frees++;
        return;
    }
    memory_level(work, sum, event->at_ns);
    sum->freed_bytes += bytes;
    sum->now_bytes -= bytes;
    sum->live--;
    work->block_bytes[block] = -1;
}

static void memory_alloc(struct memory_work *work, const struct memory_event *event, uint32_t block,
                         uint32_t group)
{
    struct memory_sum *sum = &work->sums[group];
    if (work->block_bytes[block] >= 0) {
        struct memory_sum *old = &work->sums[work->block_group[block]];
        old->now_bytes -= work->block_bytes[block];
        old->live--;
    }
    memory_level(work, sum, event->at_ns);
    work->block_bytes[block] = event->bytes;
    work->block_group[block] = group;
    sum->allocations++;
    sum->allocated_bytes += event->bytes;
    sum->now_bytes += event->bytes;
    sum->live++;
    if (sum->now_bytes > sum->peak_bytes) {
        sum->peak_bytes = sum->now_bytes;
        sum->peak_ns = event->at_ns;
    }
    memory_level(work, sum, event->at_ns);
}

/* 0, or -1 for want of memory. */
static int memory_play(struct memory_work *work)
{
    size_t k;
    for (k = 0; k < work->events.count; k++) {
        const struct memory_event *event = &work->events.list[k];
        struct memory_key key = {event->global_pid, event->device, event->kind};
        struct memory_block_key at = {event->global_pid, event->device, event->address};
        uint32_t known = work->blocks.count;
        uint32_t group = intern_add(&work->groups, (const char *)&key, sizeof key);
        uint32_t block = intern_add(&work->blocks, (const char *)&at, sizeof at);
        if (group == INTERN_NONE || block == INTERN_NONE) {
            return -1;
        }
        if (block == known) {
            work->block_bytes[block] = -1;
        }
        work->sums[group].key = key;
        if (event->is_free) {
            memory_free(work, event, block, &work->sums[group]);
        } else {
            memory_alloc(work, event, block, group);
        }
    }
    return 0;
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
    uint32_t g;
    work->sums = calloc(count + 1, sizeof *work->sums);
    work->block_bytes = calloc(count + 1, sizeof *work->block_bytes);
    work->block_group = calloc(count + 1, sizeof *work->block_group);
    if (work->sums == NULL || work->block_bytes == NULL || work->block_group == NULL) {
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
    for (g = 0; g < work->groups.count; g++) {
        memory_put(work, &work->sums[g], store, table);
    }
    table_sort(table, 7, true);
    return 0;
}

static int memory_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct memory_work work = {.c = c};
    struct store *store = trace_store(c->trace, err);
    int rc = store == NULL ? -1 : memory_read(&work, store, err);
    out->table = table_new(REPORT_MEM_USAGE.title, MEMORY_COLUMNS, 13);
    out->status = store != NULL && store_row_bound(store, "CUDA_GPU_MEMORY_USAGE_EVENTS") > 0
                      ? REPORT_ROWS
                      : REPORT_MISSING;
    if (rc == 0 && work.events.count > 0 && out->table != NULL) {
        rc = memory_table(&work, store, out->table, err);
    }
    store_close(store);
    free(work.events.list);
    free(work.sums);
    free(work.block_bytes);
    free(work.block_group);
    intern_free(&work.groups);
    intern_free(&work.blocks);
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
