/*
 * exec: cuda_kern_exec_sum and cuda_kern_exec_trace: a kernel's way from its launching call
 * over the queue to its end.
 *
 * Queue time is from the end of the call to the begin of the kernel; a kernel that began before its
 * call returned has none and does not count in its statistics. Total is from the begin of the call
 * to the end of kernel or call, whichever is later. Kernels without a call in the capture are left
 * out.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/report/common.h"
#include "analysis/report/gpu_rows.h"
#include "analysis/report/report_list.h"
#include "analysis/timeline/nvtx_ranges.h"

/* One kernel with its call. */
struct exec_times {
    uint32_t op;
    uint32_t api;
    int64_t api_ns;
    int64_t queue_ns; /* -1 = none */
    int64_t kernel_ns;
    int64_t total_ns;
};

/* False: the kernel has no kept call. */
static bool exec_times_of(const struct report_context *c, uint32_t op, struct exec_times *out)
{
    const struct trace_events *gpu = &c->trace->events[TRACE_GPU];
    const struct trace_events *api = &c->trace->events[TRACE_API];
    uint32_t call = gpu->link[op];
    if (call == TRACE_NONE || !kit_event(c, TRACE_API, call, UINT32_MAX) ||
        !select_lane(c->trace, c->select,
                     &c->trace->lanes[trace_lane_of(c->trace, TRACE_API, call)])) {
        return false;
    }
    int64_t end_ns = api->end_ns[call] > gpu->end_ns[op] ? api->end_ns[call] : gpu->end_ns[op];
    int64_t queue_ns = gpu->begin_ns[op] - api->end_ns[call];
    *out = (struct exec_times){
        .op = op,
        .api = call,
        .api_ns = api->end_ns[call] - api->begin_ns[call],
        .queue_ns = queue_ns >= 0 ? queue_ns : -1,
        .kernel_ns = gpu->end_ns[op] - gpu->begin_ns[op],
        .total_ns = end_ns - api->begin_ns[call],
    };
    return true;
}

/* What both reports walk over. */
struct exec_work {
    const struct report_context *c;
    struct selected events;
    const uint32_t *innermost;
    struct buf text;
};

static int exec_work_new(const struct report_context *c, struct exec_work *out, struct err *err)
{
    *out = (struct exec_work){.c = c};
    if (selected_new(c->trace, c->select, TRACE_GPU, KIT_KERNELS, &out->events, err) != 0) {
        return -1;
    }
    if (c->args[KIT_ARG_NVTX_NAME].given) {
        out->innermost = shared_innermost(c->shared, c->select, err);
        return out->innermost == NULL ? -1 : 0;
    }
    return 0;
}

static void exec_work_free(struct exec_work *work)
{
    selected_free(&work->events);
    buf_free(&work->text);
}

static struct kit_text exec_label(struct exec_work *work, uint32_t op)
{
    buf_reset(&work->text);
    kit_kernel_in_range(&work->text, work->c, work->innermost, op);
    return (struct kit_text){buf_text(&work->text), work->text.len};
}

static const struct trace_lane *exec_api_lane(const struct trace *trace, uint32_t api)
{
    return &trace->lanes[trace_lane_of(trace, TRACE_API, api)];
}

/* ---- cuda_kern_exec_sum ---- */

enum {
    EXEC_TOTAL,
    EXEC_API,
    EXEC_QUEUE,
    EXEC_KERNEL,
    EXEC_TIMES,
};

enum {
    EXEC_SUM_PID,
    EXEC_SUM_TID,
    EXEC_SUM_DEV_ID,
    EXEC_SUM_COUNT,
    EXEC_SUM_QCOUNT,
    EXEC_SUM_TAVG,
    EXEC_SUM_TMED,
    EXEC_SUM_TMIN,
    EXEC_SUM_TMAX,
    EXEC_SUM_TSTD_DEV,
    EXEC_SUM_AAVG,
    EXEC_SUM_AMED,
    EXEC_SUM_AMIN,
    EXEC_SUM_AMAX,
    EXEC_SUM_ASTD_DEV,
    EXEC_SUM_QAVG,
    EXEC_SUM_QMED,
    EXEC_SUM_QMIN,
    EXEC_SUM_QMAX,
    EXEC_SUM_QSTD_DEV,
    EXEC_SUM_KAVG,
    EXEC_SUM_KMED,
    EXEC_SUM_KMIN,
    EXEC_SUM_KMAX,
    EXEC_SUM_KSTD_DEV,
    EXEC_SUM_API_NAME,
    EXEC_SUM_KERNEL_NAME,
};

