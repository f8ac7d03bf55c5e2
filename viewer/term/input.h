/*
 * input: what ncurses read, as keys: characters, function keys, pastes and the mouse; and what the
 * terminal answers.
 */
#ifndef CUTLINE_TERM_INPUT_H
#define CUTLINE_TERM_INPUT_H

#include <stdbool.h>

#include "viewer/app/keys.h"

/* What is written to the terminal so that it marks pastes, and that it does so no more. */
#define INPUT_PASTE_ON "\033[?2004h"
#define INPUT_PASTE_OFF "\033[?2004l"
/* ... so that it tells where the mouse goes while a button is down. */
#define INPUT_DRAG_ON "\033[?1002h"
#define INPUT_DRAG_OFF "\033[?1002l"
/* ... so that it tells the colour of its background (OSC 11). */
#define INPUT_ASK_BACKGROUND "\033]11;?\033\\"

enum input_background {
    INPUT_BACKGROUND_UNKNOWN,
    INPUT_BACKGROUND_DARK,
    INPUT_BACKGROUND_LIGHT,
};

/* Makes known what pastes and answers begin with. After newterm. */
void input_begin(void);
/* Asks ncurses for clicks, drags and the wheel. */
void input_want_mouse(void);
/* The next key that is there already; false when there is none. */
bool input_read(struct key *key);
/* What the terminal has answered since input_begin. */
enum input_background input_background(void);

#endif
