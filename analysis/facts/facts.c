/*
 * facts: gathers once what the detectors look up often. Copies and stream waits come from the
 * capture by its row numbers; everything else from the trace.
 */
#include "analysis/facts/facts.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/facts/rows.h"
#include "analysis/facts/syncs.h"

enum {
    COPY_SMALL_BYTES = 65536, /* copies up to this from pageable memory return early */
    COPY_KIND_HTOD = 1,
    COPY_KIND_DTOD = 8,
};

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

/* ---- lanes of streams ---- */

static int stream_cmp(const struct trace_lane *x, const struct trace_lane *y)
{
    int c = COMPARE(x->process, y->process);
    c = c != 0 ? c : COMPARE(x->context_id, y->context_id);
    return c != 0 ? c : COMPARE(x->stream_id, y->stream_id);
}

static int stream_order(const void *a, const void *b, const void *arg)
{
    const struct trace *trace = arg;
    return stream_cmp(&trace->lanes[*(const uint32_t *)a], &trace->lanes[*(const uint32_t *)b]);
}

static int streams_fill(struct facts *facts)
{
    const struct trace *trace = facts->trace;
    facts->streams = malloc(((size_t)trace->lane_count + 1) * sizeof *facts->streams);
    if (facts->streams == NULL) {
        return -1;
    }
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        if (trace->lanes[l].kind == TRACE_LANE_STREAM) {
            facts->streams[facts->stream_count++] = l;
        }
    }
    return sort_runs(facts->streams, facts->stream_count, sizeof *facts->streams, stream_order,
                     trace);
}

uint32_t facts_stream_lane(const struct facts *facts, uint32_t process, int64_t context_id,
                           int64_t stream_id)
{
    const struct trace_lane *lanes = facts->trace->lanes;
    const struct trace_lane key = {
        .process = process, .context_id = context_id, .stream_id = stream_id};
    uint32_t at = 0;
    BISECT(uint32_t, at, facts->stream_count, mid,
           stream_cmp(&lanes[facts->streams[mid]], &key) < 0)
    return at < facts->stream_count && stream_cmp(&lanes[facts->streams[at]], &key) == 0
               ? facts->streams[at]
               : TRACE_NONE;
}

/* ---- copies ---- */

static int copy_cmp(const void *a, const void *b)
{
    const struct facts_copy *x = a;
    const struct facts_copy *y = b;
    return COMPARE(x->gpu, y->gpu);
}

enum {
    COPIES = 1U << TRACE_MEMCPY | 1U << TRACE_MIGRATION, /* of one table of the file */
    SETS = 1U << TRACE_MEMSET,
};

static uint8_t mem_kind(struct store_cursor *cursor, int column)
{
    int64_t kind = store_int(cursor, column, FACTS_MEM_UNKNOWN);
    return kind >= 0 && kind < FACTS_MEM_UNKNOWN ? (uint8_t)kind : FACTS_MEM_UNKNOWN;
}

static void copy_row(void *arg, size_t k, struct store_cursor *row)
{
    struct facts *facts = arg;
    struct facts_copy *copy = &facts->copies[k];
    copy->is_known = true;
    copy->bytes = store_int(row, 0, -1);
    copy->src_kind = mem_kind(row, 1);
    copy->dst_kind = mem_kind(row, 2);
    facts->has_copy_kind |= copy->src_kind != FACTS_MEM_UNKNOWN;
}

/* All copies, migrations and sets, by GPU index. The caller frees; NULL without memory. */
static uint32_t *copies_list(const struct trace *trace, size_t *count)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t *list = malloc(((size_t)gpu->count + 1) * sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < gpu->count; i++) {
        if (((COPIES | SETS) >> trace->names[gpu->name[i]].kind & 1U) != 0) {
            list[(*count)++] = i;
        }
    }
    return list;
}

/* What a file that is damaged does not give stays unknown. */
static int copies_load(struct facts *facts, struct store *store)
{
    static const char *const copy_columns[] = {"bytes", "srcKind", "dstKind"};
    static const char *const set_columns[] = {"bytes", "memKind", "memKind"};
    struct rows_query query = {.table = TRACE_GPU, .column_count = 3, .visit = copy_row};
    size_t count;
    uint32_t *list = copies_list(facts->trace, &count);
    facts->copies = calloc(count + 1, sizeof *facts->copies);
    if (list == NULL || facts->copies == NULL) {
        free(list);
        return -1;
    }
    query.arg = facts;
    query.kinds = COPIES;
    query.columns = copy_columns;
    (void)rows_visit(facts->trace, store, list, count, &query, NULL);
    query.kinds = SETS;
    query.columns = set_columns;
    (void)rows_visit(facts->trace, store, list, count, &query, NULL);
    for (size_t i = 0; i < count; i++) {
        if (facts->copies[i].is_known) {
            facts->copies[facts->copy_count] = facts->copies[i];
            facts->copies[facts->copy_count++].gpu = list[i];
        }
    }
    free(list);
    return 0;
}

/* ---- stream waits ---- */

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

