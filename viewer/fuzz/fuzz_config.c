/*
 * fuzz_config: texts of a person or of a file that anybody may have written. Byte 0 says which: the
 * settings, what was chosen for a capture, a script of keys, lines of the palette, the prompts.
 */
#include <stdlib.h>
#include <string.h>

#include "viewer/app/config.h"
#include "viewer/app/state.h"
#include "viewer/fuzz/view.h"

static const struct trace *sample(void)
{
    static struct trace *trace;
    if (trace == NULL) {
        struct memory_db *db = view_case("all-tables");
        memory_db_use(db);
        trace = view_load(db);
        FUZZ_HOLDS(trace != NULL);
    }
    return trace;
}

/* A bad file has a message of one line, a good one none. */
static void settings(struct view_session *view, const char *text, size_t len)
{
    struct config config;
    struct err err = {0};
    (void)view;
    config_init(&config);
    FUZZ_HOLDS((config_parse(&config, text, len, &err) != 0) == (err.text[0] != '\0'));
    FUZZ_HOLDS(strchr(err.text, '\n') == NULL);
}

/* What was read is what is written, and is read again as the same. */
static void chosen(struct view_session *view, const char *text, size_t len)
{
    struct buf first = {0};
    struct buf second = {0};
    struct view_session again;
    state_read(view->apps[0], text, len);
    state_write(view->apps[0], &first);
    if (view_open(&again, sample(), false)) {
        state_read(again.apps[0], buf_text(&first), first.len);
        state_write(again.apps[0], &second);
        FUZZ_HOLDS(strcmp(buf_text(&first), buf_text(&second)) == 0);
        view_close(&again);
    }
    buf_free(&first);
    buf_free(&second);
}

static void script(struct view_session *view, const char *text, size_t len)
{
    struct err err = {0};
    FUZZ_HOLDS((session_play(&view->session, text, len < 256 ? len : 256, &err) != 0) ==
               (err.text[0] != '\0'));
}

/* Each line by one of the ways in which text comes in. */
static void lines(struct view_session *view, const char *text, size_t len)
{
    static int (*const WAYS[])(struct app *, const char *, struct err *) = {
        app_command, app_set_filter, app_set_search, app_set_row_filter, app_goto};
    struct app *app = view->apps[0];
    const char *at = text;
    for (int i = 0; i < 8 && at < text + len; i++) {
        const char *end = memchr(at, '\n', (size_t)(text + len - at));
        size_t n = end == NULL ? (size_t)(text + len - at) : (size_t)(end - at);
        char line[PROMPT_BYTES];
        struct err err = {0};
        n = n < sizeof line - 1 ? n : sizeof line - 1;
        memcpy(line, at, n);
        line[n] = '\0';
        if (n > 0) {
            FUZZ_HOLDS((WAYS[(uint8_t)line[0] % 5](app, line + 1, &err) != 0) ==
                       (err.text[0] != '\0'));
            session_settle(&view->session);
        }
        at += n + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const TASKS[])(struct view_session *, const char *, size_t) = {settings, chosen,
                                                                                 script, lines};
    const struct key usual = {KEYS_RESIZE, 80, 24};
    const struct frame_style style = {0};
    struct view_session view;
    /* A copy of its own, with a NUL after it as texts of files have. */
    char *text = size == 0 ? NULL : malloc(size);
    if (text == NULL || !view_open(&view, sample(), false)) {
        free(text);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    session_key(&view.session, &usual);
    session_settle(&view.session);
    TASKS[data[0] % 4](&view, text, size - 1);
    view_paint(&view, &style);
    view_close(&view);
    free(text);
    return 0;
}
