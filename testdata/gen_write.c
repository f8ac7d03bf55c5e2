/* gen_write: rows of the model -> rows of the file, sorted by begin. See gen_world.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testdata/gen_world.h"

#define CELL_INT(v) store_cell_int((int64_t)(v))

static int by_begin(const void *a, const void *b)
{
    const struct gen_event *x = a;
    const struct gen_event *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) { /* an outer range first */
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    return x->rank - y->rank;
}

static int64_t global_tid(const struct gen *gen, const struct gen_event *e)
{
    const struct gen_rank *rank = &gen->ranks[e->rank];
    return store_global_tid(rank->pid, gen_tid(rank, (enum gen_thread)e->thread));
}

static int64_t global_pid(const struct gen *gen, const struct gen_event *e)
{
    return store_global_tid(gen->ranks[e->rank].pid, 0);
}

static int text_id(struct gen *gen, const char *text, struct store_cell *cell, struct err *err)
{
    int64_t id;
    if (store_writer_string(gen->writer, text, strlen(text), &id, err) != 0) {
        return -1;
    }
    *cell = store_cell_int(id);
    return 0;
}

/* The same for a text that is a constant of the program: remembered by its address. */
static int constant_id(struct gen *gen, const char *text, struct store_cell *cell, struct err *err)
{
    size_t i = (size_t)((uintptr_t)text >> 3) % GEN_TEXTS_MAX;
    while (gen->texts[i].text != NULL && gen->texts[i].text != text) {
        i = (i + 1) % GEN_TEXTS_MAX;
    }
    if (gen->texts[i].text == NULL) {
        if (text_id(gen, text, cell, err) != 0) {
            return -1;
        }
        gen->texts[i] = (struct gen_text){.text = text, .id = cell->as.i};
    }
    *cell = store_cell_int(gen->texts[i].id);
    return 0;
}

static int write_kernel(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const struct gen_kernel *k = &GEN_KERNELS[e->kernel];
    struct store_cell row[STORE_KERNEL_N] = {
        [STORE_KERNEL_START] = CELL_INT(e->begin_ns),
        [STORE_KERNEL_END] = CELL_INT(e->end_ns),
        [STORE_KERNEL_DEVICE_ID] = CELL_INT(e->rank),
        [STORE_KERNEL_CONTEXT_ID] = CELL_INT(1),
        [STORE_KERNEL_GREEN_CONTEXT_ID] = CELL_INT(0),
        [STORE_KERNEL_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)e->stream)),
        [STORE_KERNEL_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_KERNEL_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_KERNEL_LAUNCH_TYPE] = CELL_INT(1),
        [STORE_KERNEL_CACHE_CONFIG] = CELL_INT(1),
        [STORE_KERNEL_REGISTERS_PER_THREAD] = CELL_INT(k->registers),
        [STORE_KERNEL_GRID_X] = CELL_INT(k->grid[0]),
        [STORE_KERNEL_GRID_Y] = CELL_INT(k->grid[1]),
        [STORE_KERNEL_GRID_Z] = CELL_INT(k->grid[2]),
        [STORE_KERNEL_BLOCK_X] = CELL_INT(k->block[0]),
        [STORE_KERNEL_BLOCK_Y] = CELL_INT(k->block[1]),
        [STORE_KERNEL_BLOCK_Z] = CELL_INT(k->block[2]),
        [STORE_KERNEL_STATIC_SHARED_MEMORY] = CELL_INT(k->static_bytes),
        [STORE_KERNEL_DYNAMIC_SHARED_MEMORY] = CELL_INT(k->dynamic_bytes),
        [STORE_KERNEL_LOCAL_MEMORY_PER_THREAD] = CELL_INT(0),
        [STORE_KERNEL_LOCAL_MEMORY_TOTAL] = CELL_INT(250871808),
        [STORE_KERNEL_GRID_ID] = CELL_INT(e->corr),
        [STORE_KERNEL_SHARED_MEMORY_EXECUTED] = CELL_INT(k->dynamic_bytes + 1024),
        [STORE_KERNEL_SHARED_MEMORY_LIMIT_CONFIG] = CELL_INT(k->dynamic_bytes > 49152),
        [STORE_KERNEL_TENSOR_SIZE_MINUS_ONE_ELEMENTS] = store_cell_text("[]", 2),
    };
    if (e->node != 0) {
        row[STORE_KERNEL_GRAPH_NODE_ID] = CELL_INT(e->node);
        row[STORE_KERNEL_GRAPH_ID] = CELL_INT(e->node >> 32);
    }
    gen->key.counts.kernels++;
    if (constant_id(gen, k->full, &row[STORE_KERNEL_DEMANGLED_NAME], err) != 0 ||
        constant_id(gen, k->brief, &row[STORE_KERNEL_SHORT_NAME], err) != 0 ||
        constant_id(gen, k->mangled, &row[STORE_KERNEL_MANGLED_NAME], err) != 0) {
        return -1;
    }
    return store_writer_row(gen->writer, STORE_TABLE_KERNEL, row, err);
}

