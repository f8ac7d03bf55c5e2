/* CUPTI records for the converter: which table each kind goes to, times, and the rows. Fields are
 * read by capture/spool/cupti_abi.h, so records of every library version are the same here. */
#include <stdlib.h>
#include <string.h>

#include "capture/convert/convert_internal.h"
#include "capture/spool/cupti_abi.h"

enum {
    BAD_TIME_ROWS_MAX = 100000,
    MEM_KIND_UNKNOWN = 7,
    CLASS_RUNTIME = 0,
    CLASS_DRIVER = 1,
    CLASS_OVERHEAD = 103,
    OVERHEAD_OBJECT_PROCESS = 1,
    OVERHEAD_OBJECT_THREAD = 2,
    POOL_LOCAL = 1,
    POOL_IMPORTED = 2,
};

/* Inside MEMORY2 records: memoryPoolConfig (CUPTI documentation). */
enum pool_offset {
    POOL_TYPE = 80,
    POOL_ADDRESS = 88,
    POOL_RELEASE_THRESHOLD = 96,
    POOL_SIZE_OR_PROCESS = 104,
    POOL_UTILIZED = 112
};

/* The stream of what is in none: CUPTI documentation. */
#define NO_STREAM INT64_C(0xffffffff)

struct kind;

/* A record on its way to its row. */
struct row {
    struct convert *c;
    struct convert_proc *proc;
    const struct kind *kind;
    const struct convert_event *event;
    const void *record;
};

/* One kind of CUPTI record. Fields that a kind does not have are CUPTI_FIELD_COUNT. */
struct kind {
    uint32_t number;
    const char *name; /* for people */
    enum convert_stream stream;
    enum store_table table;
    enum cupti_field start;
    enum cupti_field end; /* CUPTI_FIELD_COUNT: a moment */
    bool zero_is_time; /* a start of 0 only says that no time was taken */
    enum cupti_field correlation;
    enum cupti_field device;
    enum cupti_field stream_id;
    int (*write)(const struct row *row, struct err *err);
};

/* ---- helpers --------------------------------------------------------------------------------- */

static int64_t get(const struct row *row, enum cupti_field field)
{
    return (int64_t)cupti_get(row->record, row->event->bytes, field);
}

static struct store_cell int_of(const struct row *row, enum cupti_field field)
{
    return store_cell_int(get(row, field));
}

/* The field, or NULL where the record has none of it or it is 0. */
static struct store_cell unless_zero(const struct row *row, enum cupti_field field)
{
    int64_t value = get(row, field);
    return value ? store_cell_int(value) : (struct store_cell){0};
}

static struct store_cell correlation_of(const struct row *row)
{
    int64_t id = get(row, row->kind->correlation);
    return store_cell_int(id ? id + row->proc->correlation_base : 0);
}

/* CUPTI counts memory kinds from 0 unknown, nsys from 0 pageable with 7 unknown. */
static struct store_cell memory_kind(const struct row *row, enum cupti_field field)
{
    int64_t kind = get(row, field);
    return store_cell_int(kind > 0 && kind <= MEM_KIND_UNKNOWN ? kind - 1 : MEM_KIND_UNKNOWN);
}

static int64_t at_offset(const struct row *row, uint32_t offset, uint32_t bytes)
{
    uint64_t value = 0;
    uint32_t half = 0;
    const char *at = (const char *)row->record + offset;
    if (offset + bytes > row->event->bytes) {
        return 0;
    }
    if (bytes == sizeof half) {
        memcpy(&half, at, sizeof half);
        return (int64_t)half;
    }
    memcpy(&value, at, sizeof value);
    return (int64_t)value;
}

uint32_t convert_context_device(const struct convert_proc *proc, uint32_t context)
{
    for (uint32_t i = 0; i < proc->contexts_n; i++) {
        if (proc->contexts[i].context == context) {
            return proc->contexts[i].device;
        }
    }
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int write_api(const struct row *row, struct err *err)
{
    int64_t name = 0;
    bool runtime = row->event->kind == CUPTI_KIND_RUNTIME;
    if (convert_call_name(row->c, runtime, (uint32_t)get(row, CUPTI_API_CBID), &name, err) < 0) {
        return -1;
    }
    uint32_t tid = (uint32_t)get(row, CUPTI_API_THREAD_ID);
    struct store_cell cells[STORE_RUNTIME_N] = {
        [STORE_RUNTIME_START] = store_cell_int(row->event->start),
        [STORE_RUNTIME_END] = store_cell_int(row->event->end),
        [STORE_RUNTIME_EVENT_CLASS] = store_cell_int(runtime ? CLASS_RUNTIME : CLASS_DRIVER),
        [STORE_RUNTIME_GLOBAL_TID] = store_cell_int(store_global_tid(row->proc->pid, tid)),
        [STORE_RUNTIME_CORRELATION_ID] = correlation_of(row),
        [STORE_RUNTIME_NAME_ID] = store_cell_int(name),
        [STORE_RUNTIME_RETURN_VALUE] = int_of(row, CUPTI_API_RETURN_VALUE),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_RUNTIME, cells, err);
}

static void kernel_shape(const struct row *row, struct store_cell *cells)
{
    static const struct {
        uint8_t column;
        uint16_t field;
    } map[] = {
        {STORE_KERNEL_REGISTERS_PER_THREAD, CUPTI_KERNEL_REGISTERS_PER_THREAD},
        {STORE_KERNEL_GRID_X, CUPTI_KERNEL_GRID_X},
        {STORE_KERNEL_GRID_Y, CUPTI_KERNEL_GRID_Y},
        {STORE_KERNEL_GRID_Z, CUPTI_KERNEL_GRID_Z},
        {STORE_KERNEL_BLOCK_X, CUPTI_KERNEL_BLOCK_X},
        {STORE_KERNEL_BLOCK_Y, CUPTI_KERNEL_BLOCK_Y},
        {STORE_KERNEL_BLOCK_Z, CUPTI_KERNEL_BLOCK_Z},
        {STORE_KERNEL_STATIC_SHARED_MEMORY, CUPTI_KERNEL_STATIC_SHARED_MEMORY},
        {STORE_KERNEL_DYNAMIC_SHARED_MEMORY, CUPTI_KERNEL_DYNAMIC_SHARED_MEMORY},
        {STORE_KERNEL_LOCAL_MEMORY_PER_THREAD, CUPTI_KERNEL_LOCAL_MEMORY_PER_THREAD},
        {STORE_KERNEL_GRID_ID, CUPTI_KERNEL_GRID_ID},
        {STORE_KERNEL_SHARED_MEMORY_EXECUTED, CUPTI_KERNEL_SHARED_MEMORY_EXECUTED},
        {STORE_KERNEL_SHARED_MEMORY_LIMIT_CONFIG, CUPTI_KERNEL_SHMEM_LIMIT_CONFIG},
        {STORE_KERNEL_CLUSTER_X, CUPTI_KERNEL_CLUSTER_X},
        {STORE_KERNEL_CLUSTER_Y, CUPTI_KERNEL_CLUSTER_Y},
        {STORE_KERNEL_CLUSTER_Z, CUPTI_KERNEL_CLUSTER_Z},
        {STORE_KERNEL_CLUSTER_SCHEDULING_POLICY, CUPTI_KERNEL_CLUSTER_SCHEDULING_POLICY},
        {STORE_KERNEL_MAX_POTENTIAL_CLUSTER_SIZE, CUPTI_KERNEL_MAX_POTENTIAL_CLUSTER_SIZE},
        {STORE_KERNEL_MAX_ACTIVE_CLUSTERS, CUPTI_KERNEL_MAX_ACTIVE_CLUSTERS},
    };
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        cells[map[i].column] = int_of(row, (enum cupti_field)map[i].field);
    }
}

