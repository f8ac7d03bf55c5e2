/*
 * nvtx_path: one binary search in each push/pop lane of the thread; lanes are in order of depth.
 */
#include "analysis/facts/nvtx_path.h"

int nvtx_path_at(const struct facts *facts, uint32_t thread, int64_t t_ns, uint32_t *out)
{
    const struct trace *trace = facts->trace;
    if (thread == TRACE_NONE || thread >= trace->thread_count) {
        return 0;
    }
    const struct facts_thread *lanes = &facts->threads[thread];
    int depth = 0;
    for (uint32_t i = lanes->first[TRACE_NVTX]; i < lanes->end[TRACE_NVTX]; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        if (lane->kind != TRACE_LANE_NVTX_PUSHPOP || depth == NVTX_PATH_DEPTH) {
            continue;
        }
        uint32_t at = trace_lane_lower(trace, lane, t_ns);
        if (at < lane->first + lane->count && trace->events[TRACE_NVTX].begin_ns[at] <= t_ns) {
            out[depth++] = at;
        }
    }
    return depth;
}

uint32_t nvtx_path_leaf(const struct facts *facts, uint32_t thread, int64_t t_ns)
{
    uint32_t path[NVTX_PATH_DEPTH];
    int depth = nvtx_path_at(facts, thread, t_ns, path);
    return depth > 0 ? path[depth - 1] : TRACE_NONE;
}

void nvtx_path_text(const struct facts *facts, uint32_t thread, int64_t t_ns, struct buf *out)
{
    nvtx_path_text_to(facts, thread, t_ns, TRACE_NONE, out);
}

void nvtx_path_text_to(const struct facts *facts, uint32_t thread, int64_t t_ns, uint32_t last,
                       struct buf *out)
{
    uint32_t path[NVTX_PATH_DEPTH];
    int depth = nvtx_path_at(facts, thread, t_ns, path);
    for (int i = 0; i < depth; i++) {
        const struct trace *trace = facts->trace;
        const struct trace_name *name = &trace->names[trace->events[TRACE_NVTX].name[path[i]]];
        if (i > 0) {
            buf_adds(out, " > ");
        }
        if (name->domain_len > 0) {
            buf_add(out, name->domain, name->domain_len);
            buf_addc(out, ':');
        }
        buf_add(out, name->full, name->full_len);
        if (path[i] == last) {
            return;
        }
    }
}
