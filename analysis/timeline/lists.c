/*
 * lists: see lists.h.
 *
 * One accumulator for each name of the trace, filled in one pass over the lanes; the pass reads the
 * arrays in order, so its cost is that of the memory it reads. The accumulators are kept between
 * calls and cleared by walking the rows that were used.
 */
#include "analysis/timeline/lists.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/facts/slice.h"

enum trace_table list_table_of(enum trace_kind kind)
{
    static const uint8_t tables[TRACE_KIND_COUNT] = {
        [TRACE_KERNEL] = TRACE_GPU,
        [TRACE_MEMCPY] = TRACE_GPU,
        [TRACE_MEMSET] = TRACE_GPU,
        [TRACE_GRAPH] = TRACE_GPU,
        [TRACE_MIGRATION] = TRACE_GPU,
        [TRACE_API_CALL] = TRACE_API,
        [TRACE_NVTX_PUSHPOP] = TRACE_NVTX,
        [TRACE_NVTX_STARTEND] = TRACE_NVTX,
        [TRACE_NVTX_MARK] = TRACE_NVTX,
        [TRACE_OSRT_CALL] = TRACE_OSRT,
        [TRACE_OVERHEAD_PROFILER] = TRACE_OVERHEAD,
        [TRACE_OVERHEAD_CUDA] = TRACE_OVERHEAD,
    };
    return (enum trace_table)tables[kind];
}

/* Bits (1 << table) of the tables that hold one of the kinds. */
static uint32_t tables_of(uint32_t kinds)
{
    uint32_t tables = 0;
    for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        if ((kinds >> kind & 1U) != 0) {
            tables |= 1U << list_table_of((enum trace_kind)kind);
        }
    }
    return tables;
}

bool list_has_lane(const struct list_query *query, const struct trace_lane *lane)
{
    return (query->device == TRACE_NONE || lane->device == query->device) &&
           (query->process == TRACE_NONE || lane->process == query->process) &&
           (query->thread == TRACE_NONE || lane->thread == query->thread);
}

static inline void slot_add(struct list_row *slot, uint32_t i, int64_t length_ns, int64_t inside_ns)
{
    if (slot->count++ == 0) {
        slot->min_ns = length_ns;
        slot->max_ns = length_ns;
        slot->longest = i;
    } else if (length_ns > slot->max_ns) {
        slot->max_ns = length_ns;
        slot->longest = i;
    } else if (length_ns < slot->min_ns) {
        slot->min_ns = length_ns;
    }
    slot->total_ns += length_ns;
    slot->inside_ns += inside_ns;
}

/* Only the first and the last event of a lane can stick out of the window. */
static void lane_add(const struct list_query *query, const struct trace_lane *lane,
                     struct list_row *slots)
{
    const struct trace_events *events = &query->trace->events[lane->table];
    const struct terms *terms = query->terms;
    const enum trace_table table = (enum trace_table)lane->table;
    struct slice slice = slice_of(query->trace, lane, query->begin_ns, query->end_ns);
    for (uint32_t i = slice.from; i < slice.to; i++) {
        if (!terms_has(terms, table, i)) {
            continue;
        }
        int64_t length_ns = events->end_ns[i] - events->begin_ns[i];
        bool is_edge = i == slice.from || i + 1 == slice.to;
        int64_t inside_ns = length_ns;
        if (is_edge) {
            inside_ns = slice_inside(events->begin_ns[i], events->end_ns[i], query->begin_ns,
                                     query->end_ns);
        }
        slot_add(&slots[events->name[i]], i, length_ns, inside_ns);
    }
}

static int list_slots(struct list *list, size_t count)
{
    list->count = 0;
    list->events = 0;
    list->inside_ns = 0;
    if (list->slot_count != count || list->slots == NULL) {
        free(list->slots);
        free(list->rows);
        list->slots = calloc(count + 1, sizeof *list->slots);
        list->rows = calloc(count + 1, sizeof *list->rows);
        list->slot_count = count;
    } else {
        memset(list->slots, 0, count * sizeof *list->slots);
    }
    return list->slots == NULL || list->rows == NULL ? -1 : 0;
}

