/* cache_folder: see cache_folder.h. All files are reached through the descriptor of the folder that
 * was examined, so that nothing can be put in its place meanwhile. */
#include "analysis/store/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    OTHERS_WRITE = 0022,
    OTHERS_ANY = 0077,
    PART_SECONDS = 24 * 3600, /* a part as old as this was left by a program that was killed */
    PART_DEAD_SECONDS = 600, /* ... or this, where that program is not there; it may be elsewhere */
    FRESH_SECONDS = 60, /* what was used just now may be about to be opened */
    USED_SECONDS = 3600, /* the time of use is written no more often */
    PART_TRIES = 100,
    WRITE_BYTES = 1 << 16 /* at a time: the system maps at least as much as it was given at once */
};

/* Makes a folder and those above it. */
static int make_folder(const char *path, struct err *err)
{
    struct buf part = {0};
    int status = 0;
    for (size_t i = 1; i <= strlen(path) && status == 0; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        buf_reset(&part);
        buf_add(&part, path, i);
        if (buf_failed(&part)) {
            status = err_nomem(err, path);
        } else if (mkdir(buf_text(&part), FOLDER_MODE) != 0 && errno != EEXIST) {
            status = err_set(err, "%s: cannot be made: %s", buf_text(&part), strerror(errno));
        }
    }
    buf_free(&part);
    return status;
}

static int name_folder(struct buf *out, struct err *err)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/') {
        buf_addf(out, "%s/cutline", cache);
    } else if (home != NULL && home[0] == '/') {
        buf_addf(out, "%s/.cache/cutline", home);
    } else {
        return err_set(err, "no cache folder: set XDG_CACHE_HOME or HOME");
    }
    return buf_failed(out) ? err_nomem(err, "the cache folder's name") : 0;
}

