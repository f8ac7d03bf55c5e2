/*
 * top_kernels: the kernels that take the time of a device, and what their launch shape says of it:
 * blocks against multiprocessors, waves and the last one, occupancy and what limits it, spilled
 * registers. A device that is never idle is made faster here alone.
 *
 * A kernel is judged by its longest instance. Waves are blocks over what all multiprocessors hold at
 * once (report/occupancy.h); in the last of w waves, w - floor(w) of the device works, so at most
 * (ceil(w) - w) / ceil(w) of the kernel's time is that tail (CUDA C++ Best Practices Guide,
 * "Thread and Block Heuristics").
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/export/recipe.h"
#include "analysis/facts/cover.h"
#include "analysis/report/common.h"
#include "analysis/report/gpu_rows.h"
#include "analysis/report/occupancy.h"
#include "analysis/timeline/overlap.h"

enum {
    ARG_TOP,
};

enum {
    LEAST_PERCENT = 5, /* of the busy time: below that a kernel is no finding */
    /* What a kernel hides is unknown. It stands where a twentieth of its time would: before losses that
     * are small beside it, as on a device that is never idle, and behind those that are not. */
    RANK_PART = 20
};

static const struct report_arg ARGS[] = {
    {"top", REPORT_ARG_INT, 0, "5", "the N kernels of each device that take the most time"},
    DETECTOR_TIME_ARGS,
    {0},
};

static const struct table_column COLUMNS[] = {
    {"GPU busy (%)", TABLE_PERCENT, 0},
    {"Total Time", TABLE_TIME, 0},
    {"Instances", TABLE_INT, 0},
    {"Longest", TABLE_TIME, 0},
    {"Blocks", TABLE_INT, 0},
    {"Threads/Block", TABLE_INT, 0},
    {"SMs", TABLE_INT, 0},
    {"Waves", TABLE_REAL, 2},
    {"Last Wave (%)", TABLE_PERCENT, 0},
    {"Occupancy (%)", TABLE_PERCENT, 0},
    {"Limiter", TABLE_TEXT, 0},
    {"Reg/Trd", TABLE_INT, 0},
    {"SMem (B)", TABLE_INT, 0},
    {"Local (B/Trd)", TABLE_INT, 0},
    {"Device ID", TABLE_INT, 0},
    {"Name", TABLE_TEXT, 0},
};

/* The instances of one kernel on one device. */
struct top_kernel {
    uint32_t device;
    uint32_t name;
    uint32_t count;
    uint32_t longest; /* GPU index */
    int64_t total_ns;
    int64_t cover_ns; /* their union: instances may run side by side */
    int64_t blocks; /* of the longest; -1 = unknown */
    struct gpu_row row; /* ... */
    struct occupancy occupancy;
    int64_t multiprocessors; /* 0 = unknown */
    double waves; /* 0 = unknown */
};

struct top_kernels {
    struct top_kernel *list; /* owned; by device, then total descending */
    size_t count;
    int64_t *busy_ns; /* owned; by device: the sum of its ops' union in the selection */
};

static int by_total(const void *a, const void *b)
{
    const struct top_kernel *x = a;
    const struct top_kernel *y = b;
    if (x->device != y->device) {
        return COMPARE(x->device, y->device);
    }
    if (x->total_ns != y->total_ns) {
        return COMPARE(y->total_ns, x->total_ns);
    }
    return COMPARE(x->name, y->name);
}

static bool is_computing(const struct trace_name *name)
{
    return name->kind == TRACE_KERNEL && overlap_class_of(name) == OVERLAP_COMPUTE;
}

/* The kernels of a capture by device and name while they are added up. */
struct adding {
    struct top_kernels *out;
    size_t cap;
    uint32_t *place; /* of a name in out->list + first, from 1; 0: not on this device so far */
    size_t first; /* where the device begins in out->list */
};

/* The sum of a kernel on the device that is being added up; NULL without memory. */
static struct top_kernel *sum_of(struct adding *adding, uint32_t device, uint32_t name,
                                 uint32_t gpu)
{
    struct top_kernels *out = adding->out;
    uint32_t *place = &adding->place[name];
    if (*place != 0) {
        return &out->list[adding->first + *place - 1];
    }
    struct top_kernel *list = array_grow(out->list, &adding->cap, out->count + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    out->list = list;
    struct top_kernel *sum = &list[out->count++];
    *sum = (struct top_kernel){.device = device, .name = name, .longest = gpu};
    *place = (uint32_t)(out->count - adding->first);
    return sum;
}

/* Adds an instance of a kernel. 0 or -1. */
static int add_instance(struct adding *adding, const struct trace_events *gpu, uint32_t device,
                        uint32_t i)
{
    struct top_kernel *sum = sum_of(adding, device, gpu->name[i], i);
    if (sum == NULL) {
        return -1;
    }
    int64_t ns = gpu->end_ns[i] - gpu->begin_ns[i];
    if (ns > gpu->end_ns[sum->longest] - gpu->begin_ns[sum->longest]) {
        sum->longest = i;
    }
    sum->count++;
    sum->total_ns += ns;
    return 0;
}

/* Do ops of the device run at the same time? Else sums are unions. O(lanes). */
static bool runs_side_by_side(const struct report_context *context, uint32_t device)
{
    const struct trace *trace = context->trace;
    const struct trace_device *of = &trace->devices[device];
    int64_t sum_ns = 0;
    if (context->select->begin_ns != INT64_MIN || context->select->end_ns != INT64_MAX) {
        return true; /* instances are cut at the ends */
    }
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        sum_ns += trace->gpu_busy_ns[lane->first + lane->count] - trace->gpu_busy_ns[lane->first];
    }
    return sum_ns > of->busy_sum_ns[of->busy_count];
}

