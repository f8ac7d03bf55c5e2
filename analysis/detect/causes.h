/*
 * causes: why a device ran nothing. One cause for each gap, and a split of the gap that adds up.
 *
 * Let the gap be [g0, g1), X the op that ends it, L = [l0, l1) the call that launched X, T the
 * thread of L. The gap has three parts: before L (the host was late), in L, and after L returned
 * (launched, waits).
 *   1. There is no L: unknown.
 *   2. The part after L is half of the gap or more: launched, waits: for an event that X's stream
 *      was told to wait for, where the work that it stands for ended in the gap; for the device,
 *      which another process had: the op before the gap is of another one, which runs on after the
 *      gap as X's process had run before it, and the processes never run at one time on this device
 *      (facts/sharing.h); for the start of its graph; else the device did not start it.
 *   3. L covers half of the gap: slow launch.
 *   4. The part before L is the largest: what T did in it, each where it covers half of it, in this
 *      order: synchronising call, blocking or pageable copy, allocation, module load, OS call
 *      (lock, I/O, sleep), profiler. Else T computed: after a blocking call where T had waited for
 *      the device after the op before the gap began, so that it could not run ahead; launching too
 *      slowly where it had not.
 *   5. Else the larger of the other two, as in 2 and 3.
 *
 * Half of a time is the measure, as a part of that size is larger than all others together.
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
#include "analysis/detect/host_time.h"
#include "analysis/facts/facts.h"

enum cause_kind {
    CAUSE_UNKNOWN,
    CAUSE_MIGRATED, /* a migration of unified memory ends it, which no call launches */
    CAUSE_WAIT_EVENT, /* launched, waits: for an event of another stream */
    CAUSE_WAIT_PROCESS, /* launched, waits: another process had the device */
    CAUSE_WAIT_GRAPH, /* launched, waits: for the start of its graph */
    CAUSE_WAIT_START, /* launched, waits: the device did not start it */
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
    CAUSE_NO_OSRT = 1U << 2, /* cpu work may be a lock, I/O or sleep: OS calls were not recorded */
};

/* The parts of a gap; they add up to it. */
enum cause_part {
    CAUSE_PART_HOST, /* + enum host_kind: calls of T before L */
    CAUSE_PART_CPU = HOST_KIND_COUNT, /* what no call covers there */
    CAUSE_PART_LAUNCH, /* in L */
    CAUSE_PART_WAIT, /* after L returned */
    CAUSE_PART_UNKNOWN, /* there is no L */
    CAUSE_PART_COUNT,
};

struct cause {
    uint8_t kind; /* enum cause_kind */
    uint8_t doubt; /* enum cause_doubt */
    uint8_t table; /* of the evidence: TRACE_API, TRACE_OSRT or TRACE_OVERHEAD */
    uint8_t name_count; /* of names */
    uint32_t evidence; /* the event that shows it: the longest one of names[0]; TRACE_NONE: none */
    int64_t evidence_ns; /* time that the calls of this kind cover in the gap; for AFTER_BLOCKING
                            the blocking call, even where it lies before the gap: 0 */
    struct host_name names[HOST_NAMES]; /* the calls of this kind in the gap, most time first; for
                                           AFTER_BLOCKING the blocking call, ns: in the gap */
    int64_t part_ns[CAUSE_PART_COUNT];
    uint32_t launch; /* L: index in API, TRACE_NONE */
    uint32_t thread; /* T: index in threads, TRACE_NONE */
    uint32_t lane; /* the GPU lane of X */
    uint32_t nvtx; /* the range of T that covers most of the gap (gap_range), TRACE_NONE */
    int64_t nvtx_ns; /* ... and how much of it */
    uint32_t overhead; /* SLOW_LAUNCH: the longest overhead row of T in L and the gap, TRACE_NONE */
    int64_t overhead_ns; /* ... and the time that such rows cover there */
    const struct facts_wait *wait; /* WAIT_EVENT: the stream wait before X */
};

/* "launched, waits: for an event", "cpu work: after a blocking call", ... */
const char *cause_name(enum cause_kind kind);
/* Is it one of those in which the work was launched and waits? */
bool cause_is_wait(enum cause_kind kind);

/* The last call of the thread that waited for the device after `after_ns` and began before `before_ns`; TRACE_NONE:
 * none. O(log n and calls). */
uint32_t cause_last_wait(const struct facts *facts, uint32_t thread, int64_t after_ns,
                         int64_t before_ns);

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
/* Adds "stream 9 waited for event 50 of stream 7 on GPU 0": of WAIT_EVENT. */
void cause_event(const struct facts *facts, const struct cause *cause, struct buf *out);
/* Adds the parts of a gap: "sync 100 us + cpu 1.90 ms + launch call 300 us", without those below 1 %;
 * nothing where one is 95 % of it or more. */
void cause_split(const int64_t *part_ns, struct buf *out);
/*
 * The push/pop range of a thread that covers a time best: of those that cover half of it or more
 * the one that begins last, else the one that covers most. *ns is the time that it covers.
 * TRACE_NONE: there is none. O(depth log n + ranges inside).
 */
uint32_t gap_range(const struct facts *facts, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                   int64_t *ns);
/* Adds the ranges of T around that which covers most of the gap, and it: "step 3 > IO". Nothing
 * where there is none. */
void cause_path(const struct facts *facts, const struct gap *gap, const struct cause *cause,
                struct buf *out);
/* The name of the evidence ("cudaStreamSynchronize", "pthread_cond_wait"), "" where none. */
const char *cause_evidence(const struct facts *facts, const struct cause *cause);

/* The bytes of a range's name before PyTorch's numbers of a call (", seq = 5, op_id = 7"). */
size_t cause_plain_len(const char *name);

/* Sums of gaps by one key, largest first. */
enum causes_key {
    CAUSES_BY_KIND,
    CAUSES_BY_EVIDENCE,
    CAUSES_BY_NVTX, /* the range that covers most of a gap */
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
