/* The wait for the command and its processes: signals, timers, the end.
 *
 * No signal handlers: the signals of interest are blocked and taken one by one from a descriptor,
 * so there is no state that a handler shares and nothing is missed between a check and a wait. The
 * command gets the mask that we had. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "capture/record/record_internal.h"
#include "capture/spool/clock.h"

enum {
    POLL_NS = 50000000, /* how often the capture range is looked at, where it matters */
    FLUSH_POLL_NS = 10000000, /* likewise CUPTI's last records */
    LINGER_NS = 2000000000, /* after so long, say that we wait for the rest */
    FLUSH_WAIT_NS = 2000000000, /* for CUPTI's last records, before the wanted signal */
    KILL_GRACE_NS = 2000000000, /* between the wanted signal and SIGKILL */
    NAMED_MAX = 8 /* processes that are named in a message */
};

/* Those that are passed on to the command; SIGCHLD is only for us. */
static const int passed_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                     SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};

void record_say(const struct run *run, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (run->opts->say) {
        run->opts->say(run->opts->say_arg, text);
    }
}

int record_signals_block(struct run *run, struct err *err)
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
    run->signals = signalfd(-1, &run->wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals < 0) {
        record_signals_restore(run);
        return err_set(err, "cannot wait for signals: %s", strerror(errno));
    }
    return 0;
}

void record_signals_restore(struct run *run)
{
    if (run->signals >= 0) {
        (void)close(run->signals);
    }
    run->signals = -1;
    (void)sigaction(SIGCHLD, &run->old_child, NULL);
    (void)sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

/* ---- the end of the recording ---------------------------------------------------------------- */

void record_gate_open(struct run *run)
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

void record_stop(struct run *run)
{
    if (!run->stopped) {
        run->stopped = true;
        run->result->in_delay = run->go_ns != 0;
        run->go_ns = 0;
        run->stop_ns = 0;
        session_control_set_gate(run->session.control, SESSION_GATE_STOP);
    }
}

static void signal_all(struct run *run, int signal)
{
    record_tree_find(&run->tree, run->session.dir);
    record_tree_signal(&run->tree, signal);
}

/* True when the processes have fetched what CUPTI still held, which a kill would lose. */
static bool is_flushed(const struct run *run)
{
    const struct session_control *control = run->session.control;
    return atomic_load(&control->processes_flushed) >= atomic_load(&control->processes_cuda);
}

/* The end of the duration, or of the last capture range: CUPTI's last records are waited for. */
static void finish_recording(struct run *run, int64_t now_ns)
{
    record_stop(run);
    run->flush_ns = now_ns + FLUSH_WAIT_NS;
}

/* What follows then: the wanted signal, or the capture, while the command goes on. */
static void after_flush(struct run *run, int64_t now_ns)
{
    run->flush_ns = 0;
    if (run->opts->kill_signal) {
        signal_all(run, run->opts->kill_signal);
        run->kill_ns = now_ns + KILL_GRACE_NS;
    } else if (run->main_end_ns == 0) {
        record_say(run, "the recording has ended, the command goes on");
        record_convert_begin(run, run->session.dir, true);
    }
}

/* ---- timers ---------------------------------------------------------------------------------- */

static bool waits_for_range(const struct run *run)
{
    return run->opts->kill_signal && run->opts->config.range != SESSION_RANGE_NONE && !run->stopped;
}

static void do_timers(struct run *run)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (run->go_ns && now_ns >= run->go_ns) {
        run->go_ns = 0;
        session_control_set_gate(run->session.control, SESSION_GATE_GO);
    }
    bool range_over =
        waits_for_range(run) && record_ranges_over(&run->ranges, run->session.control, now_ns);
    if (range_over || (run->stop_ns && now_ns >= run->stop_ns)) {
        finish_recording(run, now_ns);
    }
    if (run->flush_ns && (is_flushed(run) || now_ns >= run->flush_ns)) {
        after_flush(run, now_ns);
    }
    if (run->kill_ns && now_ns >= run->kill_ns) {
        signal_all(run, SIGKILL);
        run->kill_ns = now_ns + KILL_GRACE_NS;
    }
    if (run->main_end_ns && !run->lingered && !run->waited &&
        now_ns - run->main_end_ns >= LINGER_NS) {
        run->lingered = true;
        record_say(run,
                   "waiting for processes that the command left running; Ctrl-C stops the waiting");
    }
}

