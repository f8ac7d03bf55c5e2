/*
 * palette: colours as terminals have them: 256, 16 or 8 by number, and which text reads well on them.
 */
#ifndef CUTLINE_PAINT_PALETTE_H
#define CUTLINE_PAINT_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

/* The nearest of xterm's 256 colours to 0xRRGGBB: of the cube, or of the grey ramp for greys. */
int32_t palette_256(int32_t rgb);
/* One of the first eight or sixteen colours: which parts of 0xRRGGBB are strong. */
int32_t palette_16(int32_t rgb, bool sixteen);
/* The colour of a number below 256 as xterm shows it, 0xRRGGBB. */
int32_t palette_rgb(int32_t index);
/* Does black text read better on 0xRRGGBB than white text? One of both always has a contrast of at
 * least 4.5. */
bool palette_wants_black(int32_t rgb);

#endif
