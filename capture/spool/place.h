/*
 * Where a recorded process stood when the recorder was loaded, and what a failing call means
 * against that: a program that changes its user, its root or its mounts, or shuts itself in, takes
 * the session folder out of its own reach. Used inside the recorded process: no malloc, nothing
 * that can fail.
 */
#ifndef CUTLINE_SPOOL_PLACE_H
#define CUTLINE_SPOOL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/spool/spool.h"

struct spool_place {
    uint32_t user; /* effective user */
    int seccomp; /* mode of the calling thread, as prctl gives it */
    uint64_t root_device;
    uint64_t root_inode;
    uint64_t mounts; /* number of the mount namespace; 0: not known */
};

/* Looks at the calling process. */
void spool_place_learn(struct spool_place *place);

/* True if files may be opened here: no seccomp filter was put in place since. A filter may end the
 * process for an open that it does not know, so none is tried behind it. */
bool spool_place_open_allowed(const struct spool_place *place);

/* The loss that a call on the session folder causes which failed with ERROR (errno). */
enum spool_loss spool_place_cause(const struct spool_place *place, int error);

#endif
