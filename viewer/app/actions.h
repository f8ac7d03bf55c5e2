/*
 * actions: everything a person can do, once. This table gives the enum, the verbs' names for the
 * palette and scripts, the default keys, the help overlay, the man page and the completion.
 *
 * X(id, name, keys, context, group, help): keys are names of keys.h separated by blanks. A verb is
 * a function verb_ID(app, count); count is the number typed before the key, 0 for none.
 */
#ifndef CUTLINE_APP_ACTIONS_H
#define CUTLINE_APP_ACTIONS_H

#include <stddef.h>
#include <stdint.h>

struct app;

/* Where a key counts. Keys of a list or the help come before those of the view. */
enum action_context {
    ACTION_VIEW,
    ACTION_LIST,
    ACTION_HELP,
    ACTION_PROMPT,
    ACTION_CONTEXT_COUNT,
};

#define ACTION_GROUPS(X) \
    X(TIME, "Move in time") \
    X(ROWS, "Rows") \
    X(EVENTS, "Events") \
    X(FIND, "Search and filter") \
    X(LISTS, "Lists") \
    X(OTHER, "Other") \
    X(IN_LIST, "In a list") \
    X(IN_HELP, "In this help") \
    X(IN_PROMPT, "In a prompt")

enum action_group {
#define ACTION_GROUP_ENUM(id, title) ACTION_GROUP_##id,
    ACTION_GROUPS(ACTION_GROUP_ENUM)
#undef ACTION_GROUP_ENUM
    ACTION_GROUP_COUNT,
};

/* clang-format off */
#define ACTIONS_TIME(X) \
    X(pan_left, "pan-left", "h S-Left", VIEW, TIME, "move left by a tenth of the screen; 3h: by 3 columns") \
    X(pan_right, "pan-right", "l S-Right", VIEW, TIME, "move right") \
    X(page_left, "page-left", "H C-b", VIEW, TIME, "move left by a screen") \
    X(page_right, "page-right", "L C-f", VIEW, TIME, "move right by a screen") \
    X(zoom_in, "zoom-in", "+ =", VIEW, TIME, "zoom in about the selected event or the cursor") \
    X(zoom_out, "zoom-out", "- _", VIEW, TIME, "zoom out") \
    X(cursor_left, "cursor-left", "Left", VIEW, TIME, "the cursor to the left by a column; 9: by 9") \
    X(cursor_right, "cursor-right", "Right", VIEW, TIME, "the cursor to the right") \
    X(zoom_selected, "zoom-selected", "z", VIEW, TIME, "zoom so that the selected event or gap, or A to B, fills the screen") \
    X(fit_gpu, "fit-gpu", "a", VIEW, TIME, "show all GPU work") \
    X(fit_all, "fit-all", "A", VIEW, TIME, "show the whole capture") \
    X(time_first, "time-first", "0 Home", VIEW, TIME, "go to the first event") \
    X(time_last, "time-last", "$ End", VIEW, TIME, "go to the last event") \
    X(goto_time, "goto", "G @", VIEW, TIME, "go to a time: 12.5s, +3ms, -1s; or of the wall clock: 13:33:20.2") \
    X(mark, "mark", "m", VIEW, TIME, "mark A, then B: what is between them is measured") \
    X(marks_clear, "marks-clear", "M", VIEW, TIME, "forget A and B") \
    X(back, "back", "u C-o", VIEW, TIME, "back to the view before") \
    X(forward, "forward", "U C-r", VIEW, TIME, "forward again")

#define ACTIONS_ROWS(X) \
    X(row_down, "row-down", "j Down", VIEW, ROWS, "next row") \
    X(row_up, "row-up", "k Up", VIEW, ROWS, "previous row") \
    X(rows_down, "rows-down", "C-d PageDown", VIEW, ROWS, "half a screen of rows down") \
    X(rows_up, "rows-up", "C-u PageUp", VIEW, ROWS, "half a screen of rows up") \
    X(row_first, "row-first", "<", VIEW, ROWS, "first row") \
    X(row_last, "row-last", ">", VIEW, ROWS, "last row") \
    X(fold, "fold", "Space", VIEW, ROWS, "fold or unfold what is below the row") \
    X(hide, "hide", "x", VIEW, ROWS, "hide the row") \
    X(hide_none, "hide-none", "X", VIEW, ROWS, "show hidden rows again") \
    X(pin, "pin", "p", VIEW, ROWS, "pin the row to the top; again: let it go") \
    X(row_later, "row-later", "J", VIEW, ROWS, "move the row down") \
    X(row_earlier, "row-earlier", "K", VIEW, ROWS, "move the row up") \
    X(row_filter, "row-filter", "r", VIEW, ROWS, "show the rows whose label matches") \
    X(fold_all, "fold-all", "C", VIEW, ROWS, "fold all") \
    X(unfold_all, "unfold-all", "E", VIEW, ROWS, "unfold all")

