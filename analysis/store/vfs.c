/*
 * vfs: what SQLite may do with an open capture file: read it, and the write-ahead log beside it, by
 * the descriptors that the file was opened with. See "The OS Backend (VFS) to SQLite" and "Write-Ahead
 * Logging" in SQLite's documentation.
 *
 * Nothing is written, created or removed, and no name is looked up again: a journal is never there
 * (file.c refuses a file with a live one), a log is there when it was there at the beginning. The
 * index of the log, which SQLite would keep in a -shm file beside it, is in the memory of each
 * connection: each builds its own from the log.
 *
 * Locks are SQLite's own, so that a writer that keeps to them waits for a reader's statement and a
 * reader sees that there is a writer. They belong to the open file description (Linux, fcntl(2)), not
 * to the process: those of the process would end with any descriptor that it closes.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/array.h"
#include "analysis/store/file_internal.h"

enum {
    VFS_PENDING_BYTE = 0x40000000, /* SQLite file format, 1.2 */
    VFS_RESERVED_BYTE = VFS_PENDING_BYTE + 1,
    VFS_SHARED_FIRST = VFS_PENDING_BYTE + 2,
    VFS_SHARED_BYTES = 510,
    VFS_SECTOR_BYTES = 4096,
    VFS_PATH_BYTES = 64,
    VFS_AHEAD_BYTES = 1 << 17
};

/* SQLite's file object: the database or its log, of one connection. */
struct vfs_file {
    sqlite3_file base; /* first: SQLite knows no more */
    struct store_file *file;
    int fd; /* not owned; -1: a log that is not there */
    bool locked;
    /* Bytes read ahead where the pages are asked for in order. */
    unsigned char *ahead; /* owned */
    int64_t ahead_at;
    int64_t ahead_end;
    int64_t next; /* the end of the last read */
    void **shared; /* owned: the regions of the log's index */
    int shared_count;
};

static struct vfs_file *vfs_file(sqlite3_file *base)
{
    return (struct vfs_file *)(void *)base;
}

/* ---- bytes ---- */

/* Bytes read, fewer only at the end of the file; -1 on an error. */
static ssize_t vfs_pread(int fd, void *out, size_t len, int64_t offset)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* Fills the bytes ahead from offset. False where that cannot be had. */
static bool vfs_fill(struct vfs_file *self, int64_t offset)
{
    if (self->ahead == NULL) {
        self->ahead = malloc(VFS_AHEAD_BYTES);
        if (self->ahead == NULL) {
            return false;
        }
    }
    ssize_t n = vfs_pread(self->fd, self->ahead, VFS_AHEAD_BYTES, offset);
    self->ahead_at = offset;
    self->ahead_end = offset + (n < 0 ? 0 : n);
    return n > 0;
}

static bool vfs_ahead_has(const struct vfs_file *self, int64_t offset, int64_t len)
{
    return offset >= self->ahead_at && offset + len <= self->ahead_end;
}

static int vfs_read(sqlite3_file *base, void *out, int len, sqlite3_int64 offset)
{
    struct vfs_file *self = vfs_file(base);
    bool in_order = offset == self->next;
    ssize_t n = 0;
    self->next = offset + len;
    if (vfs_ahead_has(self, offset, len) ||
        (in_order && self->fd >= 0 && vfs_fill(self, offset) && vfs_ahead_has(self, offset, len))) {
        memcpy(out, self->ahead + (offset - self->ahead_at), (size_t)len);
        return SQLITE_OK;
    }
    if (self->fd >= 0) {
        n = vfs_pread(self->fd, out, (size_t)len, offset);
    }
    if (n < 0) {
        return SQLITE_IOERR_READ;
    }
    if (n < len) {
        memset((char *)out + n, 0, (size_t)(len - n));
        return SQLITE_IOERR_SHORT_READ;
    }
    return SQLITE_OK;
}

