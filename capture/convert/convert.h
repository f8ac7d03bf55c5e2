/* Makes a capture file from a session folder: reads every spool in it, puts all clocks on one time
 * line, pairs NVTX ranges, gives kernels their names, sorts, and writes the tables of an nsys
 * export through analysis/store/writer.h.
 *
 * Time 0 is the moment at which the session was made; the time line runs with CLOCK_MONOTONIC.
 * CUPTI's times (CLOCK_REALTIME, where nothing else was measured) and NVTX's (time stamp counter or
 * CLOCK_MONOTONIC) are brought to it by the anchors of all processes, piecewise linearly.
 *
 * Nothing in a spool makes a conversion fail: what cannot be placed on the time line (no timestamp,
 * a clock that is not ours) goes to CUTLINE_BAD_TIME instead of an event table, what ends before it
 * begins is stored with no length and noted there, and every loss is counted in CUTLINE_LOSS. Only
 * the output can fail: no space, no memory.
 *
 * Cost: O(n log n) for events out of order, O(n) in order; memory is bounded by the sort budget
 * (a quarter of the memory that the machine, the control group and RLIMIT_AS leave, 4 GiB at most;
 * less where the system gives no more), larger captures sort through a temporary file
 * without a name beside the output. */
#ifndef CUTLINE_CAPTURE_CONVERT_CONVERT_H
#define CUTLINE_CAPTURE_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"

struct convert_opts {
    const char *session; /* the folder with the spools */
    const char *output; /* the capture to make */
    bool overwrite; /* replace an existing one */
    bool live; /* this boot and this machine recorded it: read the clocks once more */
    const char *const *command; /* what was run, command_n words; kept in META_DATA_CAPTURE */
    int command_n;
    const char *target; /* where it ran, for META_DATA_CAPTURE; NULL: not known */
    uint64_t sort_bytes; /* memory for sorting; 0: see above */
    /* Called now and then; may be NULL. Nonzero ends the conversion with an error. */
    int (*progress)(void *arg, uint64_t done, uint64_t all);
    void *progress_arg;
};

/* One spool: a process, or one image of it where it called exec. */
struct convert_process {
    uint32_t pid;
    uint32_t ppid;
    uint32_t forked_from; /* 0, or the process it was forked from without exec */
    char name[64];
    bool sealed; /* it ended by its at-exit handler */
    bool running; /* it still runs */
    bool cuda_attached; /* the CUDA driver loaded the recorder */
    bool nvtx_attached;
    bool cupti_active; /* CUPTI delivered or could have */
    uint32_t cupti_version; /* 0: none was found */
    uint32_t cupti_result; /* the first failing result, 0: none */
    char note[200]; /* what to know about it, one line; "" */
    int64_t api_calls;
    int64_t kernels;
    int64_t copies;
    int64_t sets;
    int64_t graphs;
    int64_t syncs;
    int64_t memory; /* allocations, releases, and what is done to memory pools */
    int64_t nvtx; /* ranges and marks */
    int64_t open_ranges; /* of them: not closed when the process ended */
    int64_t recorder_ns; /* CPU time of the recorder's own thread; 0: not known */
};

/* The kind of a loss that is a whole process: its spool could not be made. */
#define CONVERT_LOSS_PROCESS "process"

/* What is missing, or not as it was. */
struct convert_loss {
    uint32_t pid; /* 0: not known */
    char kind[24];
    char reason[40];
    uint64_t count;
    bool harmless; /* asked for (capture range, API filter) or only a remark, not a loss */
};

/* An NVTX range that was seen while another one was waited for. */
struct convert_range {
    char text[96];
    char domain[48]; /* "" for the default domain */
};

enum {
    CONVERT_RANGES_MAX = 32
};

struct convert_result {
    struct convert_process *processes; /* owned */
    size_t processes_n;
    struct convert_loss *losses; /* owned */
    size_t losses_n;
    struct convert_range *ranges; /* owned; at most CONVERT_RANGES_MAX */
    size_t ranges_n;
    bool range_wanted; /* a capture range was set */
    bool range_opened;
    bool range_early; /* one was there before the delay had passed */
    uint64_t ranges_done; /* whole ones, of all processes */
    uint64_t range_processes; /* that opened one */
    size_t spools_bad; /* files that are no spool or could not be read */
    int64_t duration_ns;
    uint64_t events; /* rows of event tables */
    uint64_t file_bytes; /* of the capture */
    uint64_t spool_bytes; /* of what was read */
    double seconds; /* that it took */
};

/* Returns 0 with *result to be freed by convert_result_free, or -1 (then it needs no free). */
int convert_session(const struct convert_opts *opts, struct convert_result *result,
                    struct err *err);
void convert_result_free(struct convert_result *result);

#endif
