/*
 * measure: see measure.h. Everything is another module's to compute; this one asks them all about
 * the same span.
 */
#include "analysis/detect/measure.h"

#include <stdlib.h>
#include <string.h>

static void gaps_drop(struct measure *out)
{
    gaps_free(&out->gaps);
    memset(&out->gaps, 0, sizeof out->gaps);
    free(out->causes);
    free(out->by_kind);
    out->causes = NULL;
    out->by_kind = NULL;
    out->kind_count = 0;
}

static int measure_gaps(const struct measure_query *query, struct measure *out, struct err *err)
{
    const struct trace *trace = query->facts->trace;
    const struct gaps_query gaps = {
        .device = query->device,
        .min_ns = query->min_gap_ns,
        .begin_ns = out->begin_ns,
        .end_ns = out->end_ns,
    };
    gaps_drop(out);
    if (gaps_find(trace, query->busy, &gaps, &out->gaps, err) != 0) {
        return -1;
    }
    if (out->gaps.count == 0) {
        return 0;
    }
    out->causes = causes_find(query->facts, &out->gaps, err);
    if (out->causes == NULL) {
        return -1;
    }
    struct err failed = {{0}};
    out->by_kind = causes_sum(query->facts, &out->gaps, out->causes, CAUSES_BY_KIND,
                              &out->kind_count, &failed);
    return out->by_kind == NULL ? err_set(err, "%s", failed.text) : 0;
}

static int measure_list(const struct measure_query *query, const struct measure *out,
                        uint32_t kinds, struct list *list, struct err *err)
{
    struct list_query by_name = LIST_QUERY(query->facts->trace);
    by_name.kinds = kinds;
    by_name.begin_ns = out->begin_ns;
    by_name.end_ns = out->end_ns;
    by_name.terms = query->terms;
    by_name.device = (kinds & TERMS_KINDS_GPU) != 0 ? query->device : TRACE_NONE;
    if (list_make(&by_name, list, err) != 0) {
        return -1;
    }
    list_sort(query->facts->trace, list, LIST_INSIDE, true);
    return 0;
}

int measure_make(const struct measure_query *query, struct measure *out, struct err *err)
{
    const uint32_t ranges = 1U << TRACE_NVTX_PUSHPOP | 1U << TRACE_NVTX_STARTEND;
    bool is_forward = query->begin_ns <= query->end_ns;
    out->begin_ns = is_forward ? query->begin_ns : query->end_ns;
    out->end_ns = is_forward ? query->end_ns : query->begin_ns;
    out->busy_ns = busy_device_ns(query->busy, query->device, out->begin_ns, out->end_ns);
    out->idle_ns = out->end_ns - out->begin_ns - out->busy_ns;
    out->busy_percent = 0.0;
    if (out->end_ns > out->begin_ns) {
        out->busy_percent = 100.0 * (double)out->busy_ns / (double)(out->end_ns - out->begin_ns);
    }
    memset(&out->parts, 0, sizeof out->parts);
    if (query->overlap != NULL) {
        struct overlap_sums sums =
            overlap_in(query->overlap, query->device, out->begin_ns, out->end_ns);
        out->parts = overlap_parts(&sums);
    }
    if (measure_list(query, out, TERMS_KINDS_GPU, &out->gpu, err) != 0 ||
        measure_list(query, out, 1U << TRACE_API_CALL, &out->api, err) != 0 ||
        measure_list(query, out, ranges, &out->nvtx, err) != 0 ||
        measure_gaps(query, out, err) != 0) {
        return -1;
    }
    out->ops = out->gpu.events;
    return 0;
}

void measure_free(struct measure *measure)
{
    gaps_drop(measure);
    list_free(&measure->gpu);
    list_free(&measure->api);
    list_free(&measure->nvtx);
    memset(measure, 0, sizeof *measure);
}
