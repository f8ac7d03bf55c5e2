/* app: see app.h. Opening, layout, keys; the verbs are in verbs_view.c, verbs_select.c, verbs_find.c, verbs_lists.c. */
#include "viewer/app/app.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/app/app_internal.h"
#include "viewer/app/tour.h"

enum {
    APP_COUNT_MAX = 100000,
    APP_DEVICES_MANY = 3, /* so many are folded where their rows have no room */
    APP_ROWS_OVERVIEW = 22,
    APP_ROWS_TALL = 24, /* screens of so many rows have room for long texts */
    APP_ROWS_ROOMY = 16, /* ... have all parts */
    APP_ROWS_SMALL = 10,
    APP_ROWS_RULER = 5
};

static int app_hues(struct app *app)
{
    uint32_t count = app->trace->name_count;
    app->hues = malloc((size_t)count + 1);
    app->hue_rgbs = calloc((size_t)count + 1, sizeof *app->hue_rgbs);
    if (app->hues == NULL || app->hue_rgbs == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        app->hues[i] = hue_of_name(&app->trace->names[i], &app->hue_rgbs[i]);
    }
    return 0;
}

struct app *app_open(const struct trace *trace, const char *title, struct err *err)
{
    struct app *app = calloc(1, sizeof *app);
    if (app == NULL) {
        return err_null(err, "not enough memory for the timeline");
    }
    app->trace = trace;
    (void)snprintf(app->title, sizeof app->title, "%s", title);
    app->event.table = TRACE_TABLE_COUNT;
    app->drag_col = -1;
    app->filter.stamp = 1;
    keymap_defaults(&app->keymap);
    app->busy = busy_new(trace, NULL, err);
    app->facts = app->busy == NULL ? NULL : facts_new(trace, err);
    trace_rest(trace);
    if (app->facts == NULL || rows_make(&app->rows, trace, NULL, err) != 0) {
        app_close(app);
        return NULL;
    }
    for (uint32_t i = 0; i < app->rows.count; i++) {
        app->rows.list[i].collapsed_first = app->rows.list[i].collapsed;
    }
    if (labels_make(trace, &app->labels, err) != 0) {
        app_close(app);
        return NULL;
    }
    if (app_hues(app) != 0) {
        app_close(app);
        return err_null(err, "not enough memory for the timeline");
    }
    app_resize(app, 80, 24);
    return app;
}

void app_keep(const struct app *app, struct shelf_list *list)
{
    facts_keep(app->facts, list);
    rows_keep(&app->rows, list);
}

void app_close(struct app *app)
{
    if (app == NULL) {
        return;
    }
    rows_free(&app->rows);
    facts_free(app->facts);
    busy_free(app->busy);
    busy_free(app->filter.busy);
    busy_free(app->filter.spare);
    terms_free(app->filter.terms);
    free(app->search.bits);
    filter_free(app->list_filter);
    relate_syncs_free(&app->syncs);
    overlap_free(app->overlap);
    buf_free(&app->taken);
    free(app->hues);
    free(app->hue_rgbs);
    labels_free(&app->labels);
    prompt_free(&app->prompt);
    panel_free(&app->list);
    detail_free(&app->detail);
    free(app);
}

static int app_label_cols(int cols)
{
    static const struct {
        int from;
        int label;
    } widths[] = {{160, 26}, {100, 20}, {60, 17}, {36, 12}, {24, 8}, {12, 5}};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if (cols >= widths[i].from) {
            return widths[i].label;
        }
    }
    return 0;
}

/* Rows of the detail pane, with the rule above it. */
static int app_detail_rows(const struct app *app, int rows)
{
    if (app->list.kind != PANEL_NONE || app->help_open || app->bare) {
        return 0;
    }
    if (app->detail_open && rows >= APP_ROWS_SMALL) {
        return rows / 2;
    }
    return rows >= APP_ROWS_TALL        ? 5
           : rows >= APP_ROWS_ROOMY     ? 4
           : rows >= APP_ROWS_SMALL + 3 ? 3
           : rows >= APP_ROWS_SMALL     ? 2
                                        : 0;
}

