/* Loading as a whole: what is promised of lanes and links, the same result however the file is cut
 * and with any number of threads, unusual files. */
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/tests/sql_file.h"
#include "analysis/trace/loader.h"
#include "testdata/gen.h"

static int64_t begin_of(const struct trace *trace, enum trace_table table, uint32_t i)
{
    return trace->events[table].begin_ns[i];
}

/* What trace.h promises of lanes. */
static void check_lanes(const struct trace *trace)
{
    uint32_t next[TRACE_TABLE_COUNT] = {0};
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        const struct trace_events *events = &trace->events[lane->table];
        assert_true(lane->count > 0);
        assert_int_equal(lane->first, next[lane->table]);
        next[lane->table] += lane->count;
        assert_true(lane->process < trace->process_count);
        assert_true((lane->table == TRACE_GPU) == (lane->thread == TRACE_NONE));
        assert_int_equal(trace_lane_of(trace, lane->table, lane->first), l);
        assert_int_equal(trace_lane_of(trace, lane->table, lane->first + lane->count - 1), l);
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            assert_true(events->begin_ns[i] <= events->end_ns[i]);
            assert_true(events->name[i] < trace->name_count);
            assert_true(i == lane->first || events->begin_ns[i] >= events->end_ns[i - 1] ||
                        lane->kind == TRACE_LANE_NVTX_MARK);
        }
        assert_int_equal(trace_lane_lower(trace, lane, INT64_MIN), lane->first);
        assert_int_equal(trace_lane_lower(trace, lane, INT64_MAX), lane->first + lane->count);
    }
    for (uint32_t i = 0; i < TRACE_TABLE_COUNT; i++) {
        assert_int_equal(next[i], trace->events[i].count);
    }
}

static void check_links(const struct trace *trace)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    uint32_t linked = 0;
    for (uint32_t i = 0; i < api->count; i++) {
        uint32_t count;
        const uint32_t *ops = trace_ops_of(trace, i, &count);
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(gpu->link[ops[k]], i);
            assert_true(k == 0 || begin_of(trace, TRACE_GPU, ops[k - 1]) <=
                                      begin_of(trace, TRACE_GPU, ops[k]));
        }
        linked += count;
    }
    assert_int_equal(linked, trace->launch_op_count);
    for (uint32_t i = 0; i < gpu->count; i++) {
        linked -= gpu->link[i] != TRACE_NONE;
    }
    assert_int_equal(linked, 0);
}

static void check_equal(const struct trace *a, const struct trace *b)
{
    assert_int_equal(a->lane_count, b->lane_count);
    for (uint32_t i = 0; i < a->lane_count; i++) {
        const struct trace_lane *x = &a->lanes[i];
        const struct trace_lane *y = &b->lanes[i];
        assert_true(x->kind == y->kind && x->table == y->table && x->depth == y->depth);
        assert_true(x->first == y->first && x->count == y->count && x->process == y->process);
        assert_true(x->thread == y->thread && x->device == y->device);
        assert_true(x->context_id == y->context_id && x->stream_id == y->stream_id);
    }
    assert_int_equal(a->name_count, b->name_count);
    for (uint32_t i = 0; i < a->name_count; i++) {
        assert_string_equal(a->names[i].full, b->names[i].full);
        assert_int_equal(a->names[i].kind, b->names[i].kind);
    }
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        const struct trace_events *x = &a->events[t];
        const struct trace_events *y = &b->events[t];
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->begin_ns, y->begin_ns, x->count * sizeof *x->begin_ns);
        assert_memory_equal(x->end_ns, y->end_ns, x->count * sizeof *x->end_ns);
        assert_memory_equal(x->name, y->name, x->count * sizeof *x->name);
        assert_memory_equal(x->row, y->row, x->count * sizeof *x->row);
        if (x->link != NULL) {
            assert_memory_equal(x->link, y->link, x->count * sizeof *x->link);
        }
    }
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_int_equal(a->process_count, b->process_count);
    assert_int_equal(a->thread_count, b->thread_count);
}

