/*
 * trace: a capture in memory. Immutable after trace_load: any number of threads may read it.
 *
 * The model is arrays. There are four tables of events (enum trace_table); each is a set of
 * parallel arrays, sorted by lane, then by begin. A lane is a slice [first, first + count) of its
 * table: events of one row of the picture that do not overlap (marks may share a time). So an event
 * is (table, index), and everything about it is array[index]:
 *
 *     GPU        one or more (sub-lanes) for each stream, and for the migrations of each device and
 *                process. link: index in API of the launching call
 *     API        by thread and depth. link: index in launch_ops of its first op
 *     NVTX       push/pop by thread and depth, start/end by thread and sub-lane, marks by thread
 *     OSRT       by thread and depth
 *     OVERHEAD   profiler and CUDA overhead, by thread and depth
 *
 * Cost: 28 bytes an event (begin 8, end 8, name 4, row 4, link 4), 24 without link; GPU events have
 * 4 more for launch_ops and 8 for the running busy sum.
 *
 * Times: int64_t ns on the session's axis (0 = start of the collection; negative times are legal).
 * Rows whose times were not collected (start = end = 0), rows that end before they begin and rows
 * that cannot be where they are (misplaced) are in no lane; they are counted in trace_counts. What
 * is in lanes can be subtracted and summed as analysis/base/times.h says.
 */
#ifndef CUTLINE_TRACE_TRACE_H
#define CUTLINE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/file.h"
#include "analysis/store/store.h"

#define TRACE_NONE UINT32_MAX /* no event, no name, no link, no device, ... */

enum trace_table {
    TRACE_GPU,
    TRACE_API,
    TRACE_NVTX,
    TRACE_OSRT,
    TRACE_OVERHEAD,
    TRACE_TABLE_COUNT,
};

/* Parallel arrays of `count` events. link is NULL for NVTX, OSRT and OVERHEAD. */
struct trace_events {
    uint32_t count;
    int64_t *begin_ns;
    int64_t *end_ns; /* open ranges are closed at the last NVTX time (see trace_is_open) */
    uint32_t *name; /* index in names */
    uint32_t *row; /* rowid in the source table of the name's kind (see trace_source_table) */
    uint32_t *link;
};

/* What a name is the name of: also the kind of every event that bears it. */
enum trace_kind {
    TRACE_KERNEL,
    TRACE_MEMCPY,
    TRACE_MEMSET,
    TRACE_GRAPH, /* a whole graph launch (GRAPH_TRACE) */
    TRACE_MIGRATION, /* unified-memory migration */
    TRACE_API_CALL,
    TRACE_NVTX_PUSHPOP,
    TRACE_NVTX_STARTEND,
    TRACE_NVTX_MARK,
    TRACE_OSRT_CALL,
    TRACE_OVERHEAD_PROFILER, /* PROFILER_OVERHEAD */
    TRACE_OVERHEAD_CUDA, /* CUPTI_ACTIVITY_KIND_OVERHEAD */
    TRACE_KIND_COUNT,
};

/* What an API call does, from its name: bits of trace_name.api. 0 for all other kinds. */
enum trace_api_flag {
    TRACE_API_LAUNCH = 1U << 0, /* puts a kernel or a graph on a device */
    TRACE_API_GRAPH = 1U << 1, /* ... a graph */
    TRACE_API_COPY = 1U << 2, /* memcpy of any kind */
    TRACE_API_SET = 1U << 3, /* memset of any kind */
    TRACE_API_ASYNC = 1U << 4, /* name says Async */
    TRACE_API_SYNC = 1U << 5, /* waits for a device, context, stream or event */
    TRACE_API_ALLOC = 1U << 6, /* allocates or frees memory, host or device */
    TRACE_API_MODULE =
        1U << 7, /* loads or unloads a module or library, compiles, creates a context */
    TRACE_API_QUERY = 1U << 8, /* event or stream query */
    TRACE_API_DRIVER = 1U << 9, /* cu..., not cuda... */
};

