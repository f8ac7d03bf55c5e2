/* The end of all capture ranges. */
#include "capture/record/record_ranges.h"

static const int64_t STILL_NS = 5000000000;

bool record_ranges_over(struct record_ranges *ranges, const struct session_control *control,
                        int64_t now_ns)
{
    if (session_ranges_over(control)) {
        return true;
    }
    uint64_t moves = session_ranges_moves(control);
    if (moves != ranges->moves || ranges->still_since_ns == 0) {
        ranges->moves = moves;
        ranges->still_since_ns = now_ns;
    }
    return session_ranges_any_used_up(control) && now_ns - ranges->still_since_ns >= STILL_NS;
}
