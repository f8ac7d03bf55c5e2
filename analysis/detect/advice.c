/*
 * advice: see advice.h.
 */
#include "analysis/detect/advice.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/base/array.h"

/* ---- the table ---- */

struct advice_row {
    int topic;
    uint32_t needs; /* all of these */
    uint32_t rules_out; /* none of these */
    const char *text; /* {call} and {time} are replaced */
};

/* The first that fits. */
static const struct advice_row SENTENCES[] = {
    {CAUSE_UNKNOWN, ADVICE_NO_API, 0,
     "Record CUDA API calls too (-t cuda), then the cause can be told."},
    {CAUSE_UNKNOWN, 0, 0,
     "The calls that launched this work are not in the capture: record from the begin of the "
     "program, without a filter on API calls."},

    {CAUSE_MIGRATED, ADVICE_PREFETCHES, 0,
     "Pages of unified memory move when they are touched. Some are prefetched already: prefetch "
     "these, too, and before the kernel that needs them."},
    {CAUSE_MIGRATED, 0, 0,
     "Pages of unified memory move when they are touched: move them before "
     "(cudaMemPrefetchAsync), say where they belong (cudaMemAdvise), or copy."},
    {ADVICE_OF_MIGRATIONS, ADVICE_PREFETCHES, 0,
     "Some pages are prefetched already (cudaMemPrefetchAsync): prefetch these, too, and before "
     "the kernel that needs them, or say where they belong (cudaMemAdvise)."},
    {ADVICE_OF_MIGRATIONS, 0, 0,
     "Move the pages before they are touched (cudaMemPrefetchAsync), say where they belong "
     "(cudaMemAdvise), or use explicit copies."},

    {CAUSE_WAIT_EVENT, 0, 0,
     "This stream was told to wait for that work: make it shorter or earlier, wait for less of "
     "it, or give this stream work that does not need it."},
    {CAUSE_WAIT_PROCESS, 0, 0,
     "Processes that share a GPU take turns: run them under MPS (nvidia-cuda-mps-control), or "
     "give each a GPU of its own."},
    {CAUSE_WAIT_GRAPH, ADVICE_UPLOADS, 0,
     "Graphs are uploaded already (cudaGraphUpload): launch this one while the work before it "
     "still runs."},
    {CAUSE_WAIT_GRAPH, 0, 0,
     "Upload the graph before it is needed (cudaGraphUpload), instantiate it once, and launch it "
     "while the work before it still runs."},
    {CAUSE_WAIT_START, 0, 0,
     "The work was there: the device takes {time} from op to op. Each op less wins that: fused "
     "or larger kernels."},

    {CAUSE_SLOW_LAUNCH, ADVICE_QUEUE, 0,
     "The driver's command buffer was full: keep fewer launches in flight."},
    {CAUSE_SLOW_LAUNCH, ADVICE_HELD, 0,
     "The thread launches only when {wait} has returned, so that each launching call stands in a "
     "gap: queue the next work before it waits, or wait less often."},
    {CAUSE_SLOW_LAUNCH, ADVICE_COPIES | ADVICE_PAGEABLE, 0,
     "The call that copies takes this time before the device begins: copy less often and more at "
     "once, from pinned memory, with cudaMemcpyAsync."},
    {CAUSE_SLOW_LAUNCH, ADVICE_COPIES, 0,
     "The call that copies takes this time before the device begins: copy less often and more at "
     "once."},
    {CAUSE_SLOW_LAUNCH, ADVICE_FIRST, 0,
     "The first launch of a kernel loads its code: warm up before the part that counts, or set "
     "CUDA_MODULE_LOADING=EAGER."},
    {CAUSE_SLOW_LAUNCH, ADVICE_GRAPH | ADVICE_UPLOADS, 0,
     "The launch of a graph takes {time} before its first op: launch it while the work before it "
     "still runs."},
    {CAUSE_SLOW_LAUNCH, ADVICE_GRAPH, 0,
     "The launch of a graph takes {time} before its first op: upload it before (cudaGraphUpload), "
     "and launch it while the work before it still runs."},
    {CAUSE_SLOW_LAUNCH, 0, 0,
     "The device waits {time} for a launching call to return: launch while the work before it "
     "still runs, or launch once for many (larger kernels, a CUDA graph)."},

    {CAUSE_SYNC, ADVICE_EVENT, 0,
     "The thread waits in {call} though the device is idle: queue the next work before it "
     "waits."},
    {CAUSE_SYNC, 0, 0,
     "The thread waits in {call} though the device is idle: queue the next work before it waits, "
     "or wait for an event of the work that is needed."},

    {CAUSE_COPY, ADVICE_PAGEABLE | ADVICE_ASYNC, 0,
     "{call} of pageable memory holds up its thread: pin the memory (cudaMallocHost)."},
    {CAUSE_COPY, ADVICE_PAGEABLE, 0,
     "Use pinned memory and cudaMemcpyAsync, so that the thread goes on while the device copies."},
    {CAUSE_COPY, ADVICE_PINNED, ADVICE_ASYNC,
     "The memory is pinned, the call is not: cudaMemcpyAsync lets the thread go on."},
    {CAUSE_COPY, 0, 0,
     "{call} holds up its thread: cudaMemcpyAsync with pinned memory lets it go on."},

    {CAUSE_ALLOC, ADVICE_POOL | ADVICE_ATTRIBUTES, 0,
     "The allocations come from a pool whose attributes are set: look whether its release "
     "threshold "
     "is above what is in use, and allocate before the part that counts."},
    {CAUSE_ALLOC, ADVICE_POOL, 0,
     "The pool gives its memory back at each synchronisation: raise its release threshold "
     "(cudaMemPoolSetAttribute, cudaMemPoolAttrReleaseThreshold)."},
    {CAUSE_ALLOC, ADVICE_HOST_MEMORY, 0,
     "Pinning host memory ({call}) is slow: do it once, before the part that counts, and use the "
     "buffers again."},
    {CAUSE_ALLOC, 0, 0,
     "Allocate once and use it again, or from a pool (cudaMallocAsync): {call} holds up its "
     "thread, and cudaFree waits for the device."},
    {CAUSE_MODULE, 0, 0,
     "Code is loaded here ({call}): load it before the part that counts "
     "(CUDA_MODULE_LOADING=EAGER, a first run), for this GPU, so that nothing is compiled."},

    {CAUSE_OSRT, ADVICE_IO, 0, "Do this I/O ({call}) in another thread, ahead of the device."},
    {CAUSE_OSRT, ADVICE_LOCK, 0,
     "The thread that launches waits for another one ({call}): see what that one does meanwhile."},
    {CAUSE_OSRT, ADVICE_SLEEP, 0, "The thread that launches sleeps ({call})."},
    {CAUSE_OSRT, 0, 0, "Keep {call} out of the thread that launches."},
    {CAUSE_PROFILER, 0, 0, "The profiler itself took this time: leave it out of the count."},

    {CAUSE_AFTER_BLOCKING, ADVICE_LONG, 0,
     "The thread works between {call} and its next launch: queue that launch before it waits, or "
     "do the work in another thread while the device runs."},
    {CAUSE_AFTER_BLOCKING, 0, 0,
     "The thread launches only when {call} has returned: queue the next work before it waits, or "
     "wait less often."},
    {CAUSE_SLOW_HOST, ADVICE_LONG, 0,
     "The thread works for up to {time} between two launches and waits for nothing: do that work "
     "in "
     "another thread, or queue more launches before it."},
    {CAUSE_SLOW_HOST, 0, 0,
     "The thread needs {time} more from launch to launch than the device for the ops: fewer "
     "launches (fused kernels, a CUDA graph)."},

    {ADVICE_OF_TRANSFERS, ADVICE_NO_ROOM | ADVICE_PAGEABLE, 0,
     "Other work takes {time}: copying beside it can hide no more than that. Copy less (keep data "
     "on the device), or faster: from pinned memory."},
    {ADVICE_OF_TRANSFERS, ADVICE_NO_ROOM, 0,
     "Other work takes {time}: copying beside it can hide no more than that. Copy less: keep data "
     "on the device."},
    {ADVICE_OF_TRANSFERS, ADVICE_BETWEEN | ADVICE_SAME_STREAM, 0,
     "Copy while kernels run: on a stream of its own."},
    {ADVICE_OF_TRANSFERS, ADVICE_PAGEABLE | ADVICE_SAME_STREAM, 0,
     "Copy while kernels run: pinned memory, cudaMemcpyAsync on a stream of its own."},
    {ADVICE_OF_TRANSFERS, ADVICE_PAGEABLE, 0,
     "Copy while kernels run: from pinned memory, with cudaMemcpyAsync."},
    {ADVICE_OF_TRANSFERS, ADVICE_PINNED | ADVICE_ASYNC | ADVICE_SAME_STREAM, 0,
     "The copies are asynchronous, but kernels run on their stream, and so not beside them: use a "
     "stream of their own."},
    {ADVICE_OF_TRANSFERS, ADVICE_ASYNC, ADVICE_SAME_STREAM,
     "The copies are asynchronous and on a stream of their own, but no kernel runs beside "
     "them: copy what the next step needs while this one computes (two buffers)."},
    {ADVICE_OF_TRANSFERS, ADVICE_PINNED, ADVICE_ASYNC,
     "The memory is pinned, but the calls wait for the copies: cudaMemcpyAsync on a stream of its "
     "own."},
    {ADVICE_OF_TRANSFERS, 0, 0,
     "Copy while kernels run: cudaMemcpyAsync on a stream of its own, from pinned memory."},

    {ADVICE_OF_SMALL_COPIES, 0, 0,
     "Copy once: gather the data in one buffer, or keep it on the device."},
    {ADVICE_OF_SMALL_MOVES, 0, 0,
     "Copy once: gather the data in one buffer, or let the kernel that needs it read it where it "
     "is."},
    {ADVICE_OF_DENSITY, ADVICE_GRAPH, 0,
     "Launch less often: graphs are launched here already; one graph for more of the work, fused "
     "or larger kernels."},
    {ADVICE_OF_DENSITY, 0, 0, "Launch less often: a CUDA graph, fused or larger kernels."},
    {ADVICE_OF_COMMUNICATION, ADVICE_SAME_STREAM, 0,
     "Communicate while kernels run: on a stream of its own, in pieces that begin as soon as "
     "their data is there."},
    {ADVICE_OF_COMMUNICATION, 0, 0,
     "It has a stream of its own, but no kernel runs beside it: begin it earlier, in smaller "
     "pieces, or compute what does not need it meanwhile."},
};

