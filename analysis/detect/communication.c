/*
 * communication: time that a device communicates and does not compute, and who it waited for.
 *
 * The k-th collective of an operation on one device belongs to the k-th of the same operation on the
 * others, as a communicator runs its collectives in one order on all ranks (NCCL User Guide, "Using
 * multiple NCCL communicators concurrently"). Devices with the same number of them are paired; a
 * pairing stands if at least 4 of 5 collectives were in flight on all devices at one time, for all
 * of them end together. Who begins last was late; the others waited from their begin to its begin.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"
#include "analysis/detect/rules_text.h"
#include "analysis/timeline/overlap.h"

static const struct report_arg ARGS[] = {DETECTOR_TIME_ARGS, {0}};

static const struct table_column COLUMNS[] = {
    {"Exposed (%)", TABLE_PERCENT, 0},     {"Exposed Time", TABLE_TIME, 0},
    {"Communication Time", TABLE_TIME, 0}, {"Compute Time", TABLE_TIME, 0},
    {"Collectives", TABLE_INT, 0},         {"Paired", TABLE_INT, 0},
    {"Last to Arrive", TABLE_INT, 0},      {"Waited", TABLE_TIME, 0},
    {"Waited for Device", TABLE_INT, 0},   {"Device ID", TABLE_INT, 0},
};

/* Operations by a part of the kernel's name; the first that fits. */
static const char *const OPERATIONS[] = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll",
                                         "Broadcast", "SendRecv",  "Send",          "Recv",
                                         "Reduce",    "Gather",    "Scatter"};

enum {
    LEAST_PERCENT = 1 /* of the span: less exposed time is no finding */
};

struct collective {
    uint32_t device;
    uint32_t operation; /* index in OPERATIONS; ARRAY_LEN = another */
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t gpu;
};

/* What one device did. */
struct rank {
    int64_t span_ns;
    int64_t exposed_ns;
    int64_t communication_ns;
    int64_t compute_ns;
    uint32_t collectives;
    uint32_t paired;
    uint32_t last; /* paired collectives that it began last */
    int64_t waited_ns;
    uint32_t most; /* the device that it waited for most, TRACE_NONE = it did not wait */
    int64_t most_ns; /* ... and how long */
    uint32_t longest; /* GPU index of its longest, TRACE_NONE = none */
    int64_t beside_ns; /* of its communication, sums of durations: on lanes with compute kernels */
    int64_t sum_ns; /* ... on all */
    uint32_t by_operation[ARRAY_LEN(OPERATIONS) + 1];
};

/* One device waited for another at a collective. */
struct wait {
    uint32_t device;
    uint32_t late;
    int64_t ns;
};

struct ranks {
    struct rank *list; /* owned, by device */
    uint32_t count;
    struct collective *all; /* owned: by operation, device, begin */
    size_t all_count;
    struct wait *waits; /* owned */
    size_t wait_count;
    size_t wait_cap;
};

static uint32_t operation_of(const struct trace_name *name)
{
    for (uint32_t i = 0; i < ARRAY_LEN(OPERATIONS); i++) {
        if (strstr(name->brief, OPERATIONS[i]) != NULL) {
            return i;
        }
    }
    return ARRAY_LEN(OPERATIONS);
}

static int by_place(const void *a, const void *b)
{
    const struct collective *x = a;
    const struct collective *y = b;
    if (x->operation != y->operation) {
        return COMPARE(x->operation, y->operation);
    }
    if (x->device != y->device) {
        return COMPARE(x->device, y->device);
    }
    if (x->begin_ns != y->begin_ns) {
        return COMPARE(x->begin_ns, y->begin_ns);
    }
    return COMPARE(x->gpu, y->gpu);
}

/* All collectives in the selection. 0 or -1. */
static int gather(const struct report_context *context, struct ranks *out)
{
    const struct trace *trace = context->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t cap = 0;
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_GPU || !select_lane(trace, context->select, lane)) {
            continue;
        }
        struct rank *rank = &out->list[lane->device];
        int64_t lane_ns = 0;
        uint32_t kernels = 0;
        size_t before = out->all_count;
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            const struct trace_name *name = &trace->names[gpu->name[i]];
            kernels += overlap_class_of(name) == OVERLAP_COMPUTE;
            if (overlap_class_of(name) != OVERLAP_COMMUNICATION ||
                !select_time(context->select, gpu->begin_ns[i], gpu->end_ns[i])) {
                continue;
            }
            struct collective *all = array_grow(out->all, &cap, out->all_count + 1, sizeof *all);
            if (all == NULL) {
                return -1;
            }
            out->all = all;
            all[out->all_count++] = (struct collective){lane->device, operation_of(name),
                                                        gpu->begin_ns[i], gpu->end_ns[i], i};
            lane_ns += gpu->end_ns[i] - gpu->begin_ns[i];
        }
        rank->sum_ns += lane_ns;
        rank->beside_ns += kernels * UINT64_C(10) >= out->all_count - before ? lane_ns : 0;
    }
    if (out->all_count > 0) {
        sort_list(out->all, out->all_count, sizeof *out->all, by_place);
    }
    return 0;
}

