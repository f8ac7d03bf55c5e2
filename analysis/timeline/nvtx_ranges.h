/*
 * nvtx_ranges: NVTX ranges with their parents, and the API calls inside them.
 *
 * A range's parent is the tightest range of the same thread that encloses it. A call is inside a
 * range when it lies wholly within it on the same thread (or, with the process scope, on any thread
 * of the process: a helper thread launches for the range of another one). Ranges of several domains
 * and start/end ranges may cross, so the sweeps keep the list of all ranges that are open, not a
 * stack. A program that never closes its ranges would make that quadratic: of those that are open
 * at a time, the last begun NVTX_RANGES_DEEP count, others hold nothing there.
 *
 * Cost: O(n log n) to sort, then O(open ranges, NVTX_RANGES_DEEP at most) for each range and call.
 */
#ifndef CUTLINE_TIMELINE_NVTX_RANGES_H
#define CUTLINE_TIMELINE_NVTX_RANGES_H

#include "analysis/filter/select.h"

#define NVTX_RANGES_NONE UINT32_MAX
#define NVTX_RANGES_DEEP 512

struct nvtx_range {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t child_ns; /* sum of the direct children */
    uint32_t event; /* index in events[TRACE_NVTX] */
    uint32_t scope; /* what ranges and calls are matched by: thread, or process */
    uint32_t thread;
    uint32_t process;
    uint32_t parent; /* index in list, NVTX_RANGES_NONE = none */
    uint32_t level; /* 0 = no parent */
    uint32_t children; /* direct ones */
};

struct nvtx_ranges {
    struct nvtx_range *list; /* owned; by scope, begin, then end descending */
    uint32_t count;
};

/*
 * The kept ranges of some kinds (bits of 1 << enum trace_kind). Time and thread of the selection
 * count, names do not: see select_name. whole_thread leaves out start/end ranges that ended on
 * another thread, where ranges are matched by thread. 0 or -1.
 */
int nvtx_ranges_new(const struct trace *trace, const struct selection *select, uint32_t kinds,
                    bool whole_thread, struct nvtx_ranges *out, struct err *err);
void nvtx_ranges_free(struct nvtx_ranges *ranges);

/* Called for each range that encloses each API call with ops; api and range in no set order, but
 * all of one call together, its last begun range last. */
typedef void nvtx_calls_fn(void *arg, uint32_t range, uint32_t api);
/* Visits the pairs of ranges and kept launching calls. 0 or -1. */
int nvtx_ranges_calls(const struct trace *trace, const struct selection *select,
                      const struct nvtx_ranges *ranges, nvtx_calls_fn *visit, void *arg,
                      struct err *err);

/*
 * For each API call the NVTX event of the innermost range around it (the last begun; its own
 * thread's before another's), TRACE_NONE where there is none or it launches nothing. The caller
 * frees. NULL on failure.
 */
uint32_t *nvtx_innermost(const struct trace *trace, const struct selection *select,
                         struct err *err);

#endif
