/* Causes of idle time on traces made by hand: each branch of the definition, and its edges. */
#include "analysis/base/array.h"
#include "analysis/detect/causes.h"
#include "analysis/facts/nvtx_path.h"
#include "analysis/tests/model.h"

/* Two ops with a gap [1000, 2000) between them; the tests add what the host did. */
struct scene {
    struct model m;
    uint32_t stream;
    uint32_t thread;
    uint32_t kernel;
    uint32_t launch;
    uint32_t sync;
    uint32_t copy;
    uint32_t copy_async;
    uint32_t alloc;
    uint32_t module;
    uint32_t first_call;
};

static void scene_new(struct scene *s)
{
    *s = (struct scene){0};
    struct model *m = &s->m;
    uint32_t process = model_process(m, 100, "app");
    s->thread = model_thread(m, process, 100, "app");
    s->stream = model_stream(m, model_device(m, 0), process, 1, 7);
    s->kernel = model_name(m, TRACE_KERNEL, "k", "k()");
    s->launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    s->sync = model_call_name(m, "cudaStreamSynchronize", TRACE_API_SYNC);
    s->copy = model_call_name(m, "cudaMemcpy", TRACE_API_COPY);
    s->copy_async = model_call_name(m, "cudaMemcpyAsync", TRACE_API_COPY | TRACE_API_ASYNC);
    s->alloc = model_call_name(m, "cudaMalloc", TRACE_API_ALLOC);
    s->module = model_call_name(m, "cuModuleLoadData", TRACE_API_MODULE);
    s->first_call = model_host(m, TRACE_LANE_API, s->thread, 0, s->launch, 400, 410);
    model_op(m, s->stream, s->kernel, 500, 1000, s->first_call);
}

static uint32_t call(struct scene *s, uint32_t name, int64_t begin_ns, int64_t end_ns)
{
    return model_host(&s->m, TRACE_LANE_API, s->thread, 0, name, begin_ns, end_ns);
}

/* Ends the gap with an op that the call [begin, end) launched, and finds the cause. */
static struct cause solve(struct scene *s, int64_t begin_ns, int64_t end_ns)
{
    struct cause cause;
    uint32_t launch = begin_ns == INT64_MIN ? TRACE_NONE : call(s, s->launch, begin_ns, end_ns);
    model_op(&s->m, s->stream, s->kernel, 2000, 2100, launch);
    model_build(&s->m);
    struct facts *facts = facts_new(&s->m.trace, NULL);
    assert_non_null(facts);
    const struct gap gap = {.begin_ns = 1000, .end_ns = 2000, .device = 0, .before = 0, .after = 1};
    cause_of(facts, &gap, &cause);
    struct buf text = {0};
    cause_text(facts, &gap, &cause, &text);
    assert_false(buf_failed(&text));
    assert_true(text.len > 0);
    buf_free(&text);
    facts_free(facts);
    return cause;
}

/* A scene with one host event [begin, end) of a kind of lane, then the launch at 1990. */
static struct cause with_event(enum trace_lane_kind lane, enum trace_kind kind, const char *name,
                               int64_t begin_ns, int64_t end_ns)
{
    struct scene s;
    scene_new(&s);
    model_host(&s.m, lane, s.thread, 0, model_name(&s.m, kind, name, name), begin_ns, end_ns);
    struct cause cause = solve(&s, 1990, 1999);
    model_free(&s.m);
    return cause;
}

static void test_unknown(void **state)
{
    (void)state;
    struct scene s;
    scene_new(&s);
    struct cause cause = solve(&s, INT64_MIN, 0);
    assert_int_equal(cause.kind, CAUSE_UNKNOWN);
    assert_int_equal(cause.doubt, CAUSE_NO_LINK);
    assert_int_equal(cause.thread, TRACE_NONE);
    model_free(&s.m);

    struct model m = {0};
    uint32_t process = model_process(&m, 1, "");
    uint32_t stream = model_stream(&m, model_device(&m, 0), process, 1, 7);
    uint32_t kernel = model_name(&m, TRACE_KERNEL, "k", "k");
    model_op(&m, stream, kernel, 0, 10, TRACE_NONE);
    model_op(&m, stream, kernel, 20, 30, TRACE_NONE);
    model_build(&m);
    struct facts *facts = facts_new(&m.trace, NULL);
    const struct gap gap = {.begin_ns = 10, .end_ns = 20, .before = 0, .after = 1};
    cause_of(facts, &gap, &cause);
    assert_int_equal(cause.kind, CAUSE_UNKNOWN);
    assert_int_equal(cause.doubt, CAUSE_NO_API);
    facts_free(facts);
    model_free(&m);
}

