/* A spool that cannot grow: full file systems, file size limits, folders that take no file. The
 * program runs on, its output and its status are its own, and what is missing is counted. */
#define _GNU_SOURCE /* setrlimit, umount; NOLINT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/tests/support.h"

#define MANY "200000"

static uint64_t count_type(const struct loot *loot, uint8_t type)
{
    uint64_t count = 0;
    for (size_t i = 0; i < loot->nvtx_count; i++) {
        count += loot->nvtx[i].item.u.nvtx.head.type == type ? 1 : 0;
    }
    return count;
}

static void run_many(struct trial *trial)
{
    static const char *const arguments[] = {"many", MANY, NULL};
    trial_ready(trial);
    int status = trial_run(trial, "client_nvtx", arguments);
    assert_int_equal(status, 0);
    assert_string_equal(read_text(trial->dir, "err"), "");
}

/* Every event is in the spool or counted as REASON. */
static void check_sum(const struct trial *trial, uint32_t reason)
{
    struct loot loot;
    loot_read(&loot, trial->dir);
    uint64_t lost = loot_lost(&loot, reason, SPOOL_LOSS_OF_NVTX);
    assert_true(loot.nvtx_count > 0 && lost > 0);
    assert_int_equal(loot.nvtx_count + lost, 2 * strtoull(MANY, NULL, 10));
    assert_int_equal(loot.damage[0].records_bad, 0);
    assert_true(count_type(&loot, SPOOL_NVTX_PUSH) > 100);
    loot_free(&loot);
}

static void test_file_size_limit(void **state)
{
    struct trial trial;
    struct rlimit before;
    (void)state;
    trial_begin(&trial, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {1 << 20, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    run_many(&trial);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    check_sum(&trial, SPOOL_LOSS_FILE_LIMIT);
    trial_end(&trial);
}

static void test_maximum_size(void **state)
{
    struct trial trial;
    (void)state;
    trial_begin(&trial, NULL);
    trial.config.max_size_bytes = 1 << 20;
    run_many(&trial);
    check_sum(&trial, SPOOL_LOSS_MAX_SIZE);
    assert_int_equal(atomic_load(&trial.control->full), 1);
    assert_true(atomic_load(&trial.control->spool_bytes) <= 1 << 20);
    trial_end(&trial);
}

/* The newest events, all of the end, in a file of bounded size. */
static void test_ring(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    trial_begin(&trial, NULL);
    trial.config.max_size_bytes = 1 << 20;
    trial.config.ring = true;
    run_many(&trial);
    check_sum(&trial, SPOOL_LOSS_RING);
    loot_read(&loot, trial.dir);
    assert_true(loot.headers[0].file_bytes <= (1 << 20) + (64 << 10));
    assert_true(loot.nvtx_count > 15000);
    for (size_t i = 1; i < loot.nvtx_count; i++) {
        assert_true(loot.nvtx[i].item.u.nvtx.head.time >= loot.nvtx[i - 1].item.u.nvtx.head.time);
    }
    loot_free(&loot);
    trial_end(&trial);
}

static bool is_spool(const struct dirent *entry)
{
    const char *suffix = strstr(entry->d_name, SPOOL_SUFFIX);
    return suffix != NULL && strcmp(suffix, SPOOL_SUFFIX) == 0;
}

/* Bytes on disk of all spools. */
static uint64_t disk_bytes(const char *dir)
{
    uint64_t bytes = 0;
    DIR *list = opendir(dir);
    assert_non_null(list);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        struct stat status;
        if (is_spool(entry) && fstatat(dirfd(list), entry->d_name, &status, 0) == 0) {
            bytes += (uint64_t)status.st_blocks * 512;
        }
    }
    (void)closedir(list);
    return bytes;
}

/* Checks a ring of PROCESSES that each made 2 * MANY events: each is there or counted, and the disk
 * holds no more than the ring and what is no event. Returns the events of the spool of PID. */
static uint64_t check_ring(const struct trial *trial, size_t processes, uint32_t pid)
{
    struct loot loot;
    uint64_t of_pid = 0;
    loot_read(&loot, trial->dir);
    assert_int_equal(loot.spools, processes);
    uint64_t lost = loot_lost(&loot, SPOOL_LOSS_RING, SPOOL_LOSS_OF_NVTX);
    assert_int_equal(loot.nvtx_count + lost, processes * 2 * strtoull(MANY, NULL, 10));
    assert_true(loot.nvtx_count > 15000);
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        of_pid += loot.headers[loot.nvtx[i].spool].pid == pid ? 1 : 0;
    }
    for (size_t i = 0; i < loot.spools; i++) {
        assert_int_equal(loot.damage[i].records_bad, 0);
        assert_int_equal(loot.damage[i].segments_bad, 0);
    }
    assert_true(disk_bytes(trial->dir) <= (1 << 20) + processes * (128 << 10));
    loot_free(&loot);
    return of_pid;
}

