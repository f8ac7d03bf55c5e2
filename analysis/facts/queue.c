/*
 * queue: see queue.h.
 */
#include "analysis/facts/queue.h"

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"

static bool same_stream(const struct trace_lane *a, const struct trace_lane *b)
{
    return a->kind == TRACE_LANE_STREAM && b->kind == TRACE_LANE_STREAM &&
           a->process == b->process && a->device == b->device && a->context_id == b->context_id &&
           a->stream_id == b->stream_id;
}

/* The ops of a lane that end after a and begin before b: [*first, end). */
static uint32_t inside(const struct trace *trace, const struct trace_lane *lane, int64_t a_ns,
                       int64_t b_ns, uint32_t *first)
{
    const int64_t *begin_ns = trace->events[TRACE_GPU].begin_ns;
    uint32_t end = trace_lane_lower(trace, lane, a_ns);
    *first = end;
    BISECT(uint32_t, end, lane->first + lane->count, mid, begin_ns[mid] < b_ns)
    return end;
}

/* The ops of other streams in [a, b): that which runs most there. */
static void find_others(const struct trace *trace, const struct trace_lane *own, int64_t a_ns,
                        int64_t b_ns, struct queue_wait *out)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_device *device = &trace->devices[own->device];
    for (uint32_t l = device->first_lane; l < device->first_lane + device->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t i = 0;
        uint32_t end = same_stream(lane, own) ? 0 : inside(trace, lane, a_ns, b_ns, &i);
        for (; i < end; i++) {
            int64_t from_ns = gpu->begin_ns[i] > a_ns ? gpu->begin_ns[i] : a_ns;
            int64_t to_ns = gpu->end_ns[i] < b_ns ? gpu->end_ns[i] : b_ns;
            if (to_ns - from_ns > out->behind_ns) {
                out->behind = i;
                out->behind_ns = to_ns - from_ns;
            }
        }
    }
}

/* The op of the stream that ended last before the op, and how many of it were not done at a. Returns
 * its end, or a. */
static int64_t find_stream(const struct trace *trace, const struct trace_lane *own, uint32_t gpu,
                           int64_t a_ns, struct queue_wait *out)
{
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    const struct trace_device *device = &trace->devices[own->device];
    int64_t last_ns = a_ns;
    for (uint32_t l = device->first_lane; l < device->first_lane + device->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        uint32_t i = 0;
        uint32_t end =
            same_stream(lane, own) ? inside(trace, lane, a_ns, ops->begin_ns[gpu], &i) : 0;
        if (end > i) {
            out->ahead += end - i;
            int64_t end_ns = ops->end_ns[end - 1];
            if (end_ns > last_ns) {
                last_ns = end_ns < ops->begin_ns[gpu] ? end_ns : ops->begin_ns[gpu];
                out->behind = end - 1;
            }
        }
    }
    return last_ns;
}

/* Did an op of the event's stream end in [a, b]? */
static bool event_ended(const struct facts *facts, const struct facts_wait *wait, int64_t a_ns,
                        int64_t b_ns)
{
    const struct trace *trace = facts->trace;
    uint32_t l =
        wait->event_stream < 0
            ? TRACE_NONE
            : facts_stream_lane(facts, wait->process, wait->event_context, wait->event_stream);
    if (l == TRACE_NONE) {
        return wait->event_stream < 0;
    }
    const struct trace_lane *lane = &trace->lanes[l];
    uint32_t at = trace_lane_lower(trace, lane, a_ns - 1);
    return at < lane->first + lane->count && trace->events[TRACE_GPU].end_ns[at] <= b_ns;
}

