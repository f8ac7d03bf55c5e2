/*
 * diff_side: events are summed by name number in one pass a table, then names with the same key
 * (two versions of an API call, one range in two processes) are merged by sorting.
 */
#include "analysis/diff/diff_side.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"
#include "analysis/base/utf8.h"
#include "analysis/detect/causes.h"
#include "analysis/filter/range_name.h"

struct window {
    int64_t begin_ns;
    int64_t end_ns;
};

/* What diff_sum_make needs on the way. */
struct builder {
    const struct facts *facts;
    const struct trace *trace;
    struct arena *arena;
    struct diff_sum *out;
    struct window window;
    bool exact;
    size_t cap;
    struct err *err;
};

static void entry_add(struct diff_entry *entry, uint8_t table, uint32_t event, struct window time)
{
    int64_t ns = time.end_ns - time.begin_ns;
    double apart = (double)ns - entry->mean_ns;
    entry->count++;
    entry->total_ns += ns;
    entry->mean_ns += apart / (double)entry->count;
    entry->m2 += apart * ((double)ns - entry->mean_ns);
    if (entry->event == TRACE_NONE || ns > entry->longest_ns) {
        entry->event = event;
        entry->longest_ns = ns;
        entry->table = table;
    }
    if (entry->first == TRACE_NONE || time.begin_ns < entry->first_ns) {
        entry->first = event;
        entry->first_ns = time.begin_ns;
    }
}

/* Joins two running means (Chan, Golub and LeVeque, 1979). */
static void entry_merge(struct diff_entry *into, const struct diff_entry *one)
{
    double a = (double)into->count;
    double b = (double)one->count;
    double apart = one->mean_ns - into->mean_ns;
    if (one->count == 0) {
        return;
    }
    into->m2 += one->m2 + apart * apart * a * b / (a + b);
    into->mean_ns += apart * b / (a + b);
    into->count += one->count;
    into->total_ns += one->total_ns;
    if (one->longest_ns > into->longest_ns) {
        into->longest_ns = one->longest_ns;
        into->event = one->event;
        into->table = one->table;
    }
    if (one->first_ns < into->first_ns) {
        into->first_ns = one->first_ns;
        into->first = one->first;
    }
}

static struct diff_entry entry_empty(enum diff_section section)
{
    return (struct diff_entry){.section = (uint8_t)section,
                               .key = "",
                               .brief = "",
                               .event = TRACE_NONE,
                               .first = TRACE_NONE};
}

/* A place for one more entry; NULL without memory. */
static struct diff_entry *builder_push(struct builder *builder, enum diff_section section)
{
    struct diff_sum *out = builder->out;
    struct diff_entry *list =
        array_grow(out->list, &builder->cap, (size_t)out->count + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    out->list = list;
    out->list[out->count] = entry_empty(section);
    return &out->list[out->count++];
}

static char *safe_copy(struct arena *arena, const char *domain, const char *text, size_t len)
{
    struct buf safe = {0};
    if (domain != NULL && domain[0] != '\0') {
        utf8_sanitize(&safe, domain, strlen(domain), false);
        buf_addc(&safe, ':');
    }
    utf8_sanitize(&safe, text, len, false);
    char *copy = buf_failed(&safe) ? NULL : arena_copy(arena, buf_text(&safe), safe.len);
    buf_free(&safe);
    return copy;
}

/* Cuts each ", seq = N" and ", op_id = N" out of the text. */
static void drop_numbers(char *text)
{
    static const char *const labels[] = {", seq = ", ", op_id = "};
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        char *at = strstr(text, labels[i]);
        size_t digits = at == NULL ? 0 : strspn(at + strlen(labels[i]), "0123456789");
        if (digits > 0) {
            const char *rest = at + strlen(labels[i]) + digits;
            memmove(at, rest, strlen(rest) + 1);
        }
    }
}

static enum diff_section name_section(const struct trace_name *name)
{
    switch (name->kind) {
    case TRACE_KERNEL:
    case TRACE_GRAPH:
        return DIFF_KERNEL;
    case TRACE_MEMCPY:
    case TRACE_MEMSET:
    case TRACE_MIGRATION:
        return DIFF_COPY;
    case TRACE_API_CALL:
        return DIFF_API;
    case TRACE_NVTX_PUSHPOP:
    case TRACE_NVTX_STARTEND:
        return DIFF_NVTX;
    default:
        return DIFF_SECTION_COUNT;
    }
}

