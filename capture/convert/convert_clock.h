/* One clock in terms of another, from moments at which both were read.
 *
 * Between two moments the relation is a straight line; outside it goes on with the slope of the
 * whole table, which a long time between its ends makes exact. Times are ns, or ticks of the time
 * stamp counter on the left side. Each look-up costs O(1) where times come nearly in order, else
 * O(log n). Inside a segment of an hour the error of the double arithmetic is below 0.01 ns. */
#ifndef CUTLINE_CAPTURE_CONVERT_CONVERT_CLOCK_H
#define CUTLINE_CAPTURE_CONVERT_CONVERT_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct clock_pair {
    int64_t from;
    int64_t to;
};

struct clock_map {
    struct clock_pair *pairs; /* owned */
    size_t n;
    size_t cap;
    size_t hint; /* the segment of the last look-up */
    double slope; /* outside */
    int64_t steps; /* how often the left clock was set: see clock_map_ready */
    int64_t first_step_to; /* where on the right clock; meaningless without steps */
    int64_t last_step_to;
};

/* a - b of times that may be nonsense: wraps instead of overflowing. */
static inline int64_t clock_off(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Adds a moment. Returns 0, or -1: no memory. */
int clock_map_add(struct clock_map *map, int64_t from, int64_t to);

/* What the left clock is; the right one is CLOCK_MONOTONIC. */
enum clock_map_kind {
    CLOCK_MAP_TICKS, /* of a rate that is not known */
    CLOCK_MAP_NS, /* ns, of a rate that may be another one */
    CLOCK_MAP_WALL /* CLOCK_REALTIME: Linux keeps it at one distance from CLOCK_MONOTONIC until it is
                      set, so all differences between two moments are errors of reading */
};

/* Call once after the last clock_map_add: sorts; thins to one moment a millisecond (ticks) or 100 ms
 * (ns) of the right clock, because the errors of close ones bend the line; of the wall clock, finds
 * where it was set, and takes the median distance between two such times. */
void clock_map_ready(struct clock_map *map, enum clock_map_kind kind);

/* The right clock at a time of the left one; 0 for an empty map. */
int64_t clock_map_at(struct clock_map *map, int64_t from);

void clock_map_free(struct clock_map *map);

#endif