static int write_copy(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const struct store_cell row[STORE_MEMCPY_N] = {
        [STORE_MEMCPY_START] = CELL_INT(e->begin_ns),
        [STORE_MEMCPY_END] = CELL_INT(e->end_ns),
        [STORE_MEMCPY_DEVICE_ID] = CELL_INT(e->rank),
        [STORE_MEMCPY_CONTEXT_ID] = CELL_INT(1),
        [STORE_MEMCPY_GREEN_CONTEXT_ID] = CELL_INT(0),
        [STORE_MEMCPY_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)e->stream)),
        [STORE_MEMCPY_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_MEMCPY_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_MEMCPY_BYTES] = CELL_INT(e->bytes),
        [STORE_MEMCPY_COPY_KIND] = CELL_INT(e->kernel),
        [STORE_MEMCPY_SRC_KIND] = CELL_INT(e->src_kind),
        [STORE_MEMCPY_DST_KIND] = CELL_INT(e->dst_kind),
        [STORE_MEMCPY_COPY_COUNT] = CELL_INT(1),
    };
    gen->key.counts.memcpys++;
    return store_writer_row(gen->writer, STORE_TABLE_MEMCPY, row, err);
}

static int write_set(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const struct store_cell row[STORE_MEMSET_N] = {
        [STORE_MEMSET_START] = CELL_INT(e->begin_ns),
        [STORE_MEMSET_END] = CELL_INT(e->end_ns),
        [STORE_MEMSET_DEVICE_ID] = CELL_INT(e->rank),
        [STORE_MEMSET_CONTEXT_ID] = CELL_INT(1),
        [STORE_MEMSET_GREEN_CONTEXT_ID] = CELL_INT(0),
        [STORE_MEMSET_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)e->stream)),
        [STORE_MEMSET_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_MEMSET_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_MEMSET_VALUE] = CELL_INT(0),
        [STORE_MEMSET_BYTES] = CELL_INT(e->bytes),
        [STORE_MEMSET_MEM_KIND] = CELL_INT(e->dst_kind),
    };
    gen->key.counts.memsets++;
    return store_writer_row(gen->writer, STORE_TABLE_MEMSET, row, err);
}

static int write_graph(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const struct store_cell row[STORE_GRAPH_TRACE_N] = {
        [STORE_GRAPH_TRACE_START] = CELL_INT(e->begin_ns),
        [STORE_GRAPH_TRACE_END] = CELL_INT(e->end_ns),
        [STORE_GRAPH_TRACE_DEVICE_ID] = CELL_INT(e->rank),
        [STORE_GRAPH_TRACE_CONTEXT_ID] = CELL_INT(1),
        [STORE_GRAPH_TRACE_GREEN_CONTEXT_ID] = CELL_INT(0),
        [STORE_GRAPH_TRACE_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)e->stream)),
        [STORE_GRAPH_TRACE_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_GRAPH_TRACE_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_GRAPH_TRACE_GRAPH_ID] = CELL_INT(2),
        [STORE_GRAPH_TRACE_GRAPH_EXEC_ID] = CELL_INT(3),
    };
    return store_writer_row(gen->writer, STORE_TABLE_GRAPH_TRACE, row, err);
}

static int write_op(struct gen *gen, const struct gen_event *e, struct err *err)
{
    static int (*const WRITERS[])(struct gen *, const struct gen_event *, struct err *) = {
        [GEN_OP_KERNEL] = write_kernel,
        [GEN_OP_COPY] = write_copy,
        [GEN_OP_SET] = write_set,
        [GEN_OP_GRAPH] = write_graph,
    };
    gen_sweep_add(gen, e);
    return WRITERS[e->op](gen, e, err);
}

static int write_api(struct gen *gen, const struct gen_event *e, struct err *err)
{
    bool driver = e->text[0] == 'c' && e->text[1] == 'u' && e->text[2] != 'd';
    struct store_cell row[STORE_RUNTIME_N] = {
        [STORE_RUNTIME_START] = CELL_INT(e->begin_ns),
        [STORE_RUNTIME_END] = CELL_INT(e->end_ns),
        [STORE_RUNTIME_EVENT_CLASS] = CELL_INT(driver),
        [STORE_RUNTIME_GLOBAL_TID] = CELL_INT(global_tid(gen, e)),
        [STORE_RUNTIME_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_RUNTIME_RETURN_VALUE] = CELL_INT(0),
    };
    if (gen->options.no_api) {
        return 0;
    }
    gen->key.counts.api_calls++;
    if (constant_id(gen, e->text, &row[STORE_RUNTIME_NAME_ID], err) != 0) {
        return -1;
    }
    return store_writer_row(gen->writer, STORE_TABLE_RUNTIME, row, err);
}

