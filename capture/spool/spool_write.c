/* The writing side of the spool: making and growing the file, META records, losses. */
#define _GNU_SOURCE /* fallocate, MAP_ANONYMOUS; NOLINT */
#include "capture/spool/spool_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/spool/clock.h"
#include "capture/spool/process.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define META_FIRST_BYTES (UINT64_C(4) << 10)
#define META_SLACK_BYTES (UINT64_C(1) << 20) /* beyond a quarter of the limit */
#define META_LAST_BYTES (UINT64_C(256) << 10)
#define META_TEXT_MAX (UINT32_C(64) << 10)
#define RETRY_NS INT64_C(100000000)
#define RELEASED_TRIES 256

_Static_assert(sizeof(struct spool_header) <= SPOOL_PAGE, "header fits its page");
_Static_assert(sizeof(struct spool_losses) <= SPOOL_PAGE, "losses fit their page");
_Static_assert(sizeof(struct spool_segment) == SPOOL_SEGMENT_HEAD, "segment head as documented");
_Static_assert(sizeof(struct spool_meta) == 48, "META head as documented");
_Static_assert(sizeof(struct spool_nvtx) == 16, "NVTX head as documented");
_Static_assert(SPOOL_TEXT_MAX + SPOOL_PAYLOAD_MAX + 256 < UINT16_MAX, "a record fits its size");

/* Reads a small file of /proc; returns the bytes read, terminated. */
static size_t read_small(const char *path, char *out, size_t size)
{
    out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, out, size - 1);
    (void)close(fd);
    size_t length = got > 0 ? (size_t)got : 0;
    out[length] = '\0';
    return length;
}

static void fill_header(struct spool_header *header, uint32_t forked_from)
{
    struct clock_anchor now;
    clock_anchor_take(&now);
    header->version = SPOOL_VERSION;
    header->clock = clock_tsc_usable() ? SPOOL_CLOCK_TSC : SPOOL_CLOCK_MONO;
    header->pid = (uint32_t)getpid();
    header->ppid = (uint32_t)getppid();
    header->forked_from = forked_from;
    header->start_ticks = process_start_ticks();
    header->created_real_ns = now.real_ns;
    header->created_mono_ns = now.mono_ns;
    header->created_tsc = now.tsc;
    if (gethostname(header->host, sizeof(header->host) - 1) != 0) {
        header->host[0] = '\0';
    }
    size_t length = read_small("/proc/self/comm", header->comm, sizeof(header->comm));
    if (length > 0 && header->comm[length - 1] == '\n') {
        header->comm[length - 1] = '\0';
    }
    /* The arguments are separated by zero bytes: what is kept ends with the first word. */
    (void)read_small("/proc/self/cmdline", header->argv0, sizeof(header->argv0));
    size_t first = strlen(header->argv0);
    memset(header->argv0 + first, 0, sizeof(header->argv0) - first);
    ssize_t got = readlink("/proc/self/exe", header->exe, sizeof(header->exe) - 1);
    header->exe[got > 0 ? got : 0] = '\0';
}

/* Host names come from outside: only plain characters go into a file name. */
static void file_name_host(char *out, size_t size, const char *host)
{
    size_t n = 0;
    for (; host[n] != '\0' && n + 1 < size; n++) {
        char c = host[n];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        if (plain) {
            out[n] = c;
        } else {
            out[n] = '_';
        }
    }
    out[n] = '\0';
}

/* True if a file of this process may be BYTES long. Beyond the limit the kernel sends SIGXFSZ. */
static bool size_allowed(uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return true;
    }
    return limit.rlim_cur == RLIM_INFINITY || bytes <= (uint64_t)limit.rlim_cur;
}

/* Gives [OFFSET, OFFSET + BYTES) of FD its blocks: a mapped page of it can then be written without
 * a full disk raising SIGBUS. Zeros are written where the file system has no fallocate. */
static int reserve(int fd, uint64_t offset, uint64_t bytes)
{
    static const char zeros[16384];
    if (!size_allowed(offset + bytes)) {
        errno = EFBIG;
        return -1;
    }
    if (fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0) {
        return 0;
    }
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) {
        return -1;
    }
    uint64_t done = 0;
    while (done < bytes) {
        uint64_t want = bytes - done < sizeof(zeros) ? bytes - done : sizeof(zeros);
        ssize_t put = pwrite(fd, zeros, (size_t)want, (off_t)(offset + done));
        if (put < 0 && errno != EINTR) {
            return -1;
        }
        done += put > 0 ? (uint64_t)put : 0;
    }
    return 0;
}

