/* Busy time and gaps of random captures against a bitmap of every nanosecond. */
#include "analysis/base/buf.h"
#include "analysis/detect/gaps.h"
#include "analysis/tests/sql_file.h"
#include "analysis/trace/busy.h"

enum {
    ROUNDS = 12,
    OPS = 60,
    TIME = 200,
    DEVICES = 2,
    NAMES = 3
};

static const char TABLES[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (0, 'a'), (1, 'b'), (2, 'c');"
    "CREATE TABLE ThreadNames(nameId, priority, globalTid);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId,"
    " correlationId, globalPid, demangledName, shortName);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId,"
    " correlationId, globalPid);";

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*seed >> 33) % n;
}

static struct trace *random_trace(uint64_t *seed)
{
    struct buf sql = {0};
    buf_adds(&sql, TABLES);
    for (int i = 0; i < OPS; i++) {
        uint32_t begin = 1 + random_below(seed, TIME - 20);
        uint32_t end = begin + random_below(seed, 8);
        uint32_t pid = 1 + random_below(seed, 2);
        uint32_t device = random_below(seed, DEVICES);
        uint32_t stream = random_below(seed, 3);
        if (random_below(seed, 4) == 0) {
            buf_addf(&sql, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(%u,%u,%u,1,%u,0,%u);",
                     begin, end, device, stream, pid << 24);
        } else {
            uint32_t name = random_below(seed, NAMES);
            buf_addf(&sql,
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%u,%u,%u,1,%u,0,%u,%u,%u);",
                     begin, end, device, stream, pid << 24, name, name);
        }
    }
    struct trace *trace = sql_load(buf_text(&sql));
    buf_free(&sql);
    assert_int_equal(trace->events[TRACE_GPU].count, OPS);
    return trace;
}

/* Which ns are busy, by the kept events of one lane or of a device's lanes. */
static void mark(const struct trace *trace, const struct trace_lane *lane, const uint64_t *bits,
                 bool busy[TIME])
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        for (int64_t t = gpu->begin_ns[i]; busy_has(bits, gpu->name[i]) && t < gpu->end_ns[i];
             t++) {
            busy[t] = true;
        }
    }
}

static int64_t count_busy(const bool busy[TIME], int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (int64_t t = begin; t < end; t++) {
        sum += busy[t];
    }
    return sum;
}

static void check_busy(const struct trace *trace, const uint64_t *bits, uint64_t *seed)
{
    struct busy *busy = busy_new(trace, bits, NULL);
    assert_non_null(busy);
    for (uint32_t d = 0; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        bool all[TIME] = {false};
        for (uint32_t l = 0; l < device->lane_count; l++) {
            const struct trace_lane *lane = &trace->lanes[device->first_lane + l];
            bool one[TIME] = {false};
            mark(trace, lane, bits, one);
            mark(trace, lane, bits, all);
            for (int i = 0; i < 50; i++) {
                int64_t begin = random_below(seed, TIME);
                int64_t end = random_below(seed, TIME);
                assert_int_equal(busy_lane_ns(busy, lane, begin, end), count_busy(one, begin, end));
            }
        }
        for (int i = 0; i < 200; i++) {
            int64_t begin = random_below(seed, TIME);
            int64_t end = random_below(seed, TIME);
            assert_int_equal(busy_device_ns(busy, d, begin, end), count_busy(all, begin, end));
        }
        assert_int_equal(busy_device_ns(busy, d, INT64_MIN / 4, INT64_MAX / 4),
                         count_busy(all, 0, TIME));
        for (int i = 1; i < (int)busy->devices[d].count; i++) { /* disjoint, not touching */
            assert_true(busy->devices[d].begin_ns[i] > busy->devices[d].end_ns[i - 1]);
        }
    }
    busy_free(busy);
}

static void busy_time_equals_a_bitmap(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct trace *trace = random_trace(&seed);
        check_busy(trace, NULL, &seed);
        for (uint64_t bits = 0; bits < 16; bits++) {
            check_busy(trace, &bits, &seed);
        }
        trace_free(trace);
    }
}

