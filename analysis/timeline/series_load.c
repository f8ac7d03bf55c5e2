/*
 * series_load: memory in use and GPU metrics, which are in the file alone.
 *
 * Memory: memory.h says what each event ends; here that becomes the changes of each device.
 * Metrics: one pass counts the samples of each, a second one fills its arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"
#include "analysis/facts/memory.h"
#include "analysis/store/store.h"
#include "analysis/timeline/series.h"
#include "analysis/timeline/series_internal.h"

enum {
    GPU_MASK = 0xFF, /* the low bits of a metric's type number are the GPU's */
};

struct series *series_set_add(struct series_set *set)
{
    struct series *grown = array_resize(set->list, set->count + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    set->list = grown;
    memset(&set->list[set->count], 0, sizeof *set->list);
    return &set->list[set->count++];
}

/* ---- memory ---- */

/* What an event does to the memory in use on a device. */
struct mem_change {
    uint32_t device; /* index, TRACE_NONE */
    int64_t device_id; /* as the process numbers it */
    struct series_change change;
};

/* A process's number of a device, as its lanes tell it. */
struct known {
    int64_t global_pid;
    int64_t device_id;
    uint32_t device;
};

static int known_cmp(const void *a, const void *b)
{
    const struct known *x = a;
    const struct known *y = b;
    int c = COMPARE(x->global_pid, y->global_pid);
    c = c != 0 ? c : COMPARE(x->device_id, y->device_id);
    return c != 0 ? c : COMPARE(x->device, y->device);
}

/* The caller frees. NULL without memory. */
static struct known *known_devices(const struct trace *trace, size_t *count)
{
    struct known *list = malloc(((size_t)trace->lane_count + 1) * sizeof *list);
    *count = 0;
    for (uint32_t l = 0; list != NULL && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table == TRACE_GPU) {
            list[(*count)++] = (struct known){trace->processes[lane->process].global_pid,
                                              lane->device_id, lane->device};
        }
    }
    if (list != NULL) {
        sort_list(list, *count, sizeof *list, known_cmp);
    }
    return list;
}

/* The device that a process means by a number: that of its lanes, else the one shown so. */
static uint32_t device_of(const struct trace *trace, const struct known *list, size_t count,
                          int64_t global_pid, int64_t device_id)
{
    const struct known key = {global_pid, device_id, 0};
    size_t at = 0;
    BISECT(size_t, at, count, mid, known_cmp(&list[mid], &key) < 0)
    if (at < count && list[at].global_pid == global_pid && list[at].device_id == device_id) {
        return list[at].device;
    }
    return trace_device_of(trace, device_id);
}

static int mem_cmp_device(const struct mem_change *x, const struct mem_change *y)
{
    int c = COMPARE(x->device, y->device);
    return c != 0 || x->device != TRACE_NONE ? c : COMPARE(x->device_id, y->device_id);
}

static int mem_cmp(const void *a, const void *b)
{
    const struct mem_change *x = a;
    const struct mem_change *y = b;
    int c = mem_cmp_device(x, y);
    return c != 0 ? c : COMPARE(x->change.at_ns, y->change.at_ns);
}

/* The changes of device memory, by device. *count of them. 0, or -1 without memory. */
static int mem_changes(const struct trace *trace, const struct memory_events *events,
                       struct mem_change *out, size_t *count)
{
    size_t n = 0;
    size_t known_count = 0;
    struct known *known = known_devices(trace, &known_count);
    if (known == NULL) {
        return -1;
    }
    for (size_t i = 0; i < events->count; i++) {
        const struct memory_event *event = &events->list[i];
        int64_t bytes = event->is_free || memory_on_host(event->kind) ? 0 : event->bytes;
        if (event->ended_bytes > 0 && !memory_on_host(event->ended_kind)) {
            bytes -= event->ended_bytes;
        }
        if (bytes == 0) {
            continue;
        }
        out[n++] = (struct mem_change){
            .device = device_of(trace, known, known_count, event->global_pid, event->device_id),
            .device_id = event->device_id,
            .change = {event->at_ns, bytes},
        };
    }
    free(known);
    sort_list(out, n, sizeof *out, mem_cmp);
    *count = n;
    return 0;
}

/* The series of the changes of one device. */
static int mem_series(const struct trace *trace, const struct mem_change *list, size_t count,
                      struct series_change *scratch, struct series_set *set)
{
    struct series *series = series_set_add(set);
    if (series == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        scratch[i] = list[i].change;
    }
    series->kind = SERIES_MEMORY;
    series->label = "memory";
    series->device = list->device;
    series->process = TRACE_NONE;
    series->thread = TRACE_NONE;
    series->end_ns = trace->end_ns;
    if (series_from_changes(series, scratch, count) != 0) {
        return -1;
    }
    series_pack(series);
    return 0;
}

