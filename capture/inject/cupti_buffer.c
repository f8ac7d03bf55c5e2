/*
 * Buffers between CUPTI and the spool. A buffer that CUPTI gets is the payload of a spool segment,
 * mapped shared, zeroed and with its pages present; so what CUPTI wrote survives a kill even if it
 * never came back. Prepared segments wait in a pool of atomic slots; taking one is an exchange.
 * Buffers that are out are entered in a table by their address (open addressing, Knuth 6.4), so
 * that what comes back can be told from what was never ours.
 *
 * CUPTI may have a buffer or two for each thread that uses CUDA (from 12.3 on; by default from
 * 13.0), nearly empty most of the time. So the more is out, the smaller the next one is: any number
 * of threads has its own, and the budget counts what was written and not taken over yet. Beyond
 * it, or where the spool cannot grow, CUPTI gets scratch memory (never NULL: CUPTI before 12.9
 * crashes on it), and its records are counted and dropped.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS; NOLINT */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define POOL_FIRST 2
#define POOL_MOST 8
#define LEAST_BYTES (UINT64_C(32) << 10) /* as in NVIDIA's examples */
#define SHARES 16 /* of what is left of the budget, one goes to a buffer */

bool cupti_buffer_start(struct cupti_state *cupti)
{
    void *map = mmap(NULL, CUPTI_SLOTS * sizeof(*cupti->slots), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cupti->slots = map == MAP_FAILED ? NULL : map;
    return cupti->slots != NULL;
}

/* CUPTI goes on writing into its buffers in a forked child, if the child makes CUDA calls (which
 * fail). They are shared memory: the child gets pages of its own in their place. */
void cupti_buffer_fork_child(struct cupti_state *cupti)
{
    for (uint32_t i = 0; atomic_load(&cupti->out_count) > 0 && i < CUPTI_SLOTS; i++) {
        struct cupti_slot *slot = &cupti->slots[i];
        if (atomic_load(&slot->state) == CUPTI_SLOT_OUT && slot->segment != NULL) {
            (void)mmap(slot->segment, (size_t)slot->segment->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        }
    }
}

static struct spool_segment *pool_take(struct cupti_state *cupti)
{
    for (uint32_t i = 0; atomic_load(&cupti->pool_count) > 0 && i < CUPTI_POOL; i++) {
        if (atomic_load_explicit(&cupti->pool[i], memory_order_relaxed) == NULL) {
            continue;
        }
        struct spool_segment *segment = atomic_exchange(&cupti->pool[i], NULL);
        if (segment != NULL) {
            (void)atomic_fetch_sub(&cupti->pool_count, 1);
            return segment;
        }
    }
    return NULL;
}

/* False if the pool is full. Only our thread calls it. */
static bool pool_put(struct cupti_state *cupti, struct spool_segment *segment)
{
    for (uint32_t i = 0; i < CUPTI_POOL; i++) {
        struct spool_segment *empty = NULL;
        if (atomic_compare_exchange_strong(&cupti->pool[i], &empty, segment)) {
            (void)atomic_fetch_add(&cupti->pool_count, 1);
            return true;
        }
    }
    return false;
}

/* The size of the next buffer. All alike in a ring, where one takes the place of another. */
static uint64_t next_bytes(const struct cupti_state *cupti)
{
    uint64_t out = atomic_load(&cupti->out_bytes);
    uint64_t left = cupti->out_max_bytes > out ? cupti->out_max_bytes - out : 0;
    uint64_t bytes = cupti->segment_bytes;
    bool many = !inject.writer.ring && left < out;
    while (many && bytes / 2 >= LEAST_BYTES && bytes * SHARES > left) {
        bytes = (bytes / 2 + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    }
    return bytes;
}

/* Puts a segment that holds nothing any more away. */
static void put_away(struct spool_segment *segment)
{
    atomic_store(&segment->state, SPOOL_STATE_FREE);
    spool_writer_release(&inject.writer, segment);
}

void cupti_buffer_prepare(struct cupti_state *cupti)
{
    uint32_t none = 0;
    (void)atomic_compare_exchange_strong(&cupti->pool_wanted, &none, POOL_FIRST);
    while (atomic_load(&cupti->pool_count) < atomic_load(&cupti->pool_wanted)) {
        enum spool_loss why = SPOOL_LOSS_NONE;
        struct spool_segment *segment =
            spool_writer_take(&inject.writer, SPOOL_SEGMENT_CUPTI, next_bytes(cupti), &why);
        if (segment == NULL) {
            return;
        }
        if (!pool_put(cupti, segment)) {
            put_away(segment);
            return;
        }
    }
}

/* Where the table has the buffer, if it is there. */
static uint32_t slot_home(const uint8_t *buffer)
{
    return (uint32_t)((uintptr_t)buffer / SPOOL_PAGE) * UINT32_C(2654435769) >> 16;
}

static struct cupti_slot *slot_claim(struct cupti_state *cupti, const uint8_t *buffer)
{
    uint32_t home = slot_home(buffer);
    for (uint32_t i = 0; i < CUPTI_SLOTS; i++) {
        struct cupti_slot *slot = &cupti->slots[(home + i) % CUPTI_SLOTS];
        uint32_t is_free = CUPTI_SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slot->state, &is_free, CUPTI_SLOT_CLAIMED)) {
            continue;
        }
        uint32_t far = atomic_load(&cupti->slots_far);
        while (far < i && !atomic_compare_exchange_weak(&cupti->slots_far, &far, i)) {
        }
        return slot;
    }
    return NULL;
}

/* The slot of a buffer that is out; NULL for one that is not ours. */
static struct cupti_slot *slot_find(struct cupti_state *cupti, const uint8_t *buffer)
{
    uint32_t home = slot_home(buffer);
    uint32_t far = atomic_load(&cupti->slots_far);
    for (uint32_t i = 0; i <= far; i++) {
        struct cupti_slot *slot = &cupti->slots[(home + i) % CUPTI_SLOTS];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) == CUPTI_SLOT_OUT &&
            slot->buffer == buffer) {
            uint32_t out = CUPTI_SLOT_OUT;
            return atomic_compare_exchange_strong(&slot->state, &out, CUPTI_SLOT_DONE) ? slot
                                                                                       : NULL;
        }
    }
    return NULL;
}

