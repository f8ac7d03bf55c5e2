/* intern: see intern.h. Linear probing at half load. */
#include "analysis/base/intern.h"

#include <stdlib.h>
#include <string.h>

/* Eight bytes a step, each folded in by an odd multiplier (a mixing step as in splitmix64). */
static uint64_t intern_hash(const char *text, size_t len)
{
    const uint64_t multiplier = 0x9E3779B97F4A7C15U;
    uint64_t hash = len * multiplier;
    uint64_t word;
    while (len >= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * multiplier;
        hash ^= hash >> 32;
        text += sizeof word;
        len -= sizeof word;
    }
    if (len > 0) {
        word = 0;
        memcpy(&word, text, len);
        hash = (hash ^ word) * multiplier;
        hash ^= hash >> 32;
    }
    hash *= 0xBF58476D1CE4E5B9U;
    return hash ^ (hash >> 31);
}

void intern_free(struct intern *table)
{
    arena_free(&table->arena);
    free(table->entries);
    free(table->slots);
    *table = (struct intern){0};
}

/* The slot where the text is, or the free one where it would go. slots_cap > 0. */
static uint32_t intern_slot(const struct intern *table, const char *text, size_t len, uint64_t hash)
{
    uint32_t mask = table->slots_cap - 1;
    uint32_t slot = (uint32_t)hash & mask;
    while (table->slots[slot] != 0) {
        const struct intern_entry *entry = &table->entries[table->slots[slot] - 1];
        if (entry->hash == hash && entry->len == len &&
            (len == 0 || memcmp(entry->text, text, len) == 0)) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int intern_grow(struct intern *table)
{
    uint32_t cap = table->slots_cap == 0 ? 64 : table->slots_cap * 2;
    uint32_t *slots = calloc(cap, sizeof *slots);
    struct intern_entry *entries = realloc(table->entries, (size_t)cap / 2 * sizeof *entries);
    if (entries != NULL) {
        table->entries = entries;
        table->entries_cap = cap / 2;
    }
    if (slots == NULL || entries == NULL) {
        free(slots);
        return -1;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t slot = (uint32_t)entries[i].hash & (cap - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (cap - 1);
        }
        slots[slot] = i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slots_cap = cap;
    return 0;
}

uint32_t intern_add(struct intern *table, const char *text, size_t len)
{
    uint64_t hash = intern_hash(text, len);
    if (table->count * 2 >= table->slots_cap &&
        (table->count >= UINT32_MAX / 4 || intern_grow(table) != 0)) {
        return INTERN_NONE;
    }
    uint32_t slot = intern_slot(table, text, len, hash);
    if (table->slots[slot] != 0) {
        return table->slots[slot] - 1;
    }
    char *copy = arena_copy(&table->arena, text, len);
    if (copy == NULL) {
        return INTERN_NONE;
    }
    table->entries[table->count] = (struct intern_entry){copy, len, hash};
    table->slots[slot] = ++table->count;
    return table->count - 1;
}

uint32_t intern_find(const struct intern *table, const char *text, size_t len)
{
    if (table->slots_cap == 0) {
        return INTERN_NONE;
    }
    return table->slots[intern_slot(table, text, len, intern_hash(text, len))] - 1;
}

const char *intern_text(const struct intern *table, uint32_t id)
{
    return id < table->count ? table->entries[id].text : "";
}

size_t intern_len(const struct intern *table, uint32_t id)
{
    return id < table->count ? table->entries[id].len : 0;
}
