/* timefmt: see timefmt.h. */
#include "analysis/base/timefmt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct timefmt_unit {
    const char *name;
    int64_t ns;
};

/* Shortest first within a family; the parser takes the longest name that matches whole. */
static const struct timefmt_unit TIMEFMT_UNITS[] = {
    {"ns", 1},
    {"nsec", 1},
    {"nanoseconds", 1},
    {"us", 1000},
    {"usec", 1000},
    {"microseconds", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"milliseconds", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"seconds", 1000000000},
    {"m", INT64_C(60000000000)},
    {"min", INT64_C(60000000000)},
    {"h", INT64_C(3600000000000)},
};

enum {
    TIMEFMT_UNIT_COUNT = sizeof TIMEFMT_UNITS / sizeof TIMEFMT_UNITS[0]
};

char *timefmt_count(int64_t n, char *out)
{
    char digits[TIMEFMT_BYTES];
    uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, size);
    int at = 0;
    if (n < 0) {
        out[at++] = '-';
    }
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* Scale of a number for people: below `limit` of the unit it is printed in that unit. */
struct timefmt_scale {
    double unit;
    const char *name;
};

static char *timefmt_scaled(double value, const struct timefmt_scale *scales, int count, char *out)
{
    double size = fabs(value);
    int i = count - 1;
    while (i > 0 && size < scales[i].unit) {
        i--;
    }
    value /= scales[i].unit;
    size = fabs(value);
    int decimals = scales[i].unit <= 1.0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    if (size >= 999.5 && i + 1 < count && scales[i].unit >= 1.0) {
        value = value < 0 ? -1.0 : 1.0;
        decimals = 2;
        i++;
    }
    (void)snprintf(out, TIMEFMT_BYTES, "%.*f %s", decimals, value, scales[i].name);
    return out;
}

char *timefmt_duration(int64_t ns, char *out)
{
    static const struct timefmt_scale SCALES[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}};
    char count[TIMEFMT_BYTES];
    if (ns <= -INT64_C(1000000000000) || ns >= INT64_C(1000000000000)) {
        (void)snprintf(out, TIMEFMT_BYTES, "%.30s s", timefmt_count(ns / 1000000000, count));
        return out;
    }
    if (ns <= -999500000 || ns >= 999500000) {
        (void)snprintf(out, TIMEFMT_BYTES, "%.3f s", (double)ns / 1e9);
        return out;
    }
    return timefmt_scaled((double)ns, SCALES, 3, out);
}

char *timefmt_bytes(int64_t bytes, char *out)
{
    static const struct timefmt_scale SCALES[] = {
        {1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};
    return timefmt_scaled((double)bytes, SCALES, 5, out);
}

char *timefmt_at(int64_t ns, int64_t step_ns, char *out)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t fraction = size % 1000000000U;
    int64_t step = 1000000000;
    int decimals = 0;
    while (decimals < 9 && step > step_ns) {
        step /= 10;
        decimals++;
    }
    for (int cut = decimals; cut < 9; cut++) {
        fraction /= 10;
    }
    if (decimals == 0) {
        (void)snprintf(out, TIMEFMT_BYTES, "%s%" PRIu64 " s", ns < 0 ? "-" : "",
                       size / 1000000000U);
    } else {
        (void)snprintf(out, TIMEFMT_BYTES, "%s%" PRIu64 ".%0*" PRIu64 " s", ns < 0 ? "-" : "",
                       size / 1000000000U, decimals, fraction);
    }
    return out;
}

int64_t timefmt_unit(const char *text)
{
    size_t best = 0;
    int64_t ns = 0;
    for (int i = 0; i < TIMEFMT_UNIT_COUNT; i++) {
        size_t len = strlen(TIMEFMT_UNITS[i].name);
        if (len > best && strncmp(text, TIMEFMT_UNITS[i].name, len) == 0) {
            best = len;
            ns = TIMEFMT_UNITS[i].ns;
        }
    }
    return ns;
}

/* The unit that is exactly text, 0 if none. */
static int64_t timefmt_exact_unit(const char *text)
{
    for (int i = 0; i < TIMEFMT_UNIT_COUNT; i++) {
        if (strcmp(text, TIMEFMT_UNITS[i].name) == 0) {
            return TIMEFMT_UNITS[i].ns;
        }
    }
    return 0;
}

int timefmt_parse(const char *text, int64_t default_unit_ns, int64_t *ns, struct err *err)
{
    char *end;
    char *int_end;
    int64_t unit = default_unit_ns;
    long long whole;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || isalpha((unsigned char)text[0])) {
        return err_set(err, "'%s' is not a time (examples: 250us, 12.5ms, 3s)", text);
    }
    errno = 0;
    whole = strtoll(text, &int_end, 10);
    while (*end == ' ') {
        end++;
    }
    if (*end != '\0') {
        unit = timefmt_exact_unit(end);
    }
    if (unit == 0) {
        return err_set(err, "'%s' has an unknown time unit (known: ns us ms s m h)", text);
    }
    if (int_end == end && unit == 1 && errno == 0) {
        *ns = whole;
        return 0;
    }
    value *= (double)unit;
    if (value >= 9.2e18 || value <= -9.2e18) {
        return err_set(err, "'%s' is out of the range of a time", text);
    }
    *ns = (int64_t)llround(value);
    return 0;
}
