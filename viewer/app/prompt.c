/* prompt: see prompt.h. */
#include "viewer/app/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"

const char *prompt_lead(enum prompt_kind kind)
{
    static const char *const leads[PROMPT_KIND_COUNT] = {
        "", "/", "filter: ", "go to: ", ":", "lines: ", "rows: ", "align at range: "};
    return leads[kind];
}

void prompt_set(struct prompt *prompt, const char *text)
{
    size_t len = strlen(text);
    if (len >= sizeof prompt->text) {
        len = sizeof prompt->text - 1;
    }
    memmove(prompt->text, text, len);
    prompt->text[len] = '\0';
    prompt->len = len;
    prompt->cursor = len;
}

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text)
{
    prompt->kind = kind;
    prompt->recalled = 0;
    prompt->message[0] = '\0';
    prompt->hint[0] = '\0';
    prompt->complete_at = -1;
    prompt_set(prompt, text);
    memcpy(prompt->before, prompt->text, sizeof prompt->before);
}

void prompt_insert(struct prompt *prompt, uint32_t cp)
{
    char bytes[4];
    size_t n = utf8_encode(cp, bytes);
    if (prompt->len + n >= sizeof prompt->text) {
        return;
    }
    memmove(prompt->text + prompt->cursor + n, prompt->text + prompt->cursor,
            prompt->len - prompt->cursor + 1);
    memcpy(prompt->text + prompt->cursor, bytes, n);
    prompt->len += n;
    prompt->cursor += n;
    prompt->complete_at = -1;
}

static void prompt_keep(struct prompt_history *history, const char *text)
{
    if (text[0] == '\0' ||
        (history->count > 0 && strcmp(history->lines[history->count - 1], text) == 0)) {
        return;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        return;
    }
    if (history->count == PROMPT_HISTORY) {
        free(history->lines[0]);
        memmove(history->lines, history->lines + 1,
                (PROMPT_HISTORY - 1) * sizeof history->lines[0]);
        history->count--;
    }
    history->lines[history->count++] = copy;
}

void prompt_close(struct prompt *prompt, bool keep)
{
    if (keep) {
        prompt_keep(&prompt->history[prompt->kind], prompt->text);
    }
    prompt->kind = PROMPT_NONE;
    prompt->message[0] = '\0';
}

void prompt_free(struct prompt *prompt)
{
    for (int kind = 0; kind < PROMPT_KIND_COUNT; kind++) {
        for (int i = 0; i < prompt->history[kind].count; i++) {
            free(prompt->history[kind].lines[i]);
        }
        prompt->history[kind].count = 0;
    }
}
