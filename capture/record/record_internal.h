/* What the parts of the launcher's run share; only record*.c include it. */
#ifndef CUTLINE_CAPTURE_RECORD_RECORD_INTERNAL_H
#define CUTLINE_CAPTURE_RECORD_RECORD_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/record/record.h"
#include "capture/record/record_ranges.h"
#include "capture/record/reserve.h"
#include "capture/record/tree.h"

enum {
    STATUS_NOT_RUNNABLE = 126,
    STATUS_NOT_FOUND = 127,
    STATUS_SIGNAL = 128
};

/* The conversion, in a thread of its own: the signals of the run are heard meanwhile. */
struct conversion {
    pthread_t thread;
    bool runs; /* begun and not collected */
    bool over; /* collected; a session is converted once */
    bool live; /* of a recording that this launcher made */
    int done[2]; /* readable at its end */
    int status;
    struct err err;
    const char *dir;
    _Atomic bool leave; /* end it: the session is kept */
    _Atomic bool shown; /* nothing else goes on: its progress may be shown */
};

/* One recording. */
struct run {
    const struct record_opts *opts;
    struct record_result *result;
    struct record_session session;
    struct gpu_metrics *metrics; /* samples of GPUs; NULL: none */
    struct record_reserved name;
    struct record_ranges ranges;
    struct record_tree tree; /* once the command has ended: what is waited for */
    struct conversion conversion;
    sigset_t old_mask;
    struct sigaction old_child;
    sigset_t wanted;
    int signals; /* descriptor of the wanted ones */
    pid_t pid;
    int release[2]; /* the command waits for a byte here before exec */
    int report[2]; /* errno of a failing exec comes here */
    int64_t go_ns; /* when the gate opens; 0: it is open */
    int64_t stop_ns; /* when it closes; 0: never */
    int64_t flush_ns; /* the duration is over: until when CUPTI's last records are waited for */
    int64_t kill_ns; /* when SIGKILL follows; 0: nothing was sent */
    int64_t main_end_ns; /* when the command ended; 0: it runs */
    int interrupts; /* Ctrl-C so far */
    bool stopped; /* the recording is over */
    bool give_up; /* do not wait for what still runs */
    bool lingered; /* it was said that we wait */
    bool waited; /* all waiting for processes is over */
};

void record_say(const struct run *run, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* ---- record_child.c -------------------------------------------------------------------------- */

extern const char record_cuda_variable[];
extern const char record_nvtx_variable[];

bool record_wants_nvtx(const struct session_config *config);

/* Makes the command's process, which waits. Returns 0, or -1. */
int record_child_start(struct run *run, struct err *err);

/* Lets it go on to its exec. Returns 0, or -1: it could not be run. */
int record_child_release(struct run *run, struct err *err);

/* Closes the pipes to it; one that was not released ends. */
void record_child_close(struct run *run);

/* ---- record_wait.c --------------------------------------------------------------------------- */

/* Blocks the signals that are taken one by one. Returns 0, or -1. */
int record_signals_block(struct run *run, struct err *err);
void record_signals_restore(struct run *run);

/* Opens the gate now or at the end of --delay, and sets when it closes. */
void record_gate_open(struct run *run);

/* Closes it; does nothing the second time. */
void record_stop(struct run *run);

/* Waits for the command and all its processes, does what signals and timers ask for. */
void record_wait(struct run *run);

/* Waits for the conversion. */
void record_wait_conversion(struct run *run);

/* ---- record_convert.c ------------------------------------------------------------------------ */

/* Begins to convert the session folder dir; at most once. */
void record_convert_begin(struct run *run, const char *dir, bool live);

/* Takes the result where the conversion has ended, and tells it. */
void record_convert_collect(struct run *run);

#endif
