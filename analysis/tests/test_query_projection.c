/* NVTX ranges where their GPU work ran: containment, devices, rows. */
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"
#include "analysis/timeline/projection.h"

/* The projection of a range on a device; zeros where there is none. */
static struct projected on(const struct projection *projection, uint32_t nvtx, uint32_t device)
{
    uint32_t count = 0;
    const uint32_t *list = projection_of(projection, nvtx, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (projection->list[list[i]].device == device) {
            return projection->list[list[i]];
        }
    }
    return (struct projected){.nvtx = TRACE_NONE};
}

struct world {
    struct model m;
    uint32_t thread;
    uint32_t helper;
    uint32_t s7;
    uint32_t s8;
    uint32_t far;
    uint32_t launch;
    uint32_t kernel;
    uint32_t range;
};

static struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct model *m = &w->m;
    uint32_t process = model_process(m, 42, "app");
    w->thread = model_thread(m, process, 42, "main");
    w->helper = model_thread(m, process, 43, "helper");
    uint32_t zero = model_device(m, 0);
    uint32_t one = model_device(m, 1);
    w->s7 = model_stream(m, zero, process, 1, 7);
    w->s8 = model_stream(m, zero, process, 1, 8);
    w->far = model_stream(m, one, process, 2, 7);
    w->launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    w->kernel = model_name(m, TRACE_KERNEL, "k", "k()");
    w->range = model_name(m, TRACE_NVTX_PUSHPOP, "r", "r");
    return w;
}

static uint32_t range(struct world *w, uint32_t depth, int64_t begin_ns, int64_t end_ns)
{
    return model_host(&w->m, TRACE_LANE_NVTX_PUSHPOP, w->thread, depth, w->range, begin_ns, end_ns);
}

static void launch(struct world *w, uint32_t thread, int64_t call_ns, uint32_t stream,
                   int64_t begin_ns, int64_t end_ns)
{
    uint32_t call = model_host(&w->m, TRACE_LANE_API, thread, 0, w->launch, call_ns, call_ns + 10);
    model_op(&w->m, stream, w->kernel, begin_ns, end_ns, call);
}

static void world_free(struct world *w)
{
    model_free(&w->m);
    free(w);
}

static void test_containment(void **state)
{
    struct world *w = world_new();
    (void)state;
    uint32_t outer = range(w, 0, 0, 100);
    uint32_t inner = range(w, 1, 20, 60);
    uint32_t empty = range(w, 1, 70, 75);
    launch(w, w->thread, 5, w->s7, 200, 210); /* outer alone */
    launch(w, w->thread, 20, w->s7, 220, 230); /* both: begins with inner */
    launch(w, w->thread, 40, w->s8, 215, 260); /* both */
    launch(w, w->thread, 55, w->s7, 300, 310); /* ends behind inner: outer alone */
    launch(w, w->thread, 90, w->far, 400, 410); /* ends with outer, another device */
    launch(w, w->thread, 101, w->s7, 500, 510); /* none */
    launch(w, w->helper, 30, w->s8, 600, 610); /* another thread */
    model_build(&w->m);
    struct projection *projection = projection_new(&w->m.trace, NULL);
    assert_non_null(projection);
    assert_int_equal(projection->count, 3);
    struct projected p = on(projection, model_at(&w->m, outer), 0);
    assert_int_equal(p.begin_ns, 200);
    assert_int_equal(p.end_ns, 310);
    assert_int_equal(p.ops, 4);
    assert_int_equal(p.launches, 4);
    assert_int_equal(p.row, 0);
    p = on(projection, model_at(&w->m, inner), 0);
    assert_int_equal(p.begin_ns, 215);
    assert_int_equal(p.end_ns, 260);
    assert_int_equal(p.ops, 2);
    assert_int_equal(p.row, 1);
    p = on(projection, model_at(&w->m, outer), 1);
    assert_int_equal(p.begin_ns, 400);
    assert_int_equal(p.row, 0);
    assert_int_equal(on(projection, model_at(&w->m, empty), 0).nvtx, TRACE_NONE);
    assert_int_equal(projection->lane_count, 3);
    assert_int_equal(projection_lower(projection, &projection->lanes[0], 310), 1);
    assert_int_equal(projection_lower(projection, &projection->lanes[0], 309), 0);
    projection_free(projection);
    world_free(w);
}

/* A graph launch with several ops is one launch. Work of one step runs into the next on another
 * stream: the projections of the steps overlap and get two rows. */