bool queue_wait_of(const struct facts *facts, uint32_t gpu, struct queue_wait *out)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *ops = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t call = ops->link[gpu];
    *out = (struct queue_wait){.why = QUEUE_AT_ONCE, .behind = TRACE_NONE};
    if (call == TRACE_NONE) {
        return false;
    }
    const struct trace_lane *own = &trace->lanes[trace_lane_of(trace, TRACE_GPU, gpu)];
    int64_t from_ns = api->end_ns[call];
    int64_t begin_ns = ops->begin_ns[gpu];
    out->ns = begin_ns - from_ns;
    if (out->ns <= QUEUE_AT_ONCE_NS) {
        return true;
    }
    int64_t free_ns = find_stream(trace, own, gpu, from_ns, out);
    if (2 * (free_ns - from_ns) >= out->ns) {
        out->why = QUEUE_STREAM;
        return true;
    }
    out->behind = TRACE_NONE;
    int64_t before_ns = INT64_MIN;
    if (gpu > own->first && ops->link[gpu - 1] != TRACE_NONE) {
        before_ns = api->begin_ns[ops->link[gpu - 1]];
    }
    out->event = facts_wait_before(facts, own, before_ns, api->begin_ns[call]);
    if (out->event != NULL && event_ended(facts, out->event, from_ns, begin_ns)) {
        out->why = QUEUE_EVENT;
        return true;
    }
    find_others(trace, own, free_ns, begin_ns, out);
    bool is_busy = 2 * facts_busy_ns(facts, own->device, free_ns, begin_ns) >= out->ns;
    out->why = is_busy && out->behind != TRACE_NONE ? QUEUE_OTHERS : QUEUE_IDLE;
    return true;
}

static void put_op(const struct trace *trace, uint32_t gpu, struct buf *out)
{
    enum {
        NAME_BYTES = 60
    };
    const struct trace_name *name = &trace->names[trace->events[TRACE_GPU].name[gpu]];
    buf_add(out, name->brief, name->brief_len < NAME_BYTES ? name->brief_len : NAME_BYTES);
}

void queue_wait_put(const struct facts *facts, const struct queue_wait *wait, struct buf *out)
{
    const struct trace *trace = facts->trace;
    char time[TIMEFMT_BYTES];
    if (wait->why == QUEUE_AT_ONCE) {
        return;
    }
    buf_addf(out, "waited %s", timefmt_duration(wait->ns, time));
    switch (wait->why) {
    case QUEUE_STREAM:
        if (wait->ahead > 1) {
            buf_addf(out, " behind %u ops of its stream, the last one ", (unsigned)wait->ahead);
        } else {
            buf_adds(out, " on its stream behind ");
        }
        put_op(trace, wait->behind, out);
        break;
    case QUEUE_EVENT:
        buf_addf(out, ": its stream was told to wait for event %lld",
                 (long long)wait->event->event_id);
        if (wait->event->event_stream >= 0) {
            buf_addf(out, " of stream %lld", (long long)wait->event->event_stream);
        }
        break;
    case QUEUE_OTHERS:
        buf_adds(out, ": ");
        put_op(trace, wait->behind, out);
        buf_addf(out, " on stream %lld ran for %s of it",
                 (long long)trace->lanes[trace_lane_of(trace, TRACE_GPU, wait->behind)].stream_id,
                 timefmt_duration(wait->behind_ns, time));
        break;
    default:
        buf_adds(out, ", with nothing of its stream before it and the device mostly idle");
        break;
    }
}

uint32_t queue_depth(const struct trace *trace, uint32_t process, uint32_t device, int64_t t_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct trace_device *of = &trace->devices[device];
    uint32_t depth = 0;
    for (uint32_t l = of->first_lane; l < of->first_lane + of->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->process != process || lane->kind != TRACE_LANE_STREAM) {
            continue;
        }
        /* Calls begin in the order in which their ops run on a stream. */
        uint32_t made = lane->first;
        BISECT(uint32_t, made, lane->first + lane->count, mid,
               gpu->link[mid] == TRACE_NONE || api->begin_ns[gpu->link[mid]] < t_ns)
        uint32_t done = trace_lane_lower(trace, lane, t_ns);
        depth += made > done ? made - done : 0;
    }
    return depth;
}