void app_lay_out(struct app *app)
{
    struct app_layout *at = &app->layout;
    int list = 0;
    int detail = app_detail_rows(app, at->rows);
    int left = at->rows - (app->bare ? 1 : 2);
    at->label_cols = app_label_cols(at->cols);
    at->time_cols = at->cols - at->label_cols;
    at->overview_row = at->rows >= APP_ROWS_OVERVIEW && app->trace->device_count > 0 ? 1 : -1;
    at->ruler_row = at->overview_row >= 0 ? 2 : at->rows >= APP_ROWS_RULER ? 1 : -1;
    at->body_row = at->ruler_row >= 0 ? at->ruler_row + 1 : 1;
    at->status_row = app->bare ? -1 : at->rows - 1;
    left -= at->body_row - 1;
    at->tour_row = app->tour_step > 0 && at->rows >= APP_ROWS_SMALL ? at->rows - 3 : -1;
    left -= at->tour_row >= 0 ? 2 : 0;
    if (app->help_open && !app->bare) {
        list = left;
    } else if (!app->bare && app->list.kind != PANEL_NONE) {
        list = at->rows >= APP_ROWS_ROOMY ? left / 2 + 1 : left - 1;
    }
    list = list < 0 ? 0 : list;
    detail = detail < left ? detail : 0;
    at->body_rows = left - list - detail < 0 ? 0 : left - list - detail;
    at->list_rows = list;
    at->list_row = list > 0 ? at->body_row + at->body_rows : -1;
    at->detail_rows = detail;
    at->detail_row = detail > 0 ? at->body_row + at->body_rows : -1;
}

/* The same time in the columns that there are now. */
static void resize_window(struct app *app)
{
    struct app_sized *sized = &app->sized;
    int cols = app->layout.time_cols;
    bool listed = window_same(&app->listed_window, &app->window);
    if (!window_same(&sized->to, &app->window) || sized->to_col != app->cursor_col) {
        sized->from = app->window;
        sized->from_col = app->cursor_col;
    }
    const struct window *from = &sized->from;
    app->window = cols == from->cols ? *from : window_fit(from->begin_ns, window_end(from), cols);
    app->cursor_col = (int)((int64_t)sized->from_col * cols / from->cols);
    sized->to = app->window;
    sized->to_col = app->cursor_col;
    /* What a list is about does not depend on the size of the terminal. */
    app->listed_window = listed ? app->window : app->listed_window;
}

void app_resize(struct app *app, int cols, int rows)
{
    struct window *window = &app->window;
    bool first = app->layout.cols == 0;
    app->layout.cols = cols < 1 ? 1 : cols;
    app->layout.rows = rows < 1 ? 1 : rows;
    app_lay_out(app);
    if (first) {
        window->cols = app->layout.time_cols;
        window->ns_per_col = 1;
        verb_fit_gpu(app, 0);
        app->back_count = 0;
        app->cursor_col = window->cols / 2;
    } else if (window->cols != app->layout.time_cols) {
        resize_window(app);
    }
    app->redraw = true;
}

void app_fold_devices(struct app *app)
{
    struct rows *rows = &app->rows;
    if (app->trace->device_count < APP_DEVICES_MANY ||
        rows->shown_count <= (uint32_t)app->layout.body_rows) {
        return;
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->list[i].kind == ROW_DEVICE) {
            rows->list[i].collapsed = rows->list[i].parent;
            rows->list[i].collapsed_first = rows->list[i].collapsed;
        }
    }
    rows_arrange(rows);
    app_set_row(app, app->row);
}

int64_t app_overview_ns(const struct app *app, int col)
{
    int64_t begin_ns = app->trace->begin_ns;
    int64_t cols = app->layout.time_cols > 0 ? app->layout.time_cols : 1;
    int64_t span_ns = app->trace->end_ns - begin_ns;
    return begin_ns + span_ns / cols * col + span_ns % cols * col / cols;
}

static void app_prompt_key(struct app *app, uint32_t code)
{
    enum action_id action = keymap_find(&app->keymap, ACTION_PROMPT, code);
    if (action != ACTION_COUNT) {
        app_run(app, action, 0);
    } else if (code >= 32 && code < KEYS_SPECIAL && code != 127) {
        prompt_insert(&app->prompt, code);
        app_prompt_changed(app);
    }
}

static enum action_id app_find_action(const struct app *app, uint32_t code)
{
    enum action_id action = ACTION_COUNT;
    if (app->help_open) {
        return keymap_find(&app->keymap, ACTION_HELP, code);
    }
    if (app->list.kind != PANEL_NONE) {
        action = keymap_find(&app->keymap, ACTION_LIST, code);
    }
    return action != ACTION_COUNT ? action : keymap_find(&app->keymap, ACTION_VIEW, code);
}

static bool app_digit(struct app *app, uint32_t code)
{
    if (code < '0' || code > '9' || (code == '0' && app->count == 0) || app->help_open) {
        return false;
    }
    app->count = app->count * 10 + (int)(code - '0');
    app->count = app->count > APP_COUNT_MAX ? APP_COUNT_MAX : app->count;
    return true;
}

/* A paste goes into a prompt, and is no keys: who pastes a line by mistake loses nothing. Escape
 * ends one whose end got lost. */
