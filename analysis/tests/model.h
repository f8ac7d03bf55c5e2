/*
 * model: traces made by hand for unit tests. Events are added in any order and refer to each other
 * by handles; model_build sorts them into lanes and tables as a loaded trace has them.
 *
 *     struct model m = {0};
 *     uint32_t gemm = model_name(&m, TRACE_KERNEL, "gemm", "void gemm<float>()");
 *     uint32_t call = model_host(&m, TRACE_LANE_API, thread, 0, launch, 100, 110);
 *     uint32_t op = model_op(&m, stream, gemm, 120, 150, call);
 *     model_build(&m) -> model_at(&m, op) = its index in the GPU table -> model_free(&m)
 *
 * Limits are fixed; a test that goes beyond them fails.
 */
#ifndef CUTLINE_TESTS_MODEL_H
#define CUTLINE_TESTS_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "analysis/trace/trace.h"
#include "analysis/trace/trace_internal.h"

enum {
    MODEL_NAMES = 64,
    MODEL_THREADS = 8,
    MODEL_STREAMS = 512,
    MODEL_LANES = 1024,
    MODEL_EVENTS = 32768,
};

struct model_stream {
    uint32_t device;
    uint32_t process;
    int64_t context_id;
    int64_t stream_id;
    bool is_migration;
};

/* One event as it was added. */
struct model_event {
    uint8_t kind; /* enum trace_lane_kind */
    uint32_t place; /* stream or thread */
    uint32_t depth;
    uint32_t name;
    uint32_t call; /* handle, TRACE_NONE */
    uint32_t handle;
    int64_t begin_ns;
    int64_t end_ns;
};

struct model {
    struct trace trace;
    struct trace_name names[MODEL_NAMES];
    struct trace_process processes[MODEL_THREADS];
    struct trace_thread threads[MODEL_THREADS];
    struct trace_device devices[MODEL_THREADS];
    struct trace_lane lanes[MODEL_LANES];
    struct model_stream streams[MODEL_STREAMS];
    uint32_t stream_count;
    struct model_event *events; /* owned */
    uint32_t event_count;
    uint32_t *at; /* owned: table index by handle */
};

