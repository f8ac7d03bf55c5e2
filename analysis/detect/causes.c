/*
 * causes: the classification. What a thread did in a time is host_time's to say; ranges are looked
 * for in one pass over those of the thread in the gap.
 *
 * Gaps of a device do not overlap, and neither do the ops before them; so all gaps together look at
 * each call and each range of a thread at most twice: O(gaps log n + calls + ranges).
 */
#include "analysis/detect/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"

enum {
    BACK_MAX = 64, /* calls before a launch that are looked at for the one that held it up */
};

static const char *const cause_names[CAUSE_KIND_COUNT] = {
    [CAUSE_UNKNOWN] = "unknown",
    [CAUSE_MIGRATED] = "page migration",
    [CAUSE_WAIT_EVENT] = "launched, waits: for an event",
    [CAUSE_WAIT_PROCESS] = "launched, waits: another process",
    [CAUSE_WAIT_GRAPH] = "launched, waits: graph start",
    [CAUSE_WAIT_START] = "launched, waits: not started",
    [CAUSE_SLOW_LAUNCH] = "slow launch",
    [CAUSE_SYNC] = "synchronising call",
    [CAUSE_COPY] = "blocking copy",
    [CAUSE_ALLOC] = "allocation or free",
    [CAUSE_MODULE] = "module load",
    [CAUSE_OSRT] = "OS call",
    [CAUSE_PROFILER] = "profiler",
    [CAUSE_AFTER_BLOCKING] = "cpu work: after a blocking call",
    [CAUSE_SLOW_HOST] = "cpu work: launching too slowly",
};

const char *cause_name(enum cause_kind kind)
{
    return (unsigned)kind < CAUSE_KIND_COUNT ? cause_names[kind] : "unknown";
}

bool cause_is_wait(enum cause_kind kind)
{
    return kind >= CAUSE_WAIT_EVENT && kind <= CAUSE_WAIT_START;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Time that [a, b) and [c, d) share. */
static int64_t shared(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return max64(min64(b, d) - max64(a, c), 0);
}

struct span {
    int64_t begin_ns;
    int64_t end_ns;
};

uint32_t cause_last_wait(const struct facts *facts, uint32_t thread, int64_t after_ns,
                         int64_t before_ns)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct facts_thread *lanes = &facts->threads[thread];
    uint32_t found = TRACE_NONE;
    for (uint32_t i = lanes->first[TRACE_API]; i < lanes->end[TRACE_API]; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        uint32_t at = trace_lane_lower(trace, lane, before_ns);
        if (at < lane->first + lane->count && api->begin_ns[at] < before_ns) {
            at++;
        }
        while (at > lane->first && api->end_ns[at - 1] > after_ns &&
               !facts_call_waits(facts, at - 1)) {
            at--;
        }
        if (at == lane->first || api->end_ns[at - 1] <= after_ns) {
            continue;
        }
        if (found == TRACE_NONE || api->end_ns[at - 1] > api->end_ns[found]) {
            found = at - 1;
        }
    }
    return found;
}

/* ---- launched, waits ---- */

/* Did work of the event's stream end in [begin, end], so that the wait for it can be the reason?
 * Where that stream is unknown, it may. */
static bool event_fits(const struct facts *facts, const struct facts_wait *wait, int64_t begin_ns,
                       int64_t end_ns)
{
    if (wait->event_stream < 0) {
        return true;
    }
    const struct trace *trace = facts->trace;
    uint32_t l = facts_stream_lane(facts, wait->process, wait->event_context, wait->event_stream);
    if (l == TRACE_NONE) {
        return true;
    }
    const struct trace_lane *lane = &trace->lanes[l];
    uint32_t at = trace_lane_lower(trace, lane, begin_ns - 1); /* ends at begin or later */
    return at < lane->first + lane->count && trace->events[TRACE_GPU].end_ns[at] <= end_ns;
}

/* The wait for an event that X's stream was told after the op before X, where it can be what X
 * waited for. */
