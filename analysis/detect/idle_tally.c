/*
 * idle_tally: see idle_tally.h. One pass over the gaps of each device; the cause of each is found,
 * added up and forgotten.
 */
#include "analysis/detect/idle_tally.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"

/* A zone, for a search by thread, device and time. */
struct zone_ref {
    uint32_t thread;
    uint32_t device;
    int64_t begin_ns;
    int64_t end_ns;
    size_t zone;
};

struct pass {
    const struct idle_tally_query *query;
    struct zone_ref *zones; /* owned */
    size_t zone_count;
    uint32_t
        *first_op; /* of each name: the op that begins first, made when it is asked for; owned */
    struct idle_tally *out;
};

static int zone_cmp(const void *a, const void *b)
{
    const struct zone_ref *x = a;
    const struct zone_ref *y = b;
    int c = COMPARE(x->thread, y->thread);
    if (c == 0) {
        c = COMPARE(x->device, y->device);
    }
    return c != 0 ? c : COMPARE(x->begin_ns, y->begin_ns);
}

static int zones_sort(struct pass *pass)
{
    const struct density *density = pass->query->density;
    size_t count = density != NULL ? density->zone_count : 0;
    pass->zones = malloc((count + 1) * sizeof *pass->zones);
    pass->out->zones = calloc(count + 1, sizeof *pass->out->zones);
    if (pass->zones == NULL || pass->out->zones == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct density_zone *zone = &density->zones[i];
        pass->zones[i] =
            (struct zone_ref){zone->thread, zone->device, zone->begin_ns, zone->end_ns, i};
    }
    pass->zone_count = count;
    sort_list(pass->zones, count, sizeof *pass->zones, zone_cmp);
    return 0;
}

/* Does launching explain the gap, so that fewer launches would win it? */
static bool is_launching(const struct cause *cause)
{
    return cause->kind == CAUSE_SLOW_HOST || cause->kind == CAUSE_SLOW_LAUNCH ||
           cause->kind == CAUSE_WAIT_START || cause->kind == CAUSE_WAIT_GRAPH;
}

/* The zone that counts the gap; NULL where none does. */
static const struct zone_ref *zone_of(const struct pass *pass, const struct gap *gap,
                                      const struct cause *cause)
{
    const struct zone_ref key = {cause->thread, gap->device, gap->begin_ns, 0, 0};
    if (gap->end_ns - gap->begin_ns >= pass->query->gaps.min_ns || !is_launching(cause)) {
        return NULL;
    }
    size_t after = 0;
    BISECT(size_t, after, pass->zone_count, mid, zone_cmp(&pass->zones[mid], &key) <= 0)
    const struct zone_ref *zone = after > 0 ? &pass->zones[after - 1] : NULL;
    bool inside = zone != NULL && zone->thread == cause->thread && zone->device == gap->device &&
                  gap->end_ns <= zone->end_ns;
    return inside ? zone : NULL;
}

/* ---- sums by text ---- */

enum {
    TEXT_MAX = 256, /* bytes of a name that tell it from others */
};

/* The text with "#" for each run of digits. Returns its length, TEXT_MAX at most. */
static size_t fold(const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n < TEXT_MAX; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (!digit) {
            out[n++] = text[i];
        } else if (n == 0 || out[n - 1] != '#') {
            out[n++] = '#';
        }
    }
    return n;
}

/* text: of the name, or the part of it that counts. */
static int named_add(struct idle_named *named, uint32_t name, const char *text, size_t len,
                     const struct idle_entry *add)
{
    char folded[TEXT_MAX];
    uint32_t known = named->texts.count;
    uint32_t id = intern_add(&named->texts, folded, fold(text, len, folded));
    if (id == INTERN_NONE) {
        return -1;
    }
    struct idle_entry *list =
        array_grow(named->list, &named->cap, (size_t)named->texts.count, sizeof *list);
    if (list == NULL) {
        return -1;
    }
    named->list = list;
    if (id == known) {
        list[id] = (struct idle_entry){.name = name};
    }
    list[id].ns += add->ns;
    list[id].count += add->count;
    list[id].differ |= list[id].name != name;
    return 0;
}

