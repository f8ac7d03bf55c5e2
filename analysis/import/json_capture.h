/*
 * json_capture: JSON traces (PyTorch's profiler, JAX, TensorFlow, cutline export, Chrome), plain or
 * gzip-compressed, as captures.
 *
 * A trace is made into a SQLite capture in the user's cache folder, where it is found again by the
 * trace's place, size and time (cache_folder.h). No file of the user is written. Memory: some MB and the
 * distinct names, whatever the size of the trace.
 */
#ifndef CUTLINE_IMPORT_JSON_CAPTURE_H
#define CUTLINE_IMPORT_JSON_CAPTURE_H

#include <stdbool.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/store/nsys_rep.h"

/* By its first bytes: JSON, plain or compressed. False where it cannot be read. */
bool json_capture_is(const char *path);
/*
 * Puts the path of the trace's capture into out. wait as of report_file_export. 0, or -1 with err set: not
 * a trace, nothing in it that can be shown, the cache folder cannot be written to, stopped.
 */
int json_capture_make(const char *path, const struct report_wait *wait, struct buf *out,
                      struct err *err);

#endif
