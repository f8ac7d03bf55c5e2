/* The converter on spools whose content is known: every row is asked for with SQL. */
#include <dirent.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/convert/convert.h"
#include "capture/spool/session.h"
#include "capture/tests/spool_make.h"

enum {
    ZERO_MONO = 1000000000,
};

#define ZERO_REAL INT64_C(1700000000000000000)

static char folder[64];
static char output[128];

static const char *spool_path(int n)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/host.%d.1.0%s", folder, n, SPOOL_SUFFIX);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/cutline-convert-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(output, sizeof output, "%s/out.sqlite", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    char path[512];
    DIR *dir = opendir(folder);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(dir);
    return rmdir(folder);
}

/* A spool whose clocks are those of the test: monotonic time from ZERO_MONO, anchors up to 100 s.
 */
static void begin(struct spool_make *m, int n, uint32_t pid)
{
    spool_make_begin(m, spool_path(n), pid);
    m->header.created_real_ns = ZERO_REAL;
    m->header.created_mono_ns = ZERO_MONO;
    m->sizes[CUPTI_KIND_RUNTIME] = 40;
    m->sizes[CUPTI_KIND_DRIVER] = 40;
    m->sizes[CUPTI_KIND_CONCURRENT_KERNEL] = 208;
    m->sizes[CUPTI_KIND_MEMCPY] = 96;
    m->sizes[CUPTI_KIND_MEMCPY2] = 96;
    m->sizes[CUPTI_KIND_MEMSET] = 88;
    m->sizes[CUPTI_KIND_SYNCHRONIZATION] = 56;
    m->sizes[CUPTI_KIND_OVERHEAD] = 56;
    m->sizes[CUPTI_KIND_DEVICE] = 184;
    m->sizes[CUPTI_KIND_CONTEXT] = 32;
    m->sizes[CUPTI_KIND_STREAM] = 24;
    m->sizes[CUPTI_KIND_MEMORY2] = 128;
    m->sizes[CUPTI_KIND_GRAPH_TRACE] = 56;
    m->sizes[CUPTI_KIND_CUDA_EVENT] = 56;
    for (int64_t s = 0; s <= 100; s++) {
        spool_make_anchor(m, ZERO_REAL + s * 1000000000, ZERO_MONO + s * 1000000000, 0, 0);
    }
}

static void converted(struct convert_result *result)
{
    struct err err = {0};
    struct convert_opts opts = {.session = folder, .output = output, .overwrite = true};
    if (convert_session(&opts, result, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* All rows of a query: columns joined by ',', rows by ' '. */
static const char *ask(const char *sql)
{
    static char answer[4096];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    size_t at = 0;
    answer[0] = '\0';
    assert_int_equal(sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *text = (const char *)sqlite3_column_text(stmt, i);
            at += (size_t)snprintf(answer + at, sizeof answer - at, "%s%s",
                                   i    ? ","
                                   : at ? " "
                                        : "",
                                   text ? text : "-");
        }
    }
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return answer;
}

static void nvtx(struct spool_make *m, struct spool_make_nvtx record)
{
    record.time += ZERO_MONO;
    spool_make_nvtx(m, &record);
}

#define TEXT SPOOL_NVTX_TEXT

static void test_nvtx_pairs(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    begin(&m, 1, 50);
    spool_make_string(&m, 3, "registered", 0);
    spool_make_meta(&m, (struct spool_meta){.kind = SPOOL_META_DOMAIN, .domain = 2}, "NCCL", 4);
    /* thread 51: a > (domain 2: b, crossing) > c; an open push; a pop too many in domain 2 */
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 51, .time = 10, .text = "a"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, SPOOL_NVTX_STRING, 2, .tid = 51, .time = 20,
                                      .string = 3});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 51, .time = 30, .text = "c"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 51, .time = 40});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 51, .time = 50});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .domain = 2, .tid = 51, .time = 60});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .domain = 2, .tid = 51, .time = 70});
    nvtx(&m,
         (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 51, .time = 80, .text = "open"});
    /* the end comes from another thread, whose segment is before that of the start */
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_END, SPOOL_NVTX_RANGE, .tid = 52, .time = 95,
                                      .range = 7});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_START, SPOOL_NVTX_RANGE | TEXT, .tid = 53,
                                      .time = 15, .range = 7, .text = "across"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_START, SPOOL_NVTX_RANGE | TEXT, .tid = 53,
                                      .time = 16, .range = 8, .text = "never"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_END, SPOOL_NVTX_RANGE, .tid = 53, .time = 99,
                                      .range = 9});
    nvtx(&m, (struct spool_make_nvtx){
                 SPOOL_NVTX_MARK, SPOOL_NVTX_ATTR | SPOOL_NVTX_CATEG | SPOOL_NVTX_PAYLOAD | TEXT,
                 .tid = 53, .time = 100, .color = 0xFF00FF00U, .category = 5, .payload_type = 5,
                 .payload = (uint32_t)-12, .text = "mark\xFF"});
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(
        ask("SELECT n.start, n.\"end\", eventType, coalesce(text, 'id:' || value), "
            "globalTid & 0xFFFFFF, endGlobalTid & 0xFFFFFF, domainId, rangeId FROM NVTX_EVENTS n "
            "LEFT JOIN StringIds s ON s.id = textId WHERE eventType != 34"),
        "0,-,75,NCCL,50,-,2,- 10,50,59,a,51,-,0,- 15,95,60,across,53,52,0,7 "
        "16,-,60,never,53,-,0,8 20,60,59,id:registered,51,-,2,- 30,40,59,c,51,-,0,- "
        "80,-,59,open,51,-,0,-");
    assert_string_equal(ask("SELECT start, \"end\", text, color, category, int32Value, uint32Value "
                            "FROM NVTX_EVENTS WHERE eventType = 34"),
                        "100,-,mark\xEF\xBF\xBD,4278255360,5,-12,-");
    assert_string_equal(ask("SELECT kind, reason, count FROM CUTLINE_LOSS ORDER BY 2"),
                        "NVTX,end without a start,1 NVTX,pop without a push,1");
    assert_int_equal(result.processes_n, 1);
    assert_int_equal(result.processes[0].nvtx, 7);
    assert_int_equal(result.processes[0].open_ranges, 2);
    assert_true(result.processes[0].sealed);
    convert_result_free(&result);
}

