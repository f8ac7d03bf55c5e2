/*
 * causes: why a device ran nothing. One cause for each gap, found in a fixed order.
 *
 * Let the gap be [g0, g1), X the op that ends it, L = [l0, l1) the call that launched X, T the
 * thread of L.
 *   1. There is no L: unknown.
 *   2. L ended before the gap (l1 <= g0), or began before it and covers less than half of it: the
 *      work was queued, the device did not start it: device wait.
 *   3. L covers half of the gap: slow launch.
 *   4. The host was late: what T did in [g0, l0), each where it covers half of that time, in this
 *      order: synchronising call, blocking or pageable copy, allocation, module load, OS call
 *      (lock, I/O, sleep), profiler. Else T computed: after a blocking call where T had waited for
 *      the device after the op before the gap began, so that it could not run ahead; launching too
 *      slowly where it had not.
 *
 *     facts_new -> gaps_find -> causes_find -> (causes_sum) -> causes_free
 */
#ifndef CUTLINE_DETECT_CAUSES_H
#define CUTLINE_DETECT_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/detect/gaps.h"
#include "analysis/facts/facts.h"

enum cause_kind {
    CAUSE_UNKNOWN,
    CAUSE_DEVICE_WAIT,
    CAUSE_SLOW_LAUNCH,
    CAUSE_SYNC,
    CAUSE_COPY,
    CAUSE_ALLOC,
    CAUSE_MODULE,
    CAUSE_OSRT,
    CAUSE_PROFILER,
    CAUSE_AFTER_BLOCKING, /* cpu work, after a blocking call */
    CAUSE_SLOW_HOST, /* cpu work, launching too slowly */
    CAUSE_KIND_COUNT,
};

/* What the capture could not tell: bits. */
enum cause_doubt {
    CAUSE_NO_API = 1U << 0, /* no API calls at all */
    CAUSE_NO_LINK = 1U << 1, /* API calls, but not the one that launched X */
    CAUSE_MIGRATION = 1U << 3, /* X is a unified-memory migration: no call launches it */
    CAUSE_NO_OSRT = 1U << 2, /* cpu work may be a lock, I/O or sleep: OS calls were not recorded */
};

struct cause {
    uint8_t kind; /* enum cause_kind */
    uint8_t doubt; /* enum cause_doubt */
    uint8_t table; /* of the evidence: TRACE_API, TRACE_OSRT or TRACE_OVERHEAD */
    uint32_t evidence; /* the event that shows it (the longest of its kind), TRACE_NONE = none */
    int64_t evidence_ns; /* time that the calls of this kind cover in the gap; for AFTER_BLOCKING
                            the blocking call, even where it lies before the gap: 0 */
    uint32_t launch; /* L: index in API, TRACE_NONE */
    uint32_t thread; /* T: index in threads, TRACE_NONE */
    uint32_t lane; /* the GPU lane of X */
    uint32_t nvtx; /* innermost range of T at the begin of the gap, TRACE_NONE */
    uint32_t overhead; /* SLOW_LAUNCH: the longest overhead row of T in L and the gap, TRACE_NONE */
    int64_t overhead_ns; /* ... and the time that such rows cover there */
    const struct facts_wait *wait; /* DEVICE_WAIT: the stream wait before X, NULL = none known */
};

/* "device wait", "cpu work: after a blocking call", ... */
const char *cause_name(enum cause_kind kind);

/* The cause of one gap. O(log n + calls of T inside the gap). */
void cause_of(const struct facts *facts, const struct gap *gap, struct cause *out);
/* causes[i] is that of gaps->list[i]; calloc'd, the caller frees. NULL: no memory. */
struct cause *causes_find(const struct facts *facts, const struct gaps *gaps, struct err *err);
/*
 * Adds one line for a person, the bytes of names as in the file: "cudaStreamSynchronize 92 % of the
 * gap", "after cudaMemcpyAsync (3.20 ms before)", "no OS calls recorded".
 */
void cause_text(const struct facts *facts, const struct gap *gap, const struct cause *cause,
                struct buf *out);
/* The name of the evidence ("cudaStreamSynchronize", "pthread_cond_wait"), "" where none. */
const char *cause_evidence(const struct facts *facts, const struct cause *cause);

/* Sums of gaps by one key, largest first. */
enum causes_key {
    CAUSES_BY_KIND,
    CAUSES_BY_EVIDENCE,
    CAUSES_BY_NVTX, /* the innermost range */
};
struct causes_sum {
    const char *name; /* lives as long as the trace */
    size_t name_len; /* BY_NVTX: without PyTorch's numbers of calls (", seq = 5, op_id = 7") */
    uint8_t kind; /* BY_KIND and BY_EVIDENCE */
    uint32_t count;
    int64_t total_ns;
};
/* calloc'd, the caller frees; NULL and *count 0: no gaps, or no memory (err says). O(n log n). */
struct causes_sum *causes_sum(const struct facts *facts, const struct gaps *gaps,
                              const struct cause *causes, enum causes_key key, size_t *count,
                              struct err *err);

#endif
