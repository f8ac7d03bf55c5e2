/* A format of its own: tables that lie in this program, without SQLite. What a source gives is loaded
 * and reported like the same rows of a SQLite file; what it fails at is said. */
#include <pthread.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/report/report.h"
#include "analysis/store/source.h"
#include "analysis/tests/sql_file.h"

/* A cell: a number, a text, or NULL. */
struct cell {
    const char *text;
    int64_t number;
    bool filled;
};

#define N(value) \
    { \
        NULL, (value), true \
    }
#define T(value) \
    { \
        (value), 0, true \
    }
#define NONE \
    { \
        NULL, 0, false \
    }

enum {
    LIST_COLUMNS = 8,
    LIST_ROWS = 4
};

struct list {
    const char *name;
    const char *columns[LIST_COLUMNS];
    struct cell rows[LIST_ROWS][LIST_COLUMNS];
    int row_count;
};

/* Two kernels, launched by one thread in a range; the names are StringIds rows 7, 8, 9. */
static const struct list LISTS[] = {
    {"StringIds",
     {"id", "value"},
     {{N(7), T("void gemm<float>()")}, {N(8), T("gemm")}, {N(9), T("cudaLaunchKernel_v7000")}},
     3},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {"start", "end", "deviceId", "streamId", "correlationId", "demangledName", "shortName",
      "globalPid"},
     {{N(1000), N(1400), N(0), N(7), N(1), N(7), N(8), N(INT64_C(42) << 24)},
      {N(2000), N(2500), N(0), N(7), N(2), N(7), N(8), N(INT64_C(42) << 24)}},
     2},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     {"start", "end", "globalTid", "correlationId", "nameId"},
     {{N(900), N(950), N((INT64_C(42) << 24) | 43), N(1), N(9)},
      {N(1900), N(1950), N((INT64_C(42) << 24) | 43), N(2), N(9)}},
     2},
    {"NVTX_EVENTS",
     {"start", "end", "eventType", "text", "globalTid", "textId"},
     {{N(800), N(3000), N(59), T("step"), N((INT64_C(42) << 24) | 43), NONE}},
     1},
};

static const char *const SQL =
    "CREATE TABLE StringIds(id, value);"
    "INSERT INTO StringIds VALUES (7,'void gemm<float>()'),(8,'gemm'),(9,'cudaLaunchKernel_v7000');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId,"
    " demangledName, shortName, globalPid);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000,1400,0,7,1,7,8,42<<24),"
    " (2000,2500,0,7,2,7,8,42<<24);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900,950,42<<24|43,1,9),"
    " (1900,1950,42<<24|43,2,9);"
    "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, textId);"
    "INSERT INTO NVTX_EVENTS VALUES (800,3000,59,'step',42<<24|43,NULL);";

/* What the source is given to read from. */
struct memory {
    const struct list *lists;
    size_t count;
    const char *broken; /* a table whose second row cannot be read; NULL: none */
};

struct link {
    struct store *store;
    const struct memory *memory;
};

struct rows {
    const struct link *link;
    const struct list *list;
    int column[LIST_COLUMNS * LIST_COLUMNS]; /* of the list by column of the scan; -1: NULL */
    int64_t at; /* row id, from 1 */
    int64_t end;
};

static void *memory_connect(struct store *store, struct err *err)
{
    struct link *link = calloc(1, sizeof *link);
    (void)err;
    assert_non_null(link);
    link->store = store;
    link->memory = source_input(store);
    return link;
}

static const struct list *list_of(const struct link *link, const char *table)
{
    for (size_t i = 0; i < link->memory->count; i++) {
        if (strcmp(link->memory->lists[i].name, table) == 0) {
            return &link->memory->lists[i];
        }
    }
    fail_msg("a table that was not listed: %s", table);
    return NULL;
}

