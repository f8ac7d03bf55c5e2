/* nvtx_ranges: see nvtx_ranges.h. */
#include "analysis/timeline/nvtx_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

/* The ranges that are open at the place of a sweep. */
struct nvtx_open {
    uint32_t *list; /* owned; indices of ranges, by begin */
    size_t count;
    size_t cap;
};

static int nvtx_compare(const void *left, const void *right, const void *arg)
{
    const struct nvtx_range *a = left;
    const struct nvtx_range *b = right;
    (void)arg;
    if (a->scope != b->scope) {
        return COMPARE(a->scope, b->scope);
    }
    if (a->begin_ns != b->begin_ns) {
        return COMPARE(a->begin_ns, b->begin_ns);
    }
    if (a->end_ns != b->end_ns) {
        return COMPARE(b->end_ns, a->end_ns);
    }
    return COMPARE(a->event, b->event);
}

/*
 * Takes out what ended before t among the last begun ranges, until NVTX_RANGES_DEEP of them are
 * open: at most so many, the last begun, are looked at. What ended is met once, so this costs
 * O(NVTX_RANGES_DEEP) beside it. Returns where those that count begin.
 */
static size_t nvtx_open_close(struct nvtx_open *open, const struct nvtx_ranges *ranges,
                              int64_t t_ns)
{
    uint32_t kept[NVTX_RANGES_DEEP];
    size_t count = 0;
    size_t from = open->count;
    while (from > 0 && count < NVTX_RANGES_DEEP) {
        uint32_t range = open->list[--from];
        if (ranges->list[range].end_ns >= t_ns) {
            kept[count++] = range;
        }
    }
    open->count = from;
    while (count > 0) {
        open->list[open->count++] = kept[--count];
    }
    return from;
}

static int nvtx_open_push(struct nvtx_open *open, uint32_t range)
{
    uint32_t *grown = array_grow(open->list, &open->cap, (size_t)open->count + 1, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    open->list = grown;
    open->list[open->count++] = range;
    return 0;
}

/* The tightest open range of the thread, from place `from` on, that encloses range i. */
static uint32_t nvtx_find_parent(const struct nvtx_open *open, const struct nvtx_ranges *ranges,
                                 size_t from, uint32_t i)
{
    const struct nvtx_range *child = &ranges->list[i];
    uint32_t best = NVTX_RANGES_NONE;
    for (size_t k = open->count; k-- > from;) {
        const struct nvtx_range *r = &ranges->list[open->list[k]];
        const struct nvtx_range *b = best == NVTX_RANGES_NONE ? NULL : &ranges->list[best];
        if (r->end_ns >= child->end_ns && r->thread == child->thread &&
            (b == NULL || r->end_ns - r->begin_ns < b->end_ns - b->begin_ns)) {
            best = open->list[k];
        }
    }
    return best;
}

static int nvtx_ranges_link(struct nvtx_ranges *ranges)
{
    struct nvtx_open open = {0};
    int rc = 0;
    for (uint32_t i = 0; i < ranges->count && rc == 0; i++) {
        struct nvtx_range *range = &ranges->list[i];
        if (i > 0 && ranges->list[i - 1].scope != range->scope) {
            open.count = 0;
        }
        range->parent =
            nvtx_find_parent(&open, ranges, nvtx_open_close(&open, ranges, range->begin_ns), i);
        if (range->parent != NVTX_RANGES_NONE) {
            struct nvtx_range *parent = &ranges->list[range->parent];
            range->level = parent->level + 1;
            parent->children++;
            parent->child_ns += range->end_ns - range->begin_ns;
        }
        rc = nvtx_open_push(&open, i);
    }
    free(open.list);
    return rc;
}

/* Takes out the start/end ranges that ended on another thread. */
static void nvtx_drop_crossed(const struct trace *trace, struct selected *events)
{
    size_t kept = 0;
    for (size_t k = 0; k < events->count; k++) {
        if (!trace_is_cross_thread(trace, events->list[k])) {
            events->list[kept++] = events->list[k];
        }
    }
    events->count = kept;
}

int nvtx_ranges_new(const struct trace *trace, const struct selection *select, uint32_t kinds,
                    bool whole_thread, struct nvtx_ranges *out, struct err *err)
{
    struct selection by_time = *select;
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    struct selected events;
    int rc = 0;
    by_time.name_bits = NULL;
    *out = (struct nvtx_ranges){0};
    if (selected_new(trace, &by_time, TRACE_NVTX, kinds, &events, err) != 0) {
        return -1;
    }
    if (whole_thread && !select->nvtx_process) {
        nvtx_drop_crossed(trace, &events);
    }
    out->list = calloc(events.count + 1, sizeof *out->list);
    if (out->list == NULL) {
        rc = err_nomem(err, "the NVTX ranges");
    }
    for (uint32_t i = 0; rc == 0 && i < events.count; i++) {
        uint32_t event = events.list[i];
        const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_NVTX, event)];
        out->list[i] = (struct nvtx_range){
            .begin_ns = nvtx->begin_ns[event],
            .end_ns = nvtx->end_ns[event],
            .event = event,
            .scope = select->nvtx_process ? lane->process : lane->thread,
            .thread = lane->thread,
            .process = lane->process,
            .parent = NVTX_RANGES_NONE,
        };
    }
    out->count = rc == 0 ? (uint32_t)events.count : 0;
    selected_free(&events);
    if (rc == 0) {
        rc = sort_runs(out->list, out->count, sizeof *out->list, nvtx_compare, NULL) == 0 &&
                     nvtx_ranges_link(out) == 0
                 ? 0
                 : err_nomem(err, "the NVTX ranges");
    }
    if (rc != 0) {
        nvtx_ranges_free(out);
    }
    return rc;
}