/*
 * A name: each distinct (kind, texts, domain) once. Texts are the bytes of the file: sanitise
 * before showing. Pointers live as long as the trace.
 */
struct trace_name {
    const char *full; /* kernel: demangled; API: as stored ("cudaLaunchKernel_v7000");
                          copies "[CUDA memcpy Host-to-Device]"; NVTX: the text without domain */
    const char *brief; /* what a bar shows: kernel short name; API without _v and 4 or more digits;
                          "HtoD", "memset", "graph 5"; NVTX: as full */
    const char *mangled; /* kernel, where the file has it, else full */
    const char *domain; /* NVTX domain name, "" = default; NULL for other kinds */
    uint32_t full_len; /* bytes; the texts are NUL-terminated, and may hold NUL inside */
    uint32_t brief_len;
    uint32_t mangled_len;
    uint32_t domain_len;
    uint32_t color_argb; /* NVTX colour of the first event with one; 0 = none */
    uint16_t api; /* enum trace_api_flag */
    uint8_t kind; /* enum trace_kind */
    uint8_t copy_kind; /* MEMCPY, MIGRATION: copyKind of the file (1 HtoD, 2 DtoH, 8 DtoD, ...) */
};

struct trace_process {
    int64_t global_pid; /* 0 where the file has none */
    int64_t pid;
    const char *name; /* "" where unknown */
    uint32_t name_len;
    /* Rows of the file that belong to this process. */
    int64_t api_calls;
    int64_t kernels;
    int64_t memcpys; /* migrations included */
    int64_t memsets;
    int64_t graph_launches; /* rows of GRAPH_TRACE */
    int64_t nvtx_ranges;
    int64_t nvtx_marks;
    int64_t osrt_calls;
};

struct trace_thread {
    int64_t global_tid;
    int64_t tid;
    const char *name; /* "" where unknown */
    uint32_t name_len;
    uint32_t process; /* index in processes */
};

/*
 * A physical GPU, or an instance of one that is cut in several (MIG): rows of several processes are merged where TARGET_INFO_CUDA_DEVICE says that they
 * mean the same GPU; without that table a device is a deviceId. The first instance of a GPU has its id, each other a free one;
 * the names of instances end in their uuid.
 */
struct trace_device {
    int64_t id; /* gpuId where known, else deviceId: the number shown */
    const char *name; /* "" where unknown */
    uint32_t name_len;
    int32_t sm_count; /* 0 where unknown */
    int32_t compute_major;
    int32_t compute_minor;
    int64_t memory_bytes;
    uint32_t first_lane; /* its GPU lanes: [first_lane, first_lane + lane_count) of lanes */
    uint32_t lane_count;
    /* The union of all its ops: disjoint, not touching, ascending. */
    uint32_t busy_count;
    const int64_t *busy_begin_ns;
    const int64_t *busy_end_ns;
    const int64_t *busy_sum_ns; /* busy_count + 1: busy time before interval i */
};

enum trace_lane_kind {
    TRACE_LANE_STREAM,
    TRACE_LANE_MIGRATION,
    TRACE_LANE_API,
    TRACE_LANE_NVTX_PUSHPOP,
    TRACE_LANE_NVTX_STARTEND,
    TRACE_LANE_NVTX_MARK,
    TRACE_LANE_OSRT,
    TRACE_LANE_OVERHEAD,
    TRACE_LANE_KIND_COUNT,
};

/*
 * Lanes are sorted: GPU lanes first, by device, process, streams before migrations, device as the
 * process numbers it, context, stream, sub-lane; then by process
 * and thread: API, NVTX push/pop, NVTX start/end, NVTX marks, OSRT, OVERHEAD, each by depth. The
 * slices of the lanes of one table follow each other in the same order and cover the whole table.
 */
