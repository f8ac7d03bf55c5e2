/*
 * steady: see steady.h.
 */
#include "analysis/facts/steady.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/intern.h"
#include "analysis/base/sort.h"

enum {
    INSTANCES_MAX = 1 << 17, /* what occurs more often is no step: its series is not looked at */
    DEPTHS = 4, /* of ranges that are looked at: steps lie outside of what they hold */
    KERNELS = 16, /* kernels of a device that are looked at: those with the longest extent */
    NAME_MAX = 256, /* bytes of a name that tell series apart */
};

struct instance {
    uint32_t series;
    uint32_t name;
    int64_t begin_ns;
    int64_t end_ns;
};

struct search {
    const struct facts *facts;
    int64_t *intervals_ns; /* INSTANCES_MAX, owned */
    struct instance *list; /* owned */
    size_t count;
    size_t cap;
    struct steady ranges; /* the best so far */
    struct steady kernels;
};

static int instance_cmp(const void *a, const void *b)
{
    const struct instance *x = a;
    const struct instance *y = b;
    int c = COMPARE(x->series, y->series);
    return c != 0 ? c : COMPARE(x->begin_ns, y->begin_ns);
}

static int add(struct search *search, const struct instance *one)
{
    struct instance *list = array_grow(search->list, &search->cap, search->count + 1, sizeof *list);
    if (list == NULL) {
        return -1;
    }
    search->list = list;
    list[search->count++] = *one;
    return 0;
}

/* ---- one series ---- */

static int64_t interval(const struct instance *list, size_t i)
{
    return list[i + 1].begin_ns - list[i].begin_ns;
}

/* The median interval of [first, last], and whether three of four are near it. */
static bool is_regular(struct search *search, const struct instance *list, size_t first,
                       size_t last, int64_t *median_ns)
{
    size_t count = last - first;
    size_t near = 0;
    for (size_t i = 0; i < count; i++) {
        search->intervals_ns[i] = interval(list, first + i);
    }
    sort_nth_i64(search->intervals_ns, count, count / 2);
    int64_t median = search->intervals_ns[count / 2];
    for (size_t i = 0; i < count; i++) {
        int64_t ns = search->intervals_ns[i];
        near += ns >= median / 2 && ns / 2 <= median;
    }
    *median_ns = median;
    return median > 0 && near * 4 >= count * 3;
}

static bool is_better(const struct steady *a, const struct steady *b)
{
    int64_t a_ns = a->end_ns - a->begin_ns;
    int64_t b_ns = b->end_ns - b->begin_ns;
    int64_t slack_ns = (a_ns > b_ns ? a_ns : b_ns) / 20;
    if (!b->is_there || a_ns - b_ns > slack_ns || b_ns - a_ns > slack_ns) {
        return !b->is_there || a_ns > b_ns;
    }
    return a->count < b->count;
}

/* Cuts what comes before the last long interval of the first quarter, and after the first one of the
 * last quarter; again until none is long beside what is left. */
static void cut_ends(const struct instance *list, size_t count, int64_t median_ns, size_t *first,
                     size_t *last)
{
    for (bool cut = true; cut;) {
        int64_t long_ns =
            (list[*last].begin_ns - list[*first].begin_ns) / 100 * STEADY_REST_PERCENT;
        size_t from = *first;
        size_t to = *last;
        long_ns = long_ns > 3 * median_ns ? long_ns : 3 * median_ns;
        for (size_t i = from; i < count / 4; i++) {
            *first = interval(list, i) >= long_ns ? i + 1 : *first;
        }
        for (size_t i = to; i > count - 1 - count / 4; i--) {
            *last = interval(list, i - 1) >= long_ns ? i - 1 : *last;
        }
        cut = *first != from || *last != to;
    }
}

/* The instances of one series, by begin. */
static void judge(struct search *search, const struct instance *list, size_t count,
                  struct steady *found, struct steady *best)
{
    if (count < STEADY_LEAST || count > INSTANCES_MAX) {
        return;
    }
    size_t first = 0;
    size_t last = count - 1;
    int64_t median_ns = 0;
    (void)is_regular(search, list, 0, last, &median_ns);
    cut_ends(list, count, median_ns, &first, &last);
    if (last - first + 1 < STEADY_LEAST || !is_regular(search, list, first, last, &median_ns)) {
        return;
    }
    found->is_there = true;
    found->begin_ns = list[first].begin_ns;
    found->end_ns = list[last].begin_ns + median_ns > list[last].end_ns
                        ? list[last].begin_ns + median_ns
                        : list[last].end_ns;
    found->period_ns = median_ns;
    found->count = (uint32_t)(last - first + 1);
    found->name = list[first].name;
    for (size_t i = first; i <= last; i++) {
        found->differ |= list[i].name != found->name;
    }
    if (is_better(found, best)) {
        *best = *found;
    }
}

