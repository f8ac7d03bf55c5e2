/*
 * rows_make: the rows of a device and of a process.
 *
 * A lane of depth 0 heads its row group: the deeper lanes of the same stream or thread are rows
 * below it, so that folding it leaves the outermost events in sight.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "viewer/rows/rows_internal.h"

enum {
    ROWS_DEPTHS_OPEN = 6 /* deeper nests begin collapsed */
};

/* A lane to be placed: its busy time decides the order. */
struct rows_pick {
    uint32_t lane;
    int64_t busy_ns;
};

static int rows_by_busy(const void *a, const void *b)
{
    const struct rows_pick *x = a;
    const struct rows_pick *y = b;
    if (x->busy_ns != y->busy_ns) {
        return COMPARE(y->busy_ns, x->busy_ns);
    }
    return COMPARE(x->lane, y->lane);
}

static int64_t rows_busy_ns(const struct trace *trace, const struct trace_lane *lane)
{
    return trace->gpu_busy_ns[lane->first + lane->count] - trace->gpu_busy_ns[lane->first];
}

/* Is another stream of the device called the same, in another process or context? */
static bool rows_ambiguous(const struct trace *trace, const struct trace_lane *lane)
{
    const struct trace_device *gpu = &trace->devices[lane->device];
    for (uint32_t i = gpu->first_lane; i < gpu->first_lane + gpu->lane_count; i++) {
        const struct trace_lane *other = &trace->lanes[i];
        if (other->kind == lane->kind && other->stream_id == lane->stream_id &&
            (other->process != lane->process || other->context_id != lane->context_id)) {
            return true;
        }
    }
    return false;
}

static const char *rows_stream_label(struct rows *rows, const struct trace_lane *lane)
{
    long long pid = (long long)rows->trace->processes[lane->process].pid;
    if (lane->kind == TRACE_LANE_MIGRATION) {
        return rows_text(rows, "migration");
    }
    if (rows_ambiguous(rows->trace, lane)) {
        return rows_text(rows, "stream %lld (%lld)", (long long)lane->stream_id, pid);
    }
    return rows_text(rows, "stream %lld", (long long)lane->stream_id);
}

/* A lane of the trace and the deeper ones that follow it as rows. first = its lane number. */
static void rows_add_lanes(struct rows *rows, uint32_t first, uint32_t up, const char *label)
{
    const struct trace *trace = rows->trace;
    const struct trace_lane *head = &trace->lanes[first];
    uint32_t head_row = rows->count;
    for (uint32_t lane = first; lane < trace->lane_count; lane++) {
        const struct trace_lane *from = &trace->lanes[lane];
        if (lane > first && (from->depth == 0 || from->kind != head->kind)) {
            break;
        }
        struct row *row = rows_add(rows, ROW_LANE, lane == first ? up : head_row);
        if (row == NULL) {
            return;
        }
        row->process = from->process;
        row->thread = from->thread;
        row->lane = lane_of_trace(trace, from);
        row->label = lane == first ? label : rows_text(rows, "+%u", (unsigned)from->depth);
        rows->list[head_row].collapsed = from->depth > ROWS_DEPTHS_OPEN;
    }
}

/* The lanes of a derived set below `up`. */
static void rows_add_derived(struct rows *rows, const struct derive *set, uint32_t up,
                             const char *label, bool folded)
{
    uint32_t head_row = rows->count;
    for (uint32_t i = 0; i < set->lane_count; i++) {
        struct row *row = rows_add(rows, ROW_LANE, i == 0 ? up : head_row);
        if (row == NULL) {
            return;
        }
        row->lane = derive_lane(set, i);
        row->label = i == 0 ? label : rows_text(rows, "+%u", (unsigned)i);
    }
    if (set->lane_count > 0 && (folded || set->lane_count > ROWS_DEPTHS_OPEN)) {
        rows->list[head_row].collapsed = true;
    }
}

/* Streams of a device by busy time; returns how many, in list (which has room). */
static uint32_t rows_rank_streams(const struct trace *trace, uint32_t device,
                                  struct rows_pick *list)
{
    const struct trace_device *gpu = &trace->devices[device];
    uint32_t count = 0;
    for (uint32_t i = 0; i < gpu->lane_count; i++) {
        const struct trace_lane *lane = &trace->lanes[gpu->first_lane + i];
        if (lane->depth == 0 || i == 0) {
            list[count++].lane = gpu->first_lane + i;
        }
        list[count - 1].busy_ns += rows_busy_ns(trace, lane);
    }
    sort_list(list, count, sizeof *list, rows_by_busy);
    return count;
}

