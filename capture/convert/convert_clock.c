/* Clock maps; convert_clock.h says what they are. */
#include "capture/convert/convert_clock.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

enum {
    THIN_TICKS_TO = 1000000,
    THIN_NS_TO = 100000000,
    STEP_NS = 10000 /* what the wall clock moves when it is set, at least */
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

/* How far the left clock is before the right one. */
static int64_t distance_of(const struct clock_pair *pair)
{
    return clock_off(pair->from, pair->to);
}

static bool is_step(const struct clock_pair *before, const struct clock_pair *after)
{
    int64_t off = clock_off(distance_of(after), distance_of(before));
    return off > STEP_NS || off < -STEP_NS;
}

/* Counts where the left clock was set. */
static void find_steps(struct clock_map *map)
{
    for (size_t i = 1; i < map->n; i++) {
        if (is_step(&map->pairs[i - 1], &map->pairs[i])) {
            map->first_step_to = map->steps ? map->first_step_to : map->pairs[i].to;
            map->last_step_to = map->pairs[i].to;
            map->steps++;
        }
    }
}

static int by_distance(const void *a, const void *b)
{
    return COMPARE(distance_of(a), distance_of(b));
}

/* Puts what is left of a stretch without a step at `kept`: its two ends, at its median distance. The
 * left side of the map must grow, so a stretch may begin late or be gone. Returns the new count. */
static size_t keep_stretch(struct clock_map *map, size_t kept, size_t begin, size_t end)
{
    while (begin < end && kept > 0 && map->pairs[begin].from <= map->pairs[kept - 1].from) {
        begin++;
    }
    if (begin == end) {
        return kept;
    }
    int64_t first = map->pairs[begin].from;
    int64_t last = map->pairs[end - 1].from;
    sort_list(map->pairs + begin, end - begin, sizeof *map->pairs, by_distance);
    int64_t distance = distance_of(&map->pairs[begin + (end - begin) / 2]);
    map->pairs[kept++] = (struct clock_pair){first, clock_off(first, distance)};
    if (last > first) {
        map->pairs[kept++] = (struct clock_pair){last, clock_off(last, distance)};
    }
    return kept;
}

/* O(n log n). */
static void keep_stretches(struct clock_map *map)
{
    size_t kept = 0;
    size_t begin = 0;
    for (size_t i = 1; i <= map->n; i++) {
        if (i == map->n || is_step(&map->pairs[begin], &map->pairs[i])) {
            kept = keep_stretch(map, kept, begin, i);
            begin = i;
        }
    }
    map->n = kept;
    map->slope = 1.0;
}

static void thin(struct clock_map *map, uint64_t thin_to)
{
    size_t kept = map->n > 0;
    for (size_t i = 1; i < map->n; i++) {
        const struct clock_pair *last = &map->pairs[kept - 1];
        if ((uint64_t)clock_off(map->pairs[i].to, last->to) >= thin_to &&
            map->pairs[i].from > last->from) {
            map->pairs[kept++] = map->pairs[i];
        }
    }
    map->n = kept;
    map->slope = 1.0;
    if (kept > 1) {
        map->slope = ((double)map->pairs[kept - 1].to - (double)map->pairs[0].to) /
                     ((double)map->pairs[kept - 1].from - (double)map->pairs[0].from);
    }
}

void clock_map_ready(struct clock_map *map, enum clock_map_kind kind)
{
    if (map->n > 1) {
        sort_list(map->pairs, map->n, sizeof *map->pairs, by_to);
    }
    if (kind == CLOCK_MAP_WALL) {
        find_steps(map);
        keep_stretches(map);
    } else {
        thin(map, kind == CLOCK_MAP_NS ? THIN_NS_TO : THIN_TICKS_TO);
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
