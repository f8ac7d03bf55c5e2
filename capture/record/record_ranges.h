/* When the capture ranges of all processes are over, as the launcher sees it. */
#ifndef CUTLINE_CAPTURE_RECORD_RECORD_RANGES_H
#define CUTLINE_CAPTURE_RECORD_RECORD_RANGES_H

#include "capture/spool/ranges.h"

struct record_ranges {
    uint64_t moves; /* at the last look */
    int64_t still_since_ns; /* since when nothing moved; CLOCK_MONOTONIC */
};

/* True when each process that opened a range has recorded as many as were wanted, or is gone; or when
 * one has, and no other one has opened or closed a range for 5 s: it may never come to it. */
bool record_ranges_over(struct record_ranges *ranges, const struct session_control *control,
                        int64_t now_ns);

#endif
