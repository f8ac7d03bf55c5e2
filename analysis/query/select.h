/*
 * select: the events that the options of a report keep, resolved against one trace.
 *
 * Asked in two steps, so that the inner loops stay short: a lane is in or out by device, process
 * and thread; an event of a kept lane is in or out by time. The name is asked apart, because only
 * what a report lists is filtered by name (the launching calls of a kernel list are not).
 */
#ifndef CUTLINE_QUERY_SELECT_H
#define CUTLINE_QUERY_SELECT_H

#include "analysis/query/report.h"
#include "analysis/trace/busy.h"

struct report_select {
    int64_t begin_ns; /* an event is kept if it overlaps [begin, end] */
    int64_t end_ns;
    int64_t device;      /* trace_device.id, -1 = all */
    uint32_t process;    /* index, TRACE_NONE = all */
    uint32_t thread;     /* index, for host lanes; TRACE_NONE = all */
    uint64_t *name_bits; /* owned; NULL = all names */
    bool none;           /* nothing can match: no such process or device */
    bool nvtx_process;   /* report_options.nvtx_process */
};

/* 0; -1 for a bad pattern, an NVTX range that is not there, or no memory. */
int select_new(const struct trace *trace, const struct report_options *options,
               struct report_select *out, struct err *err);
void select_free(struct report_select *select);

/* Is a lane in, by device, process and thread? */
bool select_lane(const struct trace *trace, const struct report_select *select,
                 const struct trace_lane *lane);

/* Does [begin, end] touch the time window? */
static inline bool select_time(const struct report_select *select, int64_t begin_ns, int64_t end_ns)
{
    return end_ns >= select->begin_ns && begin_ns <= select->end_ns;
}

static inline bool select_name(const struct report_select *select, uint32_t name)
{
    return busy_has(select->name_bits, name);
}

#endif
