/*
 * terms_impl: the words of a filter, between terms_parse.c and terms.c alone.
 */
#ifndef CUTLINE_QUERY_TERMS_IMPL_H
#define CUTLINE_QUERY_TERMS_IMPL_H

#include "analysis/query/filter.h"
#include "analysis/query/terms.h"

enum term_key {
    TERM_NAME,
    TERM_KIND,
    TERM_API,
    TERM_DOMAIN,
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

enum {
    TERM_RANGES = 16
};

/* One word of the filter. */
struct term {
    enum term_key key;
    bool is_not;
    bool is_number; /* PROCESS, THREAD: low is the number */
    bool is_main;   /* THREAD: written "main" */
    size_t begin;   /* the word is text[begin, end) */
    size_t end;
    struct filter *filter; /* owned: NAME, DOMAIN, NVTX, PROCESS, THREAD */
    uint32_t choice_bits;  /* KIND: bit i = term_kinds[i]; API: flags */
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

#endif
