/* panel_more: lists of zones, findings, bookmarks and the instances of a name. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/detect/density.h"
#include "analysis/detect/findings.h"
#include "analysis/facts/nvtx_path.h"
#include "analysis/timeline/lists.h"
#include "viewer/app/panel_internal.h"

/* clang-format off */
static const struct panel_column PANEL_ZONE_COLUMNS[] = {
    {"Idle", PANEL_TIME, 9}, {"Length", PANEL_TIME, 9}, {"Launches", PANEL_COUNT, 8},
    {"Op avg", PANEL_TIME, 9}, {"Queue", PANEL_TIME, 9}, {"Where", PANEL_TEXT, 0}};
static const struct panel_column PANEL_FINDING_COLUMNS[] = {
    {"To win", PANEL_TIME_RANKED, 9}, {"Finding", PANEL_TEXT, 0}};
static const struct panel_column PANEL_BOOKMARK_COLUMNS[] = {
    {"Begin", PANEL_AT, 13}, {"Width", PANEL_TIME, 9}, {"What", PANEL_TEXT, 0}};
static const struct panel_column PANEL_INSTANCE_COLUMNS[] = {
    {"Duration", PANEL_TIME, 9}, {"Begin", PANEL_AT, 13}, {"Where", PANEL_TEXT, 0}};
static const struct panel_column PANEL_DELTA_COLUMNS[] = {
    {"NEW-BASE", PANEL_TIME_SIGNED, 9}, {"BASE", PANEL_TIME, 9}, {"NEW", PANEL_TIME, 9},
    {"BASE n", PANEL_COUNT, 7}, {"NEW n", PANEL_COUNT, 7}, {"Name", PANEL_TEXT, 0}};
/* clang-format on */

#define PANEL_USE(list, table) \
    do { \
        (list)->columns = table; \
        (list)->column_count = sizeof(table) / sizeof((table)[0]); \
    } while (0)

static void panel_zone(struct app *app, const struct facts *facts, const struct density_zone *zone)
{
    const struct trace_thread *thread = &app->trace->threads[zone->thread];
    struct buf text = {0};
    buf_addf(&text, "GPU %lld, thread %lld", (long long)app->trace->devices[zone->device].id,
             (long long)thread->tid);
    if (zone->nvtx != TRACE_NONE) {
        buf_adds(&text, " in ");
        nvtx_path_text(facts, zone->thread,
                       app->trace->events[TRACE_API].begin_ns[zone->first_launch], &text);
    }
    struct panel_item *item =
        panel_wants(app, buf_text(&text), text.len) ? panel_add(&app->list) : NULL;
    if (item != NULL) {
        item->value[0] = zone->idle_ns;
        item->value[1] = zone->end_ns - zone->begin_ns;
        item->value[2] = zone->launches;
        item->value[3] = zone->op_ns;
        item->value[4] = zone->queue_ns;
        item->text = panel_copy(&app->list, &text, &item->text_len);
        item->begin_ns = zone->begin_ns;
        item->end_ns = zone->end_ns;
        item->device = zone->device;
    }
    buf_free(&text);
}

void panel_make_zones(struct app *app)
{
    struct panel *list = &app->list;
    struct density_options options = density_defaults();
    const struct facts *facts = app_facts(app);
    struct density density = {0};
    struct err err = {0};
    int64_t idle_ns = 0;
    char idle[TIMEFMT_BYTES];
    PANEL_USE(list, PANEL_ZONE_COLUMNS);
    app_span(app, &options.begin_ns, &options.end_ns);
    if (facts == NULL || density_find(facts, &options, &density, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < density.zone_count; i++) {
        idle_ns += density.zones[i].idle_ns;
        panel_zone(app, facts, &density.zones[i]);
    }
    list->of = density.zone_count;
    (void)snprintf(list->title, sizeof list->title,
                   "Launch-bound zones %s: %zu, the GPU is idle %s in them", app_span_words(app),
                   density.zone_count, timefmt_duration(idle_ns, idle));
    density_free(&density);
}

static bool all_ops_inside(const struct trace *trace, int64_t begin_ns, int64_t end_ns)
{
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        if (device->busy_count > 0 && (device->busy_begin_ns[0] < begin_ns ||
                                       device->busy_end_ns[device->busy_count - 1] > end_ns)) {
            return false;
        }
    }
    return true;
}

