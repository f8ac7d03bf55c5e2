/*
 * parts: the parts of a frame, and what they share. Included by viewer/paint only.
 */
#ifndef CUTLINE_PAINT_PARTS_H
#define CUTLINE_PAINT_PARTS_H

#include "viewer/app/app.h"
#include "viewer/paint/canvas.h"
#include "viewer/paint/frame.h"
#include "viewer/paint/glyphs.h"
#include "viewer/paint/span.h"

enum {
    PARTS_COLS_MAX = 1024, /* columns of the timeline that are painted */
    PARTS_TAIL_COLS = 12 /* room from which names show what tells them apart */
};

struct parts {
    const struct app *app;
    const struct app_layout *at;
    const struct glyphs *glyphs;
    struct canvas *canvas;
    bool plain;
    struct span spans[PARTS_COLS_MAX];
    double values[PARTS_COLS_MAX];
};

void parts_header(struct parts *parts);
void parts_overview(struct parts *parts);
void parts_ruler(struct parts *parts);
/* How many rows are above and below those in sight. */
void parts_hidden_rows(const struct parts *parts, int *above, int *below);
void parts_timeline(struct parts *parts);
void parts_detail(struct parts *parts);
void parts_panel(struct parts *parts);
void parts_help(struct parts *parts);
void parts_status(struct parts *parts);
void parts_tour(struct parts *parts);

/* A name (by its number) as far as the pen has room, in the form that is chosen. */
void parts_name(const struct parts *parts, uint32_t index, struct canvas_pen *pen);
/* One lane at a screen row. */
void parts_lane(struct parts *parts, const struct row *row, int y);
/* A pen over the whole width of a screen row. */
struct canvas_pen parts_pen(const struct parts *parts, int y, enum canvas_role role);
/* A pen over the timeline's part of a screen row. */
struct canvas_pen parts_time_pen(const struct parts *parts, int y, enum canvas_role role);

#endif
