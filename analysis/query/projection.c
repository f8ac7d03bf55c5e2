/*
 * projection: see projection.h. Which calls lie in which ranges is nvtx_ranges.h's to say; here the
 * ops of the calls are gathered by range and device, and the results put on rows.
 */
#include "analysis/query/projection.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/query/nvtx_ranges.h"

/* What a range has on one device; those of a range are chained. */
struct found {
    struct projected projected;
    uint32_t range;    /* index in ranges */
    uint32_t next;     /* of the same range, TRACE_NONE */
    uint32_t last_api; /* the call that was counted last */
};

struct gather {
    const struct trace *trace;
    struct nvtx_ranges ranges;
    uint32_t *head;     /* owned: first found of each range */
    struct found *list; /* owned */
    uint32_t count;
    uint32_t cap;
    bool failed;
};

static struct found *found_of(struct gather *gather, uint32_t range, uint32_t device)
{
    uint32_t i = gather->head[range];
    while (i != TRACE_NONE && gather->list[i].projected.device != device)
        i = gather->list[i].next;
    if (i != TRACE_NONE)
        return &gather->list[i];
    if (gather->count == gather->cap) {
        uint32_t cap = gather->cap * 2 + 256;
        struct found *grown = cap > gather->cap ? realloc(gather->list, cap * sizeof *grown) : NULL;
        if (grown == NULL)
            return NULL;
        gather->list = grown;
        gather->cap = cap;
    }
    const struct nvtx_range *source = &gather->ranges.list[range];
    struct found *found = &gather->list[gather->count];
    *found = (struct found){
        .projected = {.nvtx = source->event,
                      .device = device,
                      .thread = source->thread,
                      .begin_ns = INT64_MAX,
                      .end_ns = INT64_MIN},
        .range = range,
        .next = gather->head[range],
        .last_api = TRACE_NONE,
    };
    gather->head[range] = gather->count++;
    return found;
}

static void gather_call(void *arg, uint32_t range, uint32_t api)
{
    struct gather *gather = arg;
    const struct trace_events *gpu = &gather->trace->events[TRACE_GPU];
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(gather->trace, api, &count);
    for (uint32_t k = 0; k < count && !gather->failed; k++) {
        uint32_t op = ops[k];
        uint32_t lane = trace_lane_of(gather->trace, TRACE_GPU, op);
        struct found *found = found_of(gather, range, gather->trace->lanes[lane].device);
        if (found == NULL) {
            gather->failed = true;
            return;
        }
        struct projected *projected = &found->projected;
        if (gpu->begin_ns[op] < projected->begin_ns)
            projected->begin_ns = gpu->begin_ns[op];
        if (gpu->end_ns[op] > projected->end_ns)
            projected->end_ns = gpu->end_ns[op];
        projected->ops++;
        projected->launches += found->last_api != api ? 1 : 0;
        found->last_api = api;
    }
}

/* ---- rows ---- */

static int cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int cmp_place(const struct projected *a, const struct projected *b)
{
    int c = cmp_i64(a->device, b->device);
    return c != 0 ? c : cmp_i64(a->thread, b->thread);
}

/* Ranges are sorted by thread, begin and end, so a parent has a smaller number than its children,
 * and lies around them here as well. */
static int found_cmp(const void *a, const void *b)
{
    const struct found *x = *(const struct found *const *)a;
    const struct found *y = *(const struct found *const *)b;
    int c = cmp_place(&x->projected, &y->projected);
    if (c == 0)
        c = cmp_i64(x->projected.begin_ns, y->projected.begin_ns);
    if (c == 0)
        c = cmp_i64(y->projected.end_ns, x->projected.end_ns);
    return c != 0 ? c : cmp_i64(x->range, y->range);
}

static uint32_t row_of_parent(const struct gather *gather, const struct found *found)
{
    uint32_t parent = gather->ranges.list[found->range].parent;
    uint32_t i = parent != NVTX_RANGES_NONE ? gather->head[parent] : TRACE_NONE;
    while (i != TRACE_NONE && gather->list[i].projected.device != found->projected.device)
        i = gather->list[i].next;
    return i != TRACE_NONE ? gather->list[i].projected.row : TRACE_NONE;
}

/* The first row below the parent's that is free; rows that were never used are free. */
static int put_on_row(const struct gather *gather, struct found *found, int64_t **ends,
                      uint32_t *row_count, uint32_t *row_cap)
{
    uint32_t parent = row_of_parent(gather, found);
    uint32_t row = parent == TRACE_NONE ? 0 : parent + 1;
    while (row < *row_count && (*ends)[row] > found->projected.begin_ns)
        row++;
    if (row >= *row_cap) {
        uint32_t cap = (row + 1) * 2;
        int64_t *grown = realloc(*ends, cap * sizeof *grown);
        if (grown == NULL)
            return -1;
        *ends = grown;
        *row_cap = cap;
    }
    while (*row_count <= row)
        (*ends)[(*row_count)++] = INT64_MIN;
    found->projected.row = row;
    (*ends)[row] = found->projected.end_ns;
    return 0;
}

