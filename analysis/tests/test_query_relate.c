/* Launch and op, the next of a name, steps and places in them; waits and the events they wait for.
 */
#include "analysis/tests/model.h"
#include "analysis/tests/sql_file.h"
#include "analysis/timeline/relate.h"

enum {
    STEPS = 3
};

/* Three steps of the main thread: two gemms and a relu each, the last step without the second gemm.
 * Within "step" a range "forward" that repeats as well, and "once" that does not. */
struct world {
    struct model m;
    struct facts *facts;
    uint32_t step[STEPS];
    uint32_t forward[STEPS];
    uint32_t once;
    uint32_t call[STEPS][3];
    uint32_t op[STEPS][3];
    uint32_t lone_call;
    uint32_t lone_op;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct model *m = &w->m;
    uint32_t process = model_process(m, 42, "app");
    uint32_t thread = model_thread(m, process, 42, "main");
    uint32_t other = model_thread(m, process, 43, "other");
    uint32_t device = model_device(m, 0);
    uint32_t s7 = model_stream(m, device, process, 1, 7);
    uint32_t s8 = model_stream(m, device, process, 1, 8);
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t alloc = model_call_name(m, "cudaMalloc", TRACE_API_ALLOC);
    uint32_t gemm = model_name(m, TRACE_KERNEL, "gemm", "gemm");
    uint32_t relu = model_name(m, TRACE_KERNEL, "relu", "relu");
    uint32_t step = model_name(m, TRACE_NVTX_PUSHPOP, "step", "step");
    uint32_t forward = model_name(m, TRACE_NVTX_PUSHPOP, "forward", "forward");
    uint32_t once = model_name(m, TRACE_NVTX_PUSHPOP, "once", "once");
    w->once = model_host(m, TRACE_LANE_NVTX_PUSHPOP, thread, 0, once, 0, 10000);
    for (int s = 0; s < STEPS; s++) {
        int64_t t = 1000 * (s + 1);
        w->step[s] = model_host(m, TRACE_LANE_NVTX_PUSHPOP, thread, 1, step, t, t + 900);
        w->forward[s] = model_host(m, TRACE_LANE_NVTX_PUSHPOP, thread, 2, forward, t, t + 500);
        for (int k = 0; k < (s == STEPS - 1 ? 2 : 3); k++) {
            int64_t at = t + 100 + 100 * k;
            w->call[s][k] = model_host(m, TRACE_LANE_API, thread, 0, launch, at, at + 20);
            w->op[s][k] = model_op(m, s7, k == 1 ? relu : gemm, at + 30, at + 90, w->call[s][k]);
        }
    }
    /* A gemm at the same time as the first one of step 1, of another thread and stream. */
    w->lone_call = model_host(m, TRACE_LANE_API, other, 0, alloc, 5, 6);
    w->lone_op = model_op(m, s8, gemm, 1130, 1140, TRACE_NONE);
    model_build(m);
    w->facts = facts_new(&m->trace, NULL);
    assert_non_null(w->facts);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    facts_free(w->facts);
    model_free(&w->m);
    free(w);
    return 0;
}

static struct relate_event at(const struct world *w, enum trace_table table, uint32_t handle)
{
    return (struct relate_event){table, model_at(&w->m, handle)};
}

static void test_launch(void **state)
{
    const struct world *w = *state;
    const struct trace *trace = &w->m.trace;
    struct relate_event op = at(w, TRACE_GPU, w->op[0][1]);
    struct relate_event call = at(w, TRACE_API, w->call[0][1]);
    struct relate_event lone = at(w, TRACE_GPU, w->lone_op);
    assert_int_equal(relate_launch(trace, op).table, TRACE_API);
    assert_int_equal(relate_launch(trace, op).index, call.index);
    assert_int_equal(relate_launch(trace, call).index, call.index);
    assert_int_equal(relate_op(trace, call).index, op.index);
    assert_int_equal(relate_op(trace, op).index, op.index);
    assert_int_equal(relate_op(trace, at(w, TRACE_API, w->lone_call)).index, TRACE_NONE);
    assert_int_equal(relate_op(trace, at(w, TRACE_NVTX, w->once)).index, TRACE_NONE);
    assert_int_equal(relate_launch(trace, lone).index, TRACE_NONE);
    assert_int_equal(relate_thread(trace, op), 0);
    assert_int_equal(relate_thread(trace, lone), TRACE_NONE);
    assert_int_equal(relate_host_ns(trace, op), 1200);
    assert_int_equal(relate_host_ns(trace, lone), 1130);
    struct relate_queue queue = relate_queue(trace, op.index);
    assert_int_equal(queue.launch, call.index);
    assert_int_equal(queue.call_ns, 20);
    assert_int_equal(queue.queue_ns, 10);
    assert_int_equal(queue.launch_ns, 30);
    assert_false(queue.is_early);
    assert_int_equal(relate_queue(trace, lone.index).launch, TRACE_NONE);
}

