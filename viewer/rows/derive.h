/*
 * derive: lanes that the file does not hold as such: copies of a device on a row of their own,
 * NVTX ranges projected on the GPU work launched in them, near-empty streams packed together.
 *
 * A derived set is made once after loading: arrays, lane after lane, without overlap in a lane.
 * Copies that overlap are spread over as few lanes as hold them (greedy interval partitioning,
 * which is optimal); none is dropped.
 */
#ifndef CUTLINE_APP_DERIVE_H
#define CUTLINE_APP_DERIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/timeline/projection.h"
#include "analysis/trace/trace.h"
#include "viewer/rows/lane.h"

struct derive {
    enum trace_table table;
    uint32_t count; /* events */
    int64_t *begin_ns;
    int64_t *end_ns;
    uint32_t *name;
    uint32_t *index; /* event in the table */
    uint32_t *lane_end; /* lane_count: one past the last event of each lane */
    uint32_t lane_count;
    bool kept; /* the arrays lie on the trace's shelf */
};

void derive_free(struct derive *set);
/* Lane number i of the set, without sums. */
struct lane derive_lane(const struct derive *set, uint32_t i);

/* Copies, sets and migrations of a device. 0 or -1. */
int derive_copies(const struct trace *trace, uint32_t device, struct derive *out, struct err *err);
/* All ops of the lanes (indices in trace->lanes) on as few lanes as hold them. */
int derive_packed(const struct trace *trace, const uint32_t *lanes, uint32_t lane_count,
                  struct derive *out, struct err *err);
/* The projections of the push/pop and start/end ranges of one thread on one device. */
int derive_projected(const struct projection *projection, uint32_t device, uint32_t thread,
                     struct derive *out, struct err *err);

#endif
