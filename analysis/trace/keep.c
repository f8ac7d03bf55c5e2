/* keep: see keep.h. What both threads touch is atomic, or read after the thread's end. */
#include "analysis/trace/keep.h"

#include <signal.h>
#include <stdlib.h>

#include "analysis/trace/cache.h"
#include "analysis/trace/trace_internal.h"

struct trace_keep {
    const struct trace *trace;
    pthread_t thread;
    atomic_bool stop;
    atomic_int state; /* enum trace_kept */
    struct err err; /* the thread's while it is busy */
};

int trace_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t old;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGSEGV);
    (void)sigdelset(&all, SIGBUS);
    (void)sigdelset(&all, SIGFPE);
    (void)sigdelset(&all, SIGILL);
    (void)sigdelset(&all, SIGABRT);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(thread, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

enum trace_kept trace_keep(const struct trace *trace, const atomic_bool *stop, struct err *err)
{
    const struct trace_own *own = trace_own(trace);
    if (own->owed == TRACE_OWED_FILE && cache_save(trace, own->cache_mib, stop, err) != 0) {
        return stop != NULL && atomic_load(stop) ? TRACE_KEPT : TRACE_KEPT_NOT;
    }
    if (own->owed == TRACE_OWED_SUMS && cache_compare(trace, stop) != 0) {
        cache_forget(trace);
        (void)err_set(err, "%s: what was kept of it is damaged", trace->path);
        return TRACE_KEPT_DAMAGED;
    }
    return TRACE_KEPT;
}

static void *keep_thread(void *arg)
{
    struct trace_keep *keep = arg;
    atomic_store(&keep->state, (int)trace_keep(keep->trace, &keep->stop, &keep->err));
    return NULL;
}

struct trace_keep *trace_keep_start(const struct trace *trace)
{
    if (trace_own(trace)->owed == TRACE_OWED_NOTHING) {
        return NULL;
    }
    struct trace_keep *keep = calloc(1, sizeof *keep);
    if (keep == NULL) {
        return NULL;
    }
    keep->trace = trace;
    atomic_store(&keep->state, TRACE_KEPT_BUSY);
    if (trace_thread(&keep->thread, keep_thread, keep) != 0) {
        free(keep);
        return NULL;
    }
    return keep;
}

enum trace_kept trace_keep_state(const struct trace_keep *keep)
{
    return keep == NULL ? TRACE_KEPT : (enum trace_kept)atomic_load(&keep->state);
}

enum trace_kept trace_keep_end(struct trace_keep *keep, bool finish, struct err *err)
{
    if (keep == NULL) {
        return TRACE_KEPT;
    }
    atomic_store(&keep->stop, !finish);
    (void)pthread_join(keep->thread, NULL);
    enum trace_kept state = trace_keep_state(keep);
    if (state != TRACE_KEPT && err != NULL) {
        *err = keep->err;
    }
    free(keep);
    return state;
}
