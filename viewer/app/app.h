/*
 * app: the state of the timeline and what keys do to it. Pure: no terminal, nothing printed.
 *
 *     app_open -> app_resize -> (app_key... -> app_settle -> frame_paint)... -> app_close
 *
 * A session (screens.h) stands around one app or two.
 *
 * Verbs (actions.h) change the state; app_settle brings everything derived up to date (sums of the
 * rows in sight, the open list, the texts of the detail pane, the figures of the header), so that
 * painting only reads.
 */
#ifndef CUTLINE_APP_APP_H
#define CUTLINE_APP_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/detect/measure.h"
#include "analysis/diff/align.h"
#include "analysis/facts/facts.h"
#include "analysis/filter/filter.h"
#include "analysis/filter/terms.h"
#include "analysis/timeline/relate.h"
#include "analysis/trace/busy.h"
#include "analysis/trace/trace.h"
#include "viewer/app/actions.h"
#include "viewer/app/detail.h"
#include "viewer/app/keys.h"
#include "viewer/app/panel.h"
#include "viewer/app/prompt.h"
#include "viewer/rows/hue.h"
#include "viewer/rows/labels.h"
#include "viewer/rows/rows.h"
#include "viewer/rows/window.h"

/* An event: (table, index); table TRACE_TABLE_COUNT = none. */
struct app_event {
    uint32_t table;
    uint32_t index;
};

/* A resize shows the time of the window before it as nearly as the columns allow. The next one starts
 * from that window again, unless something else moved it: sizes that come and go leave no trace. */
struct app_sized {
    struct window from, to; /* before and after; cols 0: no resize yet */
    int from_col, to_col; /* the cursor */
};

/* What is seen: goes into the back/forward history. */
struct app_view {
    struct window window;
    uint32_t row; /* the current row, an index in rows.list */
    struct app_event event;
};

enum {
    APP_HISTORY = 64,
    APP_DEVICES_SHOWN = 64,
    APP_MESSAGE_BYTES = 256,
    APP_TITLE_BYTES = 256,
    APP_READING_BYTES = 64,
    APP_PREPARE_OPS = 100000, /* fewer ops need no preparation */
    APP_BOOKMARKS = 64,
    APP_PARTS_OPS = 1000000 /* with more ops the parts are left to the measure of A and B;
                                while one types a tenth of it, so that typing is quick */
};

/* Which form of names is shown. */
enum app_names {
    APP_NAMES_SHORT, /* with what tells them apart */
    APP_NAMES_FULL,
    APP_NAMES_MANGLED,
    APP_NAMES_COUNT,
};

struct app_filter {
    char pattern[PROMPT_BYTES]; /* the last good one, "" = none */
    struct terms *terms; /* owned; NULL = all */
    struct busy *busy; /* owned; NULL = unfiltered */
    struct busy *spare; /* owned; its memory is for the next filter; NULL = none */
    uint64_t stamp; /* counts up with every change */
};

struct app_search {
    char pattern[PROMPT_BYTES];
    uint64_t *bits; /* owned */
    bool shown; /* matches are marked: until Escape */
};

/* A place that the person wants to find again. */
struct app_bookmark {
    int64_t begin_ns;
    int64_t end_ns;
    char text[96];
};

/* What a verb asks of the session around the app. */
enum app_ask {
    ASK_NONE,
    ASK_OTHER, /* the focus to the other capture */
    ASK_ALIGN, /* at the range app.asked, "" = the first kernel */
};

struct app;

/* The capture that this one is compared with. */
struct app_pair {
    const struct app *other; /* NULL = none */
    const struct align_names *names;
    int64_t shift_ns; /* time in the other - time here */
    bool is_new; /* this one is NEW, the other BASE */
};

/* What a person takes away. */
enum app_take {
    TAKE_NONE,
    TAKE_SCREEN, /* the frame as text */
    TAKE_SVG, /* the frame as a picture */
    TAKE_COMMAND, /* a command line, in app.taken */
};

