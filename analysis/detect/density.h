/*
 * density: how densely a thread launches kernels, and where the device keeps up with it.
 *
 * A series is what one thread launches on one device: kernels and graph launches in the order of
 * their calls. A window of `run` launches is launch-bound where the median queue time (op begin -
 * call end) is below queue_ns, the busy share of the device over it is below busy_percent, the
 * thread launches one in every_ns or more often, and at most one launch in DENSITY_HELD follows a
 * call that waits for the device: a thread that waits before each launch is held up by the waits,
 * and one that launches now and then by what it does in between. A zone is a maximal union of such windows that overlap or touch, without the launches at its edges
 * that did queue (as long as `run` remain): in it the device waits for the host, and fewer launches
 * (a CUDA graph, fused kernels) would win up to idle_ns.
 *
 * The numbers: an idle device begins an op 2 to 10 us after its call; 20 us is twice that. Launching
 * takes a thread 4 to 10 us a call in C, and up to 90 us in a Python framework that looks up each op
 * (measured in captures of training): one in 100 us is the slowest at which launching is what it
 * does. A wait for eight launches or more is one at the end of a step; more waits than that are what
 * holds it up. 80 % busy leaves less to win than the launches of a window vary.
 *
 * Cost: O(n log n) to gather the launches, O(n log intervals) for the windows.
 */
#ifndef CUTLINE_DETECT_DENSITY_H
#define CUTLINE_DETECT_DENSITY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/facts/facts.h"

enum {
    DENSITY_HELD = 8,
};

struct density_options {
    int64_t queue_ns;
    double busy_percent;
    uint32_t run; /* launches, at least 2 */
    int64_t every_ns; /* the mean time from launch to launch, at most */
    int64_t begin_ns; /* launches whose op lies in [begin, end); INT64_MIN, INT64_MAX = all */
    int64_t end_ns;
};
/* Those of the arguments of launch_density. */
struct density_options density_defaults(void);

struct density_zone {
    uint32_t thread; /* index in threads */
    uint32_t device; /* index in devices */
    uint32_t launches;
    uint32_t first_launch; /* API index of the first */
    uint32_t first_op; /* its op */
    int64_t begin_ns; /* begin of the first op */
    int64_t end_ns; /* end of the last op */
    int64_t interval_ns; /* mean time from the end of a call to the end of the next */
    int64_t op_ns; /* mean time of an op */
    int64_t queue_ns; /* median queue time */
    int64_t busy_ns; /* the device, any op */
    int64_t idle_ns; /* end - begin - busy */
    uint32_t nvtx; /* innermost range of the thread at the first launch, TRACE_NONE */
};

/* One thread's launches on one device. */
struct density_series {
    uint32_t thread;
    uint32_t device;
    uint32_t launches;
    int64_t begin_ns; /* begin of the first call */
    int64_t end_ns; /* end of the last call */
    double per_ms; /* launches / (end - begin) */
    double peak_per_ms; /* the densest ms, counted in ms of the session's axis */
    int64_t queue_ns; /* median queue time */
    int64_t op_ns; /* mean op time */
};

struct density {
    struct density_zone *zones; /* most idle first; owned */
    size_t zone_count;
    struct density_series *series; /* by thread, device; owned */
    size_t series_count;
};

int density_find(const struct facts *facts, const struct density_options *options,
                 struct density *out, struct err *err);
void density_free(struct density *density);
/* The zones and series in what the detector launch_density found; NULL for NULL. */
const struct density *launch_density_zones(const void *data);

#endif
