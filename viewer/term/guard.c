/*
 * guard: see guard.h.
 *
 * Handlers run on a stack of their own, since the fault may be that the other one is full. POSIX
 * lets them call all that is called here.
 */
/* For sigaltstack and the signals of XSI; ncurses may have asked for it already. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "viewer/term/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
    STACK_BYTES = 64 * 1024,
    SIGNALS_MAX = 128
};

static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/* All else whose default action is the end, but SIGKILL and those that leave in order. */
static const int ENDS[] = {
    SIGABRT,   SIGALRM, SIGPIPE, SIGUSR1,   SIGUSR2, SIGTRAP,
    SIGSYS,    SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGPOLL,
#ifdef SIGPWR
    SIGPWR,
#endif
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};

static struct {
    int fd;
    bool has_modes;
    struct termios modes;
    char leave[GUARD_BYTES];
    size_t len;
    struct sigaction old[SIGNALS_MAX];
    bool caught[SIGNALS_MAX];
    stack_t old_stack;
} guard;
static volatile sig_atomic_t guarding;
static char handler_stack[STACK_BYTES];

/* Writes without waiting; false where not all could be written. */
static bool write_now(const char *bytes, size_t len)
{
    return write(guard.fd, bytes, len) == (ssize_t)len;
}

/* Where the terminal reads nothing, what it did not read yet is dropped. */
static void write_leave(void)
{
    static const char cancel[] = "\x18"; /* ends a sequence that was cut in two */
    int flags = fcntl(guard.fd, F_GETFL);
    (void)fcntl(guard.fd, F_SETFL, flags | O_NONBLOCK);
    if (!write_now(guard.leave, guard.len)) {
        (void)tcflow(guard.fd, TCOON);
        (void)tcflush(guard.fd, TCOFLUSH);
        (void)write_now(cancel, 1);
        (void)write_now(guard.leave, guard.len);
    }
    (void)fcntl(guard.fd, F_SETFL, flags);
}

void guard_restore(void)
{
    int saved_errno = errno;
    if (guarding == 0) {
        return;
    }
    guarding = 0;
    /* In the background both would stop us, and the modes are those of the shell. */
    struct sigaction ignore;
    struct sigaction old;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    (void)sigaction(SIGTTOU, &ignore, &old);
    write_leave();
    if (guard.has_modes && tcgetpgrp(guard.fd) == getpgrp()) {
        (void)tcsetattr(guard.fd, TCSANOW, &guard.modes);
    }
    (void)sigaction(SIGTTOU, &old, NULL);
    errno = saved_errno;
}

static bool is_fault(int number)
{
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        if (FAULTS[i] == number) {
            return true;
        }
    }
    return false;
}

/* A fault that is real comes again at once, now to the old action; what was sent is sent again. */
static void on_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    guard_restore();
    (void)sigaction(number, &guard.old[number], NULL);
    if (!is_fault(number) || info->si_code <= 0) {
        (void)raise(number);
    }
}

static void catch_one(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_end;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigfillset(&action.sa_mask);
    if (number >= SIGNALS_MAX || sigaction(number, NULL, &guard.old[number]) != 0 ||
        guard.old[number].sa_handler == SIG_IGN) {
        return;
    }
    guard.caught[number] = sigaction(number, &action, NULL) == 0;
}

void guard_begin(int fd, const char *leave, size_t len)
{
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    guard.fd = fd;
    guard.has_modes = tcgetattr(fd, &guard.modes) == 0;
    guard.len = len < GUARD_BYTES ? len : GUARD_BYTES;
    memcpy(guard.leave, leave, guard.len);
    memset(guard.caught, 0, sizeof guard.caught);
    (void)sigaltstack(&stack, &guard.old_stack);
    guarding = 1;
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        catch_one(FAULTS[i]);
    }
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        catch_one(ENDS[i]);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        catch_one(number);
    }
}

void guard_end(void)
{
    guarding = 0;
    for (int number = 1; number < SIGNALS_MAX; number++) {
        if (guard.caught[number]) {
            (void)sigaction(number, &guard.old[number], NULL);
        }
    }
    (void)sigaltstack(&guard.old_stack, NULL);
}
