/* An open capture file as SQLite's view of it (vfs.c) needs it. Only analysis/store includes this. */
#ifndef CUTLINE_STORE_FILE_INTERNAL_H
#define CUTLINE_STORE_FILE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "analysis/store/file.h"
#include "analysis/store/source.h"

enum {
    STORE_FILE_HEADER_BYTES = 100, /* SQLite file format, 1.3: with a count of the changes */
    STORE_VFS_NAME_BYTES = 40
};

/* What a file is known by. */
struct store_file_state {
    struct stat st;
    unsigned char header[STORE_FILE_HEADER_BYTES]; /* 0 beyond the end */
};

struct store_file {
    char *path;
    const struct source *source; /* what reads it */
    void *input; /* of source, where there is no file on disk (fd -1) */
    int fd;
    int wal_fd; /* the write-ahead log beside it; -1: none, or empty */
    struct store_file_state was;
    struct store_file_state wal_was;
    atomic_int owners;
    sqlite3_vfs vfs; /* registered while the file is open: reads fd and wal_fd, whatever the name */
    char vfs_name[STORE_VFS_NAME_BYTES];
    pthread_mutex_t mutex; /* guards readers */
    int readers; /* connections that hold SQLite's shared lock; they have one together */
};

/* Registers file->vfs. 0 or -1. */
int store_vfs_register(struct store_file *file);
void store_vfs_unregister(struct store_file *file);

/* Does another open file hold SQLite's lock that a writer takes first? */
bool store_vfs_has_writer(int fd);

#endif