struct trace_lane {
    uint8_t kind; /* enum trace_lane_kind */
    uint8_t table; /* enum trace_table */
    uint32_t depth; /* sub-lane or nesting depth, from 0 */
    uint32_t first; /* its events: [first, first + count) of its table */
    uint32_t count; /* > 0 */
    uint32_t process; /* index in processes */
    uint32_t thread; /* index in threads; TRACE_NONE for GPU lanes */
    uint32_t device; /* index in devices; TRACE_NONE for others */
    int64_t device_id; /* GPU lanes: as the process numbers it */
    int64_t context_id; /* GPU lanes; 0 for migrations */
    int64_t stream_id; /* GPU lanes; 0 for migrations */
};

enum {
    TRACE_LEFT_OUT = 4 /* so many misplaced rows are named */
};

/* A misplaced row. */
struct trace_left_out {
    int64_t begin_ns;
    int64_t end_ns; /* INT64_MAX: none */
    uint32_t row;
    uint32_t source; /* see trace_left_out_table */
};

/* Totals of the file, as rows; `cutline info` prints them. */
struct trace_counts {
    int64_t kernels;
    int64_t memcpys;
    int64_t memsets;
    int64_t graph_launches;
    int64_t api_calls; /* classes 0, 1, 13, 26 */
    int64_t nvtx_ranges; /* types 59, 60, 70, 71, open ones too */
    int64_t nvtx_marks; /* type 34 */
    int64_t osrt_calls; /* class 27 */
    int64_t statuses; /* calls whose returnValue is not 0; facts/failures.h says which failed */
    int64_t untimed; /* GPU rows with start = end = 0 */
    int64_t reversed; /* rows that end before they begin, beyond 73 years, or longer than one */
    int64_t misplaced; /* rows whose times cannot be among the others (analysis/trace/outliers.c) */
    int64_t early; /* ops that begin before the call that launched them; they are in lanes */
    int64_t open_ranges; /* NVTX ranges without end */
    int64_t unlinked; /* GPU ops without a launching call in the file (migrations not counted) */
    struct trace_left_out left_out[TRACE_LEFT_OUT]; /* the first `misplaced` ones */
};

struct trace {
    struct trace_events events[TRACE_TABLE_COUNT];
    uint32_t *launch_ops; /* GPU indices sorted by (link, begin): all ops of one launch are
                             neighbours; unlinked ops are not in it */
    uint32_t launch_op_count;
    int64_t *gpu_busy_ns; /* events[TRACE_GPU].count + 1 running sums of durations in table order:
                             busy time of a lane before its event i = busy[i] - busy[first] */
    struct trace_name *names;
    uint32_t name_count;
    struct trace_process *processes; /* those with any event, by pid */
    uint32_t process_count;
    struct trace_thread *threads; /* those with any event, by process, then tid */
    uint32_t thread_count;
    struct trace_device *devices; /* those with any op, by id */
    uint32_t device_count;
    struct trace_lane *lanes;
    uint32_t lane_count;
    struct trace_counts counts;
    int64_t begin_ns; /* first begin .. last end over all lanes; 0, 0 where there is no event */
    int64_t end_ns;
    int64_t nvtx_end_ns; /* the last NVTX time: where open ranges were closed */
    const char *path;
    const char *given; /* the path as it was given, if the file was made of another; else NULL */
    void *own; /* what trace_free needs */
};

struct trace_options {
    int threads; /* loading threads, 0 = the machine's processors, at most 8 */
    int piece_rows; /* rows that a thread takes at a time, 0 = 262144; the trace is the same */
    /* Bits of 1 << enum trace_kind, 0 = all: only tables of the file that hold one of these kinds
     * are read (all are, where it takes them to tell which rows are misplaced). Counts, processes,
     * devices, names and links then know only what was read. */
    uint32_t kinds;
    /* Of each table only the first rows, those with a rowid below this; 0 = all. For a first look
     * while the rest is read: no cache, no .nsys-rep. */
    int64_t rows_most;
    /* A capture with so many events or more is kept, as a trace, in the user's cache folder, and is
     * taken from there while it is the same file; 0 = no cache. With kinds it is taken, not kept. */
    int64_t cache_events;
    uint32_t cache_mib; /* all of the cache folder; 0 = CACHE_FOLDER_MIB */
    bool
        keep_later; /* the caller keeps it, by trace_keep_start (keep.h); else it is done at once */
    /* Called now and then while loading with rows done and the bound of all, with 0 and 0 while nsys
     * exports; may be NULL. Another thread may call it. A nonzero return stops the loading ("interrupted"). */
    int (*progress)(void *arg, int64_t done, int64_t total);
    void *progress_arg;
};