static int write_kernel(const struct row *row, struct err *err)
{
    struct convert_name name;
    if (convert_kernel_name(row->c, row->proc, (uint64_t)get(row, CUPTI_KERNEL_NAME), &name, err) <
        0) {
        return -1;
    }
    bool wide = cupti_has(row->event->bytes, CUPTI_KERNEL_LOCAL_MEMORY_TOTAL_V2);
    struct store_cell cells[STORE_KERNEL_N] = {
        [STORE_KERNEL_START] = store_cell_int(row->event->start),
        [STORE_KERNEL_END] = store_cell_int(row->event->end),
        [STORE_KERNEL_DEVICE_ID] = int_of(row, CUPTI_KERNEL_DEVICE_ID),
        [STORE_KERNEL_CONTEXT_ID] = int_of(row, CUPTI_KERNEL_CONTEXT_ID),
        [STORE_KERNEL_GREEN_CONTEXT_ID] = store_cell_int(0),
        [STORE_KERNEL_STREAM_ID] = int_of(row, CUPTI_KERNEL_STREAM_ID),
        [STORE_KERNEL_CORRELATION_ID] = correlation_of(row),
        [STORE_KERNEL_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_KERNEL_DEMANGLED_NAME] = store_cell_int(name.full),
        [STORE_KERNEL_SHORT_NAME] = store_cell_int(name.brief),
        [STORE_KERNEL_MANGLED_NAME] = store_cell_int(name.mangled),
        [STORE_KERNEL_LAUNCH_TYPE] = store_cell_int(get(row, CUPTI_KERNEL_LAUNCH_TYPE) + 1),
        /* the high half of the byte is what was used, the low half what was asked for */
        [STORE_KERNEL_CACHE_CONFIG] = store_cell_int(get(row, CUPTI_KERNEL_CACHE_CONFIG) >> 4 & 15),
        [STORE_KERNEL_LOCAL_MEMORY_TOTAL] = int_of(row, wide ? CUPTI_KERNEL_LOCAL_MEMORY_TOTAL_V2
                                                             : CUPTI_KERNEL_LOCAL_MEMORY_TOTAL),
        [STORE_KERNEL_GRAPH_NODE_ID] = unless_zero(row, CUPTI_KERNEL_GRAPH_NODE_ID),
        [STORE_KERNEL_GRAPH_ID] = unless_zero(row, CUPTI_KERNEL_GRAPH_ID),
        [STORE_KERNEL_TENSOR_SIZE_MINUS_ONE_ELEMENTS] = store_cell_text("[]", 2),
    };
    kernel_shape(row, cells);
    return store_writer_row(row->c->writer, STORE_TABLE_KERNEL, cells, err);
}