static int put_on_rows(struct gather *gather)
{
    struct found **order = malloc(((size_t)gather->count + 1) * sizeof(*order));
    int64_t *ends = NULL;
    uint32_t row_count = 0;
    uint32_t row_cap = 0;
    int rc = order == NULL ? -1 : 0;
    for (uint32_t i = 0; order != NULL && i < gather->count; i++)
        order[i] = &gather->list[i];
    if (order != NULL)
        qsort(order, gather->count, sizeof(*order), found_cmp);
    for (uint32_t i = 0; rc == 0 && i < gather->count; i++) {
        if (i > 0 && cmp_place(&order[i]->projected, &order[i - 1]->projected) != 0)
            row_count = 0;
        rc = put_on_row(gather, order[i], &ends, &row_count, &row_cap);
    }
    free(ends);
    free(order);
    return rc;
}

/* ---- the result ---- */

static int projected_cmp(const void *a, const void *b)
{
    const struct projected *x = a;
    const struct projected *y = b;
    int c = cmp_place(x, y);
    if (c == 0)
        c = cmp_i64(x->row, y->row);
    if (c == 0)
        c = cmp_i64(x->begin_ns, y->begin_ns);
    return c != 0 ? c : cmp_i64(x->nvtx, y->nvtx);
}

/* A key and where it was: to sort numbers by what they point at. */
struct numbered {
    uint32_t nvtx;
    uint32_t device;
    uint32_t at;
};

static int numbered_cmp(const void *a, const void *b)
{
    const struct numbered *x = a;
    const struct numbered *y = b;
    int c = cmp_i64(x->nvtx, y->nvtx);
    return c != 0 ? c : cmp_i64(x->device, y->device);
}

static int index_by_nvtx(struct projection *out)
{
    struct numbered *keys = malloc(((size_t)out->count + 1) * sizeof *keys);
    if (keys == NULL)
        return -1;
    for (uint32_t i = 0; i < out->count; i++)
        keys[i] = (struct numbered){out->list[i].nvtx, out->list[i].device, i};
    qsort(keys, out->count, sizeof *keys, numbered_cmp);
    for (uint32_t i = 0; i < out->count; i++)
        out->by_nvtx[i] = keys[i].at;
    free(keys);
    return 0;
}

static int fill(struct projection *out, const struct gather *gather)
{
    out->count = gather->count;
    out->list = malloc(((size_t)out->count + 1) * sizeof *out->list);
    out->lanes = malloc(((size_t)out->count + 1) * sizeof *out->lanes);
    out->by_nvtx = malloc(((size_t)out->count + 1) * sizeof *out->by_nvtx);
    if (out->list == NULL || out->lanes == NULL || out->by_nvtx == NULL)
        return -1;
    for (uint32_t i = 0; i < out->count; i++)
        out->list[i] = gather->list[i].projected;
    qsort(out->list, out->count, sizeof *out->list, projected_cmp);
    for (uint32_t i = 0; i < out->count; i++) {
        const struct projected *p = &out->list[i];
        if (i == 0 || cmp_place(p, p - 1) != 0 || p->row != p[-1].row)
            out->lanes[out->lane_count++] = (struct projection_lane){
                .device = p->device, .thread = p->thread, .row = p->row, .first = i};
        out->lanes[out->lane_count - 1].count++;
    }
    return index_by_nvtx(out);
}

static int gather_all(struct gather *gather, struct projection *out, struct err *err)
{
    const struct report_options options = REPORT_OPTIONS_ALL;
    struct report_select select = {0};
    if (select_new(gather->trace, &options, &select, err) != 0)
        return -1;
    const struct report_context context = {gather->trace, &select, NULL};
    int rc = nvtx_ranges_new(&context, KIT_PUSHPOP | KIT_STARTEND, true, &gather->ranges, err);
    if (rc == 0) {
        gather->head = malloc(((size_t)gather->ranges.count + 1) * sizeof *gather->head);
        rc = gather->head == NULL ? err_nomem(err, "the projection") : 0;
    }
    if (rc == 0) {
        memset(gather->head, 0xFF, ((size_t)gather->ranges.count + 1) * sizeof *gather->head);
        rc = nvtx_ranges_calls(&context, &gather->ranges, gather_call, gather, err);
    }
    if (rc == 0 && (gather->failed || put_on_rows(gather) != 0 || fill(out, gather) != 0))
        rc = err_nomem(err, "the projection");
    nvtx_ranges_free(&gather->ranges);
    select_free(&select);
    return rc;
}

struct projection *projection_new(const struct trace *trace, struct err *err)
{
    struct gather gather = {.trace = trace};
    struct projection *out = calloc(1, sizeof *out);
    int rc = -1;
    if (out == NULL) {
        (void)err_nomem(err, "the projection");
        return NULL;
    }
    out->trace = trace;
    rc = gather_all(&gather, out, err);
    free(gather.head);
    free(gather.list);
    if (rc != 0) {
        projection_free(out);
        return NULL;
    }
    return out;
}

void projection_free(struct projection *projection)
{
    if (projection == NULL)
        return;
    free(projection->list);
    free(projection->lanes);
    free(projection->by_nvtx);
    free(projection);
}

const uint32_t *projection_of(const struct projection *projection, uint32_t nvtx, uint32_t *count)
{
    uint32_t low = 0;
    uint32_t high = projection->count;
    *count = 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (projection->list[projection->by_nvtx[mid]].nvtx < nvtx)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + *count < projection->count &&
           projection->list[projection->by_nvtx[low + *count]].nvtx == nvtx)
        ++*count;
    return *count > 0 ? &projection->by_nvtx[low] : NULL;
}

uint32_t projection_lower(const struct projection *projection, const struct projection_lane *lane,
                          int64_t t_ns)
{
    uint32_t low = lane->first;
    uint32_t high = lane->first + lane->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (projection->list[mid].end_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
