/*
 * svg: a canvas as a picture: for a report, where a terminal's copy would lose the colours.
 */
#ifndef CUTLINE_PAINT_SVG_H
#define CUTLINE_PAINT_SVG_H

#include "analysis/base/buf.h"
#include "viewer/paint/canvas.h"
#include "viewer/paint/theme.h"

/* Adds the picture; the theme's number of colours is ignored. */
void svg_write(const struct canvas *canvas, const struct theme *theme, struct buf *out);

#endif
