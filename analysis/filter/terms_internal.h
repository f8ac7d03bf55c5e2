/*
 * terms_internal: the words of a filter and their compilation, for terms*.c alone.
 */
#ifndef CUTLINE_FILTER_TERMS_INTERNAL_H
#define CUTLINE_FILTER_TERMS_INTERNAL_H

#include <stdlib.h>

#include "analysis/filter/filter.h"
#include "analysis/filter/terms.h"

enum term_key {
    TERM_NAME,
    TERM_KIND,
    TERM_API,
    TERM_DOMAIN,
    TERM_CLASS,
    TERM_DEVICE,
    TERM_CONTEXT,
    TERM_STREAM,
    TERM_PID,
    TERM_PROCESS,
    TERM_THREAD,
    TERM_NVTX,
    TERM_DUR,
    TERM_KEY_COUNT,
};

/* How a key is written; the first word of each key is the one that is offered. */
struct term_word {
    const char *word;
    enum term_key key;
};
extern const struct term_word term_words[]; /* ends with a NULL word */

/* What kind: accepts: kinds of names, and for copies a direction (0 = any). */
struct term_kind {
    const char *word;
    uint32_t kinds;
    uint8_t copy_kind[2]; /* copies and migrations of these directions; 0 = none given */
};
extern const struct term_kind term_kinds[];

/* What api: accepts. */
struct term_api {
    const char *word;
    uint32_t flags;
};
extern const struct term_api term_apis[];

/* What class: accepts: kernels whose full name holds a pattern, and none of those before it. */
struct term_class {
    const char *word;
    const char *pattern; /* alternatives, in lower case: the case of names does not matter */
};
extern const struct term_class term_classes[];

enum {
    TERM_RANGES = 16
};

/* One word of the filter. */
struct term {
    enum term_key key;
    bool is_not;
    bool is_number; /* PROCESS, THREAD: low is the number */
    bool is_main; /* THREAD: written "main" */
    size_t begin; /* the word is text[begin, end) */
    size_t end;
    struct filter *filter; /* owned: NAME, DOMAIN, CLASS, NVTX, PROCESS, THREAD */
    uint32_t choice_bits; /* KIND: bit i = term_kinds[i]; API: flags; CLASS: bit i =
                             term_classes[i] */
    int64_t low[TERM_RANGES];
    int64_t high[TERM_RANGES]; /* numbers: [low, high]; DUR: the same */
    int range_count;
};

struct term_list {
    struct term *terms; /* owned */
    size_t count;
    size_t cap;
};

/* Splits and reads the words. 0, or -1 with err and the offset of the wrong word in *at. */
int term_list_parse(struct term_list *list, const char *text, size_t len, size_t *at,
                    struct err *err);
void term_list_free(struct term_list *list);

/* One word: where it is and what stands where in it. */
struct term_span {
    size_t begin;
    size_t body; /* behind - and ! */
    size_t end;
    bool is_open; /* a quote that was opened is not closed */
};
/* The next word at or behind *pos; false where there is none. */
bool term_span_next(const char *text, size_t len, size_t *pos, struct term_span *span);
/* The key that the body begins with and where its value begins; TERM_KEY_COUNT where it begins with
 * none. For dur the value begins with the comparison. */
enum term_key term_key_of(const char *text, const struct term_span *span, size_t *value);

/* ---- compilation ---- */

enum terms_name {
    TERMS_NAME_OUT,
    TERMS_NAME_IN,
    TERMS_NAME_FREE, /* of a kind that the filter is not about */
};

/* Everything that a compilation passes around. */
struct terms_work {
    const struct facts *facts;
    const struct trace *trace;
    struct terms *terms;
    struct term_list list;
    uint8_t *name_class; /* enum terms_name */
    bool *lane_in;
    bool asks_host; /* a thread or nvtx word */
    bool asks_device; /* a device, context or stream word */
    bool host_none; /* what the host words say where there is no thread */
    bool device_none; /* what the device words say where there is no device */
    uint64_t *call_host; /* API: the host words */
    uint64_t *call_device; /* API: the device words */
};

/* ---- bits ---- */

static inline uint64_t *terms_bits_new(uint32_t count)
{
    return calloc((size_t)count / 64 + 1, sizeof(uint64_t));
}

static inline bool terms_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> (i % 64) & 1U) != 0;
}

static inline void terms_bit_set(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void terms_bit_clear(uint64_t *bits, uint32_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* ---- terms_host.c ---- */

/* Is the number in one of the ranges of a word? */
bool terms_in_ranges(const struct term *term, int64_t value);
/* Does a thread word hold for a thread (an index), as if it were not turned round? */
bool terms_thread_holds(const struct terms_work *work, const struct term *term, uint32_t index);
/* The same for a device, context or stream word and a GPU lane. */
bool terms_device_holds(const struct terms_work *work, const struct term *term,
                        const struct trace_lane *lane);
bool terms_is_device_key(enum term_key key);
/* Fills asks_*, *_none and call_*. 0, or -1 without memory. */
int terms_judge_partners(struct terms_work *work);
/* What the thread, range and device words say of each event of a table: bits of the caller, NULL
 * where they say nothing. 0, or -1 without memory. */
int terms_partner_bits(const struct terms_work *work, enum trace_table table, uint64_t **bits);

#endif
