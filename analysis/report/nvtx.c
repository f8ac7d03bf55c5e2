/*
 * nvtx: NVTX ranges with their nesting, and what ran on the GPU for them.
 *
 * A range owns the ops of the calls that lie within it on its thread (on any thread of its process
 * with --nvtx-scope=process). Its projection is from the first begin to the last end of these ops;
 * ops of inner ranges count for outer ones too.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/timeline/nvtx_ranges.h"

enum {
    STACK_DEEP = 128, /* ranges in a RangeStack, levels in a NameTree: else a table of open ranges
                         grows with their square */
};

/* The number of each range as the tables show it: from 1, by begin, then longest first. */
struct nvtx_ids {
    uint32_t *order; /* owned: ranges in that order */
    uint32_t *id; /* owned: by range */
};

struct nvtx_id_key {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t range;
};

static int nvtx_id_compare(const void *left, const void *right)
{
    const struct nvtx_id_key *a = left;
    const struct nvtx_id_key *b = right;
    if (a->begin_ns != b->begin_ns) {
        return COMPARE(a->begin_ns, b->begin_ns);
    }
    if (a->end_ns != b->end_ns) {
        return COMPARE(b->end_ns, a->end_ns);
    }
    return COMPARE(a->range, b->range);
}

static int nvtx_ids_new(const struct nvtx_ranges *ranges, struct nvtx_ids *out, struct err *err)
{
    size_t count = ranges->count;
    struct nvtx_id_key *keys = malloc((count + 1) * sizeof *keys);
    out->order = malloc((count + 1) * sizeof *out->order);
    out->id = malloc((count + 1) * sizeof *out->id);
    if (keys == NULL || out->order == NULL || out->id == NULL) {
        free(keys);
        return err_nomem(err, "the NVTX ranges");
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] =
            (struct nvtx_id_key){ranges->list[i].begin_ns, ranges->list[i].end_ns, (uint32_t)i};
    }
    sort_list(keys, count, sizeof *keys, nvtx_id_compare);
    for (size_t i = 0; i < count; i++) {
        out->order[i] = keys[i].range;
        out->id[keys[i].range] = (uint32_t)i + 1;
    }
    free(keys);
    return 0;
}

static void nvtx_ids_free(struct nvtx_ids *ids)
{
    free(ids->order);
    free(ids->id);
}

static void nvtx_put_name(const struct trace *trace, struct table *table, uint32_t event,
                          struct buf *scratch)
{
    buf_reset(scratch);
    kit_nvtx(scratch, trace, trace->events[TRACE_NVTX].name[event]);
    table_put_text(table, buf_text(scratch), scratch->len);
}

static const char *nvtx_style(const struct trace *trace, uint32_t event)
{
    uint32_t name = trace->events[TRACE_NVTX].name[event];
    return trace->names[name].kind == TRACE_NVTX_PUSHPOP ? "PushPop" : "StartEnd";
}

/* ":1:5:9": the ids from the outermost range to this one; of more than STACK_DEEP the innermost,
 * after ":...". */
static void nvtx_put_stack(const struct nvtx_ranges *ranges, const struct nvtx_ids *ids,
                           struct table *table, uint32_t range, struct buf *scratch)
{
    uint32_t path[STACK_DEEP];
    uint32_t depth = 0;
    uint32_t at = range;
    while (at != NVTX_RANGES_NONE && depth < STACK_DEEP) {
        path[depth++] = ids->id[at];
        at = ranges->list[at].parent;
    }
    buf_reset(scratch);
    buf_adds(scratch, at != NVTX_RANGES_NONE ? ":..." : "");
    while (depth > 0) {
        buf_addf(scratch, ":%u", (unsigned)path[--depth]);
    }
    table_put_text(table, buf_text(scratch), scratch->len);
}

static void nvtx_put_parent(const struct nvtx_ranges *ranges, const struct nvtx_ids *ids,
                            struct table *table, uint32_t range)
{
    if (ranges->list[range].parent == NVTX_RANGES_NONE) {
        table_put_empty(table);
    } else {
        table_put_int(table, ids->id[ranges->list[range].parent]);
    }
}

/* ---- nvtx_pushpop_trace ---- */

static const struct table_column PUSHPOP_COLUMNS[] = {
    {"Start", TABLE_TIME, 0},      {"End", TABLE_TIME, 0},         {"Duration", TABLE_TIME, 0},
    {"DurChild", TABLE_TIME, 0},   {"DurNonChild", TABLE_TIME, 0}, {"Name", TABLE_TEXT, 0},
    {"PID", TABLE_INT, 0},         {"TID", TABLE_INT, 0},          {"Lvl", TABLE_INT, 0},
    {"NumChild", TABLE_INT, 0},    {"RangeId", TABLE_INT, 0},      {"ParentId", TABLE_INT, 0},
    {"RangeStack", TABLE_TEXT, 0}, {"NameTree", TABLE_TEXT, 0},
};

