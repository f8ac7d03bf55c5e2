/*
 * busy: exact busy time of lanes and devices in any window, for all ops or for those a filter keeps
 * by name or one by one.
 *
 * Prefix sums: the busy time of a window is two binary searches, at any zoom. Without a filter the
 * sums of the trace serve; with one they are built anew in one linear pass over the GPU table.
 */
#ifndef CUTLINE_TRACE_BUSY_H
#define CUTLINE_TRACE_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/trace.h"

/* The union of the kept ops of one device: disjoint, ascending. Arrays owned by the busy. */
struct busy_union {
    uint32_t count;
    const int64_t *begin_ns;
    const int64_t *end_ns;
    const int64_t *sum_ns; /* count + 1 */
};

struct busy {
    const struct trace *trace; /* not owned */
    const int64_t *lane_sum_ns; /* GPU count + 1 running sums of kept durations, in table order */
    struct busy_union *devices; /* trace->device_count */
    const uint64_t *name_bits; /* a copy of the filter; NULL = all names are kept */
    const uint64_t *op_bits; /* a copy of the filter by ops; NULL = all ops are kept */
    void *own; /* what busy_free needs */
};

/* name_bits: bit i (word i/64) set = name i is kept; NULL = all are. NULL on failure. O(GPU ops).
 */
struct busy *busy_new(const struct trace *trace, const uint64_t *name_bits, struct err *err);
/* op_bits: bit i set = GPU event i is kept; NULL = all are. NULL on failure. O(GPU ops). */
struct busy *busy_new_ops(const struct trace *trace, const uint64_t *op_bits, struct err *err);
/*
 * The same for either kind of bits (op_bits go before name_bits), in the memory of a busy that is
 * not needed any more (NULL: in new memory), which is half of the cost: for a filter that is typed.
 * old is used up, also where this fails.
 */
struct busy *busy_renew(struct busy *old, const struct trace *trace, const uint64_t *name_bits,
                        const uint64_t *op_bits, struct err *err);
void busy_free(struct busy *busy);

/* Busy ns of a GPU lane in [begin, end). O(log n). */
int64_t busy_lane_ns(const struct busy *busy, const struct trace_lane *lane, int64_t begin_ns,
                     int64_t end_ns);
/* Busy ns of the union of a device in [begin, end). O(log n). */
int64_t busy_device_ns(const struct busy *busy, uint32_t device, int64_t begin_ns, int64_t end_ns);
/* The first interval that ends after t; count if none. O(log n). */
uint32_t busy_union_lower(const struct busy_union *work, int64_t t_ns);
/* The first interval that begins at or after t; count if none. O(log n). */
uint32_t busy_union_upper(const struct busy_union *work, int64_t t_ns);

/* Is name i in the set? name_bits NULL = every name is. */
static inline bool busy_has(const uint64_t *name_bits, uint32_t name)
{
    return name_bits == NULL || (name_bits[name / 64] >> (name % 64) & 1U) != 0;
}

/* Is GPU event i kept? */
static inline bool busy_keeps(const struct busy *busy, uint32_t i)
{
    if (busy->op_bits != NULL) {
        return busy_has(busy->op_bits, i);
    }
    return busy->name_bits == NULL ||
           busy_has(busy->name_bits, busy->trace->events[TRACE_GPU].name[i]);
}

#endif