static void generate(const struct sql_file *file)
{
    struct gen_options options = GEN_DEFAULTS;
    struct err err = {""};
    options.devices = 2;
    options.steps = 3;
    options.overwrite = true;
    if (gen_capture(&options, file->path, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void cutting_and_threads_change_nothing(void **state)
{
    static const struct trace_options ways[] = {
        {.threads = 1, .piece_rows = 1 << 20},
        {.threads = 1, .piece_rows = 7},
        {.threads = 2, .piece_rows = 100},
        {.threads = 5, .piece_rows = 1},
    };
    struct sql_file file = {""};
    (void)state;
    sql_file_new(&file);
    generate(&file);
    struct trace *first = sql_file_load(&file, &ways[0]);
    check_lanes(first);
    check_links(first);
    assert_true(first->events[TRACE_GPU].count > 100);
    for (size_t i = 1; i < sizeof ways / sizeof ways[0]; i++) {
        struct trace *trace = sql_file_load(&file, &ways[i]);
        check_equal(first, trace);
        trace_free(trace);
    }
    trace_free(first);
    sql_file_remove(&file);
}

static void the_cases_keep_the_promises(void **state)
{
    static const char *const cases[] = {"api-only", "callchain", "edited",        "empty",
                                        "graphs",   "names",     "layout-2020",   "no-cuda",
                                        "times",    "nvtx-open", "two-processes", "unified-memory"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace *trace = sql_case_load(cases[i]);
        check_lanes(trace);
        check_links(trace);
        trace_free(trace);
    }
}

static const char HOST[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (0, 'zero'), (1, 'one'), (2, ''), (3, 'cudaLaunchKernel');"
    "CREATE TABLE ThreadNames(nameId, priority, globalTid);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,"
    " globalPid, demangledName, shortName);";

/* HOST and more SQL. */
static struct trace *load_host(const char *more)
{
    struct sql_file file = {""};
    sql_file_new(&file);
    sql_file_run(&file, HOST);
    sql_file_run(&file, more);
    struct trace *trace = sql_file_load(&file, NULL);
    sql_file_remove(&file);
    return trace;
}

static void the_outermost_of_two_calls_with_an_id_launches(void **state)
{
    struct trace *trace = load_host(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 30, 5 << 24 | 6, 4, 3),"
        " (10, 40, 5 << 24 | 6, 4, 3);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 4, 5 << 24, 0, 0);");
    (void)state;
    assert_int_equal(begin_of(trace, TRACE_API, trace->events[TRACE_GPU].link[0]), 10);
    assert_string_equal(trace->names[trace->events[TRACE_GPU].name[0]].full, "zero");
    trace_free(trace);
}

static void scattered_correlation_ids_link(void **state)
{
    struct trace *trace = load_host(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 6, 4000000000, 3),"
        " (12, 13, 5 << 24 | 6, 1, 3), (14, 15, 5 << 24 | 6, 2000000000, 3),"
        " (16, 17, 5 << 24 | 6, -1, 3), (18, 19, 5 << 24 | 6, 1 << 40, 3);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 2000000000, 5 << 24, 1, 1),"
        " (60, 70, 0, 7, 4000000000, 5 << 24, 1, 1), (70, 80, 0, 7, 3, 5 << 24, 1, 1),"
        " (80, 90, 0, 7, -1, 5 << 24, 1, 1), (90, 95, 0, 7, 1 << 40, 5 << 24, 1, 1);");
    const uint32_t *link = trace->events[TRACE_GPU].link;
    (void)state;
    assert_int_equal(begin_of(trace, TRACE_API, link[0]), 14);
    assert_int_equal(begin_of(trace, TRACE_API, link[1]), 10);
    assert_int_equal(link[2], TRACE_NONE);
    assert_int_equal(link[3], TRACE_NONE);
    assert_int_equal(link[4], TRACE_NONE);
    assert_int_equal(trace->counts.unlinked, 3);
    trace_free(trace);
}

/* Ids begin anew after exec: the recorder puts the number of the image into the bits from 32 up. */
static void later_images_of_a_process_link(void **state)
{
    struct trace *trace = load_host(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 6, 1, 3),"
        " (12, 13, 5 << 24 | 6, 1 << 32 | 1, 3), (14, 15, 5 << 24 | 6, 2 << 32 | 1, 3);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 1, 5 << 24, 1, 1),"
        " (60, 70, 0, 7, 1 << 32 | 1, 5 << 24, 1, 1), (70, 80, 0, 7, 2 << 32 | 1, 5 << 24, 1, 1);");
    const uint32_t *link = trace->events[TRACE_GPU].link;
    (void)state;
    assert_int_equal(begin_of(trace, TRACE_API, link[0]), 10);
    assert_int_equal(begin_of(trace, TRACE_API, link[1]), 12);
    assert_int_equal(begin_of(trace, TRACE_API, link[2]), 14);
    trace_free(trace);
}

static void ops_without_a_process_link_where_one_call_fits(void **state)
{
    struct trace *trace =
        load_host("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 6, 1, 3),"
                  " (12, 13, 6 << 24 | 6, 1, 3), (14, 15, 6 << 24 | 6, 2, 3);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 7, 1, NULL, 1, 1),"
                  " (60, 70, 0, 7, 2, NULL, 1, 1);");
    const uint32_t *link = trace->events[TRACE_GPU].link;
    (void)state;
    assert_int_equal(trace->process_count, 3);
    assert_int_equal(trace->processes[0].global_pid, 0);
    assert_int_equal(link[0], TRACE_NONE); /* two processes have a call 1 */
    assert_int_equal(begin_of(trace, TRACE_API, link[1]), 14);
    trace_free(trace);
}

static void threads_take_their_last_name_that_is_not_empty(void **state)
{
    struct trace *trace =
        load_host("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 6, 1, 3);"
                  "INSERT INTO ThreadNames VALUES (0, 1, 5 << 24 | 6), (1, 1, 5 << 24 | 6),"
                  " (2, 1, 5 << 24 | 6), (0, 1, 5 << 24 | 7);");
    (void)state;
    assert_string_equal(trace->threads[0].name, "one");
    assert_string_equal(trace->processes[0].name, "");
    trace_free(trace);
}

static void the_name_that_nvtx_gave_a_thread_goes_before_the_systems(void **state)
{
    struct trace *trace =
        load_host("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 5, 1, 3);"
                  "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);"
                  "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 39, 'old', 5 << 24 | 5),"
                  " (0, NULL, 39, 'given by NVTX', 5 << 24 | 5);"
                  "INSERT INTO ThreadNames VALUES (0, 0, 5 << 24 | 5);");
    (void)state;
    assert_string_equal(trace->threads[0].name, "given by NVTX");
    assert_string_equal(trace->processes[0].name, "zero");
    trace_free(trace);
}

static void equal_texts_are_one_name(void **state)
{
    struct trace *trace =
        load_host("INSERT INTO StringIds VALUES (9, 'cudaLaunchKernel');"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 11, 5 << 24 | 6, 1, 3),"
                  " (12, 13, 5 << 24 | 6, 2, 9);");
    (void)state;
    assert_int_equal(trace->name_count, 1);
    trace_free(trace);
}

