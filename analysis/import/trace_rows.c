/* trace_rows: see trace_rows.h. Each kind of event has a function; KINDS tells which. */
#include "analysis/import/trace_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/brief_name.h"
#include "analysis/base/intern.h"
#include "analysis/import/trace_event.h"
#include "analysis/import/trace_facts.h"
#include "analysis/import/trace_ranges.h"
#include "analysis/import/trace_threads.h"

/* ENUM_NSYS_EVENT_CLASS */
enum {
    CLASS_CUDA_RUNTIME = 0,
    CLASS_CUDA_DRIVER = 1,
    CLASS_OSRT = 27
};

/* The StringIds ids of a kernel's names. */
struct kernel_name {
    int64_t full;
    int64_t brief;
};

struct trace_rows {
    struct store_writer *writer;
    struct trace_threads threads;
    struct trace_ranges ranges;
    struct trace_facts facts;
    struct intern kernel_names;
    struct kernel_name *kernels; /* owned, by kernel_names */
    size_t kernel_cap;
    struct buf scratch; /* the name of the event */
    struct buf scratch_more;
    struct buf brief;
    int64_t main_pid; /* globalPid of the first process that called CUDA; 0: none yet */
    bool early_ops; /* ops were written before it was known */
    int64_t written;
    int64_t damaged;
};

/* An event while it is made into a row. */
struct now {
    const struct trace_event *event;
    struct trace_args args;
    struct json_value name;
    int64_t begin_ns;
    int64_t end_ns;
};

struct trace_rows *trace_rows_new(struct store_writer *writer, struct err *err)
{
    struct trace_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL) {
        return err_null(err, "not enough memory to read a trace");
    }
    rows->writer = writer;
    rows->ranges.writer = writer;
    rows->ranges.threads = &rows->threads;
    return rows;
}

void trace_rows_free(struct trace_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    trace_threads_free(&rows->threads);
    trace_ranges_free(&rows->ranges);
    intern_free(&rows->kernel_names);
    free(rows->kernels);
    buf_free(&rows->scratch);
    buf_free(&rows->scratch_more);
    buf_free(&rows->brief);
    free(rows);
}

static int put(struct trace_rows *rows, enum store_table table, const struct store_cell *row,
               struct err *err)
{
    rows->written++;
    return store_writer_row(rows->writer, table, row, err);
}

/* ---- work of the GPU ---- */

static int64_t stream_of(const struct now *now)
{
    return trace_event_int(&now->args.stream, trace_event_int(&now->event->thread, 0));
}

static int64_t device_of(const struct now *now)
{
    return trace_event_int(&now->args.device, trace_event_int(&now->event->process, 0));
}

/* The process of an op; NULL where it is not known yet. */
static struct store_cell process_cell(struct trace_rows *rows, const struct now *now)
{
    int64_t pid = trace_event_int(&now->args.process, -1);
    if (pid >= 0) {
        return store_cell_int(store_global_tid((uint32_t)pid & 0xFFFFFFU, 0));
    }
    rows->early_ops = rows->early_ops || rows->main_pid == 0;
    return rows->main_pid == 0 ? (struct store_cell){0} : store_cell_int(rows->main_pid);
}

static struct store_cell correlation_cell(const struct now *now)
{
    int64_t id = trace_event_int(&now->args.correlation, 0);
    return id > 0 && id <= UINT32_MAX ? store_cell_int(id) : (struct store_cell){0};
}

/* The whole name: cutline export shows the bare one of kernels and calls. */
static struct json_value full_name(struct trace_rows *rows, const struct now *now)
{
    return now->args.full.kind == JSON_TEXT ? json_plain(&now->args.full, &rows->scratch_more)
                                            : now->name;
}

/* Both names of a kernel. 0 or -1. */
static int kernel_name(struct trace_rows *rows, const struct json_value *text,
                       struct kernel_name *out, struct err *err)
{
    uint32_t before = rows->kernel_names.count;
    uint32_t index = intern_add(&rows->kernel_names, text->text, text->len);
    struct kernel_name *grown = index == INTERN_NONE ? NULL
                                                     : array_grow(rows->kernels, &rows->kernel_cap,
                                                                  (size_t)index + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "names");
    }
    rows->kernels = grown;
    if (index == before) {
        struct kernel_name made = {0};
        brief_name(intern_text(&rows->kernel_names, index), &rows->brief);
        if (store_writer_string(rows->writer, text->text, text->len, &made.full, err) != 0 ||
            store_writer_string(rows->writer, buf_text(&rows->brief), rows->brief.len, &made.brief,
                                err) != 0) {
            return -1;
        }
        grown[index] = made;
    }
    *out = grown[index];
    return 0;
}

