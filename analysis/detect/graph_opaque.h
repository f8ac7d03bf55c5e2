/*
 * graph_opaque: graphs of which the capture holds each launch as one block, not the kernels inside.
 */
#ifndef CUTLINE_DETECT_GRAPH_OPAQUE_H
#define CUTLINE_DETECT_GRAPH_OPAQUE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

struct opaque_graph {
    uint32_t process;
    uint32_t device;
    uint32_t name; /* "graph 5" */
    uint32_t launches;
    uint32_t longest; /* GPU index */
    int64_t total_ns;
    int64_t longest_ns;
};

/* One row for each graph, process and device with launches in [begin, end), most time first.
 * calloc'd, the caller frees; NULL: no memory. O(n log n). */
struct opaque_graph *opaque_find(const struct trace *trace, int64_t begin_ns, int64_t end_ns,
                                 size_t *count, struct err *err);

#endif