static void test_nvtx_payloads(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    double real = 2.5;
    float single = 1.25F;
    uint64_t bits = 0;
    uint32_t half = 0;
    memcpy(&bits, &real, sizeof bits);
    memcpy(&half, &single, sizeof half);
    const uint64_t payloads[] = {0, UINT64_MAX, (uint64_t)-5, bits, UINT32_MAX, 7, half};
    begin(&m, 1, 50);
    for (uint32_t type = 1; type <= 6; type++) {
        nvtx(&m,
             (struct spool_make_nvtx){SPOOL_NVTX_MARK, SPOOL_NVTX_PAYLOAD, .tid = 1, .time = type,
                                      .payload_type = type, .payload = payloads[type]});
    }
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_MARK, SPOOL_NVTX_BLOB | TEXT, .tid = 1, .time = 7,
                                      .schema = 16777217, .blob = "\1\0\0\0\2", .blob_bytes = 5,
                                      .text = "blob"});
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT uint64Value, int64Value, doubleValue, uint32Value, int32Value, "
                            "floatValue, hex(binaryData), text FROM NVTX_EVENTS"),
                        "-1,-,-,-,-,-,,- -,-5,-,-,-,-,,- -,-,2.5,-,-,-,,- -,-,-,4294967295,-,-,,- "
                        "-,-,-,-,7,-,,- -,-,-,-,-,1.25,,- -,-,-,-,-,-,"
                        "0000000000000000010000010000000005000000000000002000000000000000"
                        "0100000002,blob");
    convert_result_free(&result);
}

/* Records of one thread out of order (a ring): they are sorted before they are paired. */
static void test_nvtx_disorder(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    begin(&m, 1, 50);
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 1, .time = 30, .text = "late"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 1, .time = 40});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 1, .time = 10, .text = "one"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 1, .time = 12, .text = "two"});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 1, .time = 14});
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 1, .time = 50});
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT start, \"end\", text FROM NVTX_EVENTS"),
                        "10,50,one 12,14,two 30,40,late");
    assert_string_equal(ask("SELECT count(*) FROM sqlite_master WHERE name = 'CUTLINE_LOSS'"), "0");
    convert_result_free(&result);
}

