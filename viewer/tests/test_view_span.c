/*
 * spans: what is drawn is exactly what is there. Random lanes are compared with a slow count of
 * each column; real captures must lose nothing at any zoom.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "analysis/trace/trace.h"
#include "viewer/paint/span.h"

enum {
    EVENTS = 60,
    COLS = 40,
    ROUNDS = 3000,
    NAMES = 70
};

struct random_lane {
    int64_t begin_ns[EVENTS];
    int64_t end_ns[EVENTS];
    uint32_t name[EVENTS];
    int64_t sum_ns[EVENTS + 1];
    int64_t kept_ns[EVENTS + 1];
    struct lane lane;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void make_lane(struct random_lane *out, uint32_t *seed, const struct terms *terms)
{
    int64_t t_ns = -(int64_t)(next_random(seed) % 200);
    for (uint32_t i = 0; i < EVENTS; i++) {
        t_ns += next_random(seed) % 4 == 0 ? next_random(seed) % 40 : next_random(seed) % 3;
        out->begin_ns[i] = t_ns;
        t_ns += next_random(seed) % 3 == 0 ? next_random(seed) % 90 : next_random(seed) % 4;
        out->end_ns[i] = t_ns;
        out->name[i] = next_random(seed) % NAMES;
    }
    out->lane = (struct lane){.table = TRACE_GPU,
                              .count = EVENTS,
                              .begin_ns = out->begin_ns,
                              .end_ns = out->end_ns,
                              .name = out->name,
                              .sum_ns = out->sum_ns,
                              .kept_sum_ns = out->kept_ns};
    lane_fill_sums(&out->lane, NULL, out->sum_ns);
    lane_fill_sums(&out->lane, terms, out->kept_ns);
}

/* The time of events in [begin, end), counted one by one. */
static int64_t slow_busy(const struct random_lane *from, const struct terms *terms,
                         int64_t begin_ns, int64_t end_ns)
{
    int64_t busy_ns = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
        int64_t first = from->begin_ns[i] > begin_ns ? from->begin_ns[i] : begin_ns;
        int64_t last = from->end_ns[i] < end_ns ? from->end_ns[i] : end_ns;
        if (last > first && lane_keeps(&from->lane, terms, i)) {
            busy_ns += last - first;
        }
    }
    return busy_ns;
}

/* Does an event touch the column? */
static bool slow_touched(const struct random_lane *from, int64_t begin_ns, int64_t end_ns)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        if (from->begin_ns[i] < end_ns && lane_end(&from->lane, i) > begin_ns) {
            return true;
        }
    }
    return false;
}

static void spans_are_exact(void **state)
{
    static const uint64_t bits[2] = {0x5a5a5a5a12345678ULL, 0x2aULL};
    struct trace_events dummy = {0};
    struct trace trace = {0};
    struct terms terms = {.trace = &trace};
    uint64_t kept_bits[2];
    uint32_t seed = 7;
    (void)state;
    memcpy(kept_bits, bits, sizeof bits);
    terms.name_bits = kept_bits;
    for (int round = 0; round < ROUNDS; round++) {
        static struct random_lane lane;
        struct span spans[COLS];
        struct window window = {0, 1 + (int64_t)(next_random(&seed) % 30), COLS};
        int col = 0;
        dummy.name = lane.name;
        trace.events[TRACE_GPU] = dummy;
        make_lane(&lane, &seed, &terms);
        window.begin_ns =
            window_floor((int64_t)(next_random(&seed) % 900) - 300, window.ns_per_col) *
            window.ns_per_col;
        int count = span_build(&lane.lane, &window, &terms, spans);
        for (int i = 0; i < count; i++) {
            int64_t begin_ns = window_time(&window, spans[i].col);
            int64_t end_ns = window_time(&window, spans[i].col + spans[i].cols);
            assert_true(spans[i].col >= col);
            assert_true(spans[i].cols >= 1 && spans[i].col + spans[i].cols <= COLS);
            assert_true(spans[i].event < EVENTS);
            for (; col < spans[i].col; col++) {
                assert_false(
                    slow_touched(&lane, window_time(&window, col), window_time(&window, col + 1)));
            }
            assert_int_equal(spans[i].busy_ns, slow_busy(&lane, NULL, begin_ns, end_ns));
            assert_int_equal(spans[i].kept_ns, slow_busy(&lane, &terms, begin_ns, end_ns));
            col = spans[i].col + spans[i].cols;
        }
        for (; col < COLS; col++) {
            assert_false(
                slow_touched(&lane, window_time(&window, col), window_time(&window, col + 1)));
        }
    }
}

