/*
 * occupancy: how many warps of a multiprocessor a kernel's launch shape lets run at once.
 */
#ifndef CUTLINE_REPORT_OCCUPANCY_H
#define CUTLINE_REPORT_OCCUPANCY_H

#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* The limits of one multiprocessor; 0 = unknown. */
struct occupancy_device {
    int64_t major; /* compute capability */
    int64_t minor;
    int64_t warps;
    int64_t blocks;
    int64_t registers;
    int64_t block_registers; /* a block at most */
    int64_t smem_bytes;
    int64_t warp_threads;
    int64_t multiprocessors; /* of the device */
};

struct occupancy_launch {
    int64_t threads; /* a block */
    int64_t registers; /* a thread; <= 0 = unknown */
    int64_t smem_bytes; /* a block, static and dynamic */
};

struct occupancy {
    double percent; /* -1 = unknown */
    int64_t blocks; /* at once on a multiprocessor */
    int64_t warps; /* ... */
    const char *limiter; /* "warps", "blocks", "registers", "shared memory" */
    int64_t by_warps; /* blocks that each resource alone would allow; INT64_MAX = any number */
    int64_t by_blocks;
    int64_t by_registers;
    int64_t by_memory;
};

struct gpu_row;
/* The launch of a kernel by its row of the file; numbers that no launch has are unknown. */
struct occupancy_launch occupancy_launch_of(const struct gpu_row *row);
struct occupancy occupancy_of(const struct occupancy_device *device,
                              const struct occupancy_launch *launch);
/* The limits of the trace's devices, parallel to trace->devices, device_count + 1 of them. All 0
 * where the file does not say. 0 or -1. */
int occupancy_devices(const struct trace *trace, struct store *store,
                      struct occupancy_device *devices, struct err *err);

#endif
