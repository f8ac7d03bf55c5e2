/* The capture writer, checked with SQLite itself: what was given is what is in the file. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> /* needs the headers before it */
/* clang-format on */
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/writer.h"

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/cutline-writer-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/out.sqlite", folder);
    return 0;
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    (void)closedir(dir);
    return n;
}

static int drop_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static struct store_writer *opened(void)
{
    struct store_writer *w;
    struct err err = {0};
    if (store_writer_open(path, NULL, &w, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return w;
}

static void finished(struct store_writer *w)
{
    struct err err = {0};
    if (store_writer_finish(w, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* The one value of a query as text, "NULL" for NULL. */
static char *ask(const char *file, const char *sql)
{
    static char answer[8][4096];
    static unsigned turn;
    char *out = answer[turn++ % 8];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(stmt, 0);
    (void)snprintf(out, sizeof answer[0], "%s", text ? text : "NULL");
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return out;
}

static void test_values(void **state)
{
    (void)state;
    struct store_writer *w = opened();
    struct store_cell row[STORE_NVTX_N] = {
        [STORE_NVTX_START] = store_cell_int(INT64_MIN),
        [STORE_NVTX_EVENT_TYPE] = store_cell_int(59),
        [STORE_NVTX_TEXT] = store_cell_text("a\nb'c", 5),
        [STORE_NVTX_DOUBLE_VALUE] = store_cell_real(0.1),
        [STORE_NVTX_GLOBAL_TID] = store_cell_int(store_global_tid(0x123456, 0x654321)),
    };
    assert_int_equal(store_writer_row(w, STORE_TABLE_NVTX, row, NULL), 0);
    row[STORE_NVTX_START] = store_cell_int(7);
    row[STORE_NVTX_DOUBLE_VALUE] = (struct store_cell){0};
    row[STORE_NVTX_TEXT] = store_cell_text("x", 1);
    assert_int_equal(store_writer_row(w, STORE_TABLE_NVTX, row, NULL), 0);
    row[STORE_NVTX_TEXT] = (struct store_cell){0};
    assert_int_equal(store_writer_row(w, STORE_TABLE_NVTX, row, NULL), 0);
    assert_int_equal(store_writer_rows(w, STORE_TABLE_NVTX), 3);
    finished(w);
    assert_int_equal(files_in_folder(), 1);
    assert_string_equal(ask(path, "PRAGMA integrity_check"), "ok");
    assert_string_equal(ask(path, "PRAGMA journal_mode"), "delete");
    assert_string_equal(ask(path, "SELECT group_concat(coalesce(text, '-'), '|') FROM NVTX_EVENTS"),
                        "a\nb'c|x|-");
    assert_string_equal(ask(path, "SELECT start FROM NVTX_EVENTS LIMIT 1"), "-9223372036854775808");
    assert_string_equal(
        ask(path, "SELECT group_concat(coalesce(doubleValue, '-')) FROM NVTX_EVENTS"), "0.1,-,-");
    assert_string_equal(ask(path, "SELECT printf('%x', globalTid) FROM NVTX_EVENTS LIMIT 1"),
                        "1123456654321");
    assert_string_equal(ask(path, "SELECT \"end\" FROM NVTX_EVENTS LIMIT 1"), "NULL");
}

static void test_strings(void **state)
{
    (void)state;
    struct store_writer *w = opened();
    int64_t first = 0;
    int64_t other = 0;
    char text[32];
    assert_int_equal(store_writer_string(w, "kernel", 6, &first, NULL), 0);
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof text, "name %d", i % 2500);
        assert_int_equal(store_writer_string(w, text, (size_t)n, &other, NULL), 0);
    }
    assert_int_equal(store_writer_string(w, "kernels", 6, &other, NULL), 0);
    assert_int_equal(first, other);
    assert_true(first > 0);
    finished(w);
    assert_string_equal(ask(path, "SELECT count(*) || ',' || count(DISTINCT value) FROM StringIds"),
                        "2501,2501");
    assert_string_equal(ask(path, "SELECT id FROM StringIds WHERE value = 'kernel'"), "1");
}

/* Every table can be made, has its columns, and only those with rows or that are always there are.
 */
static void test_tables(void **state)
{
    (void)state;
    finished(opened());
    assert_string_equal(
        ask(path, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE name NOT "
                  "LIKE 'ENUM%' ORDER BY name)"),
        "ANALYSIS_DETAILS,META_DATA_CAPTURE,META_DATA_EXPORT,PROCESSES,PROFILER_OVERHEAD,"
        "ProcessStreams,StringIds,TARGET_INFO_SESSION_START_TIME,TARGET_INFO_SYSTEM_ENV,"
        "ThreadNames");
    assert_string_equal(ask(path, "SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = 10"),
                        "Peer-to-Peer");
    assert_string_equal(ask(path, "SELECT name FROM ENUM_NSYS_EVENT_TYPE WHERE id = 59"),
                        "NvtxPushPopRange");
    assert_string_equal(
        ask(path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'"),
        "3.25.0");
    assert_int_equal(unlink(path), 0);

    struct store_writer *w = opened();
    struct store_cell row[64];
    for (int i = 0; i < 64; i++) {
        row[i] = store_cell_int(i + 100);
    }
    for (int table = 0; table < STORE_TABLE_N; table++) {
        assert_int_equal(store_writer_row(w, (enum store_table)table, row, NULL), 0);
    }
    finished(w);
    assert_string_equal(ask(path, "SELECT count(*) FROM CUTLINE_LOSS"), "1");
    assert_string_equal(
        ask(path, "SELECT count(*) FROM pragma_table_info('CUPTI_ACTIVITY_KIND_KERNEL')"), "40");
    assert_string_equal(ask(path, "SELECT tensorSizeMinusOneElements FROM "
                                  "CUPTI_ACTIVITY_KIND_KERNEL"),
                        "139");
}

/* Column by column, the tables are those of a real export of that version, where one is at hand. */
static void test_real_schema(void **state)
{
    (void)state;
    static const char info[] =
        "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || pk) FROM "
        "pragma_table_info('%s')";
    char real[1024];
    const char *captures = getenv("CUTLINE_CAPTURES");
    (void)snprintf(real, sizeof real, "%s/h100-2gpu-1s.sqlite", captures ? captures : "");
    if (access(real, R_OK) != 0) {
        print_message("skipped: no real captures\n");
        skip();
    }
    struct store_writer *w = opened();
    struct store_cell row[64];
    for (int i = 0; i < 64; i++) {
        row[i] = store_cell_int(1);
    }
    for (int table = 0; table < STORE_TABLE_N; table++) {
        assert_int_equal(store_writer_row(w, (enum store_table)table, row, NULL), 0);
    }
    finished(w);
    int compared = 0;
    for (int table = 0; table < STORE_TABLE_N; table++) {
        char sql[512];
        (void)snprintf(sql, sizeof sql, info, store_table_name((enum store_table)table));
        const char *theirs = ask(real, sql);
        if (strcmp(theirs, "NULL") != 0) {
            assert_string_equal(ask(path, sql), theirs);
            compared++;
        }
    }
    assert_true(compared > 15);
}

static void test_refusals(void **state)
{
    (void)state;
    struct err err = {0};
    struct store_writer *w = opened();
    struct store_cell row[STORE_RUNTIME_N] = {{0}};
    assert_int_equal(store_writer_row(w, STORE_TABLE_RUNTIME, row, &err), -1);
    assert_non_null(strstr(err.text, "CUPTI_ACTIVITY_KIND_RUNTIME.start"));
    assert_int_equal(files_in_folder(), 1);
    store_writer_abandon(w);
    assert_int_equal(files_in_folder(), 0);

    finished(opened());
    assert_int_equal(store_writer_open(path, NULL, &w, &err), -1);
    assert_non_null(strstr(err.text, "exists already"));
    struct store_writer_opts opts = {.overwrite = true};
    assert_int_equal(store_writer_open(path, &opts, &w, &err), 0);
    finished(w);

    /* a file that came meanwhile is not replaced */
    assert_int_equal(unlink(path), 0);
    w = opened();
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fclose(other);
    assert_int_equal(store_writer_finish(w, &err), -1);
    assert_non_null(strstr(err.text, "exists already"));
    assert_int_equal(files_in_folder(), 1);

    assert_int_equal(store_writer_open("/nowhere/at/all.sqlite", NULL, &w, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all.sqlite"));
    assert_null(w);
    store_writer_abandon(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_strings, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_tables, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_real_schema, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_refusals, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