static void times_beyond_reason_are_damage(void **state)
{
    struct trace *trace =
        load_host("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                  " (-9223372036854775808, 9223372036854775807, 5 << 24 | 6, 1, 3),"
                  " (5, 9223372036854775807, 5 << 24 | 6, 1, 3), (NULL, NULL, 5 << 24 | 6, 1, 3),"
                  " (7, NULL, 5 << 24 | 6, 1, 3), (10, 11, 5 << 24 | 6, 1, 3);");
    (void)state;
    assert_int_equal(trace->counts.api_calls, 5);
    assert_int_equal(trace->counts.reversed, 3);
    assert_int_equal(trace->events[TRACE_API].count, 2);
    assert_int_equal(trace->end_ns, 11);
    trace_free(trace);
}

static void row_ids_out_of_range_are_an_error(void **state)
{
    static const char *const ids[] = {"4294967295", "-1", "9223372036854775807"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct sql_file file = {""};
        struct err err = {""};
        char sql[256];
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(rowid, start, end, globalTid, "
                       "nameId) VALUES (%s, 1, 2, 5, 3)",
                       ids[i]);
        sql_file_new(&file);
        sql_file_run(&file, HOST);
        sql_file_run(&file, sql);
        assert_null(trace_load(file.path, NULL, &err));
        assert_non_null(strstr(err.text, "out of range"));
        sql_file_remove(&file);
    }
}

static void sparse_row_ids_are_read(void **state)
{
    struct trace *trace = load_host(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(rowid, start, end, globalTid, nameId) VALUES"
        " (0, 1, 2, 5, 3), (4294967294, 5, 6, 5, 3), (1000000, 3, 4, 5, 3);");
    (void)state;
    assert_int_equal(trace->events[TRACE_API].count, 3);
    assert_int_equal(trace->events[TRACE_API].row[0], 0);
    assert_int_equal(trace->events[TRACE_API].row[1], 1000000);
    assert_int_equal(trace->events[TRACE_API].row[2], 4294967294U);
    trace_free(trace);
}

static int stop_at_once(void *arg, int64_t done, int64_t total)
{
    int *calls = arg;
    (void)done;
    (void)total;
    (*calls)++;
    return 1;
}

static int watch(void *arg, int64_t done, int64_t total)
{
    int64_t *last = arg;
    assert_true(done <= total);
    *last = done;
    return 0;
}

