/*
 * causes_text: a cause in words, and sums of gaps by cause, evidence and NVTX range.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/causes.h"
#include "analysis/facts/nvtx_path.h"

static const struct trace_name *event_name(const struct trace *trace, uint8_t table, uint32_t index)
{
    return &trace->names[trace->events[table].name[index]];
}

const char *cause_evidence(const struct facts *facts, const struct cause *cause)
{
    return cause->evidence == TRACE_NONE
               ? ""
               : event_name(facts->trace, cause->table, cause->evidence)->brief;
}

static void text_share(struct buf *out, const char *name, int64_t part_ns, int64_t whole_ns)
{
    double share = whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0.0;
    buf_addf(out, "%s %.0f %% of the gap", name, share);
}

/* The names of the calls that explain the gap, each with its share, and how many calls of the first
 * there were. Those below a tenth of the gap are left out. */
static void text_names(const struct facts *facts, const struct cause *cause, int64_t whole_ns,
                       struct buf *out)
{
    for (int i = 0; i < cause->name_count; i++) {
        const struct host_name *name = &cause->names[i];
        if (i > 0 && name->ns * 10 < whole_ns) {
            break;
        }
        buf_adds(out, i > 0 ? ", " : "");
        text_share(out, facts->trace->names[name->name].brief, name->ns, whole_ns);
        if (name->calls > 1) {
            buf_addf(out, " (%u calls)", (unsigned)name->calls);
        }
    }
}

void cause_path(const struct facts *facts, const struct gap *gap, const struct cause *cause,
                struct buf *out)
{
    if (cause->nvtx != TRACE_NONE) {
        int64_t begin_ns = facts->trace->events[TRACE_NVTX].begin_ns[cause->nvtx];
        nvtx_path_text_to(facts, cause->thread, begin_ns > gap->begin_ns ? begin_ns : gap->begin_ns,
                          cause->nvtx, out);
    }
}

static const char *const part_names[CAUSE_PART_COUNT] = {
    [CAUSE_PART_HOST + HOST_SYNC] = "sync",
    [CAUSE_PART_HOST + HOST_COPY] = "copy",
    [CAUSE_PART_HOST + HOST_ALLOC] = "allocation",
    [CAUSE_PART_HOST + HOST_MODULE] = "module load",
    [CAUSE_PART_HOST + HOST_OSRT] = "OS calls",
    [CAUSE_PART_HOST + HOST_PROFILER] = "profiler",
    [CAUSE_PART_HOST + HOST_OVERHEAD] = "CUDA overhead",
    [CAUSE_PART_CPU] = "cpu",
    [CAUSE_PART_LAUNCH] = "launch call",
    [CAUSE_PART_WAIT] = "launched, waits",
    [CAUSE_PART_UNKNOWN] = "unknown",
};

void cause_split(const int64_t *part_ns, struct buf *out)
{
    int64_t whole_ns = 0;
    int64_t most_ns = 0;
    for (int i = 0; i < CAUSE_PART_COUNT; i++) {
        whole_ns += part_ns[i];
        most_ns = part_ns[i] > most_ns ? part_ns[i] : most_ns;
    }
    if (most_ns * 20 >= whole_ns * 19) {
        return;
    }
    const char *between = "";
    for (int i = 0; i < CAUSE_PART_COUNT; i++) {
        char time[TIMEFMT_BYTES];
        if (part_ns[i] * 100 >= whole_ns) {
            buf_addf(out, "%s%s %s", between, part_names[i], timefmt_duration(part_ns[i], time));
            between = " + ";
        }
    }
}

static void text_unknown(const struct cause *cause, struct buf *out)
{
    const char *why = "the launching call is not in the capture";
    if ((cause->doubt & CAUSE_NO_API) != 0) {
        why = "no API calls in the capture";
    }
    if (cause->kind == CAUSE_MIGRATED) {
        why = "a page of unified memory moves at its end, which no call launches";
    }
    buf_adds(out, why);
}

/* The device of the stream that the event was recorded on, where it is another one. */
static void text_event_device(const struct facts *facts, const struct cause *cause, struct buf *out)
{
    const struct trace *trace = facts->trace;
    uint32_t lane = facts_stream_lane(facts, cause->wait->process, cause->wait->event_context,
                                      cause->wait->event_stream);
    if (lane != TRACE_NONE && trace->lanes[lane].device != trace->lanes[cause->lane].device) {
        buf_addf(out, " on GPU %lld", (long long)trace->devices[trace->lanes[lane].device].id);
    }
}

void cause_event(const struct facts *facts, const struct cause *cause, struct buf *out)
{
    buf_addf(out, "stream %lld waited for event %lld", (long long)cause->wait->stream_id,
             (long long)cause->wait->event_id);
    if (cause->wait->event_stream >= 0) {
        buf_addf(out, " of stream %lld", (long long)cause->wait->event_stream);
        text_event_device(facts, cause, out);
    }
}

/* How long before the end of the gap the work was launched. */
static void text_launched(const struct facts *facts, const struct gap *gap,
                          const struct cause *cause, struct buf *out)
{
    char time[TIMEFMT_BYTES];
    const char *call = event_name(facts->trace, TRACE_API, cause->launch)->brief;
    int64_t end_ns = facts->trace->events[TRACE_API].end_ns[cause->launch];
    buf_addf(out, "%s had returned %s before its work began", call,
             timefmt_duration(gap->end_ns > end_ns ? gap->end_ns - end_ns : 0, time));
    if (cause->wait != NULL) {
        buf_adds(out, "; ");
        cause_event(facts, cause, out);
    }
}

