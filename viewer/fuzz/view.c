/* view: see view.h. */
#include "viewer/fuzz/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SQL_MAX = 1 << 20,
    PATH_BYTES = 1024
};

struct memory_db *view_case(const char *name)
{
    static char sql[SQL_MAX];
    const char *top = getenv("CUTLINE_SOURCE");
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/testdata/cases/%s.sql", top == NULL ? "." : top, name);
    FILE *file = fopen(path, "rb");
    FUZZ_HOLDS(file != NULL); /* run from the top folder */
    size_t len = fread(sql, 1, sizeof sql - 1, file);
    FUZZ_HOLDS(fclose(file) == 0);
    sql[len] = '\0';
    struct memory_db *db = memory_db_new(sql);
    FUZZ_HOLDS(db != NULL);
    return db;
}

struct trace *view_load(const struct memory_db *db)
{
    const struct trace_options options = {.threads = 1};
    struct err err = {0};
    struct trace *trace = trace_load(memory_db_path(db), &options, &err);
    if (trace == NULL) {
        FUZZ_HOLDS(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        return NULL;
    }
    FUZZ_HOLDS(trace_broken(trace) == NULL);
    return trace;
}

bool view_open(struct view_session *view, const struct trace *trace, bool twice)
{
    *view = (struct view_session){0};
    view->apps[0] = app_open(trace, "fuzz", NULL);
    view->apps[1] = twice ? app_open(trace, "fuzz", NULL) : NULL;
    if (view->apps[0] != NULL && (!twice || view->apps[1] != NULL) &&
        session_open(&view->session, view->apps[0], view->apps[1], NULL) == 0) {
        return true;
    }
    app_close(view->apps[0]);
    app_close(view->apps[1]);
    return false;
}

void view_close(struct view_session *view)
{
    canvas_free(&view->canvas);
    session_close(&view->session);
    app_close(view->apps[0]);
    app_close(view->apps[1]);
}

void view_paint(struct view_session *view, const struct frame_style *style)
{
    const struct canvas *canvas = &view->canvas;
    session_settle(&view->session);
    if (screen_paint(&view->session, style, &view->canvas, NULL) != 0) {
        return;
    }
    const struct app *app = session_app(&view->session);
    FUZZ_HOLDS(app->window.ns_per_col > 0 && app->window.begin_ns % app->window.ns_per_col == 0);
    FUZZ_HOLDS(app->window.cols == app->layout.time_cols);
    for (size_t i = 0; i < (size_t)canvas->cols * (size_t)canvas->rows; i++) {
        uint32_t ch = canvas->cells[i].ch;
        FUZZ_HOLDS(canvas->cells[i].role < ROLE_COUNT);
        FUZZ_HOLDS(ch == 0 || (ch >= 32 && ch != 127 && (ch < 0x80 || ch >= 0xa0)));
    }
}