/* A prepared segment, or one made now: on the program's path, but only when the pool ran dry. */
static struct spool_segment *take_segment(struct cupti_state *cupti, enum spool_loss *why)
{
    if (atomic_load(&cupti->waiting_bytes) >= cupti->out_max_bytes) {
        *why = SPOOL_LOSS_BUFFER_BUDGET;
        return NULL;
    }
    struct spool_segment *segment = pool_take(cupti);
    if (segment != NULL) {
        atomic_store(&segment->seq, atomic_fetch_add(&inject.writer.seq, 1) + 1);
        return segment;
    }
    uint32_t wanted = atomic_load(&cupti->pool_wanted);
    if (wanted < POOL_MOST) {
        atomic_store(&cupti->pool_wanted, wanted * 2);
    }
    if (!nvtx_enter()) {
        *why = SPOOL_LOSS_BUFFER_BUDGET;
        return NULL;
    }
    segment = spool_writer_take(&inject.writer, SPOOL_SEGMENT_CUPTI, next_bytes(cupti), why);
    nvtx_leave();
    return segment;
}

/* The last resort where the program has no memory left: shared by all who need it, for what is
 * written there is dropped. */
#define LAST_RESORT_BYTES (UINT32_C(64) << 10)
static _Alignas(64) uint8_t last_resort[LAST_RESORT_BYTES];