static int vfs_size(sqlite3_file *base, sqlite3_int64 *size)
{
    const struct vfs_file *self = vfs_file(base);
    struct stat st = {0};
    if (self->fd >= 0 && fstat(self->fd, &st) != 0) {
        return SQLITE_IOERR_FSTAT;
    }
    *size = st.st_size;
    return SQLITE_OK;
}

static int vfs_write(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 offset)
{
    (void)base;
    (void)bytes;
    (void)len;
    (void)offset;
    return SQLITE_READONLY;
}

static int vfs_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    (void)base;
    (void)size;
    return SQLITE_READONLY;
}

static int vfs_sync(sqlite3_file *base, int flags)
{
    (void)base;
    (void)flags;
    return SQLITE_OK;
}

/* ---- locks ---- */

/* SQLITE_OK, also where the file system has no locks; SQLITE_BUSY where another holds it. */
static int vfs_lock_bytes(int fd, short type, off_t first, off_t len)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = len};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return SQLITE_OK;
    }
    return SQLITE_BUSY;
}

/* A reader passes the pending byte, which a writer that waits for readers holds. */
static int vfs_lock_shared(int fd)
{
    int code = vfs_lock_bytes(fd, F_RDLCK, VFS_PENDING_BYTE, 1);
    if (code == SQLITE_OK) {
        code = vfs_lock_bytes(fd, F_RDLCK, VFS_SHARED_FIRST, VFS_SHARED_BYTES);
        (void)vfs_lock_bytes(fd, F_UNLCK, VFS_PENDING_BYTE, 1);
    }
    return code;
}

static int vfs_lock(sqlite3_file *base, int level)
{
    struct vfs_file *self = vfs_file(base);
    struct store_file *file = self->file;
    int code = SQLITE_OK;
    if (level > SQLITE_LOCK_SHARED) {
        return SQLITE_BUSY; /* only a writer needs more */
    }
    if (level < SQLITE_LOCK_SHARED || self->locked) {
        return SQLITE_OK;
    }
    (void)pthread_mutex_lock(&file->mutex);
    if (file->readers == 0) {
        code = vfs_lock_shared(file->fd);
    }
    file->readers += code == SQLITE_OK;
    (void)pthread_mutex_unlock(&file->mutex);
    self->locked = code == SQLITE_OK;
    return code;
}

static int vfs_unlock(sqlite3_file *base, int level)
{
    struct vfs_file *self = vfs_file(base);
    struct store_file *file = self->file;
    if (level >= SQLITE_LOCK_SHARED || !self->locked) {
        return SQLITE_OK;
    }
    (void)pthread_mutex_lock(&file->mutex);
    if (--file->readers == 0) {
        (void)vfs_lock_bytes(file->fd, F_UNLCK, VFS_SHARED_FIRST, VFS_SHARED_BYTES);
    }
    (void)pthread_mutex_unlock(&file->mutex);
    self->locked = false;
    return SQLITE_OK;
}

bool store_vfs_has_writer(int fd)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = VFS_RESERVED_BYTE, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int vfs_check_reserved(sqlite3_file *base, int *reserved)
{
    *reserved = store_vfs_has_writer(vfs_file(base)->fd) ? 1 : 0;
    return SQLITE_OK;
}

/* ---- the index of the log: in memory, for this connection alone ---- */

static int vfs_shm_map(sqlite3_file *base, int region, int bytes, int extend, void volatile **out)
{
    struct vfs_file *self = vfs_file(base);
    *out = NULL;
    if (region >= self->shared_count) {
        void **grown;
        int count = self->shared_count;
        if (extend == 0) {
            return SQLITE_OK;
        }
        grown = array_resize(self->shared, (size_t)region + 1, sizeof *grown);
        if (grown == NULL) {
            return SQLITE_NOMEM;
        }
        self->shared = grown;
        for (; count <= region; count++) {
            grown[count] = calloc(1, (size_t)bytes);
            if (grown[count] == NULL) {
                return SQLITE_NOMEM;
            }
            self->shared_count = count + 1;
        }
    }
    *out = self->shared[region];
    return SQLITE_OK;
}

static int vfs_shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
    (void)base;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void vfs_shm_barrier(sqlite3_file *base)
{
    (void)base;
}