static const char *name_key(struct arena *arena, const struct trace_name *name, bool exact)
{
    bool range = name->kind == TRACE_NVTX_PUSHPOP || name->kind == TRACE_NVTX_STARTEND;
    if (range || name->kind == TRACE_KERNEL) {
        char *key = safe_copy(arena, name->domain, name->full, name->full_len);
        if (range && !exact && key != NULL) {
            drop_numbers(key);
        }
        return key;
    }
    if (name->kind == TRACE_MEMCPY || name->kind == TRACE_MIGRATION) {
        const char *copy = safe_copy(arena, NULL, name->brief, name->brief_len);
        return copy == NULL ? NULL
                            : safe_copy(arena, name->kind == TRACE_MEMCPY ? "memcpy" : "migration",
                                        copy, strlen(copy));
    }
    return safe_copy(arena, NULL, name->brief, name->brief_len);
}

/* One entry for each name of the table that any event in the window bears. */
static int table_sum(struct builder *builder, enum trace_table table, struct diff_entry *by_name)
{
    const struct trace *trace = builder->trace;
    const struct trace_events *events = &trace->events[table];
    for (uint32_t i = 0; i < trace->name_count; i++) {
        by_name[i] = entry_empty(name_section(&trace->names[i]));
    }
    for (uint32_t i = 0; i < events->count; i++) {
        struct window time = {events->begin_ns[i], events->end_ns[i]};
        struct diff_entry *entry = &by_name[events->name[i]];
        if (entry->section != DIFF_SECTION_COUNT && time.begin_ns >= builder->window.begin_ns &&
            time.begin_ns < builder->window.end_ns) {
            entry_add(entry, (uint8_t)table, i, time);
        }
    }
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (by_name[i].count == 0) {
            continue;
        }
        struct diff_entry *entry = builder_push(builder, by_name[i].section);
        if (entry == NULL) {
            return -1;
        }
        *entry = by_name[i];
        entry->key = name_key(builder->arena, &trace->names[i], builder->exact);
        entry->brief = trace->names[i].brief;
        if (entry->key == NULL) {
            return -1;
        }
    }
    return 0;
}

static int names_sum(struct builder *builder)
{
    static const enum trace_table tables[] = {TRACE_GPU, TRACE_API, TRACE_NVTX};
    struct diff_entry *by_name = calloc((size_t)builder->trace->name_count + 1, sizeof(*by_name));
    int rc = by_name == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
        rc = table_sum(builder, tables[i], by_name);
    }
    free(by_name);
    return rc;
}

/* ---- totals and idle ---- */

static int total_push(struct builder *builder, const char *key, bool is_count, int64_t value)
{
    struct diff_entry *entry = builder_push(builder, DIFF_TOTAL);
    if (entry == NULL) {
        return -1;
    }
    entry->key = key;
    entry->is_count = is_count;
    entry->count = is_count ? value : 1;
    entry->total_ns = is_count ? 0 : value;
    entry->mean_ns = (double)entry->total_ns;
    return 0;
}

/* First begin and last end of the ops in the window, over all devices. */
static struct window ops_span(const struct builder *builder)
{
    struct window span = {0, 0};
    bool any = false;
    for (uint32_t d = 0; d < builder->trace->device_count; d++) {
        const struct trace_device *device = &builder->trace->devices[d];
        if (device->busy_count == 0) {
            continue;
        }
        int64_t begin_ns = device->busy_begin_ns[0];
        int64_t end_ns = device->busy_end_ns[device->busy_count - 1];
        span.begin_ns = !any || begin_ns < span.begin_ns ? begin_ns : span.begin_ns;
        span.end_ns = !any || end_ns > span.end_ns ? end_ns : span.end_ns;
        any = true;
    }
    if (span.begin_ns < builder->window.begin_ns) {
        span.begin_ns = builder->window.begin_ns;
    }
    if (span.end_ns > builder->window.end_ns) {
        span.end_ns = builder->window.end_ns;
    }
    if (span.end_ns < span.begin_ns) {
        span.end_ns = span.begin_ns;
    }
    return span;
}

static int64_t busy_all(const struct builder *builder)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < builder->trace->device_count; d++) {
        ns += facts_busy_ns(builder->facts, d, builder->window.begin_ns, builder->window.end_ns);
    }
    return ns;
}

static int64_t copied_bytes(const struct builder *builder)
{
    const struct trace_events *gpu = &builder->trace->events[TRACE_GPU];
    int64_t bytes = 0;
    for (size_t i = 0; i < builder->facts->copy_count; i++) {
        const struct facts_copy *copy = &builder->facts->copies[i];
        int64_t begin_ns = gpu->begin_ns[copy->gpu];
        bool in = begin_ns >= builder->window.begin_ns && begin_ns < builder->window.end_ns;
        if (in && copy->bytes > 0 &&
            builder->trace->names[gpu->name[copy->gpu]].kind != TRACE_MEMSET) {
            bytes = i64_add(bytes, copy->bytes);
        }
    }
    return bytes;
}

