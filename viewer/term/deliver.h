/*
 * deliver: gives the person what was asked for: clipboard and file.
 */
#ifndef CUTLINE_TERM_DELIVER_H
#define CUTLINE_TERM_DELIVER_H

#include "viewer/app/app.h"
#include "viewer/paint/frame.h"
#include "viewer/term/term.h"

/*
 * Serves app->take: text goes to the clipboard of the terminal and to cutline-copy.txt, a picture
 * to cutline-N.svg, both in the current folder; an existing picture is never replaced. A message
 * tells.
 */
void hand_out(struct terminal *term, struct app *app, const struct frame_style *style);

#endif