/* Three numbers of an array, or "1,2,3" after `key` in the details of XLA; else ones. */
static void dimensions(const struct json_value *array, const struct json_value *details,
                       const char *key, int64_t out[3])
{
    struct json_scan scan = json_scan_in(array);
    struct json_value value;
    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (array->kind == JSON_ARRAY && json_scan_element(&scan, &value)) {
            out[i] = trace_event_int(&value, 1);
        }
    }
    if (array->kind != JSON_ARRAY) {
        trace_details(details, key, out, 3);
    }
}

static int put_kernel(struct trace_rows *rows, const struct now *now, struct err *err)
{
    const struct trace_args *args = &now->args;
    struct kernel_name name = {0};
    int64_t grid[3];
    int64_t block[3];
    int64_t registers = 0;
    int64_t shared = 0;
    struct json_value full =
        args->full.kind == JSON_TEXT ? json_plain(&args->full, &rows->scratch_more) : now->name;
    if (kernel_name(rows, &full, &name, err) != 0) {
        return -1;
    }
    dimensions(&args->grid, &args->details, "grid:", grid);
    dimensions(&args->block, &args->details, "block:", block);
    trace_details(&args->details, "regs:", &registers, 1);
    trace_details(&args->details, "static_shared:", &shared, 1);
    struct store_cell row[STORE_KERNEL_N] = {
        [STORE_KERNEL_START] = store_cell_int(now->begin_ns),
        [STORE_KERNEL_END] = store_cell_int(now->end_ns),
        [STORE_KERNEL_DEVICE_ID] = store_cell_int(device_of(now)),
        [STORE_KERNEL_CONTEXT_ID] = store_cell_int(trace_event_int(&args->context, 1)),
        [STORE_KERNEL_STREAM_ID] = store_cell_int(stream_of(now)),
        [STORE_KERNEL_CORRELATION_ID] = correlation_cell(now),
        [STORE_KERNEL_GLOBAL_PID] = process_cell(rows, now),
        [STORE_KERNEL_DEMANGLED_NAME] = store_cell_int(name.full),
        [STORE_KERNEL_SHORT_NAME] = store_cell_int(name.brief),
        [STORE_KERNEL_REGISTERS_PER_THREAD] =
            store_cell_int(trace_event_int(&args->registers, registers)),
        [STORE_KERNEL_GRID_X] = store_cell_int(grid[0]),
        [STORE_KERNEL_GRID_Y] = store_cell_int(grid[1]),
        [STORE_KERNEL_GRID_Z] = store_cell_int(grid[2]),
        [STORE_KERNEL_BLOCK_X] = store_cell_int(block[0]),
        [STORE_KERNEL_BLOCK_Y] = store_cell_int(block[1]),
        [STORE_KERNEL_BLOCK_Z] = store_cell_int(block[2]),
        [STORE_KERNEL_STATIC_SHARED_MEMORY] = store_cell_int(0),
        [STORE_KERNEL_DYNAMIC_SHARED_MEMORY] =
            store_cell_int(trace_event_int(&args->shared, shared)),
        [STORE_KERNEL_LOCAL_MEMORY_PER_THREAD] = store_cell_int(0),
        [STORE_KERNEL_LOCAL_MEMORY_TOTAL] = store_cell_int(0),
        [STORE_KERNEL_GRID_ID] = store_cell_int(0),
        [STORE_KERNEL_TENSOR_SIZE_MINUS_ONE_ELEMENTS] = store_cell_text("[]", 2),
    };
    return put(rows, STORE_TABLE_KERNEL, row, err);
}

