/*
 * cmd_view_read: reads captures and makes timelines of them on a thread of their own, so that the screen
 * never waits for it.
 *
 *     view_read_begin -> loader_wait(reading->loader)... -> view_read_end | view_read_leave
 */
#ifndef CUTLINE_CLI_CMD_VIEW_READ_H
#define CUTLINE_CLI_CMD_VIEW_READ_H

#include <stddef.h>

#include "analysis/trace/loader.h"
#include "viewer/app/app.h"
#include "viewer/cli/opts.h"

struct view_ready;

/* A loader, and what is made on its thread. Zero: nothing is being read. */
struct view_reading {
    struct loader *loader; /* NULL = nothing is being read */
    struct view_ready *ready; /* owned; left behind with a loader that does not end */
};

/* Begins to read the captures of rest, which must outlive the reading. 0 or -1. */
int view_read_begin(struct view_reading *reading, const struct opts_rest *rest,
                    const struct trace_options *options, struct err *err);
/* Ends a reading that is over. 0, and the caller's traces and timelines; or -1. */
int view_read_end(struct view_reading *reading, struct trace *traces[LOADER_FILES],
                  struct app *apps[LOADER_FILES], struct err *err);
/* Nobody waits for it any more: its thread, and nsys where that exports, end with us. */
void view_read_leave(struct view_reading *reading);
/* The name of a file for the header. */
void view_title(const char *path, char *title, size_t room);

#endif
