/*
 * term: the terminal. The only code that knows ncurses.
 *
 *     term_open -> (term_draw | term_wait | term_read)... -> term_close
 *
 * One terminal at a time. After term_close, and on every way out, the terminal is as it was.
 */
#ifndef CUTLINE_TERM_TERM_H
#define CUTLINE_TERM_TERM_H

#include <stdbool.h>

#include "analysis/base/err.h"
#include "viewer/app/keys.h"
#include "viewer/paint/canvas.h"
#include "viewer/paint/theme.h"

struct terminal;

struct term_options {
    int colors; /* enum theme_colors, -1 = what the terminal has */
    enum theme_kind theme;
    bool ask_theme; /* dark or light as the terminal's background is, as far as it tells */
    bool mouse;
};

/* NULL where there is no terminal, or one that cannot place the cursor (err says what to do). */
struct terminal *term_open(const struct term_options *options, struct err *err);
void term_close(struct terminal *term);
/* Where TERM names no terminal that is known here: which one is spoken to instead; "" = it does. It quotes TERM as it
 * is. */
const char *term_note(const struct terminal *term);
void term_size(const struct terminal *term, int *cols, int *rows);
const struct theme *term_theme(const struct terminal *term);
/* Sends what differs from the frame before; with `whole` everything. */
void term_draw(struct terminal *term, const struct canvas *canvas, bool whole);

enum term_event {
    TERM_KEY, /* term_read has keys */
    TERM_RESIZE, /* ask term_size */
    TERM_RESUME, /* we were stopped and go on: draw everything */
    TERM_SIGNAL, /* leave: term_signal tells which */
    TERM_CLOSED, /* the terminal is gone */
    TERM_NOTHING, /* nothing in that time */
};
/* Waits for something to happen, at most so many ms; -1 = for ever. */
enum term_event term_wait(struct terminal *term, int ms);
/* The next key that is there already; false when there is none. */
bool term_read(struct terminal *term, struct key *key);
/* The signal that asks us to leave, 0 = none. */
int term_signal(void);
/* Forgets it: Ctrl-C in a prompt is no wish to leave. */
void term_forget_signal(void);
/* Sends bytes past ncurses, for instance OSC 52. */
void term_send(struct terminal *term, const char *bytes, size_t len);

#endif
