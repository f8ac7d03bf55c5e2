/*
 * Launch-bound zones, times of low utilisation, hidden copies and opaque graphs on hand-made and
 * random traces, against slow computations.
 */

#include "analysis/detect/density.h"
#include "analysis/detect/graph_opaque.h"
#include "analysis/detect/low_utilisation.h"
#include "analysis/detect/transfers.h"
#include "analysis/tests/model.h"

struct scene {
    struct model m;
    uint32_t stream;
    uint32_t copies;
    uint32_t thread;
    uint32_t kernel;
    uint32_t launch;
};

static void scene_new(struct scene *s)
{
    *s = (struct scene){0};
    uint32_t process = model_process(&s->m, 100, "app");
    uint32_t device = model_device(&s->m, 0);
    s->thread = model_thread(&s->m, process, 100, "app");
    s->stream = model_stream(&s->m, device, process, 1, 7);
    s->copies = model_stream(&s->m, device, process, 1, 9);
    s->kernel = model_name(&s->m, TRACE_KERNEL, "k", "k()");
    s->launch = model_call_name(&s->m, "cudaLaunchKernel", TRACE_API_LAUNCH);
}

/* A launch at t of 2 us, its op from begin on. */
static uint32_t launch(struct scene *s, int64_t t_ns, int64_t begin_ns, int64_t op_ns)
{
    uint32_t call = model_host(&s->m, TRACE_LANE_API, s->thread, 0, s->launch, t_ns, t_ns + 2000);
    return model_op(&s->m, s->stream, s->kernel, begin_ns, begin_ns + op_ns, call);
}

/* Small kernels, each started 1 us after its call: one launch in 20 us, busy 4 us. */
static int64_t bound(struct scene *s, int64_t t_ns, int count)
{
    for (int i = 0; i < count; i++, t_ns += 20000) {
        launch(s, t_ns, t_ns + 3000, 4000);
    }
    return t_ns;
}

/* Kernels that queue: launched far ahead, back to back. */
static int64_t queued(struct scene *s, int64_t t_ns, int count)
{
    int64_t begin_ns = t_ns + 200000;
    for (int i = 0; i < count; i++, begin_ns += 50000) {
        launch(s, t_ns + (int64_t)i * 3000, begin_ns, 50000);
    }
    return begin_ns;
}

