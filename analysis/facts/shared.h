/*
 * shared: what several questions to one capture need, made when it is first asked for and kept
 * until shared_free: the facts and the busy sums of all ops.
 *
 * One thread asks at a time; what it gets is immutable.
 */
#ifndef CUTLINE_FACTS_SHARED_H
#define CUTLINE_FACTS_SHARED_H

#include "analysis/facts/facts.h"
#include "analysis/trace/busy.h"

struct shared;

/* Of a trace that outlives it. NULL: no memory. */
struct shared *shared_new(const struct trace *trace, struct err *err);
/* The same with facts that somebody else has made and keeps. */
struct shared *shared_with(const struct facts *facts, struct err *err);
void shared_free(struct shared *shared);

const struct trace *shared_trace(const struct shared *shared);
/* Each lives as long as shared. NULL: no memory. */
const struct facts *shared_facts(struct shared *shared, struct err *err);
const struct busy *shared_busy(struct shared *shared, struct err *err);

#endif
