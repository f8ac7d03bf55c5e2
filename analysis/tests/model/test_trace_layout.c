/* Lanes and sorting, on random events: what is promised of every lane holds, and no lane too many
 * is used. */
#include <string.h>

#include "analysis/base/sort.h"
#include "analysis/tests/check.h"
#include "analysis/trace/trace_internal.h"

enum {
    EVENTS = 100,
    ROUNDS = 500,
    TIME = 120
};

struct events {
    int64_t begin_ns[EVENTS];
    int64_t end_ns[EVENTS];
    uint32_t order[EVENTS];
    uint32_t depth[EVENTS];
    uint32_t count;
};

/* A number below n; the same sequence in every run. */
static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*seed >> 33) % n;
}

static void events_random(struct events *events, uint64_t *seed)
{
    uint32_t longest = 1 + random_below(seed, 60);
    events->count = 1 + random_below(seed, EVENTS);
    for (uint32_t i = 0; i < events->count; i++) {
        events->begin_ns[i] = (int64_t)random_below(seed, TIME) - 50;
        events->end_ns[i] = events->begin_ns[i] + random_below(seed, longest);
        events->order[i] = i;
    }
    assert_int_equal(sort_by_time(events->begin_ns, events->end_ns, events->order, events->count),
                     0);
}

static void sorting_is_by_begin_then_longest_then_number(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct events events;
        bool seen[EVENTS] = {false};
        events_random(&events, &seed);
        for (uint32_t i = 0; i < events.count; i++) {
            uint32_t b = events.order[i];
            uint32_t a = i == 0 ? b : events.order[i - 1];
            assert_false(seen[b]);
            seen[b] = true;
            assert_true(events.begin_ns[a] <= events.begin_ns[b]);
            if (events.begin_ns[a] == events.begin_ns[b]) {
                assert_true(events.end_ns[a] >= events.end_ns[b]);
                assert_true(events.end_ns[a] > events.end_ns[b] || a <= b);
            }
        }
    }
}

/* In each lane begins and ends ascend and events do not overlap. */
static void check_lanes(const struct events *events, uint32_t lanes)
{
    for (uint32_t l = 0; l < lanes; l++) {
        int64_t until = INT64_MIN;
        uint32_t used = 0;
        for (uint32_t i = 0; i < events->count; i++) {
            uint32_t event = events->order[i];
            if (events->depth[event] == l) {
                assert_true(events->begin_ns[event] >= until);
                until = events->end_ns[event];
                used++;
            }
        }
        assert_true(used > 0);
    }
}

/* The most events that run at one time: begin <= t < end, a short one counts at its begin. */
static uint32_t most_at_once(const struct events *events)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        int64_t t = events->begin_ns[i];
        uint32_t running = 0;
        for (uint32_t j = 0; j < events->count; j++) {
            running += events->begin_ns[j] <= t && events->end_ns[j] > t;
        }
        most = running > most ? running : most;
    }
    return most;
}

static void packed_lanes_do_not_overlap_and_are_few(void **state)
{
    uint64_t seed = 2;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct events events;
        uint32_t lanes;
        events_random(&events, &seed);
        lanes =
            layout_packed(events.end_ns, events.begin_ns, events.order, events.count, events.depth);
        check_lanes(&events, lanes);
        uint32_t most = most_at_once(&events);
        assert_true(lanes >= most);
        assert_true(lanes <= most + 1); /* one for events of no length */
    }
}

static void nested_lanes_do_not_overlap(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct events events;
        events_random(&events, &seed);
        check_lanes(&events, layout_nested(events.end_ns, events.begin_ns, events.order,
                                           events.count, events.depth));
    }
}

/* Random trees: the depth must be the number of events around an event. */
static void nested_depth_counts_the_events_around(void **state)
{
    uint64_t seed = 4;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct events events = {.count = 0};

        int64_t t = 0;
        uint32_t open = 0;
        uint32_t stack[16];
        uint32_t want[EVENTS];
        while (events.count < EVENTS - 16 || open > 0) {
            t += 1 + random_below(&seed, 5);
            if (open < 8 && events.count < EVENTS - 16 && random_below(&seed, 2) == 0) {
                events.begin_ns[events.count] = t;
                events.order[events.count] = events.count;
                want[events.count] = open;
                stack[open++] = events.count++;
            } else if (open > 0) {
                events.end_ns[stack[--open]] = t;
            }
        }
        (void)layout_nested(events.end_ns, events.begin_ns, events.order, events.count,
                            events.depth);
        for (uint32_t i = 0; i < events.count; i++) {
            assert_int_equal(events.depth[i], want[i]);
        }
    }
}

static void calls_are_known_by_their_names(void **state)
{
    static const struct {
        const char *name;
        unsigned flags;
    } calls[] = {
        {"cudaLaunchKernel", TRACE_API_LAUNCH},
        {"cudaLaunchKernelExC", TRACE_API_LAUNCH},
        {"cuLaunchKernel", TRACE_API_LAUNCH | TRACE_API_DRIVER},
        {"cudaLaunch", TRACE_API_LAUNCH},
        {"cudaLaunchCooperativeKernel", TRACE_API_LAUNCH},
        {"cudaLaunchHostFunc", 0},
        {"cudaGraphLaunch", TRACE_API_LAUNCH | TRACE_API_GRAPH},
        {"cudaGraphAddMemcpyNode", 0},
        {"cudaMemcpy", TRACE_API_COPY},
        {"cudaMemcpyAsync", TRACE_API_COPY | TRACE_API_ASYNC},
        {"cuMemcpyHtoDAsync_v2", TRACE_API_COPY | TRACE_API_ASYNC | TRACE_API_DRIVER},
        {"cudaMemsetAsync", TRACE_API_SET | TRACE_API_ASYNC},
        {"cudaDeviceSynchronize", TRACE_API_SYNC},
        {"cudaStreamWaitEvent", 0},
        {"cudaEventQuery", TRACE_API_QUERY},
        {"cudaMalloc", TRACE_API_ALLOC},
        {"cudaFreeHost", TRACE_API_ALLOC},
        {"cuMemAlloc_v2", TRACE_API_ALLOC | TRACE_API_DRIVER},
        {"cuModuleLoadData", TRACE_API_MODULE | TRACE_API_DRIVER},
        {"cuLibraryLoadData", TRACE_API_MODULE | TRACE_API_DRIVER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(api_flags(calls[i].name, strlen(calls[i].name)), calls[i].flags);
    }
}

static void version_suffixes_are_cut(void **state)
{
    static const struct {
        const char *name;
        const char *brief;
    } calls[] = {
        {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
        {"cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"},
        {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2"},
        {"cudaGetDeviceProperties_v2_v12000", "cudaGetDeviceProperties_v2"},
        {"cuLaunchKernelEx", "cuLaunchKernelEx"},
        {"_v7000", "_v7000"},
        {"7000", "7000"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(api_brief_len(calls[i].name, strlen(calls[i].name)),
                         strlen(calls[i].brief));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_is_by_begin_then_longest_then_number),
        cmocka_unit_test(packed_lanes_do_not_overlap_and_are_few),
        cmocka_unit_test(nested_lanes_do_not_overlap),
        cmocka_unit_test(nested_depth_counts_the_events_around),
        cmocka_unit_test(calls_are_known_by_their_names),
        cmocka_unit_test(version_suffixes_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