static void pushpop_put(const struct trace *trace, const struct nvtx_ranges *ranges,
                        const struct nvtx_ids *ids, uint32_t range, struct table *table)
{
    const struct nvtx_range *r = &ranges->list[range];
    struct buf scratch = {0};
    table_put_int(table, r->begin_ns);
    table_put_int(table, r->end_ns);
    table_put_int(table, r->end_ns - r->begin_ns);
    table_put_int(table, r->child_ns);
    table_put_int(table, r->end_ns - r->begin_ns - r->child_ns);
    nvtx_put_name(trace, table, r->event, &scratch);
    table_put_int(table, trace->processes[r->process].pid);
    table_put_int(table, trace->threads[r->thread].tid);
    table_put_int(table, r->level);
    table_put_int(table, r->children);
    table_put_int(table, ids->id[range]);
    nvtx_put_parent(ranges, ids, table, range);
    nvtx_put_stack(ranges, ids, table, range, &scratch);
    buf_reset(&scratch);
    for (uint32_t i = 0; i < r->level && i < STACK_DEEP; i++) {
        buf_adds(&scratch, "--");
    }
    kit_nvtx(&scratch, trace, trace->events[TRACE_NVTX].name[r->event]);
    table_put_text(table, buf_text(&scratch), scratch.len);
    buf_free(&scratch);
}

static int nvtx_pushpop_trace(const struct report_context *c, struct report_result *out,
                              struct err *err)
{
    struct nvtx_ranges ranges;
    struct nvtx_ids ids = {0};
    int rc = nvtx_ranges_new(c->trace, c->select, KIT_PUSHPOP, false, &ranges, err);
    out->status = c->trace->counts.nvtx_ranges > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_NVTX_PUSHPOP_TRACE.title, PUSHPOP_COLUMNS);
    if (rc == 0) {
        rc = nvtx_ids_new(&ranges, &ids, err);
    }
    for (uint32_t i = 0; rc == 0 && out->table != NULL && i < ranges.count; i++) {
        uint32_t event = ranges.list[ids.order[i]].event;
        if (select_name(c->select, c->trace->events[TRACE_NVTX].name[event])) {
            pushpop_put(c->trace, &ranges, &ids, ids.order[i], out->table);
        }
    }
    nvtx_ids_free(&ids);
    nvtx_ranges_free(&ranges);
    return rc;
}

/* ---- projections ---- */

/* What ran on the GPU for a range. */
struct projection {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t calls; /* launching calls with kept ops; 0 = no projection */
};

struct proj_work {
    const struct report_context *c;
    struct nvtx_ranges ranges;
    struct nvtx_ids ids;
    struct projection *list; /* parallel to ranges */
    uint32_t last_api; /* cache of the latest call's ops */
    struct projection call;
};

/* The extent of the kept ops of a call. */
static struct projection proj_call(const struct report_context *c, uint32_t api)
{
    const struct trace_events *gpu = &c->trace->events[TRACE_GPU];
    struct projection call = {INT64_MAX, INT64_MIN, 0};
    uint32_t count;
    const uint32_t *ops = trace_ops_of(c->trace, api, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t op = ops[i];
        if (kit_event(c, TRACE_GPU, op, KIT_BUSY) &&
            select_lane(c->trace, c->select,
                        &c->trace->lanes[trace_lane_of(c->trace, TRACE_GPU, op)])) {
            call.begin_ns = gpu->begin_ns[op] < call.begin_ns ? gpu->begin_ns[op] : call.begin_ns;
            call.end_ns = gpu->end_ns[op] > call.end_ns ? gpu->end_ns[op] : call.end_ns;
            call.calls = 1;
        }
    }
    return call;
}

static void proj_visit(void *arg, uint32_t range, uint32_t api)
{
    struct proj_work *work = arg;
    struct projection *p = &work->list[range];
    if (work->last_api != api) {
        work->last_api = api;
        work->call = proj_call(work->c, api);
    }
    if (work->call.calls == 0) {
        return;
    }
    if (p->calls == 0) {
        *p = work->call;
        return;
    }
    p->begin_ns = work->call.begin_ns < p->begin_ns ? work->call.begin_ns : p->begin_ns;
    p->end_ns = work->call.end_ns > p->end_ns ? work->call.end_ns : p->end_ns;
    p->calls++;
}

