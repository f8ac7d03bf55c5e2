/*
 * transfers: one pass over the copies, each against the union of kernels of its device (prefix
 * sums, O(log n) a copy); rows are grouped by sorting: O(n log n).
 */
#include "analysis/detect/transfers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/times.h"
#include "analysis/detect/advice.h"
#include "analysis/detect/rules_text.h"
#include "analysis/filter/select.h"
#include "analysis/trace/busy.h"

static bool is_copy(const struct trace_name *name)
{
    return name->kind == TRACE_MEMCPY || name->kind == TRACE_MIGRATION;
}

int64_t transfers_exposed_ns(struct shared *shared, uint32_t device, int64_t begin_ns,
                             int64_t end_ns)
{
    const struct busy *work = shared_busy(shared, SHARED_WORK, NULL);
    const struct busy *both = shared_busy(shared, SHARED_WORK_TRANSFERS, NULL);
    if (work == NULL || both == NULL) {
        return -1;
    }
    return busy_device_ns(both, device, begin_ns, end_ns) -
           busy_device_ns(work, device, begin_ns, end_ns);
}

static int key_cmp(const void *a, const void *b)
{
    const struct transfer *x = a;
    const struct transfer *y = b;
    int c = COMPARE(x->device, y->device);
    c = c != 0 ? c : COMPARE(x->process, y->process);
    c = c != 0 ? c : COMPARE(x->name, y->name);
    c = c != 0 ? c : COMPARE(x->src_kind, y->src_kind);
    c = c != 0 ? c : COMPARE(x->dst_kind, y->dst_kind);
    return c != 0 ? c : COMPARE(x->facts, y->facts);
}

static int exposed_cmp(const void *a, const void *b)
{
    const struct transfer *x = a;
    const struct transfer *y = b;
    int c = COMPARE(y->total_ns - y->hidden_ns, x->total_ns - x->hidden_ns);
    return c != 0 ? c : key_cmp(a, b);
}

/* Do kernels run on the stream of a lane, at least one for ten of its other ops? O(ops). */
static bool has_kernels(const struct trace *trace, const struct trace_lane *lane)
{
    const uint32_t *name = trace->events[TRACE_GPU].name;
    uint32_t kernels = 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint8_t kind = trace->names[name[i]].kind;
        kernels += kind == TRACE_KERNEL || kind == TRACE_GRAPH;
    }
    return (uint64_t)kernels * 10 >= lane->count;
}

static struct transfer one_copy(const struct facts *facts, const struct busy *work, uint32_t gpu,
                                const struct trace_lane *lane)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct facts_copy *copy = facts_copy_of(facts, gpu);
    uint32_t call = ops->link[gpu];
    int64_t begin_ns = ops->begin_ns[gpu];
    int64_t end_ns = ops->end_ns[gpu];
    int64_t hidden_ns = busy_device_ns(work, lane->device, begin_ns, end_ns);
    return (struct transfer){
        .process = lane->process,
        .device = lane->device,
        .name = ops->name[gpu],
        .src_kind = copy != NULL ? copy->src_kind : FACTS_MEM_UNKNOWN,
        .dst_kind = copy != NULL ? copy->dst_kind : FACTS_MEM_UNKNOWN,
        .count = 1,
        .bytes = copy != NULL ? copy->bytes : -1,
        .total_ns = end_ns - begin_ns,
        .hidden_ns = hidden_ns,
        .call_ns = call != TRACE_NONE ? api->end_ns[call] - api->begin_ns[call] : 0,
        .facts = advice_of_op(facts, gpu),
        .longest = gpu,
        .longest_exposed_ns = end_ns - begin_ns - hidden_ns,
    };
}

static void merge(struct transfer *into, const struct transfer *one)
{
    into->count += one->count;
    into->bytes = into->bytes < 0 || one->bytes < 0 ? -1 : i64_add(into->bytes, one->bytes);
    into->total_ns += one->total_ns;
    into->hidden_ns += one->hidden_ns;
    into->call_ns += one->call_ns;
    if (one->longest_exposed_ns > into->longest_exposed_ns) {
        into->longest = one->longest;
        into->longest_exposed_ns = one->longest_exposed_ns;
    }
}

