/*
 * loop: keys to the session, frames to the terminal, until the person leaves.
 */
#ifndef CUTLINE_TERM_LOOP_H
#define CUTLINE_TERM_LOOP_H

#include "viewer/app/session.h"
#include "viewer/paint/frame.h"
#include "viewer/term/term.h"

/*
 * All keys that have come are applied before one frame is drawn, so that a held key never queues
 * frames. 0; a signal number where a signal asked to leave; LOOP_RELOAD where the file is to be
 * read again; -1 (err) where no frame could be made.
 */
enum {
    LOOP_RELOAD = 1000
};

int loop_run(struct terminal *term, struct session *session, const struct frame_style *style,
             struct err *err);

#endif
