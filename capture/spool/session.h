/*
 * The session folder: what the launcher gives to the injected library, and how both talk while the
 * command runs.
 *
 * Layout of SESSION_DIR (mode 0700, made by the launcher):
 *   libcutline_inject.so      a copy of (or link to) the injected library. CUDA_INJECTION64_PATH
 * and NVTX_INJECTION64_PATH both name this file. The library finds the folder from its own path
 * (dladdr), so no other variable is set in the command's environment. config "key=value" lines, see
 * session_config_write; read once by each process. control                   one struct
 * session_control, mapped shared by the launcher and by every process. ring: with --ring, see
 * capture/spool/ring.h. HOST.PID.START.N.spool one
 * spool for each process (capture/spool/spool.h), made by the library at its first event.
 *
 * Order of use, launcher:
 *   session_config_init, fill in, session_config_write(dir); session_control_create(dir); copy the
 * library; start the command; session_control_set_gate(SESSION_GATE_GO) now or after --delay;
 * SESSION_GATE_STOP after --duration or on Ctrl-C; wait; read every *.spool with the reader of
 * capture/spool/spool.h; session_control_close.
 *
 * Protocol of the control page: `state` is the gate, changed by compare-and-swap alone. Whoever's
 * swap changes the COLLECT bit appends one entry to the log of transitions: it takes the index with
 * a fetch-add on `log_count`, fills the entry, and stores `ready` last with release order. A reader
 * takes entries whose `ready` is set (acquire). An entry that a killed process took and never filled
 * stays not ready and is skipped. Capture ranges are no matter of the page: each process opens and
 * closes its own (spool/ranges.h) and only says in its entry of `processes` how far it is, so that
 * the launcher knows when all are through. Everything else in the page is a counter.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_SESSION_H
#define CUTLINE_CAPTURE_SPOOL_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_LIBRARY "libcutline_inject.so"
#define SESSION_CONFIG "config"
#define SESSION_CONTROL "control"
#define SESSION_CONTROL_MAGIC UINT64_C(0x314c544354554c43)
#define SESSION_LOG_ENTRIES 64
#define SESSION_PROCESSES 2048
#define SESSION_DOMAINS_MAX 64
#define SESSION_TEXT_BYTES 256
#define SESSION_REASONS 64

/* Which API calls are recorded. */
enum session_api {
    SESSION_API_NONE, /* no API rows; kernels then have no correlation to a launch */
    SESSION_API_LAUNCH, /* only calls that put work on a GPU, and synchronisation ("light") */
    SESSION_API_ALL /* every runtime call but the chatty queries ("full") */
};

enum session_graph {
    SESSION_GRAPH_GRAPH,
    SESSION_GRAPH_NODE
};

/* What opens the capture range (-c). */
enum session_range {
    SESSION_RANGE_NONE,
    SESSION_RANGE_CUDA_PROFILER_API,
    SESSION_RANGE_NVTX
};

/* What the end of the capture range does (--capture-range-end). */
enum session_range_end {
    SESSION_RANGE_END_NONE, /* nothing: once open, collect until the end */
    SESSION_RANGE_END_STOP, /* collect one range, then stop for good */
    SESSION_RANGE_END_REPEAT /* collect range_repeat ranges (0: as many as come) */
};

/* How the domain list is read. */
enum session_domains {
    SESSION_DOMAINS_ALL,
    SESSION_DOMAINS_INCLUDE,
    SESSION_DOMAINS_EXCLUDE
};

/* The settings of one recording. Texts are UTF-8, cut at SESSION_TEXT_BYTES - 1. */
struct session_config {
    bool trace_cuda; /* default true */
    bool trace_nvtx; /* default true */
    bool driver_api; /* record driver API rows too; default false */
    bool memory_usage; /* --cuda-memory-usage: MEMORY2 and MEMORY_POOL records; default false */
    bool cuda_events; /* CUDA_EVENT records, where api is ALL; default true */
    bool event_times; /* when events were reached on the device (CUPTI 13.0); default false */
    bool um_cpu_faults; /* unified memory: page faults of the CPU, and migrations; default false */
    bool um_gpu_faults; /* likewise of GPUs */
    bool ring; /* --ring: max_size_bytes keeps the newest instead of the oldest data */
    enum session_api api; /* default SESSION_API_ALL */
    enum session_graph graph; /* default SESSION_GRAPH_GRAPH */
    enum session_range range; /* default SESSION_RANGE_NONE */
    enum session_range_end range_end; /* default SESSION_RANGE_END_STOP */
    uint32_t range_repeat; /* for REPEAT: how many ranges, 0 = no limit */
    uint32_t flush_interval_ms; /* own flush of CUPTI; 0 = never until the end; default 1000 */
    uint32_t
        exit_wait_ms; /* how long the end of a program waits for the last flush; default 5000 */
    uint64_t buffer_bytes; /* one CUPTI buffer; 0 = 4 MiB, or 1 MiB where CUPTI has a buffer per
                              thread */
    uint64_t buffers_max_bytes; /* what CUPTI wrote and waits to be taken over, in one process;
                                   beyond it records are dropped; default 128 MiB */
    uint64_t
        device_buffer_bytes; /* CUPTI's own buffers on a device: size, and how many at most; 0: as
                                     CUPTI has it */
    uint64_t device_buffers;
    uint64_t max_size_bytes; /* all spools of the session together; 0 = no limit */
    char range_message[SESSION_TEXT_BYTES]; /* for SESSION_RANGE_NVTX: the text of the range */
    char range_domain[SESSION_TEXT_BYTES]; /* its domain; "" = the default domain, "*" = any */
    char cupti_path[4096]; /* --cupti: this libcupti and no other; "" = search */
    enum session_domains domains_mode; /* default SESSION_DOMAINS_ALL */
    uint32_t domains_count;
    char domains[SESSION_DOMAINS_MAX][SESSION_TEXT_BYTES]; /* "default" names the default domain */
};

