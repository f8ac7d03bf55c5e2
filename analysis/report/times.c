/*
 * times: how times spread, beyond what nsys prints: percentiles and histograms of kernels,
 * one range or kernel over the run, what a device did at each time.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/filter/range_name.h"
#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/table/spark.h"
#include "analysis/timeline/overlap.h"

/* ---- cuda_gpu_kern_pct ---- */

static const struct report_arg TIME_KERNEL_ARGS[] = {
    {"base", REPORT_ARG_FLAG, 0, NULL, "short kernel names, without templates and parameters"},
    {"mangled", REPORT_ARG_FLAG, 0, NULL, "mangled kernel names, where the capture has them"},
    {0},
};

enum {
    PCT_TIME_PERCENT,
    PCT_TOTAL_TIME,
    PCT_INSTANCES,
    PCT_MIN,
    PCT_P50,
    PCT_P90,
    PCT_P99,
    PCT_MAX,
    PCT_HISTOGRAM,
    PCT_NAME,
};

static const struct table_column PCT_COLUMNS[] = {
    [PCT_TIME_PERCENT] = {"Time (%)", TABLE_PERCENT, 0},
    [PCT_TOTAL_TIME] = {"Total Time", TABLE_TIME, 0},
    [PCT_INSTANCES] = {"Instances", TABLE_INT, 0},
    [PCT_MIN] = {"Min", TABLE_TIME, 0},
    [PCT_P50] = {"P50", TABLE_TIME, 0},
    [PCT_P90] = {"P90", TABLE_TIME, 0},
    [PCT_P99] = {"P99", TABLE_TIME, 0},
    [PCT_MAX] = {"Max", TABLE_TIME, 0},
    [PCT_HISTOGRAM] = {"Histogram", TABLE_TEXT, 0},
    [PCT_NAME] = {"Name", TABLE_TEXT, 0},
};

enum {
    PCT_BINS = 16, /* of the histogram, from Min to Max on a log scale */
};

/* Durations by label. */
struct pct_work {
    struct intern labels;
    struct stat_groups times;
    double all_ns;
};

static void pct_put(struct pct_work *work, uint32_t group, struct table *table)
{
    struct spark_bins bins;
    struct buf line = {0};
    size_t count;
    int64_t *values = stat_groups_values(&work->times, group, &count);
    struct stat_sum sum = stat_of(values, count);
    table_put_real(table, work->all_ns > 0 ? 100.0 * (double)sum.total / work->all_ns : 0.0);
    table_put_int(table, sum.total);
    table_put_int(table, sum.count);
    table_put_int(table, sum.min);
    table_put_int(table, stat_percentile(values, count, 50));
    table_put_int(table, stat_percentile(values, count, 90));
    table_put_int(table, stat_percentile(values, count, 99));
    table_put_int(table, sum.max);
    spark_bins_make(&bins, values, count, PCT_BINS);
    spark_bins_line(&line, &bins, false);
    table_put_text(table, buf_text(&line), line.len);
    buf_free(&line);
    table_put_text(table, intern_text(&work->labels, group), intern_len(&work->labels, group));
}

static int pct_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    const struct trace_events *gpu = &c->trace->events[TRACE_GPU];
    struct report_value args[KIT_ARG_COUNT] = {{0}};
    struct pct_work work = {.all_ns = 0};
    struct selected events;
    int rc = selected_new(c->trace, c->select, TRACE_GPU, KIT_KERNELS, &events, err);
    args[KIT_ARG_BASE] = c->args[0];
    args[KIT_ARG_MANGLED] = c->args[1];
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_CUDA_GPU_KERN_PCT.title, PCT_COLUMNS);
    for (size_t k = 0; rc == 0 && k < events.count; k++) {
        uint32_t i = events.list[k];
        struct kit_text label = kit_kernel(c->trace, gpu->name[i], args);
        uint32_t group = intern_add(&work.labels, label.text, label.len);
        if (group == INTERN_NONE) {
            rc = -1;
        } else {
            stat_groups_add(&work.times, group, gpu->end_ns[i] - gpu->begin_ns[i]);
            work.all_ns += (double)(gpu->end_ns[i] - gpu->begin_ns[i]);
        }
    }
    selected_free(&events);
    if (rc == 0 && out->table != NULL && stat_groups_sort(&work.times, work.labels.count) == 0) {
        for (uint32_t g = 0; g < work.labels.count; g++) {
            pct_put(&work, g, out->table);
        }
        table_sort(out->table, PCT_NAME, false);
        table_sort(out->table, PCT_TOTAL_TIME, true);
    }
    kit_note_graphs(c, &out->note);
    intern_free(&work.labels);
    stat_groups_free(&work.times);
    return rc;
}

