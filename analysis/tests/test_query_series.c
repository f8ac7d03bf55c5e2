/* Launches, queue depth, memory and metrics over time: by hand, and each ns counted one by one. */
#include <math.h>

#include "analysis/tests/model.h"
#include "analysis/tests/sql_file.h"
#include "analysis/timeline/series_internal.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

/* Launches of two threads; a call that launches nothing. */
static void test_launches(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct series series;
    double out[4];
    (void)state;
    assert_non_null(m);
    uint32_t process = model_process(m, 1, "app");
    uint32_t one = model_thread(m, process, 1, "main");
    uint32_t two = model_thread(m, process, 2, "other");
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t alloc = model_call_name(m, "cudaMalloc", TRACE_API_ALLOC);
    for (int64_t t = 0; t < 10; t++) {
        model_host(m, TRACE_LANE_API, one, 0, launch, t * 500000, t * 500000 + 10);
    }
    model_host(m, TRACE_LANE_API, two, 0, launch, 3999999, 4000009);
    model_host(m, TRACE_LANE_API, two, 0, alloc, 4100000, 4100009);
    model_build(m);
    assert_int_equal(series_launches(&m->trace, process, TRACE_NONE, &series, NULL), 0);
    assert_int_equal(series.count, 11);
    series_sample(&series, 0, 2000000, 4, SERIES_MEAN, out);
    assert_true(is_near(out[0], 2.0));
    assert_true(is_near(out[1], 2.5));
    assert_true(is_near(out[2], 1.0));
    assert_true(is_near(out[3], 0.0));
    /* Columns below 1 ms: the ms around the middle. 500 us wide: [-250, 750) us and so on. */
    series_sample(&series, 0, 500000, 2, SERIES_MEAN, out);
    assert_true(is_near(out[0], 2.0));
    assert_true(is_near(out[1], 2.0));
    series_free(&series);
    assert_int_equal(series_launches(&m->trace, process, two, &series, NULL), 0);
    assert_int_equal(series.count, 1);
    series_free(&series);
    model_free(m);
    free(m);
}

enum {
    SPAN = 20000
};

/* Thousands of queued ops, so that several blocks are crossed. */
static void test_queue(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    int *depth = calloc(SPAN, sizeof *depth);
    struct series series;
    uint64_t seed = 17;
    (void)state;
    assert_non_null(m);
    assert_non_null(depth);
    uint32_t process = model_process(m, 1, "app");
    uint32_t thread = model_thread(m, process, 1, "main");
    uint32_t stream = model_stream(m, model_device(m, 0), process, 1, 7);
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t kernel = model_name(m, TRACE_KERNEL, "k", "k");
    int64_t busy_ns = 0;
    for (int64_t t = 0; t < SPAN - 200; t += 2 + (int64_t)(next(&seed) % 8)) {
        uint32_t call = model_host(m, TRACE_LANE_API, thread, 0, launch, t, t + 2);
        int64_t begin_ns = t + 1 + (int64_t)(next(&seed) % 150);
        begin_ns = begin_ns > busy_ns ? begin_ns : busy_ns;
        if (begin_ns >= SPAN - 2) {
            break;
        }
        busy_ns = begin_ns + 1;
        model_op(m, stream, kernel, begin_ns, busy_ns, call);
        for (int64_t q = t + 2; q < begin_ns; q++) {
            depth[q]++;
        }
    }
    model_build(m);
    assert_int_equal(series_queue(&m->trace, 0, &series, NULL), 0);
    assert_true(series.count > 1024);
    for (int round = 0; round < 300; round++) {
        int64_t begin_ns = (int64_t)(next(&seed) % 5000);
        int64_t step_ns = 1 + (int64_t)(next(&seed) % (round % 2 == 0 ? 9000 : 20));
        double mean[3];
        double max[3];
        series_sample(&series, begin_ns, step_ns, 3, SERIES_MEAN, mean);
        series_sample(&series, begin_ns, step_ns, 3, SERIES_MAX, max);
        for (int c = 0; c < 3; c++) {
            int64_t from_ns = begin_ns + c * step_ns;
            int64_t to_ns =
                from_ns + step_ns < m->trace.end_ns ? from_ns + step_ns : m->trace.end_ns;
            int64_t sum = 0;
            int top = 0;
            if (to_ns <= from_ns) {
                assert_true(isnan(mean[c]) && isnan(max[c]));
                continue;
            }
            for (int64_t t = from_ns; t < to_ns; t++) {
                sum += depth[t];
                top = depth[t] > top ? depth[t] : top;
            }
            assert_true(is_near(mean[c], (double)sum / (double)(to_ns - from_ns)));
            assert_true(is_near(max[c], top));
        }
    }
    series_free(&series);
    free(depth);
    model_free(m);
    free(m);
}

