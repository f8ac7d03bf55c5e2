/* Lists by name in a window, instances of one name: against counting by hand and the slow way. */
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"
#include "analysis/timeline/lists.h"

/* Two streams, one thread: kernels a and b, one copy, calls. */
static void small(struct model *m, uint32_t *names)
{
    uint32_t process = model_process(m, 42, "app");
    uint32_t thread = model_thread(m, process, 42, "main");
    uint32_t device = model_device(m, 0);
    uint32_t s7 = model_stream(m, device, process, 1, 7);
    uint32_t s8 = model_stream(m, device, process, 1, 8);
    names[0] = model_name(m, TRACE_KERNEL, "b", "b()");
    names[1] = model_name(m, TRACE_KERNEL, "a", "a()");
    names[2] = model_name(m, TRACE_MEMCPY, "HtoD", "[CUDA memcpy Host-to-Device]");
    names[3] = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    names[4] = model_name(m, TRACE_NVTX_MARK, "mark", "mark");
    model_op(m, s7, names[0], 0, 100, TRACE_NONE);
    model_op(m, s7, names[1], 100, 110, TRACE_NONE);
    model_op(m, s7, names[0], 120, 150, TRACE_NONE);
    model_op(m, s8, names[2], 90, 130, TRACE_NONE);
    model_op(m, s8, names[1], 200, 260, TRACE_NONE);
    model_host(m, TRACE_LANE_API, thread, 0, names[3], 10, 20);
    model_host(m, TRACE_LANE_NVTX_MARK, thread, 0, names[4], 100, 100);
    model_build(m);
}

/* The row of a name, a row of zeros where the list has none. */
static const struct list_row *row_of(const struct list *list, uint32_t name)
{
    static const struct list_row NONE;
    for (size_t i = 0; i < list->count; i++) {
        if (list->rows[i].name == name) {
            return &list->rows[i];
        }
    }
    return &NONE;
}

static void test_all(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct list list = {0};
    uint32_t names[5];
    (void)state;
    assert_non_null(m);
    small(m, names);
    struct list_query query = LIST_QUERY(&m->trace);
    query.kinds = TERMS_KINDS_GPU;
    assert_int_equal(list_make(&query, &list, NULL), 0);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.events, 5);
    assert_int_equal(list.inside_ns, 100 + 10 + 30 + 40 + 60);
    const struct list_row *b = row_of(&list, names[0]);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->total_ns, 130);
    assert_int_equal(b->min_ns, 30);
    assert_int_equal(b->max_ns, 100);
    assert_int_equal(b->longest, 0);
    assert_int_equal(list_mean_ns(b), 65);
    assert_true(list_share(&list, b) > 54.16 && list_share(&list, b) < 54.17);
    list_sort(&m->trace, &list, LIST_TOTAL, true);
    assert_int_equal(list.rows[0].name, names[0]);
    assert_int_equal(list.rows[1].name, names[1]);
    assert_int_equal(list.rows[2].name, names[2]);
    list_sort(&m->trace, &list, LIST_NAME, false);
    assert_int_equal(list.rows[0].name, names[2]);
    assert_int_equal(list.rows[1].name, names[1]);
    list_sort(&m->trace, &list, LIST_MIN, false);
    assert_int_equal(list.rows[0].name, names[1]);
    list_free(&list);
    model_free(m);
    free(m);
}