static void test_instance(void **state)
{
    const struct world *w = *state;
    const struct trace *trace = &w->m.trace;
    struct relate_event first = at(w, TRACE_GPU, w->op[0][0]);
    struct relate_event lone = at(w, TRACE_GPU, w->lone_op);
    struct relate_event third = at(w, TRACE_GPU, w->op[0][2]);
    assert_int_equal(relate_instance(trace, NULL, first, RELATE_ANYWHERE, 1).index, lone.index);
    assert_int_equal(relate_instance(trace, NULL, lone, RELATE_ANYWHERE, 1).index, third.index);
    assert_int_equal(relate_instance(trace, NULL, lone, RELATE_ANYWHERE, -1).index, first.index);
    assert_int_equal(relate_instance(trace, NULL, first, RELATE_ANYWHERE, -1).index, TRACE_NONE);
    assert_int_equal(relate_instance(trace, NULL, first, RELATE_SAME_ROW, 1).index, third.index);
    assert_int_equal(relate_instance(trace, NULL, third, RELATE_SAME_ROW, -1).index, first.index);
    assert_int_equal(relate_instance(trace, NULL, lone, RELATE_SAME_ROW, 1).index, TRACE_NONE);
    struct terms *terms = terms_new(w->facts, "stream:7", 8, TERMS_KINDS_GPU, NULL, NULL);
    assert_int_equal(relate_instance(trace, terms, first, RELATE_ANYWHERE, 1).index, third.index);
    terms_free(terms);
    /* There and back over all gemms. */
    struct relate_event event = first;
    int count = 1;
    for (;;) {
        struct relate_event next = relate_instance(trace, NULL, event, RELATE_ANYWHERE, 1);
        if (next.index == TRACE_NONE) {
            break;
        }
        assert_int_equal(relate_instance(trace, NULL, next, RELATE_ANYWHERE, -1).index,
                         event.index);
        event = next;
        count++;
    }
    assert_int_equal(count, 6);
}

static void test_steps(void **state)
{
    const struct world *w = *state;
    struct relate_event op = at(w, TRACE_GPU, w->op[1][2]);
    uint32_t step = model_at(&w->m, w->step[1]);
    uint32_t of = 0;
    assert_int_equal(relate_step(w->facts, op), step);
    assert_int_equal(relate_step(w->facts, at(w, TRACE_API, w->call[1][0])), step);
    assert_int_equal(relate_step(w->facts, at(w, TRACE_NVTX, w->forward[1])),
                     model_at(&w->m, w->forward[1]));
    assert_int_equal(relate_step(w->facts, at(w, TRACE_NVTX, w->once)), TRACE_NONE);
    assert_int_equal(relate_step(w->facts, at(w, TRACE_GPU, w->lone_op)), TRACE_NONE);
    assert_int_equal(relate_step_next(w->facts, step, 1), model_at(&w->m, w->step[2]));
    assert_int_equal(relate_step_next(w->facts, step, -1), model_at(&w->m, w->step[0]));
    assert_int_equal(relate_step_next(w->facts, model_at(&w->m, w->step[2]), 1), TRACE_NONE);
    assert_int_equal(relate_step_number(w->facts, step, &of), 2);
    assert_int_equal(of, STEPS);
}

static void test_same_place(void **state)
{
    const struct world *w = *state;
    uint32_t step[STEPS];
    for (int s = 0; s < STEPS; s++) {
        step[s] = model_at(&w->m, w->step[s]);
    }
    /* The second gemm, the relu, the third call. */
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_GPU, w->op[0][2]), step[0], step[1]).index,
        model_at(&w->m, w->op[1][2]));
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_GPU, w->op[1][1]), step[1], step[2]).index,
        model_at(&w->m, w->op[2][1]));
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_API, w->call[1][2]), step[1], step[0]).index,
        model_at(&w->m, w->call[0][2]));
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_GPU, w->op[1][2]), step[1], step[2]).index,
        TRACE_NONE);
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_NVTX, w->forward[0]), step[0], step[2]).index,
        model_at(&w->m, w->forward[2]));
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_NVTX, w->step[0]), step[0], step[2]).index,
        step[2]);
    assert_int_equal(
        relate_same_place(w->facts, at(w, TRACE_GPU, w->lone_op), step[0], step[1]).index,
        TRACE_NONE);
}

/*
 * Two processes with equal correlation ids. In process 100: a kernel on stream 7 (call 1), event 5
 * recorded on it (call 2), another kernel on it (call 3), stream 8 waits for the event (call 4),
 * the event is recorded again (call 5), the host waits for it (call 6), for stream 7 (call 7) and
 * for the device (call 8). Process 200 records an event of the same number (call 2).
 */
