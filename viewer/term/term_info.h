/*
 * term_info: what terminfo says of the terminal. Apart from term.c because <term.h> defines many
 * short words as macros.
 */
#ifndef CUTLINE_TERM_TERM_INFO_H
#define CUTLINE_TERM_TERM_INFO_H

/* -1: $TERM is not known; 0: it cannot place the cursor; 1: it can. */
int term_info(int fd);

#endif
