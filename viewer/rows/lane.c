/*
 * lane: see lane.h. The searches gallop from a known place: drawing walks forward, so that the
 * cost of a column is the logarithm of the events in it, not of all events.
 */
#include "viewer/rows/lane.h"

struct lane lane_of_trace(const struct trace *trace, const struct trace_lane *lane)
{
    const struct trace_events *events = &trace->events[lane->table];
    return (struct lane){
        .table = (enum trace_table)lane->table,
        .count = lane->count,
        .first = lane->first,
        .begin_ns = events->begin_ns + lane->first,
        .end_ns = events->end_ns + lane->first,
        .name = events->name + lane->first,
    };
}

/* Is event i before the place that is looked for? */
typedef bool lane_before(const struct lane *lane, uint32_t i, int64_t t_ns);

static bool lane_ends_by(const struct lane *lane, uint32_t i, int64_t t_ns)
{
    return lane_end(lane, i) <= t_ns;
}

static bool lane_begins_before(const struct lane *lane, uint32_t i, int64_t t_ns)
{
    return lane->begin_ns[i] < t_ns;
}

/* The first event from `from` on for which before() is false. */
static inline uint32_t lane_search(const struct lane *lane, uint32_t from, int64_t t_ns,
                                   lane_before *before)
{
    uint32_t low = from;
    uint32_t high = from;
    uint32_t step = 1;
    while (high < lane->count && before(lane, high, t_ns)) {
        low = high + 1;
        high = lane->count - high > step ? high + step : lane->count;
        step = step < (UINT32_MAX >> 1) ? step * 2 : step;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (before(lane, middle, t_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t lane_lower(const struct lane *lane, uint32_t from, int64_t t_ns)
{
    return lane_search(lane, from, t_ns, lane_ends_by);
}

uint32_t lane_upper(const struct lane *lane, uint32_t from, int64_t t_ns)
{
    return lane_search(lane, from, t_ns, lane_begins_before);
}

uint32_t lane_find(const struct lane *lane, int64_t begin_ns, uint32_t event)
{
    uint32_t i = lane_upper(lane, 0, begin_ns);
    if (lane->index == NULL) {
        return event >= lane->first && event - lane->first < lane->count ? event - lane->first
                                                                         : lane->count;
    }
    while (i < lane->count && lane->begin_ns[i] == begin_ns) {
        if (lane->index[i] == event) {
            return i;
        }
        i++;
    }
    return lane->count;
}

uint32_t lane_find_event(const struct lane *lane, uint32_t event, int64_t begin_ns)
{
    uint32_t i;
    if (lane->index == NULL) {
        return lane_find(lane, begin_ns, event);
    }
    for (i = 0; i < lane->count && lane->index[i] != event; i++) {
    }
    return i;
}

static int64_t lane_add(const struct lane *lane, uint32_t from, uint32_t to)
{
    int64_t sum_ns = 0;
    for (uint32_t k = from; k < to; k++) {
        sum_ns += lane->end_ns[k] - lane->begin_ns[k];
    }
    return sum_ns;
}

/* The durations before event i. */
static int64_t lane_before_ns(const struct lane *lane, uint32_t i)
{
    uint32_t block = i / LANE_BLOCK;
    return lane->block_ns[block] + lane_add(lane, block * LANE_BLOCK, i);
}

/* The durations of the events i to j - 1. */
static int64_t lane_whole_ns(const struct lane *lane, uint32_t i, uint32_t j)
{
    if (lane->sum_ns != NULL) {
        return lane->sum_ns[j] - lane->sum_ns[i];
    }
    if (lane->block_ns == NULL) {
        return 0;
    }
    return j - i < LANE_BLOCK ? lane_add(lane, i, j)
                              : lane_before_ns(lane, j) - lane_before_ns(lane, i);
}

int64_t lane_clip_ns(const struct lane *lane, const struct terms *terms, uint32_t i, uint32_t j,
                     int64_t begin_ns, int64_t end_ns)
{
    const struct terms *which = lane->kept_sum_ns != NULL ? terms : NULL;
    if (i >= j || (which == NULL && lane->sum_ns == NULL && lane->block_ns == NULL)) {
        return 0;
    }
    int64_t busy_ns =
        which != NULL ? lane->kept_sum_ns[j] - lane->kept_sum_ns[i] : lane_whole_ns(lane, i, j);
    if (lane->begin_ns[i] < begin_ns && lane_keeps(lane, which, i)) {
        int64_t head_ns = begin_ns - lane->begin_ns[i];
        int64_t whole_ns = lane->end_ns[i] - lane->begin_ns[i];
        busy_ns -= head_ns < whole_ns ? head_ns : whole_ns;
    }
    if (lane->end_ns[j - 1] > end_ns && lane_keeps(lane, which, j - 1)) {
        busy_ns -= lane->end_ns[j - 1] - end_ns;
    }
    return busy_ns;
}

int64_t lane_busy_ns(const struct lane *lane, const struct terms *terms, int64_t begin_ns,
                     int64_t end_ns)
{
    uint32_t i = lane_lower(lane, 0, begin_ns);
    uint32_t j = lane_upper(lane, i, end_ns);
    return lane_clip_ns(lane, terms, i, j, begin_ns, end_ns);
}

void lane_fill_sums(const struct lane *lane, const struct terms *terms, int64_t *sum)
{
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < lane->count; i++) {
        sum[i] = total_ns;
        if (lane_keeps(lane, terms, i)) {
            total_ns += lane->end_ns[i] - lane->begin_ns[i];
        }
    }
    sum[lane->count] = total_ns;
}

void lane_fill_blocks(const struct lane *lane, int64_t *block_ns)
{
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < lane->count; i++) {
        if (i % LANE_BLOCK == 0) {
            block_ns[i / LANE_BLOCK] = total_ns;
        }
        total_ns += lane->end_ns[i] - lane->begin_ns[i];
    }
    if (lane->count % LANE_BLOCK == 0) {
        block_ns[lane->count / LANE_BLOCK] = total_ns;
    }
}
