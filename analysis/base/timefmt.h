/*
 * timefmt: times and durations, printed and parsed. All times are int64_t nanoseconds.
 */
#ifndef CUTLINE_BASE_TIMEFMT_H
#define CUTLINE_BASE_TIMEFMT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"

enum {
    TIMEFMT_BYTES = 40
};

/*
 * A duration for people, three or four significant digits and its unit: "0 ns", "412 ns", "18.4
 * us", "3.20 ms", "12.345 s", "-1.50 ms". From 1000 s on whole seconds with grouping: "1,234 s".
 * out holds at least TIMEFMT_BYTES. Returns out.
 */
char *timefmt_duration(int64_t ns, char *out);

/*
 * A point in time at the precision of a step: seconds with as many decimals as tell two points that
 * lie step_ns apart (0..9): step 1 ms -> "12.345 s". Returns out.
 */
char *timefmt_at(int64_t ns, int64_t step_ns, char *out);

/*
 * "12.5ms", "3 s", "800us", "1e6", "-2s": a number and an optional unit (ns us ms s m h; also nsec
 * usec msec sec); without a unit the number is in default_unit_ns nanoseconds. Nothing may follow.
 * Returns 0 and *ns, or -1 with err set (naming the text). Values out of int64 fail.
 */
int timefmt_parse(const char *text, int64_t default_unit_ns, int64_t *ns, struct err *err);

/* The nanoseconds of a unit name ("ns", "usec", "milliseconds", ...: the longest known prefix), 0
 * if none. */
int64_t timefmt_unit(const char *text);

/* 1234567 -> "1,234,567". out holds at least TIMEFMT_BYTES. Returns out. */
char *timefmt_count(int64_t n, char *out);

/* Bytes for people: "0 B", "512 B", "33.6 MB" (powers of 1000, as nsys). Returns out. */
char *timefmt_bytes(int64_t bytes, char *out);

#endif
