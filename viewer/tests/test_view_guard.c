/* Faults, in the program and in a thread of it, give the terminal back before they end it. */
/* For posix_openpt and its like; ncurses may have asked for it already. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "viewer/term/guard.h"

static const char LEAVE[] = "<given back>";

static void *touch_nothing(void *arg)
{
    volatile char *volatile nothing = arg;
    *nothing = 1;
    return NULL;
}

/* Fills the stack: the handler has none but its own. */
/* NOLINTNEXTLINE(misc-no-recursion): meant */
static int dig(int depth)
{
    volatile char hole[4000];
    hole[0] = (char)depth;
    return depth < 0 ? 0 : dig(depth + 1) + hole[0];
}

static void touch_by_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, touch_nothing, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

static void fault(int kind)
{
    if (kind == 0) {
        (void)touch_nothing(NULL);
    } else if (kind == 1) {
        (void)dig(0);
    } else if (kind == 2) {
        touch_by_thread();
    } else {
        abort();
    }
}

/* A session of its own on the terminal, which it sets otherwise and then fails. */
static void run_child(const char *name, int kind)
{
    const struct rlimit no_core = {0, 0};
    struct termios modes;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    /* Not those of cmocka. */
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)setsid();
    int fd = open(name, O_RDWR);
    (void)ioctl(fd, TIOCSCTTY, 0);
    guard_begin(fd, LEAVE, sizeof LEAVE - 1);
    (void)tcgetattr(fd, &modes);
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    (void)tcsetattr(fd, TCSANOW, &modes);
    fault(kind);
    _exit(0);
}

static void check_fault(int kind, int number)
{
    struct termios before;
    struct termios after;
    char got[256] = "";
    int status = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const char *name = ptsname(master);
    int slave = open(name, O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(tcgetattr(slave, &before), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        run_child(name, kind);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    assert_true(read(master, got, sizeof got - 1) > 0);
    assert_memory_equal(got, LEAVE, sizeof LEAVE - 1);
    assert_int_equal(tcgetattr(slave, &after), 0);
    assert_int_equal(before.c_lflag, after.c_lflag);
    (void)close(slave);
    (void)close(master);
}

static void test_faults(void **state)
{
    (void)state;
    check_fault(0, SIGSEGV);
    check_fault(1, SIGSEGV);
    check_fault(2, SIGSEGV);
    check_fault(3, SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
