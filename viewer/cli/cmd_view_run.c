/* cmd_view_run: see cmd_view_run.h. */
#include "viewer/cli/cmd_view_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "viewer/app/screens.h"
#include "viewer/app/state.h"
#include "viewer/app/tour.h"
#include "viewer/cli/cmd_view_read.h"
#include "viewer/cli/cmd_view_state.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/output.h"
#include "viewer/paint/copied.h"
#include "viewer/paint/screen.h"
#include "viewer/paint/variants.h"
#include "viewer/term/loop.h"

enum {
    VIEW_SIZE_MAX = 1000,
    VIEW_FILE_MAX = 1 << 20,
    VIEW_PATH_BYTES = 1024,
    VIEW_AGAIN_MS = 60, /* what was opened before is there by then */
    VIEW_QUICK_MS = 200, /* what is read by then, after that, needs no word about it */
    VIEW_LOOK_MS = 10,
    VIEW_PREVIEW_ROWS = 20000, /* of each table, while the rest is read */
    VIEW_READING_BYTES = 64
};

static int view_size(const char *text, int *cols, int *rows, struct err *err)
{
    char *end = NULL;
    long width = strtol(text, &end, 10);
    long height = end != text && *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || width < 1 || height < 1 || width > VIEW_SIZE_MAX ||
        height > VIEW_SIZE_MAX) {
        return err_set(err, "--size '%.40s': write COLUMNSxROWS, each 1 to %d", text,
                       (int)VIEW_SIZE_MAX);
    }
    *cols = (int)width;
    *rows = (int)height;
    return 0;
}

int view_read(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "rb");
    char bytes[1024];
    size_t n;
    if (file == NULL) {
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0 && out->len < VIEW_FILE_MAX) {
        buf_add(out, bytes, n);
    }
    bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed || buf_failed(out) || out->len >= VIEW_FILE_MAX) {
        return err_set(err, "%s: cannot be read, or is larger than 1 MB", path);
    }
    return 0;
}

/* $CUTLINE_CONFIG, or cutline/config in the folder for settings. False where there is none. */
static bool view_config_path(char *path, size_t room)
{
    const char *named = getenv("CUTLINE_CONFIG");
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int len;
    if (named != NULL && named[0] != '\0') {
        len = snprintf(path, room, "%s", named);
    } else if (base != NULL && base[0] == '/') {
        len = snprintf(path, room, "%s/cutline/config", base);
    } else if (home != NULL && home[0] == '/') {
        len = snprintf(path, room, "%s/.config/cutline/config", home);
    } else {
        return false;
    }
    return len > 0 && (size_t)len < room;
}

int view_config(struct config *config, struct err *err)
{
    char path[VIEW_PATH_BYTES];
    struct buf text = {0};
    config_init(config);
    if (!view_config_path(path, sizeof path) || access(path, F_OK) != 0) {
        return 0;
    }
    int rc = view_read(path, &text, err);
    if (rc == 0 && config_parse(config, buf_text(&text), text.len, err) != 0) {
        rc = err_prefix(err, "%s", path);
    }
    buf_free(&text);
    return rc;
}

/* The captures of the command line, and what shows them. */
struct view {
    struct trace *traces[2];
    struct app *apps[2];
    struct trace_keep *keeps[2]; /* what the traces are owed */
    struct session session;
    struct config *config; /* owned by view_open */
    int cols;
    int rows;
    bool open; /* the session is */
};

/* The piece of time that the options ask for. */
static int view_window(struct app *app, const struct view_args *args, struct err *err)
{
    int64_t begin_ns = app->window.begin_ns;
    int64_t span_ns = window_end(&app->window) - begin_ns;
    if (args->at != NULL && timefmt_parse(args->at, INT64_C(1000000000), &begin_ns, err) != 0) {
        return err_prefix(err, "--at");
    }
    span_ns = args->span_ns > 0 ? args->span_ns : span_ns;
    if (args->at != NULL &&
        (begin_ns > app->trace->end_ns || i64_add(begin_ns, span_ns) < app->trace->begin_ns)) {
        char first[TIMEFMT_BYTES];
        char last[TIMEFMT_BYTES];
        app_fail(app, "--at %.40s is outside of the capture: %s to %s", args->at,
                 timefmt_at(app->trace->begin_ns, 1000, first),
                 timefmt_at(app->trace->end_ns, 1000, last));
    }
    if (args->at != NULL || args->span_ns > 0) {
        app_look(app, window_fit(begin_ns, i64_add(begin_ns, span_ns), app->layout.time_cols));
    }
    return 0;
}