/* Maps BYTES at OFFSET of FD with all pages present: faults are then paid here and not on the
 * program's path. */
static void *map_present(int fd, uint64_t offset, uint64_t bytes)
{
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (map == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(map, (size_t)bytes, MADV_POPULATE_WRITE);
    return map;
}

/* Creates the file under the first free name. */
static int create_file(struct spool_writer *writer, const char *dir)
{
    char host[64];
    char host_name[32];
    if (gethostname(host, sizeof(host)) != 0) {
        host[0] = '\0';
    }
    host[sizeof(host) - 1] = '\0';
    file_name_host(host_name, sizeof(host_name), host);
    unsigned long long start = process_start_ticks();
    for (unsigned n = 0; n < 10000; n++) {
        int length = snprintf(writer->path, sizeof(writer->path), "%s/%s.%ld.%llu.%u%s", dir,
                              host_name, (long)getpid(), start, n, SPOOL_SUFFIX);
        if (length < 0 || (size_t)length >= sizeof(writer->path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Counts BYTES as used by the session. False if that is more than it may use. */
static bool budget_take(struct spool_writer *writer, uint64_t bytes, uint64_t slack)
{
    uint64_t before = atomic_fetch_add(&writer->control->spool_bytes, bytes);
    if (writer->max_size_bytes == 0 || before + bytes <= writer->max_size_bytes + slack) {
        return true;
    }
    atomic_fetch_sub(&writer->control->spool_bytes, bytes);
    return false;
}

static void join_ring(struct spool_writer *writer, const char *dir)
{
    writer->ring_map = spool_ring_open(dir);
    writer->ring_spool = SPOOL_RING_NONE;
    if (writer->ring_map != NULL) {
        const char *name = writer->path + writer->dir_bytes + 1;
        writer->ring_spool = spool_ring_join(writer->ring_map, name, writer->header);
    }
}

int spool_writer_open(struct spool_writer *writer, const char *dir, struct session_control *control,
                      const struct spool_place *place, const struct session_config *config,
                      uint32_t forked_from)
{
    memset(writer, 0, sizeof(*writer));
    (void)pthread_mutex_init(&writer->lock, NULL);
    writer->control = control;
    writer->place = place;
    writer->max_size_bytes = config->max_size_bytes;
    writer->ring = config->ring && config->max_size_bytes > 0;
    writer->meta_bytes = META_FIRST_BYTES;
    writer->end = SPOOL_HEADER_BYTES;
    if (!spool_place_open_allowed(place)) {
        errno = EPERM;
        return -1;
    }
    int fd = create_file(writer, dir);
    if (fd < 0) {
        return -1;
    }
    struct stat status;
    char *map = NULL;
    if (fstat(fd, &status) == 0 && reserve(fd, 0, SPOOL_HEADER_BYTES) == 0) {
        map = map_present(fd, 0, SPOOL_HEADER_BYTES);
    }
    /* beyond the end there is nothing to punch; where the file system can, it says so */
    writer->ring_punches = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                     SPOOL_HEADER_BYTES, SPOOL_PAGE) == 0;
    int saved = errno;
    (void)close(fd);
    if (map == NULL) {
        (void)unlink(writer->path);
        errno = saved;
        return -1;
    }
    writer->device = (uint64_t)status.st_dev;
    writer->inode = (uint64_t)status.st_ino;
    writer->header = (struct spool_header *)(void *)map;
    writer->losses = (struct spool_losses *)(void *)(map + SPOOL_PAGE);
    fill_header(writer->header, forked_from);
    atomic_store(&writer->header->file_bytes, writer->end);
    atomic_thread_fence(memory_order_release);
    writer->header->magic = SPOOL_MAGIC;
    writer->dir_bytes = strlen(dir);
    if (writer->ring) {
        join_ring(writer, dir);
    } else {
        (void)budget_take(writer, SPOOL_HEADER_BYTES, UINT64_MAX / 2);
    }
    return 0;
}

/* Opens the spool by name; -1 if that is another file now. */
static int reopen(const struct spool_writer *writer)
{
    struct stat status;
    if (!spool_place_open_allowed(writer->place)) {
        errno = EPERM;
        return -1;
    }
    int fd = open(writer->path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &status) != 0 || (uint64_t)status.st_dev != writer->device ||
        (uint64_t)status.st_ino != writer->inode) {
        (void)close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

/* Makes SEGMENT (at OFFSET) a segment in use. The magic is stored last: a head without it is no
 * segment. */
static void begin_segment(struct spool_writer *writer, struct spool_segment *segment,
                          enum spool_segment_kind kind, uint64_t bytes)
{
    segment->kind = kind;
    segment->bytes = bytes;
    segment->taken_mono_ns = clock_read_ns(CLOCK_MONOTONIC);
    atomic_store(&segment->copied_seq, 0);
    atomic_store(&segment->copied_end, 0);
    atomic_store(&segment->published, 0);
    atomic_store(&segment->seq, atomic_fetch_add(&writer->seq, 1) + 1);
    atomic_store(&segment->state, SPOOL_STATE_OPEN);
    atomic_thread_fence(memory_order_release);
    segment->magic = SPOOL_SEGMENT_MAGIC;
}

/* Grows the file by one segment, or says why not. Called with the lock. */
static struct spool_segment *grow(struct spool_writer *writer, uint64_t bytes, enum spool_loss *why)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (now_ns < writer->retry_mono_ns) {
        *why = writer->retry_why;
        return NULL;
    }
    struct spool_segment *segment = NULL;
    uint64_t offset = writer->end;
    int fd = reopen(writer);
    if (fd >= 0) {
        if (reserve(fd, offset, bytes) == 0) {
            segment = map_present(fd, offset, bytes);
        }
        int saved = errno;
        (void)close(fd);
        errno = saved;
    }
    if (segment == NULL) {
        writer->retry_mono_ns = now_ns + RETRY_NS;
        writer->retry_why = spool_place_cause(writer->place, errno);
        *why = writer->retry_why;
        return NULL;
    }
    segment->offset = offset;
    writer->end += bytes;
    atomic_store(&writer->header->file_bytes, writer->end);
    return segment;
}

/* The place in the file that the ring gives back to this spool. Called with the lock. */
static struct spool_segment *reuse(struct spool_writer *writer, enum spool_segment_kind kind,
                                   uint64_t offset, uint64_t bytes)
{
    int fd = reopen(writer);
    struct spool_segment *segment = fd < 0 ? NULL : map_present(fd, offset, bytes);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (segment == NULL) {
        return NULL;
    }
    if (atomic_load(&segment->state) != SPOOL_STATE_FREE) {
        spool_ring_count(segment, writer->sizes, writer->losses);
    }
    atomic_store(&segment->state, SPOOL_STATE_FREE);
    if (kind == SPOOL_SEGMENT_CUPTI) {
        memset(spool_payload(segment), 0, (size_t)spool_room(segment));
    }
    return segment;
}

/* Makes room for BYTES in the ring: takes the oldest segments, of whatever spool, until so much may
 * be used (*ALLOWED). Returns the place itself where it is of this spool and size. Called with the
 * lock. */
static struct spool_segment *make_ring_room(struct spool_writer *writer,
                                            enum spool_segment_kind kind, uint64_t bytes,
                                            bool *allowed)
{
    char dir[SPOOL_PATH_BYTES];
    uint32_t only = writer->ring_punches ? SPOOL_RING_NONE : writer->ring_spool;
    memcpy(dir, writer->path, writer->dir_bytes);
    dir[writer->dir_bytes] = '\0';
    *allowed = budget_take(writer, bytes, 0);
    while (!*allowed && spool_place_open_allowed(writer->place)) {
        uint32_t entry = spool_ring_oldest(writer->ring_map, only);
        if (entry == SPOOL_RING_NONE) {
            break;
        }
        struct spool_ring_entry taken = writer->ring_map->entries[entry];
        struct spool_segment *segment = NULL;
        if (taken.spool == writer->ring_spool && taken.bytes == bytes) {
            segment = reuse(writer, kind, taken.offset, bytes);
        } else if (writer->ring_punches && spool_ring_erase(writer->ring_map, entry, dir) == 0) {
            atomic_fetch_sub(&writer->control->spool_bytes, taken.bytes);
            spool_ring_remove(writer->ring_map, entry);
            *allowed = budget_take(writer, bytes, 0);
            continue;
        }
        if (segment == NULL) {
            spool_ring_put_back(writer->ring_map, entry);
            break;
        }
        spool_ring_remove(writer->ring_map, entry);
        return segment;
    }
    return NULL;
}

/* Maps the newest released place of that kind and size; NULL if there is none. Called with the
 * lock. */
static struct spool_segment *take_released(struct spool_writer *writer,
                                           enum spool_segment_kind kind, uint64_t bytes)
{
    uint32_t count = writer->extent_count;
    for (uint32_t i = count; i > 0 && count - i < RELEASED_TRIES; i--) {
        struct spool_extent *extent = &writer->extents[i - 1];
        if (extent->kind != kind || extent->bytes != bytes) {
            continue;
        }
        int fd = reopen(writer);
        struct spool_segment *segment = fd < 0 ? NULL : map_present(fd, extent->offset, bytes);
        if (fd >= 0) {
            (void)close(fd);
        }
        if (segment != NULL) {
            *extent = writer->extents[--writer->extent_count];
        }
        return segment;
    }
    return NULL;
}

static struct spool_segment *take_locked(struct spool_writer *writer, enum spool_segment_kind kind,
                                         uint64_t bytes, enum spool_loss *why)
{
    struct spool_segment *segment = take_released(writer, kind, bytes);
    if (segment != NULL) {
        begin_segment(writer, segment, kind, bytes);
        return segment;
    }
    /* Names are worth more than events: they may go over the limit by a bounded part of it, and a
     * ring's size is that of its events alone. A ring needs one segment for each thread in any
     * case. */
    bool meta = kind == SPOOL_SEGMENT_META;
    bool ring = writer->ring && !meta;
    uint64_t slack = meta ? writer->max_size_bytes / 4 + META_SLACK_BYTES : 0;
    bool allowed = false;
    if (ring && writer->ring_spool != SPOOL_RING_NONE) {
        segment = make_ring_room(writer, kind, bytes, &allowed);
        allowed = allowed || (segment == NULL && budget_take(writer, bytes, UINT64_MAX / 2));
    } else if (writer->ring && meta) {
        allowed = writer->meta_all_bytes + bytes <= slack;
    } else {
        allowed = budget_take(writer, bytes, slack);
    }
    if (segment == NULL && !allowed) {
        *why = SPOOL_LOSS_MAX_SIZE;
        atomic_store(&writer->control->full, writer->ring ? 0 : 1);
        return NULL;
    }
    if (segment == NULL) {
        segment = grow(writer, bytes, why);
        if (segment == NULL && (ring || !writer->ring)) {
            atomic_fetch_sub(&writer->control->spool_bytes, bytes);
        }
    }
    if (segment == NULL) {
        return NULL;
    }
    if (ring && writer->ring_spool != SPOOL_RING_NONE) {
        (void)spool_ring_add(writer->ring_map, writer->ring_spool, segment->offset, bytes);
    }
    writer->meta_all_bytes += meta ? bytes : 0;
    begin_segment(writer, segment, kind, bytes);
    return segment;
}

struct spool_segment *spool_writer_take(struct spool_writer *writer, enum spool_segment_kind kind,
                                        uint64_t bytes, enum spool_loss *why)
{
    (void)pthread_mutex_lock(&writer->lock);
    struct spool_segment *segment = take_locked(writer, kind, bytes, why);
    (void)pthread_mutex_unlock(&writer->lock);
    return segment;
}

/* Remembers where a segment lies that may be used again. Called with the lock. */
static void remember_extent(struct spool_writer *writer, const struct spool_segment *segment)
{
    if (writer->extents == NULL) {
        void *map = mmap(NULL, SPOOL_EXTENTS * sizeof(*writer->extents), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        writer->extents = map == MAP_FAILED ? NULL : map;
    }
    if (writer->extents != NULL && writer->extent_count < SPOOL_EXTENTS) {
        writer->extents[writer->extent_count++] =
            (struct spool_extent){segment->offset, segment->bytes, segment->kind};
    }
}

void spool_writer_finish(struct spool_writer *writer, struct spool_segment *segment)
{
    if (writer->ring && writer->ring_spool != SPOOL_RING_NONE) {
        spool_ring_done(writer->ring_map, writer->ring_spool, segment->offset, false);
    }
    (void)munmap(segment, (size_t)segment->bytes);
}

void spool_writer_release(struct spool_writer *writer, struct spool_segment *segment)
{
    if (writer->ring && writer->ring_spool != SPOOL_RING_NONE) {
        spool_ring_done(writer->ring_map, writer->ring_spool, segment->offset, true);
    } else {
        (void)pthread_mutex_lock(&writer->lock);
        remember_extent(writer, segment);
        (void)pthread_mutex_unlock(&writer->lock);
    }
    (void)munmap(segment, (size_t)segment->bytes);
}

void spool_writer_put_spare(struct spool_writer *writer, struct spool_segment *segment)
{
    bool kept = false;
    (void)pthread_mutex_lock(&writer->lock);
    if (writer->spare_count < SPOOL_SPARES) {
        writer->spares[writer->spare_count++] = segment;
        kept = true;
    }
    (void)pthread_mutex_unlock(&writer->lock);
    if (!kept) {
        spool_writer_finish(writer, segment);
    }
}

struct spool_segment *spool_writer_get_spare(struct spool_writer *writer)
{
    struct spool_segment *segment = NULL;
    (void)pthread_mutex_lock(&writer->lock);
    if (writer->spare_count > 0) {
        segment = writer->spares[--writer->spare_count];
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return segment;
}

/* The META segment with room for BYTES. Called with the lock. */
static struct spool_segment *meta_segment(struct spool_writer *writer, uint64_t bytes,
                                          enum spool_loss *why)
{
    struct spool_segment *segment = writer->meta;
    if (segment != NULL && spool_room(segment) - atomic_load(&segment->published) >= bytes) {
        return segment;
    }
    uint64_t want = writer->meta_bytes;
    while (want - SPOOL_SEGMENT_HEAD < bytes) {
        want *= 2;
    }
    struct spool_segment *next = take_locked(writer, SPOOL_SEGMENT_META, want, why);
    if (next == NULL) {
        return NULL;
    }
    if (segment != NULL) {
        (void)munmap(segment, (size_t)segment->bytes);
    }
    writer->meta = next;
    if (writer->meta_bytes < META_LAST_BYTES) {
        writer->meta_bytes *= 2;
    }
    return next;
}

void spool_writer_meta(struct spool_writer *writer, const struct spool_meta *head, const void *text,
                       size_t text_bytes)
{
    enum spool_loss why = SPOOL_LOSS_META_FULL;
    struct spool_meta record = *head;
    record.text_bytes = (uint32_t)(text_bytes < META_TEXT_MAX ? text_bytes : META_TEXT_MAX);
    record.bytes = ((uint32_t)sizeof(record) + record.text_bytes + 7U) / 8U * 8U;
    (void)pthread_mutex_lock(&writer->lock);
    struct spool_segment *segment = meta_segment(writer, record.bytes, &why);
    if (segment != NULL) {
        uint64_t at = atomic_load(&segment->published);
        uint8_t *to = spool_payload(segment) + at;
        memcpy(to, &record, sizeof(record));
        if (record.text_bytes > 0) {
            memcpy(to + sizeof(record), text, record.text_bytes);
        }
        atomic_store_explicit(&segment->published, at + record.bytes, memory_order_release);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    if (segment == NULL) {
        spool_writer_loss(writer, why, SPOOL_LOSS_OF_NAMES, 1);
    }
}

void spool_writer_status(struct spool_writer *writer, enum spool_status status, uint64_t value0,
                         uint64_t value1, const char *text)
{
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = (uint16_t)status};
    head.value[0] = value0;
    head.value[1] = value1;
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    spool_writer_meta(writer, &head, text, text == NULL ? 0 : strlen(text));
}

void spool_writer_anchor(struct spool_writer *writer, uint64_t cupti_ns)
{
    struct clock_anchor now;
    clock_anchor_take(&now);
    struct spool_meta head = {.kind = SPOOL_META_ANCHOR};
    head.value[0] = (uint64_t)now.real_ns;
    head.value[1] = (uint64_t)now.mono_ns;
    head.value[2] = now.tsc;
    head.value[3] = cupti_ns;
    spool_writer_meta(writer, &head, NULL, 0);
}

void spool_writer_sizes(struct spool_writer *writer, const uint16_t *sizes)
{
    struct spool_meta head = {.kind = SPOOL_META_CUPTI_SIZES};
    memcpy(writer->sizes, sizes, sizeof(writer->sizes));
    memcpy(writer->header->cupti_sizes, sizes, sizeof(writer->sizes));
    spool_writer_meta(writer, &head, sizes, sizeof(writer->sizes));
}

void spool_writer_loss(struct spool_writer *writer, enum spool_loss reason, uint32_t kind,
                       uint64_t count)
{
    spool_losses_add(writer->losses, reason, kind, count);
}

void spool_writer_seal(struct spool_writer *writer)
{
    writer->header->sealed_real_ns = clock_read_ns(CLOCK_REALTIME);
    atomic_store_explicit(&writer->header->sealed, SPOOL_SEAL_EXIT, memory_order_release);
}
