/*
 * intern: each distinct byte string once, by a dense number.
 *
 * Ids count up from 0 in the order of first sight and never change. The text may hold any byte; a
 * NUL follows it. Pointers stay valid until intern_free. Not thread-safe while adding; reading a
 * table that nobody adds to is safe from any thread.
 */
#ifndef CUTLINE_BASE_INTERN_H
#define CUTLINE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"

#define INTERN_NONE UINT32_MAX

struct intern_entry {
    const char *text;
    size_t len; /* bytes */
    uint64_t hash;
};

struct intern {
    struct arena arena;
    struct intern_entry *entries; /* owned, count of them */
    uint32_t *slots; /* open addressing; id + 1, 0 = free */
    uint32_t count;
    uint32_t entries_cap;
    uint32_t slots_cap; /* a power of two */
};

/* The empty table: struct intern t = {0}; */
void intern_free(struct intern *table);
/* The id of the text, added where new. INTERN_NONE: memory ran out, or 2^31 texts. O(len). */
uint32_t intern_add(struct intern *table, const char *text, size_t len);
/* The id of the text, INTERN_NONE where it is not there. */
uint32_t intern_find(const struct intern *table, const char *text, size_t len);
/* The text of an id; "" for an id out of range. */
const char *intern_text(const struct intern *table, uint32_t id);
size_t intern_len(const struct intern *table, uint32_t id);

#endif