static int write_memcpy(const struct row *row, struct err *err)
{
    bool peer = row->event->kind == CUPTI_KIND_MEMCPY2;
    int64_t count = peer ? 0 : get(row, CUPTI_MEMCPY_COPY_COUNT);
    struct store_cell cells[STORE_MEMCPY_N] = {
        [STORE_MEMCPY_START] = store_cell_int(row->event->start),
        [STORE_MEMCPY_END] = store_cell_int(row->event->end),
        [STORE_MEMCPY_DEVICE_ID] = int_of(row, row->kind->device),
        [STORE_MEMCPY_CONTEXT_ID] =
            int_of(row, peer ? CUPTI_MEMCPY2_CONTEXT_ID : CUPTI_MEMCPY_CONTEXT_ID),
        [STORE_MEMCPY_GREEN_CONTEXT_ID] = store_cell_int(0),
        [STORE_MEMCPY_STREAM_ID] = int_of(row, row->kind->stream_id),
        [STORE_MEMCPY_CORRELATION_ID] = correlation_of(row),
        [STORE_MEMCPY_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_MEMCPY_BYTES] = int_of(row, peer ? CUPTI_MEMCPY2_BYTES : CUPTI_MEMCPY_BYTES),
        [STORE_MEMCPY_COPY_KIND] =
            int_of(row, peer ? CUPTI_MEMCPY2_COPY_KIND : CUPTI_MEMCPY_COPY_KIND),
        [STORE_MEMCPY_SRC_KIND] =
            memory_kind(row, peer ? CUPTI_MEMCPY2_SRC_KIND : CUPTI_MEMCPY_SRC_KIND),
        [STORE_MEMCPY_DST_KIND] =
            memory_kind(row, peer ? CUPTI_MEMCPY2_DST_KIND : CUPTI_MEMCPY_DST_KIND),
        [STORE_MEMCPY_GRAPH_NODE_ID] =
            unless_zero(row, peer ? CUPTI_MEMCPY2_GRAPH_NODE_ID : CUPTI_MEMCPY_GRAPH_NODE_ID),
        [STORE_MEMCPY_COPY_COUNT] = store_cell_int(count ? count : 1),
    };
    if (peer) {
        cells[STORE_MEMCPY_SRC_DEVICE_ID] = int_of(row, CUPTI_MEMCPY2_SRC_DEVICE_ID);
        cells[STORE_MEMCPY_SRC_CONTEXT_ID] = int_of(row, CUPTI_MEMCPY2_SRC_CONTEXT_ID);
        cells[STORE_MEMCPY_DST_DEVICE_ID] = int_of(row, CUPTI_MEMCPY2_DST_DEVICE_ID);
        cells[STORE_MEMCPY_DST_CONTEXT_ID] = int_of(row, CUPTI_MEMCPY2_DST_CONTEXT_ID);
    }
    return store_writer_row(row->c->writer, STORE_TABLE_MEMCPY, cells, err);
}

static int write_memset(const struct row *row, struct err *err)
{
    struct store_cell cells[STORE_MEMSET_N] = {
        [STORE_MEMSET_START] = store_cell_int(row->event->start),
        [STORE_MEMSET_END] = store_cell_int(row->event->end),
        [STORE_MEMSET_DEVICE_ID] = int_of(row, CUPTI_MEMSET_DEVICE_ID),
        [STORE_MEMSET_CONTEXT_ID] = int_of(row, CUPTI_MEMSET_CONTEXT_ID),
        [STORE_MEMSET_GREEN_CONTEXT_ID] = store_cell_int(0),
        [STORE_MEMSET_STREAM_ID] = int_of(row, CUPTI_MEMSET_STREAM_ID),
        [STORE_MEMSET_CORRELATION_ID] = correlation_of(row),
        [STORE_MEMSET_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_MEMSET_VALUE] = int_of(row, CUPTI_MEMSET_VALUE),
        [STORE_MEMSET_BYTES] = int_of(row, CUPTI_MEMSET_BYTES),
        [STORE_MEMSET_GRAPH_NODE_ID] = unless_zero(row, CUPTI_MEMSET_GRAPH_NODE_ID),
        [STORE_MEMSET_MEM_KIND] = memory_kind(row, CUPTI_MEMSET_MEMORY_KIND),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_MEMSET, cells, err);
}

static int write_graph(const struct row *row, struct err *err)
{
    bool device = row->event->kind == CUPTI_KIND_DEVICE_GRAPH_TRACE;
    struct convert_exec graph = convert_graph_of(
        row->proc, (uint32_t)get(row, device ? CUPTI_DEVICE_GRAPH_GRAPH_ID : CUPTI_GRAPH_GRAPH_ID));
    struct store_cell cells[STORE_GRAPH_TRACE_N] = {
        [STORE_GRAPH_TRACE_START] = store_cell_int(row->event->start),
        [STORE_GRAPH_TRACE_END] = store_cell_int(row->event->end),
        [STORE_GRAPH_TRACE_DEVICE_ID] = int_of(row, row->kind->device),
        [STORE_GRAPH_TRACE_CONTEXT_ID] =
            int_of(row, device ? CUPTI_DEVICE_GRAPH_CONTEXT_ID : CUPTI_GRAPH_CONTEXT_ID),
        [STORE_GRAPH_TRACE_GREEN_CONTEXT_ID] = store_cell_int(0),
        [STORE_GRAPH_TRACE_STREAM_ID] = int_of(row, row->kind->stream_id),
        [STORE_GRAPH_TRACE_CORRELATION_ID] = device ? (struct store_cell){0} : correlation_of(row),
        [STORE_GRAPH_TRACE_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_GRAPH_TRACE_GRAPH_ID] = store_cell_int(graph.graph),
        [STORE_GRAPH_TRACE_GRAPH_EXEC_ID] = store_cell_int(graph.exec),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_GRAPH_TRACE, cells, err);
}

static int write_sync(const struct row *row, struct err *err)
{
    uint32_t context = (uint32_t)get(row, CUPTI_SYNC_CONTEXT_ID);
    struct store_cell cells[STORE_SYNC_N] = {
        [STORE_SYNC_START] = store_cell_int(row->event->start),
        [STORE_SYNC_END] = store_cell_int(row->event->end),
        [STORE_SYNC_DEVICE_ID] = store_cell_int(convert_context_device(row->proc, context)),
        [STORE_SYNC_CONTEXT_ID] = store_cell_int(context),
        [STORE_SYNC_STREAM_ID] = int_of(row, CUPTI_SYNC_STREAM_ID),
        [STORE_SYNC_CORRELATION_ID] = correlation_of(row),
        [STORE_SYNC_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_SYNC_SYNC_TYPE] = int_of(row, CUPTI_SYNC_TYPE),
        [STORE_SYNC_EVENT_ID] = int_of(row, CUPTI_SYNC_CUDA_EVENT_ID),
    };
    if (cupti_has(row->event->bytes, CUPTI_SYNC_CUDA_EVENT_SYNC_ID)) {
        cells[STORE_SYNC_EVENT_SYNC_ID] = int_of(row, CUPTI_SYNC_CUDA_EVENT_SYNC_ID);
    }
    return store_writer_row(row->c->writer, STORE_TABLE_SYNC, cells, err);
}

