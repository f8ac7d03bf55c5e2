/* verbs_find: verbs of search, filter and the prompt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/app/app_internal.h"

enum {
    FIND_COUNT_MAX = 4000000, /* of more events matches are not counted */
    FIND_KINDS = TERMS_KINDS_GPU | 1U << TRACE_API_CALL
};

static void find_drop_filter(struct app *app)
{
    terms_free(app->filter.terms);
    if (app->filter.spare == NULL && app->prompt.kind == PROMPT_FILTER) {
        app->filter.spare = app->filter.busy;
    } else {
        busy_free(app->filter.busy);
    }
    app->filter.terms = NULL;
    app->filter.busy = NULL;
    app->filter.pattern[0] = '\0';
    app->filter.stamp++;
}

/* A busy whose memory the next one may have; NULL = none. Takes it from the app. */
static struct busy *find_old_busy(struct app *app)
{
    struct busy **from = app->filter.busy != NULL ? &app->filter.busy : &app->filter.spare;
    struct busy *old = *from;
    *from = NULL;
    return old;
}

static void find_drop_spare(struct app *app)
{
    busy_free(app->filter.spare);
    app->filter.spare = NULL;
}

/* Writing to fresh pages takes half of the time of a filter, and the first letter would pay it. */
void app_prepare(struct app *app)
{
    size_t words = app->trace->name_count / 64 + 1;
    if (app->prompt.kind != PROMPT_FILTER || app->filter.busy != NULL ||
        app->filter.spare != NULL || app->trace->events[TRACE_GPU].count < APP_PREPARE_OPS) {
        return;
    }
    uint64_t *all = malloc(words * sizeof *all);
    if (all != NULL) {
        memset(all, 0xff, words * sizeof *all);
        app->filter.spare = busy_renew(NULL, app->trace, all, NULL, NULL);
        free(all);
    }
    (void)app_facts(app);
}

int app_set_filter(struct app *app, const char *pattern, struct err *err)
{
    size_t len = strlen(pattern);
    if (strcmp(pattern, app->filter.pattern) == 0) {
        return 0;
    }
    if (len == 0) {
        find_drop_filter(app);
        return 0;
    }
    const struct facts *facts = app_facts(app);
    if (facts == NULL || len >= sizeof app->filter.pattern) {
        return err_set(err, "no room for this filter");
    }
    struct terms *terms = terms_new(facts, pattern, len, FIND_KINDS, NULL, err);
    if (terms == NULL) {
        return -1;
    }
    struct busy *busy = terms_busy(find_old_busy(app), app->trace, terms, err);
    find_drop_filter(app);
    if (busy == NULL) {
        terms_free(terms);
        return -1;
    }
    app->filter.terms = terms;
    app->filter.busy = busy;
    memcpy(app->filter.pattern, pattern, len + 1);
    return 0;
}

int app_set_search(struct app *app, const char *pattern, struct err *err)
{
    size_t len = strlen(pattern);
    if (len == 0 || len >= sizeof app->search.pattern) {
        return err_set(err, "nothing to search for");
    }
    struct filter *filter = filter_new(pattern, len, err);
    if (filter == NULL) {
        return -1;
    }
    uint64_t *bits = filter_names(filter, app->trace, UINT32_MAX, NULL, NULL);
    int rc = bits == NULL ? err_nomem(err, "the search") : filter_check(filter, err);
    filter_free(filter);
    if (rc != 0) {
        free(bits);
        return -1;
    }
    free(app->search.bits);
    app->search.bits = bits;
    memcpy(app->search.pattern, pattern, len + 1);
    app->search.shown = true;
    return 0;
}

/* Rows of a folded group (OS runtime) are not searched: nobody looks for poll() there. */
static bool find_is_open(const struct rows *rows, const struct row *row)
{
    uint32_t up;
    if (row->kind != ROW_LANE || row->lane.index != NULL || row->hidden) {
        return false;
    }
    for (up = row->up; up != TRACE_NONE; up = rows->list[up].up) {
        if (rows->list[up].kind == ROW_GROUP && rows->list[up].collapsed) {
            return false;
        }
    }
    return true;
}

/* A place in the order of search: time, then row. */
struct find_place {
    int64_t t_ns;
    uint32_t row;
    uint32_t i; /* event of the row's lane */
};

static bool find_before(const struct find_place *a, const struct find_place *b)
{
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->row < b->row;
}

