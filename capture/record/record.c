/* The launcher's run: start, signals, timers, the wait for the whole tree, the conversion.
 *
 * No signal handlers: the signals of interest are blocked and taken one by one with sigtimedwait,
 * so there is no state that a handler shares and nothing is missed between a check and a wait. The
 * command gets the mask that we had. With prctl(PR_SET_CHILD_SUBREAPER) processes whose parents are
 * gone become our children, and waiting for all children is waiting for the tree. */
#include "capture/record/record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "capture/record/record_ranges.h"
#include "capture/spool/clock.h"

enum {
    STATUS_NOT_RUNNABLE = 126,
    STATUS_NOT_FOUND = 127,
    STATUS_SIGNAL = 128,
    POLL_NS = 50000000, /* how often the capture range is looked at, where it matters */
    LINGER_NS = 2000000000, /* after so long, say that we wait for the rest */
    FLUSH_WAIT_NS = 2000000000, /* for CUPTI's last records, before the wanted signal */
    KILL_GRACE_NS = 2000000000 /* between the wanted signal and SIGKILL */
};

static const char cuda_variable[] = "CUDA_INJECTION64_PATH";
static const char nvtx_variable[] = "NVTX_INJECTION64_PATH";

/* Those that are passed on to the command; SIGCHLD is only for us. */
static const int passed_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                     SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};

struct run {
    const struct record_opts *opts;
    struct record_result *result;
    struct record_session session;
    struct record_ranges ranges;
    sigset_t old_mask;
    struct sigaction old_child;
    sigset_t wanted;
    pid_t pid;
    int release[2]; /* the command waits for a byte here before exec */
    int report[2]; /* errno of a failing exec comes here */
    int64_t go_ns; /* when the gate opens; 0: it is open */
    int64_t stop_ns; /* when it closes; 0: never */
    int64_t kill_ns; /* when SIGKILL follows; 0: nothing was sent */
    int64_t main_end_ns; /* when the command ended; 0: it runs */
    int interrupts; /* Ctrl-C so far */
    bool stopped; /* the recording is over */
    bool give_up; /* do not wait for what still runs */
    bool lingered; /* it was said that we wait */
};

static void say(const struct run *run, const char *text)
{
    if (run->opts->say) {
        run->opts->say(run->opts->say_arg, text);
    }
}

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

static bool wants_nvtx(const struct session_config *config)
{
    return config->trace_nvtx || config->range == SESSION_RANGE_NVTX;
}

int record_check(const struct record_opts *opts, struct err *err)
{
    const char *pattern = opts->output ? opts->output : "report%n";
    if (check_variable(cuda_variable, opts->config.trace_cuda, opts->replace_injection, err) < 0 ||
        check_variable(nvtx_variable, wants_nvtx(&opts->config), opts->replace_injection, err) <
            0) {
        return -1;
    }
    char *library = record_library(err);
    if (!library) {
        return -1;
    }
    free(library);
    if (record_name_needs_pid(pattern)) {
        return 0;
    }
    char *name = record_name(pattern, 0, opts->overwrite, err);
    free(name);
    return name ? 0 : -1;
}

/* ---- the command ----------------------------------------------------------------------------- */

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
        (void)setenv(cuda_variable, run->session.library, 1);
    }
    if (wants_nvtx(&run->opts->config)) {
        (void)setenv(nvtx_variable, run->session.library, 1);
    }
}

static void restore_signals(const struct run *run)
{
    (void)sigaction(SIGCHLD, &run->old_child, NULL);
    (void)sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
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
    restore_signals(run);
    (void)execvp(run->opts->argv[0], run->opts->argv);
    int code = errno;
    ssize_t wrote = write(run->report[1], &code, sizeof code);
    _exit(wrote < 0 || code == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE);
}

static int start_child(struct run *run, struct err *err)
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

/* Lets the child go on to its exec. Returns 0, or -1: it could not be run. */
static int release_child(struct run *run, struct err *err)
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

/* ---- the tree -------------------------------------------------------------------------------- */

struct link {
    pid_t pid;
    pid_t parent;
    bool ours;
};

