/*
 * causes: the classification. What a thread did in a time is one pass over the events of its lanes
 * in order of begin (a merge of the lanes by depth), with the covered time of each kind kept as a
 * running union, so that nested calls count once. No memory is allocated for one gap.
 *
 * Gaps of a device do not overlap, and neither do the ops before them; so all gaps together look at
 * each call of a thread at most twice: O(gaps log n + calls).
 */
#include "analysis/detect/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/facts/nvtx_path.h"

enum {
    LANES_MAX = 64 /* nesting depths that are looked at */
};

static const char *const cause_names[CAUSE_KIND_COUNT] = {
    [CAUSE_UNKNOWN] = "unknown",
    [CAUSE_DEVICE_WAIT] = "device wait",
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

/* ---- what a thread did in a time ---- */

/* The calls of one kind in [begin, end). */
struct cover {
    int64_t ns; /* their union */
    int64_t until_ns; /* covered up to here */
    int64_t best_ns; /* the longest of them inside, and which */
    uint32_t best;
    uint8_t table;
};

struct span {
    int64_t begin_ns;
    int64_t end_ns;
};

static enum cause_kind api_kind(const struct facts *facts, uint32_t api)
{
    uint16_t flags = facts->trace->names[facts->trace->events[TRACE_API].name[api]].api;
    if ((flags & TRACE_API_SYNC) != 0) {
        return CAUSE_SYNC;
    }
    if ((flags & TRACE_API_COPY) != 0 && facts_copy_blocks(facts, api)) {
        return CAUSE_COPY;
    }
    if ((flags & TRACE_API_ALLOC) != 0) {
        return CAUSE_ALLOC;
    }
    return (flags & TRACE_API_MODULE) != 0 ? CAUSE_MODULE : CAUSE_UNKNOWN;
}

static enum cause_kind overhead_kind(const struct facts *facts, uint32_t overhead)
{
    const struct trace_name *name =
        &facts->trace->names[facts->trace->events[TRACE_OVERHEAD].name[overhead]];
    if (name->kind == TRACE_OVERHEAD_PROFILER) {
        return CAUSE_PROFILER;
    }
    return strstr(name->full, "oading") != NULL ? CAUSE_MODULE : CAUSE_UNKNOWN;
}

/* The kind of cause that an event on the thread stands for; CAUSE_UNKNOWN = none. */
static enum cause_kind event_kind(const struct facts *facts, enum trace_table table, uint32_t index)
{
    if (table == TRACE_API) {
        return api_kind(facts, index);
    }
    return table == TRACE_OSRT ? CAUSE_OSRT : overhead_kind(facts, index);
}

static void cover_add(struct cover *cover, enum trace_table table, uint32_t index, struct span in)
{
    int64_t from = max64(in.begin_ns, cover->until_ns);
    if (in.end_ns > from) {
        cover->ns += in.end_ns - from;
        cover->until_ns = in.end_ns;
    }
    if (in.end_ns - in.begin_ns > cover->best_ns) {
        cover->best_ns = in.end_ns - in.begin_ns;
        cover->best = index;
        cover->table = (uint8_t)table;
    }
}

/* Adds the events of one table of a thread in [in.begin, in.end) to covers[kind]. */
static void cover_table(const struct facts *facts, uint32_t thread, enum trace_table table,
                        struct span in, struct cover *covers)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *events = &trace->events[table];
    const struct facts_thread *lanes = &facts->threads[thread];
    uint32_t at[LANES_MAX];
    uint32_t count = lanes->end[table] - lanes->first[table];
    if (count > LANES_MAX) {
        count = LANES_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        at[i] = trace_lane_lower(trace, &trace->lanes[lanes->first[table] + i], in.begin_ns);
    }
    for (;;) {
        uint32_t next = TRACE_NONE;
        for (uint32_t i = 0; i < count; i++) {
            const struct trace_lane *lane = &trace->lanes[lanes->first[table] + i];
            if (at[i] < lane->first + lane->count && events->begin_ns[at[i]] < in.end_ns &&
                (next == TRACE_NONE || events->begin_ns[at[i]] < events->begin_ns[at[next]])) {
                next = i;
            }
        }
        if (next == TRACE_NONE) {
            return;
        }
        uint32_t index = at[next]++;
        struct span part = {max64(events->begin_ns[index], in.begin_ns),
                            min64(events->end_ns[index], in.end_ns)};
        cover_add(&covers[event_kind(facts, table, index)], table, index, part);
    }
}

