/* Rows whose times cannot be are left out, named and counted; what is odd but can be stays. */
#include <string.h>

#include "analysis/base/times.h"
#include "analysis/tests/sql_file.h"

static const char TABLES[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'k');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, "
    "nameId);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
    "correlationId, globalPid, demangledName, shortName);"
    "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);";

/* A kernel of 80 us every 100 us, 1000 of them, each launched 10 us before. */
static const char BODY[] =
    "CREATE TABLE n(i); WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < "
    "999) INSERT INTO n SELECT i FROM r;"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100000, i * 100000 + 5000, 0, "
    "281474976710756 "
    "+ 16777216 * 100, i + 1, 1 FROM n;"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100000 + 10000, i * 100000 + 90000, 0, 1, "
    "7, "
    "i + 1, 281474976710656 + 16777216 * 100, 2, 2 FROM n;";

static const char SHIFT_THREE[] = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - "
                                  "100000000000000, end = end - 100000000000000 "
                                  "WHERE rowid IN (1, 401, 801);";

static struct trace *load_with(const char *sql, const struct trace_options *options)
{
    struct sql_file file = {""};
    sql_file_new(&file);
    sql_file_run(&file, TABLES);
    sql_file_run(&file, BODY);
    sql_file_run(&file, sql);
    struct trace *trace = sql_file_load(&file, options);
    sql_file_remove(&file);
    return trace;
}

static int64_t busy_ns(const struct trace *trace)
{
    return trace->devices[0].busy_sum_ns[trace->devices[0].busy_count];
}

static void a_bad_clock_does_not_stretch_the_span(void **state)
{
    char sql[1024];
    (void)state;
    (void)snprintf(sql, sizeof sql,
                   "%s UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - 10300, end = end - "
                   "10300 WHERE rowid %% 50 = 7;",
                   SHIFT_THREE);
    struct trace *trace = load_with(sql, NULL);
    assert_int_equal(trace->begin_ns, 0);
    assert_int_equal(trace->end_ns, 99990000);
    assert_int_equal(trace->events[TRACE_GPU].count, 997);
    assert_int_equal(busy_ns(trace), 997 * 80000);
    assert_int_equal(trace->counts.kernels, 1000);
    assert_int_equal(trace->counts.misplaced, 3);
    assert_int_equal(trace->counts.early, 20);
    assert_string_equal(trace_left_out_table(&trace->counts.left_out[0]),
                        "CUPTI_ACTIVITY_KIND_KERNEL");
    assert_int_equal(trace->counts.left_out[0].row, 1);
    assert_int_equal(trace->counts.left_out[1].row, 401);
    assert_int_equal(trace->counts.left_out[2].row, 801);
    assert_int_equal(trace->counts.left_out[0].begin_ns, 10000 - INT64_C(100000000000000));
    trace_free(trace);
}

/* However few tables are read, and however they are cut, the same rows are left out. */
static void what_is_read_does_not_matter(void **state)
{
    const struct trace_options kernels = {.kinds = 1U << TRACE_KERNEL};
    const struct trace_options pieces = {.piece_rows = 7, .threads = 3};
    const struct trace_options *const options[] = {&kernels, &pieces};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct trace *trace = load_with(SHIFT_THREE, options[i]);
        assert_int_equal(trace->events[TRACE_GPU].count, 997);
        assert_int_equal(trace->counts.misplaced, 3);
        assert_int_equal(trace->counts.left_out[2].row, 801);
        trace_free(trace);
    }
    struct trace *trace = load_with("", &kernels); /* nothing odd: nothing else is read */
    assert_int_equal(trace->events[TRACE_GPU].count, 1000);
    assert_int_equal(trace->events[TRACE_API].count, 0);
    trace_free(trace);
}