void nvtx_ranges_free(struct nvtx_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct nvtx_ranges){0};
}

/* A launching call, to be swept beside the ranges. */
struct nvtx_call {
    int64_t begin_ns;
    uint32_t scope;
    uint32_t api;
};

static int nvtx_call_compare(const void *left, const void *right, const void *arg)
{
    const struct nvtx_call *a = left;
    const struct nvtx_call *b = right;
    (void)arg;
    if (a->scope != b->scope) {
        return COMPARE(a->scope, b->scope);
    }
    if (a->begin_ns != b->begin_ns) {
        return COMPARE(a->begin_ns, b->begin_ns);
    }
    return COMPARE(a->api, b->api);
}

/* The kept calls that have ops. NULL without memory. */
static struct nvtx_call *nvtx_calls(const struct trace *trace, const struct selection *select,
                                    size_t *count)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    struct nvtx_call *calls = malloc(((size_t)api->count + 1) * sizeof *calls);
    *count = 0;
    for (uint32_t lane = 0; calls != NULL && lane < trace->lane_count; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        uint32_t scope = select->nvtx_process ? l->process : l->thread;
        if (l->table != TRACE_API || !select_lane(trace, select, l)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            if (api->link[i] != TRACE_NONE &&
                select_time(select, api->begin_ns[i], api->end_ns[i])) {
                calls[(*count)++] = (struct nvtx_call){api->begin_ns[i], scope, i};
            }
        }
    }
    if (calls != NULL && sort_runs(calls, *count, sizeof *calls, nvtx_call_compare, NULL) != 0) {
        free(calls);
        calls = NULL;
    }
    return calls;
}

/* The place of a sweep over ranges beside calls. */
struct nvtx_sweep {
    const struct nvtx_ranges *ranges;
    struct nvtx_open open;
    size_t from; /* where the ranges that count begin in open */
    uint32_t next; /* the first range that was not opened */
    uint32_t scope; /* of the ranges that are open */
};

/* Opens the ranges of the call's scope that have begun, closes those that have ended. */
static int nvtx_sweep_to(struct nvtx_sweep *sweep, const struct nvtx_call *call)
{
    const struct nvtx_range *list = sweep->ranges->list;
    uint32_t count = sweep->ranges->count;
    if (call->scope != sweep->scope) {
        sweep->open.count = 0;
        sweep->scope = call->scope;
    }
    while (sweep->next < count && list[sweep->next].scope < sweep->scope) {
        sweep->next++;
    }
    for (; sweep->next < count && list[sweep->next].scope == sweep->scope &&
           list[sweep->next].begin_ns <= call->begin_ns;
         sweep->next++) {
        if (list[sweep->next].end_ns >= call->begin_ns &&
            nvtx_open_push(&sweep->open, sweep->next) != 0) {
            return -1;
        }
    }
    sweep->from = nvtx_open_close(&sweep->open, sweep->ranges, call->begin_ns);
    return 0;
}

int nvtx_ranges_calls(const struct trace *trace, const struct selection *select,
                      const struct nvtx_ranges *ranges, nvtx_calls_fn *visit, void *arg,
                      struct err *err)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    struct nvtx_sweep sweep = {.ranges = ranges, .scope = NVTX_RANGES_NONE};
    size_t count;
    struct nvtx_call *calls = nvtx_calls(trace, select, &count);
    int rc = calls == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = nvtx_sweep_to(&sweep, &calls[i]);
        for (size_t k = sweep.from; rc == 0 && k < sweep.open.count; k++) {
            uint32_t range = sweep.open.list[k];
            if (ranges->list[range].end_ns >= api->end_ns[calls[i].api]) {
                visit(arg, range, calls[i].api);
            }
        }
    }
    free(sweep.open.list);
    free(calls);
    return rc == 0 ? 0 : err_nomem(err, "the calls in NVTX ranges");
}

struct nvtx_inner {
    const struct nvtx_ranges *ranges;
    const struct trace *trace;
    const struct selection *select;
    uint32_t *out;
};

static void nvtx_inner_visit(void *arg, uint32_t range, uint32_t api)
{
    struct nvtx_inner *inner = arg;
    const struct trace *trace = inner->trace;
    const struct nvtx_range *r = &inner->ranges->list[range];
    uint32_t *slot = &inner->out[api];
    if (*slot != TRACE_NONE && inner->select->nvtx_process) {
        uint32_t own = trace->lanes[trace_lane_of(trace, TRACE_API, api)].thread;
        uint32_t held = trace->lanes[trace_lane_of(trace, TRACE_NVTX, *slot)].thread;
        if (held == own && r->thread != own) {
            return;
        }
    }
    *slot = r->event;
}

uint32_t *nvtx_innermost(const struct trace *trace, const struct selection *select, struct err *err)
{
    size_t count = trace->events[TRACE_API].count;
    uint32_t *out = malloc((count + 1) * sizeof *out);
    struct nvtx_ranges ranges;
    struct nvtx_inner inner = {&ranges, trace, select, out};
    if (out == NULL) {
        (void)err_nomem(err, "the NVTX names");
        return NULL;
    }
    memset(out, 0xFF, (count + 1) * sizeof *out);
    if (nvtx_ranges_new(trace, select, 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND, true,
                        &ranges, err) != 0) {
        free(out);
        return NULL;
    }
    if (nvtx_ranges_calls(trace, select, &ranges, nvtx_inner_visit, &inner, err) != 0) {
        free(out);
        out = NULL;
    }
    nvtx_ranges_free(&ranges);
    return out;
}
