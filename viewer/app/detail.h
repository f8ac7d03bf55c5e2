/*
 * detail: what is known about the selected event or gap: two lines, and all columns of its row.
 *
 * Made by detail_make when the selection changes; painting only reads. Texts are as in the file.
 */
#ifndef CUTLINE_APP_DETAIL_H
#define CUTLINE_APP_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"

struct app;
struct occupancy_device;
struct store;

enum {
    DETAIL_FIELDS = 72
};

struct detail_field {
    const char *key;
    const char *value; /* in the arena */
    size_t value_len;
};

struct detail {
    struct buf title; /* the name */
    struct buf facts; /* "stream 7   412.3 us   grid 32x8x1 ..." */
    struct buf origin; /* "launched by cudaLaunchKernel (thread 4242) 18.4 us before; in ..." */
    struct detail_field fields[DETAIL_FIELDS];
    int field_count;
    struct arena arena;
    uint32_t table; /* what it was made for */
    uint32_t index;
    int64_t gap_begin_ns;
    uint64_t span_stamp; /* of the marks, and of the filter */
    uint64_t filter_stamp;
    uint32_t gap_device;
    bool made;
    struct store *store; /* owned; opened when first needed */
    bool store_failed;
    struct occupancy_device *devices; /* owned; read when first needed */
};

void detail_make(struct app *app);
void detail_free(struct detail *detail);

#endif