/* Pushes and pops that are missing are counted, and their neighbours are paired rightly. */
static void test_nvtx_levels(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    static const struct {
        uint8_t type;
        uint16_t level;
        const char *text;
    } records[] = {
        {SPOOL_NVTX_PUSH, 1, "a"},
        {SPOOL_NVTX_PUSH, 2, "b"}, /* its pop is lost */
        {SPOOL_NVTX_POP, 1, NULL},
        {SPOOL_NVTX_PUSH, 1, "c"},
        {SPOOL_NVTX_POP, 2, NULL}, /* its push is lost */
        {SPOOL_NVTX_POP, 1, NULL},
        {SPOOL_NVTX_PUSH, 1, "d"}, /* its pop is lost */
        {SPOOL_NVTX_PUSH, 1, "e"},
        {SPOOL_NVTX_POP, 1, NULL},
        {SPOOL_NVTX_POP, SPOOL_LEVEL_NONE, NULL}, /* of nothing */
        {SPOOL_NVTX_PUSH, 1, "f"}, /* open */
    };
    begin(&m, 1, 50);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        nvtx(&m, (struct spool_make_nvtx){records[i].type, records[i].text == NULL ? 0 : TEXT,
                                          .tid = 1, .time = 10 * i, .level = records[i].level,
                                          .text = records[i].text});
    }
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT text, start, \"end\" FROM NVTX_EVENTS"),
                        "a,0,20 b,10,- c,30,50 d,60,- e,70,80 f,100,-");
    assert_string_equal(ask("SELECT kind, reason, count FROM CUTLINE_LOSS ORDER BY 2"),
                        "NVTX,end of a range,2 NVTX,pop without a push,2");
    assert_int_equal(result.processes[0].open_ranges, 1);
    convert_result_free(&result);
}

/* A text that an earlier record of the segment holds is that of each record which points at it, in
 * order or not; a pointer to nowhere is damage. */
static void test_nvtx_repeats(void **state)
{
    enum {
        TEXT_AT = 2 * sizeof(struct spool_nvtx) + sizeof(uint32_t),
        REPEAT = SPOOL_NVTX_REPEAT
    };
    (void)state;
    for (uint64_t late = 0; late <= 100; late += 100) {
        static struct spool_make m;
        static struct convert_result result;
        begin(&m, 1, 50);
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, TEXT, .tid = 1, .time = 10 + late,
                                          .text = "forward pass"});
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 1, .time = 20 + late});
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_PUSH, REPEAT, .tid = 1, .time = 30,
                                          .repeat_at = TEXT_AT, .repeat_bytes = 12});
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_MARK, REPEAT, .tid = 1, .time = 35,
                                          .repeat_at = TEXT_AT, .repeat_bytes = 7});
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_POP, .tid = 1, .time = 40});
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_MARK, REPEAT, .tid = 1, .time = 45,
                                          .repeat_at = 1 << 20, .repeat_bytes = 7});
        assert_int_equal(spool_make_end(&m, true), 0);
        converted(&result);
        assert_string_equal(ask("SELECT eventType, text, \"end\" - start FROM NVTX_EVENTS"),
                            late == 0 ? "59,forward pass,10 59,forward pass,10 34,forward,-"
                                      : "59,forward pass,10 34,forward,- 59,forward pass,10");
        assert_string_equal(ask("SELECT kind, reason, count FROM CUTLINE_LOSS"),
                            "spool,damaged record,1");
        convert_result_free(&result);
    }
}

/* ---- CUPTI ----------------------------------------------------------------------------------- */

static uint64_t record_words[32];
static void *const record = record_words;

static void fresh(void)
{
    memset(record, 0, sizeof record_words);
}

static void set_times(enum cupti_field start, int64_t from, enum cupti_field end, int64_t to)
{
    spool_make_set(record, start, (uint64_t)(ZERO_REAL + from));
    spool_make_set(record, end, (uint64_t)(ZERO_REAL + to));
}

static void add_kernel(struct spool_make *m, int64_t from, int64_t to, uint32_t correlation,
                       uint64_t name)
{
    fresh();
    set_times(CUPTI_KERNEL_START, from, CUPTI_KERNEL_END, to);
    spool_make_set(record, CUPTI_KERNEL_CORRELATION_ID, correlation);
    spool_make_set(record, CUPTI_KERNEL_NAME, name);
    spool_make_set(record, CUPTI_KERNEL_GRID_X, 8);
    spool_make_set(record, CUPTI_KERNEL_BLOCK_X, 256);
    spool_make_set(record, CUPTI_KERNEL_REGISTERS_PER_THREAD, 40);
    spool_make_set(record, CUPTI_KERNEL_CACHE_CONFIG, 0x12);
    spool_make_set(record, CUPTI_KERNEL_LAUNCH_TYPE, 1);
    spool_make_set(record, CUPTI_KERNEL_STREAM_ID, 7);
    spool_make_set(record, CUPTI_KERNEL_LOCAL_MEMORY_TOTAL_V2, UINT64_C(5000000000));
    spool_make_cupti(m, CUPTI_KIND_CONCURRENT_KERNEL, record, SPOOL_STATE_SCANNED);
}