/* ---- pairing ---- */

/* The collectives of one operation on one device. */
struct sequence {
    const struct collective *first;
    size_t count;
};

/* The k-th of all sequences: who was last, and were all in flight at one time? */
static bool in_flight(const struct sequence *list, size_t count, size_t k, size_t *last)
{
    int64_t end_ns = INT64_MAX;
    *last = 0;
    for (size_t i = 0; i < count; i++) {
        const struct collective *one = &list[i].first[k];
        end_ns = one->end_ns < end_ns ? one->end_ns : end_ns;
        if (one->begin_ns > list[*last].first[k].begin_ns) {
            *last = i;
        }
    }
    return list[*last].first[k].begin_ns <= end_ns;
}

static int count_waits(struct ranks *out, const struct sequence *list, size_t count, size_t k,
                       size_t last)
{
    const struct collective *late = &list[last].first[k];
    for (size_t i = 0; i < count; i++) {
        const struct collective *one = &list[i].first[k];
        struct rank *rank = &out->list[one->device];
        int64_t ns = late->begin_ns - one->begin_ns;
        rank->paired++;
        rank->last += i == last;
        rank->waited_ns += ns;
        if (ns == 0) {
            continue;
        }
        struct wait *waits =
            array_grow(out->waits, &out->wait_cap, out->wait_count + 1, sizeof *waits);
        if (waits == NULL) {
            return -1;
        }
        out->waits = waits;
        waits[out->wait_count++] = (struct wait){one->device, late->device, ns};
    }
    return 0;
}

static int by_pair(const void *a, const void *b)
{
    const struct wait *x = a;
    const struct wait *y = b;
    return x->device != y->device ? COMPARE(x->device, y->device) : COMPARE(x->late, y->late);
}

/* Whom each device waited for most; the lowest number of equals. */
static void sum_waits(struct ranks *out)
{
    sort_list(out->waits, out->wait_count, sizeof *out->waits, by_pair);
    size_t from = 0;
    while (from < out->wait_count) {
        const struct wait *first = &out->waits[from];
        struct rank *rank = &out->list[first->device];
        int64_t ns = 0;
        for (; from < out->wait_count && by_pair(first, &out->waits[from]) == 0; from++) {
            ns += out->waits[from].ns;
        }
        if (ns > rank->most_ns) {
            rank->most = first->late;
            rank->most_ns = ns;
        }
    }
}

/* Pairs sequences of the same length. 0 or -1. */
static int pair(struct ranks *out, const struct sequence *list, size_t count)
{
    size_t length = list[0].count;
    size_t good = 0;
    size_t last = 0;
    for (size_t k = 0; k < length; k++) {
        good += in_flight(list, count, k, &last);
    }
    if (count < 2 || good * 5 < length * 4) {
        return 0;
    }
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < length; k++) {
        if (in_flight(list, count, k, &last)) {
            rc = count_waits(out, list, count, k, last);
        }
    }
    return rc;
}

static int by_count(const void *a, const void *b)
{
    const struct sequence *x = a;
    const struct sequence *y = b;
    return x->count != y->count ? COMPARE(y->count, x->count)
                                : COMPARE(x->first->device, y->first->device);
}

/* Pairs what one operation did on all devices. list has room for all devices. */
static int pair_operation(struct ranks *out, size_t begin, size_t end, struct sequence *list)
{
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        if (i == begin || out->all[i].device != out->all[i - 1].device) {
            list[count++] = (struct sequence){.first = &out->all[i]};
        }
        list[count - 1].count++;
    }
    sort_list(list, count, sizeof *list, by_count);
    size_t from = 0;
    int rc = 0;
    while (rc == 0 && from < count) {
        size_t to = from + 1;
        while (to < count && list[to].count == list[from].count) {
            to++;
        }
        rc = pair(out, list + from, to - from);
        from = to;
    }
    return rc;
}

static int pair_all(struct ranks *out)
{
    struct sequence *list = calloc((size_t)out->count + 1, sizeof *list);
    if (list == NULL) {
        return -1;
    }
    size_t from = 0;
    int rc = 0;
    while (rc == 0 && from < out->all_count) {
        size_t to = from + 1;
        while (to < out->all_count && out->all[to].operation == out->all[from].operation) {
            to++;
        }
        rc = pair_operation(out, from, to, list);
        from = to;
    }
    free(list);
    if (rc == 0) {
        sum_waits(out);
    }
    return rc;
}