static const struct table_column EXEC_SUM_COLUMNS[] = {
    [EXEC_SUM_PID] = {"PID", TABLE_INT, 0},
    [EXEC_SUM_TID] = {"TID", TABLE_INT, 0},
    [EXEC_SUM_DEV_ID] = {"DevId", TABLE_INT, 0},
    [EXEC_SUM_COUNT] = {"Count", TABLE_INT, 0},
    [EXEC_SUM_QCOUNT] = {"QCount", TABLE_INT, 0},
    [EXEC_SUM_TAVG] = {"TAvg", TABLE_TIME_1, 0},
    [EXEC_SUM_TMED] = {"TMed", TABLE_TIME_1, 0},
    [EXEC_SUM_TMIN] = {"TMin", TABLE_TIME, 0},
    [EXEC_SUM_TMAX] = {"TMax", TABLE_TIME, 0},
    [EXEC_SUM_TSTD_DEV] = {"TStdDev", TABLE_TIME_1, 0},
    [EXEC_SUM_AAVG] = {"AAvg", TABLE_TIME_1, 0},
    [EXEC_SUM_AMED] = {"AMed", TABLE_TIME_1, 0},
    [EXEC_SUM_AMIN] = {"AMin", TABLE_TIME, 0},
    [EXEC_SUM_AMAX] = {"AMax", TABLE_TIME, 0},
    [EXEC_SUM_ASTD_DEV] = {"AStdDev", TABLE_TIME_1, 0},
    [EXEC_SUM_QAVG] = {"QAvg", TABLE_TIME_1, 0},
    [EXEC_SUM_QMED] = {"QMed", TABLE_TIME_1, 0},
    [EXEC_SUM_QMIN] = {"QMin", TABLE_TIME, 0},
    [EXEC_SUM_QMAX] = {"QMax", TABLE_TIME, 0},
    [EXEC_SUM_QSTD_DEV] = {"QStdDev", TABLE_TIME_1, 0},
    [EXEC_SUM_KAVG] = {"KAvg", TABLE_TIME_1, 0},
    [EXEC_SUM_KMED] = {"KMed", TABLE_TIME_1, 0},
    [EXEC_SUM_KMIN] = {"KMin", TABLE_TIME, 0},
    [EXEC_SUM_KMAX] = {"KMax", TABLE_TIME, 0},
    [EXEC_SUM_KSTD_DEV] = {"KStdDev", TABLE_TIME_1, 0},
    [EXEC_SUM_API_NAME] = {"API Name", TABLE_TEXT, 0},
    [EXEC_SUM_KERNEL_NAME] = {"Kernel Name", TABLE_TEXT, 0},
};

/* A group: its bytes are the key, so there is no padding. */
struct exec_key {
    int64_t device_id;
    uint32_t thread;
    uint32_t api_text;
    uint32_t kernel_text;
    uint32_t unused;
};

struct exec_groups {
    struct intern keys;
    struct intern texts;
    struct stat_groups times[EXEC_TIMES];
};

static void exec_groups_add(struct exec_work *work, const struct exec_times *times,
                            struct exec_groups *groups)
{
    const struct trace *trace = work->c->trace;
    struct kit_text api = kit_api(trace, trace->events[TRACE_API].name[times->api]);
    struct kit_text kernel = exec_label(work, times->op);
    struct exec_key key = {
        .device_id = trace->lanes[trace_lane_of(trace, TRACE_GPU, times->op)].device_id,
        .thread = exec_api_lane(trace, times->api)->thread,
        .api_text = intern_add(&groups->texts, api.text, api.len),
        .kernel_text = intern_add(&groups->texts, kernel.text, kernel.len),
    };
    uint32_t group = intern_add(&groups->keys, (const char *)&key, sizeof key);
    if (group == INTERN_NONE || key.api_text == INTERN_NONE || key.kernel_text == INTERN_NONE) {
        groups->times[0].failed = 1;
        return;
    }
    stat_groups_add(&groups->times[EXEC_TOTAL], group, times->total_ns);
    stat_groups_add(&groups->times[EXEC_API], group, times->api_ns);
    stat_groups_add(&groups->times[EXEC_KERNEL], group, times->kernel_ns);
    if (times->queue_ns >= 0) {
        stat_groups_add(&groups->times[EXEC_QUEUE], group, times->queue_ns);
    }
}

