/*
 * timeline: the rows: labels, lanes, utilisation, launches.
 *
 * A bar is blanks on a background colour with the name in it; without colour it is drawn with
 * brackets and a fill. What is narrower than two columns is a block as high as its busy share.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/table/spark.h"
#include "analysis/timeline/series.h"
#include "viewer/paint/parts.h"

enum {
    TIMELINE_EDGES_COLS = 10, /* narrower selected gaps have no edges */
    TIMELINE_NAME_COLS = 6, /* narrower bars are only colour */
    TIMELINE_FOUND_MAX = 64 /* of the events of one column so many are compared with the search */
};

/* The busy share of a stream in the window, at the end of its label: " 81%". */
static void timeline_share(const struct parts *parts, const struct row *row, int y,
                           enum canvas_role role)
{
    const struct app *app = parts->app;
    int64_t begin_ns = app->window.begin_ns;
    int64_t end_ns = window_end(&app->window);
    if (row->kind != ROW_LANE || row->lane.table != TRACE_GPU || row->lane.index != NULL ||
        parts->at->label_cols < 17) {
        return;
    }
    int64_t busy_ns = lane_busy_ns(&row->lane, app->filter.terms, begin_ns, end_ns);
    struct canvas_pen pen =
        canvas_pen(parts->canvas, y, parts->at->label_cols - 5, parts->at->label_cols - 1,
                   role == ROLE_LABEL_CURRENT ? role : ROLE_DIM);
    (void)canvas_printf(&pen, "%3.0f%%", 100.0 * (double)busy_ns / (double)(end_ns - begin_ns));
}

static void timeline_label(struct parts *parts, const struct row *row, int y, bool current)
{
    int room = parts->at->label_cols - 1;
    enum canvas_role role = current           ? ROLE_LABEL_CURRENT
                            : row->level == 0 ? ROLE_LABEL_GROUP
                                              : ROLE_LABEL;
    struct canvas_pen pen = canvas_pen(parts->canvas, y, 0, room, role);
    if (room <= 0) {
        return;
    }
    canvas_put(&pen, row->pinned      ? parts->glyphs->pinned
                     : !row->parent   ? ' '
                     : row->collapsed ? parts->glyphs->folded
                                      : parts->glyphs->open);
    canvas_fill(&pen, ' ', room > 12 ? row->level : row->level > 0 ? 1 : 0);
    if (row->pinned && row->level > 0 && row->device != TRACE_NONE) {
        (void)canvas_printf(&pen, "GPU%lld ",
                            (long long)parts->app->trace->devices[row->device].id);
    }
    (void)canvas_text_cut(&pen, row->label, strlen(row->label));
    if (current) {
        canvas_fill_rest(&pen, ' ');
    }
    timeline_share(parts, row, y, role);
}

/* Is the event one of those that the span stands for? */
static bool timeline_is(const struct parts *parts, const struct lane *lane, const struct span *span,
                        struct app_event event)
{
    const struct window *window = &parts->app->window;
    if (event.table != (uint32_t)lane->table || event.table >= TRACE_TABLE_COUNT) {
        return false;
    }
    if (!span->folded) {
        return lane_event(lane, span->event) == event.index;
    }
    int64_t begin_ns = app_event_begin(parts->app, event);
    return begin_ns < window_time(window, span->col + 1) &&
           app_event_end(parts->app, event) >= window_time(window, span->col) &&
           lane_find(lane, begin_ns, event.index) < lane->count;
}

/* Does the span stand for something that was searched for? */
static bool timeline_found(const struct parts *parts, const struct lane *lane,
                           const struct span *span)
{
    const struct app *app = parts->app;
    if (app->search.bits == NULL || !app->search.shown) {
        return false;
    }
    if (!span->folded) {
        return busy_has(app->search.bits, lane->name[span->event]);
    }
    int64_t end_ns = window_time(&app->window, span->col + span->cols);
    uint32_t i = lane_upper(lane, 0, window_time(&app->window, span->col) - 1);
    for (uint32_t n = 0; n < TIMELINE_FOUND_MAX && i < lane->count && lane->begin_ns[i] < end_ns;
         n++, i++) {
        if (busy_has(app->search.bits, lane->name[i])) {
            return true;
        }
    }
    return false;
}

static void timeline_hue(const struct parts *parts, uint32_t name, struct canvas_pen *pen)
{
    pen->hue = parts->app->hues[name];
    pen->rgb = parts->app->hue_rgbs[name];
}

