/* help: the keys as they are configured, from the action table. */
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

void parts_help(struct parts *parts)
{
    struct help_page page = {.y = parts->at->list_row, .first = parts->app->help_first};
    int total = (int)ACTION_COUNT + (int)ACTION_GROUP_COUNT + 1 + (int)HELP_SIGN_COUNT;
    page.end = page.y + parts->at->list_rows;
    if (page.first + parts->at->list_rows > total) {
        page.first = total - parts->at->list_rows;
    }
    page.first = page.first < 0 ? 0 : page.first;
    for (int group = 0; group < ACTION_GROUP_COUNT; group++) {
        if (group == ACTION_GROUP_IN_LIST) {
            help_signs(parts, &page);
        }
        help_group(parts, (enum action_group)group, &page);
    }
}