/* Adds the kernels of one device, and keeps those that take the most time. 0 or -1. */
static int add_device(const struct report_context *context, uint32_t device, struct adding *adding)
{
    const struct trace *trace = context->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *of = &trace->devices[device];
    struct top_kernels *out = adding->out;
    adding->first = out->count;
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (!select_lane(trace, context->select, lane)) {
            continue;
        }
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (is_computing(&trace->names[gpu->name[i]]) &&
                select_time(context->select, gpu->begin_ns[i], gpu->end_ns[i]) &&
                add_instance(adding, gpu, device, i) != 0) {
                return -1;
            }
        }
    }
    if (out->count == adding->first) { /* there may be no list to sort, either */
        return 0;
    }
    for (size_t i = adding->first; i < out->count; i++) {
        adding->place[out->list[i].name] = 0;
    }
    sort_list(out->list + adding->first, out->count - adding->first, sizeof *out->list, by_total);
    int64_t top = context->args[ARG_TOP].i;
    if (top >= 0 && (size_t)top < out->count - adding->first) {
        out->count = adding->first + (size_t)top;
    }
    bool side_by_side = runs_side_by_side(context, device);
    for (size_t i = adding->first; i < out->count; i++) {
        struct top_kernel *kernel = &out->list[i];
        kernel->cover_ns = side_by_side
                               ? cover_of_name(trace, device, kernel->name,
                                               context->select->begin_ns, context->select->end_ns)
                               : kernel->total_ns;
        if (kernel->cover_ns < 0) {
            return -1;
        }
    }
    return 0;
}

/* What the launch shape of the longest instance says. */
static void judge(struct top_kernel *kernel, const struct occupancy_device *device)
{
    const struct gpu_row *row = &kernel->row;
    kernel->multiprocessors = device->multiprocessors;
    kernel->blocks = gpu_row_product(row->grid);
    const struct occupancy_launch launch = occupancy_launch_of(row);
    kernel->occupancy = occupancy_of(device, &launch);
    double at_once = (double)kernel->occupancy.blocks * (double)device->multiprocessors;
    if (at_once > 0 && kernel->blocks >= 0) {
        kernel->waves = (double)kernel->blocks / at_once;
    }
}

static int read_shapes(const struct report_context *context, struct top_kernels *found,
                       struct err *err)
{
    const struct trace *trace = context->trace;
    struct store *store = shared_store(context->shared, err);
    if (store == NULL) {
        return -1;
    }
    struct occupancy_device *devices = calloc((size_t)trace->device_count + 1, sizeof *devices);
    struct selected longest = {malloc((found->count + 1) * sizeof *longest.list), 0};
    struct gpu_row *rows = NULL;
    int rc = devices == NULL || longest.list == NULL ? err_nomem(err, "the devices") : 0;
    if (rc == 0) {
        for (size_t i = 0; i < found->count; i++) {
            longest.list[longest.count++] = found->list[i].longest;
        }
        rc = occupancy_devices(trace, store, devices, err);
    }
    if (rc == 0) {
        rows = gpu_rows_new(trace, store, &longest, err);
        rc = rows == NULL ? -1 : 0;
    }
    for (size_t i = 0; rc == 0 && i < found->count; i++) {
        found->list[i].row = rows[i];
        judge(&found->list[i], &devices[found->list[i].device]);
    }
    free(rows);
    free(longest.list);
    free(devices);
    return rc;
}