static int mem_load(const struct trace *trace, struct store *store, struct series_set *set,
                    struct err *err)
{
    struct memory_events events;
    if (memory_read(store, &events, err) != 0) {
        return -1;
    }
    struct mem_change *list = malloc((events.count + 1) * sizeof *list);
    struct series_change *scratch = malloc((events.count + 1) * sizeof *scratch);
    int rc = list == NULL || scratch == NULL ? -1 : 0;
    size_t count = 0;
    rc = rc == 0 ? mem_changes(trace, &events, list, &count) : rc;
    for (size_t i = 0; rc == 0 && i < count;) {
        size_t end = i + 1;
        while (end < count && mem_cmp_device(&list[i], &list[end]) == 0) {
            end++;
        }
        rc = mem_series(trace, &list[i], end - i, scratch, set);
        i = end;
    }
    memory_free(&events);
    free(list);
    free(scratch);
    return rc == 0 ? 0 : err_nomem(err, "the memory in use");
}

/* ---- metrics ---- */

struct metric {
    int64_t type_id;
    int64_t metric_id;
    const char *label; /* in the arena of the set */
    size_t count; /* samples */
    size_t filled;
    size_t row; /* in the list of metrics of the file */
    struct series *series;
};

struct metrics {
    struct metric *list; /* owned */
    size_t count;
    size_t last; /* where the last sample was: the next is near */
};

static int metrics_read(struct store *store, struct series_set *set, struct metrics *out,
                        struct err *err)
{
    static const char *const columns[] = {"typeId", "metricId", "metricName"};
    const struct store_scan scan = {.table = "TARGET_INFO_GPU_METRICS",
                                    .columns = columns,
                                    .column_count = 3,
                                    .end_row = INT64_MAX};
    int64_t bound = store_count(store, scan.table, err);
    int rc = 0;
    if (bound < 0) {
        return -1;
    }
    out->list = calloc((size_t)bound + 1, sizeof *out->list);
    if (out->list == NULL) {
        return err_nomem(err, "the GPU metrics");
    }
    struct store_cursor *cursor = bound > 0 ? store_scan(store, &scan, err) : NULL;
    if (cursor == NULL) {
        return bound > 0 ? -1 : 0;
    }
    while (rc >= 0 && out->count < (size_t)bound && (rc = store_next(cursor, err)) == 1) {
        size_t len = 0;
        const char *name = store_text(cursor, 2, &len);
        struct metric *metric = &out->list[out->count];
        metric->type_id = store_int(cursor, 0, 0);
        metric->metric_id = store_int(cursor, 1, 0);
        metric->row = out->count++;
        metric->label = arena_copy(&set->arena, name != NULL ? name : "", name != NULL ? len : 0);
        if (metric->label == NULL) {
            rc = err_nomem(err, "the GPU metrics");
        }
    }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : 0;
}

/* Samples come in rounds over all metrics, so the next one is that behind the last. */
static struct metric *metrics_find(struct metrics *metrics, int64_t type_id, int64_t metric_id)
{
    for (size_t k = 0; k < metrics->count; k++) {
        size_t i = metrics->last + 1 + k;
        i -= i >= metrics->count ? metrics->count : 0;
        if (i >= metrics->count) {
            i -= metrics->count;
        }
        if (metrics->list[i].type_id == type_id && metrics->list[i].metric_id == metric_id) {
            metrics->last = i;
            return &metrics->list[i];
        }
    }
    return NULL;
}