/* Bits of session_control.state. */
#define SESSION_STATE_COLLECT UINT64_C(1) /* the gate is GO */
#define SESSION_STATE_GATE_SHIFT 1 /* 2 bits, enum session_gate */

enum session_gate {
    SESSION_GATE_WAIT, /* not yet (--delay) */
    SESSION_GATE_GO, /* collect, or wait for the capture range */
    SESSION_GATE_STOP /* over for good (--duration, Ctrl-C) */
};

/* One change of the COLLECT bit. */
struct session_transition {
    int64_t real_ns; /* CLOCK_REALTIME */
    int64_t mono_ns; /* CLOCK_MONOTONIC */
    uint32_t pid; /* who did it */
    uint32_t collect; /* 1: began, 0: ended */
    atomic_uint ready;
    uint32_t reserved;
};

/* A process that has opened a capture range (spool/ranges.h). */
struct session_process {
    _Atomic uint32_t pid; /* 0: the entry is free */
    _Atomic uint32_t open; /* 1: its range is open */
    _Atomic uint32_t used_up; /* 1: it has recorded all the ranges that were wanted of it */
    _Atomic uint32_t done; /* ranges that it has recorded */
    _Atomic uint64_t start_ticks; /* when it started, as in the head of its spool */
};

/* The control page. Times of creation are one clock anchor, taken by the launcher. */
struct session_control {
    uint64_t magic; /* SESSION_CONTROL_MAGIC */
    uint32_t version; /* 1 */
    uint32_t launcher_pid;
    uint32_t range; /* enum session_range, fixed at creation */
    uint32_t range_end; /* enum session_range_end */
    uint32_t range_repeat;
    uint32_t reserved0;
    int64_t created_real_ns; /* CLOCK_REALTIME, CLOCK_MONOTONIC and TSC at one moment */
    int64_t created_mono_ns;
    uint64_t created_tsc; /* 0 where there is no TSC */
    _Atomic uint64_t state;
    _Atomic uint64_t spool_bytes; /* allocated by all processes: what max_size_bytes limits */
    _Atomic uint64_t processes_cuda; /* processes in which the CUDA driver loaded the library */
    _Atomic uint64_t processes_nvtx; /* processes in which NVTX loaded it */
    _Atomic uint64_t spools_failed; /* processes whose spool could not be made */
    /* of them, by enum spool_loss */
    _Atomic uint64_t spools_failed_by[SESSION_REASONS];
    _Atomic uint64_t full; /* 1 once max_size_bytes was reached and not ring */
    /* CUDA processes that a kill loses nothing of: they flushed CUPTI after collecting was over for
     * good, or ended, or never got to use it. Wait for it to reach processes_cuda, a second or two.
     */
    _Atomic uint64_t processes_flushed;
    _Atomic uint64_t log_count; /* may exceed SESSION_LOG_ENTRIES: the rest was not kept */
    struct session_transition log[SESSION_LOG_ENTRIES];
    _Atomic uint64_t ranges_opened; /* capture ranges, of all processes */
    _Atomic uint64_t ranges_done;
    /* Those that found no free entry record all the same; nobody waits for them. */
    struct session_process processes[SESSION_PROCESSES];
};

/* Fills in the defaults. */
void session_config_init(struct session_config *config);

/* Writes DIR/config, whole or not at all. Returns 0, or -1 with errno. */
int session_config_write(const struct session_config *config, const char *dir);

/* Reads DIR/config over the defaults; unknown keys are ignored. Returns 0, or -1 with errno
 * (ENOENT: no such file). */
int session_config_read(struct session_config *config, const char *dir);

/* Makes DIR/control for CONFIG with the gate at WAIT and maps it. NULL with errno on failure. */
struct session_control *session_control_create(const struct session_config *config,
                                               const char *dir);

/* Maps the DIR/control that is there (after --recover: read_only). NULL with errno on failure. */
struct session_control *session_control_open(const char *dir, bool read_only);

/* Unmaps; NULL is allowed. */
void session_control_close(struct session_control *control);

/* Moves the gate; logs the change if collecting began or ended by it. Any thread, any process, also
 * a signal handler. */
void session_control_set_gate(struct session_control *control, enum session_gate gate);

/* True while the gate is GO: events are kept, unless a capture range decides. */
static inline bool session_control_collecting(const struct session_control *control)
{
    return (atomic_load_explicit(&control->state, memory_order_relaxed) & SESSION_STATE_COLLECT) !=
           0;
}

/* True when the gate is STOP: nothing will be collected any more. */
bool session_control_stopped(const struct session_control *control);

/* Copies entry INDEX of the log to *OUT; false where there is none (or it was never filled). */
bool session_control_transition(const struct session_control *control, uint32_t index,
                                struct session_transition *out);

#endif