static int write_event(const struct row *row, struct err *err)
{
    uint32_t context = (uint32_t)get(row, CUPTI_EVENT_CONTEXT_ID);
    bool timed = !row->event->untimed && get(row, CUPTI_EVENT_DEVICE_TIMESTAMP) != 0;
    struct store_cell cells[STORE_CUDA_EVENT_N] = {
        [STORE_CUDA_EVENT_TIMESTAMP] = store_cell_int(timed ? row->event->start : 0),
        [STORE_CUDA_EVENT_DEVICE_ID] = store_cell_int(convert_context_device(row->proc, context)),
        [STORE_CUDA_EVENT_CONTEXT_ID] = store_cell_int(context),
        [STORE_CUDA_EVENT_STREAM_ID] = int_of(row, CUPTI_EVENT_STREAM_ID),
        [STORE_CUDA_EVENT_CORRELATION_ID] = correlation_of(row),
        [STORE_CUDA_EVENT_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_CUDA_EVENT_EVENT_ID] = int_of(row, CUPTI_EVENT_EVENT_ID),
    };
    if (cupti_has(row->event->bytes, CUPTI_EVENT_CUDA_EVENT_SYNC_ID)) {
        cells[STORE_CUDA_EVENT_EVENT_SYNC_ID] = int_of(row, CUPTI_EVENT_CUDA_EVENT_SYNC_ID);
    }
    return store_writer_row(row->c->writer, STORE_TABLE_CUDA_EVENT, cells, err);
}

/* CUPTI's overhead kinds, the numbers of nsys, their names, and whose time it is: the profiler's
 * own, or the program's under CUDA. */
static const struct overhead {
    uint32_t cupti;
    int type;
    const char *name;
    bool program;
} overheads[] = {
    {0, 1, "Unknown", false},
    {1, 2, "Driver Compiler", true},
    {1U << 16, 3, "CUPTI Buffer flush", false},
    {2U << 16, 4, "CUPTI Instrumentation", false},
    {3U << 16, 5, "CUPTI Resource Management", false},
    {4U << 16, 6, "Runtime Triggered Module Loading", true},
    {5U << 16, 7, "Lazy Function Loading", true},
    {6U << 16, 8, "Command Buffer Full", true},
    {7U << 16, 1, "CUPTI Buffer Request", false},
};

static const struct overhead *overhead_of(uint32_t cupti)
{
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++) {
        if (overheads[i].cupti == cupti) {
            return &overheads[i];
        }
    }
    return &overheads[0];
}

static int write_overhead(const struct row *row, struct err *err)
{
    int64_t name = 0;
    const struct overhead *overhead = overhead_of((uint32_t)get(row, CUPTI_OVERHEAD_OVERHEAD_KIND));
    if (convert_string_id(row->c, overhead->name, strlen(overhead->name), &name, err) < 0) {
        return -1;
    }
    int64_t object = get(row, CUPTI_OVERHEAD_OBJECT_KIND);
    uint32_t tid = object == OVERHEAD_OBJECT_THREAD
                       ? (uint32_t)at_offset(row, CUPTI_OVERHEAD_OBJECT_OFFSET + 4, 4)
                       : row->proc->pid;
    struct store_cell global_tid = store_cell_int(store_global_tid(row->proc->pid, tid));
    if (!overhead->program) {
        struct store_cell cells[STORE_PROFILER_OVERHEAD_N] = {
            [STORE_PROFILER_OVERHEAD_START] = store_cell_int(row->event->start),
            [STORE_PROFILER_OVERHEAD_END] = store_cell_int(row->event->end),
            [STORE_PROFILER_OVERHEAD_GLOBAL_TID] = global_tid,
            [STORE_PROFILER_OVERHEAD_NAME_ID] = store_cell_int(name),
            [STORE_PROFILER_OVERHEAD_OVERHEAD_TYPE] = store_cell_int(overhead->type),
        };
        return store_writer_row(row->c->writer, STORE_TABLE_PROFILER_OVERHEAD, cells, err);
    }
    struct store_cell cells[STORE_OVERHEAD_N] = {
        [STORE_OVERHEAD_START] = store_cell_int(row->event->start),
        [STORE_OVERHEAD_END] = store_cell_int(row->event->end),
        [STORE_OVERHEAD_EVENT_CLASS] = store_cell_int(CLASS_OVERHEAD),
        [STORE_OVERHEAD_GLOBAL_TID] = global_tid,
        [STORE_OVERHEAD_CORRELATION_ID] = correlation_of(row),
        [STORE_OVERHEAD_NAME_ID] = store_cell_int(name),
        [STORE_OVERHEAD_OVERHEAD_TYPE] = store_cell_int(overhead->type),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_OVERHEAD, cells, err);
}

/* The name of a variable, where the record has one. */
static struct store_cell variable_name(const struct row *row)
{
    uint64_t name = (uint64_t)get(row, CUPTI_MEMORY2_NAME);
    const struct convert_string *string =
        name & SPOOL_NAME_TAG ? convert_string_of(row->proc, name & ~SPOOL_NAME_TAG) : NULL;
    return string && string->len ? convert_text(&row->c->scratch, string->text, string->len)
                                 : (struct store_cell){0};
}

