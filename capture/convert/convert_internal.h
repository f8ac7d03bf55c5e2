/* What the parts of the converter share; only convert*.c include it. */
#ifndef CUTLINE_CAPTURE_CONVERT_CONVERT_INTERNAL_H
#define CUTLINE_CAPTURE_CONVERT_CONVERT_INTERNAL_H

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/store/writer.h"
#include "capture/convert/convert.h"
#include "capture/convert/convert_clock.h"
#include "capture/convert/convert_demangle.h"
#include "capture/convert/convert_sorter.h"
#include "capture/spool/session.h"
#include "capture/spool/spool.h"

/* Rows of one kind are sorted together; the order is that of writing. */
enum convert_stream {
    CONVERT_API,
    CONVERT_KERNEL,
    CONVERT_MEMCPY,
    CONVERT_MEMSET,
    CONVERT_GRAPH,
    CONVERT_SYNC,
    CONVERT_EVENT,
    CONVERT_OVERHEAD,
    CONVERT_MEMORY,
    CONVERT_POOL,
    CONVERT_UM_CPU_FAULT,
    CONVERT_UM_GPU_FAULT,
    CONVERT_NVTX,
    CONVERT_STREAMS
};

/* A text that a process registered, by its id in the spool. */
struct convert_string {
    const char *text; /* NULL: no such id */
    size_t len;
    uint64_t address; /* where it was read from; 0: not known */
    int64_t id; /* of StringIds; 0: not asked yet */
    int64_t full; /* likewise of the demangled name */
    int64_t brief;
};

/* Where a registered text was read from. */
struct convert_address {
    uint64_t address;
    uint32_t string; /* id */
};

struct convert_name {
    int64_t mangled;
    int64_t full;
    int64_t brief;
};

/* A context's device, for records that name only the context. */
struct convert_context {
    uint32_t context;
    uint32_t device;
};

/* An executable CUDA graph and the graph that it was made from. */
struct convert_exec {
    uint32_t graph;
    uint32_t exec;
};

/* A stretch of the time line in which events were wanted. */
struct convert_interval {
    int64_t begin_ns;
    int64_t end_ns;
};

/* A name that was given to something in a process: a category, a thread by NVTX or by the system. */
struct convert_label {
    uint16_t kind; /* enum spool_meta_kind */
    uint32_t domain;
    uint64_t id;
    uint32_t order; /* in which they were given */
    const char *text;
    size_t len;
};

/* One spool. */
struct convert_proc {
    char *path;
    uint32_t index; /* in convert.procs and in result.processes */
    uint32_t pid;
    int64_t global_pid;
    int64_t correlation_base; /* added to correlation ids: apart for each image of one process */
    bool is_last_image; /* no later spool is of this process */
    uint32_t clock; /* enum spool_clock */
    uint64_t start_ticks;
    char host[64];
    int64_t created_mono_ns;
    int64_t sealed_mono_ns; /* 0: not sealed */
    int64_t created_real_ns; /* at the moment of created_mono_ns */
    char job[SPOOL_JOB_COUNT][136]; /* its place in a job, as the environment has it; "" */
    uint64_t last_event; /* the time of its last NVTX record, in its clock; 0: none */
    int64_t last_loss_mono_ns; /* when something was lost; 0: never */
    bool nvtx_disorder; /* its NVTX records have to be sorted before they are paired */
    struct arena arena;
    struct convert_string *strings; /* by id */
    size_t strings_cap;
    struct convert_address *addresses; /* sorted; made when first needed */
    uint32_t addresses_n;
    struct convert_interval *ranges; /* its capture ranges, in order; owned */
    size_t ranges_count;
    size_t ranges_cap;
    struct convert_label *labels; /* when settled: one for each object */
    uint32_t labels_count;
    size_t labels_cap;
    const char *command; /* words, each ended by a zero byte; NULL: not known */
    size_t command_len;
    uint32_t *domains; /* id in the file, by id in the spool */
    uint32_t domains_n;
    struct convert_context *contexts;
    uint32_t contexts_n;
    struct convert_exec *execs;
    uint32_t execs_n;
    struct clock_map cupti; /* CUPTI's clock, where it is not CLOCK_REALTIME */
    bool cupti_own_clock;
    uint32_t rival; /* enum spool_rival: another profiler took CUPTI's buffers */
    int64_t rival_ns; /* when it was noticed, on the time line */
    bool rival_counted; /* what was launched since is in the losses */
    char rival_name[48];
};

/* Counts of one reason, before they are rows of CUTLINE_LOSS. */
struct convert_lost {
    uint32_t proc;
    const char *kind; /* static */
    const char *reason; /* static */
    uint64_t count;
    int64_t first_ns; /* on the time line; INT64_MIN: not known */
    int64_t last_ns;
    bool harmless;
};