static void app_paste(struct app *app, uint32_t code)
{
    if (code == KEYS_PASTE_BEGIN) {
        app->pasting = true;
        if (app->prompt.kind == PROMPT_NONE) {
            char search[KEYS_NAME_BYTES];
            char filter[KEYS_NAME_BYTES];
            app_say(app, "a paste does nothing here: press %s (search) or %s (filter) before it",
                    keys_name(keymap_key(&app->keymap, ACTION_search), search),
                    keys_name(keymap_key(&app->keymap, ACTION_filter), filter));
        }
    } else if (code == KEYS_PASTE_END || code == KEYS_ESCAPE) {
        app->pasting = false;
    } else if (app->prompt.kind != PROMPT_NONE && code >= 32 && code < KEYS_SPECIAL &&
               code != 127) {
        prompt_insert(&app->prompt, code);
        app_prompt_changed(app);
    }
}

void app_key(struct app *app, const struct key *key)
{
    if (key->code == KEYS_RESIZE) {
        app_resize(app, key->x, key->y);
        return;
    }
    if (app->pasting || key->code == KEYS_PASTE_BEGIN || key->code == KEYS_PASTE_END) {
        app_paste(app, key->code);
        return;
    }
    app->message[0] = '\0';
    app->message_is_error = false;
    if (key->code >= KEYS_CLICK && key->code <= KEYS_WHEEL_DOWN) {
        app_mouse(app, key);
        return;
    }
    if (app->prompt.kind != PROMPT_NONE) {
        app_prompt_key(app, key->code);
        return;
    }
    if (app_digit(app, key->code)) {
        return;
    }
    int count = app->count;
    app->count = 0;
    enum action_id action = app_find_action(app, key->code);
    if (action != ACTION_COUNT) {
        app_run(app, action, count);
    } else {
        char name[KEYS_NAME_BYTES];
        char help[KEYS_NAME_BYTES];
        app_say(app, "%s does nothing here; %s shows the keys", keys_name(key->code, name),
                keys_name(keymap_key(&app->keymap, ACTION_help), help));
    }
}

void app_run(struct app *app, enum action_id action, int count)
{
    bool moves = action <= ACTION_zoom_out;
    if (moves && !app->moving) {
        app_remember(app);
    }
    app->moving = moves;
    if (ACTION_TABLE[action].context == ACTION_LIST) {
        /* Keys that come together are applied without a frame between them: the line that is meant
         * is that of the list as it would be shown by now. */
        app_settle(app);
    }
    ACTION_TABLE[action].verb(app, count);
    app_lay_out(app);
}

bool app_has_event(const struct app *app)
{
    return app->event.table < TRACE_TABLE_COUNT;
}

bool app_has_gap(const struct app *app)
{
    return app->gap_end_ns > app->gap_begin_ns;
}

int64_t app_event_begin(const struct app *app, struct app_event event)
{
    return app->trace->events[event.table].begin_ns[event.index];
}

int64_t app_event_end(const struct app *app, struct app_event event)
{
    return app->trace->events[event.table].end_ns[event.index];
}

const struct trace_name *app_event_name(const struct app *app, struct app_event event)
{
    return &app->trace->names[app->trace->events[event.table].name[event.index]];
}

void app_say(struct app *app, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(app->message, sizeof app->message, fmt, args);
    va_end(args);
    app->message_is_error = false;
}

void app_fail(struct app *app, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(app->message, sizeof app->message, fmt, args);
    va_end(args);
    app->message_is_error = true;
}

const struct facts *app_facts(const struct app *app)
{
    return app->facts;
}

const struct busy *app_busy(const struct app *app)
{
    return app->filter.busy != NULL ? app->filter.busy : app->busy;
}

uint32_t app_device(const struct app *app)
{
    if (app_has_gap(app)) {
        return app->gap_device;
    }
    if (app->rows.count > 0 && app->rows.list[app->row].device != TRACE_NONE) {
        return app->rows.list[app->row].device;
    }
    return app->trace->device_count > 0 ? 0 : TRACE_NONE;
}

/* The idle time and the number of gaps of a device in the window: O(log n). */
static void app_figure(struct app *app, uint32_t device)
{
    const struct busy *busy = app_busy(app);
    const struct busy_union *work = &busy->devices[device];
    struct app_figures *out = &app->figures;
    int64_t begin_ns = app->window.begin_ns;
    int64_t end_ns = window_end(&app->window);
    out->busy_ns[device] = 0;
    out->span_ns[device] = 0;
    out->gap_ns[device] = 0;
    out->gap_count[device] = 0;
    if (work->count == 0) {
        return;
    }
    if (begin_ns < work->begin_ns[0]) {
        begin_ns = work->begin_ns[0];
    }
    if (end_ns > work->end_ns[work->count - 1]) {
        end_ns = work->end_ns[work->count - 1];
    }
    if (begin_ns >= end_ns) {
        return;
    }
    out->span_ns[device] = end_ns - begin_ns;
    out->busy_ns[device] = busy_device_ns(busy, device, begin_ns, end_ns);
    out->gap_ns[device] = out->span_ns[device] - out->busy_ns[device];
    uint32_t first = busy_union_lower(work, begin_ns);
    uint32_t last = busy_union_upper(work, end_ns);
    if (first >= last) {
        out->gap_count[device] = 1;
        return;
    }
    out->gap_count[device] = last - first - 1 + (work->begin_ns[first] > begin_ns ? 1 : 0) +
                             (work->end_ns[last - 1] < end_ns ? 1 : 0);
}

