/*
 * packing: many near-empty streams drawn on few rows.
 *
 * Interval partitioning, greedy by the lowest free row: the fewest rows that hold all ops without
 * overlap (as many as run at once at most). Every op of the chosen lanes is in exactly one row, and
 * lane[] tells which stream it belongs to.
 *
 * Cost: O(n log lanes) time, 28 bytes an op.
 */
#ifndef CUTLINE_TIMELINE_PACKING_H
#define CUTLINE_TIMELINE_PACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* Row r is the slice [row_first[r], row_first[r + 1]) of the arrays, ascending, without overlap. */
struct packs {
    uint32_t count; /* ops */
    uint32_t row_count;
    uint32_t *row_first; /* row_count + 1; owned, as all below */
    int64_t *begin_ns;
    int64_t *end_ns;
    uint32_t *name;
    uint32_t *index; /* in GPU */
    uint32_t *lane; /* index in trace->lanes */
};

/* All ops of the lanes (indices in trace->lanes, of one table). 0 or -1. */
int packs_make(const struct trace *trace, const uint32_t *lanes, uint32_t lane_count,
               struct packs *out, struct err *err);
void packs_free(struct packs *packs);

struct packs_rule {
    uint32_t streams_above; /* only where a device and process has more lanes than this */
    uint32_t ops_below; /* lanes with fewer ops than this ... */
    double busy_below; /* ... or with less busy time than this percent of the device's span */
};
/* Sets pick[lane - device.first_lane] for the near-empty stream lanes of a device and process
 * (TRACE_NONE = all together); returns how many, 0 where packing is not worth it (fewer than 3). */
uint32_t packs_pick(const struct trace *trace, uint32_t device, uint32_t process,
                    const struct packs_rule *rule, bool *pick);

#endif
