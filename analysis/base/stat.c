/* stat: see stat.h. The k-th value is found by quickselect (Hoare, "Algorithm 65: Find", 1961) with
 * the median of three as the pivot. */
#include "analysis/base/stat.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/times.h"

static void stat_swap(int64_t *a, int64_t *b)
{
    int64_t swap = *a;
    *a = *b;
    *b = swap;
}

static int64_t stat_median3(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b;
    int64_t high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Reorders so that values[k] is the k-th smallest, smaller ones before it. */
static int64_t stat_select(int64_t *values, size_t count, size_t k)
{
    size_t begin = 0;
    size_t end = count;
    while (end - begin > 1) {
        int64_t pivot =
            stat_median3(values[begin], values[begin + (end - begin) / 2], values[end - 1]);
        size_t less = begin;
        size_t at = begin;
        size_t more = end;
        while (at < more) {
            if (values[at] < pivot) {
                stat_swap(&values[less++], &values[at++]);
            } else if (values[at] > pivot) {
                stat_swap(&values[at], &values[--more]);
            } else {
                at++;
            }
        }
        if (k < less) {
            end = less;
        } else if (k >= more) {
            begin = more;
        } else {
            return pivot;
        }
    }
    return values[k];
}

static double stat_median(int64_t *values, size_t count)
{
    int64_t high = stat_select(values, count, count / 2);
    if (count % 2 != 0) {
        return (double)high;
    }
    int64_t low = values[0];
    for (size_t i = 1; i < count / 2; i++) {
        low = values[i] > low ? values[i] : low;
    }
    return (double)(((long double)low + (long double)high) / 2.0L);
}

struct stat_sum stat_of(int64_t *values, size_t count)
{
    struct stat_sum sum = {0};
    long double mean;
    long double squares = 0;
    if (count == 0) {
        return sum;
    }
    sum.min = values[0];
    sum.max = values[0];
    for (size_t i = 0; i < count; i++) {
        sum.total = i64_add(sum.total, values[i]);
        sum.min = values[i] < sum.min ? values[i] : sum.min;
        sum.max = values[i] > sum.max ? values[i] : sum.max;
    }
    sum.count = (int64_t)count;
    mean = (long double)sum.total / (long double)count;
    for (size_t i = 0; i < count; i++) {
        long double away = (long double)values[i] - mean;
        squares += away * away;
    }
    sum.mean = (double)mean;
    sum.deviation = count > 1 ? (double)sqrtl(squares / (long double)(count - 1)) : 0.0;
    sum.median = stat_median(values, count);
    return sum;
}

int64_t stat_percentile(int64_t *values, size_t count, double percent)
{
    double rank = ceil(percent / 100.0 * (double)count);
    size_t k = rank < 1.0 ? 0 : (size_t)rank - 1;
    if (count == 0) {
        return 0;
    }
    return stat_select(values, count, k < count ? k : count - 1);
}

void stat_groups_add(struct stat_groups *groups, uint32_t group, int64_t value)
{
    if (groups->failed) {
        return;
    }
    if (groups->count == groups->cap) {
        size_t cap = groups->cap == 0 ? 256 : groups->cap * 2;
        uint32_t *group_new = realloc(groups->group, cap * sizeof *group_new);
        int64_t *value_new = NULL;
        if (group_new != NULL) {
            groups->group = group_new;
            value_new = realloc(groups->value, cap * sizeof *value_new);
        }
        if (value_new == NULL) {
            groups->failed = 1;
            return;
        }
        groups->value = value_new;
        groups->cap = cap;
    }
    groups->group[groups->count] = group;
    groups->value[groups->count++] = value;
}

int stat_groups_sort(struct stat_groups *groups, uint32_t group_count)
{
    size_t *next = calloc((size_t)group_count + 1, sizeof *next);
    size_t sum = 0;
    groups->first = calloc((size_t)group_count + 1, sizeof *groups->first);
    groups->sorted = malloc((groups->count + 1) * sizeof *groups->sorted);
    groups->group_count = group_count;
    if (groups->failed || next == NULL || groups->first == NULL || groups->sorted == NULL) {
        groups->failed = 1;
        free(next);
        return -1;
    }
    for (size_t i = 0; i < groups->count; i++) {
        next[groups->group[i]]++;
    }
    for (size_t i = 0; i < group_count; i++) {
        size_t here = next[i];
        groups->first[i] = sum;
        next[i] = sum;
        sum += here;
    }
    groups->first[group_count] = sum;
    for (size_t i = 0; i < groups->count; i++) {
        groups->sorted[next[groups->group[i]]++] = groups->value[i];
    }
    free(next);
    return 0;
}

int64_t *stat_groups_values(struct stat_groups *groups, uint32_t group, size_t *count)
{
    *count = groups->first[group + 1] - groups->first[group];
    return groups->sorted + groups->first[group];
}

void stat_groups_free(struct stat_groups *groups)
{
    free(groups->group);
    free(groups->value);
    free(groups->first);
    free(groups->sorted);
    *groups = (struct stat_groups){0};
}