/* Memory that is not recorded. */
static uint8_t *scratch(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Enters what CUPTI gets into the table. */
static bool enter(struct cupti_state *cupti, const struct cupti_slot *entry)
{
    struct cupti_slot *slot = slot_claim(cupti, entry->buffer);
    if (slot == NULL) {
        return false;
    }
    slot->buffer = entry->buffer;
    slot->size = entry->size;
    slot->segment = entry->segment;
    slot->why = entry->why;
    slot->expected = false;
    if (entry->segment != NULL) {
        (void)atomic_fetch_add(&cupti->out_bytes, entry->segment->bytes);
    }
    uint32_t count = atomic_fetch_add(&cupti->out_count, 1) + 1;
    uint32_t most = atomic_load(&cupti->out_most);
    while (most < count && !atomic_compare_exchange_weak(&cupti->out_most, &most, count)) {
    }
    atomic_store_explicit(&slot->state, CUPTI_SLOT_OUT, memory_order_release);
    return true;
}

/* A buffer that is recorded, or scratch memory, or the last resort: entered in the table but for
 * the last. */
static struct cupti_slot find_buffer(struct cupti_state *cupti)
{
    struct cupti_slot found = {.size = LEAST_BYTES, .why = SPOOL_LOSS_BUFFER_BUDGET};
    found.segment = take_segment(cupti, &found.why);
    if (found.segment != NULL) {
        found.size = (size_t)spool_room(found.segment);
        found.buffer = spool_payload(found.segment);
        if (enter(cupti, &found)) {
            return found;
        }
        put_away(found.segment);
        found = (struct cupti_slot){.size = LEAST_BYTES, .why = SPOOL_LOSS_BUFFER_BUDGET};
    }
    found.buffer = scratch(found.size);
    if (found.buffer != NULL && !enter(cupti, &found)) {
        (void)munmap(found.buffer, found.size);
        found.buffer = NULL;
    }
    return found;
}

void cupti_buffer_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    struct cupti_state *cupti = &inject.cupti;
    int saved = errno;
    bool forked = cupti_is_forked(cupti);
    struct cupti_slot found = {.buffer = NULL};
    if (forked) {
        found.size = LEAST_BYTES;
        found.buffer = scratch(found.size);
    } else {
        found = find_buffer(cupti);
    }
    bool any = found.buffer != NULL;
    *buffer = any ? found.buffer : last_resort;
    *size = any ? found.size : sizeof(last_resort);
    *max_records = 0;
    if (!forked && atomic_load(&cupti->pool_count) < POOL_FIRST) {
        (void)sem_post(&cupti->wake);
    }
    errno = saved;
}

/* CUPTI gave back something that we never gave out: another client took our place, or we are its
 * child. */
static void not_ours(struct cupti_state *cupti, const uint8_t *buffer, size_t valid)
{
    struct spool_writer *writer = inject_spool_now();
    if (writer == NULL || valid == 0) {
        return;
    }
    if (buffer == last_resort) {
        spool_writer_loss(writer, SPOOL_LOSS_BUFFER_BUDGET, 0, 1);
        return;
    }
    if (atomic_load(&cupti->forked)) {
        spool_writer_loss(writer, SPOOL_LOSS_AFTER_FORK, 0, 1);
        return;
    }
    spool_writer_loss(writer, SPOOL_LOSS_FOREIGN_BUFFER, 0, 1);
    if (!atomic_exchange(&cupti->interfered, true) && nvtx_enter()) {
        spool_writer_status(writer, SPOOL_STATUS_CUPTI_INTERFERED, SPOOL_RIVAL_FOREIGN_BUFFER, 0,
                            "foreign buffer");
        nvtx_leave();
    }
}

void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid)
{
    struct cupti_state *cupti = &inject.cupti;
    (void)context;
    (void)stream;
    (void)size;
    struct cupti_slot *slot = cupti_is_forked(cupti) ? NULL : slot_find(cupti, buffer);
    if (slot == NULL) {
        not_ours(cupti, buffer, valid);
        return;
    }
    slot->valid = valid < slot->size ? valid : slot->size;
    if (slot->segment != NULL) {
        (void)atomic_fetch_add(&cupti->waiting_bytes, slot->valid);
        (void)atomic_fetch_sub(&cupti->out_bytes, slot->segment->bytes);
        atomic_store(&slot->segment->published, slot->valid);
        atomic_store_explicit(&slot->segment->state, SPOOL_STATE_COMPLETE, memory_order_release);
    }
    (void)atomic_fetch_sub(&cupti->out_count, 1);
    struct cupti_slot *first = atomic_load(&cupti->done);
    do {
        slot->next = first;
    } while (!atomic_compare_exchange_weak(&cupti->done, &first, slot));
    (void)sem_post(&cupti->wake);
}

