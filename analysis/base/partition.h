/*
 * partition: intervals on as few rows as hold them without overlap (interval partitioning, greedy by
 * the lowest free row; Kleinberg and Tardos, Algorithm Design, 4.1). Intervals come by begin.
 *
 *     struct partition rows = {0};
 *     row = partition_row(&rows, begin_ns, end_ns);     PARTITION_FULL: no memory
 *     partition_free(&rows);
 */
#ifndef CUTLINE_BASE_PARTITION_H
#define CUTLINE_BASE_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/heap.h"

#define PARTITION_FULL UINT32_MAX

struct partition {
    struct heap busy; /* value: row; key: when it is free again */
    struct heap idle; /* rows that are free: key and value are the row */
    size_t busy_cap;
    size_t idle_cap;
    uint32_t row_count; /* rows so far */
};

/* The row of the half-open interval; O(log rows). An interval without length takes no room. */
uint32_t partition_row(struct partition *rows, int64_t begin_ns, int64_t end_ns);
void partition_free(struct partition *rows);

#endif
