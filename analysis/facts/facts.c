/*
 * facts: gathers once what the detectors look up often. Copies and stream waits come from the
 * capture by its row numbers; everything else from the trace.
 *
 * The stream that an event was recorded on is that of the last record of the same event and process
 * with a smaller correlation id: ids grow with the calls of a process.
 */
#include "analysis/facts/facts.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

enum {
    COPY_SMALL_BYTES = 65536, /* copies up to this from pageable memory return early */
    COPY_KIND_HTOD = 1,
    COPY_KIND_DTOD = 8,
};

#define NO_STREAM INT64_C(4294967295) /* stream or event that does not apply */

/* ---- lanes of threads ---- */

static void threads_fill(struct facts *facts)
{
    const struct trace *trace = facts->trace;
    for (uint32_t i = 0; i < trace->lane_count; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        if (lane->thread == TRACE_NONE || lane->thread >= trace->thread_count) {
            continue;
        }
        struct facts_thread *thread = &facts->threads[lane->thread];
        if (thread->end[lane->table] == 0) {
            thread->first[lane->table] = i;
        }
        thread->end[lane->table] = i + 1;
    }
}

/* ---- copies ---- */

struct row_ref {
    uint32_t row;
    uint32_t gpu;
};

static int row_ref_cmp(const void *a, const void *b)
{
    const struct row_ref *x = a;
    const struct row_ref *y = b;
    return COMPARE(x->row, y->row);
}

static int copy_cmp(const void *a, const void *b)
{
    const struct facts_copy *x = a;
    const struct facts_copy *y = b;
    return COMPARE(x->gpu, y->gpu);
}

/* A copy, a migration or a set, by the table that holds its row. */
static bool is_kind(const struct trace *trace, uint32_t gpu, bool sets)
{
    uint8_t kind = trace->names[trace->events[TRACE_GPU].name[gpu]].kind;
    return sets ? kind == TRACE_MEMSET : kind == TRACE_MEMCPY || kind == TRACE_MIGRATION;
}

/* The rows of copies (or sets), by row number. *count of them; NULL where there are none. */
static struct row_ref *copy_rows(const struct trace *trace, bool sets, size_t *count)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    *count = 0;
    for (uint32_t i = 0; i < gpu->count; i++) {
        *count += is_kind(trace, i, sets);
    }
    struct row_ref *refs = *count > 0 ? malloc(*count * sizeof(*refs)) : NULL;
    if (refs == NULL) {
        return NULL;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (is_kind(trace, i, sets)) {
            refs[n++] = (struct row_ref){.row = gpu->row[i], .gpu = i};
        }
    }
    sort_list(refs, n, sizeof(*refs), row_ref_cmp);
    return refs;
}

static uint8_t mem_kind(struct store_cursor *cursor, int column)
{
    int64_t kind = store_int(cursor, column, FACTS_MEM_UNKNOWN);
    return kind >= 0 && kind < FACTS_MEM_UNKNOWN ? (uint8_t)kind : FACTS_MEM_UNKNOWN;
}

/* Reads the columns of the rows in refs; both are in row order. The rest of a file that cannot be
 * read on stays unknown. */
