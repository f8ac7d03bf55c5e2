/*
 * A capture that changes while it is open. What is replaced under its name is read to the end as it
 * was; of what is written to in place nothing more is shown, and every answer says so.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/detect/findings.h"
#include "analysis/diff/diff.h"
#include "analysis/report/info.h"
#include "analysis/report/report.h"
#include "analysis/tests/sql_file.h"
#include "viewer/app/app.h"
#include "viewer/app/detail.h"

static const char CHANGED[] = "was written to while it was read";

/* A copy of a case that the test may change. */
static void copy_case(const char *name, struct sql_file *file)
{
    struct sql_file from = {""};
    char bytes[4096];
    size_t n;
    FILE *in;
    FILE *out;
    sql_file_new(file);
    sql_case_path(name, &from);
    in = fopen(from.path, "rb");
    out = fopen(file->path, "wb");
    assert_true(in != NULL && out != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    }
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

static void write_in_place(const struct sql_file *file)
{
    sql_file_run(file, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET contextId = 77");
}

static void replace(const struct sql_file *file)
{
    struct sql_file other = {""};
    copy_case("graphs", &other);
    assert_int_equal(rename(other.path, file->path), 0);
}

static bool report_works(const struct trace *trace, const char *name, struct err *err)
{
    const struct select_options options = SELECT_OPTIONS_ALL;
    struct report_call call;
    struct report_result result;
    assert_int_equal(report_call_parse(REPORT_STATS, name, &call, err), 0);
    struct shared *shared = shared_new(trace, err);
    assert_non_null(shared);
    int rc = report_run(shared, &call, &options, &result, err);
    shared_free(shared);
    report_result_free(&result);
    report_call_free(&call);
    return rc == 0;
}

static bool info_works(const struct trace *trace, struct err *err)
{
    struct store *store = trace_store(trace, err);
    struct info info;
    bool works = store != NULL && info_collect(trace, store, &info, err) == 0;
    if (works) {
        info_free(&info);
    }
    store_close(store);
    return works;
}

static bool facts_work(const struct trace *trace, struct err *err)
{
    struct facts *facts = facts_new(trace, err);
    facts_free(facts);
    return facts != NULL;
}

static bool diff_works(const struct facts *base, const struct facts *new, struct err *err)
{
    const struct facts *const facts[2] = {base, new};
    const struct diff_options options = {.begin_ns = {INT64_MIN, INT64_MIN},
                                         .end_ns = {INT64_MAX, INT64_MAX}};
    struct diff diff;
    bool works = diff_make(facts, &options, &diff, err) == 0;
    if (works) {
        diff_free(&diff);
    }
    return works;
}

static void answers_are_of_the_loaded_file_or_none(void **state)
{
    (void)state;
    for (int in_place = 0; in_place < 2; in_place++) {
        struct sql_file file = {""};
        struct err err = {""};
        copy_case("two-processes", &file);
        struct trace *trace = sql_file_load(&file, NULL);
        struct facts *facts = facts_new(trace, &err);
        assert_non_null(facts);
        assert_true(report_works(trace, "cuda_gpu_trace", &err) && info_works(trace, &err));
        if (in_place != 0) {
            write_in_place(&file);
        } else {
            replace(&file);
        }
        assert_int_equal(report_works(trace, "cuda_gpu_trace", &err), in_place == 0);
        assert_int_equal(strstr(err.text, CHANGED) != NULL, in_place != 0);
        /* Also one that reads nothing: its numbers may stand beside others of the same output. */
        assert_int_equal(report_works(trace, "cuda_gpu_kern_sum", &err), in_place == 0);
        assert_int_equal(info_works(trace, &err), in_place == 0);
        assert_int_equal(facts_work(trace, &err), in_place == 0);
        assert_int_equal(diff_works(facts, facts, &err), in_place == 0);
        assert_int_equal(trace_check(trace, &err) == 0, in_place == 0);
        facts_free(facts);
        trace_free(trace);
        sql_file_remove(&file);
    }
}

/* The context of the first kernel, as the pane shows them. */
static const char *context_of(struct app *app)
{
    app->detail.made = false;
    detail_make(app);
    for (int i = 0; i < app->detail.field_count; i++) {
        if (strcmp(app->detail.fields[i].key, "contextId") == 0) {
            return app->detail.fields[i].value;
        }
    }
    return NULL;
}

static void no_foreign_row_is_shown(void **state)
{
    struct sql_file file = {""};
    struct err err = {""};
    char before[32];
    (void)state;
    copy_case("two-processes", &file);
    struct trace *trace = sql_file_load(&file, NULL);
    struct app *app = app_open(trace, "changed", &err);
    assert_non_null(app);
    app->event.table = TRACE_GPU;
    app->event.index = 0;
    assert_non_null(context_of(app));
    (void)snprintf(before, sizeof before, "%s", context_of(app));
    write_in_place(&file);
    assert_null(context_of(app));
    assert_non_null(strstr(buf_text(&app->detail.facts), "the file has changed"));
    app_close(app);
    trace_free(trace);

    trace = sql_file_load(&file, NULL);
    app = app_open(trace, "replaced", &err);
    assert_non_null(app);
    app->event.table = TRACE_GPU;
    app->event.index = 0;
    replace(&file); /* before the file is needed again */
    assert_string_equal(context_of(app), "77");
    assert_string_not_equal(before, "77");
    app_close(app);
    trace_free(trace);
    sql_file_remove(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_the_loaded_file_or_none),
        cmocka_unit_test(no_foreign_row_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