static int memory_list_tables(void *connection, struct err *err)
{
    const struct link *link = connection;
    (void)err;
    for (size_t i = 0; i < link->memory->count; i++) {
        assert_int_equal(source_add_table(link->store, link->memory->lists[i].name), 0);
    }
    return 0;
}

static void memory_list_columns(void *connection, const char *table)
{
    const struct link *link = connection;
    const struct list *list = list_of(link, table);
    for (int c = 0; c < LIST_COLUMNS && list->columns[c] != NULL; c++) {
        assert_int_equal(source_add_column(link->store, table, list->columns[c]), 0);
    }
}

static int64_t memory_count(void *connection, const char *table, struct err *err)
{
    (void)err;
    return list_of(connection, table)->row_count;
}

static int64_t memory_last_row(void *connection, const char *table)
{
    return list_of(connection, table)->row_count;
}

static void *memory_scan(void *connection, const struct store_scan *scan, struct err *err)
{
    struct rows *rows = calloc(1, sizeof *rows);
    (void)err;
    assert_non_null(rows);
    rows->link = connection;
    rows->list = list_of(connection, scan->table);
    rows->at = scan->first_row > 1 ? scan->first_row - 1 : 0;
    rows->end = scan->end_row == 0 && scan->first_row == 0 ? INT64_MAX : scan->end_row;
    assert_true(scan->column_count <= (int)ARRAY_LEN(rows->column));
    for (int i = 0; i < scan->column_count; i++) {
        rows->column[i] = -1;
        for (int c = 0; scan->columns[i] != NULL && c < LIST_COLUMNS; c++) {
            if (rows->list->columns[c] != NULL &&
                strcmp(rows->list->columns[c], scan->columns[i]) == 0) {
                rows->column[i] = c;
            }
        }
        assert_true(scan->columns[i] == NULL || rows->column[i] >= 0); /* asked for what is there */
    }
    return rows;
}

static int memory_next(void *rows, struct err *err)
{
    struct rows *self = rows;
    const char *broken = self->link->memory->broken;
    self->at++;
    if (broken != NULL && self->at == 2 && strcmp(broken, self->list->name) == 0) {
        return err_set(err, "%s: row 2 cannot be read", store_path(self->link->store));
    }
    return self->at <= self->list->row_count && self->at < self->end;
}

static const struct cell *cell_at(const struct rows *rows, int column)
{
    static const struct cell nothing = NONE;
    int c = rows->column[column];
    return c < 0 ? &nothing : &rows->list->rows[rows->at - 1][c];
}

static int64_t memory_row_id(void *rows)
{
    return ((struct rows *)rows)->at;
}

static bool memory_is_null(void *rows, int column)
{
    return !cell_at(rows, column)->filled;
}

static int64_t memory_integer(void *rows, int column)
{
    return cell_at(rows, column)->number;
}

static double memory_real(void *rows, int column)
{
    return (double)cell_at(rows, column)->number;
}

static const char *memory_text(void *rows, int column, size_t *len)
{
    const char *text = cell_at(rows, column)->text;
    *len = text == NULL ? 0 : strlen(text);
    return text;
}

static const struct source SOURCE_MEMORY = {
    .connect = memory_connect,
    .disconnect = free,
    .list_tables = memory_list_tables,
    .list_columns = memory_list_columns,
    .count = memory_count,
    .last_row = memory_last_row,
    .scan = memory_scan,
    .next = memory_next,
    .close = free,
    .row_id = memory_row_id,
    .is_null = memory_is_null,
    .integer = memory_integer,
    .real = memory_real,
    .text = memory_text,
};

static struct trace *load_memory(struct memory *memory, const struct trace_options *options,
                                 struct err *err)
{
    struct store_file *file = source_file(&SOURCE_MEMORY, memory, "memory", err);
    struct trace *trace = file == NULL ? NULL : trace_load_file(file, options, err);
    store_file_close(file);
    return trace;
}