#define ACTIONS_EVENTS(X) \
    X(event_next, "event-next", "w Tab", VIEW, EVENTS, "select the next event of the row") \
    X(event_previous, "event-previous", "b S-Tab", VIEW, EVENTS, "select the previous event of the row") \
    X(detail, "detail", "Enter", VIEW, EVENTS, "all columns of the selected event; again: back") \
    X(link, "link", "% o", VIEW, EVENTS, "op <-> its launch, wait <-> record, range <-> its GPU work") \
    X(step_next, "step-next", "}", VIEW, EVENTS, "the same place in the next step") \
    X(step_previous, "step-previous", "{", VIEW, EVENTS, "the same place in the previous step") \
    X(step_zoom, "step-zoom", "s", VIEW, EVENTS, "show the step around the selected event") \
    X(same_next, "same-next", ")", VIEW, EVENTS, "next event of the same name") \
    X(same_previous, "same-previous", "(", VIEW, EVENTS, "previous event of the same name") \
    X(gap_next, "gap-next", "]", VIEW, EVENTS, "next idle gap of the GPU") \
    X(gap_previous, "gap-previous", "[", VIEW, EVENTS, "previous idle gap of the GPU") \
    X(escape, "escape", "Esc", VIEW, EVENTS, "forget the selection and the marks of a search; again: A and B")

#define ACTIONS_FIND(X) \
    X(search, "search", "/", VIEW, FIND, "search names by regular expression") \
    X(search_next, "search-next", "n", VIEW, FIND, "next match") \
    X(search_previous, "search-previous", "N", VIEW, FIND, "previous match") \
    X(filter, "filter", "f", VIEW, FIND, "keep the ops and calls whose name matches; all figures follow") \
    X(filter_clear, "filter-clear", "F", VIEW, FIND, "show all again") \
    X(filter_hide, "filter-hide", "v", VIEW, FIND, "hide what the filter leaves out, or dim it")

#define ACTIONS_LISTS(X) \
    X(list_gaps, "gaps", "g", VIEW, LISTS, "idle gaps in view, longest first, with their cause") \
    X(list_top, "top", "t", VIEW, LISTS, "GPU ops in view, by time") \
    X(list_api, "api", "T", VIEW, LISTS, "API calls in view, by time") \
    X(list_nvtx, "nvtx", "R", VIEW, LISTS, "NVTX ranges in view, by time") \
    X(list_zones, "zones", "Z", VIEW, LISTS, "launch-bound zones: too many small kernels") \
    X(list_findings, "findings", "D", VIEW, LISTS, "diagnosis: what could be won, most first") \
    X(list_instances, "instances", "I", VIEW, LISTS, "all of the selected name, with a histogram") \
    X(list_events, "events", "e", VIEW, LISTS, "events of the row in view, in the order of time") \
    X(list_bookmarks, "bookmarks", "'", VIEW, LISTS, "bookmarks") \
    X(list_delta, "delta", "d", VIEW, LISTS, "with two captures: what differs in view, by name") \
    X(bookmark, "bookmark", "B", VIEW, LISTS, "keep this view as a bookmark")

#define ACTIONS_OTHER(X) \
    X(copy, "copy", "y", VIEW, OTHER, "copy the screen as text (terminal clipboard and a new file)") \
    X(copy_command, "copy-command", "Y", VIEW, OTHER, "copy the command line that opens this view") \
    X(copy_ncu, "copy-ncu", "c", VIEW, OTHER, "copy an ncu command that profiles the selected kernel") \
    X(save_svg, "save-svg", "S", VIEW, OTHER, "save the screen as an SVG picture") \
    X(help, "help", "? F1", VIEW, OTHER, "this help") \
    X(other, "other", "C-w", VIEW, OTHER, "with two captures: the focus to the other one") \
    X(align, "align", "&", VIEW, OTHER, "with two captures: align them at a range; empty: first kernel") \
    X(names, "names", "V", VIEW, OTHER, "names: short with what tells them apart, full, mangled") \
    X(palette, "palette", ":", VIEW, OTHER, "run an action by its name; or q, w FILE, bookmark NAME, a time") \
    X(reload, "reload", "F5", VIEW, OTHER, "read the file again") \
    X(redraw, "redraw", "C-l", VIEW, OTHER, "draw the whole screen again") \
    X(quit, "quit", "q", VIEW, OTHER, "leave")