/* Names of NVTX domains are numbered for each process, whatever the images of it called them. */
struct convert_domain {
    uint32_t pid;
    uint32_t id;
    const char *name; /* in convert.arena */
    size_t len;
    bool written; /* its row of NVTX_EVENTS */
};

struct convert {
    const struct convert_opts *opts;
    struct convert_result *result;
    struct store_writer *writer;
    struct session_config config;
    struct session_control *control; /* NULL: not there */
    struct convert_proc *procs;
    size_t procs_n;
    size_t procs_cap;
    struct clock_map real; /* CLOCK_REALTIME to CLOCK_MONOTONIC */
    struct clock_map tsc;
    int64_t zero_mono_ns; /* time 0 */
    int64_t zero_real_ns;
    int64_t end_ns; /* of the session, on the time line */
    int64_t low_ns; /* what begins before or ends after these is not of our clock */
    int64_t high_ns;
    struct convert_interval *intervals; /* from the log of the control page; owned */
    size_t intervals_n;
    struct sorter *sorters[CONVERT_STREAMS];
    struct demangle demangle;
    struct arena arena;
    struct convert_lost *lost;
    size_t lost_n;
    size_t lost_cap;
    struct convert_domain *domains;
    size_t domains_n;
    size_t domains_cap;
    struct intern gpus; /* UUIDs: the id is the number of the GPU */
    uint64_t names; /* rows of NVTX_EVENTS that only name something */
    int64_t bad_times; /* rows of CUTLINE_BAD_TIME */
    struct buf scratch;
    struct buf scratch2;
    int64_t *call_ids[2]; /* StringIds of driver and runtime calls by number; 0: not asked yet */
    uint64_t done_bytes;
    uint64_t all_bytes;
};

#define CONVERT_NO_TIME INT64_MIN

/* ---- convert.c ------------------------------------------------------------------------------- */

/* A sorter with its share of the memory. NULL: no memory. */
struct sorter *convert_sorter_new(const struct convert *c, unsigned shares);

/* ---- convert_time.c: the time line ------------------------------------------------------------ */

/* Time 0: the making of the session, or of the first spool where its page is lost. Call once the
 * spools are found. */
int convert_time_begin(struct convert *c, struct err *err);

/* Makes the clocks usable and finds the end, once all anchors are learned. */
int convert_time_end(struct convert *c, struct err *err);

/* The time of an NVTX record of a process on the time line. */
int64_t convert_time_nvtx(struct convert *c, const struct convert_proc *proc, uint64_t time);

/* An event reaches to END_NS: so does the capture, where its end is not known otherwise. */
void convert_time_reach(struct convert *c, int64_t end_ns);

/* ---- convert_text.c: texts and names --------------------------------------------------------- */

/* A cell of text that is valid UTF-8: what is not is replaced by U+FFFD. Valid until the next call
 * with the same scratch. */
struct store_cell convert_text(struct buf *scratch, const char *text, size_t len);

/* The id in StringIds of a text, made valid. */
int convert_string_id(struct convert *c, const char *text, size_t len, int64_t *id,
                      struct err *err);

/* Keeps a registered text of a process. Ids that make no sense are counted as damage. */
int convert_string_add(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                       struct err *err);

/* The registered text of an id; NULL where it is not there. */
struct convert_string *convert_string_of(struct convert_proc *proc, uint64_t id);

/* The names of a kernel from the name field of its record. */
int convert_kernel_name(struct convert *c, struct convert_proc *proc, uint64_t field,
                        struct convert_name *name, struct err *err);

/* The name of a CUDA call. */
int convert_call_name(struct convert *c, bool runtime, uint32_t cbid, int64_t *id, struct err *err);

/* What to count as lost: kind and reason are static texts; at_ns is where on the time line, or
 * CONVERT_NO_TIME. */
struct convert_fault {
    const char *kind;
    const char *reason;
    uint64_t count;
    int64_t at_ns;
};
#define CONVERT_FAULT(what, why, many, when) \
    ((struct convert_fault){.kind = (what), .reason = (why), .count = (many), .at_ns = (when)})

/* Counts a loss of a process. Returns 0, or -1: no memory. */
int convert_lose(struct convert *c, uint32_t proc, struct convert_fault fault, struct err *err);

/* Marks a counted reason as no loss. */
void convert_harmless(struct convert *c, uint32_t proc, const char *kind, const char *reason,
                      bool harmless);

/* ---- convert_meta.c: what describes ---------------------------------------------------------- */

/* One META or LOSS item in the first pass: strings, domains, anchors, statuses, contexts. */
int convert_meta_learn(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                       struct err *err);

/* The same item in the second pass: rows of what it describes. */
int convert_meta_rows(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err);

/* ---- convert_range.c: capture ranges ----------------------------------------------------------- */