/* Figures of the header for the window. */
struct app_figures {
    uint32_t device_count; /* at most APP_DEVICES_SHOWN */
    int64_t busy_ns[APP_DEVICES_SHOWN];
    int64_t span_ns[APP_DEVICES_SHOWN]; /* the window within the device's first .. last op */
    int64_t gap_ns[APP_DEVICES_SHOWN];
    uint32_t gap_count[APP_DEVICES_SHOWN];
    bool has_parts; /* parts is known */
    struct overlap_parts parts; /* of the current device in the window */
};

/* Where things are on the screen: app and paint must agree. Rows count from 0 at the top. */
struct app_layout {
    int cols;
    int rows;
    int label_cols; /* width of the row labels */
    int time_cols; /* width of the timeline: the window's */
    int overview_row; /* the whole capture in one row, -1 = none */
    int ruler_row; /* -1 = none */
    int body_row; /* the first row of the timeline */
    int body_rows;
    int list_row; /* title of the list or help, -1 = closed */
    int list_rows; /* with title and heads */
    int detail_row; /* the rule above the detail, -1 = none */
    int detail_rows; /* with the rule */
    int tour_row; /* two rows of the tour, -1 = none */
    int status_row;
};

struct app {
    const struct trace *trace;
    char title[APP_TITLE_BYTES]; /* the file name in the header */
    struct rows rows;
    struct facts *facts; /* owned */
    struct busy *busy; /* owned: all ops */
    uint8_t *hues; /* owned: by name */
    uint16_t *hue_rgbs; /* owned: by name, for HUE_RGB */
    struct labels labels;
    enum app_names names; /* which names are shown */
    struct keymap keymap;
    struct app_layout layout;
    struct window window;
    int cursor_col; /* the time cursor: where zooming keeps still */
    struct app_sized sized;
    uint32_t row; /* the current row: an index in rows.list */
    uint32_t first_shown; /* scrolling: the first unpinned place in rows.shown on the screen */
    struct app_event event;
    struct app_event related; /* the launch of the selected op, the first op of a launch */
    int64_t gap_begin_ns; /* the selected gap; begin = end: none */
    int64_t gap_end_ns;
    uint32_t gap_device;
    struct app_filter filter;
    struct app_search search;
    struct prompt prompt;
    struct panel list;
    struct detail detail;
    bool detail_open; /* all columns instead of two lines */
    bool help_open;
    int help_first;
    struct app_view back[APP_HISTORY];
    int back_count;
    struct app_view forward[APP_HISTORY];
    int forward_count;
    bool moving; /* the last action was a pan or zoom: it shares its history entry */
    int drag_col; /* where the mouse went down on the timeline, -1 = it did not */
    bool dragging; /* ... and has moved since */
    bool pasting; /* what comes is a paste: it only goes into a prompt */
    int count; /* digits typed so far */
    char message[APP_MESSAGE_BYTES]; /* shown on the status line until the next key */
    bool message_is_error;
    char reading[APP_READING_BYTES]; /* how far the file is read, "" = it is not being read */
    int tour_step; /* from 1; 0 = no tour */
    bool hide; /* what the filter leaves out is hidden, not dimmed */
    bool quit;
    bool reload; /* the person asks for the file to be read again */
    bool redraw; /* the whole screen must be sent again */
    struct app_figures figures;
    struct relate_syncs syncs; /* read when first needed */
    bool syncs_loaded;
    struct overlap *overlap; /* owned: under the filter of overlap_stamp */
    uint64_t overlap_stamp;
    struct app_pair pair;
    bool bare; /* not in focus: no status line, no panes */
    enum app_ask ask;
    char asked[PROMPT_BYTES];
    enum app_take take; /* what the terminal is asked to hand out; TAKE_NONE = nothing */
    char take_name
        [APP_TITLE_BYTES]; /* the file to write it to, "" = a free name, and the clipboard */
    struct buf taken; /* its text, where it does not need the screen */
    int mark_count; /* of A and B: 0, 1, 2 */
    int64_t mark_ns[2];
    uint64_t span_stamp; /* counts up when what the lists are about changes */
    struct app_bookmark bookmarks[APP_BOOKMARKS];
    int bookmark_count;
    uint32_t events_row; /* the row that the list of events is about */
    uint32_t instances_name; /* what the list of instances is about */
    struct filter *list_filter; /* owned: of the lines of the list; NULL = all */
    uint64_t listed_span_stamp;
    struct window listed_window; /* what the list was made for */
    uint64_t listed_stamp;
    enum panel_kind listed_kind;
};

