/*
 * terms_complete: what one may type where the cursor stands in a filter.
 *
 * A candidate replaces the value (or the whole word where it has no key yet), so that a part of a
 * name in any case finds the name. Those that begin with what was typed come first, then those that
 * hold it; within both the order of the trace.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/utf8.h"
#include "analysis/filter/terms_internal.h"

struct finder {
    const struct trace *trace;
    struct terms_completion *out;
    const char *typed; /* what the candidates must hold */
    size_t typed_len;
    bool is_front; /* the round of those that begin with it */
    bool failed;
};

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool same_letters(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

static bool is_wanted(const struct finder *finder, const char *text, size_t len)
{
    if (len < finder->typed_len) {
        return false;
    }
    if (same_letters(text, finder->typed, finder->typed_len)) {
        return finder->is_front;
    }
    for (size_t i = 1; !finder->is_front && i + finder->typed_len <= len; i++) {
        if (same_letters(text + i, finder->typed, finder->typed_len)) {
            return true;
        }
    }
    return false;
}

static void offer(struct finder *finder, const char *text, size_t len)
{
    struct terms_completion *out = finder->out;
    if (out->count == TERMS_CANDIDATES) {
        return;
    }
    for (size_t i = 0; i < out->count; i++) {
        const char *have = out->list[i];
        if (have != NULL && strlen(have) == len && memcmp(have, text, len) == 0) {
            return;
        }
    }
    char *copy = arena_copy(&out->arena, text, len);
    finder->failed = finder->failed || copy == NULL;
    if (copy != NULL) {
        out->list[out->count++] = copy;
    }
}

static void offer_word(struct finder *finder, const char *word, char behind)
{
    char text[32];
    size_t len = strlen(word);
    if (!is_wanted(finder, word, len) || len + 2 > sizeof text) {
        return;
    }
    memcpy(text, word, len);
    if (behind != '\0') {
        text[len++] = behind;
    }
    offer(finder, text, len);
}

static void offer_number(struct finder *finder, int64_t number)
{
    struct buf text = {0};
    buf_addf(&text, "%lld", (long long)number);
    if (is_wanted(finder, buf_text(&text), text.len)) {
        offer(finder, buf_text(&text), text.len);
    }
    buf_free(&text);
}

/* A name in the form in which it may be typed: as it is where it is one plain word, else quoted.
 * One that cannot be shown as it is is not offered. */
static void offer_name(struct finder *finder, const char *text, size_t len)
{
    struct buf safe = {0};
    struct buf quoted = {0};
    bool is_plain = len > 0;
    if (finder->out->count == TERMS_CANDIDATES || !is_wanted(finder, text, len)) {
        return;
    }
    utf8_sanitize(&safe, text, len, false);
    buf_addc(&quoted, '"');
    for (size_t i = 0; i < len; i++) {
        bool is_word = isalnum((unsigned char)text[i]) || text[i] == '_';
        is_plain = is_plain && is_word;
        if (text[i] == '"' || text[i] == '\\') {
            buf_addc(&quoted, '\\');
        }
        buf_addc(&quoted, text[i]);
    }
    buf_addc(&quoted, '"');
    if (safe.len == len && memcmp(buf_text(&safe), text, len) == 0) {
        if (is_plain) {
            offer(finder, text, len);
        } else {
            offer(finder, buf_text(&quoted), quoted.len);
        }
    }
    finder->failed = finder->failed || buf_failed(&safe) || buf_failed(&quoted);
    buf_free(&safe);
    buf_free(&quoted);
}

static void offer_names(struct finder *finder, uint32_t kinds)
{
    const struct trace *trace = finder->trace;
    for (uint32_t n = 0; n < trace->name_count; n++) {
        if ((kinds >> trace->names[n].kind & 1U) != 0) {
            offer_name(finder, trace->names[n].brief, trace->names[n].brief_len);
        }
    }
}

static void offer_threads(struct finder *finder)
{
    const struct trace *trace = finder->trace;
    offer_word(finder, "main", '\0');
    for (uint32_t t = 0; t < trace->thread_count; t++) {
        offer_name(finder, trace->threads[t].name, trace->threads[t].name_len);
    }
    for (uint32_t t = 0; t < trace->thread_count; t++) {
        offer_number(finder, trace->threads[t].tid);
    }
}

static void offer_processes(struct finder *finder, bool by_name)
{
    const struct trace *trace = finder->trace;
    for (uint32_t p = 0; by_name && p < trace->process_count; p++) {
        offer_name(finder, trace->processes[p].name, trace->processes[p].name_len);
    }
    for (uint32_t p = 0; p < trace->process_count; p++) {
        offer_number(finder, trace->processes[p].pid);
    }
}

static void offer_lanes(struct finder *finder, enum term_key key)
{
    const struct trace *trace = finder->trace;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->kind == TRACE_LANE_STREAM) {
            offer_number(finder, key == TERM_STREAM ? lane->stream_id : lane->context_id);
        }
    }
}

static void offer_devices(struct finder *finder)
{
    for (uint32_t d = 0; d < finder->trace->device_count; d++) {
        offer_number(finder, finder->trace->devices[d].id);
    }
}

