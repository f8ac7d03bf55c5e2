/*
 * What the system calls the threads of the process, and its command line.
 *
 * Names change at any time, and nobody says so. A thread that uses NVTX looks at its own name when it
 * begins a segment, now and then, and when it ends; the exit handler and, in CUDA processes, our
 * thread look at those of all. What was found last counts. A look costs a system call or two; what
 * did not change is not written again.
 */
#define _GNU_SOURCE /* syscall, O_DIRECTORY; NOLINT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inject/inject.h"
#include "capture/spool/secret.h"

#define KNOWN 2048 /* names that are remembered, by the low bits of the thread id */
#define COMMAND_BYTES 8192 /* of a command line; what is behind is left out */
#define LIVE_MAX 512 /* more threads than that are looked at when the process ends only */

/* What getdents64 fills in (Linux). */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static struct {
    atomic_flag busy;
    uint32_t serial; /* of the spool that these are in */
    struct {
        uint32_t tid;
        char name[INJECT_NAME_BYTES];
    } known[KNOWN];
    char words[COMMAND_BYTES];
    char hidden[COMMAND_BYTES];
    size_t hidden_bytes;
    char before[COMMAND_BYTES]; /* the command line that was written */
    size_t before_bytes;
} names = {.busy = ATOMIC_FLAG_INIT};

/* Takes the tables; false while another thread has them. What is of a parent is forgotten. */
static bool names_enter(void)
{
    if (atomic_flag_test_and_set(&names.busy) && names.serial == inject.spool_serial) {
        return false;
    }
    if (names.serial != inject.spool_serial) {
        names.serial = inject.spool_serial;
        names.before_bytes = 0;
        memset(names.known, 0, sizeof(names.known));
    }
    return true;
}

static void names_leave(void)
{
    atomic_flag_clear(&names.busy);
}

/* Reads what a file of /proc has, up to SIZE bytes; returns their number. */
static size_t read_file(const char *path, char *out, size_t size)
{
    size_t have = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && have < size && (got = read(fd, out + have, size - have)) > 0) {
        have += (size_t)got;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return have;
}

static void put_name(struct spool_writer *writer, uint32_t tid, const char *name)
{
    struct spool_meta head = {.kind = SPOOL_META_OS_THREAD};
    head.value[0] = tid;
    spool_writer_meta(writer, &head, name, strnlen(name, INJECT_NAME_BYTES));
}

/* Writes the command line, if it is not the one that was written. */
static void put_command(struct spool_writer *writer)
{
    size_t bytes = read_file("/proc/self/cmdline", names.words, sizeof(names.words));
    /* A program that writes its title there leaves zeros behind it. */
    while (bytes > 1 && names.words[bytes - 1] == '\0' && names.words[bytes - 2] == '\0') {
        bytes--;
    }
    names.hidden_bytes = secret_hide(names.hidden, sizeof(names.hidden), names.words, bytes);
    if (names.hidden_bytes == 0 || (names.hidden_bytes == names.before_bytes &&
                                    memcmp(names.hidden, names.before, names.before_bytes) == 0)) {
        return;
    }
    struct spool_meta head = {.kind = SPOOL_META_COMMAND};
    spool_writer_meta(writer, &head, names.hidden, names.hidden_bytes);
    memcpy(names.before, names.hidden, names.hidden_bytes);
    names.before_bytes = names.hidden_bytes;
}

void os_names_command(struct spool_writer *writer)
{
    int saved = errno;
    if (spool_place_open_allowed(&inject.place) && names_enter()) {
        put_command(writer);
        names_leave();
    }
    errno = saved;
}

void os_names_self(struct nvtx_thread *thread, struct spool_writer *writer)
{
    char name[INJECT_NAME_BYTES] = "";
    int saved = errno;
    if (prctl(PR_GET_NAME, name) == 0 && memcmp(name, thread->name, sizeof(name)) != 0) {
        memcpy(thread->name, name, sizeof(name));
        put_name(writer, thread->tid, name);
        if (thread->tid == (uint32_t)getpid()) {
            os_names_command(writer); /* who names the process may give it another title too */
        }
    }
    errno = saved;
}

/* Looks at one thread; NUMBER is its id as /proc has it. */
static void look(struct spool_writer *writer, const char *number)
{
    char path[64];
    char name[INJECT_NAME_BYTES + 1] = "";
    uint32_t tid = (uint32_t)strtoul(number, NULL, 10);
    (void)snprintf(path, sizeof(path), "/proc/self/task/%.16s/comm", number);
    size_t bytes = tid == 0 ? 0 : read_file(path, name, sizeof(name));
    if (bytes == 0) {
        return;
    }
    memset(name + bytes - 1, 0, sizeof(name) - bytes + 1); /* the newline */
    uint32_t at = tid % KNOWN;
    if (names.known[at].tid != tid ||
        memcmp(names.known[at].name, name, sizeof(names.known[at].name)) != 0) {
        names.known[at].tid = tid;
        memcpy(names.known[at].name, name, sizeof(names.known[at].name));
        put_name(writer, tid, name);
    }
}

/* Looks at up to MOST threads; more than that: at none of those behind. */
static void look_at_all(struct spool_writer *writer, unsigned most)
{
    _Alignas(struct entry) char part[2048];
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = 0;
    while (fd >= 0 && most > 0 && (got = syscall(SYS_getdents64, fd, part, sizeof(part))) > 0) {
        for (long at = 0; at < got && most > 0;) {
            const struct entry *entry = (const struct entry *)(const void *)(part + at);
            if (entry->name[0] != '.') {
                look(writer, entry->name);
                most--;
            }
            at += entry->bytes;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

void os_names_all(struct spool_writer *writer, bool at_exit)
{
    int saved = errno;
    if (spool_place_open_allowed(&inject.place) && names_enter()) {
        look_at_all(writer, at_exit ? UINT32_MAX : LIVE_MAX);
        put_command(writer);
        names_leave();
    }
    errno = saved;
}
