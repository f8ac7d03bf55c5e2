/* info: what is said of captures with losses, warnings, hostile texts, and of those without GPU
 * work. */
#include "analysis/base/buf.h"
#include "analysis/base/utf8.h"
#include "analysis/report/info.h"
#include "analysis/tests/sql_file.h"

static const char BASE[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE ThreadNames(nameId, priority, globalTid);"
    "CREATE TABLE META_DATA_EXPORT(name, value);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'cutline'),"
    " ('EXPORT_PRODUCT_VERSION', '0.1.0'), ('EXPORT_USER', 'somebody'), ('EXPORT_HOST', 'there');"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name, nameEnum, value);"
    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('DeviceEnvironment', 610, 'TOKEN=secret'),"
    " ('Hostname', 619, 'there'), ('CudaDriverVersion', 611, '12080');";

struct texts {
    struct buf text;
    struct buf json;
    struct buf verdict;
};

static void texts_of(const struct sql_file *file, struct texts *texts)
{
    struct err err = {""};
    struct trace *trace = sql_file_load(file, NULL);
    struct store *store = store_open(file->path, &err);
    struct info info;
    *texts = (struct texts){{0}, {0}, {0}};
    assert_non_null(store);
    assert_int_equal(info_collect(trace, store, &info, &err), 0);
    info_text(&info, false, &texts->text);
    info_json(&info, &texts->json);
    info_verdict_text(&info, &texts->verdict);
    info_free(&info);
    store_close(store);
    trace_free(trace);
}

static void texts_free(struct texts *texts)
{
    buf_free(&texts->text);
    buf_free(&texts->json);
    buf_free(&texts->verdict);
}

static void texts_of_sql(const char *sql, struct texts *texts)
{
    struct sql_file file = {""};
    sql_file_new(&file);
    sql_file_run(&file, BASE);
    sql_file_run(&file, sql);
    texts_of(&file, texts);
    sql_file_remove(&file);
}

static void expect(const struct buf *text, const char *part)
{
    if (strstr(buf_text(text), part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, buf_text(text));
    }
}

