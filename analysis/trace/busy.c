/*
 * busy: see busy.h. The union of a device is a merge of its lanes: each lane is sorted, so a heap
 * of lane cursors gives the ops by begin; a lane is read on while it stays ahead of the others. O(n
 * log lanes) at worst, O(n) where lanes take turns seldom.
 */
#include "analysis/trace/busy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/heap.h"
#include "analysis/trace/trace_internal.h"

enum {
    BUSY_THREAD_OPS = 1 << 18 /* fewer are not worth a second thread */
};

struct busy_arrays {
    uint32_t count;
    int64_t *begin_ns;
    int64_t *end_ns;
    int64_t *sum_ns;
};

struct busy_own {
    uint64_t *bits;
    int64_t *sums;
    struct busy_arrays *unions; /* NULL: those of the trace */
    uint32_t device_count;
};

/* What is kept: bits by name, or by GPU index; NULL = all. */
struct keep {
    const uint64_t *bits;
    const uint32_t *name; /* NULL: bits are by index */
};

static inline bool keep_has(const struct keep *keep, uint32_t i)
{
    return busy_has(keep->bits, keep->name != NULL ? keep->name[i] : i);
}

/* A lane in the merge: its next op. */
struct merge_lane {
    uint32_t at;
    uint32_t end;
};

/* Room for cap intervals. Pages that are never written cost nothing. False without memory. */
static bool arrays_room(struct busy_arrays *arrays, size_t cap)
{
    arrays->begin_ns = malloc((cap + 1) * sizeof *arrays->begin_ns);
    arrays->end_ns = malloc((cap + 1) * sizeof *arrays->end_ns);
    arrays->sum_ns = malloc((cap + 1) * sizeof *arrays->sum_ns);
    return arrays->begin_ns != NULL && arrays->end_ns != NULL && arrays->sum_ns != NULL;
}

/* Gives back what was not used of one array. */
static void array_trim(int64_t **array, size_t count)
{
    int64_t *shrunk = array_resize(*array, count + 1, sizeof *shrunk);
    if (shrunk != NULL) {
        *array = shrunk;
    }
}

static void arrays_sum(struct busy_arrays *arrays)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < arrays->count; i++) {
        arrays->sum_ns[i] = sum;
        sum += arrays->end_ns[i] - arrays->begin_ns[i];
    }
    arrays->sum_ns[arrays->count] = sum;
}

/* Gives back the unused ends. */
static void arrays_trim(struct busy_arrays *arrays)
{
    array_trim(&arrays->begin_ns, arrays->count);
    array_trim(&arrays->end_ns, arrays->count);
    array_trim(&arrays->sum_ns, arrays->count);
}

static void arrays_free(struct busy_arrays *unions, uint32_t count)
{
    for (uint32_t i = 0; unions != NULL && i < count; i++) {
        free(unions[i].begin_ns);
        free(unions[i].end_ns);
        free(unions[i].sum_ns);
    }
    free(unions);
}

/* Adds an op; ops come by begin. */
static inline void union_add(struct busy_arrays *arrays, int64_t begin_ns, int64_t end_ns)
{
    uint32_t last = arrays->count - 1;
    if (arrays->count > 0 && begin_ns <= arrays->end_ns[last]) {
        if (end_ns > arrays->end_ns[last]) {
            arrays->end_ns[last] = end_ns;
        }
        return;
    }
    arrays->begin_ns[arrays->count] = begin_ns;
    arrays->end_ns[arrays->count] = end_ns;
    arrays->count++;
}

/* Reads a lane while its ops begin no later than those of the others. */
static void union_run(const struct trace_events *gpu, const struct keep *keep,
                      struct merge_lane *lane, int64_t limit_ns, struct busy_arrays *out)
{
    while (lane->at < lane->end && gpu->begin_ns[lane->at] <= limit_ns) {
        uint32_t i = lane->at++;
        if (keep_has(keep, i)) {
            union_add(out, gpu->begin_ns[i], gpu->end_ns[i]);
        }
    }
}

/* Ops of a device: no union has more intervals. */
static size_t union_bound(const struct trace *trace, const struct trace_device *device)
{
    size_t count = 0;
    for (uint32_t l = 0; l < device->lane_count; l++) {
        count += trace->lanes[device->first_lane + l].count;
    }
    return count;
}

