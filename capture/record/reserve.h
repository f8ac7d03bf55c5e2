/* The name of a capture, kept for this launcher from before its command runs until the capture is
 * there: recordings that run at the same time never write to one name.
 *
 * A new name is taken by making the file (O_EXCL), with one line of text that says what it is. It
 * is locked (flock) while the launcher lives, so a line without a lock was left by one that was
 * killed, and its name is free. An existing capture that is to be replaced is locked, and is not
 * touched otherwise. */
#ifndef CUTLINE_CAPTURE_RECORD_RESERVE_H
#define CUTLINE_CAPTURE_RECORD_RESERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/base/err.h"

struct record_reserved {
    char *path;
    int fd; /* holds the lock; -1: none */
    bool made; /* the file is ours, to be replaced or removed */
    dev_t device;
    ino_t inode;
};

/* Reserves the first free name of a pattern with %n, or the only one (record_name in record.h says
 * what patterns are). overwrite: an existing capture may be replaced. Returns 0, or -1: it exists,
 * it is being recorded to, its folder cannot be written. */
int record_reserve(const char *pattern, pid_t pid, bool overwrite, struct record_reserved *reserved,
                   struct err *err);

/* True if the file that has the name now may be replaced: it is still the one that was reserved. */
bool record_reserved_holds(const struct record_reserved *reserved);

/* Ends it: removes the file that was made, unless it was replaced by a capture. */
void record_reserve_end(struct record_reserved *reserved);

#endif
