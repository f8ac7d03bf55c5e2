/*
 * kept: the cache of captures as the commands use it: what was opened before is taken from the cache
 * folder, what was read as a whole is kept there for the next time.
 *
 *     kept_options -> trace_load -> kept_begin -> (the command's work) -> kept_end -> trace_free
 */
#ifndef CUTLINE_CLI_KEPT_H
#define CUTLINE_CLI_KEPT_H

#include <stdbool.h>

#include "analysis/trace/keep.h"
#include "viewer/app/config.h"

/* The help of --no-cache. */
#define KEPT_HELP \
    "Read the capture itself, and keep nothing of it. Else one of a million events or more is " \
    "taken from the cache folder where it was opened before, and kept there."

/* Sets the options of the cache: by the person's settings; none where no_cache is set. */
void kept_options(bool no_cache, struct trace_options *options);
/* The same by settings that were read already. */
void kept_configured(bool no_cache, const struct config *config, struct trace_options *options);
/* Begins what the trace is owed, beside the command's work. NULL: nothing. */
struct trace_keep *kept_begin(const struct trace *trace);
/* Ends it, after all is printed, and says on stderr what went wrong. 0; -1 where what was printed came
 * from a damaged file. */
int kept_end(const char *command, struct trace_keep *keep);

#endif