static int write_memory(const struct row *row, struct err *err)
{
    int64_t pool = at_offset(row, POOL_TYPE, 4);
    int64_t stream = get(row, CUPTI_MEMORY2_STREAM_ID);
    struct store_cell cells[STORE_MEMORY_USAGE_N] = {
        [STORE_MEMORY_USAGE_START] = store_cell_int(row->event->start),
        [STORE_MEMORY_USAGE_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_MEMORY_USAGE_DEVICE_ID] = int_of(row, CUPTI_MEMORY2_DEVICE_ID),
        [STORE_MEMORY_USAGE_CONTEXT_ID] = int_of(row, CUPTI_MEMORY2_CONTEXT_ID),
        [STORE_MEMORY_USAGE_ADDRESS] = int_of(row, CUPTI_MEMORY2_ADDRESS),
        [STORE_MEMORY_USAGE_PC] = int_of(row, CUPTI_MEMORY2_PC),
        [STORE_MEMORY_USAGE_BYTES] = int_of(row, CUPTI_MEMORY2_BYTES),
        [STORE_MEMORY_USAGE_MEM_KIND] = memory_kind(row, CUPTI_MEMORY2_MEMORY_KIND),
        /* CUPTI: 1 allocation, 2 release; nsys: 0 and 1 */
        [STORE_MEMORY_USAGE_MEMORY_OPERATION_TYPE] =
            store_cell_int(get(row, CUPTI_MEMORY2_MEMORY_OPERATION_TYPE) == 2),
        [STORE_MEMORY_USAGE_NAME] = variable_name(row),
        [STORE_MEMORY_USAGE_CORRELATION_ID] = correlation_of(row),
        [STORE_MEMORY_USAGE_STREAM_ID] =
            stream == NO_STREAM ? (struct store_cell){0} : store_cell_int(stream),
    };
    if (pool == POOL_LOCAL) {
        cells[STORE_MEMORY_USAGE_LOCAL_MEMORY_POOL_ADDRESS] =
            store_cell_int(at_offset(row, POOL_ADDRESS, 8));
        cells[STORE_MEMORY_USAGE_LOCAL_MEMORY_POOL_RELEASE_THRESHOLD] =
            store_cell_int(at_offset(row, POOL_RELEASE_THRESHOLD, 8));
        cells[STORE_MEMORY_USAGE_LOCAL_MEMORY_POOL_SIZE] =
            store_cell_int(at_offset(row, POOL_SIZE_OR_PROCESS, 8));
        cells[STORE_MEMORY_USAGE_LOCAL_MEMORY_POOL_UTILIZED_SIZE] =
            store_cell_int(at_offset(row, POOL_UTILIZED, 8));
    } else if (pool == POOL_IMPORTED) {
        cells[STORE_MEMORY_USAGE_IMPORTED_MEMORY_POOL_ADDRESS] =
            store_cell_int(at_offset(row, POOL_ADDRESS, 8));
        cells[STORE_MEMORY_USAGE_IMPORTED_MEMORY_POOL_PROCESS_ID] =
            store_cell_int(at_offset(row, POOL_SIZE_OR_PROCESS, 8));
    }
    return store_writer_row(row->c->writer, STORE_TABLE_MEMORY_USAGE, cells, err);
}

static int write_pool(const struct row *row, struct err *err)
{
    struct store_cell cells[STORE_MEMORY_POOL_N] = {
        [STORE_MEMORY_POOL_START] = store_cell_int(row->event->start),
        [STORE_MEMORY_POOL_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_MEMORY_POOL_DEVICE_ID] = int_of(row, CUPTI_POOL_DEVICE_ID),
        [STORE_MEMORY_POOL_ADDRESS] = int_of(row, CUPTI_POOL_ADDRESS),
        [STORE_MEMORY_POOL_OPERATION_TYPE] = int_of(row, CUPTI_POOL_MEMORY_POOL_OPERATION_TYPE),
        [STORE_MEMORY_POOL_POOL_TYPE] = int_of(row, CUPTI_POOL_MEMORY_POOL_TYPE),
        [STORE_MEMORY_POOL_CORRELATION_ID] = correlation_of(row),
        [STORE_MEMORY_POOL_MIN_BYTES_TO_KEEP] = int_of(row, CUPTI_POOL_MIN_BYTES_TO_KEEP),
        [STORE_MEMORY_POOL_LOCAL_MEMORY_POOL_RELEASE_THRESHOLD] =
            int_of(row, CUPTI_POOL_RELEASE_THRESHOLD),
        [STORE_MEMORY_POOL_LOCAL_MEMORY_POOL_SIZE] = int_of(row, CUPTI_POOL_SIZE),
        [STORE_MEMORY_POOL_LOCAL_MEMORY_POOL_UTILIZED_SIZE] = int_of(row, CUPTI_POOL_UTILIZED_SIZE),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_MEMORY_POOL, cells, err);
}

/* Records of unified memory are of several sorts: the number of the kind and, above it, one of
 * these. */
enum um_sort {
    UM_NOT_STORED,
    UM_MIGRATION,
    UM_CPU_FAULT,
    UM_GPU_FAULT
};
#define UM_KIND(sort) (CUPTI_KIND_UNIFIED_MEMORY_COUNTER | (uint32_t)(sort) << 8)

/* What CUPTI's counters are, and the copy kind of nsys of those that move memory. */
static const struct um_counter {
    enum um_sort sort;
    int copy_kind;
    enum cupti_field device;
} um_counters[] = {
    [1] = {UM_MIGRATION, 11, CUPTI_UVM_DST_ID}, /* host to device */
    [2] = {UM_MIGRATION, 12, CUPTI_UVM_SRC_ID},
    [3] = {UM_CPU_FAULT, 0, CUPTI_UVM_SRC_ID},
    [4] = {UM_GPU_FAULT, 0, CUPTI_UVM_SRC_ID},
    [8] = {UM_MIGRATION, 13, CUPTI_UVM_DST_ID}, /* device to device */
};

static const struct um_counter *um_counter_of(const void *record, uint32_t bytes)
{
    uint64_t number = cupti_get(record, bytes, CUPTI_UVM_COUNTER_KIND);
    return &um_counters[number < sizeof um_counters / sizeof *um_counters ? number : 0];
}

