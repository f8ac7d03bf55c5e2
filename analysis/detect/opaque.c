/*
 * opaque: see opaque.h.
 */
#include "analysis/detect/opaque.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

static int key_cmp(const void *a, const void *b)
{
    const struct opaque_graph *x = a;
    const struct opaque_graph *y = b;
    if (x->device != y->device) {
        return COMPARE(x->device, y->device);
    }
    if (x->process != y->process) {
        return COMPARE(x->process, y->process);
    }
    return COMPARE(x->name, y->name);
}

static int total_cmp(const void *a, const void *b)
{
    const struct opaque_graph *x = a;
    const struct opaque_graph *y = b;
    if (x->total_ns != y->total_ns) {
        return x->total_ns < y->total_ns ? 1 : -1;
    }
    return key_cmp(a, b);
}

static size_t gather(const struct trace *trace, int64_t begin_ns, int64_t end_ns,
                     struct opaque_graph *list)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t n = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t end = lane->table == TRACE_GPU ? lane->first + lane->count : lane->first;
        for (uint32_t i = lane->first; i < end; i++) {
            if (trace->names[gpu->name[i]].kind != TRACE_GRAPH || gpu->end_ns[i] < begin_ns ||
                gpu->begin_ns[i] >= end_ns) {
                continue;
            }
            int64_t ns = gpu->end_ns[i] - gpu->begin_ns[i];
            list[n++] = (struct opaque_graph){.process = lane->process,
                                              .device = lane->device,
                                              .name = gpu->name[i],
                                              .launches = 1,
                                              .longest = i,
                                              .total_ns = ns,
                                              .longest_ns = ns};
        }
    }
    return n;
}

static void merge(struct opaque_graph *into, const struct opaque_graph *one)
{
    into->launches += one->launches;
    into->total_ns += one->total_ns;
    if (one->longest_ns > into->longest_ns) {
        into->longest_ns = one->longest_ns;
        into->longest = one->longest;
    }
}

struct opaque_graph *opaque_find(const struct trace *trace, int64_t begin_ns, int64_t end_ns,
                                 size_t *count, struct err *err)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t bound = 1;
    for (uint32_t i = 0; i < gpu->count; i++) {
        bound += trace->names[gpu->name[i]].kind == TRACE_GRAPH;
    }
    *count = 0;
    struct opaque_graph *list = calloc(bound, sizeof(*list));
    if (list == NULL) {
        err_nomem(err, "the graphs of a capture");
        return NULL;
    }
    size_t n = gather(trace, begin_ns, end_ns, list);
    if (n == 0) {
        return list;
    }
    sort_list(list, n, sizeof(*list), key_cmp);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (key_cmp(&list[kept], &list[i]) == 0) {
            merge(&list[kept], &list[i]);
        } else {
            list[++kept] = list[i];
        }
    }
    *count = kept + 1;
    sort_list(list, *count, sizeof(*list), total_cmp);
    return list;
}