static void drop(void *data)
{
    struct top_kernels *found = data;
    free(found->list);
    free(found->busy_ns);
    free(found);
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    const struct trace *trace = context->trace;
    const struct facts *facts = shared_facts(context->shared, err);
    struct top_kernels *found = calloc(1, sizeof *found);
    struct adding adding = {.out = found,
                            .place = calloc((size_t)trace->name_count + 1, sizeof *adding.place)};
    if (found == NULL || adding.place == NULL || facts == NULL) {
        free(found);
        free(adding.place);
        return facts == NULL ? -1 : err_nomem(err, "the kernels of a device");
    }
    out->data = found;
    found->busy_ns = calloc((size_t)trace->device_count + 1, sizeof *found->busy_ns);
    int rc = found->busy_ns == NULL ? -1 : 0;
    for (uint32_t d = 0; rc == 0 && d < trace->device_count; d++) {
        found->busy_ns[d] =
            facts_busy_ns(facts, d, context->select->begin_ns, context->select->end_ns);
        if (detector_keeps(context, d)) {
            rc = add_device(context, d, &adding);
        }
    }
    free(adding.place);
    out->count = found->count;
    return rc != 0 ? err_nomem(err, "the kernels of a device") : read_shapes(context, found, err);
}

static double last_wave(const struct top_kernel *kernel)
{
    double over = kernel->waves - floor(kernel->waves);
    return over > 0 ? over : 1.0;
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct trace *trace = context->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct top_kernels *found = data;
    const struct top_kernel *kernel = &found->list[i];
    const struct trace_name *name = &trace->names[kernel->name];
    const int64_t *block = kernel->row.block;
    rules_put_percent(table, kernel->cover_ns, found->busy_ns[kernel->device]);
    table_put_int(table, kernel->total_ns);
    table_put_int(table, kernel->count);
    table_put_int(table, gpu->end_ns[kernel->longest] - gpu->begin_ns[kernel->longest]);
    rules_put_known(table, kernel->blocks);
    rules_put_known(table, gpu_row_product(block));
    rules_put_known(table, kernel->multiprocessors > 0 ? kernel->multiprocessors : -1);
    if (kernel->waves > 0) {
        table_put_real(table, kernel->waves);
        table_put_real(table, 100.0 * last_wave(kernel));
    } else {
        table_put_empty(table);
        table_put_empty(table);
    }
    if (kernel->occupancy.percent >= 0) {
        table_put_real(table, kernel->occupancy.percent);
        kit_put(table, kernel->occupancy.limiter);
    } else {
        table_put_empty(table);
        table_put_empty(table);
    }
    rules_put_known(table, kernel->row.registers);
    rules_put_known(table, gpu_row_smem(&kernel->row));
    rules_put_known(table, kernel->row.local_bytes);
    table_put_int(table, trace->devices[kernel->device].id);
    table_put_text(table, name->full, name->full_len);
}

/* ---- the finding ---- */

/* "512 blocks of 256 threads on 108 SMs, 1.2 waves; occupancy 50.0 % (registers); ..." */
static void put_shape(struct buf *out, const struct top_kernel *kernel)
{
    const struct gpu_row *row = &kernel->row;
    if (kernel->blocks >= 0) {
        int64_t threads = gpu_row_product(row->block);
        buf_addf(out, "; %" PRId64 " block%s of %" PRId64 " thread%s", kernel->blocks,
                 kernel->blocks == 1 ? "" : "s", threads, threads == 1 ? "" : "s");
        if (kernel->multiprocessors > 0) {
            buf_addf(out, " on %" PRId64 " SMs", kernel->multiprocessors);
        }
        if (kernel->waves >= 1) {
            buf_addf(out, ", %.2f waves", kernel->waves);
        }
    }
    if (kernel->occupancy.percent >= 0) {
        buf_addf(out, "; occupancy at most %.1f %% of the warps (limit: %s)",
                 kernel->occupancy.percent, kernel->occupancy.limiter);
    }
    if (row->registers > 0) {
        buf_addf(out, "; %" PRId64 " registers a thread", row->registers);
    }
    if (row->local_bytes > 0) {
        buf_addf(out, ", %" PRId64 " bytes of local memory", row->local_bytes);
    }
}

static double tail_share(const struct top_kernel *kernel)
{
    return kernel->waves > 1 ? (ceil(kernel->waves) - kernel->waves) / ceil(kernel->waves) : 0;
}

