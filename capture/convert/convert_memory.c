/* How much memory this process may use: of the machine, of its control group and of its own limit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/convert/convert_internal.h"

/* The number in a file; UINT64_MAX where there is none ("max", no such file). */
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    FILE *file = fopen(path, "re");
    uint64_t value = UINT64_MAX;
    if (file != NULL && fgets(text, sizeof text, file) != NULL && text[0] >= '0' &&
        text[0] <= '9') {
        value = strtoull(text, NULL, 10);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return value;
}

/* The least limit of a group and of those above it; GROUP is its path below ROOT, and is cut. */
static uint64_t limit_upward(const char *root, char *group, const char *name)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        struct buf path = {0};
        buf_addf(&path, "%s%s/%s", root, group, name);
        uint64_t value = buf_failed(&path) ? UINT64_MAX : number_in(buf_text(&path));
        buf_free(&path);
        least = value < least ? value : least;
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

uint64_t convert_memory_group(const char *groups, const char *root)
{
    char line[2048];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(groups, "re");
    struct buf v1 = {0};
    buf_addf(&v1, "%s/memory", root);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) {
            continue;
        }
        *group++ = '\0';
        uint64_t value = UINT64_MAX;
        if (controllers[1] == '\0') {
            value = limit_upward(root, group, "memory.max");
        } else if (strcmp(controllers + 1, "memory") == 0) {
            value = limit_upward(buf_text(&v1), group, "memory.limit_in_bytes");
        }
        least = value < least ? value : least;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    buf_free(&v1);
    return least;
}

/* What RLIMIT_AS leaves. */
static uint64_t address_space_left(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return UINT64_MAX;
    }
    uint64_t used = number_in("/proc/self/statm");
    used = used == UINT64_MAX ? 0 : used * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t convert_memory_bytes(void)
{
    const uint64_t bounds[] = {
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
        convert_memory_group("/proc/self/cgroup", "/sys/fs/cgroup"),
        address_space_left(),
    };
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        least = bounds[i] < least ? bounds[i] : least;
    }
    return least;
}
