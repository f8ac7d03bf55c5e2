/* derive: see derive.h. */
#include "viewer/app/derive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct derive_item {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t name;
    uint32_t index;
    uint32_t lane;
};

struct derive_items {
    struct derive_item *list; /* owned */
    size_t count;
    size_t cap;
    bool failed;
};

static void derive_add(struct derive_items *items, const struct derive_item *item)
{
    if (items->count == items->cap) {
        size_t cap = items->cap == 0 ? 256 : items->cap * 2;
        struct derive_item *list = realloc(items->list, cap * sizeof *list);
        if (list == NULL) {
            items->failed = true;
            return;
        }
        items->list = list;
        items->cap = cap;
    }
    items->list[items->count++] = *item;
}

/* By begin; the longer first, so that what encloses comes before what is inside. */
static int derive_by_begin(const void *a, const void *b)
{
    const struct derive_item *x = a;
    const struct derive_item *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) {
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Gives each item the first lane that is free at its begin. Returns the lanes, 0 without memory. */
static uint32_t derive_spread(const struct derive_items *items)
{
    int64_t *free_ns = NULL;
    uint32_t lanes = 0;
    uint32_t cap = 0;
    size_t i;
    for (i = 0; i < items->count; i++) {
        struct derive_item *item = &items->list[i];
        uint32_t lane = 0;
        while (lane < lanes && free_ns[lane] > item->begin_ns) {
            lane++;
        }
        if (lane == cap) {
            uint32_t wider = cap == 0 ? 16 : cap * 2;
            int64_t *grown = realloc(free_ns, wider * sizeof *grown);
            if (grown == NULL) {
                free(free_ns);
                return 0;
            }
            free_ns = grown;
            cap = wider;
        }
        lanes = lane == lanes ? lanes + 1 : lanes;
        free_ns[lane] = item->end_ns > item->begin_ns ? item->end_ns : item->begin_ns + 1;
        item->lane = lane;
    }
    free(free_ns);
    return lanes;
}

static int derive_alloc(struct derive *out, size_t count, uint32_t lanes)
{
    size_t room = count == 0 ? 1 : count;
    out->begin_ns = calloc(room, sizeof *out->begin_ns);
    out->end_ns = calloc(room, sizeof *out->end_ns);
    out->name = calloc(room, sizeof *out->name);
    out->index = calloc(room, sizeof *out->index);
    out->lane_end = calloc((size_t)lanes + 1, sizeof *out->lane_end);
    if (out->begin_ns == NULL || out->end_ns == NULL || out->name == NULL || out->index == NULL ||
        out->lane_end == NULL) {
        derive_free(out);
        return -1;
    }
    out->count = (uint32_t)count;
    out->lane_count = lanes;
    return 0;
}

/* Sorts, spreads over lanes and stores. Takes the items. */
static int derive_finish(struct derive_items *items, enum trace_table table, struct derive *out,
                         struct err *err)
{
    uint32_t lanes = 0;
    uint32_t lane;
    size_t i;
    int rc = -1;
    *out = (struct derive){.table = table};
    if (!items->failed && items->count < UINT32_MAX) {
        if (items->count > 1) {
            qsort(items->list, items->count, sizeof *items->list, derive_by_begin);
        }
        lanes = derive_spread(items);
        rc = items->count > 0 && lanes == 0 ? -1 : derive_alloc(out, items->count, lanes);
    }
    if (rc != 0) {
        free(items->list);
        return err_nomem(err, "the derived rows");
    }
    for (i = 0; i < items->count; i++) {
        out->lane_end[items->list[i].lane + 1]++;
    }
    for (lane = 0; lane < lanes; lane++) {
        out->lane_end[lane + 1] += out->lane_end[lane];
    }
    /* lane_end[lane] is now the first free place of the lane, at the end one past its last. */
    for (i = 0; i < items->count; i++) {
        uint32_t at = out->lane_end[items->list[i].lane]++;
        out->begin_ns[at] = items->list[i].begin_ns;
        out->end_ns[at] = items->list[i].end_ns;
        out->name[at] = items->list[i].name;
        out->index[at] = items->list[i].index;
    }
    free(items->list);
    return 0;
}

void derive_free(struct derive *set)
{
    free(set->begin_ns);
    free(set->end_ns);
    free(set->name);
    free(set->index);
    free(set->lane_end);
    *set = (struct derive){0};
}

struct lane derive_lane(const struct derive *set, uint32_t i)
{
    uint32_t first = i == 0 ? 0 : set->lane_end[i - 1];
    return (struct lane){
        .table = set->table,
        .count = set->lane_end[i] - first,
        .begin_ns = set->begin_ns + first,
        .end_ns = set->end_ns + first,
        .name = set->name + first,
        .index = set->index + first,
    };
}

static struct derive_item derive_item(const struct trace_events *events, uint32_t i)
{
    return (struct derive_item){.begin_ns = events->begin_ns[i],
                                .end_ns = events->end_ns[i],
                                .name = events->name[i],
                                .index = i};
}

int derive_copies(const struct trace *trace, uint32_t device, struct derive *out, struct err *err)
{
    const struct trace_device *gpu = &trace->devices[device];
    const struct trace_events *events = &trace->events[TRACE_GPU];
    struct derive_items items = {0};
    uint32_t lane;
    for (lane = gpu->first_lane; lane < gpu->first_lane + gpu->lane_count; lane++) {
        uint32_t i = trace->lanes[lane].first;
        uint32_t end = i + trace->lanes[lane].count;
        for (; i < end; i++) {
            uint8_t kind = trace->names[events->name[i]].kind;
            if (kind == TRACE_MEMCPY || kind == TRACE_MEMSET || kind == TRACE_MIGRATION) {
                struct derive_item item = derive_item(events, i);
                derive_add(&items, &item);
            }
        }
    }
    return derive_finish(&items, TRACE_GPU, out, err);
}

int derive_packed(const struct trace *trace, uint32_t device, const unsigned char *pick,
                  struct derive *out, struct err *err)
{
    const struct trace_device *gpu = &trace->devices[device];
    struct derive_items items = {0};
    uint32_t lane;
    for (lane = 0; lane < gpu->lane_count; lane++) {
        const struct trace_lane *from = &trace->lanes[gpu->first_lane + lane];
        uint32_t i;
        for (i = from->first; pick[lane] != 0 && i < from->first + from->count; i++) {
            struct derive_item item = derive_item(&trace->events[TRACE_GPU], i);
            derive_add(&items, &item);
        }
    }
    return derive_finish(&items, TRACE_GPU, out, err);
}

/* What one call put on the device: from its first op's begin to its last op's end. */
struct derive_launch {
    int64_t call_ns;
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t thread;
};

static int derive_by_thread(const void *a, const void *b)
{
    const struct derive_launch *x = a;
    const struct derive_launch *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return x->call_ns < y->call_ns ? -1 : x->call_ns > y->call_ns;
}

static bool derive_on_device(const struct trace_device *gpu, const struct trace *trace, uint32_t op)
{
    const struct trace_lane *first = &trace->lanes[gpu->first_lane];
    const struct trace_lane *last = first + gpu->lane_count - 1;
    return op >= first->first && op < last->first + last->count;
}

/* All calls with work on the device, by thread and time. NULL where there is none or no memory. */
static struct derive_launch *derive_calls(const struct trace *trace, uint32_t device, size_t *count)
{
    const struct trace_device *gpu = &trace->devices[device];
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    struct derive_launch *list = NULL;
    uint32_t before = TRACE_NONE;
    uint32_t i;
    *count = 0;
    if (trace->launch_op_count == 0 || gpu->lane_count == 0) {
        return NULL;
    }
    list = calloc(trace->launch_op_count, sizeof *list);
    for (i = 0; list != NULL && i < trace->launch_op_count; i++) {
        uint32_t op = trace->launch_ops[i];
        uint32_t call = ops->link[op];
        struct derive_launch *launch;
        if (!derive_on_device(gpu, trace, op)) {
            continue;
        }
        if (call == before) {
            launch = &list[*count - 1];
            launch->begin_ns =
                ops->begin_ns[op] < launch->begin_ns ? ops->begin_ns[op] : launch->begin_ns;
            launch->end_ns = ops->end_ns[op] > launch->end_ns ? ops->end_ns[op] : launch->end_ns;
            continue;
        }
        list[(*count)++] = (struct derive_launch){
            .call_ns = trace->events[TRACE_API].begin_ns[call],
            .begin_ns = ops->begin_ns[op],
            .end_ns = ops->end_ns[op],
            .thread = trace->lanes[trace_lane_of(trace, TRACE_API, call)].thread,
        };
        before = call;
    }
    if (list != NULL && *count > 1) {
        qsort(list, *count, sizeof *list, derive_by_thread);
    }
    return list;
}

/* Projects the ranges of one NVTX lane: both lists ascend, each is walked once. */
static void derive_project_lane(const struct trace *trace, const struct trace_lane *lane,
                                const struct derive_launch *calls, size_t count,
                                struct derive_items *items)
{
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    size_t at = 0;
    uint32_t i;
    while (at < count && calls[at].thread < lane->thread) {
        at++;
    }
    for (i = lane->first; i < lane->first + lane->count; i++) {
        struct derive_item item = derive_item(nvtx, i);
        bool any = false;
        while (at < count && calls[at].thread == lane->thread &&
               calls[at].call_ns < nvtx->begin_ns[i]) {
            at++;
        }
        for (;
             at < count && calls[at].thread == lane->thread && calls[at].call_ns < nvtx->end_ns[i];
             at++) {
            item.begin_ns =
                any && item.begin_ns < calls[at].begin_ns ? item.begin_ns : calls[at].begin_ns;
            item.end_ns = any && item.end_ns > calls[at].end_ns ? item.end_ns : calls[at].end_ns;
            any = true;
        }
        if (any) {
            derive_add(items, &item);
        }
    }
}

int derive_projected(const struct trace *trace, uint32_t device, struct derive *out,
                     struct err *err)
{
    struct derive_items items = {0};
    size_t count = 0;
    struct derive_launch *calls = derive_calls(trace, device, &count);
    uint32_t lane;
    for (lane = 0; calls != NULL && lane < trace->lane_count; lane++) {
        if (trace->lanes[lane].kind == TRACE_LANE_NVTX_PUSHPOP) {
            derive_project_lane(trace, &trace->lanes[lane], calls, count, &items);
        }
    }
    free(calls);
    return derive_finish(&items, TRACE_NVTX, out, err);
}

static int derive_by_time(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

int derive_launches(const struct trace *trace, uint32_t process, struct derive_times *out,
                    struct err *err)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t lane;
    uint32_t i;
    size_t room = 1;
    *out = (struct derive_times){0};
    for (lane = 0; lane < trace->lane_count; lane++) {
        const struct trace_lane *from = &trace->lanes[lane];
        room += from->kind == TRACE_LANE_API && from->process == process ? from->count : 0;
    }
    out->ns = calloc(room, sizeof *out->ns);
    if (out->ns == NULL) {
        return err_nomem(err, "the launches row");
    }
    for (lane = 0; lane < trace->lane_count; lane++) {
        const struct trace_lane *from = &trace->lanes[lane];
        if (from->kind != TRACE_LANE_API || from->depth != 0 || from->process != process) {
            continue;
        }
        for (i = from->first; i < from->first + from->count; i++) {
            if ((trace->names[api->name[i]].api & TRACE_API_LAUNCH) != 0) {
                out->ns[out->count++] = api->begin_ns[i];
            }
        }
    }
    if (out->count > 1) {
        qsort(out->ns, out->count, sizeof *out->ns, derive_by_time);
    }
    return 0;
}