/* The time until the next thing to do; -1: nothing is to come. */
static int64_t next_timer_ns(const struct run *run)
{
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    bool lingers = run->main_end_ns && !run->lingered && !run->waited;
    const int64_t times[] = {
        run->go_ns,
        run->stop_ns,
        run->kill_ns,
        lingers ? run->main_end_ns + LINGER_NS : 0,
        waits_for_range(run) ? now_ns + POLL_NS : 0,
        run->flush_ns ? now_ns + FLUSH_POLL_NS : 0,
        run->main_end_ns && run->tree.blind ? now_ns + POLL_NS : 0,
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

/* ---- signals --------------------------------------------------------------------------------- */

/* "1234, 1240" of the processes that are left. */
static const char *left_over(const struct run *run, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < run->tree.count && i <= NAMED_MAX && at < size; i++) {
        int wrote = i == NAMED_MAX ? snprintf(out + at, size - at, ", ...")
                                   : snprintf(out + at, size - at, "%s%ld", i ? ", " : "",
                                              (long)run->tree.members[i].pid);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

/* Only the conversion is left to wait for. */
static void interrupt_conversion(struct run *run)
{
    if (run->interrupts == 1) {
        struct buf dir = {0};
        shell_quote_path(&dir, run->conversion.dir);
        record_say(run,
                   "the capture is being written; Ctrl-C again leaves it, and cutline record "
                   "--recover %s makes it",
                   buf_text(&dir));
        buf_free(&dir);
    } else {
        atomic_store(&run->conversion.leave, true);
    }
}

/* Ctrl-C and the like. The first ends the recording, and the command gets it; the second ends all
 * processes of the command. */
static void interrupt(struct run *run)
{
    char pids[128];
    run->interrupts++;
    if (run->waited) {
        interrupt_conversion(run);
        return;
    }
    record_stop(run);
    run->flush_ns = 0;
    if (run->interrupts == 1 && run->lingered) {
        run->give_up = true;
        record_say(run, "no longer waiting: what goes on (%s) is not recorded any more",
                   left_over(run, pids, sizeof pids));
    } else if (run->interrupts == 1) {
        record_say(run, "interrupted: the recording has ended; waiting for the command to end, "
                        "Ctrl-C again kills it");
    } else if (run->interrupts == 2) {
        record_say(run,
                   "interrupted again: killing what is left of the command; its events are in "
                   "'%s' until the capture is written",
                   run->session.dir);
        signal_all(run, SIGKILL);
        run->kill_ns = clock_read_ns(CLOCK_MONOTONIC) + KILL_GRACE_NS;
    } else {
        run->give_up = true;
        atomic_store(&run->conversion.leave, run->conversion.runs);
    }
}

/* All but those that the terminal sent to the command as well are passed on. */
static void take_signal(struct run *run, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    bool by_terminal = info->ssi_code == SI_KERNEL;
    if (number == SIGCHLD) {
        return;
    }
    if (!by_terminal && run->main_end_ns == 0) {
        (void)kill(run->pid, number);
    }
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
        interrupt(run);
    }
}

static void take_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        take_signal(run, &info);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Waits for a signal, the end of a process or of the conversion, or the next timer. */
static void wait_for_event(struct run *run)
{
    size_t count = 0;
    int64_t ns = next_timer_ns(run);
    int64_t ms = ns < 0 ? -1 : (ns + 999999) / 1000000;
    struct pollfd *fds = calloc(run->tree.count + 2, sizeof *fds);
    struct pollfd few[2];
    struct pollfd *all = fds == NULL ? few : fds;
    all[count++] = (struct pollfd){.fd = run->signals, .events = POLLIN};
    if (run->conversion.runs) {
        all[count++] = (struct pollfd){.fd = run->conversion.done[0], .events = POLLIN};
    }
    for (size_t i = 0; fds != NULL && !run->waited && i < run->tree.count; i++) {
        all[count++] = (struct pollfd){.fd = run->tree.members[i].fd, .events = POLLIN};
    }
    (void)poll(all, count, ms > INT32_MAX ? INT32_MAX : (int)ms);
    if (run->conversion.runs && all[1].revents != 0) {
        record_convert_collect(run);
    }
    free(fds);
    take_signals(run);
    do_timers(run);
}

static int shell_status(int status)
{
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Takes all children that ended: the command, and where we are the first process of a container,
 * what others left. */
static void reap(struct run *run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR)) {
        if (pid == run->pid) {
            run->result->status = shell_status(status);
            run->main_end_ns = clock_read_ns(CLOCK_MONOTONIC);
        }
    }
}

/* True while a process is to be waited for. */
static bool is_waiting(struct run *run)
{
    bool captured = run->conversion.runs || run->conversion.over;
    if (run->give_up) {
        return false;
    }
    if (run->main_end_ns == 0) {
        return true;
    }
    /* what the command leaves is waited for because it is recorded */
    if (run->opts->wait_primary || captured) {
        return false;
    }
    record_tree_find(&run->tree, run->session.dir);
    return run->tree.count > 0 || run->tree.blind;
}

void record_wait(struct run *run)
{
    reap(run);
    while (is_waiting(run)) {
        wait_for_event(run);
        reap(run);
    }
    if (run->main_end_ns == 0) {
        run->result->status = STATUS_SIGNAL + SIGINT; /* given up: the command still runs */
    }
    run->waited = true;
    run->kill_ns = 0;
    run->flush_ns = 0;
}

void record_wait_conversion(struct run *run)
{
    atomic_store(&run->conversion.shown, true);
    while (run->conversion.runs) {
        wait_for_event(run);
        reap(run);
    }
}
