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

/* The lines of the help, from the first that is shown: group titles and actions. */
void parts_help(struct parts *parts)
{
    int y = parts->at->list_row;
    int end = y + parts->at->list_rows;
    int line = 0;
    int last = -1;
    int first = parts->app->help_first;
    int group;
    int total = ACTION_COUNT + ACTION_GROUP_COUNT;
    int room = end - y;
    first = first + room > total ? total - room : first;
    first = first < 0 ? 0 : first;
    for (group = 0; group < ACTION_GROUP_COUNT; group++) {
        int i;
        for (i = 0; i < ACTION_COUNT; i++) {
            if ((int)ACTION_TABLE[i].group != group) {
                continue;
            }
            if (group != last) {
                if (line >= first && y + line - first < end) {
                    struct canvas_pen pen = parts_pen(parts, y + line - first, ROLE_LIST_HEAD);
                    (void)canvas_puts(&pen, action_group_title((enum action_group)group));
                }
                last = group;
                line++;
            }
            if (line >= first && y + line - first < end) {
                help_action(parts, (enum action_id)i, y + line - first);
            }
            line++;
        }
    }
}
