/*
 * screen: the frames of a session, one above the other.
 */
#ifndef CUTLINE_PAINT_SCREEN_H
#define CUTLINE_PAINT_SCREEN_H

#include "viewer/app/screens.h"
#include "viewer/paint/frame.h"

/* Paints a settled session at its size. 0 or -1. */
int screen_paint(const struct session *session, const struct frame_style *style,
                 struct canvas *canvas, struct err *err);
/* What the screen holds before anything is read. */
struct screen_note {
    const char *title;
    const char *text; /* how far it is */
    int cols;
    int rows;
};
int screen_reading(const struct screen_note *note, const struct frame_style *style,
                   struct canvas *canvas, struct err *err);

#endif
