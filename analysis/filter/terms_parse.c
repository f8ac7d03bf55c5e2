/*
 * terms_parse: the words of a filter: split, keys told from regular expressions, values read.
 *
 * The splitter knows just enough of a regular expression to keep one in a piece: brackets nest, a
 * backslash makes the next byte plain, a character class ends at its first ']' that is not its
 * first character.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/filter/terms_internal.h"

const struct term_word term_words[] = {
    {"name", TERM_NAME},       {"kind", TERM_KIND},     {"stream", TERM_STREAM},
    {"device", TERM_DEVICE},   {"gpu", TERM_DEVICE},    {"thread", TERM_THREAD},
    {"tid", TERM_THREAD},      {"nvtx", TERM_NVTX},     {"api", TERM_API},
    {"dur", TERM_DUR},         {"pid", TERM_PID},       {"process", TERM_PROCESS},
    {"context", TERM_CONTEXT}, {"domain", TERM_DOMAIN}, {"class", TERM_CLASS},
    {NULL, TERM_NAME},
};

#define KINDS_COPY (1U << TRACE_MEMCPY | 1U << TRACE_MIGRATION)

/* Directions of copies and of migrations as the file numbers them (CUPTI documentation). */
const struct term_kind term_kinds[] = {
    {"kernel", 1U << TRACE_KERNEL, {0, 0}},
    {"memcpy", 1U << TRACE_MEMCPY, {0, 0}},
    {"memset", 1U << TRACE_MEMSET, {0, 0}},
    {"graph", 1U << TRACE_GRAPH, {0, 0}},
    {"migration", 1U << TRACE_MIGRATION, {0, 0}},
    {"copy", KINDS_COPY, {0, 0}},
    {"htod", KINDS_COPY, {1, 11}},
    {"dtoh", KINDS_COPY, {2, 12}},
    {"dtod", KINDS_COPY, {8, 13}},
    {"htoh", KINDS_COPY, {9, 9}},
    {"ptop", KINDS_COPY, {10, 10}},
    {"gpu", TERMS_KINDS_GPU, {0, 0}},
    {"api", 1U << TRACE_API_CALL, {0, 0}},
    {"nvtx", TERMS_KINDS_NVTX, {0, 0}},
    {"mark", 1U << TRACE_NVTX_MARK, {0, 0}},
    {"osrt", 1U << TRACE_OSRT_CALL, {0, 0}},
    {"overhead", 1U << TRACE_OVERHEAD_PROFILER | 1U << TRACE_OVERHEAD_CUDA, {0, 0}},
    {NULL, 0, {0, 0}},
};

const struct term_api term_apis[] = {
    {"launch", TRACE_API_LAUNCH},
    {"graph", TRACE_API_GRAPH},
    {"copy", TRACE_API_COPY},
    {"set", TRACE_API_SET},
    {"async", TRACE_API_ASYNC},
    {"sync", TRACE_API_SYNC},
    {"alloc", TRACE_API_ALLOC},
    {"module", TRACE_API_MODULE},
    {"query", TRACE_API_QUERY},
    {"driver", TRACE_API_DRIVER},
    {NULL, 0},
};

/* What libraries call their kernels; the first that fits is the class. */
const struct term_class term_classes[] = {
    {"comm",
     "nccl|rccl|nvshmem|all_?reduce|all_?gather|reduce_?scatter|cross_device_reduce|deep_?ep"},
    {"attention", "attention|attn|fmha|flash_|flash::|flashinfer|(^|[^a-z])mha|paged_kv"},
    {"conv", "conv[0-9_]|convol|_conv|winograd|implicit_gemm|cudnn"},
    {"gemm", "gemm|gemv|matmul|mat_mul|cutlass|xmma|nvjet|wgrad|dgrad"},
    {"softmax", "softmax"},
    {"norm", "norm"},
    {"optimizer", "adam|sgd|multi_?tensor|optimizer"},
    {"elementwise", "element_?wise|vectorized|pointwise|triton_poi|activation|gelu|silu|relu"},
    {"reduce", "reduc|triton_red|scan_kernel"},
    {"other", ""},
    {NULL, NULL},
};