static void covers_fill(const struct facts *facts, uint32_t thread, struct span in,
                        struct cover *covers)
{
    for (int i = 0; i < CAUSE_KIND_COUNT; i++) {
        covers[i] = (struct cover){.until_ns = INT64_MIN, .best = TRACE_NONE};
    }
    cover_table(facts, thread, TRACE_API, in, covers);
    cover_table(facts, thread, TRACE_OSRT, in, covers);
    cover_table(facts, thread, TRACE_OVERHEAD, in, covers);
}

/*
 * The last call of the thread that waited for the device, begun before `before_ns` and ended after
 * `after_ns`; TRACE_NONE if there is none.
 */
static uint32_t last_wait(const struct facts *facts, uint32_t thread, int64_t after_ns,
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

/* ---- the cause of a gap ---- */

static void device_wait(const struct facts *facts, uint32_t after, struct cause *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_lane *lane = &trace->lanes[out->lane];
    int64_t from = INT64_MIN;
    if (after > lane->first) {
        uint32_t launch = gpu->link[after - 1];
        if (launch != TRACE_NONE) {
            from = trace->events[TRACE_API].begin_ns[launch];
        }
    }
    out->kind = CAUSE_DEVICE_WAIT;
    out->wait =
        facts_wait_before(facts, lane, from, trace->events[TRACE_API].begin_ns[out->launch]);
}

/* inside: the part of L in the gap. */
static void slow_launch(const struct facts *facts, struct span inside, struct cause *out)
{
    struct cover covers[CAUSE_KIND_COUNT];
    covers_fill(facts, out->thread, inside, covers);
    out->kind = CAUSE_SLOW_LAUNCH;
    out->table = TRACE_API;
    out->evidence = out->launch;
    static const uint8_t kinds[] = {CAUSE_UNKNOWN, CAUSE_MODULE, CAUSE_PROFILER};
    for (size_t i = 0; i < sizeof(kinds); i++) {
        const struct cover *cover = &covers[kinds[i]];
        if (cover->best != TRACE_NONE && cover->table == TRACE_OVERHEAD &&
            cover->ns > out->overhead_ns) {
            out->overhead = cover->best;
            out->overhead_ns = cover->ns;
        }
    }
}

static void host_late(const struct facts *facts, const struct gap *gap, struct span late,
                      struct cause *out)
{
    struct cover covers[CAUSE_KIND_COUNT];
    covers_fill(facts, out->thread, late, covers);
    for (int kind = CAUSE_SYNC; kind <= CAUSE_PROFILER; kind++) {
        if (covers[kind].ns * 2 < late.end_ns - late.begin_ns || covers[kind].ns == 0) {
            continue;
        }
        out->kind = (uint8_t)kind;
        out->table = covers[kind].table;
        out->evidence = covers[kind].best;
        out->evidence_ns = covers[kind].ns;
        return;
    }
    if (!facts->has_osrt) {
        out->doubt |= CAUSE_NO_OSRT;
    }
    const struct trace_events *api = &facts->trace->events[TRACE_API];
    int64_t after = gap->before != TRACE_NONE
                        ? facts->trace->events[TRACE_GPU].begin_ns[gap->before]
                        : late.begin_ns;
    uint32_t wait = last_wait(facts, out->thread, after, late.end_ns);
    out->kind = wait != TRACE_NONE ? CAUSE_AFTER_BLOCKING : CAUSE_SLOW_HOST;
    if (wait == TRACE_NONE) {
        return;
    }
    out->table = TRACE_API;
    out->evidence = wait;
    out->evidence_ns = shared(api->begin_ns[wait], api->end_ns[wait], late.begin_ns, late.end_ns);
}

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

void cause_of(const struct facts *facts, const struct gap *gap, struct cause *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
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
        out->doubt = migration ? CAUSE_MIGRATION : facts->has_api ? CAUSE_NO_LINK : CAUSE_NO_API;
        return;
    }
    struct span launch = {api->begin_ns[out->launch], api->end_ns[out->launch]};
    out->thread = trace->lanes[trace_lane_of(trace, TRACE_API, out->launch)].thread;
    out->nvtx = nvtx_path_leaf(facts, out->thread, whole.begin_ns);
    int64_t in_launch = shared(launch.begin_ns, launch.end_ns, whole.begin_ns, whole.end_ns);
    if (launch.end_ns > whole.begin_ns && in_launch * 2 >= whole.end_ns - whole.begin_ns) {
        out->evidence_ns = in_launch;
        const struct span inside = {max64(launch.begin_ns, whole.begin_ns),
                                    min64(launch.end_ns, whole.end_ns)};
        slow_launch(facts, inside, out);
    } else if (launch.begin_ns <= whole.begin_ns) {
        device_wait(facts, after, out);
    } else {
        struct span late = {whole.begin_ns, min64(launch.begin_ns, whole.end_ns)};
        host_late(facts, gap, late, out);
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
