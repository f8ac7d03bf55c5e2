/*
 * relate_sync: which call waits for what. The file says it in three tables: synchronisations and
 * event records by correlation id, and the calls that have these ids.
 *
 *     1. read both tables; their (process, correlation id) are the keys that are wanted
 *     2. one pass over the calls of the file finds the rows that have a wanted key
 *     3. one pass over the API table of the trace finds the events of those rows
 *     4. a wait belongs to the record that syncs.h says
 *
 * Cost: O(calls log waits) time, memory by the waits and records alone.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/facts/syncs.h"
#include "analysis/timeline/relate.h"

/* A wanted call, and where its number goes. */
struct wanted {
    uint32_t process;
    int64_t correlation;
    int64_t file_row; /* rowid, 0 = not found */
    struct sync_row *row;
};

struct wanteds {
    struct wanted *list; /* owned; by process and correlation, then by file row */
    size_t count;
};

/* ---- 2. the calls of the file ---- */

static int wanted_cmp(const void *a, const void *b)
{
    const struct wanted *x = a;
    const struct wanted *y = b;
    int c = COMPARE(x->process, y->process);
    return c != 0 ? c : COMPARE(x->correlation, y->correlation);
}

static int wanted_row_cmp(const void *a, const void *b)
{
    const struct wanted *x = a;
    const struct wanted *y = b;
    return COMPARE(x->file_row, y->file_row);
}

static void wanteds_add(struct wanteds *wanteds, struct sync_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct sync_row *row = &rows->list[i];
        wanteds->list[wanteds->count++] = (struct wanted){row->process, row->correlation, 0, row};
    }
}

/* The first wanted one with a key; count where there is none. */
static size_t wanteds_find(const struct wanteds *wanteds, uint32_t process, int64_t correlation)
{
    const struct wanted key = {.process = process, .correlation = correlation};
    size_t low = 0;
    BISECT(size_t, low, wanteds->count, mid, wanted_cmp(&wanteds->list[mid], &key) < 0)
    if (low < wanteds->count && wanted_cmp(&wanteds->list[low], &key) == 0) {
        return low;
    }
    return wanteds->count;
}

/* Call stacks of calls (event class 67) bear the ids of the calls themselves: they are no calls. */
static bool is_call(int64_t event_class)
{
    return event_class == 0 || event_class == 1 || event_class == 13 || event_class == 26;
}

static int find_rows(const struct trace *trace, struct store *store, struct wanteds *wanteds,
                     struct err *err)
{
    static const char *const columns[] = {"globalTid", "correlationId", "eventClass"};
    const struct store_scan scan = {.table = "CUPTI_ACTIVITY_KIND_RUNTIME",
                                    .columns = columns,
                                    .column_count = 3,
                                    .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int rc = 0;
    if (cursor == NULL) {
        return -1;
    }
    while ((rc = store_next(cursor, err)) == 1) {
        uint32_t process = sync_process_of(trace, store_global_pid(store_int(cursor, 0, 0)));
        int64_t correlation = store_int(cursor, 1, 0);
        size_t at = wanteds_find(wanteds, process, correlation);
        if (at == wanteds->count || !is_call(store_int(cursor, 2, 0))) {
            continue;
        }
        for (; at < wanteds->count && wanteds->list[at].process == process &&
               wanteds->list[at].correlation == correlation;
             at++) {
            wanteds->list[at].file_row = store_rowid(cursor);
        }
    }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : 0;
}

/* ---- 3. the events of the trace ---- */

static void find_events(const struct trace *trace, struct wanteds *wanteds)
{
    const struct trace_events *api = &trace->events[TRACE_API];
    sort_list(wanteds->list, wanteds->count, sizeof *wanteds->list, wanted_row_cmp);
    for (uint32_t i = 0; i < api->count; i++) {
        size_t low = 0;
        BISECT(size_t, low, wanteds->count, mid, wanteds->list[mid].file_row < (int64_t)api->row[i])
        for (; low < wanteds->count && wanteds->list[low].file_row == (int64_t)api->row[i]; low++) {
            wanteds->list[low].row->api = i;
        }
    }
}

static int find_calls(const struct trace *trace, struct store *store, struct sync_rows *waits,
                      struct sync_rows *records, struct err *err)
{
    struct wanteds wanteds = {0};
    wanteds.list = malloc((waits->count + records->count + 1) * sizeof *wanteds.list);
    if (wanteds.list == NULL) {
        return err_nomem(err, "the waits");
    }
    wanteds_add(&wanteds, waits);
    wanteds_add(&wanteds, records);
    sort_list(wanteds.list, wanteds.count, sizeof *wanteds.list, wanted_cmp);
    int rc = find_rows(trace, store, &wanteds, err);
    if (rc == 0) {
        find_events(trace, &wanteds);
    }
    free(wanteds.list);
    return rc;
}

/* ---- 4. waits with records ---- */

/* The last op that was put on a stream before a time of the host. A stream is first in, first out,
 * so its ops are in the order of their launches. O(log n) and the ops without a call beside it. */
static uint32_t last_op(const struct trace *trace, const struct sync_row *stream, int64_t host_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const int64_t *call_ns = trace->events[TRACE_API].begin_ns;
    uint32_t best = TRACE_NONE;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->kind != TRACE_LANE_STREAM || lane->process != stream->process ||
            lane->context_id != stream->context_id || lane->stream_id != stream->stream_id) {
            continue;
        }
        uint32_t low = lane->first;
        uint32_t high = lane->first + lane->count;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            uint32_t at = mid;
            while (at > low && gpu->link[at] == TRACE_NONE) {
                at--;
            }
            if (gpu->link[at] == TRACE_NONE || call_ns[gpu->link[at]] < host_ns) {
                low = mid + 1;
            } else {
                high = at;
            }
        }
        while (low > lane->first && gpu->link[low - 1] == TRACE_NONE) {
            low--;
        }
        if (low > lane->first &&
            (best == TRACE_NONE || gpu->begin_ns[low - 1] > gpu->begin_ns[best])) {
            best = low - 1;
        }
    }
    return best;
}

