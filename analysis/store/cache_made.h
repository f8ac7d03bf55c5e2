/*
 * cache_made: captures in the user's cache folder that are made from a file of another form once and
 * taken from there again.
 */
#ifndef CUTLINE_STORE_CACHE_MADE_H
#define CUTLINE_STORE_CACHE_MADE_H

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/store/cache_folder.h"

/* Writes the capture to the path target (without a buf_failed), which is the part's; closed to others. 0, or -1 with err set. */
typedef int cache_maker(void *arg, struct cache_part *part, const struct buf *target,
                        struct err *err);

/*
 * Puts the path of the file of that name in the open folder into out. Where it is not there, make writes it
 * under a temporary name, which becomes this one only when it is whole. A name that ran out of memory
 * (buf_failed) is an error. 0, or -1 with err set.
 */
int cache_made(const struct cache_folder *folder, const struct buf *name, cache_maker *make,
               void *arg, struct buf *out, struct err *err);

#endif