static inline void *model_alloc(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static inline uint32_t model_name(struct model *m, enum trace_kind kind, const char *brief,
                                  const char *full)
{
    struct trace_name *name = &m->names[m->trace.name_count];
    assert_true(m->trace.name_count < MODEL_NAMES);
    name->kind = (uint8_t)kind;
    name->brief = brief;
    name->full = full;
    name->mangled = full;
    name->brief_len = (uint32_t)strlen(brief);
    name->full_len = (uint32_t)strlen(full);
    name->mangled_len = name->full_len;
    name->domain = "";
    return m->trace.name_count++;
}

/* An API call with its flags. */
static inline uint32_t model_call_name(struct model *m, const char *text, uint32_t flags)
{
    uint32_t name = model_name(m, TRACE_API_CALL, text, text);
    m->names[name].api = (uint16_t)flags;
    return name;
}

static inline uint32_t model_process(struct model *m, int64_t pid, const char *text)
{
    struct trace_process *process = &m->processes[m->trace.process_count];
    assert_true(m->trace.process_count < MODEL_THREADS);
    process->pid = pid;
    process->global_pid = pid << 24;
    process->name = text;
    process->name_len = (uint32_t)strlen(text);
    return m->trace.process_count++;
}

static inline uint32_t model_thread(struct model *m, uint32_t process, int64_t tid,
                                    const char *text)
{
    struct trace_thread *thread = &m->threads[m->trace.thread_count];
    assert_true(m->trace.thread_count < MODEL_THREADS);
    thread->tid = tid;
    thread->global_tid = m->processes[process].global_pid + tid;
    thread->process = process;
    thread->name = text;
    thread->name_len = (uint32_t)strlen(text);
    return m->trace.thread_count++;
}

static inline uint32_t model_device(struct model *m, int64_t id)
{
    assert_true(m->trace.device_count < MODEL_THREADS);
    m->devices[m->trace.device_count].id = id;
    m->devices[m->trace.device_count].name = "";
    return m->trace.device_count++;
}

static inline uint32_t model_stream(struct model *m, uint32_t device, uint32_t process,
                                    int64_t context_id, int64_t stream_id)
{
    assert_true(m->stream_count < MODEL_STREAMS);
    m->streams[m->stream_count] = (struct model_stream){
        .device = device, .process = process, .context_id = context_id, .stream_id = stream_id};
    return m->stream_count++;
}

static inline uint32_t model_add(struct model *m, struct model_event event)
{
    if (m->events == NULL) {
        m->events = model_alloc(MODEL_EVENTS, sizeof *m->events);
    }
    assert_true(m->event_count < MODEL_EVENTS);
    event.handle = m->event_count;
    m->events[m->event_count] = event;
    return m->event_count++;
}

/* depth 0; a stream's ops that overlap must be put on depths by hand with model_op_at. */
static inline uint32_t model_op_at(struct model *m, uint32_t stream, uint32_t depth, uint32_t name,
                                   int64_t begin_ns, int64_t end_ns, uint32_t call)
{
    return model_add(m, (struct model_event){.kind = TRACE_LANE_STREAM,
                                             .place = stream,
                                             .depth = depth,
                                             .name = name,
                                             .begin_ns = begin_ns,
                                             .end_ns = end_ns,
                                             .call = call});
}

static inline uint32_t model_op(struct model *m, uint32_t stream, uint32_t name, int64_t begin_ns,
                                int64_t end_ns, uint32_t call)
{
    return model_op_at(m, stream, 0, name, begin_ns, end_ns, call);
}

static inline uint32_t model_host(struct model *m, enum trace_lane_kind kind, uint32_t thread,
                                  uint32_t depth, uint32_t name, int64_t begin_ns, int64_t end_ns)
{
    return model_add(m, (struct model_event){.kind = (uint8_t)kind,
                                             .place = thread,
                                             .depth = depth,
                                             .name = name,
                                             .begin_ns = begin_ns,
                                             .end_ns = end_ns,
                                             .call = TRACE_NONE});
}

static inline enum trace_table model_table(uint8_t lane_kind)
{
    static const uint8_t TABLES[TRACE_LANE_KIND_COUNT] = {
        [TRACE_LANE_STREAM] = TRACE_GPU,
        [TRACE_LANE_MIGRATION] = TRACE_GPU,
        [TRACE_LANE_API] = TRACE_API,
        [TRACE_LANE_NVTX_PUSHPOP] = TRACE_NVTX,
        [TRACE_LANE_NVTX_STARTEND] = TRACE_NVTX,
        [TRACE_LANE_NVTX_MARK] = TRACE_NVTX,
        [TRACE_LANE_OSRT] = TRACE_OSRT,
        [TRACE_LANE_OVERHEAD] = TRACE_OVERHEAD,
    };
    return (enum trace_table)TABLES[lane_kind];
}

static inline int model_cmp_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Streams and threads are made in the order of their lanes, so their number sorts them. */
static inline int model_event_cmp(const void *a, const void *b)
{
    const struct model_event *x = a;
    const struct model_event *y = b;
    bool x_host = model_table(x->kind) != TRACE_GPU;
    bool y_host = model_table(y->kind) != TRACE_GPU;
    int c = model_cmp_i64(x_host, y_host);
    if (c == 0) {
        c = model_cmp_i64(x->place, y->place);
    }
    if (c == 0) {
        c = model_cmp_i64(x->kind, y->kind);
    }
    if (c == 0) {
        c = model_cmp_i64(x->depth, y->depth);
    }
    if (c == 0) {
        c = model_cmp_i64(x->begin_ns, y->begin_ns);
    }
    return c != 0 ? c : model_cmp_i64(x->handle, y->handle);
}

static inline struct trace_lane model_lane(const struct model *m, const struct model_event *event)
{
    struct trace_lane lane = {.kind = event->kind,
                              .table = (uint8_t)model_table(event->kind),
                              .depth = event->depth,
                              .thread = TRACE_NONE,
                              .device = TRACE_NONE};
    if (lane.table == TRACE_GPU) {
        const struct model_stream *stream = &m->streams[event->place];
        lane.device = stream->device;
        lane.process = stream->process;
        lane.device_id = m->devices[stream->device].id;
        lane.context_id = stream->context_id;
        lane.stream_id = stream->stream_id;
    } else {
        lane.thread = event->place;
        lane.process = m->threads[event->place].process;
    }
    return lane;
}

static inline void model_tables(struct model *m)
{
    uint32_t counts[TRACE_TABLE_COUNT] = {0};
    for (uint32_t i = 0; i < m->event_count; i++) {
        counts[model_table(m->events[i].kind)]++;
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct trace_events *events = &m->trace.events[t];
        events->begin_ns = model_alloc(counts[t], sizeof(int64_t));
        events->end_ns = model_alloc(counts[t], sizeof(int64_t));
        events->name = model_alloc(counts[t], sizeof(uint32_t));
        events->row = model_alloc(counts[t], sizeof(uint32_t));
        if (t == TRACE_GPU || t == TRACE_API) {
            events->link = model_alloc(counts[t], sizeof(uint32_t));
        }
    }
    m->trace.gpu_busy_ns = model_alloc((size_t)counts[TRACE_GPU] + 1, sizeof(int64_t));
    m->trace.launch_ops = model_alloc(counts[TRACE_GPU], sizeof(uint32_t));
}

static inline void model_place(struct model *m, const struct model_event *event, bool is_first)
{
    struct trace_lane lane = model_lane(m, event);
    struct trace_events *events = &m->trace.events[lane.table];
    uint32_t i = events->count++;
    m->at[event->handle] = i;
    events->begin_ns[i] = event->begin_ns;
    events->end_ns[i] = event->end_ns;
    events->name[i] = event->name;
    events->row[i] = event->handle + 1;
    const struct trace_lane *last =
        m->trace.lane_count > 0 ? &m->lanes[m->trace.lane_count - 1] : NULL;
    bool is_same = last != NULL && last->kind == lane.kind && last->thread == lane.thread &&
                   last->depth == lane.depth && last->device == lane.device &&
                   last->process == lane.process && last->context_id == lane.context_id &&
                   last->stream_id == lane.stream_id;
    if (!is_same) {
        assert_true(m->trace.lane_count < MODEL_LANES);
        lane.first = i;
        m->lanes[m->trace.lane_count++] = lane;
    }
    m->lanes[m->trace.lane_count - 1].count++;
    if (is_first || event->begin_ns < m->trace.begin_ns) {
        m->trace.begin_ns = event->begin_ns;
    }
    if (is_first || event->end_ns > m->trace.end_ns) {
        m->trace.end_ns = event->end_ns;
    }
}

/* GPU indices by (call, begin): insertion keeps ties in table order. */
static inline void model_links(struct model *m)
{
    struct trace_events *gpu = &m->trace.events[TRACE_GPU];
    struct trace_events *api = &m->trace.events[TRACE_API];
    uint32_t *ops = m->trace.launch_ops;
    uint32_t count = 0;
    for (uint32_t i = 0; i < api->count; i++) {
        api->link[i] = TRACE_NONE;
    }
    for (uint32_t i = 0; i < gpu->count; i++) {
        gpu->link[i] = TRACE_NONE;
    }
    for (uint32_t i = 0; i < m->event_count; i++) {
        const struct model_event *event = &m->events[i];
        if (model_table(event->kind) != TRACE_GPU || event->call == TRACE_NONE) {
            continue;
        }
        uint32_t op = m->at[event->handle];
        gpu->link[op] = m->at[event->call];
        uint32_t at = count++;
        while (at > 0 && (gpu->link[ops[at - 1]] > gpu->link[op] ||
                          (gpu->link[ops[at - 1]] == gpu->link[op] &&
                           gpu->begin_ns[ops[at - 1]] > gpu->begin_ns[op]))) {
            ops[at] = ops[at - 1];
            at--;
        }
        ops[at] = op;
    }
    m->trace.launch_op_count = count;
    for (uint32_t i = count; i > 0; i--) {
        api->link[gpu->link[ops[i - 1]]] = i - 1;
    }
}

static inline int model_span_cmp(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return model_cmp_i64(x[0], y[0]);
}

/* The union of the ops of each device, the slow way. */
static inline void model_unions(struct model *m)
{
    struct trace_events *gpu = &m->trace.events[TRACE_GPU];
    for (uint32_t i = 0; i < gpu->count; i++) {
        m->trace.gpu_busy_ns[i + 1] = m->trace.gpu_busy_ns[i] + gpu->end_ns[i] - gpu->begin_ns[i];
    }
    for (uint32_t d = 0; d < m->trace.device_count; d++) {
        int64_t(*spans)[2] = model_alloc(gpu->count, sizeof(*spans));
        int64_t *begin_ns = model_alloc(gpu->count, sizeof(int64_t));
        int64_t *end_ns = model_alloc(gpu->count, sizeof(int64_t));
        int64_t *sum_ns = model_alloc((size_t)gpu->count + 1, sizeof(int64_t));
        size_t span_count = 0;
        uint32_t count = 0;
        for (uint32_t l = 0; l < m->trace.lane_count; l++) {
            const struct trace_lane *lane = &m->lanes[l];
            if (lane->device != d) {
                continue;
            }
            if (m->devices[d].lane_count++ == 0) {
                m->devices[d].first_lane = l;
            }
            for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
                spans[span_count][0] = gpu->begin_ns[i];
                spans[span_count++][1] = gpu->end_ns[i];
            }
        }
        qsort(spans, span_count, sizeof(*spans), model_span_cmp);
        for (size_t i = 0; i < span_count; i++) {
            if (spans[i][1] <= spans[i][0]) {
                continue;
            }
            if (count == 0 || spans[i][0] > end_ns[count - 1]) {
                begin_ns[count] = spans[i][0];
                end_ns[count++] = spans[i][1];
            } else if (spans[i][1] > end_ns[count - 1]) {
                end_ns[count - 1] = spans[i][1];
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            sum_ns[i + 1] = sum_ns[i] + end_ns[i] - begin_ns[i];
        }
        free(spans);
        m->devices[d].busy_count = count;
        m->devices[d].busy_begin_ns = begin_ns;
        m->devices[d].busy_end_ns = end_ns;
        m->devices[d].busy_sum_ns = sum_ns;
    }
}

/* What trace_lane_of asks. */
static inline void model_own(struct model *m)
{
    struct trace_own *own = model_alloc(1, sizeof *own);
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        own->table_lanes[t] = model_alloc(m->trace.lane_count, sizeof(uint32_t));
    }
    for (uint32_t l = 0; l < m->trace.lane_count; l++) {
        uint8_t t = m->lanes[l].table;
        own->table_lanes[t][own->table_lane_count[t]++] = l;
    }
    m->trace.own = own;
}

