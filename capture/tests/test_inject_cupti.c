/* The injected library records what CUPTI delivers: all layouts, orders, threads; every failure of
 * CUPTI leaves the program alone. */
#define _GNU_SOURCE /* kill, ftruncate; NOLINT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/tests/cupti_trial.h"

static const char *const layouts[] = {"11.4", "11.6", "12.1", "12.6", "13.0", "13.4"};

static void test_layouts(void **state)
{
    static const uint32_t kernel_bytes[] = {168, 176, 208, 208, 216, 248};
    (void)state;
    for (size_t l = 0; l < 6; l++) {
        char settings[64];
        struct trial trial;
        struct loot loot;
        (void)snprintf(settings, sizeof(settings), "layout=%s", layouts[l]);
        cupti_begin(&trial, settings, l < 3 ? "libcupti.so.12" : "libcupti.so.13");
        cupti_run(&trial, &loot, ARGS("records", "1500"));
        assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_EXIT);
        cupti_check_all(&loot, &trial, 1500);
        cupti_check_metadata(&loot, &trial);
        assert_int_equal(cupti_delivered(&trial, CUPTI_KIND_DEVICE), 1500);
        assert_int_equal(cupti_delivered(&trial, CUPTI_KIND_CONCURRENT_KERNEL), 1500);
        assert_int_equal(cupti_delivered(&trial, CUPTI_KIND_GRAPH_TRACE), l < 2 ? 0 : 1500);
        for (size_t i = 0; i < loot.cupti_count; i++) {
            if (loot.cupti[i].kind == CUPTI_KIND_CONCURRENT_KERNEL) {
                assert_int_equal(loot.cupti[i].bytes, kernel_bytes[l]);
            }
        }
        assert_int_equal(loot.loss_count, 0);
        assert_int_equal(loot.damage[0].cupti_tail_bytes, 0);
        loot_free(&loot);
        trial_end(&trial);
    }
}

static void test_orders_and_threads(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "layout=13.0", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("backwards", "700"));
    cupti_check_all(&loot, &trial, 700);
    loot_free(&loot);
    trial_end(&trial);
    for (int per_thread = 0; per_thread < 2; per_thread++) {
        cupti_begin(&trial, per_thread ? "per_thread=1" : "per_thread=0", "libcupti.so.13");
        cupti_run(&trial, &loot, ARGS("threads"));
        cupti_check_all(&loot, &trial, 3000);
        assert_int_equal(cupti_delivered(&trial, CUPTI_KIND_RUNTIME), 3000);
        assert_int_equal(loot.loss_count, 0);
        loot_free(&loot);
        trial_end(&trial);
    }
}

/* A buffer that is nearly empty at each flush does not take a segment of its own. */
static void test_slow_program(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    trial.config.flush_interval_ms = 1;
    cupti_run(&trial, &loot, ARGS("slow", "40"));
    cupti_check_all(&loot, &trial, 40);
    assert_true(loot.headers[0].file_bytes < 600000);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_names(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("names"));
    static const char *const wanted[] = {"first text", "second text", NULL, NULL, "second text"};
    assert_int_equal(loot.cupti_count, 5);
    for (size_t i = 0; i < 5; i++) {
        uint64_t name = 0;
        memcpy(&name, (const uint8_t *)loot.cupti[i].record + 104, sizeof(name));
        const char *text = loot_string(&loot, 0, name & ~SPOOL_NAME_TAG);
        assert_true((name & SPOOL_NAME_TAG) != 0);
        if (wanted[i] == NULL) {
            assert_null(text);
        } else {
            assert_non_null(text);
            assert_string_equal(text, wanted[i]);
        }
    }
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_NAME_UNREADABLE, 10), 1);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_odd_times(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("times"));
    assert_int_equal(loot.cupti_count, 4);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_bad_buffers(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("bad"));
    uint64_t base = cupti_base(&trial);
    static const uint64_t numbers[] = {0, 1, 3, 5};
    assert_int_equal(loot.cupti_count, 4);
    for (size_t i = 0; i < 4; i++) {
        cupti_check_record(&loot, &loot.cupti[i], &record_rules[0], numbers[i], base);
    }
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_UNKNOWN_KIND, 60), 64 + 216);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_TRUNCATED_TAIL, 10), 100);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_FOREIGN_BUFFER, 0), 1);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_CUPTI_DROPPED, 0), 77);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_INTERFERED, 0)->text,
                        "foreign buffer");
    loot_free(&loot);
    trial_end(&trial);
}

