/*
 * cache_grow: a kept file that is written while its capture is read; see cache_layout.h. A column goes to
 * its place as soon as it is done, and its memory is given back: what is read of it from then on is a
 * page of the file, which the system may drop and read again. What cannot be written stays where it is.
 *
 * The map is made at once, for the most that there can be, and is read only where something was written.
 */
/* For madvise: POSIX's own advice is not followed by Linux.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming) */
#define _DEFAULT_SOURCE 1
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/trace/cache_layout.h"

enum {
    REST_BYTES = 1 << 26 /* less is not worth it */
};

/* The most that the sections of events, launch_ops, sums and unions can take. */
static uint64_t most_bytes(const struct cache_head *counts)
{
    uint64_t ops = counts->event_count[TRACE_GPU];
    uint64_t all = cache_aligned(sizeof *counts);
    for (int s = 0; s < CACHE_LAUNCH_OPS; s++) {
        all += cache_aligned(cache_section_bytes(counts, s));
    }
    return all + cache_aligned(ops * sizeof(uint32_t)) +
           cache_aligned((ops + 1) * sizeof(int64_t)) +
           cache_aligned((3 * ops + counts->device_count) * sizeof(int64_t));
}

static int grow_open(struct cache_growing *growing, const struct store_file *file,
                     uint32_t limit_mib)
{
    if (cache_name(file, &growing->name, &growing->key) != 0 ||
        cache_folder_open(&growing->folder, NULL) != 0) {
        return -1;
    }
    growing->folder.limit_mib = limit_mib > 0 ? limit_mib : growing->folder.limit_mib;
    if (cache_folder_begin(&growing->folder, "", &growing->part) != 0) {
        return -1;
    }
    growing->fd = fcntl(growing->part.fd, F_DUPFD_CLOEXEC, 0);
    return growing->fd < 0 ? -1 : 0;
}

struct cache_growing *cache_grow_begin(const struct store_file *file,
                                       const struct cache_head *counts, uint32_t limit_mib)
{
    struct cache_growing *growing = calloc(1, sizeof *growing);
    if (growing == NULL) {
        return NULL;
    }
    growing->fd = -1;
    growing->folder.fd = -1;
    growing->part.fd = -1;
    growing->map_bytes = (size_t)most_bytes(counts);
    void *map = MAP_FAILED;
    if (grow_open(growing, file, limit_mib) == 0) {
        map = mmap(NULL, growing->map_bytes, PROT_READ, MAP_SHARED, growing->fd, 0);
    }
    if (map == MAP_FAILED) {
        cache_grow_end(growing);
        return NULL;
    }
    growing->map = map;
    growing->at[0] = cache_aligned(sizeof *counts);
    for (int s = 0; s < CACHE_LAUNCH_OPS; s++) {
        growing->at[s + 1] = growing->at[s] + cache_aligned(cache_section_bytes(counts, s));
    }
    return growing;
}

void cache_grow_end(struct cache_growing *growing)
{
    if (growing == NULL) {
        return;
    }
    if (growing->map != NULL) {
        (void)munmap(growing->map, growing->map_bytes);
    }
    if (growing->fd >= 0) {
        (void)close(growing->fd);
    }
    cache_folder_drop(&growing->part);
    cache_folder_close(&growing->folder);
    buf_free(&growing->name);
    free(growing);
}

void *cache_grow_put(struct cache_growing *growing, int section, void *array, uint64_t bytes)
{
    unsigned char rest[CACHE_ALIGN] = {0};
    if (growing == NULL || array == NULL || bytes == 0 || atomic_load(&growing->failed)) {
        return array;
    }
    uint64_t at = growing->at[section];
    size_t whole = (size_t)bytes / CACHE_ALIGN * CACHE_ALIGN;
    size_t left = (size_t)bytes - whole;
    if (left > 0) {
        memcpy(rest, (const unsigned char *)array + whole, left);
    }
    if (cache_folder_write_at(growing->fd, array, whole, (int64_t)at) != 0 ||
        (left > 0 &&
         cache_folder_write_at(growing->fd, rest, sizeof rest, (int64_t)(at + whole)) != 0)) {
        atomic_store(&growing->failed, true);
        return array;
    }
    growing->places[section] = (struct cache_place){bytes, cache_padded_sum(array, (size_t)bytes)};
    growing->done[section] = true;
    free(array);
    return growing->map + at;
}

