/*
 * projection: NVTX ranges drawn where their GPU work ran.
 *
 * A range of a thread is projected on each device that runs ops of launching calls that lie in it
 * (call begin >= range begin, call end <= range end, same thread): from the first op's begin to the
 * last op's end. Push/pop and start/end ranges that end on their own thread; a range without ops on
 * a device has no projection there. Marks have none.
 *
 * Rows: projected ranges of one device and thread are put on as few rows as keep them apart and
 * each below the range that encloses it.
 *
 * Cost: O(n log n) time for n ranges and launches, and O(open ranges) for each launched op.
 */
#ifndef CUTLINE_TIMELINE_PROJECTION_H
#define CUTLINE_TIMELINE_PROJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

struct projected {
    uint32_t nvtx; /* index in NVTX */
    uint32_t device; /* index in devices */
    uint32_t thread; /* index in threads */
    uint32_t row; /* from 0 */
    uint32_t launches; /* launching calls with ops on this device */
    uint32_t ops; /* a graph with nodes has many */
    int64_t begin_ns;
    int64_t end_ns;
};

/* A slice of `list`: one row of the picture, ascending, without overlap. */
struct projection_lane {
    uint32_t device;
    uint32_t thread;
    uint32_t row;
    uint32_t first;
    uint32_t count;
};

struct projection {
    const struct trace *trace; /* not owned */
    struct projected *list; /* by device, thread, row, begin; owned */
    uint32_t count;
    struct projection_lane *lanes; /* owned */
    uint32_t lane_count;
    uint32_t *by_nvtx; /* owned: indices in list by nvtx, then device */
};

/* NULL on failure. */
struct projection *projection_new(const struct trace *trace, struct err *err);
void projection_free(struct projection *projection);
/* The projections of one range, one for each device: *count indices in list; NULL for none. */
const uint32_t *projection_of(const struct projection *projection, uint32_t nvtx, uint32_t *count);
/* The first of the lane that ends after t; first + count if none. */
uint32_t projection_lower(const struct projection *projection, const struct projection_lane *lane,
                          int64_t t_ns);

#endif
