/* The hand-made cases of testdata/cases, and what a reader must make of each. */
#include "analysis/tests/sql_file.h"

static const struct trace_events *gpu_of(const struct trace *trace)
{
    return &trace->events[TRACE_GPU];
}

/* The name of an event. */
static const struct trace_name *name_at(const struct trace *trace, enum trace_table table,
                                        uint32_t index)
{
    return &trace->names[trace->events[table].name[index]];
}

/* The event of a table that bears the name; fails where there is not exactly one. */
static uint32_t event_named(const struct trace *trace, enum trace_table table, const char *full)
{
    uint32_t found = TRACE_NONE;
    for (uint32_t i = 0; i < trace->events[table].count; i++) {
        if (strcmp(name_at(trace, table, i)->full, full) == 0) {
            assert_int_equal(found, TRACE_NONE);
            found = i;
        }
    }
    assert_int_not_equal(found, TRACE_NONE);
    return found;
}

static void empty_capture_loads(void **state)
{
    struct trace *trace = sql_case_load("empty");
    (void)state;
    assert_int_equal(trace->lane_count, 0);
    assert_int_equal(trace->process_count, 0);
    assert_int_equal(trace->begin_ns, 0);
    assert_int_equal(trace->end_ns, 0);
    trace_free(trace);
}

static void api_calls_without_gpu_work(void **state)
{
    struct trace *trace = sql_case_load("api-only");
    (void)state;
    assert_int_equal(trace->counts.api_calls, 3);
    assert_int_equal(trace->counts.kernels, 0);
    assert_int_equal(trace->device_count, 0);
    assert_int_equal(trace->lane_count, 1);
    assert_string_equal(trace->threads[0].name, "probe");
    assert_string_equal(trace->processes[0].name, "probe"); /* by its first thread */
    trace_free(trace);
}

static void kernels_link_within_their_process(void **state)
{
    struct trace *trace = sql_case_load("two-processes");
    const struct trace_events *gpu = gpu_of(trace);
    (void)state;
    assert_int_equal(gpu->count, 4);
    assert_int_equal(trace->device_count, 2);
    assert_int_equal(trace->devices[0].id, 0);
    assert_int_equal(trace->devices[1].id, 3);
    assert_string_equal(trace->devices[1].name, "Model GPU B");
    assert_string_equal(trace->processes[1].name, "rank1");
    for (uint32_t i = 0; i < gpu->count; i++) {
        uint32_t api = gpu->link[i];
        uint32_t count;
        assert_int_not_equal(api, TRACE_NONE);
        const struct trace_lane *op_lane = &trace->lanes[trace_lane_of(trace, TRACE_GPU, i)];
        const struct trace_lane *api_lane = &trace->lanes[trace_lane_of(trace, TRACE_API, api)];
        assert_int_equal(op_lane->process, api_lane->process);
        assert_int_equal(op_lane->device, op_lane->process); /* rank 0 on GPU 0, 1 on GPU 3 */
        const uint32_t *ops = trace_ops_of(trace, api, &count);
        assert_int_equal(count, 1);
        assert_int_equal(ops[0], i);
    }
    assert_int_equal(trace->counts.unlinked, 0);
    trace_free(trace);
}

static void call_chain_duplicates_are_no_calls(void **state)
{
    struct trace *trace = sql_case_load("callchain");
    (void)state;
    assert_int_equal(trace->counts.api_calls, 2);
    assert_int_equal(trace->events[TRACE_API].count, 2);
    assert_string_equal(name_at(trace, TRACE_API, gpu_of(trace)->link[0])->full,
                        "cudaLaunchKernel_v7000");
    assert_string_equal(name_at(trace, TRACE_API, gpu_of(trace)->link[0])->brief,
                        "cudaLaunchKernel");
    trace_free(trace);
}