void app_span(const struct app *app, int64_t *begin_ns, int64_t *end_ns)
{
    if (app->mark_count == 2) {
        bool order = app->mark_ns[0] <= app->mark_ns[1];
        *begin_ns = app->mark_ns[order ? 0 : 1];
        *end_ns = app->mark_ns[order ? 1 : 0];
    } else {
        *begin_ns = app->window.begin_ns;
        *end_ns = window_end(&app->window);
    }
}

const char *app_span_words(const struct app *app)
{
    return app->mark_count == 2 ? "between A and B" : "in view";
}

const struct overlap *app_overlap(struct app *app)
{
    if (app->overlap == NULL || app->overlap_stamp != app->filter.stamp) {
        overlap_free(app->overlap);
        app->overlap = overlap_new(app->trace, app->filter.terms, NULL);
        app->overlap_stamp = app->filter.stamp;
    }
    return app->overlap;
}

/* What the current device did in the window, for the pane when nothing is selected. */
static void app_parts(struct app *app)
{
    uint32_t device = app_device(app);
    uint32_t most = app->prompt.kind == PROMPT_NONE ? APP_PARTS_OPS : APP_PARTS_OPS / 10;
    struct overlap_sums sums;
    app->figures.has_parts = false;
    if (device >= app->figures.device_count || app->figures.span_ns[device] <= 0 ||
        app->trace->events[TRACE_GPU].count > most || app->layout.detail_row < 0) {
        return;
    }
    const struct overlap *overlap = app_overlap(app);
    if (overlap != NULL) {
        /* Between the first and the last op, as the figures of the header. */
        int64_t first_ns = app_busy(app)->devices[device].begin_ns[0];
        int64_t begin_ns = app->window.begin_ns > first_ns ? app->window.begin_ns : first_ns;
        sums = overlap_in(overlap, device, begin_ns, begin_ns + app->figures.span_ns[device]);
        app->figures.parts = overlap_parts(&sums);
        app->figures.has_parts = true;
    }
}

static void app_settle_rows(struct app *app)
{
    struct rows_filter filter = {app->filter.terms, app->filter.busy, app->filter.stamp};
    app_scroll(app);
    for (uint32_t i = 0; i < app->rows.pinned_count; i++) {
        rows_settle(&app->rows, app->rows.shown[i], &filter);
    }
    for (uint32_t i = 0; i < (uint32_t)app->layout.body_rows; i++) {
        if (app->first_shown + i < app->rows.shown_count) {
            rows_settle(&app->rows, app->rows.shown[app->first_shown + i], &filter);
        }
    }
}

/* What belongs to the selected event on another row. */
static void app_relate(struct app *app)
{
    const struct trace *trace = app->trace;
    uint32_t link = TRACE_NONE;
    app->related = (struct app_event){TRACE_TABLE_COUNT, 0};
    if (app_has_event(app) && trace->events[app->event.table].link != NULL) {
        link = trace->events[app->event.table].link[app->event.index];
    }
    if (link != TRACE_NONE) {
        app->related = app->event.table == TRACE_GPU
                           ? (struct app_event){TRACE_API, link}
                           : (struct app_event){TRACE_GPU, trace->launch_ops[link]};
    }
}

void app_settle(struct app *app)
{
    tour_advance(app);
    app_lay_out(app);
    if (app->window.cols != app->layout.time_cols) {
        app_resize(app, app->layout.cols, app->layout.rows);
    }
    app_settle_rows(app);
    app->figures.device_count =
        app->trace->device_count < APP_DEVICES_SHOWN ? app->trace->device_count : APP_DEVICES_SHOWN;
    for (uint32_t device = 0; device < app->figures.device_count; device++) {
        app_figure(app, device);
    }
    app_relate(app);
    app_parts(app);
    if (app->list.kind != PANEL_NONE) {
        bool fresh = app->listed_kind == app->list.kind && app->listed_stamp == app->filter.stamp &&
                     app->listed_span_stamp == app->span_stamp &&
                     window_same(&app->listed_window, &app->window);
        if (!fresh) {
            panel_make(app);
            app->listed_kind = app->list.kind;
            app->listed_stamp = app->filter.stamp;
            app->listed_span_stamp = app->span_stamp;
            app->listed_window = app->window;
        }
        panel_scroll(&app->list, app->layout.list_rows - panel_extra(&app->list));
    }
    detail_make(app);
}
