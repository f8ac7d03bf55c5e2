/*
 * gaps: times in which a device runs no op at all, between its first and its last op.
 *
 * The complement of the union of all ops of a device: kernels, copies, sets, migrations, graph
 * launches, of all processes, contexts and streams. Rows without times do not count.
 */
#ifndef CUTLINE_DETECT_GAPS_H
#define CUTLINE_DETECT_GAPS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/busy.h"
#include "analysis/trace/trace.h"

struct gap {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t device; /* index in trace->devices */
    uint32_t before; /* GPU index of the op that ended last before it */
    uint32_t after; /* GPU index of an op that begins at its end */
};

struct gaps {
    struct gap *list; /* longest first, then by begin; owned */
    size_t count; /* those of min_ns and longer */
    size_t all_count; /* all, also shorter ones */
    int64_t all_ns; /* the sum of all */
    int64_t span_ns; /* the sum over devices of last end - first begin, inside the window */
};

/*
 * Gaps of one device (an index), or of all with TRACE_NONE, within [begin_ns, end_ns) (INT64_MIN,
 * INT64_MAX = everywhere; gaps are clipped to the window). busy holds the union, filtered or not. 0
 * or -1.
 */
struct gaps_query {
    uint32_t device;
    int64_t min_ns;
    int64_t begin_ns;
    int64_t end_ns;
};
int gaps_find(const struct trace *trace, const struct busy *busy, const struct gaps_query *query,
              struct gaps *out, struct err *err);
void gaps_free(struct gaps *gaps);
/* Called for each gap of min_ns and longer, by device and begin. Returns 0, or -1 to stop. */
typedef int gaps_fn(void *arg, const struct gap *gap, struct err *err);
/* The same without a list: out gets the sums alone. 0 or -1. */
int gaps_each(const struct trace *trace, const struct busy *busy, const struct gaps_query *query,
              gaps_fn *visit, void *arg, struct gaps *out, struct err *err);
/* Time from the first to the last op of a device, inside the window. */
int64_t gaps_span_ns(const struct busy *busy, uint32_t device, int64_t begin_ns, int64_t end_ns);

#endif