/* The nearest match of a row behind (step 1) or before (-1) a place; false if there is none. */
static bool find_in_row(const struct app *app, uint32_t row, const struct find_place *from,
                        int step, struct find_place *out)
{
    const struct lane *lane = &app->rows.list[row].lane;
    uint32_t i = lane_upper(lane, 0, from->t_ns);
    out->row = row;
    if (step < 0) {
        while (i < lane->count && lane->begin_ns[i] == from->t_ns) {
            i++;
        }
        i = i == 0 ? lane->count : i - 1;
    }
    while (i < lane->count) {
        out->t_ns = lane->begin_ns[i];
        out->i = i;
        if (busy_has(app->search.bits, lane->name[i]) &&
            (step > 0 ? find_before(from, out) : find_before(out, from))) {
            return true;
        }
        i = step < 0 && i == 0 ? lane->count : step < 0 ? i - 1 : i + 1;
    }
    return false;
}

static bool find_from(const struct app *app, const struct find_place *from, int step,
                      struct find_place *best)
{
    bool found = false;
    for (uint32_t row = 0; row < app->rows.count; row++) {
        struct find_place place = {0};
        if (!find_is_open(&app->rows, &app->rows.list[row]) ||
            !find_in_row(app, row, from, step, &place)) {
            continue;
        }
        if (!found || (step > 0 ? find_before(&place, best) : find_before(best, &place))) {
            *best = place;
            found = true;
        }
    }
    return found;
}

/* How many events of the rows that are searched match, and which one a place is: 1 = the first. */
struct find_count {
    uint32_t total;
    uint32_t at;
};

/* O(events of the rows); false where they are too many for that to be quick. */
static bool find_count(const struct app *app, const struct find_place *place,
                       struct find_count *out)
{
    uint64_t events = 0;
    *out = (struct find_count){0};
    for (uint32_t r = 0; r < app->rows.count; r++) {
        const struct row *row = &app->rows.list[r];
        if (!find_is_open(&app->rows, row)) {
            continue;
        }
        events += row->lane.count;
        for (uint32_t i = 0; events <= FIND_COUNT_MAX && i < row->lane.count; i++) {
            struct find_place one = {row->lane.begin_ns[i], r, i};
            if (busy_has(app->search.bits, row->lane.name[i])) {
                out->total++;
                out->at += place != NULL && !find_before(place, &one) ? 1 : 0;
            }
        }
    }
    return events <= FIND_COUNT_MAX;
}

/* While one types: what matches is marked and counted. */
static int find_preview(struct app *app, const char *text, struct err *err)
{
    struct find_count count;
    char total[TIMEFMT_BYTES];
    app->prompt.hint[0] = '\0';
    if (text[0] == '\0') {
        app->search.shown = false;
        return 0;
    }
    if (app_set_search(app, text, err) != 0) {
        return -1;
    }
    if (find_count(app, NULL, &count)) {
        (void)snprintf(app->prompt.hint, sizeof app->prompt.hint,
                       "%s match%s; Enter goes to the next one", timefmt_count(count.total, total),
                       count.total == 1 ? "" : "es");
    }
    return 0;
}

/* "match 3 of 396". */
static void find_say(struct app *app, const struct find_place *at, const char *wrapped)
{
    struct find_count count;
    char nth[TIMEFMT_BYTES];
    char total[TIMEFMT_BYTES];
    if (find_count(app, at, &count)) {
        app_say(app, "/%.80s/: match %s of %s%s", app->search.pattern, timefmt_count(count.at, nth),
                timefmt_count(count.total, total), wrapped);
    } else if (wrapped[0] != '\0') {
        app_say(app, "/%.80s/%s", app->search.pattern, wrapped);
    }
}

/* In an open list: the next line whose text matches. */
static void find_in_list(struct app *app, int step)
{
    struct panel *list = &app->list;
    struct filter *filter = filter_new(app->search.pattern, strlen(app->search.pattern), NULL);
    size_t found = list->count;
    for (size_t n = 1; filter != NULL && n <= list->count && found == list->count; n++) {
        size_t i = step > 0 ? (list->current + n) % list->count
                            : (list->current + list->count - n % list->count) % list->count;
        const struct panel_item *item = &list->items[i];
        bool match = item->name != TRACE_NONE
                         ? filter_match_name(filter, &app->trace->names[item->name])
                         : filter_match(filter, item->text, item->text_len);
        found = match ? i : found;
    }
    filter_free(filter);
    if (found == list->count) {
        app_fail(app, "no line matches /%.80s/", app->search.pattern);
        return;
    }
    list->current = found;
}

