/* The conversion of a session, in a thread: while it works, the launcher hears signals, passes them
 * on and waits for the command. The thread has the capture's result for itself until it is
 * collected. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/record/gpu_metrics.h"
#include "capture/record/record_internal.h"

static void read_control(struct run *run)
{
    struct session_control *control = run->session.control;
    run->result->nobody =
        atomic_load(&control->processes_cuda) == 0 && atomic_load(&control->processes_nvtx) == 0;
    run->result->full = atomic_load(&control->full) != 0;
}

static int progress(void *arg, uint64_t done, uint64_t all)
{
    struct run *run = arg;
    if (atomic_load(&run->conversion.leave)) {
        return -1;
    }
    if (run->opts->progress == NULL || !atomic_load(&run->conversion.shown)) {
        return 0;
    }
    return run->opts->progress(run->opts->progress_arg, done, all);
}

static int convert(struct run *run)
{
    struct conversion *conversion = &run->conversion;
    const struct convert_opts opts = {
        .session = conversion->dir,
        .output = run->name.path,
        .overwrite = run->opts->overwrite || record_reserved_holds(&run->name),
        .live = conversion->live,
        .command = (const char *const *)run->opts->argv,
        .command_n = run->opts->argc,
        .progress = progress,
        .progress_arg = run,
    };
    return convert_session(&opts, &run->result->converted, &conversion->err);
}

/* Its end closes the pipe, which wakes the launcher. */
static void *convert_in_thread(void *arg)
{
    struct run *run = arg;
    run->conversion.status = convert(run);
    (void)close(run->conversion.done[1]);
    return NULL;
}

static void finish(struct run *run)
{
    struct conversion *conversion = &run->conversion;
    conversion->over = true;
    if (conversion->status == 0) {
        run->result->written = true;
    } else if (access(conversion->dir, F_OK) == 0) {
        run->result->kept = strdup(conversion->dir);
    }
    record_reserve_end(&run->name);
    if (run->opts->finished != NULL) {
        run->opts->finished(run->opts->finished_arg, run->result, &conversion->err);
    }
}

void record_convert_begin(struct run *run, const char *dir, bool live)
{
    struct conversion *conversion = &run->conversion;
    if (conversion->runs || conversion->over) {
        return;
    }
    gpu_metrics_stop(run->metrics);
    run->metrics = NULL;
    read_control(run);
    conversion->dir = dir;
    conversion->live = live;
#ifdef M_ARENA_MAX
    /* One arena for all: under a memory limit glibc would try to map another one for the thread at
     * each call of malloc. */
    (void)mallopt(M_ARENA_MAX, 1);
#endif
    if (pipe(conversion->done) == 0) {
        (void)fcntl(conversion->done[0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(conversion->done[1], F_SETFD, FD_CLOEXEC);
        conversion->runs = pthread_create(&conversion->thread, NULL, convert_in_thread, run) == 0;
        if (conversion->runs) {
            return;
        }
        (void)close(conversion->done[0]);
        (void)close(conversion->done[1]);
    }
    /* no thread to be had: the signals wait */
    conversion->status = convert(run);
    finish(run);
}

void record_convert_collect(struct run *run)
{
    struct conversion *conversion = &run->conversion;
    (void)pthread_join(conversion->thread, NULL);
    (void)close(conversion->done[0]);
    conversion->runs = false;
    finish(run);
}
