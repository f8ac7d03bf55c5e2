/* nsys_traces: the lists of single events of `nsys stats`: API calls, and work on the GPU. */
#include <stdlib.h>
#include <string.h>

#include "analysis/report/common.h"
#include "analysis/report/gpu_rows.h"
#include "analysis/report/report_list.h"
#include "analysis/timeline/nvtx_ranges.h"

/* ---- cuda_api_trace ---- */

/* The result and correlation id of each call, in the file. */
struct api_row {
    int64_t result;
    int64_t correlation;
};

static void api_row_visit(void *arg, size_t k, struct store_cursor *row)
{
    struct api_row *rows = arg;
    rows[k] = (struct api_row){store_int(row, 0, INT64_MIN), store_int(row, 1, INT64_MIN)};
}

/* The priority of each thread; INT64_MIN where the file has none. NULL on failure. */
static int64_t *api_priorities(const struct trace *trace, struct store *store, struct err *err)
{
    static const char *const COLUMNS[] = {"globalTid", "priority"};
    struct store_scan scan = {
        .table = "ThreadNames", .columns = COLUMNS, .column_count = 2, .end_row = INT64_MAX};
    int64_t *priorities = malloc(((size_t)trace->thread_count + 1) * sizeof *priorities);
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int more = cursor == NULL ? -1 : 1;
    for (uint32_t i = 0; priorities != NULL && i < trace->thread_count; i++) {
        priorities[i] = INT64_MIN;
    }
    while (priorities != NULL && more == 1 && (more = store_next(cursor, err)) == 1) {
        uint32_t i = trace_thread_of(trace, store_int(cursor, 0, 0));
        if (i != TRACE_NONE && priorities[i] == INT64_MIN) {
            priorities[i] = store_int(cursor, 1, INT64_MIN);
        }
    }
    store_cursor_close(cursor);
    if (more < 0) {
        free(priorities);
        return NULL;
    }
    return priorities;
}

static void trace_put_known(struct table *table, int64_t value, int64_t unknown)
{
    if (value == unknown) {
        table_put_empty(table);
    } else {
        table_put_int(table, value);
    }
}

static const struct table_column API_COLUMNS[] = {
    {"Start", TABLE_TIME, 0}, {"Duration", TABLE_TIME, 0}, {"Name", TABLE_TEXT, 0},
    {"Result", TABLE_INT, 0}, {"CorrID", TABLE_INT, 0},    {"Pid", TABLE_INT, 0},
    {"Tid", TABLE_INT, 0},    {"T-Pri", TABLE_INT, 0},     {"Thread Name", TABLE_TEXT, 0},
};

static void api_put(const struct report_context *c, struct table *table, uint32_t i,
                    const struct api_row *row, const int64_t *priorities)
{
    const struct trace *trace = c->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_API, i)];
    const struct trace_thread *thread = &trace->threads[lane->thread];
    table_put_int(table, api->begin_ns[i]);
    table_put_int(table, api->end_ns[i] - api->begin_ns[i]);
    kit_put_text(table, kit_api(trace, api->name[i]));
    trace_put_known(table, row->result, INT64_MIN);
    trace_put_known(table, row->correlation, INT64_MIN);
    table_put_int(table, trace->processes[lane->process].pid);
    table_put_int(table, thread->tid);
    trace_put_known(table, priorities[lane->thread], INT64_MIN);
    table_put_text(table, thread->name, thread->name_len);
}

static int trace_api(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const char *const COLUMNS[] = {"returnValue", "correlationId"};
    struct rows_query pass = {.table = TRACE_API,
                              .kinds = UINT32_MAX,
                              .columns = COLUMNS,
                              .column_count = 2,
                              .visit = api_row_visit};
    struct selected events = {0};
    struct api_row *rows = NULL;
    int64_t *priorities = NULL;
    int rc = selected_new(c->trace, c->select, TRACE_API, UINT32_MAX, &events, err);
    out->status = c->trace->counts.api_calls > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_CUDA_API_TRACE.title, API_COLUMNS);
    if (rc == 0 && events.count > 0) {
        rows = calloc(events.count, sizeof *rows);
        pass.arg = rows;
        struct store *store = shared_store(c->shared, err);
        priorities = store == NULL ? NULL : api_priorities(c->trace, store, err);
        rc = rows == NULL || priorities == NULL
                 ? -1
                 : rows_visit(c->trace, store, events.list, events.count, &pass, err);
    }
    for (size_t k = 0; rc == 0 && out->table != NULL && k < events.count; k++) {
        api_put(c, out->table, events.list[k], &rows[k], priorities);
    }
    free(rows);
    free(priorities);
    selected_free(&events);
    return rc;
}

