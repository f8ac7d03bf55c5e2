/* cache_about: what a kept trace is of, for people; see cache.h. Its sections are not looked at. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/cache_layout.h"

enum {
    ABOUT_PATH_BYTES = 65536
};

/* Is there another file in the capture's place, or none? */
static enum cache_fate fate_of(const char *path, const struct cache_key *key)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return CACHE_GONE;
    }
    bool same = key->device == (uint64_t)st.st_dev && key->inode == (uint64_t)st.st_ino &&
                key->size_bytes == (uint64_t)st.st_size &&
                key->mtime_s == (int64_t)st.st_mtim.tv_sec && key->mtime_ns == st.st_mtim.tv_nsec &&
                key->layout == cache_layout();
    return same ? CACHE_GOOD : CACHE_STALE;
}

static bool read_path(int fd, const struct cache_head *head, struct buf *path)
{
    uint64_t at = cache_aligned(sizeof *head);
    uint64_t bytes = head->sections[CACHE_PATH].bytes;
    for (int s = 0; s < CACHE_PATH; s++) {
        at += cache_aligned(head->sections[s].bytes);
    }
    char *text = bytes > 0 && bytes <= ABOUT_PATH_BYTES ? calloc(1, (size_t)bytes) : NULL;
    bool there = text != NULL && at <= INT64_MAX &&
                 pread(fd, text, (size_t)bytes, (off_t)at) == (ssize_t)bytes &&
                 memchr(text, '\0', (size_t)bytes) == NULL;
    if (there) {
        buf_add(path, text, (size_t)bytes);
    }
    free(text);
    return there && !buf_failed(path);
}

enum cache_fate cache_about(const struct cache_folder *folder, const char *name, struct buf *path)
{
    struct cache_head *head = calloc(1, sizeof *head);
    enum cache_fate fate = CACHE_UNKNOWN;
    int fd = head == NULL ? -1 : cache_folder_look(folder, name);
    if (fd >= 0 && pread(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head &&
        memcmp(head->magic, CACHE_MAGIC, sizeof head->magic) == 0 &&
        head->sum == cache_head_sum(head) && read_path(fd, head, path)) {
        fate = fate_of(buf_text(path), &head->key);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(head);
    return fate;
}
