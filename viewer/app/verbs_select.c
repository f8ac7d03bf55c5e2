/* verbs_select: verbs on rows, events and gaps; the mouse. */
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/app/app_internal.h"

enum {
    SELECT_DRAG_COLS = 3 /* less is a click with an unsteady hand */
};

void app_scroll(struct app *app)
{
    struct rows *rows = &app->rows;
    uint32_t place = rows_place(rows, app->row);
    uint32_t room = app->layout.body_rows > 0 ? (uint32_t)app->layout.body_rows : 1;
    room = room > rows->pinned_count ? room - rows->pinned_count : 1;
    if (place != TRACE_NONE && place >= rows->pinned_count) {
        if (place < app->first_shown) {
            app->first_shown = place;
        } else if (place >= app->first_shown + room) {
            app->first_shown = place - room + 1;
        }
    }
    if (app->first_shown + room > rows->shown_count) {
        app->first_shown = rows->shown_count > room ? rows->shown_count - room : 0;
    }
    if (app->first_shown < rows->pinned_count) {
        app->first_shown = rows->pinned_count;
    }
}

void app_set_row(struct app *app, uint32_t row)
{
    if (row >= app->rows.count) {
        return;
    }
    if (rows_place(&app->rows, row) == TRACE_NONE) {
        rows_reveal(&app->rows, row);
    }
    app->row = row;
}

void app_unselect(struct app *app)
{
    app->event = (struct app_event){TRACE_TABLE_COUNT, 0};
    app->gap_begin_ns = app->gap_end_ns = 0;
}

/* Moves the window so that [begin, end) can be seen: not at all if a good part of it is. */
static void select_show(struct app *app, int64_t begin_ns, int64_t end_ns)
{
    int64_t first = window_col(&app->window, begin_ns);
    int64_t last = window_col(&app->window, end_ns > begin_ns ? end_ns - 1 : begin_ns);
    int cols = app->window.cols;
    if (first >= 0 && last < cols) {
        return;
    }
    if (last - first >= cols) {
        if (first > cols / 2 || last < cols / 2) {
            app_look(app, window_put(&app->window, begin_ns, cols / 10));
        }
        return;
    }
    app_look(app, window_put(&app->window, begin_ns + (end_ns - begin_ns) / 2, cols / 2));
}

static void select_cursor(struct app *app, int64_t t_ns)
{
    int64_t col = window_col(&app->window, t_ns);
    app->cursor_col = col < 0 ? 0 : col >= app->window.cols ? app->window.cols - 1 : (int)col;
}

void app_select(struct app *app, struct app_event event)
{
    uint32_t row = app->row;
    const struct row *now = &app->rows.list[row];
    int64_t begin_ns = app_event_begin(app, event);
    bool here = now->kind == ROW_LANE && now->lane.table == event.table &&
                lane_find(&now->lane, begin_ns, event.index) < now->lane.count;
    if (!here) {
        row = rows_of_event(&app->rows, (enum trace_table)event.table, event.index);
    }
    app_unselect(app);
    app->event = event;
    if (row != TRACE_NONE) {
        app_set_row(app, row);
    }
    select_show(app, begin_ns, app_event_end(app, event));
    select_cursor(app, begin_ns);
}

void app_select_gap(struct app *app, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
    app_unselect(app);
    app->gap_begin_ns = begin_ns;
    app->gap_end_ns = end_ns;
    app->gap_device = device;
    for (uint32_t i = 0; i < app->rows.count; i++) {
        if (app->rows.list[i].kind == ROW_DEVICE && app->rows.list[i].device == device) {
            app_set_row(app, i);
        }
    }
    select_show(app, begin_ns, end_ns);
    select_cursor(app, begin_ns);
}

static void select_row_by(struct app *app, int64_t step)
{
    int64_t place = rows_place(&app->rows, app->row);
    if (app->rows.shown_count == 0) {
        return;
    }
    place = place == TRACE_NONE ? 0 : place + step;
    if (place >= app->rows.shown_count) {
        place = app->rows.shown_count - 1;
    }
    app->row = app->rows.shown[place < 0 ? 0 : place];
}

void verb_row_down(struct app *app, int count)
{
    select_row_by(app, count > 0 ? count : 1);
}

void verb_row_up(struct app *app, int count)
{
    select_row_by(app, count > 0 ? -(int64_t)count : -1);
}

void verb_rows_down(struct app *app, int count)
{
    int64_t half = app->layout.body_rows / 2 + 1;
    select_row_by(app, half * (count > 0 ? count : 1));
}

