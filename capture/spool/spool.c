/* The reader of spools. Works on files of running and of killed processes; copies by pread and
 * checks every length. */
#define _GNU_SOURCE /* SEEK_DATA; NOLINT */
#include "capture/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX (UINT32_C(1) << 24)

static const char *const loss_names[SPOOL_LOSS_COUNT] = {
    [SPOOL_LOSS_NONE] = "none",
    [SPOOL_LOSS_CUPTI_DROPPED] = "dropped by CUPTI",
    [SPOOL_LOSS_BUFFER_BUDGET] = "buffer budget",
    [SPOOL_LOSS_MAX_SIZE] = "maximum size",
    [SPOOL_LOSS_RING] = "overwritten in the ring",
    [SPOOL_LOSS_NO_SPACE] = "disk full",
    [SPOOL_LOSS_TRUNCATED_TAIL] = "truncated buffer, bytes",
    [SPOOL_LOSS_UNKNOWN_KIND] = "unknown record kind, bytes",
    [SPOOL_LOSS_FOREIGN_BUFFER] = "foreign buffer",
    [SPOOL_LOSS_AFTER_FORK] = "delivered after fork",
    [SPOOL_LOSS_NAME_UNREADABLE] = "name unreadable",
    [SPOOL_LOSS_NVTX_NO_BUFFER] = "no NVTX buffer",
    [SPOOL_LOSS_NVTX_TEXT_CUT] = "NVTX text cut",
    [SPOOL_LOSS_NVTX_PAYLOAD] = "NVTX payload",
    [SPOOL_LOSS_NVTX_DOMAINS] = "too many NVTX domains",
    [SPOOL_LOSS_NVTX_EXTENSION] = "NVTX extension call",
    [SPOOL_LOSS_NVTX_REENTRANT] = "NVTX in a signal handler",
    [SPOOL_LOSS_META_FULL] = "no buffer for names",
    [SPOOL_LOSS_EXIT_TIMEOUT] = "exit flush timed out",
    [SPOOL_LOSS_OUTSIDE_RANGE] = "outside the capture range",
    [SPOOL_LOSS_API_FILTERED] = "API filter",
    [SPOOL_LOSS_QUOTA] = "disk quota",
    [SPOOL_LOSS_FILE_LIMIT] = "file size limit",
    [SPOOL_LOSS_NO_DESCRIPTOR] = "no file descriptor left",
    [SPOOL_LOSS_NO_MEMORY] = "no address space",
    [SPOOL_LOSS_USER] = "it changed its user",
    [SPOOL_LOSS_NO_ACCESS] = "session folder forbidden",
    [SPOOL_LOSS_CHROOT] = "it changed its root",
    [SPOOL_LOSS_MOUNTS] = "it changed its mounts",
    [SPOOL_LOSS_REMOVED] = "session folder removed",
    [SPOOL_LOSS_READ_ONLY] = "read-only file system",
    [SPOOL_LOSS_SECCOMP] = "seccomp filter",
    [SPOOL_LOSS_IO] = "input/output error",
    [SPOOL_LOSS_RIVAL] = "taken by another profiler",
};

const char *spool_loss_name(uint32_t reason)
{
    return reason < SPOOL_LOSS_COUNT ? loss_names[reason] : "unknown";
}

/* One segment found in the file. */
struct place {
    uint64_t offset;
    uint64_t bytes;
    uint64_t seq;
    uint64_t published;
    uint32_t kind;
    uint32_t state;
};

struct spool_reader {
    int fd;
    struct spool_header header;
    struct spool_losses losses;
    uint32_t loss_at;
    uint64_t file_bytes;
    struct place *places;
    uint32_t count;
    uint32_t capacity;
    uint32_t at; /* segment that is loaded, or to be loaded next */
    bool loaded;
    uint64_t *payload; /* of the loaded segment; 8-byte aligned */
    size_t payload_room; /* bytes */
    size_t used; /* bytes of payload that may be read */
    size_t pos; /* bytes consumed */
    uint32_t tid;
    uint16_t sizes[SPOOL_CUPTI_KINDS];
    uint64_t done_bytes;
    uint64_t all_bytes;
    struct spool_damage damage;
};

