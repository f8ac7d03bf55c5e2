/* The launcher's run: the name, the session, the command, the wait, the conversion. Its parts are in
 * record_child.c, record_wait.c and record_convert.c. */
#include "capture/record/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "capture/record/gpu_metrics.h"
#include "capture/record/record_internal.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static int check_variable(const char *name, bool wanted, bool replace, struct err *err)
{
    const char *value = getenv(name);
    if (!wanted || replace || !value || !*value || strcmp(value, "none") == 0) {
        return 0;
    }
    return err_set(err,
                   "%s is set to '%s': another tool would be replaced; unset it, or use "
                   "--replace-injection",
                   name, value);
}

int record_check(const struct record_opts *opts, struct err *err)
{
    bool replace = opts->replace_injection;
    if (check_variable(record_cuda_variable, opts->config.trace_cuda, replace, err) < 0 ||
        check_variable(record_nvtx_variable, record_wants_nvtx(&opts->config), replace, err) < 0) {
        return -1;
    }
    char *library = record_library(err);
    if (!library) {
        return -1;
    }
    free(library);
    return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

static struct run run_of(const struct record_opts *opts, struct record_result *result)
{
    return (struct run){
        .opts = opts,
        .result = result,
        .name = {.fd = -1},
        .signals = -1,
        .release = {-1, -1},
        .report = {-1, -1},
    };
}

/* The folder of the output, for a session that finds no other place. */
static char *folder_of(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slash ? strndup(pattern, (size_t)(slash - pattern) + 1) : strdup(".");
}

/* Reserves the name; pid is that of the command, 0 before it is there. */
static int reserve(struct run *run, const char *pattern, pid_t pid, struct err *err)
{
    if (record_reserve(pattern, pid, run->opts->overwrite, &run->name, err) < 0) {
        return -1;
    }
    run->result->output = strdup(run->name.path);
    return run->result->output ? 0 : err_nomem(err, "the output name");
}

/* Without NVML the command is recorded all the same. */
static void start_metrics(struct run *run)
{
    struct err err = {0};
    if (run->opts->gpu_metrics == NULL) {
        return;
    }
    run->metrics = gpu_metrics_start(run->session.dir, run->opts->gpu_metrics,
                                     run->opts->gpu_metrics_hz, &err);
    if (run->metrics == NULL) {
        record_say(run, "GPU metrics are not recorded: %s", err.text);
    }
}

static int begin(struct run *run, const char *pattern, struct err *err)
{
    bool needs_pid = record_name_needs_pid(pattern);
    if (!needs_pid && reserve(run, pattern, 0, err) < 0) {
        return -1;
    }
    char *near = folder_of(pattern);
    int result = near ? record_session_make(run->opts, near, &run->session, err)
                      : err_nomem(err, "the session");
    free(near);
    if (result < 0 || record_child_start(run, err) < 0) {
        return -1;
    }
    if (needs_pid && reserve(run, pattern, run->pid, err) < 0) {
        return -1;
    }
    if (record_session_in_memory(run->session.dir)) {
        record_say(run,
                   "the session folder '%s' is in memory (tmpfs): what is recorded takes memory "
                   "until the capture is written; name a folder on a disk with --session-dir",
                   run->session.dir);
    }
    start_metrics(run);
    record_gate_open(run);
    return record_child_release(run, err);
}

/* Removes the session, but for the library where a process that goes on still names it: nobody says
 * what the CUDA driver does where the file is gone. */
static void clean_up(struct run *run)
{
    if (!run->session.dir || run->result->kept) {
        return;
    }
    record_tree_find(&run->tree, run->session.dir);
    if (run->tree.count > 0) {
        record_session_strip(run->session.dir);
        record_say(run, "processes of the command go on: the recorder's library stays in '%s'",
                   run->session.dir);
    } else {
        record_session_remove(run->session.dir);
    }
}

static void convert(struct run *run, const char *dir, bool live)
{
    record_convert_begin(run, dir, live);
    record_wait_conversion(run);
}

static int run_pattern(struct run *run, const char *pattern, struct err *err)
{
    int status = -1;
    if (record_signals_block(run, err) < 0) {
        return -1;
    }
    if (begin(run, pattern, err) == 0) {
        record_wait(run);
        record_stop(run);
        convert(run, run->session.dir, true);
        status = run->conversion.status;
        /* a command that failed has the last word */
        run->result->status = status < 0 && run->result->status == 0 ? 1 : run->result->status;
    }
    record_child_close(run);
    gpu_metrics_stop(run->metrics);
    if (!run->result->ran && run->pid > 0) {
        (void)waitpid(run->pid, NULL, 0);
    }
    record_reserve_end(&run->name);
    clean_up(run);
    record_tree_free(&run->tree);
    record_session_free(&run->session);
    record_signals_restore(run);
    return status;
}

/* Calls each with the pattern of the output's name. */
static int with_pattern(struct run *run, struct err *err,
                        int (*each)(struct run *run, const char *pattern, struct err *err))
{
    char *pattern = run->opts->output ? strdup(run->opts->output) : record_name_default();
    int status = pattern ? each(run, pattern, err) : err_nomem(err, "the output name");
    free(pattern);
    return status;
}

int record_run(const struct record_opts *opts, struct record_result *result, struct err *err)
{
    struct run run = run_of(opts, result);
    *result = (struct record_result){.status = 1};
    return with_pattern(&run, err, run_pattern);
}

static int recover_pattern(struct run *run, const char *pattern, struct err *err)
{
    if (record_signals_block(run, err) < 0) {
        return -1;
    }
    run->waited = true;
    int status = reserve(run, pattern, getpid(), err);
    if (status == 0) {
        convert(run, run->opts->recover, false);
        status = run->conversion.status;
    }
    record_reserve_end(&run->name);
    record_signals_restore(run);
    return status;
}

int record_recover(const struct record_opts *opts, struct record_result *result, struct err *err)
{
    struct run run = run_of(opts, result);
    *result = (struct record_result){.ran = true};
    run.session.control = session_control_open(opts->recover, true);
    if (!run.session.control) {
        return err_set(err, "'%s' is no session folder of a recording", opts->recover);
    }
    int status = with_pattern(&run, err, recover_pattern);
    record_session_free(&run.session);
    return status;
}

static void print_variable(void *arg, const char *name, const char *value)
{
    buf_addf(arg, "export %s=", name);
    shell_quote(arg, value, strlen(value));
    buf_addc(arg, '\n');
}

int record_print_env(const struct record_opts *opts, struct buf *out, struct err *err)
{
    struct record_session session;
    if (record_session_make(opts, ".", &session, err) < 0) {
        return -1;
    }
    session_control_set_gate(session.control, SESSION_GATE_GO);
    if (opts->config.trace_cuda) {
        print_variable(out, record_cuda_variable, session.library);
    }
    if (record_wants_nvtx(&opts->config)) {
        print_variable(out, record_nvtx_variable, session.library);
    }
    record_libraries_each(&opts->libraries, print_variable, out);
    buf_adds(out, "# afterwards: cutline record --recover ");
    shell_quote_path(out, session.dir);
    buf_adds(out, " -o NAME\n");
    record_session_free(&session);
    return buf_failed(out) ? err_nomem(err, "the variables") : 0;
}

void record_result_free(struct record_result *result)
{
    convert_result_free(&result->converted);
    free(result->output);
    free(result->kept);
    *result = (struct record_result){0};
}
