/*
 * prompt: one line of text being typed, with a history.
 */
#ifndef CUTLINE_APP_PROMPT_H
#define CUTLINE_APP_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prompt_kind {
    PROMPT_NONE,
    PROMPT_SEARCH,
    PROMPT_FILTER,
    PROMPT_GOTO,
    PROMPT_COMMAND,
    PROMPT_LIST,
    PROMPT_ROWS,
    PROMPT_ALIGN,
    PROMPT_KIND_COUNT,
};

enum {
    PROMPT_BYTES = 1024,
    PROMPT_HISTORY = 32
};

struct prompt_history {
    char *lines[PROMPT_HISTORY]; /* owned; the newest last */
    int count;
};

struct prompt {
    enum prompt_kind kind;
    char text[PROMPT_BYTES]; /* UTF-8 */
    size_t len;
    size_t cursor; /* byte offset */
    int recalled; /* how far back in the history, 0 = the line itself */
    char before[PROMPT_BYTES]; /* what a cancelled filter goes back to */
    char message[256]; /* what is wrong with it, "" = nothing */
    char hint[128]; /* what one may type, or what is found, "" = nothing */
    int complete_at; /* completion: the candidate shown, -1 = none */
    char typed[PROMPT_BYTES]; /* ... and what stood here before it */
    size_t typed_cursor;
    struct prompt_history history[PROMPT_KIND_COUNT];
};

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text);
void prompt_insert(struct prompt *prompt, uint32_t cp);
/* Puts the line into the history of its kind and closes it. */
void prompt_close(struct prompt *prompt, bool keep);
void prompt_set(struct prompt *prompt, const char *text);
void prompt_free(struct prompt *prompt);
/* What stands before the text: "/", "filter: ", ... */
const char *prompt_lead(enum prompt_kind kind);

#endif
