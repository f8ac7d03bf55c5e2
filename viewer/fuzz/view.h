/*
 * view: what the fuzz targets of the viewer share: hand-made captures in memory (memory_db.h), and
 * sessions over them. Everything lives as long as the program, but what has a _close.
 */
#ifndef CUTLINE_VIEWER_FUZZ_VIEW_H
#define CUTLINE_VIEWER_FUZZ_VIEW_H

#include "analysis/fuzz/fuzz.h"
#include "analysis/fuzz/memory_db.h"
#include "analysis/trace/trace_internal.h"
#include "viewer/paint/screen.h"

/* testdata/cases/NAME.sql in memory, found below $CUTLINE_SOURCE, else the working folder. */
struct memory_db *view_case(const char *name);
/* Loads what is in use; NULL where it is damaged, with a message of one line. The model is sound. */
struct trace *view_load(const struct memory_db *db);

/* A session on one capture, or on the same twice. */
struct view_session {
    struct session session;
    struct app *apps[2];
    struct canvas canvas;
};

/* False where there is no memory. */
bool view_open(struct view_session *view, const struct trace *trace, bool twice);
void view_close(struct view_session *view);
/* Settles, paints, and looks at what was promised of the window and the cells. */
void view_paint(struct view_session *view, const struct frame_style *style);

#endif
