/* Compute, communication, copies and idle: a case by hand, and every ns counted one by one. */
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"
#include "analysis/timeline/overlap.h"

static void test_classes(void **state)
{
    static const struct {
        enum trace_kind kind;
        const char *brief;
        int class;
    } cases[] = {
        {TRACE_KERNEL, "gemm", OVERLAP_COMPUTE},
        {TRACE_KERNEL, "ncclDevKernel_AllReduce", OVERLAP_COMMUNICATION},
        {TRACE_KERNEL, "NCCL_x", OVERLAP_COMMUNICATION},
        {TRACE_KERNEL, "ncc", OVERLAP_COMPUTE},
        {TRACE_KERNEL, "my_nccl", OVERLAP_COMPUTE},
        {TRACE_MEMCPY, "nccl", OVERLAP_COPY},
        {TRACE_MIGRATION, "HtoD", OVERLAP_COPY},
        {TRACE_MEMSET, "memset", OVERLAP_COMPUTE},
        {TRACE_GRAPH, "graph 5", OVERLAP_COMPUTE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_name name = {.kind = (uint8_t)cases[i].kind,
                                  .brief = cases[i].brief,
                                  .brief_len = (uint32_t)strlen(cases[i].brief)};
        assert_int_equal(overlap_class_of(&name), cases[i].class);
    }
}

/* gemm [10,30) nccl [20,50) copy [25,40) and [60,70); idle between. */
static void test_parts(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    (void)state;
    assert_non_null(m);
    uint32_t process = model_process(m, 1, "app");
    uint32_t device = model_device(m, 0);
    (void)model_device(m, 1);
    uint32_t gemm = model_name(m, TRACE_KERNEL, "gemm", "gemm");
    uint32_t nccl = model_name(m, TRACE_KERNEL, "ncclX", "ncclX");
    uint32_t copy = model_name(m, TRACE_MEMCPY, "HtoD", "copy");
    model_op(m, model_stream(m, device, process, 1, 1), gemm, 10, 30, TRACE_NONE);
    model_op(m, model_stream(m, device, process, 1, 2), nccl, 20, 50, TRACE_NONE);
    uint32_t s3 = model_stream(m, device, process, 1, 3);
    model_op(m, s3, copy, 25, 40, TRACE_NONE);
    model_op(m, s3, copy, 60, 70, TRACE_NONE);
    model_build(m);
    struct overlap *overlap = overlap_new(&m->trace, NULL, NULL);
    assert_non_null(overlap);
    struct overlap_sums sums = overlap_in(overlap, device, 0, 100);
    struct overlap_parts parts = overlap_parts(&sums);
    assert_int_equal(parts.compute_only_ns, 10);
    assert_int_equal(parts.both_ns, 10);
    assert_int_equal(parts.communication_only_ns, 20);
    assert_int_equal(parts.copy_only_ns, 10);
    assert_int_equal(parts.idle_ns, 50);
    sums = overlap_in(overlap, device, 27, 27);
    assert_int_equal(sums.ns[0], 0);
    sums = overlap_in(overlap, device, 27, 28);
    assert_int_equal(sums.ns[7], 1);
    sums = overlap_in(overlap, 1, 0, 100);
    assert_int_equal(sums.ns[0], 100);
    overlap_free(overlap);
    model_free(m);
    free(m);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

enum {
    SPAN = 6000
};

/* Paints each op ns by ns. */
static void paint(const struct trace *trace, const struct terms *terms, uint8_t *masks)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    memset(masks, 0, SPAN);
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (!terms_has(terms, TRACE_GPU, i)) {
            continue;
        }
        for (int64_t t = gpu->begin_ns[i]; t < gpu->end_ns[i]; t++) {
            masks[t] |= (uint8_t)overlap_class_of(&trace->names[gpu->name[i]]);
        }
    }
}

static void test_ns_by_ns(void **state)
{
    static const char *const filters[] = {"", "gemm|HtoD", "dur>5", "-stream:1"};
    struct model *m = calloc(1, sizeof *m);
    uint8_t *masks = malloc(SPAN);
    uint64_t seed = 11;
    (void)state;
    assert_non_null(m);
    assert_non_null(masks);
    uint32_t process = model_process(m, 1, "app");
    uint32_t device = model_device(m, 0);
    const uint32_t names[4] = {model_name(m, TRACE_KERNEL, "gemm", "gemm"),
                               model_name(m, TRACE_KERNEL, "ncclX", "ncclX"),
                               model_name(m, TRACE_MEMCPY, "HtoD", "copy"),
                               model_name(m, TRACE_MEMSET, "memset", "memset")};
    for (int s = 0; s < 4; s++) {
        uint32_t stream = model_stream(m, device, process, 1, s);
        for (int64_t t = 0; t < SPAN - 40;) {
            int64_t begin_ns = t + (int64_t)(next(&seed) % 12);
            t = begin_ns + (int64_t)(next(&seed) % 9);
            model_op(m, stream, names[next(&seed) % 4], begin_ns, t, TRACE_NONE);
        }
    }
    model_build(m);
    struct facts *facts = facts_new(&m->trace, NULL);
    for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++) {
        struct terms *terms =
            terms_new(facts, filters[f], strlen(filters[f]), TERMS_KINDS_GPU, NULL, NULL);
        struct overlap *overlap = overlap_new(&m->trace, terms, NULL);
        assert_non_null(overlap);
        paint(&m->trace, terms, masks);
        for (int round = 0; round < 200; round++) {
            int64_t begin_ns = (int64_t)(next(&seed) % SPAN);
            int64_t end_ns = begin_ns + (int64_t)(next(&seed) % (uint64_t)(SPAN - begin_ns));
            struct overlap_sums sums = overlap_in(overlap, device, begin_ns, end_ns);
            int64_t want[OVERLAP_MASKS] = {0};
            for (int64_t t = begin_ns; t < end_ns; t++) {
                want[masks[t]]++;
            }
            for (int mask = 0; mask < OVERLAP_MASKS; mask++) {
                assert_int_equal(sums.ns[mask], want[mask]);
            }
        }
        overlap_free(overlap);
        terms_free(terms);
    }
    facts_free(facts);
    free(masks);
    model_free(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_ns_by_ns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
