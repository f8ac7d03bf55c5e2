/* The ring of a session: the table of its segments, and their end. */
#define _GNU_SOURCE /* fallocate; NOLINT */
#include "capture/spool/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/spool/clock.h"

#define PATH_BYTES 1400
#define LOOK_NS INT64_C(100000000) /* how often a process is looked at */
#define LOOK_MANY 64 /* processes; more of them are looked at less often */
#define TRIES 16

/* ---- the file -------------------------------------------------------------------------------- */

static int path_of(char *out, size_t size, const char *dir, const char *name)
{
    int length = snprintf(out, size, "%s/%s", dir, name);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

/* Gives the file its blocks, so that no store into the mapping can meet a full disk. */
static int fill(int fd)
{
    static const char zeros[4096];
    for (size_t done = 0; done < sizeof(struct spool_ring); done += sizeof(zeros)) {
        if (pwrite(fd, zeros, sizeof(zeros), (off_t)done) != (ssize_t)sizeof(zeros)) {
            return -1;
        }
    }
    return 0;
}

int spool_ring_create(const char *dir)
{
    const uint64_t magic = SPOOL_RING_MAGIC;
    char path[PATH_BYTES];
    if (path_of(path, sizeof(path), dir, SPOOL_RING_FILE) != 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    int result = fill(fd);
    if (result == 0 && pwrite(fd, &magic, sizeof(magic), 0) != (ssize_t)sizeof(magic)) {
        result = -1;
    }
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return result;
}

struct spool_ring *spool_ring_open(const char *dir)
{
    char path[PATH_BYTES];
    struct stat status;
    if (path_of(path, sizeof(path), dir, SPOOL_RING_FILE) != 0) {
        return NULL;
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    void *map = MAP_FAILED;
    if (fstat(fd, &status) == 0 && (uint64_t)status.st_size >= sizeof(struct spool_ring)) {
        map = mmap(NULL, sizeof(struct spool_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    (void)close(fd);
    struct spool_ring *ring = map == MAP_FAILED ? NULL : map;
    return ring != NULL && ring->magic == SPOOL_RING_MAGIC ? ring : NULL;
}

/* ---- spools ---------------------------------------------------------------------------------- */

static void raise_to(_Atomic uint32_t *value, uint32_t to)
{
    uint32_t seen = atomic_load(value);
    while (seen < to && !atomic_compare_exchange_weak(value, &seen, to)) {
    }
}

static bool claim(_Atomic uint32_t *state)
{
    uint32_t is_free = SPOOL_RING_FREE;
    return atomic_load_explicit(state, memory_order_relaxed) == SPOOL_RING_FREE &&
           atomic_compare_exchange_strong(state, &is_free, SPOOL_RING_CHANGING);
}

/* A process is known by its number in one namespace alone. */
static uint64_t pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

uint32_t spool_ring_join(struct spool_ring *ring, const char *name,
                         const struct spool_header *header)
{
    for (uint32_t i = 0; i < SPOOL_RING_SPOOLS; i++) {
        struct spool_ring_spool *spool = &ring->spools[i];
        if (strlen(name) >= sizeof(spool->name) || !claim(&spool->state)) {
            continue;
        }
        spool->pid = header->pid;
        spool->start_ticks = header->start_ticks;
        spool->pid_namespace = pid_namespace();
        memset(spool->name, 0, sizeof(spool->name));
        memcpy(spool->name, name, strlen(name));
        atomic_store(&spool->entries, 0);
        atomic_store(&spool->looked_mono_ns, 0);
        raise_to(&ring->spools_used, i + 1);
        atomic_store_explicit(&spool->state, SPOOL_RING_OPEN, memory_order_release);
        return i;
    }
    return SPOOL_RING_NONE;
}

/* True if the process of SPOOL surely is gone: no process of its number, or another one. */
static bool is_gone(const struct spool_ring_spool *spool, uint64_t own_namespace)
{
    char path[64];
    char text[1024];
    if (own_namespace == 0 || spool->pid_namespace != own_namespace) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "/proc/%u/stat", spool->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return got == 0 || (at != NULL && strtoull(at + 1, NULL, 10) != spool->start_ticks);
}

/* Notes which processes are gone: nobody writes their segments any more. */
static void look_at_processes(struct spool_ring *ring, int64_t now_ns)
{
    uint32_t count = atomic_load(&ring->spools_used);
    int64_t every_ns = LOOK_NS * (1 + count / LOOK_MANY);
    uint64_t own_namespace = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct spool_ring_spool *spool = &ring->spools[i];
        int64_t looked_ns = atomic_load(&spool->looked_mono_ns);
        if (atomic_load_explicit(&spool->state, memory_order_acquire) != SPOOL_RING_OPEN ||
            now_ns - looked_ns < every_ns ||
            !atomic_compare_exchange_strong(&spool->looked_mono_ns, &looked_ns, now_ns)) {
            continue;
        }
        own_namespace = own_namespace == 0 ? pid_namespace() : own_namespace;
        if (is_gone(spool, own_namespace)) {
            uint32_t runs = SPOOL_RING_OPEN;
            (void)atomic_compare_exchange_strong(&spool->state, &runs, SPOOL_RING_DONE);
        }
    }
}

/* ---- segments -------------------------------------------------------------------------------- */

uint32_t spool_ring_add(struct spool_ring *ring, uint32_t spool, uint64_t offset, uint64_t bytes)
{
    for (uint32_t i = 0; i < SPOOL_RING_ENTRIES; i++) {
        struct spool_ring_entry *entry = &ring->entries[i];
        if (!claim(&entry->state)) {
            continue;
        }
        entry->spool = spool;
        entry->offset = offset;
        entry->bytes = bytes;
        entry->mono_ns = clock_read_ns(CLOCK_MONOTONIC);
        (void)atomic_fetch_add(&ring->spools[spool].entries, 1);
        raise_to(&ring->entries_used, i + 1);
        atomic_store_explicit(&entry->state, SPOOL_RING_OPEN, memory_order_release);
        return i;
    }
    return SPOOL_RING_NONE;
}

void spool_ring_done(struct spool_ring *ring, uint32_t spool, uint64_t offset, bool empty)
{
    uint32_t count = atomic_load(&ring->entries_used);
    for (uint32_t i = 0; i < count; i++) {
        struct spool_ring_entry *entry = &ring->entries[i];
        if (atomic_load_explicit(&entry->state, memory_order_acquire) == SPOOL_RING_OPEN &&
            entry->spool == spool && entry->offset == offset) {
            entry->mono_ns = empty ? 0 : clock_read_ns(CLOCK_MONOTONIC);
            atomic_store_explicit(&entry->state, SPOOL_RING_DONE, memory_order_release);
            return;
        }
    }
}

/* The state in which ENTRY may be taken, or SPOOL_RING_FREE. */
static uint32_t may_be_taken(const struct spool_ring *ring, const struct spool_ring_entry *entry,
                             uint32_t only)
{
    uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
    if (state < SPOOL_RING_OPEN || (only != SPOOL_RING_NONE && entry->spool != only) ||
        entry->spool >= SPOOL_RING_SPOOLS) {
        return SPOOL_RING_FREE;
    }
    bool gone = atomic_load(&ring->spools[entry->spool].state) == SPOOL_RING_DONE;
    return state == SPOOL_RING_DONE || gone ? state : SPOOL_RING_FREE;
}

uint32_t spool_ring_oldest(struct spool_ring *ring, uint32_t only)
{
    look_at_processes(ring, clock_read_ns(CLOCK_MONOTONIC));
    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t count = atomic_load(&ring->entries_used);
        uint32_t best = SPOOL_RING_NONE;
        uint32_t best_state = SPOOL_RING_FREE;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t state = may_be_taken(ring, &ring->entries[i], only);
            if (state != SPOOL_RING_FREE &&
                (best == SPOOL_RING_NONE ||
                 ring->entries[i].mono_ns < ring->entries[best].mono_ns)) {
                best = i;
                best_state = state;
            }
        }
        if (best == SPOOL_RING_NONE) {
            return best;
        }
        if (atomic_compare_exchange_strong(&ring->entries[best].state, &best_state,
                                           SPOOL_RING_CHANGING)) {
            return best;
        }
    }
    return SPOOL_RING_NONE;
}

void spool_ring_put_back(struct spool_ring *ring, uint32_t entry)
{
    atomic_store_explicit(&ring->entries[entry].state, SPOOL_RING_DONE, memory_order_release);
}

void spool_ring_remove(struct spool_ring *ring, uint32_t entry)
{
    struct spool_ring_spool *spool = &ring->spools[ring->entries[entry].spool];
    atomic_store_explicit(&ring->entries[entry].state, SPOOL_RING_FREE, memory_order_release);
    if (atomic_fetch_sub(&spool->entries, 1) == 1) {
        uint32_t gone = SPOOL_RING_DONE;
        (void)atomic_compare_exchange_strong(&spool->state, &gone, SPOOL_RING_FREE);
    }
}

/* ---- the end of a segment -------------------------------------------------------------------- */

void spool_ring_count(struct spool_segment *segment, const uint16_t *sizes,
                      struct spool_losses *losses)
{
    const uint8_t *payload = (const uint8_t *)segment + SPOOL_SEGMENT_HEAD;
    uint64_t published = atomic_load(&segment->published);
    uint64_t room = segment->bytes - SPOOL_SEGMENT_HEAD;
    uint64_t at = 0;
    uint64_t nvtx = 0;
    /* a buffer that CUPTI had when its process died has no end but a kind of 0 */
    bool open =
        segment->kind == SPOOL_SEGMENT_CUPTI && atomic_load(&segment->state) == SPOOL_STATE_OPEN;
    published = open ? room : published;
    published = published <= room ? published : 0;
    while (at + sizeof(struct spool_nvtx) <= published) {
        uint32_t bytes = 0;
        if (segment->kind == SPOOL_SEGMENT_NVTX) {
            struct spool_nvtx head;
            memcpy(&head, payload + at, sizeof(head));
            bytes = head.bytes;
            nvtx += payload[at] != SPOOL_NVTX_THREAD ? 1 : 0;
        } else {
            uint32_t kind = 0;
            memcpy(&kind, payload + at, sizeof(kind));
            bytes = kind < SPOOL_CUPTI_KINDS ? sizes[kind] : 0;
            if (bytes != 0 && !spool_cupti_is_metadata(kind)) { /* those are kept as META */
                spool_losses_add(losses, SPOOL_LOSS_RING, kind, 1);
            }
        }
        if (bytes == 0) {
            break;
        }
        at += bytes;
    }
    if (nvtx > 0) {
        spool_losses_add(losses, SPOOL_LOSS_RING, SPOOL_LOSS_OF_NVTX, nvtx);
    }
}

/* Counts the events of a segment of another spool: its head pages take the losses. */
static int count_in(int fd, const struct spool_ring_entry *entry)
{
    int result = -1;
    void *head = mmap(NULL, SPOOL_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    void *map = mmap(NULL, (size_t)entry->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                     (off_t)entry->offset);
    if (head != MAP_FAILED && map != MAP_FAILED) {
        struct spool_segment *segment = map;
        const struct spool_header *header = head;
        bool there = segment->magic == SPOOL_SEGMENT_MAGIC && segment->bytes == entry->bytes &&
                     atomic_load(&segment->state) != SPOOL_STATE_FREE;
        if (there) {
            spool_ring_count(segment, header->cupti_sizes,
                             (struct spool_losses *)(void *)((char *)head + SPOOL_PAGE));
            atomic_store(&segment->state, SPOOL_STATE_FREE);
        }
        result = 0;
    }
    if (head != MAP_FAILED) {
        (void)munmap(head, SPOOL_HEADER_BYTES);
    }
    if (map != MAP_FAILED) {
        (void)munmap(map, (size_t)entry->bytes);
    }
    return result;
}

int spool_ring_erase(const struct spool_ring *ring, uint32_t number, const char *dir)
{
    const struct spool_ring_entry *entry = &ring->entries[number];
    char name[SPOOL_RING_NAME];
    char path[PATH_BYTES];
    struct stat status;
    memcpy(name, ring->spools[entry->spool].name, sizeof(name));
    name[sizeof(name) - 1] = '\0';
    if (path_of(path, sizeof(path), dir, name) != 0) {
        return -1;
    }
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return -1;
    }
    int result = -1;
    if (fstat(fd, &status) == 0 && entry->offset >= SPOOL_HEADER_BYTES &&
        entry->offset + entry->bytes <= (uint64_t)status.st_size) {
        result = count_in(fd, entry);
    }
    if (result == 0) {
        result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)entry->offset,
                           (off_t)entry->bytes);
    }
    (void)close(fd);
    return result;
}
