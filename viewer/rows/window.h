/*
 * window: the piece of time on the screen, in whole columns.
 *
 * A window begins at a multiple of ns_per_col, so that a pan moves the picture by whole cells and
 * a column holds the same events wherever it is drawn. Columns are half-open: column c is the time
 * [begin_ns + c * ns_per_col, begin_ns + (c + 1) * ns_per_col). No function here can overflow: times
 * beyond TIMES_MAX_NS are taken as that (analysis/base/times.h).
 */
#ifndef CUTLINE_APP_WINDOW_H
#define CUTLINE_APP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
    int64_t begin_ns; /* a multiple of ns_per_col */
    int64_t ns_per_col; /* >= 1 */
    int cols; /* >= 1 */
};

/* Floor division for a positive divisor. */
int64_t window_floor(int64_t value, int64_t divisor);
int64_t window_end(const struct window *window);
bool window_same(const struct window *a, const struct window *b);
/* Begin of a column; any integer column is legal. */
int64_t window_time(const struct window *window, int64_t col);
/* The column that holds t; may lie outside of 0..cols. */
int64_t window_col(const struct window *window, int64_t t_ns);
/* A window of cols columns that shows [begin, end), nearly the smallest; with a single column it
 * shows the begin. */
struct window window_fit(int64_t begin_ns, int64_t end_ns, int cols);
/* Another scale, with t in the given column. ns_per_col is clamped to 1..2^46. */
struct window window_scale(const struct window *window, int64_t ns_per_col, int64_t t_ns, int col);
/* Moves by whole columns; far out of any capture where they are too many. */
struct window window_pan(const struct window *window, int64_t cols);
/* The same scale, with t in the given column. */
struct window window_put(const struct window *window, int64_t t_ns, int col);
/* Moves the window so that it touches [begin, end) at least at its edge column. */
struct window window_clamp(const struct window *window, int64_t begin_ns, int64_t end_ns);

#endif
