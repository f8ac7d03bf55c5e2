/* Tables, their text forms, and the statistics behind the reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/stat.h"
#include "analysis/table/table.h"
#include "analysis/tests/check.h"

static void assert_near(double a, double b, double tolerance)
{
    assert_true(a - b <= tolerance && b - a <= tolerance);
}

static int sink_buf(void *arg, const char *data, size_t len)
{
    buf_add(arg, data, len);
    return 0;
}

static int sink_stop(void *arg, const char *data, size_t len)
{
    (void)arg;
    (void)data;
    (void)len;
    return 1;
}

/* The table's text in one format; the caller frees out. */
static void write_table(const struct table *table, enum table_format format, int64_t unit_ns,
                        struct buf *out)
{
    struct table_output output = {.format = format, .time_unit_ns = unit_ns};
    struct table_sink sink = {sink_buf, out};
    struct err err = {{0}};
    buf_reset(out);
    assert_int_equal(table_write(table, &output, &sink, &err), 0);
}

static const struct table_column COLUMNS[] = {
    {"Time (%)", TABLE_PERCENT, 0}, {"Total Time", TABLE_TIME, 0}, {"Avg", TABLE_TIME_1, 0},
    {"Total", TABLE_MB, 0},         {"Num Calls", TABLE_INT, 0},   {"Name", TABLE_TEXT, 0},
};

static void put_row(struct table *table, double percent, int64_t ns, double bytes, const char *name)
{
    table_put_real(table, percent);
    table_put_int(table, ns);
    table_put_real(table, (double)ns);
    table_put_real(table, bytes);
    table_put_int(table, 7);
    table_put_text(table, name, strlen(name));
}

static struct table *sample(void)
{
    struct table *table = table_new("Sample", COLUMNS, 6);
    assert_non_null(table);
    put_row(table, 53.25, 15817113075, 33554432, "poll");
    put_row(table, 0.04, 3, 0, "cudaLaunchKernel");
    return table;
}

static void test_column_layout(void **state)
{
    struct table *table = sample();
    struct buf out = {0};
    (void)state;
    write_table(table, TABLE_FORMAT_COLUMN, 1, &out);
    assert_string_equal(
        buf_text(&out),
        " Time (%)  Total Time (ns)    Avg (ns)     Total (MB)  Num Calls        Name      \n"
        " --------  ---------------  -------------  ----------  ---------  ----------------\n"
        "     53.3      15817113075  15817113075.0      33.554          7  poll            \n"
        "      0.0                3            3.0       0.000          7  cudaLaunchKernel\n");
    buf_free(&out);
    table_free(table);
}

static void test_framed_layout(void **state)
{
    static const struct table_column TWO[] = {{"N", TABLE_INT, 0}, {"Name", TABLE_TEXT, 0}};
    struct table *table = table_new("T", TWO, 2);
    struct buf out = {0};
    (void)state;
    table_put_int(table, 12345);
    table_put_text(table, "abc", 3);
    write_table(table, TABLE_FORMAT_TABLE, 1, &out);
    assert_string_equal(buf_text(&out), "+-------+------+\n"
                                        "|   N   | Name |\n"
                                        "+=======+======+\n"
                                        "| 12345 | abc  |\n"
                                        "+-------+------+\n");
    buf_free(&out);
    table_free(table);
}

static void test_units(void **state)
{
    struct table *table = sample();
    struct buf out = {0};
    (void)state;
    write_table(table, TABLE_FORMAT_CSV, 1000000, &out);
    assert_string_equal(buf_text(&out),
                        "Time (%),Total Time (ms),Avg (ms),Total (MB),Num Calls,Name\n"
                        "53.3,15817.113075,15817.1130750,33.554,7,poll\n"
                        "0.0,0.000003,0.0000030,0.000,7,cudaLaunchKernel\n");
    write_table(table, TABLE_FORMAT_COLUMN, 1000000, &out);
    assert_non_null(strstr(buf_text(&out), "15817.1131  "));
    write_table(table, TABLE_FORMAT_JSON, 1000, &out);
    assert_non_null(strstr(buf_text(&out), "\"Total Time (us)\":15817113.075,"));
    buf_free(&out);
    table_free(table);
}

