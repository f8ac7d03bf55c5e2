/* panel_make: what stands in the lists: made from the window and the filter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/query/causes.h"
#include "analysis/query/gaps.h"
#include "viewer/app/app_own.h"

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
    bool ascending;
};

static int panel_compare(const struct panel_item *a, const struct panel_item *b,
                         const struct panel_order *order)
{
    int way = 0;
    if (order->text) {
        size_t len = a->text_len < b->text_len ? a->text_len : b->text_len;
        way = memcmp(b->text, a->text, len);
        way = way != 0 ? way : (a->text_len < b->text_len) - (a->text_len > b->text_len);
    } else if (a->value[order->column] != b->value[order->column]) {
        way = a->value[order->column] > b->value[order->column] ? -1 : 1;
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
    size_t width;
    for (width = 1; width < count; width *= 2) {
        size_t at;
        for (at = 0; at < count; at += 2 * width) {
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
    struct panel_item *spare;
    if (list->count < 2) {
        return;
    }
    order.text = list->columns[list->sort].type == PANEL_TEXT;
    spare = malloc(list->count * sizeof *spare);
    if (spare != NULL) {
        panel_merge(list->items, list->count, spare, &order);
        free(spare);
    }
}

static const char *panel_copy(struct panel *list, const struct buf *text, size_t *len)
{
    const char *copy = arena_copy(&list->arena, buf_text(text), text->len);
    *len = copy != NULL ? text->len : 0;
    return copy != NULL ? copy : "";
}

/* The shortest gap worth listing: all of them, unless there are very many. */
static int64_t panel_gap_least_ns(const struct app *app)
{
    uint64_t intervals = 0;
    uint32_t device;
    for (device = 0; device < app->trace->device_count; device++) {
        const struct busy_union *work = &app_busy(app)->devices[device];
        intervals += app_union_upper(work, window_end(&app->window)) -
                     app_union_lower(work, app->window.begin_ns);
    }
    return intervals > PANEL_GAP_INTERVALS ? app->window.ns_per_col / 50 : 0;
}

static void panel_add_gap(struct app *app, const struct gap *gap, const struct facts *facts)
{
    struct panel *list = &app->list;
    struct panel_item *item = panel_add(list);
    struct cause cause;
    struct buf text = {0};
    if (item == NULL) {
        return;
    }
    item->begin_ns = gap->begin_ns;
    item->end_ns = gap->end_ns;
    item->device = gap->device;
    item->value[0] = gap->end_ns - gap->begin_ns;
    item->value[1] = gap->begin_ns;
    item->value[2] = app->trace->devices[gap->device].id;
    if (facts != NULL) {
        cause_of(facts, gap, &cause);
        buf_addf(&text, "%s: ", cause_name((enum cause_kind)cause.kind));
        cause_text(facts, gap, &cause, &text);
        item->text = panel_copy(list, &text, &item->text_len);
        buf_free(&text);
    }
}