/* "brief·tail" in so many columns: where both do not fit, the begin of the short name gives way. */
void parts_name(const struct parts *parts, uint32_t index, struct canvas_pen *pen)
{
    const struct app *app = parts->app;
    const struct trace_name *name = &app->trace->names[index];
    const struct label *label = &app->labels.list[index];
    int room = pen->end - pen->col;
    int end = pen->end;
    if (app->names == APP_NAMES_FULL) {
        (void)canvas_text_cut(pen, name->full, name->full_len);
        return;
    }
    if (app->names == APP_NAMES_MANGLED) {
        (void)canvas_text_cut(pen, name->mangled, name->mangled_len);
        return;
    }
    if (label->tail_len == 0 || room < PARTS_TAIL_COLS) {
        (void)canvas_text_cut(pen, name->brief, name->brief_len);
        return;
    }
    int brief = room - (int)label->tail_len - 1;
    brief = brief > room / 2 ? brief : room / 2;
    pen->end = pen->col + brief;
    (void)canvas_text_cut(pen, name->brief, name->brief_len);
    pen->end = end;
    canvas_put(pen, parts->glyphs->dim);
    (void)canvas_text_cut(pen, label->tail, label->tail_len);
}

/* The name, or its begin, in the middle part of a bar. */
static void timeline_name(const struct parts *parts, struct canvas_pen *pen, uint32_t index,
                          int cols)
{
    const struct trace_name *name = &parts->app->trace->names[index];
    int end = pen->end;
    pen->end = pen->col + cols < end ? pen->col + cols : end;
    if (cols >= TIMELINE_NAME_COLS) {
        parts_name(parts, index, pen);
    } else {
        /* Too narrow for an ellipsis. */
        (void)canvas_text(pen, name->brief, name->brief_len);
    }
    pen->end = end;
}

static void timeline_bar(const struct parts *parts, const struct lane *lane,
                         const struct span *span, struct canvas_pen *pen)
{
    const struct glyphs *glyphs = parts->glyphs;
    int end = pen->col + span->cols;
    bool framed = parts->plain;
    bool right = framed && span->ends && span->cols >= 2;
    int room = span->cols;
    if (framed && !span->kept) {
        canvas_fill(pen, glyphs->dim, span->cols);
        return;
    }
    if (framed) {
        canvas_put(pen, span->begins ? glyphs->bar_left : glyphs->bar_cut);
        room -= right ? 2 : 1;
    } else if (span->begins) {
        canvas_put(pen, glyphs->bar_edge);
        room--;
    }
    if (span->cols >= TIMELINE_NAME_COLS) {
        timeline_name(parts, pen, lane->name[span->event], room);
    }
    canvas_fill(pen, framed ? glyphs->bar_fill : ' ', end - pen->col - (right ? 1 : 0));
    if (right) {
        canvas_put(pen, glyphs->bar_right);
    }
}

static void timeline_block(const struct parts *parts, const struct lane *lane,
                           const struct span *span, struct canvas_pen *pen)
{
    int64_t ns = span->kept && span->kept_ns > 0 ? span->kept_ns : span->busy_ns;
    int level = glyphs_level(ns, parts->app->window.ns_per_col);
    bool mark = parts->app->trace->names[lane->name[span->event]].kind == TRACE_NVTX_MARK;
    if (parts->plain && !span->kept) {
        canvas_put(pen, parts->glyphs->dim);
        return;
    }
    canvas_put(pen, mark ? parts->glyphs->mark : parts->glyphs->level[level < 1 ? 1 : level]);
}

/* What a span is, before its hue. */
static enum canvas_role timeline_role(const struct parts *parts, const struct lane *lane,
                                      const struct span *span)
{
    if (timeline_is(parts, lane, span, parts->app->event)) {
        return ROLE_SELECTED;
    }
    if (timeline_is(parts, lane, span, parts->app->related)) {
        return ROLE_MARK;
    }
    if (!span->kept) {
        return span->folded ? ROLE_BLOCK_DIM : ROLE_BAR_DIM;
    }
    if (timeline_found(parts, lane, span)) {
        return span->folded ? ROLE_FOUND_BLOCK : ROLE_FOUND;
    }
    return span->folded ? ROLE_BLOCK : ROLE_BAR;
}

