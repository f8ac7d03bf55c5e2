/*
 * help: what one sees first: the current row, the colours and signs, the words; then the keys as they
 * are configured, from the action table: those of an open list before the others.
 */
#include <stdio.h>
#include <string.h>

#include "viewer/app/keydoc.h"
#include "viewer/paint/parts.h"

enum {
    HELP_KEY_COLS = 20,
    HELP_TEXT_BYTES = 128
};

static void help_action(const struct parts *parts, enum action_id action, int y)
{
    char keys[HELP_TEXT_BYTES];
    int narrow = parts->at->cols < 60 ? 10 : HELP_KEY_COLS;
    struct canvas_pen pen = canvas_pen(parts->canvas, y, 2, narrow, ROLE_STATUS_KEY);
    (void)keydoc_keys(&parts->app->keymap, action, keys, sizeof keys);
    (void)canvas_text_cut(&pen, keys, strlen(keys));
    pen = canvas_pen(parts->canvas, y, narrow + 1, parts->at->cols, ROLE_TEXT);
    (void)canvas_text_cut(&pen, ACTION_TABLE[action].help, strlen(ACTION_TABLE[action].help));
}

/* The part of the help that is in sight. */
struct help_page {
    int y;
    int end;
    int first; /* line of the help at y */
    int line; /* the line that comes next */
};

/* The screen row of the next line, -1 where it is out of sight. */
static int help_next(struct help_page *page)
{
    int y = page->y + page->line - page->first;
    bool seen = page->line >= page->first && y < page->end;
    page->line++;
    return seen ? y : -1;
}

static void help_group(struct parts *parts, enum action_group group, struct help_page *page)
{
    int y = help_next(page);
    if (y >= 0) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_LIST_HEAD);
        (void)canvas_puts(&pen, action_group_title(group));
    }
    for (int i = 0; i < ACTION_COUNT; i++) {
        y = ACTION_TABLE[i].group == group ? help_next(page) : -1;
        if (y >= 0) {
            help_action(parts, (enum action_id)i, y);
        }
    }
}

/* What the colours and signs mean. */
static const struct help_sign {
    uint8_t role;
    uint8_t hue;
    const char *text;
} HELP_SIGNS[] = {
    {ROLE_BAR, 0, "a kernel or range: each name has its colour, the same everywhere"},
    {ROLE_BAR, HUE_LAUNCH, "an API call that launches"},
    {ROLE_BAR, HUE_SYNC, "an API call that waits"},
    {ROLE_BAR, HUE_ALLOC, "an API call that allocates, frees or loads a module"},
    {ROLE_BAR, HUE_COPY, "a copy or set on the device, and the call for it"},
    {ROLE_BAR, HUE_COPY_IN, "a copy to the device"},
    {ROLE_BAR, HUE_COPY_OUT, "a copy from the device"},
    {ROLE_SELECTED, 0, "the selected event"},
    {ROLE_MARK, 0, "what belongs to it: the launch of an op, the op of a launch"},
    {ROLE_BAR_DIM, 0, "what the filter leaves out"},
    {ROLE_GAP, 0, "a time in which the GPU runs nothing"},
};

enum {
    HELP_SIGN_COUNT = sizeof HELP_SIGNS / sizeof HELP_SIGNS[0]
};

static void help_sign(struct parts *parts, const struct help_sign *sign, int y)
{
    struct canvas_pen pen = canvas_pen(parts->canvas, y, 2, 8, (enum canvas_role)sign->role);
    pen.hue = sign->hue;
    if (sign->role == ROLE_GAP) {
        canvas_fill(&pen, parts->plain ? parts->glyphs->gap : ' ', 6);
    } else if (sign->role == ROLE_BAR_DIM && parts->plain) {
        canvas_fill(&pen, parts->glyphs->dim, 6);
    } else {
        canvas_put(&pen, parts->plain ? parts->glyphs->bar_left : parts->glyphs->bar_edge);
        canvas_fill(&pen, parts->plain ? parts->glyphs->bar_fill : ' ', 4);
        canvas_put(&pen, parts->plain ? parts->glyphs->bar_right : ' ');
    }
    pen = canvas_pen(parts->canvas, y, 10, parts->at->cols, ROLE_TEXT);
    (void)canvas_text_cut(&pen, sign->text, strlen(sign->text));
}

static void help_signs(struct parts *parts, struct help_page *page)
{
    int y = help_next(page);
    if (y >= 0) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_LIST_HEAD);
        (void)canvas_puts(&pen, "What one sees");
    }
    for (int i = 0; i < HELP_SIGN_COUNT; i++) {
        y = help_next(page);
        if (y >= 0) {
            help_sign(parts, &HELP_SIGNS[i], y);
        }
    }
}