static int put_memcpy(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct trace_copy copy = trace_copy_of(&now->name);
    int64_t bytes = 0;
    trace_details(&now->args.details, "size:", &bytes, 1);
    struct store_cell row[STORE_MEMCPY_N] = {
        [STORE_MEMCPY_START] = store_cell_int(now->begin_ns),
        [STORE_MEMCPY_END] = store_cell_int(now->end_ns),
        [STORE_MEMCPY_DEVICE_ID] = store_cell_int(device_of(now)),
        [STORE_MEMCPY_CONTEXT_ID] = store_cell_int(trace_event_int(&now->args.context, 1)),
        [STORE_MEMCPY_STREAM_ID] = store_cell_int(stream_of(now)),
        [STORE_MEMCPY_CORRELATION_ID] = correlation_cell(now),
        [STORE_MEMCPY_GLOBAL_PID] = process_cell(rows, now),
        [STORE_MEMCPY_BYTES] = store_cell_int(trace_event_int(&now->args.bytes, bytes)),
        [STORE_MEMCPY_COPY_KIND] = store_cell_int(copy.kind),
    };
    if (copy.from >= 0 && copy.to >= 0) {
        row[STORE_MEMCPY_SRC_KIND] = store_cell_int(copy.from);
        row[STORE_MEMCPY_DST_KIND] = store_cell_int(copy.to);
    }
    return put(rows, STORE_TABLE_MEMCPY, row, err);
}

static int put_memset(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct store_cell row[STORE_MEMSET_N] = {
        [STORE_MEMSET_START] = store_cell_int(now->begin_ns),
        [STORE_MEMSET_END] = store_cell_int(now->end_ns),
        [STORE_MEMSET_DEVICE_ID] = store_cell_int(device_of(now)),
        [STORE_MEMSET_CONTEXT_ID] = store_cell_int(trace_event_int(&now->args.context, 1)),
        [STORE_MEMSET_STREAM_ID] = store_cell_int(stream_of(now)),
        [STORE_MEMSET_CORRELATION_ID] = correlation_cell(now),
        [STORE_MEMSET_GLOBAL_PID] = process_cell(rows, now),
        [STORE_MEMSET_VALUE] = store_cell_int(0),
        [STORE_MEMSET_BYTES] = store_cell_int(trace_event_int(&now->args.bytes, 0)),
        [STORE_MEMSET_MEM_KIND] = store_cell_int(TRACE_MEMORY_DEVICE),
    };
    return put(rows, STORE_TABLE_MEMSET, row, err);
}

/* ---- work of the host ---- */

/* The thread that the event is of. NULL without memory. */
static struct trace_thread *thread_of(struct trace_rows *rows, const struct now *now)
{
    bool told = now->args.process.kind != JSON_NONE && now->args.thread.kind != JSON_NONE;
    return trace_thread_at(&rows->threads, told ? &now->args.process : &now->event->process,
                           told ? &now->args.thread : &now->event->thread);
}

static int put_call(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct trace_thread *thread = thread_of(rows, now);
    struct json_value text = full_name(rows, now);
    int64_t name;
    if (thread == NULL) {
        return err_nomem(err, "threads");
    }
    if (store_writer_string(rows->writer, text.text, text.len, &name, err) != 0) {
        return -1;
    }
    int64_t global_tid = trace_global_tid(&rows->threads, thread);
    rows->main_pid = rows->main_pid == 0 ? global_tid & ~INT64_C(0xFFFFFF) : rows->main_pid;
    struct store_cell row[STORE_RUNTIME_N] = {
        [STORE_RUNTIME_START] = store_cell_int(now->begin_ns),
        [STORE_RUNTIME_END] = store_cell_int(now->end_ns),
        [STORE_RUNTIME_EVENT_CLASS] = store_cell_int(
            json_is(&now->event->category, "cuda_driver") ? CLASS_CUDA_DRIVER : CLASS_CUDA_RUNTIME),
        [STORE_RUNTIME_GLOBAL_TID] = store_cell_int(global_tid),
        [STORE_RUNTIME_CORRELATION_ID] = correlation_cell(now),
        [STORE_RUNTIME_NAME_ID] = store_cell_int(name),
        [STORE_RUNTIME_RETURN_VALUE] = store_cell_int(0),
    };
    return put(rows, STORE_TABLE_RUNTIME, row, err);
}