/* Neighbours of equal keys become one row. */
static void merge_equal(struct transfers *out)
{
    size_t n = 0;
    for (size_t i = 1; i < out->count; i++) {
        if (key_cmp(&out->list[n], &out->list[i]) == 0) {
            merge(&out->list[n], &out->list[i]);
        } else {
            out->list[++n] = out->list[i];
        }
    }
    out->count = n + 1;
}

/* Equal keys become one row: first those of equal facts, which are kept apart, too. 0, or -1 without
 * memory. */
static int group(struct transfers *out)
{
    if (out->count == 0) {
        return 0;
    }
    sort_list(out->list, out->count, sizeof(*out->list), key_cmp);
    merge_equal(out);
    out->parts = malloc(out->count * sizeof *out->parts);
    if (out->parts == NULL) {
        return -1;
    }
    memcpy(out->parts, out->list, out->count * sizeof *out->parts);
    out->part_count = out->count;
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].facts = 0;
    }
    merge_equal(out);
    sort_list(out->list, out->count, sizeof(*out->list), exposed_cmp);
    return 0;
}

uint32_t transfers_facts(const struct trace *trace, const struct transfers *transfers,
                         uint32_t device, int64_t *fact_ns)
{
    int64_t all_ns = 0;
    uint32_t bits = 0;
    memset(fact_ns, 0, ADVICE_FACTS * sizeof *fact_ns);
    for (size_t i = 0; i < transfers->part_count; i++) {
        const struct transfer *part = &transfers->parts[i];
        if (part->device != device || !shared_is_transfer(&trace->names[part->name])) {
            continue;
        }
        int64_t ns = part->total_ns - part->hidden_ns;
        all_ns += ns;
        for (int f = 0; f < ADVICE_FACTS; f++) {
            fact_ns[f] += (part->facts >> f & 1U) != 0 ? ns : 0;
        }
    }
    for (int f = 0; f < ADVICE_FACTS; f++) {
        bits |= fact_ns[f] > 0 && 2 * fact_ns[f] >= all_ns ? 1U << f : 0;
    }
    return bits;
}

/* A counting sort by device. 0, or -1 without memory. */
static int index_devices(struct transfers *out, uint32_t device_count)
{
    uint32_t *next = calloc((size_t)device_count + 2, sizeof *next);
    out->order = malloc((out->count + 1) * sizeof *out->order);
    out->first = calloc((size_t)device_count + 2, sizeof *out->first);
    if (next == NULL || out->order == NULL || out->first == NULL) {
        free(next);
        return -1;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->first[out->list[i].device + 1]++;
    }
    for (uint32_t d = 0; d < device_count; d++) {
        out->first[d + 1] += out->first[d];
        next[d + 1] = out->first[d + 1];
    }
    for (size_t i = 0; i < out->count; i++) {
        out->order[next[out->list[i].device]++] = (uint32_t)i;
    }
    free(next);
    return 0;
}

const uint32_t *transfers_of(const struct transfers *transfers, uint32_t device, uint32_t *count)
{
    *count = transfers->first[device + 1] - transfers->first[device];
    return transfers->order + transfers->first[device];
}

static bool wanted(const struct transfers_options *options, const struct transfer *one)
{
    if (options->max_bytes == INT64_MAX) {
        return true;
    }
    return one->bytes >= 0 && one->bytes <= options->max_bytes;
}

