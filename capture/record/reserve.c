/* Names that are kept for a recording; reserve.h says how. */
#define _DEFAULT_SOURCE /* flock; NOLINT */
#include "capture/record/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/record.h"

static const char marker[] =
    "cutline record: a recording is under way, its capture gets this name\n";

enum taken {
    TAKEN_BY_US,
    TAKEN_AGAIN, /* it changed under our hands: try once more */
    TAKEN_EXISTS, /* a file of somebody */
    TAKEN_BUSY, /* another recording has it */
    TAKEN_FAILED /* errno says why */
};

/* Locks without waiting. unknown: what it is where the file system has no locks. */
static bool lock(int fd, bool unknown)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        return true;
    }
    return errno != EWOULDBLOCK && unknown;
}

/* True if the file of that name is the one that is open. */
static bool is_still(const char *path, int fd, struct stat *st)
{
    struct stat there;
    return fstat(fd, st) == 0 && lstat(path, &there) == 0 && there.st_dev == st->st_dev &&
           there.st_ino == st->st_ino;
}

static bool has_marker(int fd)
{
    char text[sizeof marker];
    ssize_t got = pread(fd, text, sizeof text, 0);
    return got == (ssize_t)strlen(marker) && memcmp(text, marker, strlen(marker)) == 0;
}

static enum taken keep(struct record_reserved *reserved, int fd, const struct stat *st, bool made)
{
    reserved->fd = fd;
    reserved->made = made;
    reserved->device = st->st_dev;
    reserved->inode = st->st_ino;
    return TAKEN_BY_US;
}

static enum taken give_up(int fd, enum taken why)
{
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return why;
}

/* Makes the file. */
static enum taken take_new(const char *path, struct record_reserved *reserved)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return errno == EEXIST ? TAKEN_EXISTS : TAKEN_FAILED;
    }
    /* The lock first: a line without a lock is nobody's. */
    if (!lock(fd, true) || !is_still(path, fd, &st)) {
        return give_up(fd, TAKEN_AGAIN);
    }
    if (pwrite(fd, marker, strlen(marker), 0) != (ssize_t)strlen(marker)) {
        int saved = errno;
        (void)unlink(path);
        errno = saved;
        return give_up(fd, TAKEN_FAILED);
    }
    return keep(reserved, fd, &st, true);
}

/* Locks the file that is there, if it may be replaced. */
static enum taken take_existing(const char *path, bool overwrite, struct record_reserved *reserved)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? TAKEN_AGAIN : TAKEN_FAILED;
    }
    if (!S_ISREG(st.st_mode)) {
        return overwrite ? keep(reserved, -1, &st, false) : TAKEN_EXISTS;
    }
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    fd = fd < 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : fd;
    if (fd < 0) {
        /* one that may not be read may still be replaced */
        return overwrite ? keep(reserved, -1, &st, false) : TAKEN_EXISTS;
    }
    bool marked = has_marker(fd);
    if (!marked && !overwrite) {
        return give_up(fd, TAKEN_EXISTS);
    }
    if (!lock(fd, !marked)) {
        return give_up(fd, TAKEN_BUSY);
    }
    if (!is_still(path, fd, &st) || has_marker(fd) != marked) {
        return give_up(fd, TAKEN_AGAIN);
    }
    return keep(reserved, fd, &st, marked);
}

static enum taken take(const char *path, bool overwrite, struct record_reserved *reserved)
{
    enum taken taken = TAKEN_AGAIN;
    while (taken == TAKEN_AGAIN) {
        taken = take_new(path, reserved);
        if (taken == TAKEN_EXISTS) {
            taken = take_existing(path, overwrite, reserved);
        }
    }
    return taken;
}

static int refuse(enum taken taken, const char *path, struct err *err)
{
    if (taken == TAKEN_BUSY) {
        return err_set(err, "another recording is writing '%s'; choose another name with -o", path);
    }
    if (taken == TAKEN_EXISTS) {
        return err_set(err, "'%s' exists already; choose another name with -o, or -f to replace it",
                       path);
    }
    return err_set(err, "cannot write to '%s': %s; choose another place with -o", path,
                   strerror(errno));
}

int record_reserve(const char *pattern, pid_t pid, bool overwrite, struct record_reserved *reserved,
                   struct err *err)
{
    enum taken taken = TAKEN_EXISTS;
    *reserved = (struct record_reserved){.fd = -1};
    for (int number = 1; number > 0;) {
        int next = number;
        char *path = record_name(pattern, pid, &next, err);
        if (path == NULL || record_name_place(path, err) < 0) {
            free(path);
            return -1;
        }
        bool counts = next != number;
        taken = take(path, overwrite && !counts, reserved);
        if (taken == TAKEN_BY_US) {
            reserved->path = path;
            return 0;
        }
        if (!counts || taken == TAKEN_FAILED || next > RECORD_NUMBER_MAX) {
            (void)refuse(taken, path, err);
            number = 0;
        } else {
            number = next;
        }
        free(path);
    }
    return -1;
}

bool record_reserved_holds(const struct record_reserved *reserved)
{
    struct stat st;
    return reserved->path != NULL && lstat(reserved->path, &st) == 0 &&
           st.st_dev == reserved->device && st.st_ino == reserved->inode;
}

void record_reserve_end(struct record_reserved *reserved)
{
    if (reserved->made && record_reserved_holds(reserved)) {
        (void)unlink(reserved->path);
    }
    if (reserved->fd >= 0) {
        (void)close(reserved->fd);
    }
    free(reserved->path);
    *reserved = (struct record_reserved){.fd = -1};
}
