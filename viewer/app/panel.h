/*
 * panel: a table beside the timeline: gaps, top ops, ... Each line knows where it leads.
 *
 * Lists follow the window and the filter: app_settle makes the open list anew when either changed.
 * Cells are values; they become text only for the lines that are painted.
 */
#ifndef CUTLINE_APP_PANEL_H
#define CUTLINE_APP_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/table/spark.h"
#include "analysis/trace/trace.h"

struct app;

/* In the order in which Tab goes through them. */
enum panel_kind {
    PANEL_NONE,
    PANEL_GAPS,
    PANEL_TOP,
    PANEL_API,
    PANEL_NVTX,
    PANEL_ZONES,
    PANEL_FINDINGS,
    PANEL_BOOKMARKS,
    PANEL_INSTANCES,
    PANEL_EVENTS,
    PANEL_DELTA,
    PANEL_KIND_COUNT,
};

enum panel_type {
    PANEL_TIME, /* a duration in ns */
    PANEL_TIME_RANKED, /* a duration; sorted by the value after it, which is not shown */
    PANEL_TIME_SIGNED, /* "+3.2 ms"; sorted by size */
    PANEL_AT, /* a point in time */
    PANEL_COUNT, /* an integer with grouping */
    PANEL_NUMBER, /* a plain integer */
    PANEL_PER_MILLE, /* shown as percent with one decimal */
    PANEL_TEXT, /* the item's text; always the last column */
};

struct panel_column {
    const char *header;
    enum panel_type type;
    int cols; /* width; TEXT takes the rest */
};

enum {
    PANEL_COLUMNS = 7,
    PANEL_NOTE_ROWS = 5, /* of so many rows one is for the text of the marked line, at most two */
    PANEL_ITEMS_MAX = 20000
};

/* A time that another line counts already: less than what is not known (-1). */
#define PANEL_AGAIN INT64_C(-2)

struct panel_item {
    int64_t value[PANEL_COLUMNS];
    const char *text; /* lives in the arena or the trace; not sanitised */
    size_t text_len;
    int64_t begin_ns; /* where it leads; begin = end: nowhere */
    int64_t end_ns;
    uint32_t table; /* TRACE_TABLE_COUNT = no event */
    uint32_t event;
    uint32_t name; /* TRACE_NONE: no name */
    uint32_t device;
    const char *note; /* what is said below the list when this line is marked; NULL = nothing */
    size_t note_len;
};

struct panel {
    enum panel_kind kind; /* PANEL_NONE: closed */
    const struct panel_column *columns;
    int column_count;
    struct panel_item *items; /* owned */
    size_t count;
    size_t cap;
    size_t of; /* how many there were before the limit */
    size_t current; /* the marked line */
    size_t first; /* the first line on the screen */
    int sort; /* column */
    bool ascending;
    char title[160]; /* "Idle gaps: 7, 19.1 ms" */
    struct arena arena; /* texts */
    struct spark_bins bins; /* a histogram below the title; count 0 = none */
    char caption[160]; /* what stands beside it */
    int notes; /* rows at the end: for the text of the marked line, and its note */
};

/* Makes the items of the open list for the window and the filter of the app. */
void panel_make(struct app *app);
void panel_open(struct app *app, enum panel_kind kind);
void panel_free(struct panel *list);
/* For panel_make's helpers: a new zeroed item, NULL when full. */
struct panel_item *panel_add(struct panel *list);
/* The lines that fit on the screen; panel_make keeps the marked line among them. */
void panel_scroll(struct panel *list, int lines);
/* Rows of the panel that are not lines: title, heads, histogram, note. */
int panel_extra(const struct panel *list);

#endif