static void verdicts_of_the_cases(void **state)
{
    static const struct {
        const char *name;
        const char *verdict;
    } cases[] = {
        {"two-processes", "has GPU work"},
        {"graphs", "has GPU work"},
        {"api-only", "API calls but no kernels: 1 of 1 cudaLaunchKernel failed: "
                     "cudaErrorInvalidDeviceFunction (98)"},
        {"no-cuda", "no CUDA activity"},
        {"empty", "no CUDA activity"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sql_file file = {""};
        struct texts texts;
        sql_case_path(cases[i].name, &file);
        texts_of(&file, &texts);
        assert_int_equal(
            strncmp(buf_text(&texts.verdict), cases[i].verdict, strlen(cases[i].verdict)), 0);
        texts_free(&texts);
    }
}

#define CALLS \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId, " \
    "returnValue);" \
    "INSERT INTO StringIds VALUES (1, 'cudaMalloc_v3020'), (2, 'cudaLaunchKernel_v7000')," \
    " (3, 'cudaEventQuery_v3020'), (4, 'cudaGetLastError_v3020'), (5, 'cuLaunchKernel');" \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "

static void failed_calls_are_told_by_name(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql(CALLS "(10, 20, 16777217, 1, 1, 0), (30, 40, 16777217, 2, 1, 2);"
                       "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, correlationId,"
                       " bytes, memKind, memoryOperationType, address);"
                       "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (30, 16777216, 2, 4096, 2,"
                       " 0, 0);",
                 &texts);
    expect(&texts.verdict, "API calls but no kernels: 1 of 2 cudaMalloc failed: "
                           "cudaErrorMemoryAllocation (2), 4096 bytes asked for");
    expect(&texts.json, "{\"call\": \"cudaMalloc\", \"code\": 2, \"error\": "
                        "\"cudaErrorMemoryAllocation\", \"count\": 1, \"calls\": 2, "
                        "\"first_ns\": 30, \"bytes\": 4096}");
    texts_free(&texts);
}

static void a_lost_context_comes_first(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql(CALLS "(10, 20, 16777217, 1, 5, 1), (30, 40, 16777217, 2, 2, 700),"
                       " (50, 60, 16777217, 3, 2, 700), (70, 80, 16777217, 4, 4, 700),"
                       " (90, 99, 16777217, 5, 1, 700);",
                 &texts);
    expect(&texts.text, "failed     2 of 2 cudaLaunchKernel failed: cudaErrorIllegalAddress (700)");
    expect(&texts.text, "2 failed calls after it follow from it");
    expect(&texts.text, "failed     1 of 1 cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE (1)");
    assert_null(strstr(buf_text(&texts.text), "cudaGetLastError"));
    texts_free(&texts);
}

static void an_answer_is_no_failure(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql(CALLS "(10, 20, 16777217, 1, 3, 600), (30, 40, 16777217, 2, 3, 600),"
                       " (50, 60, 16777217, 3, 2, 12345);",
                 &texts);
    expect(&texts.text, "failed     1 of 1 cudaLaunchKernel failed: status 12345");
    assert_null(strstr(buf_text(&texts.text), "cudaEventQuery"));
    texts_free(&texts);
}

static void losses_are_told(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql("CREATE TABLE CUTLINE_LOSS(globalPid, kind, reason, count, first, last);"
                 "INSERT INTO CUTLINE_LOSS VALUES (1, 'kernels', 'buffer full', 1200, 0, 0),"
                 " (2, 'kernels', 'buffer full', 34, 0, 0), (1, 'nvtx', 'too long', 1, 0, 0),"
                 " (1, 'kernel', 'end before start', 1, 0, 0),"
                 " (1, 'kernel', 'outside the capture range', 7, 0, 0);"
                 "CREATE TABLE CUTLINE_BAD_TIME(globalPid, tableName, reason);"
                 "INSERT INTO CUTLINE_BAD_TIME VALUES (1, 'T', 'end before start');",
                 &texts);
    expect(&texts.verdict, "no CUDA activity: kernels ran, but were lost");
    expect(&texts.text, "lost       1,234 kernels: buffer full");
    expect(&texts.text, "lost       1 nvtx: too long");
    expect(&texts.text, "lost       1 kernel: end before start");
    expect(&texts.text, "left out   7 kernel: outside the capture range");
    assert_null(strstr(buf_text(&texts.text), "1 T: end")); /* it would be told twice */
    expect(&texts.json, "{\"kind\": \"kernels\", \"reason\": \"buffer full\", \"count\": 1234}");
    texts_free(&texts);
}

static void warnings_are_told_once_and_safely(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql("CREATE TABLE DIAGNOSTIC_EVENT(severity, text);"
                 "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'all is well'), (2, 'mind' || char(27) ||"
                 " '[31m' || char(10) || 'this'), (3, 'broken'), (3, 'broken'), (4, 'chatter');",
                 &texts);
    expect(&texts.text, "error      broken (2 times)");
    expect(&texts.text, "warning    mind");
    assert_null(strstr(buf_text(&texts.text), "all is well"));
    assert_null(strstr(buf_text(&texts.text), "chatter"));
    for (size_t i = 0; i < texts.text.len; i++) {
        assert_true(texts.text.data[i] == '\n' || (unsigned char)texts.text.data[i] >= ' ');
    }
    expect(&texts.json, "\"severity\": \"error\", \"count\": 2, \"text\": \"broken\"");
    texts_free(&texts);
}

static void secrets_are_not_told(void **state)
{
    static const char *const secrets[] = {"secret", "somebody", "there"};
    struct texts texts;
    (void)state;
    texts_of_sql("SELECT 1", &texts);
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        assert_null(strstr(buf_text(&texts.text), secrets[i]));
        assert_null(strstr(buf_text(&texts.json), secrets[i]));
    }
    expect(&texts.text, "made by    cutline 0.1.0");
    expect(&texts.text, "CUDA 12.8");
    expect(&texts.json, "\"driver_version\": null");
    texts_free(&texts);
}

/* Long and hostile names, huge numbers: no line is wider than a terminal. */
static void lines_fit_a_terminal(void **state)
{
    struct sql_file file = {""};
    struct texts texts;
    const char *line;
    (void)state;
    sql_case_path("names", &file);
    texts_of(&file, &texts);
    for (line = buf_text(&texts.text); *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        if (strncmp(line, "file ", 5) != 0 && utf8_cols(line, len) > 80) {
            fail_msg("%.*s", (int)len, line);
        }
    }
    expect(&texts.text, "100  clear");
    texts_free(&texts);
}

static void many_processes_are_cut_short(void **state)
{
    struct texts texts;
    (void)state;
    texts_of_sql("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME WITH RECURSIVE n(i) AS (SELECT 1 UNION "
                 "ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, i, i << 24, 1 FROM n;",
                 &texts);
    expect(&texts.text, "\n 64  ");
    expect(&texts.text, "\nand 36 more processes\n");
    expect(&texts.json, "{\"pid\": 100, ");
    texts_free(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_of_the_cases),
        cmocka_unit_test(failed_calls_are_told_by_name),
        cmocka_unit_test(a_lost_context_comes_first),
        cmocka_unit_test(an_answer_is_no_failure),
        cmocka_unit_test(losses_are_told),
        cmocka_unit_test(warnings_are_told_once_and_safely),
        cmocka_unit_test(secrets_are_not_told),
        cmocka_unit_test(lines_fit_a_terminal),
        cmocka_unit_test(many_processes_are_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