static int write_nvtx(struct gen *gen, const struct gen_event *e, struct err *err)
{
    char text[64];
    struct store_cell row[STORE_NVTX_N] = {
        [STORE_NVTX_START] = CELL_INT(e->begin_ns),
        [STORE_NVTX_EVENT_TYPE] = CELL_INT(e->op),
        [STORE_NVTX_GLOBAL_TID] = CELL_INT(global_tid(gen, e)),
        [STORE_NVTX_DOMAIN_ID] = CELL_INT(e->dst_kind),
    };
    if (e->op != 34) {
        row[STORE_NVTX_END] = CELL_INT(e->end_ns);
    }
    if (e->color != 0) {
        row[STORE_NVTX_COLOR] = CELL_INT(e->color);
    }
    (void)snprintf(text, sizeof text, e->number >= 0 ? "%s %d" : "%s", e->text, (int)e->number);
    if (e->dst_kind != 0) { /* a library registers its strings */
        if (text_id(gen, text, &row[STORE_NVTX_TEXT_ID], err) != 0) {
            return -1;
        }
    } else {
        row[STORE_NVTX_TEXT] = store_cell_text(text, strlen(text));
    }
    gen->key.counts.nvtx_ranges += e->op == 59 ? 1 : 0;
    gen->key.counts.nvtx_marks += e->op == 34 ? 1 : 0;
    return store_writer_row(gen->writer, STORE_TABLE_NVTX, row, err);
}

static int write_osrt(struct gen *gen, const struct gen_event *e, struct err *err)
{
    struct store_cell row[STORE_OSRT_N] = {
        [STORE_OSRT_START] = CELL_INT(e->begin_ns),
        [STORE_OSRT_END] = CELL_INT(e->end_ns),
        [STORE_OSRT_EVENT_CLASS] = CELL_INT(27),
        [STORE_OSRT_GLOBAL_TID] = CELL_INT(global_tid(gen, e)),
        [STORE_OSRT_RETURN_VALUE] = CELL_INT(0),
        [STORE_OSRT_NESTING_LEVEL] = CELL_INT(0),
        [STORE_OSRT_CALLCHAIN_ID] = CELL_INT(0),
        [STORE_OSRT_ARGUMENTS_ID] = CELL_INT(0),
    };
    if (gen->options.no_osrt) {
        return 0;
    }
    gen->key.counts.osrt_calls++;
    if (constant_id(gen, e->text, &row[STORE_OSRT_NAME_ID], err) != 0) {
        return -1;
    }
    return store_writer_row(gen->writer, STORE_TABLE_OSRT, row, err);
}

/* The numbers of CUPTI: 1 event, 2 stream waits for an event, 3 stream, 4 context. */
static int sync_type(const struct gen_event *e)
{
    if (e->bytes != 0) {
        return e->stream == GEN_STREAM_COUNT ? 1 : 2;
    }
    return e->stream == GEN_STREAM_COUNT ? 4 : 3;
}

static int write_sync(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const int64_t none = UINT32_MAX;
    bool stream = e->stream != GEN_STREAM_COUNT;
    struct store_cell row[STORE_SYNC_N] = {
        [STORE_SYNC_START] = CELL_INT(e->begin_ns),
        [STORE_SYNC_END] = CELL_INT(e->end_ns),
        [STORE_SYNC_DEVICE_ID] = CELL_INT(0), /* as in every export, whatever the device */
        [STORE_SYNC_CONTEXT_ID] = CELL_INT(1),
        [STORE_SYNC_GREEN_CONTEXT_ID] = CELL_INT(0),
        [STORE_SYNC_STREAM_ID] = CELL_INT(none),
        [STORE_SYNC_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_SYNC_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_SYNC_SYNC_TYPE] = CELL_INT(sync_type(e)),
        [STORE_SYNC_EVENT_ID] = CELL_INT(e->bytes != 0 ? e->bytes : none),
    };
    if (stream) {
        row[STORE_SYNC_STREAM_ID] = CELL_INT(gen_stream_id((enum gen_stream)e->stream));
    }
    gen->key.counts.syncs++;
    return store_writer_row(gen->writer, STORE_TABLE_SYNC, row, err);
}

