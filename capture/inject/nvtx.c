/*
 * NVTX events: what a program pays for, so no lock, no system call and no hashing between the call
 * and the record.
 *
 * A thread writes into a segment of its own (initial-exec thread-local pointers): check that the
 * record fits, take the time, copy, publish. Everything else (first event, full segment, fork,
 * capture range, thread end) is in make_room.
 */
#define _GNU_SOURCE /* syscall; NOLINT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define SEGMENT_FIRST_BYTES (UINT32_C(8) << 10)
#define SEGMENT_LAST_BYTES (UINT32_C(1) << 20)
#define RING_PARTS 64

/* How often a thread looks at its name: about a second, in ns and in ticks of any such counter. */
#define LOOK_TICKS UINT64_C(2000000000)

/* Texts of the segment by the address that they came from, in the last bytes of each segment: a
 * program gives the same literals again and again, and a repeated text is 8 bytes. */
#define REPEAT_SLOTS 64
#define REPEAT_LEAST 12 /* shorter texts are written again */

struct repeat {
    const char *text;
    uint32_t offset; /* in the payload */
    uint32_t bytes;
};

#define REPEAT_BYTES (REPEAT_SLOTS * sizeof(struct repeat))

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static _Thread_local struct nvtx_thread self __attribute__((tls_model("initial-exec")));

bool nvtx_enter(void)
{
    if (inject_is_copy() && !inject_after_fork()) {
        return false;
    }
    if (self.busy != 0) {
        return false;
    }
    self.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

void nvtx_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    self.busy = 0;
}

