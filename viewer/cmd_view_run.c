/* cmd_view_run: see cmd_view_run.h. */
#include "viewer/cmd_view_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/base/timefmt.h"
#include "viewer/app/session.h"
#include "viewer/app/state.h"
#include "viewer/app/tour.h"
#include "viewer/output.h"
#include "viewer/paint/forms.h"
#include "viewer/paint/screen.h"
#include "viewer/paint/taken.h"
#include "viewer/term/loop.h"

enum {
    VIEW_SIZE_MAX = 1000,
    VIEW_FILE_MAX = 1 << 20,
    VIEW_PATH_BYTES = 1024
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

static int view_read(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "rb");
    char bytes[1024];
    size_t n;
    bool failed;
    if (file == NULL) {
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0 && out->len < VIEW_FILE_MAX) {
        buf_add(out, bytes, n);
    }
    failed = ferror(file) != 0;
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
    int rc;
    config_init(config);
    if (!view_config_path(path, sizeof path) || access(path, F_OK) != 0) {
        return 0;
    }
    rc = view_read(path, &text, err);
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
    if (args->at != NULL || args->span_ns > 0) {
        app_look(app, window_fit(begin_ns, begin_ns + span_ns, app->layout.time_cols));
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
        rc = buf_failed(&text) ? err_nomem(err, "the frame") : output_all(&text, err);
    }
    buf_free(&text);
    canvas_free(&canvas);
    return rc;
}

static const char *view_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The name of the file; the usual ending only takes room. */
static void view_title(const char *path, char *title, size_t room)
{
    static const char ending[] = ".sqlite";
    const char *base = view_base(path);
    size_t len = strlen(base);
    if (len > sizeof ending - 1 && strcmp(base + len - (sizeof ending - 1), ending) == 0) {
        len -= sizeof ending - 1;
    }
    (void)snprintf(title, room, "%.*s", (int)(len < room ? len : room - 1), base);
}

/* Reading takes time: after half a second a line on stderr says how far it is. */
struct view_progress {
    int64_t begin_ns;
    bool shown;
};

static int64_t view_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int view_tick(void *arg, int64_t done, int64_t total)
{
    struct view_progress *progress = arg;
    if (total > 0 && view_now_ns() - progress->begin_ns > 500000000) {
        progress->shown = true;
        (void)fprintf(stderr, "\rreading %3lld %%", (long long)(done * 100 / total));
        (void)fflush(stderr);
    }
    return 0;
}

static struct trace *view_trace(const char *path, const struct view_args *args, struct err *err)
{
    enum {
        CACHE_EVENTS = 1000000 /* smaller captures load in a blink */
    };
    struct view_progress progress = {.begin_ns = view_now_ns()};
    struct trace_options options = {.cache_events = args->no_cache ? 0 : CACHE_EVENTS};
    struct trace *trace;
    if (args->dump == NULL && isatty(STDERR_FILENO) != 0) {
        options.progress = view_tick;
        options.progress_arg = &progress;
    }
    trace = trace_load(path, &options, err);
    if (progress.shown) {
        (void)fprintf(stderr, "\r             \r");
    }
    return trace;
}

static int view_side(struct view *view, int i, const char *path, const struct view_args *args,
                     struct err *err)
{
    char title[APP_TITLE_BYTES];
    view->traces[i] = view_trace(path, args, err);
    if (view->traces[i] == NULL) {
        return -1;
    }
    view_title(path, title, sizeof title);
    view->apps[i] = app_open(view->traces[i], title, err);
    if (view->apps[i] == NULL) {
        return -1;
    }
    view->apps[i]->keymap = view->config->keymap;
    view->apps[i]->hide = view->config->hide;
    app_resize(view->apps[i], view->cols, view->rows);
    app_run(view->apps[i], ACTION_fit_gpu, 0);
    view->apps[i]->back_count = 0;
    return 0;
}

/* The file that keeps what was chosen for a capture: NAME-HASH in the folder for states. */
static bool view_state_path(const struct trace *trace, char *path, size_t room, bool make)
{
    const char *base = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char folder[VIEW_PATH_BYTES / 2];
    char *real = NULL;
    uint32_t hash = 2166136261U;
    const char *at;
    int len;
    if (base != NULL && base[0] == '/') {
        len = snprintf(folder, sizeof folder, "%s/cutline", base);
    } else if (home != NULL && home[0] == '/') {
        len = snprintf(folder, sizeof folder, "%s/.local/state/cutline", home);
    } else {
        return false;
    }
    if (len < 0 || (size_t)len >= sizeof folder) {
        return false;
    }
    real = realpath(trace->path, NULL);
    if (real == NULL) {
        return false;
    }
    if (make) {
        char *slash = folder;
        while ((slash = strchr(slash + 1, '/')) != NULL) {
            *slash = '\0';
            (void)mkdir(folder, 0700);
            *slash = '/';
        }
        (void)mkdir(folder, 0700);
    }
    for (at = real; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    }
    len = snprintf(path, room, "%s/%.100s-%08x", folder, view_base(real), (unsigned)hash);
    free(real);
    return len > 0 && (size_t)len < room;
}

