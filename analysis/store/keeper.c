/* keeper: see keeper.h. */
#include "analysis/store/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEEPER_GRACE_MS = 1000 /* between the wish to end and the end */
};

/* The keeper itself. This process may have threads: only what POSIX allows after a fork. */
static void keep(int life, const char *unfinished)
{
    char byte;
    (void)setpgid(0, 0);
    while (read(life, &byte, 1) < 0 && errno == EINTR) {
    }
    (void)kill(0, SIGTERM); /* all signals are blocked here */
    (void)poll(NULL, 0, KEEPER_GRACE_MS);
    (void)unlink(unfinished);
    (void)kill(0, SIGKILL);
    for (;;) {
        (void)pause();
    }
}

int keeper_start(struct keeper *keeper, const char *unfinished)
{
    int ends[2];
    sigset_t all;
    sigset_t old;
    if (pipe(ends) != 0) {
        return errno;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    int code = pid < 0 ? errno : 0;
    if (pid == 0) {
        (void)close(ends[1]);
        keep(ends[0], unfinished);
    }
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    (void)close(ends[0]);
    if (code != 0) {
        (void)close(ends[1]);
        return code;
    }
    (void)setpgid(pid, pid); /* whoever is first: the group is there when this returns */
    *keeper = (struct keeper){pid, ends[1]};
    return 0;
}

void keeper_end(struct keeper *keeper)
{
    (void)kill(keeper->pid, SIGKILL);
    (void)close(keeper->life);
    while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void keeper_kill(struct keeper *keeper)
{
    (void)close(keeper->life);
}
