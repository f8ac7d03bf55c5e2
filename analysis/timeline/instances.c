/*
 * instances: the events of one name in a window, see lists.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/stat.h"
#include "analysis/facts/slice.h"
#include "analysis/timeline/lists.h"

static void lane_collect(const struct list_query *query, const struct trace_lane *lane,
                         uint32_t name, struct instances *out)
{
    const uint32_t *names = query->trace->events[lane->table].name;
    struct slice slice = slice_of(query->trace, lane, query->begin_ns, query->end_ns);
    for (uint32_t i = slice.from; i < slice.to; i++) {
        if (names[i] != name || !terms_has(query->terms, out->table, i)) {
            continue;
        }
        if (out->index != NULL) {
            out->index[out->count] = i;
        }
        out->count++;
    }
}

static void collect(const struct list_query *query, uint32_t name, struct instances *out)
{
    const struct trace *trace = query->trace;
    out->count = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table == out->table && list_has_lane(query, lane)) {
            lane_collect(query, lane, name, out);
        }
    }
}

/* ---- ranks: exact, by counting. A duration falls in one of 64 parts of its power of two; the rank
 * is then found among the few that share a part. O(n), where selecting in place would move all.
 * ---- */

enum {
    PART_BITS = 6,
    MANTISSA_BITS = 52,
    BIAS = 1023,
    PARTS = (65 << PART_BITS) + 1,
};

/* The upper bits of the double of a value: the same or more for a larger value. */
static uint32_t part_of(int64_t value)
{
    double number = (double)value;
    uint64_t bits = 0;
    if (value < 1) {
        return 0;
    }
    memcpy(&bits, &number, sizeof bits);
    return (uint32_t)(bits >> (MANTISSA_BITS - PART_BITS)) - ((uint32_t)BIAS << PART_BITS) + 1;
}

/* The value of rank (from 1) among lengths, whose parts are counted. scratch holds count values. */
static int64_t ranked(const int64_t *lengths, size_t count, const uint32_t *parts, size_t rank,
                      int64_t *scratch)
{
    size_t below = 0;
    uint32_t part = 0;
    size_t in_part = 0;
    while (below + parts[part] < rank) {
        below += parts[part++];
    }
    for (size_t i = 0; i < count; i++) {
        if (part_of(lengths[i]) == part) {
            scratch[in_part++] = lengths[i];
        }
    }
    /* The smallest percent that gives this rank among those in the part. */
    return stat_percentile(scratch, in_part,
                           100.0 * ((double)(rank - below) - 0.5) / (double)in_part);
}

/* Nearest rank, from 1. */
static size_t rank_of(size_t count, size_t percent)
{
    size_t rank = (count * percent + 99) / 100;
    return rank > 0 ? rank : 1;
}

static int instances_stats(const struct trace *trace, struct instances *out)
{
    const struct trace_events *events = &trace->events[out->table];
    int64_t *lengths = calloc(out->count + 1, sizeof *lengths);
    int64_t *scratch = calloc(out->count + 1, sizeof *scratch);
    uint32_t *parts = calloc(PARTS, sizeof *parts);
    bool is_made = lengths != NULL && scratch != NULL && parts != NULL;
    for (size_t i = 0; is_made && i < out->count; i++) {
        lengths[i] = events->end_ns[out->index[i]] - events->begin_ns[out->index[i]];
        parts[part_of(lengths[i])]++;
        out->total_ns += lengths[i];
        if (i == 0 || lengths[i] < out->min_ns) {
            out->min_ns = lengths[i];
        }
        if (i == 0 || lengths[i] > out->max_ns) {
            out->max_ns = lengths[i];
        }
    }
    if (is_made && out->count > 0) {
        spark_bins_make(&out->bins, lengths, out->count, INSTANCES_BINS);
        out->p50_ns = ranked(lengths, out->count, parts, rank_of(out->count, 50), scratch);
        out->p90_ns = ranked(lengths, out->count, parts, rank_of(out->count, 90), scratch);
        out->p99_ns = ranked(lengths, out->count, parts, rank_of(out->count, 99), scratch);
    }
    free(lengths);
    free(scratch);
    free(parts);
    return is_made ? 0 : -1;
}

int instances_make(const struct list_query *query, uint32_t name, struct instances *out,
                   struct err *err)
{
    const struct trace *trace = query->trace;
    memset(out, 0, sizeof *out);
    if (name >= trace->name_count) {
        return 0;
    }
    out->table = list_table_of((enum trace_kind)trace->names[name].kind);
    collect(query, name, out);
    out->index = calloc(out->count + 1, sizeof *out->index);
    if (out->index == NULL) {
        return err_nomem(err, "the instances");
    }
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
    int c = COMPARE(x->key, y->key);
    if (c == 0) {
        c = COMPARE(x->begin_ns, y->begin_ns);
    }
    return c != 0 ? c : COMPARE(x->index, y->index);
}

/* Indices by begin; arg is begin_ns of the table. */
static int begin_cmp(const void *a, const void *b, const void *arg)
{
    const int64_t *begin_ns = arg;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int c = COMPARE(begin_ns[x], begin_ns[y]);
    return c != 0 ? c : COMPARE(x, y);
}

void instances_sort(const struct trace *trace, struct instances *instances, bool by_duration,
                    bool descending)
{
    const struct trace_events *events = &trace->events[instances->table];
    if (!by_duration && !descending &&
        sort_runs(instances->index, instances->count, sizeof *instances->index, begin_cmp,
                  events->begin_ns) == 0) {
        return;
    }
    struct instance_key *keys = calloc(instances->count + 1, sizeof *keys);
    if (keys == NULL) {
        return;
    }
    for (size_t i = 0; i < instances->count; i++) {
        uint32_t index = instances->index[i];
        int64_t key =
            by_duration ? events->end_ns[index] - events->begin_ns[index] : events->begin_ns[index];
        keys[i] = (struct instance_key){
            .key = descending ? -key : key, .begin_ns = events->begin_ns[index], .index = index};
    }
    sort_list(keys, instances->count, sizeof *keys, instance_cmp);
    for (size_t i = 0; i < instances->count; i++) {
        instances->index[i] = keys[i].index;
    }
    free(keys);
}
