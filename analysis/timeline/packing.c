/*
 * packing: see packing.h.
 *
 * A heap of lane cursors gives the ops by begin; a heap of rows by the time at which they are free
 * and a heap of free rows by number give the lowest row that is free.
 */
#include "analysis/timeline/packing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/partition.h"

struct packer {
    const struct trace *trace;
    const uint32_t *lanes;
    uint32_t lane_count;
    struct heap cursors; /* value: place in lanes; key: begin of its next op */
    struct partition rows;
    uint32_t *at; /* next op of each lane */
    uint32_t *index; /* ops by begin */
    uint32_t *lane; /* of each */
    uint32_t *row; /* of each */
};

/* All ops by begin, with their lanes. */
static void packer_merge(struct packer *packer)
{
    const struct trace *trace = packer->trace;
    uint32_t count = 0;
    for (uint32_t l = 0; l < packer->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[packer->lanes[l]];
        packer->at[l] = lane->first;
        heap_push(&packer->cursors, trace->events[lane->table].begin_ns[lane->first], l);
    }
    while (packer->cursors.count > 0) {
        uint32_t l = heap_pop(&packer->cursors).value;
        const struct trace_lane *lane = &trace->lanes[packer->lanes[l]];
        packer->index[count] = packer->at[l]++;
        packer->lane[count++] = packer->lanes[l];
        if (packer->at[l] < lane->first + lane->count) {
            heap_push(&packer->cursors, trace->events[lane->table].begin_ns[packer->at[l]], l);
        }
    }
}

/* Gives each op its row; returns the rows, PARTITION_FULL without memory. An op without length takes one ns, so that it is not
 * drawn over by the next. */
static uint32_t packer_rows(struct packer *packer, const struct trace_events *events,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin_ns = events->begin_ns[packer->index[i]];
        int64_t end_ns = events->end_ns[packer->index[i]];
        packer->row[i] =
            partition_row(&packer->rows, begin_ns, end_ns > begin_ns ? end_ns : begin_ns + 1);
        if (packer->row[i] == PARTITION_FULL) {
            return PARTITION_FULL;
        }
    }
    return packer->rows.row_count;
}

static int packs_alloc(struct packs *out)
{
    size_t count = (size_t)out->count + 1;
    out->row_first = calloc((size_t)out->row_count + 2, sizeof *out->row_first);
    out->begin_ns = malloc(count * sizeof *out->begin_ns);
    out->end_ns = malloc(count * sizeof *out->end_ns);
    out->name = malloc(count * sizeof *out->name);
    out->index = malloc(count * sizeof *out->index);
    out->lane = malloc(count * sizeof *out->lane);
    return out->row_first == NULL || out->begin_ns == NULL || out->end_ns == NULL ||
                   out->name == NULL || out->index == NULL || out->lane == NULL
               ? -1
               : 0;
}

/* Counting sort by row; within a row by begin already. */
static int packs_fill(struct packs *out, const struct packer *packer,
                      const struct trace_events *events)
{
    if (packs_alloc(out) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        out->row_first[packer->row[i] + 1]++;
    }
    for (uint32_t r = 0; r < out->row_count; r++) {
        out->row_first[r + 1] += out->row_first[r];
    }
    uint32_t *next = malloc(((size_t)out->row_count + 1) * sizeof *next);
    if (next == NULL) {
        return -1;
    }
    memcpy(next, out->row_first, out->row_count * sizeof *next);
    for (uint32_t i = 0; i < out->count; i++) {
        uint32_t to = next[packer->row[i]]++;
        uint32_t index = packer->index[i];
        out->begin_ns[to] = events->begin_ns[index];
        out->end_ns[to] = events->end_ns[index];
        out->name[to] = events->name[index];
        out->index[to] = index;
        out->lane[to] = packer->lane[i];
    }
    free(next);
    return 0;
}

static int packer_alloc(struct packer *packer, uint32_t count)
{
    size_t ops = (size_t)count + 1;
    packer->cursors.items = malloc(((size_t)packer->lane_count + 1) * sizeof(struct heap_item));
    packer->at = calloc((size_t)packer->lane_count + 1, sizeof *packer->at);
    packer->index = calloc(ops, sizeof *packer->index);
    packer->lane = calloc(ops, sizeof *packer->lane);
    packer->row = calloc(ops, sizeof *packer->row);
    return packer->cursors.items == NULL || packer->at == NULL || packer->index == NULL ||
                   packer->lane == NULL || packer->row == NULL
               ? -1
               : 0;
}

static void packer_free(struct packer *packer)
{
    free(packer->cursors.items);
    partition_free(&packer->rows);
    free(packer->at);
    free(packer->index);
    free(packer->lane);
    free(packer->row);
}

int packs_make(const struct trace *trace, const uint32_t *lanes, uint32_t lane_count,
               struct packs *out, struct err *err)
{
    struct packer packer = {.trace = trace, .lanes = lanes, .lane_count = lane_count};
    int rc = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t l = 0; l < lane_count; l++) {
        out->count += trace->lanes[lanes[l]].count;
    }
    const struct trace_events *events =
        &trace->events[lane_count > 0 ? trace->lanes[lanes[0]].table : TRACE_GPU];
    rc = packer_alloc(&packer, out->count);
    if (rc == 0) {
        packer_merge(&packer);
        out->row_count = packer_rows(&packer, events, out->count);
        rc = out->row_count == PARTITION_FULL ? -1 : packs_fill(out, &packer, events);
    }
    packer_free(&packer);
    if (rc != 0) {
        packs_free(out);
        return err_nomem(err, "the packed rows");
    }
    return 0;
}

void packs_free(struct packs *packs)
{
    free(packs->row_first);
    free(packs->begin_ns);
    free(packs->end_ns);
    free(packs->name);
    free(packs->index);
    free(packs->lane);
    memset(packs, 0, sizeof *packs);
}

/* ---- which lanes ---- */

static bool lane_is_of(const struct trace_lane *lane, uint32_t process)
{
    return lane->kind == TRACE_LANE_STREAM && (process == TRACE_NONE || lane->process == process);
}

static bool lane_is_near_empty(const struct trace *trace, const struct trace_lane *lane,
                               const struct packs_rule *rule, int64_t span_ns)
{
    int64_t busy_ns =
        trace->gpu_busy_ns[lane->first + lane->count] - trace->gpu_busy_ns[lane->first];
    return lane->count < rule->ops_below ||
           (double)busy_ns * 100.0 < rule->busy_below * (double)span_ns;
}

uint32_t packs_pick(const struct trace *trace, uint32_t device, uint32_t process,
                    const struct packs_rule *rule, bool *pick)
{
    const struct trace_device *gpu = &trace->devices[device];
    int64_t span_ns =
        gpu->busy_count > 0 ? gpu->busy_end_ns[gpu->busy_count - 1] - gpu->busy_begin_ns[0] : 0;
    uint32_t lanes = 0;
    uint32_t picked = 0;
    memset(pick, 0, gpu->lane_count * sizeof *pick);
    for (uint32_t l = 0; l < gpu->lane_count; l++) {
        lanes += lane_is_of(&trace->lanes[gpu->first_lane + l], process) ? 1 : 0;
    }
    if (lanes <= rule->streams_above) {
        return 0;
    }
    for (uint32_t l = 0; l < gpu->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[gpu->first_lane + l];
        pick[l] = lane_is_of(lane, process) && lane_is_near_empty(trace, lane, rule, span_ns);
        picked += pick[l] ? 1 : 0;
    }
    if (picked >= 3) {
        return picked;
    }
    memset(pick, 0, gpu->lane_count * sizeof *pick);
    return 0;
}
