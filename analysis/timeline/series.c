/*
 * series: see series.h.
 *
 * Areas are doubles: the sum over a column is exact as long as it is below 2^53 value-ns, and off
 * by less than one part in 10^15 beyond. Where a column holds few points they are added one by one,
 * so that no difference of two large areas is taken.
 */
#include "analysis/timeline/series.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"
#include "analysis/timeline/series_internal.h"

#define MS_NS INT64_C(1000000)

/* ---- making ---- */

int series_finish(struct series *series)
{
    size_t blocks = series->count / SERIES_BLOCK + 2;
    double area = 0.0;
    series->block_area = calloc(blocks, sizeof *series->block_area);
    series->block_max = calloc(blocks, sizeof *series->block_max);
    if (series->block_area == NULL || series->block_max == NULL) {
        return -1;
    }
    for (size_t i = 0; i < series->count; i++) {
        int64_t value = series->value[i];
        int64_t end_ns = i + 1 < series->count ? series->at_ns[i + 1] : series->end_ns;
        if (i % SERIES_BLOCK == 0) {
            series->block_area[i / SERIES_BLOCK] = area;
            series->block_max[i / SERIES_BLOCK] = value;
        }
        if (value > series->block_max[i / SERIES_BLOCK]) {
            series->block_max[i / SERIES_BLOCK] = value;
        }
        if (i == 0 || value < series->min) {
            series->min = value;
        }
        if (i == 0 || value > series->max) {
            series->max = value;
        }
        area += (double)value * (double)(end_ns - series->at_ns[i]);
    }
    return 0;
}

/* Do the times of each block lie near its first? */
static bool times_are_near(const struct series *series)
{
    for (size_t i = 0; i < series->count; i += SERIES_BLOCK) {
        size_t last = i + SERIES_BLOCK <= series->count ? i + SERIES_BLOCK - 1 : series->count - 1;
        if (i64_subtract(series->at_ns[last], series->at_ns[i]) > (int64_t)UINT32_MAX) {
            return false;
        }
    }
    return true;
}

static void pack_times(struct series *series)
{
    int64_t *block_at_ns = malloc((series->count / SERIES_BLOCK + 1) * sizeof *block_at_ns);
    uint32_t *after_ns = malloc((series->count + 1) * sizeof *after_ns);
    if (block_at_ns == NULL || after_ns == NULL || !times_are_near(series)) {
        free(block_at_ns);
        free(after_ns);
        return;
    }
    for (size_t i = 0; i < series->count; i++) {
        if (i % SERIES_BLOCK == 0) {
            block_at_ns[i / SERIES_BLOCK] = series->at_ns[i];
        }
        after_ns[i] = (uint32_t)(series->at_ns[i] - block_at_ns[i / SERIES_BLOCK]);
    }
    free(series->at_ns);
    series->at_ns = NULL;
    series->block_at_ns = block_at_ns;
    series->after_ns = after_ns;
}

static void pack_values(struct series *series)
{
    int32_t *small = series->min < INT32_MIN || series->max > INT32_MAX
                         ? NULL
                         : malloc((series->count + 1) * sizeof *small);
    for (size_t i = 0; small != NULL && i < series->count; i++) {
        small[i] = (int32_t)series->value[i];
    }
    if (small != NULL) {
        free(series->value);
        series->value = NULL;
        series->small_value = small;
    }
}

void series_pack(struct series *series)
{
    if (series->value != NULL) {
        pack_values(series);
    }
    if (series->at_ns != NULL) {
        pack_times(series);
    }
}

static int change_cmp(const void *a, const void *b)
{
    const struct series_change *x = a;
    const struct series_change *y = b;
    return COMPARE(x->at_ns, y->at_ns);
}

int series_from_changes(struct series *series, struct series_change *changes, size_t count)
{
    int64_t level = 0;
    sort_list(changes, count, sizeof *changes, change_cmp);
    series->at_ns = malloc((count + 1) * sizeof *series->at_ns);
    series->value = malloc((count + 1) * sizeof *series->value);
    if (series->at_ns == NULL || series->value == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        level = i64_add(level, changes[i].delta);
        if (i + 1 < count && changes[i + 1].at_ns == changes[i].at_ns) {
            continue;
        }
        series->at_ns[series->count] = changes[i].at_ns;
        series->value[series->count++] = level;
    }
    if (series->count > 0 && series->end_ns < series->at_ns[series->count - 1]) {
        series->end_ns = series->at_ns[series->count - 1];
    }
    return series_finish(series);
}

static int time_cmp(const void *a, const void *b, const void *arg)
{
    const int64_t *x = a;
    const int64_t *y = b;
    (void)arg;
    return COMPARE(*x, *y);
}