static int proj_new(const struct report_context *c, struct proj_work *work, struct err *err)
{
    *work = (struct proj_work){.c = c, .last_api = TRACE_NONE};
    if (nvtx_ranges_new(c->trace, c->select, KIT_PUSHPOP | KIT_STARTEND, true, &work->ranges,
                        err) != 0 ||
        nvtx_ids_new(&work->ranges, &work->ids, err) != 0) {
        return -1;
    }
    work->list = calloc((size_t)work->ranges.count + 1, sizeof *work->list);
    if (work->list == NULL) {
        return err_nomem(err, "the projections");
    }
    return nvtx_ranges_calls(c->trace, c->select, &work->ranges, proj_visit, work, err);
}

static void proj_free(struct proj_work *work)
{
    nvtx_ranges_free(&work->ranges);
    nvtx_ids_free(&work->ids);
    free(work->list);
}

/* Does the range have a projection, and a kept name? */
static bool proj_kept(const struct proj_work *work, uint32_t range)
{
    uint32_t event = work->ranges.list[range].event;
    return work->list[range].calls > 0 &&
           select_name(work->c->select, work->c->trace->events[TRACE_NVTX].name[event]);
}

static enum report_status proj_status(const struct report_context *c)
{
    return c->trace->counts.nvtx_ranges > 0 ? REPORT_ROWS : REPORT_MISSING;
}

static const char *proj_title(const struct report_context *c, const char *thread,
                              const char *process)
{
    return c->select->nvtx_process ? process : thread;
}

enum {
    PROJ_TRACE_NAME,
    PROJ_TRACE_PROJECTED_START,
    PROJ_TRACE_PROJECTED_DURATION,
    PROJ_TRACE_ORIG_START,
    PROJ_TRACE_ORIG_DURATION,
    PROJ_TRACE_STYLE,
    PROJ_TRACE_PID,
    PROJ_TRACE_TID,
    PROJ_TRACE_NUM_GPUOPS,
    PROJ_TRACE_LVL,
    PROJ_TRACE_NUM_CHILD,
    PROJ_TRACE_RANGE_ID,
    PROJ_TRACE_PARENT_ID,
    PROJ_TRACE_RANGE_STACK,
};

static const struct table_column PROJ_TRACE_COLUMNS[] = {
    [PROJ_TRACE_NAME] = {"Name", TABLE_TEXT, 0},
    [PROJ_TRACE_PROJECTED_START] = {"Projected Start", TABLE_TIME, 0},
    [PROJ_TRACE_PROJECTED_DURATION] = {"Projected Duration", TABLE_TIME, 0},
    [PROJ_TRACE_ORIG_START] = {"Orig Start", TABLE_TIME, 0},
    [PROJ_TRACE_ORIG_DURATION] = {"Orig Duration", TABLE_TIME, 0},
    [PROJ_TRACE_STYLE] = {"Style", TABLE_TEXT, 0},
    [PROJ_TRACE_PID] = {"PID", TABLE_INT, 0},
    [PROJ_TRACE_TID] = {"TID", TABLE_INT, 0},
    [PROJ_TRACE_NUM_GPUOPS] = {"NumGPUOps", TABLE_INT, 0},
    [PROJ_TRACE_LVL] = {"Lvl", TABLE_INT, 0},
    [PROJ_TRACE_NUM_CHILD] = {"NumChild", TABLE_INT, 0},
    [PROJ_TRACE_RANGE_ID] = {"RangeId", TABLE_INT, 0},
    [PROJ_TRACE_PARENT_ID] = {"ParentId", TABLE_INT, 0},
    [PROJ_TRACE_RANGE_STACK] = {"RangeStack", TABLE_TEXT, 0},
};

static void proj_put(const struct proj_work *work, uint32_t range, struct table *table)
{
    const struct trace *trace = work->c->trace;
    const struct nvtx_range *r = &work->ranges.list[range];
    const struct projection *p = &work->list[range];
    struct buf scratch = {0};
    nvtx_put_name(trace, table, r->event, &scratch);
    table_put_int(table, p->begin_ns);
    table_put_int(table, p->end_ns - p->begin_ns);
    table_put_int(table, r->begin_ns);
    table_put_int(table, r->end_ns - r->begin_ns);
    kit_put(table, nvtx_style(trace, r->event));
    table_put_int(table, trace->processes[r->process].pid);
    table_put_int(table, trace->threads[r->thread].tid);
    table_put_int(table, p->calls);
    table_put_int(table, r->level);
    table_put_int(table, r->children);
    table_put_int(table, work->ids.id[range]);
    nvtx_put_parent(&work->ranges, &work->ids, table, range);
    nvtx_put_stack(&work->ranges, &work->ids, table, range, &scratch);
    buf_free(&scratch);
}

