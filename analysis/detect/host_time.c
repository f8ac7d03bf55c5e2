/*
 * host_time: one pass over the events of the thread's lanes in order of begin (a merge of the lanes
 * of API calls, OS calls and overhead), with the covered time of each kind and name kept as a
 * running union, so that nested calls count once. Running unions of the kinds up to each kind give
 * the split. No memory is allocated.
 */
#include "analysis/detect/host_time.h"

#include <stdbool.h>
#include <string.h>

enum {
    LANES_MAX = 32 /* nesting depths of a table that are looked at */
};

/* A running union of times that come in order of begin. */
struct running {
    int64_t ns;
    int64_t until_ns;
};

static void running_add(struct running *running, int64_t begin_ns, int64_t end_ns)
{
    int64_t from_ns = begin_ns > running->until_ns ? begin_ns : running->until_ns;
    if (end_ns > from_ns) {
        running->ns += end_ns - from_ns;
        running->until_ns = end_ns;
    }
}

/* One event, cut to the time. */
struct part {
    enum trace_table table;
    uint32_t index;
    int64_t begin_ns;
    int64_t end_ns;
};

struct pass {
    const struct facts *facts;
    struct running kinds[HOST_KIND_COUNT];
    struct running up_to[HOST_KIND_COUNT]; /* of that kind and those before it */
    struct running names[HOST_KIND_COUNT][HOST_NAMES];
    struct host_time *out;
};

static const struct trace_name *name_of(const struct facts *facts, enum trace_table table,
                                        uint32_t index)
{
    return &facts->trace->names[facts->trace->events[table].name[index]];
}

/* HOST_KIND_COUNT: a call that holds up nothing. */
static enum host_kind api_kind(const struct facts *facts, uint32_t api)
{
    uint16_t flags = name_of(facts, TRACE_API, api)->api;
    if ((flags & TRACE_API_SYNC) != 0) {
        return HOST_SYNC;
    }
    if ((flags & TRACE_API_COPY) != 0 && facts_copy_blocks(facts, api)) {
        return HOST_COPY;
    }
    if ((flags & TRACE_API_ALLOC) != 0) {
        return HOST_ALLOC;
    }
    return (flags & TRACE_API_MODULE) != 0 ? HOST_MODULE : HOST_KIND_COUNT;
}

static enum host_kind kind_of(const struct facts *facts, enum trace_table table, uint32_t index)
{
    if (table == TRACE_API) {
        return api_kind(facts, index);
    }
    if (table == TRACE_OSRT) {
        return HOST_OSRT;
    }
    const struct trace_name *name = name_of(facts, TRACE_OVERHEAD, index);
    if (name->kind == TRACE_OVERHEAD_PROFILER) {
        return HOST_PROFILER;
    }
    return strstr(name->full, "oading") != NULL ? HOST_MODULE : HOST_OVERHEAD;
}

static void add_name(struct pass *pass, enum host_kind kind, const struct part *part)
{
    struct host_cover *cover = &pass->out->covers[kind];
    uint32_t name = pass->facts->trace->events[part->table].name[part->index];
    int at = 0;
    while (at < cover->name_count && cover->names[at].name != name) {
        at++;
    }
    if (at == HOST_NAMES) {
        return;
    }
    if (at == cover->name_count) {
        cover->name_count++;
        cover->names[at] =
            (struct host_name){.name = name, .table = (uint8_t)part->table, .longest_ns = -1};
        pass->names[kind][at] = (struct running){.until_ns = INT64_MIN};
    }
    running_add(&pass->names[kind][at], part->begin_ns, part->end_ns);
    struct host_name *of = &cover->names[at];
    of->ns = pass->names[kind][at].ns;
    of->calls++;
    if (part->end_ns - part->begin_ns > of->longest_ns) {
        of->longest_ns = part->end_ns - part->begin_ns;
        of->longest = part->index;
    }
}

static void add(struct pass *pass, const struct part *part)
{
    enum host_kind kind = kind_of(pass->facts, part->table, part->index);
    if (kind == HOST_KIND_COUNT) {
        return;
    }
    running_add(&pass->kinds[kind], part->begin_ns, part->end_ns);
    for (int i = (int)kind; i < HOST_KIND_COUNT; i++) {
        running_add(&pass->up_to[i], part->begin_ns, part->end_ns);
    }
    add_name(pass, kind, part);
}

/* ---- the merge of the lanes ---- */

struct cursor {
    const struct trace_lane *lane;
    uint32_t at;
};

static int cursors_open(const struct facts *facts, uint32_t thread, int64_t begin_ns,
                        struct cursor *out)
{
    static const enum trace_table tables[] = {TRACE_API, TRACE_OSRT, TRACE_OVERHEAD};
    const struct trace *trace = facts->trace;
    const struct facts_thread *lanes = &facts->threads[thread];
    int count = 0;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        uint32_t first = lanes->first[tables[t]];
        for (uint32_t i = first; i < lanes->end[tables[t]] && i < first + LANES_MAX; i++) {
            const struct trace_lane *lane = &trace->lanes[i];
            out[count++] = (struct cursor){lane, trace_lane_lower(trace, lane, begin_ns)};
        }
    }
    return count;
}

/* The cursor of the event that begins first before end_ns; NULL at the end. Of two that begin
 * together, the one of the table that comes first. */
static struct cursor *cursors_next(const struct trace *trace, struct cursor *cursors, int count,
                                   int64_t end_ns)
{
    struct cursor *next = NULL;
    int64_t least_ns = end_ns;
    for (int i = 0; i < count; i++) {
        const struct trace_lane *lane = cursors[i].lane;
        if (cursors[i].at == lane->first + lane->count) {
            continue;
        }
        int64_t begin_ns = trace->events[lane->table].begin_ns[cursors[i].at];
        if (begin_ns < least_ns) {
            least_ns = begin_ns;
            next = &cursors[i];
        }
    }
    return next;
}

static void sort_names(struct host_cover *cover)
{
    for (int i = 1; i < cover->name_count; i++) {
        struct host_name name = cover->names[i];
        int at = i;
        for (; at > 0 && cover->names[at - 1].ns < name.ns; at--) {
            cover->names[at] = cover->names[at - 1];
        }
        cover->names[at] = name;
    }
}

void host_time_of(const struct facts *facts, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                  struct host_time *out)
{
    const struct trace *trace = facts->trace;
    struct cursor cursors[3 * LANES_MAX];
    struct pass pass = {.facts = facts, .out = out};
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        out->covers[i] = (struct host_cover){0};
        pass.kinds[i] = (struct running){.until_ns = INT64_MIN};
        pass.up_to[i] = (struct running){.until_ns = INT64_MIN};
    }
    int count = cursors_open(facts, thread, begin_ns, cursors);
    struct cursor *next = NULL;
    while ((next = cursors_next(trace, cursors, count, end_ns)) != NULL) {
        const struct trace_events *events = &trace->events[next->lane->table];
        uint32_t index = next->at++;
        const struct part part = {
            .table = next->lane->table,
            .index = index,
            .begin_ns = events->begin_ns[index] > begin_ns ? events->begin_ns[index] : begin_ns,
            .end_ns = events->end_ns[index] < end_ns ? events->end_ns[index] : end_ns,
        };
        add(&pass, &part);
    }
    int64_t covered_ns = 0;
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        out->covers[i].ns = pass.kinds[i].ns;
        out->part_ns[i] = pass.up_to[i].ns - covered_ns;
        covered_ns = pass.up_to[i].ns;
        sort_names(&out->covers[i]);
    }
    out->rest_ns = end_ns - begin_ns - covered_ns;
}