void panel_make_findings(struct app *app)
{
    struct panel *list = &app->list;
    struct findings_options options = {false, INT64_MIN, INT64_MAX, TRACE_NONE};
    const struct facts *facts = app_facts(app);
    struct findings found = {0};
    struct err err = {0};
    PANEL_USE(list, PANEL_FINDING_COLUMNS);
    app_span(app, &options.begin_ns, &options.end_ns);
    if (app->mark_count != 2 && all_ops_inside(app->trace, options.begin_ns, options.end_ns)) {
        /* the steady state, if any */
        options.begin_ns = INT64_MIN;
        options.end_ns = INT64_MAX;
    }
    struct shared *shared = facts == NULL ? NULL : shared_with(facts, &err);
    int rc = shared == NULL ? -1 : findings_make(shared, &options, &found, &err);
    shared_free(shared);
    if (rc != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < found.count; i++) {
        const struct finding *finding = &found.list[i];
        struct buf text = {0};
        struct buf note = {0};
        buf_addf(&text, "%s: %s", finding->title, finding->evidence);
        buf_addf(&note, "%s", finding->advice);
        struct panel_item *item =
            panel_wants(app, buf_text(&text), text.len) ? panel_add(list) : NULL;
        if (item != NULL) {
            /* what another finding counts already is not counted again: it comes last */
            item->value[0] = finding->within != NULL ? PANEL_AGAIN : finding->recoverable_ns;
            item->value[1] = (int64_t)(found.count - i); /* the order of the page */
            item->text = panel_copy(list, &text, &item->text_len);
            item->note = panel_copy(list, &note, &item->note_len);
            item->begin_ns = finding->begin_ns;
            item->end_ns = finding->end_ns;
            item->device = finding->device;
        }
        buf_free(&text);
        buf_free(&note);
    }
    list->notes = list->notes < 1 ? 1 : list->notes * 2;
    list->of = found.count;
    if (found.steady.is_there) {
        char begin[TIMEFMT_BYTES];
        char end[TIMEFMT_BYTES];
        (void)snprintf(
            list->title, sizeof list->title,
            "Findings of the steady state, %s to %s (%.60s), by the time that could be won",
            timefmt_at(found.steady.begin_ns, 1000000, begin),
            timefmt_at(found.steady.end_ns, 1000000, end), found.series);
    } else {
        (void)snprintf(list->title, sizeof list->title,
                       "Findings %s, by the time that could be won", app_span_words(app));
    }
    findings_free(&found);
}

void panel_make_bookmarks(struct app *app)
{
    struct panel *list = &app->list;
    PANEL_USE(list, PANEL_BOOKMARK_COLUMNS);
    for (int i = 0; i < app->bookmark_count; i++) {
        const struct app_bookmark *mark = &app->bookmarks[i];
        struct panel_item *item =
            panel_wants(app, mark->text, strlen(mark->text)) ? panel_add(list) : NULL;
        if (item != NULL) {
            item->value[0] = mark->begin_ns;
            item->value[1] = mark->end_ns - mark->begin_ns;
            item->text = mark->text;
            item->text_len = strlen(mark->text);
            item->begin_ns = mark->begin_ns;
            item->end_ns = mark->end_ns;
        }
    }
    (void)snprintf(list->title, sizeof list->title, "Bookmarks: %d", app->bookmark_count);
}

/* The label of the row that an event lies in. */
static void panel_place(const struct app *app, enum trace_table table, uint32_t index,
                        struct buf *out)
{
    const struct trace_lane *lane = &app->trace->lanes[trace_lane_of(app->trace, table, index)];
    if (lane->device != TRACE_NONE) {
        buf_addf(out, "GPU %lld stream %lld", (long long)app->trace->devices[lane->device].id,
                 (long long)lane->stream_id);
    } else if (lane->thread != TRACE_NONE) {
        buf_addf(out, "thread %lld", (long long)app->trace->threads[lane->thread].tid);
    }
}

static void panel_instance(struct app *app, enum trace_table table, uint32_t index)
{
    struct buf text = {0};
    panel_place(app, table, index, &text);
    struct panel_item *item =
        panel_wants(app, buf_text(&text), text.len) ? panel_add(&app->list) : NULL;
    if (item != NULL) {
        item->text = panel_copy(&app->list, &text, &item->text_len);
        item->begin_ns = app->trace->events[table].begin_ns[index];
        item->end_ns = app->trace->events[table].end_ns[index];
        item->value[0] = item->end_ns - item->begin_ns;
        item->value[1] = item->begin_ns;
        item->table = (uint32_t)table;
        item->event = index;
    }
    buf_free(&text);
}

