/*
 * rounding: the last digit as the nsys that wrote a capture prints it.
 *
 * The tables of nsys round to one decimal with SQLite's round(). SQLite before 3.43, in nsys before
 * 2024.5, added half a unit and a little more than the error of a double, so that 7306.65, which is
 * a little less in binary, came out as 7306.7. Since then the decimal digits of the double count,
 * and it is 7306.6.
 */
#ifndef CUTLINE_REPORT_ROUNDING_H
#define CUTLINE_REPORT_ROUNDING_H

#include <stdbool.h>

#include "analysis/store/store.h"
#include "analysis/table/table.h"

/* Was the capture written by an nsys that rounds as SQLite before 3.43? */
bool rounding_is_old(struct store *store);
/* value with one decimal, as that SQLite has it. */
double rounding_old(double value);
/* Rounds the averages and percents of a table so. */
void rounding_apply(struct table *table);

#endif
