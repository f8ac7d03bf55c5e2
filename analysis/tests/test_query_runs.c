/* The sort of what is nearly in order, against qsort, and that it is stable. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sort.h"
#include "analysis/tests/check.h"

struct item {
    int64_t key;
    uint32_t at;
};

static int item_cmp(const void *a, const void *b, const void *arg)
{
    const struct item *x = a;
    const struct item *y = b;
    int64_t sign = *(const int *)arg;
    return (int)(sign * ((x->key > y->key) - (x->key < y->key)));
}

/* By key, of equals in the order that they had. */
static int want_cmp(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

static void test_random(void **state)
{
    static const uint64_t spreads[] = {1, 3, 50, 1000000};
    struct item got[300];
    struct item want[300];
    const int up = 1;
    uint64_t seed = 77;
    (void)state;
    for (int round = 0; round < 400; round++) {
        size_t count = (size_t)round % 300;
        int64_t key = 0;
        for (size_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            int64_t step = (int64_t)((seed >> 33) % spreads[round % 4]);
            /* Runs of about 20, or no order at all. */
            key = round % 2 == 0 && i % 20 != 0 ? key + step : step;
            want[i] = got[i] = (struct item){key, (uint32_t)i};
        }
        if (count > 0) {
            qsort(want, count, sizeof *want, want_cmp);
        }
        assert_int_equal(sort_runs(got, count, sizeof *got, item_cmp, &up), 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(got[i].key, want[i].key);
            assert_int_equal(got[i].at, want[i].at);
        }
    }
}

static void test_order(void **state)
{
    struct item items[] = {{1, 0}, {2, 1}, {3, 2}, {3, 3}};
    const int up = 1;
    const int down = -1;
    (void)state;
    assert_int_equal(sort_runs(items, 4, sizeof *items, item_cmp, &up), 0);
    assert_int_equal(items[0].key, 1);
    assert_int_equal(sort_runs(items, 4, sizeof *items, item_cmp, &down), 0);
    assert_int_equal(items[0].at, 2);
    assert_int_equal(items[1].at, 3);
    assert_int_equal(items[3].key, 1);
    assert_int_equal(sort_runs(NULL, 0, sizeof *items, item_cmp, &up), 0);
}

/* The value of a rank is that of the sorted list, and it stands between the smaller and the larger. */
static void test_nth(void **state)
{
    int64_t got[200];
    int64_t want[200];
    uint64_t seed = 5;
    (void)state;
    for (int round = 0; round < 600; round++) {
        size_t count = (size_t)round % 199 + 1;
        for (size_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            int64_t value = round % 3 == 0 ? (int64_t)i : (int64_t)(seed >> 60);
            want[i] = got[i] = round % 3 == 2 ? -value : value;
        }
        size_t nth = (size_t)(seed >> 33) % count;
        sort_i64(want, count);
        sort_nth_i64(got, count, nth);
        assert_int_equal(got[nth], want[nth]);
        for (size_t i = 0; i < count; i++) {
            assert_true(i < nth ? got[i] <= got[nth] : got[i] >= got[nth]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_nth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