static void text_after(const struct facts *facts, const struct gap *gap, const struct cause *cause,
                       struct buf *out)
{
    char time[TIMEFMT_BYTES];
    int64_t end_ns = facts->trace->events[TRACE_API].end_ns[cause->evidence];
    const char *name = cause_evidence(facts, cause);
    if (end_ns <= gap->begin_ns) {
        buf_addf(out, "after %s, which ended %s before the gap", name,
                 timefmt_duration(gap->begin_ns - end_ns, time));
    } else {
        buf_addf(out, "after %s, which ended %s into the gap", name,
                 timefmt_duration(end_ns - gap->begin_ns, time));
    }
}

void cause_text(const struct facts *facts, const struct gap *gap, const struct cause *cause,
                struct buf *out)
{
    const struct trace *trace = facts->trace;
    int64_t whole_ns = gap->end_ns - gap->begin_ns;
    if (cause->kind == CAUSE_UNKNOWN || cause->kind == CAUSE_MIGRATED) {
        text_unknown(cause, out);
        return;
    }
    if (cause_is_wait((enum cause_kind)cause->kind)) {
        text_launched(facts, gap, cause, out);
    } else if (cause->kind == CAUSE_SLOW_HOST) {
        buf_adds(out, "no wait before it");
    } else if (cause->kind == CAUSE_AFTER_BLOCKING) {
        text_after(facts, gap, cause, out);
    } else {
        text_names(facts, cause, whole_ns, out);
    }
    if (cause->overhead != TRACE_NONE) {
        buf_adds(out, "; ");
        text_share(out, event_name(trace, TRACE_OVERHEAD, cause->overhead)->brief,
                   cause->overhead_ns, whole_ns);
    }
    struct buf split = {0};
    cause_split(cause->part_ns, &split);
    if (split.len > 0) {
        buf_addf(out, "; %s", buf_text(&split));
    }
    buf_free(&split);
    if ((cause->doubt & CAUSE_NO_OSRT) != 0) {
        buf_adds(out, "; OS calls were not recorded");
    }
}

/* ---- sums ---- */

static const char *sum_name(const struct facts *facts, const struct cause *cause,
                            enum causes_key key)
{
    if (key == CAUSES_BY_KIND) {
        return cause_name(cause->kind);
    }
    if (key == CAUSES_BY_EVIDENCE) {
        return cause_evidence(facts, cause);
    }
    return cause->nvtx == TRACE_NONE ? "" : event_name(facts->trace, TRACE_NVTX, cause->nvtx)->full;
}

size_t cause_plain_len(const char *name)
{
    static const char *const labels[] = {", seq = ", ", op_id = "};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        const char *at = strstr(name, labels[i]);
        if (at != NULL && (size_t)(at - name) < len) {
            len = (size_t)(at - name);
        }
    }
    return len;
}

/* By name, then by kind: equal keys become neighbours. */
static int key_cmp(const void *a, const void *b)
{
    const struct causes_sum *x = a;
    const struct causes_sum *y = b;
    int c = memcmp(x->name, y->name, x->name_len < y->name_len ? x->name_len : y->name_len);
    if (c == 0) {
        c = (x->name_len > y->name_len) - (x->name_len < y->name_len);
    }
    return c != 0 ? c : (int)x->kind - (int)y->kind;
}

static int total_cmp(const void *a, const void *b)
{
    const struct causes_sum *x = a;
    const struct causes_sum *y = b;
    if (x->total_ns != y->total_ns) {
        return x->total_ns < y->total_ns ? 1 : -1;
    }
    return key_cmp(a, b);
}

struct causes_sum *causes_sum(const struct facts *facts, const struct gaps *gaps,
                              const struct cause *causes, enum causes_key key, size_t *count,
                              struct err *err)
{
    *count = 0;
    if (gaps->count == 0) {
        return NULL;
    }
    struct causes_sum *sums = calloc(gaps->count, sizeof(*sums));
    if (sums == NULL) {
        err_nomem(err, "the sums of gaps");
        return NULL;
    }
    for (size_t i = 0; i < gaps->count; i++) {
        sums[i] = (struct causes_sum){
            .name = sum_name(facts, &causes[i], key),
            .kind = key == CAUSES_BY_NVTX ? (uint8_t)CAUSE_KIND_COUNT : causes[i].kind,
            .count = 1,
            .total_ns = gaps->list[i].end_ns - gaps->list[i].begin_ns,
        };
        sums[i].name_len =
            key == CAUSES_BY_NVTX ? cause_plain_len(sums[i].name) : strlen(sums[i].name);
    }
    sort_list(sums, gaps->count, sizeof(*sums), key_cmp);
    size_t n = 0;
    for (size_t i = 1; i < gaps->count; i++) {
        if (key_cmp(&sums[n], &sums[i]) == 0) {
            sums[n].count += sums[i].count;
            sums[n].total_ns += sums[i].total_ns;
        } else {
            sums[++n] = sums[i];
        }
    }
    *count = n + 1;
    sort_list(sums, *count, sizeof(*sums), total_cmp);
    return sums;
}
