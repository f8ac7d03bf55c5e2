/*
 * theme: what a cell looks like: role and hue to attributes, for any number of colours.
 *
 * A hue is a place in a palette of colours that are told apart easily; the same name has the same
 * hue everywhere (hue_of_name). With 256 colours and more an NVTX colour is shown as it is, as near
 * as the terminal can.
 */
#ifndef CUTLINE_PAINT_THEME_H
#define CUTLINE_PAINT_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "viewer/paint/canvas.h"
#include "viewer/rows/hue.h"

enum theme_colors {
    THEME_MONO,
    THEME_8,
    THEME_16,
    THEME_256,
    THEME_TRUECOLOR,
};

/* Names of the themes: dark, light, safe (told apart with any colour vision). */
#define THEME_KINDS(X) \
    X(DARK, "dark") \
    X(LIGHT, "light") \
    X(SAFE, "safe")

enum theme_kind {
#define THEME_KIND_ENUM(name, text) THEME_##name,
    THEME_KINDS(THEME_KIND_ENUM)
#undef THEME_KIND_ENUM
    THEME_KIND_COUNT,
};

enum theme_attr {
    THEME_BOLD = 1,
    THEME_REVERSE = 2,
    THEME_UNDERLINE = 4,
    THEME_FAINT = 8,
};

/* Colours are indices of the terminal (-1 = its default), or 0xRRGGBB with THEME_TRUECOLOR. */
struct theme_look {
    int32_t fg;
    int32_t bg;
    uint8_t attrs;
};

struct theme {
    enum theme_kind kind;
    enum theme_colors colors;
};

struct theme_look theme_look(const struct theme *theme, const struct cell *cell);
/* A kind by name, -1 if none. */
int theme_kind_by_name(const char *name);

#endif