/* Stream lanes of a device: the busiest first; when there are many, the rest is packed. */
static int rows_add_streams(struct rows *rows, uint32_t device, uint32_t up, struct err *err)
{
    uint32_t pack_above = rows->pack_above;
    const struct trace *trace = rows->trace;
    uint32_t end = trace->devices[device].first_lane + trace->devices[device].lane_count;
    uint32_t room = trace->devices[device].lane_count + 1;
    struct rows_pick *streams = calloc(room, sizeof *streams);
    uint32_t *packed = calloc(room, sizeof *packed);
    struct derive *set = rows_new_derived(rows);
    uint32_t packed_count = 0;
    int rc = 0;
    if (streams == NULL || packed == NULL || set == NULL) {
        free(streams);
        free(packed);
        return err_nomem(err, "the rows");
    }
    uint32_t count = rows_rank_streams(trace, device, streams);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = streams[i].lane;
        if (count <= pack_above || i + 1 < pack_above) {
            rows_add_lanes(rows, lane, up, rows_stream_label(rows, &trace->lanes[lane]));
            continue;
        }
        do {
            packed[packed_count++] = lane++;
        } while (lane < end && trace->lanes[lane].depth > 0);
    }
    if (packed_count > 0) {
        rc = rows_take_set(rows, set) ? 0 : derive_packed(trace, packed, packed_count, set, err);
        rows_add_derived(rows, set, up,
                         rows_text(rows, "%u streams", (unsigned)(count - pack_above + 1)), false);
    }
    free(streams);
    free(packed);
    return rc;
}

/* Values over time: how many ops wait on the device, its memory in use, its metrics. */
static int rows_add_series(struct rows *rows, uint32_t device, uint32_t up, struct err *err)
{
    struct series *queue = rows_new_series(rows);
    struct row *row;
    if (queue == NULL) {
        return err_nomem(err, "the rows");
    }
    if (!rows_take_series(rows, queue) && series_queue(rows->trace, device, queue, err) != 0) {
        return -1;
    }
    if (queue->count > 0 && queue->max > 0) {
        row = rows_add(rows, ROW_SERIES, up);
        if (row != NULL) {
            row->label = "queued";
            row->series = queue;
        }
    }
    uint32_t at = 0;
    const struct series *recorded = rows->recorded.list;
    BISECT(uint32_t, at, (uint32_t)rows->recorded.count, mid,
           recorded[rows->by_device[mid]].device < device)
    for (; at < rows->recorded.count && recorded[rows->by_device[at]].device == device; at++) {
        const struct series *series = &recorded[rows->by_device[at]];
        row = rows_add(rows, ROW_SERIES, up);
        if (row != NULL) {
            row->label = rows_text(rows, "%s", series->label);
            row->series = series;
        }
    }
    return 0;
}

/* The ranges of a thread that are projected on a device. */
static int rows_project(struct rows *rows, const struct rows_place *place, struct derive *set,
                        struct err *err)
{
    if (rows_take_set(rows, set)) {
        return 0;
    }
    if (rows->projection == NULL) {
        rows->projection = projection_new(rows->trace, err);
    }
    return rows->projection == NULL
               ? -1
               : derive_projected(rows->projection, place->device, place->thread, set, err);
}

/* Ranges on the device, by the thread that launched the work. */
static int rows_add_projected(struct rows *rows, uint32_t device, uint32_t up, struct err *err)
{
    uint32_t at = 0;
    BISECT(uint32_t, at, rows->place_count, mid, rows->places[mid].device < device)
    for (; at < rows->place_count && rows->places[at].device == device; at++) {
        const struct trace_thread *thread = &rows->trace->threads[rows->places[at].thread];
        struct derive *set = rows_new_derived(rows);
        if (set == NULL || rows_project(rows, &rows->places[at], set, err) != 0) {
            return err_nomem(err, "the rows");
        }
        rows_add_derived(rows, set, up,
                         thread->name_len > 0
                             ? rows_text(rows, "NVTX %.*s",
                                         (int)(thread->name_len < 80 ? thread->name_len : 80),
                                         thread->name)
                             : rows_text(rows, "NVTX %lld", (long long)thread->tid),
                         true);
    }
    return 0;
}

