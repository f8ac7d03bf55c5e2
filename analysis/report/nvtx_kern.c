/*
 * nvtx_kern: nvtx_kern_sum: the kernels of each NVTX range. A kernel counts for every range
 * around its launching call, not for the innermost alone.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/timeline/nvtx_ranges.h"

static const struct report_arg NVTX_KERN_ARGS[] = {
    {"base", REPORT_ARG_FLAG, 0, NULL, "short kernel names, without templates and parameters"},
    {"mangled", REPORT_ARG_FLAG, 0, NULL, "mangled kernel names, where the capture has them"},
    {0},
};

enum {
    NVTX_KERN_NVTX_RANGE,
    NVTX_KERN_STYLE,
    NVTX_KERN_PID,
    NVTX_KERN_TID,
    NVTX_KERN_NVTX_INST,
    NVTX_KERN_KERN_INST,
    NVTX_KERN_TOTAL_TIME,
    NVTX_KERN_AVG,
    NVTX_KERN_MED,
    NVTX_KERN_MIN,
    NVTX_KERN_MAX,
    NVTX_KERN_STD_DEV,
    NVTX_KERN_KERNEL_NAME,
};

static const struct table_column NVTX_KERN_COLUMNS[] = {
    [NVTX_KERN_NVTX_RANGE] = {"NVTX Range", TABLE_TEXT, 0},
    [NVTX_KERN_STYLE] = {"Style", TABLE_TEXT, 0},
    [NVTX_KERN_PID] = {"PID", TABLE_INT, 0},
    [NVTX_KERN_TID] = {"TID", TABLE_INT, 0},
    [NVTX_KERN_NVTX_INST] = {"NVTX Inst", TABLE_INT, 0},
    [NVTX_KERN_KERN_INST] = {"Kern Inst", TABLE_INT, 0},
    [NVTX_KERN_TOTAL_TIME] = {"Total Time", TABLE_TIME, 0},
    [NVTX_KERN_AVG] = {"Avg", TABLE_TIME_1, 0},
    [NVTX_KERN_MED] = {"Med", TABLE_TIME_1, 0},
    [NVTX_KERN_MIN] = {"Min", TABLE_TIME, 0},
    [NVTX_KERN_MAX] = {"Max", TABLE_TIME, 0},
    [NVTX_KERN_STD_DEV] = {"StdDev", TABLE_TIME_1, 0},
    [NVTX_KERN_KERNEL_NAME] = {"Kernel Name", TABLE_TEXT, 0},
};

/* A group: its bytes are the key. */
struct kern_key {
    uint32_t range_name; /* index in names */
    uint32_t thread;
    uint32_t kernel_text;
};

struct kern_work {
    const struct report_context *c;
    struct report_value args[KIT_ARG_COUNT]; /* ours in the order of KIT_KERNEL_ARGS */
    struct nvtx_ranges ranges;
    struct intern texts;
    uint32_t *text_of; /* owned: the text of a name, INTERN_NONE = not yet */
    struct intern keys;
    struct intern instances; /* pairs of group and range */
    struct stat_groups times;
    int64_t *instance_count; /* owned: ranges of each group */
    size_t instance_cap;
};

