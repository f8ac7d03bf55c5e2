/*
 * align: two captures on one axis, and what differs in what both show.
 *
 * The axis is that of BASE: a time t of NEW is shown at t - shift_ns.
 */
#ifndef CUTLINE_DIFF_ALIGN_H
#define CUTLINE_DIFF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/timeline/lists.h"

/* Times to put one above the other. 0, or -1 where a capture has no such thing (err says which). */
/* The begin of the first kernel or graph of each (of any op where there is none). */
int align_by_kernel(const struct trace *base, const struct trace *new_trace, int64_t *shift_ns,
                    struct err *err);
/* One range of a name: the n-th by begin. */
struct align_range {
    const char *name; /* the whole text, len bytes */
    size_t len;
    uint32_t occurrence; /* from 0 */
};
/* The begin of that range in each. */
int align_by_range(const struct trace *base, const struct trace *new_trace,
                   const struct align_range *range, int64_t *shift_ns, struct err *err);
/* That range in one trace: NVTX index, TRACE_NONE. */
uint32_t align_find_range(const struct trace *trace, const struct align_range *range);

/* Names of NEW matched with those of BASE: same kind, full text and NVTX domain. */
struct align_names {
    const struct trace *base; /* not owned */
    const struct trace *new_trace;
    uint32_t *base_of; /* owned: for each name of NEW, TRACE_NONE where BASE has none */
};
int align_names_make(const struct trace *base, const struct trace *new_trace,
                     struct align_names *out, struct err *err);
void align_names_free(struct align_names *names);

struct align_row {
    uint32_t name[2]; /* in BASE, in NEW; TRACE_NONE where it has no event in the window */
    int64_t count[2];
    int64_t total_ns[2];
    int64_t mean_ns[2]; /* 0 without events */
    int64_t delta_ns; /* total NEW - total BASE */
};
struct align_delta {
    struct align_row *rows; /* owned; largest |delta| first */
    size_t count;
    size_t cap;
    struct list list[2];
    uint32_t *row_of; /* own: row + 1 by name of BASE */
    size_t row_of_count;
};
/*
 * Deltas by name of what both queries see: begin and end are on the axis of BASE in query[0], on
 * that of NEW in query[1]. out is zero or was made before (its memory is reused). 0 or -1. O(events
 * in the windows).
 */
int align_delta_make(const struct align_names *names, const struct list_query query[2],
                     struct align_delta *out, struct err *err);
void align_delta_free(struct align_delta *delta);

#endif
