/* cutline view, tour and config: the timeline, its tour, its settings. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "viewer/app/config.h"
#include "viewer/app/keydoc.h"
#include "viewer/cli/cmd_view_run.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/output.h"

enum {
    VIEW_PATH_BYTES = 1024
};

/* clang-format off */
static const struct opts_option VIEW_OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What is shown first"},
    {0, "at", "TIME", .kind = OPTS_TEXT, .at = offsetof(struct view_args, at),
     .help = "Begin at TIME of the capture: 12.5s, 800ms; a bare number is in seconds."},
    {0, "span", "DURATION", .kind = OPTS_TIME, .unit_ns = 1000000000, .min = 1,
     .at = offsetof(struct view_args, span_ns),
     .help = "Show so much time. Default: all GPU work."},
    {0, "filter", "WORDS", .kind = OPTS_TEXT, .at = offsetof(struct view_args, filter),
     .help = "Keep only the ops and calls that match: a regular expression, or terms such as "
             "stream:7 dur>100us. As f in the timeline."},
    {0, "state", "TEXT", .kind = OPTS_TEXT, .at = offsetof(struct view_args, state),
     .help = "Fold, hide and pin rows, set marks and select what TEXT says, as Y in the timeline "
             "copies it."},
    {.kind = OPTS_GROUP, .help = "How it looks"},
    {0, "color", "WHEN", .kind = OPTS_CHOICE, .choices = "auto|never|8|16|256|truecolor",
     .at = offsetof(struct view_args, color),
     .help = "Colours at most. Default: what the terminal has; never where NO_COLOR is set."},
    {0, "theme", "NAME", .kind = OPTS_CHOICE, .choices = "dark|light|safe|auto",
     .at = offsetof(struct view_args, theme),
     .help = "Colours for a dark or a light background, or told apart with any colour vision. "
             "Default: dark or light, as the terminal says its background is."},
    {0, "ascii", .kind = OPTS_FLAG, .at = offsetof(struct view_args, ascii),
     .help = "Draw with ASCII characters only. Default where the locale is not UTF-8."},
    {0, "no-mouse", .kind = OPTS_FLAG, .at = offsetof(struct view_args, no_mouse),
     .help = "Leave the mouse to the terminal. Always so in GNU screen, which would keep Escape "
             "back."},
    {0, "no-cache", .kind = OPTS_FLAG, .at = offsetof(struct view_args, no_cache), .help = KEPT_HELP},
    {.kind = OPTS_GROUP, .help = "Without a terminal"},
    {0, "dump", "WHAT", .kind = OPTS_TEXT, .choices = "text|roles|taken|forms", .bare = "text",
     .at = offsetof(struct view_args, dump),
     .help = "Print the frame: its text, or a letter for what each cell is. With taken: "
             "what the keys of the script copied or saved. With forms: the frame in every form, "
             "for tests."},
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

/* The keys as they are configured, or for the manual the default ones. */
static int view_keys(const char *form, struct err *err)
{
    struct config config;
    struct buf text = {0};
    if (strcmp(form, "mdoc") == 0) {
        keydoc_mdoc(&text);
    } else {
        if (view_config(&config, err) != 0) {
            return -1;
        }
        keydoc_text(&config.keymap, &text);
    }
    int rc = output_all(&text, err);
    buf_free(&text);
    return rc;
}

static int view_status(const char *name, int rc, int signal_number, const struct err *err)
{
    if (rc != 0) {
        output_error(name, err);
        return COMMAND_FAILED;
    }
    return signal_number > 0 ? 128 + signal_number : COMMAND_DONE;
}

