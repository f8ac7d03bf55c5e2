/* nsys_sums: the summaries of `nsys stats`: one pass over the events, grouped by name. */
#include <stdlib.h>
#include <string.h>

#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/timeline/nvtx_ranges.h"

/* What a GPU summary counts. */
struct sum_gpu {
    const struct report_context *c;
    uint32_t *by_name; /* owned: the group of a name, INTERN_NONE = not yet */
    const uint32_t *innermost; /* owned: with nvtx-name; NULL else */
    bool category; /* the first text is CUDA_KERNEL or MEMORY_OPER */
    struct kit_sums sums;
    struct buf label; /* scratch */
};

static struct kit_text sum_literal(const char *text)
{
    return (struct kit_text){text, strlen(text)};
}

/* The group of a label; the category goes before it where wanted. */
static uint32_t sum_group(struct sum_gpu *sum, struct kit_text label, const char *category)
{
    struct kit_text texts[2] = {sum_literal(category), label};
    return sum->category ? kit_sums_group(&sum->sums, texts, 2)
                         : kit_sums_group(&sum->sums, texts + 1, 1);
}

/* Parts of the queries of nsys in their order, and that of a copy: by its kind, sets last. */
enum {
    SUM_PART_KERNELS = 1,
    SUM_PART_MEMORY = 2,
    SUM_PART_SETS = 999,
    SUM_PART_CALLS = 1000,
};

static void sum_gpu_origin(struct sum_gpu *sum, uint32_t name, uint32_t group,
                           struct kit_text label)
{
    const struct trace_name *n = &sum->c->trace->names[name];
    if (n->kind == TRACE_KERNEL) {
        kit_sums_origin(&sum->sums, group, SUM_PART_KERNELS, label);
    } else {
        kit_sums_origin(&sum->sums, group,
                        n->kind == TRACE_MEMSET ? SUM_PART_SETS : SUM_PART_MEMORY + n->copy_kind,
                        (struct kit_text){NULL, 0});
    }
}

static const char *sum_category(const struct trace *trace, uint32_t name)
{
    return trace->names[name].kind == TRACE_KERNEL ? "CUDA_KERNEL" : "MEMORY_OPER";
}

static uint32_t sum_group_of(struct sum_gpu *sum, uint32_t i)
{
    const struct trace *trace = sum->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t name = gpu->name[i];
    if (sum->innermost != NULL && gpu->link[i] != TRACE_NONE &&
        sum->innermost[gpu->link[i]] != TRACE_NONE && trace->names[name].kind == TRACE_KERNEL) {
        buf_reset(&sum->label);
        kit_kernel_in_range(&sum->label, sum->c, sum->innermost, i);
        return buf_failed(&sum->label)
                   ? INTERN_NONE
                   : sum_group(sum, (struct kit_text){sum->label.data, sum->label.len},
                               sum_category(trace, name));
    }
    if (sum->by_name[name] == INTERN_NONE) {
        struct kit_text label = kit_kernel(trace, name, sum->c->args);
        sum->by_name[name] = sum_group(sum, label, sum_category(trace, name));
        sum_gpu_origin(sum, name, sum->by_name[name], label);
    }
    return sum->by_name[name];
}

static int sum_gpu_begin(struct sum_gpu *sum, const struct report_context *c, bool nvtx_name,
                         struct err *err)
{
    size_t bytes = ((size_t)c->trace->name_count + 1) * sizeof *sum->by_name;
    sum->c = c;
    sum->by_name = malloc(bytes);
    if (sum->by_name == NULL) {
        return err_nomem(err, "the summary");
    }
    memset(sum->by_name, 0xFF, bytes);
    if (nvtx_name) {
        sum->innermost = shared_innermost(c->shared, c->select, err);
        return sum->innermost == NULL ? -1 : 0;
    }
    return 0;
}

static void sum_gpu_end(struct sum_gpu *sum)
{
    free(sum->by_name);
    buf_free(&sum->label);
    kit_sums_free(&sum->sums);
}