/* The trace must outlive the app. NULL on failure. */
struct app *app_open(const struct trace *trace, const char *title, struct err *err);
void app_close(struct app *app);
/* Adds what was derived of the trace to what is kept, to be written while the app lives. */
void app_keep(const struct app *app, struct shelf_list *list);
void app_resize(struct app *app, int cols, int rows);
/* Folds what is below the devices where there are several, and more rows than the screen has. */
void app_fold_devices(struct app *app);
/* The time that the overview shows in a column: [app_overview_ns(col), app_overview_ns(col + 1)). */
int64_t app_overview_ns(const struct app *app, int col);
/* Applies one key or mouse event. */
void app_key(struct app *app, const struct key *key);
void app_settle(struct app *app);
/* While waiting for a key: gets memory ready for a filter that is about to be typed. */
void app_prepare(struct app *app);
/* The event that is selected, or NULL-like: table == TRACE_TABLE_COUNT. */
bool app_has_event(const struct app *app);
bool app_has_gap(const struct app *app);
int64_t app_event_begin(const struct app *app, struct app_event event);
int64_t app_event_end(const struct app *app, struct app_event event);
const struct trace_name *app_event_name(const struct app *app, struct app_event event);

/* For verbs. */
void app_say(struct app *app, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
void app_fail(struct app *app, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
/* Puts the present view into the history. */
void app_remember(struct app *app);
/* Sets the window, kept within the capture. */
void app_look(struct app *app, struct window window);
/* Shows [begin, end) filling `share` percent of the screen. */
void app_look_at(struct app *app, int64_t begin_ns, int64_t end_ns, int share);
/* Selects an event, shows its row and moves the window if it is out of sight. */
void app_select(struct app *app, struct app_event event);
void app_select_gap(struct app *app, uint32_t device, int64_t begin_ns, int64_t end_ns);
void app_unselect(struct app *app);
/* Makes the row the current one and scrolls to it. */
void app_set_row(struct app *app, uint32_t row);
/* The device that figures and gap keys are about: that of the current row, else the first;
 * TRACE_NONE where there is none. */
uint32_t app_device(const struct app *app);
const struct facts *app_facts(const struct app *app);
/* What runs at each time, under the filter; made when first needed, NULL without memory. */
const struct overlap *app_overlap(struct app *app);
/* The busy time that counts: under the filter, if there is one. */
const struct busy *app_busy(const struct app *app);
/* Sets the filter; 0, or -1 for a bad pattern (err; the old filter stays). "" clears. */
int app_set_filter(struct app *app, const char *pattern, struct err *err);
/* Leaves out the rows whose label does not match, nor one above or below. "" shows all. 0 or -1. */
int app_set_row_filter(struct app *app, const char *pattern, struct err *err);
int app_set_search(struct app *app, const char *pattern, struct err *err);
/* "12.5s", "+3ms", "-1s": moves the window. 0 or -1. */
int app_goto(struct app *app, const char *text, struct err *err);
/* The span that lists are about: from mark A to B where both are set, else the window. */
void app_span(const struct app *app, int64_t *begin_ns, int64_t *end_ns);
/* "in view" or "between A and B". */
const char *app_span_words(const struct app *app);
/* Runs an action. */
void app_run(struct app *app, enum action_id action, int count);
/* One line of the palette: NAME [ARGUMENT]. 0 or -1. */
int app_command(struct app *app, const char *line, struct err *err);

#endif