/* Over the budget CUPTI gets scratch memory, and what it writes there is counted. */
static void test_budget(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "keep=1", "libcupti.so.13");
    trial.config.buffers_max_bytes = 0;
    cupti_run(&trial, &loot, ARGS("records", "300"));
    assert_int_equal(loot.cupti_count, 0);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_BUFFER_BUDGET, 10), 300);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_BUFFER_BUDGET, 5), 300);
    cupti_check_metadata(&loot, &trial);
    loot_free(&loot);
    trial_end(&trial);
}

/* The newest or the oldest are kept, the rest is counted: nothing goes missing without a number. */
static void test_limits(void **state)
{
    (void)state;
    for (int ring = 0; ring < 2; ring++) {
        struct trial trial;
        struct loot loot;
        cupti_begin(&trial, "", "libcupti.so.13");
        trial.config.max_size_bytes = 1 << 20;
        trial.config.ring = ring == 1;
        /* a ring grows by what waits for the recorder's thread */
        trial.config.flush_interval_ms = 5;
        cupti_run(&trial, &loot, ARGS(ring == 1 ? "paced" : "records", "20000"));
        uint64_t kernels = 0;
        uint64_t last = 0;
        for (size_t i = 0; i < loot.cupti_count; i++) {
            if (loot.cupti[i].kind == CUPTI_KIND_CONCURRENT_KERNEL) {
                kernels++;
                uint64_t number =
                    cupti_number(&loot.cupti[i], &record_rules[0], cupti_base(&trial));
                cupti_check_record(&loot, &loot.cupti[i], &record_rules[0], number,
                                   cupti_base(&trial));
                last = number > last ? number : last;
            }
        }
        assert_true(kernels > 200 && kernels < 19000);
        assert_true(ring ? last == 19999 : last < 19000);
        uint32_t reason = ring ? SPOOL_LOSS_RING : SPOOL_LOSS_MAX_SIZE;
        assert_int_equal(kernels + loot_lost(&loot, reason, 10), 20000);
        assert_int_equal(loot_lost(&loot, SPOOL_LOSS_RING, CUPTI_KIND_DEVICE), 0);
        assert_true(loot.headers[0].file_bytes < 8 << 20);
        loot_free(&loot);
        trial_end(&trial);
    }
}

static void test_profiler_range(void **state)
{
    (void)state;
    for (int repeat = 0; repeat < 2; repeat++) {
        struct trial trial;
        struct loot loot;
        cupti_begin(&trial, "", "libcupti.so.13");
        trial.config.range = SESSION_RANGE_CUDA_PROFILER_API;
        trial.config.range_end = repeat ? SESSION_RANGE_END_REPEAT : SESSION_RANGE_END_STOP;
        trial.config.range_repeat = 2;
        cupti_run(&trial, &loot, ARGS("profiler"));
        uint64_t ranges = repeat ? 2 : 1;
        assert_int_equal(loot.nvtx_count, ranges);
        assert_string_equal(loot.nvtx[0].text, "in the range");
        assert_int_equal(atomic_load(&trial.control->ranges_done), ranges);
        uint64_t kernels = 0;
        for (size_t i = 0; i < loot.cupti_count; i++) {
            kernels += loot.cupti[i].kind == CUPTI_KIND_CONCURRENT_KERNEL ? 1 : 0;
        }
        assert_int_equal(kernels, ranges);
        assert_int_equal(loot_lost(&loot, SPOOL_LOSS_OUTSIDE_RANGE, 10), 6 - ranges);
        cupti_check_metadata(&loot, &trial);
        assert_int_equal(loot_status(&loot, SPOOL_STATUS_PROFILER_START, ranges)->head.value[0], 0);
        loot_free(&loot);
        trial_end(&trial);
    }
}

static void test_fork(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "keep=1", "libcupti.so.13");
    /* The leak search of the sanitizer can hang in the child of a process that has threads. */
    const char *options = getenv("ASAN_OPTIONS");
    char *before = options == NULL ? NULL : strdup(options);
    (void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    cupti_run(&trial, &loot, ARGS("fork"));
    (void)setenv("ASAN_OPTIONS", before == NULL ? "" : before, 1);
    free(before);
    assert_non_null(strstr(read_text(trial.dir, "out"), "child 4"));
    assert_int_equal(loot.spools, 2);
    cupti_check_all(&loot, &trial, 10);
    size_t child = loot.headers[0].forked_from != 0 ? 0 : 1;
    assert_int_equal(loot.headers[child].forked_from, loot.headers[1 - child].pid);
    assert_int_equal(loot.headers[child].sealed, SPOOL_SEAL_EXIT);
    assert_int_equal(loot.headers[1 - child].sealed, SPOOL_SEAL_EXIT);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_AFTER_FORK, 0), 2);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_fork_before(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("fork-before"));
    assert_int_equal(loot.spools, 2);
    cupti_check_all(&loot, &trial, 10);
    assert_int_equal(atomic_load(&trial.control->processes_cuda), 1);
    assert_int_equal(loot.loss_count, 0);
    loot_free(&loot);
    trial_end(&trial);
}

