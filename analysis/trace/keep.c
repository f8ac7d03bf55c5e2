/* keep: see keep.h. What both threads touch is atomic, or read after the thread's end. */
#include "analysis/trace/keep.h"

#include <signal.h>
#include <stdlib.h>

#include "analysis/trace/cache_layout.h"
#include "analysis/trace/trace_internal.h"

struct trace_keep {
    const struct trace *trace;
    struct shelf_list list;
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

/* A trace that is in the cache, or was put there. */
static int keep_figures(const struct trace *trace, struct shelf_list *list, const atomic_bool *stop,
                        struct err *err)
{
    return list != NULL && shelf_lacks(trace, list) ? shelf_save(trace, list, stop, err) : 0;
}

static bool is_stopped(const atomic_bool *stop)
{
    return stop != NULL && atomic_load(stop);
}

static enum trace_kept keep_damaged(const struct trace *trace, struct err *err)
{
    cache_forget(trace);
    (void)err_set(err, "%s: what was kept of it is damaged", trace->path);
    return TRACE_KEPT_DAMAGED;
}

static enum trace_kept keep_late(const struct trace *trace, struct err *err)
{
    return shelf_compare(trace, NULL) == 0 ? TRACE_KEPT : keep_damaged(trace, err);
}

enum trace_kept trace_keep(const struct trace *trace, struct shelf_list *list,
                           const atomic_bool *stop, struct err *err)
{
    const struct trace_own *own = trace_own(trace);
    if (own->owed == TRACE_OWED_FILE && cache_save(trace, own->cache_mib, stop, err) != 0) {
        return is_stopped(stop) ? TRACE_KEPT : TRACE_KEPT_NOT;
    }
    if (own->owed == TRACE_OWED_SUMS && cache_compare(trace, stop) != 0) {
        return keep_damaged(trace, err);
    }
    if ((own->owed == TRACE_OWED_FILE || own->map != NULL) && !is_stopped(stop) &&
        keep_figures(trace, list, stop, err) != 0) {
        return is_stopped(stop) ? TRACE_KEPT : TRACE_KEPT_NOT;
    }
    return TRACE_KEPT;
}

static void *keep_thread(void *arg)
{
    struct trace_keep *keep = arg;
    enum trace_kept state = trace_keep(keep->trace, &keep->list, &keep->stop, &keep->err);
    atomic_store(&keep->state, (int)state);
    return NULL;
}

struct trace_keep *trace_keep_start(const struct trace *trace, struct shelf_list *list)
{
    const struct trace_own *own = trace_own(trace);
    struct shelf_list none = {0};
    bool owes = own->owed != TRACE_OWED_NOTHING ||
                (own->map != NULL && list != NULL && shelf_lacks(trace, list));
    struct trace_keep *keep = owes ? calloc(1, sizeof *keep) : NULL;
    list = list == NULL ? &none : list;
    if (keep == NULL) {
        shelf_list_free(list);
        return NULL;
    }
    keep->trace = trace;
    keep->list = *list;
    *list = none;
    atomic_store(&keep->state, TRACE_KEPT_BUSY);
    if (trace_thread(&keep->thread, keep_thread, keep) != 0) {
        shelf_list_free(&keep->list);
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
    if (state == TRACE_KEPT && finish) {
        state = keep_late(keep->trace, &keep->err); /* what was asked of the shelf meanwhile */
    }
    if (state != TRACE_KEPT && err != NULL) {
        *err = keep->err;
    }
    shelf_list_free(&keep->list);
    free(keep);
    return state;
}
