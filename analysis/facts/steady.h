/*
 * steady: the part of a capture in which a program repeats itself, without the start-up before it and
 * what comes after.
 *
 * A series is what repeats: push/pop ranges of one thread and depth whose names differ in numbers
 * alone, or a kernel (or graph) on one device. It counts if it has STEADY_LEAST instances and three
 * of four intervals from begin to begin lie within half and twice their median: every fourth step may
 * do more (an evaluation, a checkpoint). Of its first quarter what lies before the last long interval
 * is start-up (warming up, compiling): one of three medians or more that takes
 * STEADY_REST_PERCENT of the series or more; so is, at the other end, what comes after the first such
 * one of its last quarter. The longest series
 * stands; ranges go before kernels, as they have names, where they are nine tenths as long; of those
 * that are as long, the outermost and rarest.
 *
 * There is no steady state where the rest is less than STEADY_REST_PERCENT of the time from the first
 * to the last op: it changes no share by more; where less than half of the kernels' time lies in it:
 * then the program does something else; or where kernels run in the rest for half of the share of
 * time for which they run in it, or more: then it is not another phase of the program.
 */
#ifndef CUTLINE_FACTS_STEADY_H
#define CUTLINE_FACTS_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"
#include "analysis/trace/busy.h"

enum {
    STEADY_LEAST = 8,
    STEADY_REST_PERCENT = 5,
};

struct steady {
    bool is_there;
    int64_t begin_ns; /* of the first instance */
    int64_t end_ns; /* of the last one: one median after its begin, or the last op */
    int64_t period_ns; /* the median from begin to begin */
    uint32_t count; /* instances in it */
    uint32_t name; /* of its first instance */
    bool differ; /* names of instances differ in their numbers */
    uint32_t thread; /* ranges: whose; kernels: TRACE_NONE */
    uint32_t device; /* kernels: where; ranges: TRACE_NONE */
    int64_t first_ns; /* the first op of all devices */
    int64_t last_ns; /* the end of the last one */
};

/* work: the union of kernels and graphs. 0, or -1 without memory. O(ops + ranges log ranges). */
int steady_find(const struct facts *facts, const struct busy *work, struct steady *out,
                struct err *err);

#endif
