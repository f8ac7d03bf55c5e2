/*
 * idle_tally: all idle gaps of 1 us and longer, summed up by device and cause, without a list of
 * them: a capture has millions.
 *
 * Short gaps inside launch-bound zones that launching explains are counted apart, for their zone.
 */
#ifndef CUTLINE_DETECT_IDLE_TALLY_H
#define CUTLINE_DETECT_IDLE_TALLY_H

#include "analysis/base/intern.h"
#include "analysis/detect/advice.h"
#include "analysis/detect/causes.h"
#include "analysis/detect/density.h"

#define IDLE_TALLY_LEAST_NS \
    INT64_C( \
        1000) /* shorter gaps are how a device goes on to the next op: the medians of queued ones were 0.7 to 1.5 us */

struct idle_entry {
    int64_t ns;
    uint32_t count;
    uint32_t name; /* in names: the first one of this text */
    bool differ; /* there are several, which differ in their numbers */
};

/* Times by a text, its numbers as "#": "step 17" and "step 18" are one series. */
struct idle_named {
    struct intern texts;
    struct idle_entry *list; /* by id of the text; owned */
    size_t cap;
};

/* The gaps of one kind on one device. */
struct idle_sum {
    size_t count;
    int64_t ns;
    int64_t long_ns; /* of those of min_ns and longer */
    int64_t fact_ns[ADVICE_FACTS]; /* of those of which a fact (1U << i) holds */
    struct gap longest;
    struct cause longest_cause;
    int64_t part_ns[CAUSE_PART_COUNT];
    struct idle_named calls; /* time in the gaps by call; AFTER_BLOCKING: the gaps after a call */
    struct idle_named waits; /* time of the gaps by the call that had held up their launch: HELD */
    struct idle_named ranges; /* time in the gaps by NVTX range, without the numbers of calls */
};

/* What a zone of density counts. */
struct idle_zone {
    int64_t ns;
    int64_t gaps;
};

struct idle_tally {
    struct idle_sum *sums; /* device * CAUSE_KIND_COUNT + kind; owned */
    struct idle_zone *zones; /* of the zones of density; owned */
    int64_t sync_ns; /* gaps that a synchronising call explains */
};

struct idle_tally_query {
    const struct facts *facts;
    const struct busy *busy;
    struct gaps_query gaps; /* min_ns: what is long */
    const struct density *density; /* NULL: no zones */
    int64_t long_ns; /* ADVICE_LONG: a gap of this or longer */
};

/* 0 or -1; the caller frees in both cases. O(ops + gaps log n + calls). */
int idle_tally_make(const struct idle_tally_query *query, struct idle_tally *out, struct err *err);
/* The facts that hold for half of the time of a sum, or more. */
uint32_t idle_sum_facts(const struct idle_sum *sum);
void idle_tally_free(struct idle_tally *tally, uint32_t device_count);

/* Adds the text of an entry: its name, or with "#" for numbers that differ. */
void idle_named_text(const struct idle_named *named, const struct trace *trace, uint32_t id,
                     struct buf *out);
/* The ids of the texts with the most time, largest first; at most `max`, returns how many. */
int idle_named_top(const struct idle_named *named, uint32_t *ids, int max);

#endif
