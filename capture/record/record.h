/* The launcher: runs a command with the recorder in it and makes a capture of what it leaves.
 *
 *     record_check(opts, err)         what can be known to fail before anything runs
 *     record_run(opts, &result, err)  runs, waits, converts
 *     record_summary(opts, &result, out)
 *
 * The command gets its arguments, standard streams, working folder, process group and signal
 * dispositions as they are; its environment gets two variables more, CUDA_INJECTION64_PATH and
 * NVTX_INJECTION64_PATH, and those that --env-var names and that --trace needs of libraries. Nothing here prints: what a person should
 * see goes through opts->say. */
#ifndef CUTLINE_CAPTURE_RECORD_RECORD_H
#define CUTLINE_CAPTURE_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "capture/convert/convert.h"
#include "capture/record/record_libraries.h"
#include "capture/spool/session.h"

struct record_result;

struct record_opts {
    struct session_config config;
    struct record_libraries libraries;
    const char *gpu_metrics; /* which GPUs are sampled (gpu_metrics.h); NULL: none */
    int gpu_metrics_hz;
    const char *output; /* with macros; NULL: report%n */
    bool overwrite;
    int64_t delay_ns; /* before the recording begins */
    int64_t duration_ns; /* of the recording; 0: until the command ends */
    int kill_signal; /* sent to all when the duration or the capture range is over; 0: none */
    bool wait_primary; /* not for processes that the command leaves running */
    bool show_output; /* else the command's output goes to /dev/null */
    bool clear_env; /* the command gets env alone, not our environment */
    bool replace_injection; /* take the place of another injection library in the environment */
    const char
        *session_dir; /* where the session folder goes; NULL: TMPDIR, /tmp, or the output's */
    const char *const *env; /* NAME=VALUE for the command */
    int env_n;
    char *const *argv; /* the command, NULL-terminated; empty for --recover and --print-env */
    int argc;
    const char *recover; /* convert this session folder instead of running */
    void (*say)(void *arg, const char *line); /* one line for a person, without a newline */
    void *say_arg;
    /* As in convert.h; may be NULL. Called from a thread of the launcher, one call at a time. */
    int (*progress)(void *arg, uint64_t done, uint64_t all);
    void *progress_arg;
    /* The conversion ended, with result->written or an error: called once, before the command's end
     * where --duration is over before. May be NULL. */
    void (*finished)(void *arg, const struct record_result *result, const struct err *err);
    void *finished_arg;
};

struct record_result {
    int status; /* of the command, as a shell has it; 127 or 126 where it could not be run */
    bool ran; /* it was run */
    bool written; /* there is a capture */
    char *output; /* its name; owned */
    char *kept; /* the session folder, where it was kept for --recover; owned */
    pid_t pid; /* of the command */
    bool nobody; /* no process loaded the recorder */
    bool full; /* --max-size was reached */
    bool in_delay; /* it ended within --delay */
    struct convert_result converted;
};

/* What can be known before the command runs: another injection in the environment, the library, the
 * output's folder and name (where its macros do not need the command's pid). Returns 0, or -1. */
int record_check(const struct record_opts *opts, struct err *err);

/* Runs and records. Returns 0 if the recording is whole: result->status is the command's. -1 with
 * err where something of ours failed; result->ran says if the command ran all the same. The result
 * is to be freed in any case. */
int record_run(const struct record_opts *opts, struct record_result *result, struct err *err);

/* Converts the session folder opts->recover. Returns 0, or -1; the folder is left as it is. */
int record_recover(const struct record_opts *opts, struct record_result *result, struct err *err);

/* Makes a session that goes on without us: out gets shell lines that set the two variables, and how
 * to convert it. Returns 0, or -1. */
int record_print_env(const struct record_opts *opts, struct buf *out, struct err *err);

void record_result_free(struct record_result *result);

/* What a person wants to know at the end: lines with newlines, sanitised. */
void record_summary(const struct record_opts *opts, const struct record_result *result,
                    struct buf *out);

/* ---- record_name.c --------------------------------------------------------------------------- */

enum {
    RECORD_NUMBER_MAX = 100000 /* of %n */
};

/* True if the name has %p: then it is known only once the command's process is there. */
bool record_name_needs_pid(const char *pattern);

/* Expands %h (host), %p (pid), %n (*number), %q{ENV} and %%, and adds ".sqlite" where there is
 * none; where there is a %n, *number becomes the next one. Returns the name, to be freed, or NULL:
 * an unknown macro, a variable that is not set. */
char *record_name(const char *pattern, pid_t pid, int *number, struct err *err);

/* Whether a file of that name could be made: its folder is there and may be written to. 0 or -1. */
int record_name_place(const char *path, struct err *err);

/* The pattern where none was given: report%n, with the rank behind it in a job of several
 * processes. To be freed; NULL without memory. */
char *record_name_default(void);

/* ---- record_session.c ------------------------------------------------------------------------ */

struct record_session {
    char *dir;
    char *library; /* in dir */
    struct session_control *control;
};

/* The folder of the recorder's library: beside the program, or ../lib/cutline. To be freed. */
char *record_library(struct err *err);

/* Whether the library can be loaded from that path: tried in a child. Returns 0, or -1 with the
 * loader's reason. */
int record_library_loads(const char *path, struct err *err);

/* Makes the folder, settings, control page and library of a session. near is the output's folder.
 * Returns 0, or -1 with nothing left behind. */
int record_session_make(const struct record_opts *opts, const char *near,
                        struct record_session *session, struct err *err);

/* True if the folder is on a file system in memory: what is spooled there takes memory. */
bool record_session_in_memory(const char *dir);

/* Removes the folder and what is in it. */
void record_session_remove(const char *dir);
/* Removes all but the library, for processes that go on and may still load it. */
void record_session_strip(const char *dir);
void record_session_free(struct record_session *session);

#endif
