/*
 * memory: the allocations of device memory and their ends, from CUDA_GPU_MEMORY_USAGE_EVENTS. The
 * one place where a free meets its allocation.
 */
#ifndef CUTLINE_FACTS_MEMORY_H
#define CUTLINE_FACTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/store.h"

/* One event. */
struct memory_event {
    int64_t at_ns;
    int64_t global_pid;
    int64_t device_id; /* as the process numbers it */
    int64_t address;
    int64_t bytes; /* as the file has them, no less than 0 */
    int64_t row;
    int64_t ended_bytes; /* of the allocation that ends here: freed, or its address is given out
                            again without a free; -1: none, or it was before the capture */
    int32_t kind; /* of memory, -1 = the file has none */
    int32_t ended_kind; /* of the allocation that ends here */
    bool is_free;
};

struct memory_events {
    struct memory_event *list; /* owned, by time, then row */
    size_t count;
};

/* Rows that neither allocate nor free are left out. O(n log n). 0 or -1. */
int memory_read(struct store *store, struct memory_events *out, struct err *err);
void memory_free(struct memory_events *events);
/* Is this kind of memory on the host (pageable or pinned)? */
bool memory_on_host(int32_t kind);

#endif
