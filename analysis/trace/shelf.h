/*
 * shelf: what was derived from a trace, kept beside it in the cache folder ("figures-..."), so that it
 * is derived once: arrays, each known by a kind and a number.
 *
 *     shelf_get                                     an array, in place, or NULL
 *     shelf_put... -> trace_keep_start (keep.h)     arrays to be kept, written by a thread of its own
 *
 * The file is believed where its seal holds (cache_seal.h): then it is what this program wrote, whose
 * numbers were right. Without a seal it is as good as none. What is in it goes with the whole trace of
 * a capture; a trace of some kinds alone has no shelf. Immutable: any number of threads may read it.
 */
#ifndef CUTLINE_TRACE_SHELF_H
#define CUTLINE_TRACE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* Who keeps it; the numbers are the owner's. */
enum shelf_kind {
    SHELF_FACTS, /* facts.c */
    SHELF_RECORDED, /* series_load.c */
    SHELF_ROW_SETS, /* rows_kept.c of the timeline */
    SHELF_ROW_SERIES,
    SHELF_ROW_SUMS,
    SHELF_KINDS,
};

/* An array to be kept. */
struct shelf_item {
    uint32_t kind; /* enum shelf_kind */
    uint32_t number;
    size_t bytes;
    const void *data; /* must outlive the keeping; NULL: make fills it */
    void (*make)(const void *arg, void *out);
    const void *arg;
};

struct shelf_list {
    struct shelf_item *items; /* owned */
    size_t count;
    size_t cap;
    bool failed; /* without memory: nothing is kept */
};

/* The array of a trace, bytes long (at least 1), aligned for any number, not to be written; NULL where
 * it is not kept. It lives as long as the trace. */
void *shelf_get(const struct trace *trace, enum shelf_kind kind, uint32_t number, size_t *bytes);
/* The same where it is exactly so long; NULL also for no bytes. */
void *shelf_array(const struct trace *trace, enum shelf_kind kind, uint32_t number, size_t bytes);
/* Does the trace come from the cache, with a shelf? */
bool shelf_is_there(const struct trace *trace);
void shelf_put(struct shelf_list *list, enum shelf_kind kind, uint32_t number, const void *data,
               size_t bytes);
/* The same of an array that is made when it is written, on the thread that writes. */
void shelf_put_made(struct shelf_list *list, enum shelf_kind kind, uint32_t number, size_t bytes,
                    void (*make)(const void *arg, void *out), const void *arg);
void shelf_list_free(struct shelf_list *list);

#endif
