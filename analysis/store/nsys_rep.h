/*
 * nsys_rep: .nsys-rep and .qdrep files, which only nsys itself can read.
 *
 * Where nsys is on PATH, the report is exported once into the user's cache folder, where it is found
 * again by the report's place, size and time (cache_folder.h). An export that the user has beside
 * the report (NAME.sqlite, not older) is taken as it is, also where there is no report, because the
 * name is what a command line for nsys had. No file of the user is written.
 */
#ifndef CUTLINE_STORE_NSYS_REP_H
#define CUTLINE_STORE_NSYS_REP_H

#include <stdbool.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

/* By its name only: the file need not be there. */
bool report_file_is(const char *path);
/* Asked now and then while nsys runs: is its work not wanted any more? */
struct report_wait {
    bool (*stopped)(void *arg);
    void *arg;
};

/*
 * Puts the path of the report's SQLite export into out. It may run nsys, which takes a while, and
 * which ends with this process whatever ends that. wait NULL: to the end. 0, or -1 with err set: no
 * such file, no nsys (says how to export), nsys failed (its last line), stopped.
 */
int report_file_export(const char *path, const struct report_wait *wait, struct buf *out,
                       struct err *err);

#endif
