/*
 * align: see align.h.
 *
 * Names are matched once, through a table of their texts; a delta is then two lists (lists.h) that
 * are joined by name number.
 */
#include "analysis/diff/align.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/base/sort.h"
#include "analysis/base/utf8.h"

/* ---- one axis ---- */

/* The first begin of the kinds; false where there is none. */
static bool first_begin(const struct trace *trace, uint32_t kinds, int64_t *begin_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    bool is_found = false;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_GPU) {
            continue;
        }
        uint32_t i = lane->first;
        while (i < lane->first + lane->count &&
               (kinds >> trace->names[gpu->name[i]].kind & 1U) == 0) {
            i++;
        }
        if (i < lane->first + lane->count && (!is_found || gpu->begin_ns[i] < *begin_ns)) {
            *begin_ns = gpu->begin_ns[i];
            is_found = true;
        }
    }
    return is_found;
}

static bool first_work(const struct trace *trace, int64_t *begin_ns)
{
    return first_begin(trace, 1U << TRACE_KERNEL | 1U << TRACE_GRAPH, begin_ns) ||
           first_begin(trace, TERMS_KINDS_GPU, begin_ns);
}

int align_by_kernel(const struct trace *base, const struct trace *new_trace, int64_t *shift_ns,
                    struct err *err)
{
    int64_t base_ns = 0;
    int64_t new_ns = 0;
    if (!first_work(base, &base_ns) || !first_work(new_trace, &new_ns)) {
        return err_set(err, "nothing ran on a device in %s: align by an NVTX range",
                       !first_work(base, &base_ns) ? "the first capture" : "the second capture");
    }
    *shift_ns = new_ns - base_ns;
    return 0;
}

struct occurrence {
    int64_t begin_ns;
    uint32_t nvtx;
};

