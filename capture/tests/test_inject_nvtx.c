/* The injected library records NVTX exactly: each call, threads, forks, ends of every kind, and the
 * program does not notice. */
#define _GNU_SOURCE /* WCOREDUMP is not used; kill, mmap flags; NOLINT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/spool/ranges.h"
#include "capture/tests/support.h"

#define ARGS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

static void set_text(char *to, const char *text)
{
    (void)snprintf(to, SESSION_TEXT_BYTES, "%s", text);
}

/* The META record of that kind and text; one that fails every comparison if there is none. */
static const struct loot_meta *find_meta(const struct loot *loot, uint16_t kind, const char *text)
{
    static char missing[] = "missing";
    static const struct loot_meta none = {
        .head = {.code = 999, .domain = 999, .value = {999, 999, 999}}, .text = missing};
    for (size_t i = 0; i < loot->meta_count; i++) {
        if (loot->metas[i].head.kind == kind && strcmp(loot->metas[i].text, text) == 0) {
            return &loot->metas[i];
        }
    }
    return &none;
}

static void test_every_call(void **state)
{
    static const char *const wanted[] = {
        "mark [] mark a",
        "mark [] mark w",
        "mark [] full colour=1:ff336699 category=7 payload=1:1234567890",
        "push [] outer",
        "push [] inner w",
        "push [] gr\303\266\303\237e \344\270\226 \360\237\230\200",
        "push [] ",
        "pop [] ",
        "pop [] ",
        "pop [] ",
        "pop [] ",
        "start [] one",
        "start [] two",
        "start [] full colour=1:ff336699 category=7 payload=1:1234567890",
        "end [] ",
        "end [] ",
        "end [] ",
        "push [] ",
        "pop [] ",
        "push [] ",
        "pop [] ",
        "push [app.domain] registered text payload=3:4004000000000000",
        "push [d\xc3\xb6main] registriert \xc3\xbc payload=5:fffffffd",
        "mark [app.domain] registriert \xc3\xbc payload=5:fffffffd",
        "pop [d\xc3\xb6main] ",
        "pop [app.domain] ",
        "push [] in default by handle",
        "pop [] ",
        "start [app.domain] in default by handle",
        "end [app.domain] ",
        "mark [app.domain] in default by handle",
        "push [payloads]  blob=100000001:abcdef",
        "mark [payloads]  blob=1000007:to the zero",
        "pop [payloads] ",
        "push [payloads] extended blob=1000007:to the zero",
        "pop [payloads] ",
        NULL,
    };
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("all")), 0);
    assert_string_equal(read_text(trial.dir, "err"), "");
    assert_string_equal(read_text(trial.dir, "out"),
                        "push 3 pop 3\nsame domain 1\nenabled 1 own 1000007\n");
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 1);
    loot_expect(&loot, 0, wanted);
    assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_EXIT);
    assert_int_equal(loot.nvtx[11].item.u.nvtx.range, loot.nvtx[14].item.u.nvtx.range);
    assert_int_equal(loot.nvtx[13].item.u.nvtx.range, loot.nvtx[15].item.u.nvtx.range);
    assert_int_equal(loot.nvtx[12].item.u.nvtx.range, loot.nvtx[16].item.u.nvtx.range);
    assert_int_equal(find_meta(&loot, SPOOL_META_CATEGORY, "seven")->head.value[0], 7);
    assert_int_equal(find_meta(&loot, SPOOL_META_CATEGORY, "seven")->head.domain, 0);
    assert_int_equal(find_meta(&loot, SPOOL_META_CATEGORY, "seven here")->head.domain, 1);
    assert_int_equal(find_meta(&loot, SPOOL_META_CATEGORY, "neun")->head.domain, 2);
    assert_int_equal(find_meta(&loot, SPOOL_META_THREAD, "main thread")->head.value[0],
                     loot.nvtx[0].item.u.nvtx.tid);
    assert_int_equal(find_meta(&loot, SPOOL_META_THREAD, "other thread")->head.value[0], 4242);
    assert_int_equal(find_meta(&loot, SPOOL_META_RESOURCE, "a mutex")->head.value[0], 77);
    assert_int_equal(find_meta(&loot, SPOOL_META_RESOURCE, "second GPU")->head.code,
                     SPOOL_RESOURCE_CUDA_DEVICE);
    assert_int_equal(find_meta(&loot, SPOOL_META_RESOURCE, "copy stream")->head.value[0], 0x1000);
    assert_int_equal(find_meta(&loot, SPOOL_META_RESOURCE, "context")->head.value[1], UINT64_MAX);
    assert_int_equal(
        find_meta(&loot, SPOOL_META_SCHEMA, "my schema\n0 3 0 0 count\n0 4 0 8 bytes\n")
            ->head.value[1],
        16);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_NVTX_EXTENSION, UINT32_MAX), 1);
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_ATTACHED_NVTX, 1)->head.value[0] +
                         loot_status(&loot, SPOOL_STATUS_ATTACHED_NVTX, 0)->head.value[0],
                     3);
    assert_int_equal(atomic_load(&trial.control->processes_nvtx), 1);
    loot_free(&loot);
    trial_end(&trial);
}

