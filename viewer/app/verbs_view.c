/* verbs_view: verbs that move the window. */
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "viewer/app/app_internal.h"
#include "viewer/app/wall_clock.h"

enum {
    VIEW_PAN_PARTS = 10,
    VIEW_ZOOM = 2,
    VIEW_EDGE_PARTS = 50 /* fitting leaves a fiftieth free at each side */
};

static bool view_same(const struct app_view *a, const struct app_view *b)
{
    return a->window.begin_ns == b->window.begin_ns &&
           a->window.ns_per_col == b->window.ns_per_col && a->row == b->row &&
           a->event.table == b->event.table && a->event.index == b->event.index;
}

static struct app_view view_now(const struct app *app)
{
    return (struct app_view){app->window, app->row, app->event};
}

static void view_push(struct app_view *stack, int *count, const struct app_view *view)
{
    if (*count > 0 && view_same(&stack[*count - 1], view)) {
        return;
    }
    if (*count == APP_HISTORY) {
        memmove(stack, stack + 1, (APP_HISTORY - 1) * sizeof *stack);
        (*count)--;
    }
    stack[(*count)++] = *view;
}

void app_remember(struct app *app)
{
    struct app_view view = view_now(app);
    view_push(app->back, &app->back_count, &view);
    app->forward_count = 0;
}

void app_look(struct app *app, struct window window)
{
    window.cols = app->layout.time_cols;
    app->window = window_clamp(&window, app->trace->begin_ns, app->trace->end_ns);
}

void app_look_at(struct app *app, int64_t begin_ns, int64_t end_ns, int share)
{
    int64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
    int64_t edge_ns = span_ns * (100 - share) / (2 * (int64_t)share);
    app_look(app, window_fit(begin_ns - edge_ns, end_ns + edge_ns, app->layout.time_cols));
}

/* The time that zooming keeps still: the middle of what is selected, as far as it is in sight, else
 * the cursor. */
static int64_t view_anchor_ns(const struct app *app)
{
    int64_t first_ns = app->window.begin_ns;
    int64_t last_ns = window_end(&app->window);
    int64_t begin_ns = last_ns;
    int64_t end_ns = first_ns;
    if (app_has_gap(app)) {
        begin_ns = app->gap_begin_ns;
        end_ns = app->gap_end_ns;
    } else if (app_has_event(app)) {
        begin_ns = app_event_begin(app, app->event);
        end_ns = app_event_end(app, app->event);
        end_ns = end_ns > begin_ns ? end_ns : begin_ns + 1;
    }
    begin_ns = begin_ns > first_ns ? begin_ns : first_ns;
    end_ns = end_ns < last_ns ? end_ns : last_ns;
    return begin_ns < end_ns
               ? begin_ns + (end_ns - begin_ns) / 2
               : window_time(&app->window, app->cursor_col) + app->window.ns_per_col / 2;
}

static void view_zoom(struct app *app, int count, bool in, int64_t most_ns)
{
    int64_t t_ns = view_anchor_ns(app);
    int col = (int)window_col(&app->window, t_ns);
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        int64_t ns = app->window.ns_per_col;
        ns = in ? ns / VIEW_ZOOM : ns * VIEW_ZOOM;
        if (ns < 1 || ns > most_ns) {
            return;
        }
        app_look(app, window_scale(&app->window, ns, t_ns, col));
    }
}

void verb_pan_left(struct app *app, int count)
{
    int cols = count > 0 ? count : (app->window.cols + VIEW_PAN_PARTS - 1) / VIEW_PAN_PARTS;
    app_look(app, window_pan(&app->window, -(int64_t)cols));
}

void verb_pan_right(struct app *app, int count)
{
    int cols = count > 0 ? count : (app->window.cols + VIEW_PAN_PARTS - 1) / VIEW_PAN_PARTS;
    app_look(app, window_pan(&app->window, cols));
}

void verb_page_left(struct app *app, int count)
{
    app_look(app, window_pan(&app->window, -(int64_t)app->window.cols * (count > 0 ? count : 1)));
}

void verb_page_right(struct app *app, int count)
{
    app_look(app, window_pan(&app->window, (int64_t)app->window.cols * (count > 0 ? count : 1)));
}

/* Moves the cursor; at the edge of the screen the window goes along. */
static void view_cursor(struct app *app, int64_t cols)
{
    char at[TIMEFMT_BYTES];
    int64_t col = app->cursor_col + cols;
    int64_t last = app->window.cols - 1;
    app_unselect(app);
    if (col < 0 || col > last) {
        app_look(app, window_pan(&app->window, col < 0 ? col : col - last));
        col = col < 0 ? 0 : last;
    }
    app->cursor_col = (int)col;
    app_say(app, "cursor at %s",
            timefmt_at(window_time(&app->window, app->cursor_col), app->window.ns_per_col, at));
}