static int write_migration(const struct row *row, struct err *err)
{
    const struct um_counter *counter = um_counter_of(row->record, row->event->bytes);
    struct store_cell cells[STORE_MEMCPY_N] = {
        [STORE_MEMCPY_START] = store_cell_int(row->event->start),
        [STORE_MEMCPY_END] = store_cell_int(row->event->end),
        [STORE_MEMCPY_DEVICE_ID] = int_of(row, counter->device),
        [STORE_MEMCPY_CONTEXT_ID] = store_cell_int(0), /* of no context, stream or call */
        [STORE_MEMCPY_STREAM_ID] = store_cell_int(0),
        [STORE_MEMCPY_CORRELATION_ID] = store_cell_int(0),
        [STORE_MEMCPY_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_MEMCPY_BYTES] = int_of(row, CUPTI_UVM_VALUE),
        [STORE_MEMCPY_COPY_KIND] = store_cell_int(counter->copy_kind),
        [STORE_MEMCPY_SRC_KIND] = store_cell_int(MEM_KIND_UNKNOWN),
        [STORE_MEMCPY_DST_KIND] = store_cell_int(MEM_KIND_UNKNOWN),
        [STORE_MEMCPY_MIGRATION_CAUSE] = int_of(row, CUPTI_UVM_FLAGS),
        [STORE_MEMCPY_VIRTUAL_ADDRESS] = int_of(row, CUPTI_UVM_ADDRESS),
        [STORE_MEMCPY_COPY_COUNT] = store_cell_int(1),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_MEMCPY, cells, err);
}

static int write_cpu_fault(const struct row *row, struct err *err)
{
    int64_t unknown = 0;
    if (convert_string_id(row->c, "", 0, &unknown, err) < 0) {
        return -1;
    }
    struct store_cell cells[STORE_UM_CPU_FAULT_N] = {
        [STORE_UM_CPU_FAULT_START] = store_cell_int(row->event->start),
        [STORE_UM_CPU_FAULT_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_UM_CPU_FAULT_ADDRESS] = int_of(row, CUPTI_UVM_ADDRESS),
        [STORE_UM_CPU_FAULT_ORIGINAL_FAULT_PC] = int_of(row, CUPTI_UVM_VALUE),
        [STORE_UM_CPU_FAULT_CPU_INSTRUCTION] = store_cell_int(unknown),
        [STORE_UM_CPU_FAULT_MODULE] = store_cell_int(unknown),
        [STORE_UM_CPU_FAULT_UNRESOLVED_FAULT_PC] = int_of(row, CUPTI_UVM_VALUE),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_UM_CPU_FAULT, cells, err);
}

