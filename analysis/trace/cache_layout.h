/*
 * The layout of a cached trace, shared by cache.c (reading), cache_save.c (writing):
 *
 *     struct cache_head | slot 0 | slot 1 | ... each slot begins at a multiple of 64 bytes
 *
 * Pointers are not kept: a text is its offset in the slot of texts. Numbers are those of this
 * machine: the file never leaves it.
 */
#ifndef CUTLINE_TRACE_CACHE_LAYOUT_H
#define CUTLINE_TRACE_CACHE_LAYOUT_H

#include "analysis/base/buf.h"
#include "analysis/trace/cache.h"
#include "analysis/trace/trace_internal.h"

enum {
    CACHE_COLUMNS = 5, /* begin, end, name, row, link */
    CACHE_ALIGN = 64
};

enum cache_slot {
    CACHE_EVENTS, /* CACHE_COLUMNS for each table */
    CACHE_LAUNCH_OPS = CACHE_EVENTS + CACHE_COLUMNS * TRACE_TABLE_COUNT,
    CACHE_GPU_BUSY,
    CACHE_LANES,
    CACHE_OPEN,
    CACHE_CROSS,
    CACHE_NAMES,        /* struct trace_name, its pointers 0 */
    CACHE_NAME_TEXTS,   /* struct cache_texts for each */
    CACHE_PROCESSES,    /* struct trace_process, likewise */
    CACHE_THREADS,      /* struct trace_thread */
    CACHE_DEVICES,      /* struct trace_device */
    CACHE_PEOPLE_TEXTS, /* uint64_t for each process, thread, device in this order */
    CACHE_UNIONS,       /* int64_t: for each device its begins, ends and sums */
    CACHE_TEXTS,        /* bytes, a NUL after each text; offset 0 is the empty one */
    CACHE_SLOTS,
};

#define CACHE_NO_TEXT UINT64_MAX

struct cache_texts {
    uint64_t full;
    uint64_t brief;
    uint64_t mangled;
    uint64_t domain; /* CACHE_NO_TEXT: none */
};

/* What the capture must still be. */
struct cache_key {
    uint64_t layout; /* of our structs and the version of the program */
    uint64_t size_bytes;
    int64_t mtime_s;
    int64_t mtime_ns;
    uint64_t first_page; /* hash of its beginning */
};

/* The numbers of the trace. */
struct cache_head {
    char magic[8];
    struct cache_key key;
    uint64_t body_hash; /* of all bytes after the head */
    uint64_t offset[CACHE_SLOTS];
    uint64_t bytes[CACHE_SLOTS];
    struct trace_counts counts;
    int64_t begin_ns;
    int64_t end_ns;
    int64_t nvtx_end_ns;
    uint32_t event_count[TRACE_TABLE_COUNT];
    uint32_t launch_op_count;
    uint32_t lane_count;
    uint32_t open_count;
    uint32_t cross_count;
    uint32_t name_count;
    uint32_t process_count;
    uint32_t thread_count;
    uint32_t device_count;
};

/* A running hash of whole words; four independent lanes, so that it runs at memory speed. */
struct cache_hash {
    uint64_t lane[4];
};
void cache_hash_init(struct cache_hash *hash);
/* bytes is a multiple of 32. */
void cache_hash_add(struct cache_hash *hash, const void *data, size_t bytes);
uint64_t cache_hash_end(const struct cache_hash *hash);

/* The cache file of a capture and the key it must have. 0 or -1. */
int cache_name(const char *path, struct buf *name, struct cache_key *key);
/* Bytes of one slot by the numbers of the head; UINT64_MAX for those that vary. */
uint64_t cache_slot_bytes(const struct cache_head *head, int slot);

extern const char CACHE_MAGIC[8];

#endif