static const struct facts_wait *event_wait(const struct facts *facts, uint32_t after,
                                           struct span gap, const struct cause *cause)
{
    const struct trace *trace = facts->trace;
    const struct trace_lane *lane = &trace->lanes[cause->lane];
    const int64_t *call_ns = trace->events[TRACE_API].begin_ns;
    int64_t from = INT64_MIN;
    if (after > lane->first) {
        uint32_t launch = trace->events[TRACE_GPU].link[after - 1];
        if (launch != TRACE_NONE) {
            from = call_ns[launch];
        }
    }
    const struct facts_wait *wait = facts_wait_before(facts, lane, from, call_ns[cause->launch]);
    return wait != NULL && event_fits(facts, wait, gap.begin_ns, gap.end_ns) ? wait : NULL;
}

/* Is the gap a switch between processes that take turns on the device? The one before goes on after it, the
 * one after had begun before it, and they never run at one time. */
static bool takes_turns(const struct facts *facts, const struct gap *gap, struct span whole,
                        uint32_t process)
{
    const struct trace *trace = facts->trace;
    if (gap->before == TRACE_NONE || facts->sharing.count == 0) {
        return false;
    }
    uint32_t before = trace->lanes[trace_lane_of(trace, TRACE_GPU, gap->before)].process;
    const struct sharing_user *one = sharing_user_of(&facts->sharing, gap->device, before);
    const struct sharing_user *other = sharing_user_of(&facts->sharing, gap->device, process);
    return before != process && one != NULL && other != NULL && one->last_ns > whole.end_ns &&
           other->first_ns < whole.begin_ns &&
           !sharing_is_side_by_side(trace, &facts->sharing, gap->device);
}

static void launched_waits(const struct facts *facts, const struct gap *gap, uint32_t after,
                           struct span whole, struct cause *out)
{
    const struct trace *trace = facts->trace;
    uint16_t flags = trace->names[trace->events[TRACE_API].name[out->launch]].api;
    out->wait = event_wait(facts, after, whole, out);
    if (out->wait != NULL) {
        out->kind = CAUSE_WAIT_EVENT;
    } else if (takes_turns(facts, gap, whole, trace->lanes[out->lane].process)) {
        out->kind = CAUSE_WAIT_PROCESS;
    } else {
        out->kind = (flags & TRACE_API_GRAPH) != 0 ? CAUSE_WAIT_GRAPH : CAUSE_WAIT_START;
    }
}

/* ---- slow launch ---- */

/* inside: the part of L in the gap. */
static void slow_launch(const struct facts *facts, struct span inside, struct cause *out)
{
    static const enum host_kind kinds[] = {HOST_OVERHEAD, HOST_MODULE, HOST_PROFILER};
    struct host_time time;
    host_time_of(facts, out->thread, inside.begin_ns, inside.end_ns, &time);
    out->kind = CAUSE_SLOW_LAUNCH;
    out->table = TRACE_API;
    out->evidence = out->launch;
    out->evidence_ns = inside.end_ns - inside.begin_ns;
    out->name_count = 1;
    out->names[0] = (struct host_name){.name = facts->trace->events[TRACE_API].name[out->launch],
                                       .calls = 1,
                                       .ns = out->evidence_ns,
                                       .longest_ns = out->evidence_ns,
                                       .longest = out->launch,
                                       .table = TRACE_API};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct host_cover *cover = &time.covers[kinds[i]];
        if (cover->name_count > 0 && cover->names[0].table == TRACE_OVERHEAD &&
            cover->ns > out->overhead_ns) {
            out->overhead = cover->names[0].longest;
            out->overhead_ns = cover->ns;
        }
    }
}

/* ---- the host was late ---- */

/* The launch before `before_ns` that did not wait, among the last calls of a lane; *wait is the
 * longest call after it that waited for the device and ended after after_ns. */
static uint32_t launch_before(const struct facts *facts, const struct trace_lane *lane,
                              int64_t before_ns, int64_t after_ns, uint32_t *wait)
{
    const struct trace_events *api = &facts->trace->events[TRACE_API];
    uint32_t at = trace_lane_lower(facts->trace, lane, before_ns);
    if (at < lane->first + lane->count && api->begin_ns[at] < before_ns) {
        at++;
    }
    for (int i = 0; i < BACK_MAX && at > lane->first; i++) {
        at--;
        if (facts_call_waits(facts, at)) {
            int64_t ns = api->end_ns[at] - api->begin_ns[at];
            if (api->end_ns[at] > after_ns &&
                (*wait == TRACE_NONE || ns > api->end_ns[*wait] - api->begin_ns[*wait])) {
                *wait = at;
            }
        } else if (api->link[at] != TRACE_NONE) {
            return at;
        }
    }
    return TRACE_NONE;
}