static void add_call(struct spool_make *m, uint32_t kind, uint32_t cbid, int64_t from, int64_t to,
                     uint32_t correlation)
{
    fresh();
    set_times(CUPTI_API_START, from, CUPTI_API_END, to);
    spool_make_set(record, CUPTI_API_CBID, cbid);
    spool_make_set(record, CUPTI_API_THREAD_ID, 51);
    spool_make_set(record, CUPTI_API_CORRELATION_ID, correlation);
    spool_make_cupti(m, kind, record, SPOOL_STATE_SCANNED);
}

static void add_machine(struct spool_make *m)
{
    fresh();
    spool_make_set(record, CUPTI_DEVICE_ID, 0);
    spool_make_set(record, CUPTI_DEVICE_NAME, SPOOL_NAME_TAG | 2);
    spool_make_set(record, CUPTI_DEVICE_GLOBAL_MEMORY_SIZE, UINT64_C(80000000000));
    spool_make_set(record, CUPTI_DEVICE_CORE_CLOCK_RATE, 1710000);
    memcpy((char *)record + CUPTI_DEVICE_UUID_OFFSET, "0123456789abcdef", 16);
    spool_make_describe(m, CUPTI_KIND_DEVICE, record);
    spool_make_describe(m, CUPTI_KIND_DEVICE, record);
    fresh();
    spool_make_set(record, CUPTI_CONTEXT_CONTEXT_ID, 1);
    spool_make_set(record, CUPTI_CONTEXT_DEVICE_ID, 3);
    spool_make_set(record, CUPTI_CONTEXT_NULL_STREAM_ID, 7);
    spool_make_describe(m, CUPTI_KIND_CONTEXT, record);
    fresh();
    spool_make_set(record, CUPTI_STREAM_CONTEXT_ID, 1);
    spool_make_set(record, CUPTI_STREAM_STREAM_ID, 13);
    spool_make_set(record, CUPTI_STREAM_PRIORITY, (uint32_t)-5);
    spool_make_set(record, CUPTI_STREAM_FLAG, 2);
    spool_make_describe(m, CUPTI_KIND_STREAM, record);
}

static void add_copies(struct spool_make *m)
{
    fresh();
    set_times(CUPTI_MEMCPY_START, 500, CUPTI_MEMCPY_END, 600);
    spool_make_set(record, CUPTI_MEMCPY_COPY_KIND, 1);
    spool_make_set(record, CUPTI_MEMCPY_SRC_KIND, 2);
    spool_make_set(record, CUPTI_MEMCPY_DST_KIND, 3);
    spool_make_set(record, CUPTI_MEMCPY_BYTES, 4096);
    spool_make_cupti(m, CUPTI_KIND_MEMCPY, record, SPOOL_STATE_SCANNED);
    fresh();
    set_times(CUPTI_MEMCPY2_START, 700, CUPTI_MEMCPY2_END, 800);
    spool_make_set(record, CUPTI_MEMCPY2_COPY_KIND, 10);
    spool_make_set(record, CUPTI_MEMCPY2_SRC_KIND, 3);
    spool_make_set(record, CUPTI_MEMCPY2_DST_KIND, 0);
    spool_make_set(record, CUPTI_MEMCPY2_DST_DEVICE_ID, 1);
    spool_make_set(record, CUPTI_MEMCPY2_BYTES, 64);
    spool_make_cupti(m, CUPTI_KIND_MEMCPY2, record, SPOOL_STATE_SCANNED);
}

static void add_waits(struct spool_make *m)
{
    fresh();
    set_times(CUPTI_SYNC_START, 5000, CUPTI_SYNC_END, 5100);
    spool_make_set(record, CUPTI_SYNC_TYPE, 3);
    spool_make_set(record, CUPTI_SYNC_CONTEXT_ID, 1);
    spool_make_set(record, CUPTI_SYNC_STREAM_ID, 7);
    spool_make_set(record, CUPTI_SYNC_CUDA_EVENT_ID, UINT32_MAX);
    spool_make_cupti(m, CUPTI_KIND_SYNCHRONIZATION, record, SPOOL_STATE_SCANNED);
    for (uint32_t kind = 2; kind <= 5; kind += 3) {
        fresh();
        set_times(CUPTI_OVERHEAD_START, 10, CUPTI_OVERHEAD_END, 20);
        spool_make_set(record, CUPTI_OVERHEAD_OVERHEAD_KIND, kind << 16);
        spool_make_cupti(m, CUPTI_KIND_OVERHEAD, record, SPOOL_STATE_SCANNED);
    }
}