/* The gaps of a device by a sweep over its kept ops in order of begin. */
static int64_t sweep(const struct trace *trace, uint32_t device, const uint64_t *bits,
                     int64_t *span_ns)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    int64_t idle = 0;
    int64_t until = -1;
    int64_t first = 0;
    for (int64_t t = 0; t < TIME; t++) {
        for (uint32_t i = 0; i < gpu->count; i++) {
            const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_GPU, i)];
            if (gpu->begin_ns[i] != t || lane->device != device || !busy_has(bits, gpu->name[i])) {
                continue;
            }
            first = until < 0 ? t : first;
            idle += until >= 0 && t > until ? t - until : 0;
            until = gpu->end_ns[i] > until ? gpu->end_ns[i] : until;
        }
    }
    *span_ns = until < 0 ? 0 : until - first;
    return idle;
}

static void check_gap(const struct trace *trace, const struct gap *gap, const uint64_t *bits)
{
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    assert_int_equal(gpu->end_ns[gap->before], gap->begin_ns);
    assert_int_equal(gpu->begin_ns[gap->after], gap->end_ns);
    assert_true(busy_has(bits, gpu->name[gap->before]) && busy_has(bits, gpu->name[gap->after]));
    assert_int_equal(trace->lanes[trace_lane_of(trace, TRACE_GPU, gap->before)].device,
                     gap->device);
    assert_int_equal(trace->lanes[trace_lane_of(trace, TRACE_GPU, gap->after)].device, gap->device);
    for (uint32_t i = 0; i < gpu->count; i++) { /* no kept op runs in it */
        assert_true(!busy_has(bits, gpu->name[i]) || gpu->end_ns[i] <= gap->begin_ns ||
                    gpu->begin_ns[i] >= gap->end_ns ||
                    trace->lanes[trace_lane_of(trace, TRACE_GPU, i)].device != gap->device);
    }
}

static void check_gaps(const struct trace *trace, const uint64_t *bits)
{
    const struct gaps_query query = {TRACE_NONE, 3, INT64_MIN, INT64_MAX};
    struct busy *busy = busy_new(trace, bits, NULL);
    struct gaps gaps;
    int64_t idle = 0;
    int64_t span = 0;
    int64_t listed = 0;
    assert_int_equal(gaps_find(trace, busy, &query, &gaps, NULL), 0);
    for (uint32_t d = 0; d < trace->device_count; d++) {
        int64_t one;
        idle += sweep(trace, d, bits, &one);
        span += one;
    }
    assert_int_equal(gaps.all_ns, idle);
    assert_int_equal(gaps.span_ns, span);
    for (size_t i = 0; i < gaps.count; i++) {
        int64_t length = gaps.list[i].end_ns - gaps.list[i].begin_ns;
        assert_true(length >= 3);
        assert_true(i == 0 || length <= gaps.list[i - 1].end_ns - gaps.list[i - 1].begin_ns);
        check_gap(trace, &gaps.list[i], bits);
        listed += length;
    }
    assert_true(listed <= gaps.all_ns && gaps.count <= gaps.all_count);
    gaps_free(&gaps);
    busy_free(busy);
}

static void gaps_equal_a_sweep(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct trace *trace = random_trace(&seed);
        check_gaps(trace, NULL);
        for (uint64_t bits = 0; bits < 16; bits += 3) {
            check_gaps(trace, &bits);
        }
        trace_free(trace);
    }
}

static void gaps_are_clipped_to_the_window(void **state)
{
    struct trace *trace = sql_case_load("two-processes"); /* gap 5000..10000 on device 0 */
    struct busy *busy = busy_new(trace, NULL, NULL);
    const struct gaps_query query = {0, 0, 6000, 7000};
    struct gaps gaps;
    (void)state;
    assert_int_equal(gaps_find(trace, busy, &query, &gaps, NULL), 0);
    assert_int_equal(gaps.count, 1);
    assert_int_equal(gaps.list[0].begin_ns, 6000);
    assert_int_equal(gaps.list[0].end_ns, 7000);
    assert_int_equal(gaps.all_ns, 1000);
    assert_int_equal(gaps.span_ns, 1000);
    assert_int_equal(trace->events[TRACE_GPU].end_ns[gaps.list[0].before], 5000);
    gaps_free(&gaps);
    busy_free(busy);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_time_equals_a_bitmap),
        cmocka_unit_test(gaps_equal_a_sweep),
        cmocka_unit_test(gaps_are_clipped_to_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