void panel_make_instances(struct app *app)
{
    struct panel *list = &app->list;
    struct list_query query = LIST_QUERY(app->trace);
    struct instances found = {0};
    struct err err = {0};
    char text[4][TIMEFMT_BYTES];
    PANEL_USE(list, PANEL_INSTANCE_COLUMNS);
    if (app->instances_name >= app->trace->name_count) {
        return;
    }
    const struct trace_name *name = &app->trace->names[app->instances_name];
    query.terms = NULL;
    app_span(app, &query.begin_ns, &query.end_ns);
    if (instances_make(&query, app->instances_name, &found, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < found.count && i < PANEL_ITEMS_MAX; i++) {
        panel_instance(app, found.table, found.index[i]);
    }
    list->of = found.count;
    list->bins = found.bins;
    (void)snprintf(list->title, sizeof list->title, "%zu of %.*s %s", found.count,
                   (int)(name->brief_len < 80 ? name->brief_len : 80), name->brief,
                   app_span_words(app));
    (void)snprintf(list->caption, sizeof list->caption, "p50 %s  p90 %s  p99 %s  max %s",
                   timefmt_duration(found.p50_ns, text[0]), timefmt_duration(found.p90_ns, text[1]),
                   timefmt_duration(found.p99_ns, text[2]),
                   timefmt_duration(found.max_ns, text[3]));
    instances_free(&found);
}

static void panel_delta(struct app *app, const struct align_row *row)
{
    int mine = app->pair.is_new ? 1 : 0;
    const struct app *owner = row->name[mine] != TRACE_NONE ? app : app->pair.other;
    uint32_t index = row->name[mine] != TRACE_NONE ? row->name[mine] : row->name[1 - mine];
    const struct trace_name *name = &owner->trace->names[index];
    if (!panel_wants(app, name->full, name->full_len)) {
        return;
    }
    struct panel_item *item = panel_add(&app->list);
    if (item == NULL) {
        return;
    }
    item->value[0] = row->delta_ns;
    item->value[1] = row->total_ns[0];
    item->value[2] = row->total_ns[1];
    item->value[3] = row->count[0];
    item->value[4] = row->count[1];
    item->text = name->full;
    item->text_len = name->full_len;
    item->name = owner == app ? index : TRACE_NONE;
}

void panel_make_delta(struct app *app)
{
    struct panel *list = &app->list;
    const struct app *sides[2];
    struct list_query query[2];
    struct align_delta delta = {0};
    struct err err = {0};
    int64_t begin_ns;
    int64_t end_ns;
    int64_t sum_ns = 0;
    char text[TIMEFMT_BYTES];
    PANEL_USE(list, PANEL_DELTA_COLUMNS);
    if (app->pair.other == NULL) {
        return;
    }
    sides[0] = app->pair.is_new ? app->pair.other : app;
    sides[1] = app->pair.is_new ? app : app->pair.other;
    app_span(app, &begin_ns, &end_ns);
    for (int side = 0; side < 2; side++) {
        int64_t shift_ns = sides[side] == app ? 0 : app->pair.shift_ns;
        query[side] = LIST_QUERY(sides[side]->trace);
        query[side].begin_ns = begin_ns + shift_ns;
        query[side].end_ns = end_ns + shift_ns;
        query[side].terms = sides[side]->filter.terms;
        query[side].kinds = TERMS_KINDS_GPU | 1U << TRACE_API_CALL | TERMS_KINDS_NVTX;
    }
    if (align_delta_make(app->pair.names, query, &delta, &err) != 0) {
        app_fail(app, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < delta.count; i++) {
        uint32_t mine = delta.rows[i].name[1] != TRACE_NONE ? 1 : 0;
        uint8_t kind = sides[mine]->trace->names[delta.rows[i].name[mine]].kind;
        /* Ranges with a number in the name are in one capture only: they would hide the rest. */
        if ((1U << kind & TERMS_KINDS_NVTX) != 0 &&
            (delta.rows[i].name[0] == TRACE_NONE || delta.rows[i].name[1] == TRACE_NONE)) {
            continue;
        }
        if ((1U << kind & TERMS_KINDS_GPU) != 0) {
            sum_ns += delta.rows[i].delta_ns;
        }
        panel_delta(app, &delta.rows[i]);
    }
    list->of = delta.count;
    (void)snprintf(list->title, sizeof list->title,
                   "Differences %s: NEW runs %s%s of GPU ops; largest first", app_span_words(app),
                   timefmt_duration(sum_ns < 0 ? -sum_ns : sum_ns, text),
                   sum_ns < 0 ? " less" : " more");
    align_delta_free(&delta);
}
