/*
 * facts: what the detectors need beside the trace, gathered once: the lanes of each thread, the
 * details of copies and the stream waits, which the model leaves in the file.
 *
 * Immutable once made; any number of threads may read it. One serves all detectors and the screen.
 */
#ifndef CUTLINE_FACTS_FACTS_H
#define CUTLINE_FACTS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/sharing.h"
#include "analysis/trace/shelf.h"
#include "analysis/trace/trace.h"

enum {
    FACTS_MEM_PAGEABLE = 0,
    FACTS_MEM_PINNED = 1,
    FACTS_MEM_UNKNOWN = 255,
};

/* One copy or set. */
struct facts_copy {
    uint32_t gpu; /* index in events[TRACE_GPU] */
    uint8_t src_kind; /* memory kind of the file, FACTS_MEM_UNKNOWN where it has none */
    uint8_t dst_kind;
    bool is_known;
    int64_t bytes; /* -1 where the file has none */
};

/* One cudaStreamWaitEvent as the device saw it: the stream waits for an event. */
struct facts_wait {
    uint32_t process;
    int64_t context_id;
    int64_t stream_id; /* the stream that waits */
    int64_t begin_ns; /* host time */
    int64_t event_id; /* as the file numbers it */
    int64_t event_stream; /* the stream that it was recorded on, -1 where unknown */
    int64_t event_context; /* the context of that stream */
};

/* The lanes of one thread: [first[t], end[t]) of trace->lanes for each host table t. */
struct facts_thread {
    uint32_t first[TRACE_TABLE_COUNT];
    uint32_t end[TRACE_TABLE_COUNT];
};

struct facts {
    const struct trace *trace; /* not owned */
    struct facts_thread *threads; /* trace->thread_count */
    uint32_t *streams; /* lanes of streams, by process, context, stream, lane */
    uint32_t stream_count;
    struct facts_copy *copies; /* by gpu */
    size_t copy_count;
    struct facts_wait *waits; /* by process, context, stream, begin */
    size_t wait_count;
    bool kept; /* copies and waits lie on the trace's shelf */
    struct sharing sharing; /* devices of several processes */
    bool has_api; /* the capture holds any API call */
    bool has_osrt; /* ... any OS runtime call */
    bool has_copy_kind; /* ... memory kinds of copies */
};

/*
 * Opens the capture again for copies and stream waits; where that fails (a trace made by hand, a
 * file that is gone) they are unknown and the rest stands. NULL: no memory. O(n log n).
 */
struct facts *facts_new(const struct trace *trace, struct err *err);
/* The same from a file that is open; store may be NULL. */
struct facts *facts_read(const struct trace *trace, struct store *store, struct err *err);
void facts_free(struct facts *facts);
/* Adds what is worth to be kept, to be written while the facts live. */
void facts_keep(const struct facts *facts, struct shelf_list *list);

/* The details of a copy or set; NULL where unknown. O(log n). */
const struct facts_copy *facts_copy_of(const struct facts *facts, uint32_t gpu);
/* An API call that copies: does it hold up its thread (a copy without Async, or of pageable
 * memory)? */
bool facts_copy_blocks(const struct facts *facts, uint32_t api);
/*
 * Does this API call make its thread wait for the device? A synchronising call, or a blocking copy
 * other than one within a device or up to 64 KB from pageable host memory (those return early,
 * CUDA API documentation, "API synchronization behavior").
 */
bool facts_call_waits(const struct facts *facts, uint32_t api);
/* The last stream wait of a lane's stream with begin in [begin, end); NULL if none. O(log n). */
const struct facts_wait *facts_wait_before(const struct facts *facts, const struct trace_lane *lane,
                                           int64_t begin_ns, int64_t end_ns);

/* The first lane of a stream; TRACE_NONE where the capture has no op of it. O(log n). */
uint32_t facts_stream_lane(const struct facts *facts, uint32_t process, int64_t context_id,
                           int64_t stream_id);

/* Busy ns of a device's union of all ops in [begin, end). O(log n). */
int64_t facts_busy_ns(const struct facts *facts, uint32_t device, int64_t begin_ns, int64_t end_ns);

#endif
