/*
 * measure: everything about one span of one device: how busy, by what, what the host did, why it
 * was idle.
 */
#ifndef CUTLINE_DETECT_MEASURE_H
#define CUTLINE_DETECT_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/detect/causes.h"
#include "analysis/timeline/lists.h"
#include "analysis/timeline/overlap.h"
#include "analysis/trace/busy.h"

struct measure_query {
    const struct facts *facts;
    const struct busy *busy; /* of the terms */
    const struct overlap *overlap; /* of the terms; NULL = leave out */
    const struct terms *terms; /* NULL = all */
    uint32_t device;
    int64_t begin_ns; /* A and B; either order */
    int64_t end_ns;
    int64_t min_gap_ns; /* gaps shorter than this are not asked for their cause */
};

struct measure {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t busy_ns; /* union of kept ops */
    int64_t idle_ns; /* end - begin - busy */
    double busy_percent;
    int64_t ops; /* kept ops that overlap the span */
    struct list gpu; /* kept ops of the device by name, most time first */
    struct list api; /* calls by name of all threads, most time first */
    struct list nvtx; /* ranges by name of all threads, most time first */
    struct overlap_parts parts;
    struct gaps gaps; /* of the span, longest first: idle between the first and last op
                                   of the device, clipped to the span */
    struct cause *causes; /* causes[i] of gaps.list[i] */
    struct causes_sum *by_kind; /* most time first */
    size_t kind_count;
};

/* 0 or -1. out is zero or was made before (its memory is reused). */
int measure_make(const struct measure_query *query, struct measure *out, struct err *err);
void measure_free(struct measure *measure);

#endif
