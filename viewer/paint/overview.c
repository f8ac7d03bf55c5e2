/* overview: the whole capture in one row: how busy the device of the current row is, its idle time, and
 * where the window is. */
#include <stdio.h>

#include "analysis/base/timefmt.h"
#include "viewer/paint/parts.h"

/* The columns of the window: first > last where it shows all. */
static void overview_here(const struct parts *parts, int *first, int *last)
{
    const struct app *app = parts->app;
    int cols = parts->at->time_cols;
    int64_t begin_ns = app->window.begin_ns;
    int64_t end_ns = window_end(&app->window);
    *first = cols;
    *last = -1;
    if (begin_ns <= app->trace->begin_ns && end_ns >= app->trace->end_ns) {
        return;
    }
    for (int col = 0; col < cols; col++) {
        if (app_overview_ns(app, col + 1) > begin_ns && app_overview_ns(app, col) < end_ns) {
            *first = col < *first ? col : *first;
            *last = col;
        }
    }
}

/* One column: its level, or idle time between the first and the last op. */
static void overview_col(const struct parts *parts, uint32_t device, struct canvas_pen *pen,
                         int col)
{
    const struct busy *busy = parts->app->busy;
    const struct busy_union *work = &busy->devices[device];
    int64_t begin_ns = app_overview_ns(parts->app, col);
    int64_t end_ns = app_overview_ns(parts->app, col + 1);
    int64_t ns = busy_device_ns(busy, device, begin_ns, end_ns);
    bool idle = ns == 0 && end_ns > begin_ns && work->count > 0 && begin_ns >= work->begin_ns[0] &&
                end_ns <= work->end_ns[work->count - 1];
    if (idle) {
        pen->role = ROLE_GAP;
        canvas_put(pen, parts->plain ? parts->glyphs->gap : ' ');
    } else {
        canvas_put(pen, parts->glyphs->level[glyphs_level(ns, end_ns - begin_ns)]);
    }
}

void parts_overview(struct parts *parts)
{
    const struct app *app = parts->app;
    uint32_t device = app_device(app);
    int y = parts->at->overview_row;
    struct canvas_pen label = canvas_pen(parts->canvas, y, 1, parts->at->label_cols - 1, ROLE_DIM);
    char text[TIMEFMT_BYTES];
    int first;
    int last;
    if (device >= app->trace->device_count) {
        return;
    }
    (void)canvas_printf(&label, "all %s",
                        timefmt_duration(app->trace->end_ns - app->trace->begin_ns, text));
    overview_here(parts, &first, &last);
    for (int col = 0; col < parts->at->time_cols; col++) {
        bool here = col >= first && col <= last;
        struct canvas_pen pen = parts_time_pen(parts, y, here ? ROLE_OVERVIEW_HERE : ROLE_OVERVIEW);
        pen.col += col;
        if (here && last > first && (col == first || col == last)) {
            canvas_put(&pen, col == first ? parts->glyphs->bar_left : parts->glyphs->bar_right);
        } else {
            overview_col(parts, device, &pen, col);
        }
    }
}