/* Calls the launches of which count; at_ns NULL only counts them. */
static size_t collect_launches(const struct trace *trace, uint32_t process, uint32_t thread,
                               int64_t *at_ns)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    size_t count = 0;
    struct trace_slice lanes = thread != TRACE_NONE ? trace_thread_lanes(trace, thread)
                                                    : trace_process_lanes(trace, process);
    for (uint32_t l = lanes.first; l < lanes.end; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_API) {
            continue;
        }
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if ((trace->names[api->name[i]].api & TRACE_API_LAUNCH) == 0) {
                continue;
            }
            if (at_ns != NULL) {
                at_ns[count] = api->begin_ns[i];
            }
            count++;
        }
    }
    return count;
}

int series_launches(const struct trace *trace, uint32_t process, uint32_t thread,
                    struct series *out, struct err *err)
{
    *out = (struct series){.kind = SERIES_LAUNCHES,
                           .label = "launches/ms",
                           .device = TRACE_NONE,
                           .process = process,
                           .thread = thread,
                           .end_ns = trace->end_ns};
    size_t count = collect_launches(trace, process, thread, NULL);
    out->at_ns = malloc((count + 1) * sizeof *out->at_ns);
    if (out->at_ns == NULL) {
        return err_nomem(err, "the launches");
    }
    out->count = collect_launches(trace, process, thread, out->at_ns);
    if (sort_runs(out->at_ns, out->count, sizeof *out->at_ns, time_cmp, NULL) != 0) {
        series_free(out);
        return err_nomem(err, "the launches");
    }
    series_pack(out);
    return 0;
}

/* The times at which ops of a device are queued, and at which these begin. */
struct queued {
    int64_t *up_ns; /* owned */
    int64_t *down_ns; /* owned */
    size_t count;
};

static void collect_queue(const struct trace *trace, uint32_t device, struct queued *out)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *own = &trace->devices[device];
    const int64_t *call_end_ns = trace->events[TRACE_API].end_ns;
    for (uint32_t l = 0; l < own->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[own->first_lane + l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            uint32_t call = gpu->link[i];
            if (call == TRACE_NONE || call_end_ns[call] >= gpu->begin_ns[i]) {
                continue;
            }
            out->up_ns[out->count] = call_end_ns[call];
            out->down_ns[out->count++] = gpu->begin_ns[i];
        }
    }
}

/* Merges both into levels. Nothing is queued at first: the level is known from the begin on. */
static void queue_levels(const struct queued *queued, int64_t begin_ns, struct series *out)
{
    size_t up = 0;
    size_t down = 0;
    int64_t t_ns = begin_ns;
    for (;;) {
        while (up < queued->count && queued->up_ns[up] <= t_ns) {
            up++;
        }
        while (down < queued->count && queued->down_ns[down] <= t_ns) {
            down++;
        }
        out->at_ns[out->count] = t_ns;
        out->value[out->count++] = (int64_t)up - (int64_t)down;
        if (down == queued->count) {
            return;
        }
        t_ns = queued->down_ns[down];
        if (up < queued->count && queued->up_ns[up] < t_ns) {
            t_ns = queued->up_ns[up];
        }
    }
}

static int queue_fill(const struct trace *trace, uint32_t device, struct queued *queued,
                      struct series *out)
{
    const struct trace_device *own = &trace->devices[device];
    size_t ops = 0;
    for (uint32_t l = 0; l < own->lane_count; l++) {
        ops += trace->lanes[own->first_lane + l].count;
    }
    queued->up_ns = malloc((ops + 1) * sizeof *queued->up_ns);
    queued->down_ns = malloc((ops + 1) * sizeof *queued->down_ns);
    if (queued->up_ns == NULL || queued->down_ns == NULL) {
        return -1;
    }
    collect_queue(trace, device, queued);
    out->at_ns = malloc((2 * queued->count + 1) * sizeof *out->at_ns);
    out->value = malloc((2 * queued->count + 1) * sizeof *out->value);
    if (out->at_ns == NULL || out->value == NULL ||
        sort_runs(queued->up_ns, queued->count, sizeof *queued->up_ns, time_cmp, NULL) != 0 ||
        sort_runs(queued->down_ns, queued->count, sizeof *queued->down_ns, time_cmp, NULL) != 0) {
        return -1;
    }
    queue_levels(queued, trace->begin_ns, out);
    return series_finish(out);
}