/* Adds the durations of all kept ops of some kinds. */
static void sum_gpu_add(struct sum_gpu *sum, uint32_t kinds)
{
    const struct trace *trace = sum->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    for (uint32_t lane = 0; lane < trace->lane_count; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (l->table != TRACE_GPU || !select_lane(trace, sum->c->select, l)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            if (kit_event(sum->c, TRACE_GPU, i, kinds) &&
                select_name(sum->c->select, gpu->name[i])) {
                kit_sums_add(&sum->sums, sum_group_of(sum, i), gpu->end_ns[i] - gpu->begin_ns[i]);
            }
        }
    }
}

static int sum_finish(const struct report_context *c, struct kit_sums *sums,
                      const struct kit_sums_layout *layout, struct report_result *out,
                      struct err *err)
{
    out->table = kit_sums_table(sums, layout, c);
    return out->table == NULL ? err_nomem(err, layout->title) : 0;
}

static bool sum_has_memory(const struct trace *trace)
{
    return trace->counts.memcpys + trace->counts.memsets > 0;
}

static int sum_kernels(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "CUDA GPU Kernel Summary",
                                                  .count_header = "Instances",
                                                  .text_headers = {"Name"},
                                                  .text_count = 1};
    struct sum_gpu sum = {0};
    int rc = sum_gpu_begin(&sum, c, c->args[KIT_ARG_NVTX_NAME].given, err);
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    if (rc == 0) {
        sum_gpu_add(&sum, KIT_KERNELS);
        rc = sum_finish(c, &sum.sums, &LAYOUT, out, err);
        kit_note_graphs(c, &out->note);
    }
    sum_gpu_end(&sum);
    return rc;
}

static int sum_memory_time(const struct report_context *c, struct report_result *out,
                           struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "CUDA GPU MemOps Summary (by Time)",
                                                  .count_header = "Count",
                                                  .text_headers = {"Operation"},
                                                  .text_count = 1,
                                                  .flags = KIT_SUMS_BY_ID};
    struct sum_gpu sum = {0};
    struct report_context plain = *c;
    plain.args = NULL;
    int rc = sum_gpu_begin(&sum, &plain, false, err);
    out->status = sum_has_memory(c->trace) ? REPORT_ROWS : REPORT_MISSING;
    if (rc == 0) {
        sum_gpu_add(&sum, KIT_MEMORY);
        rc = sum_finish(c, &sum.sums, &LAYOUT, out, err);
    }
    sum_gpu_end(&sum);
    return rc;
}

/* Copies and sets by size: the bytes are in the file. */
struct sum_bytes {
    struct sum_gpu *sum;
    const struct selected *events;
};

static void sum_bytes_row(void *arg, size_t k, struct store_cursor *row)
{
    struct sum_bytes *bytes = arg;
    kit_sums_add(&bytes->sum->sums, sum_group_of(bytes->sum, bytes->events->list[k]),
                 store_int(row, 0, 0));
}

static int sum_memory_size(const struct report_context *c, struct report_result *out,
                           struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "CUDA GPU MemOps Summary (by Size)",
                                                  .count_header = "Count",
                                                  .text_headers = {"Operation"},
                                                  .text_count = 1,
                                                  .flags = KIT_SUMS_BYTES | KIT_SUMS_BY_ID};
    static const char *const COLUMNS[] = {"bytes"};
    struct report_context plain = *c;
    plain.args = NULL;
    struct sum_gpu sum = {0};
    struct selected events = {0};
    struct sum_bytes arg = {&sum, &events};
    struct rows_query rows = {.table = TRACE_GPU,
                              .kinds = 1U << TRACE_MEMCPY | 1U << TRACE_MIGRATION,
                              .columns = COLUMNS,
                              .column_count = 1,
                              .visit = sum_bytes_row,
                              .arg = &arg};
    int rc = sum_gpu_begin(&sum, &plain, false, err);
    out->status = sum_has_memory(c->trace) ? REPORT_ROWS : REPORT_MISSING;
    if (rc == 0) {
        rc = selected_new(plain.trace, plain.select, TRACE_GPU, KIT_MEMORY, &events, err);
    }
    struct store *store = rc == 0 ? shared_store(c->shared, err) : NULL;
    rc = store == NULL ? -1 : 0;
    if (rc == 0) {
        rc = rows_visit(c->trace, store, events.list, events.count, &rows, err);
    }
    if (rc == 0) {
        rows.kinds = 1U << TRACE_MEMSET;
        rc = rows_visit(c->trace, store, events.list, events.count, &rows, err);
    }
    if (rc == 0) {
        rc = sum_finish(c, &sum.sums, &LAYOUT, out, err);
    }
    selected_free(&events);
    sum_gpu_end(&sum);
    return rc;
}