static void progress_counts_and_can_stop(void **state)
{
    struct sql_file file = {""};
    struct err err = {""};
    int calls = 0;
    int64_t last = 0;
    const struct trace_options stopping = {.progress = stop_at_once, .progress_arg = &calls};
    const struct trace_options watching = {.threads = 1, .progress = watch, .progress_arg = &last};
    (void)state;
    sql_file_new(&file);
    generate(&file);
    assert_null(trace_load(file.path, &stopping, &err));
    assert_string_equal(err.text, "interrupted");
    assert_int_equal(calls, 1);
    struct trace *trace = sql_file_load(&file, &watching);
    assert_true(last > 0);
    trace_free(trace);
    sql_file_remove(&file);
}

/* One byte of the only cached trace is changed; the trace is loaded, and cached, anew. */
static void damage(const char *folder)
{
    char command[SQL_FILE_PATH + 128];
    (void)snprintf(command, sizeof command,
                   "f=$(echo %s/cutline/trace-*); n=$(($(wc -c <\"$f\") * 2 / 3));"
                   "printf '\\377\\376\\375' | dd of=\"$f\" bs=1 seek=$n conv=notrunc 2>/dev/null",
                   folder);
    assert_int_equal(system(command), 0);
}

static int64_t rows_read;

static int count_rows(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    (void)total;
    rows_read = done;
    return 0;
}

/* Loads with the cache on; was it read from the file (true), or mapped? */
static bool load_cached(const struct sql_file *file, const struct trace *want)
{
    const struct trace_options options = {.threads = 1, .progress = count_rows, .cache_events = 1};
    rows_read = 0;
    struct trace *trace = sql_file_load(file, &options);
    check_lanes(trace);
    check_links(trace);
    check_equal(want, trace);
    assert_string_equal(trace->path, file->path);
    assert_int_equal(trace->begin_ns, want->begin_ns);
    assert_int_equal(trace->end_ns, want->end_ns);
    assert_string_equal(trace->processes[0].name, want->processes[0].name);
    assert_string_equal(trace->threads[0].name, want->threads[0].name);
    assert_int_equal(trace->device_count, want->device_count);
    if (want->device_count > 0) {
        const struct trace_device *a = &trace->devices[want->device_count - 1];
        const struct trace_device *b = &want->devices[want->device_count - 1];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->busy_count, b->busy_count);
        assert_memory_equal(a->busy_sum_ns, b->busy_sum_ns, (b->busy_count + 1) * sizeof(int64_t));
    }
    trace_free(trace);
    return rows_read > 0;
}

static void a_cached_trace_is_the_same_and_stale_ones_are_not_taken(void **state)
{
    struct sql_file file = {""};
    struct sql_file folder = {""};
    char remove[SQL_FILE_PATH + 16];
    (void)state;
    sql_file_new(&folder);
    sql_file_remove(&folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder.path, 1), 0);
    sql_file_new(&file);
    generate(&file);
    struct trace *want = sql_file_load(&file, NULL);
    assert_true(load_cached(&file, want));
    assert_false(load_cached(&file, want)); /* mapped */
    damage(folder.path);
    assert_true(load_cached(&file, want));
    assert_false(load_cached(&file, want));
    trace_free(want);
    sql_file_run(&file, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 2");
    want = sql_file_load(&file, NULL);
    assert_true(load_cached(&file, want));
    assert_false(load_cached(&file, want));
    trace_free(want);
    sql_file_remove(&file);
    (void)snprintf(remove, sizeof remove, "rm -r %s", folder.path);
    assert_int_equal(system(remove), 0);
}

