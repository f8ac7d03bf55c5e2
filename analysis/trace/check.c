/*
 * check: is a model what trace.h promises of one? Everything that reads a model trusts those promises
 * (an index is in range, a lane is sorted), so that one which comes from outside, a mapped file, is
 * looked through before it is used. Each step relies on those before it. O(n), no memory.
 */
#include "analysis/base/times.h"
#include "analysis/trace/trace_internal.h"

enum {
    CHECK_ROWS_MAX_BITS = 40, /* more rows than any file holds: sums of counts fit */
    CHECK_SOURCES = 4 /* tables of the file that go into one of the trace, at most */
};

/* The kinds of names that may lie in a lane, and its table. */
struct lane_rule {
    enum trace_table table;
    uint32_t kinds; /* bits of 1 << enum trace_kind */
};

static const struct lane_rule LANE_RULES[TRACE_LANE_KIND_COUNT] = {
    [TRACE_LANE_STREAM] = {TRACE_GPU, 1U << TRACE_KERNEL | 1U << TRACE_MEMCPY | 1U << TRACE_MEMSET |
                                          1U << TRACE_GRAPH},
    [TRACE_LANE_MIGRATION] = {TRACE_GPU, 1U << TRACE_MIGRATION},
    [TRACE_LANE_API] = {TRACE_API, 1U << TRACE_API_CALL},
    [TRACE_LANE_NVTX_PUSHPOP] = {TRACE_NVTX, 1U << TRACE_NVTX_PUSHPOP},
    [TRACE_LANE_NVTX_STARTEND] = {TRACE_NVTX, 1U << TRACE_NVTX_STARTEND},
    [TRACE_LANE_NVTX_MARK] = {TRACE_NVTX, 1U << TRACE_NVTX_MARK},
    [TRACE_LANE_OSRT] = {TRACE_OSRT, 1U << TRACE_OSRT_CALL},
    [TRACE_LANE_OVERHEAD] = {TRACE_OVERHEAD,
                             1U << TRACE_OVERHEAD_PROFILER | 1U << TRACE_OVERHEAD_CUDA},
};

static bool is_count(int64_t value)
{
    return value >= 0 && value <= INT64_C(1) << CHECK_ROWS_MAX_BITS;
}

static bool is_time(int64_t ns)
{
    return times_fit_at(ns);
}

static bool check_counts(const struct trace *trace)
{
    const struct trace_counts *all = &trace->counts;
    const int64_t counts[] = {
        all->kernels,     all->memcpys,     all->memsets,    all->graph_launches, all->api_calls,
        all->nvtx_ranges, all->nvtx_marks,  all->osrt_calls, all->untimed,        all->statuses,
        all->reversed,    all->open_ranges, all->unlinked,   all->misplaced,      all->early};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (!is_count(counts[i])) {
            return false;
        }
    }
    for (int64_t i = 0; i < TRACE_LEFT_OUT && i < all->misplaced; i++) {
        if (all->left_out[i].source >= RAW_SOURCE_COUNT) {
            return false;
        }
    }
    for (uint32_t p = 0; p < trace->process_count; p++) {
        const struct trace_process *process = &trace->processes[p];
        if (!is_count(process->api_calls) || !is_count(process->kernels) ||
            !is_count(process->memcpys) || !is_count(process->memsets) ||
            !is_count(process->graph_launches) || !is_count(process->nvtx_ranges) ||
            !is_count(process->nvtx_marks) || !is_count(process->osrt_calls)) {
            return false;
        }
    }
    return is_time(trace->begin_ns) && is_time(trace->end_ns) && is_time(trace->nvtx_end_ns);
}

static bool check_names(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->name_count; i++) {
        const struct trace_name *name = &trace->names[i];
        bool nvtx = name->kind == TRACE_NVTX_PUSHPOP || name->kind == TRACE_NVTX_STARTEND ||
                    name->kind == TRACE_NVTX_MARK;
        if (name->kind >= TRACE_KIND_COUNT || nvtx != (name->domain != NULL) ||
            (!nvtx && name->domain_len != 0)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        if (trace->threads[i].process >= trace->process_count) {
            return false;
        }
    }
    return true;
}

