/*
 * cache: a loaded trace, kept as a file in the user's cache folder and mapped when the same capture
 * is opened again.
 *
 * The file belongs to one capture (by device and inode) and holds what makes it valid: the
 * capture's size, time and a hash of its first page, the layout of our structs, and a hash of each of
 * its sections. One that does not fit, that others could have written, that is damaged or whose
 * numbers do not hold is as good as none: the caller loads the capture and saves it anew. The file is
 * kept by cache_folder.h. Nothing here fails loudly: without a cache everything works, only slower.
 */
#ifndef CUTLINE_TRACE_CACHE_H
#define CUTLINE_TRACE_CACHE_H

#include <stdatomic.h>

#include "analysis/store/cache_folder.h"
#include "analysis/trace/trace.h"

/* The trace of an open capture, mapped; NULL where there is no valid one. */
struct trace *cache_load(struct store_file *file);
/*
 * Keeps the trace for its file, in a folder of at most so many MiB (0: CACHE_FOLDER_MIB), until *stop
 * (NULL: to the end). Does nothing where the file has changed or cannot be known again. 0; -1 where the
 * folder cannot take it, which err says.
 */
int cache_save(const struct trace *trace, uint32_t limit_mib, const atomic_bool *stop,
               struct err *err);
/* Compares the sums of all sections of a mapped trace, until *stop. 0, or -1: it is damaged. */
int cache_compare(const struct trace *trace, const atomic_bool *stop);
/* What a kept trace, "trace-...", is of. */
enum cache_fate {
    CACHE_UNKNOWN, /* no trace of this program */
    CACHE_GOOD,
    CACHE_STALE, /* the capture was written to, or the program is another */
    CACHE_GONE, /* there is no capture where it was */
};
/* Adds the path of its capture, which comes from a file: not to be printed as it is. */
enum cache_fate cache_about(const struct cache_folder *folder, const char *name, struct buf *path);
/* Forgets what is kept of the trace's capture. */
void cache_forget(const struct trace *trace);

#endif
