/*
 * term_info: what terminfo says of the terminal. Apart from term.c because <term.h> defines many
 * short words as macros.
 */
#ifndef CUTLINE_TERM_TERM_INFO_H
#define CUTLINE_TERM_TERM_INFO_H

#include <stddef.h>

enum term_info {
    TERM_INFO_UNKNOWN,
    TERM_INFO_UNABLE, /* it cannot place the cursor */
    TERM_INFO_ABLE,
};

/* What a kind of terminal is; from here on that kind is spoken to. */
enum term_info term_info(const char *name, int fd);

/* Puts into out, of room bytes, what must be written to leave: the cursor, colours, keys and the
 * mouse as usual, the first screen. After term_info. Returns its length. */
size_t term_info_leave(char *out, size_t room);

#endif
