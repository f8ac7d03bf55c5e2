/*
 * events_table: see events_table.h.
 */
#include "analysis/report/events_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

static const char *const names[TRACE_TABLE_COUNT] = {
    [TRACE_GPU] = "gpu",   [TRACE_API] = "api",           [TRACE_NVTX] = "nvtx",
    [TRACE_OSRT] = "osrt", [TRACE_OVERHEAD] = "overhead",
};

static const struct table_column COLUMNS[] = {
    {"Start", TABLE_TIME, 0},        {"Duration", TABLE_TIME, 0}, {"Kind", TABLE_TEXT, 0},
    {"PID", TABLE_INT, 0},           {"TID", TABLE_INT, 0},       {"Device ID", TABLE_INT, 0},
    {"Context ID", TABLE_INT, 0},    {"Stream ID", TABLE_INT, 0}, {"Depth", TABLE_INT, 0},
    {"Launch Row", TABLE_INT, 0},    {"Domain", TABLE_TEXT, 0},   {"Name", TABLE_TEXT, 0},
    {"Source Table", TABLE_TEXT, 0}, {"Row", TABLE_INT, 0},
};

static const char *const kinds[TRACE_KIND_COUNT] = {
    [TRACE_KERNEL] = "kernel",
    [TRACE_MEMCPY] = "memcpy",
    [TRACE_MEMSET] = "memset",
    [TRACE_GRAPH] = "graph",
    [TRACE_MIGRATION] = "migration",
    [TRACE_API_CALL] = "api",
    [TRACE_NVTX_PUSHPOP] = "push/pop",
    [TRACE_NVTX_STARTEND] = "start/end",
    [TRACE_NVTX_MARK] = "mark",
    [TRACE_OSRT_CALL] = "osrt",
    [TRACE_OVERHEAD_PROFILER] = "profiler overhead",
    [TRACE_OVERHEAD_CUDA] = "cuda overhead",
};

int events_table_by_name(const char *name)
{
    for (int i = 0; i < TRACE_TABLE_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

const char *events_table_name(size_t i)
{
    return i < TRACE_TABLE_COUNT ? names[i] : NULL;
}

static void put_place(struct table *table, const struct trace *trace, const struct trace_lane *lane)
{
    table_put_int(table, trace->processes[lane->process].pid);
    if (lane->table == TRACE_GPU) {
        table_put_empty(table);
        table_put_int(table, trace->devices[lane->device].id);
        table_put_int(table, lane->context_id);
        table_put_int(table, lane->stream_id);
    } else {
        table_put_int(table, trace->threads[lane->thread].tid);
        for (int i = 0; i < 3; i++) {
            table_put_empty(table);
        }
    }
    table_put_int(table, lane->depth);
}

static void put_event(struct table *out, const struct trace *trace, enum trace_table table,
                      uint32_t index)
{
    const struct trace_events *events = &trace->events[table];
    const struct trace_name *name = &trace->names[events->name[index]];
    uint32_t launch = table == TRACE_GPU ? events->link[index] : TRACE_NONE;
    const char *source = trace_source_table(trace, table, index);
    table_put_int(out, events->begin_ns[index]);
    table_put_int(out, events->end_ns[index] - events->begin_ns[index]);
    table_put_text(out, kinds[name->kind], strlen(kinds[name->kind]));
    put_place(out, trace, &trace->lanes[trace_lane_of(trace, table, index)]);
    if (launch == TRACE_NONE) {
        table_put_empty(out);
    } else {
        table_put_int(out, trace->events[TRACE_API].row[launch]);
    }
    if (name->domain_len == 0) {
        table_put_empty(out);
    } else {
        table_put_text(out, name->domain, name->domain_len);
    }
    table_put_text(out, name->full, name->full_len);
    table_put_text(out, source, strlen(source));
    table_put_int(out, events->row[index]);
}

struct order {
    int64_t begin_ns;
    uint32_t index;
};

static int order_cmp(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    if (x->begin_ns != y->begin_ns) {
        return COMPARE(x->begin_ns, y->begin_ns);
    }
    return COMPARE(x->index, y->index);
}

struct table *events_table(const struct trace *trace, enum trace_table table, int64_t begin_ns,
                           int64_t end_ns, struct err *err)
{
    const struct trace_events *events = &trace->events[table];
    struct order *order = malloc(((size_t)events->count + 1) * sizeof(*order));
    struct table *out = order == NULL ? NULL : TABLE_NEW(names[table], COLUMNS);
    size_t count = 0;
    if (out == NULL) {
        free(order);
        return err_null(err, "not enough memory for the table of events");
    }
    for (uint32_t i = 0; i < events->count; i++) {
        if (events->end_ns[i] >= begin_ns && events->begin_ns[i] < end_ns) {
            order[count++] = (struct order){events->begin_ns[i], i};
        }
    }
    if (count > 0) {
        sort_list(order, count, sizeof(*order), order_cmp);
    }
    for (size_t i = 0; i < count; i++) {
        put_event(out, trace, table, order[i].index);
    }
    free(order);
    return out;
}