/* ---- nvtx_pace ---- */

static const struct report_arg PACE_ARGS[] = {
    {"name", REPORT_ARG_TEXT, 0, NULL,
     "the NVTX range (RANGE or DOMAIN:RANGE), or else the kernel, by its short or full name; "
     "default: "
     "the range with the most time among those with 3 instances or more, else the kernel"},
    {0},
};

static const struct table_column PACE_COLUMNS[] = {
    {"Instance", TABLE_INT, 0},
    {"Start", TABLE_TIME, 0},
    {"Duration", TABLE_TIME, 0},
    {"Start to Start", TABLE_TIME, 0},
    {"Against Median (%)", TABLE_REAL, 1},
    {"PID", TABLE_INT, 0},
    {"TID", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},
    {"Name", TABLE_TEXT, 0},
};

enum {
    PACE_KINDS_NVTX = KIT_PUSHPOP | KIT_STARTEND,
    PACE_SPARK_COLS = 60,
    PACE_LEAST = 3, /* instances of a range that is chosen by itself */
};

/* Which names are meant. */
struct pace_names {
    bool *wanted; /* owned, by name number */
    enum trace_table table;
};

static bool pace_is_text(const char *text, size_t len, const char *want)
{
    return strlen(want) == len && memcmp(text, want, len) == 0;
}

/* Marks the kernels that are the text. Returns how many. */
static size_t pace_mark_kernels(const struct trace *trace, const char *text, bool *wanted)
{
    size_t count = 0;
    for (uint32_t i = 0; i < trace->name_count; i++) {
        const struct trace_name *n = &trace->names[i];
        wanted[i] = n->kind == TRACE_KERNEL && (pace_is_text(n->full, n->full_len, text) ||
                                                pace_is_text(n->brief, n->brief_len, text));
        count += wanted[i] ? 1 : 0;
    }
    return count;
}

/* The name of some kinds with the most time among those with `least` kept instances or more;
 * TRACE_NONE if none. */
static uint32_t pace_choose(const struct report_context *c, enum trace_table table, uint32_t kinds,
                            uint32_t least, struct err *err)
{
    const struct trace_events *all = &c->trace->events[table];
    struct selected events;
    int64_t *ns = calloc((size_t)c->trace->name_count + 1, sizeof *ns);
    uint32_t *count = calloc((size_t)c->trace->name_count + 1, sizeof *count);
    uint32_t best = TRACE_NONE;
    if (ns != NULL && count != NULL &&
        selected_new(c->trace, c->select, table, kinds, &events, err) == 0) {
        for (size_t k = 0; k < events.count; k++) {
            uint32_t event = events.list[k];
            ns[all->name[event]] += all->end_ns[event] - all->begin_ns[event];
            count[all->name[event]]++;
        }
        for (uint32_t i = 0; i < c->trace->name_count; i++) {
            if (count[i] >= least && (best == TRACE_NONE || ns[i] > ns[best])) {
                best = i;
            }
        }
        selected_free(&events);
    }
    free(ns);
    free(count);
    return best;
}

/* 0; -1: no such name. */
static int pace_find(const struct report_context *c, struct pace_names *names, struct err *err)
{
    const char *text = c->args[0].text;
    names->table = TRACE_NVTX;
    if (text != NULL) {
        struct range_name form;
        if (range_name_mark(c->trace, text, RANGE_NAME_ANY_DOMAIN, names->wanted, &form) > 0) {
            return 0;
        }
        names->table = TRACE_GPU;
        if (pace_mark_kernels(c->trace, text, names->wanted) > 0) {
            return 0;
        }
        return err_set(err,
                       "no NVTX range or kernel '%s'; nvtx_sum and cuda_gpu_kern_sum:base "
                       "list them",
                       text);
    }
    uint32_t chosen = pace_choose(c, TRACE_NVTX, PACE_KINDS_NVTX, PACE_LEAST, err);
    if (chosen == TRACE_NONE) {
        names->table = TRACE_GPU;
        chosen = pace_choose(c, TRACE_GPU, KIT_KERNELS, 1, err);
    }
    if (chosen != TRACE_NONE) {
        names->wanted[chosen] = true;
    }
    return 0;
}

