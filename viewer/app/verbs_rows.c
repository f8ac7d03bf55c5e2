/* verbs_rows: verbs that hide, pin, move and filter rows. */
#include <string.h>

#include "viewer/app/app_internal.h"

/* Where the current row went out of sight, the one that took its place becomes current. */
static void row_verbs_settle(struct app *app, uint32_t place)
{
    rows_arrange(&app->rows);
    if (app->rows.shown_count == 0 || rows_place(&app->rows, app->row) != TRACE_NONE) {
        return;
    }
    if (place >= app->rows.shown_count) {
        place = app->rows.shown_count - 1;
    }
    app->row = app->rows.shown[place];
}

void verb_hide(struct app *app, int count)
{
    uint32_t place = rows_place(&app->rows, app->row);
    (void)count;
    if (place == TRACE_NONE || app->rows.shown_count < 2) {
        app_fail(app, "the last row stays");
        return;
    }
    app->rows.list[app->row].hidden = true;
    app->rows.list[app->row].pinned = false;
    row_verbs_settle(app, place);
    if (app->rows.shown_count == 0) {
        verb_hide_none(app, 0);
    }
}

void verb_hide_none(struct app *app, int count)
{
    (void)count;
    for (uint32_t i = 0; i < app->rows.count; i++) {
        app->rows.list[i].hidden = false;
        app->rows.list[i].filtered = false;
    }
    rows_arrange(&app->rows);
}

void verb_pin(struct app *app, int count)
{
    (void)count;
    if (app->rows.count == 0) {
        return;
    }
    if (!app->rows.list[app->row].pinned &&
        (int)app->rows.pinned_count + 2 >= app->layout.body_rows) {
        app_fail(app, "no room for one more pinned row");
        return;
    }
    app->rows.list[app->row].pinned = !app->rows.list[app->row].pinned;
    row_verbs_settle(app, 0);
}

static void row_verbs_move(struct app *app, int count, int step)
{
    int n = count > 0 ? count : 1;
    for (; n > 0 && app->rows.count > 0; n--) {
        if (!rows_move(&app->rows, app->row, step)) {
            app_say(app, "the row has no neighbour on its level there");
            return;
        }
    }
}

void verb_row_later(struct app *app, int count)
{
    row_verbs_move(app, count, 1);
}

void verb_row_earlier(struct app *app, int count)
{
    row_verbs_move(app, count, -1);
}

void verb_row_filter(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_ROWS, "");
}

/* A row stays if its label matches, or that of a row above or below it. */
int app_set_row_filter(struct app *app, const char *pattern, struct err *err)
{
    struct filter *filter = NULL;
    if (pattern[0] != '\0') {
        filter = filter_new(pattern, strlen(pattern), err);
        if (filter == NULL) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < app->rows.count; i++) {
        struct row *row = &app->rows.list[i];
        bool above = row->up != TRACE_NONE && app->rows.list[row->up].matched;
        row->matched =
            filter == NULL || above || filter_match(filter, row->label, strlen(row->label));
        row->filtered = !row->matched;
    }
    for (uint32_t i = app->rows.count; i-- > 0;) {
        const struct row *row = &app->rows.list[i];
        if (!row->filtered && row->up != TRACE_NONE) {
            app->rows.list[row->up].filtered = false;
        }
    }
    int rc = filter == NULL ? 0 : filter_check(filter, err);
    filter_free(filter);
    row_verbs_settle(app, 0);
    return rc;
}