/* Said after it: the first that fits. */
static const struct advice_row HINTS[] = {
    {CAUSE_COPY, ADVICE_TORCH | ADVICE_PAGEABLE, 0,
     "PyTorch: pin_memory=True, and .to(device, non_blocking=True)."},
    {CAUSE_COPY, ADVICE_TORCH, 0, "PyTorch: .to(device, non_blocking=True)."},
    {CAUSE_SLOW_LAUNCH, ADVICE_TORCH | ADVICE_COPIES | ADVICE_PAGEABLE, 0,
     "PyTorch: pin_memory=True, and .to(device, non_blocking=True)."},
    {CAUSE_ALLOC, ADVICE_TORCH, ADVICE_POOL | ADVICE_HOST_MEMORY,
     "PyTorch keeps what is freed: these calls are its cache that grows or is emptied; look for "
     "sizes that change, and torch.cuda.empty_cache()."},
    {CAUSE_OSRT, ADVICE_TORCH | ADVICE_IO, 0,
     "PyTorch: num_workers and prefetch_factor of the DataLoader."},
    {CAUSE_OSRT, ADVICE_TENSORFLOW | ADVICE_IO, 0, "TensorFlow: prefetch() of tf.data."},
    {CAUSE_AFTER_BLOCKING, ADVICE_TORCH | ADVICE_TO_DEVICE, 0,
     "PyTorch: .to(device) of pageable memory waits; make tensors on the device, or pin them."},
    {CAUSE_AFTER_BLOCKING, ADVICE_TORCH, ADVICE_EVENT,
     "PyTorch: .item(), .cpu(), and printing a tensor wait."},
    {CAUSE_AFTER_BLOCKING, ADVICE_JAX, 0,
     "JAX: block_until_ready(), float() and numpy.asarray() wait."},
    {CAUSE_AFTER_BLOCKING, ADVICE_TENSORFLOW, 0, "TensorFlow: .numpy() waits."},
    {CAUSE_SLOW_HOST, ADVICE_TORCH | ADVICE_COMPILED, ADVICE_LONG,
     "PyTorch: torch.compile is used already; mode=\"reduce-overhead\" launches by CUDA graphs."},
    {CAUSE_SLOW_HOST, ADVICE_TORCH, ADVICE_LONG,
     "PyTorch: torch.compile (mode=\"reduce-overhead\")."},
    {CAUSE_SLOW_HOST, ADVICE_JAX, ADVICE_LONG, "JAX: jit around the whole step."},
    {CAUSE_SLOW_HOST, ADVICE_TENSORFLOW, ADVICE_LONG, "TensorFlow: tf.function."},
    {CAUSE_SLOW_HOST, ADVICE_PYTHON, ADVICE_LONG, "Less Python between launches."},
    {ADVICE_OF_TRANSFERS, ADVICE_TORCH | ADVICE_PAGEABLE, 0,
     "PyTorch: pin_memory=True, and .to(device, non_blocking=True)."},
    {ADVICE_OF_DENSITY, ADVICE_TORCH | ADVICE_COMPILED | ADVICE_GRAPH, 0, ""},
    {ADVICE_OF_DENSITY, ADVICE_TORCH | ADVICE_COMPILED, 0,
     "PyTorch: torch.compile is used already; mode=\"reduce-overhead\" launches by CUDA graphs."},
    {ADVICE_OF_DENSITY, ADVICE_TORCH, 0, "PyTorch: torch.compile (mode=\"reduce-overhead\")."},
    {ADVICE_OF_DENSITY, ADVICE_JAX, 0, "JAX: jit around the whole step."},
    {ADVICE_OF_DENSITY, ADVICE_TENSORFLOW, 0, "TensorFlow: tf.function."},
};

