/* Buffers between CUPTI and the spool where there are many of them, where a ring is that of several
 * processes, and where another profiler of the program takes them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/spool/cupti_abi.h"
#include "capture/tests/cupti_trial.h"

/* A buffer for each of a thousand threads, nearly empty: nothing is lost, and the spool does not
 * hold a whole buffer for each. */
static void test_crowd(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "layout=13.0,per_thread=1", "libcupti.so.13");
    trial.config.buffers_max_bytes = 16 << 20;
    trial.config.flush_interval_ms = 20;
    cupti_run(&trial, &loot, ARGS("crowd", "1000"));
    assert_int_equal(cupti_delivered(&trial, CUPTI_KIND_CONCURRENT_KERNEL), 20000);
    cupti_check_all(&loot, &trial, 20000);
    assert_int_equal(loot.loss_count, 0);
    assert_true(loot.headers[0].file_bytes < (128 << 20));
    loot_free(&loot);
    trial_end(&trial);
}

/* A ring holds CUPTI's records of all processes: those that the next process overwrites are counted
 * by kind in the spool that they were in. */
static void test_ring_of_two(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "layout=13.0", "libcupti.so.13");
    trial.config.max_size_bytes = 1 << 20;
    trial.config.ring = true;
    trial.config.flush_interval_ms = 5;
    cupti_run(&trial, &loot, ARGS("paced", "1000"));
    loot_free(&loot);
    char out[sizeof(trial.dir) + 8];
    (void)snprintf(out, sizeof(out), "%s/out", trial.dir);
    assert_int_equal(unlink(out), 0);
    assert_int_equal(trial_run(&trial, "client_cuda", ARGS("paced", "5000")), 0);
    loot_read(&loot, trial.dir);
    assert_int_equal(loot.spools, 2);
    uint64_t base = cupti_base(&trial);
    uint64_t kernels[2] = {0, 0};
    uint64_t last = 0;
    for (size_t i = 0; i < loot.cupti_count; i++) {
        const struct loot_cupti *record = &loot.cupti[i];
        size_t newer =
            loot.headers[record->spool].created_mono_ns > loot.headers[0].created_mono_ns ||
            loot.headers[record->spool].created_mono_ns > loot.headers[1].created_mono_ns;
        if (record->kind == CUPTI_KIND_CONCURRENT_KERNEL) {
            kernels[newer]++;
            uint64_t number = cupti_number(record, &record_rules[0], base);
            last = number > last ? number : last;
        }
    }
    assert_int_equal(kernels[0], 0);
    assert_true(kernels[1] > 200);
    assert_int_equal(last, 4999);
    assert_int_equal(kernels[1] + loot_lost(&loot, SPOOL_LOSS_RING, CUPTI_KIND_CONCURRENT_KERNEL),
                     6000);
    loot_free(&loot);
    trial_end(&trial);
}

/* Another profiler registers its callbacks: what is in our buffers stays, what is launched later is
 * counted, and CUPTI is not flushed any more. */
static void test_rival(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "layout=13.0", "libcupti.so.13");
    trial.config.flush_interval_ms = 20;
    cupti_run(&trial, &loot, ARGS("rival", "100"));
    assert_int_equal(loot.cupti_count, 200);
    assert_int_equal(loot_lost(&loot, SPOOL_LOSS_RIVAL, CUPTI_KIND_CONCURRENT_KERNEL), 70);
    const struct loot_meta *status = loot_status(&loot, SPOOL_STATUS_CUPTI_INTERFERED, 0);
    assert_string_equal(status->text, "client_cuda");
    assert_int_equal(status->head.value[0], SPOOL_RIVAL_REPLACED);
    assert_int_equal(status->head.value[1], 1);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_INTERFERED, 1)->text, "missing");
    loot_free(&loot);
    trial_end(&trial);
}

/* Where CUPTI does not show its callbacks, it is noticed at the end. */
static void test_hidden_rival(void **state)
{
    struct trial trial;
    struct loot loot;
    (void)state;
    cupti_begin(&trial, "layout=13.0,hidden=1", "libcupti.so.13");
    trial.config.flush_interval_ms = 20;
    cupti_run(&trial, &loot, ARGS("hidden-rival", "100"));
    assert_int_equal(loot.cupti_count, 200);
    const struct loot_meta *status = loot_status(&loot, SPOOL_STATUS_CUPTI_INTERFERED, 0);
    assert_int_equal(status->head.value[0], SPOOL_RIVAL_KEPT);
    loot_free(&loot);
    cupti_begin(&trial, "layout=13.0,hidden=1", "libcupti.so.13");
    cupti_run(&trial, &loot, ARGS("records", "300"));
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_INTERFERED, 0)->text, "missing");
    loot_free(&loot);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_ring_of_two),
        cmocka_unit_test(test_rival),
        cmocka_unit_test(test_hidden_rival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