static inline uint64_t event_time(void)
{
    return inject.nvtx.use_tsc ? clock_tsc() : (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
}

static void count_losses(enum spool_loss reason, uint64_t count)
{
    struct spool_writer *writer = inject_spool_now();
    if (writer != NULL && count > 0) {
        spool_writer_loss(writer, reason, SPOOL_LOSS_OF_NVTX, count);
    }
}

static void count_loss(enum spool_loss reason)
{
    count_losses(reason, 1);
}

/* Runs when a thread ends: the rest of its segment is for the next thread. */
static void thread_end(void *value)
{
    struct nvtx_thread *thread = value;
    struct spool_writer *writer = inject_spool_now();
    if (thread->segment == NULL || writer == NULL || !nvtx_enter()) {
        return;
    }
    os_names_self(thread, writer);
    spool_writer_put_spare(writer, thread->segment);
    thread->segment = NULL;
    thread->at = NULL;
    thread->end = NULL;
    nvtx_leave();
}

/* In a forked child only the thread that called fork is left, and its segment is the parent's. */
void nvtx_fork_child(void)
{
    self.segment = NULL;
    self.at = NULL;
    self.end = NULL;
    self.busy = 0;
    self.begun = false;
    self.tid = 0;
    self.next_bytes = 0;
    memset(self.name, 0, sizeof(self.name));
    for (size_t i = 0; i < NVTX_LEVELS; i++) {
        self.levels[i].left_out = UINT32_MAX; /* those pushes are in the parent's spool */
    }
    nvtx_range_fork_child();
}

/* Gives the thread its numbers. */
static void introduce(struct nvtx_thread *thread)
{
    if (thread->serial == 0) {
        thread->serial = atomic_fetch_add(&inject.nvtx.threads, 1) + 1;
    }
    thread->tid = (uint32_t)syscall(SYS_gettid);
    if (inject.nvtx.key_made) {
        (void)pthread_setspecific(inject.nvtx.key, thread);
    }
}

/* Size of the thread's next segment: small for the first events, then larger; all alike in a ring,
 * to be used again. */
static uint64_t next_size(struct nvtx_thread *thread, const struct spool_writer *writer,
                          size_t need)
{
    uint64_t bytes = thread->next_bytes;
    if (writer->ring) {
        bytes = SEGMENT_FIRST_BYTES;
        while (bytes < SEGMENT_LAST_BYTES && bytes * RING_PARTS < writer->max_size_bytes) {
            bytes *= 2;
        }
    } else {
        bytes = bytes == 0 ? SEGMENT_FIRST_BYTES : bytes;
        thread->next_bytes =
            (uint32_t)(bytes * 4 < SEGMENT_LAST_BYTES ? bytes * 4 : SEGMENT_LAST_BYTES);
    }
    while (bytes - SPOOL_SEGMENT_HEAD - REPEAT_BYTES < need) {
        bytes *= 2;
    }
    return bytes;
}

/* A segment of an ended thread with NEED bytes left, or a new one. */
static struct spool_segment *find_segment(struct nvtx_thread *thread, struct spool_writer *writer,
                                          size_t need)
{
    enum spool_loss why = SPOOL_LOSS_NVTX_NO_BUFFER;
    /* Only a thread's first: its records must come in the order of the segments. */
    if (!thread->begun) {
        struct spool_segment *spare = spool_writer_get_spare(writer);
        if (spare != NULL &&
            spool_room(spare) - REPEAT_BYTES - atomic_load(&spare->published) >= need) {
            return spare;
        }
        if (spare != NULL) {
            spool_writer_finish(writer, spare);
        }
    }
    struct spool_segment *segment =
        spool_writer_take(writer, SPOOL_SEGMENT_NVTX, next_size(thread, writer, need), &why);
    if (segment == NULL) {
        spool_writer_loss(writer, why, SPOOL_LOSS_OF_NVTX, 1);
        return NULL;
    }
    memset((uint8_t *)segment + segment->bytes - REPEAT_BYTES, 0, REPEAT_BYTES);
    if (segment->bytes >= SEGMENT_LAST_BYTES) {
        spool_writer_anchor(writer, 0);
    }
    return segment;
}

/* Gives THREAD a segment with room for a record of BYTES. */
static bool refill(struct nvtx_thread *thread, size_t bytes)
{
    struct spool_writer *writer = inject_spool();
    if (writer == NULL) {
        return false;
    }
    if (thread->tid == 0) {
        introduce(thread);
    }
    if (thread->segment != NULL) {
        spool_writer_finish(writer, thread->segment);
        thread->segment = NULL;
        thread->at = NULL;
        thread->end = NULL;
    }
    struct spool_segment *segment = find_segment(thread, writer, bytes + sizeof(struct spool_nvtx));
    if (segment == NULL) {
        return false;
    }
    struct spool_nvtx head = {
        .type = SPOOL_NVTX_THREAD, .bytes = sizeof(head), .time = thread->tid};
    uint64_t published = atomic_load(&segment->published);
    thread->segment = segment;
    thread->begun = true;
    thread->at = spool_payload(segment) + published;
    thread->end = (uint8_t *)segment + segment->bytes - REPEAT_BYTES;
    memcpy(thread->at, &head, sizeof(head));
    thread->at += sizeof(head);
    atomic_store_explicit(&segment->published, published + sizeof(head), memory_order_release);
    os_names_self(thread, writer);
    return true;
}

/* The pop of a range that was recorded is, also when the capture range is over by then; not when the
 * recording is. */
static inline bool is_wanted_now(const struct spool_nvtx *head)
{
    return inject_collecting() ||
           (head->type == SPOOL_NVTX_POP && head->level != 0 && head->level != SPOOL_LEVEL_NONE &&
            session_control_collecting(inject.control));
}

/* The way of an event that cannot just be written. True: there is room now. */
static bool __attribute__((noinline))
make_room(struct nvtx_thread *thread, const struct spool_nvtx *head)
{
    size_t bytes = head->bytes;
    if (inject_is_copy() && !inject_after_fork()) {
        return false;
    }
    if (thread->busy != 0) {
        count_loss(SPOOL_LOSS_NVTX_REENTRANT);
        return false;
    }
    if (!is_wanted_now(head)) {
        return false;
    }
    if ((size_t)(thread->end - thread->at) >= bytes) {
        return true;
    }
    if (!inject.config.ring && atomic_load(&inject.control->full) != 0) {
        count_loss(SPOOL_LOSS_MAX_SIZE);
        return false;
    }
    int saved = errno;
    thread->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    bool found = refill(thread, bytes);
    nvtx_leave();
    errno = saved;
    return found;
}

/* Begins a record; of its head the type, the flags, the level and the bytes are given, which are
 * rounded here. Returns where its fields go, or NULL for an event that is not recorded. */
static inline uint8_t *begin(struct spool_nvtx head, const struct nvtx_note *domain)
{
    struct nvtx_thread *thread = &self;
    head.bytes = (uint16_t)((head.bytes + 7U) & ~7U);
    if (UNLIKELY(!domain->wanted)) {
        return NULL;
    }
    if (UNLIKELY(thread->busy != 0 || inject_is_copy() || !inject_collecting() ||
                 (size_t)(thread->end - thread->at) < head.bytes) &&
        !make_room(thread, &head)) {
        return NULL;
    }
    thread->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    thread->time = event_time();
    head.domain = (uint16_t)domain->head.domain;
    head.time = thread->time;
    memcpy(thread->at, &head, sizeof(head));
    thread->next = thread->at + head.bytes;
    return thread->at + sizeof(head);
}

/* One thread of the process ties the clocks together: of one that is killed, the times of its last
 * events are known by that. */
static void anchor_now_and_then(struct spool_writer *writer, uint64_t time)
{
    uint64_t due = atomic_load_explicit(&inject.nvtx.anchor_time, memory_order_relaxed);
    if (time >= due &&
        atomic_compare_exchange_strong(&inject.nvtx.anchor_time, &due, time + LOOK_TICKS)) {
        spool_writer_anchor(writer, 0);
    }
}

/* About each second: the name that the system has for this thread may be another one by now. */
static void __attribute__((noinline)) look_around(struct nvtx_thread *thread)
{
    struct spool_writer *writer = inject_spool_now();
    thread->look_time = thread->time + LOOK_TICKS;
    if (writer != NULL) {
        os_names_self(thread, writer);
        anchor_now_and_then(writer, thread->time);
    }
}

/* Publishes the record that was begun. */
static inline void commit(void)
{
    struct nvtx_thread *thread = &self;
    thread->at = thread->next;
    atomic_store_explicit(&thread->segment->published,
                          (uint64_t)(thread->at - (uint8_t *)thread->segment) - SPOOL_SEGMENT_HEAD,
                          memory_order_release);
    if (UNLIKELY(thread->time >= thread->look_time)) {
        look_around(thread);
    }
    nvtx_leave();
}

static inline uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    return put(at, &value, sizeof(value));
}

