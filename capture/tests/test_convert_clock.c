/* Clock maps against clocks whose relation is known. */
#include <math.h>

#include "analysis/tests/check.h"
#include "capture/convert/convert_clock.h"

#define SECOND INT64_C(1000000000)

static void near(int64_t got, int64_t want, int64_t off)
{
    if (got < want - off || got > want + off) {
        fail_msg("%lld is not within %lld of %lld", (long long)got, (long long)off,
                 (long long)want);
    }
}

/* A counter of 2.45 ticks a ns, read each second with an error of 20 ns. */
static void test_counter(void **state)
{
    (void)state;
    struct clock_map map = {0};
    const int64_t start = INT64_C(7777777777777);
    for (int64_t i = 40; i >= 0; i--) {
        int64_t to = i * SECOND;
        assert_int_equal(clock_map_add(&map, start + to * 245 / 100, to + (i % 3 - 1) * 20), 0);
    }
    clock_map_ready(&map, CLOCK_MAP_TICKS);
    for (int64_t to = -5 * SECOND; to < 60 * SECOND; to += 333333333) {
        near(clock_map_at(&map, start + to * 245 / 100), to, 60);
    }
    near(clock_map_at(&map, start + 100), 41, 30);
    clock_map_free(&map);
}

static void test_one_and_none(void **state)
{
    (void)state;
    struct clock_map map = {0};
    clock_map_ready(&map, CLOCK_MAP_TICKS);
    assert_int_equal(clock_map_at(&map, 5), 0);
    assert_int_equal(clock_map_add(&map, 1000, 10), 0);
    clock_map_ready(&map, CLOCK_MAP_TICKS);
    assert_int_equal(clock_map_at(&map, 1500), 510);
    assert_int_equal(clock_map_at(&map, 500), -490);
    (void)clock_map_at(&map, INT64_MIN);
    (void)clock_map_at(&map, INT64_MAX);
    clock_map_free(&map);
}

/* The wall clock is set back by 2 s in the middle: both sides of the step stay right, and the step
 * is seen. */
static void test_step(void **state)
{
    (void)state;
    struct clock_map map = {0};
    const int64_t wall = INT64_C(1700000000) * SECOND;
    for (int64_t i = 0; i <= 20; i++) {
        assert_int_equal(
            clock_map_add(&map, wall + i * SECOND + (i > 10 ? 5 * SECOND : 0), i * SECOND), 0);
    }
    clock_map_ready(&map, CLOCK_MAP_WALL);
    assert_int_equal(map.steps, 1);
    assert_int_equal(map.first_step_to, 11 * SECOND);
    near(clock_map_at(&map, wall + 3 * SECOND + 7), 3 * SECOND + 7, 1);
    near(clock_map_at(&map, wall + 22 * SECOND), 17 * SECOND, 1);
    clock_map_free(&map);
}

/* Moments that lie closer together than their error do not bend the line. */
static void test_crowd(void **state)
{
    (void)state;
    struct clock_map map = {0};
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(clock_map_add(&map, i * 100, i * 100 + (i % 2 ? 150 : -150)), 0);
    }
    assert_int_equal(clock_map_add(&map, 3 * SECOND, 3 * SECOND), 0);
    clock_map_ready(&map, CLOCK_MAP_TICKS);
    assert_true(map.n < 5);
    near(clock_map_at(&map, 50000), 50000, 300);
    near(clock_map_at(&map, 10 * SECOND), 10 * SECOND, 1000);
    clock_map_free(&map);
}

/* How long a time of the left clock is on the right one. */
static int64_t length_of(struct clock_map *map, int64_t from, int64_t ns)
{
    return clock_map_at(map, from + ns) - clock_map_at(map, from);
}

/* Anchors a millisecond apart, each read wrong by up to 800 ns: a length on the wall clock is the same
 * to the ns, in a run of a few ms and in a long one, on both sides of a step. */
static void test_wall_lengths(void **state)
{
    (void)state;
    const int64_t wall = INT64_C(1700000000) * SECOND;
    for (int64_t n = 1; n <= 3000; n = n * 7 + 3) {
        struct clock_map map = {0};
        const int64_t step = n > 100 ? SECOND : 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t from = wall + i * 1000000 + (i >= n / 2 ? step : 0);
            assert_int_equal(clock_map_add(&map, from + (i * 7919) % 1600 - 800, i * 1000000), 0);
        }
        clock_map_ready(&map, CLOCK_MAP_WALL);
        assert_int_equal(map.steps, step ? 1 : 0);
        for (int64_t at = 0; at < n / 2 * 1000000 - 2000000; at += 333337) {
            assert_int_equal(length_of(&map, wall + at, 5003), 5003);
            near(clock_map_at(&map, wall + at), at, 800);
        }
        for (int64_t at = (n / 2 + 1) * 1000000; at < (n + 5) * 1000000; at += 333337) {
            assert_int_equal(length_of(&map, wall + step + at, 70001), 70001);
            near(clock_map_at(&map, wall + step + at), at, 800);
        }
        clock_map_free(&map);
    }
}

/* A clock of ns that runs 40 ppm fast, as CUPTI's does on some systems: lengths keep to its rate however
 * close the anchors are, and to the ns where they are all within 100 ms. */
static void test_other_ns(void **state)
{
    (void)state;
    struct clock_map map = {0};
    for (int64_t i = 0; i < 5000; i++) {
        int64_t to = i * 1000000;
        assert_int_equal(clock_map_add(&map, to + to / 25000, to + (i * 7919) % 1600 - 800), 0);
    }
    clock_map_ready(&map, CLOCK_MAP_NS);
    for (int64_t at = 0; at < 6 * SECOND; at += 1234567) {
        near(length_of(&map, at, 1000040), 1000000, 17);
    }
    clock_map_free(&map);
    assert_int_equal(clock_map_add(&map, 1000, 500), 0);
    assert_int_equal(clock_map_add(&map, 1000 + 1000000, 500 + 1000400), 0);
    clock_map_ready(&map, CLOCK_MAP_NS);
    assert_int_equal(length_of(&map, 5000, 77777), 77777);
    clock_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),      cmocka_unit_test(test_one_and_none),
        cmocka_unit_test(test_step),         cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_wall_lengths), cmocka_unit_test(test_other_ns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