/* One pass over the samples: counts them, or fills the arrays. */
static int samples_pass(struct store *store, struct metrics *metrics, bool is_fill, struct err *err)
{
    static const char *const columns[] = {"timestamp", "typeId", "metricId", "value"};
    const struct store_scan scan = {
        .table = "GPU_METRICS", .columns = columns, .column_count = 4, .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int rc = 0;
    if (cursor == NULL) {
        return -1;
    }
    while ((rc = store_next(cursor, err)) == 1) {
        struct metric *metric =
            metrics_find(metrics, store_int(cursor, 1, 0), store_int(cursor, 2, 0));
        if (metric == NULL || store_is_null(cursor, 0) || store_is_null(cursor, 3) ||
            !times_fit_at(store_int(cursor, 0, 0))) {
            continue;
        }
        if (!is_fill) {
            metric->count++;
        } else if (metric->filled < metric->count) {
            metric->series->at_ns[metric->filled] = store_int(cursor, 0, 0);
            metric->series->value[metric->filled++] = store_int(cursor, 3, 0);
        }
    }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : 0;
}

static uint32_t gpu_of(const struct trace *trace, int64_t type_id)
{
    return trace_device_of(trace, (int64_t)((uint64_t)type_id & GPU_MASK));
}

static int metric_cmp(const void *a, const void *b)
{
    const struct metric *x = a;
    const struct metric *y = b;
    int c = COMPARE(x->type_id & GPU_MASK, y->type_id & GPU_MASK);
    return c != 0 ? c : (x->row > y->row) - (x->row < y->row);
}

/* Makes the series of all metrics with samples; the list of the set does not grow after. */
static int metrics_alloc(const struct trace *trace, struct metrics *metrics, struct series_set *set,
                         struct err *err)
{
    size_t first = set->count;
    for (size_t i = 0; i < metrics->count; i++) {
        struct metric *metric = &metrics->list[i];
        struct series *series = metric->count > 0 ? series_set_add(set) : NULL;
        if (metric->count == 0) {
            continue;
        }
        if (series == NULL) {
            return err_nomem(err, "the GPU metrics");
        }
        series->kind = SERIES_METRIC;
        series->label = metric->label;
        series->device = gpu_of(trace, metric->type_id);
        series->process = TRACE_NONE;
        series->thread = TRACE_NONE;
        series->at_ns = malloc(metric->count * sizeof *series->at_ns);
        series->value = malloc(metric->count * sizeof *series->value);
        if (series->at_ns == NULL || series->value == NULL) {
            return err_nomem(err, "the GPU metrics");
        }
    }
    for (size_t i = 0; i < metrics->count; i++) {
        if (metrics->list[i].count > 0) {
            metrics->list[i].series = &set->list[first++];
        }
    }
    return 0;
}

struct sample {
    int64_t at_ns;
    int64_t value;
};

static int sample_cmp(const void *a, const void *b)
{
    const struct sample *x = a;
    const struct sample *y = b;
    return COMPARE(x->at_ns, y->at_ns);
}

/* Sorts the samples where they are not in order; of equal times the last one stands. */
static int samples_sort(struct series *series)
{
    bool is_sorted = true;
    for (size_t i = 1; i < series->count; i++) {
        is_sorted = is_sorted && series->at_ns[i - 1] < series->at_ns[i];
    }
    if (is_sorted) {
        return 0;
    }
    struct sample *samples = malloc(series->count * sizeof *samples);
    if (samples == NULL) {
        return -1;
    }
    for (size_t i = 0; i < series->count; i++) {
        samples[i] = (struct sample){series->at_ns[i], series->value[i]};
    }
    sort_list(samples, series->count, sizeof *samples, sample_cmp);
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        count -= count > 0 && series->at_ns[count - 1] == samples[i].at_ns ? 1 : 0;
        series->at_ns[count] = samples[i].at_ns;
        series->value[count++] = samples[i].value;
    }
    series->count = count;
    free(samples);
    return 0;
}

/* The last sample holds as long as samples do on average. */
static int metric_finish(struct metric *metric)
{
    struct series *series = metric->series;
    series->count = metric->filled;
    if (samples_sort(series) != 0) {
        return -1;
    }
    if (series->count > 0) {
        int64_t last_ns = series->at_ns[series->count - 1];
        int64_t span_ns = last_ns - series->at_ns[0];
        series->end_ns = last_ns + (series->count > 1 ? span_ns / (int64_t)(series->count - 1) : 1);
    }
    if (series_finish(series) != 0) {
        return -1;
    }
    series_pack(series);
    return 0;
}

static int metrics_load(const struct trace *trace, struct store *store, struct series_set *set,
                        struct err *err)
{
    struct metrics metrics = {0};
    int rc = metrics_read(store, set, &metrics, err);
    if (rc == 0 && metrics.count > 0) {
        sort_list(metrics.list, metrics.count, sizeof *metrics.list, metric_cmp);
        rc = samples_pass(store, &metrics, false, err);
        if (rc == 0) {
            rc = metrics_alloc(trace, &metrics, set, err);
        }
        if (rc == 0) {
            rc = samples_pass(store, &metrics, true, err);
        }
        for (size_t i = 0; rc == 0 && i < metrics.count; i++) {
            if (metrics.list[i].count > 0 && metric_finish(&metrics.list[i]) != 0) {
                rc = err_nomem(err, "the GPU metrics");
            }
        }
    }
    free(metrics.list);
    return rc;
}

/* ---- public ---- */

int series_load(const struct trace *trace, struct series_set *out, struct err *err)
{
    memset(out, 0, sizeof *out);
    if (series_set_take(trace, out)) {
        return 0;
    }
    struct store *store = trace_store(trace, err);
    if (store == NULL) {
        return -1;
    }
    int rc = mem_load(trace, store, out, err);
    if (rc == 0) {
        rc = metrics_load(trace, store, out, err);
    }
    store_close(store);
    if (trace_check(trace, err) != 0) {
        rc = -1;
    }
    if (rc != 0) {
        series_set_free(out);
    }
    return rc;
}

void series_set_free(struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        series_free(&set->list[i]);
    }
    free(set->list);
    arena_free(&set->arena);
    memset(set, 0, sizeof *set);
}
