/*
 * gen: makes captures with a known answer.
 *
 * A training loop is played on model clocks: a host thread that takes its time for each call, and
 * streams on which an op begins when its launch has ended and the op before it is over. Each
 * process drives one device; the devices meet in all-reduce kernels. Into this loop things that go
 * wrong are planted: gaps of each cause, zones of too many small launches, copies that no kernel
 * hides. What was planted, and what an independent sweep over the ops sums up (busy, idle, overlap,
 * hidden copies), is the key that a reader's answer is compared with.
 *
 * The same options make the same file, byte for byte. Rows are written step by step, so memory does
 * not grow with the size of the capture.
 */
#ifndef CUTLINE_TESTDATA_GEN_H
#define CUTLINE_TESTDATA_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

enum {
    GEN_DEVICES_MAX = 8,
    GEN_PATH_BYTES = 128,
};

enum gen_graphs {
    GEN_GRAPHS_NONE,
    GEN_GRAPHS_WHOLE, /* the forward pass is one graph launch, one GRAPH_TRACE row */
    GEN_GRAPHS_NODES, /* ... with a row for each kernel in it */
};

/* Why a planted gap is there. */
enum gen_cause {
    GEN_CAUSE_DEVICE_WAIT, /* queued in time, held back by an event of another stream */
    GEN_CAUSE_SLOW_LAUNCH, /* the launching call itself takes the time */
    GEN_CAUSE_SYNC, /* a synchronising call that returns late */
    GEN_CAUSE_COPY, /* a blocking copy to pageable memory */
    GEN_CAUSE_ALLOC, /* cudaMalloc or cudaFree */
    GEN_CAUSE_MODULE, /* a module is loaded */
    GEN_CAUSE_LOCK, /* pthread_mutex_lock */
    GEN_CAUSE_IO, /* read */
    GEN_CAUSE_SLEEP, /* nanosleep */
    GEN_CAUSE_PROFILER, /* the profiler flushes its buffers */
    GEN_CAUSE_AFTER_BLOCKING, /* host work after a call that waited for the device */
    GEN_CAUSE_SLOW_HOST, /* host work with no wait before it */
    GEN_CAUSE_COUNT,
};

struct gen_options {
    uint64_t seed;
    int64_t events; /* stop after the step in which so many rows are reached; 0: use steps */
    int64_t steps; /* iterations; at least 1 */
    int64_t devices; /* 1 .. GEN_DEVICES_MAX, one process each */
    int64_t layers; /* 1 .. 999 */
    int64_t plants; /* gaps of each cause, over all devices */
    int64_t zones; /* launch-bound zones, over all devices */
    int64_t exposed; /* copies that nothing hides, over all devices */
    int64_t jitter_us; /* random delays of up to so much before one op in ten; 0 = none */
    int graphs; /* enum gen_graphs */
    bool no_osrt; /* leave out OSRT_API */
    bool no_api; /* leave out CUPTI_ACTIVITY_KIND_RUNTIME */
    bool demo; /* the fixed story of the demo capture: sets all of the above */
    bool overwrite;
};

/* 3 steps, 1 device, 4 layers, one gap of each cause, one zone, one exposed copy. */
#define GEN_DEFAULTS \
    ((struct gen_options){ \
        .seed = 1, .steps = 16, .devices = 1, .layers = 6, .plants = 1, .zones = 1, .exposed = 1})

/* One planted gap: all of it, between the last op before and the op that ends it. */
struct gen_gap {
    int device;
    uint32_t pid;
    uint32_t tid; /* the thread that launched the op that ends it */
    enum gen_cause cause;
    int64_t begin_ns;
    int64_t end_ns;
    const char *evidence; /* the call that shows it, "" where there is none */
    char path[GEN_PATH_BYTES]; /* NVTX ranges of the thread at its begin: "a > b > c" */
};

/* A run of launches that the device waits for. */
struct gen_zone {
    int device;
    uint32_t pid;
    uint32_t tid;
    int launches;
    int64_t begin_ns; /* begin of the first op */
    int64_t end_ns; /* end of the last */
};

/* A sweep over all ops of one device, in ns. */
struct gen_device {
    int64_t first_ns; /* begin of the first op */
    int64_t last_ns; /* end of the last */
    int64_t busy_ns; /* any op */
    int64_t gaps; /* idle intervals between first and last, however short */
    int64_t compute_ns; /* a kernel or graph that is no communication */
    int64_t comm_ns; /* a communication kernel */
    int64_t both_ns; /* both of these */
    int64_t copy_ns; /* at least one copy */
    int64_t hidden_ns; /* ... while a kernel runs */
    int64_t copy_only_ns; /* copies and sets, no kernel */
};

struct gen_counts {
    int64_t kernels;
    int64_t memcpys;
    int64_t memsets;
    int64_t graph_launches;
    int64_t api_calls;
    int64_t nvtx_ranges;
    int64_t nvtx_marks;
    int64_t osrt_calls;
    int64_t syncs;
    int64_t overheads;
    int64_t memory_events;
};

struct gen_key {
    struct gen_gap *gaps; /* by time of the end; owned */
    size_t gap_count;
    struct gen_zone *zones; /* owned */
    size_t zone_count;
    struct gen_device devices[GEN_DEVICES_MAX];
    int device_count;
    struct gen_counts counts;
    int64_t steps; /* that were played */
};

/* Writes a capture to path. key may be NULL; else the caller calls gen_key_free. 0, or -1. */
int gen_capture(const struct gen_options *options, const char *path, struct gen_key *key,
                struct err *err);
void gen_key_free(struct gen_key *key);
/* The key as JSON. */
void gen_key_json(const struct gen_key *key, struct buf *out);
/* "device_wait", "slow_launch", "sync", ... */
const char *gen_cause_name(enum gen_cause cause);

#endif