/* The text with {call} and {time} replaced. */
static void put_text(struct buf *out, const struct advice_case *of, const char *text)
{
    static const char call[] = "{call}";
    static const char time[] = "{time}";
    static const char wait[] = "{wait}";
    while (*text != '\0') {
        const char *with = NULL;
        size_t skip = 0;
        if (strncmp(text, call, sizeof call - 1) == 0) {
            with = of->call != NULL ? of->call : "the call";
            skip = sizeof call - 1;
        } else if (strncmp(text, time, sizeof time - 1) == 0) {
            with = of->time != NULL ? of->time : "this time";
            skip = sizeof time - 1;
        } else if (strncmp(text, wait, sizeof wait - 1) == 0) {
            with = of->wait != NULL ? of->wait : "a call";
            skip = sizeof wait - 1;
        }
        if (with != NULL) {
            buf_adds(out, with);
        } else {
            buf_addc(out, *text);
            skip = 1;
        }
        text += skip;
    }
}

static const char *first_fit(const struct advice_row *rows, size_t count,
                             const struct advice_case *of)
{
    for (size_t i = 0; i < count; i++) {
        const struct advice_row *row = &rows[i];
        if (row->topic == of->topic && (of->facts & row->needs) == row->needs &&
            (of->facts & row->rules_out) == 0) {
            return row->text;
        }
    }
    return NULL;
}