/* What a row shows, by its kind and the begin of its label; the first that fits. */
static const struct help_row {
    uint8_t kind; /* enum row_kind */
    bool device; /* of a device */
    const char *label;
    const char *text;
} HELP_ROWS[] = {
    {ROW_DEVICE, true, "", "how busy it is in each column, all streams; red: nothing runs"},
    {ROW_SERIES, true, "queued", "ops that are launched and have not begun: they wait"},
    {ROW_SERIES, true, "memory", "memory of the device that is allocated"},
    {ROW_SERIES, true, "", "a metric of the GPU, as it was sampled"},
    {ROW_SERIES, false, "launch/ms",
     "kernels and graphs that the process launches in a millisecond"},
    {ROW_SERIES, false, "", "a value over time; the number is the largest in sight"},
    {ROW_LANE, true, "stream", "ops of a stream; the percent: busy part of the time in sight"},
    {ROW_LANE, true, "mem ops", "copies and sets of the device, of all its streams"},
    {ROW_LANE, true, "NVTX", "ranges, drawn where the work ran that was launched in them"},
    {ROW_LANE, false, "NVTX s/e", "ranges from a start to an end, which may overlap"},
    {ROW_LANE, false, "NVTX", "ranges of a thread, where it opened and closed them"},
    {ROW_LANE, false, "API", "CUDA calls of a thread"},
    {ROW_LANE, false, "marks", "NVTX marks: points in time"},
    {ROW_LANE, false, "OSRT", "calls of the operating system"},
    {ROW_LANE, false, "overhead", "time that the profiler took"},
    {ROW_LANE, false, "+", "what is inside of the row above, or overlaps with it"},
    {ROW_LANE, true, "+", "what is inside of the row above, or overlaps with it"},
    {ROW_LANE, false, "", "events of a thread"},
    {ROW_LANE, true, "", "ops of the device"},
    {ROW_PROCESS, false, "", "a process; Space folds its rows"},
    {ROW_GROUP, false, "", "rows that are folded; Space opens them"},
};

/* Words of the screen. */
static const struct help_word {
    const char *word;
    const char *text;
} HELP_WORDS[] = {
    {"compute, comm", "kernels; NCCL kernels, which may spin while they wait"},
    {"both", "computation and communication at the same time"},
    {"only copies", "copies while no kernel runs"},
    {"idle", "nothing runs on the device; ] and [ go from gap to gap"},
    {"queued 6 ms", "of an op: it was launched so long before it began"},
    {"name \xc2\xb7 words", "behind the dot: what others of this short name lack"},
};

enum {
    HELP_WORD_COUNT = sizeof HELP_WORDS / sizeof HELP_WORDS[0],
    HELP_ROW_COUNT = sizeof HELP_ROWS / sizeof HELP_ROWS[0],
    HELP_WORD_COLS = 16
};

static void help_head(const struct parts *parts, struct help_page *page, const char *title)
{
    int y = help_next(page);
    if (y >= 0) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_LIST_HEAD);
        (void)canvas_text_cut(&pen, title, strlen(title));
    }
}

static void help_word(const struct parts *parts, struct help_page *page, const char *word,
                      const char *text)
{
    int y = help_next(page);
    int narrow = parts->at->cols < 60 ? 12 : 2 + HELP_WORD_COLS;
    if (y >= 0) {
        struct canvas_pen pen = canvas_pen(parts->canvas, y, 2, narrow, ROLE_STATUS_KEY);
        (void)canvas_text_cut(&pen, word, strlen(word));
        pen = canvas_pen(parts->canvas, y, narrow + 1, parts->at->cols, ROLE_TEXT);
        (void)canvas_text_cut(&pen, text, strlen(text));
    }
}

/* The row on which the person stands. */
static void help_here(const struct parts *parts, struct help_page *page)
{
    const struct app *app = parts->app;
    if (app->rows.count == 0) {
        return;
    }
    const struct row *row = &app->rows.list[app->row];
    for (int i = 0; i < HELP_ROW_COUNT; i++) {
        const struct help_row *one = &HELP_ROWS[i];
        if (one->kind == row->kind && one->device == (row->device != TRACE_NONE) &&
            strncmp(row->label, one->label, strlen(one->label)) == 0) {
            help_head(parts, page, "This row");
            help_word(parts, page, row->label, one->text);
            return;
        }
    }
}

/* All lines: those in sight are painted, the others only counted. */
static void help_lines(struct parts *parts, struct help_page *page)
{
    bool list = parts->app->list.kind != PANEL_NONE;
    if (list) {
        help_group(parts, ACTION_GROUP_IN_LIST, page);
    }
    help_here(parts, page);
    help_signs(parts, page);
    help_head(parts, page, "Words");
    for (int i = 0; i < HELP_WORD_COUNT; i++) {
        help_word(parts, page, HELP_WORDS[i].word, HELP_WORDS[i].text);
    }
    for (int group = 0; group < ACTION_GROUP_COUNT; group++) {
        if (!list || group != ACTION_GROUP_IN_LIST) {
            help_group(parts, (enum action_group)group, page);
        }
    }
}

void parts_help(struct parts *parts)
{
    struct help_page all = {0};
    struct help_page page = {.y = parts->at->list_row, .first = parts->app->help_first};
    help_lines(parts, &all);
    page.end = page.y + parts->at->list_rows;
    if (page.first + parts->at->list_rows > all.line) {
        page.first = all.line - parts->at->list_rows;
    }
    page.first = page.first < 0 ? 0 : page.first;
    help_lines(parts, &page);
}
