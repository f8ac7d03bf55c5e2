/* Makes spool files for tests, as the injected library would: heads, then segments of META, NVTX
 * and CUPTI records. What is given is what is in the file, so a test knows the answer.
 *
 *     struct spool_make m;
 *     spool_make_begin(&m, "dir/host.1.2.0.spool", 1);
 *     spool_make_string(&m, 1, "kernel", 0); spool_make_nvtx(...); spool_make_cupti(...);
 *     spool_make_end(&m, true);
 *
 * Records of one kind must be given together: a new segment begins when the kind changes. */
#ifndef CUTLINE_CAPTURE_TESTS_SPOOL_MAKE_H
#define CUTLINE_CAPTURE_TESTS_SPOOL_MAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "capture/spool/cupti_abi.h"
#include "capture/spool/spool.h"

struct spool_make {
    struct spool_header header;
    struct spool_losses losses;
    struct buf body; /* finished segments */
    struct buf segment; /* payload of the one that is being made */
    uint32_t kind; /* of it */
    uint32_t state;
    uint32_t tid;
    uint64_t seq;
    uint16_t sizes[SPOOL_CUPTI_KINDS];
    char path[512];
};

/* One NVTX record; what its flags do not name is not looked at. */
struct spool_make_nvtx {
    uint8_t type;
    uint8_t flags;
    uint16_t domain;
    uint32_t tid;
    uint64_t time;
    uint64_t range;
    uint32_t color;
    uint32_t category;
    uint32_t payload_type;
    uint64_t payload;
    uint64_t string;
    const char *text;
    const char *blob;
    uint32_t blob_bytes;
    uint64_t schema;
    uint16_t level;
    uint32_t repeat_at; /* where in the segment's payload the text is */
    uint32_t repeat_bytes;
};

static inline void spool_make_pad(struct buf *buf, size_t to)
{
    while (buf->len % to) {
        buf_addc(buf, '\0');
    }
}

