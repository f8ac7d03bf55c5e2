/*
 * overlap: what a device did at each time: compute, communication, copies, several at once,
 * nothing.
 *
 * Communication is kernels whose short name begins with nccl (any case); all other kernels, sets
 * and graph launches are compute; memcpys and migrations are copies. Made once for all devices (and
 * a selection), then any window is two binary searches.
 *
 * Cost: O(ops log lanes) to make, 9 bytes a change of what runs; O(log n) a window.
 */
#ifndef CUTLINE_TIMELINE_OVERLAP_H
#define CUTLINE_TIMELINE_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/filter/terms.h"
#include "analysis/trace/trace.h"

enum overlap_class {
    OVERLAP_COMPUTE = 1U << 0,
    OVERLAP_COMMUNICATION = 1U << 1,
    OVERLAP_COPY = 1U << 2,
    OVERLAP_MASKS = 8,
};
/* The class of an op by its name. */
enum overlap_class overlap_class_of(const struct trace_name *name);

struct overlap; /* the changes of each device */

/* terms NULL = all ops. NULL on failure. */
struct overlap *overlap_new(const struct trace *trace, const struct terms *terms, struct err *err);
void overlap_free(struct overlap *overlap);

/* Time by set of classes: ns[OVERLAP_COMPUTE | OVERLAP_COPY] is compute and copy without
 * communication; ns[0] is idle. The sum is end - begin. */
struct overlap_sums {
    int64_t ns[OVERLAP_MASKS];
};
struct overlap_sums overlap_in(const struct overlap *overlap, uint32_t device, int64_t begin_ns,
                               int64_t end_ns);

/* Five parts that make up the whole. */
struct overlap_parts {
    int64_t compute_only_ns; /* with or without copies */
    int64_t communication_only_ns; /* ... */
    int64_t both_ns; /* compute and communication */
    int64_t copy_only_ns;
    int64_t idle_ns;
};
struct overlap_parts overlap_parts(const struct overlap_sums *sums);

#endif
