/*
 * guard: gives the terminal back when a signal ends the program.
 *
 *     guard_begin -> ... -> guard_end
 *
 * A signal whose default action ends a process (a fault, an alarm, a limit, ...) first puts the
 * terminal as it was, then takes the action that it had before: status, core file and the report of
 * a sanitizer are as ever. What leaves the timeline in order (SIGTERM and its like) is not caught
 * here: see term.c.
 *
 * All state is static because handlers have no other; there is one terminal at a time.
 */
#ifndef CUTLINE_TERM_GUARD_H
#define CUTLINE_TERM_GUARD_H

#include <stddef.h>

enum {
    GUARD_BYTES = 256
};

/* Keeps how the terminal fd is set, and what must be written to it to leave: at most GUARD_BYTES.
 * Signals that are ignored stay so. */
void guard_begin(int fd, const char *leave, size_t len);
void guard_end(void);
/* Puts the terminal as it was, once. Never waits for the terminal to read. May be called by a
 * handler. */
void guard_restore(void);

#endif