static inline void spool_make_flush(struct spool_make *m)
{
    struct spool_segment head;
    if (m->segment.len == 0) {
        return;
    }
    memset(&head, 0, sizeof head);
    head.magic = SPOOL_SEGMENT_MAGIC;
    head.kind = m->kind;
    head.published = m->segment.len;
    head.seq = ++m->seq;
    head.state = m->state;
    head.bytes = (sizeof head + m->segment.len + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    buf_add(&m->body, &head, sizeof head);
    buf_add(&m->body, m->segment.data, m->segment.len);
    spool_make_pad(&m->body, SPOOL_PAGE);
    buf_reset(&m->segment);
    m->tid = 0;
}

static inline void spool_make_segment(struct spool_make *m, uint32_t kind, uint32_t state)
{
    if (m->kind != kind || m->state != state || m->segment.len > (1U << 20)) {
        spool_make_flush(m);
    }
    m->kind = kind;
    m->state = state;
}

static inline void spool_make_begin(struct spool_make *m, const char *path, uint32_t pid)
{
    memset(m, 0, sizeof *m);
    (void)snprintf(m->path, sizeof m->path, "%s", path);
    m->header.magic = SPOOL_MAGIC;
    m->header.version = SPOOL_VERSION;
    m->header.clock = SPOOL_CLOCK_MONO;
    m->header.pid = pid;
    m->header.ppid = 1;
    (void)snprintf(m->header.host, sizeof m->header.host, "testhost");
    (void)snprintf(m->header.comm, sizeof m->header.comm, "app%u", pid);
}

static inline void spool_make_meta(struct spool_make *m, struct spool_meta head, const void *text,
                                   size_t len)
{
    spool_make_segment(m, SPOOL_SEGMENT_META, SPOOL_STATE_OPEN);
    head.text_bytes = (uint32_t)len;
    head.bytes = (uint32_t)((sizeof head + len + 7) / 8 * 8);
    buf_add(&m->segment, &head, sizeof head);
    buf_add(&m->segment, text, len);
    spool_make_pad(&m->segment, 8);
}

static inline void spool_make_string(struct spool_make *m, uint64_t id, const char *text,
                                     uint64_t address)
{
    struct spool_meta head = {.kind = SPOOL_META_STRING, .value = {id, address}};
    spool_make_meta(m, head, text, strlen(text));
}

static inline void spool_make_anchor(struct spool_make *m, int64_t real, int64_t mono, uint64_t tsc,
                                     int64_t cupti)
{
    struct spool_meta head = {.kind = SPOOL_META_ANCHOR,
                              .value = {(uint64_t)real, (uint64_t)mono, tsc, (uint64_t)cupti}};
    spool_make_meta(m, head, "", 0);
}

static inline void spool_make_add64(struct buf *out, uint64_t value)
{
    buf_add(out, &value, sizeof value);
}

static inline void spool_make_add32(struct buf *out, uint32_t first, uint32_t second)
{
    uint32_t pair[2] = {first, second};
    buf_add(out, pair, sizeof pair);
}

static inline void spool_make_fields(struct spool_make *m, const struct spool_make_nvtx *r)
{
    struct buf *out = &m->segment;
    uint32_t len = r->text ? (uint32_t)strlen(r->text) : 0;
    if (r->flags & SPOOL_NVTX_RANGE) {
        spool_make_add64(out, r->range);
    }
    if (r->flags & SPOOL_NVTX_ATTR) {
        spool_make_add32(out, 1, r->color);
    }
    if (r->flags & SPOOL_NVTX_CATEG) {
        spool_make_add32(out, r->category, 0);
    }
    if (r->flags & SPOOL_NVTX_PAYLOAD) {
        spool_make_add32(out, r->payload_type, 0);
        spool_make_add64(out, r->payload);
    }
    if (r->flags & SPOOL_NVTX_BLOB) {
        spool_make_add64(out, r->schema);
        spool_make_add64(out, r->blob_bytes);
        spool_make_add32(out, r->blob_bytes, 0);
        buf_add(out, r->blob, r->blob_bytes);
        spool_make_pad(out, 8);
    }
    if (r->flags & SPOOL_NVTX_STRING) {
        spool_make_add64(out, r->string);
    }
    if (r->flags & SPOOL_NVTX_REPEAT) {
        spool_make_add32(out, r->repeat_at, r->repeat_bytes);
    }
    if (r->flags & SPOOL_NVTX_TEXT) {
        buf_add(out, &len, sizeof len);
        buf_add(out, r->text, len);
    }
    spool_make_pad(out, 8);
}

static inline void spool_make_nvtx(struct spool_make *m, const struct spool_make_nvtx *record)
{
    struct spool_nvtx head;
    spool_make_segment(m, SPOOL_SEGMENT_NVTX, SPOOL_STATE_OPEN);
    if (m->tid != record->tid) {
        spool_make_flush(m);
        m->tid = record->tid;
        head = (struct spool_nvtx){
            .type = SPOOL_NVTX_THREAD, .bytes = sizeof head, .time = record->tid};
        buf_add(&m->segment, &head, sizeof head);
    }
    size_t at = m->segment.len;
    head = (struct spool_nvtx){.type = record->type,
                               .flags = record->flags,
                               .level = record->level,
                               .domain = record->domain,
                               .time = record->time};
    buf_add(&m->segment, &head, sizeof head);
    spool_make_fields(m, record);
    head.bytes = (uint16_t)(m->segment.len - at);
    memcpy(m->segment.data + at, &head, sizeof head);
}

/* Sets a field of a CUPTI record. */
static inline void spool_make_set(void *record, enum cupti_field field, uint64_t value)
{
    const struct cupti_field_place *place = &cupti_field_places[field];
    memcpy((char *)record + place->offset, &value, place->bytes);
}

/* A CUPTI record of m->sizes[kind] bytes; its kind is set here. */
static inline void spool_make_cupti(struct spool_make *m, uint32_t kind, void *record,
                                    enum spool_segment_state state)
{
    spool_make_segment(m, SPOOL_SEGMENT_CUPTI, state);
    memcpy(record, &kind, sizeof kind);
    buf_add(&m->segment, record, m->sizes[kind]);
}

/* A CUPTI record of a metadata kind in META. */
static inline void spool_make_describe(struct spool_make *m, uint32_t kind, void *record)
{
    struct spool_meta head = {.kind = SPOOL_META_CUPTI_RECORD, .value = {kind}};
    memcpy(record, &kind, sizeof kind);
    spool_make_meta(m, head, record, m->sizes[kind]);
}

/* Writes the file. Returns 0, or -1. */
static inline int spool_make_end(struct spool_make *m, bool sealed)
{
    static char pages[SPOOL_HEADER_BYTES];
    struct spool_meta head = {.kind = SPOOL_META_CUPTI_SIZES};
    spool_make_meta(m, head, m->sizes, sizeof m->sizes);
    spool_make_flush(m);
    m->header.sealed = sealed ? SPOOL_SEAL_EXIT : SPOOL_SEAL_NONE;
    m->header.file_bytes = SPOOL_HEADER_BYTES + m->body.len;
    memset(pages, 0, sizeof pages);
    memcpy(pages, &m->header, sizeof m->header);
    memcpy(pages + SPOOL_PAGE, &m->losses, sizeof m->losses);
    FILE *file = fopen(m->path, "w");
    int result = -1;
    if (file && fwrite(pages, sizeof pages, 1, file) == 1 &&
        (m->body.len == 0 || fwrite(m->body.data, m->body.len, 1, file) == 1)) {
        result = 0;
    }
    if (file && fclose(file) != 0) {
        result = -1;
    }
    buf_free(&m->body);
    buf_free(&m->segment);
    return result;
}

#endif