static void exec_put_stat(struct table *table, const struct stat_sum *sum)
{
    if (sum->count == 0) {
        for (int i = 0; i < 5; i++) {
            table_put_empty(table);
        }
        return;
    }
    table_put_real(table, sum->mean);
    table_put_real(table, sum->median);
    table_put_int(table, sum->min);
    table_put_int(table, sum->max);
    table_put_real(table, sum->deviation);
}

static void exec_groups_put(const struct trace *trace, struct exec_groups *groups, uint32_t group,
                            struct table *table)
{
    struct stat_sum sums[EXEC_TIMES];
    struct exec_key key;
    memcpy(&key, intern_text(&groups->keys, group), sizeof key);
    const struct trace_thread *thread = &trace->threads[key.thread];
    for (int i = 0; i < EXEC_TIMES; i++) {
        size_t count;
        int64_t *values = stat_groups_values(&groups->times[i], group, &count);
        sums[i] = stat_of(values, count);
    }
    table_put_int(table, trace->processes[thread->process].pid);
    table_put_int(table, thread->tid);
    table_put_int(table, key.device_id);
    table_put_int(table, sums[EXEC_TOTAL].count);
    table_put_int(table, sums[EXEC_QUEUE].count);
    for (int i = 0; i < EXEC_TIMES; i++) {
        exec_put_stat(table, &sums[i]);
    }
    table_put_text(table, intern_text(&groups->texts, key.api_text),
                   intern_len(&groups->texts, key.api_text));
    table_put_text(table, intern_text(&groups->texts, key.kernel_text),
                   intern_len(&groups->texts, key.kernel_text));
}

static int exec_sum(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct exec_groups groups = {.keys = {.count = 0}};
    struct exec_work work;
    struct exec_times times;
    int rc = exec_work_new(c, &work, err);
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    kit_need_calls(c, out);
    out->table = TABLE_NEW(REPORT_CUDA_KERN_EXEC_SUM.title, EXEC_SUM_COLUMNS);
    for (size_t k = 0; rc == 0 && k < work.events.count; k++) {
        if (exec_times_of(c, work.events.list[k], &times)) {
            exec_groups_add(&work, &times, &groups);
        }
    }
    for (int i = 0; rc == 0 && i < EXEC_TIMES; i++) {
        rc = stat_groups_sort(&groups.times[i], groups.keys.count);
    }
    for (uint32_t g = 0; rc == 0 && out->table != NULL && g < groups.keys.count; g++) {
        exec_groups_put(c->trace, &groups, g, out->table);
    }
    if (rc == 0 && out->table != NULL) {
        table_sort(out->table, EXEC_SUM_TAVG, true);
    }
    for (int i = 0; i < EXEC_TIMES; i++) {
        stat_groups_free(&groups.times[i]);
    }
    intern_free(&groups.keys);
    intern_free(&groups.texts);
    exec_work_free(&work);
    return rc;
}

/* ---- cuda_kern_exec_trace ---- */

enum {
    EXEC_TRACE_API_START,
    EXEC_TRACE_API_DUR,
    EXEC_TRACE_QUEUE_START,
    EXEC_TRACE_QUEUE_DUR,
    EXEC_TRACE_KERNEL_START,
    EXEC_TRACE_KERNEL_DUR,
    EXEC_TRACE_TOTAL_DUR,
    EXEC_TRACE_PID,
    EXEC_TRACE_TID,
    EXEC_TRACE_DEV_ID,
    EXEC_TRACE_API_FUNCTION,
    EXEC_TRACE_GRID_XYZ,
    EXEC_TRACE_BLOCK_XYZ,
    EXEC_TRACE_KERNEL_NAME,
};

