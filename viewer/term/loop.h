/*
 * loop: keys to the session, frames to the terminal, until the person leaves.
 */
#ifndef CUTLINE_TERM_LOOP_H
#define CUTLINE_TERM_LOOP_H

#include "viewer/app/screens.h"
#include "viewer/paint/frame.h"
#include "viewer/term/term.h"

/* What goes on beside the loop, for instance reading. NULL functions: nothing. */
struct loop_task {
    /* Is it over? Else writes a word on how far it is, for the status line. */
    bool (*over)(void *arg, char *text, size_t room);
    void *arg;
};

/*
 * All keys that have come are applied before one frame is drawn, so that a held key never queues
 * frames. 0; a signal number where a signal asked to leave; LOOP_RELOAD where the file is to be
 * read again, LOOP_TASK where the task is over and no prompt is open; -1 (err) where no frame could
 * be made.
 */
enum {
    LOOP_RELOAD = 1000,
    LOOP_TASK
};

/* task NULL: there is none. */
int loop_run(struct terminal *term, struct session *session, const struct frame_style *style,
             const struct loop_task *task, struct err *err);
/* The same before there is a session: only title and how far the task is. q leaves: 0. With once
 * one frame is drawn, and nothing waited for. */
int loop_wait(struct terminal *term, const char *title, const struct frame_style *style,
              const struct loop_task *task, bool once, struct err *err);

#endif