static int view_run(int argc, char **argv)
{
    struct view_args args = {.color = -1, .theme = -1};
    struct opts_rest rest;
    struct err err = {0};
    int status = 0;
    int signal_number = 0;
    if (!opts_begin(&COMMAND_VIEW, argc, argv, &args, &rest, &status)) {
        return status;
    }
    if (args.keys == NULL && rest.argc < 1) {
        (void)err_set(&err, "name a capture: cutline view FILE");
        output_error("view", &err);
        return COMMAND_USAGE;
    }
    int rc = args.keys != NULL ? view_keys(args.keys, &err)
                               : view_open(&rest, &args, &signal_number, &err);
    return view_status("view", rc, signal_number, &err);
}

const struct command COMMAND_VIEW = {.name = "view",
                                     .args = "FILE [NEW]",
                                     .summary = "show a capture as a timeline in the terminal",
                                     .options = &VIEW_SPEC,
                                     .run = view_run};

/* clang-format off */
static const struct opts_option TOUR_OPTIONS[] = {
    {0, "dump", "WHAT", .kind = OPTS_TEXT, .choices = "text|roles", .bare = "text",
     .at = offsetof(struct view_args, dump), .help = "Print the frame, as cutline view does."},
    {0, "size", "WxH", .kind = OPTS_TEXT, .at = offsetof(struct view_args, size),
     .help = "Columns and rows of the dump. Default 80x24."},
    {0, "script", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct view_args, script), .help = "Press the keys in FILE first."},
    {0, "ascii", .kind = OPTS_FLAG, .at = offsetof(struct view_args, ascii),
     .help = "Draw with ASCII characters only."},
    {.kind = OPTS_END},
};
/* clang-format on */

static const struct opts_spec TOUR_SPEC = {
    .about = "Opens a demo capture in the timeline. Six short steps teach the keys by finding the "
             "idle gap that is planted in it.",
    .options = TOUR_OPTIONS,
};

/* The demo capture lies beside the program where it was built, or where it was installed. */
static bool tour_capture(char *path, size_t room)
{
    static const char *const places[] = {"demo.sqlite", "../share/cutline/demo.sqlite"};
    char program[VIEW_PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0) {
        return false;
    }
    program[len] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(path, room, "%s%s", program, places[i]);
        if (n > 0 && (size_t)n < room && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static int tour_run(int argc, char **argv)
{
    struct view_args args = {.color = -1, .theme = -1, .tour = true};
    char path[VIEW_PATH_BYTES];
    char *operands[] = {path, NULL};
    struct opts_rest rest;
    struct err err = {0};
    int status = 0;
    int signal_number = 0;
    int rc;
    if (!opts_begin(&COMMAND_TOUR, argc, argv, &args, &rest, &status)) {
        return status;
    }
    if (!tour_capture(path, sizeof path)) {
        rc = err_set(&err, "the demo capture demo.sqlite is not beside the program nor in its "
                           "share/cutline: build the target demo");
    } else {
        rest = (struct opts_rest){operands, 1};
        rc = view_open(&rest, &args, &signal_number, &err);
    }
    return view_status("tour", rc, signal_number, &err);
}

const struct command COMMAND_TOUR = {.name = "tour",
                                     .args = "",
                                     .summary = "learn the timeline in six short steps",
                                     .options = &TOUR_SPEC,
                                     .run = tour_run};

static const struct opts_spec CONFIG_SPEC = {
    .about = "Prints the configuration file with every setting in it, commented out. Save it as "
             "~/.config/cutline/config and change what you like.",
};

static int config_run(int argc, char **argv)
{
    struct opts_rest rest;
    struct buf text = {0};
    struct err err = {0};
    int status = 0;
    if (!opts_begin(&COMMAND_CONFIG, argc, argv, NULL, &rest, &status)) {
        return status;
    }
    config_default(&text);
    int rc = output_all(&text, &err);
    buf_free(&text);
    return view_status("config", rc, 0, &err);
}

const struct command COMMAND_CONFIG = {.name = "config",
                                       .args = "",
                                       .summary = "print the settings and keys as a file to edit",
                                       .options = &CONFIG_SPEC,
                                       .run = config_run};