void idle_named_text(const struct idle_named *named, const struct trace *trace, uint32_t id,
                     struct buf *out)
{
    const struct idle_entry *entry = &named->list[id];
    const struct trace_name *name = &trace->names[entry->name];
    if (entry->differ) {
        buf_add(out, intern_text(&named->texts, id), intern_len(&named->texts, id));
    } else if (name->kind == TRACE_NVTX_PUSHPOP) {
        buf_add(out, name->full, cause_plain_len(name->full));
    } else {
        buf_adds(out, name->brief);
    }
}

int idle_named_top(const struct idle_named *named, uint32_t *ids, int max)
{
    int count = 0;
    for (uint32_t id = 0; id < named->texts.count; id++) {
        int at = count < max ? count++ : max;
        while (at > 0 && named->list[ids[at - 1]].ns < named->list[id].ns) {
            if (at < max) {
                ids[at] = ids[at - 1];
            }
            at--;
        }
        if (at < max) {
            ids[at] = id;
        }
    }
    return count;
}

static void named_free(struct idle_named *named)
{
    intern_free(&named->texts);
    free(named->list);
}

/* ---- the sums ---- */

static int add_names(const struct trace *trace, const struct cause *cause, int64_t gap_ns,
                     struct idle_sum *sum)
{
    bool after = cause->kind == CAUSE_AFTER_BLOCKING;
    for (int i = 0; i < cause->name_count; i++) {
        const struct host_name *name = &cause->names[i];
        const struct idle_entry add = {.ns = after ? gap_ns : name->ns,
                                       .count = after ? 1 : name->calls};
        const char *text = trace->names[name->name].brief;
        if (named_add(&sum->calls, name->name, text, strlen(text), &add) != 0) {
            return -1;
        }
    }
    if (cause->nvtx == TRACE_NONE) {
        return 0;
    }
    uint32_t name = trace->events[TRACE_NVTX].name[cause->nvtx];
    const char *range = trace->names[name].full;
    const struct idle_entry add = {.ns = cause->nvtx_ns, .count = 1};
    return named_add(&sum->ranges, name, range, cause_plain_len(range), &add);
}

/* Is the call that shows the cause one that synchronises? */
static bool is_sync(const struct trace *trace, const struct cause *cause)
{
    if (cause->evidence == TRACE_NONE || cause->table != TRACE_API ||
        (cause->kind != CAUSE_SYNC && cause->kind != CAUSE_AFTER_BLOCKING)) {
        return false;
    }
    uint32_t name = trace->events[TRACE_API].name[cause->evidence];
    return (trace->names[name].api & TRACE_API_SYNC) != 0;
}

/* The first op of each name. 0 or -1. O(ops). */
static int find_first_ops(struct pass *pass)
{
    const struct trace *trace = pass->query->facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    size_t bytes = ((size_t)trace->name_count + 1) * sizeof *pass->first_op;
    pass->first_op = malloc(bytes);
    if (pass->first_op == NULL) {
        return -1;
    }
    memset(pass->first_op, 0xff, bytes);
    for (uint32_t i = 0; i < gpu->count; i++) {
        uint32_t *first = &pass->first_op[gpu->name[i]];
        if (*first == TRACE_NONE || gpu->begin_ns[i] < gpu->begin_ns[*first]) {
            *first = i;
        }
    }
    return 0;
}