void advice_put(struct buf *out, const struct advice_case *of)
{
    const char *text = first_fit(SENTENCES, ARRAY_LEN(SENTENCES), of);
    const char *hint = first_fit(HINTS, ARRAY_LEN(HINTS), of);
    if (text != NULL) {
        put_text(out, of, text);
    }
    if (hint != NULL && hint[0] != '\0') {
        buf_addc(out, ' ');
        put_text(out, of, hint);
    }
}

/* ---- facts ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

uint32_t advice_of_capture(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    uint32_t bits = facts->has_api ? 0 : ADVICE_NO_API;
    for (uint32_t i = 0; i < trace->name_count; i++) {
        const struct trace_name *name = &trace->names[i];
        if (name->kind != TRACE_API_CALL) {
            continue;
        }
        bool prefetches =
            begins(name->brief, "cudaMemPrefetch") || begins(name->brief, "cuMemPrefetch");
        bool uploads =
            begins(name->brief, "cudaGraphUpload") || begins(name->brief, "cuGraphUpload");
        bits |= prefetches ? ADVICE_PREFETCHES : 0;
        bits |= uploads ? ADVICE_UPLOADS : 0;
        bits |= strstr(name->brief, "MemPoolSetAttribute") != NULL ? ADVICE_ATTRIBUTES : 0;
    }
    return bits;
}

static bool is_host(uint8_t kind)
{
    return kind == FACTS_MEM_PAGEABLE || kind == FACTS_MEM_PINNED;
}

uint32_t advice_of_op(const struct facts *facts, uint32_t gpu)
{
    enum {
        HOST_TO_DEVICE = 1,
        PEER_TO_PEER = 10
    };
    const struct trace *trace = facts->trace;
    const struct facts_copy *copy = facts_copy_of(facts, gpu);
    uint32_t launch = trace->events[TRACE_GPU].link[gpu];
    uint8_t kind = trace->names[trace->events[TRACE_GPU].name[gpu]].copy_kind;
    uint32_t bits = 0;
    if (kind == PEER_TO_PEER) {
        bits |= ADVICE_BETWEEN;
    } else if (copy != NULL && (is_host(copy->src_kind) || is_host(copy->dst_kind))) {
        bool pageable =
            copy->src_kind == FACTS_MEM_PAGEABLE || copy->dst_kind == FACTS_MEM_PAGEABLE;
        bits |= pageable ? ADVICE_PAGEABLE : ADVICE_PINNED;
    }
    bits |= kind == HOST_TO_DEVICE ? ADVICE_TO_DEVICE : 0;
    if (launch != TRACE_NONE) {
        uint16_t flags = trace->names[trace->events[TRACE_API].name[launch]].api;
        bits |= (flags & TRACE_API_ASYNC) != 0 ? ADVICE_ASYNC : 0;
    }
    return bits;
}

/* What a copying call says: COPIES, and of its copy PAGEABLE, PINNED, BETWEEN, TO_DEVICE, ASYNC. */
static uint32_t of_copying_call(const struct facts *facts, uint32_t api)
{
    const struct trace *trace = facts->trace;
    uint16_t flags = trace->names[trace->events[TRACE_API].name[api]].api;
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(trace, api, &count);
    if ((flags & TRACE_API_COPY) == 0) {
        return 0;
    }
    return ADVICE_COPIES | (count > 0 ? advice_of_op(facts, ops[0]) : 0) |
           ((flags & TRACE_API_ASYNC) != 0 ? ADVICE_ASYNC : 0);
}

