/* verbs_lists: verbs of lists and of the help. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "viewer/app/app_internal.h"

void panel_free(struct panel *list)
{
    free(list->items);
    arena_free(&list->arena);
    *list = (struct panel){0};
}

struct panel_item *panel_add(struct panel *list)
{
    struct panel_item *items =
        array_grow(list->items, &list->cap, (size_t)list->count + 1, sizeof *items);
    if (items == NULL) {
        return NULL;
    }
    list->items = items;
    struct panel_item *item = &list->items[list->count++];
    *item = (struct panel_item){
        .table = TRACE_TABLE_COUNT, .text = "", .name = TRACE_NONE, .device = TRACE_NONE};
    return item;
}

int panel_extra(const struct panel *list)
{
    return 2 + (list->bins.count > 0 ? 1 : 0) + list->notes;
}

void panel_scroll(struct panel *list, int lines)
{
    size_t room = lines > 0 ? (size_t)lines : 1;
    if (list->current >= list->count) {
        list->current = list->count > 0 ? list->count - 1 : 0;
    }
    if (list->current < list->first) {
        list->first = list->current;
    }
    if (list->current >= list->first + room) {
        list->first = list->current - room + 1;
    }
    if (list->first + room > list->count) {
        list->first = list->count > room ? list->count - room : 0;
    }
}

void panel_open(struct app *app, enum panel_kind kind)
{
    if (app->list.kind == kind) {
        verb_list_close(app, 0);
        return;
    }
    app->list.kind = kind;
    app->list.current = 0;
    app->list.first = 0;
    app->list.sort = 0;
    app->list.ascending = false;
    app->listed_kind = PANEL_NONE;
    app->detail_open = false;
    filter_free(app->list_filter);
    app->list_filter = NULL;
}

void verb_list_gaps(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_GAPS);
}

void verb_list_top(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_TOP);
}

void verb_list_api(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_API);
}

void verb_list_nvtx(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_NVTX);
}

void verb_list_zones(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_ZONES);
}

void verb_list_findings(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_FINDINGS);
}

void verb_list_bookmarks(struct app *app, int count)
{
    (void)count;
    panel_open(app, PANEL_BOOKMARKS);
}

void verb_list_delta(struct app *app, int count)
{
    (void)count;
    if (app->pair.other == NULL) {
        app_fail(app, "only one capture is open: cutline view BASE NEW opens two");
        return;
    }
    panel_open(app, PANEL_DELTA);
}

void verb_other(struct app *app, int count)
{
    (void)count;
    app->ask = ASK_OTHER;
}

void verb_align(struct app *app, int count)
{
    (void)count;
    /* The selected range is what one most likely means. */
    prompt_open(&app->prompt, PROMPT_ALIGN,
                app_has_event(app) && app->event.table == TRACE_NVTX
                    ? app_event_name(app, app->event)->full
                    : "");
}

/* Of the marked line of a list of names, else of the selected event. */
void verb_list_instances(struct app *app, int count)
{
    const struct panel *list = &app->list;
    uint32_t name = TRACE_NONE;
    (void)count;
    if (list->kind != PANEL_NONE && list->current < list->count) {
        name = list->items[list->current].name;
    }
    if (name == TRACE_NONE && app_has_event(app)) {
        name = (uint32_t)(app_event_name(app, app->event) - app->trace->names);
    }
    if (name == TRACE_NONE) {
        app_fail(app, "select an event first (w, b), or a line of a list of names");
        return;
    }
    app->instances_name = name;
    if (list->kind == PANEL_INSTANCES) {
        app->listed_kind = PANEL_NONE;
        return;
    }
    panel_open(app, PANEL_INSTANCES);
}

void verb_list_events(struct app *app, int count)
{
    (void)count;
    if (app->list.kind != PANEL_EVENTS &&
        (app->row >= app->rows.count || app->rows.list[app->row].kind != ROW_LANE)) {
        app_fail(app, "this row has no events of its own: j and k go to one that has");
        return;
    }
    app->events_row = app->list.kind == PANEL_EVENTS ? app->events_row : app->row;
    panel_open(app, PANEL_EVENTS);
    app->list.ascending = true;
}

static void lists_turn(struct app *app, int step)
{
    int kind = (int)app->list.kind + step;
    for (int i = 0; i < PANEL_KIND_COUNT; i++) {
        kind = kind < 1 ? PANEL_KIND_COUNT - 1 : kind >= PANEL_KIND_COUNT ? 1 : kind;
        if (kind == PANEL_EVENTS &&
            (app->row >= app->rows.count || app->rows.list[app->row].kind != ROW_LANE)) {
            kind += step;
            continue;
        }
        if ((kind != PANEL_DELTA || app->pair.other != NULL) &&
            (kind != PANEL_INSTANCES || app->instances_name < app->trace->name_count)) {
            break;
        }
        kind += step;
    }
    app->events_row = app->row;
    panel_open(app, (enum panel_kind)kind);
    app->list.ascending = kind == PANEL_EVENTS;
}

void verb_list_next(struct app *app, int count)
{
    (void)count;
    lists_turn(app, 1);
}

void verb_list_previous(struct app *app, int count)
{
    (void)count;
    lists_turn(app, -1);
}