/* A status about the capture range of a process, in the first pass. */
int convert_range_learn(struct convert *c, struct convert_proc *proc, const struct spool_meta *head,
                        struct err *err);

/* Whether an event of a process from begin to end touches a stretch in which it was wanted; true
 * where that is not known. O(log stretches). */
bool convert_wanted(const struct convert *c, const struct convert_proc *proc, int64_t begin_ns,
                    int64_t end_ns);

/* ---- convert_names.c: names of processes, threads and categories ------------------------------- */

/* A META item that names something, in the first pass; settle takes the names that count, once all
 * are there. */
int convert_name_learn(struct convert_proc *proc, const struct spool_item *item, struct err *err);
void convert_names_settle(struct convert *c, struct convert_proc *proc);

/* Rows of NVTX_EVENTS for the names that NVTX gave in a process. */
int convert_name_rows(struct convert *c, const struct convert_proc *proc, struct err *err);

/* The rows of ThreadNames: one for each thread. */
int convert_thread_names(struct convert *c, struct err *err);

/* The command line for a shell; "" where it is not known. */
void convert_command_line(const struct convert_proc *proc, struct buf *out);

/* ---- convert_job.c: the place of processes in a job --------------------------------------------- */

void convert_job_learn(struct convert_proc *proc, const struct spool_item *item);

/* The rows of CUTLINE_RANK: one for each process, with its last image. */
int convert_job_rows(struct convert *c, struct err *err);

/* ---- convert_memory.c ---------------------------------------------------------------------------- */

/* The memory that this process may use: the machine's, or less by its control group or RLIMIT_AS. */
uint64_t convert_memory_bytes(void);

/* The limit of the groups that the file GROUPS names (/proc/self/cgroup), which lie in the folder
 * ROOT, of either version; UINT64_MAX: none. */
uint64_t convert_memory_group(const char *groups, const char *root);

/* ---- convert_graph.c: where CUDA graphs come from -------------------------------------------- */

/* A status about a graph: in the first pass, and as a row in the second. */
int convert_graph_learn(struct convert_proc *proc, const struct spool_item *item, struct err *err);
int convert_graph_row(struct convert *c, const struct convert_proc *proc,
                      const struct spool_item *item, struct err *err);

/* The graph and the executable graph that the id of a launch means: it may be of either. Both are
 * the id itself where nothing more is known. */
struct convert_exec convert_graph_of(const struct convert_proc *proc, uint32_t id);

/* ---- convert_nvtx.c -------------------------------------------------------------------------- */

struct convert_pairs;

/* Pairs the NVTX records of one process; NULL: no memory. */
struct convert_pairs *convert_pairs_new(struct convert *c, struct convert_proc *proc);
int convert_pairs_add(struct convert_pairs *pairs, const struct spool_item *item, struct err *err);
/* What is open now stays open; frees in any case. */
int convert_pairs_end(struct convert_pairs *pairs, struct err *err);
void convert_pairs_free(struct convert_pairs *pairs);

/* A name that NVTX gave to a domain, category or thread: a row of NVTX_EVENTS. */
int convert_nvtx_name(struct convert *c, const struct convert_proc *proc, int event_type,
                      const struct convert_label *label, struct err *err);

/* The row of a sorted record. */
int convert_nvtx_row(struct convert *c, const void *data, uint32_t bytes, struct err *err);

/* ---- convert_cupti.c ------------------------------------------------------------------------- */

int convert_cupti_add(struct convert *c, struct convert_proc *proc, const struct spool_item *item,
                      struct err *err);

/* A CUPTI record of a metadata kind, in either pass. */
int convert_cupti_learn(struct convert *c, struct convert_proc *proc, uint32_t kind,
                        const void *record, uint32_t bytes, struct err *err);
int convert_cupti_describe(struct convert *c, struct convert_proc *proc, uint32_t kind,
                           const void *record, uint32_t bytes, struct err *err);

/* The device of a context; 0 where it is not known. */
uint32_t convert_context_device(const struct convert_proc *proc, uint32_t context);

/* Name of a kind of CUPTI record for people: "kernel", "memcpy". Static. */
const char *convert_cupti_kind(uint32_t number);

/* What a sorted CUPTI record begins with; the raw record follows. */
struct convert_event {
    uint32_t proc;
    uint32_t kind; /* of CUPTI */
    uint32_t bytes;
    uint32_t untimed; /* it has no place on the time line, and a row all the same */
    int64_t start;
    int64_t end;
};

/* The row of a sorted record. */
int convert_cupti_row(struct convert *c, const void *data, uint32_t bytes, struct err *err);

/* ---- convert_metrics.c: samples of the GPUs, where the launcher took them ------------------- */

int convert_metrics(struct convert *c, struct err *err);

/* ---- convert_tables.c: tables that are made at the end --------------------------------------- */

int convert_tables(struct convert *c, struct err *err);

#endif
