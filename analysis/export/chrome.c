/*
 * chrome: the format is described in "Trace Event Format" (Google). Times are microseconds with
 * three decimals, so no nanosecond is lost.
 *
 * Viewers want the slices of one track to nest. Lanes of the model never overlap in themselves;
 * deeper lanes of a thread share the track of the lane above as long as each of their events lies
 * inside one there, else (ranges of two domains that cross) they get a track of their own.
 */
#include "analysis/export/chrome.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/table/json.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    FLUSH_BYTES = 1 << 16,
    PID_BASE = 1 << 24, /* above every process id: devices, and processes whose id repeats */
    COUNTER_BINS = 2000,
};

struct writer {
    const struct facts *facts;
    const struct trace *trace;
    const struct chrome_options *options;
    const struct table_sink *sink;
    struct buf buf;
    int64_t *track; /* of each lane: tid */
    int64_t shift_ns; /* added to all times, so that none is negative */
    bool any; /* an event was written: a comma goes before the next */
    bool stopped;
};

static void flush(struct writer *w, size_t limit)
{
    if (w->buf.len <= limit || w->stopped) {
        return;
    }
    if (buf_failed(&w->buf) || w->sink->write(w->sink->arg, w->buf.data, w->buf.len) != 0) {
        w->stopped = true;
    }
    buf_reset(&w->buf);
}

/* ---- process and track numbers ---- */

static int64_t device_pid(const struct writer *w, uint32_t device)
{
    int64_t id = w->trace->devices[device].id;
    return id >= 0 && id < PID_BASE ? PID_BASE + id : (int64_t)PID_BASE * 4 + device;
}

/* The process id; where two processes of the capture share one, a number of its own: they are
 * neighbours. */
static int64_t process_pid(const struct writer *w, uint32_t process)
{
    const struct trace *trace = w->trace;
    if (process > 0 && trace->processes[process - 1].pid == trace->processes[process].pid) {
        return (int64_t)PID_BASE * 2 + process;
    }
    return trace->processes[process].pid;
}

static int64_t lane_pid(const struct writer *w, const struct trace_lane *lane)
{
    return lane->table == TRACE_GPU ? device_pid(w, lane->device) : process_pid(w, lane->process);
}

/* Does each event of `inner` lie inside one of `outer`? One pass over both. */
static bool nests(const struct trace *trace, const struct trace_lane *outer,
                  const struct trace_lane *inner)
{
    const struct trace_events *events = &trace->events[inner->table];
    uint32_t at = outer->first;
    for (uint32_t i = inner->first; i < inner->first + inner->count; i++) {
        while (at < outer->first + outer->count && events->end_ns[at] < events->end_ns[i]) {
            at++;
        }
        if (at == outer->first + outer->count || events->begin_ns[at] > events->begin_ns[i]) {
            return false;
        }
    }
    return true;
}

/* May this lane share the track of the one before it? */
static bool shares(const struct trace *trace, uint32_t index)
{
    const struct trace_lane *lane = &trace->lanes[index];
    const struct trace_lane *above = lane - 1;
    bool stacked = lane->kind == TRACE_LANE_API || lane->kind == TRACE_LANE_NVTX_PUSHPOP ||
                   lane->kind == TRACE_LANE_OSRT;
    return index > 0 && stacked && lane->depth > 0 && above->kind == lane->kind &&
           above->thread == lane->thread && nests(trace, above, lane);
}

static void tracks_number(struct writer *w)
{
    const struct trace *trace = w->trace;
    for (uint32_t i = 0; i < trace->lane_count; i++) {
        const struct trace_lane *lane = &trace->lanes[i];
        if (shares(trace, i)) {
            w->track[i] = w->track[i - 1];
        } else if (lane->kind == TRACE_LANE_API && lane->depth == 0) {
            w->track[i] = trace->threads[lane->thread].tid;
        } else {
            w->track[i] = (int64_t)PID_BASE + i;
        }
    }
}

/* ---- pieces of JSON ---- */

/* Adds ,"key":value */
static void event_int(struct writer *w, const char *key, int64_t value)
{
    buf_adds(&w->buf, ",\"");
    buf_adds(&w->buf, key);
    buf_adds(&w->buf, "\":");
    json_number(&w->buf, value);
}