/* Fills out, in the arrays that it has from an earlier time or in new ones. */
static bool union_build(const struct trace *trace, const struct trace_device *device,
                        const struct keep *keep, struct busy_arrays *out)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t count = device->lane_count;
    struct merge_lane *lanes = array_resize(NULL, count, sizeof *lanes);
    struct heap heap = {.items = array_resize(NULL, count, sizeof *heap.items)};
    bool ok = lanes != NULL && heap.items != NULL &&
              (out->sum_ns != NULL || arrays_room(out, union_bound(trace, device)));
    out->count = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct trace_lane *lane = &trace->lanes[device->first_lane + i];
        lanes[i] = (struct merge_lane){lane->first, lane->first + lane->count};
        heap_push(&heap, gpu->begin_ns[lane->first], i);
    }
    while (ok && heap.count > 0) {
        uint32_t first = heap.items[0].value;
        union_run(gpu, keep, &lanes[first], heap_second_key(&heap), out);
        if (lanes[first].at < lanes[first].end) {
            heap_replace(&heap, gpu->begin_ns[lanes[first].at], first);
        } else {
            (void)heap_pop(&heap);
        }
    }
    free(lanes);
    free(heap.items);
    if (ok) {
        arrays_sum(out);
    }
    return ok;
}

/* Running sums of kept durations, in sums (NULL: new memory). Sums of damaged files may wrap;
 * differences in a lane do not. */
static int64_t *lane_sums(const struct trace *trace, const struct keep *keep, int64_t *sums)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint64_t sum = 0;
    if (sums == NULL) {
        sums = malloc(((size_t)gpu->count + 1) * sizeof *sums);
    }
    for (uint32_t i = 0; sums != NULL && i < gpu->count; i++) {
        sums[i] = (int64_t)sum;
        if (keep_has(keep, i)) {
            sum += (uint64_t)(gpu->end_ns[i] - gpu->begin_ns[i]);
        }
    }
    if (sums != NULL) {
        sums[gpu->count] = (int64_t)sum;
    }
    return sums;
}

int busy_build(struct trace *trace, struct trace_own *own, struct err *err)
{
    const struct keep all = {0};
    trace->gpu_busy_ns = lane_sums(trace, &all, NULL);
    own->unions = calloc((size_t)trace->device_count + 1, sizeof *own->unions);
    if (trace->gpu_busy_ns == NULL || own->unions == NULL) {
        return err_nomem(err, "busy times");
    }
    for (uint32_t d = 0; d < trace->device_count; d++) {
        struct trace_device *device = &trace->devices[d];
        if (!union_build(trace, device, &all, &own->unions[d])) {
            return err_nomem(err, "busy times");
        }
        arrays_trim(&own->unions[d]);
        device->busy_count = own->unions[d].count;
        device->busy_begin_ns = own->unions[d].begin_ns;
        device->busy_end_ns = own->unions[d].end_ns;
        device->busy_sum_ns = own->unions[d].sum_ns;
    }
    return 0;
}

void busy_free_unions(struct trace_own *own, uint32_t device_count)
{
    arrays_free(own->unions, device_count);
    own->unions = NULL;
}

/* A copy of the bits, in the memory of own. */
static bool busy_copy_bits(struct busy_own *own, const struct trace *trace, const struct keep *keep)
{
    size_t bits = keep->name != NULL ? trace->name_count : trace->events[TRACE_GPU].count;
    size_t words = (bits + 63) / 64;
    uint64_t *grown = array_resize(own->bits, words + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    own->bits = grown;
    memcpy(own->bits, keep->bits, words * sizeof *own->bits);
    return true;
}

static int busy_filtered(struct busy *busy, struct busy_own *own, const struct keep *keep)
{
    const struct trace *trace = busy->trace;
    if (own->unions == NULL) {
        own->unions = calloc((size_t)trace->device_count + 1, sizeof *own->unions);
    }
    own->sums = lane_sums(trace, keep, own->sums);
    if (!busy_copy_bits(own, trace, keep) || own->unions == NULL || own->sums == NULL) {
        return -1;
    }
    busy->name_bits = keep->name != NULL ? own->bits : NULL;
    busy->op_bits = keep->name != NULL ? NULL : own->bits;
    busy->lane_sum_ns = own->sums;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        if (!union_build(trace, &trace->devices[d], keep, &own->unions[d])) {
            return -1;
        }
        busy->devices[d] = (struct busy_union){own->unions[d].count, own->unions[d].begin_ns,
                                               own->unions[d].end_ns, own->unions[d].sum_ns};
    }
    return 0;
}

/* The sums of the trace serve where all is kept. */
static void busy_whole(struct busy *busy)
{
    const struct trace *trace = busy->trace;
    busy->name_bits = NULL;
    busy->op_bits = NULL;
    busy->lane_sum_ns = trace->gpu_busy_ns;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        busy->devices[d] = (struct busy_union){device->busy_count, device->busy_begin_ns,
                                               device->busy_end_ns, device->busy_sum_ns};
    }
}

