/*
 * lists: see lists.h.
 *
 * One accumulator for each name of the trace, filled in one pass over the lanes; the pass reads the
 * arrays in order, so its cost is that of the memory it reads. The accumulators are kept between
 * calls and cleared by walking the rows that were used.
 */
#include "analysis/query/lists.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/query/slice.h"
#include "analysis/query/stat.h"

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
        if ((kinds >> kind & 1U) != 0)
            tables |= 1U << list_table_of((enum trace_kind)kind);
    }
    return tables;
}

static bool lane_is_in(const struct list_query *query, const struct trace_lane *lane)
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
        if (!terms_has(terms, table, i))
            continue;
        int64_t length_ns = events->end_ns[i] - events->begin_ns[i];
        bool is_edge = i == slice.from || i + 1 == slice.to;
        int64_t inside_ns = length_ns;
        if (is_edge)
            inside_ns = slice_inside(events->begin_ns[i], events->end_ns[i], query->begin_ns,
                                     query->end_ns);
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
        if ((tables >> lane->table & 1U) != 0 && lane_is_in(query, lane))
            lane_add(query, lane, list->slots);
    }
    for (uint32_t name = 0; name < trace->name_count; name++) {
        struct list_row *slot = &list->slots[name];
        if (slot->count == 0 || (query->kinds >> trace->names[name].kind & 1U) == 0)
            continue;
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

static int cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int cmp_text(const struct trace_name *a, const struct trace_name *b)
{
    size_t len = a->brief_len < b->brief_len ? a->brief_len : b->brief_len;
    int c = memcmp(a->brief, b->brief, len);
    return c != 0 ? c : cmp_i64(a->brief_len, b->brief_len);
}

static int sort_key_cmp(const void *a, const void *b)
{
    const struct sort_key *x = a;
    const struct sort_key *y = b;
    int c = x->name != NULL && y->name != NULL ? cmp_text(x->name, y->name) : 0;
    if (c == 0)
        c = cmp_i64(x->key, y->key);
    if (c == 0)
        c = cmp_i64(y->row.inside_ns, x->row.inside_ns);
    return c != 0 ? c : cmp_i64(x->row.name, y->row.name);
}

static int sort_key_cmp_down(const void *a, const void *b)
{
    const struct sort_key *x = a;
    const struct sort_key *y = b;
    int c = x->name != NULL && y->name != NULL ? cmp_text(y->name, x->name) : 0;
    if (c == 0)
        c = cmp_i64(y->key, x->key);
    if (c == 0)
        c = cmp_i64(y->row.inside_ns, x->row.inside_ns);
    return c != 0 ? c : cmp_i64(x->row.name, y->row.name);
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
    if (keys == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const struct list_row *row = &list->rows[i];
        keys[i].key = row_key(row, column);
        keys[i].name = column == LIST_NAME ? &trace->names[row->name] : NULL;
        keys[i].row = *row;
    }
    qsort(keys, list->count, sizeof *keys, descending ? sort_key_cmp_down : sort_key_cmp);
    for (size_t i = 0; i < list->count; i++)
        list->rows[i] = keys[i].row;
    free(keys);
}

/* ---- instances ---- */

static void lane_collect(const struct list_query *query, const struct trace_lane *lane,
                         uint32_t name, struct instances *out)
{
    const uint32_t *names = query->trace->events[lane->table].name;
    struct slice slice = slice_of(query->trace, lane, query->begin_ns, query->end_ns);
    for (uint32_t i = slice.from; i < slice.to; i++) {
        if (names[i] != name || !terms_has(query->terms, out->table, i))
            continue;
        if (out->index != NULL)
            out->index[out->count] = i;
        out->count++;
    }
}

static void collect(const struct list_query *query, uint32_t name, struct instances *out)
{
    const struct trace *trace = query->trace;
    out->count = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table == out->table && lane_is_in(query, lane))
            lane_collect(query, lane, name, out);
    }
}

static int instances_stats(const struct trace *trace, struct instances *out)
{
    const struct trace_events *events = &trace->events[out->table];
    int64_t *lengths = malloc((out->count + 1) * sizeof *lengths);
    if (lengths == NULL)
        return -1;
    for (size_t i = 0; i < out->count; i++) {
        lengths[i] = events->end_ns[out->index[i]] - events->begin_ns[out->index[i]];
        out->total_ns += lengths[i];
        if (i == 0 || lengths[i] < out->min_ns)
            out->min_ns = lengths[i];
        if (i == 0 || lengths[i] > out->max_ns)
            out->max_ns = lengths[i];
    }
    spark_bins_make(&out->bins, lengths, out->count, INSTANCES_BINS);
    out->p50_ns = stat_percentile(lengths, out->count, 50.0);
    out->p90_ns = stat_percentile(lengths, out->count, 90.0);
    out->p99_ns = stat_percentile(lengths, out->count, 99.0);
    free(lengths);
    return 0;
}

int instances_make(const struct list_query *query, uint32_t name, struct instances *out,
                   struct err *err)
{
    const struct trace *trace = query->trace;
    memset(out, 0, sizeof *out);
    if (name >= trace->name_count)
        return 0;
    out->table = list_table_of((enum trace_kind)trace->names[name].kind);
    collect(query, name, out);
    out->index = calloc(out->count + 1, sizeof *out->index);
    if (out->index == NULL)
        return err_nomem(err, "the instances");
    collect(query, name, out);
    if (instances_stats(trace, out) != 0) {
        instances_free(out);
        return err_nomem(err, "the instances");
    }
    instances_sort(trace, out, false, false);
    return 0;
}

void instances_free(struct instances *instances)
{
    free(instances->index);
    memset(instances, 0, sizeof *instances);
}

struct instance_key {
    int64_t key;
    int64_t begin_ns;
    uint32_t index;
};

static int instance_cmp(const void *a, const void *b)
{
    const struct instance_key *x = a;
    const struct instance_key *y = b;
    int c = cmp_i64(x->key, y->key);
    if (c == 0)
        c = cmp_i64(x->begin_ns, y->begin_ns);
    return c != 0 ? c : cmp_i64(x->index, y->index);
}

void instances_sort(const struct trace *trace, struct instances *instances, bool by_duration,
                    bool descending)
{
    const struct trace_events *events = &trace->events[instances->table];
    struct instance_key *keys = malloc((instances->count + 1) * sizeof *keys);
    if (keys == NULL)
        return;
    for (size_t i = 0; i < instances->count; i++) {
        uint32_t index = instances->index[i];
        int64_t key =
            by_duration ? events->end_ns[index] - events->begin_ns[index] : events->begin_ns[index];
        keys[i] = (struct instance_key){
            .key = descending ? -key : key, .begin_ns = events->begin_ns[index], .index = index};
    }
    qsort(keys, instances->count, sizeof *keys, instance_cmp);
    for (size_t i = 0; i < instances->count; i++)
        instances->index[i] = keys[i].index;
    free(keys);
}