/* OS calls by what they do. */
static const struct {
    const char *begin;
    uint32_t fact;
} OS_CALLS[] = {
    {"pthread_mutex", ADVICE_LOCK},
    {"pthread_cond", ADVICE_LOCK},
    {"pthread_rwlock", ADVICE_LOCK},
    {"pthread_join", ADVICE_LOCK},
    {"pthread_barrier", ADVICE_LOCK},
    {"sem_", ADVICE_LOCK},
    {"futex", ADVICE_LOCK},
    {"sleep", ADVICE_SLEEP},
    {"usleep", ADVICE_SLEEP},
    {"nanosleep", ADVICE_SLEEP},
    {"clock_nanosleep", ADVICE_SLEEP},
    {"read", ADVICE_IO},
    {"pread", ADVICE_IO},
    {"write", ADVICE_IO},
    {"pwrite", ADVICE_IO},
    {"fread", ADVICE_IO},
    {"fwrite", ADVICE_IO},
    {"get", ADVICE_IO},
    {"fget", ADVICE_IO},
    {"fput", ADVICE_IO},
    {"put", ADVICE_IO},
    {"open", ADVICE_IO},
    {"fopen", ADVICE_IO},
    {"close", ADVICE_IO},
    {"fclose", ADVICE_IO},
    {"fflush", ADVICE_IO},
    {"fsync", ADVICE_IO},
    {"fdatasync", ADVICE_IO},
    {"fscanf", ADVICE_IO},
    {"fprintf", ADVICE_IO},
};

static uint32_t os_call(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(OS_CALLS); i++) {
        if (begins(name, OS_CALLS[i].begin)) {
            return OS_CALLS[i].fact;
        }
    }
    return 0;
}

static uint32_t allocation(const char *name)
{
    if (strstr(name, "Async") != NULL || strstr(name, "FromPool") != NULL) {
        return ADVICE_POOL;
    }
    return strstr(name, "Host") != NULL ? ADVICE_HOST_MEMORY : 0;
}

/* What loads code or fills the command buffer as a launch goes on. */
static uint32_t overhead(const struct facts *facts, const struct cause *cause)
{
    if (cause->overhead == TRACE_NONE) {
        return 0;
    }
    const struct trace *trace = facts->trace;
    const char *name = trace->names[trace->events[TRACE_OVERHEAD].name[cause->overhead]].full;
    if (strstr(name, "oading") != NULL) {
        return ADVICE_FIRST;
    }
    return strstr(name, "uffer") != NULL ? ADVICE_QUEUE : 0;
}

uint32_t advice_of_cause(const struct facts *facts, const struct cause *cause)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    const char *name = cause_evidence(facts, cause);
    uint32_t bits = (cause->doubt & CAUSE_NO_API) != 0 ? ADVICE_NO_API : 0;
    switch ((enum cause_kind)cause->kind) {
    case CAUSE_SLOW_LAUNCH:
        bits |= overhead(facts, cause) | of_copying_call(facts, cause->launch);
        bits |=
            (trace->names[api->name[cause->launch]].api & TRACE_API_GRAPH) != 0 ? ADVICE_GRAPH : 0;
        break;
    case CAUSE_COPY:
    case CAUSE_SYNC:
    case CAUSE_AFTER_BLOCKING:
        bits |= cause->table == TRACE_API ? of_copying_call(facts, cause->evidence) : 0;
        bits |= strstr(name, "Event") != NULL ? ADVICE_EVENT : 0;
        break;
    case CAUSE_ALLOC:
        bits |= allocation(name);
        break;
    case CAUSE_OSRT:
        bits |= os_call(name);
        break;
    default:
        break;
    }
    return bits;
}
