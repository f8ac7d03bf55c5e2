/*
 * keep: what a trace is owed once it is there and nobody waits for it: to be kept in the cache folder
 * where it was read from its capture, and its sums compared where it came from there by its seal.
 *
 *     trace_load (with keep_later) -> trace_keep_start -> trace_keep_over... -> trace_keep_end
 *     -> trace_free
 */
#ifndef CUTLINE_TRACE_KEEP_H
#define CUTLINE_TRACE_KEEP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "analysis/base/err.h"
#include "analysis/trace/shelf.h"
#include "analysis/trace/trace.h"

struct trace_keep;

enum trace_kept {
    TRACE_KEPT, /* all is well, also where nothing was owed */
    TRACE_KEPT_BUSY,
    TRACE_KEPT_NOT, /* the cache folder cannot take it: err says why */
    TRACE_KEPT_DAMAGED, /* what is shown comes from a damaged file, which is forgotten now */
};

/* Begins on a thread of its own, also to keep what is in the list (NULL: nothing), which is taken.
 * NULL where nothing is owed, or there is no thread. The trace and what is in the list must outlive
 * it. */
struct trace_keep *trace_keep_start(const struct trace *trace, struct shelf_list *list);
/* How far it is; keep may be NULL. */
enum trace_kept trace_keep_state(const struct trace_keep *keep);
/* Waits for the end: of all (finish), else of what is at hand. Takes keep, which may be NULL. */
enum trace_kept trace_keep_end(struct trace_keep *keep, bool finish, struct err *err);
/* Does it here and now, until *stop (NULL: to the end); list may be NULL. */
enum trace_kept trace_keep(const struct trace *trace, struct shelf_list *list,
                           const atomic_bool *stop, struct err *err);

/* Starts a thread without any signal but faults: signals are for the thread that has the terminal. 0,
 * or an errno value. */
int trace_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

#endif
