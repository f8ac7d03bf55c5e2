/* derive: see derive.h. */
#include "viewer/rows/derive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/partition.h"
#include "analysis/base/sort.h"
#include "analysis/timeline/packing.h"

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
    struct derive_item *list =
        array_grow(items->list, &items->cap, (size_t)items->count + 1, sizeof *list);
    if (list == NULL) {
        items->failed = true;
        return;
    }
    items->list = list;
    items->list[items->count++] = *item;
}

/* By begin; the longer first, so that what encloses comes before what is inside. */
static int derive_by_begin(const void *a, const void *b)
{
    const struct derive_item *x = a;
    const struct derive_item *y = b;
    if (x->begin_ns != y->begin_ns) {
        return COMPARE(x->begin_ns, y->begin_ns);
    }
    if (x->end_ns != y->end_ns) {
        return COMPARE(y->end_ns, x->end_ns);
    }
    return COMPARE(x->index, y->index);
}

/* Gives each item the first lane that is free at its begin. Returns the lanes, 0 without memory. */
static uint32_t derive_spread(const struct derive_items *items)
{
    struct partition rows = {0};
    uint32_t row = 0;
    for (size_t i = 0; i < items->count && row != PARTITION_FULL; i++) {
        struct derive_item *item = &items->list[i];
        int64_t end_ns = item->end_ns > item->begin_ns ? item->end_ns : item->begin_ns + 1;
        row = partition_row(&rows, item->begin_ns, end_ns);
        item->lane = row;
    }
    uint32_t lanes = row == PARTITION_FULL ? 0 : rows.row_count;
    partition_free(&rows);
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
    int rc = -1;
    *out = (struct derive){.table = table};
    if (!items->failed && items->count < UINT32_MAX) {
        sort_list(items->list, items->count, sizeof *items->list, derive_by_begin);
        lanes = derive_spread(items);
        rc = items->count > 0 && lanes == 0 ? -1 : derive_alloc(out, items->count, lanes);
    }
    if (rc != 0) {
        free(items->list);
        return err_nomem(err, "the derived rows");
    }
    for (size_t i = 0; i < items->count; i++) {
        out->lane_end[items->list[i].lane + 1]++;
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        out->lane_end[lane + 1] += out->lane_end[lane];
    }
    /* lane_end[lane] is now the first free place of the lane, at the end one past its last. */
    for (size_t i = 0; i < items->count; i++) {
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
    if (!set->kept) {
        free(set->begin_ns);
        free(set->end_ns);
        free(set->name);
        free(set->index);
        free(set->lane_end);
    }
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
    for (uint32_t lane = gpu->first_lane; lane < gpu->first_lane + gpu->lane_count; lane++) {
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

int derive_packed(const struct trace *trace, const uint32_t *lanes, uint32_t lane_count,
                  struct derive *out, struct err *err)
{
    struct packs packs = {0};
    *out = (struct derive){.table = TRACE_GPU};
    if (packs_make(trace, lanes, lane_count, &packs, err) != 0) {
        return -1;
    }
    out->lane_end = calloc((size_t)packs.row_count + 1, sizeof *out->lane_end);
    if (out->lane_end == NULL) {
        packs_free(&packs);
        return err_nomem(err, "the packed rows");
    }
    memcpy(out->lane_end, packs.row_first + 1, packs.row_count * sizeof *out->lane_end);
    /* The arrays change hands. */
    out->count = packs.count;
    out->lane_count = packs.row_count;
    out->begin_ns = packs.begin_ns;
    out->end_ns = packs.end_ns;
    out->name = packs.name;
    out->index = packs.index;
    packs.begin_ns = NULL;
    packs.end_ns = NULL;
    packs.name = NULL;
    packs.index = NULL;
    packs_free(&packs);
    return 0;
}

/* The lanes of a device and thread follow each other. */
static const struct projection_lane *derive_lanes(const struct projection *projection,
                                                  uint32_t device, uint32_t thread, uint32_t *count)
{
    const struct projection_lane *lanes = projection->lanes;
    uint32_t first = 0;
    *count = 0;
    BISECT(uint32_t, first, projection->lane_count, mid,
           lanes[mid].device < device ||
               (lanes[mid].device == device && lanes[mid].thread < thread))
    while (first + *count < projection->lane_count &&
           projection->lanes[first + *count].device == device &&
           projection->lanes[first + *count].thread == thread) {
        (*count)++;
    }
    return projection->lanes + first;
}

int derive_projected(const struct projection *projection, uint32_t device, uint32_t thread,
                     struct derive *out, struct err *err)
{
    uint32_t lane_count;
    const struct projection_lane *lanes = derive_lanes(projection, device, thread, &lane_count);
    size_t total = 0;
    uint32_t at = 0;
    *out = (struct derive){.table = TRACE_NVTX};
    for (uint32_t lane = 0; lane < lane_count; lane++) {
        total += lanes[lane].count;
    }
    if (derive_alloc(out, total, lane_count) != 0) {
        return err_nomem(err, "the projected ranges");
    }
    for (uint32_t lane = 0; lane < lane_count; lane++) {
        for (uint32_t i = lanes[lane].first; i < lanes[lane].first + lanes[lane].count; i++) {
            const struct projected *range = &projection->list[i];
            out->begin_ns[at] = range->begin_ns;
            out->end_ns[at] = range->end_ns;
            out->name[at] = projection->trace->events[TRACE_NVTX].name[range->nvtx];
            out->index[at++] = range->nvtx;
        }
        out->lane_end[lane] = at;
    }
    return 0;
}