/* Parent of a process; 0 where it is gone. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) {
        (void)fclose(file);
    }
    text[got] = '\0';
    const char *at = strrchr(text, ')'); /* then the state, then the parent */
    return at && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static size_t list_processes(struct link **links)
{
    size_t n = 0;
    size_t cap = 0;
    DIR *dir = opendir("/proc");
    *links = NULL;
    if (!dir) {
        return 0;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        if (n == cap) {
            cap = cap ? cap * 2 : 256;
            struct link *grown = realloc(*links, cap * sizeof *grown);
            if (!grown) {
                break;
            }
            *links = grown;
        }
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        (*links)[n++] = (struct link){.pid = pid, .parent = parent_of(pid)};
    }
    (void)closedir(dir);
    return n;
}

/* Sends a signal to every process below this one. */
static void signal_tree(int signal)
{
    struct link *links;
    size_t n = list_processes(&links);
    pid_t self = getpid();
    bool found = true;
    while (found) {
        found = false;
        for (size_t i = 0; i < n; i++) {
            bool below = links[i].parent == self;
            for (size_t k = 0; k < n && !below; k++) {
                below = links[k].ours && links[k].pid == links[i].parent;
            }
            if (below && !links[i].ours) {
                links[i].ours = true;
                found = true;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (links[i].ours) {
            (void)kill(links[i].pid, signal);
        }
    }
    free(links);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static int shell_status(int status)
{
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Takes all processes that ended. True while some are left to wait for. */
static bool reap(struct run *run)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) {
            return run->main_end_ns == 0 || !run->opts->wait_primary;
        }
        if (pid < 0 && errno == EINTR) {
            continue;
        }
        if (pid < 0) {
            return false;
        }
        if (pid == run->pid) {
            run->result->status = shell_status(status);
            run->main_end_ns = clock_read_ns(CLOCK_MONOTONIC);
        }
    }
}

static void stop_recording(struct run *run)
{
    if (!run->stopped) {
        run->stopped = true;
        run->result->in_delay = run->go_ns != 0;
        run->go_ns = 0;
        run->stop_ns = 0;
        session_control_set_gate(run->session.control, SESSION_GATE_STOP);
    }
}

/* Waits until the processes have fetched what CUPTI still held, which a kill would lose. */
static void wait_for_flush(const struct run *run)
{
    const struct session_control *control = run->session.control;
    int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + FLUSH_WAIT_NS;
    while (atomic_load(&control->processes_flushed) < atomic_load(&control->processes_cuda) &&
           clock_read_ns(CLOCK_MONOTONIC) < until_ns) {
        struct timespec little = {0, 5000000};
        (void)nanosleep(&little, NULL);
    }
}

/* The end of the duration, or of the last capture range. */
static void finish_recording(struct run *run, int64_t now_ns)
{
    stop_recording(run);
    if (run->opts->kill_signal && !run->kill_ns) {
        wait_for_flush(run);
        now_ns = clock_read_ns(CLOCK_MONOTONIC);
        signal_tree(run->opts->kill_signal);
        run->kill_ns = now_ns + KILL_GRACE_NS;
    }
}

static void do_timers(struct run *run)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (run->go_ns && now_ns >= run->go_ns) {
        run->go_ns = 0;
        session_control_set_gate(run->session.control, SESSION_GATE_GO);
    }
    bool range_over = run->opts->kill_signal && run->opts->config.range != SESSION_RANGE_NONE &&
                      !run->stopped &&
                      record_ranges_over(&run->ranges, run->session.control, now_ns);
    if (range_over || (run->stop_ns && now_ns >= run->stop_ns)) {
        finish_recording(run, now_ns);
    }
    if (run->kill_ns && now_ns >= run->kill_ns) {
        signal_tree(SIGKILL);
        run->kill_ns = now_ns + KILL_GRACE_NS;
    }
    if (run->main_end_ns && !run->lingered && now_ns - run->main_end_ns >= LINGER_NS) {
        run->lingered = true;
        say(run, "waiting for processes that the command left running; Ctrl-C stops the waiting");
    }
}