void verb_rows_up(struct app *app, int count)
{
    int64_t half = app->layout.body_rows / 2 + 1;
    select_row_by(app, -half * (count > 0 ? count : 1));
}

void verb_row_first(struct app *app, int count)
{
    (void)count;
    select_row_by(app, -(int64_t)app->rows.shown_count);
}

void verb_row_last(struct app *app, int count)
{
    (void)count;
    select_row_by(app, app->rows.shown_count);
}

void verb_fold(struct app *app, int count)
{
    uint32_t row = app->row;
    (void)count;
    if (app->rows.count == 0) {
        return;
    }
    if (!app->rows.list[row].parent && app->rows.list[row].up != TRACE_NONE) {
        row = app->rows.list[row].up;
    }
    app->rows.list[row].collapsed = !app->rows.list[row].collapsed;
    app->row = row;
    rows_arrange(&app->rows);
}

static void select_fold_all(struct app *app, bool collapsed)
{
    for (uint32_t i = 0; i < app->rows.count; i++) {
        app->rows.list[i].collapsed = collapsed && app->rows.list[i].parent;
    }
    rows_arrange(&app->rows);
    while (app->rows.count > 0 && rows_place(&app->rows, app->row) == TRACE_NONE &&
           app->rows.list[app->row].up != TRACE_NONE) {
        app->row = app->rows.list[app->row].up;
    }
}

void verb_fold_all(struct app *app, int count)
{
    (void)count;
    select_fold_all(app, true);
}

void verb_unfold_all(struct app *app, int count)
{
    (void)count;
    select_fold_all(app, false);
}

/* Is event i of the lane one that the filter keeps? */
static bool select_keeps(const struct app *app, const struct lane *lane, uint32_t i)
{
    return lane_keeps(lane, app->filter.terms, i);
}

void app_select_near(struct app *app, uint32_t row, int64_t t_ns)
{
    const struct lane *lane = &app->rows.list[row].lane;
    uint32_t i = lane_lower(lane, 0, t_ns);
    if (app->rows.list[row].kind != ROW_LANE || lane->count == 0) {
        return;
    }
    if (i == lane->count || (i > 0 && lane->begin_ns[i] > t_ns &&
                             t_ns - lane->end_ns[i - 1] < lane->begin_ns[i] - t_ns)) {
        i = i > 0 ? i - 1 : 0;
    }
    app->row = row;
    app_select(app, (struct app_event){(uint32_t)lane->table, lane_event(lane, i)});
}

/* The first kept event at or after i (step 1), or at or before it (-1); count if none. */
static uint32_t select_kept(const struct app *app, const struct lane *lane, uint32_t i, int step)
{
    while (i < lane->count && !select_keeps(app, lane, i)) {
        i = step < 0 && i == 0 ? lane->count : step < 0 ? i - 1 : i + 1;
    }
    return i;
}

/* The next row with a lane, from the current one on; TRACE_NONE if there is none. */
static uint32_t select_lane_row(const struct app *app)
{
    uint32_t place = rows_place(&app->rows, app->row);
    for (; place < app->rows.shown_count; place++) {
        if (app->rows.list[app->rows.shown[place]].kind == ROW_LANE) {
            return app->rows.shown[place];
        }
    }
    return TRACE_NONE;
}

static void select_step(struct app *app, int count, int step)
{
    uint32_t row = select_lane_row(app);
    int n = count > 0 ? count : 1;
    if (row == TRACE_NONE) {
        app_fail(app, "no row with events here");
        return;
    }
    const struct lane *lane = &app->rows.list[row].lane;
    uint32_t i = lane->count;
    if (app_has_event(app) && app->event.table == (uint32_t)lane->table) {
        i = lane_find(lane, app_event_begin(app, app->event), app->event.index);
    }
    if (i == lane->count) {
        int64_t t_ns = window_time(&app->window, app->cursor_col);
        i = lane_upper(lane, 0, t_ns);
        i = select_kept(app, lane, i == lane->count && i > 0 ? i - 1 : i, step);
        n--;
    }
    for (; n > 0 && i < lane->count; n--) {
        uint32_t next = step < 0 && i == 0 ? lane->count : step < 0 ? i - 1 : i + 1;
        i = select_kept(app, lane, next, step);
    }
    if (i >= lane->count) {
        app_say(app, step > 0 ? "this is the last event of the row"
                              : "this is the first event of the row");
        return;
    }
    app->row = row;
    app_select(app, (struct app_event){(uint32_t)lane->table, lane_event(lane, i)});
}