/* The facts of one gap. 0 or -1. */
static int add_facts(struct pass *pass, const struct gap *gap, const struct cause *cause,
                     struct idle_sum *sum)
{
    const struct facts *facts = pass->query->facts;
    const struct trace_events *gpu = &facts->trace->events[TRACE_GPU];
    int64_t ns = gap->end_ns - gap->begin_ns;
    uint32_t bits = advice_of_cause(facts, cause);
    if (cause->kind == CAUSE_SLOW_LAUNCH && gap->after != TRACE_NONE) {
        if (pass->first_op == NULL && find_first_ops(pass) != 0) {
            return -1;
        }
        bool first = pass->first_op[gpu->name[gap->after]] == gap->after;
        bits |= first ? ADVICE_FIRST : 0;
    }
    if (cause->kind == CAUSE_SLOW_LAUNCH && gap->before != TRACE_NONE) {
        uint32_t wait = cause_last_wait(facts, cause->thread, gap->begin_ns,
                                        facts->trace->events[TRACE_API].begin_ns[cause->launch]);
        if (wait != TRACE_NONE) {
            uint32_t name = facts->trace->events[TRACE_API].name[wait];
            const char *text = facts->trace->names[name].brief;
            const struct idle_entry one = {.ns = ns, .count = 1};
            bits |= ADVICE_HELD;
            if (named_add(&sum->waits, name, text, strlen(text), &one) != 0) {
                return -1;
            }
        }
    }
    bits |= ns >= pass->query->long_ns ? ADVICE_LONG : 0;
    for (int i = 0; i < ADVICE_FACTS; i++) {
        sum->fact_ns[i] += (bits >> i & 1U) != 0 ? ns : 0;
    }
    return 0;
}

uint32_t idle_sum_facts(const struct idle_sum *sum)
{
    uint32_t bits = 0;
    for (int i = 0; i < ADVICE_FACTS; i++) {
        bits |= sum->fact_ns[i] > 0 && 2 * sum->fact_ns[i] >= sum->ns ? 1U << i : 0;
    }
    return bits;
}

static int visit(void *arg, const struct gap *gap, struct err *err)
{
    struct pass *pass = arg;
    const struct trace *trace = pass->query->facts->trace;
    struct cause cause;
    cause_of(pass->query->facts, gap, &cause);
    int64_t ns = gap->end_ns - gap->begin_ns;
    const struct zone_ref *zone = zone_of(pass, gap, &cause);
    if (zone != NULL) {
        pass->out->zones[zone->zone].ns += ns;
        pass->out->zones[zone->zone].gaps++;
        return 0;
    }
    struct idle_sum *sum = &pass->out->sums[gap->device * CAUSE_KIND_COUNT + cause.kind];
    if (ns > sum->longest.end_ns - sum->longest.begin_ns) {
        sum->longest = *gap;
        sum->longest_cause = cause;
    }
    sum->count++;
    sum->ns += ns;
    sum->long_ns += ns >= pass->query->gaps.min_ns ? ns : 0;
    pass->out->sync_ns += is_sync(trace, &cause) ? ns : 0;
    for (int i = 0; i < CAUSE_PART_COUNT; i++) {
        sum->part_ns[i] += cause.part_ns[i];
    }
    bool added = add_names(trace, &cause, ns, sum) == 0 && add_facts(pass, gap, &cause, sum) == 0;
    return added ? 0 : err_nomem(err, "the sums of gaps");
}

int idle_tally_make(const struct idle_tally_query *query, struct idle_tally *out, struct err *err)
{
    const struct trace *trace = query->facts->trace;
    struct pass pass = {.query = query, .out = out};
    struct gaps_query gaps = query->gaps;
    struct gaps all;
    gaps.min_ns = IDLE_TALLY_LEAST_NS;
    *out = (struct idle_tally){0};
    out->sums = calloc((size_t)trace->device_count * CAUSE_KIND_COUNT + 1, sizeof *out->sums);
    int rc = out->sums == NULL || zones_sort(&pass) != 0 ? err_nomem(err, "the sums of gaps") : 0;
    if (rc == 0) {
        rc = gaps_each(trace, query->busy, &gaps, visit, &pass, &all, err);
    }
    free(pass.zones);
    free(pass.first_op);
    return rc;
}

void idle_tally_free(struct idle_tally *tally, uint32_t device_count)
{
    size_t count = tally->sums != NULL ? (size_t)device_count * CAUSE_KIND_COUNT : 0;
    for (size_t i = 0; i < count; i++) {
        named_free(&tally->sums[i].calls);
        named_free(&tally->sums[i].waits);
        named_free(&tally->sums[i].ranges);
    }
    free(tally->sums);
    free(tally->zones);
    *tally = (struct idle_tally){0};
}
