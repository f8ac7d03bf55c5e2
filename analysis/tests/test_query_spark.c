/* Sparklines, bars and log-scale histograms. */
#include <math.h>
#include <string.h>

#include "analysis/table/spark.h"
#include "analysis/tests/check.h"

static void test_level(void **state)
{
    static const struct {
        double value;
        double max;
        int level;
    } CASES[] = {
        {0, 10, 0},
        {-1, 10, 0},
        {1, 0, 0},
        {0.0001, 10, 1},
        {1.25, 10, 1},
        {1.2501, 10, 2},
        {5, 10, 4},
        {8.75, 10, 7},
        {8.76, 10, 8},
        {10, 10, 8},
        {1e300, 10, 8},
        {(double)NAN, 10, 0},
        {(double)INFINITY, 10, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(spark_level(CASES[i].value, CASES[i].max), CASES[i].level);
    }
}

static void test_line(void **state)
{
    const double values[] = {0, 1, 2, 4, 8, (double)NAN};
    struct buf buf = {0};
    (void)state;
    spark_line(&buf, values, 6, 0, false);
    assert_string_equal(buf_text(&buf), " \u2581\u2582\u2584\u2588 ");
    buf_reset(&buf);
    spark_line(&buf, values, 6, 16, true);
    assert_string_equal(buf_text(&buf), " ..:= ");
    buf_reset(&buf);
    spark_line(&buf, values, 0, 0, false);
    assert_string_equal(buf_text(&buf), "");
    buf_free(&buf);
}

static void test_bar(void **state)
{
    struct buf buf = {0};
    (void)state;
    spark_bar(&buf, 5, 10, 4, false);
    assert_string_equal(buf_text(&buf), "\u2588\u2588");
    buf_reset(&buf);
    spark_bar(&buf, 10, 10, 2, false);
    assert_string_equal(buf_text(&buf), "\u2588\u2588");
    buf_reset(&buf);
    spark_bar(&buf, 3, 8, 1, false);
    assert_string_equal(buf_text(&buf), "\u258d");
    buf_reset(&buf);
    spark_bar(&buf, 1e-9, 8, 10, false);
    assert_string_equal(buf_text(&buf), "\u258f");
    buf_reset(&buf);
    spark_bar(&buf, 3, 8, 8, true);
    assert_string_equal(buf_text(&buf), "###");
    buf_reset(&buf);
    spark_bar(&buf, 0, 8, 8, true);
    spark_bar(&buf, 1, 8, 0, true);
    assert_string_equal(buf_text(&buf), "");
    buf_free(&buf);
}

static uint32_t bins_total(const struct spark_bins *bins)
{
    uint32_t total = 0;
    for (int i = 0; i < bins->count; i++) {
        total += bins->bin[i];
    }
    return total;
}

static void test_bins_decades(void **state)
{
    const int64_t values[] = {1, 9, 10, 99, 100, 999, 1000};
    struct spark_bins bins;
    (void)state;
    spark_bins_make(&bins, values, 7, 3);
    assert_int_equal(bins.count, 3);
    assert_int_equal(spark_bins_edge(&bins, 0), 1);
    assert_int_equal(spark_bins_edge(&bins, 1), 10);
    assert_int_equal(spark_bins_edge(&bins, 2), 100);
    assert_int_equal(spark_bins_edge(&bins, 3), 1001);
    assert_int_equal(bins.bin[0], 2);
    assert_int_equal(bins.bin[1], 2);
    assert_int_equal(bins.bin[2], 3);
    assert_int_equal(bins.max, 3);
    assert_int_equal(spark_bins_of(&bins, 99), 1);
    assert_int_equal(spark_bins_of(&bins, 1001), -1);
}

static void test_bins_corners(void **state)
{
    const int64_t equal[] = {7, 7, 7};
    const int64_t odd[] = {-5, 0, 1, 2};
    const int64_t wide[] = {1, INT64_MAX - 1};
    struct spark_bins bins;
    (void)state;
    spark_bins_make(&bins, equal, 0, 8);
    assert_int_equal(bins.count, 0);
    assert_int_equal(spark_bins_of(&bins, 7), -1);
    spark_bins_make(&bins, equal, 3, 8);
    assert_int_equal(bins.count, 1);
    assert_int_equal(bins.bin[0], 3);
    spark_bins_make(&bins, odd, 4, 16);
    assert_int_equal(bins_total(&bins), 4);
    assert_int_equal(bins.low, 1);
    spark_bins_make(&bins, wide, 2, 1000);
    assert_int_equal(bins.count, SPARK_BINS_MAX);
    assert_int_equal(bins.bin[0], 1);
    assert_int_equal(bins.bin[SPARK_BINS_MAX - 1], 1);
}

/* Every value lies between the edges of its bin. */
static void test_bins_edges(void **state)
{
    int64_t values[200];
    struct spark_bins bins;
    uint64_t seed = 42;
    (void)state;
    for (int i = 0; i < 200; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        values[i] = (int64_t)(seed >> 40) + 3;
    }
    spark_bins_make(&bins, values, 200, 24);
    assert_int_equal(bins_total(&bins), 200);
    for (int i = 0; i < 200; i++) {
        int bin = spark_bins_of(&bins, values[i]);
        assert_in_range(bin, 0, 23);
        assert_true(values[i] >= spark_bins_edge(&bins, bin));
        assert_true(values[i] < spark_bins_edge(&bins, bin + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level),        cmocka_unit_test(test_line),
        cmocka_unit_test(test_bar),          cmocka_unit_test(test_bins_decades),
        cmocka_unit_test(test_bins_corners), cmocka_unit_test(test_bins_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
