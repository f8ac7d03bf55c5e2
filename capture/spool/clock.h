/* The clocks of a recording: read inline, because the NVTX path pays for each call. */
#ifndef CUTLINE_CAPTURE_SPOOL_CLOCK_H
#define CUTLINE_CAPTURE_SPOOL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Reads CLOCK as ns; 0 where it cannot be read. */
static inline int64_t clock_read_ns(clockid_t clock)
{
    struct timespec now = {0, 0};
    if (clock_gettime(clock, &now) != 0) {
        return 0;
    }
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The time stamp counter; 0 on machines that have none. */
static inline uint64_t clock_tsc(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

/* True if the counter runs at one rate in all power states and the kernel has not found it
 * unstable. */
bool clock_tsc_usable(void);

/* One moment on all clocks; CLOCK_MONOTONIC is read between two reads of the others and the
 * tightest of 5 tries is kept. */
struct clock_anchor {
    int64_t real_ns;
    int64_t mono_ns;
    uint64_t tsc;
    int64_t bracket_ns; /* how far apart the reads were */
};
void clock_anchor_take(struct clock_anchor *anchor);

#endif