static void graph_launches_are_gpu_work(void **state)
{
    struct trace *trace = sql_case_load("graphs");
    const struct trace_events *gpu = gpu_of(trace);
    uint32_t count;
    uint32_t api = TRACE_NONE;
    (void)state;
    assert_int_equal(trace->counts.graph_launches, 3);
    assert_int_equal(trace->counts.kernels, 3);
    assert_int_equal(trace->counts.unlinked, 1); /* the device launched it */
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (name_at(trace, TRACE_GPU, i)->kind == TRACE_KERNEL) {
            assert_true(api == TRACE_NONE || gpu->link[i] == api);
            api = gpu->link[i];
        }
    }
    const uint32_t *ops = trace_ops_of(trace, api, &count);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(gpu->begin_ns[ops[i]], 42000 + (int64_t)i * 1000); /* by begin */
    }
    assert_string_equal(name_at(trace, TRACE_GPU, 0)->brief, "graph 5");
    /* Busy: 3000..13000, 22000..33000, 42000..48000, 60000..61000. */
    assert_int_equal(trace->devices[0].busy_count, 4);
    assert_int_equal(trace->devices[0].busy_sum_ns[4], 28000);
    assert_true((name_at(trace, TRACE_API, api)->api & TRACE_API_GRAPH) != 0);
    trace_free(trace);
}

static void migrations_have_their_own_lane(void **state)
{
    struct trace *trace = sql_case_load("unified-memory");
    const struct trace_events *gpu = gpu_of(trace);
    uint32_t i;
    uint32_t seen = 0;
    (void)state;
    assert_int_equal(trace->counts.memcpys, 3);
    assert_int_equal(trace->counts.unlinked, 0);
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        for (i = 0; lane->kind == TRACE_LANE_MIGRATION && i < lane->count; i++) {
            assert_int_equal(gpu->link[lane->first + i], TRACE_NONE);
            assert_int_equal(name_at(trace, TRACE_GPU, lane->first + i)->kind, TRACE_MIGRATION);
            assert_string_equal(trace_source_table(trace, TRACE_GPU, lane->first + i),
                                "CUPTI_ACTIVITY_KIND_MEMCPY");
            seen++;
        }
    }
    assert_int_equal(seen, 3);
    /* The call with the id 0 launched nothing. */
    i = event_named(trace, TRACE_API, "cudaMallocManaged_v6000");
    assert_int_equal(trace->events[TRACE_API].link[i], TRACE_NONE);
    trace_free(trace);
}

static void impossible_times_are_left_out(void **state)
{
    struct trace *trace = sql_case_load("times");
    (void)state;
    assert_int_equal(trace->counts.kernels, 9);
    assert_int_equal(trace->counts.untimed, 2);
    assert_int_equal(trace->counts.reversed, 1);
    assert_int_equal(gpu_of(trace)->count, 6);
    assert_int_equal(trace->begin_ns, -5000);
    assert_int_equal(trace->end_ns, 45000);
    assert_int_equal(trace->device_count, 2);
    assert_int_equal(trace->devices[0].lane_count, 3); /* three ops at the same time */
    assert_int_equal(trace->devices[1].id, 5);
    trace_free(trace);
}

static void open_ranges_end_at_the_last_nvtx_time(void **state)
{
    struct trace *trace = sql_case_load("nvtx-open");
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    (void)state;
    assert_int_equal(trace->counts.nvtx_ranges, 10);
    assert_int_equal(trace->counts.nvtx_marks, 2);
    assert_int_equal(trace->counts.open_ranges, 2);
    assert_int_equal(trace->nvtx_end_ns, 9000);
    uint32_t at = event_named(trace, TRACE_NVTX, "never popped");
    assert_int_equal(nvtx->end_ns[at], 9000);
    assert_true(trace_is_open(trace, at));
    at = event_named(trace, TRACE_NVTX, "never ended");
    assert_int_equal(nvtx->end_ns[at], 9000);
    assert_true(trace_is_open(trace, at));
    at = event_named(trace, TRACE_NVTX, "outer");
    assert_int_equal(nvtx->end_ns[at], 9000); /* ends there of its own */
    assert_false(trace_is_open(trace, at));
    assert_int_equal(name_at(trace, TRACE_NVTX, at)->color_argb, 4278190335U);
    trace_free(trace);
}

