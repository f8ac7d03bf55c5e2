/*
 * Extremes: every number of a capture, one column at a time, becomes the ends of int64 and the like,
 * in one row or in all. Whatever comes out, it comes out: no signal, no endless loop, and under the
 * sanitizers no sum that runs over. What is answered is looked at in other tests.
 *
 * Half of the values are tried on each column, in one row or in all; with CUTLINE_EXTREMES=TABLE.COLUMN
 * (or the beginning of it) all values both ways, on those columns alone.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/detect/findings.h"
#include "analysis/diff/diff.h"
#include "analysis/export/chrome.h"
#include "analysis/report/info.h"
#include "analysis/report/report.h"
#include "analysis/tests/sql_file.h"
#include "viewer/app/screens.h"
#include "viewer/paint/screen.h"

enum {
    TRIED_SECONDS = 20 /* for one mutation; a thousand times what any takes */
};

static const char *const VALUES[] = {
    "9223372036854775807",  "-9223372036854775808", "-1",   "4611686018427387903",
    "-2305843009213693951", "36028797018963967",    "NULL", "1e300",
};

/* Lists and panes of everything that computes, at both ends of the zoom. */
static const char KEYS[] =
    "g<Esc>t<Esc>T<Esc>R<Esc>Z<Esc>E<Esc>D<Esc>jjwwww<Enter><Esc>%zV+++++++++++++"
    "++++++++++++++++------------------------------a][mlm";

static char what[256];

static int nowhere(void *arg, const char *data, size_t len)
{
    (void)arg;
    (void)data;
    (void)len;
    return 0;
}

static const struct table_sink SINK = {.write = nowhere};

static void try_reports(struct shared *shared, enum report_kind kind)
{
    const struct select_options options = SELECT_OPTIONS_ALL;
    int count;
    const struct report *const *list = report_list(kind, &count);
    for (int i = 0; i < count; i++) {
        struct report_call call;
        struct report_result result;
        struct err err = {0};
        assert_int_equal(report_call_parse(kind, list[i]->name, &call, &err), 0);
        if (report_run(shared, &call, &options, &result, &err) == 0) {
            for (int form = 0; form < 2; form++) {
                const struct table_output output = {.format = form == 0 ? TABLE_FORMAT_COLUMN
                                                                        : TABLE_FORMAT_JSON,
                                                    .time_unit_ns = form == 0 ? 1000 : 1};
                assert_int_equal(table_write(result.table, &output, &SINK, &err), 0);
            }
        }
        report_result_free(&result);
        report_call_free(&call);
    }
}

static void try_info(const struct trace *trace)
{
    struct err err = {0};
    struct info info;
    struct store *store = trace_store(trace, &err);
    if (store != NULL && info_collect(trace, store, &info, &err) == 0) {
        struct buf text = {0};
        info_text(&info, false, &text);
        info_json(&info, &text);
        assert_false(buf_failed(&text));
        buf_free(&text);
        info_free(&info);
    }
    store_close(store);
}

static void try_findings(struct shared *shared)
{
    const struct findings_options options = {false, INT64_MIN, INT64_MAX, TRACE_NONE};
    const struct findings_page page = {.file = "x.sqlite", .all = true};
    struct err err = {0};
    struct findings findings;
    struct buf text = {0};
    if (findings_make(shared, &options, &findings, &err) == 0) {
        findings_text(shared_trace(shared), &findings, &page, &text);
        buf_free(&text);
        findings_free(&findings);
    }
}

static void try_diff(const struct facts *facts, const struct facts *other)
{
    const struct facts *const both[2] = {facts, other};
    const struct diff_options options = {.begin_ns = {INT64_MIN, INT64_MIN},
                                         .end_ns = {INT64_MAX, INT64_MAX}};
    struct err err = {0};
    struct diff diff;
    if (diff_make(both, &options, &diff, &err) == 0) {
        (void)diff_regression(&diff, 1.0);
        diff_free(&diff);
    }
}

static void try_chrome(const struct facts *facts)
{
    const struct chrome_options options = {INT64_MIN, INT64_MAX, true, true};
    struct err err = {0};
    assert_int_equal(chrome_write(facts, &options, &SINK, &err), 0);
}

