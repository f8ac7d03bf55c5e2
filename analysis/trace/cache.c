/*
 * cache: maps a cached trace; see cache.h. A file is not believed: its head, its sections and their
 * sums are compared, the texts are looked up, and the whole model is examined (check.c) before
 * anybody sees it. That costs two passes over the file, once: then it is sealed (cache_seal.h), and as
 * long as the seal holds only the head and what does not grow with the events is looked at.
 */
#include "analysis/trace/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/cache_folder.h"
#include "analysis/store/cache_seal.h"
#include "analysis/store/file.h"
#include "analysis/trace/cache_layout.h"

const char CACHE_MAGIC[8] = {'C', 'U', 'T', 'L', 'T', 'R', 'C', '4'};

enum {
    COMPARE_BYTES = 1 << 20, /* read at a time: not by the map, so that it takes no memory */
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
    for (size_t i = 0; i + sizeof hash->lane <= bytes; i += sizeof hash->lane) {
        uint64_t words[4];
        memcpy(words, at + i, sizeof words);
        for (int k = 0; k < 4; k++) {
            uint64_t mixed = (hash->lane[k] ^ words[k]) * CACHE_MULTIPLIER;
            hash->lane[k] = mixed ^ (mixed >> 32);
        }
    }
}

uint64_t cache_hash_end(const struct cache_hash *hash)
{
    uint64_t all = 0;
    for (int k = 0; k < 4; k++) {
        all = (all ^ hash->lane[k]) * CACHE_MULTIPLIER;
        all ^= all >> 32;
    }
    return all;
}

/* Hashes bytes up to the next multiple of the alignment, the rest as 0. */
static void hash_padded(struct cache_hash *hash, const void *data, size_t bytes)
{
    unsigned char rest[CACHE_ALIGN] = {0};
    size_t whole = bytes / CACHE_ALIGN * CACHE_ALIGN;
    cache_hash_add(hash, data, whole);
    if (bytes > whole) {
        memcpy(rest, (const unsigned char *)data + whole, bytes - whole);
        cache_hash_add(hash, rest, sizeof rest);
    }
}

uint64_t cache_section_sum(const void *data, size_t bytes)
{
    struct cache_hash hash;
    cache_hash_init(&hash);
    cache_hash_add(&hash, data, bytes);
    return cache_hash_end(&hash);
}

uint64_t cache_padded_sum(const void *data, size_t bytes)
{
    struct cache_hash hash;
    cache_hash_init(&hash);
    hash_padded(&hash, data, bytes);
    return cache_hash_end(&hash);
}

uint64_t cache_head_sum(const struct cache_head *head)
{
    struct cache_head copy = *head;
    struct cache_hash hash;
    copy.sum = 0;
    cache_hash_init(&hash);
    hash_padded(&hash, &copy, sizeof copy);
    return cache_hash_end(&hash);
}

uint64_t cache_layout(void)
{
    const uint64_t sizes[] = {CACHE_VERSION,
                              sizeof(struct trace_name),
                              sizeof(struct trace_lane),
                              sizeof(struct trace_process),
                              sizeof(struct trace_thread),
                              sizeof(struct trace_device),
                              sizeof(struct cache_head),
                              TRACE_KIND_COUNT,
                              TRACE_LANE_KIND_COUNT};
    const char *version = CUTLINE_VERSION;
    struct cache_hash hash;
    cache_hash_init(&hash);
    hash_padded(&hash, sizes, sizeof sizes);
    hash_padded(&hash, version, strlen(version));
    return cache_hash_end(&hash);
}

int cache_file_name(const struct store_file *file, const char *kind, struct buf *name,
                    struct cache_key *key)
{
    unsigned char page[CACHE_PAGE_BYTES] = {0};
    const struct stat *st = store_file_stat(file);
    size_t len = st->st_size < CACHE_PAGE_BYTES ? (size_t)st->st_size : CACHE_PAGE_BYTES;
    if (store_file_has_log(file) || store_file_read(file, 0, page, len) != 0) {
        return -1;
    }
    *key = (struct cache_key){
        .layout = cache_layout(),
        .size_bytes = (uint64_t)st->st_size,
        .mtime_s = (int64_t)st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
        .first_page = cache_section_sum(page, sizeof page),
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
    };
    buf_addf(name, "%s-%llx-%llx", kind, (unsigned long long)st->st_dev,
             (unsigned long long)st->st_ino);
    return buf_failed(name) ? -1 : 0;
}

int cache_name(const struct store_file *file, struct buf *name, struct cache_key *key)
{
    return cache_file_name(file, "trace", name, key);
}

