/* cache: maps a cached trace; see cache.h. Cost: one pass over the file for its hash. */
#include "analysis/trace/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/nsys_rep.h"
#include "analysis/trace/cache_layout.h"

const char CACHE_MAGIC[8] = {'C', 'U', 'T', 'L', 'T', 'R', 'C', '1'};

enum {
    CACHE_PAGE_BYTES = 1024 /* SQLite counts the changes of a file in its header */
};

static const uint64_t CACHE_MULTIPLIER = 0x9E3779B97F4A7C15U;

void cache_hash_init(struct cache_hash *hash)
{
    *hash = (struct cache_hash){{1, 2, 3, 4}};
}

void cache_hash_add(struct cache_hash *hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    size_t i;
    for (i = 0; i + sizeof hash->lane <= bytes; i += sizeof hash->lane) {
        uint64_t words[4];
        int k;
        memcpy(words, at + i, sizeof words);
        for (k = 0; k < 4; k++) {
            uint64_t mixed = (hash->lane[k] ^ words[k]) * CACHE_MULTIPLIER;
            hash->lane[k] = mixed ^ (mixed >> 32);
        }
    }
}

uint64_t cache_hash_end(const struct cache_hash *hash)
{
    uint64_t all = 0;
    int k;
    for (k = 0; k < 4; k++) {
        all = (all ^ hash->lane[k]) * CACHE_MULTIPLIER;
        all ^= all >> 32;
    }
    return all;
}

/* Changes with our structs and with the version of the program. */
static uint64_t cache_layout(void)
{
    const uint64_t sizes[] = {sizeof(struct trace_name),
                              sizeof(struct trace_lane),
                              sizeof(struct trace_process),
                              sizeof(struct trace_thread),
                              sizeof(struct trace_device),
                              sizeof(struct cache_head),
                              TRACE_KIND_COUNT,
                              TRACE_LANE_KIND_COUNT};
    const char *version = CUTLINE_VERSION;
    struct cache_hash hash;
    uint64_t all;
    cache_hash_init(&hash);
    cache_hash_add(&hash, sizes, sizeof sizes);
    all = cache_hash_end(&hash);
    for (; *version != '\0'; version++) {
        all = (all ^ (unsigned char)*version) * CACHE_MULTIPLIER;
    }
    return all;
}

int cache_name(const char *path, struct buf *name, struct cache_key *key)
{
    unsigned char page[CACHE_PAGE_BYTES] = {0};
    struct cache_hash hash;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not be waited for */
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || read(fd, page, sizeof page) <= 0 ||
        report_file_cache(name, NULL) != 0) {
        (void)close(fd);
        return -1;
    }
    (void)close(fd);
    cache_hash_init(&hash);
    cache_hash_add(&hash, page, sizeof page);
    *key = (struct cache_key){
        .layout = cache_layout(),
        .size_bytes = (uint64_t)st.st_size,
        .mtime_s = (int64_t)st.st_mtim.tv_sec,
        .mtime_ns = st.st_mtim.tv_nsec,
        .first_page = cache_hash_end(&hash),
    };
    buf_addf(name, "/trace-%llx-%llx", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    return buf_failed(name) ? -1 : 0;
}

static uint64_t cache_column_bytes(const struct cache_head *head, int slot)
{
    int table = (slot - CACHE_EVENTS) / CACHE_COLUMNS;
    int column = (slot - CACHE_EVENTS) % CACHE_COLUMNS;
    uint64_t count = head->event_count[table];
    if (column < 2) {
        return count * sizeof(int64_t);
    }
    if (column == CACHE_COLUMNS - 1 && table != TRACE_GPU && table != TRACE_API) {
        return 0;
    }
    return count * sizeof(uint32_t);
}

uint64_t cache_slot_bytes(const struct cache_head *head, int slot)
{
    const uint64_t people = (uint64_t)head->process_count + head->thread_count + head->device_count;
    const uint64_t bytes[CACHE_SLOTS - CACHE_LAUNCH_OPS] = {
        (uint64_t)head->launch_op_count * sizeof(uint32_t),
        ((uint64_t)head->event_count[TRACE_GPU] + 1) * sizeof(int64_t),
        (uint64_t)head->lane_count * sizeof(struct trace_lane),
        (uint64_t)head->open_count * sizeof(uint32_t),
        (uint64_t)head->cross_count * sizeof(uint32_t),
        (uint64_t)head->name_count * sizeof(struct trace_name),
        (uint64_t)head->name_count * sizeof(struct cache_texts),
        (uint64_t)head->process_count * sizeof(struct trace_process),
        (uint64_t)head->thread_count * sizeof(struct trace_thread),
        (uint64_t)head->device_count * sizeof(struct trace_device),
        people * sizeof(uint64_t),
        UINT64_MAX, /* the unions: by the devices */
        UINT64_MAX, /* the texts */
    };
    return slot < CACHE_LAUNCH_OPS ? cache_column_bytes(head, slot)
                                   : bytes[slot - CACHE_LAUNCH_OPS];
}

/* A mapped file. */
struct cache_map {
    unsigned char *bytes;
    size_t len;
    const struct cache_head *head;
};

static void *map_slot(const struct cache_map *map, int slot)
{
    return map->bytes + sizeof *map->head + map->head->offset[slot];
}

