/* gpu_rows: see gpu_rows.h. One pass over each of the tables of kernels, copies and sets. */
#include "analysis/report/gpu_rows.h"

#include <stdlib.h>

#include "analysis/base/times.h"
#include "analysis/facts/rows.h"

int64_t gpu_row_product(const int64_t xyz[3])
{
    int64_t product = 1;
    for (int i = 0; i < 3; i++) {
        product = product < 0 || xyz[i] < 0 ? -1 : i64_multiply(product, xyz[i]);
    }
    return product;
}

int64_t gpu_row_smem(const struct gpu_row *row)
{
    int64_t fixed = row->static_smem_bytes;
    int64_t dynamic = row->dynamic_smem_bytes;
    return fixed < 0 && dynamic < 0 ? -1
                                    : i64_add(fixed > 0 ? fixed : 0, dynamic > 0 ? dynamic : 0);
}

static void gpu_row_any(struct gpu_row *out, struct store_cursor *row)
{
    out->correlation = store_int(row, 0, -1);
    out->green_context = store_int(row, 1, 0);
}

static void gpu_row_kernel(void *arg, size_t k, struct store_cursor *row)
{
    struct gpu_row *out = (struct gpu_row *)arg + k;
    gpu_row_any(out, row);
    for (int i = 0; i < 3; i++) {
        out->grid[i] = store_int(row, 2 + i, -1);
        out->block[i] = store_int(row, 5 + i, -1);
    }
    out->registers = store_int(row, 8, -1);
    out->static_smem_bytes = store_int(row, 9, -1);
    out->dynamic_smem_bytes = store_int(row, 10, -1);
    out->local_bytes = store_int(row, 11, -1);
}

static void gpu_row_memory(void *arg, size_t k, struct store_cursor *row)
{
    struct gpu_row *out = (struct gpu_row *)arg + k;
    gpu_row_any(out, row);
    out->bytes = store_int(row, 2, -1);
    out->src_kind = (int)store_int(row, 3, -1);
    out->dst_kind = (int)store_int(row, 4, -1);
}

static void gpu_rows_clear(struct gpu_row *rows, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        rows[k] = (struct gpu_row){.correlation = -1,
                                   .grid = {-1, -1, -1},
                                   .block = {-1, -1, -1},
                                   .registers = -1,
                                   .static_smem_bytes = -1,
                                   .dynamic_smem_bytes = -1,
                                   .local_bytes = -1,
                                   .bytes = -1,
                                   .src_kind = -1,
                                   .dst_kind = -1};
    }
}

struct gpu_row *gpu_rows_new(const struct trace *trace, struct store *store,
                             const struct selected *events, struct err *err)
{
    static const char *const KERNEL[] = {"correlationId",
                                         "greenContextId",
                                         "gridX",
                                         "gridY",
                                         "gridZ",
                                         "blockX",
                                         "blockY",
                                         "blockZ",
                                         "registersPerThread",
                                         "staticSharedMemory",
                                         "dynamicSharedMemory",
                                         "localMemoryPerThread"};
    static const char *const COPY[] = {"correlationId", "greenContextId", "bytes", "srcKind",
                                       "dstKind"};
    static const char *const SET[] = {"correlationId", "greenContextId", "bytes", "memKind",
                                      "none"};
    const struct rows_query passes[] = {
        {TRACE_GPU, KIT_KERNELS, KERNEL, 12, gpu_row_kernel, NULL},
        {TRACE_GPU, 1U << TRACE_MEMCPY | 1U << TRACE_MIGRATION, COPY, 5, gpu_row_memory, NULL},
        {TRACE_GPU, 1U << TRACE_MEMSET, SET, 5, gpu_row_memory, NULL},
    };
    struct gpu_row *rows = malloc((events->count + 1) * sizeof *rows);
    if (rows == NULL) {
        (void)err_nomem(err, "the launches");
        return NULL;
    }
    gpu_rows_clear(rows, events->count);
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        struct rows_query pass = passes[i];
        pass.arg = rows;
        if (rows_visit(trace, store, events->list, events->count, &pass, err) != 0) {
            free(rows);
            return NULL;
        }
    }
    return rows;
}