static int view_script(struct session *session, const char *path, struct err *err)
{
    struct buf script = {0};
    int rc = view_read(path, &script, err);
    if (rc == 0) {
        session_settle(session);
        rc = session_play(session, buf_text(&script), script.len, err);
    }
    buf_free(&script);
    return rc == 0 ? 0 : err_prefix(err, "--script");
}

static int view_dump(struct session *session, const struct view_args *args,
                     struct frame_style style, struct err *err)
{
    struct canvas canvas = {0};
    struct buf text = {0};
    struct theme theme = {(enum theme_kind)args->theme, THEME_256};
    bool roles = strcmp(args->dump, "roles") == 0;
    bool taken = strcmp(args->dump, "taken") == 0;
    bool forms = strcmp(args->dump, "forms") == 0;
    int rc;
    if (!roles && !taken && !forms && strcmp(args->dump, "text") != 0) {
        return err_set(err, "--dump=%.40s: text, roles, taken or forms", args->dump);
    }
    /* Text has no colours: bars need their brackets. Roles are those of the colours asked for. */
    style.plain = style.plain || (!roles && args->color == VIEW_COLOR_AUTO);
    session_settle(session);
    if (taken) {
        rc = taken_make(session_app(session), &style, &theme, &text, err);
    } else if (forms) {
        rc = forms_make(session, theme.kind, &text, err);
    } else {
        rc = screen_paint(session, &style, &canvas, err);
        if (rc == 0) {
            canvas_dump(&canvas, roles ? CANVAS_DUMP_ROLES : CANVAS_DUMP_TEXT, &text);
        }
    }
    if (rc == 0) {
        rc = trace_check(session_app(session)->trace, err);
    }
    if (rc == 0) {
        rc = buf_failed(&text) ? err_nomem(err, "the frame") : output_all(&text, err);
    }
    buf_free(&text);
    canvas_free(&canvas);
    return rc;
}

static int view_side(struct view *view, int i, const char *path, const struct view_args *args,
                     struct err *err)
{
    char title[APP_TITLE_BYTES];
    if (view->traces[i] == NULL) {
        struct trace_options options = {0};
        kept_configured(args->no_cache, view->config, &options);
        view->traces[i] = trace_load(path, &options, err);
    }
    if (view->traces[i] == NULL) {
        return -1;
    }
    view_title(path, title, sizeof title);
    if (view->apps[i] == NULL) {
        view->apps[i] = app_open(view->traces[i], title, err);
    }
    if (view->apps[i] == NULL) {
        return -1;
    }
    view->apps[i]->keymap = view->config->keymap;
    view->apps[i]->hide = view->config->hide;
    app_resize(view->apps[i], view->cols, view->rows);
    app_fold_devices(view->apps[i]);
    app_run(view->apps[i], ACTION_fit_gpu, 0);
    view->apps[i]->back_count = 0;
    return 0;
}

/* Traces that are there already are not read again. */
static int view_load(struct view *view, const struct opts_rest *rest, const struct view_args *args,
                     struct err *err)
{
    for (int i = 0; i < rest->argc; i++) {
        if (view_side(view, i, rest->argv[i], args, err) != 0) {
            return -1;
        }
    }
    if (session_open(&view->session, view->apps[0], view->apps[1], err) != 0) {
        return -1;
    }
    view->open = true;
    session_resize(&view->session, view->cols, view->rows);
    if (args->tour) {
        tour_begin(view->apps[0]);
    }
    if (args->filter != NULL && app_set_filter(view->apps[0], args->filter, err) != 0) {
        return err_prefix(err, "--filter");
    }
    if (view_window(view->apps[0], args, err) != 0) {
        return -1;
    }
    if (args->state != NULL) {
        state_take_view(view->apps[0], args->state);
    }
    return args->script != NULL ? view_script(&view->session, args->script, err) : 0;
}

static void view_close(struct view *view)
{
    if (view->open) {
        session_close(&view->session);
    }
    for (int i = 0; i < 2; i++) {
        (void)trace_keep_end(view->keeps[i], false, NULL);
        app_close(view->apps[i]);
        trace_free(view->traces[i]);
    }
}

/* Options that were not given come from the configuration. */
static struct view_args view_settle_args(const struct view_args *given, const struct config *config)
{
    static const char *const colors[] = {"auto", "never", "8", "16", "256", "truecolor"};
    struct view_args args = *given;
    for (size_t i = 0; args.color < 0 && i < sizeof colors / sizeof colors[0]; i++) {
        args.color = strcmp(config->color, colors[i]) == 0 ? (int)i : args.color;
    }
    args.color = args.color < 0 ? VIEW_COLOR_AUTO : args.color;
    args.theme = args.theme < 0 ? theme_kind_by_name(config->theme) : args.theme;
    args.ask_theme = args.theme < 0 || args.theme == THEME_KIND_COUNT;
    args.theme = args.ask_theme ? THEME_DARK : args.theme;
    args.ascii = args.ascii || config->ascii || output_ascii();
    args.no_mouse = args.no_mouse || !config->mouse;
    return args;
}