/* ---- splitting ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of a regular expression that begins at pos: the first blank outside brackets. */
static size_t regex_end(const char *text, size_t len, size_t pos)
{
    int depth = 0;
    size_t class_first = 0; /* in a character class: where a ']' would be plain; 0 = in none */
    while (pos < len && (depth > 0 || class_first > 0 || !is_blank(text[pos]))) {
        char c = text[pos];
        if (c == '\\' && pos + 1 < len) {
            pos += 2;
            continue;
        }
        if (class_first > 0) {
            if (c == ']' && pos != class_first) {
                class_first = 0;
            }
        } else if (c == '[') {
            class_first = pos + 1 + (pos + 1 < len && text[pos + 1] == '^' ? 1 : 0);
        } else if (c == '(' || c == '{') {
            depth++;
        } else if ((c == ')' || c == '}') && depth > 0) {
            depth--;
        }
        pos++;
    }
    return pos;
}

/* One past the quote that closes the one at pos; len where none does. */
static size_t quote_end(const char *text, size_t len, size_t pos, bool *is_open)
{
    char quote = text[pos++];
    while (pos < len && text[pos] != quote) {
        pos += text[pos] == '\\' && pos + 1 < len ? 2 : 1;
    }
    *is_open = pos >= len;
    return pos < len ? pos + 1 : len;
}

static size_t value_end(const char *text, size_t len, size_t pos, bool *is_open)
{
    *is_open = false;
    if (pos < len && (text[pos] == '/' || text[pos] == '"')) {
        pos = quote_end(text, len, pos, is_open);
        /* What follows a closed quote without a blank belongs to the word; it is an error later. */
        while (pos < len && !is_blank(text[pos])) {
            pos++;
        }
        return pos;
    }
    return regex_end(text, len, pos);
}

enum term_key term_key_of(const char *text, const struct term_span *span, size_t *value)
{
    size_t len = span->end - span->body;
    const char *body = text + span->body;
    for (const struct term_word *word = term_words; word->word != NULL; word++) {
        size_t key_len = strlen(word->word);
        if (len <= key_len || memcmp(body, word->word, key_len) != 0) {
            continue;
        }
        char sign = body[key_len];
        bool is_compare = word->key == TERM_DUR && (sign == '<' || sign == '>' || sign == '=');
        bool is_colon = sign == ':' && (len == key_len + 1 || body[key_len + 1] != ':');
        if (!is_compare && !is_colon) {
            continue;
        }
        *value = span->body + key_len + (is_colon ? 1 : 0);
        return word->key;
    }
    *value = span->body;
    return TERM_KEY_COUNT;
}

bool term_span_next(const char *text, size_t len, size_t *pos, struct term_span *span)
{
    while (*pos < len && is_blank(text[*pos])) {
        ++*pos;
    }
    if (*pos >= len) {
        return false;
    }
    span->begin = *pos;
    span->body = *pos + (text[*pos] == '-' || text[*pos] == '!' ? 1 : 0);
    span->end = len;
    size_t value = span->body;
    (void)term_key_of(text, span, &value);
    span->end = value_end(text, len, value, &span->is_open);
    *pos = span->end;
    return true;
}

/* ---- values ---- */

/* TEXT between quotes as a regular expression: every ASCII sign is made plain. \" and \\ stand for
 * the sign alone. */
static void literal_pattern(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < len && (text[i + 1] == '"' || text[i + 1] == '\\')) {
            c = text[++i];
        }
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
                        c == '_' || ((unsigned char)c & 0x80U) != 0 || c == '\0';
        if (!is_plain) {
            buf_addc(out, '\\');
        }
        buf_addc(out, c);
    }
}

/* /REGEX/: \/ stands for the slash, all else is left as it is. */
static void slash_pattern(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\' && i + 1 < len) {
            if (text[i + 1] != '/') {
                buf_addc(out, '\\');
            }
            i++;
        }
        buf_addc(out, text[i]);
    }
}

/* Is the value one quoted text and nothing behind it? */
static bool is_quoted(const char *text, size_t begin, size_t end)
{
    bool is_open = false;
    return quote_end(text, end, begin, &is_open) == end && !is_open;
}

static int parse_pattern(struct term *term, const char *text, size_t begin, struct err *err)
{
    char quote = text[begin];
    if (quote != '/' && quote != '"') {
        term->filter = filter_new(text + begin, term->end - begin, err);
        return term->filter == NULL ? -1 : 0;
    }
    if (!is_quoted(text, begin, term->end)) {
        return err_set(err, "%c is not closed, or a blank is missing behind it", quote);
    }
    struct buf pattern = {0};
    if (quote == '/') {
        slash_pattern(&pattern, text + begin + 1, term->end - begin - 2);
    } else {
        literal_pattern(&pattern, text + begin + 1, term->end - begin - 2);
    }
    if (buf_failed(&pattern)) {
        (void)err_nomem(err, "the filter");
    } else {
        term->filter = filter_new(buf_text(&pattern), pattern.len, err);
    }
    buf_free(&pattern);
    return term->filter == NULL ? -1 : 0;
}

