/*
 * terms: the filter language of the timeline: a regular expression and terms, all of which must
 * hold.
 *
 *     gemm stream:7 -kind:memcpy dur>100us thread:main nvtx:/iter [0-9]+/ "a literal (text)"
 *
 * Words are separated by blanks; a blank inside /.../, "...", (...), [...] or {...} separates
 * nothing. A word is one of
 *
 *     REGEX  /REGEX/  "TEXT"         the name of the event (as filter.h: smart case)
 *     name:VALUE                     the same
 *     kind:WORD[,WORD...]            kernel memcpy memset graph migration api nvtx mark osrt overhead,
 *                                    gpu (the first five), copy (memcpy, migration),
 *                                    htod dtoh dtod ptop htoh
 *     api:WORD[,...]                 launch graph copy set async sync alloc module query driver
 *     class:WORD[,...]               kernels of a class, told by their full name: comm attention
 *                                    conv gemm softmax norm optimizer elementwise reduce other
 *     domain:VALUE                   the NVTX domain of a range; default is the one without a name
 *     device:LIST context:LIST       numbers and ranges: 7 or 7,13-20
 *     stream:LIST pid:LIST
 *     process:VALUE  thread:VALUE    a number (pid, tid), else a pattern on the name; thread:main is
 *                                    the thread whose tid is the pid, too
 *     nvtx:VALUE                     inside a range of that name on the launching thread
 *     dur>TIME dur>=TIME dur<TIME    100us, 1.5ms; a bare number is ns
 *     dur<=TIME dur=TIME
 *
 * and `-` or `!` before a word turns it round. VALUE is REGEX, /REGEX/ or "TEXT". A word with an
 * unknown key ("iter:7", "std::sort") is a plain regular expression.
 *
 * What a word says of an event that has no such thing (the stream of an OS call) is false, and true
 * where it is turned round. An op has the thread and the ranges of the call that launched it; a
 * call has the device, context and stream of the ops that it launched (any of them will do).
 *
 * Kinds of names that the filter is not about (`kinds`) are always kept, so that they stay on the
 * screen as context; kind: with such a kind makes the filter be about it.
 *
 * Cost: names once each; then, if a word is about more than names, one pass over the events.
 */
#ifndef CUTLINE_FILTER_TERMS_H
#define CUTLINE_FILTER_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/facts/facts.h"
#include "analysis/trace/busy.h"
#include "analysis/trace/trace.h"

/* kinds: bit (1 << enum trace_kind). */
#define TERMS_KINDS_GPU \
    (1U << TRACE_KERNEL | 1U << TRACE_MEMCPY | 1U << TRACE_MEMSET | 1U << TRACE_GRAPH | \
     1U << TRACE_MIGRATION)
#define TERMS_KINDS_NVTX \
    (1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND | 1U << TRACE_NVTX_MARK)
#define TERMS_KINDS_ALL ((1U << TRACE_KIND_COUNT) - 1)

/* A compiled filter over one trace. Immutable. */
struct terms {
    const struct trace *trace; /* not owned */
    uint64_t *name_bits; /* owned: names that are kept as far as the name tells; NULL = all */
    /* Owned: kept events of each table; NULL where the names alone decide. */
    uint64_t *event_bits[TRACE_TABLE_COUNT];
    bool is_all; /* nothing was asked: everything is kept */
    uint32_t kinds; /* what the filter is about, kind: words included */
    uint32_t matched; /* names of those kinds that are kept */
    uint32_t names; /* names of those kinds */
    int64_t min_dur_ns; /* [min, max]; INT64_MIN, INT64_MAX = any */
    int64_t max_dur_ns;
};

/*
 * Compiles text[0..len) for the trace of facts. NULL on failure: err says what, *at (may be NULL)
 * is the offset in bytes of the word that is wrong; len for want of memory. An empty text keeps
 * everything.
 */
struct terms *terms_new(const struct facts *facts, const char *text, size_t len, uint32_t kinds,
                        size_t *at, struct err *err);
void terms_free(struct terms *terms);

/* Is event i of the table kept? terms NULL keeps all. */
static inline bool terms_has(const struct terms *terms, enum trace_table table, uint32_t i)
{
    if (terms == NULL) {
        return true;
    }
    if (terms->event_bits[table] != NULL) {
        return (terms->event_bits[table][i / 64] >> (i % 64) & 1U) != 0;
    }
    return busy_has(terms->name_bits, terms->trace->events[table].name[i]);
}

/* Busy sums of the ops that the terms keep (NULL: all), in the memory of an old busy (NULL: new;
 * see busy_renew); the caller frees. NULL on failure. */
struct busy *terms_busy(struct busy *old, const struct trace *trace, const struct terms *terms,
                        struct err *err);

/* Events of a lane that are kept and overlap [begin, end). O(events in the window). */
uint32_t terms_count(const struct terms *terms, const struct trace_lane *lane, int64_t begin_ns,
                     int64_t end_ns);
/* The next kept event of a lane at index `from` or after it (before it: step -1, `from` included);
 * TRACE_NONE if none. from is an index in the table. */
uint32_t terms_next(const struct terms *terms, const struct trace_lane *lane, uint32_t from,
                    int step);

/* What one may type at the cursor. */
struct terms_completion {
    size_t begin; /* the bytes [begin, end) of the text are what a candidate replaces */
    size_t end;
    const char **list; /* owned: the texts to put there, best first, safe and quoted */
    size_t count;
    struct arena arena;
};
enum {
    TERMS_CANDIDATES = 64
};
/* Candidates for the word at the cursor (an offset in bytes): keys, kinds, streams, threads, names
 * of what is in the trace. 0, or -1 for want of memory; free it in both cases. O(names). */
int terms_complete(const struct trace *trace, const char *text, size_t len, size_t cursor,
                   struct terms_completion *out);
void terms_completion_free(struct terms_completion *completion);

#endif