/* A terminal with what it shows while captures are read. */
struct view_screen {
    const struct view *view; /* what is shown */
    struct terminal *term;
    struct frame_style style;
    struct view_reading all;
    struct view_reading first; /* of the first rows alone */
    bool preview; /* the view holds only the first rows */
    bool noted; /* it was said which terminal is spoken to */
    struct buf before; /* owned: the choices as they were when all was read */
};

/* What is owed is done while the person looks at the first frame. */
static void view_keep(struct view *view)
{
    for (int i = 0; i < 2; i++) {
        struct shelf_list list = {0};
        if (view->apps[i] != NULL) {
            app_keep(view->apps[i], &list);
            view->keeps[i] = trace_keep_start(view->traces[i], &list);
        }
    }
}

/* Is what a trace is owed over? */
static bool view_keep_over(const struct view *view)
{
    bool over = false;
    for (int i = 0; i < 2; i++) {
        over =
            over || (view->keeps[i] != NULL && trace_keep_state(view->keeps[i]) != TRACE_KEPT_BUSY);
    }
    return over;
}

static bool view_task_over(void *arg, char *text, size_t room)
{
    struct view_screen *screen = arg;
    if (screen->all.loader == NULL) {
        return view_keep_over(screen->view);
    }
    if (loader_wait(screen->all.loader, 0)) {
        return true;
    }
    int percent = loader_percent(screen->all.loader);
    (void)snprintf(text, room, percent < 100 ? "%sreading %d %%" : "%sreading is done: arranging",
                   screen->preview ? "only the first rows: " : "", percent);
    return false;
}

/* Carries what was chosen over. */
static void view_choices(const struct app *from, struct app *to)
{
    struct buf text = {0};
    state_write(from, &text);
    state_read(to, buf_text(&text), text.len);
    buf_free(&text);
}

/* Says once which terminal is spoken to, where TERM names none that is known. */
static void view_note(struct view_screen *screen, struct app *app)
{
    if (screen->term != NULL && !screen->noted && term_note(screen->term)[0] != '\0') {
        app_say(app, "%s", term_note(screen->term));
        screen->noted = true;
    }
}

/* Puts what was read in the place of what is shown; what was seen and chosen stays where the person
 * did anything. 0, or -1 where there is nothing to show. */
static int view_swap(struct view *view, struct view_screen *screen, const struct opts_rest *rest,
                     const struct view_args *args, struct err *err)
{
    struct view_args plain = {.color = args->color, .theme = args->theme};
    struct view fresh = {.config = view->config, .cols = view->cols, .rows = view->rows};
    struct app *old = view->open ? session_app(&view->session) : NULL;
    bool first = screen->preview || old == NULL;
    bool touched = old != NULL && (!first || old->back_count > 0 || old->filter.terms != NULL ||
                                   old->list.kind != PANEL_NONE);
    char filter[PROMPT_BYTES] = "";
    struct window window = {0};
    enum panel_kind list = PANEL_NONE;
    int rc = view_read_end(&screen->all, fresh.traces, fresh.apps, err);
    rc = rc == 0 ? view_load(&fresh, rest, first ? args : &plain, err) : rc;
    if (rc != 0) {
        view_close(&fresh);
        if (first) {
            return -1;
        }
        app_fail(old, "%s", err->text);
        return 0;
    }
    if (!first) {
        view_choices(view->apps[0], fresh.apps[0]);
    } else if (!args->tour && args->state == NULL) {
        view_state_load(fresh.apps[0]);
    }
    if (first) {
        state_write(fresh.apps[0], &screen->before);
    }
    if (old != NULL) {
        (void)snprintf(filter, sizeof filter, "%s", old->filter.pattern);
        window = old->window;
        list = old->list.kind;
        fresh.session.focus = view->session.focus;
    }
    view_close(view);
    *view = fresh;
    session_moved(&view->session);
    view_keep(view);
    screen->preview = false;
    struct app *app = session_app(&view->session);
    if (touched) {
        (void)app_set_filter(app, filter, NULL);
        app_look(app, window);
        if (list != PANEL_NONE) {
            panel_open(app, list);
        }
    }
    if (!first) {
        app_say(app, "read again");
    }
    view_note(screen, app);
    return 0;
}

