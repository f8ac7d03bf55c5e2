/*
 * nsys_rules: what the rules of `nsys analyze` share: arguments and the limit of rows.
 */
#ifndef CUTLINE_REPORT_NSYS_RULES_H
#define CUTLINE_REPORT_NSYS_RULES_H

#include "analysis/report/report.h"

enum rules_arg {
    RULES_ARG_ROWS,
    RULES_ARG_START,
    RULES_ARG_END,
    RULES_ARG_NVTX,
    RULES_ARG_COUNT,
};

/* The first arguments of every rule. */
#define RULES_COMMON_ARGS \
    {"rows", REPORT_ARG_INT, 0, "50", "the number of rows at most; -1: all"}, \
        {"start", REPORT_ARG_TIME, 1, NULL, "only what overlaps the time from here; ns"}, \
        {"end", REPORT_ARG_TIME, 1, NULL, "only what overlaps the time up to here; ns"}, \
    { \
        "nvtx", REPORT_ARG_TEXT, 0, NULL, "only what overlaps this RANGE[@DOMAIN][/INDEX]" \
    }

/* Adds up the rows of the table, which is sorted: of two that are as long, the first counts. The
 * numbers are those of the columns. */
void rules_sum(const struct table *table, int duration, int start, struct report_sum *sum);
/* Cuts the table to rows=N and says so in the note. */
void rules_limit(struct table *table, const struct report_value *rows, struct buf *note);

#endif
