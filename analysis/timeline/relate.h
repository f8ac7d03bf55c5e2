/*
 * relate: what an event has to do with others: launch and ops, the next of its name, the same place
 * in the next step, wait and event.
 *
 * An event is (table, index). Where there is none, index is TRACE_NONE.
 */
#ifndef CUTLINE_TIMELINE_RELATE_H
#define CUTLINE_TIMELINE_RELATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"
#include "analysis/filter/terms.h"
#include "analysis/trace/trace.h"

struct relate_event {
    enum trace_table table;
    uint32_t index;
};

/* The call that launched an op; for any other table the event itself. */
struct relate_event relate_launch(const struct trace *trace, struct relate_event event);
/* The first op that a call launched (by begin); the op itself for an op. */
struct relate_event relate_op(const struct trace *trace, struct relate_event event);
/* The thread that did it: of the launching call for an op, TRACE_NONE where unknown. */
uint32_t relate_thread(const struct trace *trace, struct relate_event event);
/* The time at which that thread did it: begin of the launching call, else of the event. */
int64_t relate_host_ns(const struct trace *trace, struct relate_event event);

/* Times of an op and its launch. */
struct relate_queue {
    uint32_t launch; /* index in API, TRACE_NONE */
    int64_t call_ns; /* duration of the call */
    int64_t queue_ns; /* op begin - call end; below 0 where the op began while the call ran */
    int64_t launch_ns; /* op begin - call begin: "launched so long before" */
    bool is_early; /* the op began before its call did: the clocks disagree */
};
struct relate_queue relate_queue(const struct trace *trace, uint32_t gpu);

/*
 * The next (step 1) or previous (step -1) event of the same name by (begin, index), over all lanes,
 * or over those of the same stream or thread. Only what the terms keep. O(lanes log n + distance).
 */
enum relate_scope {
    RELATE_ANYWHERE,
    RELATE_SAME_ROW, /* GPU: same device, process, context, stream; host: same thread */
};
struct relate_event relate_instance(const struct trace *trace, const struct terms *terms,
                                    struct relate_event event, enum relate_scope scope, int step);

/*
 * The step that an event is in: the outermost push/pop range of its thread that holds it and of
 * whose name the thread has more than one; an NVTX event that has others of its name is its own
 * step. TRACE_NONE where there is none. O(depth log n + ranges of the thread).
 */
uint32_t relate_step(const struct facts *facts, struct relate_event event);
/* The next or previous range of the same name on the same thread, TRACE_NONE. */
uint32_t relate_step_next(const struct facts *facts, uint32_t nvtx, int step);
/* Which of how many ranges of its name on its thread this is (1-based): "iteration 12 of 40". */
uint32_t relate_step_number(const struct facts *facts, uint32_t nvtx, uint32_t *of);
/*
 * The event at the same place in another step: the k-th of the same name that the thread did or
 * launched in step `to`, where the event is the k-th in step `from` (both NVTX indices of one
 * thread). Index TRACE_NONE where the other step has fewer.
 */
struct relate_event relate_same_place(const struct facts *facts, struct relate_event event,
                                      uint32_t from, uint32_t to);

/*
 * Waits and events: which call recorded the CUDA event that a call waits for. From the
 * synchronisation and event tables of the file, joined to the calls by (process, correlation id).
 */
struct relate_sync {
    uint32_t wait; /* API index: stream wait, event or stream or device synchronise */
    uint32_t record; /* API index of the record it waits for, TRACE_NONE where unknown */
    uint32_t op; /* GPU index: the last op put on the recorded (or awaited) stream before,
                          TRACE_NONE where unknown */
    int64_t event_id; /* -1: no event (stream or device) */
    int64_t stream_id; /* the stream that waits or is waited for, -1: none */
};
struct relate_syncs {
    struct relate_sync *list; /* by wait; owned */
    size_t count;
    uint32_t *by_record; /* owned: indices in list with a record, by record, then wait */
    size_t record_count;
};
/* Reads the capture again; an empty set where it has no such table, or is gone. 0 or -1. */
int relate_syncs_load(const struct facts *facts, struct relate_syncs *out, struct err *err);
void relate_syncs_free(struct relate_syncs *syncs);
/* What a call waits for; NULL where it waits for nothing that is known. O(log n). */
const struct relate_sync *relate_sync_of(const struct relate_syncs *syncs, uint32_t api);
/* The waits for what a call recorded: *count indices in list. O(log n). */
const uint32_t *relate_waits_of(const struct relate_syncs *syncs, uint32_t api, uint32_t *count);

#endif
