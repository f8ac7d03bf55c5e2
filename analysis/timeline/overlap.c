/*
 * overlap: see overlap.h.
 *
 * The union of each class is that of busy.h. The three unions of a device are swept together into
 * the list of times at which the set of running classes changes; the time by set before every 128th
 * change is kept, so that a window costs two binary searches and up to 256 steps.
 */
#include "analysis/timeline/overlap.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/array.h"
#include "analysis/trace/busy.h"

enum {
    CLASSES = 3,
    BLOCK = 128,
};

struct changes {
    size_t count;
    int64_t *at_ns; /* owned, ascending */
    uint8_t *mask; /* owned: what runs from at_ns[i] on; the last is 0 */
    struct overlap_sums *block; /* owned: time by set before change 128 * i, from the first on */
};

struct overlap {
    uint32_t device_count;
    struct changes *devices; /* owned */
};

enum overlap_class overlap_class_of(const struct trace_name *name)
{
    if (name->kind == TRACE_MEMCPY || name->kind == TRACE_MIGRATION) {
        return OVERLAP_COPY;
    }
    if (name->kind == TRACE_KERNEL && name->brief_len >= 4 &&
        strncasecmp(name->brief, "nccl", 4) == 0) {
        return OVERLAP_COMMUNICATION;
    }
    return OVERLAP_COMPUTE;
}

/* ---- the sweep ---- */

/* A place in the union of one class: the next boundary is the begin (or, inside, the end) of
 * interval `at`. */
struct place {
    const struct busy_union *all;
    uint32_t at;
    bool is_inside;
};

static bool place_next(const struct place *place, int64_t *t_ns)
{
    if (place->at >= place->all->count) {
        return false;
    }
    *t_ns = place->is_inside ? place->all->end_ns[place->at] : place->all->begin_ns[place->at];
    return true;
}

static void place_step(struct place *place)
{
    if (place->is_inside) {
        place->at++;
    }
    place->is_inside = !place->is_inside;
}

/* The earliest boundary; false at the end. */
static bool places_next(const struct place *places, int64_t *t_ns)
{
    bool is_any = false;
    for (int c = 0; c < CLASSES; c++) {
        int64_t next_ns = 0;
        if (place_next(&places[c], &next_ns) && (!is_any || next_ns < *t_ns)) {
            *t_ns = next_ns;
            is_any = true;
        }
    }
    return is_any;
}

/* Moves all places over time t; returns what runs from there on. An interval without length opens
 * and closes at once. */
static uint8_t places_pass(struct place *places, int64_t t_ns)
{
    unsigned mask = 0;
    for (int c = 0; c < CLASSES; c++) {
        int64_t next_ns = 0;
        while (place_next(&places[c], &next_ns) && next_ns == t_ns) {
            place_step(&places[c]);
        }
        mask |= places[c].is_inside ? 1U << c : 0;
    }
    return (uint8_t)mask;
}

static int changes_make(struct changes *out, const struct busy *const classes[CLASSES],
                        uint32_t device)
{
    struct place places[CLASSES];
    size_t bound = 0;
    int64_t t_ns = 0;
    for (int c = 0; c < CLASSES; c++) {
        places[c] = (struct place){.all = &classes[c]->devices[device]};
        bound += (size_t)2 * places[c].all->count;
    }
    out->at_ns = malloc((bound + 1) * sizeof *out->at_ns);
    out->mask = malloc(bound + 1);
    out->block = calloc(bound / BLOCK + 1, sizeof *out->block);
    if (out->at_ns == NULL || out->mask == NULL || out->block == NULL) {
        return -1;
    }
    struct overlap_sums sums = {{0}};
    while (places_next(places, &t_ns)) {
        uint8_t mask = places_pass(places, t_ns);
        size_t n = out->count;
        if (n > 0 && mask == out->mask[n - 1]) {
            continue;
        }
        if (n > 0) {
            sums.ns[out->mask[n - 1]] += t_ns - out->at_ns[n - 1];
        }
        if (n % BLOCK == 0) {
            out->block[n / BLOCK] = sums;
        }
        out->at_ns[n] = t_ns;
        out->mask[n] = mask;
        out->count++;
    }
    return 0;
}

/* ---- classes ---- */