/* When collecting is over for good, what CUPTI holds is fetched, and the launcher can know when
 * that is done. */
static void test_stop(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "keep=1", "libcupti.so.13");
    trial_ready(&trial);
    pid_t pid = trial_start(&trial, "client_cuda", ARGS("wait"));
    while (strstr(read_text(trial.dir, "out"), "delivered 51") == NULL &&
           waitpid(pid, NULL, WNOHANG) == 0) {
        (void)usleep(1000);
    }
    session_control_set_gate(trial.control, SESSION_GATE_STOP);
    while (atomic_load(&trial.control->processes_flushed) == 0 &&
           waitpid(pid, NULL, WNOHANG) == 0) {
        (void)usleep(1000);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    loot_read(&loot, trial.dir);
    cupti_check_all(&loot, &trial, 10);
    assert_int_equal(loot.damage[0].undelivered, 0);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_callbacks(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("callbacks"));
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_CONTEXT_CREATED, 0)->head.value[0], 1);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_STATE, 0)->text, "out of something");
    bool named = false;
    for (size_t i = 0; i < loot.meta_count; i++) {
        if (loot.metas[i].head.kind == SPOOL_META_RESOURCE) {
            assert_string_equal(loot.metas[i].text, "my stream");
            assert_int_equal(loot.metas[i].head.value[1], 7);
            assert_int_equal(loot.metas[i].head.value[2], 1);
            named = true;
        }
    }
    assert_true(named);
    loot_free(&loot);
    trial_end(&trial);
}

/* Each way in which CUPTI can fail: the program runs on, NVTX is recorded, and the spool says what
 * failed. */
static void test_failures(void **state)
{
    static const struct {
        const char *settings;
        enum spool_status status;
        uint64_t code;
        const char *text;
    } failures[] = {
        {"subscribe=39", SPOOL_STATUS_CUPTI_BUSY, 39, "CUPTI for somebody"},
        {"subscribe=35", SPOOL_STATUS_CUPTI_FAILED, 35, "cuptiSubscribe"},
        {"subscribe=15", SPOOL_STATUS_CUPTI_FAILED, 15, "cuptiSubscribe"},
        {"subscribe=999", SPOOL_STATUS_CUPTI_NO_DRIVER, 999, "cuptiSubscribe"},
        {"register=35", SPOOL_STATUS_CUPTI_FAILED, 35, "cuptiActivityRegisterCallbacks"},
        {"register=999", SPOOL_STATUS_CUPTI_NO_DRIVER, 999, "cuptiActivityRegisterCallbacks"},
        {"enable=35", SPOOL_STATUS_CUPTI_FAILED, 35, "cuptiActivityEnable"},
        {"enable=27,enable_kind=10", SPOOL_STATUS_CUPTI_FAILED, 27, "cuptiActivityEnable"},
        {"enable=40", SPOOL_STATUS_CUPTI_FAILED, 40, "cuptiActivityEnable"},
        {"flush=8", SPOOL_STATUS_FLUSH_FAILED, 8, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        struct trial trial;
        struct loot loot;
        cupti_begin(&trial, failures[i].settings, "libcupti.so.13");
        cupti_run(&trial, &loot, ARGS("records", "20"));
        const struct loot_meta *status = loot_status(&loot, failures[i].status, 0);
        assert_int_equal(status->head.value[0], failures[i].code);
        assert_string_equal(status->text, failures[i].text);
        assert_int_equal(loot.nvtx_count, 2);
        assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_EXIT);
        assert_int_equal(atomic_load(&trial.control->processes_flushed), 1);
        loot_free(&loot);
        trial_end(&trial);
    }
}

/* Every result code of every call that can refuse: nothing but "recorded less". */
static void test_every_code(void **state)
{
    static const char *const calls[] = {"subscribe", "register", "enable"};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        for (int code = 1; code <= 46; code += 3) {
            char settings[64];
            struct trial trial;
            struct loot loot;
            (void)snprintf(settings, sizeof(settings), "%s=%d", calls[c], code);
            cupti_begin(&trial, settings, "libcupti.so.13");
            cupti_run(&trial, &loot, ARGS("records", "1"));
            assert_int_equal(loot.nvtx_count, 2);
            assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_EXIT);
            loot_free(&loot);
            trial_end(&trial);
        }
    }
}