bool cache_grow_holds(const struct cache_growing *growing, const void *array)
{
    const unsigned char *at = array;
    return growing != NULL && growing->map != NULL && at >= growing->map &&
           at < growing->map + growing->map_bytes;
}

/* The unions of all devices in one array, as they are kept; NULL without memory. */
int64_t *cache_join_unions(const struct trace *trace, size_t *count)
{
    size_t at = 0;
    *count = 0;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        *count += (size_t)trace->devices[d].busy_count * 3 + 1;
    }
    int64_t *all = malloc((*count + 1) * sizeof *all);
    for (uint32_t d = 0; all != NULL && d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        size_t n = device->busy_count;
        if (n > 0) {
            memcpy(all + at, device->busy_begin_ns, n * sizeof *all);
            memcpy(all + at + n, device->busy_end_ns, n * sizeof *all);
        }
        memcpy(all + at + 2 * n, device->busy_sum_ns, (n + 1) * sizeof *all);
        at += 3 * n + 1;
    }
    return all;
}

static void put_unions(struct cache_growing *growing, struct trace *trace)
{
    size_t count = 0;
    int64_t *joined = cache_join_unions(trace, &count);
    const int64_t *all = cache_grow_put(growing, CACHE_UNIONS, joined, count * sizeof *joined);
    if (!cache_grow_holds(growing, all)) {
        free(all == joined ? joined : NULL);
        return;
    }
    for (uint32_t d = 0; d < trace->device_count; d++) {
        struct trace_device *device = &trace->devices[d];
        device->busy_begin_ns = all;
        device->busy_end_ns = all + device->busy_count;
        device->busy_sum_ns = all + 2 * (size_t)device->busy_count;
        all += 3 * (size_t)device->busy_count + 1;
    }
    busy_free_unions(trace_own(trace), trace->device_count);
}

void cache_grow_rest(struct trace *trace)
{
    struct cache_growing *growing = trace_own(trace)->growing;
    struct trace_events *gpu = &trace->events[TRACE_GPU];
    struct trace_events *api = &trace->events[TRACE_API];
    const int link = CACHE_COLUMNS - 1;
    if (growing == NULL) {
        return;
    }
    uint64_t ops_bytes = (uint64_t)trace->launch_op_count * sizeof *trace->launch_ops;
    uint64_t sums_bytes = ((uint64_t)gpu->count + 1) * sizeof *trace->gpu_busy_ns;
    growing->at[CACHE_GPU_BUSY] = growing->at[CACHE_LAUNCH_OPS] + cache_aligned(ops_bytes);
    growing->at[CACHE_UNIONS] = growing->at[CACHE_GPU_BUSY] + cache_aligned(sums_bytes);
    gpu->link = cache_grow_put(growing, CACHE_EVENTS + TRACE_GPU * CACHE_COLUMNS + link, gpu->link,
                               gpu->count * sizeof *gpu->link);
    api->link = cache_grow_put(growing, CACHE_EVENTS + TRACE_API * CACHE_COLUMNS + link, api->link,
                               api->count * sizeof *api->link);
    trace->launch_ops = cache_grow_put(growing, CACHE_LAUNCH_OPS, trace->launch_ops, ops_bytes);
    trace->gpu_busy_ns = cache_grow_put(growing, CACHE_GPU_BUSY, trace->gpu_busy_ns, sums_bytes);
    put_unions(growing, trace);
}

void trace_rest(const struct trace *trace)
{
    const struct trace_own *own = trace_own(trace);
    void *map = own == NULL ? NULL : own->growing != NULL ? own->growing->map : own->map;
    size_t bytes = map == NULL            ? 0
                   : own->growing != NULL ? own->growing->map_bytes
                                          : own->map_bytes;
    if (bytes >= REST_BYTES) {
        (void)madvise(map, bytes, MADV_DONTNEED);
    }
}