/* Ops of the window: kernels and graphs, or copies. */
static int64_t count_ops(const struct builder *builder, bool copies)
{
    const struct trace_events *gpu = &builder->trace->events[TRACE_GPU];
    int64_t count = 0;
    for (uint32_t i = 0; i < gpu->count; i++) {
        uint8_t kind = builder->trace->names[gpu->name[i]].kind;
        bool is_copy = kind == TRACE_MEMCPY || kind == TRACE_MIGRATION;
        bool is_work = kind == TRACE_KERNEL || kind == TRACE_GRAPH;
        if (gpu->begin_ns[i] >= builder->window.begin_ns &&
            gpu->begin_ns[i] < builder->window.end_ns) {
            count += copies ? is_copy : is_work;
        }
    }
    return count;
}

static int totals_sum(struct builder *builder, const struct gaps *gaps)
{
    struct window span = ops_span(builder);
    if (total_push(builder, "span", false, span.end_ns - span.begin_ns) != 0 ||
        total_push(builder, "GPU busy", false, busy_all(builder)) != 0 ||
        total_push(builder, "GPU idle", false, gaps->all_ns) != 0 ||
        total_push(builder, "launches", true, count_ops(builder, false)) != 0 ||
        total_push(builder, "copies", true, count_ops(builder, true)) != 0) {
        return -1;
    }
    return total_push(builder, "copied bytes", true, copied_bytes(builder));
}

static int causes_entries(struct builder *builder, const struct gaps *gaps,
                          const struct cause *causes)
{
    struct diff_entry kinds[CAUSE_KIND_COUNT];
    for (int i = 0; i < CAUSE_KIND_COUNT; i++) {
        kinds[i] = entry_empty(DIFF_CAUSE);
    }
    for (size_t i = 0; i < gaps->count; i++) {
        const struct gap *gap = &gaps->list[i];
        entry_add(&kinds[causes[i].kind], TRACE_GPU, gap->after,
                  (struct window){gap->begin_ns, gap->end_ns});
    }
    for (int i = 0; i < CAUSE_KIND_COUNT; i++) {
        if (kinds[i].count == 0) {
            continue;
        }
        struct diff_entry *entry = builder_push(builder, DIFF_CAUSE);
        if (entry == NULL) {
            return -1;
        }
        *entry = kinds[i];
        entry->key = cause_name((enum cause_kind)i);
    }
    return 0;
}

static int idle_sum(struct builder *builder)
{
    struct gaps gaps = {0};
    struct busy *busy = busy_new(builder->trace, NULL, builder->err);
    const struct gaps_query query = {.device = TRACE_NONE,
                                     .begin_ns = builder->window.begin_ns,
                                     .end_ns = builder->window.end_ns};
    struct cause *causes = NULL;
    int rc = -1;
    if (busy != NULL && gaps_find(builder->trace, busy, &query, &gaps, builder->err) == 0) {
        causes = causes_find(builder->facts, &gaps, builder->err);
    }
    if (causes != NULL && totals_sum(builder, &gaps) == 0) {
        rc = causes_entries(builder, &gaps, causes);
    }
    free(causes);
    gaps_free(&gaps);
    busy_free(busy);
    return rc;
}

/* ---- steps ---- */

/* Counts the instances of `per` and narrows the window to them. */
static int steps_find(struct builder *builder, const char *per, int which)
{
    const struct trace_events *nvtx = &builder->trace->events[TRACE_NVTX];
    struct window span = {0, 0};
    int64_t steps = 0;
    struct range_name form;
    bool *wanted = calloc((size_t)builder->trace->name_count + 1, sizeof *wanted);
    if (wanted == NULL) {
        return err_nomem(builder->err, "the steps");
    }
    (void)range_name_mark(builder->trace, per, RANGE_NAME_ANY_DOMAIN, wanted, &form);
    for (uint32_t i = 0; i < nvtx->count; i++) {
        if (!wanted[nvtx->name[i]] || nvtx->begin_ns[i] < builder->window.begin_ns ||
            nvtx->end_ns[i] > builder->window.end_ns) {
            continue;
        }
        if (steps == 0 || nvtx->begin_ns[i] < span.begin_ns) {
            span.begin_ns = nvtx->begin_ns[i];
        }
        if (steps == 0 || nvtx->end_ns[i] > span.end_ns) {
            span.end_ns = nvtx->end_ns[i];
        }
        steps++;
    }
    free(wanted);
    if (steps == 0) {
        return err_set(builder->err,
                       "%s has no NVTX range '%.200s'; 'cutline stats -r nvtx_sum' "
                       "lists the ranges",
                       which == 0 ? "BASE" : "NEW", per);
    }
    builder->window = span;
    builder->out->steps = steps;
    return 0;
}

