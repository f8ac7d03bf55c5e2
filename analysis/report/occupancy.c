/*
 * occupancy: the theoretical occupancy of each kernel launch: how many of a multiprocessor's
 * warps its blocks can fill, and what limits them.
 *
 * Rules of allocation (CUDA Occupancy Calculator and the "Compute Capabilities" tables of the CUDA
 * C++ Programming Guide): registers are given to warps in units of 256, warps in groups of 4 (2 on
 * 6.0) as one for each scheduler; shared memory to blocks in units of 256 bytes before 8.0 and 128
 * bytes from there on, where the system also takes 1 KB a block.
 */
#include "analysis/report/occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/times.h"
#include "analysis/report/gpu_rows.h"
#include "analysis/report/report_list.h"

/* No CUDA device or launch has a number beyond 32 bits: of others products would run over. */
static int64_t occupancy_number(int64_t value)
{
    return value >= 0 && value <= INT32_MAX ? value : 0;
}

static int64_t occupancy_round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Blocks that the registers of a multiprocessor hold; INT64_MAX = no limit known. */
static int64_t occupancy_by_registers(const struct occupancy_device *device,
                                      const struct occupancy_launch *launch, int64_t warps)
{
    int64_t granularity = device->major == 6 && device->minor == 0 ? 2 : 4;
    int64_t a_warp = occupancy_round_up(launch->registers * device->warp_threads, 256);
    int64_t pool = device->block_registers > 0 ? device->block_registers : device->registers;
    if (launch->registers <= 0 || device->registers <= 0) {
        return INT64_MAX;
    }
    int64_t fit = pool / a_warp / granularity * granularity;
    return fit / warps * (device->registers / pool);
}

static int64_t occupancy_by_memory(const struct occupancy_device *device,
                                   const struct occupancy_launch *launch)
{
    int64_t unit = device->major >= 8 ? 128 : 256;
    int64_t reserved = device->major >= 8 ? 1024 : 0;
    int64_t bytes = occupancy_round_up(launch->smem_bytes + reserved, unit);
    if (bytes <= 0 || device->smem_bytes <= 0) {
        return INT64_MAX;
    }
    return device->smem_bytes / bytes;
}

struct occupancy_launch occupancy_launch_of(const struct gpu_row *row)
{
    return (struct occupancy_launch){.threads = occupancy_number(gpu_row_product(row->block)),
                                     .registers = occupancy_number(row->registers),
                                     .smem_bytes = occupancy_number(gpu_row_smem(row))};
}

struct occupancy occupancy_of(const struct occupancy_device *device,
                              const struct occupancy_launch *launch)
{
    struct occupancy out = {.percent = -1, .limiter = ""};
    if (device->warps <= 0 || device->warp_threads <= 0 || launch->threads <= 0) {
        return out;
    }
    int64_t warps = (launch->threads + device->warp_threads - 1) / device->warp_threads;
    out.by_warps = device->warps / warps;
    out.by_blocks = device->blocks > 0 ? device->blocks : INT64_MAX;
    out.by_registers = occupancy_by_registers(device, launch, warps);
    out.by_memory = occupancy_by_memory(device, launch);
    out.blocks = out.by_warps;
    out.limiter = "warps";
    if (out.by_blocks < out.blocks) {
        out.blocks = out.by_blocks;
        out.limiter = "blocks";
    }
    if (out.by_registers < out.blocks) {
        out.blocks = out.by_registers;
        out.limiter = "registers";
    }
    if (out.by_memory < out.blocks) {
        out.blocks = out.by_memory;
        out.limiter = "shared memory";
    }
    out.warps = out.blocks * warps;
    out.percent = 100.0 * (double)out.warps / (double)device->warps;
    return out;
}