/*
 * Device 0 of process 100: 1000 bytes at 10 until 40, 500 at 20 at an address that is freed twice,
 * a free of what was never seen, pinned memory that does not count. Device 1: 7 bytes at 30.
 */
static const char FILE_SQL[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER);"
    "INSERT INTO StringIds VALUES (1, 'k');"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
    " (0, 100, 0, 1, 7, 1, 100 * (1 << 24), 1, 1), (0, 100, 1, 1, 7, 2, 100 * (1 << 24), 1, 1);"
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL,"
    " pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,"
    " memoryOperationType INTEGER NOT NULL);"
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS SELECT t, 100 * (1 << 24), d, 1, a, 0, b, k, o FROM ("
    " SELECT 10 t, 0 d, 4096 a, 1000 b, 2 k, 0 o UNION ALL SELECT 40, 0, 4096, 1000, 2, 1 UNION ALL"
    " SELECT 20, 0, 8192, 500, 2, 0 UNION ALL SELECT 50, 0, 8192, 500, 2, 1 UNION ALL"
    " SELECT 60, 0, 8192, 500, 2, 1 UNION ALL SELECT 15, 0, 77, 9999, 2, 1 UNION ALL"
    " SELECT 12, 0, 99, 4444, 1, 0 UNION ALL SELECT 30, 1, 4096, 7, 4, 0);"
    "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL,"
    " typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL);"
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (513, 0, 'GPU 1', 3, 'SM Active'),"
    " (512, 0, 'GPU 0', 3, 'SM Active'), (512, 0, 'GPU 0', 4, 'never sampled');"
    "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER NOT NULL,"
    " metricId INTEGER NOT NULL, value INTEGER NOT NULL);"
    "INSERT INTO GPU_METRICS VALUES (0, 512, 3, 50), (0, 513, 3, 1), (20, 512, 3, 0),"
    " (10, 512, 3, 100), (10, 513, 3, 2), (5, 999, 9, 1), (NULL, 512, 3, 77);";

static void check_memory(const struct series_set *set)
{
    double out[10];
    const struct series *zero = &set->list[0];
    const struct series *one = &set->list[1];
    assert_int_equal(zero->kind, SERIES_MEMORY);
    assert_int_equal(zero->device, 0);
    assert_int_equal(zero->max, 1500);
    series_sample(zero, 0, 10, 10, SERIES_MEAN, out);
    assert_true(isnan(out[0]));
    assert_true(is_near(out[1], 1000));
    assert_true(is_near(out[2], 1500));
    assert_true(is_near(out[3], 1500));
    assert_true(is_near(out[4], 500));
    assert_true(is_near(out[5], 0));
    assert_true(is_near(out[9], 0));
    series_sample(zero, 0, 50, 2, SERIES_MEAN, out);
    assert_true(is_near(out[0], (10 * 1000 + 20 * 1500 + 10 * 500) / 40.0));
    series_sample(zero, 0, 50, 2, SERIES_MAX, out);
    assert_true(is_near(out[0], 1500));
    assert_int_equal(one->device, 1);
    assert_int_equal(one->max, 7);
    series_sample(one, 20, 20, 1, SERIES_MEAN, out);
    assert_true(is_near(out[0], 7));
}

static void test_file(void **state)
{
    struct sql_file file;
    struct series_set set;
    struct err err = {{0}};
    double out[4];
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, FILE_SQL);
    struct trace *trace = sql_file_load(&file, NULL);
    assert_int_equal(series_load(trace, &set, NULL), 0);
    assert_int_equal(set.count, 4);
    check_memory(&set);
    const struct series *metric = &set.list[2];
    assert_int_equal(metric->kind, SERIES_METRIC);
    assert_string_equal(metric->label, "SM Active");
    assert_int_equal(metric->device, 0);
    assert_int_equal(metric->count, 3);
    series_sample(metric, 0, 10, 4, SERIES_MEAN, out);
    assert_true(is_near(out[0], 50));
    assert_true(is_near(out[1], 100));
    assert_true(is_near(out[2], 0));
    assert_true(isnan(out[3]));
    assert_int_equal(set.list[3].device, 1);
    assert_int_equal(set.list[3].count, 2);
    series_set_free(&set);
    sql_file_run(&file, "DROP TABLE GPU_METRICS; DROP TABLE CUDA_GPU_MEMORY_USAGE_EVENTS;");
    assert_int_equal(series_load(trace, &set, &err), -1); /* not what was loaded */
    assert_int_not_equal(err.text[0], '\0');
    trace_free(trace);
    trace = sql_file_load(&file, NULL);
    sql_file_remove(&file);
    assert_int_equal(series_load(trace, &set, NULL), 0); /* the open file outlives its name */
    assert_int_equal(set.count, 0);
    series_set_free(&set);
    trace_free(trace);
}