/* Clipped parts, events without length at the edges, reuse of the same list. */
static void test_window(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct list list = {0};
    uint32_t names[5];
    (void)state;
    assert_non_null(m);
    small(m, names);
    struct list_query query = LIST_QUERY(&m->trace);
    query.begin_ns = 100;
    query.end_ns = 125;
    assert_int_equal(list_make(&query, &list, NULL), 0);
    assert_int_equal(list.count, 4);
    assert_int_equal(row_of(&list, names[0])->count, 1);
    assert_int_equal(row_of(&list, names[0])->total_ns, 30);
    assert_int_equal(row_of(&list, names[0])->inside_ns, 5);
    assert_int_equal(row_of(&list, names[2])->inside_ns, 25);
    assert_int_equal(row_of(&list, names[4])->count, 1);
    assert_int_equal(row_of(&list, names[3])->count, 0);
    query.begin_ns = 75;
    query.end_ns = 100;
    assert_int_equal(list_make(&query, &list, NULL), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(row_of(&list, names[0])->inside_ns, 25);
    assert_int_equal(row_of(&list, names[4])->count, 0);
    query.begin_ns = 300;
    query.end_ns = 400;
    assert_int_equal(list_make(&query, &list, NULL), 0);
    assert_int_equal(list.count, 0);
    list_free(&list);
    model_free(m);
    free(m);
}

static void test_instances(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct instances instances;
    uint32_t names[5];
    (void)state;
    assert_non_null(m);
    small(m, names);
    struct list_query query = LIST_QUERY(&m->trace);
    assert_int_equal(instances_make(&query, names[1], &instances, NULL), 0);
    assert_int_equal(instances.count, 2);
    assert_int_equal(instances.index[0], 1);
    assert_int_equal(instances.index[1], 4);
    assert_int_equal(instances.p50_ns, 10);
    assert_int_equal(instances.p99_ns, 60);
    assert_int_equal(instances.min_ns, 10);
    assert_int_equal(instances.total_ns, 70);
    assert_int_equal(instances.bins.bin[0], 1);
    instances_sort(&m->trace, &instances, true, true);
    assert_int_equal(instances.index[0], 4);
    instances_free(&instances);
    assert_int_equal(instances_make(&query, 9999, &instances, NULL), 0);
    assert_int_equal(instances.count, 0);
    instances_free(&instances);
    model_free(m);
    free(m);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

/* Random lanes and windows against a loop over every event. */
static void test_slow_way(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct list list = {0};
    uint64_t seed = 7;
    (void)state;
    assert_non_null(m);
    uint32_t process = model_process(m, 42, "app");
    uint32_t device[2] = {model_device(m, 0), model_device(m, 1)};
    for (int i = 0; i < 10; i++) {
        (void)model_name(m, TRACE_KERNEL, "k", "k");
    }
    for (int s = 0; s < 6; s++) {
        uint32_t stream = model_stream(m, device[s / 3], process, 1, s);
        int64_t t = 0;
        for (int i = 0; i < 300; i++) {
            int64_t begin_ns = t + (int64_t)(next(&seed) % 3);
            t = begin_ns + (int64_t)(next(&seed) % 20);
            model_op(m, stream, (uint32_t)(next(&seed) % 10), begin_ns, t, TRACE_NONE);
        }
    }
    model_build(m);
    const struct trace_events *gpu = &m->trace.events[TRACE_GPU];
    for (int round = 0; round < 200; round++) {
        struct list_query query = LIST_QUERY(&m->trace);
        query.begin_ns = (int64_t)(next(&seed) % 3500);
        query.end_ns = query.begin_ns + 1 + (int64_t)(next(&seed) % 400);
        query.device = round % 3 == 0 ? TRACE_NONE : (uint32_t)(round % 2);
        assert_int_equal(list_make(&query, &list, NULL), 0);
        for (uint32_t name = 0; name < 10; name++) {
            struct list_row want = {0};
            for (uint32_t i = 0; i < gpu->count; i++) {
                int64_t begin_ns = gpu->begin_ns[i];
                int64_t end_ns = gpu->end_ns[i];
                bool is_point = begin_ns == end_ns && begin_ns == query.begin_ns;
                if (gpu->name[i] != name || begin_ns >= query.end_ns ||
                    (end_ns <= query.begin_ns && !is_point)) {
                    continue;
                }
                if (query.device != TRACE_NONE && (i >= 900) != (query.device == 1)) {
                    continue;
                }
                want.count++;
                want.total_ns += end_ns - begin_ns;
                int64_t low = begin_ns > query.begin_ns ? begin_ns : query.begin_ns;
                want.inside_ns += (end_ns < query.end_ns ? end_ns : query.end_ns) - low;
            }
            const struct list_row *row = row_of(&list, name);
            assert_int_equal(row->count, want.count);
            assert_int_equal(row->total_ns, want.total_ns);
            assert_int_equal(row->inside_ns, want.inside_ns);
        }
    }
    list_free(&list);
    model_free(m);
    free(m);
}

static int length_cmp(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ranks of a few, of many equal and of widely spread durations against sorting. */
static void test_ranks(void **state)
{
    static const struct {
        uint32_t count;
        uint64_t spread;
    } cases[] = {{1, 10}, {2, 1000}, {3, 3}, {99, 1000000}, {100, 5}, {101, 1U << 30}, {2000, 100}};
    uint64_t seed = 21;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct model *m = calloc(1, sizeof *m);
        int64_t *lengths = calloc(cases[c].count, sizeof *lengths);
        struct instances instances;
        assert_non_null(m);
        assert_non_null(lengths);
        uint32_t process = model_process(m, 1, "app");
        uint32_t device = model_device(m, 0);
        const uint32_t streams[2] = {model_stream(m, device, process, 1, 7),
                                     model_stream(m, device, process, 1, 8)};
        uint32_t name = model_name(m, TRACE_KERNEL, "k", "k");
        for (uint32_t i = 0; i < cases[c].count; i++) {
            int64_t begin_ns = (int64_t)i << 32;
            lengths[i] = (int64_t)(next(&seed) % cases[c].spread);
            model_op(m, streams[next(&seed) % 2], name, begin_ns, begin_ns + lengths[i],
                     TRACE_NONE);
        }
        model_build(m);
        struct list_query query = LIST_QUERY(&m->trace);
        assert_int_equal(instances_make(&query, name, &instances, NULL), 0);
        assert_int_equal(instances.count, cases[c].count);
        const struct trace_events *gpu = &m->trace.events[TRACE_GPU];
        for (size_t i = 1; i < instances.count; i++) {
            assert_true(gpu->begin_ns[instances.index[i - 1]] < gpu->begin_ns[instances.index[i]]);
        }
        qsort(lengths, cases[c].count, sizeof *lengths, length_cmp);
        assert_int_equal(instances.p50_ns, lengths[(cases[c].count * 50 + 99) / 100 - 1]);
        assert_int_equal(instances.p90_ns, lengths[(cases[c].count * 90 + 99) / 100 - 1]);
        assert_int_equal(instances.p99_ns, lengths[(cases[c].count * 99 + 99) / 100 - 1]);
        instances_free(&instances);
        free(lengths);
        model_free(m);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),       cmocka_unit_test(test_window),
        cmocka_unit_test(test_instances), cmocka_unit_test(test_slow_way),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
