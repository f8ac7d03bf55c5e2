/*
 * The walk over a buffer that CUPTI gave back: 1 pass, a few ns a record. It replaces name
 * addresses by string ids, copies the records of metadata kinds to META (they must outlive a ring),
 * blanks API records that the filter leaves out, and finds whether anything in the buffer lies in
 * the capture range. It stops at a kind of 0 (zeroed tail), and counts what it cannot step over.
 */
#include <string.h>

#include "capture/inject/inject.h"

/* What the walk does with a kind. Offsets of 0: no such field (a record's kind is at 0). */
struct kind_rule {
    uint16_t name; /* address of a text, 8 bytes */
    uint16_t begin; /* times, 8 bytes */
    uint16_t end;
    uint16_t cbid;
};

static const struct kind_rule rules[SPOOL_CUPTI_KINDS] = {
    [CUPTI_KIND_MEMCPY] = {.begin = 16, .end = 24},
    [CUPTI_KIND_MEMSET] = {.begin = 16, .end = 24},
    [CUPTI_KIND_KERNEL] = {.name = 104, .begin = 16, .end = 24},
    [CUPTI_KIND_DRIVER] = {.begin = 8, .end = 16, .cbid = 4},
    [CUPTI_KIND_RUNTIME] = {.begin = 8, .end = 16, .cbid = 4},
    [CUPTI_KIND_DEVICE] = {.name = 136},
    [CUPTI_KIND_CONCURRENT_KERNEL] = {.name = 104, .begin = 16, .end = 24},
    [CUPTI_KIND_NAME] = {.name = 24},
    [CUPTI_KIND_OVERHEAD] = {.begin = 24, .end = 32},
    [CUPTI_KIND_MEMCPY2] = {.begin = 16, .end = 24},
    [CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = {.begin = 16, .end = 24},
    [CUPTI_KIND_FUNCTION] = {.name = 24},
    [CUPTI_KIND_SYNCHRONIZATION] = {.begin = 8, .end = 16},
    [CUPTI_KIND_MEMORY] = {.name = 72, .begin = 24, .end = 32},
    [CUPTI_KIND_INTERNAL_LAUNCH_API] = {.begin = 8, .end = 16},
    [CUPTI_KIND_MEMORY2] = {.name = 64, .begin = 32, .end = 32},
    [CUPTI_KIND_MEMORY_POOL] = {.begin = 56, .end = 56},
    [CUPTI_KIND_GRAPH_TRACE] = {.begin = 8, .end = 16},
    [CUPTI_KIND_JIT] = {.name = 56, .begin = 16, .end = 24},
    [CUPTI_KIND_DEVICE_GRAPH_TRACE] = {.begin = 8, .end = 16},
    [CUPTI_KIND_MEM_DECOMPRESS] = {.begin = 48, .end = 56},
};

static uint64_t load_u64(const uint8_t *at)
{
    uint64_t value = 0;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* A change seen here came before every buffer drained next. */
void cupti_read_intervals(struct cupti_state *cupti)
{
    cupti->interval_count = inject_range_stretches(cupti->intervals, &cupti->intervals_all);
}

/* True if [BEGIN, END] touches a stretch of collecting. Times that are no times (0, end before
 * begin), or before what is remembered, are kept: the converter looks at all of them again. */
static bool collected(const struct cupti_state *cupti, int64_t begin_ns, int64_t end_ns)
{
    uint32_t count = cupti->interval_count;
    if (!cupti->intervals_all && (count == 0 || begin_ns < cupti->intervals[0].begin_ns)) {
        return true;
    }
    if (begin_ns <= 0 || end_ns < begin_ns) {
        return count > 0;
    }
    /* The first stretch that ends behind the beginning. */
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (cupti->intervals[middle].end_ns <= begin_ns) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low < cupti->interval_count && cupti->intervals[low].begin_ns <= end_ns;
}

/* Blanks an API record that the filter leaves out: an id of 0 is none. */
static bool filter_record(const struct cupti_state *cupti, uint32_t kind, uint8_t *record,
                          struct spool_writer *writer)
{
    uint32_t cbid = 0;
    memcpy(&cbid, record + rules[kind].cbid, sizeof(cbid));
    const uint64_t *bits =
        kind == CUPTI_KIND_RUNTIME ? cupti->filtered_runtime : cupti->filtered_driver;
    if (cbid >= CUPTI_FILTER_IDS || (bits[cbid / 64] >> cbid % 64 & 1U) == 0) {
        return false;
    }
    cbid = 0;
    memcpy(record + rules[kind].cbid, &cbid, sizeof(cbid));
    spool_writer_loss(writer, SPOOL_LOSS_API_FILTERED, kind, 1);
    return true;
}

static void name_record(struct cupti_state *cupti, uint32_t kind, uint8_t *record,
                        struct spool_writer *writer)
{
    uint64_t address = load_u64(record + rules[kind].name);
    if ((address & SPOOL_NAME_TAG) != 0) {
        return;
    }
    uint64_t id = cupti_name(cupti, address, cupti->buffers_walked, writer);
    if (id == SPOOL_NAME_TAG && address != 0) {
        spool_writer_loss(writer, SPOOL_LOSS_NAME_UNREADABLE, kind, 1);
    }
    memcpy(record + rules[kind].name, &id, sizeof(id));
}

static void keep_metadata(uint32_t kind, const uint8_t *record, uint32_t bytes,
                          struct spool_writer *writer)
{
    struct spool_meta head = {.kind = SPOOL_META_CUPTI_RECORD};
    head.value[0] = kind;
    spool_writer_meta(writer, &head, record, bytes);
}

/* Handles one record; true if it belongs into the capture. */
static bool scan_record(struct cupti_state *cupti, uint32_t kind, uint8_t *record,
                        struct spool_writer *writer)
{
    const struct kind_rule *rule = &rules[kind];
    uint32_t bytes = cupti->sizes[kind];
    if (rule->cbid != 0 && filter_record(cupti, kind, record, writer)) {
        return false;
    }
    if (rule->name != 0 && rule->name + sizeof(uint64_t) <= bytes) {
        name_record(cupti, kind, record, writer);
    }
    if (spool_cupti_is_metadata(kind)) {
        keep_metadata(kind, record, bytes, writer);
        return false;
    }
    bool timed = rule->begin != 0 && rule->end + sizeof(uint64_t) <= bytes;
    if (!timed) {
        return cupti->interval_count > 0;
    }
    return collected(cupti, (int64_t)load_u64(record + rule->begin),
                     (int64_t)load_u64(record + rule->end));
}

/* The kind at AT, and its size; 0 bytes at the end or where there is no whole record: then the rest
 * is counted. */
static uint32_t step(const struct cupti_state *cupti, const struct cupti_slot *slot, size_t at,
                     uint32_t *kind, struct spool_writer *writer)
{
    size_t left = slot->valid - at;
    if (left < sizeof(*kind)) {
        return 0;
    }
    memcpy(kind, slot->buffer + at, sizeof(*kind));
    if (*kind == 0) {
        return 0;
    }
    uint32_t bytes = *kind < SPOOL_CUPTI_KINDS ? cupti->sizes[*kind] : 0;
    if (bytes == 0) {
        spool_writer_loss(writer, SPOOL_LOSS_UNKNOWN_KIND, *kind, left);
        return 0;
    }
    if (bytes > left) {
        spool_writer_loss(writer, SPOOL_LOSS_TRUNCATED_TAIL, *kind, left);
        return 0;
    }
    return bytes;
}

struct cupti_walk cupti_scan(struct cupti_state *cupti, const struct cupti_slot *slot,
                             struct spool_writer *writer)
{
    struct cupti_walk walk = {0, false};
    uint32_t outside[SPOOL_CUPTI_KINDS] = {0};
    uint32_t kind = 0;
    uint32_t bytes = 0;
    while ((bytes = step(cupti, slot, walk.bytes, &kind, writer)) != 0) {
        if (scan_record(cupti, kind, slot->buffer + walk.bytes, writer)) {
            walk.keep = true;
        } else if (!spool_cupti_is_metadata(kind)) {
            outside[kind]++;
        }
        walk.bytes += bytes;
        cupti->records_walked++;
    }
    for (uint32_t i = 0; !walk.keep && i < SPOOL_CUPTI_KINDS; i++) {
        if (outside[i] > 0) {
            spool_writer_loss(writer, SPOOL_LOSS_OUTSIDE_RANGE, i, outside[i]);
        }
    }
    return walk;
}

void cupti_learn(struct cupti_state *cupti, const struct cupti_slot *slot,
                 struct spool_writer *writer)
{
    size_t at = 0;
    uint32_t bytes = 0;
    do {
        uint32_t kind = 0;
        at += bytes;
        if (slot->size - at < sizeof(kind)) {
            return;
        }
        memcpy(&kind, slot->buffer + at, sizeof(kind));
        bytes = kind < SPOOL_CUPTI_KINDS ? cupti->sizes[kind] : 0;
        if (bytes > slot->size - at) {
            return;
        }
        uint16_t name = bytes > 0 ? rules[kind].name : 0;
        if (name != 0 && name + sizeof(uint64_t) <= bytes) {
            uint64_t address = load_u64(slot->buffer + at + name);
            (void)cupti_name(cupti, address, cupti->buffers_walked, writer);
        }
    } while (bytes > 0);
}

void cupti_count(struct cupti_state *cupti, const struct cupti_slot *slot,
                 struct spool_writer *writer)
{
    uint32_t counts[SPOOL_CUPTI_KINDS] = {0};
    uint32_t kind = 0;
    uint32_t bytes = 0;
    for (size_t at = 0; (bytes = step(cupti, slot, at, &kind, writer)) != 0; at += bytes) {
        if (spool_cupti_is_metadata(kind)) {
            (void)scan_record(cupti, kind, slot->buffer + at, writer);
        } else {
            counts[kind]++;
        }
    }
    for (uint32_t i = 0; i < SPOOL_CUPTI_KINDS; i++) {
        if (counts[i] > 0) {
            spool_writer_loss(writer, slot->why, i, counts[i]);
        }
    }
}