static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    return put(at, &value, sizeof(value));
}

/* Levels. They are changed while the record is being written, or is not: an event from a signal
 * handler that comes between is dropped, and leaves them as they were. */
static inline struct nvtx_level *level_of(const struct nvtx_note *domain)
{
    return LIKELY(domain->head.domain < NVTX_LEVELS) ? &self.levels[domain->head.domain] : NULL;
}

#define LEVEL_BITS 32

/* The number of the level that a push begins, as records have it. */
static inline uint16_t level_of_push(const struct nvtx_level *level)
{
    return level == NULL || level->depth >= SPOOL_LEVEL_NONE - 1 ? 0 : (uint16_t)(level->depth + 1);
}

/* Likewise of the level that a pop ends. */
static inline uint16_t level_of_pop(const struct nvtx_level *level)
{
    if (level == NULL || level->depth >= SPOOL_LEVEL_NONE) {
        return 0;
    }
    return level->depth == 0 ? SPOOL_LEVEL_NONE : (uint16_t)level->depth;
}

static inline void level_push(struct nvtx_level *level, bool left_out)
{
    if (level != NULL) {
        uint32_t bit = level->depth < LEVEL_BITS ? UINT32_C(1) << level->depth : 0;
        level->left_out = left_out ? level->left_out | bit : level->left_out & ~bit;
        level->depth++;
    }
}

static inline void level_pop(struct nvtx_level *level)
{
    if (level != NULL && level->depth > 0) {
        level->depth--;
    }
}

/* Whether the push that a pop belongs to was left out. One that was lost is not: its pop is recorded
 * or counted like others. */
static inline bool level_is_left_out(const struct nvtx_level *level)
{
    return level != NULL && level->depth > 0 && level->depth <= LEVEL_BITS &&
           (level->left_out >> (level->depth - 1) & 1U) != 0;
}

/* Whether an event that was not recorded was left out as asked. */
static bool is_left_out(const struct nvtx_note *domain)
{
    return !domain->wanted || !inject_collecting();
}

/* What NVTX returns for a level number of a record. */
static inline int level_result(uint16_t number)
{
    return number == 0 || number == SPOOL_LEVEL_NONE ? NVTX_RESULT_NO_PUSH_POP : number - 1;
}

