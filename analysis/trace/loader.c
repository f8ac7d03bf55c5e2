/* loader: see loader.h. What both threads touch is atomic or guarded by the mutex. */
#include "analysis/trace/loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/trace/keep.h"

struct loader {
    char *const *paths;
    int count;
    struct trace_options options;
    struct loader_prepare prepare; /* call NULL = nothing */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards over */
    pthread_cond_t ended;
    bool over;
    atomic_bool stop;
    atomic_int reading; /* which file */
    atomic_int percent; /* of that file */
    struct trace *traces[LOADER_FILES]; /* the thread's until over */
    struct err err;
    int status;
};

/* May be called by any of the threads that read. */
static int loader_tick(void *arg, int64_t done, int64_t total)
{
    struct loader *loader = arg;
    if (total > 0) {
        atomic_store(&loader->percent, (int)(done * 100 / total));
    }
    return atomic_load(&loader->stop) ? 1 : 0;
}

static void *loader_thread(void *arg)
{
    struct loader *loader = arg;
    for (int i = 0; i < loader->count && loader->status == 0 && !atomic_load(&loader->stop); i++) {
        atomic_store(&loader->percent, 0);
        atomic_store(&loader->reading, i);
        loader->traces[i] = trace_load(loader->paths[i], &loader->options, &loader->err);
        loader->status = loader->traces[i] == NULL ? -1 : 0;
        if (loader->status == 0 && loader->prepare.call != NULL && !atomic_load(&loader->stop)) {
            loader->status =
                loader->prepare.call(loader->prepare.arg, i, loader->traces[i], &loader->err);
        }
    }
    (void)pthread_mutex_lock(&loader->mutex);
    loader->over = true;
    (void)pthread_cond_signal(&loader->ended);
    (void)pthread_mutex_unlock(&loader->mutex);
    return NULL;
}

struct loader *loader_start(char *const *paths, int count, const struct trace_options *options,
                            const struct loader_prepare *prepare, struct err *err)
{
    struct loader *loader = calloc(1, sizeof *loader);
    if (loader == NULL) {
        return err_null(err, "not enough memory to read a capture");
    }
    loader->paths = paths;
    loader->count = count < LOADER_FILES ? count : LOADER_FILES;
    if (options != NULL) {
        loader->options.cache_events = options->cache_events;
        loader->options.cache_mib = options->cache_mib;
        loader->options.threads = options->threads;
        loader->options.rows_most = options->rows_most;
    }
    if (prepare != NULL) {
        loader->prepare = *prepare;
    }
    loader->options.keep_later = true;
    loader->options.progress = loader_tick;
    loader->options.progress_arg = loader;
    (void)pthread_mutex_init(&loader->mutex, NULL);
    (void)pthread_cond_init(&loader->ended, NULL);
    if (trace_thread(&loader->thread, loader_thread, loader) != 0) {
        free(loader);
        return err_null(err, "no thread to read a capture: too many processes?");
    }
    return loader;
}

bool loader_wait(struct loader *loader, int ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_mutex_lock(&loader->mutex);
    while (!loader->over && ms > 0 &&
           pthread_cond_timedwait(&loader->ended, &loader->mutex, &until) == 0) {
    }
    bool over = loader->over;
    (void)pthread_mutex_unlock(&loader->mutex);
    return over;
}

int loader_percent(struct loader *loader)
{
    int percent = atomic_load(&loader->percent);
    percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    return (atomic_load(&loader->reading) * 100 + percent) / loader->count;
}

void loader_stop(struct loader *loader)
{
    atomic_store(&loader->stop, true);
}

int loader_take(struct loader *loader, struct trace *traces[LOADER_FILES], struct err *err)
{
    if (loader == NULL) {
        return -1;
    }
    (void)pthread_join(loader->thread, NULL);
    int rc = atomic_load(&loader->stop) ? -1 : loader->status;
    for (int i = 0; i < LOADER_FILES; i++) {
        traces[i] = loader->traces[i];
        if (rc != 0) {
            trace_free(traces[i]);
            traces[i] = NULL;
        }
    }
    if (rc != 0 && err != NULL) {
        *err = loader->err;
    }
    (void)pthread_cond_destroy(&loader->ended);
    (void)pthread_mutex_destroy(&loader->mutex);
    free(loader);
    return rc;
}