static void other_rows_can_be_off_too(void **state)
{
    static const struct {
        const char *sql;
        int64_t begin_ns;
        int64_t end_ns;
        int left_out;
    } cases[] = {
        /* A call and its op, five hours before all others: a pause. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - 18000000000000, end = end - "
         "18000000000000 WHERE rowid < 3; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = start - "
         "18000000000000, end = end - 18000000000000 WHERE rowid < 3;",
         -INT64_C(18000000000000), 99990000, 0},
        /* The call alone. */
        {"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = start - 18000000000000, end = end - "
         "18000000000000 WHERE rowid = 3;",
         0, 99990000, 1},
        /* An op two hours after its call, and after everything. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 7200000000000, end = end + "
         "7200000000000 WHERE rowid = 500;",
         0, 99990000, 1},
        /* An op that waits for 20 s in silence. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 20000000000, end = end + "
         "20000000000 WHERE rowid = 1000;",
         0, INT64_C(20099990000), 0},
        /* Marks: an hour off, and a year. */
        {"INSERT INTO NVTX_EVENTS VALUES (-3600000000000, NULL, 34, 'm', 281476654432356)",
         -INT64_C(3600000000000), 99990000, 0},
        {"INSERT INTO NVTX_EVENTS VALUES (31536000000000000, NULL, 34, 'm', 281476654432356)", 0,
         99990000, 1},
        /* Two clocks: seconds since boot, and since 1970. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 1790000000000000000, end = end + "
         "1790000000000000000 WHERE rowid > 900",
         0, 99905000, 100},
        /* An end that was never right: later ops of the stream run inside. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 100000000000000 WHERE rowid = 10", 0,
         99990000, 1},
        /* A long kernel at the end. */
        {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 100000000000000 WHERE rowid = 1000", 0,
         INT64_C(100000099990000), 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace *trace = load_with(cases[i].sql, NULL);
        if (trace->counts.misplaced != cases[i].left_out || trace->begin_ns != cases[i].begin_ns ||
            trace->end_ns != cases[i].end_ns) {
            fail_msg("case %zu: %lld to %lld, %lld left out", i, (long long)trace->begin_ns,
                     (long long)trace->end_ns, (long long)trace->counts.misplaced);
        }
        trace_free(trace);
    }
}

static void all_sums_fit(void **state)
{
    (void)state;
    /* Each may be; together they run over: the longest go. */
    struct trace *trace = load_with(
        "INSERT INTO NVTX_EVENTS SELECT i * 1000, i * 1000 + 36028797000000000, 59, 'long', "
        "281476654432356 FROM n; INSERT INTO NVTX_EVENTS SELECT i * 1000, i * 1000 + 10, 59, "
        "'short', 281476654432356 FROM n;",
        NULL);
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    int64_t sum = 0;
    assert_int_equal(nvtx->count, 1000);
    assert_int_equal(trace->counts.misplaced, 1000);
    for (uint32_t i = 0; i < nvtx->count; i++) {
        sum = i64_add(sum, nvtx->end_ns[i] - nvtx->begin_ns[i]);
    }
    assert_int_equal(sum, 10000);
    trace_free(trace);
    /* Ranges without end are closed where the others end, not at a row of another clock. */
    trace =
        load_with("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 59, 'open', 281476654432356), (5, "
                  "1000000, 59, 'in', 281476654432356), (1790000000000000000, NULL, 75, 'domain', "
                  "281476654432356)",
                  NULL);
    assert_int_equal(trace->nvtx_end_ns, 1000000);
    assert_int_equal(trace->end_ns, 99990000);
    trace_free(trace);
    /* Longer than a year, or of no sane clock. */
    trace = load_with("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -4611686018427387903, end = "
                      "4611686018427387903 WHERE rowid = 1",
                      NULL);
    assert_int_equal(trace->counts.reversed, 1);
    assert_int_equal(trace->end_ns - trace->begin_ns, 99990000);
    trace_free(trace);
}

static void dates_are_times(void **state)
{
    (void)state;
    struct trace *trace = load_with(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 1790000000000000000, end = "
        "end + 1790000000000000000; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = start + "
        "1790000000000000000, end = end + 1790000000000000000",
        NULL);
    assert_int_equal(trace->begin_ns, INT64_C(1790000000000000000));
    assert_int_equal(trace->events[TRACE_GPU].count, 1000);
    assert_int_equal(trace->counts.misplaced + trace->counts.reversed, 0);
    trace_free(trace);
}

static void numbers_keep_to_the_ends(void **state)
{
    (void)state;
    assert_int_equal(i64_add(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(i64_add(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(i64_add(INT64_MAX, INT64_MIN), -1);
    assert_int_equal(i64_subtract(INT64_MIN, 1), INT64_MIN);
    assert_int_equal(i64_subtract(0, INT64_MIN), INT64_MAX);
    assert_int_equal(i64_subtract(-1, INT64_MIN), INT64_MAX);
    assert_int_equal(i64_multiply(INT64_MIN, -1), INT64_MAX);
    assert_int_equal(i64_multiply(INT64_MIN, 1), INT64_MIN);
    assert_int_equal(i64_multiply(INT64_C(1) << 32, -(INT64_C(1) << 31)), INT64_MIN);
    assert_int_equal(i64_multiply(INT64_C(1) << 32, INT64_C(1) << 31), INT64_MAX);
    assert_int_equal(i64_multiply(-3, 5), -15);
    assert_true(times_fit(5, 5) && times_fit(-TIMES_MAX_NS, -TIMES_MAX_NS + TIMES_SPAN_MAX_NS));
    assert_false(times_fit(6, 5) || times_fit(0, TIMES_SPAN_MAX_NS + 1) ||
                 times_fit(INT64_MIN, INT64_MIN) || times_fit(INT64_MIN, INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_clock_does_not_stretch_the_span),
        cmocka_unit_test(what_is_read_does_not_matter),
        cmocka_unit_test(other_rows_can_be_off_too),
        cmocka_unit_test(all_sums_fit),
        cmocka_unit_test(dates_are_times),
        cmocka_unit_test(numbers_keep_to_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