/* ---- cuda_gpu_trace ---- */

static const struct table_column GPU_COLUMNS[] = {
    {"Start", TABLE_TIME, 0},    {"Duration", TABLE_TIME, 0},
    {"CorrId", TABLE_INT, 0},    {"GrdX", TABLE_INT, 0},
    {"GrdY", TABLE_INT, 0},      {"GrdZ", TABLE_INT, 0},
    {"BlkX", TABLE_INT, 0},      {"BlkY", TABLE_INT, 0},
    {"BlkZ", TABLE_INT, 0},      {"Reg/Trd", TABLE_INT, 0},
    {"StcSMem", TABLE_MB, 0},    {"DymSMem", TABLE_MB, 0},
    {"Bytes", TABLE_MB, 0},      {"Throughput (MB/s)", TABLE_REAL, 3},
    {"SrcMemKd", TABLE_TEXT, 0}, {"DstMemKd", TABLE_TEXT, 0},
    {"Device", TABLE_TEXT, 0},   {"Ctx", TABLE_INT, 0},
    {"GreenCtx", TABLE_INT, 0},  {"Strm", TABLE_INT, 0},
    {"Name", TABLE_TEXT, 0},
};

/* The parts of a GPU list. */
struct gpu_list {
    const struct report_context *c;
    struct selected events;
    struct gpu_row *rows;
    const uint32_t *innermost; /* shared, as the store is */
    struct store *store; /* for labels */
    struct buf text; /* scratch */
};

static void gpu_put_kind(const struct gpu_list *list, struct table *table, int kind)
{
    const char *label = kind < 0 ? NULL : store_enum_label(list->store, STORE_ENUM_MEM_KIND, kind);
    if (label == NULL) {
        table_put_empty(table);
    } else {
        kit_put(table, label);
    }
}

static void gpu_put_device(struct gpu_list *list, struct table *table,
                           const struct trace_lane *lane)
{
    const struct trace_device *device = &list->c->trace->devices[lane->device];
    buf_reset(&list->text);
    buf_add(&list->text, device->name, device->name_len);
    buf_addf(&list->text, "%s(%lld)", device->name_len > 0 ? " " : "", (long long)device->id);
    table_put_text(table, buf_text(&list->text), list->text.len);
}

/* The columns of a launch, empty for copies; then those of a copy, empty for kernels. */
static void gpu_put_shape(const struct gpu_list *list, struct table *table, size_t k,
                          int64_t duration_ns, bool kernel)
{
    const struct gpu_row *row = &list->rows[k];
    const int64_t shape[] = {row->grid[0],   row->grid[1],           row->grid[2],
                             row->block[0],  row->block[1],          row->block[2],
                             row->registers, row->static_smem_bytes, row->dynamic_smem_bytes};
    for (int i = 0; i < 9; i++) {
        trace_put_known(table, kernel ? shape[i] : -1, -1);
    }
    trace_put_known(table, kernel ? -1 : row->bytes, -1);
    if (kernel || row->bytes < 0 || duration_ns <= 0) {
        table_put_empty(table);
    } else {
        table_put_real(table, (double)row->bytes * 1e3 / (double)duration_ns);
    }
    gpu_put_kind(list, table, kernel ? -1 : row->src_kind);
    gpu_put_kind(list, table, kernel ? -1 : row->dst_kind);
}

static void gpu_put(struct gpu_list *list, struct table *table, size_t k)
{
    const struct trace *trace = list->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t i = list->events.list[k];
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_GPU, i)];
    const struct gpu_row *row = &list->rows[k];
    int64_t duration_ns = gpu->end_ns[i] - gpu->begin_ns[i];
    table_put_int(table, gpu->begin_ns[i]);
    table_put_int(table, duration_ns);
    trace_put_known(table, row->correlation, -1);
    gpu_put_shape(list, table, k, duration_ns, trace->names[gpu->name[i]].kind == TRACE_KERNEL);
    gpu_put_device(list, table, lane);
    table_put_int(table, lane->context_id);
    trace_put_known(table, row->green_context, 0);
    table_put_int(table, lane->stream_id);
    buf_reset(&list->text);
    kit_kernel_in_range(&list->text, list->c, list->innermost, i);
    table_put_text(table, buf_text(&list->text), list->text.len);
}

