/*
 * lists: events of a window grouped by name, and the instances of one name.
 *
 * An event is in the window if it overlaps [begin, end), or lies in it without length. count,
 * total, min, max are of whole events; inside_ns is the part in the window, and the share is taken
 * of that. One linear pass over the lanes in question, clipped by binary search.
 *
 *     struct list list = {0};
 *     list_make(&query, &list, err) -> list_sort -> list.rows ... (again: the memory is reused)
 *     list_free(&list)
 */
#ifndef CUTLINE_TIMELINE_LISTS_H
#define CUTLINE_TIMELINE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/filter/terms.h"
#include "analysis/table/spark.h"
#include "analysis/trace/trace.h"

/* What is listed. The zero query means nothing: begin with LIST_QUERY(trace). */
struct list_query {
    const struct trace *trace;
    uint32_t kinds; /* bit (1 << enum trace_kind): which kinds of names */
    int64_t begin_ns;
    int64_t end_ns;
    const struct terms *terms; /* NULL = all */
    uint32_t device; /* indices, TRACE_NONE = all */
    uint32_t process;
    uint32_t thread; /* for ops TRACE_NONE */
};
#define LIST_QUERY(t) \
    ((struct list_query){.trace = (t), \
                         .kinds = TERMS_KINDS_ALL, \
                         .begin_ns = INT64_MIN, \
                         .end_ns = INT64_MAX, \
                         .device = TRACE_NONE, \
                         .process = TRACE_NONE, \
                         .thread = TRACE_NONE})

struct list_row {
    uint32_t name; /* index in names */
    uint32_t count; /* > 0 */
    int64_t total_ns; /* of whole events */
    int64_t inside_ns; /* in the window */
    int64_t min_ns;
    int64_t max_ns;
    uint32_t longest; /* the first of max_ns: index in its table (trace_kind tells which) */
};

struct list {
    struct list_row *rows; /* owned; by name number until list_sort */
    size_t count;
    int64_t events; /* sums over the rows */
    int64_t inside_ns; /* the share of a row is its inside_ns of this */
    struct list_row *slots; /* own: one for each name of the trace */
    size_t slot_count;
};

/* 0, or -1 for want of memory (the list is then empty). */
int list_make(const struct list_query *query, struct list *list, struct err *err);
void list_free(struct list *list);

enum list_column {
    LIST_NAME, /* by bytes of the brief name */
    LIST_COUNT,
    LIST_TOTAL,
    LIST_INSIDE, /* the share */
    LIST_MEAN,
    LIST_MIN,
    LIST_MAX,
};
/* Ties: more inside first, then by name number. */
void list_sort(const struct trace *trace, struct list *list, enum list_column column,
               bool descending);
/* Mean duration, rounded to the nearest. */
int64_t list_mean_ns(const struct list_row *row);
/* Percent of the list's inside time, 0 for none. */
double list_share(const struct list *list, const struct list_row *row);

/* Is a lane in, by device, process and thread? */
bool list_has_lane(const struct list_query *query, const struct trace_lane *lane);
/* The table that events of a kind lie in. */
enum trace_table list_table_of(enum trace_kind kind);

enum {
    INSTANCES_BINS = 32
};

/* The instances of one name in a window. */
struct instances {
    enum trace_table table;
    uint32_t *index; /* owned: in the table; by begin until instances_sort */
    size_t count;
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
    int64_t p50_ns; /* nearest rank */
    int64_t p90_ns;
    int64_t p99_ns;
    struct spark_bins bins; /* of durations, log scale */
};

/* query->kinds is ignored. 0 or -1. */
int instances_make(const struct list_query *query, uint32_t name, struct instances *out,
                   struct err *err);
void instances_free(struct instances *instances);
/* By duration (ties by begin) or by begin. */
void instances_sort(const struct trace *trace, struct instances *instances, bool by_duration,
                    bool descending);

#endif
