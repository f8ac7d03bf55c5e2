/*
 * sort: the sorts of the program. Which one:
 *
 *     sort_list      any order; not stable: the comparison must tell equal elements apart
 *     sort_runs      stable; for what is nearly in order already, as the events of several lanes
 *                    one after the other
 *     sort_by_time   event numbers by begin, then longest first; stable; for rows of a file
 *
 * sort_runs is a natural merge sort (Knuth, The Art of Computer Programming 3, 5.2.4): the ascending
 * runs that are there are merged in pairs until one is left. O(n log runs) time; one pass of
 * comparisons where all is in order; n elements of memory otherwise.
 */
#ifndef CUTLINE_BASE_SORT_H
#define CUTLINE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef int sort_compare_fn(const void *a, const void *b);
/* Sorts count elements of size bytes in place, O(n log n). list may be NULL for count 0. */
void sort_list(void *list, size_t count, size_t size, sort_compare_fn *compare);

/* Numbers, ascending. */
void sort_i64(int64_t *values, size_t count);

/* Puts the value of rank nth (from 0) in its place, none larger before it and none smaller after it. O(n)
 * expected (Hoare, "Algorithm 65: Find", 1961). nth < count. */
void sort_nth_i64(int64_t *values, size_t count, size_t nth);

/* Below, at or above 0, as for sort_list; arg is that of sort_runs. */
typedef int sort_runs_fn(const void *a, const void *b, const void *arg);
/* 0, or -1 without memory (then the list is as it was). */
int sort_runs(void *list, size_t count, size_t size, sort_runs_fn *compare, const void *arg);

/*
 * Sorts the event numbers in order[0..count) by begin_ns, ties by end_ns descending. Halves that
 * follow each other already are not merged: O(n) for rows in order, else O(n log n). 0 or -1.
 */
int sort_by_time(const int64_t *begin_ns, const int64_t *end_ns, uint32_t *order, uint32_t count);

#endif