static void nvtx_texts_domains_and_threads(void **state)
{
    struct trace *trace = sql_case_load("nvtx-open");
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    uint32_t at = event_named(trace, TRACE_NVTX, "other domain");
    (void)state;
    assert_string_equal(name_at(trace, TRACE_NVTX, at)->domain, "Library");
    at = event_named(trace, TRACE_NVTX, "registered");
    assert_string_equal(name_at(trace, TRACE_NVTX, at)->domain, "");
    (void)event_named(trace, TRACE_NVTX, "textId:99");
    at = event_named(trace, TRACE_NVTX, "");
    assert_int_equal(nvtx->begin_ns[at], 7300);
    at = event_named(trace, TRACE_NVTX, "ended elsewhere");
    assert_true(trace_is_cross_thread(trace, at));
    assert_int_equal(trace->threads[trace->lanes[trace_lane_of(trace, TRACE_NVTX, at)].thread].tid,
                     101); /* where it began */
    at = event_named(trace, TRACE_NVTX, "same thread");
    assert_false(trace_is_cross_thread(trace, at));
    /* never popped > outer > registered > the crossing one of the other domain */
    at = event_named(trace, TRACE_NVTX, "other domain");
    assert_int_equal(trace->lanes[trace_lane_of(trace, TRACE_NVTX, at)].depth, 3);
    trace_free(trace);
}

static void the_oldest_layout_is_read(void **state)
{
    struct trace *trace = sql_case_load("layout-2020");
    (void)state;
    assert_int_equal(trace->process_count, 1); /* the kernel without one belongs to it */
    assert_int_equal(trace->processes[0].kernels, 2);
    assert_string_equal(trace->devices[0].name, "Model GPU 2020");
    assert_string_equal(name_at(trace, TRACE_GPU, 0)->full, "[CUDA memcpy HtoD]");
    assert_string_equal(name_at(trace, TRACE_GPU, 0)->brief, "HtoD");
    assert_string_equal(name_at(trace, TRACE_GPU, 1)->mangled, "saxpy(float)");
    assert_int_equal(trace->counts.unlinked, 1);
    trace_free(trace);
}

static void edited_files_are_read(void **state)
{
    struct trace *trace = sql_case_load("edited");
    const struct trace_events *gpu = gpu_of(trace);
    (void)state;
    assert_int_equal(gpu->count, 2);
    assert_int_equal(gpu->begin_ns[0], 3000);
    assert_int_equal(gpu->end_ns[0], 4000);
    assert_int_equal(trace->events[TRACE_API].end_ns[1], 6000);
    assert_int_not_equal(gpu->link[0], TRACE_NONE);
    trace_free(trace);
}

static void names_of_any_bytes_are_kept(void **state)
{
    struct trace *trace = sql_case_load("names");
    const struct trace_events *gpu = gpu_of(trace);
    (void)state;
    assert_int_equal(gpu->count, 12);
    assert_int_equal(name_at(trace, TRACE_GPU, 9)->full_len, 5 + 524288);
    assert_int_equal(name_at(trace, TRACE_GPU, 10)->full_len, 0);
    assert_string_equal(name_at(trace, TRACE_GPU, 11)->full, "kernel name:21");
    assert_int_equal(name_at(trace, TRACE_GPU, 4)->full_len, 10);
    assert_memory_equal(name_at(trace, TRACE_GPU, 4)->full, "nul\0inside", 10);
    trace_free(trace);
}

static void other_files_are_refused(void **state)
{
    static const struct {
        const char *name;
        const char *says;
    } others[] = {
        {"not-a-capture", "another program's database"},
        {"not-dlprof", "DLProf"},
        {"not-nvprof", "nvprof"},
        {"not-only-strings", "another program's database"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct sql_file file = {""};
        struct err err = {""};
        sql_case_path(others[i].name, &file);
        assert_null(trace_load(file.path, NULL, &err));
        assert_non_null(strstr(err.text, others[i].says));
        assert_null(strchr(err.text, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_capture_loads),
        cmocka_unit_test(api_calls_without_gpu_work),
        cmocka_unit_test(kernels_link_within_their_process),
        cmocka_unit_test(call_chain_duplicates_are_no_calls),
        cmocka_unit_test(graph_launches_are_gpu_work),
        cmocka_unit_test(migrations_have_their_own_lane),
        cmocka_unit_test(impossible_times_are_left_out),
        cmocka_unit_test(open_ranges_end_at_the_last_nvtx_time),
        cmocka_unit_test(nvtx_texts_domains_and_threads),
        cmocka_unit_test(the_oldest_layout_is_read),
        cmocka_unit_test(edited_files_are_read),
        cmocka_unit_test(names_of_any_bytes_are_kept),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