/* Which events a summary by name adds up, and how a name gets its group (asked once a name). */
struct sum_names {
    enum trace_table table;
    uint32_t kinds; /* bits of 1 << enum trace_kind */
    uint32_t (*group)(const struct report_context *c, const struct sum_names *what, uint32_t name,
                      struct kit_sums *sums);
    const char *category; /* sum_host_group: the text before the name, "" = none */
    bool style; /* sum_nvtx_group: with the style before the name */
};

/* Adds up the events of one table by name. */
static void sum_by_name(const struct report_context *c, const struct sum_names *what,
                        struct kit_sums *sums)
{
    const struct trace *trace = c->trace;
    const struct trace_events *events = &trace->events[what->table];
    uint32_t *by_name = malloc(((size_t)trace->name_count + 1) * sizeof *by_name);
    if (by_name == NULL) {
        sums->groups.failed = 1;
        return;
    }
    memset(by_name, 0xFF, ((size_t)trace->name_count + 1) * sizeof *by_name);
    for (uint32_t lane = 0; lane < trace->lane_count; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (l->table != what->table || !select_lane(trace, c->select, l)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            uint32_t name = events->name[i];
            if (!kit_event(c, what->table, i, what->kinds) || !select_name(c->select, name)) {
                continue;
            }
            if (by_name[name] == INTERN_NONE) {
                by_name[name] = what->group(c, what, name, sums);
            }
            kit_sums_add(sums, by_name[name], events->end_ns[i] - events->begin_ns[i]);
        }
    }
    free(by_name);
}

static uint32_t sum_host_group(const struct report_context *c, const struct sum_names *what,
                               uint32_t name, struct kit_sums *sums)
{
    struct kit_text texts[2] = {sum_literal(what->category), kit_api(c->trace, name)};
    const struct trace_name *n = &c->trace->names[name];
    int skip = what->category[0] == '\0' ? 1 : 0;
    uint32_t group = kit_sums_group(sums, texts + skip, 2 - skip);
    kit_sums_origin(sums, group, SUM_PART_CALLS, (struct kit_text){n->full, n->full_len});
    return group;
}

/* Events of a host table by name: API calls, OS runtime calls. */
static void sum_host(const struct report_context *c, enum trace_table table, const char *category,
                     struct kit_sums *sums)
{
    const struct sum_names what = {
        .table = table, .kinds = UINT32_MAX, .group = sum_host_group, .category = category};
    sum_by_name(c, &what, sums);
}

static int sum_api(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "CUDA API Summary",
                                                  .count_header = "Num Calls",
                                                  .text_headers = {"Name"},
                                                  .text_count = 1,
                                                  .flags = KIT_SUMS_BY_ID};
    struct kit_sums sums = {0};
    out->status = c->trace->counts.api_calls > 0 ? REPORT_ROWS : REPORT_MISSING;
    sum_host(c, TRACE_API, "", &sums);
    return sum_finish(c, &sums, &LAYOUT, out, err);
}

static int sum_osrt(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "OS Runtime Summary",
                                                  .count_header = "Num Calls",
                                                  .text_headers = {"Name"},
                                                  .text_count = 1,
                                                  .flags = KIT_SUMS_BY_ID};
    struct kit_sums sums = {0};
    out->status = c->trace->counts.osrt_calls > 0 ? REPORT_ROWS : REPORT_MISSING;
    sum_host(c, TRACE_OSRT, "", &sums);
    return sum_finish(c, &sums, &LAYOUT, out, err);
}