static inline void model_build(struct model *m)
{
    m->trace.names = m->names;
    m->trace.processes = m->processes;
    m->trace.threads = m->threads;
    m->trace.devices = m->devices;
    m->trace.lanes = m->lanes;
    m->at = model_alloc(m->event_count, sizeof *m->at);
    struct model_event *sorted = model_alloc(m->event_count, sizeof *sorted);
    if (m->event_count > 0) {
        memcpy(sorted, m->events, m->event_count * sizeof *sorted);
    }
    qsort(sorted, m->event_count, sizeof *sorted, model_event_cmp);
    model_tables(m);
    for (uint32_t i = 0; i < m->event_count; i++) {
        model_place(m, &sorted[i], i == 0);
    }
    free(sorted);
    model_links(m);
    model_unions(m);
    model_own(m);
}

static inline uint32_t model_at(const struct model *m, uint32_t handle)
{
    return m->at[handle];
}

static inline void model_free(struct model *m)
{
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        struct trace_events *events = &m->trace.events[t];
        free(events->begin_ns);
        free(events->end_ns);
        free(events->name);
        free(events->row);
        free(events->link);
    }
    for (uint32_t d = 0; d < m->trace.device_count; d++) {
        union {
            const int64_t *constant;
            int64_t *owned;
        } arrays[] = {{m->devices[d].busy_begin_ns},
                      {m->devices[d].busy_end_ns},
                      {m->devices[d].busy_sum_ns}};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
            free(arrays[i].owned);
        }
    }
    struct trace_own *own = m->trace.own;
    for (int t = 0; own != NULL && t < TRACE_TABLE_COUNT; t++) {
        free(own->table_lanes[t]);
    }
    free(own);
    free(m->trace.gpu_busy_ns);
    free(m->trace.launch_ops);
    free(m->events);
    free(m->at);
    memset(m, 0, sizeof *m);
}

#endif