int cache_folder_open(struct cache_folder *folder, struct err *err)
{
    struct stat st;
    *folder = (struct cache_folder){.fd = -1, .limit_mib = CACHE_FOLDER_MIB};
    if (name_folder(&folder->path, err) != 0 || make_folder(buf_text(&folder->path), err) != 0) {
        return -1;
    }
    const char *path = buf_text(&folder->path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        (void)err_set(err, "%s: cannot be opened: %s", path, strerror(errno));
    } else if (st.st_uid != geteuid() || (st.st_mode & OTHERS_WRITE) != 0) {
        (void)err_set(err,
                      "%s: others can write into this cache folder: chown it to you and chmod 700 "
                      "it, or set XDG_CACHE_HOME",
                      path);
    } else {
        folder->fd = fd;
        return 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

void cache_folder_close(struct cache_folder *folder)
{
    if (folder->fd >= 0) {
        (void)close(folder->fd);
    }
    folder->fd = -1;
    buf_free(&folder->path);
}

/* Could only the user have written it, and read it? */
static bool is_private(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & OTHERS_ANY) == 0;
}

/* When it was last of use, in seconds: reading sets the first, writing the second. */
static int64_t used_at(const struct stat *st)
{
    int64_t read_s = (int64_t)st->st_atim.tv_sec;
    int64_t written_s = (int64_t)st->st_mtim.tv_sec;
    return read_s > written_s ? read_s : written_s;
}

static int64_t now_s(void)
{
    return (int64_t)time(NULL);
}

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* The name of the seal of a file (cache_seal.h). -1 without memory. */
static int name_seal(const char *name, struct buf *out)
{
    buf_reset(out);
    buf_addf(out, "seal-%s", name);
    return buf_failed(out) ? -1 : 0;
}

/* Notes that a file was used: on its seal where it has one, as the file itself would not be the one
 * that was sealed any more. */
static void note_use(const struct cache_folder *folder, const char *name, int fd)
{
    const struct timespec used[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    struct buf seal = {0};
    if (name_seal(name, &seal) != 0 ||
        utimensat(folder->fd, buf_text(&seal), used, AT_SYMLINK_NOFOLLOW) != 0) {
        (void)futimens(fd, used);
    }
    buf_free(&seal);
}

static int open_private(const struct cache_folder *folder, const char *name, struct stat *st)
{
    int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, st) != 0 || !is_private(st))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

int cache_folder_look(const struct cache_folder *folder, const char *name)
{
    struct stat st;
    return open_private(folder, name, &st);
}

int cache_folder_find(const struct cache_folder *folder, const char *name)
{
    struct stat st;
    int fd = open_private(folder, name, &st);
    if (fd >= 0 && now_s() - used_at(&st) > USED_SECONDS) {
        note_use(folder, name, fd);
    }
    return fd;
}

int cache_folder_begin(const struct cache_folder *folder, const char *suffix,
                       struct cache_part *part)
{
    struct stat st;
    *part = (struct cache_part){.folder = folder, .fd = -1};
    for (int i = 0; i < PART_TRIES && part->fd < 0; i++) {
        buf_reset(&part->name);
        buf_addf(&part->name, "part-%ld-%d%s", (long)getpid(), i, suffix);
        if (buf_failed(&part->name)) {
            return -1;
        }
        part->fd = openat(folder->fd, buf_text(&part->name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                          FILE_MODE);
        if (part->fd < 0 && errno != EEXIST) {
            return -1;
        }
    }
    /* Some file systems know neither owners nor modes: what is written there would not be taken. */
    return part->fd >= 0 && fstat(part->fd, &st) == 0 && is_private(&st) ? 0 : -1;
}

void cache_folder_drop(struct cache_part *part)
{
    if (part->fd >= 0) {
        (void)close(part->fd);
        (void)unlinkat(part->folder->fd, buf_text(&part->name), 0);
    }
    part->fd = -1;
    buf_free(&part->name);
}

/* When a file was last of use: the use of a sealed one is noted on its seal. */
static int64_t used_with_seal(const struct cache_folder *folder, const char *name,
                              const struct stat *st)
{
    struct buf seal = {0};
    struct stat other;
    int64_t used_s = used_at(st);
    if (name_seal(name, &seal) == 0 &&
        fstatat(folder->fd, buf_text(&seal), &other, AT_SYMLINK_NOFOLLOW) == 0 &&
        used_at(&other) > used_s) {
        used_s = used_at(&other);
    }
    buf_free(&seal);
    return used_s;
}

int cache_folder_remove(const struct cache_folder *folder, const char *name)
{
    struct buf seal = {0};
    int status = unlinkat(folder->fd, name, 0);
    int code = errno;
    if (name_seal(name, &seal) == 0) {
        (void)unlinkat(folder->fd, buf_text(&seal), 0);
    }
    buf_free(&seal);
    errno = code;
    return status;
}

/* Is a seal left without its file? */
static bool is_orphan(const struct cache_folder *folder, const char *name)
{
    struct stat st;
    return starts(name, "seal-") &&
           fstatat(folder->fd, name + strlen("seal-"), &st, AT_SYMLINK_NOFOLLOW) != 0;
}

/* Was a part left by a program that is gone? Its name begins with the program's number. */
static bool is_left(const char *name, int64_t age_s)
{
    char *end = NULL;
    long pid = strtol(name + strlen("part-"), &end, 10);
    bool gone = pid > 0 && *end == '-' && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
    return age_s > (gone ? PART_DEAD_SECONDS : PART_SECONDS);
}

/* One name of the folder: rests are removed, what is kept is handed over. */
static void look_at(const struct cache_folder *folder, const char *name, cache_folder_visit *visit,
                    void *arg)
{
    static const char *const kinds[] = {"trace-", "figures-", "export-", "part-"};
    struct stat st;
    bool ours = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        ours = ours || starts(name, kinds[i]);
    }
    if (is_orphan(folder, name)) {
        (void)unlinkat(folder->fd, name, 0);
    }
    if (!ours || fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    struct cache_entry entry = {name, (uint64_t)st.st_size, used_with_seal(folder, name, &st),
                                starts(name, "part-")};
    if (entry.is_part && is_left(name, now_s() - entry.used_s)) {
        (void)unlinkat(folder->fd, name, 0);
    } else {
        visit(arg, &entry);
    }
}

int cache_folder_each(const struct cache_folder *folder, cache_folder_visit *visit, void *arg)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    if (dir == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return -1;
    }
    while ((entry = readdir(dir)) != NULL) {
        look_at(folder, entry->d_name, visit, arg);
    }
    (void)closedir(dir);
    return 0;
}

/* What the folder holds: bytes, and the file that is to go next. */
struct contents {
    const char *keep;
    uint64_t total;
    int64_t oldest_s;
    struct buf oldest; /* "" = none */
};

static void add_entry(void *arg, const struct cache_entry *entry)
{
    struct contents *contents = arg;
    contents->total += entry->bytes;
    if (strcmp(entry->name, contents->keep) != 0 && now_s() - entry->used_s > FRESH_SECONDS &&
        entry->used_s < contents->oldest_s) {
        contents->oldest_s = entry->used_s;
        buf_reset(&contents->oldest);
        buf_adds(&contents->oldest, entry->name);
    }
}

/* Looks through the folder. False where it cannot be read, or nothing can go. */
static bool look_through(const struct cache_folder *folder, struct contents *contents)
{
    contents->total = 0;
    contents->oldest_s = INT64_MAX;
    buf_reset(&contents->oldest);
    return cache_folder_each(folder, add_entry, contents) == 0 && contents->oldest.len > 0 &&
           !buf_failed(&contents->oldest);
}

int cache_folder_trim(const struct cache_folder *folder, const char *keep)
{
    struct contents contents = {.keep = keep};
    int removed = 0;
    while (look_through(folder, &contents) &&
           contents.total > (uint64_t)folder->limit_mib * 1024 * 1024 &&
           cache_folder_remove(folder, buf_text(&contents.oldest)) == 0) {
        removed++;
    }
    buf_free(&contents.oldest);
    return removed;
}

int cache_folder_finish(struct cache_part *part, const char *name)
{
    const struct cache_folder *folder = part->folder;
    int fd = part->fd;
    int code = 0;
    part->fd = -1;
    if (fd < 0 || close(fd) != 0 ||
        renameat(folder->fd, buf_text(&part->name), folder->fd, name) != 0) {
        code = fd < 0 ? EBADF : errno;
        (void)unlinkat(folder->fd, buf_text(&part->name), 0);
    }
    buf_free(&part->name);
    (void)cache_folder_trim(folder, name);
    errno = code;
    return code == 0 ? 0 : -1;
}

/* Until all is written, at an offset (-1: where the file is); a signal may cut it. */
static int write_all(int fd, const unsigned char *at, size_t bytes, int64_t offset)
{
    while (bytes > 0) {
        size_t some = bytes < WRITE_BYTES ? bytes : WRITE_BYTES;
        ssize_t n = offset < 0 ? write(fd, at, some) : pwrite(fd, at, some, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return -1;
        }
        at += n;
        bytes -= (size_t)n;
        offset += offset < 0 ? 0 : n;
    }
    return 0;
}

int cache_folder_write(int fd, const void *data, size_t bytes)
{
    return cache_folder_write_at(fd, data, bytes, -1);
}

int cache_folder_write_at(int fd, const void *data, size_t bytes, int64_t offset)
{
    sigset_t limit;
    sigset_t pending;
    sigset_t before;
    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &limit, &before) != 0) {
        return -1;
    }
    int status = write_all(fd, data, bytes, offset);
    int code = errno;
    /* The signal goes to the thread that writes: one is pending now, or none. */
    if (status != 0 && code == EFBIG && sigismember(&before, SIGXFSZ) == 0 &&
        sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1) {
        int signal_number;
        (void)sigwait(&limit, &signal_number);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return status;
}