/* Makes an emptied segment ready to be a buffer again. */
static void recycle(struct cupti_state *cupti, struct spool_segment *segment, size_t used)
{
    atomic_store(&segment->state, SPOOL_STATE_FREE);
    atomic_store(&segment->published, 0);
    memset(spool_payload(segment), 0, used);
    uint32_t wanted = atomic_load(&cupti->out_most);
    wanted = wanted < POOL_MOST ? POOL_MOST : wanted;
    atomic_store(&segment->seq, atomic_fetch_add(&inject.writer.seq, 1) + 1);
    atomic_store(&segment->state, SPOOL_STATE_OPEN);
    if (atomic_load(&cupti->pool_count) >= wanted || !pool_put(cupti, segment)) {
        put_away(segment);
    }
}

/* The segment in which records of nearly empty buffers are gathered, with room for BYTES; NULL if
 * there is none. */
static struct spool_segment *packed_with_room(struct cupti_state *cupti, size_t bytes)
{
    struct spool_segment *packed = cupti->packed;
    if (packed != NULL && spool_room(packed) - atomic_load(&packed->published) >= bytes) {
        return packed;
    }
    enum spool_loss why = SPOOL_LOSS_NONE;
    struct spool_segment *next =
        spool_writer_take(&inject.writer, SPOOL_SEGMENT_CUPTI, cupti->segment_bytes, &why);
    if (next == NULL) {
        return NULL;
    }
    atomic_store(&next->state, SPOOL_STATE_SCANNED);
    if (packed != NULL) {
        spool_writer_finish(&inject.writer, packed);
    }
    cupti->packed = next;
    return next;
}

/* Copies the records of a nearly empty buffer, so that a flush each second does not cost a whole
 * segment each second. The copy counts from the moment its bytes are published; until the buffer is
 * freed, its `copied_seq` keeps the reader from both. */
static bool pack(struct cupti_state *cupti, struct spool_segment *segment, size_t bytes)
{
    struct spool_segment *packed = packed_with_room(cupti, bytes);
    if (packed == NULL) {
        return false;
    }
    uint64_t at = atomic_load(&packed->published);
    memcpy(spool_payload(packed) + at, spool_payload(segment), bytes);
    atomic_store(&packed->copied_end, (uint32_t)(at + bytes));
    atomic_store(&packed->copied_seq, atomic_load(&segment->seq));
    atomic_store_explicit(&packed->published, at + bytes, memory_order_release);
    return true;
}

static void handle_segment(struct cupti_state *cupti, struct cupti_slot *slot)
{
    struct spool_segment *segment = slot->segment;
    struct cupti_walk walk = cupti_scan(cupti, slot, &inject.writer);
    (void)atomic_fetch_sub(&cupti->waiting_bytes, slot->valid);
    if (!walk.keep || walk.bytes == 0 ||
        (walk.bytes < slot->size / 2 && pack(cupti, segment, walk.bytes))) {
        recycle(cupti, segment, slot->valid);
        return;
    }
    atomic_store(&segment->published, walk.bytes);
    atomic_store_explicit(&segment->state, SPOOL_STATE_SCANNED, memory_order_release);
    spool_writer_finish(&inject.writer, segment);
}

void cupti_buffer_drain(struct cupti_state *cupti)
{
    struct cupti_slot *newest = atomic_exchange(&cupti->done, NULL);
    struct cupti_slot *oldest = NULL;
    while (newest != NULL) {
        struct cupti_slot *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    if (oldest != NULL) {
        cupti_read_intervals(cupti);
    }
    while (oldest != NULL) {
        struct cupti_slot *slot = oldest;
        oldest = slot->next;
        cupti->buffers_walked++;
        if (slot->segment != NULL) {
            handle_segment(cupti, slot);
        } else {
            cupti_count(cupti, slot, &inject.writer);
            (void)munmap(slot->buffer, slot->size);
        }
        atomic_store_explicit(&slot->state, CUPTI_SLOT_FREE, memory_order_release);
    }
}
