/* processes: processes, threads and devices of a capture, from the tracks of all pieces. Their names
 * are in process_names.c. Cost: O(t log t) for t distinct tracks. */
#include "analysis/trace/processes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

static bool is_gpu(uint32_t kind)
{
    return kind == TRACE_LANE_STREAM || kind == TRACE_LANE_MIGRATION;
}

/* The process id that a raw track names, with the lone process in place of a missing one. */
static int64_t track_global_pid(const struct load *load, const struct raw_track *raw)
{
    int64_t pid = is_gpu(raw->kind) ? raw->global_id : store_global_pid(raw->global_id);
    return pid == 0 && is_gpu(raw->kind) ? load->lone_pid : pid;
}

/* The GPU that a process means by its device number. */
static int64_t device_id(const struct load *load, int64_t global_pid, int64_t device)
{
    struct device_pair pair = {store_pid(global_pid), device};
    uint32_t index = intern_find(&load->device_map, (const char *)&pair, sizeof pair);
    return index == INTERN_NONE ? device : load->gpu_ids[index];
}

struct track people_track(const struct load *load, const struct raw_track *raw)
{
    int64_t global_pid = track_global_pid(load, raw);
    struct track track = {
        .device = TRACE_NONE,
        .process = trace_process_of(load->trace, global_pid),
        .thread = TRACE_NONE,
        .kind = raw->kind,
        .device_id = raw->device_id,
        .context_id = raw->context_id,
        .stream_id = raw->stream_id,
    };
    if (is_gpu(raw->kind)) {
        track.device = trace_device_of(load->trace, device_id(load, global_pid, raw->device_id));
    } else {
        track.thread = trace_thread_of(load->trace, raw->global_id);
    }
    return track;
}