/* Times never go back within a thread, and lie between the anchors. */
static void test_times(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("many", "1000")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 2000);
    bool tsc = loot.headers[0].clock == SPOOL_CLOCK_TSC;
    uint64_t first = tsc ? loot.headers[0].created_tsc : (uint64_t)loot.headers[0].created_mono_ns;
    uint64_t last = 0;
    for (size_t i = 0; i < loot.meta_count; i++) {
        if (loot.metas[i].head.kind == SPOOL_META_ANCHOR) {
            last = loot.metas[i].head.value[tsc ? 2 : 1];
        }
    }
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        assert_true(loot.nvtx[i].item.u.nvtx.head.time >= first);
        assert_string_equal(loot.nvtx[i].text, i % 2 == 0 ? "one of many events" : "");
        first = loot.nvtx[i].item.u.nvtx.head.time;
    }
    assert_true(first <= last);
    loot_free(&loot);
    trial_end(&trial);
}

/* Reads "thread N range M". */
static bool parse_two(const char *text, int *number, int *range)
{
    char *end = NULL;
    if (strncmp(text, "thread ", 7) != 0) {
        return false;
    }
    *number = (int)strtol(text + 7, &end, 10);
    *range = (int)strtol(end + strlen(" range "), &end, 10);
    return *end == '\0';
}

static void test_threads(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("threads", "8")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 24 * 4000);
    /* Each thread's events come in order; threads are told apart by their own numbers in the texts.
     */
    uint32_t tids[24] = {0};
    int depth[24] = {0};
    int next[24] = {0};
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        const struct loot_nvtx *event = &loot.nvtx[i];
        int number = -1;
        int range = -1;
        if (parse_two(event->text, &number, &range)) {
            tids[number] = event->item.u.nvtx.tid;
            assert_int_equal(range, next[number]++);
            assert_int_equal(depth[number]++, 0);
            continue;
        }
        for (number = 23; number > 0 && tids[number] != event->item.u.nvtx.tid; number--) {
        }
        depth[number] += event->item.u.nvtx.head.type == SPOOL_NVTX_PUSH ? 1 : -1;
        assert_true(depth[number] >= 0 && depth[number] <= 2);
    }
    for (int i = 0; i < 24; i++) {
        assert_int_equal(next[i], 1000);
        assert_int_equal(depth[i], 0);
    }
    loot_free(&loot);
    trial_end(&trial);
}

static void test_range_across_threads(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("cross")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 2);
    assert_int_equal(loot.nvtx[0].item.u.nvtx.range, loot.nvtx[1].item.u.nvtx.range);
    assert_int_not_equal(loot.nvtx[0].item.u.nvtx.tid, loot.nvtx[1].item.u.nvtx.tid);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_forked_children(void **state)
{
    static const char *const parent[] = {"push [] parent", "pop [] ", NULL};
    static const char *const child[] = {"push [before fork] known before", "pop [before fork] ",
                                        NULL};
    static const char *const grandchild[] = {"mark [] grandchild", NULL};
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("forks")), 0);
    assert_string_equal(read_text(trial.dir, "out"), "child 3\nchild 2\n");
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 3);
    for (size_t i = 0; i < 3; i++) {
        uint32_t pid = loot.headers[i].pid;
        if (loot.headers[i].forked_from == 0) {
            loot_expect(&loot, pid, parent);
        } else if (loot.headers[i].sealed == SPOOL_SEAL_EXIT) {
            loot_expect(&loot, pid, child);
        } else {
            loot_expect(&loot, pid, grandchild);
        }
    }
    loot_free(&loot);
    trial_end(&trial);
}