static void test_launched_waits(void **state)
{
    (void)state;
    static const int64_t calls[][2] = {
        {1100, 1500}, /* 100 of host, 400 of call, 500 after it */
        {900, 1000}, /* ended as the gap began */
        {600, 700},   {950, 1499}, /* covers 499 of 1000: less than half */
        {1000, 1010}, /* began with the gap: nothing was late */
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct scene s;
        scene_new(&s);
        struct cause cause = solve(&s, calls[i][0], calls[i][1]);
        assert_int_equal(cause.kind, CAUSE_WAIT_START);
        assert_int_equal(cause.thread, s.thread);
        assert_null(cause.wait);
        model_free(&s.m);
    }
}

static void test_slow_launch(void **state)
{
    (void)state;
    static const int64_t calls[][2] = {
        {950, 1500}, /* exactly half */
        {1400, 1999},
        {1000, 2000},
        {1499, 2500}, /* the op began before the call returned */
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct scene s;
        scene_new(&s);
        uint32_t lazy =
            model_name(&s.m, TRACE_OVERHEAD_CUDA, "Lazy Function Loading", "Lazy Function Loading");
        model_host(&s.m, TRACE_LANE_OVERHEAD, s.thread, 0, lazy, 900, 1450);
        struct cause cause = solve(&s, calls[i][0], calls[i][1]);
        assert_int_equal(cause.kind, CAUSE_SLOW_LAUNCH);
        int64_t from = calls[i][0] > 1000 ? calls[i][0] : 1000;
        assert_int_equal(cause.evidence_ns, (calls[i][1] < 2000 ? calls[i][1] : 2000) - from);
        assert_int_equal(cause.overhead_ns, from < 1450 ? 1450 - from : 0);
        model_free(&s.m);
    }
}