int series_queue(const struct trace *trace, uint32_t device, struct series *out, struct err *err)
{
    *out = (struct series){.kind = SERIES_QUEUE,
                           .label = "queue",
                           .device = device,
                           .process = TRACE_NONE,
                           .thread = TRACE_NONE,
                           .end_ns = trace->end_ns};
    struct queued queued = {0};
    int rc = queue_fill(trace, device, &queued, out);
    free(queued.up_ns);
    free(queued.down_ns);
    if (rc != 0) {
        series_free(out);
        return err_nomem(err, "the queue");
    }
    series_pack(out);
    return 0;
}

void series_free(struct series *series)
{
    if (!series->kept) {
        free(series->at_ns);
        free(series->block_at_ns);
        free(series->after_ns);
        free(series->value);
        free(series->small_value);
        free(series->block_area);
        free(series->block_max);
    }
    memset(series, 0, sizeof *series);
}

/* ---- sampling ---- */

/* The first point at t or later. */
static size_t point_at(const struct series *series, int64_t t_ns)
{
    size_t low = 0;
    BISECT(size_t, low, series->count, mid, series_at(series, mid) < t_ns)
    return low;
}

static double launches_in(const struct series *series, int64_t begin_ns, int64_t step_ns)
{
    int64_t width_ns = step_ns < MS_NS ? MS_NS : step_ns;
    int64_t from_ns = begin_ns - (width_ns - step_ns) / 2;
    size_t count = point_at(series, from_ns + width_ns) - point_at(series, from_ns);
    return (double)count * (double)MS_NS / (double)width_ns;
}

static int64_t point_end(const struct series *series, size_t i)
{
    return i + 1 < series->count ? series_at(series, i + 1) : series->end_ns;
}

/* value x ns of the points [first, last) as far as they lie in [begin, end). */
static double area_of(const struct series *series, size_t first, size_t last, int64_t begin_ns,
                      int64_t end_ns)
{
    double area = 0.0;
    for (size_t i = first; i < last; i++) {
        int64_t from_ns = series_at(series, i) > begin_ns ? series_at(series, i) : begin_ns;
        int64_t to_ns = point_end(series, i) < end_ns ? point_end(series, i) : end_ns;
        if (to_ns > from_ns) {
            area += (double)series_value(series, i) * (double)(to_ns - from_ns);
        }
    }
    return area;
}

/* The points [first, last) touch [begin, end). Whole blocks come from the sums. */
static double mean_of(const struct series *series, size_t first, size_t last, int64_t begin_ns,
                      int64_t end_ns)
{
    size_t block = first / SERIES_BLOCK + 1;
    size_t end_block = (last - 1) / SERIES_BLOCK;
    double area = 0.0;
    if (end_block <= block + 1) {
        area = area_of(series, first, last, begin_ns, end_ns);
    } else {
        area = area_of(series, first, block * SERIES_BLOCK, begin_ns, end_ns) +
               (series->block_area[end_block] - series->block_area[block]) +
               area_of(series, end_block * SERIES_BLOCK, last, begin_ns, end_ns);
    }
    return area / (double)(end_ns - begin_ns);
}

static double max_of(const struct series *series, size_t first, size_t last)
{
    int64_t max = series_value(series, first);
    for (size_t i = first; i < last;) {
        bool is_whole = i % SERIES_BLOCK == 0 && i + SERIES_BLOCK <= last;
        int64_t value = is_whole ? series->block_max[i / SERIES_BLOCK] : series_value(series, i);
        max = value > max ? value : max;
        i += is_whole ? SERIES_BLOCK : 1;
    }
    return (double)max;
}

static double level_in(const struct series *series, int64_t begin_ns, int64_t end_ns,
                       enum series_mode mode)
{
    if (series->count == 0) {
        return (double)NAN;
    }
    int64_t from_ns = begin_ns > series_at(series, 0) ? begin_ns : series_at(series, 0);
    int64_t to_ns = end_ns < series->end_ns ? end_ns : series->end_ns;
    if (to_ns <= from_ns) {
        return (double)NAN;
    }
    size_t first = point_at(series, from_ns + 1) - 1; /* the last point at from or before */
    size_t last = point_at(series, to_ns);
    return mode == SERIES_MAX ? max_of(series, first, last)
                              : mean_of(series, first, last, from_ns, to_ns);
}

void series_sample(const struct series *series, int64_t begin_ns, int64_t step_ns, int columns,
                   enum series_mode mode, double *out)
{
    for (int c = 0; c < columns; c++) {
        int64_t from_ns = begin_ns + step_ns * c;
        out[c] = series->kind == SERIES_LAUNCHES
                     ? launches_in(series, from_ns, step_ns)
                     : level_in(series, from_ns, from_ns + step_ns, mode);
    }
}