/* "GPU 0 H100 80GB HBM3": the maker goes without saying. */
static const char *rows_device_label(struct rows *rows, const struct trace_device *gpu)
{
    static const char maker[] = "NVIDIA ";
    const char *name = gpu->name;
    int len = (int)(gpu->name_len < 80 ? gpu->name_len : 80);
    if (strncmp(name, maker, sizeof maker - 1) == 0) {
        name += sizeof maker - 1;
        len -= (int)sizeof maker - 1;
    }
    return rows_text(rows, "GPU %lld %.*s", (long long)gpu->id, len, name);
}

int rows_add_device(struct rows *rows, uint32_t device, struct err *err)
{
    struct row *row = rows_add(rows, ROW_DEVICE, TRACE_NONE);
    struct derive *copies = rows_new_derived(rows);
    bool taken = copies != NULL && rows_take_set(rows, copies);
    uint32_t up = rows->count - 1;
    if (row == NULL || copies == NULL) {
        return err_nomem(err, "the rows");
    }
    row->device = device;
    row->label = rows_device_label(rows, &rows->trace->devices[device]);
    if (rows_add_streams(rows, device, up, err) != 0 ||
        (!taken && derive_copies(rows->trace, device, copies, err) != 0)) {
        return -1;
    }
    rows_add_derived(rows, copies, up, "mem ops", false);
    if (rows_add_projected(rows, device, up, err) != 0) {
        return -1;
    }
    if (device + 1 == rows->trace->device_count) {
        projection_free(rows->projection); /* its memory is needed for what follows */
        rows->projection = NULL;
    }
    trace_rest(rows->trace);
    return rows_add_series(rows, device, up, err);
}

/* The label of the first lane of a kind of a thread. */
static const char *rows_thread_label(struct rows *rows, const struct trace_lane *lane)
{
    static const char *const kinds[TRACE_LANE_KIND_COUNT] = {
        "stream", "migration", "API", "NVTX", "NVTX s/e", "marks", "OSRT", "overhead"};
    const struct trace_thread *thread = &rows->trace->threads[lane->thread];
    if (lane->kind != TRACE_LANE_API && lane->kind != TRACE_LANE_OSRT &&
        lane->kind != TRACE_LANE_NVTX_PUSHPOP) {
        return kinds[lane->kind];
    }
    if (thread->name_len > 0) {
        return rows_text(rows, "%s %.*s", kinds[lane->kind],
                         (int)(thread->name_len < 80 ? thread->name_len : 80), thread->name);
    }
    return rows_text(rows, "%s %lld", kinds[lane->kind], (long long)thread->tid);
}

static bool rows_is_quiet(const struct trace_lane *lane)
{
    return lane->kind == TRACE_LANE_OSRT || lane->kind == TRACE_LANE_OVERHEAD;
}

/* The rows of one thread: all kinds but those that begin folded away. */
static void rows_add_thread(struct rows *rows, uint32_t thread, uint32_t up, bool quiet)
{
    const struct trace *trace = rows->trace;
    struct trace_slice lanes = trace_thread_lanes(trace, thread);
    for (uint32_t lane = lanes.first; lane < lanes.end; lane++) {
        const struct trace_lane *from = &trace->lanes[lane];
        if (from->depth == 0 && rows_is_quiet(from) == quiet) {
            rows_add_lanes(rows, lane, up, rows_thread_label(rows, from));
        }
    }
}

/* Threads of a process, the main one first, then those with most API calls. Returns how many; picks
 * has room. */
static uint32_t rows_threads(const struct trace *trace, uint32_t process, bool quiet,
                             struct rows_pick *picks)
{
    uint32_t count = 0;
    struct trace_slice threads = trace_process_threads(trace, process);
    for (uint32_t thread = threads.first; thread < threads.end; thread++) {
        struct rows_pick pick = {.lane = thread, .busy_ns = -1};
        struct trace_slice lanes = trace_thread_lanes(trace, thread);
        for (uint32_t lane = lanes.first; lane < lanes.end; lane++) {
            const struct trace_lane *from = &trace->lanes[lane];
            if (rows_is_quiet(from) == quiet) {
                pick.busy_ns += from->kind == TRACE_LANE_API || quiet ? from->count + 1 : 1;
            }
        }
        if (pick.busy_ns >= 0) {
            /* The main thread comes first: it is the one that people know. */
            pick.busy_ns +=
                trace->threads[thread].tid == trace->processes[process].pid ? INT64_MAX / 2 : 0;
            picks[count++] = pick;
        }
    }
    sort_list(picks, count, sizeof *picks, rows_by_busy);
    return count;
}