static void lane_add(const struct facts *facts, const struct transfers_options *options,
                     const struct busy *work, const struct trace_lane *lane, struct transfers *out)
{
    const struct trace_events *ops = &facts->trace->events[TRACE_GPU];
    uint32_t on = has_kernels(facts->trace, lane) ? ADVICE_SAME_STREAM : 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        if (!is_copy(&facts->trace->names[ops->name[i]]) || ops->begin_ns[i] < options->begin_ns ||
            ops->end_ns[i] > options->end_ns) {
            continue;
        }
        struct transfer one = one_copy(facts, work, i, lane);
        one.facts |= on;
        if (wanted(options, &one)) {
            out->list[out->count++] = one;
        }
    }
}

int transfers_find(struct shared *shared, const struct transfers_options *options,
                   struct transfers *out, struct err *err)
{
    const struct trace *trace = shared_trace(shared);
    const struct facts *facts = shared_facts(shared, err);
    const struct busy *work = shared_busy(shared, SHARED_WORK, err);
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    *out = (struct transfers){0};
    size_t bound = 1;
    for (uint32_t i = 0; i < ops->count; i++) {
        bound += is_copy(&trace->names[ops->name[i]]);
    }
    out->list = malloc(bound * sizeof(*out->list));
    if (facts == NULL || work == NULL || out->list == NULL) {
        transfers_free(out);
        return err_nomem(err, "the copies of a capture");
    }
    for (uint32_t i = 0; i < trace->lane_count; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        if (lane->table == TRACE_GPU &&
            (options->device == TRACE_NONE || options->device == lane->device)) {
            lane_add(facts, options, work, lane, out);
        }
    }
    if (group(out) != 0 || index_devices(out, trace->device_count) != 0) {
        transfers_free(out);
        return err_nomem(err, "the copies of a capture");
    }
    return 0;
}

void transfers_free(struct transfers *transfers)
{
    free(transfers->list);
    free(transfers->parts);
    free(transfers->order);
    free(transfers->first);
    *transfers = (struct transfers){0};
}

/* ---- what the detectors share ---- */

int transfers_detect(const struct report_context *context, int64_t max_bytes, struct detection *out,
                     struct err *err)
{
    const struct transfers_options options = {.max_bytes = max_bytes,
                                              .begin_ns = context->select->begin_ns,
                                              .end_ns = context->select->end_ns,
                                              .device = TRACE_NONE};
    struct transfers *found = calloc(1, sizeof *found);
    if (found == NULL) {
        return err_nomem(err, "the copies of a capture");
    }
    out->data = found;
    int rc = transfers_find(context->shared, &options, found, err);
    out->count = found->count;
    return rc;
}

void transfers_drop(void *data)
{
    transfers_free(data);
    free(data);
}

bool transfers_any(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (is_copy(&trace->names[i])) {
            return true;
        }
    }
    return false;
}

bool transfers_kept(const struct report_context *context, const struct transfer *one)
{
    const struct selection *select = context->select;
    return detector_keeps(context, one->device) &&
           (select->process == TRACE_NONE || one->process == select->process) &&
           select_name(select, one->name);
}

void transfers_put_place(struct table *table, const struct trace *trace, const struct transfer *one)
{
    rules_put_pid(table, trace, one->process);
    table_put_int(table, trace->devices[one->device].id);
    rules_put_mem_kind(table, one->src_kind);
    rules_put_mem_kind(table, one->dst_kind);
}

void transfers_note(const struct report_context *context, const struct transfers *transfers,
                    int64_t least, struct buf *note)
{
    int64_t total_ns = 0;
    int64_t hidden_ns = 0;
    int64_t count = 0;
    for (size_t i = 0; i < transfers->count; i++) {
        const struct transfer *one = &transfers->list[i];
        if (one->count >= least && transfers_kept(context, one)) {
            total_ns += one->total_ns;
            hidden_ns += one->hidden_ns;
            count += one->count;
        }
    }
    char total[TIMEFMT_BYTES];
    buf_addf(note, "%lld copies, total %s, %.1f %% hidden behind kernels\n", (long long)count,
             timefmt_duration(total_ns, total),
             total_ns > 0 ? 100.0 * (double)hidden_ns / (double)total_ns : 0.0);
}