static int waits_load(struct facts *facts, struct store *store)
{
    struct sync_rows waits = {0};
    struct sync_rows records = {0};
    (void)sync_waits_read(facts->trace, store, &waits, NULL);
    (void)sync_records_read(facts->trace, store, &records, NULL);
    facts->waits = calloc(waits.count + 1, sizeof *facts->waits);
    for (size_t i = 0; i < waits.count && facts->waits != NULL; i++) {
        const struct sync_row *wait = &waits.list[i];
        if (wait->stream_id == SYNC_NO_ID || wait->event_id == SYNC_NO_ID) {
            continue;
        }
        const struct sync_row *record = sync_record_of(&records, wait);
        facts->waits[facts->wait_count++] = (struct facts_wait){
            .process = wait->process,
            .context_id = wait->context_id,
            .stream_id = wait->stream_id,
            .begin_ns = wait->begin_ns,
            .event_id = wait->event_id,
            .event_stream =
                record != NULL && record->stream_id != SYNC_NO_ID ? record->stream_id : -1,
            .event_context = record != NULL ? record->context_id : 0,
        };
    }
    sync_rows_free(&waits);
    sync_rows_free(&records);
    sort_list(facts->waits, facts->wait_count, sizeof *facts->waits, wait_cmp);
    return facts->waits == NULL ? -1 : 0;
}

/* ---- kept ---- */

enum facts_kept_array {
    KEPT_HEAD, /* struct kept_head */
    KEPT_COPIES,
    KEPT_WAITS,
};

struct kept_head {
    uint64_t copies;
    uint64_t waits;
    uint64_t has_copy_kind;
};

/* Takes copies and waits from the shelf. False where they are not there. */
static bool facts_take(struct facts *facts)
{
    const struct trace *trace = facts->trace;
    const struct kept_head *head = shelf_array(trace, SHELF_FACTS, KEPT_HEAD, sizeof *head);
    if (head == NULL) {
        return false;
    }
    facts->copy_count = (size_t)head->copies;
    facts->wait_count = (size_t)head->waits;
    facts->has_copy_kind = head->has_copy_kind != 0;
    facts->copies =
        shelf_array(trace, SHELF_FACTS, KEPT_COPIES, facts->copy_count * sizeof *facts->copies);
    facts->waits =
        shelf_array(trace, SHELF_FACTS, KEPT_WAITS, facts->wait_count * sizeof *facts->waits);
    facts->kept = (facts->copy_count == 0 || facts->copies != NULL) &&
                  (facts->wait_count == 0 || facts->waits != NULL);
    if (!facts->kept) {
        facts->copies = NULL;
        facts->copy_count = 0;
        facts->waits = NULL;
        facts->wait_count = 0;
        facts->has_copy_kind = false;
    }
    return facts->kept;
}

static void make_head(const void *arg, void *out)
{
    const struct facts *facts = arg;
    struct kept_head *head = out;
    *head = (struct kept_head){facts->copy_count, facts->wait_count, facts->has_copy_kind ? 1 : 0};
}

void facts_keep(const struct facts *facts, struct shelf_list *list)
{
    shelf_put_made(list, SHELF_FACTS, KEPT_HEAD, sizeof(struct kept_head), make_head, facts);
    shelf_put(list, SHELF_FACTS, KEPT_COPIES, facts->copies,
              facts->copy_count * sizeof *facts->copies);
    shelf_put(list, SHELF_FACTS, KEPT_WAITS, facts->waits,
              facts->wait_count * sizeof *facts->waits);
}

/* ---- public ---- */

struct facts *facts_read(const struct trace *trace, struct store *store, struct err *err)
{
    struct facts *facts = calloc(1, sizeof *facts);
    if (facts != NULL) {
        facts->trace = trace;
        facts->has_api = trace->events[TRACE_API].count > 0;
        facts->has_osrt = trace->events[TRACE_OSRT].count > 0;
        facts->threads = calloc((size_t)trace->thread_count + 1, sizeof *facts->threads);
    }
    bool failed = facts == NULL || facts->threads == NULL;
    if (!failed) {
        threads_fill(facts);
        failed = streams_fill(facts) != 0 || sharing_find(trace, &facts->sharing) != 0;
    }
    if (!failed) {
        failed = !facts_take(facts) && store != NULL &&
                 (copies_load(facts, store) != 0 || waits_load(facts, store) != 0);
    }
    if (failed) {
        facts_free(facts);
        err_nomem(err, "the facts of a capture");
        return NULL;
    }
    if (trace_check(trace, err) != 0) {
        facts_free(facts);
        return NULL;
    }
    return facts;
}

struct facts *facts_new(const struct trace *trace, struct err *err)
{
    struct store *store = trace->path != NULL ? trace_store(trace, NULL) : NULL;
    struct facts *facts = facts_read(trace, store, err);
    store_close(store);
    return facts;
}

void facts_free(struct facts *facts)
{
    if (facts == NULL) {
        return;
    }
    free(facts->threads);
    free(facts->streams);
    sharing_free(&facts->sharing);
    if (!facts->kept) {
        free(facts->copies);
        free(facts->waits);
    }
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
