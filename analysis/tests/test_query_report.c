/* Descriptors and their arguments, and the rules of occupancy. */
#include <string.h>

#include "analysis/report/occupancy.h"
#include "analysis/report/report.h"
#include "analysis/tests/check.h"

/* Names are not repeated, texts are there, defaults are read, arguments fit. */
static void test_descriptors(void **state)
{
    static const enum report_kind KINDS[] = {REPORT_STATS, REPORT_RULE};
    (void)state;
    for (int k = 0; k < 2; k++) {
        int count;
        const struct report *const *list = report_list(KINDS[k], &count);
        for (int i = 0; i < count; i++) {
            struct report_call call;
            int args = 0;
            assert_int_equal(list[i]->kind, KINDS[k]);
            assert_ptr_equal(report_find(KINDS[k], list[i]->name), list[i]);
            assert_true(list[i]->help[0] != '\0' && list[i]->title[0] != '\0');
            assert_true(KINDS[k] == REPORT_RULE || list[i]->missing != NULL);
            while (list[i]->args != NULL && list[i]->args[args].name != NULL) {
                assert_non_null(list[i]->args[args].help);
                args++;
            }
            assert_true(args <= REPORT_ARGS_MAX);
            assert_int_equal(report_call_parse(KINDS[k], list[i]->name, &call, NULL), 0);
            report_call_free(&call);
        }
    }
    assert_null(report_find(REPORT_STATS, "gpu_gaps"));
    assert_null(report_find(REPORT_RULE, "nvtx_sum"));
}

static void test_arguments(void **state)
{
    struct report_call call;
    struct err err = {{0}};
    (void)state;
    assert_int_equal(
        report_call_parse(REPORT_STATS, "cuda_gpu_kern_sum:nvtx-name:base", &call, &err), 0);
    assert_true(call.values[0].given && call.values[1].given && !call.values[2].given);
    assert_string_equal(call.text, "cuda_gpu_kern_sum:nvtx-name:base");
    report_call_free(&call);

    assert_int_equal(report_call_parse(REPORT_RULE,
                                       "gpu_gaps:gap=2:rows=-1:nvtx=a\\:b@c/3:start=1us", &call,
                                       &err),
                     0);
    assert_int_equal(call.values[0].i, -1);
    assert_int_equal(call.values[1].i, 1000);
    assert_false(call.values[2].given);
    assert_string_equal(call.values[3].text, "a:b@c/3");
    assert_int_equal(call.values[4].i, 2000000);
    report_call_free(&call);

    assert_int_equal(report_call_parse(REPORT_RULE, "gpu_gaps", &call, &err), 0);
    assert_int_equal(call.values[0].i, 50);
    assert_int_equal(call.values[4].i, 500000000);
    report_call_free(&call);

    assert_int_equal(report_call_parse(REPORT_STATS, "um_sum:7", &call, &err), 0);
    assert_int_equal(call.values[0].i, 7);
    report_call_free(&call);

    assert_int_equal(report_call_parse(REPORT_STATS, "um_sum:rows=7x", &call, &err), -1);
    assert_int_equal(report_call_parse(REPORT_STATS, "um_sum:rows", &call, &err), -1);
    assert_non_null(strstr(err.text, "there are: rows="));
    assert_int_equal(report_call_parse(REPORT_STATS, "", &call, &err), -1);
    assert_int_equal(report_call_parse(REPORT_STATS, "nvtx_sum:base", &call, &err), -1);
    assert_non_null(strstr(err.text, "there are: none"));
}

/* What is read of the capture: little for a plain sum, everything where a filter needs it. */
static void test_kinds(void **state)
{
    struct select_options options = SELECT_OPTIONS_ALL;
    struct report_call call;
    (void)state;
    assert_int_equal(report_call_parse(REPORT_STATS, "osrt_sum", &call, NULL), 0);
    assert_int_equal(report_call_kinds(&call, &options), 1U << TRACE_OSRT_CALL);
    options.pid = 1;
    assert_int_equal(report_call_kinds(&call, &options), 0);
    report_call_free(&call);
    options.pid = -1;
    assert_int_equal(report_call_parse(REPORT_STATS, "cuda_gpu_kern_sum:nvtx-name", &call, NULL),
                     0);
    assert_int_equal(report_call_kinds(&call, &options), 0);
    report_call_free(&call);
}

/* Launches whose occupancy follows from the tables of the programming guide by hand. */
static void test_occupancy(void **state)
{
    static const struct occupancy_device A100 = {8, 0, 64, 32, 65536, 65536, 167936, 32, 108};
    static const struct occupancy_device T4 = {7, 5, 32, 16, 65536, 65536, 65536, 32, 40};
    static const struct occupancy_device P100 = {6, 0, 64, 32, 65536, 65536, 65536, 32, 56};
    static const struct {
        const struct occupancy_device *device;
        struct occupancy_launch launch;
        int64_t blocks;
        double percent;
        const char *limiter;
    } CASES[] = {
        {&A100, {256, 32, 0}, 8, 100.0, "warps"},
        {&A100, {128, 122, 12800}, 4, 25.0, "registers"}, /* 4096 registers a warp: 16 warps */
        {&A100, {32, 16, 0}, 32, 50.0, "blocks"},
        {&A100, {256, 32, 81920}, 2, 25.0, "shared memory"}, /* 80 KB and 1 KB each of 164 KB */
        {&A100, {1024, 64, 0}, 1, 50.0, "registers"},
        {&A100, {33, 16, 0}, 32, 100.0, "warps"}, /* two warps a block */
        {&T4, {256, 32, 0}, 4, 100.0, "warps"},
        {&T4, {64, 0, 20480}, 3, 18.75, "shared memory"},
        {&P100, {96, 168, 0}, 4, 18.75, "registers"}, /* 5376 a warp: 12 warps */
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct occupancy is = occupancy_of(CASES[i].device, &CASES[i].launch);
        assert_int_equal(is.blocks, CASES[i].blocks);
        assert_true(is.percent > CASES[i].percent - 0.001 && is.percent < CASES[i].percent + 0.001);
        assert_string_equal(is.limiter, CASES[i].limiter);
    }
}

static void test_occupancy_unknown(void **state)
{
    static const struct occupancy_device NOTHING = {0};
    static const struct occupancy_device WARPS = {.warps = 64, .warp_threads = 32};
    struct occupancy_launch launch = {256, 255, 100000};
    (void)state;
    assert_true(occupancy_of(&NOTHING, &launch).percent < 0);
    assert_int_equal(occupancy_of(&WARPS, &launch).blocks, 8);
    launch.threads = 0;
    assert_true(occupancy_of(&WARPS, &launch).percent < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_occupancy_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
