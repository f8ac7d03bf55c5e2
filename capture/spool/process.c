/* Reads /proc/PID/stat. No malloc: it also runs inside recorded programs. */
#define _GNU_SOURCE /* O_CLOEXEC; NOLINT */
#include "capture/spool/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIELD_COMM = 2,
    FIELD_START = 22,
    STAT_BYTES = 1024,
};

/* Reads the file at PATH. The command in field 2 may hold anything, so what is returned begins at its
 * closing parenthesis; NULL where there is none. */
static const char *read_stat(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    ssize_t got = read(fd, text, size - 1);
    (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    return strrchr(text, ')');
}

static uint64_t start_of(const char *at)
{
    for (int field = FIELD_COMM; at != NULL && field < FIELD_START; field++) {
        at = strchr(at + 1, ' ');
    }
    return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

uint64_t process_start_ticks(void)
{
    char text[STAT_BYTES];
    return start_of(read_stat("/proc/self/stat", text, sizeof text));
}

bool process_runs(uint32_t pid, uint64_t start_ticks)
{
    char path[64];
    char text[STAT_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%u/stat", pid);
    const char *at = read_stat(path, text, sizeof text);
    /* behind the parenthesis: a blank and the state */
    bool dead = at == NULL || at[1] == '\0' || strchr("ZXx", at[2]) != NULL;
    return !dead && start_of(at) == start_ticks;
}
