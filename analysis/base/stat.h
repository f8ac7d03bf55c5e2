/*
 * stat: count, sum, mean, median, extremes and deviation of grouped values, and percentiles.
 *
 * One pass counts the values of each group, a second puts them side by side, then each group is
 * summed up: O(n) time and 8 bytes a value. The median is the ordinary one (mean of the two middle
 * values), the deviation that of a sample (n - 1), 0 for one value, as in the published outputs of
 * `nsys stats`.
 */
#ifndef CUTLINE_BASE_STAT_H
#define CUTLINE_BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

struct stat_sum {
    int64_t count;
    int64_t total;
    double mean;
    double median;
    int64_t min;
    int64_t max;
    double deviation;
};

/* All of values[0..count); reorders them. All zero for count 0. O(count). */
struct stat_sum stat_of(int64_t *values, size_t count);

/* The smallest value with at least percent % of the values at or below it (nearest rank); 0 for
 * count 0. Reorders. percent 0..100. */
int64_t stat_percentile(int64_t *values, size_t count, double percent);

/* Values by group. */
struct stat_groups {
    uint32_t *group; /* owned: the group of each value */
    int64_t *value; /* owned */
    size_t count; /* values */
    size_t cap; /* values that fit */
    size_t *first; /* owned, after stat_groups_sort: group_count + 1 */
    int64_t *sorted; /* owned: values of group g are sorted[first[g]] .. sorted[first[g + 1]) */
    uint32_t group_count;
    int failed; /* memory ran out */
};

/* The empty set: struct stat_groups g = {0}; */
void stat_groups_add(struct stat_groups *groups, uint32_t group, int64_t value);
/* Ends the adding. group_count: one more than the largest group. 0, or -1 for want of memory. */
int stat_groups_sort(struct stat_groups *groups, uint32_t group_count);
/* The values of one group, which may be reordered. */
int64_t *stat_groups_values(struct stat_groups *groups, uint32_t group, size_t *count);
void stat_groups_free(struct stat_groups *groups);

#endif