/* The order of lanes: < 0, 0 or > 0. */
static int compare_lanes(const struct trace_lane *a, const struct trace_lane *b)
{
    bool gpu = a->table == TRACE_GPU;
    if (gpu != (b->table == TRACE_GPU)) {
        return gpu ? -1 : 1;
    }
    const int64_t keys[][2] = {
        {gpu ? a->device : 0, gpu ? b->device : 0},
        {a->process, b->process},
        {gpu ? 0 : a->thread, gpu ? 0 : b->thread},
        {a->kind, b->kind},
        {a->device_id, b->device_id},
        {a->context_id, b->context_id},
        {a->stream_id, b->stream_id},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/* One lane by itself: what it names is there. */
static bool check_lane(const struct trace *trace, const struct trace_lane *lane)
{
    if (lane->kind >= TRACE_LANE_KIND_COUNT || lane->table != LANE_RULES[lane->kind].table ||
        lane->count == 0 || lane->process >= trace->process_count) {
        return false;
    }
    if (lane->table == TRACE_GPU) {
        return lane->device < trace->device_count && lane->thread == TRACE_NONE;
    }
    return lane->device == TRACE_NONE && lane->thread < trace->thread_count &&
           trace->threads[lane->thread].process == lane->process;
}

/* Lanes are in order, and those of a table cover it; the depths of a track count up from 0. */
static bool check_lanes(const struct trace *trace)
{
    uint32_t next[TRACE_TABLE_COUNT] = {0};
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (!check_lane(trace, lane)) {
            return false;
        }
        int order = l == 0 ? -1 : compare_lanes(&trace->lanes[l - 1], lane);
        uint32_t depth = order == 0 ? trace->lanes[l - 1].depth + 1 : 0;
        if (order > 0 || lane->depth != depth || lane->first != next[lane->table] ||
            lane->count > trace->events[lane->table].count - lane->first) {
            return false;
        }
        next[lane->table] += lane->count;
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        if (next[t] != trace->events[t].count) {
            return false;
        }
    }
    return true;
}

/* The events of a lane: their names are of its kind, they follow each other without overlap. */
static bool check_events(const struct trace *trace, const struct trace_lane *lane)
{
    const struct trace_events *events = &trace->events[lane->table];
    uint32_t kinds = LANE_RULES[lane->kind].kinds;
    int64_t before_ns = -TIMES_MAX_NS;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint32_t name = events->name[i];
        if (name >= trace->name_count || (kinds >> trace->names[name].kind & 1U) == 0 ||
            events->begin_ns[i] < before_ns || events->end_ns[i] < events->begin_ns[i]) {
            return false;
        }
        before_ns = events->end_ns[i];
    }
    return before_ns <= TIMES_MAX_NS;
}

/* Can the durations of a table be summed? Each source of it was admitted by itself. */
static bool check_durations(const struct trace_events *events)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        sum = i64_add(sum, events->end_ns[i] - events->begin_ns[i]);
    }
    return sum <= CHECK_SOURCES * TIMES_SUM_MAX_NS;
}

static bool check_tables(const struct trace *trace)
{
    int64_t begin_ns = trace->lane_count > 0 ? INT64_MAX : 0;
    int64_t end_ns = trace->lane_count > 0 ? INT64_MIN : 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        const struct trace_events *events = &trace->events[lane->table];
        if (!check_events(trace, lane)) {
            return false;
        }
        int64_t first_ns = events->begin_ns[lane->first];
        int64_t last_ns = events->end_ns[lane->first + lane->count - 1];
        begin_ns = first_ns < begin_ns ? first_ns : begin_ns;
        end_ns = last_ns > end_ns ? last_ns : end_ns;
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        if (!check_durations(&trace->events[t])) {
            return false;
        }
    }
    return trace->begin_ns == begin_ns && trace->end_ns == end_ns &&
           end_ns - begin_ns <= TIMES_SPAN_MAX_NS;
}