void parts_lane(struct parts *parts, const struct row *row, int y)
{
    const struct lane *lane = &row->lane;
    struct window window = parts->app->window;
    window.cols = window.cols < PARTS_COLS_MAX ? window.cols : PARTS_COLS_MAX;
    int count = span_build(lane, &window, parts->app->filter.terms, parts->spans);
    for (int i = 0; i < count; i++) {
        const struct span *span = &parts->spans[i];
        enum canvas_role role = timeline_role(parts, lane, span);
        struct canvas_pen pen = parts_time_pen(parts, y, role);
        if (parts->app->hide && !span->kept && role != ROLE_SELECTED) {
            continue;
        }
        pen.col += span->col;
        timeline_hue(parts, lane->name[span->event], &pen);
        if (span->folded || (parts->plain && span->cols == 1)) {
            timeline_block(parts, lane, span, &pen);
        } else {
            timeline_bar(parts, lane, span, &pen);
            if (role == ROLE_FOUND) {
                canvas_recolor(parts->canvas, y, parts->at->label_cols + span->col, 1,
                               ROLE_FOUND_EDGE);
            }
        }
    }
}

/* One run of columns without work: a block with its time in the middle. */
static void timeline_gap(const struct parts *parts, int y, int col, int cols, int64_t ns)
{
    uint32_t fill = parts->plain ? parts->glyphs->gap : ' ';
    struct canvas_pen pen = parts_time_pen(parts, y, ROLE_GAP);
    char text[TIMEFMT_BYTES];
    int len = (int)strlen(timefmt_duration(ns, text));
    pen.col += col;
    pen.end = pen.col + cols < pen.end ? pen.col + cols : pen.end;
    if (len <= cols) {
        int before = (cols - len) / 2;
        canvas_fill(&pen, fill, before - 1);
        canvas_fill(&pen, ' ', before > 0 ? 1 : 0);
        (void)canvas_puts(&pen, text);
        canvas_fill(&pen, ' ', cols - before - len > 0 ? 1 : 0);
    }
    canvas_fill_rest(&pen, fill);
}

/* The idle time around a column: the gap of the union that holds it. */
static int64_t timeline_gap_ns(const struct busy_union *work, int64_t t_ns)
{
    uint32_t low = busy_union_lower(work, t_ns);
    return low > 0 && low < work->count ? work->begin_ns[low] - work->end_ns[low - 1] : 0;
}

static void timeline_device(struct parts *parts, uint32_t device, int y)
{
    const struct app *app = parts->app;
    const struct window *window = &app->window;
    const struct busy *busy = app_busy(app);
    const struct busy_union *work = &busy->devices[device];
    struct canvas_pen pen = parts_time_pen(parts, y, ROLE_UTIL);
    int64_t first_ns = work->count > 0 ? work->begin_ns[0] : INT64_MAX;
    int64_t last_ns = work->count > 0 ? work->end_ns[work->count - 1] : INT64_MIN;
    int idle = -1;
    for (int col = 0; col <= window->cols; col++) {
        int64_t begin_ns = window_time(window, col);
        int64_t end_ns = begin_ns + window->ns_per_col;
        int64_t ns = col < window->cols ? busy_device_ns(busy, device, begin_ns, end_ns) : 1;
        bool gap = ns == 0 && begin_ns >= first_ns && end_ns <= last_ns;
        if (gap) {
            idle = idle < 0 ? col : idle;
            continue;
        }
        if (idle >= 0) {
            timeline_gap(parts, y, idle, col - idle,
                         timeline_gap_ns(work, window_time(window, idle)));
            idle = -1;
        }
        pen.col = parts->at->label_cols + col;
        if (col < window->cols && ns > 0) {
            /* Less than half busy: a place to look at. */
            pen.role = ns * 2 < window->ns_per_col ? ROLE_UTIL_LOW : ROLE_UTIL;
            canvas_put(&pen, parts->glyphs->level[glyphs_level(ns, window->ns_per_col)]);
        }
    }
}

/* The selected gap: brighter, with edges where both its ends can be seen. */
static void timeline_gap_selected(const struct parts *parts, int y)
{
    const struct app *app = parts->app;
    int64_t first = window_col(&app->window, app->gap_begin_ns);
    int64_t last = window_col(&app->window, app->gap_end_ns - 1);
    bool begins = first >= 0;
    bool ends = last < app->window.cols;
    first = begins ? first : 0;
    last = ends ? last : app->window.cols - 1;
    if (first > last) {
        return;
    }
    canvas_recolor(parts->canvas, y, parts->at->label_cols + (int)first, (int)(last - first) + 1,
                   ROLE_GAP_SELECTED);
    if (last - first >= TIMELINE_EDGES_COLS && begins && ends) {
        struct canvas_pen pen = parts_time_pen(parts, y, ROLE_GAP_SELECTED);
        pen.col = parts->at->label_cols + (int)first;
        canvas_put(&pen, parts->glyphs->bar_left);
        pen.col = parts->at->label_cols + (int)last;
        canvas_put(&pen, parts->glyphs->bar_right);
    }
}

