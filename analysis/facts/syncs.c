/*
 * syncs: see syncs.h.
 */
#include "analysis/facts/syncs.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

uint32_t sync_process_of(const struct trace *trace, int64_t global_pid)
{
    uint32_t found = trace_process_of(trace, global_pid);
    return found == TRACE_NONE && trace->process_count == 1 ? 0 : found;
}

static int rows_read(const struct trace *trace, struct store *store, const char *table,
                     struct sync_rows *out, struct err *err)
{
    static const char *const columns[] = {"globalPid", "correlationId", "contextId", "streamId",
                                          "eventId",   "eventSyncId",   "start"};
    const struct store_scan scan = {.table = table,
                                    .columns = columns,
                                    .column_count = (int)ARRAY_LEN(columns),
                                    .end_row = INT64_MAX};
    *out = (struct sync_rows){0};
    int64_t bound = store_count(store, table, err);
    if (bound < 0) {
        return -1;
    }
    out->list = calloc((size_t)bound + 1, sizeof *out->list);
    if (out->list == NULL) {
        return err_nomem(err, "the waits");
    }
    struct store_cursor *cursor = store_scan(store, &scan, err);
    if (cursor == NULL) {
        return -1;
    }
    int rc = 0;
    while (out->count < (size_t)bound && (rc = store_next(cursor, err)) == 1) {
        out->list[out->count++] = (struct sync_row){
            .process = sync_process_of(trace, store_int(cursor, 0, 0)),
            .begin_ns = store_int(cursor, 6, 0),
            .correlation = store_int(cursor, 1, 0),
            .context_id = store_int(cursor, 2, 0),
            .stream_id = store_int(cursor, 3, SYNC_NO_ID),
            .event_id = store_int(cursor, 4, SYNC_NO_ID),
            .sync_id = store_int(cursor, 5, 0),
            .api = TRACE_NONE,
        };
    }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : 0;
}

int sync_waits_read(const struct trace *trace, struct store *store, struct sync_rows *out,
                    struct err *err)
{
    return rows_read(trace, store, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", out, err);
}

static int record_cmp(const void *a, const void *b)
{
    const struct sync_row *x = a;
    const struct sync_row *y = b;
    int c = COMPARE(x->process, y->process);
    if (c == 0) {
        c = COMPARE(x->event_id, y->event_id);
    }
    return c != 0 ? c : COMPARE(x->correlation, y->correlation);
}

int sync_records_read(const struct trace *trace, struct store *store, struct sync_rows *out,
                      struct err *err)
{
    if (rows_read(trace, store, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", out, err) != 0) {
        return -1;
    }
    sort_list(out->list, out->count, sizeof *out->list, record_cmp);
    return 0;
}

void sync_rows_free(struct sync_rows *rows)
{
    free(rows->list);
    *rows = (struct sync_rows){0};
}

const struct sync_row *sync_record_of(const struct sync_rows *records, const struct sync_row *wait)
{
    size_t low = 0; /* the first record that is not before the wait */
    BISECT(size_t, low, records->count, mid, record_cmp(&records->list[mid], wait) < 0)
    const struct sync_row *last = NULL;
    for (size_t i = low; i > 0; i--) {
        const struct sync_row *record = &records->list[i - 1];
        if (record->process != wait->process || record->event_id != wait->event_id) {
            break;
        }
        if (last == NULL) {
            last = record;
        }
        if (wait->sync_id == 0 || record->sync_id == 0) {
            break;
        }
        if (record->sync_id == wait->sync_id) {
            return record;
        }
    }
    return last;
}