int list_make(const struct list_query *query, struct list *list, struct err *err)
{
    const struct trace *trace = query->trace;
    if (list_slots(list, trace->name_count) != 0) {
        list_free(list);
        return err_nomem(err, "the list");
    }
    uint32_t tables = tables_of(query->kinds);
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if ((tables >> lane->table & 1U) != 0 && list_has_lane(query, lane)) {
            lane_add(query, lane, list->slots);
        }
    }
    for (uint32_t name = 0; name < trace->name_count; name++) {
        struct list_row *slot = &list->slots[name];
        if (slot->count == 0 || (query->kinds >> trace->names[name].kind & 1U) == 0) {
            continue;
        }
        slot->name = name;
        list->rows[list->count++] = *slot;
        list->events += slot->count;
        list->inside_ns += slot->inside_ns;
    }
    return 0;
}

void list_free(struct list *list)
{
    free(list->rows);
    free(list->slots);
    memset(list, 0, sizeof *list);
}

int64_t list_mean_ns(const struct list_row *row)
{
    return (row->total_ns + row->count / 2) / row->count;
}

double list_share(const struct list *list, const struct list_row *row)
{
    return list->inside_ns > 0 ? 100.0 * (double)row->inside_ns / (double)list->inside_ns : 0.0;
}

/* ---- sorting: a bottom-up merge sort of row numbers would gain nothing over qsort here; the order
 * of ties is part of the comparison, so that it does not matter that qsort is not stable. ---- */

struct sort_key {
    int64_t key;
    const struct trace_name *name; /* LIST_NAME, else NULL */
    struct list_row row;
};

static int cmp_text(const struct trace_name *a, const struct trace_name *b)
{
    size_t len = a->brief_len < b->brief_len ? a->brief_len : b->brief_len;
    int c = memcmp(a->brief, b->brief, len);
    return c != 0 ? c : COMPARE(a->brief_len, b->brief_len);
}

static int sort_key_cmp(const void *a, const void *b)
{
    const struct sort_key *x = a;
    const struct sort_key *y = b;
    int c = x->name != NULL && y->name != NULL ? cmp_text(x->name, y->name) : 0;
    if (c == 0) {
        c = COMPARE(x->key, y->key);
    }
    if (c == 0) {
        c = COMPARE(y->row.inside_ns, x->row.inside_ns);
    }
    return c != 0 ? c : COMPARE(x->row.name, y->row.name);
}

static int sort_key_cmp_down(const void *a, const void *b)
{
    const struct sort_key *x = a;
    const struct sort_key *y = b;
    int c = x->name != NULL && y->name != NULL ? cmp_text(y->name, x->name) : 0;
    if (c == 0) {
        c = COMPARE(y->key, x->key);
    }
    if (c == 0) {
        c = COMPARE(y->row.inside_ns, x->row.inside_ns);
    }
    return c != 0 ? c : COMPARE(x->row.name, y->row.name);
}

static int64_t row_key(const struct list_row *row, enum list_column column)
{
    switch (column) {
    case LIST_COUNT:
        return row->count;
    case LIST_TOTAL:
        return row->total_ns;
    case LIST_INSIDE:
        return row->inside_ns;
    case LIST_MEAN:
        return list_mean_ns(row);
    case LIST_MIN:
        return row->min_ns;
    case LIST_MAX:
        return row->max_ns;
    case LIST_NAME:
        break;
    }
    return 0;
}

void list_sort(const struct trace *trace, struct list *list, enum list_column column,
               bool descending)
{
    struct sort_key *keys = list->count > 1 ? malloc(list->count * sizeof *keys) : NULL;
    if (keys == NULL) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct list_row *row = &list->rows[i];
        keys[i].key = row_key(row, column);
        keys[i].name = column == LIST_NAME ? &trace->names[row->name] : NULL;
        keys[i].row = *row;
    }
    sort_list(keys, list->count, sizeof *keys, descending ? sort_key_cmp_down : sort_key_cmp);
    for (size_t i = 0; i < list->count; i++) {
        list->rows[i] = keys[i].row;
    }
    free(keys);
}