static void event_begin(struct writer *w, const char *ph, int64_t pid, int64_t tid)
{
    flush(w, FLUSH_BYTES);
    buf_adds(&w->buf, w->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    buf_adds(&w->buf, ph);
    buf_addc(&w->buf, '"');
    event_int(w, "pid", pid);
    event_int(w, "tid", tid);
    w->any = true;
}

static void event_time(struct writer *w, const char *key, int64_t ns)
{
    buf_adds(&w->buf, ",\"");
    buf_adds(&w->buf, key);
    buf_adds(&w->buf, "\":");
    json_us(&w->buf, ns + w->shift_ns);
}

static void event_duration(struct writer *w, int64_t ns)
{
    buf_adds(&w->buf, ",\"dur\":");
    json_us(&w->buf, ns);
}

static void event_text(struct writer *w, const char *key, const char *text, size_t len)
{
    buf_adds(&w->buf, ",\"");
    buf_adds(&w->buf, key);
    buf_adds(&w->buf, "\":");
    json_text(&w->buf, text, len);
}

/* A metadata event with one argument that is text. */
static void metadata(struct writer *w, const char *what, int64_t pid, int64_t tid,
                     const struct buf *name)
{
    event_begin(w, "M", pid, tid);
    event_text(w, "name", what, strlen(what));
    buf_adds(&w->buf, ",\"args\":{\"name\":");
    json_text(&w->buf, buf_text(name), name->len);
    buf_adds(&w->buf, "}}");
}

static void sort_index(struct writer *w, const char *what, int64_t pid, int64_t tid, uint32_t index)
{
    event_begin(w, "M", pid, tid);
    event_text(w, "name", what, strlen(what));
    buf_addf(&w->buf, ",\"args\":{\"sort_index\":%u}}", (unsigned)index);
}

/* ---- names of processes and tracks ---- */

static void names_processes(struct writer *w)
{
    const struct trace *trace = w->trace;
    struct buf name = {0};
    for (uint32_t i = 0; i < trace->device_count; i++) {
        buf_reset(&name);
        buf_addf(&name, "GPU %lld ", (long long)trace->devices[i].id);
        buf_add(&name, trace->devices[i].name, trace->devices[i].name_len);
        metadata(w, "process_name", device_pid(w, i), 0, &name);
        sort_index(w, "process_sort_index", device_pid(w, i), 0, i);
    }
    for (uint32_t i = 0; i < trace->process_count; i++) {
        buf_reset(&name);
        buf_add(&name, trace->processes[i].name, trace->processes[i].name_len);
        buf_addf(&name, " (%lld)", (long long)trace->processes[i].pid);
        metadata(w, "process_name", process_pid(w, i), 0, &name);
        sort_index(w, "process_sort_index", process_pid(w, i), 0, trace->device_count + i);
    }
    w->stopped |= buf_failed(&name);
    buf_free(&name);
}

static void track_name(const struct trace *trace, const struct trace_lane *lane, struct buf *name)
{
    static const char *const kinds[TRACE_LANE_KIND_COUNT] = {
        [TRACE_LANE_API] = "CUDA API",
        [TRACE_LANE_NVTX_PUSHPOP] = "NVTX",
        [TRACE_LANE_NVTX_STARTEND] = "NVTX start/end",
        [TRACE_LANE_NVTX_MARK] = "NVTX marks",
        [TRACE_LANE_OSRT] = "OS runtime",
        [TRACE_LANE_OVERHEAD] = "overhead",
    };
    if (lane->table == TRACE_GPU) {
        if (lane->kind == TRACE_LANE_MIGRATION) {
            buf_adds(name, "memory migration");
        } else {
            buf_addf(name, "stream %lld, context %lld", (long long)lane->stream_id,
                     (long long)lane->context_id);
        }
        if (trace->process_count > 1) {
            buf_addf(name, ", process %lld", (long long)trace->processes[lane->process].pid);
        }
    } else {
        const struct trace_thread *thread = &trace->threads[lane->thread];
        buf_add(name, thread->name, thread->name_len);
        buf_addf(name, " (%lld) %s", (long long)thread->tid, kinds[lane->kind]);
    }
    if (lane->depth > 0) {
        buf_addf(name, " #%u", (unsigned)lane->depth + 1);
    }
}

static void names_tracks(struct writer *w)
{
    struct buf name = {0};
    for (uint32_t i = 0; i < w->trace->lane_count; i++) {
        const struct trace_lane *lane = &w->trace->lanes[i];
        if (i > 0 && w->track[i] == w->track[i - 1] && lane[-1].process == lane->process &&
            lane[-1].table == lane->table) {
            continue;
        }
        buf_reset(&name);
        track_name(w->trace, lane, &name);
        metadata(w, "thread_name", lane_pid(w, lane), w->track[i], &name);
        sort_index(w, "thread_sort_index", lane_pid(w, lane), w->track[i], i);
    }
    w->stopped |= buf_failed(&name);
    buf_free(&name);
}

/* ---- events ---- */

static const char *category(const struct trace_name *name)
{
    static const char *const categories[TRACE_KIND_COUNT] = {
        [TRACE_KERNEL] = "kernel",
        [TRACE_MEMCPY] = "gpu_memcpy",
        [TRACE_MEMSET] = "gpu_memset",
        [TRACE_GRAPH] = "graph",
        [TRACE_MIGRATION] = "gpu_migration",
        [TRACE_API_CALL] = "cuda_api",
        [TRACE_NVTX_PUSHPOP] = "nvtx",
        [TRACE_NVTX_STARTEND] = "nvtx",
        [TRACE_NVTX_MARK] = "nvtx",
        [TRACE_OSRT_CALL] = "osrt",
        [TRACE_OVERHEAD_PROFILER] = "overhead",
        [TRACE_OVERHEAD_CUDA] = "overhead",
    };
    return categories[name->kind];
}

/* A call and its ops have one number, which is the call's place: it is unique among all processes. */
static void args_link(struct writer *w, const struct trace_lane *lane, uint32_t index)
{
    const struct trace *trace = w->trace;
    uint32_t ops = 0;
    if (lane->table == TRACE_API) {
        (void)trace_ops_of(trace, index, &ops);
    }
    uint32_t call = lane->table == TRACE_GPU ? trace->events[TRACE_GPU].link[index]
                    : ops > 0                ? index
                                             : TRACE_NONE;
    if (call != TRACE_NONE) {
        event_int(w, "correlation", (int64_t)call + 1);
    }
    event_int(w, "process", trace->processes[lane->process].pid);
    if (lane->thread != TRACE_NONE) {
        event_int(w, "thread", trace->threads[lane->thread].tid);
    }
}

static void args_op(struct writer *w, const struct trace_lane *lane, uint32_t index)
{
    const struct facts_copy *copy = facts_copy_of(w->facts, index);
    event_int(w, "device", lane->device_id);
    event_int(w, "context", lane->context_id);
    event_int(w, "stream", lane->stream_id);
    if (copy != NULL && copy->bytes >= 0) {
        event_int(w, "bytes", copy->bytes);
    }
}

/* The row tells the event in the file; the full name only where the short one hides something. */
static void event_args(struct writer *w, const struct trace_lane *lane, uint32_t index)
{
    const struct trace_events *events = &w->trace->events[lane->table];
    const struct trace_name *name = &w->trace->names[events->name[index]];
    const char *table = trace_source_table(w->trace, (enum trace_table)lane->table, index);
    buf_adds(&w->buf, ",\"args\":{\"table\":");
    json_text(&w->buf, table, strlen(table));
    event_int(w, "row", events->row[index]);
    if (name->full_len != name->brief_len || memcmp(name->full, name->brief, name->full_len) != 0) {
        event_text(w, "full", name->full, name->full_len);
    }
    if (name->domain_len > 0) {
        event_text(w, "domain", name->domain, name->domain_len);
    }
    args_link(w, lane, index);
    if (lane->table == TRACE_GPU) {
        args_op(w, lane, index);
    }
    buf_addc(&w->buf, '}');
}

static void event_write(struct writer *w, const struct trace_lane *lane, int64_t tid,
                        uint32_t index)
{
    const struct trace_events *events = &w->trace->events[lane->table];
    const struct trace_name *name = &w->trace->names[events->name[index]];
    bool async = lane->kind == TRACE_LANE_NVTX_STARTEND;
    bool mark = lane->kind == TRACE_LANE_NVTX_MARK;
    const char *cat = category(name);
    event_begin(w, async ? "b" : mark ? "i" : "X", lane_pid(w, lane), tid);
    event_text(w, "cat", cat, strlen(cat));
    event_text(w, "name", name->brief, name->brief_len);
    event_time(w, "ts", events->begin_ns[index]);
    if (async) {
        buf_addf(&w->buf, ",\"id\":\"r%u\"", (unsigned)index);
    } else if (mark) {
        buf_adds(&w->buf, ",\"s\":\"t\"");
    } else {
        event_duration(w, events->end_ns[index] - events->begin_ns[index]);
    }
    event_args(w, lane, index);
    buf_addc(&w->buf, '}');
    if (!async) {
        return;
    }
    event_begin(w, "e", lane_pid(w, lane), tid);
    event_text(w, "cat", cat, strlen(cat));
    event_text(w, "name", name->brief, name->brief_len);
    event_time(w, "ts", events->end_ns[index]);
    buf_addf(&w->buf, ",\"id\":\"r%u\"}", (unsigned)index);
}

static bool in_window(const struct writer *w, enum trace_table table, uint32_t index)
{
    const struct trace_events *events = &w->trace->events[table];
    return events->end_ns[index] >= w->options->begin_ns &&
           events->begin_ns[index] < w->options->end_ns;
}

static void flow_end(struct writer *w, const char *ph, uint32_t id, uint32_t lane_index,
                     int64_t t_ns)
{
    event_begin(w, ph, lane_pid(w, &w->trace->lanes[lane_index]), w->track[lane_index]);
    buf_adds(&w->buf, ",\"cat\":\"launch\",\"name\":\"launch\"");
    event_int(w, "id", id);
    if (ph[0] == 'f') {
        buf_adds(&w->buf, ",\"bp\":\"e\"");
    }
    event_time(w, "ts", t_ns);
    buf_addc(&w->buf, '}');
}

/* The arrow from the call to the op; where either lies outside the window there is none. */
static void flow_write(struct writer *w, uint32_t op, uint32_t op_lane)
{
    const struct trace *trace = w->trace;
    uint32_t call = trace->events[TRACE_GPU].link[op];
    if (!w->options->flows || call == TRACE_NONE || !in_window(w, TRACE_API, call)) {
        return;
    }
    flow_end(w, "s", op, trace_lane_of(trace, TRACE_API, call),
             trace->events[TRACE_API].begin_ns[call]);
    flow_end(w, "f", op, op_lane, trace->events[TRACE_GPU].begin_ns[op]);
}

static void lanes_write(struct writer *w)
{
    for (uint32_t l = 0; l < w->trace->lane_count && !w->stopped; l++) {
        const struct trace_lane *lane = &w->trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count && !w->stopped; i++) {
            if (!in_window(w, (enum trace_table)lane->table, i)) {
                continue;
            }
            event_write(w, lane, w->track[l], i);
            if (lane->table == TRACE_GPU) {
                flow_write(w, i, l);
            }
        }
    }
}

