/*
 * keeper: programs that are started end with this one, however it ends, also by SIGKILL.
 *
 *     keeper_start -> (spawn into the process group keeper.pid) -> keeper_end | keeper_kill
 *
 * The keeper is a child that only reads from a pipe whose other end is held here. When that end is
 * closed without a word, by keeper_kill or because this process is gone, the keeper ends its whole
 * process group. Not being in our group, what is started there is not ended by Ctrl-C alone.
 */
#ifndef CUTLINE_STORE_KEEPER_H
#define CUTLINE_STORE_KEEPER_H

#include <sys/types.h>

struct keeper {
    pid_t pid; /* also the number of the group */
    int life; /* our end of the pipe */
};

/* unfinished: a file that is removed where the group is ended; it must stay as it is until
 * keeper_start returns. 0 or an errno value. */
int keeper_start(struct keeper *keeper, const char *unfinished);
/* What was started has ended by itself. */
void keeper_end(struct keeper *keeper);
/* Ends what was started, and waits for nothing. */
void keeper_kill(struct keeper *keeper);

#endif