static struct relate_sync sync_of(const struct trace *trace, const struct sync_rows *records,
                                  const struct sync_row *wait)
{
    const int64_t *begin_ns = trace->events[TRACE_API].begin_ns;
    struct relate_sync sync = {
        .wait = wait->api,
        .record = TRACE_NONE,
        .op = TRACE_NONE,
        .event_id = wait->event_id == SYNC_NO_ID ? -1 : wait->event_id,
        .stream_id = wait->stream_id == SYNC_NO_ID ? -1 : wait->stream_id,
    };
    if (sync.event_id >= 0) {
        const struct sync_row *record = sync_record_of(records, wait);
        if (record != NULL && record->api != TRACE_NONE) {
            sync.record = record->api;
            sync.op = last_op(trace, record, begin_ns[record->api]);
        }
    } else if (sync.stream_id >= 0) {
        sync.op = last_op(trace, wait, begin_ns[wait->api]);
    }
    return sync;
}

static int sync_cmp(const void *a, const void *b)
{
    const struct relate_sync *x = a;
    const struct relate_sync *y = b;
    return COMPARE(x->wait, y->wait);
}

/* Numbers with what sorts them. */
struct numbered {
    uint32_t record;
    uint32_t at;
};

static int numbered_cmp(const void *a, const void *b)
{
    const struct numbered *x = a;
    const struct numbered *y = b;
    int c = COMPARE(x->record, y->record);
    return c != 0 ? c : COMPARE(x->at, y->at);
}

static int fill(const struct trace *trace, const struct sync_rows *waits, struct sync_rows *records,
                struct relate_syncs *out)
{
    struct numbered *numbers = malloc((waits->count + 1) * sizeof *numbers);
    out->list = calloc(waits->count + 1, sizeof *out->list);
    out->by_record = calloc(waits->count + 1, sizeof *out->by_record);
    if (numbers == NULL || out->list == NULL || out->by_record == NULL) {
        free(numbers);
        return -1;
    }
    for (size_t i = 0; i < waits->count; i++) {
        if (waits->list[i].api != TRACE_NONE) {
            out->list[out->count++] = sync_of(trace, records, &waits->list[i]);
        }
    }
    sort_list(out->list, out->count, sizeof *out->list, sync_cmp);
    for (size_t i = 0; i < out->count; i++) {
        if (out->list[i].record != TRACE_NONE) {
            numbers[out->record_count++] = (struct numbered){out->list[i].record, (uint32_t)i};
        }
    }
    sort_list(numbers, out->record_count, sizeof *numbers, numbered_cmp);
    for (size_t i = 0; i < out->record_count; i++) {
        out->by_record[i] = numbers[i].at;
    }
    free(numbers);
    return 0;
}

int relate_syncs_load(const struct facts *facts, struct relate_syncs *out, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct sync_rows waits = {0};
    struct sync_rows records = {0};
    memset(out, 0, sizeof *out);
    struct store *store = trace->path != NULL ? trace_store(trace, NULL) : NULL;
    if (store == NULL) {
        return trace_check(trace, err); /* without the file there are none */
    }
    int rc = sync_waits_read(trace, store, &waits, err);
    if (rc == 0 && waits.count > 0) {
        rc = sync_records_read(trace, store, &records, err);
        if (rc == 0) {
            rc = find_calls(trace, store, &waits, &records, err);
        }
        if (rc == 0 && fill(trace, &waits, &records, out) != 0) {
            rc = err_nomem(err, "the waits");
        }
    }
    store_close(store);
    sync_rows_free(&waits);
    sync_rows_free(&records);
    if (trace_check(trace, err) != 0) {
        rc = -1;
    }
    if (rc != 0) {
        relate_syncs_free(out);
    }
    return rc;
}

void relate_syncs_free(struct relate_syncs *syncs)
{
    free(syncs->list);
    free(syncs->by_record);
    memset(syncs, 0, sizeof *syncs);
}

const struct relate_sync *relate_sync_of(const struct relate_syncs *syncs, uint32_t api)
{
    const struct relate_sync key = {.wait = api};
    if (syncs->count == 0) {
        return NULL;
    }
    return bsearch(&key, syncs->list, syncs->count, sizeof key, sync_cmp);
}

const uint32_t *relate_waits_of(const struct relate_syncs *syncs, uint32_t api, uint32_t *count)
{
    size_t low = 0;
    *count = 0;
    BISECT(size_t, low, syncs->record_count, mid, syncs->list[syncs->by_record[mid]].record < api)
    while (low + *count < syncs->record_count &&
           syncs->list[syncs->by_record[low + *count]].record == api) {
        ++*count;
    }
    return *count > 0 ? &syncs->by_record[low] : NULL;
}