/* The largest value in sight, in the rest of the label. */
static void timeline_series_label(const struct parts *parts, const struct row *row, double most,
                                  int y)
{
    const struct series *series = row->series;
    char text[TIMEFMT_BYTES];
    if (series->kind == SERIES_MEMORY) {
        /* A damaged size is as good as the largest: the number above it is no int64. */
        (void)timefmt_bytes(most < (double)INT64_MAX ? (int64_t)most : INT64_MAX, text);
    } else {
        (void)snprintf(text, sizeof text,
                       most < 10.0 && series->kind == SERIES_LAUNCHES ? "%.1f" : "%.0f", most);
    }
    int len = (int)strlen(text);
    if (parts->at->label_cols < 17 || most <= 0) {
        return;
    }
    struct canvas_pen pen = canvas_pen(parts->canvas, y, parts->at->label_cols - 1 - len,
                                       parts->at->label_cols - 1, ROLE_DIM);
    if (row->level + (int)strlen(row->label) >= pen.col - 1) {
        /* A long label ends before the value. */
        pen.col--;
        canvas_put(&pen, ' ');
    }
    (void)canvas_puts(&pen, text);
}

static void timeline_series(struct parts *parts, const struct row *row, int y)
{
    const struct window *window = &parts->app->window;
    int cols = window->cols < PARTS_COLS_MAX ? window->cols : PARTS_COLS_MAX;
    struct canvas_pen pen = parts_time_pen(parts, y, ROLE_SPARK);
    double most = 0;
    series_sample(row->series, window->begin_ns, window->ns_per_col, cols, SERIES_MAX,
                  parts->values);
    for (int col = 0; col < cols; col++) {
        most = parts->values[col] > most ? parts->values[col] : most;
    }
    for (int col = 0; col < cols; col++) {
        canvas_put(&pen, parts->glyphs->level[spark_level(parts->values[col], most)]);
    }
    timeline_series_label(parts, row, most, y);
}

static void timeline_row(struct parts *parts, uint32_t index, int y)
{
    const struct app *app = parts->app;
    const struct row *row = &app->rows.list[index];
    struct canvas_pen pen = parts_time_pen(parts, y, ROLE_DIM);
    timeline_label(parts, row, y, index == app->row);
    switch ((enum row_kind)row->kind) {
    case ROW_DEVICE:
        timeline_device(parts, row->device, y);
        if (app_has_gap(app) && app->gap_device == row->device) {
            timeline_gap_selected(parts, y);
        }
        break;
    case ROW_SERIES:
        timeline_series(parts, row, y);
        break;
    case ROW_LANE:
        parts_lane(parts, row, y);
        break;
    case ROW_PROCESS:
    case ROW_GROUP:
        (void)canvas_text_cut(&pen, row->note, strlen(row->note));
        break;
    }
}

void parts_hidden_rows(const struct parts *parts, int *above, int *below)
{
    const struct app *app = parts->app;
    int room = parts->at->body_rows - (int)app->rows.pinned_count;
    int rows = (int)(app->rows.shown_count - app->rows.pinned_count);
    *above = (int)app->first_shown;
    *below = rows - *above - room;
    *below = *below > 0 && room > 0 ? *below : 0;
}

/* Between labels and timeline: which part of the rows is in sight, where not all are. */
static void timeline_scrollbar(const struct parts *parts)
{
    const struct app *app = parts->app;
    int pinned = (int)app->rows.pinned_count;
    int room = parts->at->body_rows - pinned;
    int rows = (int)app->rows.shown_count - pinned;
    int above;
    int below;
    parts_hidden_rows(parts, &above, &below);
    if (parts->at->label_cols < 8 || room < 2 || rows <= room) {
        return;
    }
    int len = room * room / rows < 1 ? 1 : room * room / rows;
    int first = below == 0 ? room - len : above * (room - len) / (rows - room);
    for (int i = first; i < first + len; i++) {
        struct canvas_pen pen =
            canvas_pen(parts->canvas, parts->at->body_row + pinned + i, parts->at->label_cols - 1,
                       parts->at->label_cols, ROLE_RULE);
        canvas_put(&pen, parts->glyphs->scrollbar);
    }
}

void parts_timeline(struct parts *parts)
{
    const struct rows *rows = &parts->app->rows;
    for (int line = 0; line < parts->at->body_rows; line++) {
        uint32_t place = (uint32_t)line;
        if (place >= rows->pinned_count) {
            place = parts->app->first_shown + place - rows->pinned_count;
        }
        if (place >= rows->shown_count) {
            break;
        }
        timeline_row(parts, rows->shown[place], parts->at->body_row + line);
    }
    timeline_scrollbar(parts);
}
