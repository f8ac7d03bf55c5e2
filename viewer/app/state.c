/* state: see state.h. */
#include "viewer/app/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"

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
