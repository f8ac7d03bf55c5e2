/*
 * select: the events that the options of a report keep, resolved against one trace.
 *
 * Asked in two steps, so that the inner loops stay short: a lane is in or out by device, process
 * and thread; an event of a kept lane is in or out by time. The name is asked apart, because only
 * what a report lists is filtered by name (the launching calls of a kernel list are not).
 */
#ifndef CUTLINE_FILTER_SELECT_H
#define CUTLINE_FILTER_SELECT_H

#include "analysis/trace/busy.h"

/*
 * What the common options of stats and analyze ask for. Zero-initialised with SELECT_OPTIONS_ALL:
 * everything.
 */
struct select_options {
    int64_t begin_ns; /* keep events that overlap or touch [begin, end]: never clipped */
    int64_t end_ns;
    const char *nvtx; /* "range[@domain][/index]": keep what overlaps that range; NULL = all */
    const char *name; /* PCRE2 pattern on the names of what a report lists; NULL = all */
    int64_t device; /* as device_find takes it; -1 = all */
    int64_t pid; /* -1 = all */
    bool nvtx_process; /* attribute by time across the threads of the process, not by thread */
};

#define SELECT_OPTIONS_ALL \
    { \
        .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .device = -1, .pid = -1, \
    }

struct selection {
    int64_t begin_ns; /* an event is kept if it overlaps [begin, end] */
    int64_t end_ns;
    int64_t device; /* trace_device.id, -1 = all */
    uint32_t process; /* index, TRACE_NONE = all */
    uint32_t thread; /* index, for host lanes; TRACE_NONE = all */
    uint64_t *name_bits; /* owned; NULL = all names */
    bool none; /* nothing can match: no such process or device */
    bool nvtx_process; /* select_options.nvtx_process */
};

/* 0; -1 for a bad pattern, an NVTX range that is not there, or no memory. */
int select_new(const struct trace *trace, const struct select_options *options,
               struct selection *out, struct err *err);
void select_free(struct selection *select);

/* Is a lane in, by device, process and thread? */
bool select_lane(const struct trace *trace, const struct selection *select,
                 const struct trace_lane *lane);

/* Does [begin, end] touch the time window? */
static inline bool select_time(const struct selection *select, int64_t begin_ns, int64_t end_ns)
{
    return end_ns >= select->begin_ns && begin_ns <= select->end_ns;
}

/* Is event i of a lane in, by kind (bits of 1 << enum trace_kind) and time? */
static inline bool select_event(const struct trace *trace, const struct selection *select,
                                enum trace_table table, uint32_t i, uint32_t kinds)
{
    const struct trace_events *events = &trace->events[table];
    return (kinds >> trace->names[events->name[i]].kind & 1U) != 0 &&
           select_time(select, events->begin_ns[i], events->end_ns[i]);
}

static inline bool select_name(const struct selection *select, uint32_t name)
{
    return busy_has(select->name_bits, name);
}

struct selected {
    uint32_t *list; /* owned; numbers of events of the table */
    size_t count;
};

/* The kept events of some kinds of one table, by begin, then in table order; filtered by name too.
 * 0 or -1. O(n log n). */
int selected_new(const struct trace *trace, const struct selection *select, enum trace_table table,
                 uint32_t kinds, struct selected *out, struct err *err);
void selected_free(struct selected *events);

#endif
