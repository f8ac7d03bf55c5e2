/*
 * times: the one policy for times and sums that come from a file.
 *
 * Only times whose arithmetic fits are admitted to the model: |t| <= TIMES_MAX_NS, no event longer
 * than TIMES_SPAN_MAX_NS, no capture longer than that, and the durations of one table of the file
 * together at most TIMES_SUM_MAX_NS. So of times in a trace
 *
 *     t - u, t + duration, window +- a window      fit by far
 *     a duration or a span * 100                   fits
 *     any sum of durations, and the sum of a few such sums, fits
 *
 * What is not admitted is left out and counted (trace_counts). Where a number did not pass this gate
 * (sizes in bytes, metrics, what a person typed) the functions below keep to the ends of int64 in
 * place of running over.
 */
#ifndef CUTLINE_BASE_TIMES_H
#define CUTLINE_BASE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define TIMES_MAX_NS (INT64_C(1) << 61) /* 73 years: dates of this age, as ns since 1970 */
#define TIMES_SPAN_MAX_NS (INT64_C(1) << 55) /* 417 days */
#define TIMES_SUM_MAX_NS (INT64_C(1) << 60) /* 36 years, as 1000 threads work in two weeks */

/* Is t in the range of times? */
static inline bool times_fit_at(int64_t t_ns)
{
    return t_ns >= -TIMES_MAX_NS && t_ns <= TIMES_MAX_NS;
}

/* Are these the times of an event? */
static inline bool times_fit(int64_t begin_ns, int64_t end_ns)
{
    return times_fit_at(begin_ns) && times_fit_at(end_ns) && begin_ns <= end_ns &&
           end_ns - begin_ns <= TIMES_SPAN_MAX_NS;
}

/* a + b, at the ends of int64 where it does not fit. */
static inline int64_t i64_add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b) {
        return INT64_MAX;
    }
    return b < 0 && a < INT64_MIN - b ? INT64_MIN : a + b;
}

/* a - b, likewise. */
static inline int64_t i64_subtract(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b) {
        return INT64_MAX;
    }
    return b > 0 && a < INT64_MIN + b ? INT64_MIN : a - b;
}

/* a * b, likewise. */
static inline int64_t i64_multiply(int64_t a, int64_t b)
{
    if (a == 0 || b == 0) {
        return 0;
    }
    if (a == INT64_MIN || b == INT64_MIN) {
        return a == 1 || b == 1 ? INT64_MIN : (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    }
    if ((a < 0 ? -a : a) > INT64_MAX / (b < 0 ? -b : b)) {
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    }
    return a * b;
}

#endif
