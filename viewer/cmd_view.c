/* cutline view: the timeline, in the terminal or as text. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/timefmt.h"
#include "viewer/app/app.h"
#include "viewer/app/keydoc.h"
#include "viewer/command.h"
#include "viewer/opts.h"
#include "viewer/output.h"
#include "viewer/paint/frame.h"
#include "viewer/paint/screen.h"
#include "viewer/paint/taken.h"
#include "viewer/term/loop.h"

enum {
    VIEW_COLOR_AUTO,
    VIEW_COLOR_NEVER,
    VIEW_SIZE_MAX = 1000,
    VIEW_SCRIPT_MAX = 1 << 20
};

struct view_args {
    const char *at;
    int64_t span_ns;
    const char *filter;
    const char *script;
    const char *dump; /* NULL = use the terminal */
    const char *size;
    const char *keys;
    int color; /* index in the choices */
    int theme;
    bool ascii;
    bool no_mouse;
};

/* clang-format off */
static const struct opts_option VIEW_OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What is shown first"},
    {0, "at", "TIME", .kind = OPTS_TEXT, .at = offsetof(struct view_args, at),
     .help = "Begin at TIME of the capture: 12.5s, 800ms; a bare number is in seconds."},
    {0, "span", "DURATION", .kind = OPTS_TIME, .unit_ns = 1000000000, .min = 1,
     .at = offsetof(struct view_args, span_ns),
     .help = "Show so much time. Default: all GPU work."},
    {0, "filter", "REGEX", .kind = OPTS_TEXT, .at = offsetof(struct view_args, filter),
     .help = "Keep only the ops and calls whose name matches; as f in the timeline."},
    {.kind = OPTS_GROUP, .help = "How it looks"},
    {0, "color", "WHEN", .kind = OPTS_CHOICE, .choices = "auto|never|8|16|256|truecolor",
     .at = offsetof(struct view_args, color),
     .help = "Colours at most. Default: what the terminal has; never where NO_COLOR is set."},
    {0, "theme", "NAME", .kind = OPTS_CHOICE, .choices = "dark|light|safe",
     .at = offsetof(struct view_args, theme),
     .help = "Colours for a dark or a light background, or told apart with any colour vision."},
    {0, "ascii", .kind = OPTS_FLAG, .at = offsetof(struct view_args, ascii),
     .help = "Draw with ASCII characters only. Default where the locale is not UTF-8."},
    {0, "no-mouse", .kind = OPTS_FLAG, .at = offsetof(struct view_args, no_mouse),
     .help = "Leave the mouse to the terminal."},
    {.kind = OPTS_GROUP, .help = "Without a terminal"},
    {0, "dump", "WHAT", .kind = OPTS_TEXT, .choices = "text|roles|taken", .bare = "text",
     .at = offsetof(struct view_args, dump),
     .help = "Print the frame: its text, or a letter for what each cell is. With taken: "
             "what the keys of the script copied or saved."},
    {0, "size", "WxH", .kind = OPTS_TEXT, .at = offsetof(struct view_args, size),
     .help = "Columns and rows of the dump. Default 80x24."},
    {0, "script", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct view_args, script),
     .help = "Press the keys in FILE first: characters, and <Enter>, <C-u>, <Left>. "
             "Blanks and line ends do nothing."},
    {0, "keys", "FORM", .kind = OPTS_TEXT, .choices = "text|mdoc", .bare = "text",
     .at = offsetof(struct view_args, keys), .help = "Print the keys and their actions, and leave."},
    {.kind = OPTS_END},
};
/* clang-format on */

static const struct opts_spec VIEW_SPEC = {
    .about = "Shows a capture as a timeline: GPU rows for each stream, API calls and NVTX ranges "
             "for each thread. Press ? for the keys.\n\n"
             "With two captures, BASE and NEW, both are shown on one axis, aligned at their first "
             "kernel.",
    .options = VIEW_OPTIONS,
    .operands_min = 0,
    .operands_max = 2,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline train.sqlite                       open the timeline\n"
                "cutline view --at 12.5s --span 50ms FILE   open it at a place\n"
                "cutline view --dump --size 200x50 FILE     print one frame\n"
                "cutline view before.sqlite after.sqlite    compare two captures\n",
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
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0 && out->len < VIEW_SCRIPT_MAX) {
        buf_add(out, bytes, n);
    }
    failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed || buf_failed(out) || out->len >= VIEW_SCRIPT_MAX) {
        return err_set(err, "%s: cannot be read as a script of keys", path);
    }
    return 0;
}