static int put_os_call(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct trace_thread *thread = thread_of(rows, now);
    int64_t name;
    if (thread == NULL) {
        return err_nomem(err, "threads");
    }
    if (store_writer_string(rows->writer, now->name.text, now->name.len, &name, err) != 0) {
        return -1;
    }
    struct store_cell row[STORE_OSRT_N] = {
        [STORE_OSRT_START] = store_cell_int(now->begin_ns),
        [STORE_OSRT_END] = store_cell_int(now->end_ns),
        [STORE_OSRT_EVENT_CLASS] = store_cell_int(CLASS_OSRT),
        [STORE_OSRT_GLOBAL_TID] = store_cell_int(trace_global_tid(&rows->threads, thread)),
        [STORE_OSRT_NAME_ID] = store_cell_int(name),
        [STORE_OSRT_RETURN_VALUE] = store_cell_int(0),
        [STORE_OSRT_CALLCHAIN_ID] = store_cell_int(0),
        [STORE_OSRT_ARGUMENTS_ID] = store_cell_int(0),
    };
    return put(rows, STORE_TABLE_OSRT, row, err);
}

/* The types of CUPTI by the names of Kineto: "Stream Wait Event", "Stream Sync", ... */
static int64_t sync_type(const struct json_value *name)
{
    static const char *const types[] = {NULL, "Event Sync", "Stream Wait", "Stream Sync",
                                        "Context Sync"};
    for (size_t i = 1; i < ARRAY_LEN(types); i++) {
        size_t len = strlen(types[i]);
        if (name->len >= len && memcmp(name->text, types[i], len) == 0) {
            return (int64_t)i;
        }
    }
    return 0;
}

static int put_sync(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct store_cell row[STORE_SYNC_N] = {
        [STORE_SYNC_START] = store_cell_int(now->begin_ns),
        [STORE_SYNC_END] = store_cell_int(now->end_ns),
        [STORE_SYNC_DEVICE_ID] = store_cell_int(device_of(now)),
        [STORE_SYNC_CONTEXT_ID] = store_cell_int(trace_event_int(&now->args.context, 1)),
        [STORE_SYNC_STREAM_ID] = store_cell_int(stream_of(now)),
        [STORE_SYNC_CORRELATION_ID] = correlation_cell(now),
        [STORE_SYNC_GLOBAL_PID] = process_cell(rows, now),
        [STORE_SYNC_SYNC_TYPE] = store_cell_int(sync_type(&now->name)),
        [STORE_SYNC_EVENT_ID] = store_cell_int(trace_event_int(&now->args.sync_event, 0)),
    };
    return put(rows, STORE_TABLE_SYNC, row, err);
}

/* A slice, an instant, one end of a range. */
static int put_range(struct trace_rows *rows, const struct now *now, struct err *err)
{
    struct trace_thread *thread = thread_of(rows, now);
    struct trace_range range = {now->event, &now->args, now->name, now->begin_ns, now->end_ns};
    if (thread == NULL) {
        return err_nomem(err, "threads");
    }
    return trace_ranges_put(&rows->ranges, thread, &range, &rows->written, err);
}

static int put_nothing(struct trace_rows *rows, const struct now *now, struct err *err)
{
    (void)rows;
    (void)now;
    (void)err;
    return 0;
}

/* A slice of no category: by its process and thread. */
static int put_slice(struct trace_rows *rows, const struct now *now, struct err *err)
{
    const struct trace_thread *thread =
        trace_thread_at(&rows->threads, &now->event->process, &now->event->thread);
    if (thread == NULL) {
        return err_nomem(err, "threads");
    }
    int64_t device = rows->threads.processes[thread->process].device;
    if (device < 0 || now->event->phase != 'X') {
        return put_range(rows, now, err);
    }
    if (thread->stream < 0) {
        return 0; /* what was made of the ops: XLA modules, steps */
    }
    char numbers[2][24];
    struct now op = *now;
    op.args.device = trace_number(device, numbers[0]);
    op.args.stream = trace_number(thread->stream, numbers[1]);
    return trace_begins(&now->name, "Memcpy")   ? put_memcpy(rows, &op, err)
           : trace_begins(&now->name, "Memset") ? put_memset(rows, &op, err)
                                                : put_kernel(rows, &op, err);
}

