/* Two captures on one axis, and what differs by name in what both show. */
#include "analysis/diff/align.h"
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"

/* One stream with kernels from `at` on; extra: a kernel that the other capture has not. The names
 * are numbered differently in the two. */
static struct model *capture(int64_t at, const char *extra, int64_t gemm_ns)
{
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    uint32_t process = model_process(m, 1, "app");
    uint32_t thread = model_thread(m, process, 1, "main");
    uint32_t stream = model_stream(m, model_device(m, 0), process, 1, 7);
    uint32_t odd = model_name(m, TRACE_KERNEL, extra, extra);
    uint32_t copy =
        model_name(m, TRACE_MEMCPY, "HtoD", "gemm()"); /* a kernel's text, not its kind */
    uint32_t gemm = model_name(m, TRACE_KERNEL, "gemm", "gemm()");
    uint32_t step = model_name(m, TRACE_NVTX_PUSHPOP, "step", "step");
    model_op(m, stream, copy, at - 50, at - 40, TRACE_NONE);
    for (int64_t i = 0; i < 3; i++) {
        model_op(m, stream, gemm, at + i * 100, at + i * 100 + gemm_ns, TRACE_NONE);
    }
    model_op(m, stream, odd, at + 300, at + 307, TRACE_NONE);
    for (int64_t i = 0; i < 2; i++) {
        model_host(m, TRACE_LANE_NVTX_PUSHPOP, thread, 0, step, at + i * 150, at + i * 150 + 100);
    }
    model_build(m);
    return m;
}

static void capture_free(struct model *m)
{
    model_free(m);
    free(m);
}

static void test_axis(void **state)
{
    struct model *base = capture(1000, "old", 50);
    struct model *later = capture(7000, "new", 60);
    struct model *empty = calloc(1, sizeof *empty);
    struct err err = {{0}};
    int64_t shift_ns = 0;
    (void)state;
    assert_non_null(empty);
    model_build(empty);
    assert_int_equal(align_by_kernel(&base->trace, &later->trace, &shift_ns, NULL), 0);
    assert_int_equal(shift_ns, 6000);
    assert_int_equal(align_by_range(&base->trace, &later->trace,
                                    &(struct align_range){"step", 4, 1}, &shift_ns, NULL),
                     0);
    assert_int_equal(shift_ns, 6000);
    assert_int_equal(align_by_range(&base->trace, &later->trace,
                                    &(struct align_range){"step", 4, 2}, &shift_ns, &err),
                     -1);
    assert_non_null(strstr(err.text, "no range \"step\" number 3 in the first capture"));
    assert_int_equal(align_by_range(&base->trace, &later->trace, &(struct align_range){"ste", 3, 0},
                                    &shift_ns, &err),
                     -1);
    assert_int_equal(align_by_kernel(&base->trace, &empty->trace, &shift_ns, &err), -1);
    assert_non_null(strstr(err.text, "second capture"));
    capture_free(base);
    capture_free(later);
    capture_free(empty);
}

static void check_row(const struct align_row *row, int64_t base_count, int64_t new_count,
                      int64_t delta_ns)
{
    assert_int_equal(row->count[0], base_count);
    assert_int_equal(row->count[1], new_count);
    assert_int_equal(row->delta_ns, delta_ns);
}

static void test_delta(void **state)
{
    struct model *base = capture(1000, "old", 50);
    struct model *later = capture(7000, "new", 62);
    struct align_names names;
    struct align_delta delta = {0};
    (void)state;
    assert_int_equal(align_names_make(&base->trace, &later->trace, &names, NULL), 0);
    assert_int_equal(names.base_of[0], TRACE_NONE);
    assert_int_equal(names.base_of[1], 1);
    assert_int_equal(names.base_of[2], 2);
    struct list_query query[2] = {LIST_QUERY(&base->trace), LIST_QUERY(&later->trace)};
    query[0].kinds = query[1].kinds = TERMS_KINDS_GPU;
    assert_int_equal(align_delta_make(&names, query, &delta, NULL), 0);
    assert_int_equal(delta.count, 4);
    check_row(&delta.rows[0], 3, 3, 36);
    assert_int_equal(delta.rows[0].name[0], 2);
    assert_int_equal(delta.rows[0].mean_ns[1], 62);
    check_row(&delta.rows[1], 1, 0, -7);
    assert_int_equal(delta.rows[1].name[1], TRACE_NONE);
    check_row(&delta.rows[2], 0, 1, 7);
    check_row(&delta.rows[3], 1, 1, 0);
    /* What is visible: the second gemm of each. */
    query[0].begin_ns = 1100;
    query[0].end_ns = 1200;
    query[1].begin_ns = 7100;
    query[1].end_ns = 7200;
    assert_int_equal(align_delta_make(&names, query, &delta, NULL), 0);
    assert_int_equal(delta.count, 1);
    check_row(&delta.rows[0], 1, 1, 12);
    /* A capture with itself. */
    query[1] = query[0] = LIST_QUERY(&base->trace);
    align_names_free(&names);
    assert_int_equal(align_names_make(&base->trace, &base->trace, &names, NULL), 0);
    assert_int_equal(align_delta_make(&names, query, &delta, NULL), 0);
    assert_int_equal(delta.count, 4);
    for (size_t i = 0; i < delta.count; i++) {
        assert_int_equal(delta.rows[i].delta_ns, 0);
    }
    align_delta_free(&delta);
    align_names_free(&names);
    capture_free(base);
    capture_free(later);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis),
        cmocka_unit_test(test_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