static void a_pipe_is_not_waited_for(void **state)
{
    const struct trace_options options = {.cache_events = 1};
    struct sql_file file = {""};
    struct err err = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_remove(&file);
    assert_int_equal(mkfifo(file.path, 0600), 0);
    assert_null(trace_load(file.path, &options, &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    sql_file_remove(&file);
}

static void cached_cases_are_the_same(void **state)
{
    static const char *const cases[] = {"nvtx-open", "names", "unified-memory", "two-processes"};
    struct sql_file folder = {""};
    char remove[SQL_FILE_PATH + 16];
    (void)state;
    sql_file_new(&folder);
    sql_file_remove(&folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder.path, 1), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sql_file file = {""};
        struct trace *want = sql_case_load(cases[i]);
        const struct trace_options options = {.cache_events = 1};
        sql_case_path(cases[i], &file);
        trace_free(sql_file_load(&file, &options));
        struct trace *trace = sql_file_load(&file, &options);
        check_equal(want, trace);
        for (uint32_t n = 0; n < trace->events[TRACE_NVTX].count; n++) {
            assert_int_equal(trace_is_open(trace, n), trace_is_open(want, n));
            assert_int_equal(trace_is_cross_thread(trace, n), trace_is_cross_thread(want, n));
        }
        for (uint32_t n = 0; n < trace->name_count; n++) {
            assert_int_equal(trace->names[n].full_len, want->names[n].full_len);
            assert_memory_equal(trace->names[n].full, want->names[n].full, want->names[n].full_len);
            assert_true((trace->names[n].domain == NULL) == (want->names[n].domain == NULL));
            assert_string_equal(trace->names[n].brief, want->names[n].brief);
        }
        trace_free(trace);
        trace_free(want);
    }
    (void)snprintf(remove, sizeof remove, "rm -r %s", folder.path);
    assert_int_equal(system(remove), 0);
}

/* The demo capture; its path is in path. False where it was not made. */
static bool demo_path(char *path, size_t room)
{
    const char *build = getenv("CUTLINE_BUILD");
    (void)snprintf(path, room, "%s/demo.sqlite", build == NULL ? "" : build);
    return build != NULL && access(path, R_OK) == 0;
}

static void the_first_rows_come_alone(void **state)
{
    struct trace_options options = {.rows_most = 100};
    char path[1024];
    (void)state;
    if (!demo_path(path, sizeof path)) {
        skip();
    }
    struct trace *all = trace_load(path, NULL, NULL);
    struct trace *few = trace_load(path, &options, NULL);
    assert_non_null(all);
    assert_non_null(few);
    check_lanes(few);
    check_links(few);
    assert_int_equal(few->events[TRACE_API].count, 99); /* row ids 1 to 99 */
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        assert_true(few->events[t].count <= all->events[t].count);
    }
    assert_true(few->begin_ns >= all->begin_ns && few->end_ns <= all->end_ns);
    trace_free(few);
    trace_free(all);
}

static void a_loader_reads_beside(void **state)
{
    struct trace *traces[LOADER_FILES];
    struct err err = {0};
    char path[1024];
    char missing[] = "/nonexistent/capture.sqlite";
    char *const both[] = {path, path};
    char *const bad[] = {path, missing};
    (void)state;
    if (!demo_path(path, sizeof path)) {
        skip();
    }
    struct loader *loader = loader_start(both, 2, NULL, NULL, &err);
    assert_non_null(loader);
    while (!loader_wait(loader, 1000)) {
        assert_in_range(loader_percent(loader), 0, 100);
    }
    assert_int_equal(loader_take(loader, traces, &err), 0);
    assert_int_equal(traces[0]->events[TRACE_API].count, traces[1]->events[TRACE_API].count);
    assert_true(traces[0]->events[TRACE_API].count > 100);
    trace_free(traces[0]);
    trace_free(traces[1]);

    loader = loader_start(bad, 2, NULL, NULL, &err);
    assert_non_null(loader);
    assert_int_equal(loader_take(loader, traces, &err), -1);
    assert_non_null(strstr(err.text, "no such file"));
    assert_null(traces[0]);

    loader = loader_start(both, 2, NULL, NULL, &err);
    assert_non_null(loader);
    loader_stop(loader);
    assert_int_equal(loader_take(loader, traces, &err), -1);
    assert_null(traces[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rows_come_alone),
        cmocka_unit_test(a_loader_reads_beside),
        cmocka_unit_test(cutting_and_threads_change_nothing),
        cmocka_unit_test(the_cases_keep_the_promises),
        cmocka_unit_test(the_outermost_of_two_calls_with_an_id_launches),
        cmocka_unit_test(scattered_correlation_ids_link),
        cmocka_unit_test(later_images_of_a_process_link),
        cmocka_unit_test(ops_without_a_process_link_where_one_call_fits),
        cmocka_unit_test(threads_take_their_last_name_that_is_not_empty),
        cmocka_unit_test(the_name_that_nvtx_gave_a_thread_goes_before_the_systems),
        cmocka_unit_test(equal_texts_are_one_name),
        cmocka_unit_test(times_beyond_reason_are_damage),
        cmocka_unit_test(row_ids_out_of_range_are_an_error),
        cmocka_unit_test(sparse_row_ids_are_read),
        cmocka_unit_test(progress_counts_and_can_stop),
        cmocka_unit_test(a_cached_trace_is_the_same_and_stale_ones_are_not_taken),
        cmocka_unit_test(a_pipe_is_not_waited_for),
        cmocka_unit_test(cached_cases_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
