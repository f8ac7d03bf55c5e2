/*
 * filter: see filter.h.
 *
 * A pattern is compiled twice, for UTF-8 and for bytes; the second serves texts that are no UTF-8.
 * Bounds: PCRE2's match and depth limits, so the time for one text is bounded whatever the pattern;
 * and so is that for many texts, as a pattern that hit them often enough is not tried any more.
 */
#include "analysis/filter/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "analysis/base/buf.h"

enum {
    FILTER_MATCH_LIMIT = 200000,
    FILTER_DEPTH_LIMIT = 20000,
    FILTER_HEAP_KIB = 64 * 1024,
    FILTER_MESSAGE_BYTES = 256,
    FILTER_GIVEN_UP_MAX = 16,
};

struct filter {
    pcre2_code *utf;
    pcre2_code *bytes; /* NULL where the pattern only makes sense with UTF-8 */
    pcre2_match_data *match;
    pcre2_match_context *limits;
    int *given_up; /* owned: texts that hit a limit */
};

/* Is there an upper-case letter outside escapes (\W, \p{Lu}, \x{1F})? */
static bool filter_has_upper(const char *pattern, size_t len)
{
    size_t i = 0;
    while (i < len) {
        if (pattern[i] == '\\') {
            i += 2;
            if (i < len && pattern[i] == '{') {
                const char *close = memchr(pattern + i, '}', len - i);
                i = close == NULL ? len : (size_t)(close - pattern) + 1;
            }
            continue;
        }
        if (isupper((unsigned char)pattern[i])) {
            return true;
        }
        i++;
    }
    return false;
}

static pcre2_code *filter_compile(const char *pattern, size_t len, uint32_t options,
                                  struct err *err)
{
    int error = 0;
    size_t offset = 0;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, len, options | PCRE2_NEVER_BACKSLASH_C,
                                     &error, &offset, NULL);
    if (code == NULL) {
        PCRE2_UCHAR message[FILTER_MESSAGE_BYTES];
        if (pcre2_get_error_message(error, message, sizeof message) < 0) {
            message[0] = '\0';
        }
        return err_null(err, "bad regular expression: %s (at character %zu)", (char *)message,
                        offset + 1);
    }
    return code;
}

struct filter *filter_new(const char *pattern, size_t len, struct err *err)
{
    uint32_t options = filter_has_upper(pattern, len) ? 0 : PCRE2_CASELESS;
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        (void)err_nomem(err, "the filter");
        return NULL;
    }
    filter->utf = filter_compile(pattern, len, options | PCRE2_UTF | PCRE2_UCP, err);
    if (filter->utf == NULL) {
        filter_free(filter);
        return NULL;
    }
    filter->bytes = filter_compile(pattern, len, options, NULL);
    filter->match = pcre2_match_data_create(1, NULL);
    filter->limits = pcre2_match_context_create(NULL);
    filter->given_up = calloc(1, sizeof *filter->given_up);
    if (filter->match == NULL || filter->limits == NULL || filter->given_up == NULL) {
        filter_free(filter);
        (void)err_nomem(err, "the filter");
        return NULL;
    }
    (void)pcre2_set_match_limit(filter->limits, FILTER_MATCH_LIMIT);
    (void)pcre2_set_depth_limit(filter->limits, FILTER_DEPTH_LIMIT);
    (void)pcre2_set_heap_limit(filter->limits, FILTER_HEAP_KIB);
    return filter;
}

void filter_free(struct filter *filter)
{
    if (filter == NULL) {
        return;
    }
    pcre2_code_free(filter->utf);
    pcre2_code_free(filter->bytes);
    pcre2_match_data_free(filter->match);
    pcre2_match_context_free(filter->limits);
    free(filter->given_up);
    free(filter);
}

static bool filter_is_limit(int rc)
{
    return rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT ||
           rc == PCRE2_ERROR_HEAPLIMIT || rc == PCRE2_ERROR_JIT_STACKLIMIT;
}

bool filter_match(const struct filter *filter, const char *text, size_t len)
{
    if (*filter->given_up >= FILTER_GIVEN_UP_MAX) {
        return false;
    }
    int rc = pcre2_match(filter->utf, (PCRE2_SPTR)text, len, 0, 0, filter->match, filter->limits);
    if (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21 && filter->bytes != NULL) {
        rc = pcre2_match(filter->bytes, (PCRE2_SPTR)text, len, 0, 0, filter->match, filter->limits);
    }
    *filter->given_up += filter_is_limit(rc) ? 1 : 0;
    return rc >= 0;
}

int filter_check(const struct filter *filter, struct err *err)
{
    return *filter->given_up == 0
               ? 0
               : err_set(err, "the regular expression takes too long on some names (too many ways "
                              "to match): write it without repeats of repeats, as in (a+)+");
}

/* "domain:range", as tables and paths print a range. */
static bool filter_match_printed(const struct filter *filter, const struct trace_name *name)
{
    struct buf text = {0};
    buf_add(&text, name->domain, name->domain == NULL ? 0 : name->domain_len);
    buf_addc(&text, ':');
    buf_add(&text, name->full, name->full_len);
    bool hit = !buf_failed(&text) && filter_match(filter, buf_text(&text), text.len);
    buf_free(&text);
    return hit;
}

bool filter_match_name(const struct filter *filter, const struct trace_name *name)
{
    bool is_range = name->kind == TRACE_NVTX_PUSHPOP || name->kind == TRACE_NVTX_STARTEND ||
                    name->kind == TRACE_NVTX_MARK;
    return filter_match(filter, name->full, name->full_len) ||
           (name->brief != name->full && filter_match(filter, name->brief, name->brief_len)) ||
           (is_range && filter_match_printed(filter, name));
}

uint64_t *filter_names(const struct filter *filter, const struct trace *trace, uint32_t kinds,
                       uint32_t *matched, uint32_t *of)
{
    uint64_t *bits = calloc((size_t)trace->name_count / 64 + 1, sizeof *bits);
    uint32_t hits = 0;
    uint32_t asked = 0;
    for (uint32_t i = 0; bits != NULL && i < trace->name_count; i++) {
        bool is_asked = (kinds >> trace->names[i].kind & 1U) != 0;
        bool keep = !is_asked || filter_match_name(filter, &trace->names[i]);
        asked += is_asked ? 1 : 0;
        hits += is_asked && keep ? 1 : 0;
        bits[i / 64] |= (uint64_t)keep << (i % 64);
    }
    if (matched != NULL) {
        *matched = hits;
    }
    if (of != NULL) {
        *of = asked;
    }
    return bits;
}
