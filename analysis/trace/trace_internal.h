/*
 * What the files of analysis/trace share with each other. How a capture gets into memory:
 *
 *   1 plan     (load.c)    the tables are cut into pieces of rowids
 *   2 read     (read_*.c)  threads read pieces, each with its own store; a piece keeps raw columns,
 *                          its own list of names (as StringIds ids) and of tracks (a stream, or one
 *                          kind of event of one thread)
 *   . outliers (outliers.c) rows whose times cannot be are left out
 *   3 people   (processes.c)  processes, threads and devices from the tracks of all pieces
 *   4 names    (names.c)   one pass over StringIds for the ids in use; names get their texts and
 *                          their final numbers, in order of first sight in the file
 *   5 arrange  (arrange.c) for each table: events grouped by track, sorted where they are not, laid
 *                          out in lanes, columns moved to their final place
 *   6 link     (link.c)    launches and ops; busy.c: running sums and unions
 *   . grow     (cache_grow.c) of a trace that is to be kept, each array goes to its place in the kept
 *                          file when it is done, and is read from there
 *
 * The result does not depend on how the file was cut or on the number of threads.
 */
#ifndef CUTLINE_TRACE_TRACE_INTERNAL_H
#define CUTLINE_TRACE_TRACE_INTERNAL_H

#include "analysis/base/intern.h"
#include "analysis/store/file.h"
#include "analysis/trace/trace.h"

/* The tables that events come from. */
enum raw_source {
    RAW_KERNEL,
    RAW_MEMCPY,
    RAW_MEMSET,
    RAW_GRAPH,
    RAW_API,
    RAW_NVTX,
    RAW_OSRT,
    RAW_OVERHEAD_PROFILER,
    RAW_OVERHEAD_CUDA,
    RAW_SOURCE_COUNT,
};

/* A missing id (NULL): 0 is a real string. */
#define RAW_NO_ID INT64_MIN
/* The track of an event that is left out. */
#define RAW_GONE UINT32_MAX

/* What makes a name, before its texts are known. No padding: compared bytewise. */
struct raw_name {
    int64_t id[3]; /* StringIds: kernel demangled, short, mangled; others the first; NVTX with
                        sub = 1: id[0] is a text of the piece; graph: the graph id */
    int64_t process; /* NVTX: pid, for the domain */
    int64_t domain; /* NVTX: domainId */
    uint32_t kind; /* enum trace_kind */
    uint32_t sub; /* copyKind; NVTX: 1 = inline text */
};

/* What makes a track, as the file tells it. No padding. */
struct raw_track {
    int64_t global_id; /* globalPid for streams, globalTid for others; 0 where missing */
    int64_t device_id; /* streams and migrations, else 0 */
    int64_t context_id;
    int64_t stream_id;
    uint32_t kind; /* enum trace_lane_kind */
    uint32_t pad;
};

/* What a piece knows about one of its tracks. */
struct raw_track_use {
    int64_t first_begin_ns;
    int64_t first_end_ns;
    int64_t last_begin_ns;
    int64_t last_end_ns;
    int64_t rows; /* rows of the file, those without usable times too */
    uint32_t events; /* those in a lane */
    bool unsorted; /* not by begin, then longest first */
};

/* A text that is a StringIds id or lies in the piece. */
struct raw_text {
    int64_t id; /* RAW_NO_ID: none */
    uint32_t text; /* in the piece's texts; INTERN_NONE: none */
};

struct raw_domain {
    int64_t process;
    int64_t domain;
    int64_t start_ns;
    struct raw_text name;
};

struct raw_thread_name {
    int64_t global_tid;
    struct raw_text name;
};

