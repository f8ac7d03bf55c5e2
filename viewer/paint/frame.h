/*
 * frame: the whole screen as a function of (app, size, style): cells on a canvas.
 *
 * Painting only reads the app (app_settle was called) and allocates nothing but the canvas.
 */
#ifndef CUTLINE_PAINT_FRAME_H
#define CUTLINE_PAINT_FRAME_H

#include <stdbool.h>

#include "analysis/base/err.h"
#include "viewer/app/app.h"
#include "viewer/paint/canvas.h"

/* How it is drawn, beside the theme. */
struct frame_style {
    bool ascii;
    bool plain; /* no colour: bars have brackets and a fill */
};

/* Paints the app at the size of its layout. 0 or -1. */
int frame_paint(const struct app *app, const struct frame_style *style, struct canvas *canvas,
                struct err *err);

#endif
