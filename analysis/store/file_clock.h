/*
 * file_clock: the clock that file times are taken from, which ticks a few hundred times a second. What
 * was written in the present tick could be written again without a new time, so that tick is waited out.
 *
 *     for (int i = 0; i < FILE_CLOCK_TICKS && ask for the time && !file_clock_is_past(time); i++)
 *         file_clock_wait();
 */
#ifndef CUTLINE_STORE_FILE_CLOCK_H
#define CUTLINE_STORE_FILE_CLOCK_H

#include <stdbool.h>
#include <time.h>

enum {
    FILE_CLOCK_TICKS = 20 /* so often is waited at most */
};

/* Is the clock past the time? Then a later change gets a later one. */
bool file_clock_is_past(const struct timespec *time);
/* Waits a millisecond. */
void file_clock_wait(void);

#endif