static void test_no_cupti(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    (void)snprintf(trial.config.cupti_path, sizeof(trial.config.cupti_path), "%s",
                   "/nonexistent/libcupti.so.13");
    (void)unsetenv("STANDIN_CUPTI_PATH");
    cupti_run(&trial, &loot, ARGS("records", "1"));
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_NOT_FOUND, 0)->text,
                        "/nonexistent/libcupti.so.13");
    assert_int_equal(loot.nvtx_count, 2);
    loot_free(&loot);
    trial_end(&trial);
}

/* A CUPTI that the program has loaded itself is used, whatever the settings say. */
static void test_mapped_cupti(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    (void)snprintf(trial.config.cupti_path, sizeof(trial.config.cupti_path), "%s",
                   "/nonexistent/libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("early", "1"));
    assert_non_null(
        strstr(loot_status(&loot, SPOOL_STATUS_CUPTI_FOUND, 0)->text, "standin/libcupti.so.13"));
    loot_free(&loot);
    trial_end(&trial);
}

/* Which kinds are on for which settings. */
static uint64_t kinds_on(enum session_api api, bool driver, bool memory, enum session_graph graph)
{
    struct trial trial;
    struct loot loot;
    cupti_begin(&trial, "", "libcupti.so.13");
    trial.config.api = api;
    trial.config.driver_api = driver;
    trial.config.memory_usage = memory;
    trial.config.graph = graph;
    cupti_run(&trial, &loot, ARGS("records", "1"));
    uint64_t on = loot_status(&loot, SPOOL_STATUS_CUPTI_ACTIVE, 0)->head.value[2];
    loot_free(&loot);
    trial_end(&trial);
    return on;
}

static void test_kinds(void **state)
{
    const uint64_t always = 1U << 1 | 1U << 2 | 1U << 8 | 1U << 9 | 1U << 10 | 1U << 17 | 1U << 22 |
                            UINT64_C(1) << 37 | UINT64_C(1) << 38;
    const uint64_t graph = UINT64_C(1) << 51 | UINT64_C(1) << 53; /* of the host, of a device */
    (void)state;
    assert_int_equal(kinds_on(SESSION_API_ALL, false, false, SESSION_GRAPH_GRAPH),
                     always | graph | 1U << 5 | UINT64_C(1) << 36);
    assert_int_equal(kinds_on(SESSION_API_LAUNCH, false, false, SESSION_GRAPH_NODE),
                     always | 1U << 5);
    assert_int_equal(kinds_on(SESSION_API_NONE, true, false, SESSION_GRAPH_NODE), always);
    assert_int_equal(kinds_on(SESSION_API_LAUNCH, true, true, SESSION_GRAPH_NODE),
                     always | 1U << 5 | 1U << 4 | UINT64_C(3) << 49);
}

/* The ids of the API records that were not blanked must be WANTED (0-terminated); returns how many.
 */
static size_t check_kept(const struct loot *loot, const uint32_t *wanted)
{
    size_t kept = 0;
    for (size_t i = 0; i < loot->cupti_count; i++) {
        uint32_t cbid = 0;
        memcpy(&cbid, (const uint8_t *)loot->cupti[i].record + 4, sizeof(cbid));
        if (cbid != 0) {
            assert_int_equal(cbid, wanted[kept++]);
        }
    }
    assert_int_equal(wanted[kept], 0);
    return kept;
}

/* Chatty calls are left out by CUPTI itself where it can, by the walk where it cannot; the result
 * is the same. */
static void test_api_filter(void **state)
{
    static const struct {
        enum session_api api;
        uint32_t kept[8];
    } cases[] = {
        {SESSION_API_ALL, {211, 31, 131, 20, 0}},
        {SESSION_API_LAUNCH, {211, 31, 131, 0}},
    };
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (int old = 0; old < 2; old++) {
            struct trial trial;
            struct loot loot;
            cupti_begin(&trial, old ? "layout=12.1" : "layout=13.0",
                        old ? "libcupti.so.12" : "libcupti.so.13");
            trial.config.api = cases[c].api;
            cupti_run(&trial, &loot, ARGS("filter"));
            size_t kept = check_kept(&loot, cases[c].kept);
            assert_int_equal(loot_lost(&loot, SPOOL_LOSS_API_FILTERED, 5), old ? 7 - kept : 0);
            loot_free(&loot);
            trial_end(&trial);
        }
    }
}