/* The time until the next thing to do; -1: nothing is to come. */
static int64_t next_timer_ns(const struct run *run)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    bool range = run->opts->kill_signal && run->opts->config.range != SESSION_RANGE_NONE;
    const int64_t times[] = {
        run->go_ns,
        run->stop_ns,
        run->kill_ns,
        run->main_end_ns && !run->lingered ? run->main_end_ns + LINGER_NS : 0,
        range && !run->stopped ? now_ns + POLL_NS : 0,
    };
    int64_t least = -1;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t left = times[i] > now_ns ? times[i] - now_ns : 0;
        if (times[i] && (least < 0 || left < least)) {
            least = left;
        }
    }
    return least;
}

/* One signal: Ctrl-C ends the recording; all but those that the terminal sent to the command as
 * well are passed on. */
static void take_signal(struct run *run, const siginfo_t *info)
{
    bool by_terminal = info->si_code == SI_KERNEL;
    if (info->si_signo == SIGCHLD) {
        return;
    }
    if (info->si_signo == SIGINT || info->si_signo == SIGTERM || info->si_signo == SIGHUP) {
        stop_recording(run);
        run->interrupts++;
        run->give_up = run->interrupts > 1 || (run->main_end_ns && run->lingered);
    }
    if (!by_terminal && run->main_end_ns == 0) {
        (void)kill(run->pid, info->si_signo);
    }
}

static void wait_for_signal(struct run *run)
{
    siginfo_t info;
    int64_t ns = next_timer_ns(run);
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                                  .tv_nsec = (long)(ns % 1000000000)};
    int got = ns < 0 ? sigwaitinfo(&run->wanted, &info) : sigtimedwait(&run->wanted, &info, &time);
    if (got > 0) {
        take_signal(run, &info);
    }
}

static void wait_for_all(struct run *run)
{
    while (reap(run) && !run->give_up) {
        wait_for_signal(run);
        do_timers(run);
    }
    if (run->main_end_ns == 0) {
        run->result->status = STATUS_SIGNAL + SIGINT; /* given up: the command still runs */
    }
}

/* Whether some process still has our library in its environment: it must then stay, since nobody
 * says what the CUDA driver does where the file is gone. */
static bool still_named(const char *library)
{
    struct link *links;
    size_t n = list_processes(&links);
    pid_t self = getpid();
    bool found = false;
    struct buf text = {0};
    for (size_t i = 0; i < n && !found; i++) {
        char path[64];
        char part[4096 / 2];
        size_t got;
        (void)snprintf(path, sizeof path, "/proc/%ld/environ", (long)links[i].pid);
        FILE *file = links[i].pid == self ? NULL : fopen(path, "re");
        buf_reset(&text);
        while (file && (got = fread(part, 1, sizeof part, file)) > 0) {
            buf_add(&text, part, got);
        }
        if (file) {
            (void)fclose(file);
        }
        for (size_t at = 0; at < text.len && !found; at += strlen(text.data + at) + 1) {
            found = strstr(text.data + at, library) != NULL;
        }
    }
    buf_free(&text);
    free(links);
    return found;
}

