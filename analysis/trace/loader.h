/*
 * loader: reads captures on a thread of its own while the terminal goes on.
 *
 *     loader_start -> loader_wait... -> loader_take (also after loader_stop)
 */
#ifndef CUTLINE_TRACE_LOADER_H
#define CUTLINE_TRACE_LOADER_H

#include <stdbool.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

enum {
    LOADER_FILES = 2
};

struct loader;

/* What is made of each trace on the loader's thread, before it is over. 0 or -1. */
struct loader_prepare {
    int (*call)(void *arg, int which, const struct trace *trace, struct err *err);
    void *arg; /* must outlive the loader */
};

/* Begins to read count (1 or 2) captures. options (may be NULL): those of the cache, threads and
 * rows_most count. prepare may be NULL. The paths must outlive the loader. NULL on failure. */
struct loader *loader_start(char *const *paths, int count, const struct trace_options *options,
                            const struct loader_prepare *prepare, struct err *err);
/* Waits until all is read or has failed, at most so many ms. True when it is over. */
bool loader_wait(struct loader *loader, int ms);
/* How far it is: 0 to 100. */
int loader_percent(struct loader *loader);
/* Asks it to stop soon. */
void loader_stop(struct loader *loader);
/* Ends the loader. 0 and the traces (the caller's), or -1 and none. NULL loader: -1. */
int loader_take(struct loader *loader, struct trace *traces[LOADER_FILES], struct err *err);

#endif
