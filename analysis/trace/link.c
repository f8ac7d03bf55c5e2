/*
 * link: which call launched an op. The key is the correlation id within a process: ids start anew
 * in every process, and 0 means none.
 *
 * For each process a table from correlation id to its call (direct where ids are dense, which they
 * nearly always are, else sorted), then one pass over the ops. Where two calls bear an id, the
 * outermost counts. Ops without a process are looked up in all, and linked where just one has the
 * id. O(n), or O(n log n) for scattered ids.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/trace/trace_internal.h"

struct link_call {
    uint32_t correlation;
    uint32_t api;
};

/* The calls of one process. */
struct link_map {
    struct link_call *calls; /* sorted by correlation, then api */
    uint32_t count;
    uint32_t *direct; /* by correlation - least; TRACE_NONE = none. NULL: search calls */
    uint32_t least;
    uint32_t span;
};

/* Links of ops while they are found; the correlation ids stay in events[].link until the end. */
struct linking {
    struct trace *trace;
    uint32_t *found; /* of each op */
    uint32_t *lanes; /* the lanes of GPU and API, by process */
    uint32_t *first; /* of each process in lanes; process_count + 1 */
    uint32_t nobody; /* the process without an id, TRACE_NONE if there is none */
};

enum {
    LINK_SPARSE = 8 /* ids may be spread over this many times the calls */
};

/* Groups the lanes by process: a counting sort. */
static int link_group(struct linking *linking)
{
    const struct trace *trace = linking->trace;
    uint32_t at = 0;
    linking->lanes = calloc((size_t)trace->lane_count + 1, sizeof *linking->lanes);
    linking->first = calloc((size_t)trace->process_count + 2, sizeof *linking->first);
    if (linking->lanes == NULL || linking->first == NULL) {
        return -1;
    }
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        linking->first[trace->lanes[l].process + 1]++;
    }
    for (uint32_t p = 0; p <= trace->process_count; p++) {
        at += linking->first[p];
        linking->first[p] = at;
    }
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        linking->lanes[linking->first[trace->lanes[l].process]++] = l;
    }
    for (uint32_t p = trace->process_count; p > 0; p--) {
        linking->first[p] = linking->first[p - 1];
    }
    linking->first[0] = 0;
    linking->nobody = TRACE_NONE;
    for (uint32_t p = 0; p < trace->process_count; p++) {
        linking->nobody = trace->processes[p].global_pid == 0 ? p : linking->nobody;
    }
    return 0;
}

static int call_order(const void *a, const void *b)
{
    const struct link_call *x = a;
    const struct link_call *y = b;
    if (x->correlation != y->correlation) {
        return COMPARE(x->correlation, y->correlation);
    }
    return COMPARE(x->api, y->api);
}

/* Calls each for the calls of a process that bear an id. */
static void each_call(const struct linking *linking, uint32_t process, struct link_map *map,
                      void (*each)(struct link_map *map, uint32_t correlation, uint32_t api))
{
    const struct trace *trace = linking->trace;
    const uint32_t *link = trace->events[TRACE_API].link;
    for (uint32_t l = linking->first[process]; l < linking->first[process + 1]; l++) {
        const struct trace_lane *lane = &trace->lanes[linking->lanes[l]];
        for (uint32_t i = 0; lane->table == TRACE_API && i < lane->count; i++) {
            if (link[lane->first + i] != 0) {
                each(map, link[lane->first + i], lane->first + i);
            }
        }
    }
}

static void map_measure(struct link_map *map, uint32_t correlation, uint32_t api)
{
    uint32_t last = map->least + map->span;
    (void)api;
    if (map->count++ == 0) {
        map->least = correlation;
        last = correlation;
    }
    map->least = correlation < map->least ? correlation : map->least;
    last = correlation > last ? correlation : last;
    map->span = last - map->least;
}

static void map_put_direct(struct link_map *map, uint32_t correlation, uint32_t api)
{
    uint32_t *slot = &map->direct[correlation - map->least];
    *slot = *slot == TRACE_NONE ? api : *slot;
}

static void map_put_sorted(struct link_map *map, uint32_t correlation, uint32_t api)
{
    map->calls[map->count++] = (struct link_call){correlation, api};
}

static int map_build(const struct linking *linking, uint32_t process, struct link_map *map)
{
    *map = (struct link_map){0};
    each_call(linking, process, map, map_measure);
    if (map->count == 0) {
        return 0;
    }
    if (map->span / LINK_SPARSE <= map->count) {
        size_t bytes = ((size_t)map->span + 1) * sizeof *map->direct;
        map->direct = malloc(bytes);
        if (map->direct == NULL) {
            return -1;
        }
        memset(map->direct, 0xff, bytes);
        each_call(linking, process, map, map_put_direct);
        return 0;
    }
    map->calls = malloc(map->count * sizeof *map->calls);
    if (map->calls == NULL) {
        return -1;
    }
    map->count = 0;
    each_call(linking, process, map, map_put_sorted);
    sort_list(map->calls, map->count, sizeof *map->calls, call_order);
    return 0;
}

static void map_free(struct link_map *map)
{
    free(map->calls);
    free(map->direct);
}