static void copies_scan(struct facts *facts, struct store *store, bool sets)
{
    static const char *const copy_columns[] = {"bytes", "srcKind", "dstKind"};
    static const char *const set_columns[] = {"bytes", "memKind", "memKind"};
    size_t count = 0;
    struct row_ref *refs = copy_rows(facts->trace, sets, &count);
    if (refs == NULL) {
        return;
    }
    const struct store_scan scan = {
        .table = sets ? "CUPTI_ACTIVITY_KIND_MEMSET" : "CUPTI_ACTIVITY_KIND_MEMCPY",
        .columns = sets ? set_columns : copy_columns,
        .column_count = 3,
        .end_row = INT64_MAX,
    };
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    size_t at = 0;
    while (cursor != NULL && at < count && store_next(cursor, NULL) == 1) {
        int64_t row = store_rowid(cursor);
        while (at < count && refs[at].row < row) {
            at++;
        }
        if (at == count || refs[at].row != row) {
            continue;
        }
        struct facts_copy *copy = &facts->copies[facts->copy_count++];
        copy->gpu = refs[at].gpu;
        copy->bytes = store_int(cursor, 0, -1);
        copy->src_kind = mem_kind(cursor, 1);
        copy->dst_kind = mem_kind(cursor, 2);
        facts->has_copy_kind |= copy->src_kind != FACTS_MEM_UNKNOWN;
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
    free(refs);
}

static int copies_load(struct facts *facts, struct store *store)
{
    size_t count = 0;
    const struct trace *trace = facts->trace;
    for (uint32_t i = 0; i < trace->events[TRACE_GPU].count; i++) {
        count += is_kind(trace, i, false) || is_kind(trace, i, true);
    }
    if (count == 0) {
        return 0;
    }
    facts->copies = calloc(count, sizeof(*facts->copies));
    if (facts->copies == NULL) {
        return -1;
    }
    copies_scan(facts, store, false);
    copies_scan(facts, store, true);
    sort_list(facts->copies, facts->copy_count, sizeof(*facts->copies), copy_cmp);
    return 0;
}

/* ---- stream waits ---- */

struct record {
    uint32_t process;
    int64_t event_id;
    int64_t correlation;
    int64_t stream_id;
};

static int record_cmp(const void *a, const void *b)
{
    const struct record *x = a;
    const struct record *y = b;
    int c = COMPARE(x->process, y->process);
    if (c == 0) {
        c = COMPARE(x->event_id, y->event_id);
    }
    return c != 0 ? c : COMPARE(x->correlation, y->correlation);
}

static int wait_key_cmp(const struct facts_wait *x, uint32_t process, int64_t context,
                        int64_t stream)
{
    int c = COMPARE(x->process, process);
    if (c == 0) {
        c = COMPARE(x->context_id, context);
    }
    return c != 0 ? c : COMPARE(x->stream_id, stream);
}

static int wait_cmp(const void *a, const void *b)
{
    const struct facts_wait *x = a;
    const struct facts_wait *y = b;
    int c = wait_key_cmp(x, y->process, y->context_id, y->stream_id);
    return c != 0 ? c : COMPARE(x->begin_ns, y->begin_ns);
}

static uint32_t process_of(const struct trace *trace, int64_t global_pid)
{
    for (uint32_t i = 0; i < trace->process_count; i++) {
        if (trace->processes[i].global_pid == global_pid) {
            return i;
        }
    }
    return trace->process_count == 1 ? 0 : TRACE_NONE;
}

/* All event records, sorted. *count of them; NULL where there are none or no memory. */
static struct record *records_load(const struct trace *trace, struct store *store, size_t *count)
{
    static const char *const columns[] = {"globalPid", "eventId", "correlationId", "streamId"};
    const struct store_scan scan = {
        .table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        .columns = columns,
        .column_count = 4,
        .end_row = INT64_MAX,
    };
    *count = 0;
    int64_t bound = store_count(store, scan.table, NULL);
    struct record *records =
        bound > 0 && bound < INT32_MAX ? calloc((size_t)bound, sizeof(*records)) : NULL;
    struct store_cursor *cursor = records != NULL ? store_scan(store, &scan, NULL) : NULL;
    while (cursor != NULL && *count < (size_t)bound && store_next(cursor, NULL) == 1) {
        records[*count] = (struct record){
            .process = process_of(trace, store_int(cursor, 0, 0)),
            .event_id = store_int(cursor, 1, NO_STREAM),
            .correlation = store_int(cursor, 2, 0),
            .stream_id = store_int(cursor, 3, -1),
        };
        ++*count;
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
    if (*count > 0) {
        sort_list(records, *count, sizeof(*records), record_cmp);
    }
    return records;
}

/* The stream of the last record of the event before the correlation id, -1 if none. O(log n). */
static int64_t record_stream(const struct record *records, size_t count, const struct record *key)
{
    size_t low = 0;
    BISECT(size_t, low, count, mid, record_cmp(&records[mid], key) < 0)
    if (low == 0 || records[low - 1].process != key->process ||
        records[low - 1].event_id != key->event_id) {
        return -1;
    }
    return records[low - 1].stream_id;
}

static void waits_scan(struct facts *facts, struct store_cursor *cursor, size_t bound,
                       const struct record *records, size_t record_count)
{
    while (facts->wait_count < bound && store_next(cursor, NULL) == 1) {
        int64_t stream = store_int(cursor, 3, NO_STREAM);
        int64_t event = store_int(cursor, 4, NO_STREAM);
        if (stream == NO_STREAM || event == NO_STREAM) {
            continue;
        }
        struct record key = {.process = process_of(facts->trace, store_int(cursor, 1, 0)),
                             .event_id = event,
                             .correlation = store_int(cursor, 5, 0)};
        facts->waits[facts->wait_count++] = (struct facts_wait){
            .process = key.process,
            .context_id = store_int(cursor, 2, 0),
            .stream_id = stream,
            .begin_ns = store_int(cursor, 0, 0),
            .event_id = event,
            .event_stream = record_stream(records, record_count, &key),
        };
    }
}

static int waits_load(struct facts *facts, struct store *store)
{
    static const char *const columns[] = {"start",    "globalPid", "contextId",
                                          "streamId", "eventId",   "correlationId"};
    const struct store_scan scan = {
        .table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        .columns = columns,
        .column_count = 6,
        .end_row = INT64_MAX,
    };
    int64_t bound = store_count(store, scan.table, NULL);
    if (bound <= 0 || bound >= INT32_MAX) {
        return 0;
    }
    facts->waits = calloc((size_t)bound, sizeof(*facts->waits));
    if (facts->waits == NULL) {
        return -1;
    }
    size_t record_count = 0;
    struct record *records = records_load(facts->trace, store, &record_count);
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    if (cursor != NULL) {
        waits_scan(facts, cursor, (size_t)bound, records, record_count);
        store_cursor_close(cursor);
    }
    free(records);
    if (facts->wait_count > 0) {
        sort_list(facts->waits, facts->wait_count, sizeof(*facts->waits), wait_cmp);
    }
    return 0;
}

/* ---- public ---- */

struct facts *facts_new(const struct trace *trace, struct err *err)
{
    struct facts *facts = calloc(1, sizeof(*facts));
    if (facts == NULL) {
        err_nomem(err, "the facts of a capture");
        return NULL;
    }
    facts->trace = trace;
    facts->has_api = trace->events[TRACE_API].count > 0;
    facts->has_osrt = trace->events[TRACE_OSRT].count > 0;
    facts->threads = calloc((size_t)trace->thread_count + 1, sizeof(*facts->threads));
    if (facts->threads == NULL) {
        goto fail;
    }
    threads_fill(facts);
    struct store *store = trace->path != NULL ? trace_store(trace, NULL) : NULL;
    if (store != NULL) {
        int rc = copies_load(facts, store) != 0 || waits_load(facts, store) != 0;
        store_close(store);
        if (rc != 0) {
            goto fail;
        }
    }
    return facts;
fail:
    facts_free(facts);
    err_nomem(err, "the facts of a capture");
    return NULL;
}

void facts_free(struct facts *facts)
{
    if (facts == NULL) {
        return;
    }
    free(facts->threads);
    free(facts->copies);
    free(facts->waits);
    free(facts);
}

const struct facts_copy *facts_copy_of(const struct facts *facts, uint32_t gpu)
{
    const struct facts_copy key = {.gpu = gpu};
    if (facts->copy_count == 0) {
        return NULL;
    }
    return bsearch(&key, facts->copies, facts->copy_count, sizeof(key), copy_cmp);
}

/* The details of the first copy that an API call launched; *gpu its index. */
static const struct facts_copy *copy_of_call(const struct facts *facts, uint32_t api, uint32_t *gpu)
{
    uint32_t count = 0;
    const uint32_t *ops = trace_ops_of(facts->trace, api, &count);
    *gpu = count > 0 ? ops[0] : TRACE_NONE;
    return count > 0 ? facts_copy_of(facts, ops[0]) : NULL;
}

static bool is_pageable(const struct facts_copy *copy)
{
    return copy != NULL &&
           (copy->src_kind == FACTS_MEM_PAGEABLE || copy->dst_kind == FACTS_MEM_PAGEABLE);
}

static const struct trace_name *api_name(const struct facts *facts, uint32_t api)
{
    return &facts->trace->names[facts->trace->events[TRACE_API].name[api]];
}

bool facts_copy_blocks(const struct facts *facts, uint32_t api)
{
    uint16_t flags = api_name(facts, api)->api;
    uint32_t gpu = TRACE_NONE;
    if ((flags & TRACE_API_COPY) == 0) {
        return false;
    }
    return (flags & TRACE_API_ASYNC) == 0 || is_pageable(copy_of_call(facts, api, &gpu));
}

bool facts_call_waits(const struct facts *facts, uint32_t api)
{
    uint16_t flags = api_name(facts, api)->api;
    if ((flags & TRACE_API_SYNC) != 0) {
        return true;
    }
    if (!facts_copy_blocks(facts, api)) {
        return false;
    }
    uint32_t gpu = TRACE_NONE;
    const struct facts_copy *copy = copy_of_call(facts, api, &gpu);
    if (gpu == TRACE_NONE) {
        return true;
    }
    uint8_t kind = facts->trace->names[facts->trace->events[TRACE_GPU].name[gpu]].copy_kind;
    if (kind == COPY_KIND_DTOD) {
        return false;
    }
    bool small = copy != NULL && copy->bytes >= 0 && copy->bytes <= COPY_SMALL_BYTES;
    return !(kind == COPY_KIND_HTOD && small);
}

const struct facts_wait *facts_wait_before(const struct facts *facts, const struct trace_lane *lane,
                                           int64_t begin_ns, int64_t end_ns)
{
    size_t low = 0;
    size_t high = facts->wait_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct facts_wait *wait = &facts->waits[mid];
        int c = wait_key_cmp(wait, lane->process, lane->context_id, lane->stream_id);
        if (c < 0 || (c == 0 && wait->begin_ns < end_ns)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low == 0) {
        return NULL;
    }
    const struct facts_wait *wait = &facts->waits[low - 1];
    if (wait_key_cmp(wait, lane->process, lane->context_id, lane->stream_id) != 0) {
        return NULL;
    }
    return wait->begin_ns >= begin_ns ? wait : NULL;
}

/* Busy time of a device before t. */
static int64_t busy_before(const struct trace_device *device, int64_t t_ns)
{
    size_t low = 0;
    BISECT(size_t, low, device->busy_count, mid, device->busy_end_ns[mid] <= t_ns)
    int64_t sum = device->busy_sum_ns[low];
    if (low < device->busy_count && device->busy_begin_ns[low] < t_ns) {
        sum += t_ns - device->busy_begin_ns[low];
    }
    return sum;
}

int64_t facts_busy_ns(const struct facts *facts, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
    const struct trace_device *gpu = &facts->trace->devices[device];
    if (gpu->busy_count == 0 || end_ns <= begin_ns) {
        return 0;
    }
    return busy_before(gpu, end_ns) - busy_before(gpu, begin_ns);
}