/* Removes the session, but for the library where a process that goes on still names it. */
static void clean_up(struct run *run)
{
    bool rest = run->give_up || run->opts->wait_primary;
    if (!run->session.dir || run->result->kept) {
        return;
    }
    if (rest && still_named(run->session.library)) {
        record_session_strip(run->session.dir);
    } else {
        record_session_remove(run->session.dir);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void block_signals(struct run *run)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &plain,
                    &run->old_child); /* ignored, children could not be waited for */
    (void)sigemptyset(&run->wanted);
    (void)sigaddset(&run->wanted, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_signals / sizeof *passed_signals; i++) {
        struct sigaction action;
        /* what is ignored (nohup) stays ignored, here and in the command */
        if (sigaction(passed_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            (void)sigaddset(&run->wanted, passed_signals[i]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &run->wanted, &run->old_mask);
}

static void open_gate(struct run *run)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (run->opts->delay_ns > 0) {
        run->go_ns = now_ns + run->opts->delay_ns;
    } else {
        session_control_set_gate(run->session.control, SESSION_GATE_GO);
    }
    if (run->opts->duration_ns > 0) {
        run->stop_ns = now_ns + run->opts->delay_ns + run->opts->duration_ns;
    }
}

/* Ctrl-C during the conversion ends it; the session is kept then. */
static int progress(void *arg, uint64_t done, uint64_t all)
{
    const struct run *run = arg;
    const struct timespec now = {0, 0};
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    if (sigtimedwait(&ends, NULL, &now) > 0) {
        return -1;
    }
    return run->opts->progress ? run->opts->progress(run->opts->progress_arg, done, all) : 0;
}

static int convert(struct run *run, const char *dir, bool live, struct err *err)
{
    struct record_result *result = run->result;
    const struct convert_opts opts = {
        .session = dir,
        .output = result->output,
        .overwrite = run->opts->overwrite,
        .live = live,
        .command = (const char *const *)run->opts->argv,
        .command_n = run->opts->argc,
        .progress = progress,
        .progress_arg = run,
    };
    if (convert_session(&opts, &result->converted, err) < 0) {
        result->kept = strdup(dir);
        return -1;
    }
    result->written = true;
    return 0;
}

static void read_control(struct run *run)
{
    struct session_control *control = run->session.control;
    run->result->nobody =
        atomic_load(&control->processes_cuda) == 0 && atomic_load(&control->processes_nvtx) == 0;
    run->result->full = atomic_load(&control->full) != 0;
}

/* The folder of the output, for a session that finds no other place. */
static char *folder_of(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slash ? strndup(pattern, (size_t)(slash - pattern) + 1) : strdup(".");
}

static int begin(struct run *run, const char *pattern, struct err *err)
{
    char *near = folder_of(pattern);
    int result = near ? record_session_make(run->opts, near, &run->session, err)
                      : err_nomem(err, "the session");
    free(near);
    if (result < 0 || start_child(run, err) < 0) {
        return -1;
    }
    run->result->output = record_name(pattern, run->pid, run->opts->overwrite, err);
    if (!run->result->output) {
        return -1;
    }
    open_gate(run);
    return release_child(run, err);
}

static void close_pipes(struct run *run)
{
    for (int i = 0; i < 2; i++) {
        if (run->release[i] >= 0) {
            (void)close(run->release[i]);
        }
        if (run->report[i] >= 0) {
            (void)close(run->report[i]);
        }
    }
}

int record_run(const struct record_opts *opts, struct record_result *result, struct err *err)
{
    struct run run = {.opts = opts, .result = result, .release = {-1, -1}, .report = {-1, -1}};
    const char *pattern = opts->output ? opts->output : "report%n";
    int status = -1;
    *result = (struct record_result){.status = 1};
    block_signals(&run);
    if (!opts->wait_primary) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    if (begin(&run, pattern, err) == 0) {
        wait_for_all(&run);
        stop_recording(&run);
        read_control(&run);
        status = convert(&run, run.session.dir, true, err);
    }
    close_pipes(&run);
    if (!result->ran && run.pid > 0) {
        (void)waitpid(run.pid, NULL, 0);
    }
    clean_up(&run);
    record_session_free(&run.session);
    restore_signals(&run);
    return status;
}

int record_recover(const struct record_opts *opts, struct record_result *result, struct err *err)
{
    struct run run = {.opts = opts, .result = result};
    const char *pattern = opts->output ? opts->output : "report%n";
    int status = -1;
    *result = (struct record_result){.ran = true};
    run.session.control = session_control_open(opts->recover, true);
    if (!run.session.control) {
        return err_set(err, "'%s' is no session folder of a recording", opts->recover);
    }
    block_signals(&run);
    read_control(&run);
    result->output = record_name(pattern, getpid(), opts->overwrite, err);
    if (result->output) {
        status = convert(&run, opts->recover, false, err);
    }
    record_session_free(&run.session);
    restore_signals(&run);
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
        print_variable(out, cuda_variable, session.library);
    }
    if (wants_nvtx(&opts->config)) {
        print_variable(out, nvtx_variable, session.library);
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