static int write_gpu_fault(const struct row *row, struct err *err)
{
    struct store_cell cells[STORE_UM_GPU_FAULT_N] = {
        [STORE_UM_GPU_FAULT_START] = store_cell_int(row->event->start),
        [STORE_UM_GPU_FAULT_END] = store_cell_int(row->event->end),
        [STORE_UM_GPU_FAULT_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_UM_GPU_FAULT_DEVICE_ID] = int_of(row, CUPTI_UVM_SRC_ID),
        [STORE_UM_GPU_FAULT_ADDRESS] = int_of(row, CUPTI_UVM_ADDRESS),
        [STORE_UM_GPU_FAULT_NUMBER_OF_PAGE_FAULTS] = int_of(row, CUPTI_UVM_VALUE),
        [STORE_UM_GPU_FAULT_FAULT_ACCESS_TYPE] = int_of(row, CUPTI_UVM_FLAGS),
    };
    return store_writer_row(row->c->writer, STORE_TABLE_UM_GPU_FAULT, cells, err);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

#define NONE CUPTI_FIELD_COUNT

/* clang-format off */
static const struct kind kinds[] = {
    {CUPTI_KIND_RUNTIME, "runtime API", CONVERT_API, STORE_TABLE_RUNTIME, CUPTI_API_START,
     CUPTI_API_END, false, CUPTI_API_CORRELATION_ID, NONE, NONE, write_api},
    {CUPTI_KIND_DRIVER, "driver API", CONVERT_API, STORE_TABLE_RUNTIME, CUPTI_API_START,
     CUPTI_API_END, false, CUPTI_API_CORRELATION_ID, NONE, NONE, write_api},
    {CUPTI_KIND_CONCURRENT_KERNEL, "kernel", CONVERT_KERNEL, STORE_TABLE_KERNEL,
     CUPTI_KERNEL_START, CUPTI_KERNEL_END, false, CUPTI_KERNEL_CORRELATION_ID,
     CUPTI_KERNEL_DEVICE_ID, CUPTI_KERNEL_STREAM_ID, write_kernel},
    {CUPTI_KIND_KERNEL, "kernel", CONVERT_KERNEL, STORE_TABLE_KERNEL, CUPTI_KERNEL_START,
     CUPTI_KERNEL_END, false, CUPTI_KERNEL_CORRELATION_ID, CUPTI_KERNEL_DEVICE_ID,
     CUPTI_KERNEL_STREAM_ID, write_kernel},
    {CUPTI_KIND_MEMCPY, "memcpy", CONVERT_MEMCPY, STORE_TABLE_MEMCPY, CUPTI_MEMCPY_START,
     CUPTI_MEMCPY_END, false, CUPTI_MEMCPY_CORRELATION_ID, CUPTI_MEMCPY_DEVICE_ID,
     CUPTI_MEMCPY_STREAM_ID, write_memcpy},
    {CUPTI_KIND_MEMCPY2, "peer memcpy", CONVERT_MEMCPY, STORE_TABLE_MEMCPY, CUPTI_MEMCPY2_START,
     CUPTI_MEMCPY2_END, false, CUPTI_MEMCPY2_CORRELATION_ID, CUPTI_MEMCPY2_DEVICE_ID,
     CUPTI_MEMCPY2_STREAM_ID, write_memcpy},
    {CUPTI_KIND_MEMSET, "memset", CONVERT_MEMSET, STORE_TABLE_MEMSET, CUPTI_MEMSET_START,
     CUPTI_MEMSET_END, false, CUPTI_MEMSET_CORRELATION_ID, CUPTI_MEMSET_DEVICE_ID,
     CUPTI_MEMSET_STREAM_ID, write_memset},
    {CUPTI_KIND_GRAPH_TRACE, "graph", CONVERT_GRAPH, STORE_TABLE_GRAPH_TRACE, CUPTI_GRAPH_START,
     CUPTI_GRAPH_END, false, CUPTI_GRAPH_CORRELATION_ID, CUPTI_GRAPH_DEVICE_ID,
     CUPTI_GRAPH_STREAM_ID, write_graph},
    {CUPTI_KIND_DEVICE_GRAPH_TRACE, "device graph", CONVERT_GRAPH, STORE_TABLE_GRAPH_TRACE,
     CUPTI_DEVICE_GRAPH_START, CUPTI_DEVICE_GRAPH_END, false, NONE, CUPTI_DEVICE_GRAPH_DEVICE_ID,
     CUPTI_DEVICE_GRAPH_STREAM_ID, write_graph},
    {CUPTI_KIND_SYNCHRONIZATION, "sync", CONVERT_SYNC, STORE_TABLE_SYNC, CUPTI_SYNC_START,
     CUPTI_SYNC_END, false, CUPTI_SYNC_CORRELATION_ID, NONE, CUPTI_SYNC_STREAM_ID, write_sync},
    {CUPTI_KIND_CUDA_EVENT, "event", CONVERT_EVENT, STORE_TABLE_CUDA_EVENT,
     CUPTI_EVENT_DEVICE_TIMESTAMP, NONE, true, CUPTI_EVENT_CORRELATION_ID, NONE,
     CUPTI_EVENT_STREAM_ID, write_event},
    {CUPTI_KIND_OVERHEAD, "overhead", CONVERT_OVERHEAD, STORE_TABLE_OVERHEAD,
     CUPTI_OVERHEAD_START, CUPTI_OVERHEAD_END, false, CUPTI_OVERHEAD_CORRELATION_ID, NONE, NONE,
     write_overhead},
    {CUPTI_KIND_MEMORY2, "memory", CONVERT_MEMORY, STORE_TABLE_MEMORY_USAGE,
     CUPTI_MEMORY2_TIMESTAMP, NONE, false, CUPTI_MEMORY2_CORRELATION_ID, CUPTI_MEMORY2_DEVICE_ID,
     CUPTI_MEMORY2_STREAM_ID, write_memory},
    {CUPTI_KIND_MEMORY_POOL, "memory pool", CONVERT_POOL, STORE_TABLE_MEMORY_POOL,
     CUPTI_POOL_TIMESTAMP, NONE, false, CUPTI_POOL_CORRELATION_ID, CUPTI_POOL_DEVICE_ID, NONE,
     write_pool},
    {UM_KIND(UM_MIGRATION), "migration", CONVERT_MEMCPY, STORE_TABLE_MEMCPY, CUPTI_UVM_START,
     CUPTI_UVM_END, false, NONE, NONE, NONE, write_migration},
    {UM_KIND(UM_CPU_FAULT), "page fault", CONVERT_UM_CPU_FAULT, STORE_TABLE_UM_CPU_FAULT,
     CUPTI_UVM_START, NONE, false, NONE, NONE, NONE, write_cpu_fault},
    {UM_KIND(UM_GPU_FAULT), "page fault", CONVERT_UM_GPU_FAULT, STORE_TABLE_UM_GPU_FAULT,
     CUPTI_UVM_START, CUPTI_UVM_END, false, NONE, CUPTI_UVM_SRC_ID, NONE, write_gpu_fault},
};
/* clang-format on */

static const struct kind *kind_of(uint32_t number)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].number == number) {
            return &kinds[i];
        }
    }
    return NULL;
}

const char *convert_cupti_kind(uint32_t number)
{
    static const struct {
        uint32_t number;
        const char *name;
    } others[] = {
        {0, "CUPTI"},
        {CUPTI_KIND_DEVICE, "device"},
        {CUPTI_KIND_CONTEXT, "context"},
        {CUPTI_KIND_STREAM, "stream"},
        {CUPTI_KIND_NAME, "name"},
        {CUPTI_KIND_JIT, "JIT"},
        {CUPTI_KIND_UNIFIED_MEMORY_COUNTER, "unified memory"},
    };
    const struct kind *kind = kind_of(number);
    if (kind) {
        return kind->name;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].number == number) {
            return others[i].name;
        }
    }
    return "other CUPTI";
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int64_t cupti_time(struct convert *c, struct convert_proc *proc, uint64_t time)
{
    struct clock_map *map = proc->cupti_own_clock ? &proc->cupti : &c->real;
    return clock_off(clock_map_at(map, (int64_t)time), c->zero_mono_ns);
}

/* What can be wrong with the times of a record. */
enum fault {
    FAULT_NONE,
    FAULT_ZERO,
    FAULT_FOREIGN,
    FAULT_NEGATIVE /* has its place on the time line */
};

static const char *const fault_names[] = {
    [FAULT_ZERO] = "no timestamp",
    [FAULT_FOREIGN] = "not of this clock",
    [FAULT_NEGATIVE] = "end before start",
};

static enum fault time_fault(const struct convert *c, const struct row *row)
{
    const struct convert_event *event = row->event;
    bool moment = row->kind->end == NONE;
    if (get(row, row->kind->start) == 0 || (!moment && get(row, row->kind->end) == 0)) {
        return row->kind->zero_is_time ? FAULT_NONE : FAULT_ZERO;
    }
    if (event->start < c->low_ns || event->start > c->high_ns || event->end > c->high_ns) {
        return FAULT_FOREIGN;
    }
    return event->end < event->start ? FAULT_NEGATIVE : FAULT_NONE;
}