static void test_ends(void **state)
{
    static const struct {
        const char *how;
        int exited;
        bool sealed;
    } ends[] = {
        {"exit", 12, true},         {"_exit", 11, false},      {"quick_exit", 13, false},
        {"abort", -SIGABRT, false}, {"term", -SIGTERM, false}, {"kill", -SIGKILL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct trial trial;
        struct loot loot;
        cupti_begin(&trial, "keep=1", "libcupti.so.13");
        trial_ready(&trial);
        int status = trial_run(&trial, "client_cuda", ARGS("end", ends[i].how));
        int exited = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        assert_int_equal(exited, ends[i].exited);
        assert_string_equal(read_text(trial.dir, "err"), "");
        loot_read(&loot, trial.dir);
        assert_int_equal(loot.headers[0].sealed == SPOOL_SEAL_EXIT, ends[i].sealed);
        uint64_t kernels = 0;
        for (size_t k = 0; k < loot.cupti_count; k++) {
            kernels += loot.cupti[k].kind == CUPTI_KIND_CONCURRENT_KERNEL ? 1 : 0;
        }
        /* What CUPTI had not given back is in the file all the same. */
        assert_int_equal(kernels, 100);
        assert_true(ends[i].sealed || loot.damage[0].undelivered > 0);
        loot_free(&loot);
        trial_end(&trial);
    }
}

static void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct trial trial;
        struct loot loot;
        char path[700];
        cupti_begin(&trial, "", "libcupti.so.13");
        trial.config.flush_interval_ms = 1;
        trial_ready(&trial);
        (void)snprintf(path, sizeof(path), "%s/counter", trial.dir);
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(ftruncate(fd, 4096), 0);
        void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        const _Atomic uint64_t *counter = map;
        (void)close(fd);
        pid_t pid = trial_start(&trial, "client_cuda", ARGS("count", path));
        uint64_t goal = 1 + ((uint64_t)round * 7919 + (uint64_t)getpid() * 31) % 30000;
        while (atomic_load(counter) < goal && waitpid(pid, NULL, WNOHANG) == 0) {
            (void)usleep(50);
        }
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        uint64_t published = atomic_load(counter);
        assert_true(published >= goal);
        loot_read(&loot, trial.dir);
        uint64_t base = cupti_base(&trial);
        uint8_t *seen = calloc(1, published + 2);
        uint64_t kernels = 0;
        for (size_t i = 0; i < loot.cupti_count; i++) {
            uint64_t number = cupti_number(&loot.cupti[i], &record_rules[0], base);
            assert_true(number < published + 1 && seen[number] == 0);
            seen[number] = 1;
            kernels++;
        }
        free(seen);
        assert_true(kernels >= published);
        loot_free(&loot);
        (void)munmap(map, 4096);
        trial_end(&trial);
    }
}

/* Records that come while the program is already in its exit handlers. */
static void test_late_delivery(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("late"));
    uint64_t kernels = 0;
    for (size_t i = 0; i < loot.cupti_count; i++) {
        kernels += loot.cupti[i].kind == CUPTI_KIND_CONCURRENT_KERNEL ? 1 : 0;
    }
    assert_int_equal(kernels, 10);
    loot_free(&loot);
    trial_end(&trial);
}

/* A forced flush that never comes back: the program ends all the same, in bounded time, and the
 * spool says so. */
static void test_hanging_flush(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "hang=1,keep=1", "libcupti.so.13");
    trial.config.exit_wait_ms = 200;
    cupti_run(&trial, &loot, ARGS("records", "5"));
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_EXIT_TIMEOUT, 0), 1);
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_EXIT, 0)->head.value[1], 0);
    assert_true(loot.cupti_count > 0);
    loot_free(&loot);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),        cmocka_unit_test(test_orders_and_threads),
        cmocka_unit_test(test_slow_program),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_odd_times),      cmocka_unit_test(test_bad_buffers),
        cmocka_unit_test(test_budget),         cmocka_unit_test(test_limits),
        cmocka_unit_test(test_profiler_range), cmocka_unit_test(test_fork),
        cmocka_unit_test(test_callbacks),      cmocka_unit_test(test_fork_before),
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_failures),
        cmocka_unit_test(test_every_code),     cmocka_unit_test(test_no_cupti),
        cmocka_unit_test(test_mapped_cupti),   cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_api_filter),     cmocka_unit_test(test_ends),
        cmocka_unit_test(test_killed),         cmocka_unit_test(test_late_delivery),
        cmocka_unit_test(test_hanging_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
