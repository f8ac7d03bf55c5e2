/*
 * The recorder's one thread in CUDA processes: hands CUPTI's full buffers on, keeps prepared ones
 * in stock, asks CUPTI for what it holds back (cuptiActivityFlushAll(0) at an interval: CUPTI's own
 * period returns only full buffers), takes clock anchors, and does the forced flush at the end. All
 * signals are blocked in it, so the program's handlers never run here.
 */
#define _GNU_SOURCE /* sem_clockwait, syscall; NOLINT */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define NS_IN_MS INT64_C(1000000)
#define NS_IN_S INT64_C(1000000000)
#define TICK_NS (100 * NS_IN_MS) /* how soon a change of the control page is seen */
#define STACK_BYTES (UINT32_C(256) << 10)
#define NICENESS 5

/* musl and glibc before 2.30 wait by the time of day only: where somebody sets it, one wait is of
 * another length. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
#define WAIT_CLOCK CLOCK_MONOTONIC
#define WAIT_UNTIL(semaphore, timestamp) sem_clockwait(semaphore, CLOCK_MONOTONIC, timestamp)
#else
#define WAIT_CLOCK CLOCK_REALTIME
#define WAIT_UNTIL(semaphore, timestamp) sem_timedwait(semaphore, timestamp)
#endif

/* Waits for SEMAPHORE up to FOR_NS. True if it was posted. */
static bool wait_for(sem_t *semaphore, int64_t for_ns)
{
    int64_t until_ns = clock_read_ns(WAIT_CLOCK) + for_ns;
    struct timespec until = {(time_t)(until_ns / NS_IN_S), (long)(until_ns % NS_IN_S)};
    int result = 0;
    do {
        result = WAIT_UNTIL(semaphore, &until);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

static void count_dropped(struct cupti_state *cupti)
{
    size_t dropped = 0;
    if (cupti->call.get_dropped != NULL && cupti->call.get_dropped(NULL, 0, &dropped) == 0 &&
        dropped > 0) {
        spool_writer_loss(&inject.writer, SPOOL_LOSS_CUPTI_DROPPED, 0, dropped);
    }
}

/* Asks CUPTI for its buffers and handles them. No lock of ours is held while CUPTI works. */
static void flush(struct cupti_state *cupti, uint32_t flag, bool at_exit)
{
    int result = cupti->call.flush_all(flag);
    if (result != 0 && result != cupti->flush_result) {
        spool_writer_status(&inject.writer, SPOOL_STATUS_FLUSH_FAILED, (uint64_t)result,
                            at_exit ? 1 : 0, NULL);
    }
    cupti->flush_result = result;
    cupti_buffer_drain(cupti);
    count_dropped(cupti);
}

static void take_anchor(struct cupti_state *cupti)
{
    uint64_t now_ns = 0;
    if (cupti->call.get_timestamp == NULL || cupti->call.get_timestamp(&now_ns) != 0) {
        now_ns = 0;
    }
    spool_writer_anchor(&inject.writer, now_ns);
}

/* What the recorder itself cost. */
static void say_cost(struct cupti_state *cupti)
{
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = SPOOL_STATUS_COST};
    head.value[0] = (uint64_t)clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    head.value[1] = cupti->buffers_walked;
    head.value[2] = cupti->records_walked;
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    spool_writer_meta(&inject.writer, &head, NULL, 0);
}

static void finish(struct cupti_state *cupti)
{
    if (cupti_rival_is_there(cupti)) {
        cupti_buffer_drain(cupti);
        cupti_rival_at_end(cupti);
    } else {
        cupti_rival_before_end(cupti);
        flush(cupti, CUPTI_FLUSH_FORCED, true);
        if (cupti->flush_result == 0) {
            cupti_rival_at_end(cupti);
        }
    }
    cupti_say_flushed(cupti);
    take_anchor(cupti);
    say_cost(cupti);
    (void)sem_post(&cupti->finished);
}

void cupti_say_flushed(struct cupti_state *cupti)
{
    if (!atomic_exchange(&cupti->flushed_at_end, true)) {
        (void)atomic_fetch_add(&inject.control->processes_flushed, 1);
    }
}

/* Once collecting is over for good, what CUPTI still holds is fetched at once: the launcher may be
 * about to end the command. */
static void flush_when_over(struct cupti_state *cupti)
{
    if (!atomic_load(&cupti->flushed_at_end) && inject_over()) {
        if (!cupti_rival_is_there(cupti)) {
            flush(cupti, CUPTI_FLUSH_FORCED, false);
        }
        cupti_say_flushed(cupti);
    }
}

static void *run(void *argument)
{
    struct cupti_state *cupti = argument;
    int64_t flush_ns = (int64_t)inject.config.flush_interval_ms * NS_IN_MS;
    int64_t next_flush_ns = clock_read_ns(CLOCK_MONOTONIC) + flush_ns;
    int64_t next_anchor_ns = 0;
    (void)prctl(PR_SET_NAME, "cutline");
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
    for (;;) {
        int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
        bool soon = flush_ns > 0 && next_flush_ns - now_ns < TICK_NS;
        (void)wait_for(&cupti->wake, soon ? next_flush_ns - now_ns : TICK_NS);
        now_ns = clock_read_ns(CLOCK_MONOTONIC);
        cupti_buffer_prepare(cupti);
        cupti_buffer_drain(cupti);
        bool due = flush_ns > 0 && now_ns >= next_flush_ns;
        due = atomic_exchange(&cupti->flush_asked, false) || due;
        bool ours = !cupti_rival_is_there(cupti);
        if (due) {
            next_flush_ns = now_ns + flush_ns;
        }
        if (due && ours) {
            flush(cupti, CUPTI_FLUSH_COMPLETED, false);
        }
        flush_when_over(cupti);
        if (now_ns >= next_anchor_ns) {
            take_anchor(cupti);
            os_names_all(&inject.writer, false);
            next_anchor_ns = now_ns + NS_IN_S;
        }
        if (atomic_exchange(&cupti->finish, false)) {
            finish(cupti);
        }
    }
    return NULL;
}

bool cupti_thread_start(struct cupti_state *cupti)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int result = EAGAIN;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        if (pthread_attr_init(&attributes) == 0) {
            (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
            (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
            result = pthread_create(&cupti->thread, &attributes, run, cupti);
            (void)pthread_attr_destroy(&attributes);
        }
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    cupti->thread_runs = result == 0;
    if (result != 0 && nvtx_enter()) {
        spool_writer_status(&inject.writer, SPOOL_STATUS_THREAD_FAILED, (uint64_t)result, 0, NULL);
        nvtx_leave();
    }
    return result == 0;
}

void cupti_thread_finish(struct cupti_state *cupti)
{
    if (atomic_exchange(&cupti->finishing, true)) {
        return;
    }
    if (!cupti->thread_runs) {
        if (nvtx_enter()) {
            flush(cupti, CUPTI_FLUSH_FORCED, true);
            nvtx_leave();
        }
        return;
    }
    atomic_store(&cupti->finish, true);
    (void)sem_post(&cupti->wake);
    if (!wait_for(&cupti->finished, (int64_t)inject.config.exit_wait_ms * NS_IN_MS)) {
        atomic_store(&cupti->flush_hung, true);
        spool_writer_loss(&inject.writer, SPOOL_LOSS_EXIT_TIMEOUT, 0, 1);
    }
}
