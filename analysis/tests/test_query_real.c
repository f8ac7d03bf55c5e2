/*
 * Lists, filters, projection, overlap, waits on real captures, against SQL over the same files.
 * Skipped where these are missing.
 */
#include <sys/stat.h>

#include "analysis/tests/sql_file.h"
#include "analysis/timeline/lists.h"
#include "analysis/timeline/overlap.h"
#include "analysis/timeline/packing.h"
#include "analysis/timeline/projection.h"
#include "analysis/timeline/relate.h"

enum {
    SKIPPED = 77
};

static const char *const captures[] = {
    "h100-2gpu-1s", "mfu-2gpu-before", "lm-2.7b-nvtx",   "gtls-23k-kernels", "jacobi-gh200",
    "saxpy-mpi",    "power-iteration", "minimal-schema", "schema-2020",      "lm-2.7b-cudagraph",
};

enum {
    CAPTURES = sizeof captures / sizeof captures[0]
};

static void capture_path(const char *name, struct sql_file *file)
{
    const char *folder = getenv("CUTLINE_CAPTURES");
    (void)snprintf(file->path, sizeof file->path, "%s/%s.sqlite",
                   folder == NULL ? "../shared/captures" : folder, name);
}

/* A capture opened both ways. */
struct both {
    struct trace *trace;
    struct facts *facts;
    sqlite3 *db;
};

