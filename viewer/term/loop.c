/* loop: see loop.h. */
#include "viewer/term/loop.h"

#include "viewer/term/hand_out.h"

/* Draws one frame. */
static int loop_frame(struct terminal *term, struct app *app, const struct frame_style *style,
                      struct canvas *canvas, struct err *err)
{
    app_settle(app);
    if (app->take != TAKE_NONE) {
        hand_out(term, app, style);
    }
    if (frame_paint(app, style, canvas, err) != 0) {
        return -1;
    }
    term_draw(term, canvas, app->redraw);
    app->redraw = false;
    return 0;
}

static void loop_resize(struct terminal *term, struct app *app)
{
    int cols;
    int rows;
    term_size(term, &cols, &rows);
    app_resize(app, cols, rows);
}

int loop_run(struct terminal *term, struct app *app, const struct frame_style *style,
             struct err *err)
{
    struct canvas canvas = {0};
    struct key key;
    int rc = 0;
    loop_resize(term, app);
    while (!app->quit && rc == 0) {
        if (loop_frame(term, app, style, &canvas, err) != 0) {
            rc = -1;
            break;
        }
        switch (term_wait(term)) {
        case TERM_KEY:
            while (!app->quit && term_read(term, &key)) {
                app_key(app, &key);
            }
            break;
        case TERM_RESIZE:
        case TERM_RESUME:
            loop_resize(term, app);
            app->redraw = true;
            break;
        case TERM_SIGNAL:
            rc = term_signal();
            break;
        case TERM_CLOSED:
            app->quit = true;
            break;
        }
    }
    canvas_free(&canvas);
    return rc;
}
