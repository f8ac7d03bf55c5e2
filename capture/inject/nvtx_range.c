/*
 * The capture range opened by an NVTX range (-c nvtx -p TEXT@DOMAIN): any push or start whose text
 * and domain match, be the text registered or not. It closes with its own end: the pop of the same
 * thread, domain and depth, or the end of the same range id. While it is open in this process,
 * further matches do nothing. One that begins before the delay has passed is not opened: the next
 * one is, so that what is recorded is whole.
 */
#include <string.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define SEEN_TEXTS ((uint32_t)(sizeof(inject.nvtx.seen) / sizeof(inject.nvtx.seen[0])))
#define WIDE_MAX 1024

/* The open range of this thread: which domain, and how many pushes deep. */
static _Thread_local const struct nvtx_note *open_domain __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t open_depth __attribute__((tls_model("initial-exec")));

/* range_id while a pushed range (not a started one) is open. */
#define OPEN_BY_PUSH UINT64_MAX

/* The text of an event; ROOM takes what has to be converted. */
static const char *text_of(const struct nvtx_attributes *attributes, char *room, size_t *bytes)
{
    *bytes = 0;
    if (attributes == NULL || attributes->size < sizeof(*attributes) ||
        attributes->message.ascii == NULL) {
        return "";
    }
    if (attributes->message_type == NVTX_TEXT_REGISTERED) {
        const struct nvtx_note *note = attributes->message.registered;
        *bytes = note->text_bytes;
        return note->text;
    }
    if (attributes->message_type == NVTX_TEXT_UNICODE) {
        *bytes = nvtx_wide_bytes(attributes->message.unicode, WIDE_MAX);
        nvtx_wide_put((uint8_t *)room, *bytes, attributes->message.unicode);
        return room;
    }
    if (attributes->message_type != NVTX_TEXT_ASCII) {
        return "";
    }
    *bytes = strlen(attributes->message.ascii);
    return attributes->message.ascii;
}

/* Is the text RANGE@DOMAIN itself, in the default domain ("user@host")? */
static bool spelt_exactly(const struct nvtx_note *domain, const char *text, size_t bytes)
{
    size_t head = strlen(inject.config.range_message);
    size_t tail = strlen(inject.config.range_domain);
    return domain->head.domain == 0 && tail > 0 && bytes == head + 1 + tail && text[head] == '@' &&
           memcmp(text, inject.config.range_message, head) == 0 &&
           memcmp(text + head + 1, inject.config.range_domain, tail) == 0;
}

static bool matches(const struct nvtx_note *domain, const char *text, size_t bytes)
{
    const char *want = inject.config.range_message;
    const char *want_domain = inject.config.range_domain;
    if (spelt_exactly(domain, text, bytes)) {
        return true;
    }
    if (strlen(want) != bytes || memcmp(want, text, bytes) != 0) {
        return false;
    }
    if (strcmp(want_domain, "*") == 0) {
        return true;
    }
    if (want_domain[0] == '\0' || strcmp(want_domain, "default") == 0) {
        return domain->head.domain == 0;
    }
    return domain->head.domain != 0 && strlen(want_domain) == domain->text_bytes &&
           memcmp(want_domain, domain->text, domain->text_bytes) == 0;
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo): only to tell the first texts apart. */
static uint64_t hash(const char *text, size_t bytes)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++) {
        value = (value ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    }
    return value;
}

static void say_seen(const struct nvtx_note *domain, const char *text, size_t bytes)
{
    struct spool_writer *writer = inject_spool();
    if (writer == NULL || !nvtx_enter()) {
        return;
    }
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = SPOOL_STATUS_RANGE_SEEN};
    head.domain = domain->head.domain;
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    spool_writer_meta(writer, &head, text, bytes < SESSION_TEXT_BYTES ? bytes : SESSION_TEXT_BYTES);
    nvtx_leave();
}

/* Keeps the first texts that were not the wanted one: they are the advice when the range never
 * opens. */
static void note_seen(const struct nvtx_note *domain, const char *text, size_t bytes)
{
    if (inject.nvtx.seen_count >= SEEN_TEXTS) {
        return;
    }
    uint64_t value = hash(text, bytes) ^ domain->head.domain;
    bool is_new = false;
    if (!nvtx_enter()) {
        return;
    }
    (void)pthread_mutex_lock(&inject.lock);
    uint32_t i = 0;
    while (i < inject.nvtx.seen_count && inject.nvtx.seen[i] != value) {
        i++;
    }
    if (i == inject.nvtx.seen_count && i < SEEN_TEXTS) {
        inject.nvtx.seen[inject.nvtx.seen_count++] = value;
        is_new = true;
    }
    (void)pthread_mutex_unlock(&inject.lock);
    nvtx_leave();
    if (is_new) {
        say_seen(domain, text, bytes);
    }
}

void nvtx_range_begin(const struct nvtx_event *event)
{
    char room[WIDE_MAX];
    size_t bytes = 0;
    if (event->type == SPOOL_NVTX_PUSH && open_depth > 0 && event->domain == open_domain) {
        open_depth++;
        return;
    }
    if (atomic_load_explicit(&inject.nvtx.range_id, memory_order_relaxed) != 0) {
        return;
    }
    const char *text = text_of(event->attributes, room, &bytes);
    if (!matches(event->domain, text, bytes)) {
        note_seen(event->domain, text, bytes);
        return;
    }
    uint64_t closed = 0;
    uint64_t id = event->type == SPOOL_NVTX_PUSH ? OPEN_BY_PUSH : event->range;
    if (!atomic_compare_exchange_strong(&inject.nvtx.range_id, &closed, id)) {
        return;
    }
    const struct inject_range_text what = {text, bytes, event->domain->head.domain};
    if (!inject_range_open(&what)) {
        atomic_store(&inject.nvtx.range_id, 0);
        return;
    }
    if (event->type == SPOOL_NVTX_PUSH) {
        open_domain = event->domain;
        open_depth = 1;
    }
}

static void close_range(void)
{
    inject_range_close();
    atomic_store(&inject.nvtx.range_id, 0);
}

void nvtx_range_end(const struct nvtx_event *event)
{
    if (event->type == SPOOL_NVTX_POP) {
        if (open_depth > 0 && event->domain == open_domain && --open_depth == 0) {
            close_range();
        }
        return;
    }
    uint64_t open = atomic_load(&inject.nvtx.range_id);
    if (open != 0 && open != OPEN_BY_PUSH && open == event->range) {
        close_range();
    }
}

void nvtx_range_fork_child(void)
{
    open_domain = NULL;
    open_depth = 0;
    atomic_store(&inject.nvtx.range_id, 0);
}
