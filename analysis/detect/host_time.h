/*
 * host_time: what a thread did in a time: how much of it its calls of each kind cover, which calls
 * they were, and a split of the time that adds up.
 */
#ifndef CUTLINE_DETECT_HOST_TIME_H
#define CUTLINE_DETECT_HOST_TIME_H

#include <stdint.h>

#include "analysis/facts/facts.h"

/* What a call on the host does, in the order in which a time counts where calls lie in others. */
enum host_kind {
    HOST_SYNC,
    HOST_COPY, /* a copy that blocks */
    HOST_ALLOC,
    HOST_MODULE,
    HOST_OSRT,
    HOST_PROFILER,
    HOST_OVERHEAD, /* rows of CUDA's own overhead that are none of these */
    HOST_KIND_COUNT,
    HOST_NAMES = 6, /* names of a kind that are told apart; what more there are is not named */
};

/* The calls of one name. */
struct host_name {
    uint32_t name; /* index in names */
    uint32_t calls;
    int64_t ns; /* their union */
    int64_t longest_ns; /* the longest part of one of them in the time, and which */
    uint32_t longest;
    uint8_t table; /* TRACE_API, TRACE_OSRT or TRACE_OVERHEAD */
};

/* The calls of one kind. */
struct host_cover {
    int64_t ns; /* their union */
    int name_count;
    struct host_name names[HOST_NAMES]; /* most time first */
};

struct host_time {
    struct host_cover covers[HOST_KIND_COUNT];
    int64_t part_ns[HOST_KIND_COUNT]; /* each ns once, in the kind that comes first */
    int64_t rest_ns; /* what no call covers */
};

/* What the thread did in [begin, end). O(log n + calls inside). */
void host_time_of(const struct facts *facts, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                  struct host_time *out);

#endif
