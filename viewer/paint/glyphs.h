/*
 * glyphs: the few characters that are drawn, in UTF-8 and in ASCII.
 */
#ifndef CUTLINE_PAINT_GLYPHS_H
#define CUTLINE_PAINT_GLYPHS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GLYPHS_LEVELS = 8
};

struct glyphs {
    uint32_t level[GLYPHS_LEVELS + 1]; /* 0 = nothing ... 8 = full */
    uint32_t bar_left; /* where a bar begins, without colour */
    uint32_t bar_right;
    uint32_t bar_fill; /* inside a bar, without colour */
    uint32_t bar_edge; /* where a bar begins, on its colour */
    uint32_t bar_cut; /* a bar goes on outside of the screen */
    uint32_t gap; /* a time without work */
    uint32_t gap_left;
    uint32_t gap_right;
    uint32_t folded; /* a row with rows below it that are not shown */
    uint32_t open;
    uint32_t pinned;
    uint32_t tick; /* on the ruler */
    uint32_t cursor;
    uint32_t scrollbar; /* which part of the rows is in sight */
    uint32_t rule; /* between parts of the screen */
    uint32_t mark; /* an NVTX mark */
    uint32_t dim; /* without colour: what the filter does not keep */
    uint32_t ascending; /* a sorted column */
    uint32_t descending;
};

const struct glyphs *glyphs_of(bool ascii);
/* The level of a share: 0 only for nothing, 8 only for (nearly) all. */
int glyphs_level(int64_t part, int64_t whole);

#endif