static int sum_gpu_all(const struct report_context *c, struct report_result *out, bool api,
                       struct err *err)
{
    static const struct kit_sums_layout LAYOUTS[2] = {
        {.title = "CUDA GPU Summary (Kernels/MemOps)",
         .count_header = "Instances",
         .text_headers = {"Category", "Operation"},
         .text_count = 2,
         .flags = KIT_SUMS_BY_ID},
        {.title = "CUDA Summary (API/Kernels/MemOps)",
         .count_header = "Instances",
         .text_headers = {"Category", "Operation"},
         .text_count = 2,
         .flags = KIT_SUMS_BY_ID},
    };
    struct sum_gpu sum = {.category = true};
    int rc = sum_gpu_begin(&sum, c, c->args[KIT_ARG_NVTX_NAME].given, err);
    bool has = c->trace->counts.kernels > 0 || sum_has_memory(c->trace) ||
               (api && c->trace->counts.api_calls > 0);
    out->status = has ? REPORT_ROWS : REPORT_MISSING;
    if (rc == 0) {
        sum_gpu_add(&sum, KIT_OPS);
        if (api) {
            sum_host(c, TRACE_API, "CUDA_API", &sum.sums);
        }
        rc = sum_finish(c, &sum.sums, &LAYOUTS[api], out, err);
        kit_note_graphs(c, &out->note);
    }
    sum_gpu_end(&sum);
    return rc;
}

static int sum_gpu_only(const struct report_context *c, struct report_result *out, struct err *err)
{
    return sum_gpu_all(c, out, false, err);
}

static int sum_api_gpu(const struct report_context *c, struct report_result *out, struct err *err)
{
    return sum_gpu_all(c, out, true, err);
}

/* The group of an NVTX name: its style too is that of the name. */
static uint32_t sum_nvtx_group(const struct report_context *c, const struct sum_names *what,
                               uint32_t name, struct kit_sums *sums)
{
    bool pushpop = c->trace->names[name].kind == TRACE_NVTX_PUSHPOP;
    struct kit_text texts[2] = {sum_literal(pushpop ? "PushPop" : "StartEnd")};
    struct buf label = {0};
    uint32_t group = INTERN_NONE;
    kit_nvtx(&label, c->trace, name);
    texts[1] = (struct kit_text){buf_text(&label), label.len};
    if (!buf_failed(&label)) {
        group = kit_sums_group(sums, texts + (what->style ? 0 : 1), what->style ? 2 : 1);
    }
    buf_free(&label);
    return group;
}

/* NVTX ranges by domain and text. */
static int sum_nvtx_kinds(const struct report_context *c, uint32_t kinds,
                          const struct kit_sums_layout *layout, struct report_result *out,
                          struct err *err)
{
    const struct sum_names what = {.table = TRACE_NVTX,
                                   .kinds = kinds,
                                   .group = sum_nvtx_group,
                                   .style = layout->text_count == 2};
    struct kit_sums sums = {0};
    out->status = c->trace->counts.nvtx_ranges > 0 ? REPORT_ROWS : REPORT_MISSING;
    sum_by_name(c, &what, &sums);
    return sum_finish(c, &sums, layout, out, err);
}

static int sum_nvtx(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "NVTX Range Summary",
                                                  .count_header = "Instances",
                                                  .text_headers = {"Style", "Range"},
                                                  .text_count = 2};
    return sum_nvtx_kinds(c, KIT_PUSHPOP | KIT_STARTEND, &LAYOUT, out, err);
}

static int sum_nvtx_pushpop(const struct report_context *c, struct report_result *out,
                            struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "NVTX Push/Pop Range Summary",
                                                  .count_header = "Instances",
                                                  .text_headers = {"Range"},
                                                  .text_count = 1};
    return sum_nvtx_kinds(c, KIT_PUSHPOP, &LAYOUT, out, err);
}