static void view_state_load(struct app *app)
{
    char path[VIEW_PATH_BYTES];
    struct buf text = {0};
    if (view_state_path(app->trace, path, sizeof path, false) && access(path, R_OK) == 0 &&
        view_read(path, &text, NULL) == 0) {
        state_read(app, buf_text(&text), text.len);
    }
    buf_free(&text);
}

/* Written only where something was chosen; a failure is no matter. */
static void view_state_save(const struct app *app, const struct buf *before)
{
    char path[VIEW_PATH_BYTES];
    struct buf text = {0};
    FILE *file;
    state_write(app, &text);
    if (!buf_failed(&text) && strcmp(buf_text(&text), buf_text(before)) != 0 &&
        view_state_path(app->trace, path, sizeof path, true)) {
        file = fopen(path, "wb");
        if (file != NULL) {
            (void)fwrite(buf_text(&text), 1, text.len, file);
            (void)fclose(file);
        }
    }
    buf_free(&text);
}

static int view_load(struct view *view, const struct opts_rest *rest, const struct view_args *args,
                     struct err *err)
{
    int i;
    for (i = 0; i < rest->argc; i++) {
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
    return args->script != NULL ? view_script(&view->session, args->script, err) : 0;
}

static void view_close(struct view *view)
{
    int i;
    if (view->open) {
        session_close(&view->session);
    }
    for (i = 0; i < 2; i++) {
        app_close(view->apps[i]);
        trace_free(view->traces[i]);
    }
}

/* Options that were not given come from the configuration. */
static struct view_args view_settle_args(const struct view_args *given, const struct config *config)
{
    static const char *const colors[] = {"auto", "never", "8", "16", "256", "truecolor"};
    struct view_args args = *given;
    size_t i;
    for (i = 0; args.color < 0 && i < sizeof colors / sizeof colors[0]; i++) {
        args.color = strcmp(config->color, colors[i]) == 0 ? (int)i : args.color;
    }
    args.color = args.color < 0 ? VIEW_COLOR_AUTO : args.color;
    args.theme = args.theme < 0 ? theme_kind_by_name(config->theme) : args.theme;
    args.theme = args.theme < 0 ? THEME_DARK : args.theme;
    args.ascii = args.ascii || config->ascii || output_ascii();
    args.no_mouse = args.no_mouse || !config->mouse;
    return args;
}

/* Reads the files anew; what was seen and chosen is kept where the new file has it. */
static void view_reload(struct view *view, const struct opts_rest *rest,
                        const struct view_args *args)
{
    struct view_args plain = {.color = args->color, .theme = args->theme, .tour = false};
    struct view fresh = {
        .config = view->config, .cols = view->session.cols, .rows = view->session.rows};
    const struct app *old = session_app(&view->session);
    struct app *app;
    struct err err = {0};
    char filter[PROMPT_BYTES];
    struct window window = old->window;
    if (view_load(&fresh, rest, &plain, &err) != 0) {
        view_close(&fresh);
        session_app(&view->session)->reload = false;
        app_fail(session_app(&view->session), "%s", err.text);
        return;
    }
    (void)snprintf(filter, sizeof filter, "%s", old->filter.pattern);
    fresh.session.focus = view->session.focus;
    view_close(view);
    *view = fresh;
    app = session_app(&view->session);
    (void)app_set_filter(app, filter, NULL);
    app_look(app, window);
    app_say(app, "read again");
}

/* The terminal: opened last, when all that can fail before it has not. */
static int view_terminal(struct view *view, const struct opts_rest *rest,
                         const struct view_args *args, struct frame_style style, int *signal_number,
                         struct err *err)
{
    struct term_options options = {
        .colors = -1, .theme = (enum theme_kind)args->theme, .mouse = !args->no_mouse};
    const char *no_color = getenv("NO_COLOR");
    struct terminal *term;
    struct buf before = {0};
    int rc;
    if (args->color == VIEW_COLOR_NEVER ||
        (args->color == VIEW_COLOR_AUTO && no_color != NULL && no_color[0] != '\0')) {
        options.colors = THEME_MONO;
    } else if (args->color != VIEW_COLOR_AUTO) {
        options.colors = THEME_8 + args->color - VIEW_COLOR_NEVER - 1;
    }
    term = term_open(&options, err);
    if (term == NULL) {
        return -1;
    }
    if (!args->tour) {
        view_state_load(view->apps[0]);
    }
    state_write(view->apps[0], &before);
    style.plain = term_theme(term)->colors == THEME_MONO;
    do {
        rc = loop_run(term, &view->session, &style, err);
        if (rc == LOOP_RELOAD) {
            view_reload(view, rest, args);
        }
    } while (rc == LOOP_RELOAD);
    term_close(term);
    if (!args->tour) {
        view_state_save(view->apps[0], &before);
    }
    buf_free(&before);
    *signal_number = rc > 0 ? rc : 0;
    return rc < 0 ? -1 : 0;
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
    if (rc == 0) {
        rc = view_load(&view, rest, &args, err);
    }
    if (rc == 0) {
        rc = args.dump != NULL ? view_dump(&view.session, &args, style, err)
                               : view_terminal(&view, rest, &args, style, signal_number, err);
    }
    view_close(&view);
    free(config);
    return rc;
}
