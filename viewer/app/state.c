/* state: see state.h. */
#include "viewer/app/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/times.h"
#include "analysis/base/utf8.h"
#include "viewer/app/app_internal.h"

enum {
    STATE_LEVELS = 8,
    STATE_PATH_BYTES = 1024
};

/* "GPU 0 H100/stream 7/+1" */
static void state_path(const struct rows *rows, uint32_t row, char *out, size_t room)
{
    uint32_t up[STATE_LEVELS];
    int count = 0;
    size_t len = 0;
    while (row != TRACE_NONE && count < STATE_LEVELS) {
        up[count++] = row;
        row = rows->list[row].up;
    }
    out[0] = '\0';
    while (count > 0 && len < room) {
        int n = snprintf(out + len, room - len, "%s%s", len > 0 ? "/" : "",
                         rows->list[up[--count]].label);
        len += n > 0 ? (size_t)n : 0;
    }
}

void state_write(const struct app *app, struct buf *out)
{
    const struct rows *rows = &app->rows;
    char path[STATE_PATH_BYTES];
    for (int b = 0; b < app->bookmark_count; b++) {
        const struct app_bookmark *mark = &app->bookmarks[b];
        buf_addf(out, "bookmark %lld %lld ", (long long)mark->begin_ns, (long long)mark->end_ns);
        utf8_sanitize(out, mark->text, strlen(mark->text), false);
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[rows->order[i]];
        state_path(rows, rows->order[i], path, sizeof path);
        buf_addf(out, "row %s%s%s%s %s\n", row->collapsed ? "f" : "", row->hidden ? "h" : "",
                 row->pinned ? "p" : "", row->collapsed || row->hidden || row->pinned ? "" : "-",
                 path);
    }
}

/* The first row of that path that was not named yet. */
static uint32_t state_row(const struct rows *rows, const unsigned char *named, const char *wanted)
{
    char path[STATE_PATH_BYTES];
    for (uint32_t i = 0; i < rows->count; i++) {
        if (named[i] == 0) {
            state_path(rows, i, path, sizeof path);
            if (strcmp(path, wanted) == 0) {
                return i;
            }
        }
    }
    return TRACE_NONE;
}

static void state_bookmark(struct app *app, const char *line)
{
    struct app_bookmark mark = {0};
    long long begin_ns;
    long long end_ns;
    char *end = NULL;
    if (app->bookmark_count == APP_BOOKMARKS) {
        return;
    }
    begin_ns = strtoll(line, &end, 10);
    end_ns = strtoll(end, &end, 10);
    if (*end != ' ' || end_ns <= begin_ns) {
        return;
    }
    mark.begin_ns = begin_ns;
    mark.end_ns = end_ns;
    utf8_copy(mark.text, sizeof mark.text, end + 1, strlen(end + 1));
    app->bookmarks[app->bookmark_count++] = mark;
}

/* What has been read of the rows. */
struct state_rows {
    unsigned char *named; /* by row */
    uint32_t *order;
    uint32_t count;
};

static void state_row_line(struct app *app, struct state_rows *state, const char *line)
{
    size_t flags = strcspn(line, " ");
    if (line[flags] != ' ') {
        return;
    }
    uint32_t row = state_row(&app->rows, state->named, line + flags + 1);
    if (row == TRACE_NONE) {
        return;
    }
    struct row *it = &app->rows.list[row];
    it->collapsed = it->parent && memchr(line, 'f', flags) != NULL;
    it->hidden = memchr(line, 'h', flags) != NULL;
    it->pinned = memchr(line, 'p', flags) != NULL;
    state->named[row] = 1;
    state->order[state->count++] = row;
}

/* A time at *at, and moves on; false where there is none that fits. */
static bool state_time(const char **at, int64_t *ns)
{
    char *end = NULL;
    long long value = strtoll(*at, &end, 10);
    bool good = end != *at && value >= -TIMES_MAX_NS && value <= TIMES_MAX_NS;
    *at = end;
    *ns = good ? value : 0;
    return good;
}

/* "A B", or "A". */
static void state_marks(struct app *app, const char *at)
{
    app->mark_count = 0;
    while (app->mark_count < 2 && state_time(&at, &app->mark_ns[app->mark_count])) {
        app->mark_count++;
    }
    app->span_stamp++;
}

/* "PATH": the current row; with event "NS PATH": the event of that row. */
static void state_here(struct app *app, const char *at, bool event)
{
    int64_t t_ns = 0;
    if (event && !state_time(&at, &t_ns)) {
        return;
    }
    unsigned char *none = calloc((size_t)app->rows.count + 1, 1);
    uint32_t row = none != NULL ? state_row(&app->rows, none, at + strspn(at, " ")) : TRACE_NONE;
    free(none);
    if (row == TRACE_NONE || rows_place(&app->rows, row) == TRACE_NONE) {
        return;
    }
    struct window window = app->window;
    app_set_row(app, row);
    if (event && app->rows.list[row].kind == ROW_LANE) {
        app_select_near(app, row, t_ns);
        app_look(app, window);
    }
}

/* "DEVICE BEGIN END", the device by its place. */
static void state_gap(struct app *app, const char *at)
{
    int64_t device;
    int64_t begin_ns;
    int64_t end_ns;
    struct window window = app->window;
    if (state_time(&at, &device) && state_time(&at, &begin_ns) && state_time(&at, &end_ns) &&
        device >= 0 && device < (int64_t)app->trace->device_count && begin_ns < end_ns) {
        app_select_gap(app, (uint32_t)device, begin_ns, end_ns);
        app_look(app, window);
    }
}

