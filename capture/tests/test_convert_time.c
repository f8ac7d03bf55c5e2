/* The length of a capture whose recorder was killed: nobody wrote down when it ended, so its last event
 * says so. Spools with planted clocks, on a machine that is not this one. */
#include <sqlite3.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/convert/convert.h"
#include "capture/tests/spool_make.h"

#define SECOND INT64_C(1000000000)
#define ZERO_REAL (INT64_C(1700000000) * SECOND)
#define ZERO_MONO (INT64_C(5000) * SECOND)
#define ZERO_TSC INT64_C(98765432100)
#define PID 40

static char folder[64];
static char spool[128];
static char output[128];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/cutline-time-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(spool, sizeof spool, "%s/host.40.1.0%s", folder, SPOOL_SUFFIX);
    (void)snprintf(output, sizeof output, "%s/out.sqlite", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    (void)unlink(spool);
    (void)unlink(output);
    return rmdir(folder);
}

/* A spool of a counter of two ticks a ns, whose anchors end after ten seconds. */
static void begin(struct spool_make *m)
{
    spool_make_begin(m, spool, PID);
    m->header.clock = SPOOL_CLOCK_TSC;
    m->header.created_real_ns = ZERO_REAL;
    m->header.created_mono_ns = ZERO_MONO;
    m->header.created_tsc = ZERO_TSC;
    m->sizes[CUPTI_KIND_MEMSET] = 88;
    for (int64_t s = 0; s <= 10; s++) {
        spool_make_anchor(m, ZERO_REAL + s * SECOND, ZERO_MONO + s * SECOND,
                          (uint64_t)(ZERO_TSC + 2 * s * SECOND), 0);
    }
}

static void mark(struct spool_make *m, uint32_t tid, int64_t at_ns)
{
    const struct spool_make_nvtx record = {.type = SPOOL_NVTX_MARK,
                                           .flags = SPOOL_NVTX_TEXT,
                                           .tid = tid,
                                           .time = (uint64_t)(ZERO_TSC + 2 * at_ns),
                                           .text = "mark"};
    spool_make_nvtx(m, &record);
}

static void set_memory(struct spool_make *m, int64_t start_ns, int64_t end_ns)
{
    uint64_t record[11] = {0};
    spool_make_set(record, CUPTI_MEMSET_START, (uint64_t)(ZERO_REAL + start_ns));
    spool_make_set(record, CUPTI_MEMSET_END, (uint64_t)(ZERO_REAL + end_ns));
    spool_make_cupti(m, CUPTI_KIND_MEMSET, record, SPOOL_STATE_OPEN);
}

static int64_t number(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return value;
}

static void check_length(int64_t want_ns)
{
    static struct convert_result result;
    struct err err = {0};
    const struct convert_opts opts = {.session = folder, .output = output, .overwrite = true};
    if (convert_session(&opts, &result, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(result.duration_ns, want_ns);
    assert_int_equal(number("SELECT duration FROM ANALYSIS_DETAILS"), want_ns);
    convert_result_free(&result);
}

/* Minutes behind the last anchor, of a thread that shares its place in our table with another. */
static void test_last_event(void **state)
{
    (void)state;
    static struct spool_make m;
    begin(&m);
    mark(&m, 41, SECOND);
    mark(&m, 41 + 64, 400 * SECOND);
    mark(&m, 41, 3 * SECOND);
    assert_int_equal(spool_make_end(&m, false), 0);
    check_length(400 * SECOND);
    assert_int_equal(number("SELECT max(start) FROM NVTX_EVENTS WHERE eventType = 34"),
                     400 * SECOND);
}

/* Work of the GPU a minute and more behind the last anchor, with a mark that shows that time went on:
 * it is in the capture. */
static void test_gpu_work(void **state)
{
    (void)state;
    static struct spool_make m;
    begin(&m);
    mark(&m, 41, 100 * SECOND);
    set_memory(&m, 90 * SECOND, 91 * SECOND);
    set_memory(&m, 101 * SECOND, 102 * SECOND);
    assert_int_equal(spool_make_end(&m, false), 0);
    check_length(102 * SECOND);
    assert_int_equal(number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET"), 2);
}

/* A time that no clock can have had: one later than today, one that is not of CUPTI's clock. */
static void test_impossible(void **state)
{
    (void)state;
    static struct spool_make m;
    begin(&m);
    mark(&m, 41, 20 * SECOND);
    mark(&m, 42, INT64_C(2000000000) * SECOND);
    set_memory(&m, 21 * SECOND, 22 * SECOND);
    set_memory(&m, 30 * SECOND, 50000 * SECOND);
    assert_int_equal(spool_make_end(&m, false), 0);
    check_length(22 * SECOND);
    assert_int_equal(number("SELECT count(*) FROM CUTLINE_BAD_TIME"), 1);
}

/* What was lost at the end was a part of the run. */
static void test_lost_end(void **state)
{
    (void)state;
    static struct spool_make m;
    begin(&m);
    mark(&m, 41, 12 * SECOND);
    m.losses.slots[0].key = SPOOL_LOSS_MAX_SIZE << 16 | SPOOL_LOSS_OF_NVTX;
    m.losses.slots[0].count = 9;
    m.losses.slots[0].first_mono_ns = ZERO_MONO + 12 * SECOND;
    m.losses.slots[0].last_mono_ns = ZERO_MONO + 77 * SECOND;
    assert_int_equal(spool_make_end(&m, false), 0);
    check_length(77 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_last_event, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_gpu_work, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_impossible, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_lost_end, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