/* One without any sums. NULL without memory. */
static struct busy *busy_blank(const struct trace *trace)
{
    struct busy *busy = calloc(1, sizeof *busy);
    struct busy_own *own = calloc(1, sizeof *own);
    struct busy_union *devices = calloc((size_t)trace->device_count + 1, sizeof *devices);
    if (busy == NULL || own == NULL || devices == NULL) {
        free(busy);
        free(own);
        free(devices);
        return NULL;
    }
    own->device_count = trace->device_count;
    busy->trace = trace;
    busy->own = own;
    busy->devices = devices;
    return busy;
}

struct busy *busy_renew(struct busy *old, const struct trace *trace, const uint64_t *name_bits,
                        const uint64_t *op_bits, struct err *err)
{
    const struct keep keep = {op_bits != NULL ? op_bits : name_bits,
                              op_bits != NULL ? NULL : trace->events[TRACE_GPU].name};
    struct busy *busy = old;
    if (busy != NULL && busy->trace != trace) {
        busy_free(busy);
        busy = NULL;
    }
    if (busy == NULL) {
        busy = busy_blank(trace);
    }
    if (busy == NULL || (keep.bits != NULL && busy_filtered(busy, busy->own, &keep) != 0)) {
        busy_free(busy);
        return err_null(err, "not enough memory for busy times");
    }
    if (keep.bits == NULL) {
        busy_whole(busy);
    }
    return busy;
}

struct busy *busy_new(const struct trace *trace, const uint64_t *name_bits, struct err *err)
{
    return busy_renew(NULL, trace, name_bits, NULL, err);
}

struct busy *busy_new_ops(const struct trace *trace, const uint64_t *op_bits, struct err *err)
{
    return busy_renew(NULL, trace, NULL, op_bits, err);
}

void busy_free(struct busy *busy)
{
    if (busy == NULL) {
        return;
    }
    struct busy_own *own = busy->own;
    arrays_free(own->unions, own->device_count);
    free(own->bits);
    free(own->sums);
    free(own);
    free(busy->devices);
    free(busy);
}

/* The first of count ascending times that is > t (after = true) or >= t. O(log n). */
static uint32_t times_find(const int64_t *times_ns, uint32_t count, int64_t t_ns, bool after)
{
    uint32_t low = 0;
    BISECT(uint32_t, low, count, mid, times_ns[mid] < t_ns || (after && times_ns[mid] == t_ns))
    return low;
}

/* Ascending disjoint intervals with running sums; the part of their busy time inside a window. */
static int64_t window_ns(const int64_t *begins_ns, const int64_t *ends_ns, const int64_t *sums_ns,
                         uint32_t count, int64_t begin_ns, int64_t end_ns)
{
    uint32_t low = times_find(ends_ns, count, begin_ns, true);
    uint32_t high = times_find(begins_ns, count, end_ns, false);
    if (end_ns <= begin_ns || low >= high) {
        return 0;
    }
    int64_t busy = (int64_t)((uint64_t)sums_ns[high] - (uint64_t)sums_ns[low]);
    if (begins_ns[low] < begin_ns && sums_ns[low + 1] != sums_ns[low]) {
        busy -= begin_ns - begins_ns[low];
    }
    if (ends_ns[high - 1] > end_ns && sums_ns[high] != sums_ns[high - 1]) {
        busy -= ends_ns[high - 1] - end_ns;
    }
    return busy;
}

int64_t busy_lane_ns(const struct busy *busy, const struct trace_lane *lane, int64_t begin_ns,
                     int64_t end_ns)
{
    const struct trace_events *gpu = &busy->trace->events[TRACE_GPU];
    return window_ns(gpu->begin_ns + lane->first, gpu->end_ns + lane->first,
                     busy->lane_sum_ns + lane->first, lane->count, begin_ns, end_ns);
}

int64_t busy_device_ns(const struct busy *busy, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
    const struct busy_union *all = &busy->devices[device];
    return window_ns(all->begin_ns, all->end_ns, all->sum_ns, all->count, begin_ns, end_ns);
}

uint32_t busy_union_lower(const struct busy_union *work, int64_t t_ns)
{
    return times_find(work->end_ns, work->count, t_ns, true);
}

uint32_t busy_union_upper(const struct busy_union *work, int64_t t_ns)
{
    return times_find(work->begin_ns, work->count, t_ns, false);
}