/* Forks that no handler of pthread_atfork sees: parent, child and grandchild each have their own
 * events, all of them, and the parent's spool is whole. */
static void test_raw_forks(void **state)
{
    enum {
        COUNT = 2000
    };
    static const char *const names[] = {"parent", "child", "grandchild"};
    struct trial trial;
    struct loot loot;
    uint64_t seen[3] = {0, 0, 0};
    uint64_t registered = 0;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("clones", "2000")), 0);
    assert_string_equal(read_text(trial.dir, "out"), "child 3\nchild 2\n");
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 3);
    assert_int_equal(loot.loss_count, 0);
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        const struct loot_nvtx *event = &loot.nvtx[i];
        const struct spool_header *header = &loot.headers[event->spool];
        size_t who = header->forked_from == 0 ? 0 : header->sealed == SPOOL_SEAL_EXIT ? 1 : 2;
        assert_int_equal(event->item.u.nvtx.tid, header->pid);
        if (event->item.u.nvtx.head.type != SPOOL_NVTX_PUSH) {
            continue;
        }
        size_t length = strlen(names[who]);
        if (strcmp(event->text, "registered") == 0) {
            registered++;
            continue;
        }
        assert_memory_equal(event->text, names[who], length);
        assert_int_equal(strtoull(event->text + length, NULL, 10), seen[who]++ % COUNT);
    }
    assert_int_equal(registered, 1);
    assert_int_equal(seen[0], 2 * COUNT);
    assert_int_equal(seen[1], COUNT);
    assert_int_equal(seen[2], COUNT);
    for (size_t i = 0; i < loot.spools; i++) {
        assert_int_equal(loot.damage[i].records_bad, 0);
        assert_int_equal(loot.damage[i].segments_bad, 0);
    }
    loot_free(&loot);
    trial_end(&trial);
}

/* How a program ends: its status must be as without us, and what it recorded must be there. */
static void test_ends(void **state)
{
    static const struct {
        const char *how;
        int exited; /* status, or -signal */
        bool sealed;
        bool at_exit;
    } ends[] = {
        {"return", 0, true, true},         {"exit", 12, true, true},
        {"_exit", 11, false, false},       {"quick_exit", 13, false, false},
        {"abort", -SIGABRT, false, false}, {"segv", -SIGSEGV, false, false},
        {"term", -SIGTERM, false, false},  {"int", -SIGINT, false, false},
        {"kill", -SIGKILL, false, false},  {"pthread_exit", 0, true, true},
    };
    (void)state;
    const char *sanitize = getenv("CUTLINE_SANITIZE");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct trial trial;
        struct loot loot;
        if (sanitize != NULL && sanitize[0] != '\0' && ends[i].exited == -SIGSEGV) {
            continue; /* the sanitizer catches it and ends the program in its own way */
        }
        trial_begin(&trial, NULL);
        trial_ready(&trial);
        int status = trial_run(&trial, "client_nvtx", ARGS("end", ends[i].how));
        int exited = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        assert_int_equal(exited, ends[i].exited);
        assert_string_equal(read_text(trial.dir, "err"), "");
        loot_read(&loot, trial.dir);
        assert_int_equal(loot.spools, 1);
        assert_int_equal(loot.headers[0].sealed == SPOOL_SEAL_EXIT, ends[i].sealed);
        assert_int_equal(loot.nvtx_count, ends[i].at_exit ? 3 : 2);
        assert_string_equal(loot.nvtx[1].text, ends[i].how);
        loot_free(&loot);
        trial_end(&trial);
    }
}

static void test_exec(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("end", "exec")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 2);
    assert_int_equal(loot.headers[0].pid, loot.headers[1].pid);
    assert_int_equal(loot.nvtx_count, 3);
    assert_string_equal(loot.nvtx[1].text, "exec");
    assert_string_equal(loot.nvtx[2].text, "after exec");
    loot_free(&loot);
    trial_end(&trial);
}

