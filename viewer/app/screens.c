/* screens: see screens.h. */
#include "viewer/app/screens.h"

#include <string.h>

#include "viewer/app/app_internal.h"

/* The rows of the app in focus: it has the status line, the detail pane and the lists. */
static int session_rows(const struct session *session, int which)
{
    int half = session->rows / 2;
    bool list = session_app(session)->list.kind != PANEL_NONE || session_app(session)->help_open ||
                session_app(session)->detail_open;
    int focused = list ? session->rows * 2 / 3 : half + 2;
    focused = focused > session->rows - 1 ? session->rows - 1 : focused;
    if (session->apps[1] == NULL) {
        return session->rows;
    }
    return which == session->focus ? focused : session->rows - focused;
}

int session_row(const struct session *session, int which)
{
    return which == 0 ? 0 : session_rows(session, 0);
}

static void session_place(struct session *session)
{
    for (int i = 0; i < 2 && session->apps[i] != NULL; i++) {
        struct app *app = session->apps[i];
        app->bare = session->apps[1] != NULL && i != session->focus;
        if (app->layout.cols != session->cols || app->layout.rows != session_rows(session, i)) {
            bool redraw = app->redraw;
            app_resize(app, session->cols, session_rows(session, i));
            app->redraw = redraw;
        }
    }
}

/* Shows the same piece of time, the same filter in the app that is not in focus. */
static void session_follow(struct session *session)
{
    struct app *from = session_app(session);
    struct app *to = session->apps[1 - session->focus];
    int64_t shift_ns = session->focus == 0 ? session->shift_ns : -session->shift_ns;
    struct window window = from->window;
    if (to == NULL) {
        return;
    }
    /* Not kept within the other capture: alignment comes first. */
    window.begin_ns =
        window_floor(from->window.begin_ns + shift_ns + window.ns_per_col / 2, window.ns_per_col) *
        window.ns_per_col;
    to->window = window;
    to->cursor_col = from->cursor_col;
    if (strcmp(to->filter.pattern, from->filter.pattern) != 0) {
        (void)app_set_filter(to, from->filter.pattern, NULL);
    }
}

static void session_align(struct session *session, const char *name)
{
    struct app *app = session_app(session);
    const struct trace *base = session->apps[0]->trace;
    const struct trace *other = session->apps[1]->trace;
    const struct align_range first = {.name = name, .len = strlen(name)};
    struct err err = {0};
    int rc = name[0] == '\0' ? align_by_kernel(base, other, &session->shift_ns, &err)
                             : align_by_range(base, other, &first, &session->shift_ns, &err);
    if (rc != 0) {
        app_fail(app, "%s", err.text);
    } else if (name[0] != '\0') {
        app_say(app, "aligned at the first range '%s' of each", name);
    }
    session->apps[0]->pair.shift_ns = session->shift_ns;
    session->apps[1]->pair.shift_ns = -session->shift_ns;
    app->span_stamp++;
}

/* The window in which both show all their GPU work. */
static void session_fit(struct session *session)
{
    struct app *base = session->apps[0];
    struct app *other = session->apps[1];
    int64_t begin_ns = base->window.begin_ns;
    int64_t end_ns = window_end(&base->window);
    int64_t other_begin_ns = other->window.begin_ns - session->shift_ns;
    int64_t other_end_ns = window_end(&other->window) - session->shift_ns;
    begin_ns = other_begin_ns < begin_ns ? other_begin_ns : begin_ns;
    end_ns = other_end_ns > end_ns ? other_end_ns : end_ns;
    base->window = window_fit(begin_ns, end_ns, base->window.cols);
    session_follow(session);
}

int session_open(struct session *session, struct app *first, struct app *second, struct err *err)
{
    *session = (struct session){.apps = {first, second}, .cols = 80, .rows = 24};
    if (second == NULL) {
        return 0;
    }
    if (align_names_make(first->trace, second->trace, &session->names, err) != 0) {
        return -1;
    }
    first->pair = (struct app_pair){second, &session->names, 0, false};
    second->pair = (struct app_pair){first, &session->names, 0, true};
    session_align(session, "");
    session_place(session);
    session_fit(session);
    return 0;
}

void session_moved(struct session *session)
{
    for (int i = 0; i < 2 && session->apps[1] != NULL; i++) {
        session->apps[i]->pair.names = &session->names;
    }
}

void session_close(struct session *session)
{
    if (session->apps[1] != NULL) {
        align_names_free(&session->names);
    }
}

void session_resize(struct session *session, int cols, int rows)
{
    session->cols = cols < 1 ? 1 : cols;
    session->rows = rows < 1 ? 1 : rows;
    session_place(session);
    session_follow(session);
    session_app(session)->redraw = true;
}

static void session_serve(struct session *session)
{
    struct app *app = session_app(session);
    enum app_ask ask = app->ask;
    app->ask = ASK_NONE;
    if (ask == ASK_NONE) {
        return;
    }
    if (session->apps[1] == NULL) {
        app_fail(app, "only one capture is open: cutline view BASE NEW opens two");
        return;
    }
    if (ask == ASK_OTHER) {
        session->focus = 1 - session->focus;
        app_lay_out(app);
    } else {
        session_align(session, app->asked);
    }
}

void session_key(struct session *session, const struct key *key)
{
    struct app *app = session_app(session);
    struct key moved = *key;
    if (key->code == KEYS_RESIZE) {
        session_resize(session, key->x, key->y);
        return;
    }
    if (key->code >= KEYS_CLICK && key->code <= KEYS_WHEEL_DOWN && session->apps[1] != NULL) {
        int which = key->y >= session_row(session, 1) ? 1 : 0;
        if (which != session->focus && key->code != KEYS_RELEASE) {
            session->focus = which;
            app = session_app(session);
        }
        moved.y -= session_row(session, session->focus);
    }
    app_key(app, &moved);
    session_serve(session);
    session_place(session);
    session_follow(session);
}

int session_play(struct session *session, const char *script, size_t len, struct err *err)
{
    const char *at = script;
    const char *end = script + len;
    int line = 1;
    bool begin = true;
    while (at < end) {
        struct key key;
        if (begin && *at == '#') {
            at = memchr(at, '\n', (size_t)(end - at));
            at = at == NULL ? end : at;
            continue;
        }
        begin = *at == '\n';
        line += begin ? 1 : 0;
        if ((*at == ' ' && session_app(session)->prompt.kind == PROMPT_NONE) || *at == '\n' ||
            *at == '\r' || *at == '\t') {
            at++;
            continue;
        }
        if (keys_parse(&at, end, &key, err) != 0) {
            return err_prefix(err, "line %d", line);
        }
        session_key(session, &key);
        session_settle(session);
    }
    return 0;
}

void session_settle(struct session *session)
{
    session_place(session);
    session_follow(session);
    for (int i = 0; i < 2 && session->apps[i] != NULL; i++) {
        app_settle(session->apps[i]);
    }
}