static uint64_t column_bytes(const struct cache_head *head, int section)
{
    int table = (section - CACHE_EVENTS) / CACHE_COLUMNS;
    int column = (section - CACHE_EVENTS) % CACHE_COLUMNS;
    uint64_t count = head->event_count[table];
    if (column < 2) {
        return count * sizeof(int64_t);
    }
    if (column == CACHE_COLUMNS - 1 && table != TRACE_GPU && table != TRACE_API) {
        return 0;
    }
    return count * sizeof(uint32_t);
}

uint64_t cache_section_bytes(const struct cache_head *head, int section)
{
    const uint64_t people = (uint64_t)head->process_count + head->thread_count + head->device_count;
    const uint64_t bytes[CACHE_SECTIONS - CACHE_LAUNCH_OPS] = {
        (uint64_t)head->launch_op_count * sizeof(uint32_t),
        ((uint64_t)head->event_count[TRACE_GPU] + 1) * sizeof(int64_t),
        UINT64_MAX, /* the unions: by the devices */
        (uint64_t)head->lane_count * sizeof(struct trace_lane),
        (uint64_t)head->open_count * sizeof(uint32_t),
        (uint64_t)head->cross_count * sizeof(uint32_t),
        (uint64_t)head->name_count * sizeof(struct trace_name),
        (uint64_t)head->name_count * sizeof(struct cache_texts),
        (uint64_t)head->process_count * sizeof(struct trace_process),
        (uint64_t)head->thread_count * sizeof(struct trace_thread),
        (uint64_t)head->device_count * sizeof(struct trace_device),
        people * sizeof(uint64_t),
        UINT64_MAX, /* the path */
        UINT64_MAX, /* the texts */
    };
    return section < CACHE_LAUNCH_OPS ? column_bytes(head, section)
                                      : bytes[section - CACHE_LAUNCH_OPS];
}

/* A file in memory. */
struct mapped {
    unsigned char *bytes;
    size_t len;
    const struct cache_head *head;
    bool sealed; /* it was examined before and is what it was */
    void *sections[CACHE_SECTIONS];
};

/* Those of whose size the events do not decide: they are compared always. */
static bool is_small(int section)
{
    return section == CACHE_LANES || section >= CACHE_NAMES;
}

/* Finds the sections and compares their sums. False where the file is not whole. */
static bool find_sections(struct mapped *mapped)
{
    const struct cache_head *head = mapped->head;
    uint64_t at = cache_aligned(sizeof *head);
    for (int s = 0; s < CACHE_SECTIONS; s++) {
        const struct cache_place *place = &head->sections[s];
        uint64_t want = cache_section_bytes(head, s);
        if (at > mapped->len || place->bytes > mapped->len - at ||
            cache_aligned(place->bytes) > mapped->len - at ||
            (want != UINT64_MAX && want != place->bytes) ||
            ((!mapped->sealed || is_small(s)) &&
             cache_section_sum(mapped->bytes + at, cache_aligned(place->bytes)) != place->sum)) {
            return false;
        }
        mapped->sections[s] = mapped->bytes + at;
        at += cache_aligned(place->bytes);
    }
    return at == mapped->len;
}

/* Is it whole, undamaged, and of this capture as it is now? */
static bool is_valid(struct mapped *mapped, const struct cache_key *key)
{
    const struct cache_head *head = mapped->head;
    unsigned char zeros[CACHE_ALIGN] = {0};
    size_t pad = (size_t)cache_aligned(sizeof *head) - sizeof *head;
    return mapped->len >= cache_aligned(sizeof *head) &&
           memcmp(head->magic, CACHE_MAGIC, sizeof head->magic) == 0 &&
           memcmp(&head->key, key, sizeof *key) == 0 && head->sum == cache_head_sum(head) &&
           memcmp(mapped->bytes + sizeof *head, zeros, pad) == 0 && find_sections(mapped);
}

static void take_events(struct trace *trace, const struct mapped *mapped)
{
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct trace_events *events = &trace->events[t];
        void *const *columns = mapped->sections + CACHE_EVENTS + (ptrdiff_t)t * CACHE_COLUMNS;
        events->count = mapped->head->event_count[t];
        events->begin_ns = columns[0];
        events->end_ns = columns[1];
        events->name = columns[2];
        events->row = columns[3];
        events->link = t == TRACE_GPU || t == TRACE_API ? columns[4] : NULL;
    }
}

static void take_numbers(struct trace *trace, const struct mapped *mapped)
{
    const struct cache_head *head = mapped->head;
    struct trace_own *own = trace->own;
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
    trace->launch_ops = mapped->sections[CACHE_LAUNCH_OPS];
    trace->gpu_busy_ns = mapped->sections[CACHE_GPU_BUSY];
    trace->lanes = mapped->sections[CACHE_LANES];
    own->open = mapped->sections[CACHE_OPEN];
    own->open_count = head->open_count;
    own->cross = mapped->sections[CACHE_CROSS];
    own->cross_count = head->cross_count;
}