/* Links: the ops of a call are neighbours in launch_ops, by begin, and name the call. */
static bool check_links(const struct trace *trace)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t before = TRACE_NONE; /* the call, and the op, of the entry before */
    uint32_t before_op = 0;
    uint32_t calls = 0;
    uint32_t linked_ops = 0;
    uint32_t linked_calls = 0;
    for (uint32_t k = 0; k < trace->launch_op_count; k++) {
        uint32_t op = trace->launch_ops[k];
        uint32_t call = op < gpu->count ? gpu->link[op] : TRACE_NONE;
        if (call >= api->count) {
            return false;
        }
        if (call != before) {
            if ((before != TRACE_NONE && call < before) || api->link[call] != k) {
                return false;
            }
            calls++;
        } else if (op == before_op || gpu->begin_ns[op] < gpu->begin_ns[before_op]) {
            return false;
        }
        before = call;
        before_op = op;
    }
    for (uint32_t i = 0; i < gpu->count; i++) {
        linked_ops += gpu->link[i] != TRACE_NONE;
    }
    for (uint32_t i = 0; i < api->count; i++) {
        linked_calls += api->link[i] != TRACE_NONE;
    }
    return linked_ops == trace->launch_op_count && linked_calls == calls;
}

/* An ascending list of NVTX events. */
static bool check_list(const struct trace *trace, const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] >= trace->events[TRACE_NVTX].count || (i > 0 && list[i] <= list[i - 1])) {
            return false;
        }
    }
    return true;
}

/* The running sums of the GPU table. */
static bool check_sums(const struct trace *trace)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (trace->gpu_busy_ns[i] != (int64_t)sum) {
            return false;
        }
        sum += (uint64_t)(gpu->end_ns[i] - gpu->begin_ns[i]);
    }
    return trace->gpu_busy_ns[gpu->count] == (int64_t)sum;
}

/* The union of a device's ops: ascending, apart, with its running sum. */
static bool check_union(const struct trace_device *device)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < device->busy_count; i++) {
        int64_t begin_ns = device->busy_begin_ns[i];
        int64_t end_ns = device->busy_end_ns[i];
        if (!is_time(begin_ns) || !is_time(end_ns) || end_ns < begin_ns ||
            (i > 0 && begin_ns <= device->busy_end_ns[i - 1]) || device->busy_sum_ns[i] != sum) {
            return false;
        }
        sum += end_ns - begin_ns;
    }
    return device->busy_sum_ns[device->busy_count] == sum;
}

/* The lanes of the devices are the GPU lanes, each device's in one piece. */
static bool check_devices(const struct trace *trace)
{
    uint32_t next = 0;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        uint32_t first = next;
        while (next < trace->lane_count && trace->lanes[next].device == d) {
            next++;
        }
        if (device->lane_count != next - first ||
            device->first_lane != (next > first ? first : 0) || !check_union(device)) {
            return false;
        }
    }
    return next == trace->lane_count || trace->lanes[next].table != TRACE_GPU;
}

const char *trace_frame_broken(const struct trace *trace)
{
    if (!check_counts(trace)) {
        return "counts";
    }
    if (!check_names(trace)) {
        return "names";
    }
    return check_lanes(trace) ? NULL : "lanes";
}

const char *trace_broken(const struct trace *trace)
{
    const struct trace_own *own = trace_own(trace);
    const char *broken = trace_frame_broken(trace);
    if (broken != NULL) {
        return broken;
    }
    if (!check_tables(trace)) {
        return "events";
    }
    if (!check_links(trace)) {
        return "links";
    }
    if (!check_list(trace, own->open, own->open_count) ||
        !check_list(trace, own->cross, own->cross_count)) {
        return "ranges";
    }
    if (!check_sums(trace)) {
        return "sums";
    }
    return check_devices(trace) ? NULL : "devices";
}