static int keep_bad_time(struct convert *c, const struct row *row, enum fault fault,
                         struct err *err)
{
    const char *reason = fault_names[fault];
    const struct kind *kind = row->kind;
    const char *table = store_table_name(kind->table);
    if (convert_lose(c, row->proc->index,
                     CONVERT_FAULT(kind->name, reason, 1,
                                   fault == FAULT_NEGATIVE ? row->event->start : CONVERT_NO_TIME),
                     err) < 0) {
        return -1;
    }
    if (c->bad_times++ >= BAD_TIME_ROWS_MAX) {
        return 0;
    }
    struct store_cell cells[STORE_CUTLINE_BAD_TIME_N] = {
        [STORE_CUTLINE_BAD_TIME_GLOBAL_PID] = store_cell_int(row->proc->global_pid),
        [STORE_CUTLINE_BAD_TIME_TABLE_NAME] = store_cell_text(table, strlen(table)),
        [STORE_CUTLINE_BAD_TIME_REASON] = store_cell_text(reason, strlen(reason)),
        [STORE_CUTLINE_BAD_TIME_RAW_START] = int_of(row, kind->start),
    };
    if (kind->end != NONE) {
        cells[STORE_CUTLINE_BAD_TIME_RAW_END] = int_of(row, kind->end);
    }
    if (kind->correlation != NONE) {
        cells[STORE_CUTLINE_BAD_TIME_CORRELATION_ID] = correlation_of(row);
    }
    if (kind->device != NONE) {
        cells[STORE_CUTLINE_BAD_TIME_DEVICE_ID] = int_of(row, kind->device);
    }
    if (kind->stream_id != NONE) {
        cells[STORE_CUTLINE_BAD_TIME_STREAM_ID] = int_of(row, kind->stream_id);
    }
    if (kind->stream == CONVERT_KERNEL) {
        struct convert_name name;
        if (convert_kernel_name(c, row->proc, (uint64_t)get(row, CUPTI_KERNEL_NAME), &name, err) <
            0) {
            return -1;
        }
        cells[STORE_CUTLINE_BAD_TIME_NAME_ID] = store_cell_int(name.full);
    }
    return store_writer_row(c->writer, STORE_TABLE_CUTLINE_BAD_TIME, cells, err);
}

static void count(struct convert_process *process, enum convert_stream stream)
{
    process->api_calls += stream == CONVERT_API;
    process->kernels += stream == CONVERT_KERNEL;
    process->copies += stream == CONVERT_MEMCPY;
    process->sets += stream == CONVERT_MEMSET;
    process->graphs += stream == CONVERT_GRAPH;
    process->syncs += stream == CONVERT_SYNC;
    process->memory += stream == CONVERT_MEMORY || stream == CONVERT_POOL;
}

/* Outside the capture range: left out as asked. */
static int lose_outside(struct convert *c, const struct row *row, struct err *err)
{
    const char *reason = spool_loss_name(SPOOL_LOSS_OUTSIDE_RANGE);
    if (convert_lose(c, row->proc->index,
                     CONVERT_FAULT(row->kind->name, reason, 1, row->event->start), err) < 0) {
        return -1;
    }
    convert_harmless(c, row->proc->index, row->kind->name, reason, true);
    return 0;
}

int convert_cupti_add(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err)
{
    uint32_t number = item->u.cupti.kind;
    if (number == CUPTI_KIND_UNIFIED_MEMORY_COUNTER) {
        number = UM_KIND(um_counter_of(item->u.cupti.record, item->u.cupti.bytes)->sort);
    }
    const struct kind *kind = kind_of(number);
    if (!kind && spool_cupti_is_metadata(number)) {
        return convert_cupti_describe(c, proc, number, item->u.cupti.record, item->u.cupti.bytes,
                                      err);
    }
    if (!kind) {
        return convert_lose(
            c, proc->index,
            CONVERT_FAULT(convert_cupti_kind(number), "kind is not stored", 1, CONVERT_NO_TIME),
            err);
    }
    struct convert_event event = {
        .proc = proc->index, .kind = number, .bytes = item->u.cupti.bytes};
    struct row row = {c, proc, kind, &event, item->u.cupti.record};
    event.start = cupti_time(c, proc, (uint64_t)get(&row, kind->start));
    event.end =
        kind->end == NONE ? event.start : cupti_time(c, proc, (uint64_t)get(&row, kind->end));
    /* a call that the filter of the library left out has no number any more; it was counted */
    if (kind->stream == CONVERT_API && get(&row, CUPTI_API_CBID) == 0) {
        return 0;
    }
    enum fault fault = time_fault(c, &row);
    if (fault == FAULT_NONE && !kind->zero_is_time &&
        !convert_wanted(c, proc, event.start, event.end)) {
        return lose_outside(c, &row, err);
    }
    count(&c->result->processes[proc->index], kind->stream);
    if (fault != FAULT_NONE && keep_bad_time(c, &row, fault, err) < 0) {
        return -1;
    }
    event.untimed = fault != FAULT_NONE && kind->zero_is_time;
    if ((fault == FAULT_ZERO || fault == FAULT_FOREIGN) && !event.untimed) {
        return 0;
    }
    event.end = event.end < event.start ? event.start : event.end;
    if (!event.untimed) {
        convert_time_reach(c, event.end);
    }
    return sorter_add(c->sorters[kind->stream], event.start, SORTER_PART(&event, sizeof event),
                      SORTER_PART(row.record, event.bytes), err);
}

int convert_cupti_row(struct convert *c, const void *data, uint32_t bytes, struct err *err)
{
    const struct convert_event *event = data;
    const struct kind *kind = kind_of(event->kind);
    if (!kind || bytes < sizeof *event + event->bytes) {
        return 0;
    }
    struct row row = {c, &c->procs[event->proc], kind, event, event + 1};
    return kind->write(&row, err);
}