static void test_host_calls(void **state)
{
    (void)state;
    static const struct {
        size_t name;
        enum cause_kind kind;
    } cases[] = {
        {offsetof(struct scene, sync), CAUSE_SYNC},
        {offsetof(struct scene, copy), CAUSE_COPY},
        {offsetof(struct scene, alloc), CAUSE_ALLOC},
        {offsetof(struct scene, module), CAUSE_MODULE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene s;
        uint32_t name;
        scene_new(&s);
        memcpy(&name, (const char *)&s + cases[i].name, sizeof name);
        /* The host is late from 1000 to 1800: 400 is half. */
        call(&s, name, 1100, 1300);
        call(&s, name, 1350, 1550);
        struct cause cause = solve(&s, 1800, 1810);
        assert_int_equal(cause.kind, cases[i].kind);
        assert_int_equal(cause.evidence_ns, 400);
        assert_int_equal(cause.table, TRACE_API);
        model_free(&s.m);

        scene_new(&s);
        call(&s, name, 1100, 1499); /* one ns less than half */
        cause = solve(&s, 1800, 1810);
        bool waits = cases[i].kind == CAUSE_SYNC || cases[i].kind == CAUSE_COPY;
        assert_int_equal(cause.kind, waits ? CAUSE_AFTER_BLOCKING : CAUSE_SLOW_HOST);
        model_free(&s.m);
    }
}

static void test_nested_calls_count_once(void **state)
{
    (void)state;
    struct scene s;
    scene_new(&s);
    call(&s, s.alloc, 1000, 1300);
    model_host(&s.m, TRACE_LANE_API, s.thread, 1, s.alloc, 1050, 1290); /* inside the first */
    struct cause cause = solve(&s, 1800, 1810);
    assert_int_equal(cause.kind, CAUSE_SLOW_HOST); /* 300 of 800, not 540 */
    model_free(&s.m);
}

static void test_order_of_kinds(void **state)
{
    (void)state;
    struct scene s;
    scene_new(&s);
    uint32_t poll = model_name(&s.m, TRACE_OSRT_CALL, "poll", "poll");
    model_host(&s.m, TRACE_LANE_OSRT, s.thread, 0, poll, 1000, 1800);
    call(&s, s.sync, 1000, 1400);
    call(&s, s.alloc, 1400, 1800);
    struct cause cause = solve(&s, 1800, 1810);
    assert_int_equal(cause.kind, CAUSE_SYNC);
    model_free(&s.m);
}

static void test_os_and_profiler(void **state)
{
    (void)state;
    struct cause cause =
        with_event(TRACE_LANE_OSRT, TRACE_OSRT_CALL, "pthread_mutex_lock", 900, 1600);
    assert_int_equal(cause.kind, CAUSE_OSRT);
    assert_int_equal(cause.evidence_ns, 600);
    assert_int_equal(cause.doubt, 0);
    cause = with_event(TRACE_LANE_OSRT, TRACE_OSRT_CALL, "read", 1000, 1494);
    assert_int_equal(cause.kind, CAUSE_SLOW_HOST); /* 494 of 990 */
    cause = with_event(TRACE_LANE_OVERHEAD, TRACE_OVERHEAD_PROFILER, "Buffer flush", 1000, 1495);
    assert_int_equal(cause.kind, CAUSE_PROFILER);
    assert_int_equal(cause.table, TRACE_OVERHEAD);
    cause =
        with_event(TRACE_LANE_OVERHEAD, TRACE_OVERHEAD_CUDA, "Lazy Function Loading", 1000, 1600);
    assert_int_equal(cause.kind, CAUSE_MODULE);
}

static void test_cpu_work(void **state)
{
    (void)state;
    static const struct {
        int64_t begin_ns;
        int64_t end_ns;
        enum cause_kind kind;
    } syncs[] = {
        {420, 1010, CAUSE_AFTER_BLOCKING}, /* waited for the op before the gap */
        {420, 501, CAUSE_AFTER_BLOCKING}, /* ended after that op began */
        {420, 500, CAUSE_SLOW_HOST}, /* ended before it ran: work was queued */
        {1700, 1790, CAUSE_AFTER_BLOCKING},
    };
    for (size_t i = 0; i < sizeof(syncs) / sizeof(syncs[0]); i++) {
        struct scene s;
        scene_new(&s);
        call(&s, s.sync, syncs[i].begin_ns, syncs[i].end_ns);
        call(&s, s.alloc, 1020, 1030); /* something after it, that does not wait */
        struct cause cause = solve(&s, 1800, 1810);
        assert_int_equal(cause.kind, syncs[i].kind);
        assert_int_equal(cause.doubt, CAUSE_NO_OSRT);
        if (cause.kind == CAUSE_AFTER_BLOCKING) {
            assert_int_equal(s.m.trace.events[TRACE_API].begin_ns[cause.evidence],
                             syncs[i].begin_ns);
        } else {
            assert_int_equal(cause.evidence, TRACE_NONE);
        }
        model_free(&s.m);
    }
}

/* Another thread's wait is not this thread's. */
static void test_other_thread(void **state)
{
    (void)state;
    struct scene s;
    scene_new(&s);
    uint32_t other = model_thread(&s.m, 0, 101, "other");
    model_host(&s.m, TRACE_LANE_API, other, 0, s.sync, 420, 1700);
    struct cause cause = solve(&s, 1800, 1810);
    assert_int_equal(cause.kind, CAUSE_SLOW_HOST);
    model_free(&s.m);
}

/* An async copy of pageable memory blocks; of pinned memory it does not. */
static void test_pageable(void **state)
{
    (void)state;
    for (int kind = FACTS_MEM_PAGEABLE; kind <= FACTS_MEM_PINNED; kind++) {
        struct scene s;
        struct cause cause;
        scene_new(&s);
        uint32_t memcpy_name = model_name(&s.m, TRACE_MEMCPY, "DtoH", "[CUDA memcpy DtoH]");
        s.m.names[memcpy_name].copy_kind = 2;
        uint32_t copy = call(&s, s.copy_async, 1000, 1700);
        uint32_t other = model_stream(&s.m, model_device(&s.m, 1), 0, 1, 9);
        uint32_t op = model_op(&s.m, other, memcpy_name, 1600, 1650, copy);
        uint32_t launch = call(&s, s.launch, 1800, 1810);
        model_op(&s.m, s.stream, s.kernel, 2000, 2100, launch);
        model_build(&s.m);
        struct facts *facts = facts_new(&s.m.trace, NULL);
        facts->copies = calloc(1, sizeof *facts->copies);
        facts->copies[0] = (struct facts_copy){
            .gpu = model_at(&s.m, op), .src_kind = 2, .dst_kind = (uint8_t)kind, .bytes = 1 << 20};
        facts->copy_count = 1;
        const struct gap gap = {.begin_ns = 1000, .end_ns = 2000, .before = 0, .after = 1};
        cause_of(facts, &gap, &cause);
        assert_int_equal(cause.kind, kind == FACTS_MEM_PAGEABLE ? CAUSE_COPY : CAUSE_SLOW_HOST);
        facts_free(facts);
        model_free(&s.m);
    }
}

/* The stream wait before X is named; one before the op that X follows is not. */
static void test_stream_wait(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct scene s;
        struct cause cause;
        scene_new(&s);
        uint32_t launch = call(&s, s.launch, 600, 610);
        model_op(&s.m, s.stream, s.kernel, 2000, 2100, launch);
        model_build(&s.m);
        struct facts *facts = facts_new(&s.m.trace, NULL);
        facts->waits = calloc(1, sizeof *facts->waits);
        facts->waits[0] = (struct facts_wait){.context_id = 1,
                                              .stream_id = 7,
                                              .begin_ns = late ? 550 : 300,
                                              .event_id = 5,
                                              .event_stream = 13};
        facts->wait_count = 1;
        const struct gap gap = {.begin_ns = 1000, .end_ns = 2000, .before = 0, .after = 1};
        cause_of(facts, &gap, &cause);
        assert_int_equal(cause.kind, late ? CAUSE_WAIT_EVENT : CAUSE_WAIT_START);
        assert_ptr_equal(cause.wait, late ? facts->waits : NULL);
        struct buf text = {0};
        cause_text(facts, &gap, &cause, &text);
        assert_int_equal(strstr(buf_text(&text), "event 5 of stream 13") != NULL, late);
        buf_free(&text);
        facts_free(facts);
        model_free(&s.m);
    }
}