/* What is narrow says the same as what is wide, of any times and values. */
static void test_narrow(void **state)
{
    static const struct {
        int64_t step_ns;
        int64_t jump_ns; /* once */
        int64_t value;
        bool narrow_times;
        bool narrow_values;
    } kinds[] = {
        {100, 0, 9, true, true},
        {100, INT64_C(1) << 32, 9, false, true},
        {INT64_C(1) << 23, 0, INT64_C(1) << 31, true, false},
        {INT64_C(1) << 26, 0, -9, false, true},
        {1, 0, INT64_MIN / 4, true, false},
    };
    const size_t counts[] = {1, SERIES_BLOCK - 1, SERIES_BLOCK, SERIES_BLOCK + 1, 1000};
    uint64_t seed = 5;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] * 5; k++) {
        size_t count = counts[k % 5];
        struct series series = {.kind = SERIES_QUEUE, .label = "queue", .count = count};
        double wide[64];
        double narrow[64];
        series.at_ns = calloc(count, sizeof *series.at_ns);
        series.value = calloc(count, sizeof *series.value);
        int64_t t_ns = -5000;
        for (size_t i = 0; i < count; i++) {
            t_ns += 1 + (int64_t)(next(&seed) % (uint64_t)kinds[k / 5].step_ns) / 2 +
                    kinds[k / 5].step_ns / 2 + (i == count / 2 ? kinds[k / 5].jump_ns : 0);
            series.at_ns[i] = t_ns;
            series.value[i] = (int64_t)(next(&seed) % 3) * kinds[k / 5].value / 2;
        }
        series.value[count - 1] = kinds[k / 5].value;
        series.end_ns = t_ns + 10;
        int64_t begin_ns = series.at_ns[0];
        int64_t step_ns = (t_ns - begin_ns) / 60 + 1;
        assert_int_equal(series_finish(&series), 0);
        for (int mode = SERIES_MEAN; mode <= SERIES_MAX; mode++) {
            series_sample(&series, begin_ns - step_ns, step_ns, 64, (enum series_mode)mode, wide);
            series_pack(&series);
            series_sample(&series, begin_ns - step_ns, step_ns, 64, (enum series_mode)mode, narrow);
            assert_memory_equal(wide, narrow, sizeof wide);
        }
        if (count == 1000) {
            assert_int_equal(series.after_ns != NULL, kinds[k / 5].narrow_times);
            assert_int_equal(series.small_value != NULL, kinds[k / 5].narrow_values);
        }
        series_free(&series);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