/* The place in the table for the text at that address. The table is of the segment that the thread
 * writes. */
static inline struct repeat *repeat_of(const struct nvtx_thread *thread, const char *text)
{
    uintptr_t key = (uintptr_t)text;
    struct repeat *table = (struct repeat *)(void *)thread->end;
    return &table[(key >> 3 ^ key >> 9) % REPEAT_SLOTS];
}

/* Writes the event as a repeated text, if the segment holds it: same address, and still the same
 * bytes. strncmp, unlike memcmp, does not read beyond the end of a text that became shorter. */
static inline bool emit_repeat(uint8_t type, const char *text)
{
    struct nvtx_thread *thread = &self;
    const size_t bytes = sizeof(struct spool_nvtx) + 2 * sizeof(uint32_t);
    if (UNLIKELY(!inject.nvtx.default_domain.wanted || thread->busy != 0 || text == NULL ||
                 inject_is_copy() || !inject_collecting() ||
                 (size_t)(thread->end - thread->at) < bytes)) {
        return false;
    }
    thread->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    const struct repeat *known = repeat_of(thread, text);
    const char *stored = (const char *)spool_payload(thread->segment) + known->offset;
    if (known->text != text || strncmp(stored, text, known->bytes) != 0 ||
        text[known->bytes] != '\0') {
        nvtx_leave();
        return false;
    }
    thread->time = event_time();
    struct spool_nvtx head = {
        .type = type, .flags = SPOOL_NVTX_REPEAT, .bytes = (uint16_t)bytes, .time = thread->time};
    if (type == SPOOL_NVTX_PUSH) {
        head.level = level_of_push(&thread->levels[0]);
        level_push(&thread->levels[0], false);
    }
    memcpy(thread->at, &head, sizeof(head));
    memcpy(thread->at + sizeof(head), &known->offset, 2 * sizeof(uint32_t));
    thread->next = thread->at + bytes;
    commit();
    return true;
}

/* Writes the event with its text. */
static void emit_text(uint8_t type, const char *text)
{
    struct nvtx_level *level = type == SPOOL_NVTX_PUSH ? &self.levels[0] : NULL;
    size_t length = text == NULL ? 0 : strlen(text);
    bool is_cut = length > SPOOL_TEXT_MAX;
    length = is_cut ? SPOOL_TEXT_MAX : length;
    struct spool_nvtx head = {
        .type = type,
        .flags = SPOOL_NVTX_TEXT,
        .level = level_of_push(level),
        .bytes = (uint16_t)(sizeof(struct spool_nvtx) + sizeof(uint32_t) + length)};
    uint8_t *at = begin(head, &inject.nvtx.default_domain);
    level_push(level, at == NULL && is_left_out(&inject.nvtx.default_domain));
    if (UNLIKELY(at == NULL)) {
        return;
    }
    at = put_u32(at, (uint32_t)length);
    if (length > 0) {
        memcpy(at, text, length); /* NOLINT: no terminator is wanted */
    }
    if (length >= REPEAT_LEAST) {
        *repeat_of(&self, text) =
            (struct repeat){text, (uint32_t)(at - spool_payload(self.segment)), (uint32_t)length};
    }
    commit();
    if (UNLIKELY(is_cut)) {
        count_loss(SPOOL_LOSS_NVTX_TEXT_CUT);
    }
}

/* An event in the default domain that has a text and nothing else. */
int nvtx_emit_text(uint8_t type, const char *text)
{
    if (UNLIKELY(!emit_repeat(type, text))) {
        emit_text(type, text);
    }
    return (int)self.levels[0].depth - 1;
}

uint64_t nvtx_range_id(void)
{
    if (self.serial == 0) {
        self.serial = atomic_fetch_add(&inject.nvtx.threads, 1) + 1;
    }
    return (uint64_t)self.serial << 32 | ++self.ranges;
}

/* What the message of an event is. */
struct message {
    uint8_t flag; /* 0, SPOOL_NVTX_STRING or SPOOL_NVTX_TEXT */
    bool wide;
    bool is_cut;
    size_t bytes;
    const void *text;
    const struct nvtx_note *string; /* NULL: its registration was lost */
};