/* Halves go away from zero on the exact binary value: two published numbers, and ties. */
static void test_rounding(void **state)
{
    static const struct {
        double value;
        const char *text;
    } CASES[] = {
        {86953.25, "86953.3"}, {841.15, "841.1"}, {0.25, "0.3"},    {-0.25, "-0.3"},
        {-0.04, "0.0"},        {0.05, "0.1"},     {99.95, "100.0"}, {1e18, "1000000000000000000.0"},
    };
    static const struct table_column ONE[] = {{"V", TABLE_REAL, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct table *table = table_new("T", ONE, 1);
        struct buf out = {0};
        char want[64];
        table_put_real(table, CASES[i].value);
        write_table(table, TABLE_FORMAT_CSV, 1, &out);
        (void)snprintf(want, sizeof want, "V\n%s\n", CASES[i].text);
        assert_string_equal(buf_text(&out), want);
        buf_free(&out);
        table_free(table);
    }
}

static void test_empty_and_wrong_types(void **state)
{
    struct table *table = table_new("T", COLUMNS, 6);
    struct buf out = {0};
    (void)state;
    for (int i = 0; i < 6; i++) {
        table_put_empty(table);
    }
    write_table(table, TABLE_FORMAT_CSV, 1, &out);
    assert_string_equal(strchr(buf_text(&out), '\n'), "\n,,,,,\n");
    write_table(table, TABLE_FORMAT_JSON, 1, &out);
    assert_non_null(strstr(buf_text(&out), "\"Time (%)\":null,\"Total Time (ns)\":null"));
    assert_non_null(strstr(buf_text(&out), "\"Name\":null}"));
    assert_true(table_cell_at(table, 0, 1).empty);
    buf_free(&out);
    table_free(table);

    table = table_new("T", COLUMNS, 6);
    write_table(table, TABLE_FORMAT_JSON, 1, &out);
    assert_string_equal(buf_text(&out), "[]\n");
    write_table(table, TABLE_FORMAT_TSV, 1, &out);
    assert_string_equal(buf_text(&out),
                        "Time (%)\tTotal Time (ns)\tAvg (ns)\tTotal (MB)\tNum Calls\tName\n");
    buf_free(&out);
    table_free(table);
}

static void test_hostile_names(void **state)
{
    static const struct table_column ONE[] = {{"Name", TABLE_TEXT, 0}};
    static const char NAME[] = "a\"b,c\td\ne\x1b[2J\xff\\\xc2\x9b\0z";
    struct table *table = table_new("T", ONE, 1);
    struct buf out = {0};
    (void)state;
    table_put_text(table, NAME, sizeof NAME - 1);
    write_table(table, TABLE_FORMAT_CSV, 1, &out);
    assert_string_equal(
        buf_text(&out),
        "Name\n\"a\"\"b,c d e\xef\xbf\xbd[2J\xef\xbf\xbd\\\xef\xbf\xbd\xef\xbf\xbdz\"\n");
    write_table(table, TABLE_FORMAT_TSV, 1, &out);
    assert_null(strchr(buf_text(&out), '\t'));
    write_table(table, TABLE_FORMAT_JSON, 1, &out);
    assert_string_equal(
        buf_text(&out),
        "[\n{\"Name\":\"a\\\"b,c\\u0009d\\u000ae\\u001b[2J\xef\xbf\xbd\\\\\\u009b\\u0000z\"}\n]\n");
    write_table(table, TABLE_FORMAT_COLUMN, 1, &out);
    assert_null(strchr(buf_text(&out), '\x1b'));
    buf_free(&out);
    table_free(table);
}

static void test_clipping(void **state)
{
    static const struct table_column ONE[] = {{"Name", TABLE_TEXT, 0}};
    struct table *table = table_new("T", ONE, 1);
    struct table_output output = {.format = TABLE_FORMAT_COLUMN, .time_unit_ns = 1, .ascii = true};
    char name[102];
    struct buf out = {0};
    struct table_sink sink = {sink_buf, &out};
    (void)state;
    memset(name, 'x', 101);
    table_put_text(table, name, 101);
    table_put_text(table, name, 100);
    write_table(table, TABLE_FORMAT_COLUMN, 1, &out);
    const char *row = strchr(strchr(buf_text(&out), '\n') + 1, '\n') + 1;
    assert_int_equal(strspn(row + 1, "x"), 99);
    assert_memory_equal(row + 100, "\u2026\n", 4);
    assert_int_equal(strspn(row + 105, "x"), 100);
    buf_reset(&out);
    assert_int_equal(table_write(table, &output, &sink, NULL), 0);
    row = strchr(strchr(buf_text(&out), '\n') + 1, '\n') + 1;
    assert_int_equal(strspn(row + 1, "x"), 97);
    assert_memory_equal(row + 98, "...\n", 4);
    buf_free(&out);
    table_free(table);
}

static void test_sort_is_stable(void **state)
{
    static const struct table_column TWO[] = {{"Key", TABLE_INT, 0}, {"Order", TABLE_TEXT, 0}};
    struct table *table = table_new("T", TWO, 2);
    uint64_t seed = 42;
    int64_t last_key = INT64_MAX;
    const char *last = "";
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        char text[16];
        int len = snprintf(text, sizeof text, "%06zu", i);
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        if (seed >> 60 == 0) {
            table_put_empty(table);
        } else {
            table_put_int(table, (int64_t)(seed >> 58) - 10);
        }
        table_put_text(table, text, (size_t)len);
    }
    table_sort(table, 0, true);
    assert_int_equal(table_rows(table), 1000);
    for (size_t i = 0; i < 1000; i++) {
        struct table_cell key = table_cell_at(table, i, 0);
        const char *order = table_cell_at(table, i, 1).text;
        int64_t value = key.empty ? INT64_MIN : key.i;
        assert_true(value <= last_key);
        assert_true(value < last_key || strcmp(order, last) > 0);
        last_key = value;
        last = order;
    }
    table_truncate(table, 3);
    assert_int_equal(table_rows(table), 3);
    table_free(table);
}