static void gpu_list_free(struct gpu_list *list)
{
    selected_free(&list->events);
    free(list->rows);
    buf_free(&list->text);
}

static int gpu_list_new(const struct report_context *c, uint32_t kinds, struct gpu_list *out,
                        struct err *err)
{
    *out = (struct gpu_list){.c = c};
    if (selected_new(c->trace, c->select, TRACE_GPU, kinds, &out->events, err) != 0) {
        return -1;
    }
    if (c->args[KIT_ARG_NVTX_NAME].given) {
        out->innermost = shared_innermost(c->shared, c->select, err);
        if (out->innermost == NULL) {
            return -1;
        }
    }
    out->store = shared_store(c->shared, err);
    out->rows = out->store == NULL ? NULL : gpu_rows_new(c->trace, out->store, &out->events, err);
    return out->rows == NULL ? -1 : 0;
}

static int trace_gpu(const struct report_context *c, struct report_result *out, struct err *err)
{
    const struct trace_counts *counts = &c->trace->counts;
    struct gpu_list list;
    int rc = gpu_list_new(c, KIT_OPS, &list, err);
    out->status =
        counts->kernels + counts->memcpys + counts->memsets > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_CUDA_GPU_TRACE.title, GPU_COLUMNS);
    for (size_t k = 0; rc == 0 && out->table != NULL && k < list.events.count; k++) {
        gpu_put(&list, out->table, k);
    }
    kit_note_graphs(c, &out->note);
    gpu_list_free(&list);
    return rc;
}

/* ---- cuda_gpu_kern_gb_sum ---- */

static int gb_sum(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "CUDA GPU Kernel/Grid/Block Summary",
                                                  .count_header = "Instances",
                                                  .text_headers = {"GridXYZ", "BlockXYZ", "Name"},
                                                  .text_count = 3};
    const struct trace_events *gpu = &c->trace->events[TRACE_GPU];
    struct kit_sums sums = {0};
    struct gpu_list list;
    struct buf texts[2] = {{0}, {0}};
    int rc = gpu_list_new(c, KIT_KERNELS, &list, err);
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    for (size_t k = 0; rc == 0 && k < list.events.count; k++) {
        uint32_t i = list.events.list[k];
        struct kit_text group[3];
        buf_reset(&list.text);
        buf_reset(&texts[0]);
        buf_reset(&texts[1]);
        kit_kernel_in_range(&list.text, c, list.innermost, i);
        kit_xyz(&texts[0], list.rows[k].grid);
        kit_xyz(&texts[1], list.rows[k].block);
        group[0] = (struct kit_text){buf_text(&texts[0]), texts[0].len};
        group[1] = (struct kit_text){buf_text(&texts[1]), texts[1].len};
        group[2] = (struct kit_text){buf_text(&list.text), list.text.len};
        kit_sums_add(&sums, kit_sums_group(&sums, group, 3), gpu->end_ns[i] - gpu->begin_ns[i]);
    }
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    gpu_list_free(&list);
    if (rc == 0) {
        out->table = kit_sums_table(&sums, &LAYOUT, c);
    }
    kit_sums_free(&sums);
    kit_note_graphs(c, &out->note);
    return rc;
}

const struct report REPORT_CUDA_API_TRACE = {
    .name = "cuda_api_trace",
    .title = "CUDA API Trace",
    .kinds = 1U << TRACE_API_CALL,
    .help = "each CUDA API call, by time",
    .missing = "CUDA trace data",
    .run = trace_api,
};
const struct report REPORT_CUDA_GPU_TRACE = {
    .name = "cuda_gpu_trace",
    .title = "CUDA GPU Trace",
    .kinds = KIT_BUSY,
    .help = "each kernel, copy and set, by time, with launch shape and throughput",
    .missing = "GPU trace data",
    .args = KIT_KERNEL_ARGS,
    .run = trace_gpu,
};
const struct report REPORT_CUDA_GPU_KERN_GB_SUM = {
    .name = "cuda_gpu_kern_gb_sum",
    .title = "CUDA GPU Kernel/Grid/Block Summary",
    .kinds = KIT_KERNELS | 1U << TRACE_GRAPH,
    .help = "time of each kernel on the GPU, by grid and block size",
    .missing = "CUDA kernel data",
    .args = KIT_KERNEL_ARGS,
    .run = gb_sum,
};