static void try_view(const struct trace *trace)
{
    const struct frame_style style = {.plain = true};
    struct err err = {0};
    struct canvas canvas = {0};
    struct session session;
    struct app *app = app_open(trace, "extremes", &err);
    assert_non_null(app);
    app_resize(app, 120, 40);
    app_run(app, ACTION_fit_gpu, 0);
    assert_int_equal(session_open(&session, app, NULL, &err), 0);
    session_resize(&session, 120, 40);
    session_settle(&session);
    assert_int_equal(screen_paint(&session, &style, &canvas, &err), 0);
    assert_int_equal(session_play(&session, KEYS, sizeof KEYS - 1, &err), 0);
    session_settle(&session);
    assert_int_equal(screen_paint(&session, &style, &canvas, &err), 0);
    canvas_free(&canvas);
    session_close(&session);
    app_close(app);
}

/* All that a capture is asked. */
static void try_file(const char *path, const struct facts *other)
{
    struct err err = {0};
    struct trace *trace = trace_load(path, NULL, &err);
    if (trace == NULL) {
        assert_true(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        return;
    }
    struct shared *shared = shared_new(trace, &err);
    assert_non_null(shared);
    try_info(trace);
    try_reports(shared, REPORT_STATS);
    try_reports(shared, REPORT_RULE);
    try_findings(shared);
    const struct facts *facts = shared_facts(shared, &err);
    if (facts != NULL) {
        try_diff(facts, other);
        try_diff(other, facts);
        try_chrome(facts);
    }
    try_view(trace);
    shared_free(shared);
    trace_free(trace);
}

static void copy(const char *from, const char *to)
{
    char bytes[1 << 16];
    size_t n;
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    }
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

/* As if it were written long ago: a file of this moment is not read before the clock goes on. */
static void make_old(const char *path)
{
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Changes the copy. False where the schema does not allow it. */
static bool mutate(const char *path, const char *table, const char *column, const char *value,
                   bool all)
{
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = %s", table, column, value);
    if (!all) {
        char *one =
            sqlite3_mprintf("%z WHERE rowid = (SELECT max(rowid) / 2 + 1 FROM \"%w\")", sql, table);
        sql = one;
    }
    (void)snprintf(what, sizeof what, "%.60s.%.60s = %.40s in %s", table, column, value,
                   all ? "all rows" : "one row");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return code == SQLITE_OK;
}

struct column {
    char table[64];
    char name[64];
};

static size_t list_columns(const char *path, struct column *list, size_t max)
{
    const char *only = getenv("CUTLINE_EXTREMES");
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    size_t count = 0;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, c.name FROM sqlite_master m, "
                                        "pragma_table_info(m.name) c WHERE m.type = 'table' AND "
                                        "c.type = 'INTEGER' ORDER BY m.rowid, c.cid",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    while (count < max && sqlite3_step(stmt) == SQLITE_ROW) {
        struct column *column = &list[count];
        char whole[160];
        (void)snprintf(column->table, sizeof column->table, "%s", sqlite3_column_text(stmt, 0));
        (void)snprintf(column->name, sizeof column->name, "%s", sqlite3_column_text(stmt, 1));
        (void)snprintf(whole, sizeof whole, "%s.%s", column->table, column->name);
        count += only == NULL || strncmp(whole, only, strlen(only)) == 0;
    }
    (void)sqlite3_finalize(stmt);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(count < max);
    return count;
}

/* A signal or a sanitizer ends the process: what was tried is said before that. */
static void say(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static void any_number_may_be_extreme(void **state)
{
    static const int signals[] = {SIGALRM, SIGFPE, SIGSEGV, SIGBUS, SIGABRT};
    static struct column columns[512];
    struct sql_file base = {""};
    struct sql_file file = {""};
    struct err err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)signal(signals[i], say);
    }
    sql_case_path("every-table", &base);
    sql_file_new(&file);
    struct trace *trace = sql_file_load(&base, NULL);
    struct facts *facts = facts_new(trace, &err);
    assert_non_null(facts);
    size_t count = list_columns(base.path, columns, sizeof columns / sizeof columns[0]);
    assert_true(count > 0);
    bool whole = getenv("CUTLINE_EXTREMES") != NULL;
    for (size_t c = 0; c < count; c++) {
        for (size_t v = 0; v < sizeof VALUES / sizeof VALUES[0]; v++) {
            for (size_t all = 0; all < 2; all++) {
                if (!whole && ((v + c) % 2 != 0 || (v / 2 + c / 2) % 2 != all)) {
                    continue;
                }
                copy(base.path, file.path);
                if (mutate(file.path, columns[c].table, columns[c].name, VALUES[v], all != 0)) {
                    make_old(file.path);
                    (void)alarm(TRIED_SECONDS);
                    try_file(file.path, facts);
                    (void)alarm(0);
                }
            }
        }
    }
    facts_free(facts);
    trace_free(trace);
    sql_file_remove(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_may_be_extreme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
