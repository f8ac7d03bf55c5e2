/* common: see common.h. Labels and lists of events; the sums are in common_sums.c. */
#include "analysis/report/common.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"

const struct report_arg KIT_KERNEL_ARGS[] = {
    {"nvtx-name", REPORT_ARG_FLAG, 0, NULL,
     "put the innermost NVTX range around the launching call before the kernel's name"},
    {"base", REPORT_ARG_FLAG, 0, NULL, "short kernel names, without templates and parameters"},
    {"mangled", REPORT_ARG_FLAG, 0, NULL, "mangled kernel names, where the capture has them"},
    {0},
};

struct kit_text kit_kernel(const struct trace *trace, uint32_t name,
                           const struct report_value *args)
{
    const struct trace_name *n = &trace->names[name];
    if (n->kind == TRACE_KERNEL && args != NULL && args[KIT_ARG_BASE].given) {
        return (struct kit_text){n->brief, n->brief_len};
    }
    if (n->kind == TRACE_KERNEL && args != NULL && args[KIT_ARG_MANGLED].given) {
        return (struct kit_text){n->mangled, n->mangled_len};
    }
    return (struct kit_text){n->full, n->full_len};
}

struct kit_text kit_api(const struct trace *trace, uint32_t name)
{
    const struct trace_name *n = &trace->names[name];
    struct kit_text text = {n->full, n->full_len};
    size_t digits = 0;
    while (digits < text.len && isdigit((unsigned char)text.text[text.len - 1 - digits])) {
        digits++;
    }
    if (digits == 4 && text.len > 6 && memcmp(text.text + text.len - 6, "_v", 2) == 0) {
        text.len -= 6;
    }
    return text;
}

void kit_kernel_in_range(struct buf *out, const struct report_context *c, const uint32_t *innermost,
                         uint32_t op)
{
    const struct trace *trace = c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t link = gpu->link[op];
    struct kit_text kernel = kit_kernel(trace, gpu->name[op], c->args);
    if (innermost != NULL && trace->names[gpu->name[op]].kind == TRACE_KERNEL &&
        link != TRACE_NONE && innermost[link] != TRACE_NONE) {
        const struct trace_name *range =
            &trace->names[trace->events[TRACE_NVTX].name[innermost[link]]];
        if (range->domain_len > 0) {
            buf_add(out, range->domain, range->domain_len);
            buf_addc(out, ':');
        }
        buf_add(out, range->full, range->full_len);
        buf_addc(out, '/');
    }
    buf_add(out, kernel.text, kernel.len);
}

void kit_xyz(struct buf *out, const int64_t *xyz)
{
    if (xyz[0] < 0) {
        return;
    }
    for (int axis = 0; axis < 3; axis++) {
        char text[24];
        char *at = text + sizeof text;
        uint64_t n = (uint64_t)(xyz[axis] < 0 ? 0 : xyz[axis]);
        do {
            *--at = (char)('0' + n % 10);
            n /= 10;
        } while (n != 0);
        while (at > text + sizeof text - 4) {
            *--at = ' ';
        }
        if (axis > 0) {
            buf_addc(out, ' ');
        }
        buf_add(out, at, (size_t)(text + sizeof text - at));
    }
}

void kit_nvtx(struct buf *out, const struct trace *trace, uint32_t name)
{
    const struct trace_name *n = &trace->names[name];
    buf_add(out, n->domain, n->domain == NULL ? 0 : n->domain_len);
    buf_addc(out, ':');
    buf_add(out, n->full, n->full_len);
}

void kit_put(struct table *table, const char *text)
{
    table_put_text(table, text, strlen(text));
}

void kit_put_text(struct table *table, struct kit_text text)
{
    table_put_text(table, text.text, text.len);
}

void kit_note_graphs(const struct report_context *c, struct buf *note)
{
    const struct trace *trace = c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    int64_t count = 0;
    int64_t ns = 0;
    char text[TIMEFMT_BYTES];
    char number[TIMEFMT_BYTES];
    for (uint32_t lane = 0; trace->counts.graph_launches > 0 && lane < trace->lane_count; lane++) {
        const struct trace_lane *l = &trace->lanes[lane];
        if (l->table != TRACE_GPU || !select_lane(trace, c->select, l)) {
            continue;
        }
        for (uint32_t i = l->first; i < l->first + l->count; i++) {
            if (kit_event(c, TRACE_GPU, i, 1U << TRACE_GRAPH)) {
                count++;
                ns += gpu->end_ns[i] - gpu->begin_ns[i];
            }
        }
    }
    if (count > 0) {
        buf_addf(note,
                 "%s graph launches (%s of GPU time) are not in this list: the capture holds each "
                 "as one block.\n",
                 timefmt_count(count, number), timefmt_duration(ns, text));
    }
}

void kit_need_calls(const struct report_context *c, struct report_result *out)
{
    if (out->status == REPORT_ROWS && c->trace->counts.api_calls == 0) {
        out->status = REPORT_MISSING;
        out->missing = "CUDA API data";
    }
}