/* Calls each for every (piece, track). -1 as soon as it fails. */
static int each_track(struct load *load,
                      int (*each)(struct load *load, const struct piece *piece, uint32_t track,
                                  struct err *err),
                      struct err *err)
{
    for (uint32_t p = 0; p < load->piece_count; p++) {
        for (uint32_t t = 0; t < load->pieces[p].tracks.count; t++) {
            if (each(load, &load->pieces[p], t, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

const struct raw_track *people_raw_track(const struct piece *piece, uint32_t track)
{
    /* Keys are copied by the intern table to addresses aligned for any type. */
    return (const void *)intern_text(&piece->tracks, track);
}

/* The process of GPU rows without one: the only process that the threads' rows name. */
static int find_lone(struct load *load, const struct piece *piece, uint32_t track, struct err *err)
{
    const struct raw_track *raw = people_raw_track(piece, track);
    int64_t pid = store_global_pid(raw->global_id);
    (void)err;
    if (pid != 0) {
        if (load->lone_pid == 0) {
            load->lone_pid = pid;
        } else if (load->lone_pid != pid) {
            load->lone_pid = -1;
        }
    }
    return 0;
}

/* Adds a zeroed element to an array of the trace that grows at powers of two. */
static void *grow(void *array, uint32_t count, size_t bytes)
{
    size_t cap = 16;
    if (count > 0 && (count < 16 || (count & (count - 1)) != 0)) {
        return array;
    }
    while (cap <= count) {
        cap *= 2;
    }
    return array_resize(array, cap, bytes);
}

static int add_process(struct load *load, const struct piece *piece, uint32_t track,
                       struct err *err)
{
    int64_t global_pid = track_global_pid(load, people_raw_track(piece, track));
    struct trace *trace = load->trace;
    struct trace_process *grown = grow(trace->processes, trace->process_count, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "processes");
    }
    trace->processes = grown;
    grown[trace->process_count++] =
        (struct trace_process){.global_pid = global_pid, .pid = store_pid(global_pid), .name = ""};
    return 0;
}

static int add_thread(struct load *load, const struct piece *piece, uint32_t track, struct err *err)
{
    const struct raw_track *raw = people_raw_track(piece, track);
    struct trace *trace = load->trace;
    if (is_gpu(raw->kind) || piece->uses[track].events == 0) {
        return 0;
    }
    struct trace_thread *grown = grow(trace->threads, trace->thread_count, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "threads");
    }
    trace->threads = grown;
    grown[trace->thread_count++] = (struct trace_thread){
        .global_tid = raw->global_id,
        .tid = store_tid(raw->global_id),
        .name = "",
        .process = trace_process_of(trace, store_global_pid(raw->global_id)),
    };
    return 0;
}

static int add_device(struct load *load, const struct piece *piece, uint32_t track, struct err *err)
{
    const struct raw_track *raw = people_raw_track(piece, track);
    struct trace *trace = load->trace;
    if (!is_gpu(raw->kind) || piece->uses[track].events == 0) {
        return 0;
    }
    struct trace_device *grown = grow(trace->devices, trace->device_count, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "devices");
    }
    trace->devices = grown;
    grown[trace->device_count++] = (struct trace_device){
        .id = device_id(load, track_global_pid(load, raw), raw->device_id), .name = ""};
    return 0;
}

/* Sorts and keeps one of equals. Returns the new count. */
static uint32_t sort_unique(void *array, uint32_t count, size_t bytes,
                            int (*order)(const void *, const void *))
{
    unsigned char *at = array;
    uint32_t kept = 0;
    if (count == 0) {
        return 0;
    }
    sort_list(array, count, bytes, order);
    for (uint32_t i = 1; i < count; i++) {
        if (order(at + kept * bytes, at + i * bytes) != 0) {
            kept++;
            memmove(at + kept * bytes, at + i * bytes, bytes);
        }
    }
    return kept + 1;
}

static int count_rows(struct load *load, const struct piece *piece, uint32_t track, struct err *err)
{
    const struct raw_track *raw = people_raw_track(piece, track);
    uint32_t index = trace_process_of(load->trace, track_global_pid(load, raw));
    struct trace_process *process = &load->trace->processes[index];
    int64_t rows = piece->uses[track].rows;
    bool mark = raw->kind == TRACE_LANE_NVTX_MARK;
    (void)err;
    process->kernels += piece->source == RAW_KERNEL ? rows : 0;
    process->memcpys += piece->source == RAW_MEMCPY ? rows : 0;
    process->memsets += piece->source == RAW_MEMSET ? rows : 0;
    process->graph_launches += piece->source == RAW_GRAPH ? rows : 0;
    process->api_calls += piece->source == RAW_API ? rows : 0;
    process->osrt_calls += piece->source == RAW_OSRT ? rows : 0;
    process->nvtx_ranges += piece->source == RAW_NVTX && !mark ? rows : 0;
    process->nvtx_marks += mark ? rows : 0;
    return 0;
}

static void count_totals(struct load *load)
{
    struct trace_counts *counts = &load->trace->counts;
    for (uint32_t i = 0; i < load->trace->process_count; i++) {
        const struct trace_process *process = &load->trace->processes[i];
        counts->kernels += process->kernels;
        counts->memcpys += process->memcpys;
        counts->memsets += process->memsets;
        counts->graph_launches += process->graph_launches;
        counts->api_calls += process->api_calls;
        counts->nvtx_ranges += process->nvtx_ranges;
        counts->nvtx_marks += process->nvtx_marks;
        counts->osrt_calls += process->osrt_calls;
    }
    for (uint32_t i = 0; i < load->piece_count; i++) {
        counts->untimed += load->pieces[i].untimed;
        counts->statuses += load->pieces[i].statuses;
        counts->reversed += load->pieces[i].reversed;
        counts->open_ranges += load->pieces[i].open_count;
    }
}

int people_collect(struct load *load, struct err *err)
{
    struct trace *trace = load->trace;
    if (people_read_device_map(load, err) != 0 || each_track(load, find_lone, err) != 0) {
        return -1;
    }
    load->lone_pid = load->lone_pid == -1 ? 0 : load->lone_pid;
    if (each_track(load, add_process, err) != 0) {
        return -1;
    }
    trace->process_count = sort_unique(trace->processes, trace->process_count,
                                       sizeof *trace->processes, process_order);
    if (each_track(load, add_thread, err) != 0 || each_track(load, add_device, err) != 0) {
        return -1;
    }
    trace->thread_count =
        sort_unique(trace->threads, trace->thread_count, sizeof *trace->threads, thread_order);
    trace->device_count =
        sort_unique(trace->devices, trace->device_count, sizeof *trace->devices, device_order);
    if (each_track(load, count_rows, err) != 0) {
        return -1;
    }
    count_totals(load);
    return 0;
}