/* One folded row over all OS runtime and overhead lanes. */
static void rows_add_quiet(struct rows *rows, uint32_t process, uint32_t up,
                           struct rows_pick *picks)
{
    uint32_t count = rows_threads(rows->trace, process, true, picks);
    char calls[TIMEFMT_BYTES];
    uint32_t group = rows->count;
    if (count == 0) {
        return;
    }
    struct row *row = rows_add(rows, ROW_GROUP, up);
    if (row == NULL) {
        return;
    }
    row->collapsed = true;
    row->label = "OS runtime";
    if (rows->trace->processes[process].osrt_calls > 0) {
        row->note = rows_text(rows, "%s OS calls in %u thread%s, folded: Space opens",
                              timefmt_count(rows->trace->processes[process].osrt_calls, calls),
                              (unsigned)count, count == 1 ? "" : "s");
    } else {
        row->label = "overhead";
        row->note = "what recording cost, folded: Space opens";
    }
    for (uint32_t i = 0; i < count; i++) {
        rows_add_thread(rows, picks[i].lane, group, true);
    }
}

/* "python3.10 (4242)": the program without its folder. */
static const char *rows_process_label(struct rows *rows, const struct trace_process *from)
{
    const char *name = from->name;
    uint32_t len = from->name_len;
    for (uint32_t i = 0; i < from->name_len; i++) {
        if (from->name[i] == '/' && i + 1 < from->name_len) {
            name = from->name + i + 1;
            len = from->name_len - i - 1;
        }
    }
    if (len == 0) {
        return rows_text(rows, "process %lld", (long long)from->pid);
    }
    return rows_text(rows, "%.*s (%lld)", (int)(len < 80 ? len : 80), name, (long long)from->pid);
}

int rows_add_process(struct rows *rows, uint32_t process, uint32_t up_row, struct err *err)
{
    const struct trace *trace = rows->trace;
    const struct trace_process *from = &trace->processes[process];
    struct trace_slice threads = trace_process_threads(trace, process);
    struct rows_pick *picks = calloc((size_t)(threads.end - threads.first) + 1, sizeof *picks);
    struct row *row = rows_add(rows, ROW_PROCESS, up_row);
    struct series *launches = rows_new_series(rows);
    char calls[TIMEFMT_BYTES];
    char kernels[TIMEFMT_BYTES];
    uint32_t up = rows->count - 1;
    if (picks == NULL || row == NULL || launches == NULL ||
        (!rows_take_series(rows, launches) &&
         series_launches(trace, process, TRACE_NONE, launches, err) != 0)) {
        free(picks);
        return err_nomem(err, "the rows");
    }
    row->process = process;
    row->label = rows_process_label(rows, from);
    uint32_t count = rows_threads(trace, process, false, picks);
    row->note = rows_text(
        rows, "%s API calls, %s kernels, %u thread%s", timefmt_count(from->api_calls, calls),
        timefmt_count(from->kernels, kernels), (unsigned)count, count == 1 ? "" : "s");
    row->collapsed = count == 0;
    row = launches->count > 0 ? rows_add(rows, ROW_SERIES, up) : NULL;
    if (row != NULL) {
        row->label = "launch/ms";
        row->series = launches;
    }
    for (uint32_t i = 0; i < count; i++) {
        rows_add_thread(rows, picks[i].lane, up, false);
    }
    rows_add_quiet(rows, process, up, picks);
    free(picks);
    return 0;
}

void rows_find_idle(const struct trace *trace, bool *idle)
{
    for (uint32_t p = 0; p < trace->process_count; p++) {
        idle[p] = true;
    }
    for (uint32_t lane = 0; lane < trace->lane_count; lane++) {
        if (!rows_is_quiet(&trace->lanes[lane])) {
            idle[trace->lanes[lane].process] = false;
        }
    }
}
