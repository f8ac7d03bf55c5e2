/*
 * span: see span.h.
 *
 * The walk goes from column to column. i is the first event that ends after the column's begin, j
 * the first that begins at or after its end; both only move forward. i..j-1 touch the column:
 *
 *   none      the walk jumps to the column where event i begins;
 *   one       it owns the column, and all columns up to its last one;
 *   several   an event of at least a column's length that takes half of the column owns it, so that
 *             long bars keep their place; else the column is folded.
 *
 * Neighbour columns of one owner become one span.
 */
#include "viewer/paint/span.h"

enum {
    SPAN_LOOK = 12 /* so many folded events are looked at for the one that stands for them */
};

struct span_walk {
    const struct lane *lane;
    const struct window *window;
    const struct terms *terms;
    struct span *spans;
    int count;
    int64_t begin_ns; /* of the current column */
    int64_t end_ns;
    uint32_t i;
    uint32_t j;
};

static bool span_keeps(const struct span_walk *walk, uint32_t event)
{
    return lane_keeps(walk->lane, walk->terms, event);
}

/* How much of the column an event takes. */
static int64_t span_overlap_ns(const struct span_walk *walk, uint32_t event)
{
    int64_t begin_ns = walk->lane->begin_ns[event];
    int64_t end_ns = lane_end(walk->lane, event);
    begin_ns = begin_ns > walk->begin_ns ? begin_ns : walk->begin_ns;
    end_ns = end_ns < walk->end_ns ? end_ns : walk->end_ns;
    return end_ns - begin_ns;
}

/* The event that stands for the folded ones: the longest kept one of the first few. */
static uint32_t span_pick(const struct span_walk *walk)
{
    uint32_t best = walk->i;
    int64_t best_ns = -1;
    for (uint32_t event = walk->i; event < walk->j && event - walk->i < SPAN_LOOK; event++) {
        int64_t ns = span_overlap_ns(walk, event);
        bool better = span_keeps(walk, event) == span_keeps(walk, best) ? ns > best_ns
                                                                        : span_keeps(walk, event);
        if (better) {
            best = event;
            best_ns = ns;
        }
    }
    return best;
}

/* The owner of a column of several events, or lane->count. */
static uint32_t span_owner(const struct span_walk *walk)
{
    const struct lane *lane = walk->lane;
    int64_t col_ns = walk->window->ns_per_col;
    uint32_t last = walk->j - 1;
    int64_t first_ns = span_overlap_ns(walk, walk->i);
    int64_t last_ns = span_overlap_ns(walk, last);
    bool first_long = lane_end(lane, walk->i) - lane->begin_ns[walk->i] >= col_ns;
    bool last_long = lane_end(lane, last) - lane->begin_ns[last] >= col_ns;
    if (last_long && last_ns * 2 >= col_ns) {
        return last;
    }
    if (first_long && first_ns * 2 >= col_ns) {
        return walk->i;
    }
    return lane->count;
}

static void span_measure(const struct span_walk *walk, struct span *span)
{
    const struct lane *lane = walk->lane;
    span->busy_ns = lane_clip_ns(lane, NULL, walk->i, walk->j, walk->begin_ns, walk->end_ns);
    span->kept_ns = lane->kept_sum_ns == NULL ? span->busy_ns
                                              : lane_clip_ns(lane, walk->terms, walk->i, walk->j,
                                                             walk->begin_ns, walk->end_ns);
    span->count = walk->j - walk->i;
}

/* Adds a span, or widens the one before where both belong to one event. */
static void span_put(struct span_walk *walk, const struct span *span)
{
    struct span *before = walk->count > 0 ? &walk->spans[walk->count - 1] : NULL;
    if (before != NULL && !before->folded && !span->folded && before->event == span->event &&
        before->col + before->cols == span->col) {
        before->cols += span->cols;
        before->busy_ns += span->busy_ns;
        before->kept_ns += span->kept_ns;
        before->count += span->count - 1;
        before->ends = span->ends;
        return;
    }
    walk->spans[walk->count++] = *span;
}

/* One column, or the columns that a single event fills. Returns the next column to look at. */
static int span_step(struct span_walk *walk, int col)
{
    const struct lane *lane = walk->lane;
    const struct window *window = walk->window;
    struct span span = {.col = col, .cols = 1};
    uint32_t owner = walk->j - walk->i == 1 ? walk->i : span_owner(walk);
    if (walk->j - walk->i == 1 && lane_end(lane, walk->i) > walk->end_ns) {
        int64_t last = window_col(window, lane_end(lane, walk->i) - 1);
        /* All columns before the last one are its own; the last one is looked at by itself. */
        span.cols = last < window->cols ? (int)last - col : window->cols - col;
        walk->end_ns = window_time(window, col + span.cols);
    }
    span_measure(walk, &span);
    span.folded = owner == lane->count;
    span.event = span.folded ? span_pick(walk) : owner;
    span.kept = span.folded ? span.kept_ns > 0 || span_keeps(walk, span.event)
                            : span_keeps(walk, span.event);
    span.begins = lane->begin_ns[span.event] >= walk->begin_ns;
    span.ends = lane_end(lane, span.event) <= walk->end_ns;
    if (span.cols == 1 && span.begins && span.ends) {
        span.folded = true;
    }
    span_put(walk, &span);
    return col + span.cols;
}

int span_build(const struct lane *lane, const struct window *window, const struct terms *terms,
               struct span *spans)
{
    struct span_walk walk = {.lane = lane, .window = window, .terms = terms, .spans = spans};
    int col = 0;
    while (col < window->cols) {
        walk.begin_ns = window_time(window, col);
        walk.end_ns = walk.begin_ns + window->ns_per_col;
        walk.i = lane_lower(lane, walk.i, walk.begin_ns);
        if (walk.i == lane->count) {
            break;
        }
        if (lane->begin_ns[walk.i] >= walk.end_ns) {
            int64_t next = window_col(window, lane->begin_ns[walk.i]);
            if (next >= window->cols) {
                break;
            }
            col = (int)next;
            continue;
        }
        walk.j = lane_upper(lane, walk.i, walk.end_ns);
        col = span_step(&walk, col);
    }
    return walk.count;
}