static void offer_domains(struct finder *finder)
{
    const struct trace *trace = finder->trace;
    bool has_default = false;
    for (uint32_t n = 0; n < trace->name_count; n++) {
        if (trace->names[n].domain != NULL && trace->names[n].domain_len > 0) {
            offer_name(finder, trace->names[n].domain, trace->names[n].domain_len);
        } else {
            has_default = has_default || (TERMS_KINDS_NVTX >> trace->names[n].kind & 1U) != 0;
        }
    }
    if (has_default) {
        offer_name(finder, "default", strlen("default"));
    }
}

static void offer_choices(struct finder *finder, enum term_key key)
{
    for (size_t i = 0; key == TERM_KIND && term_kinds[i].word != NULL; i++) {
        offer_word(finder, term_kinds[i].word, '\0');
    }
    for (size_t i = 0; key == TERM_API && term_apis[i].word != NULL; i++) {
        offer_word(finder, term_apis[i].word, '\0');
    }
    for (size_t i = 0; key == TERM_CLASS && term_classes[i].word != NULL; i++) {
        offer_word(finder, term_classes[i].word, '\0');
    }
}

static void offer_durations(struct finder *finder)
{
    static const char *const examples[] = {">100us", ">1ms", "<10us", ">=", "<="};
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        offer_word(finder, examples[i], '\0');
    }
}

static void offer_plain(struct finder *finder)
{
    enum term_key last = TERM_KEY_COUNT;
    for (const struct term_word *word = term_words; word->word != NULL; word++) {
        /* Only the first word of a key, and only by its beginning. */
        if (word->key != last && finder->is_front && word->key != TERM_NAME) {
            offer_word(finder, word->word, word->key == TERM_DUR ? '>' : ':');
        }
        last = word->key;
    }
    if (finder->typed_len > 0) {
        offer_names(finder, TERMS_KINDS_ALL);
    }
}

static void offer_key(struct finder *finder, enum term_key key)
{
    switch (key) {
    case TERM_NAME:
        offer_names(finder, TERMS_KINDS_ALL);
        break;
    case TERM_KIND:
    case TERM_API:
    case TERM_CLASS:
        offer_choices(finder, key);
        break;
    case TERM_DOMAIN:
        offer_domains(finder);
        break;
    case TERM_DEVICE:
        offer_devices(finder);
        break;
    case TERM_CONTEXT:
    case TERM_STREAM:
        offer_lanes(finder, key);
        break;
    case TERM_PID:
    case TERM_PROCESS:
        offer_processes(finder, key == TERM_PROCESS);
        break;
    case TERM_THREAD:
        offer_threads(finder);
        break;
    case TERM_NVTX:
        offer_names(finder, 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND);
        break;
    case TERM_DUR:
        offer_durations(finder);
        break;
    case TERM_KEY_COUNT:
        offer_plain(finder);
        break;
    }
}

/* The word that the cursor touches; an empty one at the cursor where there is none. */
static struct term_span span_at(const char *text, size_t len, size_t cursor)
{
    struct term_span span = {0};
    size_t pos = 0;
    while (term_span_next(text, len, &pos, &span)) {
        if (cursor >= span.begin && cursor <= span.end) {
            return span;
        }
    }
    return (struct term_span){.begin = cursor, .body = cursor, .end = cursor};
}

int terms_complete(const struct trace *trace, const char *text, size_t len, size_t cursor,
                   struct terms_completion *out)
{
    struct finder finder = {.trace = trace, .out = out};
    memset(out, 0, sizeof *out);
    out->list = calloc(TERMS_CANDIDATES, sizeof *out->list);
    if (out->list == NULL) {
        return -1;
    }
    struct term_span span = span_at(text, len, cursor < len ? cursor : len);
    size_t value = span.body;
    enum term_key key = term_key_of(text, &span, &value);
    size_t stop = cursor < span.end ? cursor : span.end;
    if (stop < value) { /* the cursor is in the key: complete it alone */
        key = TERM_KEY_COUNT;
    }
    out->begin = key == TERM_KEY_COUNT ? span.body : value;
    if (stop < out->begin) {
        stop = out->begin;
    }
    out->end = key == TERM_KEY_COUNT && stop < value ? stop : span.end;
    for (size_t i = out->begin;
         (key == TERM_KIND || key == TERM_API || key == TERM_CLASS || key == TERM_STREAM ||
          key == TERM_DEVICE || key == TERM_CONTEXT || key == TERM_PID) &&
         i < stop;
         i++) {
        if (text[i] == ',') {
            out->begin = i + 1;
        }
    }
    finder.typed = text + out->begin;
    finder.typed_len = stop - out->begin;
    if (finder.typed_len > 0 && (finder.typed[0] == '"' || finder.typed[0] == '/')) {
        finder.typed++;
        finder.typed_len--;
    }
    finder.is_front = true;
    offer_key(&finder, key);
    finder.is_front = false;
    offer_key(&finder, key);
    return finder.failed ? -1 : 0;
}

void terms_completion_free(struct terms_completion *completion)
{
    free(completion->list);
    arena_free(&completion->arena);
    memset(completion, 0, sizeof *completion);
}