static int nvtx_gpu_proj_trace(const struct report_context *c, struct report_result *out,
                               struct err *err)
{
    struct proj_work work;
    int rc = proj_new(c, &work, err);
    out->status = proj_status(c);
    kit_need_calls(c, out);
    kit_note_crossed(c, &out->note);
    out->table = TABLE_NEW(
        proj_title(c, "NVTX GPU Projection Trace", "NVTX GPU Projection Trace, by process"),
        PROJ_TRACE_COLUMNS);
    for (uint32_t i = 0; rc == 0 && out->table != NULL && i < work.ranges.count; i++) {
        if (proj_kept(&work, work.ids.order[i])) {
            proj_put(&work, work.ids.order[i], out->table);
        }
    }
    if (rc == 0 && out->table != NULL) {
        table_sort(out->table, PROJ_TRACE_PROJECTED_DURATION, true);
        table_sort(out->table, PROJ_TRACE_PROJECTED_START, false);
    }
    proj_free(&work);
    return rc;
}

/* ---- nvtx_gpu_proj_sum ---- */

enum {
    PROJ_SUM_RANGE,
    PROJ_SUM_STYLE,
    PROJ_SUM_TOTAL_PROJ_TIME,
    PROJ_SUM_TOTAL_RANGE_TIME,
    PROJ_SUM_RANGE_INSTANCES,
    PROJ_SUM_PROJ_AVG,
    PROJ_SUM_PROJ_MED,
    PROJ_SUM_PROJ_MIN,
    PROJ_SUM_PROJ_MAX,
    PROJ_SUM_PROJ_STD_DEV,
    PROJ_SUM_TOTAL_GPU_OPS,
    PROJ_SUM_AVG_GPU_OPS,
    PROJ_SUM_AVG_RANGE_LVL,
    PROJ_SUM_AVG_NUM_CHILD,
};

static const struct table_column PROJ_SUM_COLUMNS[] = {
    [PROJ_SUM_RANGE] = {"Range", TABLE_TEXT, 0},
    [PROJ_SUM_STYLE] = {"Style", TABLE_TEXT, 0},
    [PROJ_SUM_TOTAL_PROJ_TIME] = {"Total Proj Time", TABLE_TIME, 0},
    [PROJ_SUM_TOTAL_RANGE_TIME] = {"Total Range Time", TABLE_TIME, 0},
    [PROJ_SUM_RANGE_INSTANCES] = {"Range Instances", TABLE_INT, 0},
    [PROJ_SUM_PROJ_AVG] = {"Proj Avg", TABLE_TIME_1, 0},
    [PROJ_SUM_PROJ_MED] = {"Proj Med", TABLE_TIME_1, 0},
    [PROJ_SUM_PROJ_MIN] = {"Proj Min", TABLE_TIME, 0},
    [PROJ_SUM_PROJ_MAX] = {"Proj Max", TABLE_TIME, 0},
    [PROJ_SUM_PROJ_STD_DEV] = {"Proj StdDev", TABLE_TIME_1, 0},
    [PROJ_SUM_TOTAL_GPU_OPS] = {"Total GPU Ops", TABLE_INT, 0},
    [PROJ_SUM_AVG_GPU_OPS] = {"Avg GPU Ops", TABLE_REAL, 1},
    [PROJ_SUM_AVG_RANGE_LVL] = {"Avg Range Lvl", TABLE_REAL, 1},
    [PROJ_SUM_AVG_NUM_CHILD] = {"Avg Num Child", TABLE_REAL, 1},
};

/* The sums of one range name and style. */
struct proj_sum {
    int64_t range_ns;
    int64_t calls;
    int64_t levels;
    int64_t children;
};

struct proj_sums {
    struct intern names; /* the style's letter and the name */
    struct stat_groups durations;
    struct proj_sum *list; /* by name; cap of range count */
};

