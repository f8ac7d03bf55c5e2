/* The command's process: made first, so that its id is known, and let go when all is ready. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/record/record_internal.h"

const char record_cuda_variable[] = "CUDA_INJECTION64_PATH";
const char record_nvtx_variable[] = "NVTX_INJECTION64_PATH";

bool record_wants_nvtx(const struct session_config *config)
{
    return config->trace_nvtx || config->range == SESSION_RANGE_NVTX;
}

static void set_variable(void *arg, const char *name, const char *value)
{
    const char *have = getenv(name);
    (void)arg;
    if (have == NULL || strtol(have, NULL, 10) < strtol(value, NULL, 10)) {
        (void)setenv(name, value, 1);
    }
}

/* POSIX wants it declared by the program. */
extern char **environ;

static void child_environment(const struct run *run)
{
    static char *nothing[] = {NULL};
    if (run->opts->clear_env) {
        environ = nothing;
    }
    for (int i = 0; i < run->opts->env_n; i++) {
        const char *equals = strchr(run->opts->env[i], '=');
        char name[256];
        if (equals && (size_t)(equals - run->opts->env[i]) < sizeof name) {
            (void)snprintf(name, sizeof name, "%.*s", (int)(equals - run->opts->env[i]),
                           run->opts->env[i]);
            (void)setenv(name, equals + 1, 1);
        }
    }
    record_libraries_each(&run->opts->libraries, set_variable, NULL);
    if (run->opts->config.trace_cuda) {
        (void)setenv(record_cuda_variable, run->session.library, 1);
    }
    if (record_wants_nvtx(&run->opts->config)) {
        (void)setenv(record_nvtx_variable, run->session.library, 1);
    }
}

/* Runs in the child; does not return. */
static void child(struct run *run)
{
    char byte;
    ssize_t got;
    (void)close(run->release[1]);
    (void)close(run->report[0]);
    do {
        got = read(run->release[0], &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(STATUS_NOT_RUNNABLE); /* the launcher gave up, or died */
    }
    if (!run->opts->show_output) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0) {
            (void)dup2(null, STDOUT_FILENO);
            (void)dup2(null, STDERR_FILENO);
            (void)close(null);
        }
    }
    child_environment(run);
    (void)sigaction(SIGCHLD, &run->old_child, NULL);
    (void)sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
    (void)execvp(run->opts->argv[0], run->opts->argv);
    int code = errno;
    ssize_t wrote = write(run->report[1], &code, sizeof code);
    _exit(wrote < 0 || code == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE);
}

int record_child_start(struct run *run, struct err *err)
{
    if (pipe(run->release) != 0 || pipe(run->report) != 0) {
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(run->release[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(run->report[i], F_SETFD, FD_CLOEXEC);
    }
    run->pid = fork();
    if (run->pid < 0) {
        return err_set(err, "cannot start a process: %s", strerror(errno));
    }
    if (run->pid == 0) {
        child(run);
    }
    (void)close(run->release[0]);
    (void)close(run->report[1]);
    run->release[0] = -1;
    run->report[1] = -1;
    run->result->pid = run->pid;
    return 0;
}

int record_child_release(struct run *run, struct err *err)
{
    int code = 0;
    ssize_t got;
    if (write(run->release[1], "", 1) != 1) {
        return err_set(err, "cannot start '%s': %s", run->opts->argv[0], strerror(errno));
    }
    (void)close(run->release[1]);
    run->release[1] = -1;
    do {
        got = read(run->report[0], &code, sizeof code);
    } while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof code) {
        run->result->status = code == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
        return err_set(err, "cannot run '%s': %s", run->opts->argv[0], strerror(code));
    }
    run->result->ran = true;
    return 0;
}

void record_child_close(struct run *run)
{
    for (int i = 0; i < 2; i++) {
        if (run->release[i] >= 0) {
            (void)close(run->release[i]);
        }
        if (run->report[i] >= 0) {
            (void)close(run->report[i]);
        }
        run->release[i] = -1;
        run->report[i] = -1;
    }
}