void verb_cursor_left(struct app *app, int count)
{
    view_cursor(app, -(int64_t)(count > 0 ? count : 1));
}

void verb_cursor_right(struct app *app, int count)
{
    view_cursor(app, count > 0 ? count : 1);
}

void verb_zoom_in(struct app *app, int count)
{
    view_zoom(app, count, true, INT64_MAX);
}

void verb_zoom_out(struct app *app, int count)
{
    struct window all = window_fit(app->trace->begin_ns, app->trace->end_ns, app->layout.time_cols);
    view_zoom(app, count, false, all.ns_per_col * VIEW_ZOOM * VIEW_ZOOM - 1);
}

void verb_zoom_selected(struct app *app, int count)
{
    (void)count;
    app_remember(app);
    if (app_has_gap(app)) {
        app_look_at(app, app->gap_begin_ns, app->gap_end_ns, 80);
    } else if (app_has_event(app)) {
        app_look_at(app, app_event_begin(app, app->event), app_event_end(app, app->event), 80);
    } else if (app->mark_count == 2) {
        int64_t begin_ns;
        int64_t end_ns;
        app_span(app, &begin_ns, &end_ns);
        app_look_at(app, begin_ns, end_ns, 80);
    } else {
        app_fail(app, "nothing is selected: w and b select events, ] selects a gap");
    }
}

void verb_fit_all(struct app *app, int count)
{
    (void)count;
    app_remember(app);
    app_look(app, window_fit(app->trace->begin_ns, app->trace->end_ns, app->layout.time_cols));
}

void verb_fit_gpu(struct app *app, int count)
{
    const struct trace *trace = app->trace;
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *gpu = &trace->devices[i];
        if (gpu->busy_count > 0) {
            int64_t last_ns = gpu->busy_end_ns[gpu->busy_count - 1];
            begin_ns = gpu->busy_begin_ns[0] < begin_ns ? gpu->busy_begin_ns[0] : begin_ns;
            end_ns = last_ns > end_ns ? last_ns : end_ns;
        }
    }
    if (begin_ns >= end_ns) {
        verb_fit_all(app, count);
        return;
    }
    app_remember(app);
    app_look_at(app, begin_ns, end_ns, 100 - 100 / VIEW_EDGE_PARTS);
}

void verb_time_first(struct app *app, int count)
{
    (void)count;
    app_remember(app);
    app_look(app, window_put(&app->window, app->trace->begin_ns, 0));
}

void verb_time_last(struct app *app, int count)
{
    (void)count;
    app_remember(app);
    app_look(app, window_put(&app->window, app->trace->end_ns - 1, app->window.cols - 1));
}

void verb_goto_time(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_GOTO, "");
}

int app_goto(struct app *app, const char *text, struct err *err)
{
    bool relative = text[0] == '+' || text[0] == '-';
    int64_t t_ns = 0;
    if (wall_clock_is(text)) {
        if (wall_clock_parse(app->trace, text, &t_ns, err) != 0) {
            return -1;
        }
    } else if (timefmt_parse(text[0] == '+' ? text + 1 : text, INT64_C(1000000000), &t_ns, err) !=
               0) {
        return -1;
    }
    app_remember(app);
    if (relative) {
        t_ns = i64_add(t_ns, window_time(&app->window, app->cursor_col));
    }
    app_look(app, window_put(&app->window, t_ns, app->window.cols / 2));
    app->cursor_col = app->window.cols / 2;
    return 0;
}

static void view_return(struct app *app, const struct app_view *view)
{
    app->event = view->event;
    app->gap_begin_ns = app->gap_end_ns = 0;
    app_set_row(app, view->row);
    app_look(app, view->window);
    if (view->window.cols != app->layout.time_cols) {
        app_look(app, window_fit(view->window.begin_ns, window_end(&view->window),
                                 app->layout.time_cols));
    }
}

void verb_back(struct app *app, int count)
{
    struct app_view now = view_now(app);
    (void)count;
    while (app->back_count > 0 && view_same(&app->back[app->back_count - 1], &now)) {
        app->back_count--;
    }
    if (app->back_count == 0) {
        app_say(app, "this is the first view");
        return;
    }
    view_push(app->forward, &app->forward_count, &now);
    view_return(app, &app->back[--app->back_count]);
}

void verb_forward(struct app *app, int count)
{
    struct app_view now = view_now(app);
    (void)count;
    if (app->forward_count == 0) {
        app_say(app, "this is the newest view");
        return;
    }
    view_push(app->back, &app->back_count, &now);
    view_return(app, &app->forward[--app->forward_count]);
}
