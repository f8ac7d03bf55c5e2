/*
 * term_info: what terminfo says of the terminal. Apart from term.c because <term.h> defines many
 * short words as macros.
 */
#ifndef CUTLINE_TERM_TERM_INFO_H
#define CUTLINE_TERM_TERM_INFO_H

#include <stddef.h>

/* -1: $TERM is not known; 0: it cannot place the cursor; 1: it can. */
int term_info(int fd);

/* Puts into out, of room bytes, what must be written to leave: the cursor, colours, keys and the
 * mouse as usual, the first screen. After term_info. Returns its length. */
size_t term_info_leave(char *out, size_t room);

#endif