/* ---- sums of each device ---- */

static void sum_device(const struct report_context *context, const struct overlap *overlap,
                       uint32_t device, struct rank *rank)
{
    const struct trace_device *of = &context->trace->devices[device];
    if (of->busy_count == 0) {
        return;
    }
    int64_t begin_ns = of->busy_begin_ns[0];
    int64_t end_ns = of->busy_end_ns[of->busy_count - 1];
    begin_ns = context->select->begin_ns > begin_ns ? context->select->begin_ns : begin_ns;
    end_ns = context->select->end_ns < end_ns ? context->select->end_ns : end_ns;
    if (begin_ns >= end_ns) {
        return;
    }
    struct overlap_sums sums = overlap_in(overlap, device, begin_ns, end_ns);
    struct overlap_parts parts = overlap_parts(&sums);
    rank->span_ns = end_ns - begin_ns;
    rank->exposed_ns = parts.communication_only_ns;
    rank->communication_ns = parts.communication_only_ns + parts.both_ns;
    rank->compute_ns = parts.compute_only_ns + parts.both_ns;
}

static void count_collectives(const struct trace *trace, struct ranks *out)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    for (size_t i = 0; i < out->all_count; i++) {
        const struct collective *one = &out->all[i];
        struct rank *rank = &out->list[one->device];
        rank->collectives++;
        rank->by_operation[one->operation]++;
        if (rank->longest == TRACE_NONE ||
            one->end_ns - one->begin_ns >
                gpu->end_ns[rank->longest] - gpu->begin_ns[rank->longest]) {
            rank->longest = one->gpu;
        }
    }
}

static void drop(void *data)
{
    struct ranks *found = data;
    free(found->list);
    free(found->all);
    free(found->waits);
    free(found);
}

static int make(const struct report_context *context, struct ranks *found, struct err *err)
{
    const struct trace *trace = context->trace;
    found->count = trace->device_count;
    found->list = calloc((size_t)found->count + 1, sizeof *found->list);
    for (uint32_t d = 0; found->list != NULL && d < found->count; d++) {
        found->list[d].longest = TRACE_NONE;
        found->list[d].most = TRACE_NONE;
    }
    if (found->list == NULL || gather(context, found) != 0 || pair_all(found) != 0) {
        return -1;
    }
    count_collectives(trace, found);
    struct overlap *overlap = overlap_new(trace, NULL, err);
    if (overlap == NULL) {
        return -1;
    }
    for (uint32_t d = 0; d < found->count; d++) {
        sum_device(context, overlap, d, &found->list[d]);
    }
    overlap_free(overlap);
    return 0;
}

static int find(const struct report_context *context, int by, struct detection *out,
                struct err *err)
{
    (void)by;
    struct ranks *found = calloc(1, sizeof *found);
    if (found == NULL) {
        return err_nomem(err, "the collectives");
    }
    out->data = found;
    out->count = context->trace->device_count;
    return make(context, found, err) == 0 ? 0 : err_nomem(err, "the collectives");
}

static void put_row(struct table *table, const struct report_context *context, const void *data,
                    size_t i)
{
    const struct ranks *found = data;
    const struct rank *rank = &found->list[i];
    uint32_t most = rank->most;
    if (rank->collectives == 0 || !detector_keeps(context, (uint32_t)i)) {
        return;
    }
    rules_put_percent(table, rank->exposed_ns, rank->span_ns);
    table_put_int(table, rank->exposed_ns);
    table_put_int(table, rank->communication_ns);
    table_put_int(table, rank->compute_ns);
    table_put_int(table, rank->collectives);
    table_put_int(table, rank->paired);
    table_put_int(table, rank->last);
    table_put_int(table, rank->waited_ns);
    if (most != TRACE_NONE) {
        table_put_int(table, context->trace->devices[most].id);
    } else {
        table_put_empty(table);
    }
    table_put_int(table, context->trace->devices[i].id);
}

/* Does one compute for a tenth longer than the other, or more? */
static bool computes_more(const struct rank *late, const struct rank *rank)
{
    return late->compute_ns / 11 > rank->compute_ns / 10;
}

/* ---- the finding ---- */

/* "20 AllReduce, 3 AllGather". */
static void put_operations(struct buf *out, const struct rank *rank)
{
    const char *between = "";
    for (size_t i = 0; i <= ARRAY_LEN(OPERATIONS); i++) {
        if (rank->by_operation[i] > 0) {
            buf_addf(out, "%s%" PRIu32 " %s", between, rank->by_operation[i],
                     i < ARRAY_LEN(OPERATIONS) ? OPERATIONS[i] : "other");
            between = ", ";
        }
    }
}

