/* Sorts byte records by a 64-bit key: in memory while they fit a budget, else by runs in a
 * temporary file that are merged when read (external merge sort; Knuth, The Art of Computer
 * Programming, volume 3, 5.4).
 *
 *     struct sorter *s = sorter_new(folder, budget);
 *     sorter_add(s, key, SORTER_PART(...), SORTER_PART(...), err);    many times
 *     while ((got = sorter_next(s, &record, err)) == 1) ...           records by key, equal keys in
 *     sorter_free(s);                                                 the order of adding
 *
 * The temporary file has no name: nothing is left behind however the program ends. Cost: O(n) for
 * records that come in order, else a radix sort of at most 8 passes over 16 bytes a record. */
#ifndef CUTLINE_CAPTURE_CONVERT_CONVERT_SORTER_H
#define CUTLINE_CAPTURE_CONVERT_CONVERT_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"

struct sorter;

struct sorter_record {
    int64_t key;
    uint32_t bytes;
    const void *data; /* 8-byte aligned; until the next call */
};

/* folder: where runs go when the records exceed budget_bytes of memory; copied. NULL: no memory. */
struct sorter *sorter_new(const char *folder, size_t budget_bytes);

/* Bytes of a record. */
struct sorter_part {
    const void *data;
    size_t bytes;
};
#define SORTER_PART(at, length) ((struct sorter_part){.data = (at), .bytes = (length)})

/* Adds a record made of two parts; the second may be NULL with 0 bytes. Not allowed once
 * sorter_next was called. Returns 0, or -1: no memory, or the folder is full. */
int sorter_add(struct sorter *sorter, int64_t key, struct sorter_part head, struct sorter_part tail,
               struct err *err);

/* 1: *record is the next one; 0: the end; -1: the temporary file could not be read or written. */
int sorter_next(struct sorter *sorter, struct sorter_record *record, struct err *err);

/* How many records were added. */
uint64_t sorter_count(const struct sorter *sorter);

/* Frees all; NULL is allowed. */
void sorter_free(struct sorter *sorter);

#endif