static struct message message_of(const struct nvtx_attributes *attributes)
{
    struct message message = {0, false, false, 0, NULL, NULL};
    if (attributes->message_type == NVTX_TEXT_REGISTERED) {
        /* No handle: it could not be registered. The converter counts the text as lost. */
        const struct nvtx_note *note = attributes->message.registered;
        message.flag = SPOOL_NVTX_STRING;
        message.string = note;
        message.is_cut = note != NULL && note->is_cut;
    } else if (attributes->message_type == NVTX_TEXT_ASCII && attributes->message.ascii != NULL) {
        message.flag = SPOOL_NVTX_TEXT;
        message.text = attributes->message.ascii;
        message.bytes = strlen(attributes->message.ascii);
    } else if (attributes->message_type == NVTX_TEXT_UNICODE &&
               attributes->message.unicode != NULL) {
        message.flag = SPOOL_NVTX_TEXT;
        message.wide = true;
        message.text = attributes->message.unicode;
        message.bytes = nvtx_wide_bytes(attributes->message.unicode, SPOOL_TEXT_MAX + 1);
    }
    if (message.bytes > SPOOL_TEXT_MAX) {
        message.bytes = SPOOL_TEXT_MAX;
        message.is_cut = true;
    }
    return message;
}

/* The extended payload of an event: the first of them; more are counted. */
struct blob {
    const struct nvtx_payload_data *data;
    size_t kept;
    uint64_t losses; /* what is not kept of it */
};

static struct blob blob_of(const struct nvtx_payload_data *data, size_t count)
{
    struct blob blob = {NULL, 0, 0};
    if (data == NULL || count == 0) {
        return blob;
    }
    blob.losses = count > 1 ? 1 : 0;
    blob.data = data;
    if (data->payload == NULL) {
        return blob;
    }
    blob.kept = data->size;
    if (data->size == SIZE_MAX) {
        blob.kept = strnlen(data->payload, SPOOL_PAYLOAD_MAX);
    }
    if (blob.kept > SPOOL_PAYLOAD_MAX) {
        blob.kept = SPOOL_PAYLOAD_MAX;
        blob.losses++;
    }
    return blob;
}

/* Which optional fields EVENT has, and their bytes. */
static uint8_t fields_of(const struct nvtx_event *event, const struct nvtx_attributes *attributes,
                         const struct blob *blob, size_t *bytes)
{
    uint8_t flags = 0;
    if (event->range != 0) {
        flags |= SPOOL_NVTX_RANGE;
        *bytes += 8;
    }
    if (attributes->color_type != 0) {
        flags |= SPOOL_NVTX_ATTR;
        *bytes += 8;
    }
    if (attributes->category != 0) {
        flags |= SPOOL_NVTX_CATEG;
        *bytes += 8;
    }
    if (attributes->payload_type > 0) {
        flags |= SPOOL_NVTX_PAYLOAD;
        *bytes += 16;
    }
    if (blob->data != NULL) {
        flags |= SPOOL_NVTX_BLOB;
        *bytes += 24 + (blob->kept + 7) / 8 * 8;
    }
    return flags;
}

static uint8_t *put_blob(uint8_t *at, const struct blob *blob)
{
    at = put_u64(at, blob->data->schema);
    at = put_u64(at, blob->data->size);
    at = put_u32(at, (uint32_t)blob->kept);
    at = put_u32(at, 0);
    if (blob->kept > 0) {
        memcpy(at, blob->data->payload, blob->kept);
    }
    return at + (blob->kept + 7) / 8 * 8;
}

static void put_message(uint8_t *at, const struct message *message)
{
    if (message->flag == SPOOL_NVTX_STRING) {
        (void)put_u64(at, message->string == NULL ? 0 : message->string->head.value[0]);
    } else if (message->flag == SPOOL_NVTX_TEXT) {
        at = put_u32(at, (uint32_t)message->bytes);
        if (message->wide) {
            nvtx_wide_put(at, message->bytes, message->text);
        } else if (message->bytes > 0) {
            memcpy(at, message->text, message->bytes);
        }
    }
}

/* The attributes as our struct has them: older or shorter ones are completed with zeros. */
static const struct nvtx_attributes *whole_attributes(const struct nvtx_attributes *given,
                                                      struct nvtx_attributes *room)
{
    if (LIKELY(given != NULL && given->size >= sizeof(*given))) {
        return given;
    }
    memset(room, 0, sizeof(*room));
    if (given != NULL && given->size >= 4) {
        memcpy(room, given, given->size);
    }
    return room;
}