/* kill -9 at a random moment: every event that the program knows to be published is there, in
 * order. */
static void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        struct trial trial;
        struct loot loot;
        char path[700];
        trial_begin(&trial, NULL);
        trial_ready(&trial);
        (void)snprintf(path, sizeof(path), "%s/counter", trial.dir);
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(ftruncate(fd, 4096), 0);
        void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        const _Atomic uint64_t *counter = map;
        (void)close(fd);
        pid_t pid = trial_start(&trial, "client_nvtx", ARGS("count", path));
        uint64_t goal = 1 + ((uint64_t)round * 7919 + (uint64_t)getpid() * 31) % 20000;
        while (atomic_load(counter) < goal && waitpid(pid, NULL, WNOHANG) == 0) {
            (void)usleep(50);
        }
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        uint64_t published = atomic_load(counter);
        assert_true(published >= goal);
        loot_read(&loot, trial.dir);
        assert_int_equal(loot.spools, 1);
        assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_NONE);
        uint64_t pushes = 0;
        for (size_t i = 0; i < loot.nvtx_count; i++) {
            if (loot.nvtx[i].item.u.nvtx.head.type == SPOOL_NVTX_PUSH) {
                assert_int_equal(strtoull(loot.nvtx[i].text, NULL, 10), pushes);
                pushes++;
            }
        }
        assert_true(pushes >= published && pushes <= published + 1);
        assert_int_equal(loot.damage[0].records_bad, 0);
        loot_free(&loot);
        (void)munmap(map, 4096);
        trial_end(&trial);
    }
}

static void test_many_children(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("children", "200")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 200);
    assert_int_equal(loot.nvtx_count, 400);
    loot_free(&loot);
    trial_end(&trial);
}

/* Events from signal handlers are recorded or counted, never torn. */
static void test_signal_handlers(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("signals")), 0);
    loot_read(&loot, trial.dir);
    uint64_t main_events = 0;
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        const char *text = loot.nvtx[i].text;
        if (loot.nvtx[i].item.u.nvtx.head.type == SPOOL_NVTX_PUSH) {
            assert_true(strcmp(text, "main") == 0 || strcmp(text, "from a signal handler") == 0);
            main_events += strcmp(text, "main") == 0 ? 1 : 0;
        }
    }
    assert_int_equal(main_events, 200000);
    assert_int_equal(loot.damage[0].records_bad, 0);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_long_texts(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 4095, 4096, 8192, 8192, 8192};
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("texts")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(strlen(loot.nvtx[i].text), sizes[i]);
    }
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_NVTX_TEXT_CUT, UINT32_MAX), 2);
    loot_free(&loot);
    trial_end(&trial);
}

static void test_old_client(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("old")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 2);
    assert_string_equal(loot.nvtx[0].text, "old client");
    loot_free(&loot);
    trial_end(&trial);
}

static void test_domain_lists(void **state)
{
    (void)state;
    for (int exclude = 0; exclude < 2; exclude++) {
        struct trial trial;
        struct loot loot;
        trial_begin(&trial, NULL);
        trial.config.domains_mode = exclude ? SESSION_DOMAINS_EXCLUDE : SESSION_DOMAINS_INCLUDE;
        trial.config.domains_count = 2;
        set_text(trial.config.domains[0], "app.domain");
        set_text(trial.config.domains[1], "default");
        trial_ready(&trial);
        assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("all")), 0);
        loot_read(&loot, trial.dir);
        assert_int_equal(loot.nvtx_count, exclude ? 7 : 29);
        for (size_t i = 0; i < loot.nvtx_count; i++) {
            bool listed = strcmp(loot.nvtx[i].domain, "app.domain") == 0 ||
                          strcmp(loot.nvtx[i].domain, "") == 0;
            assert_int_equal(listed, !exclude);
        }
        loot_free(&loot);
        trial_end(&trial);
    }
}