/* A range of rowids of one table and what was read from it. */
struct piece {
    enum raw_source source;
    int64_t first_row;
    int64_t end_row;
    /* Columns of the events that go into lanes. */
    uint32_t count;
    uint32_t cap;
    int64_t *begin_ns;
    int64_t *end_ns; /* INT64_MAX: an open range */
    uint32_t *name; /* index in names */
    uint32_t *row;
    uint32_t *track; /* index in tracks */
    uint32_t *link; /* correlation id, 0 = none; NULL for tables without links */
    struct intern names; /* struct raw_name */
    uint32_t *colors; /* of names; NVTX only */
    size_t colors_cap;
    struct intern texts; /* inline texts */
    struct intern tracks; /* struct raw_track */
    struct raw_track_use *uses;
    size_t uses_cap;
    struct raw_track last_track; /* the latest one: rows of a track come in runs */
    uint32_t last_track_index;
    struct raw_domain *domains;
    uint32_t domain_count;
    struct raw_thread_name *thread_names; /* NVTX type 39 */
    uint32_t thread_name_count;
    uint32_t *open; /* events without end */
    uint32_t open_count;
    uint32_t *cross; /* events that ended on another thread */
    uint32_t cross_count;
    int64_t untimed;
    int64_t reversed;
    int64_t statuses;
    int64_t latest_ns; /* NVTX: the last time of any row that can be one */
    /* Of the events, an open range as one of no length: first begin, last end, longest, their sum. */
    int64_t first_ns;
    int64_t last_ns;
    int64_t longest_ns;
    int64_t sum_ns;
    uint32_t gone; /* events that were left out and are still in the columns: RAW_GONE */
    /* Filled in after reading. */
    uint32_t *name_map; /* names of the piece -> names of the trace */
    uint32_t *track_map; /* tracks of the piece -> tracks of the table */
    uint32_t base; /* events of its table in pieces before it */
};

/* One row as the readers hand it over. */
struct raw_row {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t correlation;
    const struct raw_name *name;
    const struct raw_track *track;
    bool open;
    bool cross;
    uint32_t color;
};

struct raw_table {
    const char *name; /* in the file */
    enum trace_table table;
    const char *const *columns;
    int column_count;
    /* Reads the current row into the piece. 0 or -1. */
    int (*read)(struct piece *piece, struct store_cursor *cursor, struct err *err);
};

/* raw.c */
extern const struct raw_table RAW_TABLES[RAW_SOURCE_COUNT];
/* Reads the piece's rows. tick is called every some thousand rows; nonzero stops. 0 or -1. */
struct raw_tick {
    int (*call)(void *arg, int64_t rows);
    void *arg;
};
int raw_read(struct piece *piece, struct store *store, const struct raw_tick *tick,
             struct err *err);
/* For the readers: puts a row into the piece (counted only, where its times are unusable). */
int raw_put(struct piece *piece, struct store_cursor *cursor, const struct raw_row *row,
            struct err *err);
/* Takes the events that are left out from the columns. */
void raw_settle(struct piece *piece);
void raw_free(struct piece *piece);

