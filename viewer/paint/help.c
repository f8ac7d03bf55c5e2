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
    int line;  /* the line that comes next */
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
    int i;
    if (y >= 0) {
        struct canvas_pen pen = parts_pen(parts, y, ROLE_LIST_HEAD);
        (void)canvas_puts(&pen, action_group_title(group));
    }
    for (i = 0; i < ACTION_COUNT; i++) {
        y = ACTION_TABLE[i].group == group ? help_next(page) : -1;
        if (y >= 0) {
            help_action(parts, (enum action_id)i, y);
        }
    }
}

void parts_help(struct parts *parts)
{
    struct help_page page = {.y = parts->at->list_row, .first = parts->app->help_first};
    int total = (int)ACTION_COUNT + (int)ACTION_GROUP_COUNT;
    int group;
    page.end = page.y + parts->at->list_rows;
    if (page.first + parts->at->list_rows > total) {
        page.first = total - parts->at->list_rows;
    }
    page.first = page.first < 0 ? 0 : page.first;
    for (group = 0; group < ACTION_GROUP_COUNT; group++) {
        help_group(parts, (enum action_group)group, &page);
    }
}