/* Digits at *pos; false where there are none or too many. */
static bool parse_number(const char *text, size_t end, size_t *pos, int64_t *out)
{
    size_t first = *pos;
    int64_t value = 0;
    while (*pos < end && is_digit(text[*pos]) && value < INT64_MAX / 10 - 1) {
        value = value * 10 + (text[(*pos)++] - '0');
    }
    *out = value;
    return *pos > first && (*pos == end || !is_digit(text[*pos]));
}

static int parse_ranges(struct term *term, const char *text, size_t pos, struct err *err)
{
    while (pos < term->end) {
        int n = term->range_count;
        if (n == TERM_RANGES) {
            return err_set(err, "more than %d numbers", TERM_RANGES);
        }
        bool is_good = parse_number(text, term->end, &pos, &term->low[n]);
        term->high[n] = term->low[n];
        if (is_good && pos < term->end && text[pos] == '-') {
            pos++;
            is_good = parse_number(text, term->end, &pos, &term->high[n]) &&
                      term->high[n] >= term->low[n];
        }
        term->range_count++;
        bool is_end = pos == term->end;
        bool is_next = !is_end && text[pos] == ',' && pos + 1 < term->end;
        if (!is_good || (!is_end && !is_next)) {
            return err_set(err, "numbers are written 7 or 7,13-20");
        }
        pos += is_next ? 1 : 0;
    }
    return 0;
}

/* The names of a list, for an error. */
static void choice_names(enum term_key key, struct buf *out)
{
    for (size_t i = 0; key == TERM_KIND && term_kinds[i].word != NULL; i++) {
        buf_addf(out, " %s", term_kinds[i].word);
    }
    for (size_t i = 0; key == TERM_API && term_apis[i].word != NULL; i++) {
        buf_addf(out, " %s", term_apis[i].word);
    }
    for (size_t i = 0; key == TERM_CLASS && term_classes[i].word != NULL; i++) {
        buf_addf(out, " %s", term_classes[i].word);
    }
}

static const char *choice_word(enum term_key key, size_t i)
{
    return key == TERM_KIND    ? term_kinds[i].word
           : key == TERM_CLASS ? term_classes[i].word
                               : term_apis[i].word;
}

static int parse_choice(struct term *term, const char *text, size_t begin, size_t end,
                        struct err *err)
{
    for (size_t i = 0; choice_word(term->key, i) != NULL; i++) {
        const char *word = choice_word(term->key, i);
        if (strlen(word) != end - begin || memcmp(word, text + begin, end - begin) != 0) {
            continue;
        }
        term->choice_bits |= term->key == TERM_API ? term_apis[i].flags : 1U << i;
        return 0;
    }
    struct buf names = {0};
    choice_names(term->key, &names);
    (void)err_set(err, "no such word; there are%s", buf_text(&names));
    buf_free(&names);
    return -1;
}

static int parse_choices(struct term *term, const char *text, size_t pos, struct err *err)
{
    while (pos < term->end) {
        const char *comma = memchr(text + pos, ',', term->end - pos);
        size_t end = comma == NULL ? term->end : (size_t)(comma - text);
        if (parse_choice(term, text, pos, end, err) != 0) {
            return -1;
        }
        pos = end + 1;
    }
    return 0;
}

/* One expression for the classes: each is its own pattern where none of those before it fits. */
static int parse_classes(struct term *term, const char *text, size_t pos, struct err *err)
{
    struct buf pattern = {0};
    struct buf before = {0};
    int rc = parse_choices(term, text, pos, err);
    for (size_t i = 0; rc == 0 && term_classes[i].word != NULL; i++) {
        const char *own = term_classes[i].pattern;
        if ((term->choice_bits >> i & 1U) != 0) {
            buf_adds(&pattern, pattern.len > 0 ? "|" : "");
            buf_adds(&pattern, "^");
            if (before.len > 0) {
                buf_addf(&pattern, "(?!.*?(%s))", buf_text(&before));
            }
            buf_addf(&pattern, ".*?(%s)", own);
        }
        buf_addf(&before, "%s%s", before.len > 0 ? "|" : "", own);
    }
    if (rc == 0) {
        term->filter =
            buf_failed(&pattern) ? NULL : filter_new(buf_text(&pattern), pattern.len, err);
        rc = term->filter == NULL ? -1 : 0;
    }
    buf_free(&pattern);
    buf_free(&before);
    return rc;
}