static const struct table_column EXEC_TRACE_COLUMNS[] = {
    [EXEC_TRACE_API_START] = {"API Start", TABLE_TIME, 0},
    [EXEC_TRACE_API_DUR] = {"API Dur", TABLE_TIME, 0},
    [EXEC_TRACE_QUEUE_START] = {"Queue Start", TABLE_TIME, 0},
    [EXEC_TRACE_QUEUE_DUR] = {"Queue Dur", TABLE_TIME, 0},
    [EXEC_TRACE_KERNEL_START] = {"Kernel Start", TABLE_TIME, 0},
    [EXEC_TRACE_KERNEL_DUR] = {"Kernel Dur", TABLE_TIME, 0},
    [EXEC_TRACE_TOTAL_DUR] = {"Total Dur", TABLE_TIME, 0},
    [EXEC_TRACE_PID] = {"PID", TABLE_INT, 0},
    [EXEC_TRACE_TID] = {"TID", TABLE_INT, 0},
    [EXEC_TRACE_DEV_ID] = {"DevId", TABLE_INT, 0},
    [EXEC_TRACE_API_FUNCTION] = {"API Function", TABLE_TEXT, 0},
    [EXEC_TRACE_GRID_XYZ] = {"GridXYZ", TABLE_TEXT, 0},
    [EXEC_TRACE_BLOCK_XYZ] = {"BlockXYZ", TABLE_TEXT, 0},
    [EXEC_TRACE_KERNEL_NAME] = {"Kernel Name", TABLE_TEXT, 0},
};

static void exec_put_xyz(struct table *table, const int64_t *xyz)
{
    struct buf text = {0};
    kit_xyz(&text, xyz);
    if (xyz[0] < 0) {
        table_put_empty(table);
    } else {
        table_put_text(table, buf_text(&text), text.len);
    }
    buf_free(&text);
}

static void exec_put(struct exec_work *work, const struct exec_times *times,
                     const struct gpu_row *row, struct table *table)
{
    const struct trace *trace = work->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct trace_lane *lane = exec_api_lane(trace, times->api);
    table_put_int(table, api->begin_ns[times->api]);
    table_put_int(table, times->api_ns);
    if (times->queue_ns < 0) {
        table_put_empty(table);
        table_put_empty(table);
    } else {
        table_put_int(table, api->end_ns[times->api]);
        table_put_int(table, times->queue_ns);
    }
    table_put_int(table, gpu->begin_ns[times->op]);
    table_put_int(table, times->kernel_ns);
    table_put_int(table, times->total_ns);
    table_put_int(table, trace->processes[lane->process].pid);
    table_put_int(table, trace->threads[lane->thread].tid);
    table_put_int(table, trace->lanes[trace_lane_of(trace, TRACE_GPU, times->op)].device_id);
    kit_put_text(table, kit_api(trace, api->name[times->api]));
    exec_put_xyz(table, row->grid);
    exec_put_xyz(table, row->block);
    kit_put_text(table, exec_label(work, times->op));
}

static int exec_trace(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct exec_work work;
    struct exec_times times;
    struct gpu_row *rows = NULL;
    int rc = exec_work_new(c, &work, err);
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    kit_need_calls(c, out);
    out->table = TABLE_NEW(REPORT_CUDA_KERN_EXEC_TRACE.title, EXEC_TRACE_COLUMNS);
    if (rc == 0) {
        struct store *store = shared_store(c->shared, err);
        rows = store == NULL ? NULL : gpu_rows_new(c->trace, store, &work.events, err);
        rc = rows == NULL ? -1 : 0;
    }
    for (size_t k = 0; rc == 0 && out->table != NULL && k < work.events.count; k++) {
        if (exec_times_of(c, work.events.list[k], &times)) {
            exec_put(&work, &times, &rows[k], out->table);
        }
    }
    if (rc == 0 && out->table != NULL) {
        table_sort(out->table, EXEC_TRACE_API_START, false);
    }
    free(rows);
    exec_work_free(&work);
    return rc;
}

const struct report REPORT_CUDA_KERN_EXEC_SUM = {
    .name = "cuda_kern_exec_sum",
    .title = "CUDA Kernel Launch & Exec Time Summary",
    .kinds = KIT_KERNELS | 1U << TRACE_API_CALL,
    .help = "time of launch (A), queue (Q), kernel (K) and all (T) for each kernel and thread",
    .missing = "CUDA kernel data",
    .args = KIT_KERNEL_ARGS,
    .run = exec_sum,
};
const struct report REPORT_CUDA_KERN_EXEC_TRACE = {
    .name = "cuda_kern_exec_trace",
    .title = "CUDA Kernel Launch & Exec Time Trace",
    .kinds = KIT_KERNELS | 1U << TRACE_API_CALL,
    .help = "each kernel with its launching call and the time it waited in the queue",
    .missing = "CUDA kernel data",
    .args = KIT_KERNEL_ARGS,
    .run = exec_trace,
};
