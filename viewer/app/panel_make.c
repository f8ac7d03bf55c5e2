/* panel_make: what stands in the lists: made from the window and the filter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/gaps.h"
#include "analysis/timeline/lists.h"
#include "viewer/app/app_internal.h"
#include "viewer/app/panel_internal.h"

/* clang-format off */
static const struct panel_column PANEL_GAP_COLUMNS[] = {
    {"Duration", PANEL_TIME, 9}, {"Begin", PANEL_AT, 12}, {"GPU", PANEL_NUMBER, 3}, {"Cause", PANEL_TEXT, 0}};
static const struct panel_column PANEL_TOP_COLUMNS[] = {
    {"Time", PANEL_TIME, 9}, {"%", PANEL_PER_MILLE, 5}, {"Count", PANEL_COUNT, 7},
    {"Avg", PANEL_TIME, 9}, {"Max", PANEL_TIME, 9}, {"Name", PANEL_TEXT, 0}};
/* clang-format on */

enum {
    PANEL_GAP_INTERVALS = 200000 /* with more in the window the shortest gaps are left out */
};

/* The order of the list; ties by time, so that it never jumps. */
struct panel_order {
    int column;
    bool text;
    bool by_size; /* without the sign */
    bool ascending;
};

static int64_t panel_size(int64_t value, const struct panel_order *order)
{
    return order->by_size && value < 0 ? -value : value;
}

static int panel_compare(const struct panel_item *a, const struct panel_item *b,
                         const struct panel_order *order)
{
    int way = 0;
    if (order->text) {
        size_t len = a->text_len < b->text_len ? a->text_len : b->text_len;
        way = memcmp(b->text, a->text, len);
        way = way != 0 ? way : (a->text_len < b->text_len) - (a->text_len > b->text_len);
    } else if (panel_size(a->value[order->column], order) !=
               panel_size(b->value[order->column], order)) {
        way =
            panel_size(a->value[order->column], order) > panel_size(b->value[order->column], order)
                ? -1
                : 1;
    }
    if (order->ascending) {
        way = -way;
    }
    if (way == 0) {
        way = a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
    }
    return way != 0 ? way : (a->name > b->name) - (a->name < b->name);
}

/* Merge sort: qsort has no argument for the order. */
static void panel_merge(struct panel_item *items, size_t count, struct panel_item *spare,
                        const struct panel_order *order)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t middle = at + width < count ? at + width : count;
            size_t end = at + 2 * width < count ? at + 2 * width : count;
            size_t left = at;
            size_t right = middle;
            size_t to = at;
            while (to < end) {
                bool take_left =
                    left < middle &&
                    (right >= end || panel_compare(&items[left], &items[right], order) <= 0);
                spare[to++] = take_left ? items[left++] : items[right++];
            }
        }
        memcpy(items, spare, count * sizeof *items);
    }
}

static void panel_sort(struct panel *list)
{
    struct panel_order order = {.column = list->sort, .ascending = list->ascending};
    if (list->count < 2) {
        return;
    }
    order.text = list->columns[list->sort].type == PANEL_TEXT;
    if (list->columns[list->sort].type == PANEL_TIME_RANKED) {
        order.column++;
    }
    order.by_size = list->columns[list->sort].type == PANEL_TIME_SIGNED;
    struct panel_item *spare = malloc(list->count * sizeof *spare);
    if (spare != NULL) {
        panel_merge(list->items, list->count, spare, &order);
        free(spare);
    }
}

const char *panel_copy(struct panel *list, const struct buf *text, size_t *len)
{
    const char *copy = arena_copy(&list->arena, buf_text(text), text->len);
    *len = copy != NULL ? text->len : 0;
    return copy != NULL ? copy : "";
}

/* The shortest gap worth listing: all of them, unless there are very many. */
static int64_t panel_gap_least_ns(const struct app *app)
{
    uint64_t intervals = 0;
    for (uint32_t device = 0; device < app->trace->device_count; device++) {
        const struct busy_union *work = &app_busy(app)->devices[device];
        intervals += busy_union_upper(work, window_end(&app->window)) -
                     busy_union_lower(work, app->window.begin_ns);
    }
    return intervals > PANEL_GAP_INTERVALS ? app->window.ns_per_col / 50 : 0;
}

static void panel_add_gap(struct app *app, const struct gap *gap, const struct facts *facts)
{
    struct panel *list = &app->list;
    struct cause cause;
    struct buf text = {0};
    if (facts != NULL) {
        cause_of(facts, gap, &cause);
        buf_addf(&text, "GPU %lld %s: ", (long long)app->trace->devices[gap->device].id,
                 cause_name((enum cause_kind)cause.kind));
        cause_text(facts, gap, &cause, &text);
    }
    /* The list's filter may ask for the device, which has a column of its own. */
    struct panel_item *item = panel_wants(app, buf_text(&text), text.len) ? panel_add(list) : NULL;
    if (item == NULL) {
        buf_free(&text);
        return;
    }
    item->begin_ns = gap->begin_ns;
    item->end_ns = gap->end_ns;
    item->device = gap->device;
    item->value[0] = gap->end_ns - gap->begin_ns;
    item->value[1] = gap->begin_ns;
    item->value[2] = app->trace->devices[gap->device].id;
    item->text = panel_copy(list, &text, &item->text_len);
    if (strncmp(item->text, "GPU ", 4) == 0) {
        const char *cause_at = strchr(item->text + 4, ' ');
        item->text_len -= cause_at != NULL ? (size_t)(cause_at + 1 - item->text) : 0;
        item->text = cause_at != NULL ? cause_at + 1 : item->text;
    }
    buf_free(&text);
}

