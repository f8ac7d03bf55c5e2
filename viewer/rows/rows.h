/*
 * rows: which rows the timeline has, in which order, and which of them are shown.
 *
 * A tree in drawing order: devices with their streams, memory operations and projected NVTX ranges,
 * then processes with their launches and the lanes of their threads. A row that has rows below it
 * can be collapsed; every row can be hidden or pinned to the top. What is derived is taken from the trace's shelf where
 * it was kept (rows_kept.c).
 */
#ifndef CUTLINE_APP_ROWS_H
#define CUTLINE_APP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/timeline/series.h"
#include "analysis/trace/busy.h"
#include "analysis/trace/trace.h"
#include "viewer/rows/derive.h"
#include "viewer/rows/lane.h"

enum row_kind {
    ROW_DEVICE, /* utilisation of a device */
    ROW_PROCESS, /* heading of a process: a line of text */
    ROW_SERIES, /* a value over time: launches, queue depth, memory, a metric */
    ROW_GROUP, /* heading of rows that are folded: a line of text */
    ROW_LANE,
};

struct row {
    uint8_t kind; /* enum row_kind */
    uint8_t level; /* indentation */
    bool collapsed;
    bool collapsed_first; /* so it was as the capture was opened */
    bool parent; /* has rows below it */
    bool hidden;
    bool pinned;
    bool matched; /* the row filter matches it, or a row above it */
    bool filtered; /* the row filter leaves it out */
    uint32_t up; /* its parent row, TRACE_NONE */
    uint32_t device; /* TRACE_NONE */
    uint32_t process; /* TRACE_NONE */
    uint32_t thread; /* TRACE_NONE */
    const char *label; /* safe text, in the arena */
    const char *note; /* PROCESS, GROUP: what the row says */
    struct lane lane; /* LANE */
    const struct series *series; /* SERIES */
    int64_t *
        sums; /* owned: before blocks; NULL where the trace or its shelf has them or not made yet */
    int64_t *kept; /* owned */
    uint64_t kept_stamp; /* the filter that kept was made for */
};

/* A thread with ranges that are projected on a device. */
struct rows_place {
    uint32_t device;
    uint32_t thread;
};

struct rows {
    const struct trace *trace;
    uint32_t pack_above; /* as in rows_options */
    bool from_shelf; /* what is derived was kept by rows of the same options */
    struct arena arena;
    struct row *list; /* owned */
    uint32_t count;
    size_t cap;
    uint32_t *order; /* all rows as they are drawn: parents before their rows; owned */
    uint32_t *shown; /* indices of rows to draw, pinned ones first; owned, cap of them */
    uint32_t shown_count;
    uint32_t pinned_count; /* of shown */
    struct derive **derived; /* owned, each of them too */
    uint32_t derived_count;
    struct projection *projection; /* owned: while the rows are made */
    struct rows_place *places; /* owned, or on the shelf; by device */
    uint32_t place_count;
    struct series **series; /* owned: launches and queues */
    uint32_t series_count;
    struct series_set recorded; /* memory in use, metrics */
    uint32_t *by_device; /* owned: indices in recorded, by device, as they come */
    bool failed;
};

struct rows_options {
    uint32_t pack_above; /* stream lanes of a device before near-empty ones are packed; 0 = 12 */
};

/* Builds the rows of a trace. 0 or -1. */
int rows_make(struct rows *rows, const struct trace *trace, const struct rows_options *options,
              struct err *err);
void rows_free(struct rows *rows);
/* Adds what the rows derived to what is kept, to be written while they live. */
void rows_keep(const struct rows *rows, struct shelf_list *list);
/* Works out `shown` after a change of collapsed, hidden or pinned. */
void rows_arrange(struct rows *rows);
/* The place of a row in shown; TRACE_NONE if it is not shown. */
uint32_t rows_place(const struct rows *rows, uint32_t row);
/* The row that shows an event, expanding nothing. Lanes of the trace come before derived ones.
 * TRACE_NONE if none does. */
uint32_t rows_of_event(const struct rows *rows, enum trace_table table, uint32_t index);
/* Makes a row visible: expands what is above it, un-hides it. */
void rows_reveal(struct rows *rows, uint32_t row);

/* Swaps a row and what is below it with its next (step 1) or previous (-1) sibling; false where
 * there is none. */
bool rows_move(struct rows *rows, uint32_t row, int step);

/* What a filter keeps: terms (NULL = all) and the sums that go with them. */
struct rows_filter {
    const struct terms *terms;
    const struct busy *busy; /* NULL = unfiltered */
    uint64_t stamp; /* a number for each filter */
};
/* Sees to it that a row has the sums of this filter. Without memory it goes without. */
void rows_settle(struct rows *rows, uint32_t row_index, const struct rows_filter *filter);

#endif