static void add(struct findings_maker *maker, const struct ranks *found, uint32_t device)
{
    const struct trace *trace = maker->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct rank *rank = &found->list[device];
    uint32_t most = rank->most;
    bool is_waiting = most != TRACE_NONE && rank->waited_ns * 2 >= rank->exposed_ns;
    char exposed[TIMEFMT_BYTES];
    char all[TIMEFMT_BYTES];
    char waited[TIMEFMT_BYTES];
    char mine[TIMEFMT_BYTES];
    char theirs[TIMEFMT_BYTES];
    struct buf evidence = {0};
    struct buf advice = {0};
    long long id = (long long)trace->devices[device].id;
    buf_addf(&evidence, "%s of %s communication has no compute beside it; ",
             timefmt_duration(rank->exposed_ns, exposed),
             timefmt_duration(rank->communication_ns, all));
    put_operations(&evidence, rank);
    buf_addf(&evidence, "; %.0f %% of it on streams of other kernels",
             findings_percent(rank->beside_ns, rank->sum_ns));
    if (most != TRACE_NONE) {
        const struct rank *late = &found->list[most];
        buf_addf(&evidence,
                 "; it waited %s for GPU %" PRId64 ", which came last in %" PRIu32 " of %" PRIu32,
                 timefmt_duration(rank->most_ns, waited), trace->devices[most].id, late->last,
                 late->paired);
    } else if (rank->paired == 0 && found->count > 1) {
        buf_adds(&evidence, "; the collectives of the devices do not pair");
    }
    if (is_waiting && !computes_more(&found->list[most], rank)) {
        buf_addf(&advice,
                 "GPU %" PRId64
                 " begins its collectives later though it does not compute for longer: "
                 "look at its gaps and its launching thread.",
                 trace->devices[most].id);
    } else if (is_waiting) {
        buf_addf(&advice,
                 "GPU %" PRId64
                 " is late: it computes for %s, GPU %lld for %s. Look at what it does "
                 "before its collectives, and balance the work.",
                 trace->devices[most].id, timefmt_duration(found->list[most].compute_ns, theirs),
                 id, timefmt_duration(rank->compute_ns, mine));
    } else {
        uint32_t facts = rank->beside_ns * 2 >= rank->sum_ns ? ADVICE_SAME_STREAM : 0;
        buf_adds(&advice, findings_advice(maker, ADVICE_OF_COMMUNICATION, facts, TRACE_NONE));
    }
    const struct finding one = {
        .rule = DETECT_COMMUNICATION.rule.name,
        .title =
            findings_words(maker, "GPU %lld: exposed communication, %.1f %% of %s", id,
                           findings_percent(rank->exposed_ns, rank->span_ns), findings_span(maker)),
        .evidence = findings_keep(maker, &evidence),
        .advice = findings_keep(maker, &advice),
        .show = "cutline analyze -r communication",
        .recoverable_ns = rank->exposed_ns,
        .value = findings_percent(rank->exposed_ns, rank->span_ns),
        .begin_ns = gpu->begin_ns[rank->longest],
        .end_ns = gpu->end_ns[rank->longest],
        .device = device,
        .thread = TRACE_NONE,
    };
    findings_add(maker, &one);
    buf_free(&evidence);
    buf_free(&advice);
}

static int finding(struct findings_maker *maker, const struct report_context *context,
                   const void *data)
{
    const struct ranks *found = data;
    for (uint32_t d = 0; d < found->count; d++) {
        const struct rank *rank = &found->list[d];
        if (rank->collectives > 0 && detector_keeps(context, d) &&
            findings_percent(rank->exposed_ns, rank->span_ns) >= LEAST_PERCENT) {
            add(maker, found, d);
        }
    }
    return 0;
}

static bool has_collectives(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (overlap_class_of(&trace->names[i]) == OVERLAP_COMMUNICATION) {
            return true;
        }
    }
    return false;
}

static const struct detector_table TABLE = {NULL, DETECTOR_COLUMNS(COLUMNS), put_row};

const struct detector DETECT_COMMUNICATION = {
    .rule = {.name = "communication",
             .title = "Communication",
             .kind = REPORT_RULE,
             .help = "communication without compute beside it, and which device comes last",
             .advice = "Communicate while kernels run: a stream of its own, pieces that begin "
                       "earlier.",
             .missing = "NCCL kernel data",
             .args = ARGS,
             .kinds = RULES_OPS,
             .run = detector_run},
    .tables = &TABLE,
    .table_count = 1,
    .value_is_worst = true,
    .has_data = has_collectives,
    .find = find,
    .drop = drop,
    .finding = finding,
};