/* The first rows of a table with few rows reach far: shows the time of the busiest thread's calls,
 * of which there are most. */
static void view_preview_window(struct app *app)
{
    const struct trace *trace = app->trace;
    const struct trace_lane *most = NULL;
    for (uint32_t i = 0; i < trace->lane_count; i++) {
        if (trace->lanes[i].table == TRACE_API &&
            (most == NULL || trace->lanes[i].count > most->count)) {
            most = &trace->lanes[i];
        }
    }
    if (most != NULL) {
        const struct trace_events *events = &trace->events[most->table];
        app_look(app,
                 window_fit(events->begin_ns[most->first],
                            events->end_ns[most->first + most->count - 1], app->layout.time_cols));
    }
}

/* The first rows are there, or all. */
static bool view_first_over(void *arg, char *text, size_t room)
{
    struct view_screen *screen = arg;
    return view_task_over(arg, text, room) || loader_wait(screen->first.loader, 0);
}

/* Begins to read the first rows, as a view to move in while the rest is read. */
static void view_first_begin(struct view_screen *screen, const struct opts_rest *rest)
{
    const struct trace_options options = {.rows_most = VIEW_PREVIEW_ROWS, .threads = 1};
    if (rest->argc == 1) {
        (void)view_read_begin(&screen->first, rest, &options, NULL);
    }
}

/* Shows the first rows once they are there. Where that fails: no matter. 0, a signal number, or -1. */
static int view_preview(struct view *view, struct view_screen *screen, const struct opts_rest *rest,
                        const struct view_args *args, struct err *err)
{
    struct view_args plain = {.color = args->color, .theme = args->theme};
    const struct loop_task task = {view_first_over, screen};
    char title[APP_TITLE_BYTES];
    view_title(rest->argv[0], title, sizeof title);
    if (screen->first.loader == NULL) {
        return LOOP_TASK;
    }
    int rc = loop_wait(screen->term, title, &screen->style, &task, false, err);
    if (rc != LOOP_TASK || !loader_wait(screen->first.loader, 0)) {
        return rc;
    }
    if (view_read_end(&screen->first, view->traces, view->apps, NULL) == 0 &&
        view_load(view, rest, &plain, NULL) == 0) {
        screen->preview = true;
        view_preview_window(session_app(&view->session));
    } else {
        view_close(view);
        *view = (struct view){.config = view->config, .cols = view->cols, .rows = view->rows};
    }
    return LOOP_TASK;
}

static int view_start(struct view_screen *screen, const struct opts_rest *rest,
                      const struct view_args *args, struct err *err)
{
    struct trace_options options = {0};
    kept_configured(args->no_cache, screen->view->config, &options);
    return view_read_begin(&screen->all, rest, &options, err);
}

/* Says what came of what the traces were owed. A damaged file was forgotten: the capture is read. */
static void view_kept(struct view *view, struct view_screen *screen, const struct opts_rest *rest,
                      const struct view_args *args)
{
    for (int i = 0; i < 2; i++) {
        struct err err = {""};
        if (view->keeps[i] == NULL || trace_keep_state(view->keeps[i]) == TRACE_KEPT_BUSY) {
            continue;
        }
        enum trace_kept state = trace_keep_end(view->keeps[i], true, &err);
        view->keeps[i] = NULL;
        if (state == TRACE_KEPT_NOT) {
            app_say(session_app(&view->session), "nothing is kept for the next time: %s", err.text);
        } else if (state == TRACE_KEPT_DAMAGED) {
            app_fail(session_app(&view->session), "what was kept is damaged: reading it again");
            (void)view_start(screen, rest, args, NULL);
        }
    }
}

static bool view_owes(const struct view *view)
{
    return view->keeps[0] != NULL || view->keeps[1] != NULL;
}

/* Shows what there is until the person leaves. 0, a signal number, or -1. */
static int view_loop(struct view *view, struct view_screen *screen, const struct opts_rest *rest,
                     const struct view_args *args, struct err *err)
{
    const struct loop_task task = {view_task_over, screen};
    char title[APP_TITLE_BYTES];
    int rc;
    view_title(rest->argv[0], title, sizeof title);
    do {
        const struct loop_task *beside =
            screen->all.loader != NULL || view_owes(view) ? &task : NULL;
        rc = view->open ? loop_run(screen->term, &view->session, &screen->style, beside, err)
                        : loop_wait(screen->term, title, &screen->style, &task, false, err);
        if (rc == LOOP_RELOAD) {
            session_app(&view->session)->reload = false;
            if (screen->all.loader == NULL && view_start(screen, rest, args, err) != 0) {
                app_fail(session_app(&view->session), "%s", err->text);
            }
        } else if (rc == LOOP_TASK && screen->all.loader == NULL) {
            view_kept(view, screen, rest, args);
        } else if (rc == LOOP_TASK) {
            rc = view_swap(view, screen, rest, args, err) == 0 ? LOOP_TASK : -1;
        }
    } while (rc == LOOP_RELOAD || rc == LOOP_TASK);
    return rc;
}