void verb_event_next(struct app *app, int count)
{
    select_step(app, count, 1);
}

void verb_event_previous(struct app *app, int count)
{
    select_step(app, count, -1);
}

void verb_detail(struct app *app, int count)
{
    (void)count;
    if (!app_has_event(app) && !app->detail_open && !app_has_gap(app)) {
        app_select_near(app, app->row, window_time(&app->window, app->cursor_col));
    }
    app->detail_open = !app->detail_open;
}

void verb_names(struct app *app, int count)
{
    static const char *const forms[APP_NAMES_COUNT] = {"short", "full", "mangled"};
    (void)count;
    app->names = (enum app_names)((app->names + 1) % APP_NAMES_COUNT);
    app_say(app, "%s names", forms[app->names]);
}

void verb_escape(struct app *app, int count)
{
    (void)count;
    if (app->detail_open) {
        app->detail_open = false;
    } else if (app->search.shown || app_has_event(app) || app_has_gap(app)) {
        app->search.shown = false;
        app_unselect(app);
    } else if (app->mark_count > 0) {
        verb_marks_clear(app, 0);
    }
}

static void select_same(struct app *app, int step)
{
    if (!app_has_event(app)) {
        app_fail(app, "select an event first (w, b)");
        return;
    }
    const struct trace_events *events = &app->trace->events[app->event.table];
    uint32_t name = events->name[app->event.index];
    const struct row *row = &app->rows.list[app->row];
    uint32_t i = lane_find(&row->lane, events->begin_ns[app->event.index], app->event.index);
    while (i < row->lane.count) {
        i = step < 0 && i == 0 ? row->lane.count : step < 0 ? i - 1 : i + 1;
        if (i < row->lane.count && row->lane.name[i] == name) {
            app_select(app,
                       (struct app_event){(uint32_t)row->lane.table, lane_event(&row->lane, i)});
            return;
        }
    }
    app_say(app, step > 0 ? "no later event of this name in the row"
                          : "no earlier event of this name in the row");
}

void verb_same_next(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        select_same(app, 1);
    }
}

void verb_same_previous(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        select_same(app, -1);
    }
}

/* Gaps lie between neighbours of the device's union: gap i is before interval i + 1. */
static void select_gap(struct app *app, int step)
{
    uint32_t device = app_device(app);
    int64_t t_ns =
        app_has_gap(app) ? app->gap_begin_ns : window_time(&app->window, app->cursor_col);
    /* What is shorter than a fifth of a column is no gap that one can see. */
    int64_t least_ns = app->window.ns_per_col / 5;
    int64_t i;
    if (device == TRACE_NONE || app_busy(app)->devices[device].count < 2) {
        app_fail(app, "no gap: the capture has no GPU work to wait between");
        return;
    }
    const struct busy_union *work = &app_busy(app)->devices[device];
    if (app_has_gap(app)) {
        i = step > 0 ? (int64_t)busy_union_lower(work, t_ns)
                     : (int64_t)busy_union_lower(work, t_ns - 1) - 1;
    } else {
        i = (int64_t)busy_union_upper(work, t_ns + 1) - (step > 0 ? 1 : 2);
    }
    i = i < 0 && step > 0 ? 0 : i;
    for (; i >= 0 && i + 1 < work->count; i += step) {
        if (work->begin_ns[i + 1] - work->end_ns[i] >= least_ns) {
            app_select_gap(app, device, work->end_ns[i], work->begin_ns[i + 1]);
            return;
        }
    }
    app_say(app, step > 0 ? "no later gap that can be seen at this zoom"
                          : "no earlier gap that can be seen at this zoom");
}

void verb_gap_next(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        select_gap(app, 1);
    }
}

void verb_gap_previous(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        select_gap(app, -1);
    }
}

/* The row at a line of the screen; TRACE_NONE if none is there. */
static uint32_t select_row_at(const struct app *app, int y)
{
    uint32_t line = (uint32_t)(y - app->layout.body_row);
    uint32_t place = line;
    if (y < app->layout.body_row || y >= app->layout.body_row + app->layout.body_rows) {
        return TRACE_NONE;
    }
    if (line >= app->rows.pinned_count) {
        place = app->first_shown + line - app->rows.pinned_count;
    }
    return place < app->rows.shown_count ? app->rows.shown[place] : TRACE_NONE;
}

