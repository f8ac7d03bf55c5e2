/*
 * around: see around.h.
 */
#include "analysis/detect/around.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/host_time.h"

enum {
    LEAST_SHARE = 100, /* one of so many parts of the capture or of a time is worth a word */
};

/* The thread that launches the first op of all; TRACE_NONE where that is unknown. */
static uint32_t launching_thread(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t first = TRACE_NONE;
    for (uint32_t l = 0; l < trace->lane_count && trace->lanes[l].table == TRACE_GPU; l++) {
        uint32_t i = trace->lanes[l].first;
        if (gpu->link[i] != TRACE_NONE &&
            (first == TRACE_NONE || gpu->begin_ns[i] < gpu->begin_ns[first])) {
            first = i;
        }
    }
    return first == TRACE_NONE
               ? TRACE_NONE
               : trace->lanes[trace_lane_of(trace, TRACE_API, gpu->link[first])].thread;
}

/* The begin of the thread's first CUDA call; INT64_MAX: none. */
static int64_t first_call_ns(const struct facts *facts, uint32_t thread)
{
    const struct trace *trace = facts->trace;
    const struct facts_thread *lanes = &facts->threads[thread];
    int64_t first_ns = INT64_MAX;
    for (uint32_t l = lanes->first[TRACE_API]; l < lanes->end[TRACE_API]; l++) {
        int64_t ns = trace->events[TRACE_API].begin_ns[trace->lanes[l].first];
        first_ns = ns < first_ns ? ns : first_ns;
    }
    return first_ns;
}

/* ---- what a thread did ---- */

struct words {
    struct buf *out;
    const char *between;
    int64_t least_ns;
};

static void put_part(struct words *words, const char *label, const char *name, int64_t ns)
{
    char time[TIMEFMT_BYTES];
    if (ns <= 0 || ns < words->least_ns) {
        return;
    }
    buf_addf(words->out, "%s%s %s", words->between, label, timefmt_duration(ns, time));
    if (name != NULL) {
        buf_addf(words->out, " (%s)", name);
    }
    words->between = " + ";
}

/* Allocations: pinned host memory apart from the others. */
static void put_allocations(struct words *words, const struct trace *trace,
                            const struct host_cover *cover, int64_t part_ns)
{
    int64_t pinned_ns = 0;
    const char *pinned = NULL;
    const char *other = NULL;
    for (int i = 0; i < cover->name_count; i++) {
        const char *name = trace->names[cover->names[i].name].brief;
        bool is_host = strstr(name, "Host") != NULL;
        pinned_ns += is_host ? cover->names[i].ns : 0;
        pinned = is_host && pinned == NULL ? name : pinned;
        other = !is_host && other == NULL ? name : other;
    }
    pinned_ns = pinned_ns < part_ns ? pinned_ns : part_ns;
    put_part(words, "pinned host memory", pinned, pinned_ns);
    put_part(words, "allocation", other, part_ns - pinned_ns);
}

/* What the thread did in a time, as parts that add up but for those below a hundredth. rest: what to
 * call what no call covers. */
static void put_parts(const struct facts *facts, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                      const char *rest, struct buf *out)
{
    static const struct {
        enum host_kind kind;
        const char *label;
    } labels[] = {
        {HOST_MODULE, "module load"},
        {HOST_ALLOC, NULL},
        {HOST_SYNC, "sync"},
        {HOST_COPY, "copy"},
        {HOST_OSRT, "OS calls"},
        {HOST_PROFILER, "profiler"},
        {HOST_OVERHEAD, "CUDA overhead"},
    };
    struct host_time time;
    struct words words = {out, "", (end_ns - begin_ns) / LEAST_SHARE};
    host_time_of(facts, thread, begin_ns, end_ns, &time);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        const struct host_cover *cover = &time.covers[labels[i].kind];
        int64_t ns = time.part_ns[labels[i].kind];
        if (labels[i].label == NULL) {
            put_allocations(&words, facts->trace, cover, ns);
        } else {
            put_part(&words, labels[i].label,
                     cover->name_count > 0 ? facts->trace->names[cover->names[0].name].brief : NULL,
                     ns);
        }
    }
    put_part(&words, rest, NULL, time.rest_ns);
}

/* ---- before and after ---- */

static double percent(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0.0;
}

static bool has_ops(const struct around *around)
{
    return around->steady->first_ns < around->steady->last_ns;
}

