/* The last digit of averages: as the SQLite of older nsys rounds, and as that of newer ones. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/rounding.h"
#include "analysis/tests/check.h"

enum {
    RANDOM_COUNT = 20000,
    NEW_SQLITE = 3043000, /* rounds by the decimal digits */
};

static void test_known_values(void **state)
{
    static const struct {
        double value;
        double old;
    } CASES[] = {
        {146133.0 / 20, 7306.7},
        {86953.25, 86953.3},
        {841.15, 841.2},
        {0.25, 0.3},
        {-0.25, -0.3},
        {0.0, 0.0},
        {0.04, 0.0},
        {0.05, 0.1},
        {99.95, 100.0},
        {9.95, 10.0},
        {1e15, 1e15},
        {1e18, 1e18},
        {123456789.04, 123456789.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_true(fabs(rounding_old(CASES[i].value) - CASES[i].old) < 1e-9 * (1 + CASES[i].old));
    }
    assert_true(isnan(rounding_old((double)NAN)));
}

/* Sums of whole ns over counts, halves among them. */
static double draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double total = (double)(*seed >> 24 & 0xFFFFFFFFFU);
    double count = (double)((*seed >> 12 & 0xFFU) + 1) * 20.0;
    return total / count / (double)(1U << (*seed >> 60));
}

/* The SQLite that we have, where it is an old one. */
static void test_as_sqlite_rounds(void **state)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    uint64_t seed = 1;
    (void)state;
    if (sqlite3_libversion_number() >= NEW_SQLITE) {
        skip();
    }
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT round(?1, 1)", -1, &statement, NULL),
                     SQLITE_OK);
    for (int i = 0; i < RANDOM_COUNT; i++) {
        double value = i % 2 == 0 ? draw(&seed) : (double)(i * 37 % 100000) / 20.0;
        assert_int_equal(sqlite3_bind_double(statement, 1, value), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        double want = sqlite3_column_double(statement, 0);
        char text[2][64];
        (void)snprintf(text[0], sizeof text[0], "%.1f", want);
        (void)snprintf(text[1], sizeof text[1], "%.1f", rounding_old(value));
        assert_string_equal(text[1], text[0]);
        (void)sqlite3_reset(statement);
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_as_sqlite_rounds),
    };
    return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