static void select_click(struct app *app, uint32_t row, int col)
{
    bool label = col < 0;
    app->row = row;
    if (label) {
        verb_fold(app, 0);
        return;
    }
    app->cursor_col = col;
    app_unselect(app);
    if (app->rows.list[row].kind == ROW_LANE) {
        int64_t begin_ns = window_time(&app->window, col);
        const struct lane *lane = &app->rows.list[row].lane;
        uint32_t i = lane_lower(lane, 0, begin_ns);
        if (i < lane->count && lane->begin_ns[i] < begin_ns + app->window.ns_per_col) {
            app->event = (struct app_event){(uint32_t)lane->table, lane_event(lane, i)};
        }
    }
}

static void select_wheel(struct app *app, const struct key *key, int col)
{
    bool up = key->code == KEYS_WHEEL_UP;
    if (key->code == KEYS_WHEEL_LEFT || key->code == KEYS_WHEEL_RIGHT) {
        app_run(app, key->code == KEYS_WHEEL_LEFT ? ACTION_pan_left : ACTION_pan_right, 0);
    } else if (app->help_open) {
        app_run(app, up ? ACTION_help_up : ACTION_help_down, 3);
    } else if (app->list.kind != PANEL_NONE && key->y >= app->layout.list_row) {
        app_run(app, up ? ACTION_list_up : ACTION_list_down, 3);
    } else if (col < 0) {
        app_run(app, up ? ACTION_row_up : ACTION_row_down, 3);
    } else {
        app->cursor_col = col;
        app_unselect(app);
        app_run(app, up ? ACTION_zoom_in : ACTION_zoom_out, 1);
    }
}

/* A drag over some columns: marks A and B, so that what is between them is measured. */
static void select_drag(struct app *app, int col)
{
    int from = app->drag_col < col ? app->drag_col : col;
    int to = app->drag_col < col ? col : app->drag_col;
    if (app->drag_col < 0 || col < 0 || (to - from < SELECT_DRAG_COLS && !app->dragging)) {
        return;
    }
    app->dragging = true;
    app_unselect(app);
    app->cursor_col = col;
    app->mark_count = 2;
    app->mark_ns[0] = window_time(&app->window, from);
    app->mark_ns[1] = window_time(&app->window, to + 1);
    app->span_stamp++;
}

static void select_release(struct app *app, int col)
{
    char key[KEYS_NAME_BYTES];
    select_drag(app, col);
    if (app->dragging) {
        app_say(app, "what is between A and B is measured; %s zooms to it",
                keys_name(keymap_key(&app->keymap, ACTION_zoom_selected), key));
    }
    app->dragging = false;
    app->drag_col = -1;
}

/* A press on the overview goes there, a drag goes along. */
static void select_overview(struct app *app, const struct key *key, int col)
{
    if (key->code == KEYS_RELEASE) {
        return;
    }
    if (key->code != KEYS_DRAG) {
        app_remember(app);
    }
    app_look(app, window_put(&app->window, app_overview_ns(app, col), app->window.cols / 2));
    app->cursor_col = app->window.cols / 2;
}

void app_mouse(struct app *app, const struct key *key)
{
    int col = key->x - app->layout.label_cols;
    uint32_t row = select_row_at(app, key->y);
    col = col >= app->window.cols ? app->window.cols - 1 : col;
    if (key->code >= KEYS_WHEEL_UP && key->code <= KEYS_WHEEL_DOWN) {
        select_wheel(app, key, col);
        return;
    }
    if (key->y == app->layout.overview_row && col >= 0 && app->drag_col < 0) {
        select_overview(app, key, col);
        return;
    }
    if (key->code == KEYS_DRAG) {
        select_drag(app, col);
        return;
    }
    if (key->code == KEYS_RELEASE) {
        select_release(app, col);
        return;
    }
    if (app->list.kind != PANEL_NONE && key->y >= app->layout.list_row + 2 &&
        key->y < app->layout.list_row + app->layout.list_rows) {
        size_t line = app->list.first + (size_t)(key->y - app->layout.list_row - 2);
        app->list.current = line < app->list.count ? line : app->list.current;
        if (key->code == KEYS_DOUBLE_CLICK) {
            app_run(app, ACTION_list_go, 0);
        }
        return;
    }
    if (row == TRACE_NONE || app->help_open) {
        return;
    }
    if (key->code == KEYS_CLICK || key->code == KEYS_PRESS) {
        app->moving = false;
        app->drag_col = key->code == KEYS_PRESS ? col : -1;
        select_click(app, row, col);
    } else if (key->code == KEYS_DOUBLE_CLICK) {
        select_click(app, row, col);
        app_run(app, app_has_event(app) ? ACTION_zoom_selected : ACTION_zoom_in, 0);
    }
}