/* The captures of the command line, and what shows them. */
struct view {
    struct trace *traces[2];
    struct app *apps[2];
    struct session session;
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
    int rc;
    if (!roles && !taken && strcmp(args->dump, "text") != 0) {
        return err_set(err, "--dump=%.40s: text, roles or taken", args->dump);
    }
    /* Text has no colours: bars need their brackets. Roles are those of the colours asked for. */
    style.plain = style.plain || (!roles && args->color == VIEW_COLOR_AUTO);
    session_settle(session);
    if (taken) {
        rc = taken_make(session_app(session), &style, &theme, &text, err);
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

/* The terminal: opened last, when all that can fail before it has not. */
static int view_terminal(struct session *session, const struct view_args *args,
                         struct frame_style style, int *signal_number, struct err *err)
{
    struct term_options options = {.colors = -1,
                                   .theme = (enum theme_kind)args->theme,
                                   .mouse = !args->no_mouse};
    const char *no_color = getenv("NO_COLOR");
    struct terminal *term;
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
    style.plain = term_theme(term)->colors == THEME_MONO;
    rc = loop_run(term, session, &style, err);
    term_close(term);
    *signal_number = rc > 0 ? rc : 0;
    return rc < 0 ? -1 : 0;
}

static const char *view_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int view_load(struct view *view, const struct opts_rest *rest, const struct view_args *args,
                     struct err *err)
{
    int cols = 80;
    int rows = 24;
    int i;
    if (args->size != NULL && view_size(args->size, &cols, &rows, err) != 0) {
        return -1;
    }
    for (i = 0; i < rest->argc; i++) {
        view->traces[i] = trace_load(rest->argv[i], NULL, err);
        if (view->traces[i] == NULL) {
            return -1;
        }
        view->apps[i] = app_open(view->traces[i], view_title(rest->argv[i]), err);
        if (view->apps[i] == NULL) {
            return -1;
        }
        app_resize(view->apps[i], cols, rows);
        app_run(view->apps[i], ACTION_fit_gpu, 0);
        view->apps[i]->back_count = 0;
    }
    if (session_open(&view->session, view->apps[0], view->apps[1], err) != 0) {
        return -1;
    }
    view->open = true;
    session_resize(&view->session, cols, rows);
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

static int view_open(const struct opts_rest *rest, const struct view_args *args,
                     int *signal_number, struct err *err)
{
    struct frame_style style = {.ascii = args->ascii || output_ascii(),
                                .plain = args->color == VIEW_COLOR_NEVER};
    struct view view = {0};
    int rc = view_load(&view, rest, args, err);
    if (rc == 0) {
        rc = args->dump != NULL ? view_dump(&view.session, args, style, err)
                                : view_terminal(&view.session, args, style, signal_number, err);
    }
    view_close(&view);
    return rc;
}

static int view_keys(const char *form, struct err *err)
{
    struct keymap map;
    struct buf text = {0};
    int rc;
    keymap_defaults(&map);
    if (strcmp(form, "mdoc") == 0) {
        keydoc_mdoc(&text);
    } else {
        keydoc_text(&map, &text);
    }
    rc = output_all(&text, err);
    buf_free(&text);
    return rc;
}

static int view_run(int argc, char **argv)
{
    struct view_args args = {0};
    struct opts_rest rest;
    struct err err = {0};
    int status = 0;
    int signal_number = 0;
    if (!opts_begin(&COMMAND_VIEW, argc, argv, &args, &rest, &status)) {
        return status;
    }
    if (args.keys != NULL) {
        if (view_keys(args.keys, &err) != 0) {
            output_error("view", &err);
            return COMMAND_FAILED;
        }
        return COMMAND_DONE;
    }
    if (rest.argc < 1) {
        (void)err_set(&err, "name a capture: cutline view FILE");
        output_error("view", &err);
        return COMMAND_USAGE;
    }
    if (view_open(&rest, &args, &signal_number, &err) != 0) {
        output_error("view", &err);
        return COMMAND_FAILED;
    }
    return signal_number > 0 ? 128 + signal_number : COMMAND_DONE;
}

const struct command COMMAND_VIEW = {.name = "view",
                                     .args = "FILE [NEW]",
                                     .summary = "show a capture as a timeline in the terminal",
                                     .options = &VIEW_SPEC,
                                     .run = view_run};
