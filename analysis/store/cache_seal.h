/*
 * cache_seal: remembers that a file of the cache folder was examined, so that it need not be read as a
 * whole again.
 *
 * The seal of NAME is the small file "seal-NAME" beside it. It holds what the system says of NAME: its
 * device, inode and size, when it was written and when it was changed at all. The last of these, the
 * time of status change, is set by the kernel at every write, truncation or change of owner or mode,
 * and no call sets it to a wanted value. A file that still has it is thus the one that was examined,
 * byte by byte. Time is counted in ticks: what is sealed was changed before the present tick, so that
 * any later write gets a later time.
 *
 * A file without a seal, or with another one, is a stranger's: it is examined in full.
 */
#ifndef CUTLINE_STORE_CACHE_SEAL_H
#define CUTLINE_STORE_CACHE_SEAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "analysis/store/cache_folder.h"

/* What a file is, to be asked before it is examined. Waits out the tick of a file that was changed
 * just now. False where nothing can be told: it is not to be sealed. */
bool cache_seal_look(int fd, struct stat *was);
/* Seals the open file NAME where it still is what it was. rules: a number for what the examination
 * looked at; a seal of other rules is none. Where it cannot be, no matter. */
void cache_seal_put(const struct cache_folder *folder, const char *name, int fd,
                    const struct stat *was, uint64_t rules);
/* Is the open file NAME the one that was sealed, by the same rules? */
bool cache_seal_holds(const struct cache_folder *folder, const char *name, int fd, uint64_t rules);

#endif
