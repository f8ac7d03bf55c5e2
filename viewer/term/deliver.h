/*
 * deliver: gives the person what was asked for: clipboard and file.
 */
#ifndef CUTLINE_TERM_DELIVER_H
#define CUTLINE_TERM_DELIVER_H

#include "viewer/app/app.h"
#include "viewer/paint/frame.h"
#include "viewer/term/term.h"

/*
 * Serves app->take: text goes to the clipboard of the terminal and to a new file cutline-copy.txt,
 * cutline-copy-2.txt, ..., a picture to cutline-N.svg, in the current folder. Nothing that is there
 * is written over, followed (a link) or waited for (a pipe). A message tells the name.
 */
void hand_out(struct terminal *term, struct app *app, const struct frame_style *style);

#endif