/* A gap that a window cuts keeps the cause of the whole. */
static void test_cut_gap(void **state)
{
    (void)state;
    struct scene s;
    struct cause cause;
    scene_new(&s);
    call(&s, s.alloc, 1100, 1600);
    uint32_t launch = call(&s, s.launch, 1800, 1810);
    model_op(&s.m, s.stream, s.kernel, 2000, 2100, launch);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    struct busy *busy = busy_new(&s.m.trace, NULL, NULL);
    struct gaps gaps;
    const struct gaps_query query = {.device = TRACE_NONE, .begin_ns = 1200, .end_ns = 1300};
    assert_int_equal(gaps_find(&s.m.trace, busy, &query, &gaps, NULL), 0);
    assert_int_equal(gaps.count, 1);
    cause_of(facts, &gaps.list[0], &cause);
    assert_int_equal(cause.kind, CAUSE_ALLOC);
    gaps_free(&gaps);
    busy_free(busy);
    facts_free(facts);
    model_free(&s.m);
}

static void test_path_and_sums(void **state)
{
    (void)state;
    struct scene s;
    scene_new(&s);
    uint32_t step = model_name(&s.m, TRACE_NVTX_PUSHPOP, "step", "step");
    uint32_t forward = model_name(&s.m, TRACE_NVTX_PUSHPOP, "forward", "forward");
    s.m.names[forward].domain = "torch";
    s.m.names[forward].domain_len = 5;
    model_host(&s.m, TRACE_LANE_NVTX_PUSHPOP, s.thread, 0, step, 100, 3000);
    model_host(&s.m, TRACE_LANE_NVTX_PUSHPOP, s.thread, 1, forward, 1000, 1500);
    uint32_t launch = call(&s, s.launch, 1990, 1995);
    model_op(&s.m, s.stream, s.kernel, 2000, 2100, launch);
    launch = call(&s, s.launch, 2190, 2195);
    model_op(&s.m, s.stream, s.kernel, 2200, 2300, launch);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    struct busy *busy = busy_new(&s.m.trace, NULL, NULL);
    struct buf path = {0};
    nvtx_path_text(facts, s.thread, 1000, &path);
    assert_string_equal(buf_text(&path), "step > torch:forward");
    buf_reset(&path);
    nvtx_path_text(facts, s.thread, 1500, &path); /* half-open: forward is over */
    assert_string_equal(buf_text(&path), "step");
    buf_reset(&path);
    nvtx_path_text(facts, s.thread, 3000, &path);
    assert_string_equal(buf_text(&path), "");
    buf_free(&path);

    struct gaps gaps;
    const struct gaps_query query = {
        .device = TRACE_NONE, .begin_ns = INT64_MIN, .end_ns = INT64_MAX};
    assert_int_equal(gaps_find(&s.m.trace, busy, &query, &gaps, NULL), 0);
    struct cause *causes = causes_find(facts, &gaps, NULL);
    size_t count = 0;
    struct causes_sum *sums = causes_sum(facts, &gaps, causes, CAUSES_BY_NVTX, &count, NULL);
    assert_int_equal(count, 2);
    assert_string_equal(sums[0].name, "forward");
    assert_int_equal(sums[0].total_ns, 1000);
    assert_string_equal(sums[1].name, "step");
    assert_int_equal(sums[1].total_ns, 100);
    free(sums);
    sums = causes_sum(facts, &gaps, causes, CAUSES_BY_KIND, &count, NULL);
    assert_int_equal(count, 1);
    assert_int_equal(sums[0].count, 2);
    assert_int_equal(sums[0].total_ns, 1100);
    free(sums);
    free(causes);
    gaps_free(&gaps);
    busy_free(busy);
    facts_free(facts);
    model_free(&s.m);
}

