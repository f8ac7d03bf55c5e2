/*
 * The layout of a cached trace, shared by cache.c (reading) and cache_save.c (writing):
 *
 *     struct cache_head | section 0 | section 1 | ...
 *
 * The head and each section begin at a multiple of CACHE_ALIGN bytes and follow each other without a
 * hole; the rest up to the next multiple is 0. Every byte of the file is covered by a sum: that of
 * its section, or that of the head. Pointers are not kept: a text is its offset in the section of
 * texts. Numbers are those of this machine: the file never leaves it.
 */
#ifndef CUTLINE_TRACE_CACHE_LAYOUT_H
#define CUTLINE_TRACE_CACHE_LAYOUT_H

#include "analysis/base/buf.h"
#include "analysis/store/cache_folder.h"
#include "analysis/trace/cache.h"
#include "analysis/trace/trace_internal.h"

enum {
    /* To be counted up where the layout or the meaning of the model changes: files of other numbers
     * are not taken. */
    CACHE_VERSION = 5,
    CACHE_COLUMNS = 5, /* begin, end, name, row, link */
    CACHE_ALIGN = 64
};

enum cache_section {
    CACHE_EVENTS, /* CACHE_COLUMNS for each table */
    CACHE_LAUNCH_OPS = CACHE_EVENTS + CACHE_COLUMNS * TRACE_TABLE_COUNT,
    CACHE_GPU_BUSY,
    CACHE_UNIONS, /* int64_t: for each device its begins, ends and sums */
    CACHE_LANES,
    CACHE_OPEN,
    CACHE_CROSS,
    CACHE_NAMES, /* struct trace_name, its pointers 0 */
    CACHE_NAME_TEXTS, /* struct cache_texts for each */
    CACHE_PROCESSES, /* struct trace_process, likewise */
    CACHE_THREADS, /* struct trace_thread */
    CACHE_DEVICES, /* struct trace_device */
    CACHE_PEOPLE_TEXTS, /* uint64_t for each process, thread, device in this order */
    CACHE_PATH, /* bytes: where the capture was, for people */
    CACHE_TEXTS, /* bytes, a NUL after each text; offset 0 is the empty one */
    CACHE_SECTIONS,
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
    uint64_t device; /* the file's */
    uint64_t inode;
};

struct cache_place {
    uint64_t bytes; /* without the rest up to the next multiple */
    uint64_t sum; /* hash of these bytes and the rest */
};

/* The numbers of the trace. */
struct cache_head {
    char magic[8];
    uint64_t sum; /* hash of the head with 0 in this place */
    struct cache_key key;
    struct cache_place sections[CACHE_SECTIONS];
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

/* bytes, filled up to the alignment. */
static inline uint64_t cache_aligned(uint64_t bytes)
{
    return (bytes + CACHE_ALIGN - 1) / CACHE_ALIGN * CACHE_ALIGN;
}

/* A running hash of whole words; four independent lanes, so that it runs at memory speed. One
 * changed bit always changes it; it is no proof against somebody who wants to deceive. */
struct cache_hash {
    uint64_t lane[4];
};
void cache_hash_init(struct cache_hash *hash);
/* bytes is a multiple of 32. */
void cache_hash_add(struct cache_hash *hash, const void *data, size_t bytes);
uint64_t cache_hash_end(const struct cache_hash *hash);
/* The sum of a section of so many aligned bytes; of bytes that are filled up with 0; of a head. */
uint64_t cache_section_sum(const void *data, size_t bytes);
uint64_t cache_padded_sum(const void *data, size_t bytes);
uint64_t cache_head_sum(const struct cache_head *head);

/* Changes with our structs and with the version of the program. */
uint64_t cache_layout(void);
/* The cache file of a capture (without the folder) and the key it must have. 0 or -1. */
int cache_name(const struct store_file *file, struct buf *name, struct cache_key *key);
/* The same of another file of the capture, "KIND-...". */
int cache_file_name(const struct store_file *file, const char *kind, struct buf *name,
                    struct cache_key *key);
/* Bytes of one section by the numbers of the head; UINT64_MAX for those that vary. */
uint64_t cache_section_bytes(const struct cache_head *head, int section);

/*
 * The trace of a file's bytes, a mapping of len bytes that is the trace's from now on, also where this
 * fails. NULL where the bytes are not a whole, undamaged and sound trace of the key.
 */
struct trace *cache_read(void *bytes, size_t len, const struct cache_key *key,
                         struct store_file *file);
/*
 * A kept file that grows while its capture is read. Threads may put different sections at a time.
 *
 *     cache_grow_begin -> cache_grow_put... -> cache_grow_rest -> cache_save -> cache_grow_end
 */
struct cache_growing {
    struct cache_folder folder;
    struct cache_part part;
    struct buf name;
    struct cache_key key;
    int fd; /* of the part, for longer than it is one */
    unsigned char *map;
    size_t map_bytes;
    uint64_t at[CACHE_SECTIONS]; /* of the sections up to the unions */
    struct cache_place places[CACHE_SECTIONS];
    bool done[CACHE_SECTIONS];
    atomic_bool failed; /* what is not there yet stays in memory */
};

/* counts: the event counts of the head, and a bound of its devices. NULL where there is no folder. */
struct cache_growing *cache_grow_begin(const struct store_file *file,
                                       const struct cache_head *counts, uint32_t limit_mib);
/* Writes an array to its place and frees it. Where it is now; the array itself where it cannot be
 * written, or growing is NULL. */
void *cache_grow_put(struct cache_growing *growing, int section, void *array, uint64_t bytes);
/* Does an array lie in the map? growing may be NULL. */
bool cache_grow_holds(const struct cache_growing *growing, const void *array);
/* What is known when all tables are linked: links, launch_ops, sums, unions. */
void cache_grow_rest(struct trace *trace);
/* Gives the map up, and the file where it was not finished. growing may be NULL. */
void cache_grow_end(struct cache_growing *growing);
/* The unions of all devices as they are kept: the caller's; NULL without memory. */
int64_t *cache_join_unions(const struct trace *trace, size_t *count);

/* Writes the trace to a file, until *stop (NULL: to the end). 0, or -1 with errno set. */
int cache_write(int fd, const struct trace *trace, const struct cache_key *key,
                const atomic_bool *stop);

/* Writes bytes, filled up to the alignment, from where they are, until *stop. 0, or -1 with errno set. */
int cache_put_padded(int fd, const void *data, size_t bytes, const atomic_bool *stop,
                     uint64_t *sum);
/* Does a part of a file, filled up to the alignment, have this sum? 0, also where it was stopped, or -1. */
int cache_compare_part(int fd, uint64_t at, uint64_t bytes, uint64_t sum, const atomic_bool *stop);
/* The end of a file that was begun and written with that status: where it is 0 the file gets its name and a
 * seal, as it is what this program made; else it is removed. 0, or -1 with errno set. */
int cache_finish(struct cache_part *part, const char *name, uint64_t rules, int status);

/* shelf.c */
struct shelf_list;
/* The shelf of a trace from the cache, where it has one. */
void shelf_open(struct trace *trace, const struct cache_folder *folder);
/* Is there anything in the list that the shelf has not? */
bool shelf_lacks(const struct trace *trace, const struct shelf_list *list);
/* As cache_save; what was on the shelf stays there. */
int shelf_save(const struct trace *trace, struct shelf_list *list, const atomic_bool *stop,
               struct err *err);
/* As cache_compare. */
int shelf_compare(const struct trace *trace, const atomic_bool *stop);

extern const char CACHE_MAGIC[8];

#endif