void verb_list_filter(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_LIST, "");
}

void verb_bookmark(struct app *app, int count)
{
    char span[TIMEFMT_BYTES];
    (void)count;
    if (app->bookmark_count == APP_BOOKMARKS) {
        app_fail(app, "there is room for %d bookmarks", (int)APP_BOOKMARKS);
        return;
    }
    struct app_bookmark *mark = &app->bookmarks[app->bookmark_count++];
    mark->begin_ns = app->window.begin_ns;
    mark->end_ns = window_end(&app->window);
    if (app_has_gap(app)) {
        (void)snprintf(mark->text, sizeof mark->text, "gap of %s",
                       timefmt_duration(app->gap_end_ns - app->gap_begin_ns, span));
    } else if (app_has_event(app)) {
        (void)snprintf(mark->text, sizeof mark->text, "%.90s",
                       app_event_name(app, app->event)->brief);
    } else {
        (void)snprintf(mark->text, sizeof mark->text, "%.90s",
                       app->rows.count > 0 ? app->rows.list[app->row].label : "");
    }
    app->span_stamp++;
    app_say(app, "bookmark %d; ' lists them", app->bookmark_count);
}

static void lists_move(struct app *app, int64_t step)
{
    int64_t at = (int64_t)app->list.current + step;
    int64_t last = (int64_t)app->list.count - 1;
    at = at > last ? last : at;
    app->list.current = at < 0 ? 0 : (size_t)at;
}

void verb_list_down(struct app *app, int count)
{
    lists_move(app, count > 0 ? count : 1);
}

void verb_list_up(struct app *app, int count)
{
    lists_move(app, count > 0 ? -(int64_t)count : -1);
}

void verb_list_page_down(struct app *app, int count)
{
    (void)count;
    lists_move(app, app->layout.list_rows - panel_extra(&app->list));
}

void verb_list_page_up(struct app *app, int count)
{
    (void)count;
    lists_move(app, panel_extra(&app->list) - app->layout.list_rows);
}

void verb_list_first(struct app *app, int count)
{
    (void)count;
    app->list.current = 0;
}

void verb_list_last(struct app *app, int count)
{
    (void)count;
    lists_move(app, (int64_t)app->list.count);
}

void verb_list_sort(struct app *app, int count)
{
    int columns = app->list.column_count > 0 ? app->list.column_count : 1;
    app->list.sort = count > 0 ? (count - 1) % columns : (app->list.sort + 1) % columns;
    app->list.ascending = false;
    app->listed_kind = PANEL_NONE;
}

void verb_list_reverse(struct app *app, int count)
{
    (void)count;
    app->list.ascending = !app->list.ascending;
    app->listed_kind = PANEL_NONE;
}

void verb_list_close(struct app *app, int count)
{
    (void)count;
    app->list.kind = PANEL_NONE;
}

/* Jumps: a gap takes a third of the screen, an event keeps the zoom unless it would be a dot. */
void verb_list_go(struct app *app, int count)
{
    (void)count;
    if (app->list.current >= app->list.count) {
        return;
    }
    const struct panel_item *item = &app->list.items[app->list.current];
    if (item->end_ns <= item->begin_ns && item->table >= TRACE_TABLE_COUNT) {
        return;
    }
    app_remember(app);
    if (item->table < TRACE_TABLE_COUNT) {
        app_select(app, (struct app_event){item->table, item->event});
        if (window_col(&app->window, item->end_ns) == window_col(&app->window, item->begin_ns)) {
            app_look_at(app, item->begin_ns, item->end_ns, 20);
        }
    } else if (app->list.kind == PANEL_BOOKMARKS) {
        app_look(app, window_fit(item->begin_ns, item->end_ns, app->layout.time_cols));
    } else if (app->list.kind == PANEL_ZONES || app->list.kind == PANEL_FINDINGS) {
        app_look_at(app, item->begin_ns, item->end_ns, 80);
    } else {
        app_select_gap(app, item->device != TRACE_NONE ? item->device : 0, item->begin_ns,
                       item->end_ns);
        app_look_at(app, item->begin_ns, item->end_ns, 33);
    }
    /* The jump moved the window; the list stays as it is until the person moves it. */
    app->listed_window = app->window;
}

void verb_help(struct app *app, int count)
{
    (void)count;
    app->help_open = true;
    app->help_first = 0;
}

void verb_help_close(struct app *app, int count)
{
    (void)count;
    app->help_open = false;
}

void verb_help_down(struct app *app, int count)
{
    app->help_first += count > 0 ? count : 1;
}

void verb_help_up(struct app *app, int count)
{
    app->help_first -= count > 0 ? count : 1;
    app->help_first = app->help_first < 0 ? 0 : app->help_first;
}

void verb_help_page_down(struct app *app, int count)
{
    (void)count;
    app->help_first += app->layout.list_rows - 1;
}

void verb_help_page_up(struct app *app, int count)
{
    (void)count;
    verb_help_up(app, app->layout.list_rows - 1);
}

void verb_reload(struct app *app, int count)
{
    (void)count;
    app->reload = true;
}

void verb_redraw(struct app *app, int count)
{
    (void)count;
    app->redraw = true;
}

void verb_quit(struct app *app, int count)
{
    (void)count;
    app->quit = true;
}
