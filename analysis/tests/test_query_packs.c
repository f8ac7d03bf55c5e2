/* Packing of near-empty streams: nothing is lost, nothing overlaps, no row too many. */
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"
#include "analysis/timeline/packing.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

/* Many streams with a few ops each. */
static struct model *scattered(uint32_t streams, uint32_t ops, uint64_t seed, int64_t spread)
{
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    uint32_t process = model_process(m, 42, "app");
    uint32_t device = model_device(m, 0);
    uint32_t name = model_name(m, TRACE_KERNEL, "k", "k()");
    for (uint32_t s = 0; s < streams; s++) {
        uint32_t stream = model_stream(m, device, process, 1, s);
        int64_t t = (int64_t)(next(&seed) % (uint64_t)spread);
        for (uint32_t i = 0; i < ops; i++) {
            int64_t begin_ns = t + (int64_t)(next(&seed) % 50);
            t = begin_ns + (int64_t)(next(&seed) % 20);
            model_op(m, stream, name, begin_ns, t, TRACE_NONE);
            t += t == begin_ns ? 1 : 0;
        }
    }
    model_build(m);
    return m;
}

/* The most ops that run at one time: no packing can need fewer rows. */
static uint32_t most_at_once(const struct trace *trace)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t most = 0;
    for (uint32_t i = 0; i < gpu->count; i++) {
        uint32_t running = 0;
        for (uint32_t k = 0; k < gpu->count; k++) {
            int64_t end_ns =
                gpu->end_ns[k] > gpu->begin_ns[k] ? gpu->end_ns[k] : gpu->end_ns[k] + 1;
            running += gpu->begin_ns[k] <= gpu->begin_ns[i] && end_ns > gpu->begin_ns[i] ? 1 : 0;
        }
        most = running > most ? running : most;
    }
    return most;
}

static void check_packs(const struct trace *trace, const struct packs *packs)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    unsigned char *seen = calloc(gpu->count + 1, 1);
    assert_non_null(seen);
    assert_int_equal(packs->row_first[0], 0);
    assert_int_equal(packs->row_first[packs->row_count], packs->count);
    for (uint32_t r = 0; r < packs->row_count; r++) {
        assert_true(packs->row_first[r] < packs->row_first[r + 1]);
        for (uint32_t i = packs->row_first[r]; i < packs->row_first[r + 1]; i++) {
            uint32_t index = packs->index[i];
            const struct trace_lane *lane = &trace->lanes[packs->lane[i]];
            assert_int_equal(seen[index], 0);
            seen[index] = 1;
            assert_int_equal(packs->begin_ns[i], gpu->begin_ns[index]);
            assert_int_equal(packs->end_ns[i], gpu->end_ns[index]);
            assert_int_equal(packs->name[i], gpu->name[index]);
            assert_true(index >= lane->first && index < lane->first + lane->count);
            if (i > packs->row_first[r]) {
                assert_true(packs->end_ns[i - 1] <= packs->begin_ns[i] &&
                            packs->begin_ns[i - 1] < packs->begin_ns[i]);
            }
        }
    }
    free(seen);
}

static void test_random(void **state)
{
    static const struct {
        uint32_t streams;
        uint32_t ops;
        int64_t spread;
    } cases[] = {{1, 40, 10}, {200, 3, 4000}, {60, 10, 10}, {30, 1, 1}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct model *m = scattered(cases[c].streams, cases[c].ops, 5 + c, cases[c].spread);
        uint32_t lanes[512];
        struct packs packs;
        for (uint32_t l = 0; l < m->trace.lane_count; l++) {
            lanes[l] = l;
        }
        assert_int_equal(packs_make(&m->trace, lanes, m->trace.lane_count, &packs, NULL), 0);
        assert_int_equal(packs.count, cases[c].streams * cases[c].ops);
        check_packs(&m->trace, &packs);
        assert_int_equal(packs.row_count, most_at_once(&m->trace));
        packs_free(&packs);
        model_free(m);
        free(m);
    }
}

static void test_none(void **state)
{
    struct model *m = scattered(2, 2, 1, 10);
    struct packs packs;
    (void)state;
    assert_int_equal(packs_make(&m->trace, NULL, 0, &packs, NULL), 0);
    assert_int_equal(packs.row_count, 0);
    assert_int_equal(packs.count, 0);
    packs_free(&packs);
    model_free(m);
    free(m);
}

static void test_pick(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    bool pick[32];
    (void)state;
    assert_non_null(m);
    uint32_t process = model_process(m, 42, "app");
    uint32_t device = model_device(m, 0);
    uint32_t name = model_name(m, TRACE_KERNEL, "k", "k()");
    /* Two streams that work and ten that hardly do. */
    for (uint32_t s = 0; s < 12; s++) {
        uint32_t stream = model_stream(m, device, process, 1, s);
        for (int64_t i = 0; i < (s < 2 ? 100 : 2); i++) {
            model_op(m, stream, name, i * 100, i * 100 + 50, TRACE_NONE);
        }
    }
    model_build(m);
    struct packs_rule rule = {.streams_above = 8, .ops_below = 10, .busy_below = 0.0};
    assert_int_equal(packs_pick(&m->trace, device, process, &rule, pick), 10);
    for (uint32_t l = 0; l < 12; l++) {
        assert_int_equal(pick[l], l >= 2);
    }
    rule.streams_above = 12;
    assert_int_equal(packs_pick(&m->trace, device, process, &rule, pick), 0);
    rule = (struct packs_rule){.streams_above = 8, .ops_below = 0, .busy_below = 2.0};
    assert_int_equal(packs_pick(&m->trace, device, TRACE_NONE, &rule, pick), 10);
    rule.busy_below = 0.0;
    assert_int_equal(packs_pick(&m->trace, device, process, &rule, pick), 0);
    model_free(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_pick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
