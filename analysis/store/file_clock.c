/* file_clock: see file_clock.h. */
#include "analysis/store/file_clock.h"

enum {
    WAIT_NS = 1000000
};

bool file_clock_is_past(const struct timespec *time)
{
    struct timespec now = {0};
#ifdef CLOCK_REALTIME_COARSE
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    (void)clock_gettime(CLOCK_REALTIME, &now);
#endif
    return time->tv_sec < now.tv_sec || (time->tv_sec == now.tv_sec && time->tv_nsec < now.tv_nsec);
}

void file_clock_wait(void)
{
    const struct timespec wait = {0, WAIT_NS};
    (void)nanosleep(&wait, NULL);
}
