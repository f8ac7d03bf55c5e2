/* trace: questions to a loaded capture, and its end. Loading is in load.c. */
#include "analysis/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/trace/cache_layout.h"

/* Frees an array that does not lie in the file that it is kept in. */
static void free_array(const struct trace_own *own, void *array)
{
    if (!cache_grow_holds(own->growing, array)) {
        free(array);
    }
}

/* The arrays of a trace that was loaded; those of a cached one lie in its map. */
static void trace_free_arrays(struct trace *trace, struct trace_own *own)
{
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct trace_events *events = &trace->events[t];
        free_array(own, events->begin_ns);
        free_array(own, events->end_ns);
        free_array(own, events->name);
        free_array(own, events->row);
        free_array(own, events->link);
    }
    busy_free_unions(own, trace->device_count);
    free_array(own, trace->launch_ops);
    free_array(own, trace->gpu_busy_ns);
    free(trace->lanes);
    free(own->open);
    free(own->cross);
    cache_grow_end(own->growing);
}

void trace_free(struct trace *trace)
{
    if (trace == NULL) {
        return;
    }
    struct trace_own *own = trace->own;
    if (own->map == NULL) {
        trace_free_arrays(trace, own);
    } else {
        (void)munmap(own->map, own->map_bytes);
        if (own->map_fd >= 0) {
            (void)close(own->map_fd);
        }
    }
    free(trace->names);
    free(trace->processes);
    free(trace->threads);
    free(trace->devices);
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        free(own->table_lanes[t]);
    }
    shelf_free(own);
    store_file_close(own->file);
    intern_free(&own->texts);
    arena_free(&own->arena);
    free(own);
    free(trace);
}

int trace_index_lanes(struct trace *trace)
{
    struct trace_own *own = trace->own;
    uint32_t counts[TRACE_TABLE_COUNT] = {0};
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        counts[trace->lanes[l].table]++;
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        own->table_lanes[t] = calloc((size_t)counts[t] + 1, sizeof *own->table_lanes[t]);
        if (own->table_lanes[t] == NULL) {
            return -1;
        }
    }
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        uint8_t table = trace->lanes[l].table;
        own->table_lanes[table][own->table_lane_count[table]++] = l;
    }
    return 0;
}

void trace_set_file(struct trace *trace, struct store_file *file)
{
    trace_own(trace)->file = store_file_share(file);
    trace->path = store_file_path(file);
}

uint32_t trace_lane_of(const struct trace *trace, enum trace_table table, uint32_t index)
{
    const struct trace_own *own = trace_own(trace);
    const uint32_t *lanes = own->table_lanes[table];
    uint32_t low = 0;
    uint32_t high = own->table_lane_count[table];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->lanes[lanes[middle]].first <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high == 0 ? TRACE_NONE : lanes[low];
}

const uint32_t *trace_ops_of(const struct trace *trace, uint32_t api, uint32_t *count)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t first = trace->events[TRACE_API].link[api];
    uint32_t end = first;
    *count = 0;
    if (first == TRACE_NONE) {
        return NULL;
    }
    while (end < trace->launch_op_count && gpu->link[trace->launch_ops[end]] == api) {
        end++;
    }
    *count = end - first;
    return trace->launch_ops + first;
}

/* Is value in the ascending list? O(log n). */
static bool trace_listed(const uint32_t *list, uint32_t count, uint32_t value)
{
    uint32_t low = 0;
    BISECT(uint32_t, low, count, mid, list[mid] < value)
    return low < count && list[low] == value;
}

bool trace_is_open(const struct trace *trace, uint32_t nvtx)
{
    const struct trace_own *own = trace_own(trace);
    return trace_listed(own->open, own->open_count, nvtx);
}

bool trace_is_cross_thread(const struct trace *trace, uint32_t nvtx)
{
    const struct trace_own *own = trace_own(trace);
    return trace_listed(own->cross, own->cross_count, nvtx);
}

const char *trace_source_table(const struct trace *trace, enum trace_table table, uint32_t index)
{
    static const enum raw_source sources[TRACE_KIND_COUNT] = {
        [TRACE_KERNEL] = RAW_KERNEL,
        [TRACE_MEMCPY] = RAW_MEMCPY,
        [TRACE_MEMSET] = RAW_MEMSET,
        [TRACE_GRAPH] = RAW_GRAPH,
        [TRACE_MIGRATION] = RAW_MEMCPY,
        [TRACE_API_CALL] = RAW_API,
        [TRACE_NVTX_PUSHPOP] = RAW_NVTX,
        [TRACE_NVTX_STARTEND] = RAW_NVTX,
        [TRACE_NVTX_MARK] = RAW_NVTX,
        [TRACE_OSRT_CALL] = RAW_OSRT,
        [TRACE_OVERHEAD_PROFILER] = RAW_OVERHEAD_PROFILER,
        [TRACE_OVERHEAD_CUDA] = RAW_OVERHEAD_CUDA,
    };
    uint32_t name = trace->events[table].name[index];
    return RAW_TABLES[sources[trace->names[name].kind]].name;
}

const char *trace_left_out_table(const struct trace_left_out *left_out)
{
    return RAW_TABLES[left_out->source].name;
}

struct store *trace_store(const struct trace *trace, struct err *err)
{
    struct trace_own *own = trace->own;
    if (own != NULL && own->file != NULL) {
        return store_open_file(own->file, err);
    }
    return store_open(trace->path, err); /* one that was made, not loaded */
}

int trace_check(const struct trace *trace, struct err *err)
{
    const struct trace_own *own = trace->own;
    return own == NULL || own->file == NULL ? 0 : store_file_check(own->file, err);
}

uint32_t trace_lane_lower(const struct trace *trace, const struct trace_lane *lane, int64_t t_ns)
{
    const int64_t *end_ns = trace->events[lane->table].end_ns;
    uint32_t low = lane->first;
    BISECT(uint32_t, low, lane->first + lane->count, mid, end_ns[mid] <= t_ns)
    return low;
}