static void find_step(struct app *app, int step)
{
    struct find_place from = {window_time(&app->window, app->cursor_col), TRACE_NONE, 0};
    struct find_place to = {0};
    bool wrapped = false;
    if (app->search.bits == NULL) {
        app_fail(app, "nothing was searched for yet: / starts a search");
        return;
    }
    app->search.shown = true;
    if (app->list.kind != PANEL_NONE) {
        app_settle(app);
        find_in_list(app, step);
        return;
    }
    from.row = step > 0 ? 0 : TRACE_NONE;
    if (app_has_event(app)) {
        from.t_ns = app_event_begin(app, app->event);
        from.row = app->row;
    } else {
        from.t_ns -= step;
    }
    if (!find_from(app, &from, step, &to)) {
        from.t_ns = step > 0 ? INT64_MIN : INT64_MAX;
        wrapped = true;
        if (!find_from(app, &from, step, &to)) {
            app_fail(app, "no event matches /%s/", app->search.pattern);
            return;
        }
    }
    app_remember(app);
    app_set_row(app, to.row);
    app_select(app, (struct app_event){(uint32_t)app->rows.list[to.row].lane.table,
                                       lane_event(&app->rows.list[to.row].lane, to.i)});
    find_say(app, &to,
             !wrapped   ? ""
             : step > 0 ? ", from the begin again"
                        : ", from the end again");
}

void verb_search(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_SEARCH, "");
    /* A cancelled search goes back to the one before. */
    memcpy(app->prompt.before, app->search.pattern, sizeof app->prompt.before);
}

void verb_search_next(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        find_step(app, 1);
    }
}

void verb_search_previous(struct app *app, int count)
{
    int n = count > 0 ? count : 1;
    for (; n > 0; n--) {
        find_step(app, -1);
    }
}

void verb_filter(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_FILTER, app->filter.pattern);
}

void verb_filter_clear(struct app *app, int count)
{
    (void)count;
    (void)app_set_filter(app, "", NULL);
}

void verb_filter_hide(struct app *app, int count)
{
    (void)count;
    app->hide = !app->hide;
    app_say(app, app->hide ? "what the filter leaves out is hidden"
                           : "what the filter leaves out is dimmed");
}

void verb_palette(struct app *app, int count)
{
    (void)count;
    prompt_open(&app->prompt, PROMPT_COMMAND, "");
}

/* Keeps the lines of the open list that match. */
static int find_list_filter(struct app *app, const char *text, struct err *err)
{
    struct filter *filter = NULL;
    if (text[0] != '\0') {
        filter = filter_new(text, strlen(text), err);
        if (filter == NULL) {
            return -1;
        }
    }
    filter_free(app->list_filter);
    app->list_filter = filter;
    app->listed_kind = PANEL_NONE;
    return 0;
}

/* What happens while one types. */
static int (*const FIND_LIVE[PROMPT_KIND_COUNT])(struct app *app, const char *text,
                                                 struct err *err) = {
    [PROMPT_SEARCH] = find_preview,
    [PROMPT_FILTER] = app_set_filter,
    [PROMPT_ROWS] = app_set_row_filter,
    [PROMPT_LIST] = find_list_filter,
};

void app_prompt_changed(struct app *app)
{
    struct prompt *prompt = &app->prompt;
    struct err err = {0};
    prompt->message[0] = '\0';
    if (FIND_LIVE[prompt->kind] != NULL && FIND_LIVE[prompt->kind](app, prompt->text, &err) != 0) {
        (void)snprintf(prompt->message, sizeof prompt->message, "%.250s", err.text);
    }
}

static int find_accept(struct app *app, enum prompt_kind kind, const char *text, struct err *err)
{
    switch (kind) {
    case PROMPT_SEARCH:
        if (text[0] != '\0' && app_set_search(app, text, err) != 0) {
            return -1;
        }
        find_step(app, 1);
        return 0;
    case PROMPT_FILTER:
        return app_set_filter(app, text, err);
    case PROMPT_GOTO:
        return text[0] == '\0' ? 0 : app_goto(app, text, err);
    case PROMPT_ALIGN:
        app->ask = ASK_ALIGN;
        (void)snprintf(app->asked, sizeof app->asked, "%s", text);
        return 0;
    case PROMPT_COMMAND:
        return app_command(app, text, err);
    default:
        return 0;
    }
}