static void test_zone(void **state)
{
    (void)state;
    static const struct {
        int count;
        uint32_t run;
        size_t zones;
    } cases[] = {
        {31, 32, 0}, {32, 32, 1}, {100, 32, 1}, {100, 101, 0}, {2, 2, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene s;
        struct density density;
        struct density_options options = density_defaults();
        scene_new(&s);
        bound(&s, 0, cases[i].count);
        model_build(&s.m);
        struct facts *facts = facts_new(&s.m.trace, NULL);
        options.run = cases[i].run;
        assert_int_equal(density_find(facts, &options, &density, NULL), 0);
        assert_int_equal(density.zone_count, cases[i].zones);
        assert_int_equal(density.series_count, 1);
        assert_int_equal(density.series[0].launches, cases[i].count);
        if (cases[i].zones > 0) {
            const struct density_zone *zone = &density.zones[0];
            assert_int_equal(zone->launches, cases[i].count);
            assert_int_equal(zone->interval_ns, 20000);
            assert_int_equal(zone->op_ns, 4000);
            assert_int_equal(zone->queue_ns, 1000);
            assert_int_equal(zone->begin_ns, 3000);
            assert_int_equal(zone->idle_ns, (int64_t)(cases[i].count - 1) * 16000);
            assert_int_equal(zone->busy_ns, (int64_t)cases[i].count * 4000);
        }
        density_free(&density);
        facts_free(facts);
        model_free(&s.m);
    }
}

/* Two zones with queued work between them; the edges that queued are not in them. */
static void test_two_zones(void **state)
{
    (void)state;
    struct scene s;
    struct density density;
    const struct density_options options = density_defaults();
    scene_new(&s);
    int64_t t_ns = queued(&s, 0, 100);
    int64_t first_ns = t_ns + 3000;
    t_ns = queued(&s, bound(&s, t_ns, 50), 200);
    bound(&s, t_ns, 40);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    assert_int_equal(density_find(facts, &options, &density, NULL), 0);
    assert_int_equal(density.zone_count, 2);
    assert_int_equal(density.zones[0].launches, 50);
    assert_int_equal(density.zones[0].begin_ns, first_ns);
    assert_int_equal(density.zones[1].launches, 40);
    density_free(&density);

    /* A window that holds the second alone. */
    struct density_options late = options;
    late.begin_ns = t_ns;
    assert_int_equal(density_find(facts, &late, &density, NULL), 0);
    assert_int_equal(density.zone_count, 1);
    assert_int_equal(density.zones[0].launches, 40);
    density_free(&density);
    facts_free(facts);
    model_free(&s.m);
}

/* The device keeps up but is busy: no zone. Another stream's work counts as busy. */
static void test_busy_is_no_zone(void **state)
{
    (void)state;
    struct scene s;
    struct density density;
    struct density_options options = density_defaults();
    scene_new(&s);
    int64_t end_ns = bound(&s, 0, 100);
    model_op(&s.m, s.copies, s.kernel, 0, end_ns * 79 / 100, TRACE_NONE);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    assert_int_equal(density_find(facts, &options, &density, NULL), 0);
    assert_int_equal(density.zone_count, 1); /* the rest, and what a window of it reaches */
    assert_true(density.zones[0].launches < 60);
    density_free(&density);
    options.busy_percent = 10.0; /* 20 % busy is not below it */
    assert_int_equal(density_find(facts, &options, &density, NULL), 0);
    assert_int_equal(density.zone_count, 0);
    density_free(&density);
    facts_free(facts);
    model_free(&s.m);
}

static void test_bad_options(void **state)
{
    (void)state;
    struct scene s;
    struct density density;
    struct lowuse lowuse;
    struct err err = {0};
    struct density_options options = density_defaults();
    struct lowuse_options low = lowuse_defaults();
    scene_new(&s);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    assert_int_equal(density_find(facts, &options, &density, &err), 0); /* nothing there */
    density_free(&density);
    options.run = 1;
    assert_int_equal(density_find(facts, &options, &density, &err), -1);
    assert_non_null(strstr(err.text, "2 or more"));
    low.window_ns = 0;
    assert_int_equal(lowuse_find(facts, &low, &lowuse, &err), -1);
    facts_free(facts);
    model_free(&s.m);
}

/* ---- low utilisation ---- */

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Is the time t in a low window, by trying every window of whole ns? */
static bool low_at(const struct facts *facts, const struct lowuse_options *options, int64_t first,
                   int64_t last, int64_t t)
{
    for (int64_t b = t - options->window_ns + 1; b <= t; b++) {
        if (b < first || b + options->window_ns > last) {
            continue;
        }
        int64_t busy_ns = facts_busy_ns(facts, 0, b, b + options->window_ns);
        if (100.0 * (double)busy_ns < options->percent * (double)options->window_ns) {
            return true;
        }
    }
    return false;
}

static void test_lowuse_random(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 40; round++) {
        struct scene s;
        struct lowuse lowuse;
        struct lowuse_options options = lowuse_defaults();
        int64_t t = (int64_t)(random_next(&seed) % 50);
        scene_new(&s);
        int64_t first = t;
        for (int i = 0; i < 30; i++) {
            int64_t ns = 1 + (int64_t)(random_next(&seed) % 30);
            model_op(&s.m, s.stream, s.kernel, t, t + ns, TRACE_NONE);
            t += ns + (int64_t)(random_next(&seed) % 20);
        }
        model_build(&s.m);
        int64_t last = s.m.trace.end_ns;
        struct facts *facts = facts_new(&s.m.trace, NULL);
        options.window_ns = 40;
        options.percent = 70.0;
        assert_int_equal(lowuse_find(facts, &options, &lowuse, NULL), 0);
        for (int64_t at = first; at < last; at++) {
            bool got = false;
            for (size_t i = 0; i < lowuse.count; i++) {
                got |= at >= lowuse.list[i].begin_ns && at < lowuse.list[i].end_ns;
            }
            assert_int_equal(got, low_at(facts, &options, first, last, at));
        }
        for (size_t i = 0; i < lowuse.count; i++) {
            const struct lowuse_zone *zone = &lowuse.list[i];
            assert_int_equal(zone->busy_ns, facts_busy_ns(facts, 0, zone->begin_ns, zone->end_ns));
            assert_true(zone->begin_ns >= first && zone->end_ns <= last);
        }
        lowuse_free(&lowuse);
        facts_free(facts);
        model_free(&s.m);
    }
}

/* Shorter than a window: the whole span is one. */
static void test_lowuse_short(void **state)
{
    (void)state;
    struct scene s;
    struct lowuse lowuse;
    const struct lowuse_options options = lowuse_defaults();
    scene_new(&s);
    model_op(&s.m, s.stream, s.kernel, 1000, 2000, TRACE_NONE);
    model_op(&s.m, s.stream, s.kernel, 3000, 4000, TRACE_NONE);
    model_build(&s.m);
    struct facts *facts = facts_new(&s.m.trace, NULL);
    assert_int_equal(lowuse_find(facts, &options, &lowuse, NULL), 0);
    assert_int_equal(lowuse.count, 1);
    assert_int_equal(lowuse.list[0].begin_ns, 1000);
    assert_int_equal(lowuse.list[0].end_ns, 4000);
    assert_int_equal(lowuse.list[0].busy_ns, 2000);
    lowuse_free(&lowuse);
    facts_free(facts);
    model_free(&s.m);
}