/*
 * The call that held up the thread: the longest of those that waited for the device since the last
 * launch that did not. A copy of one number after a synchronisation waits for nothing of its own,
 * so the last one would be the wrong one.
 */
static uint32_t longest_wait(const struct facts *facts, uint32_t thread, int64_t before_ns,
                             uint32_t last)
{
    const struct trace *trace = facts->trace;
    const struct facts_thread *lanes = &facts->threads[thread];
    uint32_t found = last;
    for (uint32_t i = lanes->first[TRACE_API]; i < lanes->end[TRACE_API]; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        uint32_t wait = TRACE_NONE;
        uint32_t launch = launch_before(facts, lane, before_ns, INT64_MIN, &wait);
        if (launch != TRACE_NONE) { /* again: only what waited for the op of that launch */
            uint32_t count = 0;
            const uint32_t *ops = trace_ops_of(trace, launch, &count);
            wait = TRACE_NONE;
            (void)launch_before(facts, lane, before_ns,
                                count > 0 ? trace->events[TRACE_GPU].begin_ns[ops[0]] : INT64_MIN,
                                &wait);
        }
        const struct trace_events *api = &trace->events[TRACE_API];
        if (wait != TRACE_NONE &&
            api->end_ns[wait] - api->begin_ns[wait] > api->end_ns[found] - api->begin_ns[found]) {
            found = wait;
        }
    }
    return found;
}

static void cpu_work(const struct facts *facts, const struct gap *gap, struct span late,
                     struct cause *out)
{
    const struct trace_events *api = &facts->trace->events[TRACE_API];
    int64_t after = gap->before != TRACE_NONE
                        ? facts->trace->events[TRACE_GPU].begin_ns[gap->before]
                        : late.begin_ns;
    uint32_t wait = cause_last_wait(facts, out->thread, after, late.end_ns);
    if (!facts->has_osrt) {
        out->doubt |= CAUSE_NO_OSRT;
    }
    out->kind = wait != TRACE_NONE ? CAUSE_AFTER_BLOCKING : CAUSE_SLOW_HOST;
    if (wait == TRACE_NONE) {
        return;
    }
    wait = longest_wait(facts, out->thread, late.end_ns, wait);
    out->table = TRACE_API;
    out->evidence = wait;
    out->evidence_ns = shared(api->begin_ns[wait], api->end_ns[wait], late.begin_ns, late.end_ns);
    out->name_count = 1;
    out->names[0] = (struct host_name){.name = api->name[wait],
                                       .calls = 1,
                                       .ns = out->evidence_ns,
                                       .longest_ns = out->evidence_ns,
                                       .longest = wait,
                                       .table = TRACE_API};
}

static const struct {
    enum host_kind host;
    enum cause_kind cause;
} LATE_KINDS[] = {
    {HOST_SYNC, CAUSE_SYNC},     {HOST_COPY, CAUSE_COPY}, {HOST_ALLOC, CAUSE_ALLOC},
    {HOST_MODULE, CAUSE_MODULE}, {HOST_OSRT, CAUSE_OSRT}, {HOST_PROFILER, CAUSE_PROFILER},
};

/* Names the calls of one kind as what shows the cause. */
static void tell_cover(const struct host_cover *cover, struct cause *out)
{
    if (cover->name_count > 0) {
        out->table = cover->names[0].table;
        out->evidence = cover->names[0].longest;
    }
    out->evidence_ns = cover->ns;
    out->name_count = (uint8_t)cover->name_count;
    memcpy(out->names, cover->names, sizeof out->names);
}

