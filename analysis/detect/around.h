/*
 * around: what lies around the work of the devices, in words: the time before the first op and after
 * the last one, start-up and steady state, each with what the thread that launches did in it.
 */
#ifndef CUTLINE_DETECT_AROUND_H
#define CUTLINE_DETECT_AROUND_H

#include "analysis/base/buf.h"
#include "analysis/facts/facts.h"
#include "analysis/facts/program.h"
#include "analysis/facts/steady.h"

/* What is told about. Parts below a hundredth of the capture are left out: they change nothing. */
struct around {
    const struct facts *facts;
    const struct program *programs; /* by process */
    const struct steady *steady;
};

/* "300 x step" or "40 x graph 4": the series of the steady state. */
void around_series(const struct around *around, struct buf *out);
/* A line each, without an end of line; nothing where there is nothing to tell. */
void around_before(const struct around *around, struct buf *out);
void around_after(const struct around *around, struct buf *out);
/* "Steady state: 300 x step, one in 10.0 ms, 61.000 s to 64.000 s; the findings are of it." */
void around_steady(const struct around *around, struct buf *out);
/* Between the first op and the steady state; and between that and the last op. */
void around_start_up(const struct around *around, struct buf *out);
void around_end(const struct around *around, struct buf *out);

#endif