/* ---- counters ---- */

static void counter(struct writer *w, int64_t pid, const char *name, int64_t t_ns, double value)
{
    event_begin(w, "C", pid, 0);
    event_text(w, "name", name, strlen(name));
    event_time(w, "ts", t_ns);
    buf_addf(&w->buf, ",\"args\":{\"value\":%.3f}}", value);
}

static void counter_busy(struct writer *w, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
    int64_t step_ns = (end_ns - begin_ns) / COUNTER_BINS;
    step_ns = step_ns < NS_PER_MS ? NS_PER_MS : step_ns;
    for (int64_t t = begin_ns; t < end_ns && !w->stopped; t += step_ns) {
        int64_t busy_ns = facts_busy_ns(w->facts, device, t, t + step_ns);
        counter(w, device_pid(w, device), "busy %", t, 100.0 * (double)busy_ns / (double)step_ns);
    }
    counter(w, device_pid(w, device), "busy %", end_ns, 0.0);
}

/* Launches in each ms of the session's axis; a count of 0 only after a count that was not. */
static void counter_launches(struct writer *w, uint32_t process, const int64_t *ms, size_t count)
{
    int64_t pid = process_pid(w, process);
    for (size_t i = 0; i < count && !w->stopped;) {
        size_t end = i + 1;
        while (end < count && ms[end] == ms[i]) {
            end++;
        }
        counter(w, pid, "launches/ms", ms[i] * NS_PER_MS, (double)(end - i));
        if (end == count || ms[end] > ms[i] + 1) {
            counter(w, pid, "launches/ms", (ms[i] + 1) * NS_PER_MS, 0.0);
        }
        i = end;
    }
}