/* What the shape suggests: the first that holds. */
static void put_advice(struct buf *out, const struct top_kernel *kernel)
{
    const struct gpu_row *row = &kernel->row;
    int64_t threads = gpu_row_product(row->block);
    if (kernel->blocks >= 0 && kernel->blocks < kernel->multiprocessors) {
        buf_addf(out,
                 "%" PRId64 " of %" PRId64 " multiprocessors have nothing to do: split the work "
                 "into more blocks, or run other kernels beside it on another stream.",
                 kernel->multiprocessors - kernel->blocks, kernel->multiprocessors);
    } else if (threads > 0 && threads < 32) {
        buf_addf(out, "A block of %" PRId64 " threads fills a part of one warp: at least 32.",
                 threads);
    } else if (row->local_bytes > 0 && row->registers >= 255) {
        buf_adds(out, "Registers spill to local memory: less work a thread, or smaller tiles.");
    } else if (kernel->occupancy.percent >= 0 && kernel->occupancy.percent < 25) {
        buf_addf(out, "Few warps run at once: fewer %s.",
                 kernel->occupancy.limiter[0] == 'r'   ? "registers a thread (__launch_bounds__)"
                 : kernel->occupancy.limiter[0] == 's' ? "bytes of shared memory a block"
                                                       : "limits on blocks: larger blocks");
    } else if (tail_share(kernel) >= 0.2) {
        buf_addf(out,
                 "The last of %.0f waves fills %.0f %% of the device: a grid that is a multiple of "
                 "%" PRId64 " blocks has no tail.",
                 ceil(kernel->waves), 100.0 * last_wave(kernel),
                 kernel->occupancy.blocks * kernel->multiprocessors);
    } else {
        buf_adds(out, kernel->multiprocessors > 0 ? "Its shape fills the device: look inside."
                                                  : "Look inside.");
    }
}

static void add(struct findings_maker *maker, const struct top_kernel *kernel, int64_t busy_ns,
                uint32_t others)
{
    const struct trace *trace = maker->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    char total[TIMEFMT_BYTES];
    struct buf evidence = {0};
    struct buf advice = {0};
    long long id = (long long)trace->devices[kernel->device].id;
    double share = findings_percent(kernel->cover_ns, busy_ns);
    buf_addf(&evidence, "%" PRIu32 " launch%s, %s", kernel->count, kernel->count == 1 ? "" : "es",
             timefmt_duration(kernel->total_ns, total));
    put_shape(&evidence, kernel);
    if (others > 0) {
        buf_addf(&evidence, "; the first kernel of %" PRIu32 " more GPU%s, too", others,
                 others == 1 ? "" : "s");
    }
    put_advice(&advice, kernel);
    buf_addc(&advice, ' ');
    (void)recipe_ncu(trace, kernel->longest, NULL, &advice, NULL);
    const struct finding one = {
        .rule = DETECT_TOP_KERNELS.rule.name,
        .title = findings_words(maker, "GPU %lld: %s is %.1f %% of its busy time", id,
                                trace->names[kernel->name].brief, share),
        .evidence = findings_keep(maker, &evidence),
        .advice = findings_keep(maker, &advice),
        .show = findings_words(maker, "cutline analyze -r top_kernels --device %lld", id),
        .recoverable_ns = -1,
        .rank_ns = kernel->cover_ns / RANK_PART,
        .value = share,
        .begin_ns = gpu->begin_ns[kernel->longest],
        .end_ns = gpu->end_ns[kernel->longest],
        .device = kernel->device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &one);
    buf_free(&evidence);
    buf_free(&advice);
}

static double share_of(const struct top_kernels *found, size_t i)
{
    const struct top_kernel *kernel = &found->list[i];
    return findings_percent(kernel->cover_ns, found->busy_ns[kernel->device]);
}

/* Is it the first kernel of its device, and worth a finding? */
static bool is_first(const struct top_kernels *found, size_t i)
{
    return (i == 0 || found->list[i - 1].device != found->list[i].device) &&
           share_of(found, i) >= LEAST_PERCENT;
}

/* The devices that have a kernel as the first one: the one with the largest share speaks for all. */
struct speaker {
    size_t i; /* in the list; the first of equals */
    uint32_t devices;
};

/* The first kernel of each device; devices with the same one share a finding. */
static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct top_kernels *found = data;
    struct speaker *of = calloc((size_t)context->trace->name_count + 1, sizeof *of);
    if (of == NULL) {
        return err_nomem(maker->err, "the findings");
    }
    for (size_t i = 0; i < found->count; i++) {
        struct speaker *speaker = &of[found->list[i].name];
        if (is_first(found, i)) {
            bool more = speaker->devices == 0 || share_of(found, i) > share_of(found, speaker->i);
            speaker->i = more ? i : speaker->i;
            speaker->devices++;
        }
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct top_kernel *kernel = &found->list[i];
        const struct speaker *speaker = &of[kernel->name];
        if (speaker->devices > 0 && speaker->i == i) {
            add(maker, kernel, found->busy_ns[kernel->device], speaker->devices - 1);
        }
    }
    free(of);
    return 0;
}

static bool has_kernels(const struct trace *trace)
{
    return trace->counts.kernels > 0;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_TOP_KERNELS = {
    .rule = {.name = "top_kernels",
             .title = "Top Kernels",
             .kind = REPORT_RULE,
             .help = "the kernels that take a device's time, and what their launch shape says",
             .advice = "Profile it with ncu.",
             .missing = "CUDA kernel data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .value_is_worst = true,
    .has_data = has_kernels,
    .find = find,
    .drop = drop,
    .finding = finding,
};