/*
 * Loads a capture. NULL on failure; options may be NULL. O(n log n) at most, O(n) for sorted rows.
 * Of a .nsys-rep the SQLite export is loaded, which nsys makes where there is none yet (see
 * analysis/store/nsys_rep.h); trace->path is that file.
 */
struct trace *trace_load(const char *path, const struct trace_options *options, struct err *err);
/* The same of an open file, also one whose rows come from elsewhere (source_file). It is shared. */
struct trace *trace_load_file(struct store_file *file, const struct trace_options *options,
                              struct err *err);
void trace_free(struct trace *trace);
/* A pause in the use of a large trace: pages of its file that were read are not held any more. Other
 * threads may go on reading it. */
void trace_rest(const struct trace *trace);
/* What people know the capture by: the path that was given. */
static inline const char *trace_given_path(const struct trace *trace)
{
    return trace->given != NULL ? trace->given : trace->path;
}

/* Indices by id, TRACE_NONE where there is none. O(log n). */
uint32_t trace_process_of(const struct trace *trace, int64_t global_pid);
uint32_t trace_thread_of(const struct trace *trace, int64_t global_tid);
uint32_t trace_device_of(const struct trace *trace, int64_t id);
/* What follows each other in lanes or threads: [first, end). O(log n). */
struct trace_slice {
    uint32_t first;
    uint32_t end;
};
/* The lanes of the threads of a process; those of one thread. */
struct trace_slice trace_process_lanes(const struct trace *trace, uint32_t process);
struct trace_slice trace_thread_lanes(const struct trace *trace, uint32_t thread);
struct trace_slice trace_process_threads(const struct trace *trace, uint32_t process);

/* The lane of an event: index in lanes. O(log lanes). */
uint32_t trace_lane_of(const struct trace *trace, enum trace_table table, uint32_t index);
/* The ops of an API call: a slice of launch_ops. NULL and 0 where it launched nothing. O(result).
 */
const uint32_t *trace_ops_of(const struct trace *trace, uint32_t api, uint32_t *count);
/* Was this NVTX range still open at the end? (its end equals nvtx_end_ns and the file has no end.)
 */
bool trace_is_open(const struct trace *trace, uint32_t nvtx);
/* Did this start/end range end on another thread than it began on? Its lane is the first's. */
bool trace_is_cross_thread(const struct trace *trace, uint32_t nvtx);
/* The SQLite table that the event's row is a rowid of, e.g. "CUPTI_ACTIVITY_KIND_KERNEL". */
const char *trace_source_table(const struct trace *trace, enum trace_table table, uint32_t index);
/* The table of the file that a misplaced row is in. */
const char *trace_left_out_table(const struct trace_left_out *left_out);
/*
 * Opens the file again for rows that the model does not keep: the very file that was loaded,
 * whatever has its name now. One store per thread; the caller closes it. NULL on failure (it may
 * have been written to since).
 */
struct store *trace_store(const struct trace *trace, struct err *err);
/*
 * Is the file still what was loaded? 0, or -1: it was written to, and what was read of it since may
 * belong to another capture. To be asked after the last read and before anything is shown.
 */
int trace_check(const struct trace *trace, struct err *err);

/* First event of the lane that ends after t (half-open), as an index in its table; first + count if
 * none. */
uint32_t trace_lane_lower(const struct trace *trace, const struct trace_lane *lane, int64_t t_ns);

#endif