/* Whatever the host did, the parts add up to the gap, and the names come in order of time. */
static void test_parts_add_up(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        struct scene s;
        scene_new(&s);
        const uint32_t names[] = {s.sync, s.copy, s.alloc, s.module, s.launch};
        uint32_t poll = model_name(&s.m, TRACE_OSRT_CALL, "poll", "poll");
        for (int64_t t = 700; t < 1900; t += 10) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int64_t ns = (int64_t)(seed >> 40) % 90;
            call(&s, names[(seed >> 33) % 5], t, t + ns);
            if ((seed >> 50) % 3 == 0) {
                model_host(&s.m, TRACE_LANE_OSRT, s.thread, 0, poll, t - 5, t + ns / 2);
            }
            t += ns;
        }
        int64_t begin_ns = 900 + (int64_t)(seed >> 35) % 1090;
        struct cause cause = solve(&s, begin_ns, begin_ns + (int64_t)(seed >> 45) % 300);
        int64_t all_ns = 0;
        for (int i = 0; i < CAUSE_PART_COUNT; i++) {
            assert_true(cause.part_ns[i] >= 0);
            all_ns += cause.part_ns[i];
        }
        assert_int_equal(all_ns, 1000);
        for (int i = 1; i < cause.name_count; i++) {
            assert_true(cause.names[i - 1].ns >= cause.names[i].ns);
        }
        model_free(&s.m);
    }
}

/* The range is that which covers half of the gap and begins last, not the one at its begin. */
static void test_range_of_gap(void **state)
{
    (void)state;
    static const struct {
        int64_t begin_ns;
        int64_t end_ns;
        const char *path;
    } cases[] = {
        {1010, 1990, "step > inner"}, /* most of it */
        {1400, 1900, "step > inner"}, /* exactly half */
        {1400, 1899, "step"}, /* less: the step covers all */
        {900, 1005, "step"}, /* open at its begin, and no more */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene s;
        scene_new(&s);
        uint32_t step = model_name(&s.m, TRACE_NVTX_PUSHPOP, "step", "step");
        uint32_t inner = model_name(&s.m, TRACE_NVTX_PUSHPOP, "inner", "inner");
        model_host(&s.m, TRACE_LANE_NVTX_PUSHPOP, s.thread, 0, step, 100, 3000);
        model_host(&s.m, TRACE_LANE_NVTX_PUSHPOP, s.thread, 1, inner, cases[i].begin_ns,
                   cases[i].end_ns);
        uint32_t launch = call(&s, s.launch, 1990, 1995);
        model_op(&s.m, s.stream, s.kernel, 2000, 2100, launch);
        model_build(&s.m);
        struct facts *facts = facts_new(&s.m.trace, NULL);
        const struct gap gap = {.begin_ns = 1000, .end_ns = 2000, .before = 0, .after = 1};
        struct cause cause;
        struct buf path = {0};
        cause_of(facts, &gap, &cause);
        cause_path(facts, &gap, &cause, &path);
        assert_string_equal(buf_text(&path), cases[i].path);
        buf_free(&path);
        facts_free(facts);
        model_free(&s.m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_launched_waits),
        cmocka_unit_test(test_slow_launch),
        cmocka_unit_test(test_host_calls),
        cmocka_unit_test(test_nested_calls_count_once),
        cmocka_unit_test(test_order_of_kinds),
        cmocka_unit_test(test_os_and_profiler),
        cmocka_unit_test(test_cpu_work),
        cmocka_unit_test(test_other_thread),
        cmocka_unit_test(test_pageable),
        cmocka_unit_test(test_stream_wait),
        cmocka_unit_test(test_cut_gap),
        cmocka_unit_test(test_path_and_sums),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_range_of_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
