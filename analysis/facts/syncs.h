/*
 * syncs: the synchronisations and the event records that the file holds, and which record a wait
 * for an event is for.
 */
#ifndef CUTLINE_FACTS_SYNCS_H
#define CUTLINE_FACTS_SYNCS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/store/store.h"
#include "analysis/trace/trace.h"

#define SYNC_NO_ID INT64_C(4294967295) /* a stream or an event that does not apply */

struct sync_row {
    uint32_t process; /* index; TRACE_NONE where it is unknown */
    int64_t begin_ns; /* host time; 0 where the file has none */
    int64_t correlation;
    int64_t context_id;
    int64_t stream_id; /* SYNC_NO_ID: none */
    int64_t event_id; /* SYNC_NO_ID: none */
    int64_t sync_id; /* 0 where the file has none */
    uint32_t api; /* index of the call; TRACE_NONE: for whoever reads to find out */
};

struct sync_rows {
    struct sync_row *list; /* owned */
    size_t count;
};

/* All synchronisations, in the order of the file. 0 or -1. */
int sync_waits_read(const struct trace *trace, struct store *store, struct sync_rows *out,
                    struct err *err);
/* All event records, by process, event and correlation id. 0 or -1. */
int sync_records_read(const struct trace *trace, struct store *store, struct sync_rows *out,
                      struct err *err);
void sync_rows_free(struct sync_rows *rows);
/*
 * The record that a wait is for: that with the same synchronisation id, else the last one of the
 * same event with a smaller correlation id: ids grow with the calls of a process. NULL: none.
 * O(log n) and the records of the event after it.
 */
const struct sync_row *sync_record_of(const struct sync_rows *records, const struct sync_row *wait);
/* The index of a process; with one process alone it is that one. TRACE_NONE: unknown. */
uint32_t sync_process_of(const struct trace *trace, int64_t global_pid);

#endif