static int occurrence_cmp(const void *a, const void *b)
{
    const struct occurrence *x = a;
    const struct occurrence *y = b;
    int c = (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
    return c != 0 ? c : (x->nvtx > y->nvtx) - (x->nvtx < y->nvtx);
}

static bool is_range_of(const struct trace_name *name, const struct align_range *range)
{
    return (name->kind == TRACE_NVTX_PUSHPOP || name->kind == TRACE_NVTX_STARTEND) &&
           name->full_len == range->len && memcmp(name->full, range->name, range->len) == 0;
}

uint32_t align_find_range(const struct trace *trace, const struct align_range *range)
{
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    struct occurrence *list = malloc(((size_t)nvtx->count + 1) * sizeof *list);
    uint32_t count = 0;
    uint32_t found = TRACE_NONE;
    for (uint32_t i = 0; list != NULL && i < nvtx->count; i++) {
        if (is_range_of(&trace->names[nvtx->name[i]], range)) {
            list[count++] = (struct occurrence){nvtx->begin_ns[i], i};
        }
    }
    if (list != NULL && range->occurrence < count) {
        sort_list(list, count, sizeof *list, occurrence_cmp);
        found = list[range->occurrence].nvtx;
    }
    free(list);
    return found;
}

int align_by_range(const struct trace *base, const struct trace *new_trace,
                   const struct align_range *range, int64_t *shift_ns, struct err *err)
{
    uint32_t base_range = align_find_range(base, range);
    uint32_t new_range = align_find_range(new_trace, range);
    if (base_range == TRACE_NONE || new_range == TRACE_NONE) {
        struct buf safe = {0};
        utf8_sanitize(&safe, range->name, range->len, false);
        (void)err_set(err, "no range \"%.200s\" number %lu in %s", buf_text(&safe),
                      (unsigned long)range->occurrence + 1,
                      base_range == TRACE_NONE ? "the first capture" : "the second capture");
        buf_free(&safe);
        return -1;
    }
    *shift_ns = new_trace->events[TRACE_NVTX].begin_ns[new_range] -
                base->events[TRACE_NVTX].begin_ns[base_range];
    return 0;
}

/* ---- names ---- */

/* What makes two names the same: kind, domain and text, with their lengths so that no two differ
 * only in where one ends. */
static uint32_t name_key(struct intern *table, struct buf *key, const struct trace_name *name,
                         bool is_new)
{
    uint32_t head[2] = {name->kind, name->domain != NULL ? name->domain_len : 0};
    buf_reset(key);
    buf_add(key, head, sizeof head);
    if (name->domain != NULL) {
        buf_add(key, name->domain, name->domain_len);
    }
    buf_add(key, name->full, name->full_len);
    if (buf_failed(key)) {
        return INTERN_NONE;
    }
    return is_new ? intern_find(table, buf_text(key), key->len)
                  : intern_add(table, buf_text(key), key->len);
}

int align_names_make(const struct trace *base, const struct trace *new_trace,
                     struct align_names *out, struct err *err)
{
    struct intern table = {0};
    struct buf key = {0};
    int rc = 0;
    /* Names of a trace are distinct by kind, texts and domain; two that differ only in the mangled
     * text share a key, and the first of them stands for both. */
    uint32_t *of_key = malloc(((size_t)base->name_count + 1) * sizeof *of_key);
    *out = (struct align_names){.base = base, .new_trace = new_trace};
    out->base_of = malloc(((size_t)new_trace->name_count + 1) * sizeof *out->base_of);
    if (of_key == NULL || out->base_of == NULL) {
        rc = -1;
    }
    for (uint32_t n = 0; rc == 0 && n < base->name_count; n++) {
        uint32_t before = table.count;
        uint32_t id = name_key(&table, &key, &base->names[n], false);
        if (id == INTERN_NONE) {
            rc = -1;
        } else if (id == before) {
            of_key[id] = n;
        }
    }
    for (uint32_t n = 0; rc == 0 && n < new_trace->name_count; n++) {
        uint32_t id = name_key(&table, &key, &new_trace->names[n], true);
        rc = buf_failed(&key) ? -1 : 0;
        out->base_of[n] = id == INTERN_NONE ? TRACE_NONE : of_key[id];
    }
    free(of_key);
    buf_free(&key);
    intern_free(&table);
    if (rc != 0) {
        align_names_free(out);
        return err_nomem(err, "the names of two captures");
    }
    return 0;
}

void align_names_free(struct align_names *names)
{
    free(names->base_of);
    names->base_of = NULL;
}

/* ---- deltas ---- */

static void side_add(struct align_row *row, int side, const struct list_row *from)
{
    if (row->count[side] == 0) {
        row->name[side] = from->name;
    }
    row->count[side] += from->count;
    row->total_ns[side] += from->total_ns;
    row->mean_ns[side] = (row->total_ns[side] + row->count[side] / 2) / row->count[side];
    row->delta_ns = row->total_ns[1] - row->total_ns[0];
}

static struct align_row *row_new(struct align_delta *delta)
{
    struct align_row *row = &delta->rows[delta->count++];
    *row = (struct align_row){.name = {TRACE_NONE, TRACE_NONE}};
    return row;
}

static int row_cmp(const void *a, const void *b)
{
    const struct align_row *x = a;
    const struct align_row *y = b;
    int64_t x_ns = x->delta_ns < 0 ? -x->delta_ns : x->delta_ns;
    int64_t y_ns = y->delta_ns < 0 ? -y->delta_ns : y->delta_ns;
    if (x_ns != y_ns) {
        return COMPARE(y_ns, x_ns);
    }
    int64_t x_all = x->total_ns[0] + x->total_ns[1];
    int64_t y_all = y->total_ns[0] + y->total_ns[1];
    if (x_all != y_all) {
        return COMPARE(y_all, x_all);
    }
    if (x->name[0] != y->name[0]) {
        return COMPARE(x->name[0], y->name[0]);
    }
    return COMPARE(x->name[1], y->name[1]);
}

static int delta_room(struct align_delta *delta, size_t rows, size_t names)
{
    if (delta->cap < rows) {
        struct align_row *grown = array_resize(delta->rows, rows, sizeof *grown);
        if (grown == NULL) {
            return -1;
        }
        delta->rows = grown;
        delta->cap = rows;
    }
    if (delta->row_of_count != names || delta->row_of == NULL) {
        uint32_t *grown = array_resize(delta->row_of, names + 1, sizeof *grown);
        if (grown == NULL) {
            return -1;
        }
        delta->row_of = grown;
        delta->row_of_count = names;
    }
    memset(delta->row_of, 0, (names + 1) * sizeof *delta->row_of);
    return 0;
}

/* Names of BASE that share a key keep rows of their own; what NEW has goes to the first. */
static void join(const struct align_names *names, struct align_delta *delta)
{
    delta->count = 0;
    for (size_t i = 0; i < delta->list[0].count; i++) {
        const struct list_row *from = &delta->list[0].rows[i];
        struct align_row *row = row_new(delta);
        delta->row_of[from->name] = (uint32_t)delta->count;
        side_add(row, 0, from);
    }
    for (size_t i = 0; i < delta->list[1].count; i++) {
        const struct list_row *from = &delta->list[1].rows[i];
        uint32_t base = names->base_of[from->name];
        uint32_t at = base != TRACE_NONE ? delta->row_of[base] : 0;
        struct align_row *row = at > 0 ? &delta->rows[at - 1] : row_new(delta);
        if (at == 0 && base != TRACE_NONE) {
            delta->row_of[base] = (uint32_t)delta->count;
        }
        side_add(row, 1, from);
    }
    sort_list(delta->rows, delta->count, sizeof *delta->rows, row_cmp);
}

int align_delta_make(const struct align_names *names, const struct list_query query[2],
                     struct align_delta *out, struct err *err)
{
    out->count = 0;
    if (list_make(&query[0], &out->list[0], err) != 0 ||
        list_make(&query[1], &out->list[1], err) != 0) {
        return -1;
    }
    if (delta_room(out, out->list[0].count + out->list[1].count + 1, names->base->name_count) !=
        0) {
        return err_nomem(err, "the comparison");
    }
    join(names, out);
    return 0;
}

void align_delta_free(struct align_delta *delta)
{
    free(delta->rows);
    free(delta->row_of);
    list_free(&delta->list[0]);
    list_free(&delta->list[1]);
    memset(delta, 0, sizeof *delta);
}
