/*
 * filter: a regular expression (PCRE2, UTF-8) over names.
 *
 * It runs once for each distinct name, never for an event; the result is a bit set that is indexed
 * by trace_name number. Smart case: a pattern without an upper-case letter ignores case. Matching
 * is bounded (match and depth limits), so that no pattern can hang the screen.
 */
#ifndef CUTLINE_FILTER_FILTER_H
#define CUTLINE_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

struct filter;

/* Compiles. NULL for a bad pattern: err holds PCRE2's message and the offset. len bytes. */
struct filter *filter_new(const char *pattern, size_t len, struct err *err);
void filter_free(struct filter *filter);
/* Does the text match somewhere? Invalid UTF-8 in the text is matched bytewise. A text that hits a
 * limit is no match, and after some of them no text is: filter_check says so. */
bool filter_match(const struct filter *filter, const char *text, size_t len);
/* Are all answers so far true? 0, or -1: the pattern takes too long on some text. To be asked after
 * the last match, before its answers are used. */
int filter_check(const struct filter *filter, struct err *err);

/* Does a name match: its full or its brief text, or a range with its domain, "domain:range"? */
bool filter_match_name(const struct filter *filter, const struct trace_name *name);

/*
 * Bits of all names of the trace: set where the kind is filtered and the name matches, or
 * where the kind is not filtered. kinds: bit (1 << enum trace_kind) set = names of this kind must
 * match. Returns a calloc'd array of (name_count + 63) / 64 words, NULL without memory. *matched
 * (may be NULL) = matching names among those filtered, *of = names filtered.
 */
uint64_t *filter_names(const struct filter *filter, const struct trace *trace, uint32_t kinds,
                       uint32_t *matched, uint32_t *of);

#endif
