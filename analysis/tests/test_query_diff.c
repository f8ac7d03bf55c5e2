/* Comparisons of traces made by hand: matching, noise, steps, regressions. */
#include <math.h>

#include "analysis/diff/diff.h"
#include "analysis/diff/diff_table.h"
#include "analysis/tests/model.h"

/* One capture: `count` instances of one kernel, and API calls around them. */
struct side {
    struct model m;
    struct facts *facts;
    uint32_t stream;
    uint32_t thread;
};

static void side_new(struct side *s)
{
    *s = (struct side){0};
    uint32_t process = model_process(&s->m, 100, "app");
    s->thread = model_thread(&s->m, process, 100, "app");
    s->stream = model_stream(&s->m, model_device(&s->m, 0), process, 1, 7);
}

/* Kernels of `ns`, +- spread in turn, one in 10 us from t on. */
static void kernels(struct side *s, const char *name, int64_t t_ns, int count, int64_t ns,
                    int64_t spread_ns)
{
    uint32_t kernel = model_name(&s->m, TRACE_KERNEL, "short", name);
    for (int i = 0; i < count; i++) {
        int64_t begin_ns = t_ns + (int64_t)i * 10000;
        model_op(&s->m, s->stream, kernel, begin_ns,
                 begin_ns + ns + (i % 2 == 0 ? spread_ns : -spread_ns), TRACE_NONE);
    }
}

static void side_build(struct side *s)
{
    model_build(&s->m);
    s->facts = facts_new(&s->m.trace, NULL);
    assert_non_null(s->facts);
}

static void side_free(struct side *s)
{
    facts_free(s->facts);
    model_free(&s->m);
}

static const struct diff_options WHOLE = {.begin_ns = {INT64_MIN, INT64_MIN},
                                          .end_ns = {INT64_MAX, INT64_MAX}};

static struct diff compare(struct side sides[2], const struct diff_options *options)
{
    const struct facts *const facts[2] = {sides[0].facts, sides[1].facts};
    struct diff diff;
    struct err err = {0};
    assert_int_equal(diff_make(facts, options, &diff, &err), 0);
    return diff;
}

/* The row of that name, NULL if none. */
static const struct diff_row *find_row(const struct diff *diff, enum diff_section section,
                                       const char *name)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (diff->rows[i].section == section && strcmp(diff->rows[i].name, name) == 0) {
            return &diff->rows[i];
        }
    }
    return NULL;
}

/* The row of that name; the test fails where there is none. */
static const struct diff_row *row_of(const struct diff *diff, enum diff_section section,
                                     const char *name)
{
    static const struct diff_row NONE = {.name = ""};
    const struct diff_row *row = find_row(diff, section, name);
    assert_non_null(row);
    return row != NULL ? row : &NONE;
}

static void test_both_new_gone(void **state)
{
    (void)state;
    struct side sides[2];
    side_new(&sides[0]);
    side_new(&sides[1]);
    kernels(&sides[0], "a", 0, 4, 1000, 0);
    kernels(&sides[0], "gone", 100000, 2, 500, 0);
    kernels(&sides[1], "a", 0, 4, 2000, 0);
    side_build(&sides[0]);
    side_build(&sides[1]);
    struct diff diff = compare(sides, &WHOLE);
    const struct diff_row *a = row_of(&diff, DIFF_KERNEL, "a");
    const struct diff_row *gone = row_of(&diff, DIFF_KERNEL, "gone");
    assert_int_equal(a->status, DIFF_BOTH);
    assert_int_equal(a->side[0].total_ns, 4000);
    assert_int_equal(a->side[1].total_ns, 8000);
    assert_true(diff_slower_percent(&diff, a) == 100.0);
    assert_string_equal(diff_verdict(&diff, a), "slower");
    assert_int_equal(gone->status, DIFF_GONE);
    assert_int_equal(gone->side[1].count, 0);
    assert_string_equal(diff_verdict(&diff, gone), "gone");
    assert_true(a < gone); /* the larger change first */
    const struct diff_row *launches = row_of(&diff, DIFF_TOTAL, "launches");
    assert_int_equal(launches->side[0].count, 6);
    assert_int_equal(launches->side[1].count, 4);
    assert_string_equal(diff_verdict(&diff, launches), "fewer");
    diff_free(&diff);
    side_free(&sides[0]);
    side_free(&sides[1]);
}

/* Without a file the launch shape is unknown: the short name alone matches, largest first. */
static void test_renamed(void **state)
{
    (void)state;
    struct side sides[2];
    side_new(&sides[0]);
    side_new(&sides[1]);
    kernels(&sides[0], "gemm<64>", 0, 3, 1000, 0);
    kernels(&sides[1], "gemm<128>", 0, 3, 900, 0);
    side_build(&sides[0]);
    side_build(&sides[1]);
    struct diff diff = compare(sides, &WHOLE);
    const struct diff_row *row = row_of(&diff, DIFF_KERNEL, "gemm<128>");
    assert_int_equal(row->status, DIFF_RENAMED);
    assert_string_equal(row->base_name, "gemm<64>");
    assert_null(find_row(&diff, DIFF_KERNEL, "gemm<64>"));
    diff_free(&diff);
    side_free(&sides[0]);
    side_free(&sides[1]);
}