static int sum_nvtx_startend(const struct report_context *c, struct report_result *out,
                             struct err *err)
{
    static const struct kit_sums_layout LAYOUT = {.title = "NVTX Start/End Range Summary",
                                                  .count_header = "Instances",
                                                  .text_headers = {"Range"},
                                                  .text_count = 1};
    return sum_nvtx_kinds(c, KIT_STARTEND, &LAYOUT, out, err);
}

const struct report REPORT_CUDA_GPU_KERN_SUM = {
    .name = "cuda_gpu_kern_sum",
    .title = "CUDA GPU Kernel Summary",
    .kinds = KIT_KERNELS | 1U << TRACE_GRAPH,
    .help = "time of each kernel on the GPU",
    .missing = "CUDA kernel data",
    .args = KIT_KERNEL_ARGS,
    .run = sum_kernels,
};
const struct report REPORT_CUDA_GPU_MEM_TIME_SUM = {
    .name = "cuda_gpu_mem_time_sum",
    .title = "CUDA GPU MemOps Summary (by Time)",
    .kinds = KIT_MEMORY,
    .help = "time of copies and sets on the GPU",
    .missing = "GPU memory data",
    .run = sum_memory_time,
};
const struct report REPORT_CUDA_GPU_MEM_SIZE_SUM = {
    .name = "cuda_gpu_mem_size_sum",
    .title = "CUDA GPU MemOps Summary (by Size)",
    .kinds = KIT_MEMORY,
    .help = "bytes of copies and sets on the GPU",
    .missing = "GPU memory data",
    .run = sum_memory_size,
};
const struct report REPORT_CUDA_API_SUM = {
    .name = "cuda_api_sum",
    .title = "CUDA API Summary",
    .kinds = 1U << TRACE_API_CALL,
    .help = "time of each CUDA API call on the CPU",
    .missing = "CUDA trace data",
    .run = sum_api,
};
const struct report REPORT_OSRT_SUM = {
    .name = "osrt_sum",
    .title = "OS Runtime Summary",
    .kinds = 1U << TRACE_OSRT_CALL,
    .help = "time of each operating-system call",
    .missing = "OS Runtime trace data",
    .run = sum_osrt,
};
const struct report REPORT_CUDA_GPU_SUM = {
    .name = "cuda_gpu_sum",
    .title = "CUDA GPU Summary (Kernels/MemOps)",
    .kinds = KIT_BUSY,
    .help = "time of kernels, copies and sets in one list",
    .missing = "GPU trace data",
    .args = KIT_KERNEL_ARGS,
    .run = sum_gpu_only,
};
const struct report REPORT_CUDA_API_GPU_SUM = {
    .name = "cuda_api_gpu_sum",
    .title = "CUDA Summary (API/Kernels/MemOps)",
    .kinds = KIT_BUSY | 1U << TRACE_API_CALL,
    .help = "time of API calls, kernels, copies and sets in one list",
    .missing = "CUDA trace data",
    .args = KIT_KERNEL_ARGS,
    .run = sum_api_gpu,
};
const struct report REPORT_NVTX_SUM = {
    .name = "nvtx_sum",
    .title = "NVTX Range Summary",
    .kinds = KIT_PUSHPOP | KIT_STARTEND,
    .help = "time of each NVTX range on the CPU",
    .missing = "NV Tools Extension (NVTX) data",
    .run = sum_nvtx,
};
const struct report REPORT_NVTX_PUSHPOP_SUM = {
    .name = "nvtx_pushpop_sum",
    .title = "NVTX Push/Pop Range Summary",
    .kinds = KIT_PUSHPOP | KIT_STARTEND,
    .help = "the same for push/pop ranges alone",
    .missing = "NV Tools Extension (NVTX) data",
    .run = sum_nvtx_pushpop,
};
const struct report REPORT_NVTX_STARTEND_SUM = {
    .name = "nvtx_startend_sum",
    .title = "NVTX Start/End Range Summary",
    .kinds = KIT_PUSHPOP | KIT_STARTEND,
    .help = "the same for start/end ranges alone",
    .missing = "NV Tools Extension (NVTX) data",
    .run = sum_nvtx_startend,
};
