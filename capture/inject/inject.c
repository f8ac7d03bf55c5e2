/* Entry points that the CUDA driver and NVTX call, the start of the recorder in a process, its
 * exit, and fork. */
#define _GNU_SOURCE /* dladdr, MAP_ANONYMOUS; NOLINT */
#include "capture/inject/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/spool/clock.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

#define ARENA_BYTES (UINT32_C(64) << 10)

/* The names are given by the interfaces; they must be visible in the library or the driver skips it
 * without a word. */
#define EXPORTED __attribute__((visibility("default")))
/* NOLINTBEGIN(readability-identifier-naming) */
EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx(nvtx_get_table_fn get_table);
EXPORTED int InitializeInjectionNvtx2(nvtx_get_table_fn get_table);
EXPORTED int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);
/* NOLINTEND(readability-identifier-naming) */

struct inject inject = {.lock = PTHREAD_MUTEX_INITIALIZER, .spool_serial = 1};

void *inject_alloc(size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > inject.arena_left) {
        size_t want = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;
        void *map = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) {
            return NULL;
        }
        inject.arena = map;
        inject.arena_left = want;
    }
    void *taken = inject.arena;
    inject.arena += bytes;
    inject.arena_left -= bytes;
    return taken;
}

/* The folder that this library lies in. */
static bool find_dir(void)
{
    Dl_info info;
    if (dladdr(&inject, &info) == 0 || info.dli_fname == NULL) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash == NULL || slash == info.dli_fname) {
        return false;
    }
    size_t length = (size_t)(slash - info.dli_fname);
    if (length >= sizeof(inject.dir) || info.dli_fname[0] != '/') {
        return false;
    }
    memcpy(inject.dir, info.dli_fname, length);
    inject.dir[length] = '\0';
    return true;
}

static void at_exit(void)
{
    if (atomic_load(&inject.started) != 1 || (inject_is_copy() && !inject_after_fork())) {
        return;
    }
    int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);
    cupti_exit();
    struct spool_writer *writer = inject_spool_now();
    if (writer == NULL || atomic_exchange(&inject.exited, true) || !nvtx_enter()) {
        return;
    }
    os_names_all(writer, true);
    spool_writer_anchor(writer, 0);
    spool_writer_status(writer, SPOOL_STATUS_EXIT,
                        (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - begin_ns),
                        atomic_load(&inject.cupti.flush_hung) ? 0 : 1, NULL);
    spool_writer_seal(writer);
    nvtx_leave();
}

void inject_at_exit(void)
{
    (void)atexit(at_exit);
}

/* In the child of a fork: the spool and its mappings are the parent's. Locks may be held by threads
 * that are gone. */
static void leave_parent(void)
{
    inject.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (inject.writer.header != NULL) {
        inject.forked_from = inject.writer.header->pid;
    }
    inject.spool_serial++;
    atomic_store(&inject.spool_state, INJECT_SPOOL_NONE);
    atomic_store(&inject.exited, false);
    inject_range_start();
    nvtx_fork_child();
    cupti_fork_child();
}

bool inject_after_fork(void)
{
    uint32_t cleared = 0;
    if (!atomic_compare_exchange_strong(inject.own, &cleared, INJECT_OWN + 1)) {
        (void)atomic_fetch_add(&inject.dropped_in_fork, cleared == INJECT_OWN ? 0 : 1);
        return cleared == INJECT_OWN;
    }
    leave_parent();
    atomic_store_explicit(inject.own, INJECT_OWN, memory_order_release);
    return true;
}

/* The child of fork(). An event may have come first, from the handler of another library. */
static void fork_child(void)
{
    if (inject.own_is_cleared) {
        (void)inject_after_fork();
    } else {
        leave_parent();
    }
}

/* Sets the word up that tells a child from its parent. */
static bool mark_own(void)
{
    void *page = mmap(NULL, SPOOL_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return false;
    }
    inject.own = page;
    inject.own_is_cleared = madvise(page, SPOOL_PAGE, MADV_WIPEONFORK) == 0;
    atomic_store(inject.own, INJECT_OWN);
    return true;
}

static int start_locked(void)
{
    if (!find_dir() || session_config_read(&inject.config, inject.dir) != 0) {
        return -1;
    }
    inject.control = session_control_open(inject.dir, false);
    if (inject.control == NULL || !mark_own()) {
        return -1;
    }
    spool_place_learn(&inject.place);
    inject_range_start();
    nvtx_start();
    (void)pthread_atfork(NULL, NULL, fork_child);
    inject_at_exit();
    return 1;
}

bool inject_start(void)
{
    int saved = errno;
    if (atomic_load(&inject.started) == 0) {
        (void)pthread_mutex_lock(&inject.lock);
        if (atomic_load(&inject.started) == 0) {
            atomic_store(&inject.started, start_locked());
        }
        (void)pthread_mutex_unlock(&inject.lock);
    }
    errno = saved;
    return atomic_load(&inject.started) == 1;
}

static int open_spool(void)
{
    if (spool_writer_open(&inject.writer, inject.dir, inject.control, &inject.place, &inject.config,
                          inject.forked_from) != 0) {
        enum spool_loss why = spool_place_cause(&inject.place, errno);
        (void)atomic_fetch_add(&inject.control->spools_failed_by[why], 1);
        (void)atomic_fetch_add(&inject.control->spools_failed, 1);
        return INJECT_SPOOL_FAILED;
    }
    spool_writer_anchor(&inject.writer, 0);
    if (inject.forked_from != 0) {
        spool_writer_status(&inject.writer, SPOOL_STATUS_FORKED, inject.forked_from, 0, NULL);
    }
    nvtx_emit_notes(&inject.writer);
    os_names_command(&inject.writer);
    inject_job(&inject.writer);
    uint64_t dropped = atomic_exchange(&inject.dropped_in_fork, 0);
    if (dropped > 0) {
        spool_writer_loss(&inject.writer, SPOOL_LOSS_NVTX_REENTRANT, SPOOL_LOSS_OF_NVTX, dropped);
    }
    return INJECT_SPOOL_READY;
}

struct spool_writer *inject_spool(void)
{
    if (inject_is_copy() && !inject_after_fork()) {
        return NULL;
    }
    if (atomic_load_explicit(&inject.spool_state, memory_order_acquire) == INJECT_SPOOL_NONE) {
        int saved = errno;
        (void)pthread_mutex_lock(&inject.lock);
        if (atomic_load(&inject.spool_state) == INJECT_SPOOL_NONE) {
            atomic_store_explicit(&inject.spool_state, open_spool(), memory_order_release);
        }
        (void)pthread_mutex_unlock(&inject.lock);
        errno = saved;
    }
    return inject_spool_now();
}

int InitializeInjection(void)
{
    if (inject_start() && inject.config.trace_cuda) {
        int saved = errno;
        cupti_start();
        errno = saved;
    }
    return 1;
}

int InitializeInjectionNvtx2(nvtx_get_table_fn get_table)
{
    if (!inject_start() || !inject.config.trace_nvtx) {
        return 0;
    }
    return nvtx_attach(get_table);
}

int InitializeInjectionNvtx(nvtx_get_table_fn get_table)
{
    return InitializeInjectionNvtx2(get_table);
}

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
    if (!inject_start() || !inject.config.trace_nvtx) {
        return 0;
    }
    return nvtx_extension_attach(extension);
}
