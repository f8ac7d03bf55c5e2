/*
 * runs: sorting of what is nearly in order already: the events of several lanes, one after the
 * other, each in order.
 *
 * A natural merge sort (Knuth, The Art of Computer Programming 3, 5.2.4): the ascending runs that
 * are there are merged in pairs until one is left. Stable. O(n log runs) time; nothing but one pass
 * of comparisons where all is in order; n elements of memory otherwise.
 */
#ifndef CUTLINE_BASE_RUNS_H
#define CUTLINE_BASE_RUNS_H

#include <stddef.h>

/* Below, at or above 0, as for qsort; arg is that of runs_sort. */
typedef int runs_compare_fn(const void *a, const void *b, const void *arg);

/* Sorts count elements of size bytes. 0, or -1 without memory (then the list is as it was). */
int runs_sort(void *list, size_t count, size_t size, runs_compare_fn *compare, const void *arg);

#endif