static void pace_put(const struct report_context *c, enum trace_table table_kind, uint32_t event,
                     double median, struct table *table)
{
    const struct trace *trace = c->trace;
    const struct trace_events *all = &trace->events[table_kind];
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, table_kind, event)];
    int64_t ns = all->end_ns[event] - all->begin_ns[event];
    struct buf label = {0};
    table_put_real(table, median > 0 ? 100.0 * ((double)ns - median) / median : 0.0);
    table_put_int(table, trace->processes[lane->process].pid);
    if (table_kind == TRACE_NVTX) {
        table_put_int(table, trace->threads[lane->thread].tid);
        table_put_empty(table);
        kit_nvtx(&label, trace, all->name[event]);
    } else {
        struct kit_text name = kit_kernel(trace, all->name[event], NULL);
        table_put_empty(table);
        table_put_int(table, trace->devices[lane->device].id);
        buf_add(&label, name.text, name.len);
    }
    table_put_text(table, buf_text(&label), label.len);
    buf_free(&label);
}

/* The longest instance of each of up to 60 equal parts of the list, as a sparkline. */
static void pace_note(const int64_t *ns, size_t count, const struct stat_sum *sum, struct buf *note)
{
    double columns[PACE_SPARK_COLS] = {0};
    size_t cols = count < PACE_SPARK_COLS ? count : PACE_SPARK_COLS;
    char text[3][TIMEFMT_BYTES];
    for (size_t k = 0; k < count; k++) {
        size_t at = k * cols / count;
        columns[at] = (double)ns[k] > columns[at] ? (double)ns[k] : columns[at];
    }
    buf_addf(note, "%lld instances, median %s, shortest %s, longest %s\n", (long long)sum->count,
             timefmt_duration((int64_t)sum->median, text[0]), timefmt_duration(sum->min, text[1]),
             timefmt_duration(sum->max, text[2]));
    spark_line(note, columns, cols, 0, false);
    buf_addc(note, '\n');
}

/* Whose pace it is: the thread of a range, the device of a kernel. */
static uint32_t pace_who(const struct trace *trace, enum trace_table table, uint32_t event)
{
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, table, event)];
    return table == TRACE_NVTX ? lane->thread : lane->device;
}

static int pace_fill(const struct report_context *c, const struct pace_names *names,
                     struct report_result *out, struct err *err)
{
    const struct trace_events *all = &c->trace->events[names->table];
    struct selected events;
    size_t who_bytes =
        ((size_t)c->trace->thread_count + c->trace->device_count + 1) * sizeof(uint32_t);
    uint32_t *last; /* the latest instance of each thread or device */
    struct stat_sum sum = {0};
    size_t count = 0;
    size_t k;
    if (selected_new(c->trace, c->select, names->table, UINT32_MAX, &events, err) != 0) {
        return -1;
    }
    last = malloc(who_bytes);
    if (last != NULL) {
        memset(last, 0xFF, who_bytes);
    }
    int64_t *ns = malloc((events.count + 1) * sizeof *ns);
    int64_t *scratch = malloc((events.count + 1) * sizeof *scratch);
    for (k = 0; ns != NULL && scratch != NULL && k < events.count; k++) {
        uint32_t event = events.list[k];
        if (names->wanted[all->name[event]]) {
            ns[count] = all->end_ns[event] - all->begin_ns[event];
            scratch[count] = ns[count];
            events.list[count++] = event;
        }
    }
    if (scratch != NULL) {
        sum = stat_of(scratch, count);
    }
    for (k = 0; last != NULL && ns != NULL && scratch != NULL && k < count; k++) {
        uint32_t event = events.list[k];
        uint32_t who = pace_who(c->trace, names->table, event);
        table_put_int(out->table, (int64_t)k + 1);
        table_put_int(out->table, all->begin_ns[event]);
        table_put_int(out->table, ns[k]);
        if (last[who] == TRACE_NONE) {
            table_put_empty(out->table);
        } else {
            table_put_int(out->table, all->begin_ns[event] - all->begin_ns[last[who]]);
        }
        last[who] = event;
        pace_put(c, names->table, event, sum.median, out->table);
    }
    if (ns != NULL && scratch != NULL && count > 0) {
        pace_note(ns, count, &sum, &out->note);
    }
    k = last != NULL && ns != NULL && scratch != NULL;
    free(last);
    free(ns);
    free(scratch);
    selected_free(&events);
    return k ? 0 : err_nomem(err, "the instances");
}