/* ---- copies and graphs ---- */

static void test_transfers(void **state)
{
    (void)state;
    struct scene s;
    struct transfers transfers;
    scene_new(&s);
    uint32_t up = model_name(&s.m, TRACE_MEMCPY, "HtoD", "[CUDA memcpy HtoD]");
    uint32_t within = model_name(&s.m, TRACE_MEMCPY, "DtoD", "[CUDA memcpy DtoD]");
    s.m.names[up].copy_kind = 1;
    s.m.names[within].copy_kind = 8;
    model_op(&s.m, s.stream, s.kernel, 1000, 2000, TRACE_NONE);
    model_op(&s.m, s.stream, s.kernel, 2500, 3000, TRACE_NONE);
    model_op(&s.m, s.copies, up, 900, 1100, TRACE_NONE); /* half hidden */
    model_op(&s.m, s.copies, up, 1200, 1300, TRACE_NONE); /* hidden */
    model_op(&s.m, s.copies, up, 1900, 2600, TRACE_NONE); /* hidden but for 500 */
    model_op(&s.m, s.copies, within, 2600, 3300, TRACE_NONE); /* 300 exposed */
    model_build(&s.m);
    struct shared *shared = shared_new(&s.m.trace, NULL);
    struct transfers_options options = {
        .max_bytes = INT64_MAX, .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .device = TRACE_NONE};
    assert_int_equal(transfers_find(shared, &options, &transfers, NULL), 0);
    assert_int_equal(transfers.count, 2);
    assert_int_equal(transfers.list[0].name, up);
    assert_int_equal(transfers.list[0].count, 3);
    assert_int_equal(transfers.list[0].total_ns, 1000);
    assert_int_equal(transfers.list[0].hidden_ns, 400);
    assert_int_equal(transfers.list[0].longest_exposed_ns, 500);
    assert_int_equal(transfers.list[0].bytes, -1); /* unknown, not 0 */
    assert_int_equal(transfers.list[1].total_ns - transfers.list[1].hidden_ns, 300);
    transfers_free(&transfers);
    /* Time with nothing but copies between memories: 900..1000 and 2000..2500. */
    assert_int_equal(transfers_exposed_ns(shared, 0, INT64_MIN, INT64_MAX), 600);
    options.max_bytes = 100; /* of unknown size: none is known to be small */
    assert_int_equal(transfers_find(shared, &options, &transfers, NULL), 0);
    assert_int_equal(transfers.count, 0);
    transfers_free(&transfers);
    shared_free(shared);
    model_free(&s.m);
}

static void test_opaque(void **state)
{
    (void)state;
    struct scene s;
    size_t count = 0;
    scene_new(&s);
    uint32_t five = model_name(&s.m, TRACE_GRAPH, "graph 5", "graph 5");
    uint32_t six = model_name(&s.m, TRACE_GRAPH, "graph 6", "graph 6");
    model_op(&s.m, s.stream, five, 0, 100, TRACE_NONE);
    model_op(&s.m, s.stream, six, 200, 450, TRACE_NONE);
    model_op(&s.m, s.stream, five, 500, 620, TRACE_NONE);
    model_op(&s.m, s.stream, s.kernel, 700, 1000, TRACE_NONE);
    model_build(&s.m);
    struct opaque_graph *graphs = opaque_find(&s.m.trace, INT64_MIN, INT64_MAX, &count, NULL);
    assert_int_equal(count, 2);
    assert_int_equal(graphs[0].name, six);
    assert_int_equal(graphs[0].total_ns, 250);
    assert_int_equal(graphs[1].launches, 2);
    assert_int_equal(graphs[1].total_ns, 220);
    assert_int_equal(graphs[1].longest_ns, 120);
    free(graphs);
    graphs = opaque_find(&s.m.trace, 650, INT64_MAX, &count, NULL);
    assert_int_equal(count, 0);
    free(graphs);
    model_free(&s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zone),
        cmocka_unit_test(test_two_zones),
        cmocka_unit_test(test_busy_is_no_zone),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_lowuse_random),
        cmocka_unit_test(test_lowuse_short),
        cmocka_unit_test(test_transfers),
        cmocka_unit_test(test_opaque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
