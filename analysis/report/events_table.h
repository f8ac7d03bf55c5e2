/*
 * events_table: all events of one table of the model, one row each, in order of begin.
 */
#ifndef CUTLINE_REPORT_EVENTS_TABLE_H
#define CUTLINE_REPORT_EVENTS_TABLE_H

#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/table/table.h"
#include "analysis/trace/trace.h"

/* "gpu", "api", "nvtx", "osrt", "overhead": the number of the table, -1 if it is none of them. */
int events_table_by_name(const char *name);
/* The i-th of these names; NULL at the end. */
const char *events_table_name(size_t i);
/* Events that overlap [begin, end). The same columns for every table. NULL: no memory. */
struct table *events_table(const struct trace *trace, enum trace_table table, int64_t begin_ns,
                           int64_t end_ns, struct err *err);

#endif
