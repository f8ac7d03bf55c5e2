/* A span of one device: its parts agree with each other and with counting by hand. */
#include "analysis/detect/measure.h"
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"

struct world {
    struct model m;
    struct facts *facts;
    struct busy *busy;
    struct overlap *overlap;
    uint32_t gemm;
    uint32_t sync;
};

/* gemm [100,200) copy [150,250), then the host waits until 400, gemm [500,600); another device. */
static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct model *m = &w->m;
    uint32_t process = model_process(m, 1, "app");
    uint32_t thread = model_thread(m, process, 1, "main");
    uint32_t zero = model_device(m, 0);
    uint32_t one = model_device(m, 1);
    uint32_t s7 = model_stream(m, zero, process, 1, 7);
    uint32_t s8 = model_stream(m, zero, process, 1, 8);
    uint32_t far = model_stream(m, one, process, 2, 7);
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t step = model_name(m, TRACE_NVTX_PUSHPOP, "step", "step");
    uint32_t copy = model_name(m, TRACE_MEMCPY, "HtoD", "copy");
    w->sync = model_call_name(m, "cudaStreamSynchronize", TRACE_API_SYNC);
    w->gemm = model_name(m, TRACE_KERNEL, "gemm", "gemm()");
    uint32_t a = model_host(m, TRACE_LANE_API, thread, 0, launch, 10, 20);
    uint32_t b = model_host(m, TRACE_LANE_API, thread, 0, launch, 30, 40);
    model_host(m, TRACE_LANE_API, thread, 0, w->sync, 50, 450);
    uint32_t c = model_host(m, TRACE_LANE_API, thread, 0, launch, 460, 470);
    model_op(m, s7, w->gemm, 100, 200, a);
    model_op(m, s8, copy, 150, 250, b);
    model_op(m, s7, w->gemm, 500, 600, c);
    model_op(m, far, w->gemm, 0, 1000, TRACE_NONE);
    model_host(m, TRACE_LANE_NVTX_PUSHPOP, thread, 0, step, 0, 480);
    model_build(m);
    w->facts = facts_new(&m->trace, NULL);
    w->busy = busy_new(&m->trace, NULL, NULL);
    w->overlap = overlap_new(&m->trace, NULL, NULL);
    assert_true(w->facts != NULL && w->busy != NULL && w->overlap != NULL);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    overlap_free(w->overlap);
    busy_free(w->busy);
    facts_free(w->facts);
    model_free(&w->m);
    free(w);
    return 0;
}

static struct measure_query query_of(const struct world *w, int64_t a_ns, int64_t b_ns)
{
    return (struct measure_query){.facts = w->facts,
                                  .busy = w->busy,
                                  .overlap = w->overlap,
                                  .device = 0,
                                  .begin_ns = a_ns,
                                  .end_ns = b_ns};
}

static void test_whole(void **state)
{
    const struct world *w = *state;
    struct measure_query query = query_of(w, 600, 100); /* B before A */
    struct measure m = {0};
    assert_int_equal(measure_make(&query, &m, NULL), 0);
    assert_int_equal(m.begin_ns, 100);
    assert_int_equal(m.busy_ns, 250);
    assert_int_equal(m.idle_ns, 250);
    assert_true(m.busy_percent == 50.0);
    assert_int_equal(m.ops, 3);
    assert_int_equal(m.gpu.rows[0].name, w->gemm);
    assert_int_equal(m.gpu.rows[0].count, 2);
    assert_int_equal(m.gpu.rows[0].inside_ns, 200);
    assert_int_equal(m.api.rows[0].name, w->sync);
    assert_int_equal(m.api.rows[0].inside_ns, 350);
    assert_int_equal(m.nvtx.count, 1);
    assert_int_equal(m.parts.compute_only_ns, 200);
    assert_int_equal(m.parts.copy_only_ns, 50);
    assert_int_equal(m.parts.idle_ns, 250);
    assert_int_equal(m.gaps.count, 1);
    assert_int_equal(m.gaps.list[0].begin_ns, 250);
    assert_int_equal(m.gaps.list[0].end_ns, 500);
    assert_int_equal(m.causes[0].kind, CAUSE_SYNC);
    assert_int_equal(m.kind_count, 1);
    assert_int_equal(m.by_kind[0].total_ns, 250);
    /* The same memory again: a span within the gap, one without any gap, an empty one. */
    query.begin_ns = 300;
    query.end_ns = 400;
    assert_int_equal(measure_make(&query, &m, NULL), 0);
    assert_int_equal(m.busy_ns, 0);
    assert_int_equal(m.ops, 0);
    assert_int_equal(m.gaps.count, 1);
    assert_int_equal(m.gaps.all_ns, 100);
    query.begin_ns = 120;
    query.end_ns = 180;
    assert_int_equal(measure_make(&query, &m, NULL), 0);
    assert_int_equal(m.busy_ns, 60);
    assert_int_equal(m.gaps.count, 0);
    assert_int_equal(m.kind_count, 0);
    assert_int_equal(m.gpu.count, 2);
    query.end_ns = 120;
    assert_int_equal(measure_make(&query, &m, NULL), 0);
    assert_int_equal(m.busy_ns, 0);
    assert_true(m.busy_percent == 0.0);
    measure_free(&m);
}

/* With a filter all numbers are of what it keeps. */
static void test_filtered(void **state)
{
    const struct world *w = *state;
    struct measure_query query = query_of(w, 0, 600);
    struct measure m = {0};
    struct terms *terms = terms_new(w->facts, "kind:copy", 9, TERMS_KINDS_GPU, NULL, NULL);
    struct busy *busy = terms_busy(NULL, &w->m.trace, terms, NULL);
    struct overlap *overlap = overlap_new(&w->m.trace, terms, NULL);
    query.terms = terms;
    query.busy = busy;
    query.overlap = overlap;
    assert_int_equal(measure_make(&query, &m, NULL), 0);
    assert_int_equal(m.ops, 1);
    assert_int_equal(m.busy_ns, 100);
    assert_int_equal(m.parts.copy_only_ns, 100);
    assert_int_equal(m.parts.compute_only_ns, 0);
    assert_int_equal(m.gaps.count, 0);
    measure_free(&m);
    overlap_free(overlap);
    busy_free(busy);
    terms_free(terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_filtered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
