/* Clock maps; convert_clock.h says what they are. */
#include "capture/convert/convert_clock.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

enum {
    THIN_TO = 1000000
};

int clock_map_add(struct clock_map *map, int64_t from, int64_t to)
{
    struct clock_pair *pairs = array_grow(map->pairs, &map->cap, map->n + 1, sizeof *pairs);
    if (pairs == NULL) {
        return -1;
    }
    map->pairs = pairs;
    map->pairs[map->n++] = (struct clock_pair){.from = from, .to = to};
    return 0;
}

static int by_to(const void *a, const void *b)
{
    const struct clock_pair *left = a;
    const struct clock_pair *right = b;
    return COMPARE(left->to, right->to);
}

/* Counts where the two clocks drift apart by more than step between neighbours. */
static void find_steps(struct clock_map *map, int64_t step)
{
    for (size_t i = 1; i < map->n && step > 0; i++) {
        int64_t off = clock_off(clock_off(map->pairs[i].from, map->pairs[i - 1].from),
                                clock_off(map->pairs[i].to, map->pairs[i - 1].to));
        if (off > step || off < -step) {
            map->first_step_to = map->steps ? map->first_step_to : map->pairs[i].to;
            map->last_step_to = map->pairs[i].to;
            map->steps++;
        }
    }
}

void clock_map_ready(struct clock_map *map, int64_t step_to, double default_slope)
{
    if (map->n > 1) {
        sort_list(map->pairs, map->n, sizeof *map->pairs, by_to);
    }
    find_steps(map, step_to);
    size_t kept = map->n > 0;
    for (size_t i = 1; i < map->n; i++) {
        const struct clock_pair *last = &map->pairs[kept - 1];
        if ((uint64_t)clock_off(map->pairs[i].to, last->to) >= THIN_TO &&
            map->pairs[i].from > last->from) {
            map->pairs[kept++] = map->pairs[i];
        }
    }
    map->n = kept;
    map->slope = default_slope;
    if (kept > 1) {
        map->slope = ((double)map->pairs[kept - 1].to - (double)map->pairs[0].to) /
                     ((double)map->pairs[kept - 1].from - (double)map->pairs[0].from);
    }
}

/* The last pair whose left side is not after from; 0 where all are. */
static size_t find_pair(const struct clock_map *map, int64_t from)
{
    size_t low = 0;
    size_t high = map->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->pairs[middle].from <= from) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t clock_map_at(struct clock_map *map, int64_t from)
{
    if (map->n == 0) {
        return 0;
    }
    const struct clock_pair *pair = &map->pairs[map->hint];
    if (from < pair->from || (map->hint + 1 < map->n && from >= pair[1].from)) {
        map->hint = find_pair(map, from);
        pair = &map->pairs[map->hint];
    }
    double slope = map->slope;
    if (map->hint + 1 < map->n && from >= pair->from) {
        slope =
            (double)clock_off(pair[1].to, pair->to) / (double)clock_off(pair[1].from, pair->from);
    }
    double off = (double)clock_off(from, pair->from) * slope;
    if (off >= 9.2e18 || off <= -9.2e18) {
        return off > 0 ? INT64_MAX : INT64_MIN;
    }
    int64_t rounded = (int64_t)(off < 0 ? off - 0.5 : off + 0.5);
    return (int64_t)((uint64_t)pair->to + (uint64_t)rounded);
}

void clock_map_free(struct clock_map *map)
{
    free(map->pairs);
    *map = (struct clock_map){0};
}