static void host_late(const struct facts *facts, const struct gap *gap, struct span late,
                      const struct host_time *time, struct cause *out)
{
    for (size_t i = 0; i < ARRAY_LEN(LATE_KINDS); i++) {
        const struct host_cover *cover = &time->covers[LATE_KINDS[i].host];
        if (cover->ns * 2 < late.end_ns - late.begin_ns || cover->ns == 0) {
            continue;
        }
        out->kind = (uint8_t)LATE_KINDS[i].cause;
        tell_cover(cover, out);
        return;
    }
    cpu_work(facts, gap, late, out);
}

/* ---- NVTX ---- */

/* Is the range b better than a for a time of which they cover a_ns and b_ns? */
static bool range_better(const struct trace_events *nvtx, uint32_t a, int64_t a_ns, uint32_t b,
                         int64_t b_ns, int64_t whole_ns)
{
    bool a_half = a != TRACE_NONE && a_ns * 2 >= whole_ns;
    bool b_half = b_ns * 2 >= whole_ns;
    if (a == TRACE_NONE || a_half != b_half) {
        return a == TRACE_NONE || b_half;
    }
    if (!b_half) {
        return b_ns > a_ns;
    }
    return nvtx->begin_ns[b] > nvtx->begin_ns[a] ||
           (nvtx->begin_ns[b] == nvtx->begin_ns[a] && nvtx->end_ns[b] < nvtx->end_ns[a]);
}

uint32_t gap_range(const struct facts *facts, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                   int64_t *ns)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    uint32_t best = TRACE_NONE;
    *ns = 0;
    if (thread == TRACE_NONE || thread >= trace->thread_count) {
        return TRACE_NONE;
    }
    const struct facts_thread *lanes = &facts->threads[thread];
    for (uint32_t i = lanes->first[TRACE_NVTX]; i < lanes->end[TRACE_NVTX]; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        uint32_t at = lane->kind == TRACE_LANE_NVTX_PUSHPOP
                          ? trace_lane_lower(trace, lane, begin_ns)
                          : lane->first + lane->count;
        for (; at < lane->first + lane->count && nvtx->begin_ns[at] < end_ns; at++) {
            int64_t part_ns = shared(nvtx->begin_ns[at], nvtx->end_ns[at], begin_ns, end_ns);
            if (part_ns > 0 && range_better(nvtx, best, *ns, at, part_ns, end_ns - begin_ns)) {
                best = at;
                *ns = part_ns;
            }
        }
    }
    return best;
}

/* ---- the cause of a gap ---- */

/* The first op of the device that begins at or after t, where nothing runs. O(lanes log n). */
static uint32_t first_op_after(const struct trace *trace, uint32_t device, int64_t t_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *of = &trace->devices[device];
    uint32_t found = TRACE_NONE;
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t at = trace_lane_lower(trace, lane, t_ns);
        if (at < lane->first + lane->count &&
            (found == TRACE_NONE || gpu->begin_ns[at] < gpu->begin_ns[found])) {
            found = at;
        }
    }
    return found;
}

/* What the three parts of the gap are: cut[0] before L, cut[1] in L, cut[2] after it. */
static void cut_at_launch(const struct facts *facts, uint32_t launch, struct span gap,
                          struct span *cut)
{
    const struct trace_events *api = &facts->trace->events[TRACE_API];
    int64_t begin_ns = min64(max64(api->begin_ns[launch], gap.begin_ns), gap.end_ns);
    int64_t end_ns = min64(max64(api->end_ns[launch], gap.begin_ns), gap.end_ns);
    cut[0] = (struct span){gap.begin_ns, begin_ns};
    cut[1] = (struct span){begin_ns, end_ns};
    cut[2] = (struct span){end_ns, gap.end_ns};
}

static int64_t length(struct span span)
{
    return span.end_ns - span.begin_ns;
}

/* The parts of the gap: cut as above, time: what T did before L in it. */
static void split(const struct span *cut, const struct host_time *time, struct cause *out)
{
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        out->part_ns[CAUSE_PART_HOST + i] = time->part_ns[i];
    }
    out->part_ns[CAUSE_PART_CPU] = time->rest_ns;
    out->part_ns[CAUSE_PART_LAUNCH] = length(cut[1]);
    out->part_ns[CAUSE_PART_WAIT] = length(cut[2]);
}

