/*
 * rows: the rows of the file that belong to events of the trace: what the model leaves there.
 */
#ifndef CUTLINE_FACTS_ROWS_H
#define CUTLINE_FACTS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/store.h"
#include "analysis/trace/trace.h"

/* Called for the row of events[k]. */
typedef void rows_fn(void *arg, size_t k, struct store_cursor *row);

struct rows_query {
    enum trace_table table;
    uint32_t kinds; /* only events of these kinds (bits of 1 << enum trace_kind), which all lie in
                       one table of the file */
    const char *const *columns;
    int column_count;
    rows_fn *visit;
    void *arg;
};

/* Reads the rows of a list of events in file order: one pass over those that lie near each other.
 * 0 or -1. O(n). */
int rows_visit(const struct trace *trace, struct store *store, const uint32_t *events,
               size_t event_count, const struct rows_query *query, struct err *err);

#endif