/* All series of the list. */
static void judge_all(struct search *search, uint32_t thread, uint32_t device, struct steady *best)
{
    if (search->count == 0) {
        return;
    }
    sort_list(search->list, search->count, sizeof *search->list, instance_cmp);
    for (size_t i = 0; i < search->count;) {
        size_t end = i + 1;
        while (end < search->count && search->list[end].series == search->list[i].series) {
            end++;
        }
        struct steady found = {.thread = thread, .device = device};
        judge(search, &search->list[i], end - i, &found, best);
        i = end;
    }
}

/* ---- ranges ---- */

/* The name with "#" for each run of digits; without PyTorch's numbers of a call. */
static size_t fold(const struct trace_name *name, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < name->full_len && n < NAME_MAX; i++) {
        bool digit = name->full[i] >= '0' && name->full[i] <= '9';
        if (!digit) {
            out[n++] = name->full[i];
        } else if (n == 0 || out[n - 1] != '#') {
            out[n++] = '#';
        }
    }
    return n;
}

/* The series of each name of a push/pop range; owned by the caller. NULL without memory. */
static uint32_t *fold_names(const struct trace *trace)
{
    struct intern texts = {0};
    uint32_t *series = calloc((size_t)trace->name_count + 1, sizeof *series);
    for (uint32_t i = 0; series != NULL && i < trace->name_count; i++) {
        char text[NAME_MAX];
        if (trace->names[i].kind != TRACE_NVTX_PUSHPOP) {
            continue;
        }
        series[i] = intern_add(&texts, text, fold(&trace->names[i], text));
        if (series[i] == INTERN_NONE) {
            free(series);
            series = NULL;
        }
    }
    intern_free(&texts);
    return series;
}

static int search_ranges(struct search *search)
{
    const struct trace *trace = search->facts->trace;
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    uint32_t *series = nvtx->count > 0 ? fold_names(trace) : NULL;
    int rc = nvtx->count > 0 && series == NULL ? -1 : 0;
    for (uint32_t l = 0; rc == 0 && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->kind != TRACE_LANE_NVTX_PUSHPOP || lane->depth >= DEPTHS ||
            lane->count < STEADY_LEAST || lane->count > INSTANCES_MAX) {
            continue;
        }
        search->count = 0;
        for (uint32_t i = lane->first; rc == 0 && i < lane->first + lane->count; i++) {
            const struct instance one = {series[nvtx->name[i]], nvtx->name[i], nvtx->begin_ns[i],
                                         nvtx->end_ns[i]};
            rc = add(search, &one);
        }
        judge_all(search, lane->thread, TRACE_NONE, &search->ranges);
    }
    free(series);
    return rc;
}

/* ---- kernels ---- */

struct kernel {
    uint32_t name;
    uint32_t count;
    int64_t first_ns;
    int64_t last_ns;
};

static int extent_cmp(const void *a, const void *b)
{
    const struct kernel *x = a;
    const struct kernel *y = b;
    int c = COMPARE(y->last_ns - y->first_ns, x->last_ns - x->first_ns);
    c = c != 0 ? c : COMPARE(x->count, y->count);
    return c != 0 ? c : COMPARE(x->name, y->name);
}

static bool repeats(const struct kernel *kernel)
{
    return kernel->count >= STEADY_LEAST && kernel->count <= INSTANCES_MAX;
}

/* How often and when each kernel and graph runs on a device; those that repeat come first, by extent.
 * Returns how many these are. */
static size_t count_kernels(const struct trace *trace, const struct trace_device *device,
                            struct kernel *kernels)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t count = 0;
    memset(kernels, 0, ((size_t)trace->name_count + 1) * sizeof *kernels);
    for (uint32_t l = device->first_lane; l < device->first_lane + device->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            struct kernel *kernel = &kernels[gpu->name[i]];
            int64_t ns = gpu->begin_ns[i];
            kernel->first_ns = kernel->count == 0 || ns < kernel->first_ns ? ns : kernel->first_ns;
            kernel->last_ns = kernel->count == 0 || ns > kernel->last_ns ? ns : kernel->last_ns;
            kernel->count++;
        }
    }
    for (uint32_t i = 0; i < trace->name_count; i++) {
        uint8_t kind = trace->names[i].kind;
        if ((kind == TRACE_KERNEL || kind == TRACE_GRAPH) && repeats(&kernels[i])) {
            struct kernel one = kernels[i];
            one.name = i;
            kernels[count++] = one;
        }
    }
    if (count > 0) {
        sort_list(kernels, count, sizeof *kernels, extent_cmp);
    }
    return count;
}

