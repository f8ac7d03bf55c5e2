/*
 * hue: the colour class of a name. The same name has the same hue in every row, list and capture.
 *
 * Kernels and uncoloured NVTX ranges take one of a small palette by a hash of the name without its digits; API calls
 * and copies take the hue of what they do; NVTX ranges with a colour keep it.
 */
#ifndef CUTLINE_APP_HUE_H
#define CUTLINE_APP_HUE_H

#include <stdint.h>

#include "analysis/trace/trace.h"

enum {
    HUE_NAMES = 12, /* the palette for names */
    HUE_LAUNCH = 12, /* what API calls and copies do */
    HUE_SYNC,
    HUE_COPY_IN,
    HUE_COPY_OUT,
    HUE_COPY,
    HUE_ALLOC,
    HUE_OTHER,
    HUE_RGB, /* a colour of its own */
    HUE_COUNT,
};

/* The hue of a name, and for HUE_RGB its colour as 5-6-5 bits. O(length of the name). */
uint8_t hue_of_name(const struct trace_name *name, uint16_t *rgb);

#endif
