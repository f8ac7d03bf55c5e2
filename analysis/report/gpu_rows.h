/*
 * gpu_rows: what the file knows about GPU ops beyond the model: launch shape, memory, kinds.
 */
#ifndef CUTLINE_REPORT_GPU_ROWS_H
#define CUTLINE_REPORT_GPU_ROWS_H

#include "analysis/report/common.h"

/* One op. Kernels use the first group, copies and sets the second. -1 where the file has none. */
struct gpu_row {
    int64_t correlation;
    int64_t green_context; /* 0 = none */
    int64_t grid[3];
    int64_t block[3];
    int64_t registers; /* a thread */
    int64_t static_smem_bytes;
    int64_t dynamic_smem_bytes;
    int64_t local_bytes; /* local memory a thread: spilled registers, arrays */
    int64_t bytes;
    int src_kind; /* memory kinds; that of a set is here */
    int dst_kind;
};

/* Of a grid or a block: how many there are in it; -1 where the file does not say. */
int64_t gpu_row_product(const int64_t xyz[3]);
/* Shared memory of a launch, static and dynamic; -1 where the file has neither. */
int64_t gpu_row_smem(const struct gpu_row *row);

/* One for each event, parallel to the list. The caller frees. NULL on failure. */
struct gpu_row *gpu_rows_new(const struct trace *trace, struct store *store,
                             const struct selected *events, struct err *err);

#endif
