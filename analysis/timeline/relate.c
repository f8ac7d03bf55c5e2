/*
 * relate: see relate.h. Links are in the trace; steps and places are counted by looking at the
 * ranges and calls of one thread. Waits are in relate_sync.c.
 */
#include "analysis/timeline/relate.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/facts/nvtx_path.h"
#include "analysis/facts/slice.h"

static struct relate_event no_event(enum trace_table table)
{
    return (struct relate_event){table, TRACE_NONE};
}

static const struct trace_lane *lane_of(const struct trace *trace, struct relate_event event)
{
    return &trace->lanes[trace_lane_of(trace, event.table, event.index)];
}

static uint32_t name_of(const struct trace *trace, struct relate_event event)
{
    return trace->events[event.table].name[event.index];
}

/* ---- launch and op ---- */

struct relate_event relate_launch(const struct trace *trace, struct relate_event event)
{
    const uint32_t *link = trace->events[TRACE_GPU].link;
    if (event.table != TRACE_GPU) {
        return event;
    }
    return (struct relate_event){TRACE_API, link != NULL ? link[event.index] : TRACE_NONE};
}

struct relate_event relate_op(const struct trace *trace, struct relate_event event)
{
    uint32_t count = 0;
    if (event.table == TRACE_GPU) {
        return event;
    }
    if (event.table != TRACE_API) {
        return no_event(TRACE_GPU);
    }
    const uint32_t *ops = trace_ops_of(trace, event.index, &count);
    return (struct relate_event){TRACE_GPU, count > 0 ? ops[0] : TRACE_NONE};
}

uint32_t relate_thread(const struct trace *trace, struct relate_event event)
{
    struct relate_event launch = relate_launch(trace, event);
    return launch.index != TRACE_NONE ? lane_of(trace, launch)->thread : TRACE_NONE;
}

int64_t relate_host_ns(const struct trace *trace, struct relate_event event)
{
    struct relate_event launch = relate_launch(trace, event);
    if (launch.index == TRACE_NONE) {
        launch = event;
    }
    return trace->events[launch.table].begin_ns[launch.index];
}

struct relate_queue relate_queue(const struct trace *trace, uint32_t gpu)
{
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    struct relate_queue queue = {.launch = ops->link != NULL ? ops->link[gpu] : TRACE_NONE};
    if (queue.launch == TRACE_NONE) {
        return queue;
    }
    int64_t begin_ns = api->begin_ns[queue.launch];
    int64_t end_ns = api->end_ns[queue.launch];
    queue.call_ns = end_ns - begin_ns;
    queue.queue_ns = ops->begin_ns[gpu] - end_ns;
    queue.launch_ns = ops->begin_ns[gpu] - begin_ns;
    queue.is_early = queue.launch_ns < 0;
    return queue;
}

/* ---- the next of a name ---- */

static bool same_row(const struct trace_lane *a, const struct trace_lane *b)
{
    if (a->table != TRACE_GPU) {
        return a->thread == b->thread;
    }
    return a->kind == b->kind && a->device == b->device && a->process == b->process &&
           a->context_id == b->context_id && a->stream_id == b->stream_id;
}

struct search {
    const struct trace *trace;
    const struct terms *terms;
    struct relate_event from;
    uint32_t name;
    int64_t begin_ns; /* of from */
    uint32_t best; /* TRACE_NONE */
    int64_t best_ns;
};

/* Is (begin, index) a before (begin, index) b? */
static bool is_before(int64_t a_ns, uint32_t a, int64_t b_ns, uint32_t b)
{
    return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static bool is_wanted(const struct search *search, uint32_t i)
{
    return search->trace->events[search->from.table].name[i] == search->name &&
           terms_has(search->terms, search->from.table, i);
}

static void search_forward(struct search *search, const struct trace_lane *lane)
{
    const int64_t *begin_ns = search->trace->events[lane->table].begin_ns;
    uint32_t i = slice_begin(search->trace, lane, search->begin_ns);
    for (; i < lane->first + lane->count; i++) {
        if (search->best != TRACE_NONE && begin_ns[i] > search->best_ns) {
            return;
        }
        if (!is_before(search->begin_ns, search->from.index, begin_ns[i], i) ||
            !is_wanted(search, i)) {
            continue;
        }
        if (search->best == TRACE_NONE ||
            is_before(begin_ns[i], i, search->best_ns, search->best)) {
            search->best = i;
            search->best_ns = begin_ns[i];
        }
        return;
    }
}

static void search_backward(struct search *search, const struct trace_lane *lane)
{
    const int64_t *begin_ns = search->trace->events[lane->table].begin_ns;
    uint32_t end = lane->first + lane->count;
    uint32_t i = slice_begin(search->trace, lane, search->begin_ns);
    while (i < end && begin_ns[i] == search->begin_ns) {
        i++;
    }
    while (i-- > lane->first) {
        if (search->best != TRACE_NONE && begin_ns[i] < search->best_ns) {
            return;
        }
        if (!is_before(begin_ns[i], i, search->begin_ns, search->from.index) ||
            !is_wanted(search, i)) {
            continue;
        }
        if (search->best == TRACE_NONE ||
            is_before(search->best_ns, search->best, begin_ns[i], i)) {
            search->best = i;
            search->best_ns = begin_ns[i];
        }
        return;
    }
}

struct relate_event relate_instance(const struct trace *trace, const struct terms *terms,
                                    struct relate_event event, enum relate_scope scope, int step)
{
    const struct trace_lane *own = lane_of(trace, event);
    struct search search = {
        .trace = trace,
        .terms = terms,
        .from = event,
        .name = name_of(trace, event),
        .begin_ns = trace->events[event.table].begin_ns[event.index],
        .best = TRACE_NONE,
    };
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != event.table || (scope == RELATE_SAME_ROW && !same_row(lane, own))) {
            continue;
        }
        if (step < 0) {
            search_backward(&search, lane);
        } else {
            search_forward(&search, lane);
        }
    }
    return (struct relate_event){event.table, search.best};
}