static void test_noise(void **state)
{
    (void)state;
    static const struct {
        int64_t after_ns;
        bool noise;
    } cases[] = {
        {1000, true}, {1050, true}, /* each mean is known to about +- 75 */
        {1100, true}, {1130, false}, {870, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct side sides[2];
        side_new(&sides[0]);
        side_new(&sides[1]);
        kernels(&sides[0], "k", 0, 10, 1000, 100);
        kernels(&sides[1], "k", 0, 10, cases[i].after_ns, 100);
        side_build(&sides[0]);
        side_build(&sides[1]);
        struct diff diff = compare(sides, &WHOLE);
        const struct diff_row *row = row_of(&diff, DIFF_KERNEL, "k");
        /* s = sqrt(10 * 100^2 / 9) = 105.409, t(9) = 2.262: 2.262 * s / sqrt(10) = 75.40 */
        assert_true(fabs(row->side[0].half_width_ns - 75.40) < 0.2);
        assert_int_equal(row->noise, cases[i].noise);
        bool slower = diff_slower_percent(&diff, row) > 5.0;
        assert_int_equal(slower, !cases[i].noise && cases[i].after_ns > 1000);
        diff_free(&diff);
        side_free(&sides[0]);
        side_free(&sides[1]);
    }
}

static void test_regression_weighs(void **state)
{
    (void)state;
    struct side sides[2];
    side_new(&sides[0]);
    side_new(&sides[1]);
    kernels(&sides[0], "large", 0, 100, 9000, 0);
    kernels(&sides[0], "tiny", 2000000, 2, 100, 0); /* 0.02 % of the time of kernels */
    kernels(&sides[1], "large", 0, 100, 9000, 0);
    kernels(&sides[1], "tiny", 2000000, 2, 150, 0);
    side_build(&sides[0]);
    side_build(&sides[1]);
    struct diff diff = compare(sides, &WHOLE);
    assert_true(diff_slower_percent(&diff, row_of(&diff, DIFF_KERNEL, "tiny")) == 50.0);
    assert_null(diff_regression(&diff, 10.0));
    diff_free(&diff);
    side_free(&sides[0]);
    side_free(&sides[1]);
}

static void test_steps(void **state)
{
    (void)state;
    struct side sides[2];
    struct err err = {0};
    for (int i = 0; i < 2; i++) {
        int steps = i == 0 ? 2 : 5;
        side_new(&sides[i]);
        uint32_t step = model_name(&sides[i].m, TRACE_NVTX_PUSHPOP, "step", "step");
        sides[i].m.names[step].domain = "app";
        sides[i].m.names[step].domain_len = 3;
        kernels(&sides[i], "warm-up", 0, 3, 1000, 0);
        kernels(&sides[i], "k", 100000, steps * 4, 1000, 0);
        for (int n = 0; n < steps; n++) {
            model_host(&sides[i].m, TRACE_LANE_NVTX_PUSHPOP, sides[i].thread, 0, step,
                       100000 + (int64_t)n * 40000, 139000 + (int64_t)n * 40000);
        }
        side_build(&sides[i]);
    }
    struct diff_options options = WHOLE;
    options.per = "app:step";
    struct diff diff = compare(sides, &options);
    assert_int_equal(diff.steps[0], 2);
    assert_int_equal(diff.steps[1], 5);
    const struct diff_row *row = row_of(&diff, DIFF_KERNEL, "k");
    assert_true(diff_count(&diff, row, 0) == 4.0);
    assert_true(diff_count(&diff, row, 1) == 4.0);
    assert_true(diff_total_ns(&diff, row, 1) == 4000.0);
    assert_string_equal(diff_verdict(&diff, row), "same");
    assert_null(find_row(&diff, DIFF_KERNEL, "warm-up")); /* before the first step */
    diff_free(&diff);

    const struct facts *const facts[2] = {sides[0].facts, sides[1].facts};
    options.per = "no such range";
    assert_int_equal(diff_make(facts, &options, &diff, &err), -1);
    assert_non_null(strstr(err.text, "BASE has no NVTX range"));
    side_free(&sides[0]);
    side_free(&sides[1]);
}

/* PyTorch's numbers of calls are left out unless they are asked for. */
static void test_range_numbers(void **state)
{
    (void)state;
    static const char *const texts[2] = {"aten::add, seq = 5, op_id = 7", "aten::add, op_id = 90"};
    struct side sides[2];
    for (int i = 0; i < 2; i++) {
        side_new(&sides[i]);
        uint32_t range = model_name(&sides[i].m, TRACE_NVTX_PUSHPOP, texts[i], texts[i]);
        kernels(&sides[i], "k", 0, 2, 100, 0);
        model_host(&sides[i].m, TRACE_LANE_NVTX_PUSHPOP, sides[i].thread, 0, range, 0, 50);
        side_build(&sides[i]);
    }
    struct diff_options options = WHOLE;
    struct diff diff = compare(sides, &options);
    assert_int_equal(row_of(&diff, DIFF_NVTX, "aten::add")->status, DIFF_BOTH);
    diff_free(&diff);
    options.exact = true;
    diff = compare(sides, &options);
    assert_int_equal(row_of(&diff, DIFF_NVTX, texts[0])->status, DIFF_GONE);
    assert_int_equal(row_of(&diff, DIFF_NVTX, texts[1])->status, DIFF_NEW);
    diff_free(&diff);
    side_free(&sides[0]);
    side_free(&sides[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_new_gone), cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_noise),         cmocka_unit_test(test_regression_weighs),
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_range_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