int occupancy_devices(const struct trace *trace, struct store *store,
                      struct occupancy_device *devices, struct err *err)
{
    static const char *const COLUMNS[] = {"id",
                                          "computeMajor",
                                          "computeMinor",
                                          "maxWarpsPerSm",
                                          "maxBlocksPerSm",
                                          "maxRegistersPerSm",
                                          "maxRegistersPerBlock",
                                          "maxShmemPerSm",
                                          "threadsPerWarp",
                                          "smCount"};
    struct store_scan scan = {
        .table = "TARGET_INFO_GPU", .columns = COLUMNS, .column_count = 10, .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int more = cursor == NULL ? -1 : 1;
    memset(devices, 0, ((size_t)trace->device_count + 1) * sizeof *devices);
    while (more == 1 && (more = store_next(cursor, err)) == 1) {
        uint32_t i = trace_device_of(trace, store_int(cursor, 0, -1));
        if (i != TRACE_NONE) {
            devices[i] = (struct occupancy_device){
                .major = occupancy_number(store_int(cursor, 1, 0)),
                .minor = occupancy_number(store_int(cursor, 2, 0)),
                .warps = occupancy_number(store_int(cursor, 3, 0)),
                .blocks = occupancy_number(store_int(cursor, 4, 0)),
                .registers = occupancy_number(store_int(cursor, 5, 0)),
                .block_registers = occupancy_number(store_int(cursor, 6, 0)),
                .smem_bytes = occupancy_number(store_int(cursor, 7, 0)),
                .warp_threads = occupancy_number(store_int(cursor, 8, 0)),
                .multiprocessors = occupancy_number(store_int(cursor, 9, 0)),
            };
        }
    }
    store_cursor_close(cursor);
    for (uint32_t i = 0; i < trace->device_count;
         i++) { /* an instance of a GPU has a part of them */
        if (trace->devices[i].sm_count > 0) {
            devices[i].multiprocessors = trace->devices[i].sm_count;
        }
    }
    return more < 0 ? -1 : 0;
}

static const struct report_arg OCCUPANCY_ARGS[] = {
    {"base", REPORT_ARG_FLAG, 0, NULL, "short kernel names, without templates and parameters"},
    {"mangled", REPORT_ARG_FLAG, 0, NULL, "mangled kernel names, where the capture has them"},
    {0},
};

enum {
    OCCUPANCY_TIME_PERCENT,
    OCCUPANCY_TOTAL_TIME,
    OCCUPANCY_INSTANCES,
    OCCUPANCY_OCCUPANCY_PERCENT,
    OCCUPANCY_LIMITER,
    OCCUPANCY_BLOCKS_SM,
    OCCUPANCY_WAVES,
    OCCUPANCY_GRID_XYZ,
    OCCUPANCY_BLOCK_XYZ,
    OCCUPANCY_REG_TRD,
    OCCUPANCY_SMEM_B,
    OCCUPANCY_DEVICE_ID,
    OCCUPANCY_NAME,
};

static const struct table_column OCCUPANCY_COLUMNS[] = {
    [OCCUPANCY_TIME_PERCENT] = {"Time (%)", TABLE_PERCENT, 0},
    [OCCUPANCY_TOTAL_TIME] = {"Total Time", TABLE_TIME, 0},
    [OCCUPANCY_INSTANCES] = {"Instances", TABLE_INT, 0},
    [OCCUPANCY_OCCUPANCY_PERCENT] = {"Occupancy (%)", TABLE_PERCENT, 0},
    [OCCUPANCY_LIMITER] = {"Limiter", TABLE_TEXT, 0},
    [OCCUPANCY_BLOCKS_SM] = {"Blocks/SM", TABLE_INT, 0},
    [OCCUPANCY_WAVES] = {"Waves", TABLE_REAL, 2},
    [OCCUPANCY_GRID_XYZ] = {"GridXYZ", TABLE_TEXT, 0},
    [OCCUPANCY_BLOCK_XYZ] = {"BlockXYZ", TABLE_TEXT, 0},
    [OCCUPANCY_REG_TRD] = {"Reg/Trd", TABLE_INT, 0},
    [OCCUPANCY_SMEM_B] = {"SMem (B)", TABLE_INT, 0},
    [OCCUPANCY_DEVICE_ID] = {"Device ID", TABLE_INT, 0},
    [OCCUPANCY_NAME] = {"Name", TABLE_TEXT, 0},
};

/* A group: its bytes are the key. */
struct occupancy_key {
    int64_t grid[3];
    int64_t block[3];
    int64_t registers;
    int64_t smem_bytes;
    uint32_t name; /* id in texts */
    uint32_t device;
};

struct occupancy_work {
    const struct report_context *c;
    struct report_value args[KIT_ARG_COUNT];
    struct intern texts;
    struct intern keys;
    struct stat_groups times;
    struct occupancy_device *devices;
};

static void occupancy_add(struct occupancy_work *work, uint32_t i, const struct gpu_row *row)
{
    const struct trace *trace = work->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    struct kit_text label = kit_kernel(trace, gpu->name[i], work->args);
    struct occupancy_key key = {
        .registers = row->registers,
        .smem_bytes = gpu_row_smem(row),
        .name = intern_add(&work->texts, label.text, label.len),
        .device = trace->lanes[trace_lane_of(trace, TRACE_GPU, i)].device,
    };
    memcpy(key.grid, row->grid, sizeof key.grid);
    memcpy(key.block, row->block, sizeof key.block);
    uint32_t group = intern_add(&work->keys, (const char *)&key, sizeof key);
    if (group == INTERN_NONE || key.name == INTERN_NONE) {
        work->times.failed = 1;
        return;
    }
    stat_groups_add(&work->times, group, gpu->end_ns[i] - gpu->begin_ns[i]);
}

static void occupancy_put_xyz(struct table *table, const int64_t *xyz)
{
    struct buf text = {0};
    kit_xyz(&text, xyz);
    table_put_text(table, buf_text(&text), text.len);
    buf_free(&text);
}

static void occupancy_put(struct occupancy_work *work, uint32_t group, double all,
                          struct table *table)
{
    struct occupancy_key key;
    size_t count;
    int64_t *values = stat_groups_values(&work->times, group, &count);
    struct stat_sum sum = stat_of(values, count);
    memcpy(&key, intern_text(&work->keys, group), sizeof key);
    const struct occupancy_device *device = &work->devices[key.device];
    const struct gpu_row row = {.block = {key.block[0], key.block[1], key.block[2]},
                                .registers = key.registers,
                                .static_smem_bytes = key.smem_bytes,
                                .dynamic_smem_bytes = -1};
    struct occupancy_launch launch = occupancy_launch_of(&row);
    struct occupancy is = occupancy_of(device, &launch);
    int64_t at_once = is.blocks * device->multiprocessors;
    table_put_real(table, all > 0 ? 100.0 * (double)sum.total / all : 0.0);
    table_put_int(table, sum.total);
    table_put_int(table, sum.count);
    if (is.percent < 0) {
        table_put_empty(table);
        table_put_empty(table);
        table_put_empty(table);
    } else {
        table_put_real(table, is.percent);
        kit_put(table, is.limiter);
        table_put_int(table, is.blocks);
    }
    if (at_once > 0 && key.grid[0] >= 0) {
        table_put_real(table, (double)key.grid[0] * (double)key.grid[1] * (double)key.grid[2] /
                                  (double)at_once);
    } else {
        table_put_empty(table);
    }
    occupancy_put_xyz(table, key.grid);
    occupancy_put_xyz(table, key.block);
    table_put_int(table, key.registers < 0 ? INT64_MIN : key.registers);
    table_put_int(table, key.smem_bytes < 0 ? INT64_MIN : key.smem_bytes);
    table_put_int(table, work->c->trace->devices[key.device].id);
    table_put_text(table, intern_text(&work->texts, key.name), intern_len(&work->texts, key.name));
}

static int occupancy_table(struct occupancy_work *work, struct store *store, struct table *table,
                           struct err *err)
{
    const struct trace *trace = work->c->trace;
    struct selected events;
    double all = 0;
    if (selected_new(work->c->trace, work->c->select, TRACE_GPU, KIT_KERNELS, &events, err) != 0) {
        return -1;
    }
    struct gpu_row *rows = gpu_rows_new(trace, store, &events, err);
    for (size_t k = 0; rows != NULL && k < events.count; k++) {
        uint32_t i = events.list[k];
        all += (double)(trace->events[TRACE_GPU].end_ns[i] - trace->events[TRACE_GPU].begin_ns[i]);
        occupancy_add(work, i, &rows[k]);
    }
    selected_free(&events);
    if (rows == NULL || stat_groups_sort(&work->times, work->keys.count) != 0) {
        free(rows);
        return -1;
    }
    free(rows);
    for (uint32_t g = 0; g < work->keys.count; g++) {
        occupancy_put(work, g, all, table);
    }
    table_sort(table, OCCUPANCY_TOTAL_TIME, true);
    return 0;
}

static int occupancy_run(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct occupancy_work work = {.c = c};
    int rc = 0;
    work.args[KIT_ARG_BASE] = c->args[0];
    work.args[KIT_ARG_MANGLED] = c->args[1];
    work.devices = calloc((size_t)c->trace->device_count + 1, sizeof *work.devices);
    out->status = c->trace->counts.kernels > 0 ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_OCCUPANCY.title, OCCUPANCY_COLUMNS);
    if (work.devices == NULL || out->table == NULL) {
        rc = err_nomem(err, "the occupancy");
    } else if (out->status == REPORT_ROWS) {
        struct store *store = shared_store(c->shared, err);
        rc = store == NULL ? -1 : occupancy_devices(c->trace, store, work.devices, err);
        rc = rc == 0 ? occupancy_table(&work, store, out->table, err) : rc;
    }
    intern_free(&work.texts);
    intern_free(&work.keys);
    stat_groups_free(&work.times);
    free(work.devices);
    return rc;
}

const struct report REPORT_OCCUPANCY = {
    .name = "occupancy",
    .title = "Theoretical Occupancy",
    .kinds = KIT_KERNELS | 1U << TRACE_GRAPH,
    .help = "the share of a multiprocessor's warps that each kernel launch can fill, and what "
            "limits it",
    .missing = "CUDA kernel data",
    .args = OCCUPANCY_ARGS,
    .run = occupancy_run,
};