/* Buffer flushes are the profiler's own (PROFILER_OVERHEAD), the rest is CUDA's. */
static int write_overhead(struct gen *gen, const struct gen_event *e, struct err *err)
{
    struct store_cell cuda[STORE_OVERHEAD_N] = {
        [STORE_OVERHEAD_START] = CELL_INT(e->begin_ns),
        [STORE_OVERHEAD_END] = CELL_INT(e->end_ns),
        [STORE_OVERHEAD_EVENT_CLASS] = CELL_INT(103),
        [STORE_OVERHEAD_GLOBAL_TID] = CELL_INT(global_tid(gen, e)),
        [STORE_OVERHEAD_CORRELATION_ID] = CELL_INT(e->corr),
        [STORE_OVERHEAD_OVERHEAD_TYPE] = CELL_INT(e->op),
    };
    struct store_cell profiler[STORE_PROFILER_OVERHEAD_N] = {
        [STORE_PROFILER_OVERHEAD_START] = CELL_INT(e->begin_ns),
        [STORE_PROFILER_OVERHEAD_END] = CELL_INT(e->end_ns),
        [STORE_PROFILER_OVERHEAD_GLOBAL_TID] = CELL_INT(global_tid(gen, e)),
        [STORE_PROFILER_OVERHEAD_OVERHEAD_TYPE] = CELL_INT(e->op),
    };
    gen->key.counts.overheads++;
    if (e->op == 3) {
        if (constant_id(gen, "Buffer flush", &profiler[STORE_PROFILER_OVERHEAD_NAME_ID], err) !=
            0) {
            return -1;
        }
        return store_writer_row(gen->writer, STORE_TABLE_PROFILER_OVERHEAD, profiler, err);
    }
    if (constant_id(gen, "Lazy function loading", &cuda[STORE_OVERHEAD_NAME_ID], err) != 0) {
        return -1;
    }
    return store_writer_row(gen->writer, STORE_TABLE_OVERHEAD, cuda, err);
}

static int write_memory(struct gen *gen, const struct gen_event *e, struct err *err)
{
    const struct store_cell row[STORE_MEMORY_USAGE_N] = {
        [STORE_MEMORY_USAGE_START] = CELL_INT(e->begin_ns),
        [STORE_MEMORY_USAGE_GLOBAL_PID] = CELL_INT(global_pid(gen, e)),
        [STORE_MEMORY_USAGE_DEVICE_ID] = CELL_INT(e->rank),
        [STORE_MEMORY_USAGE_CONTEXT_ID] = CELL_INT(1),
        [STORE_MEMORY_USAGE_ADDRESS] = CELL_INT(e->node),
        [STORE_MEMORY_USAGE_PC] = CELL_INT(0),
        [STORE_MEMORY_USAGE_BYTES] = CELL_INT(e->bytes),
        [STORE_MEMORY_USAGE_MEM_KIND] = CELL_INT(2),
        [STORE_MEMORY_USAGE_MEMORY_OPERATION_TYPE] = CELL_INT(e->op),
        [STORE_MEMORY_USAGE_CORRELATION_ID] = CELL_INT(e->corr),
    };
    gen->key.counts.memory_events++;
    return store_writer_row(gen->writer, STORE_TABLE_MEMORY_USAGE, row, err);
}

static int (*const WRITERS[GEN_TABLE_COUNT])(struct gen *, const struct gen_event *,
                                             struct err *) = {
    [GEN_OP] = write_op,         [GEN_API] = write_api,   [GEN_NVTX] = write_nvtx,
    [GEN_OSRT] = write_osrt,     [GEN_SYNC] = write_sync, [GEN_OVERHEAD] = write_overhead,
    [GEN_MEMORY] = write_memory,
};

static int flush_table(struct gen *gen, enum gen_table table, int64_t horizon_ns, struct err *err)
{
    struct gen_vec *vec = &gen->rows[table];
    size_t done = 0;
    if (vec->count == 0) {
        return 0;
    }
    qsort(vec->items, vec->count, sizeof *vec->items, by_begin);
    for (; done < vec->count && vec->items[done].begin_ns < horizon_ns; done++) {
        if (WRITERS[table](gen, &vec->items[done], err) != 0) {
            return -1;
        }
    }
    memmove(vec->items, vec->items + done, (vec->count - done) * sizeof *vec->items);
    vec->count -= done;
    return 0;
}

int gen_flush(struct gen *gen, int64_t horizon_ns, struct err *err)
{
    if (gen->failed) {
        return err_nomem(err, "the rows of a step");
    }
    for (int table = 0; table < GEN_TABLE_COUNT; table++) {
        if (flush_table(gen, (enum gen_table)table, horizon_ns, err) != 0) {
            return -1;
        }
    }
    return 0;
}