/* Reads up to BYTES at OFFSET; returns the bytes read or -1. */
static ssize_t read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    size_t have = 0;
    while (have < bytes) {
        ssize_t got = pread(fd, (char *)to + have, bytes - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static int add_place(struct spool_reader *reader, const struct place *place)
{
    if (reader->count == reader->capacity) {
        uint32_t capacity = reader->capacity == 0 ? 64 : reader->capacity * 2;
        if (capacity > SEGMENTS_MAX) {
            errno = EFBIG;
            return -1;
        }
        struct place *grown = realloc(reader->places, capacity * sizeof(*grown));
        if (grown == NULL) {
            return -1;
        }
        reader->places = grown;
        reader->capacity = capacity;
    }
    reader->places[reader->count++] = *place;
    return 0;
}

static bool head_sane(const struct spool_segment *head, uint64_t room)
{
    return head->bytes >= SPOOL_PAGE && head->bytes <= SPOOL_SEGMENT_MAX &&
           head->bytes % SPOOL_PAGE == 0 && head->bytes <= room &&
           head->kind > SPOOL_SEGMENT_NONE && head->kind <= SPOOL_SEGMENT_CUPTI &&
           head->published <= head->bytes - SPOOL_SEGMENT_HEAD;
}

/* The next offset at which a segment may begin, behind a page that is none: holes are skipped at
 * once. */
static uint64_t skip_page(const struct spool_reader *reader, uint64_t offset)
{
    offset += SPOOL_PAGE;
#ifdef SEEK_DATA
    off_t data = lseek(reader->fd, (off_t)offset, SEEK_DATA);
    if (data > (off_t)offset) {
        offset = ((uint64_t)data / SPOOL_PAGE) * SPOOL_PAGE;
    } else if (data < 0 && errno == ENXIO) {
        offset = reader->file_bytes;
    }
#endif
    return offset;
}

/* Finds all segments: one small read for each, file order. */
static int index_segments(struct spool_reader *reader)
{
    uint64_t offset = SPOOL_HEADER_BYTES;
    bool in_damage = false;
    while (offset + SPOOL_PAGE <= reader->file_bytes) {
        struct spool_segment head;
        ssize_t got = read_at(reader->fd, &head, sizeof(head), offset);
        if (got < (ssize_t)sizeof(head)) {
            return got < 0 ? -1 : 0;
        }
        if (head.magic != SPOOL_SEGMENT_MAGIC || !head_sane(&head, reader->file_bytes - offset)) {
            bool empty = head.magic == 0 && head.bytes == 0;
            reader->damage.segments_bad += !empty && !in_damage ? 1 : 0;
            in_damage = !empty;
            offset = skip_page(reader, offset);
            continue;
        }
        in_damage = false;
        struct place place = {offset, head.bytes, head.seq, head.published, head.kind, head.state};
        if (head.state != SPOOL_STATE_FREE && add_place(reader, &place) != 0) {
            return -1;
        }
        offset += head.bytes;
    }
    return 0;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->seq != b->seq) {
        return a->seq < b->seq ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset ? 1 : 0;
}

/* Takes out buffers whose copy was published and which were not freed yet when the process died. */
static int drop_copied(struct spool_reader *reader)
{
    uint64_t copied = 0;
    for (uint32_t i = 0; i < reader->count; i++) {
        struct spool_segment head;
        if (reader->places[i].kind != SPOOL_SEGMENT_CUPTI) {
            continue;
        }
        if (read_at(reader->fd, &head, sizeof(head), reader->places[i].offset) <
            (ssize_t)sizeof(head)) {
            return -1;
        }
        bool whole = head.published >= head.copied_end;
        copied = whole && head.copied_seq > copied ? head.copied_seq : copied;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->count; i++) {
        const struct place *place = &reader->places[i];
        if (copied == 0 || place->kind != SPOOL_SEGMENT_CUPTI || place->seq != copied) {
            reader->places[kept++] = *place;
        }
    }
    reader->count = kept;
    return 0;
}

/* Bytes of PLACE's payload that may hold records. */
static uint64_t readable_bytes(const struct place *place)
{
    bool undelivered = place->kind == SPOOL_SEGMENT_CUPTI && place->state == SPOOL_STATE_OPEN;
    return undelivered ? place->bytes - SPOOL_SEGMENT_HEAD : place->published;
}

static int load_segment(struct spool_reader *reader)
{
    const struct place *place = &reader->places[reader->at];
    uint64_t want = readable_bytes(place);
    if (want > reader->payload_room) {
        uint64_t *grown = realloc(reader->payload, (size_t)(want + 7) / 8 * 8);
        if (grown == NULL) {
            return -1;
        }
        reader->payload = grown;
        reader->payload_room = (size_t)want;
    }
    ssize_t got = 0;
    if (want > 0) {
        got =
            read_at(reader->fd, reader->payload, (size_t)want, place->offset + SPOOL_SEGMENT_HEAD);
    }
    if (got < 0) {
        return -1;
    }
    reader->used = (size_t)got;
    reader->pos = 0;
    reader->tid = 0;
    reader->loaded = true;
    return 0;
}

static void unload_segment(struct spool_reader *reader)
{
    reader->done_bytes += readable_bytes(&reader->places[reader->at]);
    reader->loaded = false;
    reader->at++;
}

/* Leaves the rest of the loaded segment out. */
static void give_up_segment(struct spool_reader *reader)
{
    reader->damage.records_bad++;
    reader->pos = reader->used;
}

static const char *payload_at(const struct spool_reader *reader)
{
    return (const char *)reader->payload + reader->pos;
}

static bool next_meta(struct spool_reader *reader, struct spool_item *item)
{
    struct spool_meta head;
    size_t left = reader->used - reader->pos;
    if (left == 0) {
        return false;
    }
    if (left < sizeof(head)) {
        give_up_segment(reader);
        return false;
    }
    memcpy(&head, payload_at(reader), sizeof(head));
    if (head.bytes < sizeof(head) || head.bytes % 8 != 0 || head.bytes > left ||
        head.text_bytes > head.bytes - sizeof(head)) {
        give_up_segment(reader);
        return false;
    }
    item->kind = SPOOL_ITEM_META;
    item->u.meta.head = head;
    item->u.meta.text = payload_at(reader) + sizeof(head);
    reader->pos += head.bytes;
    return true;
}

/* The optional fields of one NVTX record. */
struct fields {
    const char *at;
    size_t left;
};

static bool take(struct fields *fields, void *value, size_t bytes)
{
    if (fields->left < bytes) {
        return false;
    }
    memcpy(value, fields->at, bytes);
    fields->at += bytes;
    fields->left -= bytes;
    return true;
}

static bool take_u32(struct fields *fields, uint32_t *value)
{
    return take(fields, value, sizeof(*value));
}

static bool take_u64(struct fields *fields, uint64_t *value)
{
    return take(fields, value, sizeof(*value));
}

static bool take_bytes(struct fields *fields, const void **bytes, uint32_t count, uint32_t padded)
{
    if (fields->left < padded || padded < count) {
        return false;
    }
    *bytes = fields->at;
    fields->at += padded;
    fields->left -= padded;
    return true;
}

static bool take_blob(struct fields *fields, struct spool_item *item)
{
    uint64_t given = 0;
    uint32_t kept = 0;
    uint32_t zero = 0;
    return take_u64(fields, &item->u.nvtx.schema) && take_u64(fields, &given) &&
           take_u32(fields, &kept) && take_u32(fields, &zero) && kept <= SPOOL_PAYLOAD_MAX &&
           take_bytes(fields, &item->u.nvtx.blob, kept, (kept + 7) / 8 * 8) &&
           (item->u.nvtx.blob_bytes = kept, true);
}

/* A text that an earlier record of the segment holds; from here on it is a text like others. */
static bool take_repeat(const struct spool_reader *reader, struct fields *fields,
                        struct spool_item *item)
{
    uint32_t offset = 0;
    uint32_t bytes = 0;
    if (!take_u32(fields, &offset) || !take_u32(fields, &bytes) || offset > reader->used ||
        bytes > reader->used - offset) {
        return false;
    }
    item->u.nvtx.text = (const char *)reader->payload + offset;
    item->u.nvtx.text_bytes = bytes;
    item->u.nvtx.head.flags =
        (uint8_t)((item->u.nvtx.head.flags & ~SPOOL_NVTX_REPEAT) | SPOOL_NVTX_TEXT);
    return true;
}

/* Reads the fields that the flags name, in their order. */
static bool take_fields(const struct spool_reader *reader, struct fields *fields,
                        struct spool_item *item)
{
    uint8_t flags = item->u.nvtx.head.flags;
    uint32_t zero = 0;
    bool good = true;
    if ((flags & SPOOL_NVTX_RANGE) != 0) {
        good = take_u64(fields, &item->u.nvtx.range);
    }
    if (good && (flags & SPOOL_NVTX_ATTR) != 0) {
        good = take_u32(fields, &item->u.nvtx.color_type) && take_u32(fields, &item->u.nvtx.color);
    }
    if (good && (flags & SPOOL_NVTX_CATEG) != 0) {
        good = take_u32(fields, &item->u.nvtx.category) && take_u32(fields, &zero);
    }
    if (good && (flags & SPOOL_NVTX_PAYLOAD) != 0) {
        good = take_u32(fields, &item->u.nvtx.payload_type) && take_u32(fields, &zero) &&
               take_u64(fields, &item->u.nvtx.payload);
    }
    if (good && (flags & SPOOL_NVTX_BLOB) != 0) {
        good = take_blob(fields, item);
    }
    if (good && (flags & SPOOL_NVTX_STRING) != 0) {
        good = take_u64(fields, &item->u.nvtx.string);
    }
    if (good && (flags & SPOOL_NVTX_REPEAT) != 0) {
        good = take_repeat(reader, fields, item);
    }
    if (good && (flags & SPOOL_NVTX_TEXT) != 0) {
        good = take_u32(fields, &item->u.nvtx.text_bytes) &&
               take_bytes(fields, &item->u.nvtx.text, item->u.nvtx.text_bytes,
                          item->u.nvtx.text_bytes);
    }
    return good;
}

static bool next_nvtx(struct spool_reader *reader, struct spool_item *item)
{
    for (;;) {
        struct spool_nvtx head;
        size_t left = reader->used - reader->pos;
        if (left == 0) {
            return false;
        }
        if (left < sizeof(head)) {
            give_up_segment(reader);
            return false;
        }
        memcpy(&head, payload_at(reader), sizeof(head));
        if (head.bytes < sizeof(head) || head.bytes % 8 != 0 || head.bytes > left ||
            head.type == SPOOL_NVTX_NONE || head.type >= SPOOL_NVTX_TYPES) {
            give_up_segment(reader);
            return false;
        }
        struct fields fields = {payload_at(reader) + sizeof(head), head.bytes - sizeof(head)};
        reader->pos += head.bytes;
        if (head.type == SPOOL_NVTX_THREAD) {
            reader->tid = (uint32_t)head.time;
            continue;
        }
        memset(item, 0, sizeof(*item));
        item->kind = SPOOL_ITEM_NVTX;
        item->u.nvtx.head = head;
        item->u.nvtx.tid = reader->tid;
        if (take_fields(reader, &fields, item)) {
            return true;
        }
        reader->damage.records_bad++;
    }
}

static bool next_cupti(struct spool_reader *reader, struct spool_item *item)
{
    const struct place *place = &reader->places[reader->at];
    bool undelivered = place->state == SPOOL_STATE_OPEN;
    for (;;) {
        uint32_t kind = 0;
        size_t left = reader->used - reader->pos;
        if (left >= sizeof(kind)) {
            memcpy(&kind, payload_at(reader), sizeof(kind));
        }
        uint32_t bytes = kind < SPOOL_CUPTI_KINDS ? reader->sizes[kind] : 0;
        if (bytes == 0 || bytes > left) {
            reader->damage.cupti_tail_bytes += kind != 0 ? left : 0;
            reader->pos = reader->used;
            return false;
        }
        const char *record = payload_at(reader);
        reader->pos += bytes;
        if (place->state == SPOOL_STATE_SCANNED && spool_cupti_is_metadata(kind)) {
            continue;
        }
        reader->damage.undelivered += undelivered ? 1 : 0;
        item->kind = SPOOL_ITEM_CUPTI;
        item->u.cupti.kind = kind;
        item->u.cupti.bytes = bytes;
        item->u.cupti.scanned = place->state == SPOOL_STATE_SCANNED;
        item->u.cupti.record = record;
        return true;
    }
}

/* The record sizes are META; they are wanted before the first CUPTI record, and for
 * spool_reader_record_bytes at once. */
static int find_sizes(struct spool_reader *reader)
{
    for (reader->at = 0; reader->at < reader->count; reader->at++) {
        struct spool_item item;
        if (reader->places[reader->at].kind != SPOOL_SEGMENT_META) {
            break;
        }
        if (load_segment(reader) != 0) {
            return -1;
        }
        while (next_meta(reader, &item)) {
            if (item.u.meta.head.kind == SPOOL_META_CUPTI_SIZES &&
                item.u.meta.head.text_bytes == sizeof(reader->sizes)) {
                memcpy(reader->sizes, item.u.meta.text, sizeof(reader->sizes));
            }
        }
    }
    for (uint32_t kind = 0; kind < SPOOL_CUPTI_KINDS; kind++) {
        if (reader->sizes[kind] % 8 != 0 || reader->sizes[kind] < 8) {
            reader->sizes[kind] = 0;
        }
    }
    reader->at = 0;
    reader->loaded = false;
    reader->damage.records_bad = 0;
    return 0;
}

/* Reads the two header pages. Returns NULL or what is wrong. */
static const char *read_header(struct spool_reader *reader)
{
    struct stat status;
    if (fstat(reader->fd, &status) != 0) {
        return "cannot be examined";
    }
    reader->file_bytes = (uint64_t)status.st_size;
    ssize_t got = read_at(reader->fd, &reader->header, sizeof(reader->header), 0);
    if (got < 0) {
        return "cannot be read";
    }
    errno = 0;
    if (got < (ssize_t)sizeof(reader->header) || reader->header.magic != SPOOL_MAGIC) {
        return "is not a spool";
    }
    if (reader->header.version != SPOOL_VERSION) {
        return "was written by another version of cutline";
    }
    (void)read_at(reader->fd, &reader->losses, sizeof(reader->losses), SPOOL_PAGE);
    reader->header.host[sizeof(reader->header.host) - 1] = '\0';
    reader->header.comm[sizeof(reader->header.comm) - 1] = '\0';
    reader->header.argv0[sizeof(reader->header.argv0) - 1] = '\0';
    reader->header.exe[sizeof(reader->header.exe) - 1] = '\0';
    return NULL;
}

static const char *open_reader(struct spool_reader *reader)
{
    const char *wrong = read_header(reader);
    if (wrong != NULL) {
        return wrong;
    }
    if (index_segments(reader) != 0) {
        return "cannot be read";
    }
    if (reader->count > 0) {
        qsort(reader->places, reader->count, sizeof(*reader->places), compare_places);
    }
    if (drop_copied(reader) != 0 || find_sizes(reader) != 0) {
        return "cannot be read";
    }
    for (uint32_t i = 0; i < reader->count; i++) {
        reader->all_bytes += readable_bytes(&reader->places[i]);
    }
    return NULL;
}

struct spool_reader *spool_reader_open(const char *path, const char **why)
{
    const char *wrong = "cannot be opened";
    struct spool_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        if (why != NULL) {
            *why = "no memory";
        }
        return NULL;
    }
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd >= 0) {
        wrong = open_reader(reader);
        if (wrong == NULL) {
            return reader;
        }
    }
    int saved = errno;
    spool_reader_close(reader);
    errno = saved;
    if (why != NULL) {
        *why = wrong;
    }
    return NULL;
}