static int proj_sums_add(const struct proj_work *work, uint32_t range, struct proj_sums *sums,
                         struct buf *scratch)
{
    const struct trace *trace = work->c->trace;
    const struct nvtx_range *r = &work->ranges.list[range];
    const struct projection *p = &work->list[range];
    buf_reset(scratch);
    buf_adds(scratch, nvtx_style(trace, r->event)[0] == 'P' ? "P" : "S");
    kit_nvtx(scratch, trace, trace->events[TRACE_NVTX].name[r->event]);
    uint32_t group = buf_failed(scratch)
                         ? INTERN_NONE
                         : intern_add(&sums->names, buf_text(scratch), scratch->len);
    if (group == INTERN_NONE) {
        return -1;
    }
    stat_groups_add(&sums->durations, group, p->end_ns - p->begin_ns);
    sums->list[group].range_ns += r->end_ns - r->begin_ns;
    sums->list[group].calls += p->calls;
    sums->list[group].levels += r->level;
    sums->list[group].children += r->children;
    return 0;
}

static void proj_sums_put(struct proj_sums *sums, uint32_t group, struct table *table)
{
    const struct proj_sum *sum = &sums->list[group];
    const char *name = intern_text(&sums->names, group);
    size_t count;
    int64_t *values = stat_groups_values(&sums->durations, group, &count);
    struct stat_sum stat = stat_of(values, count);
    double n = (double)stat.count;
    table_put_text(table, name + 1, intern_len(&sums->names, group) - 1);
    kit_put(table, name[0] == 'P' ? "PushPop" : "StartEnd");
    table_put_int(table, stat.total);
    table_put_int(table, sum->range_ns);
    table_put_int(table, stat.count);
    table_put_real(table, stat.mean);
    table_put_real(table, stat.median);
    table_put_int(table, stat.min);
    table_put_int(table, stat.max);
    table_put_real(table, stat.deviation);
    table_put_int(table, sum->calls);
    table_put_real(table, (double)sum->calls / n);
    table_put_real(table, (double)sum->levels / n);
    table_put_real(table, (double)sum->children / n);
}

static int nvtx_gpu_proj_sum(const struct report_context *c, struct report_result *out,
                             struct err *err)
{
    struct proj_sums sums = {.names = {.count = 0}};
    struct proj_work work;
    struct buf scratch = {0};
    int rc = proj_new(c, &work, err);
    out->status = proj_status(c);
    kit_need_calls(c, out);
    kit_note_crossed(c, &out->note);
    out->table = TABLE_NEW(
        proj_title(c, "NVTX GPU Projection Summary", "NVTX GPU Projection Summary, by process"),
        PROJ_SUM_COLUMNS);
    sums.list = calloc((size_t)work.ranges.count + 1, sizeof *sums.list);
    rc = rc != 0 || sums.list == NULL || out->table == NULL ? -1 : 0;
    for (uint32_t i = 0; rc == 0 && i < work.ranges.count; i++) {
        if (proj_kept(&work, i)) {
            rc = proj_sums_add(&work, i, &sums, &scratch);
        }
    }
    if (rc == 0) {
        rc = stat_groups_sort(&sums.durations, sums.names.count);
    }
    for (uint32_t i = 0; rc == 0 && i < sums.names.count; i++) {
        proj_sums_put(&sums, i, out->table);
    }
    if (rc == 0) {
        table_sort(out->table, PROJ_SUM_RANGE, false);
        table_sort(out->table, PROJ_SUM_TOTAL_PROJ_TIME, true);
    }
    buf_free(&scratch);
    intern_free(&sums.names);
    stat_groups_free(&sums.durations);
    free(sums.list);
    proj_free(&work);
    return rc;
}

const struct report REPORT_NVTX_PUSHPOP_TRACE = {
    .name = "nvtx_pushpop_trace",
    .title = "NVTX Push/Pop Range Trace",
    .kinds = KIT_PUSHPOP | KIT_STARTEND,
    .help = "each push/pop range, by time, with its place in the nesting",
    .missing = "NV Tools Extension (NVTX) data",
    .run = nvtx_pushpop_trace,
};
const struct report REPORT_NVTX_GPU_PROJ_TRACE = {
    .name = "nvtx_gpu_proj_trace",
    .title = "NVTX GPU Projection Trace",
    .kinds = KIT_PUSHPOP | KIT_STARTEND | KIT_BUSY | 1U << TRACE_API_CALL,
    .help = "each NVTX range from the first to the last GPU op that was launched within it",
    .missing = "NV Tools Extension (NVTX) data",
    .run = nvtx_gpu_proj_trace,
};
const struct report REPORT_NVTX_GPU_PROJ_SUM = {
    .name = "nvtx_gpu_proj_sum",
    .title = "NVTX GPU Projection Summary",
    .kinds = KIT_PUSHPOP | KIT_STARTEND | KIT_BUSY | 1U << TRACE_API_CALL,
    .help = "the same summed up by range",
    .missing = "NV Tools Extension (NVTX) data",
    .run = nvtx_gpu_proj_sum,
};