static void test_cupti_rows(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    begin(&m, 1, 50);
    spool_make_string(&m, 1, "_Z5saxpyPdS_S_di", 0);
    spool_make_string(&m, 2, "NVIDIA Test", 0);
    add_machine(&m);
    /* out of order on purpose */
    add_call(&m, CUPTI_KIND_RUNTIME, 211, 2000, 2100, 12);
    add_kernel(&m, 2200, 2300, 12, SPOOL_NAME_TAG | 1);
    add_kernel(&m, 1200, 1300, 11, SPOOL_NAME_TAG | 1);
    add_call(&m, CUPTI_KIND_RUNTIME, 211, 1000, 1100, 11);
    add_call(&m, CUPTI_KIND_DRIVER, 307, 3000, 3100, 13);
    add_call(&m, CUPTI_KIND_RUNTIME, 65000, 4000, 4100, 14);
    add_copies(&m);
    add_waits(&m);
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(
        ask("SELECT start, r.\"end\", eventClass, globalTid & 0xFFFFFF, correlationId, value FROM "
            "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = nameId"),
        "1000,1100,0,51,11,cudaLaunchKernel_v7000 2000,2100,0,51,12,cudaLaunchKernel_v7000 "
        "3000,3100,1,51,13,cuLaunchKernel 4000,4100,0,51,14,CUDA runtime call 65000");
    assert_string_equal(
        ask("SELECT start, k.\"end\", correlationId, gridX, blockX, registersPerThread, "
            "launchType, "
            "cacheConfig, localMemoryTotal, b.value, m.value, graphNodeId, "
            "tensorSizeMinusOneElements, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
            "StringIds "
            "b ON b.id = shortName JOIN StringIds m ON m.id = mangledName"),
        "1200,1300,11,8,256,40,2,1,5000000000,saxpy,_Z5saxpyPdS_S_di,-,[],281475815571456 "
        "2200,2300,12,8,256,40,2,1,5000000000,saxpy,_Z5saxpyPdS_S_di,-,[],281475815571456");
    assert_string_equal(ask("SELECT start, copyKind, srcKind, dstKind, bytes, dstDeviceId, "
                            "copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
                        "500,1,1,2,4096,-,1 700,10,2,7,64,1,1");
    assert_string_equal(ask("SELECT deviceId, syncType, streamId, eventId FROM "
                            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
                        "3,3,7,4294967295");
    assert_string_equal(ask("SELECT overheadType FROM PROFILER_OVERHEAD UNION ALL SELECT "
                            "overheadType FROM CUPTI_ACTIVITY_KIND_OVERHEAD"),
                        "4 7");
    assert_string_equal(ask("SELECT id, name, uuid, totalMemory, clockRate FROM TARGET_INFO_GPU"),
                        "0,NVIDIA Test,30313233-3435-3637-3839-616263646566,80000000000,"
                        "1710000000");
    assert_string_equal(ask("SELECT deviceId, nullStreamId, processId FROM "
                            "TARGET_INFO_CUDA_CONTEXT_INFO"),
                        "3,7,50");
    assert_string_equal(ask("SELECT streamId, priority, flag FROM TARGET_INFO_CUDA_STREAM"),
                        "13,4294967291,2");
    assert_int_equal(result.processes[0].kernels, 2);
    assert_int_equal(result.processes[0].api_calls, 4);
    assert_int_equal(result.processes[0].copies, 2);
    convert_result_free(&result);
}

/* Times that cannot be: each is counted and kept, none reaches the time line. */
static void test_bad_times(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    begin(&m, 1, 50);
    spool_make_string(&m, 1, "k", 0xABC0);
    add_kernel(&m, 100, 200, 1, SPOOL_NAME_TAG | 1);
    add_kernel(&m, -ZERO_REAL, -ZERO_REAL, 2, SPOOL_NAME_TAG | 1); /* 0 and 0 */
    add_kernel(&m, 300, 250, 3, SPOOL_NAME_TAG | 1); /* ends before it begins */
    add_kernel(&m, INT64_C(100000000000000), INT64_C(100000000000100), 4, SPOOL_NAME_TAG | 1);
    add_kernel(&m, INT64_MAX - ZERO_REAL - 1, 100, 5, SPOOL_NAME_TAG | 1); /* far in the future */
    assert_int_equal(spool_make_end(&m, false), 0);
    converted(&result);
    assert_string_equal(ask("SELECT start, \"end\", correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                        "100,200,1 300,300,3");
    assert_string_equal(ask("SELECT correlationId, reason, rawStart != 0 FROM CUTLINE_BAD_TIME "
                            "ORDER BY 1"),
                        "2,no timestamp,0 3,end before start,1 4,not of this clock,1 5,not of this "
                        "clock,1");
    assert_string_equal(ask("SELECT reason, count FROM CUTLINE_LOSS ORDER BY 1"),
                        "end before start,1 no timestamp,1 not of this clock,2");
    assert_int_equal(result.processes[0].kernels, 5);
    convert_result_free(&result);
}

/* Only what touches the capture range is in the capture, and no call that the filter left out. */
static void test_capture_range(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    static struct session_config config;
    static const int64_t changes[] = {1000, 2000, 5000};
    session_config_init(&config);
    struct session_control *control = session_control_create(&config, folder);
    assert_non_null(control);
    control->created_real_ns = ZERO_REAL;
    control->created_mono_ns = ZERO_MONO;
    control->created_tsc = 0;
    for (uint16_t i = 0; i < 3; i++) {
        control->log[i].mono_ns = ZERO_MONO + changes[i];
        control->log[i].collect = i % 2 == 0;
        atomic_store(&control->log[i].ready, 1);
    }
    atomic_store(&control->log_count, 3);
    session_control_close(control);
    begin(&m, 1, 50);
    spool_make_string(&m, 1, "k", 0);
    static const int64_t times[][2] = {{100, 900},   {900, 1000},  {1500, 1600}, {1900, 2500},
                                       {2000, 2100}, {3000, 4999}, {4000, 6000}, {9000, 9001}};
    for (uint32_t i = 0; i < sizeof times / sizeof *times; i++) {
        add_kernel(&m, times[i][0], times[i][1], i + 1, SPOOL_NAME_TAG | 1);
    }
    add_call(&m, CUPTI_KIND_RUNTIME, 211, 1500, 1510, 3);
    add_call(&m, CUPTI_KIND_RUNTIME, 0, 1520, 1530, 9);
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(
        ask("SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY correlationId"),
        "2 3 4 7 8");
    assert_string_equal(ask("SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"), "3");
    assert_string_equal(ask("SELECT kind, reason, count, first, last FROM CUTLINE_LOSS"),
                        "kernel,outside the capture range,3,100,3000");
    assert_true(result.losses_n == 1 && result.losses[0].harmless);
    convert_result_free(&result);
}

/* A payload schema, and names that NVTX gave to a stream and a context. */
static void test_schema_and_resources(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    static const char schema[] = "my schema\n0 3 0 0 count\n1 1000001 ff 8 two words\n";
    begin(&m, 1, 50);
    fresh();
    spool_make_set(record, CUPTI_CONTEXT_CONTEXT_ID, 2);
    spool_make_set(record, CUPTI_CONTEXT_DEVICE_ID, 1);
    spool_make_describe(&m, CUPTI_KIND_CONTEXT, record);
    spool_make_meta(&m,
                    (struct spool_meta){
                        .kind = SPOOL_META_SCHEMA, .domain = 4, .value = {UINT64_C(1) << 32, 16}},
                    schema, strlen(schema));
    spool_make_meta(&m,
                    (struct spool_meta){.kind = SPOOL_META_RESOURCE,
                                        .code = SPOOL_RESOURCE_CUDA_STREAM,
                                        .value = {0x1000, 13, 2}},
                    "copies", 6);
    spool_make_meta(&m,
                    (struct spool_meta){.kind = SPOOL_META_RESOURCE,
                                        .code = SPOOL_RESOURCE_CU_STREAM,
                                        .value = {0x2000, UINT64_MAX, UINT64_MAX}},
                    "not known", 9);
    spool_make_meta(&m, (struct spool_meta){.kind = SPOOL_META_THREAD, .value = {77}}, "loader", 6);
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT domainId, schemaId, name, numEntries, payloadSize FROM "
                            "NVTX_PAYLOAD_SCHEMAS"),
                        "4,4294967296,my schema,2,16");
    assert_string_equal(ask("SELECT idx, flags, type, arrayOrUnionDetail, offset, name FROM "
                            "NVTX_PAYLOAD_SCHEMA_ENTRIES"),
                        "0,0,3,0,0,count 1,1,16777217,255,8,two words");
    assert_string_equal(ask("SELECT name, deviceId, contextId, streamId, processId FROM "
                            "TARGET_INFO_NVTX_CUDA_STREAM"),
                        "copies,1,2,13,50");
    assert_string_equal(ask("SELECT value, globalTid & 0xFFFFFF FROM ThreadNames JOIN StringIds s "
                            "ON s.id = nameId ORDER BY 2"),
                        "app50,50 loader,77");
    convert_result_free(&result);
}

/* Names by tag, by the address they were read from, and lost ones. */
static void test_names(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    begin(&m, 1, 50);
    spool_make_string(&m, 1, "by_tag", 0xA000);
    spool_make_string(&m, 9, "by_address", 0xB000);
    add_kernel(&m, 1, 2, 1, SPOOL_NAME_TAG | 1);
    add_kernel(&m, 3, 4, 2, 0xB000);
    add_kernel(&m, 5, 6, 3, 0xC000);
    add_kernel(&m, 7, 8, 4, SPOOL_NAME_TAG | 77);
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON "
                            "s.id = demangledName ORDER BY start"),
                        "by_tag by_address <unknown kernel 0xc000> <unknown kernel>");
    assert_string_equal(ask("SELECT reason, count FROM CUTLINE_LOSS"), "name not known,2");
    convert_result_free(&result);
}