const struct spool_header *spool_reader_header(const struct spool_reader *reader)
{
    return &reader->header;
}

uint32_t spool_reader_record_bytes(const struct spool_reader *reader, uint32_t kind)
{
    return kind < SPOOL_CUPTI_KINDS ? reader->sizes[kind] : 0;
}

static bool next_loss(struct spool_reader *reader, struct spool_item *item)
{
    while (reader->loss_at < SPOOL_LOSS_SLOTS) {
        const struct spool_loss_slot *slot = &reader->losses.slots[reader->loss_at++];
        if (slot->key == 0 || slot->count == 0) {
            continue;
        }
        item->kind = SPOOL_ITEM_LOSS;
        item->u.loss.reason = slot->key >> 16;
        item->u.loss.kind = slot->key & 0xffffU;
        item->u.loss.count = slot->count;
        item->u.loss.first_mono_ns = slot->first_mono_ns;
        item->u.loss.last_mono_ns = slot->last_mono_ns;
        return true;
    }
    return false;
}

int spool_reader_next(struct spool_reader *reader, struct spool_item *item)
{
    if (next_loss(reader, item)) {
        return 1;
    }
    while (reader->at < reader->count) {
        if (!reader->loaded && load_segment(reader) != 0) {
            return -1;
        }
        uint32_t kind = reader->places[reader->at].kind;
        bool found = kind == SPOOL_SEGMENT_META   ? next_meta(reader, item)
                     : kind == SPOOL_SEGMENT_NVTX ? next_nvtx(reader, item)
                                                  : next_cupti(reader, item);
        if (found) {
            return 1;
        }
        unload_segment(reader);
    }
    return 0;
}

const struct spool_damage *spool_reader_damage(const struct spool_reader *reader)
{
    return &reader->damage;
}

void spool_reader_progress(const struct spool_reader *reader, uint64_t *done_bytes,
                           uint64_t *all_bytes)
{
    *done_bytes = reader->done_bytes + (reader->loaded ? reader->pos : 0);
    *all_bytes = reader->all_bytes;
}

void spool_reader_close(struct spool_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->fd >= 0) {
        (void)close(reader->fd);
    }
    free(reader->places);
    free(reader->payload);
    free(reader);
}