/* The text of so many bytes at an offset; NULL where there is none. */
static const char *text_at(const struct mapped *mapped, uint64_t offset, uint32_t len)
{
    const char *texts = mapped->sections[CACHE_TEXTS];
    uint64_t bytes = mapped->head->sections[CACHE_TEXTS].bytes;
    return offset < bytes && len < bytes - offset && texts[offset + len] == '\0' ? texts + offset
                                                                                 : NULL;
}

/* A copy of a section that gets pointers. NULL without memory. */
static void *copy_section(const struct mapped *mapped, int section)
{
    size_t bytes = (size_t)mapped->head->sections[section].bytes;
    void *copy = calloc(1, bytes + 1);
    if (copy != NULL && bytes > 0) {
        memcpy(copy, mapped->sections[section], bytes);
    }
    return copy;
}

static bool copy_texted(struct trace *trace, const struct mapped *mapped)
{
    trace->names = copy_section(mapped, CACHE_NAMES);
    trace->processes = copy_section(mapped, CACHE_PROCESSES);
    trace->threads = copy_section(mapped, CACHE_THREADS);
    trace->devices = copy_section(mapped, CACHE_DEVICES);
    return trace->names != NULL && trace->processes != NULL && trace->threads != NULL &&
           trace->devices != NULL;
}

/* Puts the pointers of names back. */
static bool take_names(struct trace *trace, const struct mapped *mapped)
{
    const struct cache_texts *texts = mapped->sections[CACHE_NAME_TEXTS];
    for (uint32_t i = 0; i < trace->name_count; i++) {
        struct trace_name *name = &trace->names[i];
        bool has_domain = texts[i].domain != CACHE_NO_TEXT;
        name->full = text_at(mapped, texts[i].full, name->full_len);
        name->brief = text_at(mapped, texts[i].brief, name->brief_len);
        name->mangled = text_at(mapped, texts[i].mangled, name->mangled_len);
        name->domain = has_domain ? text_at(mapped, texts[i].domain, name->domain_len) : NULL;
        if (name->full == NULL || name->brief == NULL || name->mangled == NULL ||
            has_domain != (name->domain != NULL)) {
            return false;
        }
    }
    return true;
}

/* The same for processes, threads and devices. */
static bool take_people(struct trace *trace, const struct mapped *mapped)
{
    const uint64_t *offsets = mapped->sections[CACHE_PEOPLE_TEXTS];
    bool ok = true;
    for (uint32_t i = 0; i < trace->process_count && ok; i++) {
        struct trace_process *process = &trace->processes[i];
        process->name = text_at(mapped, *offsets++, process->name_len);
        ok = process->name != NULL;
    }
    for (uint32_t i = 0; i < trace->thread_count && ok; i++) {
        struct trace_thread *thread = &trace->threads[i];
        thread->name = text_at(mapped, *offsets++, thread->name_len);
        ok = thread->name != NULL;
    }
    for (uint32_t i = 0; i < trace->device_count && ok; i++) {
        struct trace_device *device = &trace->devices[i];
        device->name = text_at(mapped, *offsets++, device->name_len);
        ok = device->name != NULL;
    }
    return ok;
}

static bool take_unions(struct trace *trace, const struct mapped *mapped)
{
    const int64_t *all = mapped->sections[CACHE_UNIONS];
    uint64_t left = mapped->head->sections[CACHE_UNIONS].bytes / sizeof *all;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        struct trace_device *device = &trace->devices[d];
        uint64_t need = 3 * (uint64_t)device->busy_count + 1;
        if (need > left) {
            return false;
        }
        device->busy_begin_ns = all;
        device->busy_end_ns = all + device->busy_count;
        device->busy_sum_ns = all + 2 * (size_t)device->busy_count;
        all += need;
        left -= need;
    }
    return left == 0;
}

/* A trace without anything in it that owns a mapping. NULL without memory. */
static struct trace *blank(void *bytes, size_t len)
{
    struct trace *trace = calloc(1, sizeof *trace);
    struct trace_own *own = calloc(1, sizeof *own);
    if (trace == NULL || own == NULL) {
        free(trace);
        free(own);
        return NULL;
    }
    trace->own = own;
    own->map = bytes;
    own->map_bytes = len;
    own->map_fd = -1;
    return trace;
}