/* ---- steps ---- */

/* Has the thread of the range another one of its name? */
static bool is_repeated(const struct trace *trace, uint32_t nvtx)
{
    struct relate_event event = {TRACE_NVTX, nvtx};
    return relate_instance(trace, NULL, event, RELATE_SAME_ROW, 1).index != TRACE_NONE ||
           relate_instance(trace, NULL, event, RELATE_SAME_ROW, -1).index != TRACE_NONE;
}

uint32_t relate_step(const struct facts *facts, struct relate_event event)
{
    uint32_t path[NVTX_PATH_DEPTH];
    const struct trace *trace = facts->trace;
    if (event.table == TRACE_NVTX && trace->names[name_of(trace, event)].kind != TRACE_NVTX_MARK &&
        is_repeated(trace, event.index)) {
        return event.index;
    }
    int depth =
        nvtx_path_at(facts, relate_thread(trace, event), relate_host_ns(trace, event), path);
    for (int i = 0; i < depth; i++) {
        if (is_repeated(trace, path[i])) {
            return path[i];
        }
    }
    return TRACE_NONE;
}

uint32_t relate_step_next(const struct facts *facts, uint32_t nvtx, int step)
{
    struct relate_event event = {TRACE_NVTX, nvtx};
    return relate_instance(facts->trace, NULL, event, RELATE_SAME_ROW, step).index;
}

uint32_t relate_step_number(const struct facts *facts, uint32_t nvtx, uint32_t *of)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *events = &trace->events[TRACE_NVTX];
    const struct trace_lane *own = lane_of(trace, (struct relate_event){TRACE_NVTX, nvtx});
    const struct facts_thread *lanes = &facts->threads[own->thread];
    uint32_t number = 1;
    *of = 0;
    for (uint32_t l = lanes->first[TRACE_NVTX]; l < lanes->end[TRACE_NVTX]; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (events->name[i] != events->name[nvtx]) {
                continue;
            }
            ++*of;
            number += is_before(events->begin_ns[i], i, events->begin_ns[nvtx], nvtx) ? 1 : 0;
        }
    }
    return number;
}

/* ---- the same place ---- */

/* An event of a step in the order in which its thread did it. */
struct place {
    int64_t host_ns;
    int64_t begin_ns;
    uint32_t index;
};

struct places {
    struct place *list; /* owned */
    size_t count;
    size_t cap;
    bool failed;
};

static void places_add(struct places *places, struct place place)
{
    struct place *grown =
        array_grow(places->list, &places->cap, (size_t)places->count + 1, sizeof *grown);
    if (grown == NULL) {
        places->failed = true;
        return;
    }
    places->list = grown;
    places->list[places->count++] = place;
}

static int place_cmp(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->host_ns != y->host_ns) {
        return COMPARE(x->host_ns, y->host_ns);
    }
    if (x->begin_ns != y->begin_ns) {
        return COMPARE(x->begin_ns, y->begin_ns);
    }
    return COMPARE(x->index, y->index);
}

/* Adds what host event i is, or launched, of that name. */
static void places_take(struct places *places, const struct trace *trace, enum trace_table table,
                        uint32_t name, struct relate_event host)
{
    const struct trace_events *events = &trace->events[host.table];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    int64_t host_ns = events->begin_ns[host.index];
    uint32_t count = 0;
    if (table != TRACE_GPU) {
        if (events->name[host.index] == name) {
            places_add(places, (struct place){host_ns, host_ns, host.index});
        }
        return;
    }
    const uint32_t *ops = trace_ops_of(trace, host.index, &count);
    for (uint32_t k = 0; k < count; k++) {
        if (gpu->name[ops[k]] == name) {
            places_add(places, (struct place){host_ns, gpu->begin_ns[ops[k]], ops[k]});
        }
    }
}

/* All events of that name that the thread of a step did or launched in it, in order. */
static void places_of_step(struct places *places, const struct facts *facts,
                           struct relate_event event, uint32_t step)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    uint32_t thread = lane_of(trace, (struct relate_event){TRACE_NVTX, step})->thread;
    enum trace_table table = event.table == TRACE_GPU ? TRACE_API : event.table;
    const struct facts_thread *lanes = &facts->threads[thread];
    for (uint32_t l = lanes->first[table]; l < lanes->end[table]; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t i = slice_begin(trace, lane, nvtx->begin_ns[step]);
        uint32_t end = slice_begin(trace, lane, nvtx->end_ns[step]);
        for (; i < end; i++) {
            places_take(places, trace, event.table, name_of(trace, event),
                        (struct relate_event){table, i});
        }
    }
    if (places->count > 1) {
        sort_list(places->list, places->count, sizeof *places->list, place_cmp);
    }
}

struct relate_event relate_same_place(const struct facts *facts, struct relate_event event,
                                      uint32_t from, uint32_t to)
{
    struct places here = {0};
    struct places there = {0};
    struct relate_event found = no_event(event.table);
    if (event.table == TRACE_NVTX && event.index == from) {
        return (struct relate_event){TRACE_NVTX, to};
    }
    places_of_step(&here, facts, event, from);
    places_of_step(&there, facts, event, to);
    size_t k = 0;
    while (k < here.count && here.list[k].index != event.index) {
        k++;
    }
    if (!here.failed && !there.failed && k < here.count && k < there.count) {
        found.index = there.list[k].index;
    }
    free(here.list);
    free(there.list);
    return found;
}