static void test_sink_that_stops(void **state)
{
    struct table *table = sample();
    struct table_output output = {.format = TABLE_FORMAT_CSV, .time_unit_ns = 1};
    struct table_sink sink = {sink_stop, NULL};
    struct err err = {{0}};
    (void)state;
    assert_int_equal(table_write(table, &output, &sink, &err), -1);
    assert_string_equal(err.text, "cannot write the table 'Sample'");
    table_free(table);
}

static void test_format_names(void **state)
{
    (void)state;
    assert_int_equal(table_format_by_name("column"), TABLE_FORMAT_COLUMN);
    assert_int_equal(table_format_by_name("json"), TABLE_FORMAT_JSON);
    assert_int_equal(table_format_by_name("xml"), -1);
}

/* Two published rows: 2 copies of 1,259,784 and 1,450,451 ns; 1,358,425 and 1,359,385 ns. */
static void test_statistics(void **state)
{
    int64_t pair[] = {1450451, 1259784};
    int64_t close[] = {1358425, 1359385};
    int64_t one[] = {5};
    int64_t four[] = {4, 1, 3, 2};
    struct stat_sum sum = stat_of(pair, 2);
    (void)state;
    assert_int_equal(sum.total, 2710235);
    assert_near(sum.median, 1355117.5, 0);
    assert_near(sum.deviation, 134821.9, 0.05);
    assert_near(stat_of(close, 2).deviation, 678.8, 0.05);
    sum = stat_of(one, 1);
    assert_near(sum.deviation, 0, 0);
    assert_near(sum.median, 5, 0);
    sum = stat_of(four, 4);
    assert_near(sum.median, 2.5, 0);
    assert_int_equal(sum.min, 1);
    assert_int_equal(sum.max, 4);
    assert_int_equal(stat_of(four, 0).count, 0);
}

static int compare_int64(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Medians and percentiles of many small sets with repeats, against a sort. */
static void test_selection(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int round = 1; round <= 200; round++) {
        int64_t values[200] = {0};
        int64_t sorted[200];
        double middle[2];
        size_t count = (size_t)round;
        for (size_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            values[i] = (int64_t)(seed >> 33) % (round % 3 == 0 ? 5 : 100000);
        }
        memcpy(sorted, values, count * sizeof *values);
        qsort(sorted, count, sizeof *sorted, compare_int64);
        middle[0] = (double)sorted[(count - 1) / 2];
        middle[1] = (double)sorted[count / 2];
        assert_near(stat_of(values, count).median, (middle[0] + middle[1]) / 2.0, 0);
        assert_int_equal(stat_percentile(values, count, 90), sorted[(count * 90 + 99) / 100 - 1]);
        assert_int_equal(stat_percentile(values, count, 100), sorted[count - 1]);
        assert_int_equal(stat_percentile(values, count, 0), sorted[0]);
    }
}

static void test_groups(void **state)
{
    struct stat_groups groups = {0};
    size_t count;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        stat_groups_add(&groups, i % 3, (int64_t)i);
    }
    assert_int_equal(stat_groups_sort(&groups, 4), 0);
    assert_int_equal(stat_groups_values(&groups, 0, &count)[1], 3);
    assert_int_equal(count, 334);
    (void)stat_groups_values(&groups, 3, &count);
    assert_int_equal(count, 0);
    stat_groups_free(&groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column_layout),
        cmocka_unit_test(test_framed_layout),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_empty_and_wrong_types),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_sort_is_stable),
        cmocka_unit_test(test_sink_that_stops),
        cmocka_unit_test(test_format_names),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
