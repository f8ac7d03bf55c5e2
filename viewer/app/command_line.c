/*
 * command_line: the palette: any action by its name, with an argument where one makes sense, and
 * completion of names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/app/app_internal.h"

/* Actions that take text instead of asking for it. */
struct command_text {
    enum action_id action;
    int (*run)(struct app *app, const char *text, struct err *err);
};

static int command_search(struct app *app, const char *text, struct err *err)
{
    if (app_set_search(app, text, err) != 0) {
        return -1;
    }
    verb_search_next(app, 1);
    return 0;
}

static int command_bookmark(struct app *app, const char *text, struct err *err)
{
    int before = app->bookmark_count;
    (void)err;
    verb_bookmark(app, 0);
    if (app->bookmark_count > before) {
        (void)snprintf(app->bookmarks[before].text, sizeof app->bookmarks[before].text, "%.90s",
                       text);
    }
    return 0;
}

static int command_quit(struct app *app, const char *text, struct err *err)
{
    if (text[0] != '\0') {
        return err_set(err, "q takes nothing");
    }
    app->quit = true;
    return 0;
}

/* The frame as a new file: a picture where the name ends so, else text. */
static int command_write(struct app *app, const char *text, struct err *err)
{
    size_t len = strlen(text);
    if (len == 0 || len >= sizeof app->take_name) {
        return err_set(err, len == 0 ? "w takes the name of a file: w frame.txt, w frame.svg"
                                     : "the name of the file is too long");
    }
    memcpy(app->take_name, text, len + 1);
    app->take = len > 4 && strcmp(text + len - 4, ".svg") == 0 ? TAKE_SVG : TAKE_SCREEN;
    return 0;
}

/* What people type who know vi. */
static const struct command_word {
    const char *word;
    int (*run)(struct app *app, const char *text, struct err *err);
} COMMAND_WORDS[] = {
    {"q", command_quit},
    {"q!", command_quit},
    {"w", command_write},
};

/* A word of vi's, or a time: 1 = it was one, and what was asked is done; -1: it cannot be (err). */
static int command_short(struct app *app, const char *line, size_t name_len, const char *text,
                         struct err *err)
{
    for (size_t i = 0; i < sizeof COMMAND_WORDS / sizeof COMMAND_WORDS[0]; i++) {
        const struct command_word *word = &COMMAND_WORDS[i];
        if (strlen(word->word) == name_len && memcmp(word->word, line, name_len) == 0) {
            return word->run(app, text, err) == 0 ? 1 : -1;
        }
    }
    if (strchr("0123456789+-", line[0]) != NULL) {
        return app_goto(app, line, err) == 0 ? 1 : -1;
    }
    return 0;
}

static const struct command_text COMMAND_TEXTS[] = {
    {ACTION_goto_time, app_goto},        {ACTION_filter, app_set_filter},
    {ACTION_search, command_search},     {ACTION_row_filter, app_set_row_filter},
    {ACTION_bookmark, command_bookmark},
};

int app_command(struct app *app, const char *line, struct err *err)
{
    char *end = NULL;
    line += strspn(line, " ");
    size_t name_len = strcspn(line, " ");
    const char *text = line + name_len + strspn(line + name_len, " ");
    if (name_len == 0) {
        return 0;
    }
    int done = command_short(app, line, name_len, text, err);
    if (done != 0) {
        return done > 0 ? 0 : -1;
    }
    enum action_id action = action_by_name(line, name_len);
    if (action == ACTION_COUNT || ACTION_TABLE[action].context == ACTION_PROMPT) {
        return err_set(err, "no action '%.*s': Tab completes names, %s lists them",
                       (int)(name_len < 60 ? name_len : 60), line, "?");
    }
    for (size_t i = 0; text[0] != '\0' && i < sizeof COMMAND_TEXTS / sizeof COMMAND_TEXTS[0]; i++) {
        if (COMMAND_TEXTS[i].action == action) {
            return COMMAND_TEXTS[i].run(app, text, err);
        }
    }
    long count = strtol(text, &end, 10);
    if (*end != '\0' || count < 0 || count > 100000) {
        return err_set(err, "%s takes a number at most, not '%.40s'", ACTION_TABLE[action].name,
                       text);
    }
    app_run(app, action, (int)count);
    return 0;
}

/* Does the action take part in completion, and does its name begin so? */
static bool command_fits(int action, const char *text, size_t len)
{
    const struct action *one = &ACTION_TABLE[action];
    return one->context != ACTION_PROMPT && strncmp(one->name, text, len) == 0;
}

/* The candidate number `at` (counted round) for an action's name. */
static const char *command_candidate(const char *text, int at)
{
    int found = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        found += command_fits(i, text, strlen(text)) ? 1 : 0;
    }
    at = found > 0 ? at % found : 0;
    for (int i = 0; i < ACTION_COUNT && found > 0; i++) {
        if (command_fits(i, text, strlen(text)) && at-- == 0) {
            return ACTION_TABLE[i].name;
        }
    }
    return NULL;
}

/* Puts a candidate of the filter language in place of the word at the cursor. */
static bool command_complete_filter(struct app *app, int at)
{
    struct prompt *prompt = &app->prompt;
    struct terms_completion found = {0};
    char text[PROMPT_BYTES];
    bool done = false;
    size_t len = strlen(prompt->typed);
    if (terms_complete(app->trace, prompt->typed, len, prompt->typed_cursor, &found) == 0 &&
        found.count > 0) {
        const char *word = found.list[(size_t)at % found.count];
        int n = snprintf(text, sizeof text, "%.*s%s", (int)found.begin, prompt->typed, word);
        size_t cursor = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
        (void)snprintf(text + cursor, sizeof text - cursor, "%s", prompt->typed + found.end);
        prompt_set(prompt, text);
        prompt->cursor = cursor < prompt->len ? cursor : prompt->len;
        done = true;
    }
    terms_completion_free(&found);
    return done;
}

void verb_prompt_complete(struct app *app, int count)
{
    struct prompt *prompt = &app->prompt;
    int at = prompt->complete_at + 1;
    (void)count;
    if (at == 0) {
        memcpy(prompt->typed, prompt->text, sizeof prompt->typed);
        prompt->typed_cursor = prompt->cursor;
    }
    if (prompt->kind == PROMPT_COMMAND) {
        const char *name = command_candidate(prompt->typed, at);
        if (name == NULL) {
            return;
        }
        prompt_set(prompt, name);
    } else if (prompt->kind != PROMPT_FILTER || !command_complete_filter(app, at)) {
        return;
    }
    app_prompt_changed(app);
    prompt->complete_at = at;
}
