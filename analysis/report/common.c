/* common: see common.h. Labels and lists of events; the sums are in common_sums.c. */
#include "analysis/report/common.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"

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

/* The first names of a list, without repeats. */
struct named {
    uint32_t list[3];
    size_t count;
    bool more;
};

static void named_add(struct named *names, uint32_t name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (names->list[i] == name) {
            return;
        }
    }
    if (names->count == ARRAY_LEN(names->list)) {
        names->more = true;
        return;
    }
    names->list[names->count++] = name;
}

static void named_text(const struct named *names, const struct trace *trace, struct buf *out)
{
    for (size_t i = 0; i < names->count; i++) {
        struct buf label = {0};
        kit_nvtx(&label, trace, names->list[i]);
        buf_adds(out, i == 0 ? "" : ", ");
        utf8_sanitize(out, buf_text(&label), label.len, false);
        buf_free(&label);
    }
    buf_adds(out, names->more ? ", ..." : "");
}

void kit_note_crossed(const struct report_context *c, struct buf *note)
{
    const struct trace_events *nvtx = &c->trace->events[TRACE_NVTX];
    struct named names = {0};
    size_t count = 0;
    for (uint32_t i = 0; !c->select->nvtx_process && i < nvtx->count; i++) {
        if (kit_event(c, TRACE_NVTX, i, KIT_STARTEND) && trace_is_cross_thread(c->trace, i) &&
            select_name(c->select, nvtx->name[i])) {
            named_add(&names, nvtx->name[i]);
            count++;
        }
    }
    if (count > 0) {
        buf_addf(note, "%zu start/end %s on another thread, left out as in nsys: ", count,
                 count == 1 ? "range ended" : "ranges ended");
        named_text(&names, c->trace, note);
        buf_adds(note, "\n--nvtx-scope=process counts them.\n");
    }
}

void kit_need_calls(const struct report_context *c, struct report_result *out)
{
    if (out->status == REPORT_ROWS && c->trace->counts.api_calls == 0) {
        out->status = REPORT_MISSING;
        out->missing = "CUDA API data";
    }
}
