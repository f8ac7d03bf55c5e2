/* ruler: the time scale: ticks at round times, and the cursor. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/paint/parts.h"

enum {
    RULER_TICK_COLS = 14 /* at least so far apart */
};

/* The smallest step of 1, 2 or 5 times a power of ten that is at least least_ns. */
static int64_t ruler_step(int64_t least_ns)
{
    int64_t step_ns = 1;
    while (step_ns < least_ns && step_ns < INT64_MAX / 10) {
        if (step_ns * 2 >= least_ns) {
            return step_ns * 2;
        }
        if (step_ns * 5 >= least_ns) {
            return step_ns * 5;
        }
        step_ns *= 10;
    }
    return step_ns;
}

/* A and B, where they are in sight. */
static void ruler_marks(const struct parts *parts, int y)
{
    const struct app *app = parts->app;
    for (int i = 0; i < app->mark_count; i++) {
        struct canvas_pen pen = parts_time_pen(parts, y, ROLE_MARK);
        int64_t col = window_col(&app->window, app->mark_ns[i]);
        if (col >= 0 && col < app->window.cols) {
            pen.col += (int)col;
            canvas_put(&pen, i == 0 ? 'A' : 'B');
        }
    }
}

/* Would the cursor or a mark stand in these columns? They would put out a digit: another number. */
static bool ruler_taken(const struct app *app, int begin, int end)
{
    bool taken = app->cursor_col >= begin && app->cursor_col < end;
    for (int i = 0; i < app->mark_count; i++) {
        int64_t col = window_col(&app->window, app->mark_ns[i]);
        taken = taken || (col >= begin && col < end);
    }
    return taken;
}

void parts_ruler(struct parts *parts)
{
    const struct app *app = parts->app;
    const struct window *window = &app->window;
    int y = parts->at->ruler_row;
    int64_t step_ns = ruler_step(window->ns_per_col * RULER_TICK_COLS);
    int64_t end_ns = window_end(window);
    int64_t t_ns = (window_floor(window->begin_ns - 1, step_ns) + 1) * step_ns;
    int next = 0; /* the first column that the time before leaves free */
    struct canvas_pen cursor = parts_time_pen(parts, y, ROLE_CURSOR);
    for (; t_ns < end_ns; t_ns += step_ns) {
        struct canvas_pen pen = parts_time_pen(parts, y, ROLE_RULER);
        char text[TIMEFMT_BYTES];
        int col = (int)window_col(window, t_ns);
        int len = (int)strlen(timefmt_at(t_ns, step_ns, text));
        if (col < next) {
            continue;
        }
        pen.col += col;
        canvas_put(&pen, parts->glyphs->tick);
        if (pen.col + len <= pen.end && !ruler_taken(app, col + 1, col + 1 + len)) {
            (void)canvas_puts(&pen, text);
            next = col + 1 + len;
        }
    }
    if (app->cursor_col >= 0 && app->cursor_col < window->cols) {
        cursor.col += app->cursor_col;
        canvas_put(&cursor, parts->glyphs->cursor);
    }
    ruler_marks(parts, y);
}