/* Counts the range once for the group. 0 or -1. */
static int kern_instance(struct kern_work *work, uint32_t group, uint32_t range)
{
    uint32_t pair[2] = {group, range};
    uint32_t before = work->instances.count;
    int64_t *grown = array_grow_zeroed(work->instance_count, &work->instance_cap, (size_t)group + 1,
                                       sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    work->instance_count = grown;
    if (intern_add(&work->instances, (const char *)pair, sizeof pair) == INTERN_NONE) {
        return -1;
    }
    work->instance_count[group] += work->instances.count > before ? 1 : 0;
    return 0;
}

static uint32_t kern_text(struct kern_work *work, uint32_t name)
{
    if (work->text_of[name] == INTERN_NONE) {
        struct kit_text label = kit_kernel(work->c->trace, name, work->args);
        work->text_of[name] = intern_add(&work->texts, label.text, label.len);
    }
    return work->text_of[name];
}

static void kern_op(struct kern_work *work, uint32_t range, uint32_t op)
{
    const struct trace *trace = work->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct nvtx_range *r = &work->ranges.list[range];
    struct kern_key key = {
        .range_name = trace->events[TRACE_NVTX].name[r->event],
        .thread = r->thread,
        .kernel_text = kern_text(work, gpu->name[op]),
    };
    uint32_t group = intern_add(&work->keys, (const char *)&key, sizeof key);
    if (key.kernel_text == INTERN_NONE || group == INTERN_NONE ||
        kern_instance(work, group, range) != 0) {
        work->times.failed = 1;
        return;
    }
    stat_groups_add(&work->times, group, gpu->end_ns[op] - gpu->begin_ns[op]);
}

static void kern_visit(void *arg, uint32_t range, uint32_t api)
{
    struct kern_work *work = arg;
    const struct report_context *c = work->c;
    uint32_t count;
    const uint32_t *ops = trace_ops_of(c->trace, api, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (kit_event(c, TRACE_GPU, ops[i], KIT_KERNELS) &&
            select_name(c->select, c->trace->events[TRACE_GPU].name[ops[i]]) &&
            select_lane(c->trace, c->select,
                        &c->trace->lanes[trace_lane_of(c->trace, TRACE_GPU, ops[i])])) {
            kern_op(work, range, ops[i]);
        }
    }
}

static void kern_put(struct kern_work *work, uint32_t group, struct table *table)
{
    const struct trace *trace = work->c->trace;
    struct kern_key key;
    struct buf label = {0};
    size_t count;
    int64_t *values = stat_groups_values(&work->times, group, &count);
    struct stat_sum sum = stat_of(values, count);
    memcpy(&key, intern_text(&work->keys, group), sizeof key);
    const struct trace_thread *thread = &trace->threads[key.thread];
    kit_nvtx(&label, trace, key.range_name);
    table_put_text(table, buf_text(&label), label.len);
    buf_free(&label);
    kit_put(table,
            trace->names[key.range_name].kind == TRACE_NVTX_PUSHPOP ? "PushPop" : "StartEnd");
    table_put_int(table, trace->processes[thread->process].pid);
    table_put_int(table, thread->tid);
    table_put_int(table, work->instance_count[group]);
    table_put_int(table, sum.count);
    table_put_int(table, sum.total);
    table_put_real(table, sum.mean);
    table_put_real(table, sum.median);
    table_put_int(table, sum.min);
    table_put_int(table, sum.max);
    table_put_real(table, sum.deviation);
    table_put_text(table, intern_text(&work->texts, key.kernel_text),
                   intern_len(&work->texts, key.kernel_text));
}

static int nvtx_kern_sum(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct kern_work work = {.c = c};
    size_t name_bytes = ((size_t)c->trace->name_count + 1) * sizeof *work.text_of;
    int rc =
        nvtx_ranges_new(c->trace, c->select, KIT_PUSHPOP | KIT_STARTEND, true, &work.ranges, err);
    work.args[KIT_ARG_BASE] = c->args[0];
    work.args[KIT_ARG_MANGLED] = c->args[1];
    out->status = c->trace->counts.nvtx_ranges > 0 ? REPORT_ROWS : REPORT_MISSING;
    kit_need_calls(c, out);
    kit_note_crossed(c, &out->note);
    out->table = TABLE_NEW(c->select->nvtx_process ? "NVTX Range Kernel Summary, by process"
                                                   : "NVTX Range Kernel Summary",
                           NVTX_KERN_COLUMNS);
    work.text_of = malloc(name_bytes);
    if (rc == 0 && work.text_of != NULL) {
        memset(work.text_of, 0xFF, name_bytes);
        rc = nvtx_ranges_calls(c->trace, c->select, &work.ranges, kern_visit, &work, err);
    } else if (rc == 0) {
        rc = err_nomem(err, "the kernels of ranges");
    }
    if (rc == 0) {
        rc = stat_groups_sort(&work.times, work.keys.count);
    }
    for (uint32_t i = 0; rc == 0 && out->table != NULL && i < work.keys.count; i++) {
        kern_put(&work, i, out->table);
    }
    if (rc == 0 && out->table != NULL) {
        table_sort(out->table, NVTX_KERN_KERNEL_NAME, false);
        table_sort(out->table, NVTX_KERN_TOTAL_TIME, true);
        table_sort(out->table, NVTX_KERN_TID, false);
        table_sort(out->table, NVTX_KERN_PID, false);
        table_sort(out->table, NVTX_KERN_NVTX_RANGE, false);
    }
    nvtx_ranges_free(&work.ranges);
    intern_free(&work.texts);
    intern_free(&work.keys);
    intern_free(&work.instances);
    stat_groups_free(&work.times);
    free(work.text_of);
    free(work.instance_count);
    return rc;
}

const struct report REPORT_NVTX_KERN_SUM = {
    .name = "nvtx_kern_sum",
    .title = "NVTX Range Kernel Summary",
    .kinds = KIT_PUSHPOP | KIT_STARTEND | KIT_KERNELS | 1U << TRACE_API_CALL,
    .help = "time of the kernels that were launched within each NVTX range",
    .missing = "NV Tools Extension (NVTX) data",
    .args = NVTX_KERN_ARGS,
    .run = nvtx_kern_sum,
};
