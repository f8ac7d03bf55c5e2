/*
 * cache_folder: the user's cache folder, $XDG_CACHE_HOME/cutline or ~/.cache/cutline, with the traces
 * ("trace-..."), what was derived from them ("figures-...") and the exports of reports ("export-...")
 * that were made before. A file may have a seal (cache_seal.h), which goes with it.
 *
 * What lies there is input that anybody may have written, until it is shown that only the user could
 * have: the folder and each file must be the user's and closed to writing by others (a file: to
 * reading too, names can be secrets), and a file must be a regular one. Links, pipes and devices are
 * neither followed nor waited for. A new file is written under a name of its own ("part-...") and
 * takes the final one when it is whole; the oldest files are removed above a total size.
 *
 *     cache_folder_open -> cache_folder_find | (cache_folder_begin ... cache_folder_finish)
 *     -> cache_folder_close
 */
#ifndef CUTLINE_STORE_CACHE_FOLDER_H
#define CUTLINE_STORE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

enum {
    CACHE_FOLDER_MIB = 4096 /* all files together, where nothing else is set */
};

struct cache_folder {
    int fd;
    struct buf path;
    uint32_t limit_mib; /* may be changed after cache_folder_open */
};

/* One file. */
struct cache_entry {
    const char *name;
    uint64_t bytes;
    int64_t used_s; /* since 1970 */
    bool is_part; /* it is being written */
};

/* A file while it is written. */
struct cache_part {
    const struct cache_folder *folder;
    struct buf name; /* without the folder */
    int fd;
};

/* Opens the folder, made where it is missing. 0; -1 where there is none that can be trusted (err
 * says what to do). Either way cache_folder_close is to be called. */
int cache_folder_open(struct cache_folder *folder, struct err *err);
void cache_folder_close(struct cache_folder *folder);

/* A descriptor of the file of that name, and notes that it was used; -1 where there is none that can
 * be trusted. */
int cache_folder_find(const struct cache_folder *folder, const char *name);
/* The same, without a note. */
int cache_folder_look(const struct cache_folder *folder, const char *name);

/* A new empty file, its name ending in suffix ("" for none), open for reading and writing. 0 or -1. Either way
 * cache_folder_drop or cache_folder_finish is to be called, and cleans up. */
int cache_folder_begin(const struct cache_folder *folder, const char *suffix,
                       struct cache_part *part);
/* Gives the file its final name, then removes the oldest others until all fit. 0; -1 with errno set
 * where the file was not kept. */
int cache_folder_finish(struct cache_part *part, const char *name);
/* Removes the unfinished file. */
void cache_folder_drop(struct cache_part *part);

/* Calls visit with each of our files but seals, in no order; what killed programs left is removed on
 * the way. 0, or -1 where the folder cannot be read. */
typedef void cache_folder_visit(void *arg, const struct cache_entry *entry);
int cache_folder_each(const struct cache_folder *folder, cache_folder_visit *visit, void *arg);
/* Removes the oldest files but keep ("" for none) until all fit the limit; what was used within the
 * last minute stays. How many. */
int cache_folder_trim(const struct cache_folder *folder, const char *keep);
/* Removes a file and its seal. 0, or -1 with errno set. */
int cache_folder_remove(const struct cache_folder *folder, const char *name);

/*
 * Writes to a file that may reach the limit of `ulimit -f`: the write then fails with EFBIG, and the
 * signal that would end the program is taken back. -1 with errno set where not all was written.
 */
int cache_folder_write(int fd, const void *data, size_t bytes);
/* The same at an offset; the place of the next write stays. */
int cache_folder_write_at(int fd, const void *data, size_t bytes, int64_t offset);

#endif