/* Runs "phases" with a capture range and returns what was recorded. */
static void run_phases(struct trial *trial, struct loot *loot, const char *message,
                       const char *domain, enum session_range_end end)
{
    trial_begin(trial, NULL);
    trial->config.range = SESSION_RANGE_NVTX;
    trial->config.range_end = end;
    trial->config.range_repeat = 2;
    set_text(trial->config.range_message, message);
    set_text(trial->config.range_domain, domain);
    trial_ready(trial);
    assert_int_equal(trial_run(trial, "client_nvtx", ARGS("phases")), 0);
    loot_read(loot, trial->dir);
}

static void test_capture_range(void **state)
{
    static const char *const registered[] = {"push [train] step",
                                             "push [] step",
                                             "mark [] inside of a step",
                                             "pop [] ",
                                             "push [train] step",
                                             "pop [train] ",
                                             "pop [train] ",
                                             NULL};
    static const char *const any_domain[] = {"push [] step", "mark [] inside of a step", "pop [] ",
                                             NULL};
    static const char *const wide[] = {"start [] epoch", "mark [] inside of an epoch", "end [] ",
                                       NULL};
    struct trial trial;
    struct loot loot;
    (void)state;
    run_phases(&trial, &loot, "step", "train", SESSION_RANGE_END_STOP);
    loot_expect(&loot, 0, registered);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_RANGE_OPENED, 0)->text, "step");
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_RANGE_CLOSED, 0)->text, "");
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_RANGE_SEEN, 0)->text, "warm-up");
    assert_true(session_ranges_over(trial.control));
    struct session_transition change;
    assert_true(session_control_transition(trial.control, 0, &change));
    assert_int_equal(change.collect, 1); /* the gate, and nothing else */
    assert_false(session_control_transition(trial.control, 1, &change));
    uint64_t opened = loot_status(&loot, SPOOL_STATUS_RANGE_OPENED, 0)->head.value[3];
    uint64_t closed = loot_status(&loot, SPOOL_STATUS_RANGE_CLOSED, 0)->head.value[3];
    assert_true((uint64_t)change.mono_ns < opened && opened < closed);
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_RANGE_CLOSED, 0)->head.value[0], 0);
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_RANGE_OPENED, 1)->head.value[0], 999);
    loot_free(&loot);
    trial_end(&trial);

    run_phases(&trial, &loot, "step", "", SESSION_RANGE_END_STOP);
    loot_expect(&loot, 0, any_domain);
    loot_free(&loot);
    trial_end(&trial);

    run_phases(&trial, &loot, "epoch", "*", SESSION_RANGE_END_STOP);
    loot_expect(&loot, 0, wide);
    loot_free(&loot);
    trial_end(&trial);

    run_phases(&trial, &loot, "step", "*", SESSION_RANGE_END_REPEAT);
    assert_int_equal(loot.nvtx_count, 14);
    assert_int_equal(atomic_load(&trial.control->ranges_done), 2);
    loot_free(&loot);
    trial_end(&trial);

    run_phases(&trial, &loot, "never", "*", SESSION_RANGE_END_STOP);
    assert_int_equal(loot.nvtx_count, 0);
    assert_int_equal(atomic_load(&trial.control->ranges_done), 0);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_RANGE_SEEN, 2)->text, "step");
    loot_free(&loot);
    trial_end(&trial);
}

static void test_gate(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    session_control_set_gate(trial.control, SESSION_GATE_WAIT);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("many", "10")), 0);
    session_control_set_gate(trial.control, SESSION_GATE_GO);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("many", "3")), 0);
    session_control_set_gate(trial.control, SESSION_GATE_STOP);
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("many", "5")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.nvtx_count, 6);
    loot_free(&loot);
    trial_end(&trial);
}

/* Without a usable session, and with a folder that takes no file, the program runs as ever. */
static void test_unwritable(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    trial.control->magic = 0;
    assert_int_equal(trial_run(&trial, "client_nvtx", ARGS("forks")), 0);
    assert_string_equal(read_text(trial.dir, "out"), "child 3\nchild 2\n");
    trial.control->magic = SESSION_CONTROL_MAGIC;
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 0);
    loot_free(&loot);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_range_across_threads),
        cmocka_unit_test(test_forked_children),
        cmocka_unit_test(test_raw_forks),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_many_children),
        cmocka_unit_test(test_signal_handlers),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_old_client),
        cmocka_unit_test(test_domain_lists),
        cmocka_unit_test(test_capture_range),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
