/*
 * shared: what several questions to one capture need, made when it is first asked for and kept
 * until shared_free.
 *
 * One thread asks at a time. What is made is not changed any more, but the store has the place
 * where it reads, so nobody else reads from it meanwhile.
 */
#ifndef CUTLINE_REPORT_SHARED_H
#define CUTLINE_REPORT_SHARED_H

#include "analysis/facts/facts.h"
#include "analysis/filter/select.h"
#include "analysis/store/store.h"
#include "analysis/trace/busy.h"

struct shared;

/* Which ops busy sums are of. */
enum shared_ops {
    SHARED_ALL,
    SHARED_WORK, /* kernels and graphs */
    SHARED_WORK_TRANSFERS, /* ... and copies between two memories */
    SHARED_OPS_COUNT,
};

/* Of a trace that outlives it. NULL: no memory. */
struct shared *shared_new(const struct trace *trace, struct err *err);
/* The same with facts that somebody else has made and keeps. */
struct shared *shared_with(const struct facts *facts, struct err *err);
void shared_free(struct shared *shared);

const struct trace *shared_trace(const struct shared *shared);

/* See rounding_is_old; false where the file cannot be asked. */
bool shared_rounds_old(struct shared *shared);

/* Each lives as long as shared. NULL on failure. */
struct store *shared_store(struct shared *shared, struct err *err);
const struct facts *shared_facts(struct shared *shared, struct err *err);
const struct busy *shared_busy(struct shared *shared, enum shared_ops ops, struct err *err);
/* See nvtx_innermost; kept for the selection that was asked for last. */
const uint32_t *shared_innermost(struct shared *shared, const struct selection *select,
                                 struct err *err);

/* Is this the name of a copy between two memories, not within one device? Not of a migration: no
 * call makes it (unified_memory). */
bool shared_is_transfer(const struct trace_name *name);

#endif