/* CUPTI's clock steps against CLOCK_MONOTONIC and NVTX counts ticks: both land on one line. */
static void test_clocks(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    spool_make_begin(&m, spool_path(1), 50);
    m.header.created_mono_ns = ZERO_MONO;
    m.header.created_real_ns = ZERO_REAL;
    m.header.created_tsc = 5000;
    m.header.clock = SPOOL_CLOCK_TSC;
    m.sizes[CUPTI_KIND_CONCURRENT_KERNEL] = 208;
    for (int64_t s = 1; s <= 10; s++) {
        /* the wall clock jumps by 3 s after the fifth second; 3 ticks a ns */
        int64_t real = ZERO_REAL + s * 1000000000 + (s > 5 ? 3000000000 : 0);
        spool_make_anchor(&m, real, ZERO_MONO + s * 1000000000, (uint64_t)(5000 + s * 3000000000),
                          0);
    }
    spool_make_string(&m, 1, "k", 0);
    nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_MARK, .tid = 1,
                                      .time = 5000 + UINT64_C(8000000000) * 3 - ZERO_MONO});
    add_kernel(&m, INT64_C(2000000005), INT64_C(2000000010), 1, SPOOL_NAME_TAG | 1);
    add_kernel(&m, INT64_C(11000000000), INT64_C(11000000010), 2, SPOOL_NAME_TAG | 1);
    assert_int_equal(spool_make_end(&m, true), 0);
    converted(&result);
    assert_string_equal(ask("SELECT start FROM NVTX_EVENTS"), "8000000000");
    assert_string_equal(ask("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                        "2000000005,2000000010 8000000000,8000000010");
    assert_string_equal(ask("SELECT kind, reason, count FROM CUTLINE_LOSS"),
                        "clock,CLOCK_REALTIME was set,1");
    assert_string_equal(ask("SELECT count(*), max(session) FROM CUTLINE_CLOCK"), "10,10000000000");
    assert_true(result.losses_n == 1 && result.losses[0].harmless);
    convert_result_free(&result);
}

/* Two processes, and one that called exec: ids of one pid do not clash, nor do domain names. */
static void test_processes(void **state)
{
    (void)state;
    static struct convert_result result;
    static const char *const names[] = {"first", "second", "first"};
    static const uint32_t pids[] = {50, 50, 60};
    for (int i = 0; i < 3; i++) {
        static struct spool_make m;
        begin(&m, i + 1, pids[i]);
        m.header.created_mono_ns += i;
        spool_make_string(&m, 1, "k", 0);
        spool_make_meta(&m, (struct spool_meta){.kind = SPOOL_META_DOMAIN, .domain = 1}, names[i],
                        strlen(names[i]));
        nvtx(&m, (struct spool_make_nvtx){SPOOL_NVTX_MARK, TEXT, 1, .tid = 5,
                                          .time = 10 + (uint64_t)i, .text = names[i]});
        add_kernel(&m, 1000 + i, 2000, 1, SPOOL_NAME_TAG | 1);
        assert_int_equal(spool_make_end(&m, true), 0);
    }
    converted(&result);
    assert_string_equal(ask("SELECT count(*), count(DISTINCT globalPid || ',' || correlationId) "
                            "FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                        "3,3");
    assert_string_equal(ask("SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 34"),
                        "first,1 second,2 first,1");
    assert_string_equal(ask("SELECT pid, name FROM PROCESSES ORDER BY 1"), "50,app50 60,app60");
    assert_string_equal(ask("SELECT pid, kernels, nvtxEvents, ending FROM CUTLINE_PROCESS"),
                        "50,1,1,exit 50,1,1,exit 60,1,1,exit");
    convert_result_free(&result);
}

/* Losses and statuses of the library arrive; damage is counted and stops nothing. */
static void test_losses_and_damage(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    char text[1024];
    begin(&m, 1, 50);
    m.losses.slots[0].key = SPOOL_LOSS_BUFFER_BUDGET << 16 | CUPTI_KIND_CONCURRENT_KERNEL;
    m.losses.slots[0].count = 1234;
    m.losses.slots[0].first_mono_ns = ZERO_MONO + 5;
    m.losses.slots[0].last_mono_ns = ZERO_MONO + 9;
    m.losses.slots[1].key = SPOOL_LOSS_API_FILTERED << 16 | CUPTI_KIND_RUNTIME;
    m.losses.slots[1].count = 2;
    spool_make_meta(
        &m, (struct spool_meta){.kind = SPOOL_META_STATUS, .code = SPOOL_STATUS_ATTACHED_CUDA}, "",
        0);
    spool_make_meta(&m,
                    (struct spool_meta){.kind = SPOOL_META_STATUS,
                                        .code = SPOOL_STATUS_CUPTI_FAILED,
                                        .value = {35}},
                    "cuptiActivityEnable", 19);
    assert_int_equal(spool_make_end(&m, false), 0);
    begin(&m, 2, 60);
    spool_make_string(&m, 1, "k", 0);
    add_kernel(&m, 1, 2, 1, SPOOL_NAME_TAG | 1);
    add_kernel(&m, 3, 4, 1, SPOOL_NAME_TAG | 1);
    buf_add(&m.segment, "\12\0\0\0tail", 8);
    assert_int_equal(spool_make_end(&m, false), 0);
    (void)snprintf(text, sizeof text, "%s/junk%s", folder, SPOOL_SUFFIX);
    FILE *junk = fopen(text, "w");
    assert_non_null(junk);
    assert_true(fputs("this is no spool", junk) >= 0);
    assert_int_equal(fclose(junk), 0);
    converted(&result);
    assert_string_equal(ask("SELECT kind, reason, count, first, last FROM CUTLINE_LOSS ORDER BY 3"),
                        "runtime API,API filter,2,-,- spool,bytes behind the last whole "
                        "record,8,-,- kernel,buffer budget,1234,5,9");
    assert_string_equal(ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "2");
    assert_string_equal(ask("SELECT cuptiResult, ending, cudaAttached, note LIKE 'no "
                            "permission%SYS_ADMIN%' FROM CUTLINE_PROCESS WHERE pid = 50"),
                        "35,no exit handler,1,1");
    assert_string_equal(ask("SELECT severity, text LIKE 'no permission%' FROM DIAGNOSTIC_EVENT"),
                        "3,1");
    assert_int_equal(result.spools_bad, 1);
    convert_result_free(&result);
}

static void test_empty_and_refused(void **state)
{
    (void)state;
    static struct convert_result result;
    struct err err = {0};
    struct convert_opts opts = {.session = "/nowhere/at/all", .output = output};
    converted(&result);
    assert_string_equal(ask("SELECT count(*) FROM PROCESSES"), "0");
    assert_int_equal(result.processes_n, 0);
    convert_result_free(&result);
    assert_int_equal(convert_session(&opts, &result, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    opts.session = folder;
    assert_int_equal(convert_session(&opts, &result, &err), -1);
    assert_non_null(strstr(err.text, "exists already"));
}

/* The same through the temporary file: a sort budget of next to nothing. */
static void test_external_sort(void **state)
{
    (void)state;
    static struct spool_make m;
    static struct convert_result result;
    struct err err = {0};
    struct convert_opts opts = {
        .session = folder, .output = output, .overwrite = true, .sort_bytes = 1 << 20};
    enum {
        N = 20000
    };
    begin(&m, 1, 50);
    spool_make_string(&m, 1, "k", 0);
    for (int64_t i = 0; i < N; i++) {
        int64_t at = i * 7919 % N;
        add_kernel(&m, at * 10, at * 10 + 5, (uint32_t)at + 1, SPOOL_NAME_TAG | 1);
    }
    assert_int_equal(spool_make_end(&m, true), 0);
    if (convert_session(&opts, &result, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(ask("SELECT count(*), count(DISTINCT correlationId), sum(start = (rowid - "
                            "1) * 10), sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                        "20000,20000,20000,100000");
    convert_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nvtx_pairs, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_nvtx_payloads, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_nvtx_disorder, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_nvtx_repeats, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_nvtx_levels, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_cupti_rows, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_bad_times, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_capture_range, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_schema_and_resources, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_names, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_clocks, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_processes, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_losses_and_damage, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_empty_and_refused, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_external_sort, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