static int parse_dur(struct term *term, const char *text, size_t pos, struct err *err)
{
    char sign = text[pos];
    bool is_sign = sign == '<' || sign == '>' || sign == '=';
    bool is_equal = is_sign && pos + 1 < term->end && text[pos + 1] == '=';
    char number[TIMEFMT_BYTES];
    int64_t ns = 0;
    pos += (is_sign ? 1U : 0U) + (is_equal ? 1U : 0U);
    size_t len = term->end - pos;
    if (!is_sign || len == 0 || len >= sizeof number) {
        return err_set(err, "a duration is written dur>100us, dur<=1.5ms or dur=800");
    }
    memcpy(number, text + pos, len);
    number[len] = '\0';
    if (timefmt_parse(number, 1, &ns, err) != 0) {
        return -1;
    }
    bool is_strict = !is_equal && sign != '=';
    term->low[0] = INT64_MIN;
    term->high[0] = INT64_MAX;
    if (sign != '<') {
        term->low[0] = is_strict && ns < INT64_MAX ? ns + 1 : ns;
    }
    if (sign != '>') {
        term->high[0] = is_strict && ns > INT64_MIN ? ns - 1 : ns;
    }
    return 0;
}

static int parse_person(struct term *term, const char *text, size_t pos, struct err *err)
{
    size_t end = pos;
    term->is_number = parse_number(text, term->end, &end, &term->low[0]) && end == term->end;
    term->is_main =
        term->key == TERM_THREAD && term->end - pos == 4 && memcmp(text + pos, "main", 4) == 0;
    return term->is_number ? 0 : parse_pattern(term, text, pos, err);
}

static int parse_value(struct term *term, const char *text, size_t value, struct err *err)
{
    if (value == term->end) {
        return err_set(err, "a value is missing, as in stream:7 or kind:memcpy");
    }
    switch (term->key) {
    case TERM_KIND:
    case TERM_API:
        return parse_choices(term, text, value, err);
    case TERM_CLASS:
        return parse_classes(term, text, value, err);
    case TERM_DEVICE:
    case TERM_CONTEXT:
    case TERM_STREAM:
    case TERM_PID:
        return parse_ranges(term, text, value, err);
    case TERM_PROCESS:
    case TERM_THREAD:
        return parse_person(term, text, value, err);
    case TERM_DUR:
        return parse_dur(term, text, value, err);
    case TERM_NAME:
    case TERM_DOMAIN:
    case TERM_NVTX:
    case TERM_KEY_COUNT:
        break;
    }
    return parse_pattern(term, text, value, err);
}

/* Puts the word that is wrong before the message, safe for a terminal. */
static void name_word(const char *text, const struct term_span *span, struct err *err)
{
    struct buf word = {0};
    utf8_sanitize(&word, text + span->begin, span->end - span->begin, false);
    (void)err_prefix(err, "filter word \"%.60s\" at character %zu", buf_text(&word),
                     span->begin + 1);
    buf_free(&word);
}

static int parse_word(struct term_list *list, const char *text, const struct term_span *span,
                      struct err *err)
{
    size_t value = span->body;
    struct term *terms =
        array_grow(list->terms, &list->cap, (size_t)list->count + 1, sizeof *terms);
    if (terms == NULL) {
        return err_nomem(err, "the filter");
    }
    list->terms = terms;
    struct term *term = &list->terms[list->count++];
    memset(term, 0, sizeof *term);
    term->key = term_key_of(text, span, &value);
    if (term->key == TERM_KEY_COUNT) {
        term->key = TERM_NAME;
    }
    term->is_not = span->body > span->begin;
    term->begin = span->begin;
    term->end = span->end;
    return parse_value(term, text, value, err);
}

int term_list_parse(struct term_list *list, const char *text, size_t len, size_t *at,
                    struct err *err)
{
    size_t pos = 0;
    struct term_span span;
    while (term_span_next(text, len, &pos, &span)) {
        if (parse_word(list, text, &span, err) == 0) {
            continue;
        }
        name_word(text, &span, err);
        if (at != NULL) {
            *at = span.begin;
        }
        return -1;
    }
    return 0;
}

void term_list_free(struct term_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        filter_free(list->terms[i].filter);
    }
    free(list->terms);
    memset(list, 0, sizeof *list);
}