#define ACTIONS_IN_LIST(X) \
    X(list_down, "list-down", "j Down", LIST, IN_LIST, "next line") \
    X(list_up, "list-up", "k Up", LIST, IN_LIST, "previous line") \
    X(list_page_down, "list-page-down", "C-d PageDown", LIST, IN_LIST, "a page down") \
    X(list_page_up, "list-page-up", "C-u PageUp", LIST, IN_LIST, "a page up") \
    X(list_first, "list-first", "< Home", LIST, IN_LIST, "first line") \
    X(list_last, "list-last", "> End", LIST, IN_LIST, "last line") \
    X(list_go, "list-go", "Enter", LIST, IN_LIST, "jump to it in the timeline") \
    X(list_sort, "list-sort", "s", LIST, IN_LIST, "sort by the next column") \
    X(list_reverse, "list-reverse", "r", LIST, IN_LIST, "sort the other way round") \
    X(list_filter, "list-filter", "\\", LIST, IN_LIST, "keep the lines that match") \
    X(list_next, "list-next", "Tab", LIST, IN_LIST, "the next list") \
    X(list_previous, "list-previous", "S-Tab", LIST, IN_LIST, "the list before") \
    X(list_close, "list-close", "Esc q", LIST, IN_LIST, "close the list")

#define ACTIONS_IN_HELP(X) \
    X(help_down, "help-down", "j Down Enter", HELP, IN_HELP, "a line down") \
    X(help_up, "help-up", "k Up", HELP, IN_HELP, "a line up") \
    X(help_page_down, "help-page-down", "C-d PageDown Space", HELP, IN_HELP, "a page down") \
    X(help_page_up, "help-page-up", "C-u PageUp", HELP, IN_HELP, "a page up") \
    X(help_close, "help-close", "q Esc ? F1", HELP, IN_HELP, "close the help")

#define ACTIONS_IN_PROMPT(X) \
    X(prompt_accept, "prompt-accept", "Enter", PROMPT, IN_PROMPT, "accept") \
    X(prompt_cancel, "prompt-cancel", "Esc C-c C-g", PROMPT, IN_PROMPT, "cancel") \
    X(prompt_rubout, "prompt-rubout", "Backspace C-h", PROMPT, IN_PROMPT, "delete the character before the cursor") \
    X(prompt_delete, "prompt-delete", "Delete C-d", PROMPT, IN_PROMPT, "delete the character under the cursor") \
    X(prompt_word, "prompt-word", "C-w", PROMPT, IN_PROMPT, "delete the word before the cursor") \
    X(prompt_clear, "prompt-clear", "C-u", PROMPT, IN_PROMPT, "delete all before the cursor") \
    X(prompt_left, "prompt-left", "Left", PROMPT, IN_PROMPT, "left") \
    X(prompt_right, "prompt-right", "Right", PROMPT, IN_PROMPT, "right") \
    X(prompt_first, "prompt-first", "Home C-a", PROMPT, IN_PROMPT, "to the begin") \
    X(prompt_last, "prompt-last", "End C-e", PROMPT, IN_PROMPT, "to the end") \
    X(prompt_older, "prompt-older", "Up C-p", PROMPT, IN_PROMPT, "older entry") \
    X(prompt_newer, "prompt-newer", "Down C-n", PROMPT, IN_PROMPT, "newer entry") \
    X(prompt_complete, "prompt-complete", "Tab", PROMPT, IN_PROMPT, "complete a name; again: the next one")

#define ACTIONS(X) \
    ACTIONS_TIME(X) ACTIONS_ROWS(X) ACTIONS_EVENTS(X) ACTIONS_FIND(X) ACTIONS_LISTS(X) \
    ACTIONS_OTHER(X) ACTIONS_IN_LIST(X) ACTIONS_IN_HELP(X) ACTIONS_IN_PROMPT(X)
/* clang-format on */

enum action_id {
#define ACTION_ENUM(id, name, keys, context, group, help) ACTION_##id,
    ACTIONS(ACTION_ENUM)
#undef ACTION_ENUM
    ACTION_COUNT,
};

#define ACTION_VERB(id, name, keys, context, group, help) \
    void verb_##id(struct app *app, int count);
ACTIONS(ACTION_VERB)
#undef ACTION_VERB

struct action {
    const char *name;
    const char *keys; /* the default keys */
    enum action_context context;
    enum action_group group;
    const char *help;
    void (*verb)(struct app *app, int count);
};

extern const struct action ACTION_TABLE[ACTION_COUNT];
/* "Move in time", ... */
const char *action_group_title(enum action_group group);
/* The action of a name, ACTION_COUNT where there is none. */
enum action_id action_by_name(const char *name, size_t len);

enum {
    ACTION_KEYS_MAX = 6 /* keys of one action */
};

/* Which keys do what. Zero-initialised = no keys. */
struct keymap {
    uint32_t keys[ACTION_COUNT][ACTION_KEYS_MAX]; /* 0 = free */
};

void keymap_defaults(struct keymap *map);
/* The action of a key in a context, ACTION_COUNT where it has none. */
enum action_id keymap_find(const struct keymap *map, enum action_context context, uint32_t key);
/* The first key of an action, for hints; 0 where it has none. */
uint32_t keymap_key(const struct keymap *map, enum action_id action);

#endif
