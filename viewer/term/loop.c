/* loop: see loop.h. */
#include "viewer/term/loop.h"

#include <signal.h>

#include "viewer/paint/screen.h"
#include "viewer/term/hand_out.h"

static bool loop_done(const struct session *session)
{
    return session->apps[0]->quit || (session->apps[1] != NULL && session->apps[1]->quit);
}

/* Draws one frame. */
static int loop_frame(struct terminal *term, struct session *session,
                      const struct frame_style *style, struct canvas *canvas, struct err *err)
{
    struct app *app = session_app(session);
    session_settle(session);
    if (app->take != TAKE_NONE) {
        hand_out(term, app, style);
    }
    if (screen_paint(session, style, canvas, err) != 0) {
        return -1;
    }
    term_draw(term, canvas, app->redraw);
    app->redraw = false;
    return 0;
}

static void loop_resize(struct terminal *term, struct session *session)
{
    int cols;
    int rows;
    term_size(term, &cols, &rows);
    session_resize(session, cols, rows);
}

/* Ctrl-C in a prompt only closes the prompt. */
static bool loop_interrupted(struct session *session)
{
    struct app *app = session_app(session);
    struct key key = {.code = 'c' & 0x1F};
    if (term_signal() != SIGINT) {
        return false;
    }
    if (app->prompt.kind == PROMPT_NONE) {
        return false;
    }
    term_forget_signal();
    session_key(session, &key);
    return true;
}

int loop_run(struct terminal *term, struct session *session, const struct frame_style *style,
             struct err *err)
{
    struct canvas canvas = {0};
    struct key key;
    int rc = 0;
    loop_resize(term, session);
    while (!loop_done(session) && rc == 0) {
        if (loop_frame(term, session, style, &canvas, err) != 0) {
            rc = -1;
            break;
        }
        switch (term_wait(term)) {
        case TERM_KEY:
            while (!loop_done(session) && term_read(term, &key)) {
                session_key(session, &key);
            }
            rc = session_app(session)->reload ? LOOP_RELOAD : rc;
            break;
        case TERM_RESIZE:
        case TERM_RESUME:
            loop_resize(term, session);
            session_app(session)->redraw = true;
            break;
        case TERM_SIGNAL:
            rc = loop_interrupted(session) ? 0 : term_signal();
            break;
        case TERM_CLOSED:
            session_app(session)->quit = true;
            break;
        }
    }
    canvas_free(&canvas);
    return rc;
}