void around_before(const struct around *around, struct buf *out)
{
    const struct trace *trace = around->facts->trace;
    int64_t capture_ns = trace->end_ns - trace->begin_ns;
    int64_t ns = has_ops(around) ? around->steady->first_ns - trace->begin_ns : -1;
    char time[TIMEFMT_BYTES];
    if (ns < capture_ns / LEAST_SHARE || ns < 0) {
        return;
    }
    buf_addf(out, "Before the first op: %s, %.1f %% of the capture", timefmt_duration(ns, time),
             percent(ns, capture_ns));
    uint32_t thread = launching_thread(around->facts);
    if (thread == TRACE_NONE) {
        return;
    }
    const struct trace_thread *of = &trace->threads[thread];
    bool is_python = (around->programs[of->process].flags & PROGRAM_PYTHON) != 0;
    int64_t call_ns = first_call_ns(around->facts, thread);
    call_ns = call_ns < around->steady->first_ns ? call_ns : around->steady->first_ns;
    int64_t until_ns = call_ns - trace->begin_ns;
    buf_addf(out, ". Thread %" PRId64, of->tid);
    if (until_ns >= ns / LEAST_SHARE) {
        buf_addf(out, " until its first CUDA call, %s: ", timefmt_duration(until_ns, time));
        put_parts(around->facts, thread, trace->begin_ns, call_ns,
                  is_python ? "cpu, as importing Python modules" : "cpu", out);
    }
    if (around->steady->first_ns - call_ns >= ns / LEAST_SHARE) {
        buf_addf(out, "%s %s: ", until_ns >= ns / LEAST_SHARE ? "; from it on," : ",",
                 timefmt_duration(around->steady->first_ns - call_ns, time));
        put_parts(around->facts, thread, call_ns, around->steady->first_ns, "cpu", out);
    }
}

void around_after(const struct around *around, struct buf *out)
{
    const struct trace *trace = around->facts->trace;
    int64_t capture_ns = trace->end_ns - trace->begin_ns;
    int64_t ns = has_ops(around) ? trace->end_ns - around->steady->last_ns : -1;
    char time[TIMEFMT_BYTES];
    if (ns < capture_ns / LEAST_SHARE || ns < 0) {
        return;
    }
    buf_addf(out, "After the last op: %s, %.1f %% of the capture", timefmt_duration(ns, time),
             percent(ns, capture_ns));
    uint32_t thread = launching_thread(around->facts);
    if (thread != TRACE_NONE) {
        buf_addf(out, ". Thread %" PRId64 ": ", trace->threads[thread].tid);
        put_parts(around->facts, thread, around->steady->last_ns, trace->end_ns, "cpu", out);
    }
}

/* ---- steady state ---- */

void around_series(const struct around *around, struct buf *out)
{
    const struct steady *steady = around->steady;
    const struct trace_name *name = &around->facts->trace->names[steady->name];
    bool in_number = false;
    buf_addf(out, "%" PRIu32 " x ", steady->count);
    for (const char *at = name->brief; *at != '\0'; at++) {
        bool digit = *at >= '0' && *at <= '9';
        if (!digit || !steady->differ) {
            buf_addc(out, *at);
        } else if (!in_number) {
            buf_addc(out, '#');
        }
        in_number = digit;
    }
}

void around_steady(const struct around *around, struct buf *out)
{
    const struct steady *steady = around->steady;
    char period[TIMEFMT_BYTES];
    char begin[TIMEFMT_BYTES];
    char end[TIMEFMT_BYTES];
    if (!steady->is_there) {
        return;
    }
    buf_adds(out, "Steady state: ");
    around_series(around, out);
    buf_addf(out, ", one in %s, from %s to %s; the findings are of it",
             timefmt_duration(steady->period_ns, period),
             timefmt_at(steady->begin_ns, 1000000, begin),
             timefmt_at(steady->end_ns, 1000000, end));
}

/* "GPU 0 busy 0.0 %, GPU 1 busy 3.1 %. Thread 100: module load 3.1 s + cpu 56.9 s". */
static void put_time(const struct around *around, int64_t begin_ns, int64_t end_ns, struct buf *out)
{
    enum {
        DEVICES = 4
    };
    const struct trace *trace = around->facts->trace;
    const char *between = ": ";
    for (uint32_t d = 0; d < trace->device_count && d < DEVICES; d++) {
        buf_addf(out, "%sGPU %" PRId64 " busy %.1f %% of it", between, trace->devices[d].id,
                 percent(facts_busy_ns(around->facts, d, begin_ns, end_ns), end_ns - begin_ns));
        between = ", ";
    }
    uint32_t thread = launching_thread(around->facts);
    if (thread != TRACE_NONE) {
        buf_addf(out, ". Thread %" PRId64 ": ", trace->threads[thread].tid);
        put_parts(around->facts, thread, begin_ns, end_ns, "cpu", out);
    }
}

void around_start_up(const struct around *around, struct buf *out)
{
    const struct steady *steady = around->steady;
    char time[TIMEFMT_BYTES];
    int64_t ns = steady->is_there ? steady->begin_ns - steady->first_ns : 0;
    if (steady->is_there && ns >= (steady->last_ns - steady->first_ns) / LEAST_SHARE) {
        buf_addf(out, "Start-up before it, from the first op on: %s", timefmt_duration(ns, time));
        put_time(around, steady->first_ns, steady->begin_ns, out);
    }
}

void around_end(const struct around *around, struct buf *out)
{
    const struct steady *steady = around->steady;
    char time[TIMEFMT_BYTES];
    int64_t ns = steady->is_there ? steady->last_ns - steady->end_ns : 0;
    if (steady->is_there && ns >= (steady->last_ns - steady->first_ns) / LEAST_SHARE) {
        buf_addf(out, "After it, to the last op: %s", timefmt_duration(ns, time));
        put_time(around, steady->end_ns, steady->last_ns, out);
    }
}
