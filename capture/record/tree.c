/* The processes of a recording, from /proc; tree.h says which they are. */
#define _GNU_SOURCE /* syscall; NOLINT */
#include "capture/record/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/sort.h"
#include "capture/spool/spool.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* Linux 5.3 */
#endif

/* A process of the machine. */
struct entry {
    pid_t pid;
    pid_t parent;
    uint64_t start_ticks;
    bool dead; /* ended, and its parent has not asked yet */
    bool ours;
};

struct machine {
    struct entry *entries; /* by pid */
    size_t count;
    size_t room;
};

/* ---- what there is --------------------------------------------------------------------------- */

/* The parent, state and start of a process: fields 4, 3 and 22 of its stat, behind a name that may
 * hold anything. */
static void read_stat(struct entry *entry)
{
    char path[64];
    char text[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)entry->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')');
    if (at == NULL || strlen(at) < 5) {
        entry->dead = true;
        return;
    }
    entry->dead = strchr("ZXx", at[2]) != NULL;
    entry->parent = (pid_t)strtol(at + 4, NULL, 10);
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    entry->start_ticks = at == NULL ? 0 : strtoull(at, NULL, 10);
}

static int by_pid(const void *a, const void *b)
{
    return COMPARE(((const struct entry *)a)->pid, ((const struct entry *)b)->pid);
}

static void list_machine(struct machine *machine)
{
    DIR *dir = opendir("/proc");
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL;
         entry = readdir(dir)) {
        if (!isdigit((unsigned char)entry->d_name[0])) {
            continue;
        }
        struct entry *grown =
            array_grow(machine->entries, &machine->room, machine->count + 1, sizeof *grown);
        if (grown == NULL) {
            break;
        }
        machine->entries = grown;
        struct entry *made = &grown[machine->count++];
        *made = (struct entry){.pid = (pid_t)strtol(entry->d_name, NULL, 10)};
        read_stat(made);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    sort_list(machine->entries, machine->count, sizeof *machine->entries, by_pid);
}

static struct entry *entry_of(const struct machine *machine, pid_t pid)
{
    size_t at = 0;
    BISECT(size_t, at, machine->count, mid, machine->entries[mid].pid < pid)
    bool found = at < machine->count && machine->entries[at].pid == pid;
    return found ? &machine->entries[at] : NULL;
}

/* ---- whose ----------------------------------------------------------------------------------- */

/* True if a variable of the process names something in the folder. */
static bool names_folder(pid_t pid, const char *dir, struct buf *text)
{
    char path[64];
    char part[2048];
    ssize_t got;
    (void)snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buf_reset(text);
    while (fd >= 0 && (got = read(fd, part, sizeof part)) > 0) {
        buf_add(text, part, (size_t)got);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    buf_addc(text, '\0');
    if (buf_failed(text)) {
        return false;
    }
    for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1) {
        const char *found = strstr(text->data + at, dir);
        if (found != NULL && found[strlen(dir)] == '/') {
            return true;
        }
    }
    return false;
}

static void mark_by_environment(const struct machine *machine, const char *dir)
{
    struct buf text = {0};
    for (size_t i = 0; i < machine->count; i++) {
        struct entry *entry = &machine->entries[i];
        entry->ours = !entry->dead && names_folder(entry->pid, dir, &text);
    }
    buf_free(&text);
}

/* Programs may write over their environment, and hide it; a spool has their pid. */
static void mark_by_spool(const struct machine *machine, const char *dir)
{
    DIR *list = opendir(dir);
    for (struct dirent *name = list != NULL ? readdir(list) : NULL; name != NULL;
         name = readdir(list)) {
        struct spool_header header = {0};
        size_t len = strlen(name->d_name);
        size_t suffix = strlen(SPOOL_SUFFIX);
        if (len <= suffix || strcmp(name->d_name + len - suffix, SPOOL_SUFFIX) != 0) {
            continue;
        }
        int fd = openat(dirfd(list), name->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        ssize_t got = fd < 0 ? -1 : pread(fd, &header, offsetof(struct spool_header, host), 0);
        if (fd >= 0) {
            (void)close(fd);
        }
        struct entry *entry =
            got > 0 && header.magic == SPOOL_MAGIC ? entry_of(machine, (pid_t)header.pid) : NULL;
        if (entry != NULL && entry->start_ticks == header.start_ticks) {
            entry->ours = !entry->dead;
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
}

/* The children of those that are ours. */
static void mark_by_parent(const struct machine *machine)
{
    pid_t self = getpid();
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < machine->count; i++) {
            struct entry *entry = &machine->entries[i];
            const struct entry *parent = entry_of(machine, entry->parent);
            bool below = entry->parent == self || (parent != NULL && parent->ours);
            if (!entry->ours && !entry->dead && below) {
                entry->ours = true;
                more = true;
            }
        }
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* The descriptor of a member that was known before; -1 where there is none, or where it is of an
 * earlier process of that number. Takes it from the tree. */
static int take_descriptor(struct record_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct pollfd ended = {.fd = tree->members[i].fd, .events = POLLIN};
        if (tree->members[i].pid == pid && ended.fd >= 0 && poll(&ended, 1, 0) == 0) {
            tree->members[i].fd = -1;
            return ended.fd;
        }
    }
    return -1;
}

static void add_member(struct record_tree *tree, struct record_tree *before, pid_t pid)
{
    struct record_member *grown =
        array_grow(tree->members, &tree->room, tree->count + 1, sizeof *grown);
    if (grown == NULL) {
        tree->blind = true;
        return;
    }
    tree->members = grown;
    int fd = take_descriptor(before, pid);
    if (fd < 0) {
        fd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
    tree->blind = tree->blind || fd < 0;
    if (fd < 0 && errno == ESRCH) {
        return; /* it has just ended: what it started may be missing here */
    }
    tree->members[tree->count++] = (struct record_member){.pid = pid, .fd = fd};
}

void record_tree_find(struct record_tree *tree, const char *dir)
{
    struct machine machine = {0};
    struct record_tree found = {0};
    pid_t self = getpid();
    list_machine(&machine);
    mark_by_environment(&machine, dir);
    mark_by_spool(&machine, dir);
    struct entry *own = entry_of(&machine, self);
    if (own != NULL) {
        own->ours = false;
    }
    mark_by_parent(&machine);
    for (size_t i = 0; i < machine.count; i++) {
        if (machine.entries[i].ours && machine.entries[i].pid != self) {
            add_member(&found, tree, machine.entries[i].pid);
        }
    }
    free(machine.entries);
    record_tree_free(tree);
    *tree = found;
}

void record_tree_signal(const struct record_tree *tree, int signal)
{
    for (size_t i = 0; i < tree->count; i++) {
        (void)kill(tree->members[i].pid, signal);
    }
}

void record_tree_free(struct record_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->members[i].fd >= 0) {
            (void)close(tree->members[i].fd);
        }
    }
    free(tree->members);
    *tree = (struct record_tree){0};
}