void verb_prompt_accept(struct app *app, int count)
{
    enum prompt_kind kind = app->prompt.kind;
    struct err err = {0};
    char text[PROMPT_BYTES];
    (void)count;
    memcpy(text, app->prompt.text, sizeof text);
    prompt_close(&app->prompt, true);
    find_drop_spare(app);
    if (find_accept(app, kind, text, &err) != 0) {
        app_fail(app, "%s", err.text);
    }
}

/* Back to the search before the one that was being typed. */
static void find_forget(struct app *app)
{
    if (app->prompt.before[0] == '\0' || app_set_search(app, app->prompt.before, NULL) != 0) {
        free(app->search.bits);
        app->search.bits = NULL;
        app->search.pattern[0] = '\0';
    }
    app->search.shown = false;
}

void verb_prompt_cancel(struct app *app, int count)
{
    (void)count;
    if (app->prompt.kind == PROMPT_FILTER) {
        (void)app_set_filter(app, app->prompt.before, NULL);
    } else if (app->prompt.kind == PROMPT_SEARCH) {
        find_forget(app);
    } else if (app->prompt.kind == PROMPT_LIST) {
        (void)find_list_filter(app, "", NULL);
    } else if (app->prompt.kind == PROMPT_ROWS) {
        (void)app_set_row_filter(app, "", NULL);
    }
    prompt_close(&app->prompt, false);
    find_drop_spare(app);
}

/* Bytes of the character before the cursor. */
static size_t find_left(const struct prompt *prompt)
{
    size_t n = prompt->cursor > 0 ? 1 : 0;
    while (n < prompt->cursor &&
           ((unsigned char)prompt->text[prompt->cursor - n] & 0xC0U) == 0x80U) {
        n++;
    }
    return n;
}

static size_t find_right(const struct prompt *prompt)
{
    size_t n = prompt->cursor < prompt->len ? 1 : 0;
    while (prompt->cursor + n < prompt->len &&
           ((unsigned char)prompt->text[prompt->cursor + n] & 0xC0U) == 0x80U) {
        n++;
    }
    return n;
}

static void find_cut(struct app *app, size_t from, size_t bytes)
{
    struct prompt *prompt = &app->prompt;
    if (bytes == 0) {
        return;
    }
    memmove(prompt->text + from, prompt->text + from + bytes, prompt->len - from - bytes + 1);
    prompt->len -= bytes;
    prompt->cursor = from;
    prompt->complete_at = -1;
    app_prompt_changed(app);
}

void verb_prompt_rubout(struct app *app, int count)
{
    size_t n = find_left(&app->prompt);
    (void)count;
    if (app->prompt.len == 0) {
        verb_prompt_cancel(app, 0);
        return;
    }
    find_cut(app, app->prompt.cursor - n, n);
}

void verb_prompt_delete(struct app *app, int count)
{
    (void)count;
    find_cut(app, app->prompt.cursor, find_right(&app->prompt));
}

void verb_prompt_word(struct app *app, int count)
{
    const struct prompt *prompt = &app->prompt;
    size_t from = prompt->cursor;
    (void)count;
    while (from > 0 && prompt->text[from - 1] == ' ') {
        from--;
    }
    while (from > 0 && prompt->text[from - 1] != ' ') {
        from--;
    }
    find_cut(app, from, prompt->cursor - from);
}

void verb_prompt_clear(struct app *app, int count)
{
    (void)count;
    find_cut(app, 0, app->prompt.cursor);
}

void verb_prompt_left(struct app *app, int count)
{
    (void)count;
    app->prompt.cursor -= find_left(&app->prompt);
}

void verb_prompt_right(struct app *app, int count)
{
    (void)count;
    app->prompt.cursor += find_right(&app->prompt);
}

void verb_prompt_first(struct app *app, int count)
{
    (void)count;
    app->prompt.cursor = 0;
}

void verb_prompt_last(struct app *app, int count)
{
    (void)count;
    app->prompt.cursor = app->prompt.len;
}

static void find_recall(struct app *app, int step)
{
    struct prompt *prompt = &app->prompt;
    const struct prompt_history *history = &prompt->history[prompt->kind];
    int recalled = prompt->recalled + step;
    if (recalled < 0 || recalled > history->count) {
        return;
    }
    prompt->recalled = recalled;
    prompt_set(prompt, recalled == 0 ? "" : history->lines[history->count - recalled]);
    app_prompt_changed(app);
}

void verb_prompt_older(struct app *app, int count)
{
    (void)count;
    find_recall(app, 1);
}

void verb_prompt_newer(struct app *app, int count)
{
    (void)count;
    find_recall(app, -1);
}
