/*
 * wall_clock: times of the capture as a clock on the wall showed them where it was made.
 */
#ifndef CUTLINE_APP_WALL_CLOCK_H
#define CUTLINE_APP_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* Is it written as such: "13:33", "13:33:20.2"? */
bool wall_clock_is(const char *text);
/* The time in the capture at which a clock first showed it, 0 to 24 hours from its start. 0; -1 where
 * it is no time of a day, or the capture does not say when it began (err). */
int wall_clock_parse(const struct trace *trace, const char *text, int64_t *t_ns, struct err *err);

#endif
