/* frame: see frame.h. */
#include "viewer/paint/frame.h"

#include <stdlib.h>

#include "viewer/paint/parts.h"

struct canvas_pen parts_pen(const struct parts *parts, int y, enum canvas_role role)
{
    return canvas_pen(parts->canvas, y, 0, parts->at->cols, role);
}

struct canvas_pen parts_time_pen(const struct parts *parts, int y, enum canvas_role role)
{
    return canvas_pen(parts->canvas, y, parts->at->label_cols, parts->at->cols, role);
}

int frame_paint(const struct app *app, const struct frame_style *style, struct canvas *canvas,
                struct err *err)
{
    const struct app_layout *at = &app->layout;
    canvas->ascii = style->ascii;
    if (canvas->cols != at->cols || canvas->rows != at->rows) {
        if (canvas_resize(canvas, at->cols, at->rows, err) != 0) {
            return -1;
        }
    }
    canvas_clear(canvas);
    struct parts *parts = malloc(sizeof *parts);
    if (parts == NULL) {
        return err_nomem(err, "the screen");
    }
    parts->app = app;
    parts->at = at;
    parts->glyphs = glyphs_of(style->ascii);
    parts->canvas = canvas;
    parts->plain = style->plain;
    parts_header(parts);
    if (at->overview_row >= 0) {
        parts_overview(parts);
    }
    if (at->ruler_row >= 0) {
        parts_ruler(parts);
    }
    parts_timeline(parts);
    if (app->help_open) {
        parts_help(parts);
    } else if (at->list_row >= 0) {
        parts_panel(parts);
    } else if (at->detail_row >= 0) {
        parts_detail(parts);
    }
    if (at->tour_row >= 0) {
        parts_tour(parts);
    }
    parts_status(parts);
    free(parts);
    return 0;
}