/* Is it whole, undamaged, and of this capture as it is now? */
static bool map_valid(const struct cache_map *map, const struct cache_key *key)
{
    const struct cache_head *head = map->head;
    size_t body = map->len - sizeof *head;
    struct cache_hash hash;
    int slot;
    if (memcmp(head->magic, CACHE_MAGIC, sizeof head->magic) != 0 ||
        memcmp(&head->key, key, sizeof *key) != 0) {
        return false;
    }
    for (slot = 0; slot < CACHE_SLOTS; slot++) {
        uint64_t want = cache_slot_bytes(head, slot);
        if (head->offset[slot] % CACHE_ALIGN != 0 || head->offset[slot] > body ||
            head->bytes[slot] > body - head->offset[slot] ||
            (want != UINT64_MAX && want != head->bytes[slot])) {
            return false;
        }
    }
    cache_hash_init(&hash);
    cache_hash_add(&hash, map->bytes + sizeof *head, body);
    return body % CACHE_ALIGN == 0 && cache_hash_end(&hash) == head->body_hash;
}

static int map_open(const char *name, const struct cache_key *key, struct cache_map *map)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof *map->head) {
        map->len = (size_t)st.st_size;
        /* Writable but private: the trace's pointers are not const. */
        bytes = mmap(NULL, map->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    }
    (void)close(fd);
    if (bytes == MAP_FAILED) {
        return -1;
    }
    map->bytes = bytes;
    map->head = bytes;
    if (!map_valid(map, key)) {
        (void)munmap(bytes, map->len);
        return -1;
    }
    return 0;
}

static void cache_events(struct trace *trace, const struct cache_map *map)
{
    int t;
    for (t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct trace_events *events = &trace->events[t];
        int slot = CACHE_EVENTS + t * CACHE_COLUMNS;
        events->count = map->head->event_count[t];
        events->begin_ns = map_slot(map, slot);
        events->end_ns = map_slot(map, slot + 1);
        events->name = map_slot(map, slot + 2);
        events->row = map_slot(map, slot + 3);
        events->link = t == TRACE_GPU || t == TRACE_API ? map_slot(map, slot + 4) : NULL;
    }
}

static void cache_numbers(struct trace *trace, struct trace_own *own, const struct cache_map *map)
{
    const struct cache_head *head = map->head;
    trace->counts = head->counts;
    trace->begin_ns = head->begin_ns;
    trace->end_ns = head->end_ns;
    trace->nvtx_end_ns = head->nvtx_end_ns;
    trace->launch_op_count = head->launch_op_count;
    trace->lane_count = head->lane_count;
    trace->name_count = head->name_count;
    trace->process_count = head->process_count;
    trace->thread_count = head->thread_count;
    trace->device_count = head->device_count;
    trace->launch_ops = map_slot(map, CACHE_LAUNCH_OPS);
    trace->gpu_busy_ns = map_slot(map, CACHE_GPU_BUSY);
    trace->lanes = map_slot(map, CACHE_LANES);
    trace->names = map_slot(map, CACHE_NAMES);
    trace->processes = map_slot(map, CACHE_PROCESSES);
    trace->threads = map_slot(map, CACHE_THREADS);
    trace->devices = map_slot(map, CACHE_DEVICES);
    own->open = map_slot(map, CACHE_OPEN);
    own->open_count = head->open_count;
    own->cross = map_slot(map, CACHE_CROSS);
    own->cross_count = head->cross_count;
}

/* Puts the pointers back, in the private pages of the map. */
static void cache_texts(struct trace *trace, const struct cache_map *map)
{
    const char *texts = map_slot(map, CACHE_TEXTS);
    const struct cache_texts *names = map_slot(map, CACHE_NAME_TEXTS);
    const uint64_t *people = map_slot(map, CACHE_PEOPLE_TEXTS);
    uint32_t i;
    for (i = 0; i < trace->name_count; i++) {
        trace->names[i].full = texts + names[i].full;
        trace->names[i].brief = texts + names[i].brief;
        trace->names[i].mangled = texts + names[i].mangled;
        trace->names[i].domain = names[i].domain == CACHE_NO_TEXT ? NULL : texts + names[i].domain;
    }
    for (i = 0; i < trace->process_count; i++) {
        trace->processes[i].name = texts + *people++;
    }
    for (i = 0; i < trace->thread_count; i++) {
        trace->threads[i].name = texts + *people++;
    }
    for (i = 0; i < trace->device_count; i++) {
        trace->devices[i].name = texts + *people++;
    }
}

static void cache_unions(struct trace *trace, const struct cache_map *map)
{
    const int64_t *all = map_slot(map, CACHE_UNIONS);
    uint32_t d;
    for (d = 0; d < trace->device_count; d++) {
        struct trace_device *device = &trace->devices[d];
        device->busy_begin_ns = all;
        device->busy_end_ns = all + device->busy_count;
        device->busy_sum_ns = all + 2 * (size_t)device->busy_count;
        all += 3 * (size_t)device->busy_count + 1;
    }
}

struct trace *cache_load(const char *path)
{
    struct cache_map map = {0};
    struct cache_key key;
    struct buf name = {0};
    struct trace *trace = NULL;
    struct trace_own *own = NULL;
    if (cache_name(path, &name, &key) != 0 || map_open(buf_text(&name), &key, &map) != 0) {
        goto out;
    }
    trace = calloc(1, sizeof *trace);
    own = calloc(1, sizeof *own);
    if (trace == NULL || own == NULL) {
        free(trace);
        free(own);
        trace = NULL;
        (void)munmap(map.bytes, map.len);
        goto out;
    }
    trace->own = own;
    own->map = map.bytes;
    own->map_bytes = map.len;
    cache_numbers(trace, own, &map);
    cache_events(trace, &map);
    cache_texts(trace, &map);
    cache_unions(trace, &map);
    if (trace_set_path(trace, path) != 0 || trace_index_lanes(trace) != 0) {
        trace_free(trace);
        trace = NULL;
    }
out:
    buf_free(&name);
    return trace;
}
