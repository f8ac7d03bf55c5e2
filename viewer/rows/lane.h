/*
 * lane: what one row of the timeline draws: events that do not overlap, in order of time.
 *
 * A lane is a view: on a slice of a table of the trace (index NULL), or on arrays that the viewer
 * derived (copies of a device, projected ranges, packed streams), where index[] leads back to the
 * table. Running sums give the busy time of any piece of time by two binary searches; with a filter
 * kept_sum_ns does the same for the events that it keeps.
 */
#ifndef CUTLINE_APP_LANE_H
#define CUTLINE_APP_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/filter/terms.h"
#include "analysis/trace/trace.h"

enum {
    LANE_BLOCK = 64
};

struct lane {
    enum trace_table table;
    uint32_t count;
    uint32_t first; /* index of event 0 in the table, where index is NULL */
    const int64_t *begin_ns;
    const int64_t *end_ns;
    const uint32_t *name;
    const uint32_t *index; /* NULL, or the index in the table of each event */
    const int64_t *sum_ns; /* count + 1 running sums of durations (any origin); NULL = none */
    const int64_t *block_ns; /* the same before each LANE_BLOCK events alone, from 0; NULL = none */
    const int64_t *kept_sum_ns; /* the same for kept events; NULL = all are kept */
};

/* The view on a lane of the trace, without sums. */
struct lane lane_of_trace(const struct trace *trace, const struct trace_lane *lane);

/* End of event i for drawing: an event without length takes one ns. */
static inline int64_t lane_end(const struct lane *lane, uint32_t i)
{
    int64_t begin_ns = lane->begin_ns[i];
    return lane->end_ns[i] > begin_ns ? lane->end_ns[i] : begin_ns + 1;
}

/* Index in the table of event i. */
static inline uint32_t lane_event(const struct lane *lane, uint32_t i)
{
    return lane->index != NULL ? lane->index[i] : lane->first + i;
}

/* Do the terms (NULL: all) keep event i? */
static inline bool lane_keeps(const struct lane *lane, const struct terms *terms, uint32_t i)
{
    return terms_has(terms, lane->table, lane_event(lane, i));
}

/* The first event that ends after t, searching from `from`; count if none. O(log distance). */
uint32_t lane_lower(const struct lane *lane, uint32_t from, int64_t t_ns);
/* The first event that begins at or after t, searching from `from`; count if none. */
uint32_t lane_upper(const struct lane *lane, uint32_t from, int64_t t_ns);
/* Where an event of the table lies in the lane; count if it is not there. O(log n + ties). */
uint32_t lane_find(const struct lane *lane, int64_t begin_ns, uint32_t event);
/* The same for a derived lane whose times are not those of the event: looks at all. O(n). */
uint32_t lane_find_event(const struct lane *lane, uint32_t event, int64_t begin_ns);
/* Busy time in [begin, end): all (terms NULL), or only what is kept. Without sums 0. O(log n). */
int64_t lane_busy_ns(const struct lane *lane, const struct terms *terms, int64_t begin_ns,
                     int64_t end_ns);
/* The same where i = lane_lower(begin) and j = lane_upper(end) are known. terms NULL: all events.
 */
int64_t lane_clip_ns(const struct lane *lane, const struct terms *terms, uint32_t i, uint32_t j,
                     int64_t begin_ns, int64_t end_ns);
/* Fills sum[count + 1] with the running sums of the events that the terms keep (NULL: all). */
void lane_fill_sums(const struct lane *lane, const struct terms *terms, int64_t *sum);
/* Sums before blocks: how many there are, and filling them for all events. */
static inline size_t lane_blocks(const struct lane *lane)
{
    return (size_t)lane->count / LANE_BLOCK + 1;
}
void lane_fill_blocks(const struct lane *lane, int64_t *block_ns);

#endif
