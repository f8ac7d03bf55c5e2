/*
 * cover: see cover.h.
 */
#include "analysis/facts/cover.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

enum {
    PAIRS_LEAST = 8, /* fewer are no median of a device's own */
    PAIRS_MAX = 1 << 16, /* the first so many stand for all */
};

struct part {
    int64_t begin_ns;
    int64_t end_ns;
};

static int part_cmp(const void *a, const void *b)
{
    const struct part *x = a;
    const struct part *y = b;
    return COMPARE(x->begin_ns, y->begin_ns);
}

static int64_t parts_union(struct part *parts, size_t count)
{
    int64_t ns = 0;
    int64_t until_ns = INT64_MIN;
    sort_list(parts, count, sizeof *parts, part_cmp);
    for (size_t i = 0; i < count; i++) {
        int64_t from_ns = parts[i].begin_ns > until_ns ? parts[i].begin_ns : until_ns;
        if (parts[i].end_ns > from_ns) {
            ns += parts[i].end_ns - from_ns;
            until_ns = parts[i].end_ns;
        }
    }
    return ns;
}

int64_t cover_of_name(const struct trace *trace, uint32_t device, uint32_t name, int64_t begin_ns,
                      int64_t end_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *of = &trace->devices[device];
    struct part *parts = NULL;
    size_t count = 0;
    size_t cap = 0;
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (gpu->name[i] != name || gpu->end_ns[i] <= begin_ns || gpu->begin_ns[i] >= end_ns) {
                continue;
            }
            struct part *grown = array_grow(parts, &cap, count + 1, sizeof *grown);
            if (grown == NULL) {
                free(parts);
                return -1;
            }
            parts = grown;
            parts[count++] =
                (struct part){gpu->begin_ns[i] > begin_ns ? gpu->begin_ns[i] : begin_ns,
                              gpu->end_ns[i] < end_ns ? gpu->end_ns[i] : end_ns};
        }
    }
    int64_t ns = count > 0 ? parts_union(parts, count) : 0;
    free(parts);
    return ns;
}

/* Was op i + 1 of a lane queued as op i ended? */
static bool is_queued(const struct trace *trace, uint32_t i)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t launch = gpu->link[i + 1];
    if (launch == TRACE_NONE || trace->names[gpu->name[i]].kind != TRACE_KERNEL ||
        trace->names[gpu->name[i + 1]].kind != TRACE_KERNEL) {
        return false;
    }
    return launch == gpu->link[i] || trace->events[TRACE_API].end_ns[launch] <= gpu->end_ns[i];
}

int64_t cover_follow_ns(const struct trace *trace, uint32_t device, uint32_t *pairs)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *of = &trace->devices[device];
    int64_t *times_ns = malloc(PAIRS_MAX * sizeof *times_ns);
    size_t count = 0;
    *pairs = 0;
    if (times_ns == NULL) {
        return -1;
    }
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first; i + 1 < lane->first + lane->count && count < PAIRS_MAX;
             i++) {
            if (is_queued(trace, i)) {
                times_ns[count++] = gpu->begin_ns[i + 1] - gpu->end_ns[i];
            }
        }
    }
    int64_t median_ns = 0;
    if (count >= PAIRS_LEAST) {
        sort_i64(times_ns, count);
        median_ns = times_ns[count / 2];
        *pairs = (uint32_t)count;
    }
    free(times_ns);
    return median_ns;
}
