/*
 * Capture ranges: each process opens and closes its own.
 *
 * A range that begins while the gate is WAIT (the delay) is not opened, so that what is recorded is
 * whole; one that is open when the gate goes to STOP is cut there. When as many are recorded as were
 * wanted, the process is used up: nothing more is recorded in it. A forked child begins anew.
 *
 * What a process says in the control page is for the launcher, which ends the run when all are
 * through (--capture-range-end=stop-shutdown, repeat-shutdown:N).
 */
#ifndef CUTLINE_CAPTURE_RANGES_H
#define CUTLINE_CAPTURE_RANGES_H

#include "capture/spool/session.h"

/* The capture ranges of the calling process. */
struct session_ranges {
    struct session_control *control;
    _Atomic bool collecting; /* as far as ranges decide; always where none is wanted */
    _Atomic bool used_up;
    uint32_t done; /* of whoever opened the range */
    struct session_process *entry; /* NULL: none */
};

/* Begins in a process, and again in a forked child. */
void session_ranges_begin(struct session_ranges *ranges, struct session_control *control);

/* Opens a range. False: not now (the gate), or not any more. START_TICKS of the process, for its
 * entry. The caller keeps open and close paired, and lets no two threads do it at once. */
bool session_ranges_open(struct session_ranges *ranges, uint64_t start_ticks);

/* Closes it. True if the process goes on recording (--capture-range-end=none). */
bool session_ranges_close(struct session_ranges *ranges);

/* For the launcher: true when every process that has opened a range has recorded all of them or is
 * gone, and one at least has recorded all. */
bool session_ranges_over(const struct session_control *control);

/* A number that changes with every range that opens or closes in a process that is not used up. */
uint64_t session_ranges_moves(const struct session_control *control);

/* Whether some process has recorded all its ranges. */
bool session_ranges_any_used_up(const struct session_control *control);

#endif