static void decide(const struct facts *facts, const struct gap *gap, uint32_t after,
                   struct span whole, struct cause *out)
{
    struct span cut[3];
    struct host_time time;
    cut_at_launch(facts, out->launch, whole, cut);
    host_time_of(facts, out->thread, cut[0].begin_ns, cut[0].end_ns, &time);
    int64_t host_ns = length(cut[0]);
    int64_t launch_ns = length(cut[1]);
    int64_t wait_ns = length(cut[2]);
    split(cut, &time, out);
    bool launch_half = launch_ns > 0 && launch_ns * 2 >= length(whole);
    bool wait_half = wait_ns * 2 >= length(whole) && !launch_half;
    if (launch_half || (!wait_half && launch_ns > host_ns && launch_ns >= wait_ns)) {
        slow_launch(facts, cut[1], out);
    } else if (wait_half || wait_ns > host_ns) {
        launched_waits(facts, gap, after, whole, out);
    } else {
        host_late(facts, gap, cut[0], &time, out);
    }
}

/* A window cuts the gap: its cause is that of the whole, but what is told is what happened in it. */
static void tell_part(const struct facts *facts, const struct gap *gap, struct cause *out)
{
    struct span cut[3];
    struct host_time time;
    cut_at_launch(facts, out->launch, (struct span){gap->begin_ns, gap->end_ns}, cut);
    host_time_of(facts, out->thread, cut[0].begin_ns, cut[0].end_ns, &time);
    split(cut, &time, out);
    if (out->kind == CAUSE_SLOW_LAUNCH) {
        out->evidence_ns = length(cut[1]);
        out->names[0].ns = length(cut[1]);
    }
    for (size_t i = 0; i < ARRAY_LEN(LATE_KINDS); i++) {
        if (LATE_KINDS[i].cause == (enum cause_kind)out->kind) {
            tell_cover(&time.covers[LATE_KINDS[i].host], out);
        }
    }
}

void cause_of(const struct facts *facts, const struct gap *gap, struct cause *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    *out = (struct cause){.kind = CAUSE_UNKNOWN,
                          .evidence = TRACE_NONE,
                          .launch = TRACE_NONE,
                          .thread = TRACE_NONE,
                          .lane = TRACE_NONE,
                          .nvtx = TRACE_NONE,
                          .overhead = TRACE_NONE};
    struct span whole = {gap->begin_ns, gap->end_ns};
    if (gap->before != TRACE_NONE) {
        whole.begin_ns = min64(whole.begin_ns, gpu->end_ns[gap->before]);
    }
    uint32_t after = gap->after;
    if (after == TRACE_NONE) { /* a window cuts the gap */
        after = first_op_after(trace, gap->device, gap->begin_ns);
    }
    if (after != TRACE_NONE) {
        whole.end_ns = max64(whole.end_ns, gpu->begin_ns[after]);
        out->lane = trace_lane_of(trace, TRACE_GPU, after);
        out->launch = gpu->link[after];
    }
    if (out->launch == TRACE_NONE) {
        bool migration =
            after != TRACE_NONE && trace->names[gpu->name[after]].kind == TRACE_MIGRATION;
        out->kind = migration ? CAUSE_MIGRATED : CAUSE_UNKNOWN;
        out->doubt = migration ? 0 : facts->has_api ? CAUSE_NO_LINK : CAUSE_NO_API;
        out->part_ns[CAUSE_PART_UNKNOWN] = gap->end_ns - gap->begin_ns;
        return;
    }
    out->thread = trace->lanes[trace_lane_of(trace, TRACE_API, out->launch)].thread;
    out->nvtx = gap_range(facts, out->thread, gap->begin_ns, gap->end_ns, &out->nvtx_ns);
    decide(facts, gap, after, whole, out);
    if (gap->begin_ns != whole.begin_ns || gap->end_ns != whole.end_ns) {
        tell_part(facts, gap, out);
    }
}

struct cause *causes_find(const struct facts *facts, const struct gaps *gaps, struct err *err)
{
    struct cause *causes = calloc(gaps->count + 1, sizeof(*causes));
    if (causes == NULL) {
        err_nomem(err, "the causes of gaps");
        return NULL;
    }
    for (size_t i = 0; i < gaps->count; i++) {
        cause_of(facts, &gaps->list[i], &causes[i]);
    }
    return causes;
}
