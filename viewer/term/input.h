/*
 * input: what ncurses read, as keys: characters, function keys and the mouse.
 */
#ifndef CUTLINE_TERM_INPUT_H
#define CUTLINE_TERM_INPUT_H

#include <stdbool.h>

#include "viewer/app/keys.h"

/* Asks the terminal for clicks, drags and the wheel. After newterm. */
void input_want_mouse(void);
/* The next key that is there already; false when there is none. */
bool input_read(struct key *key);

#endif