static const struct kind {
    const char *category;
    int (*put)(struct trace_rows *rows, const struct now *now, struct err *err);
} KINDS[] = {
    {"cpu_op", put_range},          {"cuda_runtime", put_call},
    {"kernel", put_kernel},         {"python_function", put_range},
    {"user_annotation", put_range}, {"gpu_memcpy", put_memcpy},
    {"gpu_memset", put_memset},     {"cuda_driver", put_call},
    {"cuda_api", put_call},         {"cuda_sync", put_sync},
    {"osrt", put_os_call},          {"ac2g", put_nothing},
    {"fwdbwd", put_nothing},        {"gpu_user_annotation", put_nothing},
    {"Trace", put_nothing},         {"overhead", put_nothing},
    {"graph", put_nothing},         {"gpu_migration", put_nothing},
};

static const struct kind *kind_of(const struct json_value *category)
{
    for (size_t i = 0; category->kind == JSON_TEXT && i < ARRAY_LEN(KINDS); i++) {
        if (KINDS[i].category[0] == category->text[0] && json_is(category, KINDS[i].category)) {
            return &KINDS[i];
        }
    }
    return NULL;
}

/* ---- events ---- */

static int name_something(struct trace_rows *rows, const struct trace_event *event, struct err *err)
{
    struct trace_args args;
    int status = 0;
    trace_args_read(&args, &event->args);
    struct json_value name = json_plain(&args.name, &rows->scratch);
    if (json_is(&event->name, "process_name")) {
        struct trace_process *process = trace_process_at(&rows->threads, &event->process);
        status = process == NULL ? -1 : trace_process_name(process, &name);
    } else if (json_is(&event->name, "thread_name")) {
        struct trace_thread *thread =
            trace_thread_at(&rows->threads, &event->process, &event->thread);
        status = thread == NULL ? -1 : trace_thread_name(thread, &name);
    }
    return status == 0 ? 0 : err_nomem(err, "names");
}

/* The instants of Kineto at the ends of its own recording, of processes "Traces" and "". */
static bool is_frame(const struct trace_event *event)
{
    int64_t pid;
    return event->phase == 'i' && event->process.kind == JSON_TEXT &&
           !json_scaled(&event->process, 0, &pid);
}

int trace_rows_event(struct trace_rows *rows, const struct json_value *object, struct err *err)
{
    struct trace_event event;
    struct now now = {.event = &event};
    if (!trace_event_read(&event, object)) {
        rows->damaged++;
        return 0;
    }
    if (event.phase == 'M') {
        return name_something(rows, &event, err);
    }
    if (event.phase == '\0' || strchr("XBEiIRbe", event.phase) == NULL || is_frame(&event)) {
        return 0; /* flows, counters, samples */
    }
    const struct kind *kind = kind_of(&event.category);
    if (kind != NULL && kind->put == put_nothing) {
        return 0;
    }
    if (!trace_event_times(&event, &now.begin_ns, &now.end_ns)) {
        rows->damaged++;
        return 0;
    }
    trace_facts_times(&rows->facts, &now.begin_ns, &now.end_ns);
    trace_args_read(&now.args, &event.args);
    now.name = json_plain(&event.name, &rows->scratch);
    if (now.name.kind != JSON_TEXT) {
        now.name = (struct json_value){JSON_TEXT, false, "", 0};
    }
    if (event.phase != 'X') {
        return put_range(rows, &now, err);
    }
    return kind == NULL ? put_slice(rows, &now, err) : kind->put(rows, &now, err);
}

int trace_rows_member(struct trace_rows *rows, const struct json_value *key,
                      const struct json_value *value, struct err *err)
{
    return trace_facts_member(&rows->facts, rows->writer, key, value, err);
}

int trace_rows_end(struct trace_rows *rows, struct err *err)
{
    if (trace_ranges_end(&rows->ranges, &rows->written, err) != 0 ||
        trace_threads_write(&rows->threads, rows->writer, err) != 0 ||
        trace_facts_end(&rows->facts, rows->writer, err) != 0) {
        return -1;
    }
    return rows->early_ops && rows->main_pid != 0
               ? store_writer_set_processes(rows->writer, rows->main_pid, err)
               : 0;
}

int64_t trace_rows_written(const struct trace_rows *rows)
{
    return rows->written;
}

int64_t trace_rows_damaged(const struct trace_rows *rows)
{
    return rows->damaged;
}