/* ---- public ---- */

static int entry_cmp(const void *a, const void *b)
{
    const struct diff_entry *x = a;
    const struct diff_entry *y = b;
    if (x->section != y->section) {
        return (int)x->section - (int)y->section;
    }
    return strcmp(x->key, y->key);
}

static void merge_equal(struct diff_sum *sum)
{
    if (sum->count == 0) {
        return;
    }
    sort_list(sum->list, sum->count, sizeof(*sum->list), entry_cmp);
    size_t n = 0;
    for (size_t i = 1; i < sum->count; i++) {
        if (entry_cmp(&sum->list[n], &sum->list[i]) == 0) {
            entry_merge(&sum->list[n], &sum->list[i]);
        } else {
            sum->list[++n] = sum->list[i];
        }
    }
    sum->count = n + 1;
}

int diff_sum_make(const struct facts *facts, const struct diff_options *options, int which,
                  struct arena *arena, struct diff_sum *out, struct err *err)
{
    struct err why = {0};
    struct builder builder = {.facts = facts,
                              .trace = facts->trace,
                              .arena = arena,
                              .out = out,
                              .window = {options->begin_ns[which], options->end_ns[which]},
                              .exact = options->exact,
                              .err = &why};
    *out = (struct diff_sum){.steps = 1};
    int rc = options->per != NULL ? steps_find(&builder, options->per, which) : 0;
    if (rc == 0 && (names_sum(&builder) != 0 || idle_sum(&builder) != 0)) {
        rc = -1;
    }
    if (rc != 0) {
        diff_sum_free(out);
        return why.text[0] != '\0' ? err_set(err, "%s", why.text)
                                   : err_nomem(err, "the sums of a capture");
    }
    merge_equal(out);
    return 0;
}

void diff_sum_free(struct diff_sum *sum)
{
    free(sum->list);
    *sum = (struct diff_sum){0};
}

struct shape_ref {
    uint32_t row;
    struct diff_entry *entry;
};

static int shape_cmp(const void *a, const void *b)
{
    const struct shape_ref *x = a;
    const struct shape_ref *y = b;
    return COMPARE(x->row, y->row);
}

static size_t shapes_wanted(const struct facts *facts, struct diff_sum *sum, struct shape_ref *refs)
{
    const struct trace_events *gpu = &facts->trace->events[TRACE_GPU];
    size_t count = 0;
    for (size_t i = 0; i < sum->count; i++) {
        struct diff_entry *entry = &sum->list[i];
        if (entry->section == DIFF_KERNEL && entry->shape[0] == -1 &&
            facts->trace->names[gpu->name[entry->first]].kind == TRACE_KERNEL) {
            refs[count++] = (struct shape_ref){gpu->row[entry->first], entry};
        }
    }
    return count;
}

/* The rows of refs, which are in row order, in one pass. */
static void shapes_scan(struct store *store, struct shape_ref *refs, size_t count)
{
    static const char *const columns[] = {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"};
    const struct store_scan scan = {.table = "CUPTI_ACTIVITY_KIND_KERNEL",
                                    .columns = columns,
                                    .column_count = DIFF_SHAPE_DIMS,
                                    .first_row = refs[0].row,
                                    .end_row = (int64_t)refs[count - 1].row + 1};
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    size_t at = 0;
    while (cursor != NULL && at < count && store_next(cursor, NULL) == 1) {
        int64_t row = store_rowid(cursor);
        while (at < count && refs[at].row < row) {
            at++;
        }
        for (; at < count && refs[at].row == row; at++) {
            for (int d = 0; d < DIFF_SHAPE_DIMS; d++) {
                refs[at].entry->shape[d] = store_int(cursor, d, 0);
            }
        }
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
}

void diff_sum_shapes(const struct facts *facts, struct diff_sum *sum)
{
    struct shape_ref *refs = malloc((sum->count + 1) * sizeof(*refs));
    struct store *store =
        refs != NULL && facts->trace->path != NULL ? trace_store(facts->trace, NULL) : NULL;
    size_t count = store != NULL ? shapes_wanted(facts, sum, refs) : 0;
    if (count > 0) {
        sort_list(refs, count, sizeof(*refs), shape_cmp);
        shapes_scan(store, refs, count);
    }
    store_close(store);
    free(refs);
}
