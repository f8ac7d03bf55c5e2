/* file: see file.h. What SQLite sees of it is in vfs.c. */
#include "analysis/store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "analysis/store/file_clock.h"
#include "analysis/store/file_internal.h"
#include "analysis/store/store_internal.h"

static int file_read(int fd, int64_t offset, void *out, size_t len)
{
    unsigned char *at = out;
    while (len > 0) {
        ssize_t n = pread(fd, at, len, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        at += n;
        offset += n;
        len -= (size_t)n;
    }
    return 0;
}

/* 0, or -1 where the system does not tell. */
static int file_state(int fd, struct store_file_state *state)
{
    ssize_t n;
    *state = (struct store_file_state){0};
    do {
        n = pread(fd, state->header, sizeof state->header, 0);
    } while (n < 0 && errno == EINTR);
    return n < 0 || fstat(fd, &state->st) != 0 ? -1 : 0;
}

static bool file_same(const struct store_file_state *a, const struct store_file_state *b)
{
    return a->st.st_size == b->st.st_size && a->st.st_mtim.tv_sec == b->st.st_mtim.tv_sec &&
           a->st.st_mtim.tv_nsec == b->st.st_mtim.tv_nsec &&
           memcmp(a->header, b->header, sizeof a->header) == 0;
}

/*
 * Notes what the file is. A file that was written in this very tick of the clock could be written
 * again without a new time: that tick is waited out, so that any later write is seen.
 */
static int file_note(int fd, struct store_file_state *state)
{
    for (int ticks = 0; file_state(fd, state) == 0; ticks++) {
        if (ticks == FILE_CLOCK_TICKS || file_clock_is_past(&state->st.st_mtim)) {
            return 0;
        }
        file_clock_wait();
    }
    return -1;
}

/* Opens what lies beside the file, PATH+suffix. -1 where it is not there or empty; -2 where it is
 * and cannot be opened. */
static int file_beside(const char *path, const char *suffix)
{
    struct buf name = {0};
    struct stat st;
    int fd = -1;
    buf_adds(&name, path);
    buf_adds(&name, suffix);
    if (!buf_failed(&name) && stat(buf_text(&name), &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 0) {
        fd = open(buf_text(&name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        fd = fd < 0 ? -2 : fd;
    }
    buf_free(&name);
    return fd;
}

/* A journal that no living writer owns has the old pages of a half written file. Its first byte is 0
 * where it was ended (SQLite file format, 3). */
static int file_check_journal(const struct store_file *file, struct err *err)
{
    int fd = file_beside(file->path, "-journal");
    unsigned char first = 1;
    if (fd == -1) {
        return 0;
    }
    if (fd >= 0) {
        (void)file_read(fd, 0, &first, 1);
        (void)close(fd);
    }
    if (first == 0 || store_vfs_has_writer(file->fd)) {
        return 0;
    }
    return err_set(err,
                   "%s: its writer was killed half way (%s-journal is there): export again, or "
                   "open it once with sqlite3 in a writable folder",
                   file->path, file->path);
}

static int file_open_log(struct store_file *file, struct err *err)
{
    file->wal_fd = file_beside(file->path, "-wal");
    if (file->wal_fd == -2) {
        return err_set(err, "%s: its newest rows are in %s-wal, which cannot be opened", file->path,
                       file->path);
    }
    if (file->wal_fd >= 0 && file_note(file->wal_fd, &file->wal_was) != 0) {
        return err_set(err, "%s-wal: cannot be read: %s", file->path, strerror(errno));
    }
    return 0;
}

/* A pipe or a terminal is not waited for; what it is was checked. */
static int file_open_path(struct store_file *file, struct err *err)
{
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0) {
        return err_set(err, "%s: cannot be opened: %s", file->path, strerror(errno));
    }
    if (file_note(file->fd, &file->was) != 0) {
        return err_set(err, "%s: cannot be read: %s", file->path, strerror(errno));
    }
    file->source = store_sniff(file, err);
    if (file->source == NULL || file_check_journal(file, err) != 0) {
        return -1;
    }
    return file_open_log(file, err);
}

/* A file that nothing is open of yet. NULL without memory. */
static struct store_file *file_new(const char *path, struct err *err)
{
    struct store_file *file = calloc(1, sizeof *file);
    if (file == NULL || pthread_mutex_init(&file->mutex, NULL) != 0) {
        free(file);
        return err_null(err, "not enough memory to open %s", path);
    }
    file->fd = -1;
    file->wal_fd = -1;
    atomic_init(&file->owners, 1);
    file->path = malloc(strlen(path) + 1);
    if (file->path == NULL) {
        store_file_close(file);
        return err_null(err, "not enough memory to open %s", path);
    }
    memcpy(file->path, path, strlen(path) + 1);
    return file;
}

struct store_file *store_file_open(const char *path, struct err *err)
{
    struct store_file *file = store_sniff_path(path, err) == 0 ? file_new(path, err) : NULL;
    if (file == NULL) {
        return NULL;
    }
    if (file_open_path(file, err) != 0) {
        store_file_close(file);
        return NULL;
    }
    if (store_vfs_register(file) != 0) {
        store_file_close(file);
        return err_null(err, "not enough memory to open %s", path);
    }
    return file;
}

struct store_file *source_file(const struct source *source, void *input, const char *name,
                               struct err *err)
{
    struct store_file *file = file_new(name, err);
    if (file != NULL) {
        file->source = source;
        file->input = input;
    }
    return file;
}

struct store_file *store_file_share(struct store_file *file)
{
    (void)atomic_fetch_add(&file->owners, 1);
    return file;
}

void store_file_close(struct store_file *file)
{
    if (file == NULL || atomic_fetch_sub(&file->owners, 1) > 1) {
        return;
    }
    store_vfs_unregister(file);
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    if (file->wal_fd >= 0) {
        (void)close(file->wal_fd);
    }
    (void)pthread_mutex_destroy(&file->mutex);
    free(file->path);
    free(file);
}

const char *store_file_path(const struct store_file *file)
{
    return file->path;
}

const struct stat *store_file_stat(const struct store_file *file)
{
    return &file->was.st;
}

bool store_file_has_log(const struct store_file *file)
{
    return file->wal_fd >= 0;
}

int store_file_read(const struct store_file *file, int64_t offset, void *out, size_t len)
{
    return file_read(file->fd, offset, out, len);
}

int store_file_check(const struct store_file *file, struct err *err)
{
    struct store_file_state now;
    struct store_file_state wal = file->wal_was;
    if (file->fd < 0) {
        return 0; /* not a file on disk */
    }
    if (file_state(file->fd, &now) != 0 ||
        (file->wal_fd >= 0 && file_state(file->wal_fd, &wal) != 0)) {
        return err_set(err, "%s: cannot be read: %s", file->path, strerror(errno));
    }
    if (!file_same(&file->was, &now) || !file_same(&file->wal_was, &wal)) {
        return err_set(err, "%s: was written to while it was read: try again when that is done",
                       file->path);
    }
    return 0;
}