/* A ring is that of all processes: of one after the other the last one has it, also where the others
 * were killed; of several at once each has a part. */
static void test_ring_of_processes(void **state)
{
    static const char *const many[] = {"many", MANY, NULL};
    static const char *const killed[] = {"many-killed", MANY, NULL};
    struct trial trial;
    pid_t pids[3];
    int status = 0;
    (void)state;
    trial_begin(&trial, NULL);
    trial.config.max_size_bytes = 1 << 20;
    trial.config.ring = true;
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, "client_nvtx", many), 0);
    assert_true(WIFSIGNALED(trial_run(&trial, "client_nvtx", killed)));
    pids[0] = trial_start(&trial, "client_nvtx", many);
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    uint64_t newest = check_ring(&trial, 3, (uint32_t)pids[0]);
    assert_true(newest > 15000);
    assert_int_equal(check_ring(&trial, 3, 0), 0);
    for (int i = 0; i < 3; i++) {
        pids[i] = trial_start(&trial, "client_nvtx", many);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    (void)check_ring(&trial, 6, 0);
    trial_end(&trial);
}

/* A tmpfs that is full; only where the test may mount. */
static void test_full_disk(void **state)
{
    struct trial trial;
    char base[] = "/tmp/cutline-full.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(base));
    if (mount("tmpfs", base, "tmpfs", 0, "size=1m") != 0) {
        (void)rmdir(base);
        skip();
    }
    trial_begin(&trial, base);
    run_many(&trial);
    check_sum(&trial, SPOOL_LOSS_NO_SPACE);
    trial_end(&trial);
    assert_int_equal(umount(base), 0);
    assert_int_equal(rmdir(base), 0);
}

/* No spool can be made at all, which holds for root too: a file size limit below its two header
 * pages. */
static void test_no_spool(void **state)
{
    static const char *const arguments[] = {"forks", NULL};
    struct trial trial;
    (void)state;
    trial_begin(&trial, NULL);
    trial_ready(&trial);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit none = {4096, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    int status = trial_run(&trial, "client_nvtx", arguments);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, 0);
    assert_string_equal(read_text(trial.dir, "out"), "child 3\nchild 2\n");
    assert_int_equal(atomic_load(&trial.control->spools_failed), 3);
    assert_int_equal(atomic_load(&trial.control->spools_failed_by[SPOOL_LOSS_FILE_LIMIT]), 3);
    struct loot loot;
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 0);
    loot_free(&loot);
    trial_end(&trial);
}

/* Programs that take the folder out of their own reach: they run on, also where a system call too
 * many would end them, and what is lost has their reason. */
static void test_out_of_reach(void **state)
{
    static const struct {
        const char *how;
        enum spool_loss reason;
    } cases[] = {
        {"chroot", SPOOL_LOSS_CHROOT},
        {"user", SPOOL_LOSS_USER},
        {"mounts", SPOOL_LOSS_MOUNTS},
        {"moved", SPOOL_LOSS_REMOVED},
        {"descriptors", SPOOL_LOSS_NO_DESCRIPTOR},
        {"filter", SPOOL_LOSS_SECCOMP},
        {"deadly filter", SPOOL_LOSS_SECCOMP},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const arguments[] = {cases[i].how, "3000", NULL};
        char moved[sizeof(((struct trial *)0)->dir) + 8];
        struct trial trial;
        struct loot loot;
        trial_begin(&trial, NULL);
        trial_ready(&trial);
        int status = trial_run(&trial, "client_limits", arguments);
        (void)snprintf(moved, sizeof(moved), "%s.moved", trial.dir);
        (void)rename(moved, trial.dir);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            print_message("%s: not possible here\n", cases[i].how);
            trial_end(&trial);
            continue;
        }
        assert_int_equal(status, 0);
        assert_string_equal(read_text(trial.dir, "out"), "ok\n");
        loot_read(&loot, trial.dir);
        uint64_t lost = loot_lost(&loot, cases[i].reason, SPOOL_LOSS_OF_NVTX);
        assert_true(lost > 0);
        assert_int_equal(loot.nvtx_count + lost, 4 * 3000);
        loot_free(&loot);
        trial_end(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_reach),      cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_maximum_size),      cmocka_unit_test(test_ring),
        cmocka_unit_test(test_ring_of_processes), cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