static int search_device(struct search *search, uint32_t device, struct kernel *kernels,
                         uint32_t *slot)
{
    const struct trace *trace = search->facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *of = &trace->devices[device];
    size_t count = count_kernels(trace, of, kernels);
    count = count < KERNELS ? count : KERNELS;
    search->count = 0;
    for (size_t k = 0; k < count; k++) {
        slot[kernels[k].name] = (uint32_t)k + 1;
    }
    int rc = 0;
    for (uint32_t l = of->first_lane; count > 0 && l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first; rc == 0 && i < lane->first + lane->count; i++) {
            uint32_t name = gpu->name[i];
            const struct instance one = {slot[name], name, gpu->begin_ns[i], gpu->end_ns[i]};
            rc = slot[name] != 0 ? add(search, &one) : 0;
        }
    }
    judge_all(search, TRACE_NONE, device, &search->kernels);
    for (size_t k = 0; k < count; k++) {
        slot[kernels[k].name] = 0;
    }
    return rc;
}

static int search_kernels(struct search *search)
{
    const struct trace *trace = search->facts->trace;
    struct kernel *kernels = malloc(((size_t)trace->name_count + 1) * sizeof *kernels);
    uint32_t *slot = calloc((size_t)trace->name_count + 1, sizeof *slot);
    int rc = kernels == NULL || slot == NULL ? -1 : 0;
    for (uint32_t d = 0; rc == 0 && d < trace->device_count; d++) {
        rc = search_device(search, d, kernels, slot);
    }
    free(kernels);
    free(slot);
    return rc;
}

/* ---- the choice ---- */

static int64_t work_ns(const struct trace *trace, const struct busy *work, int64_t begin_ns,
                       int64_t end_ns)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        ns += busy_device_ns(work, d, begin_ns, end_ns);
    }
    return ns;
}

static void choose(const struct search *search, const struct busy *work, struct steady *out)
{
    const struct trace *trace = search->facts->trace;
    const struct steady *ranges = &search->ranges;
    const struct steady *kernels = &search->kernels;
    int64_t first_ns = out->first_ns;
    int64_t last_ns = out->last_ns;
    bool by_range =
        ranges->is_there && (!kernels->is_there || (ranges->end_ns - ranges->begin_ns) / 9 * 10 >=
                                                       kernels->end_ns - kernels->begin_ns);
    *out = by_range ? *ranges : *kernels;
    out->first_ns = first_ns;
    out->last_ns = last_ns;
    if (!out->is_there) {
        return;
    }
    out->begin_ns = out->begin_ns < first_ns ? first_ns : out->begin_ns;
    /* What is queued as the last instance ends on the host belongs to it. */
    bool to_end = last_ns - out->end_ns < 2 * out->period_ns;
    out->end_ns = to_end || out->end_ns > last_ns ? last_ns : out->end_ns;
    int64_t rest_ns = last_ns - first_ns - (out->end_ns - out->begin_ns);
    int64_t in_ns = work_ns(trace, work, out->begin_ns, out->end_ns);
    int64_t rest_work_ns = work_ns(trace, work, INT64_MIN, INT64_MAX) - in_ns;
    out->is_there = out->end_ns > out->begin_ns &&
                    rest_ns / STEADY_REST_PERCENT >= (last_ns - first_ns) / 100 &&
                    in_ns >= rest_work_ns &&
                    2 * (double)rest_work_ns * (double)(out->end_ns - out->begin_ns) <
                        (double)in_ns * (double)rest_ns;
}

int steady_find(const struct facts *facts, const struct busy *work, struct steady *out,
                struct err *err)
{
    const struct trace *trace = facts->trace;
    struct search search = {.facts = facts};
    *out = (struct steady){.first_ns = INT64_MAX, .last_ns = INT64_MIN};
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct trace_device *of = &trace->devices[d];
        if (of->busy_count > 0) {
            int64_t begin_ns = of->busy_begin_ns[0];
            int64_t end_ns = of->busy_end_ns[of->busy_count - 1];
            out->first_ns = begin_ns < out->first_ns ? begin_ns : out->first_ns;
            out->last_ns = end_ns > out->last_ns ? end_ns : out->last_ns;
        }
    }
    if (out->first_ns >= out->last_ns) {
        return 0;
    }
    search.intervals_ns = malloc((size_t)INSTANCES_MAX * sizeof *search.intervals_ns);
    int rc =
        search.intervals_ns == NULL || search_ranges(&search) != 0 || search_kernels(&search) != 0
            ? err_nomem(err, "the steady state")
            : 0;
    if (rc == 0) {
        choose(&search, work, out);
    }
    free(search.intervals_ns);
    free(search.list);
    return rc;
}
