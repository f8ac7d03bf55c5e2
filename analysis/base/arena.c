/* arena: see arena.h. A chain of blocks; an allocation larger than a block gets a block of its own.
 */
#include "analysis/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARENA_BLOCK_BYTES = 64 * 1024
};

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t cap;
    alignas(max_align_t) unsigned char data[];
};

static struct arena_block *arena_block_new(size_t bytes)
{
    size_t cap = bytes > ARENA_BLOCK_BYTES ? bytes : (size_t)ARENA_BLOCK_BYTES;
    struct arena_block *block;
    if (cap > SIZE_MAX - sizeof *block) {
        return NULL;
    }
    block = malloc(sizeof *block + cap);
    if (block != NULL) {
        block->next = NULL;
        block->used = 0;
        block->cap = cap;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    struct arena_block *block = arena->head;
    void *out;
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + align - 1) / align * align;
    if (block == NULL || block->cap - block->used < bytes) {
        block = arena_block_new(bytes);
        if (block == NULL) {
            return NULL;
        }
        block->next = arena->head;
        arena->head = block;
    }
    out = block->data + block->used;
    block->used += bytes;
    memset(out, 0, bytes);
    return out;
}

char *arena_copy(struct arena *arena, const char *text, size_t len)
{
    char *out = len == SIZE_MAX ? NULL : arena_alloc(arena, len + 1);
    if (out != NULL && len > 0) {
        memcpy(out, text, len);
    }
    return out;
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->head;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->head = NULL;
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->head;
    struct arena rest;
    if (keep == NULL) {
        return;
    }
    rest.head = keep->next;
    arena_free(&rest);
    keep->next = NULL;
    keep->used = 0;
}