static void both_open(struct both *both, const char *name)
{
    struct sql_file file;
    capture_path(name, &file);
    both->trace = sql_file_load(&file, NULL);
    both->facts = facts_new(both->trace, NULL);
    assert_non_null(both->facts);
    assert_int_equal(sqlite3_open_v2(file.path, &both->db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
}

static void both_close(struct both *both)
{
    facts_free(both->facts);
    trace_free(both->trace);
    assert_int_equal(sqlite3_close(both->db), SQLITE_OK);
}

/* Does a table have the columns of this statement? */
static bool sql_works(const struct both *both, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(both->db, sql, -1, &statement, NULL);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_OK;
}

/* The integers of the first row, -1 for NULL; parameters ?1 ?2 are a and b. */
static void sql_row(const struct both *both, const char *sql, int64_t a, int64_t b, int columns,
                    int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(both->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(both->db));
    }
    if (sqlite3_bind_parameter_count(statement) > 0) {
        assert_int_equal(sqlite3_bind_int64(statement, 1, a), SQLITE_OK);
    }
    if (sqlite3_bind_parameter_count(statement) > 1) {
        assert_int_equal(sqlite3_bind_int64(statement, 2, b), SQLITE_OK);
    }
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    for (int c = 0; c < columns; c++) {
        out[c] = sqlite3_column_type(statement, c) == SQLITE_NULL
                     ? -1
                     : sqlite3_column_int64(statement, c);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

/* Kernels and API calls by name in windows: count, whole and inside time, extremes. */
static void check_list(const struct both *both, const char *table, const char *name_column,
                       const char *also, uint32_t kind)
{
    const struct trace *trace = both->trace;
    struct list list = {0};
    char sql[1024];
    int64_t span_ns = trace->end_ns - trace->begin_ns;
    (void)snprintf(
        sql, sizeof sql,
        "SELECT count(*), count(DISTINCT %s), sum(end - start), min(end - start),"
        " max(end - start), sum(min(end, ?2) - max(start, ?1)) FROM %s"
        " WHERE start < ?2 AND (end > ?1 OR (end = ?1 AND start = ?1)) AND start < end%s",
        name_column, table, also);
    if (!sql_works(both, sql)) {
        return;
    }
    for (int k = 0; k < 8; k++) {
        struct list_query query = LIST_QUERY(trace);
        int64_t want[6];
        query.kinds = 1U << kind;
        query.begin_ns = trace->begin_ns + span_ns * k / 9;
        query.end_ns = k == 0 ? trace->end_ns + 1 : query.begin_ns + span_ns / (k * k + 1);
        sql_row(both, sql, query.begin_ns, query.end_ns, 6, want);
        assert_int_equal(list_make(&query, &list, NULL), 0);
        int64_t total_ns = 0;
        int64_t min_ns = INT64_MAX;
        int64_t max_ns = -1;
        for (size_t i = 0; i < list.count; i++) {
            const struct list_row *row = &list.rows[i];
            total_ns += row->total_ns;
            min_ns = row->min_ns < min_ns ? row->min_ns : min_ns;
            max_ns = row->max_ns > max_ns ? row->max_ns : max_ns;
        }
        assert_int_equal(list.events, want[0]);
        if (want[0] == 0) {
            continue;
        }
        assert_int_equal(list.count, want[1]);
        assert_int_equal(total_ns, want[2]);
        assert_int_equal(min_ns, want[3]);
        assert_int_equal(max_ns, want[4]);
        assert_int_equal(list.inside_ns, want[5]);
    }
    list_free(&list);
}

static void test_lists(void **state)
{
    (void)state;
    for (size_t c = 0; c < CAPTURES; c++) {
        struct both both;
        both_open(&both, captures[c]);
        check_list(&both, "CUPTI_ACTIVITY_KIND_KERNEL",
                   "demangledName || '/' || shortName || '/' || coalesce(mangledName, '')", "",
                   TRACE_KERNEL);
        check_list(&both, "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId",
                   " AND eventClass IN (0, 1, 13, 26)", TRACE_API_CALL);
        both_close(&both);
    }
}

/* What a filter keeps, counted by SQL: the condition is about KERNEL k and its call r. */
static const struct {
    const char *filter;
    const char *condition;
} filters[] = {
    {"kind:kernel stream:7", "k.streamId = 7"},
    {"kind:kernel -stream:7", "k.streamId <> 7"},
    {"kind:kernel dur>10us", "k.end - k.start > 10000"},
    {"kind:kernel dur<=2us stream:7-20", "k.end - k.start <= 2000 AND k.streamId BETWEEN 7 AND 20"},
    {"kind:kernel context:1", "k.contextId = 1"},
    {"kind:kernel /gemm/",
     "(SELECT value LIKE '%gemm%' FROM StringIds WHERE id = k.demangledName) OR"
     " (SELECT value LIKE '%gemm%' FROM StringIds WHERE id = k.shortName)"},
    {"kind:kernel nvtx:/e/",
     "EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN NVTX_EVENTS n"
     " ON n.globalTid = r.globalTid AND n.eventType IN (59, 60)"
     " AND n.start <= r.start AND r.start < n.end"
     " LEFT JOIN StringIds s ON s.id = n.textId"
     " WHERE r.correlationId = k.correlationId AND r.eventClass IN (0, 1, 13, 26)"
     " AND r.globalTid >> 24 = k.globalPid >> 24 AND coalesce(n.text, s.value) LIKE '%e%')"},
};

static void test_filters(void **state)
{
    int checked = 0;
    (void)state;
    for (size_t c = 0; c < CAPTURES; c++) {
        struct both both;
        both_open(&both, captures[c]);
        for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++) {
            char sql[1024];
            int64_t want = 0;
            (void)snprintf(sql, sizeof sql,
                           "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE (%s)",
                           filters[f].condition);
            if (!sql_works(&both, sql)) {
                continue;
            }
            /* Each range of 17,000 with each kernel is too much for SQL: only where it is quick. */
            if (strstr(sql, "NVTX") != NULL && both.trace->events[TRACE_NVTX].count > 1000) {
                continue;
            }
            sql_row(&both, sql, 0, 0, 1, &want);
            const char *text = filters[f].filter;
            struct terms *terms =
                terms_new(both.facts, text, strlen(text), TERMS_KINDS_GPU, NULL, NULL);
            int64_t got = 0;
            for (uint32_t i = 0; i < both.trace->events[TRACE_GPU].count; i++) {
                got += terms_has(terms, TRACE_GPU, i) ? 1 : 0;
            }
            if (got != want) {
                print_message("%s: %s\n", captures[c], text);
            }
            assert_int_equal(got, want);
            terms_free(terms);
            checked++;
        }
        both_close(&both);
    }
    assert_true(checked > 50);
}

/* The sums of projected ranges by the definition, in SQL: calls inside the range on its thread. */
static void test_projection(void **state)
{
    static const char *const small[] = {"lm-2.7b-nvtx", "jacobi-gh200", "power-iteration"};
    static const char sql[] =
        "WITH op AS (SELECT start, end, correlationId c, globalPid p, deviceId d"
        " FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end, correlationId, globalPid,"
        " deviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL SELECT start, end, correlationId,"
        " globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_MEMSET),"
        " launched AS (SELECT op.*, r.start call0, r.end call1, r.globalTid tid FROM op JOIN"
        " CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = op.c AND"
        " r.globalTid >> 24 = op.p >> 24 AND r.eventClass IN (0, 1, 13, 26)),"
        " hit AS (SELECT n.rowid range, l.d, min(l.start) first, max(l.end) last, count(*) ops"
        " FROM NVTX_EVENTS n JOIN launched l ON l.tid = n.globalTid AND l.call0 >= n.start"
        " AND l.call1 <= n.end WHERE n.eventType = 59 GROUP BY 1, 2)"
        " SELECT count(*), sum(first), sum(last), sum(ops) FROM hit";
    (void)state;
    for (size_t c = 0; c < sizeof small / sizeof small[0]; c++) {
        struct both both;
        int64_t want[4];
        both_open(&both, small[c]);
        if (sql_works(&both, sql)) {
            sql_row(&both, sql, 0, 0, 4, want);
            struct projection *projection = projection_new(both.trace, NULL);
            int64_t first_ns = 0;
            int64_t last_ns = 0;
            int64_t ops = 0;
            assert_non_null(projection);
            for (uint32_t i = 0; i < projection->count; i++) {
                first_ns += projection->list[i].begin_ns;
                last_ns += projection->list[i].end_ns;
                ops += projection->list[i].ops;
            }
            assert_int_equal(projection->count, want[0]);
            assert_int_equal(first_ns, want[0] == 0 ? 0 : want[1]);
            assert_int_equal(last_ns, want[0] == 0 ? 0 : want[2]);
            assert_int_equal(ops, want[0] == 0 ? 0 : want[3]);
            projection_free(projection);
        }
        both_close(&both);
    }
}

/* What overlaps: the parts make up the whole, and everything but idle is the device's busy time. */
static void test_overlap(void **state)
{
    (void)state;
    for (size_t c = 0; c < CAPTURES; c++) {
        struct both both;
        both_open(&both, captures[c]);
        const struct trace *trace = both.trace;
        struct overlap *overlap = overlap_new(trace, NULL, NULL);
        assert_non_null(overlap);
        for (uint32_t d = 0; d < trace->device_count; d++) {
            const struct trace_device *device = &trace->devices[d];
            struct overlap_sums sums = overlap_in(overlap, d, trace->begin_ns, trace->end_ns);
            struct overlap_parts parts = overlap_parts(&sums);
            int64_t busy_ns = device->busy_sum_ns[device->busy_count];
            assert_int_equal(trace->end_ns - trace->begin_ns - parts.idle_ns, busy_ns);
            assert_int_equal(parts.compute_only_ns + parts.communication_only_ns + parts.both_ns +
                                 parts.copy_only_ns,
                             busy_ns);
        }
        overlap_free(overlap);
        both_close(&both);
    }
}

/* All streams packed: as many ops, as much time, no row with an overlap. */
static void test_packs(void **state)
{
    (void)state;
    for (size_t c = 0; c < CAPTURES; c++) {
        struct both both;
        both_open(&both, captures[c]);
        const struct trace *trace = both.trace;
        const struct trace_events *gpu = &trace->events[TRACE_GPU];
        uint32_t *lanes = calloc((size_t)trace->lane_count + 1, sizeof *lanes);
        uint32_t count = 0;
        struct packs packs;
        assert_non_null(lanes);
        for (uint32_t l = 0; l < trace->lane_count; l++) {
            if (trace->lanes[l].table == TRACE_GPU) {
                lanes[count++] = l;
            }
        }
        assert_int_equal(packs_make(trace, lanes, count, &packs, NULL), 0);
        assert_int_equal(packs.count, gpu->count);
        assert_true(packs.row_count <= count);
        int64_t busy_ns = 0;
        for (uint32_t r = 0; r < packs.row_count; r++) {
            for (uint32_t i = packs.row_first[r]; i < packs.row_first[r + 1]; i++) {
                busy_ns += packs.end_ns[i] - packs.begin_ns[i];
                assert_true(i == packs.row_first[r] || packs.end_ns[i - 1] <= packs.begin_ns[i]);
            }
        }
        assert_int_equal(busy_ns, trace->gpu_busy_ns[gpu->count]);
        packs_free(&packs);
        free(lanes);
        both_close(&both);
    }
}

/* Waits: each row of the file with a call is found; records by event number. */
static void test_syncs(void **state)
{
    static const char all[] =
        "WITH r AS (SELECT DISTINCT correlationId c, globalTid >> 24 p FROM"
        " CUPTI_ACTIVITY_KIND_RUNTIME) SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s"
        " JOIN r ON r.c = s.correlationId AND r.p = s.globalPid >> 24";
    static const char with_record[] =
        "WITH r AS (SELECT DISTINCT correlationId c, globalTid >> 24 p FROM"
        " CUPTI_ACTIVITY_KIND_RUNTIME), e AS (SELECT eventId, globalPid, min(correlationId) first"
        " FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT JOIN r ON r.c = correlationId AND r.p = globalPid >> "
        "24"
        " GROUP BY 1, 2) SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN e ON"
        " e.eventId = s.eventId AND e.globalPid = s.globalPid AND e.first < s.correlationId"
        " WHERE s.eventId < 4294967295";
    int64_t records = 0;
    (void)state;
    for (size_t c = 0; c < CAPTURES; c++) {
        struct both both;
        struct relate_syncs syncs;
        int64_t want = 0;
        both_open(&both, captures[c]);
        assert_int_equal(relate_syncs_load(both.facts, &syncs, NULL), 0);
        if (sql_works(&both, all)) {
            sql_row(&both, all, 0, 0, 1, &want);
            assert_int_equal(syncs.count, want);
        }
        if (sql_works(&both, with_record)) {
            sql_row(&both, with_record, 0, 0, 1, &want);
            assert_int_equal(syncs.record_count, want);
            records += want;
        }
        for (size_t i = 0; i < syncs.count; i++) {
            const struct trace_events *api = &both.trace->events[TRACE_API];
            const struct relate_sync *sync = &syncs.list[i];
            uint32_t op_call =
                sync->op != TRACE_NONE ? both.trace->events[TRACE_GPU].link[sync->op] : TRACE_NONE;
            uint32_t since = sync->record != TRACE_NONE ? sync->record : sync->wait;
            if (op_call != TRACE_NONE) {
                assert_true(api->begin_ns[op_call] < api->begin_ns[since]);
            }
        }
        relate_syncs_free(&syncs);
        both_close(&both);
    }
    assert_true(records > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),   cmocka_unit_test(test_filters),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_projection),
        cmocka_unit_test(test_packs),   cmocka_unit_test(test_syncs),
    };
    struct sql_file file;
    struct stat info;
    capture_path(captures[0], &file);
    if (stat(file.path, &info) != 0) {
        print_message("skipped: no real captures\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