static const char SYNCS[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER,"
    " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER,"
    " eventSyncId INTEGER);"
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'cudaEventRecord'),"
    " (3, 'cudaStreamWaitEvent'), (4, 'cudaEventSynchronize'), (5, 'cudaStreamSynchronize'),"
    " (6, 'cudaDeviceSynchronize'), (7, 'k');"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT t * 100, t * 100 + 10, 0, 100 * (1 << 24) + "
    "100,"
    " t, n FROM (SELECT 1 t, 1 n UNION SELECT 2, 2 UNION SELECT 3, 1 UNION SELECT 4, 3 UNION"
    " SELECT 5, 2 UNION SELECT 6, 4 UNION SELECT 7, 5 UNION SELECT 8, 6);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (250, 260, 0, 200 * (1 << 24) + 200, 2, 2),"
    " (195, 215, 67, 100 * (1 << 24) + 100, 2, 2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (150, 180, 0, 1, 7, 1, 100 * (1 << 24), 7, 7),"
    " (350, 380, 0, 1, 7, 3, 100 * (1 << 24), 7, 7);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES"
    " (0, 1, 7, 2, 100 * (1 << 24), 5, NULL), (0, 1, 7, 5, 100 * (1 << 24), 5, NULL),"
    " (0, 1, 7, 2, 200 * (1 << 24), 5, NULL);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
    " (400, 410, 0, 1, 8, 4, 100 * (1 << 24), 0, 5, NULL),"
    " (600, 610, 0, 1, 4294967295, 6, 100 * (1 << 24), 0, 5, NULL),"
    " (700, 710, 0, 1, 7, 7, 100 * (1 << 24), 0, 4294967295, NULL),"
    " (800, 810, 0, 1, 4294967295, 8, 100 * (1 << 24), 0, 4294967295, NULL);";

/* The API call that begins at t in the first process. */
static uint32_t call_at(const struct trace *trace, int64_t t_ns)
{
    for (uint32_t i = 0; i < trace->events[TRACE_API].count; i++) {
        if (trace->events[TRACE_API].begin_ns[i] == t_ns) {
            return i;
        }
    }
    return TRACE_NONE;
}

static uint32_t op_at(const struct trace *trace, int64_t t_ns)
{
    for (uint32_t i = 0; i < trace->events[TRACE_GPU].count; i++) {
        if (trace->events[TRACE_GPU].begin_ns[i] == t_ns) {
            return i;
        }
    }
    return TRACE_NONE;
}

static void check_syncs(const struct trace *trace, const struct relate_syncs *syncs)
{
    static const struct {
        int64_t wait_ns;
        int64_t record_ns; /* -1: none */
        int64_t op_ns;
        int64_t event_id;
        int64_t stream_id;
    } cases[] = {
        {400, 200, 150, 5, 8},
        {600, 500, 350, 5, -1},
        {700, -1, 350, -1, 7},
        {800, -1, -1, -1, -1},
    };
    assert_int_equal(syncs->count, 4);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct relate_sync *sync = relate_sync_of(syncs, call_at(trace, cases[i].wait_ns));
        assert_non_null(sync);
        assert_int_equal(sync->record,
                         cases[i].record_ns < 0 ? TRACE_NONE : call_at(trace, cases[i].record_ns));
        assert_int_equal(sync->op, cases[i].op_ns < 0 ? TRACE_NONE : op_at(trace, cases[i].op_ns));
        assert_int_equal(sync->event_id, cases[i].event_id);
        assert_int_equal(sync->stream_id, cases[i].stream_id);
    }
    assert_null(relate_sync_of(syncs, call_at(trace, 100)));
}

static void test_syncs(void **state)
{
    struct sql_file file;
    struct relate_syncs syncs;
    uint32_t count = 0;
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SYNCS);
    struct trace *trace = sql_file_load(&file, NULL);
    struct facts *facts = facts_new(trace, NULL);
    assert_int_equal(relate_syncs_load(facts, &syncs, NULL), 0);
    check_syncs(trace, &syncs);
    const uint32_t *waits = relate_waits_of(&syncs, call_at(trace, 200), &count);
    assert_int_equal(count, 1);
    assert_int_equal(syncs.list[waits[0]].wait, call_at(trace, 400));
    assert_null(relate_waits_of(&syncs, call_at(trace, 250), &count));
    assert_int_equal(count, 0);
    relate_syncs_free(&syncs);
    /* With ids of synchronisation both waits are for the first record. */
    sql_file_run(&file,
                 "UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET eventSyncId = correlationId + 40;"
                 "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventSyncId = 42"
                 " WHERE eventId = 5;");
    assert_int_equal(relate_syncs_load(facts, &syncs, NULL), -1); /* not what was loaded */
    facts_free(facts);
    trace_free(trace);
    trace = sql_file_load(&file, NULL);
    facts = facts_new(trace, NULL);
    sql_file_remove(&file); /* the open file outlives its name */
    assert_int_equal(relate_syncs_load(facts, &syncs, NULL), 0);
    waits = relate_waits_of(&syncs, call_at(trace, 200), &count);
    assert_int_equal(count, 2);
    assert_int_equal(relate_sync_of(&syncs, call_at(trace, 600))->op, op_at(trace, 150));
    relate_syncs_free(&syncs);
    facts_free(facts);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch), cmocka_unit_test(test_instance),
        cmocka_unit_test(test_steps),  cmocka_unit_test(test_same_place),
        cmocka_unit_test(test_syncs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