static struct trace *take(struct mapped *mapped, const struct cache_key *key,
                          struct store_file *file)
{
    struct trace *trace = is_valid(mapped, key) ? blank(mapped->bytes, mapped->len) : NULL;
    if (trace == NULL) {
        (void)munmap(mapped->bytes, mapped->len);
        return NULL;
    }
    take_numbers(trace, mapped);
    take_events(trace, mapped);
    trace_set_file(trace, file);
    if (!copy_texted(trace, mapped) || !take_names(trace, mapped) || !take_people(trace, mapped) ||
        !take_unions(trace, mapped) || trace_frame_broken(trace) != NULL ||
        (!mapped->sealed && trace_broken(trace) != NULL) || trace_index_lanes(trace) != 0) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

struct trace *cache_read(void *bytes, size_t len, const struct cache_key *key,
                         struct store_file *file)
{
    struct mapped mapped = {.bytes = bytes, .len = len, .head = bytes};
    return take(&mapped, key, file);
}

/* Maps a file. Nobody writes into it: a new one takes its place. */
static void *map_file(int fd, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(struct cache_head)) {
        return MAP_FAILED;
    }
    *len = (size_t)st.st_size;
    return mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
}

/* The trace of an open file of the cache. What is examined in full is sealed. */
static struct trace *take_file(const struct cache_folder *folder, const char *name, int fd,
                               const struct cache_key *key, struct store_file *file)
{
    struct mapped mapped = {.sealed = cache_seal_holds(folder, name, fd, key->layout)};
    struct stat was;
    bool lasts = !mapped.sealed && cache_seal_look(fd, &was);
    mapped.bytes = map_file(fd, &mapped.len);
    if (mapped.bytes == MAP_FAILED) {
        return NULL;
    }
    mapped.head = (const void *)mapped.bytes;
    struct trace *trace = take(&mapped, key, file);
    if (trace != NULL && lasts) {
        cache_seal_put(folder, name, fd, &was, key->layout);
    }
    if (trace != NULL && mapped.sealed) {
        trace_own(trace)->owed = TRACE_OWED_SUMS;
    }
    return trace;
}

struct trace *cache_load(struct store_file *file)
{
    struct cache_folder folder = {.fd = -1};
    struct cache_key key;
    struct buf name = {0};
    struct trace *trace = NULL;
    if (cache_name(file, &name, &key) == 0 && cache_folder_open(&folder, NULL) == 0) {
        int fd = cache_folder_find(&folder, buf_text(&name));
        trace = fd < 0 ? NULL : take_file(&folder, buf_text(&name), fd, &key, file);
        if (trace != NULL) {
            trace_own(trace)->map_fd = fd;
            shelf_open(trace, &folder);
        } else if (fd >= 0) {
            (void)close(fd);
        }
    }
    cache_folder_close(&folder);
    buf_free(&name);
    return trace;
}

int cache_compare_part(int fd, uint64_t at, uint64_t bytes, uint64_t sum, const atomic_bool *stop)
{
    unsigned char *some = malloc(COMPARE_BYTES);
    struct cache_hash hash;
    uint64_t left = cache_aligned(bytes);
    bool stopped = some == NULL;
    cache_hash_init(&hash);
    while (left > 0 && !stopped) {
        size_t want = left < COMPARE_BYTES ? (size_t)left : COMPARE_BYTES;
        ssize_t n = pread(fd, some, want, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n != (ssize_t)want) {
            free(some);
            return -1;
        }
        cache_hash_add(&hash, some, want);
        at += want;
        left -= want;
        stopped = stop != NULL && atomic_load(stop);
    }
    free(some);
    return stopped || cache_hash_end(&hash) == sum ? 0 : -1;
}

/* Is a section of use where only some kinds of events were asked for? */
static bool is_asked(const struct trace_own *own, int section)
{
    static const uint32_t kinds[TRACE_TABLE_COUNT] = {
        [TRACE_GPU] = 1U << TRACE_KERNEL | 1U << TRACE_MEMCPY | 1U << TRACE_MEMSET |
                      1U << TRACE_GRAPH | 1U << TRACE_MIGRATION,
        [TRACE_API] = 1U << TRACE_API_CALL,
        [TRACE_NVTX] = 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND | 1U << TRACE_NVTX_MARK,
        [TRACE_OSRT] = 1U << TRACE_OSRT_CALL,
        [TRACE_OVERHEAD] = 1U << TRACE_OVERHEAD_PROFILER | 1U << TRACE_OVERHEAD_CUDA,
    };
    return own->kinds == 0 || section >= CACHE_LAUNCH_OPS ||
           (own->kinds & kinds[(section - CACHE_EVENTS) / CACHE_COLUMNS]) != 0;
}

int cache_compare(const struct trace *trace, const atomic_bool *stop)
{
    const struct trace_own *own = trace_own(trace);
    const struct cache_head *head = own->map;
    uint64_t at = cache_aligned(sizeof *head);
    for (int s = 0; s < CACHE_SECTIONS; s++) {
        const struct cache_place *place = &head->sections[s];
        if (is_asked(own, s) &&
            cache_compare_part(own->map_fd, at, place->bytes, place->sum, stop) != 0) {
            return -1;
        }
        at += cache_aligned(place->bytes);
    }
    return shelf_compare(trace, stop);
}