static void state_part(struct app *app, const char *line)
{
    if (strncmp(line, "marks ", 6) == 0) {
        state_marks(app, line + 6);
    } else if (strncmp(line, "on ", 3) == 0) {
        state_here(app, line + 3, false);
    } else if (strncmp(line, "at ", 3) == 0) {
        state_here(app, line + 3, true);
    } else if (strncmp(line, "gap ", 4) == 0) {
        state_gap(app, line + 4);
    }
}

static void state_line(struct app *app, struct state_rows *state, const char *line)
{
    if (strncmp(line, "bookmark ", 9) == 0) {
        state_bookmark(app, line + 9);
    } else if (strncmp(line, "row ", 4) == 0 && state->count < app->rows.count) {
        state_row_line(app, state, line + 4);
    }
}

/* Is the order one in which what is below a row follows it? */
static bool state_is_tree(const struct rows *rows, const uint32_t *order)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[order[i]];
        uint32_t at = i;
        while (row->up != TRACE_NONE && at > 0 && order[at - 1] != row->up) {
            at--;
            if (rows->list[order[at]].level < row->level) {
                return false;
            }
        }
        if (row->up != TRACE_NONE && at == 0) {
            return false;
        }
    }
    return true;
}

void state_read(struct app *app, const char *text, size_t len)
{
    struct rows *rows = &app->rows;
    struct state_rows state = {calloc((size_t)rows->count + 1, 1),
                               calloc((size_t)rows->count + 1, sizeof *state.order), 0};
    const char *at = text;
    char line[STATE_PATH_BYTES];
    while (state.named != NULL && state.order != NULL && at < text + len) {
        const char *eol = memchr(at, '\n', (size_t)(text + len - at));
        size_t bytes = eol == NULL ? (size_t)(text + len - at) : (size_t)(eol - at);
        if (bytes < sizeof line) {
            memcpy(line, at, bytes);
            line[bytes] = '\0';
            state_line(app, &state, line);
        }
        at += bytes + 1;
    }
    if (state.order != NULL && state.count == rows->count && state_is_tree(rows, state.order)) {
        memcpy(rows->order, state.order, rows->count * sizeof *rows->order);
    }
    free(state.named);
    free(state.order);
    rows_arrange(rows);
    if (rows->shown_count == 0) {
        verb_hide_none(app, 0);
    }
    if (rows->shown_count > 0 && rows_place(rows, app->row) == TRACE_NONE) {
        app->row = rows->shown[0];
    }
}

/* Adds a part that ends with the path of a row; none where the path cannot be written so. */
static void state_put_row(const struct app *app, uint32_t row, const char *lead, struct buf *out)
{
    char path[STATE_PATH_BYTES];
    state_path(&app->rows, row, path, sizeof path);
    if (strchr(path, ';') == NULL && strchr(path, '\n') == NULL) {
        buf_addf(out, "%s%s %s", out->len > 0 ? ";" : "", lead, path);
    }
}

/* The rows that are not as they were when the capture was opened. */
static void state_put_rows(const struct app *app, struct buf *out)
{
    const struct rows *rows = &app->rows;
    char lead[16];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        bool flags = row->collapsed || row->hidden || row->pinned;
        if (row->collapsed == row->collapsed_first && !row->hidden && !row->pinned) {
            continue;
        }
        (void)snprintf(lead, sizeof lead, "row %s%s%s%s", row->collapsed ? "f" : "",
                       row->hidden ? "h" : "", row->pinned ? "p" : "", flags ? "" : "-");
        state_put_row(app, i, lead, out);
    }
}

void state_put_view(const struct app *app, struct buf *out)
{
    char lead[48];
    state_put_rows(app, out);
    if (app->mark_count > 0) {
        buf_addf(out, "%smarks %lld", out->len > 0 ? ";" : "", (long long)app->mark_ns[0]);
    }
    if (app->mark_count > 1) {
        buf_addf(out, " %lld", (long long)app->mark_ns[1]);
    }
    if (app_has_gap(app)) {
        buf_addf(out, "%sgap %u %lld %lld", out->len > 0 ? ";" : "", (unsigned)app->gap_device,
                 (long long)app->gap_begin_ns, (long long)app->gap_end_ns);
    } else if (app_has_event(app)) {
        (void)snprintf(lead, sizeof lead, "at %lld", (long long)app_event_begin(app, app->event));
        state_put_row(app, app->row, lead, out);
    } else if (app->row != 0) {
        state_put_row(app, app->row, "on", out);
    }
}

void state_take_view(struct app *app, const char *text)
{
    struct buf lines = {0};
    char line[STATE_PATH_BYTES];
    for (const char *at = text; *at != '\0'; at++) {
        buf_addc(&lines, (char)(*at == ';' ? '\n' : *at));
    }
    state_read(app, buf_text(&lines), lines.len);
    for (const char *at = buf_text(&lines); *at != '\0';) {
        size_t len = strcspn(at, "\n");
        if (len < sizeof line) {
            memcpy(line, at, len);
            line[len] = '\0';
            state_part(app, line);
        }
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    buf_free(&lines);
}