/* The call of an id, TRACE_NONE where there is none. */
static uint32_t map_find(const struct link_map *map, uint32_t correlation)
{
    uint32_t low = 0;
    if (map->direct != NULL) {
        return correlation < map->least || correlation - map->least > map->span
                   ? TRACE_NONE
                   : map->direct[correlation - map->least];
    }
    BISECT(uint32_t, low, map->count, mid, map->calls[mid].correlation < correlation)
    return low < map->count && map->calls[low].correlation == correlation ? map->calls[low].api
                                                                          : TRACE_NONE;
}

static const uint32_t LINK_AMBIGUOUS = UINT32_MAX - 1;

/* Links the ops of one lane with the calls of one process. */
static void link_lane(struct linking *linking, const struct trace_lane *lane,
                      const struct link_map *map, bool own)
{
    const uint32_t *correlation = linking->trace->events[TRACE_GPU].link + lane->first;
    uint32_t *found = linking->found + lane->first;
    for (uint32_t i = 0; i < lane->count; i++) {
        uint32_t api = correlation[i] == 0 ? TRACE_NONE : map_find(map, correlation[i]);
        if (api == TRACE_NONE) {
            continue;
        }
        found[i] = own || found[i] == TRACE_NONE ? api : (uint32_t)LINK_AMBIGUOUS;
    }
}

/* Links the ops of one process with the calls of another, or the same. */
static void link_ops_of(struct linking *linking, uint32_t process, const struct link_map *map,
                        bool own)
{
    for (uint32_t l = linking->first[process]; l < linking->first[process + 1]; l++) {
        const struct trace_lane *lane = &linking->trace->lanes[linking->lanes[l]];
        if (lane->table == TRACE_GPU) {
            link_lane(linking, lane, map, own);
        }
    }
}

static int link_process(struct linking *linking, uint32_t process)
{
    struct link_map map;
    int status = map_build(linking, process, &map);
    if (status == 0 && map.count > 0) {
        link_ops_of(linking, process, &map, true);
        if (linking->nobody != TRACE_NONE && linking->nobody != process) {
            link_ops_of(linking, linking->nobody, &map, false);
        }
    }
    map_free(&map);
    return status;
}

/* Sorts the few ops of one call by begin: they come lane by lane, each lane sorted. */
static void sort_ops(const struct trace *trace, uint32_t *ops, uint32_t count)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    bool sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        sorted = sorted && gpu->begin_ns[ops[i - 1]] <= gpu->begin_ns[ops[i]];
    }
    if (!sorted) {
        (void)sort_by_time(gpu->begin_ns, gpu->end_ns, ops, count);
    }
}

/* launch_ops and the calls' links, from the ops' links: a counting sort by call. */
static int link_ops(struct trace *trace)
{
    struct trace_events *gpu = &trace->events[TRACE_GPU];
    struct trace_events *api = &trace->events[TRACE_API];
    uint32_t at = 0;
    memset(api->link, 0, (size_t)api->count * sizeof *api->link);
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (gpu->link[i] != TRACE_NONE) {
            api->link[gpu->link[i]]++;
            trace->launch_op_count++;
        }
    }
    trace->launch_ops = calloc((size_t)trace->launch_op_count + 1, sizeof *trace->launch_ops);
    if (trace->launch_ops == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < api->count; i++) {
        uint32_t ops = api->link[i];
        api->link[i] = ops == 0 ? TRACE_NONE : at;
        at += ops;
    }
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (gpu->link[i] != TRACE_NONE) {
            trace->launch_ops[api->link[gpu->link[i]]++] = i;
        }
    }
    /* Every link now is one past the call's ops: the ops of the call before end where it begins. */
    at = 0;
    for (uint32_t i = 0; i < api->count; i++) {
        if (api->link[i] != TRACE_NONE) {
            uint32_t end = api->link[i];
            api->link[i] = at;
            sort_ops(trace, trace->launch_ops + at, end - at);
            at = end;
        }
    }
    return 0;
}

static void count_unlinked(struct trace *trace)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const int64_t *call_ns = trace->events[TRACE_API].begin_ns;
    for (uint32_t i = 0; i < gpu->count; i++) {
        trace->counts.early +=
            gpu->link[i] != TRACE_NONE && gpu->begin_ns[i] < call_ns[gpu->link[i]];
    }
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = 0; lane->kind == TRACE_LANE_STREAM && i < lane->count; i++) {
            trace->counts.unlinked += trace->events[TRACE_GPU].link[lane->first + i] == TRACE_NONE;
        }
    }
}

int link_launches(struct load *load, struct err *err)
{
    struct trace *trace = load->trace;
    struct trace_events *gpu = &trace->events[TRACE_GPU];
    struct linking linking = {.trace = trace};
    size_t bytes = ((size_t)gpu->count + 1) * sizeof *linking.found;
    int status = -1;
    linking.found = malloc(bytes);
    if (linking.found != NULL) {
        memset(linking.found, 0xff, bytes);
        status = link_group(&linking);
    }
    for (uint32_t p = 0; p < trace->process_count && status == 0; p++) {
        status = link_process(&linking, p);
    }
    free(linking.lanes);
    free(linking.first);
    if (status != 0) {
        free(linking.found);
        return err_nomem(err, "links");
    }
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (linking.found[i] == LINK_AMBIGUOUS) {
            linking.found[i] = TRACE_NONE;
        }
    }
    free(gpu->link);
    gpu->link = linking.found;
    count_unlinked(trace);
    return link_ops(trace) == 0 ? 0 : err_nomem(err, "links");
}
