/*
 * span: a lane in a window, as at most one span for a column.
 *
 * A span is one event that fills at least its column, or several events that share a column and
 * are folded. Each span knows the exact busy time in its columns, so that nothing is lost however
 * far one zooms out: the busy times of all spans add up to the busy time of the lane in the window.
 *
 * Pure: nothing is allocated, no terminal. Cost: O(spans x log of the events in a column).
 */
#ifndef CUTLINE_PAINT_SPAN_H
#define CUTLINE_PAINT_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "viewer/rows/lane.h"
#include "viewer/rows/window.h"

struct span {
    int col; /* 0 .. cols - 1 of the window */
    int cols;
    uint32_t event; /* index in the lane: the event, or the one that stands for the folded ones */
    uint32_t count; /* events that touch its columns */
    int64_t busy_ns; /* in its columns, all events */
    int64_t kept_ns; /* in its columns, events that the filter keeps */
    bool folded; /* several events, or one shorter than its column */
    bool begins; /* the event begins in the first column: an edge is due */
    bool ends; /* the event ends in the last column */
    bool kept; /* the event (of a folded span: one at least) is kept by the filter */
};

/*
 * Fills spans[window->cols], left to right; returns how many. terms: what the filter keeps,
 * NULL for all.
 */
int span_build(const struct lane *lane, const struct window *window, const struct terms *terms,
               struct span *spans);

#endif
