/*
 * series: values over time for sparkline rows: launches per ms, launch queue depth, memory in use,
 * GPU metrics. Built once, then sampled for any window in time that does not grow with its length.
 *
 * A level series holds value[i] from at_ns[i] until at_ns[i + 1] (the last until end_ns) and has no
 * value before at_ns[0]. An event series only counts its times.
 *
 * Cost: 8 bytes a point where times are near each other and values small, else up to 16, and a little
 * for sums and maxima of blocks of 256 points; sampling is O(log n + blocks) a column.
 */
#ifndef CUTLINE_TIMELINE_SERIES_H
#define CUTLINE_TIMELINE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/trace/shelf.h"
#include "analysis/trace/trace.h"

enum series_kind {
    SERIES_LAUNCHES, /* events; sampled as launches per ms */
    SERIES_QUEUE, /* ops whose launching call has ended and that have not begun */
    SERIES_MEMORY, /* bytes that are allocated on the device */
    SERIES_METRIC, /* a GPU metric, as the file has it; held until the next sample */
};

struct series {
    enum series_kind kind;
    const char *label; /* "launches/ms", "queue", "memory", the metric's name; not sanitised */
    uint32_t device; /* QUEUE, MEMORY, METRIC; TRACE_NONE where the file's device has no ops */
    uint32_t process; /* LAUNCHES */
    uint32_t thread; /* LAUNCHES: TRACE_NONE = all of the process */
    size_t count;
    /* Ascending times: at_ns, or, where each block spans less than 4.29 s, both others. Values: value,
     * or small_value where they fit; neither for events. All owned; see series_at, series_value. */
    int64_t *at_ns;
    int64_t *block_at_ns; /* of the first point of each block */
    uint32_t *after_ns; /* ns after that */
    int64_t *value;
    int32_t *small_value;
    int64_t end_ns; /* where the last value ends */
    int64_t min; /* of all values */
    int64_t max;
    double *block_area; /* owned: value x ns before each block */
    int64_t *block_max; /* owned */
    bool kept; /* the arrays and the label lie on the trace's shelf */
};

enum series_mode {
    SERIES_MEAN, /* over the part of the column that has a value */
    SERIES_MAX,
};

/*
 * out[c] for the columns [begin + c * step, begin + (c + 1) * step), step > 0: mean or largest
 * value in it, NaN where there is none. LAUNCHES: launches per ms in the column, or, where a column
 * is shorter than 1 ms, in the ms around its middle; never NaN; the mode is ignored.
 */
void series_sample(const struct series *series, int64_t begin_ns, int64_t step_ns, int columns,
                   enum series_mode mode, double *out);

/* 0 or -1. Launches of kernels and graphs by calls of a process, or of one thread of it. */
int series_launches(const struct trace *trace, uint32_t process, uint32_t thread,
                    struct series *out, struct err *err);
/* Queue depth of a device: op i is queued in [end of its call, begin of the op), if that is a time
 * at all. */
int series_queue(const struct trace *trace, uint32_t device, struct series *out, struct err *err);
void series_free(struct series *series);
/*
 * Series on the shelf of a trace, from a number on, SERIES_NUMBERS of them. series_take: false where it
 * is not there. series_keep: the series must live until it is written.
 */
enum {
    SERIES_NUMBERS = 9
};
bool series_take(const struct trace *trace, enum shelf_kind kind, uint32_t number,
                 struct series *out);
void series_keep(const struct series *series, enum shelf_kind kind, uint32_t number,
                 struct shelf_list *list);

/* What the file holds beside the model: memory in use (CUDA_GPU_MEMORY_USAGE_EVENTS) for each
 * device and GPU metrics (GPU_METRICS). */
struct series_set {
    struct series *list; /* memory by device, then metrics by device, in the file's order */
    size_t count;
    struct arena arena; /* labels */
};
/*
 * Reads the capture again. An empty set where it has neither table. Frees of what was allocated
 * before the capture do not count, nor does memory of the host (pageable, pinned). 0 or -1.
 */
int series_load(const struct trace *trace, struct series_set *out, struct err *err);
void series_set_free(struct series_set *set);
/* Adds them to what is kept; series_load takes them from there. */
void series_set_keep(const struct series_set *set, struct shelf_list *list);

#endif
