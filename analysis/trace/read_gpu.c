/* read_gpu: rows of the four tables of GPU work. A missing globalPid reads as 0. */
#include <string.h>

#include "analysis/trace/trace_internal.h"

/* The first columns are the same in all four tables. */
enum {
    GPU_START,
    GPU_END,
    GPU_DEVICE,
    GPU_CONTEXT,
    GPU_STREAM,
    GPU_CORRELATION,
    GPU_PROCESS,
    GPU_COMMON,
};
enum {
    KERNEL_DEMANGLED = GPU_COMMON,
    KERNEL_SHORT,
    KERNEL_MANGLED
};
enum {
    MEMCPY_KIND = GPU_COMMON
};
enum {
    GRAPH_ID = GPU_COMMON
};
/* copyKind of unified-memory migrations: nsys's ENUM_CUDA_MEMCPY_OPER. */
enum {
    COPY_UVM_HTOD = 11,
    COPY_UVM_DTOD = 13
};

static int read_op(struct piece *piece, struct store_cursor *cursor, const struct raw_name *name,
                   struct err *err)
{
    bool migration = name->kind == TRACE_MIGRATION;
    struct raw_track track = {
        .global_id = store_int(cursor, GPU_PROCESS, 0),
        .device_id = store_int(cursor, GPU_DEVICE, 0),
        .context_id = migration ? 0 : store_int(cursor, GPU_CONTEXT, 0),
        .stream_id = migration ? 0 : store_int(cursor, GPU_STREAM, 0),
        .kind = migration ? TRACE_LANE_MIGRATION : TRACE_LANE_STREAM,
    };
    struct raw_row row = {
        .begin_ns = store_int(cursor, GPU_START, 0),
        .end_ns = store_int(cursor, GPU_END, 0),
        .correlation = migration ? 0 : store_int(cursor, GPU_CORRELATION, 0),
        .name = name,
        .track = &track,
    };
    return raw_put(piece, cursor, &row, err);
}

int read_kernel(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {
        .id = {store_int(cursor, KERNEL_DEMANGLED, RAW_NO_ID),
               store_int(cursor, KERNEL_SHORT, RAW_NO_ID),
               store_int(cursor, KERNEL_MANGLED, RAW_NO_ID)},
        .kind = TRACE_KERNEL,
    };
    return read_op(piece, cursor, &name, err);
}

int read_memcpy(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    int64_t kind = store_int(cursor, MEMCPY_KIND, 0);
    struct raw_name name = {
        .kind = kind >= COPY_UVM_HTOD && kind <= COPY_UVM_DTOD ? TRACE_MIGRATION : TRACE_MEMCPY,
        .sub = kind >= 0 && kind <= UINT8_MAX ? (uint32_t)kind : 0,
    };
    return read_op(piece, cursor, &name, err);
}

int read_memset(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {.kind = TRACE_MEMSET};
    return read_op(piece, cursor, &name, err);
}

int read_graph(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {.id = {store_int(cursor, GRAPH_ID, 0)}, .kind = TRACE_GRAPH};
    return read_op(piece, cursor, &name, err);
}
