/* rounding: see rounding.h. */
#include "analysis/report/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEW_YEAR = 2024, /* nsys 2024.5 */
    NEW_MINOR = 5,
    DIGITS_MAX = 16, /* that SQLite prints of a number */
};

bool rounding_is_old(struct store *store)
{
    static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"};
    static const char *const columns[] = {"name", "value"};
    bool is_nsys = false;
    bool is_old = false;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const struct store_scan scan = {tables[i], columns, 2, 0, INT64_MAX};
        struct store_cursor *cursor = store_scan(store, &scan, NULL);
        while (cursor != NULL && store_next(cursor, NULL) == 1) {
            size_t len;
            const char *name = store_text(cursor, 0, &len);
            const char *value = name == NULL ? NULL : store_text(cursor, 1, &len);
            if (value != NULL && strcmp(name, "EXPORT_PRODUCT_NAME") == 0) {
                is_nsys = strstr(value, "Nsight Systems") != NULL;
            } else if (value != NULL && strcmp(name, "EXPORT_PRODUCT_VERSION") == 0) {
                char *end = NULL;
                long year = strtol(value, &end, 10);
                long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
                is_old = year < NEW_YEAR || (year == NEW_YEAR && minor < NEW_MINOR);
            }
        }
        store_cursor_close(cursor);
    }
    return is_nsys && is_old;
}

/* SQLite's printf("%.1f") before 3.43 (public domain; sqlite3_str_vappendf, et_getdigit): half a
 * unit and 3e-16 of the value are added, then digits are cut off one by one. */
double rounding_old(double value)
{
    static const double half = 0.05;
    long double rest = fabsl((long double)value);
    int exponent = 0;
    if (!isfinite(value) || rest >= 4503599627370496.0L) {
        return value; /* has no fraction */
    }
    rest += (long double)(half + (double)(rest * 3e-16L));
    while (rest >= 10.0L) {
        rest /= 10.0L;
        exponent++;
    }
    double digits = 0.0;
    for (int i = 0; i <= exponent + 1; i++) {
        int digit = i < DIGITS_MAX ? (int)rest : 0;
        digits = digits * 10.0 + (double)digit;
        rest = (rest - (long double)digit) * 10.0L;
    }
    return (value < 0.0 ? -digits : digits) / 10.0;
}

void rounding_apply(struct table *table)
{
    table_map_averages(table, rounding_old);
}