static struct trace *load_whole(struct memory *memory, const struct trace_options *options)
{
    struct err err = {""};
    struct trace *trace = load_memory(memory, options, &err);
    if (trace == NULL) {
        fail_msg("%s", err.text);
    }
    assert_null(trace_broken(trace));
    return trace;
}

static int put_text(void *arg, const char *data, size_t len)
{
    buf_add(arg, data, len);
    return 0;
}

/* A report of the trace as CSV; it reads rows that the model does not keep. */
static void run_report(const struct trace *trace, const char *name, struct buf *out)
{
    static const struct table_output output = {.format = TABLE_FORMAT_CSV, .time_unit_ns = 1};
    const struct select_options options = SELECT_OPTIONS_ALL;
    const struct table_sink sink = {put_text, out};
    struct report_result result = {0};
    struct report_call call;
    struct err err = {""};
    struct shared *shared = shared_new(trace, &err);
    assert_int_equal(report_call_parse(REPORT_STATS, name, &call, &err), 0);
    if (report_run(shared, &call, &options, &result, &err) != 0) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(result.status, REPORT_ROWS);
    assert_int_equal(table_write(result.table, &output, &sink, &err), 0);
    report_result_free(&result);
    report_call_free(&call);
    shared_free(shared);
}

static void test_same_as_sqlite(void **state)
{
    static const char *const reports[] = {"cuda_gpu_kern_sum", "cuda_gpu_trace", "cuda_api_trace",
                                          "cuda_kern_exec_trace", "nvtx_pushpop_trace"};
    struct memory memory = {LISTS, ARRAY_LEN(LISTS), NULL};
    struct trace *ours = load_whole(&memory, NULL);
    struct sql_file file = {""};
    (void)state;
    sql_file_new(&file);
    sql_file_run(&file, SQL);
    struct trace *theirs = sql_file_load(&file, NULL);
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        struct buf a = {0};
        struct buf b = {0};
        run_report(ours, reports[i], &a);
        run_report(theirs, reports[i], &b);
        assert_string_equal(buf_text(&a), buf_text(&b));
        assert_true(i > 0 || strstr(buf_text(&a), "900,2,450") != NULL);
        buf_free(&a);
        buf_free(&b);
    }
    sql_file_remove(&file);
    trace_free(theirs);
    trace_free(ours);
}

/* Names, links and ranges are there, however the rows were cut and by however many threads. */
static void test_model(void **state)
{
    static const struct trace_options pieces = {.threads = 4, .piece_rows = 1};
    struct memory memory = {LISTS, ARRAY_LEN(LISTS), NULL};
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct trace *trace = load_whole(&memory, cut == 0 ? NULL : &pieces);
        const struct trace_events *gpu = &trace->events[TRACE_GPU];
        assert_string_equal(trace->path, "memory");
        assert_int_equal(gpu->count, 2);
        assert_string_equal(trace->names[gpu->name[0]].full, "void gemm<float>()");
        assert_string_equal(trace->names[gpu->name[0]].brief, "gemm");
        assert_int_equal(gpu->link[1], 1);
        assert_int_equal(trace->events[TRACE_NVTX].count, 1);
        assert_int_equal(trace->processes[0].pid, 42);
        assert_int_equal(trace_check(trace, NULL), 0);
        trace_free(trace);
    }
}

static void test_failures_are_said(void **state)
{
    struct memory cut = {LISTS, ARRAY_LEN(LISTS), "CUPTI_ACTIVITY_KIND_KERNEL"};
    struct memory nothing = {LISTS, 0, NULL};
    struct memory lone = {LISTS, 1, NULL};
    struct err err = {""};
    (void)state;
    assert_null(load_memory(&cut, NULL, &err));
    assert_string_equal(err.text, "memory: row 2 cannot be read");
    assert_null(load_memory(&nothing, NULL, &err));
    assert_non_null(strstr(err.text, "without any table"));
    assert_null(load_memory(&lone, NULL, &err));
    assert_non_null(strstr(err.text, "none of the tables"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_sqlite),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_failures_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