/* The busy times of one class. By name bits, or by op bits where the terms are by op. */
static struct busy *class_busy(const struct trace *trace, const struct terms *terms,
                               enum overlap_class class, struct err *err)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const uint64_t *op_bits = terms != NULL ? terms->event_bits[TRACE_GPU] : NULL;
    const uint64_t *name_bits = terms != NULL ? terms->name_bits : NULL;
    uint32_t count = op_bits != NULL ? gpu->count : trace->name_count;
    uint64_t *bits = calloc((size_t)count / 64 + 1, sizeof *bits);
    if (bits == NULL) {
        (void)err_nomem(err, "the overlap");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = op_bits != NULL ? gpu->name[i] : i;
        bool is_kept = busy_has(op_bits != NULL ? op_bits : name_bits, i);
        if (is_kept && overlap_class_of(&trace->names[name]) == class) {
            bits[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    struct busy *busy =
        op_bits != NULL ? busy_new_ops(trace, bits, err) : busy_new(trace, bits, err);
    free(bits);
    return busy;
}

static int fill(struct overlap *overlap, const struct busy *const classes[CLASSES], struct err *err)
{
    for (uint32_t d = 0; d < overlap->device_count; d++) {
        if (changes_make(&overlap->devices[d], classes, d) != 0) {
            return err_nomem(err, "the overlap");
        }
    }
    return 0;
}

struct overlap *overlap_new(const struct trace *trace, const struct terms *terms, struct err *err)
{
    struct busy *classes[CLASSES] = {NULL};
    struct overlap *overlap = calloc(1, sizeof *overlap);
    int rc = -1;
    if (overlap == NULL) {
        (void)err_nomem(err, "the overlap");
        return NULL;
    }
    overlap->device_count = trace->device_count;
    overlap->devices = calloc((size_t)trace->device_count + 1, sizeof *overlap->devices);
    if (overlap->devices == NULL) {
        (void)err_nomem(err, "the overlap");
        goto out;
    }
    for (unsigned c = 0; c < CLASSES; c++) {
        classes[c] = class_busy(trace, terms, (enum overlap_class)(1U << c), err);
        if (classes[c] == NULL) {
            goto out;
        }
    }
    const struct busy *const made[CLASSES] = {classes[0], classes[1], classes[2]};
    rc = fill(overlap, made, err);
out:
    for (int c = 0; c < CLASSES; c++) {
        busy_free(classes[c]);
    }
    if (rc != 0) {
        overlap_free(overlap);
        return NULL;
    }
    return overlap;
}

void overlap_free(struct overlap *overlap)
{
    if (overlap == NULL) {
        return;
    }
    for (uint32_t d = 0; overlap->devices != NULL && d < overlap->device_count; d++) {
        free(overlap->devices[d].at_ns);
        free(overlap->devices[d].mask);
        free(overlap->devices[d].block);
    }
    free(overlap->devices);
    free(overlap);
}

/* Time by set from the first change to t; t is not before it. */
static struct overlap_sums sums_before(const struct changes *changes, int64_t t_ns)
{
    size_t low = 0; /* the first change after t */
    BISECT(size_t, low, changes->count, mid, changes->at_ns[mid] <= t_ns)
    size_t last = low - 1; /* at_ns[last] <= t */
    struct overlap_sums sums = changes->block[last / BLOCK];
    for (size_t i = last / BLOCK * BLOCK; i < last; i++) {
        sums.ns[changes->mask[i]] += changes->at_ns[i + 1] - changes->at_ns[i];
    }
    sums.ns[changes->mask[last]] += t_ns - changes->at_ns[last];
    return sums;
}

struct overlap_sums overlap_in(const struct overlap *overlap, uint32_t device, int64_t begin_ns,
                               int64_t end_ns)
{
    const struct changes *changes = &overlap->devices[device];
    struct overlap_sums sums = {{0}};
    if (end_ns <= begin_ns) {
        return sums;
    }
    int64_t busy_ns = 0;
    if (changes->count > 0 && end_ns > changes->at_ns[0]) {
        int64_t from_ns = begin_ns > changes->at_ns[0] ? begin_ns : changes->at_ns[0];
        struct overlap_sums before = sums_before(changes, from_ns);
        sums = sums_before(changes, end_ns);
        for (int mask = 1; mask < OVERLAP_MASKS; mask++) {
            sums.ns[mask] -= before.ns[mask];
            busy_ns += sums.ns[mask];
        }
    }
    sums.ns[0] = end_ns - begin_ns - busy_ns;
    return sums;
}

struct overlap_parts overlap_parts(const struct overlap_sums *sums)
{
    const int64_t *ns = sums->ns;
    return (struct overlap_parts){
        .compute_only_ns = ns[OVERLAP_COMPUTE] + ns[OVERLAP_COMPUTE | OVERLAP_COPY],
        .communication_only_ns =
            ns[OVERLAP_COMMUNICATION] + ns[OVERLAP_COMMUNICATION | OVERLAP_COPY],
        .both_ns = ns[OVERLAP_COMPUTE | OVERLAP_COMMUNICATION] + ns[OVERLAP_MASKS - 1],
        .copy_only_ns = ns[OVERLAP_COPY],
        .idle_ns = ns[0],
    };
}
