/*
 * arena: memory that is freed all at once. Not thread-safe: one arena, one thread at a time.
 */
#ifndef CUTLINE_BASE_ARENA_H
#define CUTLINE_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block; owned */
};

/* The empty arena: struct arena a = {0}; */

/* n zeroed bytes, aligned for any type; NULL where memory ran out. Lives until arena_free. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* A NUL-terminated copy of len bytes; NULL where memory ran out. */
char *arena_copy(struct arena *arena, const char *text, size_t len);
/* Frees everything at once; the arena is empty and usable again. */
void arena_free(struct arena *arena);
/* Keeps one block for reuse, frees the rest: for a scratch arena per frame. */
void arena_reset(struct arena *arena);

#endif
