/* panel_events: the list of the events of one row, in the order of time. */
#include <stdio.h>

#include "analysis/base/timefmt.h"
#include "viewer/app/panel_internal.h"

/* clang-format off */
static const struct panel_column COLUMNS[] = {
    {"Begin", PANEL_AT, 13}, {"Duration", PANEL_TIME, 9}, {"Before it", PANEL_TIME, 9},
    {"Name", PANEL_TEXT, 0}};
/* clang-format on */

static void add_event(struct app *app, const struct lane *lane, uint32_t i)
{
    const struct trace_name *name = &app->trace->names[lane->name[i]];
    if (!lane_keeps(lane, app->filter.terms, i) || !panel_wants(app, name->full, name->full_len)) {
        return;
    }
    app->list.of++;
    struct panel_item *item = app->list.count < PANEL_ITEMS_MAX ? panel_add(&app->list) : NULL;
    if (item == NULL) {
        return;
    }
    int64_t before_ns = i > 0 ? lane->begin_ns[i] - lane->end_ns[i - 1] : 0;
    item->value[0] = lane->begin_ns[i];
    item->value[1] = lane->end_ns[i] - lane->begin_ns[i];
    item->value[2] = before_ns > 0 ? before_ns : 0;
    item->name = lane->name[i];
    item->text = name->brief;
    item->text_len = name->brief_len;
    item->begin_ns = lane->begin_ns[i];
    item->end_ns = lane->end_ns[i];
    item->table = (uint32_t)lane->table;
    item->event = lane_event(lane, i);
}

void panel_make_events(struct app *app)
{
    struct panel *list = &app->list;
    int64_t begin_ns;
    int64_t end_ns;
    char count[TIMEFMT_BYTES];
    list->columns = COLUMNS;
    list->column_count = (int)(sizeof COLUMNS / sizeof COLUMNS[0]);
    if (app->events_row >= app->rows.count || app->rows.list[app->events_row].kind != ROW_LANE) {
        return;
    }
    const struct row *row = &app->rows.list[app->events_row];
    const struct lane *lane = &row->lane;
    app_span(app, &begin_ns, &end_ns);
    for (uint32_t i = lane_lower(lane, 0, begin_ns); i < lane->count && lane->begin_ns[i] < end_ns;
         i++) {
        add_event(app, lane, i);
    }
    int len = snprintf(list->title, sizeof list->title, "%.60s, events %s: %s", row->label,
                       app_span_words(app), timefmt_count((int64_t)list->of, count));
    if (list->of > list->count && len > 0 && (size_t)len < sizeof list->title) {
        (void)snprintf(list->title + len, sizeof list->title - (size_t)len, ", the first %zu",
                       list->count);
    }
}
