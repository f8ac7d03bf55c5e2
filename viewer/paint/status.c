/* status: the header above and the line of keys, messages or the prompt below. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/paint/parts.h"

enum {
    STATUS_TEXT_BYTES = 128,
    STATUS_HINT_ROWS = 10, /* less have no room for a line above the prompt */
    STATUS_WIDE_COLS = 100
};

/* The longest form that fits: all, without a word, without the gaps, only the share. */
static void status_device(const struct parts *parts, uint32_t device, struct canvas_pen *pen)
{
    const struct app *app = parts->app;
    const struct app_figures *figures = &app->figures;
    long long id = (long long)app->trace->devices[device].id;
    int room = pen->end - pen->col;
    char text[STATUS_TEXT_BYTES];
    char idle[TIMEFMT_BYTES];
    char count[TIMEFMT_BYTES];
    if (figures->span_ns[device] <= 0) {
        (void)canvas_printf(pen, "GPU%lld no work  ", id);
        return;
    }
    double share = 100.0 * (double)figures->busy_ns[device] / (double)figures->span_ns[device];
    (void)timefmt_duration(figures->gap_ns[device], idle);
    (void)timefmt_count(figures->gap_count[device], count);
    int len = snprintf(text, sizeof text, "GPU%lld %.1f%% busy, idle %s in %s gap%s  ", id, share,
                       idle, count, figures->gap_count[device] == 1 ? "" : "s");
    if (len - 2 > room) {
        len = snprintf(text, sizeof text, "GPU%lld %.1f%%, idle %s in %s gap%s  ", id, share, idle,
                       count, figures->gap_count[device] == 1 ? "" : "s");
    }
    if (len - 2 > room) {
        len = snprintf(text, sizeof text, "GPU%lld %.1f%% busy, idle %s  ", id, share, idle);
    }
    if (device != app_device(app) || len - 2 > room) {
        len = snprintf(text, sizeof text, "GPU%lld %.1f%%  ", id, share);
    }
    if (len - 2 > room) {
        return; /* half a number would be a wrong one */
    }
    pen->role = device == app_device(app) ? ROLE_HEADER_STRONG : ROLE_HEADER;
    (void)canvas_puts(pen, text);
    pen->role = ROLE_HEADER;
}

static void status_devices(const struct parts *parts, struct canvas_pen *pen)
{
    const struct app *app = parts->app;
    uint32_t current = app_device(app);
    if (app->figures.device_count == 0) {
        (void)canvas_puts(pen, "no GPU work in this capture  ");
        return;
    }
    if (current < app->figures.device_count) {
        status_device(parts, current, pen);
    }
    for (uint32_t i = 0; i < app->figures.device_count && pen->end - pen->col > 18; i++) {
        if (i != current) {
            status_device(parts, i, pen);
        }
    }
}

/* "3 rows left out  ", "20 early ops  ": what the picture lacks, or shows where it cannot be. */
static void status_oddities(const struct parts *parts, struct canvas_pen *pen)
{
    const struct trace_counts *counts = &parts->app->trace->counts;
    char count[TIMEFMT_BYTES];
    pen->role = ROLE_HEADER_STRONG;
    if (counts->misplaced > 0) {
        (void)canvas_printf(pen, "%s row%s left out  ", timefmt_count(counts->misplaced, count),
                            counts->misplaced == 1 ? "" : "s");
    }
    if (counts->early > 0) {
        (void)canvas_printf(pen, "%s early op%s  ", timefmt_count(counts->early, count),
                            counts->early == 1 ? "" : "s");
    }
    pen->role = ROLE_HEADER;
}

/* The room for the name of the file: what stands behind it matters more. */
static int status_name_cols(const struct parts *parts)
{
    int cols = parts->at->cols;
    if (cols >= STATUS_WIDE_COLS) {
        return 32;
    }
    if (parts->app->filter.terms != NULL) {
        return cols >= 80 ? 12 : 0;
    }
    return cols >= 60 ? 18 : 0;
}