static void a_long_bar_keeps_its_columns(void **state)
{
    static const int64_t begins[] = {5, 30};
    static const int64_t ends[] = {28, 31};
    static const uint32_t names[] = {0, 1};
    static const int64_t sums[] = {0, 23, 24};
    struct lane lane = {.table = TRACE_GPU,
                        .count = 2,
                        .begin_ns = begins,
                        .end_ns = ends,
                        .name = names,
                        .sum_ns = sums};
    struct window window = {0, 10, 4};
    struct span spans[4];
    (void)state;
    assert_int_equal(span_build(&lane, &window, NULL, spans), 2);
    assert_int_equal(spans[0].col, 0);
    assert_int_equal(spans[0].cols, 3);
    assert_true(spans[0].begins && spans[0].ends && !spans[0].folded);
    assert_int_equal(spans[1].col, 3);
    assert_true(spans[1].folded);
}

/* The busy time drawn over all columns of all lanes equals the sum of all durations. */
static void check_trace(const struct trace *trace)
{
    static const int widths[] = {2, 17, 63, 174, 700};
    int64_t begin_ns = trace->begin_ns;
    struct span *spans = calloc(800, sizeof *spans);
    assert_non_null(spans);
    for (uint32_t l = 0; l < trace->lane_count; l++) {
        struct lane lane = lane_of_trace(trace, &trace->lanes[l]);
        int64_t *sums = calloc((size_t)lane.count + 1, sizeof *sums);
        int64_t all_ns = 0;
        assert_non_null(sums);
        lane_fill_sums(&lane, NULL, sums);
        lane.sum_ns = sums;
        for (uint32_t e = 0; e < lane.count; e++) {
            all_ns += lane.end_ns[e] - lane.begin_ns[e];
        }
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            struct window window = window_fit(begin_ns, trace->end_ns, widths[w]);
            int count = span_build(&lane, &window, NULL, spans);
            int64_t drawn_ns = 0;
            for (int s = 0; s < count; s++) {
                drawn_ns += spans[s].busy_ns;
            }
            assert_int_equal(drawn_ns, all_ns);
        }
        free(sums);
    }
    free(spans);
}

static void check_file(const char *path)
{
    struct err err = {0};
    struct trace *trace = trace_load(path, NULL, &err);
    if (trace == NULL) {
        fail_msg("%s: %s", path, err.text);
        return;
    }
    check_trace(trace);
    trace_free(trace);
}

static void nothing_is_lost(void **state)
{
    const char *build = getenv("CUTLINE_BUILD");
    const char *folder = getenv("CUTLINE_CAPTURES");
    DIR *dir = folder == NULL ? NULL : opendir(folder);
    struct dirent *entry;
    char path[1024];
    (void)state;
    if (build != NULL) {
        (void)snprintf(path, sizeof path, "%s/demo.sqlite", build);
        check_file(path);
    }
    if (dir == NULL) {
        print_message("skipped: no real captures\n");
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end != NULL && strcmp(end, ".sqlite") == 0) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            check_file(path);
        }
    }
    (void)closedir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_exact),
        cmocka_unit_test(a_long_bar_keeps_its_columns),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
