/*
 * copied: what the person takes away, as bytes: the screen as text or picture, or a command line.
 */
#ifndef CUTLINE_PAINT_COPIED_H
#define CUTLINE_PAINT_COPIED_H

#include "analysis/base/buf.h"
#include "viewer/paint/frame.h"
#include "viewer/paint/theme.h"

/* Adds what app->take asks for; the take itself stays. 0 or -1. */
int taken_make(const struct app *app, const struct frame_style *style, const struct theme *theme,
               struct buf *out, struct err *err);
/* Adds the sequence that puts text on the clipboard of the terminal (OSC 52, base64). */
void taken_clipboard(const struct buf *text, struct buf *out);

#endif
