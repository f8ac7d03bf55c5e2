/* Whether the time stamp counter can be trusted, and anchors between the clocks. */
#include "capture/spool/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
/* The kernel leaves the TSC as soon as it finds it unstable; what it then uses is one of these. */
static bool kernel_left_tsc(void)
{
    char name[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, name, sizeof(name) - 1);
    (void)close(fd);
    if (got <= 0) {
        return false;
    }
    return strncmp(name, "hpet", 4) == 0 || strncmp(name, "acpi_pm", 7) == 0 ||
           strncmp(name, "jiffies", 7) == 0;
}
#endif

bool clock_tsc_usable(void)
{
#if defined(__x86_64__)
    /* Invariant TSC: CPUID 8000_0007h, EDX bit 8 (Intel SDM vol. 3, "Invariant TSC"; AMD APM the
     * same). */
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) {
        return false;
    }
    return !kernel_left_tsc();
#else
    return false;
#endif
}

void clock_anchor_take(struct clock_anchor *anchor)
{
    anchor->bracket_ns = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t before = clock_read_ns(CLOCK_MONOTONIC);
        int64_t real = clock_read_ns(CLOCK_REALTIME);
        uint64_t tsc = clock_tsc();
        int64_t after = clock_read_ns(CLOCK_MONOTONIC);
        if (after - before < anchor->bracket_ns) {
            anchor->bracket_ns = after - before;
            anchor->mono_ns = before + (after - before) / 2;
            anchor->real_ns = real;
            anchor->tsc = tsc;
        }
    }
}