static void panel_make_gaps(struct app *app)
{
    struct panel *list = &app->list;
    struct gaps_query query = {TRACE_NONE, panel_gap_least_ns(app), app->window.begin_ns,
                               window_end(&app->window)};
    const struct facts *facts = app_facts(app);
    struct gaps gaps = {0};
    struct err err = {0};
    char total[TIMEFMT_BYTES];
    char count[TIMEFMT_BYTES];
    double share;
    size_t i;
    list->columns = PANEL_GAP_COLUMNS;
    list->column_count = sizeof PANEL_GAP_COLUMNS / sizeof PANEL_GAP_COLUMNS[0];
    if (gaps_find(app->trace, app_busy(app), &query, &gaps, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    list->of = gaps.all_count;
    for (i = 0; i < gaps.count && i < PANEL_ITEMS_MAX; i++) {
        panel_add_gap(app, &gaps.list[i], facts);
    }
    share = gaps.span_ns > 0 ? 100.0 * (double)gaps.all_ns / (double)gaps.span_ns : 0.0;
    (void)snprintf(
        list->title, sizeof list->title, "Idle gaps in view: %s, %s, %.1f %% of the time",
        timefmt_count((int64_t)gaps.all_count, count), timefmt_duration(gaps.all_ns, total), share);
    gaps_free(&gaps);
}

/* Sums by name over a piece of time. */
struct panel_sums {
    int64_t *total_ns; /* by name */
    int64_t *whole_ns;
    int64_t *max_ns;
    uint32_t *count;
    uint32_t *longest; /* the event that took longest */
};

static void panel_sums_free(struct panel_sums *sums)
{
    free(sums->total_ns);
    free(sums->whole_ns);
    free(sums->max_ns);
    free(sums->count);
    free(sums->longest);
}

static int panel_sums_new(struct panel_sums *sums, uint32_t names)
{
    size_t room = (size_t)names + 1;
    sums->total_ns = calloc(room, sizeof *sums->total_ns);
    sums->whole_ns = calloc(room, sizeof *sums->whole_ns);
    sums->max_ns = calloc(room, sizeof *sums->max_ns);
    sums->count = calloc(room, sizeof *sums->count);
    sums->longest = calloc(room, sizeof *sums->longest);
    if (sums->total_ns == NULL || sums->whole_ns == NULL || sums->max_ns == NULL ||
        sums->count == NULL || sums->longest == NULL) {
        panel_sums_free(sums);
        return -1;
    }
    return 0;
}

/* Adds the events of a lane that touch the window, cut at its edges. */
static void panel_sum_lane(const struct app *app, const struct trace_lane *from,
                           struct panel_sums *sums)
{
    struct lane lane = lane_of_trace(app->trace, from);
    int64_t begin_ns = app->window.begin_ns;
    int64_t end_ns = window_end(&app->window);
    uint32_t i = lane_lower(&lane, 0, begin_ns);
    for (; i < lane.count && lane.begin_ns[i] < end_ns; i++) {
        uint32_t name = lane.name[i];
        int64_t whole_ns = lane.end_ns[i] - lane.begin_ns[i];
        int64_t first_ns = lane.begin_ns[i] > begin_ns ? lane.begin_ns[i] : begin_ns;
        int64_t last_ns = lane.end_ns[i] < end_ns ? lane.end_ns[i] : end_ns;
        if (!lane_keeps(&lane, app->filter.terms, i)) {
            continue;
        }
        sums->total_ns[name] += last_ns > first_ns ? last_ns - first_ns : 0;
        sums->whole_ns[name] += whole_ns;
        sums->count[name]++;
        if (whole_ns >= sums->max_ns[name]) {
            sums->max_ns[name] = whole_ns;
            sums->longest[name] = lane.first + i;
        }
    }
}

static void panel_sums_items(struct app *app, const struct panel_sums *sums, enum trace_table table)
{
    struct panel *list = &app->list;
    int64_t all_ns = 0;
    uint32_t name;
    for (name = 0; name < app->trace->name_count; name++) {
        all_ns += sums->total_ns[name];
    }
    for (name = 0; name < app->trace->name_count; name++) {
        const struct trace_name *text = &app->trace->names[name];
        struct panel_item *item;
        if (sums->count[name] == 0) {
            continue;
        }
        list->of++;
        item = list->count < PANEL_ITEMS_MAX ? panel_add(list) : NULL;
        if (item == NULL) {
            continue;
        }
        item->value[0] = sums->total_ns[name];
        item->value[1] =
            all_ns > 0 ? (int64_t)(1000.0 * (double)sums->total_ns[name] / (double)all_ns + 0.5)
                       : 0;
        item->value[2] = sums->count[name];
        item->value[3] = sums->whole_ns[name] / sums->count[name];
        item->value[4] = sums->max_ns[name];
        item->text = text->full;
        item->text_len = text->full_len;
        item->name = name;
        item->table = (uint32_t)table;
        item->event = sums->longest[name];
        item->begin_ns = app->trace->events[table].begin_ns[item->event];
        item->end_ns = app->trace->events[table].end_ns[item->event];
    }
}

static void panel_make_sums(struct app *app, enum trace_table table, const char *what)
{
    struct panel *list = &app->list;
    struct panel_sums sums = {0};
    int64_t all_ns = 0;
    char total[TIMEFMT_BYTES];
    uint32_t lane;
    size_t i;
    list->columns = PANEL_TOP_COLUMNS;
    list->column_count = sizeof PANEL_TOP_COLUMNS / sizeof PANEL_TOP_COLUMNS[0];
    if (panel_sums_new(&sums, app->trace->name_count) != 0) {
        app_fail(app, "not enough memory for the list");
        return;
    }
    for (lane = 0; lane < app->trace->lane_count; lane++) {
        if (app->trace->lanes[lane].table == (uint8_t)table) {
            panel_sum_lane(app, &app->trace->lanes[lane], &sums);
        }
    }
    panel_sums_items(app, &sums, table);
    panel_sums_free(&sums);
    for (i = 0; i < list->count; i++) {
        all_ns += list->items[i].value[0];
    }
    (void)snprintf(list->title, sizeof list->title, "%s in view: %zu names, %s in all", what,
                   list->of, timefmt_duration(all_ns, total));
}

void panel_make(struct app *app)
{
    struct panel *list = &app->list;
    list->count = 0;
    list->of = 0;
    list->title[0] = '\0';
    arena_reset(&list->arena);
    switch (list->kind) {
    case PANEL_GAPS:
        panel_make_gaps(app);
        break;
    case PANEL_TOP:
        panel_make_sums(app, TRACE_GPU, "GPU ops");
        break;
    default:
        return;
    }
    if (list->sort >= list->column_count) {
        list->sort = 0;
    }
    panel_sort(list);
}
