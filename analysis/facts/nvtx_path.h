/*
 * nvtx_path: the push/pop ranges that are open on a thread at a time.
 */
#ifndef CUTLINE_FACTS_NVTX_PATH_H
#define CUTLINE_FACTS_NVTX_PATH_H

#include "analysis/base/buf.h"
#include "analysis/facts/facts.h"

enum {
    NVTX_PATH_DEPTH = 64
};

/*
 * The ranges of a thread that hold time t (begin <= t < end), outermost first: NVTX indices in
 * out[0..NVTX_PATH_DEPTH). Returns how many. thread TRACE_NONE gives 0. O(depth log n).
 */
int nvtx_path_at(const struct facts *facts, uint32_t thread, int64_t t_ns, uint32_t *out);
/* The innermost of them, TRACE_NONE where there is none. */
uint32_t nvtx_path_leaf(const struct facts *facts, uint32_t thread, int64_t t_ns);
/* Adds "step 3 > forward > layer" as the file has the bytes (not sanitised); a domain that is not
 * the default one is written before its range, "NCCL:AllReduce". Nothing where no range is open. */
void nvtx_path_text(const struct facts *facts, uint32_t thread, int64_t t_ns, struct buf *out);
/* The same up to the range `last` (an NVTX index). */
void nvtx_path_text_to(const struct facts *facts, uint32_t thread, int64_t t_ns, uint32_t last,
                       struct buf *out);

#endif
