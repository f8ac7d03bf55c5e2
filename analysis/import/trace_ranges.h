/* trace_ranges: slices, ranges with two ends and instants of a JSON trace as NVTX rows of their thread. */
#ifndef CUTLINE_IMPORT_TRACE_RANGES_H
#define CUTLINE_IMPORT_TRACE_RANGES_H

#include "analysis/base/err.h"
#include "analysis/base/intern.h"
#include "analysis/import/trace_event.h"
#include "analysis/import/trace_threads.h"
#include "analysis/store/writer.h"

struct trace_open_range {
    uint32_t key;
    int64_t begin_ns;
    int64_t name; /* StringIds */
    int64_t global_tid;
    int64_t domain;
    bool async; /* may end on another thread */
};

struct trace_ranges {
    struct store_writer *writer; /* not owned, like threads */
    struct trace_threads *threads;
    struct intern keys; /* what tells which end is of which begin */
    struct intern domains; /* global pid and name; the id is the number, from 1 */
    struct trace_open_range *open; /* owned */
    size_t open_count;
    size_t open_cap;
    struct buf scratch;
};

struct trace_range {
    const struct trace_event *event;
    const struct trace_args *args;
    struct json_value name;
    int64_t begin_ns;
    int64_t end_ns;
};

/* The empty list needs writer and threads set. */
void trace_ranges_free(struct trace_ranges *ranges);
/* By the event's phase: X, B and E, i, b and e. Adds the rows that were written to *written. 0 or -1. */
int trace_ranges_put(struct trace_ranges *ranges, struct trace_thread *thread,
                     const struct trace_range *range, int64_t *written, struct err *err);
/* Writes ranges without an end. 0 or -1. */
int trace_ranges_end(struct trace_ranges *ranges, int64_t *written, struct err *err);

#endif