static int pace_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct pace_names names = {0};
    out->status =
        c->trace->counts.nvtx_ranges + c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_NVTX_PACE.title, PACE_COLUMNS);
    names.wanted = calloc((size_t)c->trace->name_count + 1, sizeof *names.wanted);
    if (out->table == NULL || names.wanted == NULL) {
        free(names.wanted);
        return err_nomem(err, "the pace");
    }
    int rc = pace_find(c, &names, err);
    if (rc == 0) {
        rc = pace_fill(c, &names, out, err);
    }
    free(names.wanted);
    return rc;
}

/* ---- overlap ---- */

static const struct table_column OVERLAP_COLUMNS[] = {
    {"Device ID", TABLE_INT, 0}, {"Activity", TABLE_TEXT, 0}, {"Time (%)", TABLE_PERCENT, 0},
    {"Time", TABLE_TIME, 0},     {"Device", TABLE_TEXT, 0},
};

static void overlap_put(const struct trace_device *device, const char *activity, int64_t ns,
                        int64_t all_ns, struct table *table)
{
    table_put_int(table, device->id);
    kit_put(table, activity);
    table_put_real(table, all_ns > 0 ? 100.0 * (double)ns / (double)all_ns : 0.0);
    table_put_int(table, ns);
    table_put_text(table, device->name, device->name_len);
}

/* The five parts of one device, in the window of its ops (cut to the time filter). */
static void overlap_device(const struct report_context *c, const struct overlap *overlap,
                           uint32_t d, struct table *table)
{
    const struct trace_device *device = &c->trace->devices[d];
    int64_t begin_ns = device->busy_begin_ns[0];
    int64_t end_ns = device->busy_end_ns[device->busy_count - 1];
    struct overlap_sums sums;
    struct overlap_parts parts;
    begin_ns = begin_ns < c->select->begin_ns ? c->select->begin_ns : begin_ns;
    end_ns = end_ns > c->select->end_ns ? c->select->end_ns : end_ns;
    if (begin_ns < end_ns) {
        sums = overlap_in(overlap, d, begin_ns, end_ns);
        parts = overlap_parts(&sums);
        overlap_put(device, "compute only", parts.compute_only_ns, end_ns - begin_ns, table);
        overlap_put(device, "communication only", parts.communication_only_ns, end_ns - begin_ns,
                    table);
        overlap_put(device, "compute and communication", parts.both_ns, end_ns - begin_ns, table);
        overlap_put(device, "copy only", parts.copy_only_ns, end_ns - begin_ns, table);
        overlap_put(device, "idle", parts.idle_ns, end_ns - begin_ns, table);
    }
}

static int overlap_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct overlap *overlap = overlap_new(c->trace, NULL, err);
    out->status = c->trace->device_count > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_OVERLAP.title, OVERLAP_COLUMNS);
    for (uint32_t d = 0; overlap != NULL && out->table != NULL && d < c->trace->device_count; d++) {
        const struct trace_device *device = &c->trace->devices[d];
        if (device->busy_count > 0 && (c->select->device < 0 || device->id == c->select->device)) {
            overlap_device(c, overlap, d, out->table);
        }
    }
    overlap_free(overlap);
    return overlap == NULL ? -1 : 0;
}

const struct report REPORT_CUDA_GPU_KERN_PCT = {
    .name = "cuda_gpu_kern_pct",
    .title = "CUDA GPU Kernel Percentiles",
    .kinds = KIT_KERNELS | 1U << TRACE_GRAPH,
    .help = "half, 90 % and 99 % of each kernel's instances take no longer than this; a histogram "
            "from Min to Max on a log scale",
    .missing = "CUDA kernel data",
    .args = TIME_KERNEL_ARGS,
    .run = pct_run,
};
const struct report REPORT_NVTX_PACE = {
    .name = "nvtx_pace",
    .title = "Pace of a Range or Kernel",
    .kinds = KIT_PUSHPOP | KIT_STARTEND | KIT_KERNELS,
    .help = "each instance of one NVTX range or kernel over the run",
    .missing = "NVTX or CUDA kernel data",
    .args = PACE_ARGS,
    .run = pace_run,
};
const struct report REPORT_OVERLAP = {
    .name = "overlap",
    .title = "Compute and Communication Overlap",
    .kinds = KIT_BUSY,
    .help = "what each device did between its first and its last op: compute, communication (nccl "
            "kernels), both, only copies, nothing",
    .missing = "GPU trace data",
    .run = overlap_run,
};