/* Writes the fields that the flags of a record name, but for the message. */
static uint8_t *put_fields(uint8_t *at, uint8_t flags, const struct nvtx_event *event,
                           const struct nvtx_attributes *attributes)
{
    if ((flags & SPOOL_NVTX_RANGE) != 0) {
        at = put_u64(at, event->range);
    }
    if ((flags & SPOOL_NVTX_ATTR) != 0) {
        at = put_u32(at, (uint32_t)attributes->color_type);
        at = put_u32(at, attributes->color);
    }
    if ((flags & SPOOL_NVTX_CATEG) != 0) {
        at = put_u32(at, attributes->category);
        at = put_u32(at, 0);
    }
    if ((flags & SPOOL_NVTX_PAYLOAD) != 0) {
        at = put_u32(at, (uint32_t)attributes->payload_type);
        at = put_u32(at, 0);
        at = put_u64(at, attributes->payload.bits);
    }
    return at;
}

/* Writes the event; NUMBER is that of its level as records have it. */
static void emit(const struct nvtx_event *event, uint16_t number, struct nvtx_level *level)
{
    struct nvtx_attributes room;
    const struct nvtx_attributes *attributes = whole_attributes(event->attributes, &room);
    struct message message = message_of(attributes);
    struct blob blob = blob_of(event->payloads, event->payload_count);
    if (blob.data == NULL && attributes->payload_type == NVTX_PAYLOAD_KIND_EXT) {
        size_t count = attributes->reserved0 > 0 ? (size_t)attributes->reserved0 : 0;
        blob = blob_of(attributes->payload.pointer, count);
    }
    size_t bytes = sizeof(struct spool_nvtx);
    struct spool_nvtx head = {.type = event->type, .level = number};
    head.flags = fields_of(event, attributes, &blob, &bytes) | message.flag;
    bytes += message.flag == SPOOL_NVTX_TEXT ? 4 + message.bytes : 0;
    bytes += message.flag == SPOOL_NVTX_STRING ? 8 : 0;
    head.bytes = (uint16_t)bytes;
    uint8_t *at = begin(head, event->domain);
    if (event->type == SPOOL_NVTX_PUSH) {
        level_push(level, at == NULL && is_left_out(event->domain));
    } else if (event->type == SPOOL_NVTX_POP) {
        level_pop(level);
    }
    if (at == NULL) {
        return;
    }
    if (message.string != NULL) {
        nvtx_string_write(message.string);
    }
    at = put_fields(at, head.flags, event, attributes);
    if (blob.data != NULL) {
        at = put_blob(at, &blob);
    }
    put_message(at, &message);
    commit();
    count_losses(SPOOL_LOSS_NVTX_TEXT_CUT, message.is_cut ? 1 : 0);
    count_losses(SPOOL_LOSS_NVTX_PAYLOAD, blob.losses);
}

int nvtx_emit(const struct nvtx_event *event)
{
    struct nvtx_level *level = level_of(event->domain);
    uint16_t number = 0;
    if (event->type == SPOOL_NVTX_PUSH) {
        number = level_of_push(level);
    } else if (event->type == SPOOL_NVTX_POP) {
        number = level_of_pop(level);
    }
    if (event->type == SPOOL_NVTX_POP && level_is_left_out(level)) {
        level_pop(level);
    } else {
        emit(event, number, level);
    }
    return level_result(number);
}

int nvtx_emit_pop(const struct nvtx_note *domain)
{
    struct nvtx_level *level = level_of(domain);
    struct spool_nvtx head = {
        .type = SPOOL_NVTX_POP, .bytes = sizeof(head), .level = level_of_pop(level)};
    uint8_t *at = UNLIKELY(level_is_left_out(level)) ? NULL : begin(head, domain);
    level_pop(level);
    if (LIKELY(at != NULL)) {
        commit();
    }
    return level_result(head.level);
}

void nvtx_start(void)
{
    inject.nvtx.use_tsc = clock_tsc_usable();
    inject.nvtx.trigger = inject.config.range == SESSION_RANGE_NVTX;
    inject.nvtx.key_made = pthread_key_create(&inject.nvtx.key, thread_end) == 0;
    nvtx_names_init();
}