static int vfs_shm_unmap(sqlite3_file *base, int remove)
{
    struct vfs_file *self = vfs_file(base);
    (void)remove;
    for (int i = 0; i < self->shared_count; i++) {
        free(self->shared[i]);
    }
    free(self->shared);
    self->shared = NULL;
    self->shared_count = 0;
    return SQLITE_OK;
}

/* ---- the file as a whole ---- */

static int vfs_close(sqlite3_file *base)
{
    struct vfs_file *self = vfs_file(base);
    (void)vfs_unlock(base, SQLITE_LOCK_NONE);
    (void)vfs_shm_unmap(base, 0);
    free(self->ahead);
    self->ahead = NULL;
    return SQLITE_OK;
}

static int vfs_control(sqlite3_file *base, int what, void *arg)
{
    (void)base;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int vfs_sector(sqlite3_file *base)
{
    (void)base;
    return VFS_SECTOR_BYTES;
}

static int vfs_device(sqlite3_file *base)
{
    (void)base;
    return 0;
}

static const sqlite3_io_methods VFS_METHODS = {
    .iVersion = 2,
    .xClose = vfs_close,
    .xRead = vfs_read,
    .xWrite = vfs_write,
    .xTruncate = vfs_truncate,
    .xSync = vfs_sync,
    .xFileSize = vfs_size,
    .xLock = vfs_lock,
    .xUnlock = vfs_unlock,
    .xCheckReservedLock = vfs_check_reserved,
    .xFileControl = vfs_control,
    .xSectorSize = vfs_sector,
    .xDeviceCharacteristics = vfs_device,
    .xShmMap = vfs_shm_map,
    .xShmLock = vfs_shm_lock,
    .xShmBarrier = vfs_shm_barrier,
    .xShmUnmap = vfs_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *got)
{
    struct vfs_file *self = vfs_file(base);
    struct store_file *file = vfs->pAppData;
    (void)name;
    memset(self, 0, sizeof *self);
    if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0) {
        return SQLITE_CANTOPEN; /* a journal, a temporary file */
    }
    self->file = file;
    self->fd = (flags & SQLITE_OPEN_WAL) != 0 ? file->wal_fd : file->fd;
    self->next = -1;
    self->base.pMethods = &VFS_METHODS;
    if (got != NULL) {
        *got = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_READONLY;
}

/* SQLite asks for what lies beside the database: by the ends of their names. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int what, int *there)
{
    const struct store_file *file = vfs->pAppData;
    size_t len = strlen(name);
    (void)what;
    *there = file->wal_fd >= 0 && len > 4 && strcmp(name + len - 4, "-wal") == 0;
    return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    int len = snprintf(out, (size_t)room, "%s", name);
    (void)vfs;
    return len < 0 || len >= room ? SQLITE_CANTOPEN : SQLITE_OK;
}

/* Chance, time and sleep are those of the system. */
static int vfs_random(sqlite3_vfs *vfs, int len, char *out)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    (void)vfs;
    return system->xRandomness(system, len, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    (void)vfs;
    return system->xSleep(system, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *days)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    (void)vfs;
    return system->xCurrentTime(system, days);
}

static int vfs_last_error(sqlite3_vfs *vfs, int len, char *out)
{
    (void)vfs;
    if (len > 0) {
        out[0] = '\0';
    }
    return 0;
}

int store_vfs_register(struct store_file *file)
{
    (void)snprintf(file->vfs_name, sizeof file->vfs_name, "cutline-%p", (void *)file);
    file->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)sizeof(struct vfs_file),
        .mxPathname = VFS_PATH_BYTES,
        .zName = file->vfs_name,
        .pAppData = file,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_name,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
    };
    return sqlite3_vfs_register(&file->vfs, 0) == SQLITE_OK ? 0 : -1;
}

void store_vfs_unregister(struct store_file *file)
{
    if (file->vfs.zName != NULL) {
        (void)sqlite3_vfs_unregister(&file->vfs);
    }
}
