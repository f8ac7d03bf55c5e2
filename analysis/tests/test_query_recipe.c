/* Command lines to take away: the ncu call of a kernel. */
#include "analysis/export/recipe.h"
#include "analysis/tests/model.h"
#include "analysis/tests/sql_file.h"

static void test_ncu(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    struct buf out = {0};
    struct err err = {{0}};
    uint32_t of = 0;
    (void)state;
    assert_non_null(m);
    uint32_t one = model_process(m, 1, "app");
    uint32_t two = model_process(m, 2, "other");
    uint32_t thread = model_thread(m, one, 1, "main");
    uint32_t device = model_device(m, 0);
    uint32_t s7 = model_stream(m, device, one, 1, 7);
    uint32_t s8 = model_stream(m, device, one, 1, 8);
    uint32_t far = model_stream(m, device, two, 2, 7);
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t gemm = model_name(m, TRACE_KERNEL, "gemm", "gemm<float>()");
    uint32_t half = model_name(m, TRACE_KERNEL, "gemm", "gemm<half>()");
    uint32_t lambda = model_name(m, TRACE_KERNEL, "operator()[x] it's", "f");
    uint32_t copy = model_name(m, TRACE_MEMCPY, "HtoD", "copy");
    /* Launched 10, 20, 30; they run in another order on two streams. */
    uint32_t calls[3];
    for (int64_t i = 0; i < 3; i++) {
        calls[i] = model_host(m, TRACE_LANE_API, thread, 0, launch, 10 + 10 * i, 15 + 10 * i);
    }
    uint32_t first = model_op(m, s7, gemm, 900, 950, calls[0]);
    uint32_t second = model_op(m, s8, half, 100, 150, calls[1]);
    uint32_t third = model_op(m, s8, gemm, 200, 250, calls[2]);
    uint32_t other = model_op(m, far, gemm, 50, 60, TRACE_NONE);
    uint32_t strange = model_op(m, s8, lambda, 300, 310, TRACE_NONE);
    uint32_t moved = model_op(m, s8, copy, 400, 410, TRACE_NONE);
    model_build(m);
    const struct trace *trace = &m->trace;
    assert_int_equal(recipe_ordinal(trace, model_at(m, first), &of), 0);
    assert_int_equal(of, 3);
    assert_int_equal(recipe_ordinal(trace, model_at(m, second), NULL), 1);
    assert_int_equal(recipe_ordinal(trace, model_at(m, third), NULL), 2);
    assert_int_equal(recipe_ordinal(trace, model_at(m, other), &of), 0);
    assert_int_equal(of, 1);
    assert_int_equal(recipe_ncu(trace, model_at(m, third), NULL, &out, NULL), 0);
    assert_string_equal(buf_text(&out), "ncu --target-processes all --kernel-name 'regex:^gemm$' "
                                        "--launch-skip 2 --launch-count 1 COMMAND");
    buf_reset(&out);
    const char *words[] = {"python", "train me.py"};
    const struct recipe_command command = {.words = words, .count = 2};
    assert_int_equal(recipe_ncu(trace, model_at(m, strange), &command, &out, NULL), 0);
    assert_string_equal(buf_text(&out), "ncu --target-processes all --kernel-name "
                                        "'regex:^operator\\(\\)\\[x\\] it'\\''s$' "
                                        "--launch-skip 0 --launch-count 1 python 'train me.py'");
    assert_int_equal(recipe_ncu(trace, model_at(m, moved), NULL, &out, &err), -1);
    assert_non_null(strstr(err.text, "kernel"));
    buf_free(&out);
    model_free(m);
    free(m);
}

/* The command of the file; its environment is not looked at. */
static void test_command(void **state)
{
    static const char sql[] =
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
        " text TEXT, globalTid INTEGER);"
        "CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);"
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SECRET=1'),"
        " ('PROCESS_0:ARGUMENT_1', '--lr 1'), ('PROCESS_0:COMMAND', 'python'),"
        " ('PROCESS_0:ARGUMENT_0', 'train.py'), ('PROCESS_0:ARGUMENT_x', 'no'),"
        " ('PROCESS_0:ARGUMENT_99999', 'no'), ('PROCESS_0:ARGUMENT_5', 'behind a hole');";
    struct sql_file file;
    struct recipe_command command;
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, sql);
    struct trace *trace = sql_file_load(&file, NULL);
    assert_int_equal(recipe_command_load(trace, &command, NULL), 0);
    assert_int_equal(command.count, 3);
    assert_string_equal(command.words[0], "python");
    assert_string_equal(command.words[1], "train.py");
    assert_string_equal(command.words[2], "--lr 1");
    recipe_command_free(&command);
    trace_free(trace);
    sql_file_run(&file, "DROP TABLE META_DATA_CAPTURE;");
    trace = sql_file_load(&file, NULL);
    assert_int_equal(recipe_command_load(trace, &command, NULL), 0);
    assert_int_equal(command.count, 0);
    recipe_command_free(&command);
    sql_file_remove(&file);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ncu),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