static void panel_make_gaps(struct app *app)
{
    struct panel *list = &app->list;
    struct gaps_query query = {TRACE_NONE, panel_gap_least_ns(app), 0, 0};
    const struct facts *facts = app_facts(app);
    struct gaps gaps = {0};
    struct err err = {0};
    char total[TIMEFMT_BYTES];
    char count[TIMEFMT_BYTES];
    list->columns = PANEL_GAP_COLUMNS;
    list->column_count = sizeof PANEL_GAP_COLUMNS / sizeof PANEL_GAP_COLUMNS[0];
    app_span(app, &query.begin_ns, &query.end_ns);
    if (gaps_find(app->trace, app_busy(app), &query, &gaps, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    list->of = gaps.all_count;
    for (size_t i = 0; i < gaps.count && i < PANEL_ITEMS_MAX; i++) {
        panel_add_gap(app, &gaps.list[i], facts);
    }
    double share = gaps.span_ns > 0 ? 100.0 * (double)gaps.all_ns / (double)gaps.span_ns : 0.0;
    (void)snprintf(list->title, sizeof list->title, "Idle gaps %s: %s, %s, %.1f %% of the time",
                   app_span_words(app), timefmt_count((int64_t)gaps.all_count, count),
                   timefmt_duration(gaps.all_ns, total), share);
    gaps_free(&gaps);
}

static void panel_sums_item(struct app *app, const struct list *sums, const struct list_row *row)
{
    const struct trace_name *name = &app->trace->names[row->name];
    enum trace_table table = list_table_of((enum trace_kind)name->kind);
    if (!panel_wants(app, name->full, name->full_len)) {
        return;
    }
    struct panel_item *item = app->list.count < PANEL_ITEMS_MAX ? panel_add(&app->list) : NULL;
    if (item == NULL) {
        return;
    }
    item->value[0] = row->inside_ns;
    item->value[1] = (int64_t)(10.0 * list_share(sums, row) + 0.5);
    item->value[2] = row->count;
    item->value[3] = list_mean_ns(row);
    item->value[4] = row->max_ns;
    item->text = name->full;
    item->text_len = name->full_len;
    item->name = row->name;
    item->table = (uint32_t)table;
    item->event = row->longest;
    item->begin_ns = app->trace->events[table].begin_ns[item->event];
    item->end_ns = app->trace->events[table].end_ns[item->event];
}

/* Names by time in the span: GPU ops, API calls or NVTX ranges. */
static void panel_make_sums(struct app *app, uint32_t kinds, const char *what)
{
    struct panel *panel = &app->list;
    struct list_query query = LIST_QUERY(app->trace);
    struct list sums = {0};
    struct err err = {0};
    char total[TIMEFMT_BYTES];
    panel->columns = PANEL_TOP_COLUMNS;
    panel->column_count = sizeof PANEL_TOP_COLUMNS / sizeof PANEL_TOP_COLUMNS[0];
    query.kinds = kinds;
    query.terms = app->filter.terms;
    app_span(app, &query.begin_ns, &query.end_ns);
    if (list_make(&query, &sums, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    panel->of = sums.count;
    for (size_t i = 0; i < sums.count; i++) {
        panel_sums_item(app, &sums, &sums.rows[i]);
    }
    (void)snprintf(panel->title, sizeof panel->title, "%s %s: %zu name%s, %s in all", what,
                   app_span_words(app), sums.count, sums.count == 1 ? "" : "s",
                   timefmt_duration(sums.inside_ns, total));
    list_free(&sums);
}

bool panel_wants(const struct app *app, const char *text, size_t len)
{
    return app->list_filter == NULL || filter_match(app->list_filter, text, len);
}

static void panel_make_top(struct app *app)
{
    panel_make_sums(app, TERMS_KINDS_GPU, "GPU ops");
}

static void panel_make_api(struct app *app)
{
    panel_make_sums(app, 1U << TRACE_API_CALL, "API calls");
}

static void panel_make_nvtx(struct app *app)
{
    panel_make_sums(app, 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND, "NVTX ranges");
}

static void (*const PANEL_MAKERS[PANEL_KIND_COUNT])(struct app *app) = {
    [PANEL_GAPS] = panel_make_gaps,
    [PANEL_TOP] = panel_make_top,
    [PANEL_API] = panel_make_api,
    [PANEL_NVTX] = panel_make_nvtx,
    [PANEL_ZONES] = panel_make_zones,
    [PANEL_FINDINGS] = panel_make_findings,
    [PANEL_BOOKMARKS] = panel_make_bookmarks,
    [PANEL_INSTANCES] = panel_make_instances,
    [PANEL_EVENTS] = panel_make_events,
    [PANEL_DELTA] = panel_make_delta,
};

void panel_make(struct app *app)
{
    struct panel *list = &app->list;
    list->count = 0;
    list->of = 0;
    list->title[0] = '\0';
    list->caption[0] = '\0';
    list->bins.count = 0;
    list->notes = app->layout.list_rows / PANEL_NOTE_ROWS;
    list->notes = list->notes > 2 ? 2 : list->notes;
    list->column_count = 0;
    arena_reset(&list->arena);
    if (PANEL_MAKERS[list->kind] == NULL) {
        return;
    }
    struct err err = {0};
    PANEL_MAKERS[list->kind](app);
    if (app->list_filter != NULL && filter_check(app->list_filter, &err) != 0) {
        app_fail(app, "%s", err.text);
    }
    if (list->sort >= list->column_count) {
        list->sort = 0;
    }
    if (list->count > 0) {
        panel_sort(list);
    }
}