static int64_t floor_ms(int64_t ns)
{
    return ns >= 0 ? ns / NS_PER_MS : -((-ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* The ms in which a process launches, in order; their number. ms has room. */
static size_t launches_of(const struct writer *w, uint32_t process, int64_t *ms)
{
    const struct trace *trace = w->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    struct trace_slice lanes = trace_process_lanes(trace, process);
    size_t count = 0;
    for (uint32_t l = lanes.first; l < lanes.end; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (uint32_t i = lane->first;
             lane->kind == TRACE_LANE_API && i < lane->first + lane->count; i++) {
            if ((trace->names[api->name[i]].api & TRACE_API_LAUNCH) != 0 &&
                in_window(w, TRACE_API, i)) {
                ms[count++] = floor_ms(api->begin_ns[i]);
            }
        }
    }
    sort_i64(ms, count);
    return count;
}

static int counters_launches(struct writer *w)
{
    int64_t *ms = malloc(((size_t)w->trace->events[TRACE_API].count + 1) * sizeof *ms);
    if (ms == NULL) {
        return -1;
    }
    for (uint32_t p = 0; p < w->trace->process_count; p++) {
        counter_launches(w, p, ms, launches_of(w, p, ms));
    }
    free(ms);
    return 0;
}

static int counters_write(struct writer *w)
{
    if (!w->options->counters) {
        return 0;
    }
    for (uint32_t d = 0; d < w->trace->device_count; d++) {
        const struct trace_device *device = &w->trace->devices[d];
        if (device->busy_count == 0) {
            continue;
        }
        int64_t begin_ns = device->busy_begin_ns[0];
        int64_t end_ns = device->busy_end_ns[device->busy_count - 1];
        begin_ns = begin_ns > w->options->begin_ns ? begin_ns : w->options->begin_ns;
        end_ns = end_ns < w->options->end_ns ? end_ns : w->options->end_ns;
        if (end_ns > begin_ns) {
            counter_busy(w, d, begin_ns, end_ns);
        }
    }
    return counters_launches(w);
}

int chrome_write(const struct facts *facts, const struct chrome_options *options,
                 const struct table_sink *sink, struct err *err)
{
    struct writer w = {.facts = facts, .trace = facts->trace, .options = options, .sink = sink};
    w.track = calloc((size_t)facts->trace->lane_count + 1, sizeof(*w.track));
    if (w.track == NULL) {
        return err_nomem(err, "the tracks of an export");
    }
    w.shift_ns = facts->trace->begin_ns < 0 ? -facts->trace->begin_ns : 0;
    tracks_number(&w);
    json_head(&w.buf, "cutline-chrome", 1);
    buf_addf(&w.buf,
             ",\"displayTimeUnit\":\"ns\",\"otherData\":{\"shift_ns\":%lld},\"traceEvents\":[",
             (long long)w.shift_ns);
    names_processes(&w);
    names_tracks(&w);
    lanes_write(&w);
    int rc = counters_write(&w);
    buf_adds(&w.buf, "\n]}\n");
    bool failed = buf_failed(&w.buf) || rc != 0;
    flush(&w, 0);
    buf_free(&w.buf);
    free(w.track);
    if (failed) {
        return err_nomem(err, "an export");
    }
    return w.stopped ? err_set(err, "the export could not be written") : 0;
}