/* The readers of a row, one for each table. */
int read_kernel(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_memcpy(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_memset(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_graph(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_api(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_nvtx(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_osrt(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_overhead_profiler(struct piece *piece, struct store_cursor *cursor, struct err *err);
int read_overhead_cuda(struct piece *piece, struct store_cursor *cursor, struct err *err);

/* A track with everything resolved; it is known by the members before count (no padding). */
struct track {
    uint32_t device; /* TRACE_NONE for threads */
    uint32_t process; /* index */
    uint32_t thread; /* TRACE_NONE for streams */
    uint32_t kind; /* enum trace_lane_kind */
    int64_t device_id;
    int64_t context_id;
    int64_t stream_id;
    uint32_t count;
    bool unsorted;
};

/* What nobody waits for: see keep.h. */
enum trace_owed {
    TRACE_OWED_NOTHING,
    TRACE_OWED_FILE, /* to be kept in the cache */
    TRACE_OWED_SUMS, /* was taken by its seal: its sums are still to be compared */
};

struct trace_own {
    struct intern texts; /* every text that the trace points to */
    struct arena arena; /* small arrays */
    struct store_file *file; /* shared: rows that the model does not keep are read from it */
    uint32_t *table_lanes[TRACE_TABLE_COUNT]; /* indices in lanes, in order */
    uint32_t table_lane_count[TRACE_TABLE_COUNT];
    uint32_t *open; /* NVTX indices, ascending */
    uint32_t open_count;
    uint32_t *cross; /* likewise */
    uint32_t cross_count;
    struct busy_arrays *unions; /* one for each device */
    void *map; /* a cached trace: its columns, lanes, sums and texts lie in here */
    size_t map_bytes;
    int map_fd; /* of the mapped file; -1 = none */
    struct cache_growing
        *growing; /* a trace that was read: where its columns are kept; may be NULL */
    struct shelf *shelf; /* what was derived from it; NULL = nothing */
    enum trace_owed owed;
    uint32_t kinds; /* as in trace_options: what is asked of a whole trace from the cache */
    uint32_t cache_mib; /* as in trace_options */
};

/* shelf.c */
void shelf_free(struct trace_own *own);
/* trace.c: own.table_lanes from the lanes. 0, or -1 without memory. */
int trace_index_lanes(struct trace *trace);
/* The file and its path; the trace shares it. */
void trace_set_file(struct trace *trace, struct store_file *file);

/* An instance of a GPU that is cut in several (MIG): a device of its own. */
struct mig_instance {
    int64_t id; /* of the device: that of the GPU for the first one, else a free one */
    int64_t gpu_id;
    const char *uuid; /* of the trace's texts */
    uint32_t uuid_len;
    int32_t sm_count; /* 0 = unknown */
};

/* Everything that is alive while loading. */
struct load {
    struct trace *trace;
    struct trace_own *own;
    struct store *store; /* the main thread's */
    bool keep; /* the trace is to be kept */
    bool again; /* not enough was read to tell which times cannot be */
    struct piece *pieces;
    uint32_t piece_count;
    struct strings *strings;
    int64_t lone_pid; /* the process of GPU rows that do not name one; 0: unknown */
    struct intern device_map; /* struct device_pair -> gpu_ids */
    int64_t *gpu_ids;
    struct mig_instance *migs; /* owned */
    uint32_t mig_count;
    int64_t free_id; /* no GPU has this id or a larger one */
};

/* strings.c: the StringIds ids in use and their texts (as numbers in trace_own.texts). */
struct strings;
struct strings *strings_new(void);
void strings_free(struct strings *strings);
/* Asks for an id (RAW_NO_ID is fine). -1: no memory. */
int strings_need(struct strings *strings, int64_t id);
/* One pass over StringIds. */
int strings_load(struct strings *strings, struct store *store, struct intern *texts,
                 struct err *err);
/* The text number of an id, INTERN_NONE where the file has no such row. */
uint32_t strings_text(const struct strings *strings, int64_t id);

/*
 * outliers.c: leaves out what cannot be, and sets nvtx_end_ns. partial: not all tables were read;
 * *again: they must be, to tell. 0, or -1 without memory.
 */
int outliers_drop(struct load *load, bool partial, bool *again, struct err *err);

/* processes.c: fills trace->processes, threads, devices, and the counts of the trace. */
int people_collect(struct load *load, struct err *err);
/* Names of processes, threads and devices; after strings_load. */
int people_need_names(struct load *load, struct err *err);
int people_set_names(struct load *load, struct err *err);
/* A track of a piece with its process, thread and device found. */
struct track people_track(const struct load *load, const struct raw_track *raw);

/* names.c: asks for the ids; builds trace->names and every piece's name_map. */
int names_need(struct load *load, struct err *err);
int names_build(struct load *load, struct err *err);
/* api_flags.c: enum trace_api_flag bits of a call by its name without version suffix. */
uint16_t api_flags(const char *name, size_t len);
/* The length of an API name without its _v and four or more digits. */
size_t api_brief_len(const char *name, size_t len);

static inline enum trace_table raw_table_of(const struct piece *piece)
{
    return RAW_TABLES[piece->source].table;
}

/* tracks.c: the tracks of a table in the order of lanes (*tracks is the caller's), and track_map of
 * its pieces. -1: no memory. */
int tracks_join(struct load *load, enum trace_table table, struct track **tracks, uint32_t *count);

/* arrange.c: one table's lanes and columns. Tables are independent: any thread may arrange one. */
struct arranged {
    struct trace_lane *lanes; /* owned; first, count and all else set */
    uint32_t lane_count;
};
int arrange_table(struct load *load, enum trace_table table, struct arranged *out, struct err *err);

/* layout.c: lanes of one track. order: count event numbers sorted by begin, longest first. Sets
 * depth[event] and returns the number of lanes; 0 without memory. */
uint32_t layout_nested(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth);
uint32_t layout_packed(const int64_t *end_ns, const int64_t *begin_ns, const uint32_t *order,
                       uint32_t count, uint32_t *depth);

/* link.c: correlation ids in events[GPU/API].link become links. */
int link_launches(struct load *load, struct err *err);

/* check.c: what of the model is not as trace.h promises, in a word; NULL where all is. For a model that
 * was not made by this program just now. O(n). */
const char *trace_broken(const struct trace *trace);
/* The part of it that looks at counts, names and lanes alone. O(names + lanes). */
const char *trace_frame_broken(const struct trace *trace);

/* busy.c: gpu_busy_ns and the union of every device. */
int busy_build(struct trace *trace, struct trace_own *own, struct err *err);
void busy_free_unions(struct trace_own *own, uint32_t device_count);

static inline struct trace_own *trace_own(const struct trace *trace)
{
    return trace->own;
}

#endif
