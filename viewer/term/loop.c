/* loop: see loop.h. */
#include "viewer/term/loop.h"

#include <signal.h>
#include <sys/stat.h>

#include "viewer/paint/screen.h"
#include "viewer/term/deliver.h"

enum {
    LOOP_TASK_MS = 100 /* so often we look how far the task is */
};

/* The file of a capture, as it was when it was read. */
struct loop_file {
    struct stat was;
    bool known;
    bool told;
};

static void loop_note_file(struct loop_file *file, const struct app *app)
{
    file->known = stat(app->trace->path, &file->was) == 0;
    file->told = false;
}

/* Says once that the file is not what is shown any more. */
static void loop_check_file(struct loop_file *file, struct app *app)
{
    struct stat now;
    char key[KEYS_NAME_BYTES];
    if (!file->known || file->told || app->message[0] != '\0') {
        return;
    }
    bool gone = stat(app->trace->path, &now) != 0;
    if (!gone && now.st_size == file->was.st_size && now.st_ino == file->was.st_ino &&
        now.st_mtim.tv_sec == file->was.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == file->was.st_mtim.tv_nsec) {
        return;
    }
    file->told = true;
    if (gone) {
        app_say(app, "the file is gone; what is shown stays");
    } else {
        app_say(app, "the file has changed; %s reads it again",
                keys_name(keymap_key(&app->keymap, ACTION_reload), key));
    }
}

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

/* Ctrl-C in a prompt, a list or the help only closes that. */
static bool loop_interrupted(struct session *session)
{
    struct app *app = session_app(session);
    struct key key = {.code = 'c' & 0x1F};
    if (term_signal() != SIGINT) {
        return false;
    }
    if (app->prompt.kind != PROMPT_NONE) {
        session_key(session, &key);
    } else if (app->help_open) {
        app_run(app, ACTION_help_close, 0);
    } else if (app->list.kind != PANEL_NONE) {
        app_run(app, ACTION_list_close, 0);
    } else {
        return false;
    }
    term_forget_signal();
    return true;
}

/* Is the task over, and nothing being typed? Puts how far it is on the status line. */
static bool loop_task_over(const struct loop_task *task, struct app *app)
{
    app->reading[0] = '\0';
    return task != NULL && task->over(task->arg, app->reading, sizeof app->reading) &&
           app->prompt.kind == PROMPT_NONE;
}

/* What makes the next frame quick is done while the person looks at this one. */
static enum term_event loop_next(struct terminal *term, struct app *app,
                                 const struct loop_task *task)
{
    app_prepare(app);
    return term_wait(term, task != NULL ? LOOP_TASK_MS : -1);
}

int loop_run(struct terminal *term, struct session *session, const struct frame_style *style,
             const struct loop_task *task, struct err *err)
{
    struct canvas canvas = {0};
    struct loop_file file = {0};
    struct key key;
    int rc = 0;
    loop_resize(term, session);
    loop_note_file(&file, session_app(session));
    while (!loop_done(session) && rc == 0) {
        if (loop_task_over(task, session_app(session))) {
            rc = LOOP_TASK;
            break;
        }
        if (loop_frame(term, session, style, &canvas, err) != 0) {
            rc = -1;
            break;
        }
        switch (loop_next(term, session_app(session), task)) {
        case TERM_KEY:
            while (!loop_done(session) && term_read(term, &key)) {
                session_key(session, &key);
            }
            loop_check_file(&file, session_app(session));
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
        case TERM_NOTHING:
            break;
        }
    }
    canvas_free(&canvas);
    return rc;
}

/* Did someone ask to leave? */
static bool loop_wants_out(struct terminal *term)
{
    struct key key;
    bool out = false;
    while (term_read(term, &key)) {
        out = out || key.code == 'q' || key.code == KEYS_ESCAPE || key.code == ('c' & 0x1F);
    }
    return out;
}

int loop_wait(struct terminal *term, const char *title, const struct frame_style *style,
              const struct loop_task *task, bool once, struct err *err)
{
    struct canvas canvas = {0};
    char text[APP_READING_BYTES];
    enum term_event event = TERM_NOTHING;
    int rc = 0;
    while (!task->over(task->arg, text, sizeof text)) {
        struct screen_note note = {.title = title, .text = text};
        term_size(term, &note.cols, &note.rows);
        rc = screen_reading(&note, style, &canvas, err);
        if (rc != 0) {
            break;
        }
        term_draw(term, &canvas, event == TERM_RESIZE || event == TERM_RESUME);
        if (once) {
            break;
        }
        event = term_wait(term, LOOP_TASK_MS);
        if (event == TERM_SIGNAL) {
            rc = term_signal();
            break;
        }
        if (event == TERM_CLOSED || (event == TERM_KEY && loop_wants_out(term))) {
            break;
        }
    }
    canvas_free(&canvas);
    return rc != 0 ? rc : task->over(task->arg, text, sizeof text) ? LOOP_TASK : 0;
}