static struct terminal *view_terminal(const struct view_args *args, struct err *err)
{
    struct term_options options = {.colors = -1,
                                   .theme = (enum theme_kind)args->theme,
                                   .ask_theme = args->ask_theme,
                                   .mouse = !args->no_mouse};
    const char *no_color = getenv("NO_COLOR");
    if (args->color == VIEW_COLOR_NEVER ||
        (args->color == VIEW_COLOR_AUTO && no_color != NULL && no_color[0] != '\0')) {
        options.colors = THEME_MONO;
    } else if (args->color != VIEW_COLOR_AUTO) {
        options.colors = THEME_8 + args->color - VIEW_COLOR_NEVER - 1;
    }
    return term_open(&options, err);
}

/* Waits a moment for a capture that is there at once, before the terminal is touched. True when it is
 * read, or has failed. */
static bool view_quick(struct view_screen *screen, const struct opts_rest *rest)
{
    bool over = loader_wait(screen->all.loader, VIEW_AGAIN_MS);
    if (!over) {
        view_first_begin(screen, rest);
    }
    for (int ms = 0; ms < VIEW_QUICK_MS && !over; ms += VIEW_LOOK_MS) {
        over = loader_wait(screen->all.loader, VIEW_LOOK_MS);
        if (screen->first.loader != NULL && loader_wait(screen->first.loader, 0)) {
            break;
        }
    }
    return over;
}

/* Reads and shows. What fails at once does so before the terminal is touched. */
static int view_show(struct view *view, const struct opts_rest *rest, const struct view_args *args,
                     struct frame_style style, int *signal_number, struct err *err)
{
    struct view_screen screen = {.view = view, .style = style};
    int rc = view_start(&screen, rest, args, err);
    if (rc == 0 && view_quick(&screen, rest)) {
        rc = view_swap(view, &screen, rest, args, err);
    }
    screen.term = rc == 0 ? view_terminal(args, err) : NULL;
    if (screen.term != NULL) {
        screen.style.plain = term_theme(screen.term)->colors == THEME_MONO;
        if (screen.all.loader != NULL) {
            rc = view_preview(view, &screen, rest, args, err);
        } else {
            view_note(&screen, session_app(&view->session));
            rc = LOOP_TASK;
        }
        rc = rc == LOOP_TASK ? view_loop(view, &screen, rest, args, err) : rc;
        term_close(screen.term);
        if (view->open && !screen.preview && !args->tour) {
            view_state_save(view->apps[0], &screen.before);
        }
        *signal_number = rc > 0 ? rc : 0;
    } else {
        rc = -1;
    }
    view_read_leave(&screen.first);
    view_read_leave(&screen.all);
    buf_free(&screen.before);
    return rc < 0 ? -1 : 0;
}

/* After the frame was printed. 0, or -1: it came from a damaged file. */
static int view_end_keeps(struct view *view)
{
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        rc = kept_end("view", view->keeps[i]) != 0 ? -1 : rc;
        view->keeps[i] = NULL;
    }
    return rc;
}

int view_open(const struct opts_rest *rest, const struct view_args *given, int *signal_number,
              struct err *err)
{
    struct config *config = calloc(1, sizeof *config);
    struct view view = {.config = config, .cols = 80, .rows = 24};
    struct frame_style style = {0};
    struct view_args args = *given;
    int rc = config == NULL ? err_nomem(err, "the settings") : view_config(config, err);
    if (rc == 0) {
        args = view_settle_args(given, config);
        style = (struct frame_style){.ascii = args.ascii, .plain = args.color == VIEW_COLOR_NEVER};
    }
    if (rc == 0 && args.size != NULL) {
        rc = view_size(args.size, &view.cols, &view.rows, err);
    }
    if (rc == 0 && args.dump == NULL) {
        rc = view_show(&view, rest, &args, style, signal_number, err);
    } else if (rc == 0) {
        rc = view_load(&view, rest, &args, err);
        view_keep(&view);
        rc = rc == 0 ? view_dump(&view.session, &args, style, err) : rc;
        rc = view_end_keeps(&view) != 0 && rc == 0 ? err_set(err, "what was kept is damaged") : rc;
    }
    view_close(&view);
    free(config);
    return rc;
}
