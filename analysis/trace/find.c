/* find: processes, threads and devices by their ids, and what belongs to them. All are sorted: see
 * trace.h. */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/trace/processes.h"

int process_order(const void *a, const void *b)
{
    const struct trace_process *x = a;
    const struct trace_process *y = b;
    if (x->pid != y->pid) {
        return COMPARE(x->pid, y->pid);
    }
    return COMPARE(x->global_pid, y->global_pid);
}

int thread_order(const void *a, const void *b)
{
    const struct trace_thread *x = a;
    const struct trace_thread *y = b;
    if (x->process != y->process) {
        return COMPARE(x->process, y->process);
    }
    if (x->tid != y->tid) {
        return COMPARE(x->tid, y->tid);
    }
    return COMPARE(x->global_tid, y->global_tid);
}

int device_order(const void *a, const void *b)
{
    const struct trace_device *x = a;
    const struct trace_device *y = b;
    return COMPARE(x->id, y->id);
}

uint32_t trace_process_of(const struct trace *trace, int64_t global_pid)
{
    struct trace_process key = {.global_pid = global_pid, .pid = store_pid(global_pid)};
    const struct trace_process *found = NULL;
    if (trace->process_count > 0) {
        found = bsearch(&key, trace->processes, trace->process_count, sizeof key, process_order);
    }
    return found == NULL ? TRACE_NONE : (uint32_t)(found - trace->processes);
}

uint32_t trace_thread_of(const struct trace *trace, int64_t global_tid)
{
    struct trace_thread key = {.global_tid = global_tid, .tid = store_tid(global_tid)};
    const struct trace_thread *found = NULL;
    key.process = trace_process_of(trace, store_global_pid(global_tid));
    if (trace->thread_count > 0) {
        found = bsearch(&key, trace->threads, trace->thread_count, sizeof key, thread_order);
    }
    return found == NULL ? TRACE_NONE : (uint32_t)(found - trace->threads);
}

uint32_t trace_device_of(const struct trace *trace, int64_t id)
{
    struct trace_device key = {.id = id};
    const struct trace_device *found = NULL;
    if (trace->device_count > 0) {
        found = bsearch(&key, trace->devices, trace->device_count, sizeof key, device_order);
    }
    return found == NULL ? TRACE_NONE : (uint32_t)(found - trace->devices);
}

/* Does a lane lie before those of a process (and, of that, of a thread)? GPU lanes come first. */
static bool lane_before(const struct trace_lane *lane, uint32_t process, uint32_t thread)
{
    if (lane->table == TRACE_GPU || lane->process != process) {
        return lane->table == TRACE_GPU || lane->process < process;
    }
    return lane->thread < thread;
}

static uint32_t lane_first(const struct trace *trace, uint32_t process, uint32_t thread)
{
    uint32_t at = 0;
    BISECT(uint32_t, at, trace->lane_count, mid, lane_before(&trace->lanes[mid], process, thread))
    return at;
}

struct trace_slice trace_process_lanes(const struct trace *trace, uint32_t process)
{
    return (struct trace_slice){lane_first(trace, process, 0), lane_first(trace, process + 1, 0)};
}

struct trace_slice trace_thread_lanes(const struct trace *trace, uint32_t thread)
{
    uint32_t process = trace->threads[thread].process;
    return (struct trace_slice){lane_first(trace, process, thread),
                                lane_first(trace, process, thread + 1)};
}

struct trace_slice trace_process_threads(const struct trace *trace, uint32_t process)
{
    struct trace_slice slice = {0, 0};
    BISECT(uint32_t, slice.first, trace->thread_count, mid, trace->threads[mid].process < process)
    slice.end = slice.first;
    BISECT(uint32_t, slice.end, trace->thread_count, mid, trace->threads[mid].process <= process)
    return slice;
}
