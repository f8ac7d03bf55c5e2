/* verbs_copy: verbs that hand something out: the screen, a command line, an ncu command. */
#include <stdio.h>

#include "analysis/base/shell.h"
#include "analysis/export/recipe.h"
#include "viewer/app/app_internal.h"
#include "viewer/app/state.h"

void verb_copy(struct app *app, int count)
{
    (void)count;
    app->take = TAKE_SCREEN;
}

void verb_save_svg(struct app *app, int count)
{
    (void)count;
    app->take = TAKE_SVG;
}

void verb_copy_command(struct app *app, int count)
{
    char at[32];
    char span[32];
    const char *words[10];
    struct buf state = {0};
    size_t n = 0;
    (void)count;
    (void)snprintf(at, sizeof at, "%lldns", (long long)app->window.begin_ns);
    (void)snprintf(span, sizeof span, "%lldns",
                   (long long)(window_end(&app->window) - app->window.begin_ns));
    words[n++] = "cutline";
    words[n++] = "view";
    words[n++] = "--at";
    words[n++] = at;
    words[n++] = "--span";
    words[n++] = span;
    if (app->filter.pattern[0] != '\0') {
        words[n++] = "--filter";
        words[n++] = app->filter.pattern;
    }
    state_put_view(app, &state);
    if (state.len > 0) {
        words[n++] = "--state";
        words[n++] = buf_text(&state);
    }
    buf_reset(&app->taken);
    shell_words(&app->taken, words, n);
    buf_free(&state);
    buf_addc(&app->taken, ' ');
    shell_quote_path(&app->taken, trace_given_path(app->trace));
    app->take = TAKE_COMMAND;
}

void verb_copy_ncu(struct app *app, int count)
{
    struct recipe_command command = {0};
    struct err err = {0};
    bool known = recipe_command_load(app->trace, &command, &err) == 0 && command.count > 0;
    (void)count;
    buf_reset(&app->taken);
    if (!app_has_event(app) || app->event.table != TRACE_GPU) {
        app_fail(app, "select a kernel first (w, b)");
    } else if (recipe_ncu(app->trace, app->event.index, known ? &command : NULL, &app->taken,
                          &err) != 0) {
        app_fail(app, "%s", err.text);
    } else {
        app->take = TAKE_COMMAND;
    }
    recipe_command_free(&command);
}
