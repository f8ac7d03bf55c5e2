/*
 * projection: see projection.h. Which calls lie in which ranges is nvtx_ranges.h's to say; here the
 * ops of the calls are gathered by range and device, and the results put on rows.
 */
#include "analysis/timeline/projection.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/timeline/nvtx_ranges.h"

/* What a range has on one device; those of a range are chained. */
struct found {
    struct projected projected;
    uint32_t range; /* index in ranges */
    uint32_t next; /* of the same range, TRACE_NONE */
    uint32_t last_api; /* the call that was counted last */
};

struct gather {
    const struct trace *trace;
    struct nvtx_ranges ranges;
    uint32_t lane; /* of the last op: the next is often in it */
    uint32_t *head; /* owned: first found of each range */
    struct found *list; /* owned */
    struct found **order; /* owned: by device, thread, begin */
    uint32_t count;
    size_t cap;
    bool failed;
};

static struct found *found_of(struct gather *gather, uint32_t range, uint32_t device)
{
    uint32_t i = gather->head[range];
    while (i != TRACE_NONE && gather->list[i].projected.device != device) {
        i = gather->list[i].next;
    }
    if (i != TRACE_NONE) {
        return &gather->list[i];
    }
    struct found *grown =
        array_grow(gather->list, &gather->cap, (size_t)gather->count + 1, sizeof *grown);
    if (grown == NULL || gather->count == UINT32_MAX) {
        return NULL;
    }
    gather->list = grown;
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

static uint32_t device_of(struct gather *gather, uint32_t op)
{
    const struct trace_lane *lane = &gather->trace->lanes[gather->lane];
    if (lane->table != TRACE_GPU || op < lane->first || op - lane->first >= lane->count) {
        gather->lane = trace_lane_of(gather->trace, TRACE_GPU, op);
        lane = &gather->trace->lanes[gather->lane];
    }
    return lane->device;
}

static void gather_call(void *arg, uint32_t range, uint32_t api)
{
    struct gather *gather = arg;
    const struct trace_events *gpu = &gather->trace->events[TRACE_GPU];
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(gather->trace, api, &count);
    for (uint32_t k = 0; k < count && !gather->failed; k++) {
        uint32_t op = ops[k];
        struct found *found = found_of(gather, range, device_of(gather, op));
        if (found == NULL) {
            gather->failed = true;
            return;
        }
        struct projected *projected = &found->projected;
        if (gpu->begin_ns[op] < projected->begin_ns) {
            projected->begin_ns = gpu->begin_ns[op];
        }
        if (gpu->end_ns[op] > projected->end_ns) {
            projected->end_ns = gpu->end_ns[op];
        }
        projected->ops++;
        projected->launches += found->last_api != api ? 1 : 0;
        found->last_api = api;
    }
}

/* ---- rows ---- */

static int cmp_place(const struct projected *a, const struct projected *b)
{
    int c = COMPARE(a->device, b->device);
    return c != 0 ? c : COMPARE(a->thread, b->thread);
}

/* Ranges are sorted by thread, begin and end, so a parent has a smaller number than its children,
 * and lies around them here as well. */
static int found_cmp(const void *a, const void *b, const void *arg)
{
    (void)arg;
    const struct found *x = *(const struct found *const *)a;
    const struct found *y = *(const struct found *const *)b;
    int c = cmp_place(&x->projected, &y->projected);
    if (c == 0) {
        c = COMPARE(x->projected.begin_ns, y->projected.begin_ns);
    }
    if (c == 0) {
        c = COMPARE(y->projected.end_ns, x->projected.end_ns);
    }
    return c != 0 ? c : COMPARE(x->range, y->range);
}

static uint32_t row_of_parent(const struct gather *gather, const struct found *found)
{
    uint32_t parent = gather->ranges.list[found->range].parent;
    uint32_t i = parent != NVTX_RANGES_NONE ? gather->head[parent] : TRACE_NONE;
    while (i != TRACE_NONE && gather->list[i].projected.device != found->projected.device) {
        i = gather->list[i].next;
    }
    return i != TRACE_NONE ? gather->list[i].projected.row : TRACE_NONE;
}

/* The first row below the parent's that is free; rows that were never used are free. */
static int put_on_row(const struct gather *gather, struct found *found, int64_t **ends,
                      uint32_t *row_count, size_t *row_cap)
{
    uint32_t parent = row_of_parent(gather, found);
    uint32_t row = parent == TRACE_NONE ? 0 : parent + 1;
    while (row < *row_count && (*ends)[row] > found->projected.begin_ns) {
        row++;
    }
    int64_t *grown = array_grow(*ends, row_cap, (size_t)row + 1, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    *ends = grown;
    while (*row_count <= row) {
        (*ends)[(*row_count)++] = INT64_MIN;
    }
    found->projected.row = row;
    (*ends)[row] = found->projected.end_ns;
    return 0;
}

static int put_on_rows(struct gather *gather)
{
    int64_t *ends = NULL;
    uint32_t row_count = 0;
    size_t row_cap = 0;
    gather->order = malloc(((size_t)gather->count + 1) * sizeof(*gather->order));
    if (gather->order == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < gather->count; i++) {
        gather->order[i] = &gather->list[i];
    }
    int rc = sort_runs(gather->order, gather->count, sizeof(*gather->order), found_cmp, NULL);
    for (uint32_t i = 0; rc == 0 && i < gather->count; i++) {
        struct found *found = gather->order[i];
        if (i > 0 && cmp_place(&found->projected, &gather->order[i - 1]->projected) != 0) {
            row_count = 0;
        }
        rc = put_on_row(gather, found, &ends, &row_count, &row_cap);
    }
    free(ends);
    return rc;
}

/* ---- the result ---- */

/* Indices of the list by nvtx, then device: a counting sort, as the list is by device. */
static int index_by_nvtx(struct projection *out)
{
    uint32_t ranges = out->trace->events[TRACE_NVTX].count;
    uint32_t *next = calloc((size_t)ranges + 2, sizeof *next);
    if (next == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        next[out->list[i].nvtx + 1]++;
    }
    for (uint32_t r = 0; r < ranges; r++) {
        next[r + 1] += next[r];
    }
    for (uint32_t i = 0; i < out->count; i++) {
        out->by_nvtx[next[out->list[i].nvtx]++] = i;
    }
    free(next);
    return 0;
}

/* The group order[from, to) of one device and thread, by row: a counting sort; makes its lanes. */
static int fill_group(struct projection *out, struct found *const *order, uint32_t from,
                      uint32_t to)
{
    uint32_t rows = 0;
    for (uint32_t i = from; i < to; i++) {
        rows = order[i]->projected.row >= rows ? order[i]->projected.row + 1 : rows;
    }
    uint32_t *next = calloc((size_t)rows + 1, sizeof *next);
    if (next == NULL) {
        return -1;
    }
    for (uint32_t i = from; i < to; i++) {
        next[order[i]->projected.row + 1]++;
    }
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t count = next[r + 1];
        next[r + 1] += next[r];
        out->lanes[out->lane_count++] =
            (struct projection_lane){.device = order[from]->projected.device,
                                     .thread = order[from]->projected.thread,
                                     .row = r,
                                     .first = from + next[r],
                                     .count = count};
    }
    for (uint32_t i = from; i < to; i++) {
        out->list[from + next[order[i]->projected.row]++] = order[i]->projected;
    }
    free(next);
    return 0;
}

static int fill(struct projection *out, const struct gather *gather)
{
    out->count = gather->count;
    out->list = calloc((size_t)out->count + 1, sizeof *out->list);
    out->lanes = malloc(((size_t)out->count + 1) * sizeof *out->lanes);
    out->by_nvtx = malloc(((size_t)out->count + 1) * sizeof *out->by_nvtx);
    if (out->list == NULL || out->lanes == NULL || out->by_nvtx == NULL) {
        return -1;
    }
    for (uint32_t from = 0; from < out->count;) {
        uint32_t to = from + 1;
        while (to < out->count &&
               cmp_place(&gather->order[from]->projected, &gather->order[to]->projected) == 0) {
            to++;
        }
        if (fill_group(out, gather->order, from, to) != 0) {
            return -1;
        }
        from = to;
    }
    return index_by_nvtx(out);
}

static int gather_all(struct gather *gather, struct projection *out, struct err *err)
{
    const struct select_options options = SELECT_OPTIONS_ALL;
    struct selection select = {0};
    if (select_new(gather->trace, &options, &select, err) != 0) {
        return -1;
    }
    int rc = nvtx_ranges_new(gather->trace, &select,
                             1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND, true,
                             &gather->ranges, err);
    if (rc == 0) {
        gather->head = malloc(((size_t)gather->ranges.count + 1) * sizeof *gather->head);
        rc = gather->head == NULL ? err_nomem(err, "the projection") : 0;
    }
    if (rc == 0) {
        memset(gather->head, 0xFF, ((size_t)gather->ranges.count + 1) * sizeof *gather->head);
        rc = nvtx_ranges_calls(gather->trace, &select, &gather->ranges, gather_call, gather, err);
    }
    if (rc == 0 && (gather->failed || put_on_rows(gather) != 0 || fill(out, gather) != 0)) {
        rc = err_nomem(err, "the projection");
    }
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
    free(gather.order);
    free(gather.list);
    if (rc != 0) {
        projection_free(out);
        return NULL;
    }
    return out;
}

void projection_free(struct projection *projection)
{
    if (projection == NULL) {
        return;
    }
    free(projection->list);
    free(projection->lanes);
    free(projection->by_nvtx);
    free(projection);
}

const uint32_t *projection_of(const struct projection *projection, uint32_t nvtx, uint32_t *count)
{
    uint32_t low = 0;
    *count = 0;
    BISECT(uint32_t, low, projection->count, mid,
           projection->list[projection->by_nvtx[mid]].nvtx < nvtx)
    while (low + *count < projection->count &&
           projection->list[projection->by_nvtx[low + *count]].nvtx == nvtx) {
        ++*count;
    }
    return *count > 0 ? &projection->by_nvtx[low] : NULL;
}

uint32_t projection_lower(const struct projection *projection, const struct projection_lane *lane,
                          int64_t t_ns)
{
    uint32_t low = lane->first;
    BISECT(uint32_t, low, lane->first + lane->count, mid, projection->list[mid].end_ns <= t_ns)
    return low;
}
