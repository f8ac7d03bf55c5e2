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

#include "analysis/trace/trace.h"

/* The trace of an open capture, mapped; NULL where there is no valid one. */
struct trace *cache_load(struct store_file *file);
/* Keeps the trace for its file. Does nothing where it cannot, or where the file has changed. */
void cache_save(const struct trace *trace);

#endif