void parts_header(struct parts *parts)
{
    const struct app *app = parts->app;
    const struct window *window = &app->window;
    struct canvas_pen pen = parts_pen(parts, 0, ROLE_HEADER);
    int64_t span_ns = window_end(window) - window->begin_ns;
    char at[TIMEFMT_BYTES];
    char span[TIMEFMT_BYTES];
    char filter[STATUS_TEXT_BYTES] = "";
    int pattern_cols = parts->at->cols >= STATUS_WIDE_COLS ? 24 : 18;
    int name_end = status_name_cols(parts);
    int end = pen.end;
    if (app->filter.terms != NULL) {
        int len = snprintf(filter, sizeof filter, " %u of %u names ", app->filter.terms->matched,
                           app->filter.terms->names);
        len += (int)strlen(app->filter.pattern) < pattern_cols ? (int)strlen(app->filter.pattern)
                                                               : pattern_cols;
        pen.end = end - len - 3 > 0 ? end - len - 3 : 0;
    }
    if (app->pair.other != NULL) {
        pen.role = app->bare ? ROLE_HEADER : ROLE_CURSOR;
        (void)canvas_puts(&pen, app->pair.is_new ? "NEW " : "BASE ");
        pen.role = ROLE_HEADER;
    }
    if (name_end > 0) {
        int limit = pen.end;
        pen.role = ROLE_HEADER_STRONG;
        pen.end = name_end < limit ? name_end : limit;
        (void)canvas_text_cut(&pen, app->title, strlen(app->title));
        pen.end = limit;
        pen.role = ROLE_HEADER;
        (void)canvas_puts(&pen, "  ");
    }
    (void)canvas_printf(&pen, "%s +%s  ", timefmt_at(window->begin_ns, span_ns / 100 + 1, at),
                        timefmt_duration(span_ns, span));
    status_oddities(parts, &pen);
    status_devices(parts, &pen);
    canvas_fill_rest(&pen, ' ');
    pen.end = end;
    if (app->filter.terms != NULL) {
        pen.role = ROLE_HEADER_STRONG;
        canvas_put(&pen, '/');
        pen.end = pen.col + pattern_cols < end ? pen.col + pattern_cols : end;
        (void)canvas_text_cut(&pen, app->filter.pattern, strlen(app->filter.pattern));
        pen.end = end;
        canvas_put(&pen, '/');
        pen.role = ROLE_HEADER;
        (void)canvas_puts(&pen, filter);
        canvas_fill_rest(&pen, ' ');
    }
}

/* A hint: keys of some actions and a word. */
struct status_hint {
    enum action_id first;
    enum action_id second; /* ACTION_COUNT: none */
    const char *word;
};

static void status_hints(struct parts *parts, const struct status_hint *hints, size_t count)
{
    struct canvas_pen pen = parts_pen(parts, parts->at->status_row, ROLE_STATUS);
    for (size_t i = 0; i < count; i++) {
        char one[KEYS_NAME_BYTES] = "";
        char two[KEYS_NAME_BYTES] = "";
        const struct keymap *map = &parts->app->keymap;
        (void)keys_name(keymap_key(map, hints[i].first), one);
        if (hints[i].second != ACTION_COUNT) {
            (void)keys_name(keymap_key(map, hints[i].second), two);
        }
        size_t cols = strlen(one) + strlen(two) + strlen(hints[i].word) + 3;
        if (pen.col + (int)cols > pen.end) {
            break;
        }
        pen.role = ROLE_STATUS_KEY;
        (void)canvas_puts(&pen, one);
        if (two[0] != '\0') {
            canvas_put(&pen, '/');
            (void)canvas_puts(&pen, two);
        }
        pen.role = ROLE_STATUS;
        (void)canvas_printf(&pen, " %s  ", hints[i].word);
    }
}

static const struct status_hint STATUS_VIEW[] = {
    {ACTION_help, ACTION_COUNT, "help"},
    {ACTION_quit, ACTION_COUNT, "quit"},
    {ACTION_pan_left, ACTION_pan_right, "pan"},
    {ACTION_zoom_in, ACTION_zoom_out, "zoom"},
    {ACTION_row_down, ACTION_row_up, "row"},
    {ACTION_event_next, ACTION_COUNT, "event"},
    {ACTION_list_gaps, ACTION_COUNT, "gaps"},
    {ACTION_list_top, ACTION_COUNT, "top"},
    {ACTION_filter, ACTION_COUNT, "filter"},
    {ACTION_search, ACTION_COUNT, "search"},
    {ACTION_fit_gpu, ACTION_COUNT, "all"},
    {ACTION_fold, ACTION_COUNT, "fold"},
    {ACTION_list_findings, ACTION_COUNT, "diagnosis"},
    {ACTION_goto_time, ACTION_COUNT, "go to"},
    {ACTION_mark, ACTION_COUNT, "measure"},
};
static const struct status_hint STATUS_EVENT[] = {
    {ACTION_event_next, ACTION_event_previous, "next/previous"},
    {ACTION_detail, ACTION_COUNT, "all columns"},
    {ACTION_link, ACTION_COUNT, "launch <-> op"},
    {ACTION_zoom_selected, ACTION_COUNT, "zoom to it"},
    {ACTION_same_next, ACTION_same_previous, "same name"},
    {ACTION_escape, ACTION_COUNT, "unselect"},
    {ACTION_help, ACTION_COUNT, "help"},
};
static const struct status_hint STATUS_GAP[] = {
    {ACTION_gap_next, ACTION_gap_previous, "next/previous gap"},
    {ACTION_zoom_selected, ACTION_COUNT, "zoom to it"},
    {ACTION_list_gaps, ACTION_COUNT, "list"},
    {ACTION_escape, ACTION_COUNT, "unselect"},
    {ACTION_help, ACTION_COUNT, "help"},
};
static const struct status_hint STATUS_LIST[] = {
    {ACTION_list_down, ACTION_list_up, "line"},      {ACTION_list_go, ACTION_COUNT, "jump"},
    {ACTION_list_sort, ACTION_list_reverse, "sort"}, {ACTION_list_close, ACTION_COUNT, "close"},
    {ACTION_pan_left, ACTION_pan_right, "pan"},      {ACTION_zoom_in, ACTION_zoom_out, "zoom"},
    {ACTION_filter, ACTION_COUNT, "filter"},
};
static const struct status_hint STATUS_HELP[] = {
    {ACTION_help_down, ACTION_help_up, "scroll"},
    {ACTION_help_close, ACTION_COUNT, "close"},
};