static void test_rows(void **state)
{
    struct world *w = world_new();
    (void)state;
    uint32_t first = range(w, 0, 0, 100);
    uint32_t second = range(w, 0, 100, 200);
    uint32_t third = range(w, 0, 200, 300);
    uint32_t call = model_host(&w->m, TRACE_LANE_API, w->thread, 0, w->launch, 10, 20);
    model_op(&w->m, w->s7, w->kernel, 30, 40, call);
    model_op(&w->m, w->s7, w->kernel, 40, 50, call);
    model_op(&w->m, w->s8, w->kernel, 30, 150, call);
    launch(w, w->thread, 110, w->s7, 130, 160);
    launch(w, w->thread, 210, w->s7, 230, 260);
    model_build(&w->m);
    struct projection *projection = projection_new(&w->m.trace, NULL);
    assert_non_null(projection);
    struct projected p = on(projection, model_at(&w->m, first), 0);
    assert_int_equal(p.ops, 3);
    assert_int_equal(p.launches, 1);
    assert_int_equal(p.row, 0);
    assert_int_equal(on(projection, model_at(&w->m, second), 0).row, 1);
    assert_int_equal(on(projection, model_at(&w->m, third), 0).row, 0);
    assert_int_equal(projection->lane_count, 2);
    assert_int_equal(projection->lanes[0].count, 2);
    projection_free(projection);
    world_free(w);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

/* Random nests against looking at every call for every range. */
static void test_slow_way(void **state)
{
    struct world *w = world_new();
    uint64_t seed = 3;
    (void)state;
    for (int64_t t = 0; t < 4000;) {
        int64_t len = 40 + (int64_t)(next(&seed) % 100);
        (void)range(w, 0, t, t + len);
        for (int64_t u = t; u < t + len - 20; u += 20) {
            (void)range(w, 1, u, u + 1 + (int64_t)(next(&seed) % 20));
        }
        t += len + (int64_t)(next(&seed) % 10);
    }
    int64_t busy_ns[3] = {0};
    for (int64_t t = 0; t < 4000; t += 11 + (int64_t)(next(&seed) % 30)) {
        int which = (int)(next(&seed) % 3);
        const uint32_t streams[3] = {w->s7, w->s8, w->far};
        int64_t begin_ns = (busy_ns[which] > t ? busy_ns[which] : t) + (int64_t)(next(&seed) % 9);
        busy_ns[which] = begin_ns + (int64_t)(next(&seed) % 40);
        launch(w, w->thread, t, streams[which], begin_ns, busy_ns[which]);
    }
    model_build(&w->m);
    const struct trace *trace = &w->m.trace;
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    const struct trace_events *api = &trace->events[TRACE_API];
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    struct projection *projection = projection_new(trace, NULL);
    uint32_t total = 0;
    assert_non_null(projection);
    for (uint32_t r = 0; r < nvtx->count; r++) {
        for (uint32_t d = 0; d < 2; d++) {
            struct projected want = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
            for (uint32_t i = 0; i < gpu->count; i++) {
                uint32_t call = gpu->link[i];
                uint32_t device = trace->lanes[trace_lane_of(trace, TRACE_GPU, i)].device;
                if (device != d || api->begin_ns[call] < nvtx->begin_ns[r] ||
                    api->end_ns[call] > nvtx->end_ns[r]) {
                    continue;
                }
                want.ops++;
                want.begin_ns = gpu->begin_ns[i] < want.begin_ns ? gpu->begin_ns[i] : want.begin_ns;
                want.end_ns = gpu->end_ns[i] > want.end_ns ? gpu->end_ns[i] : want.end_ns;
            }
            struct projected p = on(projection, r, d);
            assert_int_equal(p.ops, want.ops);
            if (want.ops == 0) {
                continue;
            }
            total++;
            assert_int_equal(p.begin_ns, want.begin_ns);
            assert_int_equal(p.end_ns, want.end_ns);
        }
    }
    assert_int_equal(projection->count, total);
    uint32_t in_lanes = 0;
    for (uint32_t l = 0; l < projection->lane_count; l++) {
        const struct projection_lane *lane = &projection->lanes[l];
        assert_int_equal(lane->first, in_lanes);
        in_lanes += lane->count;
        for (uint32_t i = lane->first + 1; i < lane->first + lane->count; i++) {
            assert_true(projection->list[i - 1].end_ns <= projection->list[i].begin_ns);
        }
    }
    assert_int_equal(in_lanes, total);
    projection_free(projection);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_containment),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_slow_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