#define STATUS_HINTS(parts, table) status_hints(parts, table, sizeof(table) / sizeof((table)[0]))

/* Above the prompt: what one may type, or what is found. */
static void status_hint_line(struct parts *parts)
{
    const struct prompt *prompt = &parts->app->prompt;
    const char *text = prompt->hint;
    if (prompt->kind == PROMPT_FILTER) {
        text = "REGEX  -REGEX excludes  class:gemm  stream:7  kind:copy  nvtx:NAME  dur>100us  Tab "
               "completes";
    }
    if (text[0] == '\0' || parts->at->rows < STATUS_HINT_ROWS) {
        return;
    }
    struct canvas_pen pen = parts_pen(parts, parts->at->status_row - 1, ROLE_DIM);
    (void)canvas_text_cut(&pen, text, strlen(text));
    canvas_fill_rest(&pen, ' ');
}

static void status_prompt(struct parts *parts)
{
    const struct prompt *prompt = &parts->app->prompt;
    struct canvas_pen pen = parts_pen(parts, parts->at->status_row, ROLE_STATUS_KEY);
    size_t from = 0;
    (void)canvas_puts(&pen, prompt_lead(prompt->kind));
    int begin = pen.col;
    /* A line that is too long is shown from where its cursor fits. */
    while (prompt->cursor - from + 8 > (size_t)(pen.end > begin ? pen.end - begin : 1) &&
           from < prompt->cursor) {
        from++;
    }
    while (from < prompt->len && ((unsigned char)prompt->text[from] & 0xC0U) == 0x80U) {
        from++;
    }
    pen.role = ROLE_PROMPT;
    (void)canvas_text(&pen, prompt->text + from, prompt->cursor - from);
    pen.role = ROLE_PROMPT_CURSOR;
    size_t shown = prompt->cursor;
    if (shown < prompt->len) {
        do {
            shown++;
        } while (shown < prompt->len && ((unsigned char)prompt->text[shown] & 0xC0U) == 0x80U);
        (void)canvas_text(&pen, prompt->text + prompt->cursor, shown - prompt->cursor);
    } else {
        canvas_put(&pen, ' ');
    }
    pen.role = ROLE_PROMPT;
    (void)canvas_text(&pen, prompt->text + shown, prompt->len - shown);
    if (prompt->message[0] != '\0') {
        pen.role = ROLE_ERROR;
        (void)canvas_puts(&pen, "  ");
        (void)canvas_text_cut(&pen, prompt->message, strlen(prompt->message));
    }
}

/* At the end of the line: how far the file is read. */
static void status_reading(struct parts *parts)
{
    const char *text = parts->app->reading;
    int col = parts->at->cols - (int)strlen(text) - 2;
    struct canvas_pen pen = canvas_pen(parts->canvas, parts->at->status_row, col < 0 ? 0 : col,
                                       parts->at->cols, ROLE_PROMPT_CURSOR);
    (void)canvas_printf(&pen, " %s ", text);
}

static void status_line(struct parts *parts)
{
    const struct app *app = parts->app;
    struct canvas_pen pen = parts_pen(parts, parts->at->status_row, ROLE_STATUS);
    if (app->prompt.kind != PROMPT_NONE) {
        status_hint_line(parts);
        status_prompt(parts);
    } else if (app->count > 0) {
        (void)canvas_printf(&pen, "%d ...", app->count);
    } else if (app->message[0] != '\0') {
        pen.role = app->message_is_error ? ROLE_ERROR : ROLE_STATUS;
        (void)canvas_text_cut(&pen, app->message, strlen(app->message));
    } else if (app->help_open) {
        STATUS_HINTS(parts, STATUS_HELP);
    } else if (app->list.kind != PANEL_NONE) {
        STATUS_HINTS(parts, STATUS_LIST);
    } else if (app_has_gap(app)) {
        STATUS_HINTS(parts, STATUS_GAP);
    } else if (app_has_event(app)) {
        STATUS_HINTS(parts, STATUS_EVENT);
    } else {
        STATUS_HINTS(parts, STATUS_VIEW);
    }
}

void parts_status(struct parts *parts)
{
    if (parts->at->status_row < 0) {
        return;
    }
    status_line(parts);
    if (parts->app->reading[0] != '\0' && parts->app->prompt.kind == PROMPT_NONE) {
        status_reading(parts);
    }
}
