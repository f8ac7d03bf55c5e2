/* cache_seal: see cache_seal.h. */
#include "analysis/store/cache_seal.h"

#include <string.h>
#include <unistd.h>

#include "analysis/store/file_clock.h"

/* The whole content of a seal. No padding: compared bytewise. */
struct seal {
    char magic[8];
    uint64_t rules;
    uint64_t device;
    uint64_t inode;
    int64_t size_bytes;
    int64_t written_s;
    int64_t written_ns;
    int64_t changed_s;
    int64_t changed_ns;
};

static struct seal seal_of(const struct stat *st, uint64_t rules)
{
    return (struct seal){
        .magic = {'C', 'U', 'T', 'L', 'S', 'E', 'A', '1'},
        .rules = rules,
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .size_bytes = (int64_t)st->st_size,
        .written_s = (int64_t)st->st_mtim.tv_sec,
        .written_ns = st->st_mtim.tv_nsec,
        .changed_s = (int64_t)st->st_ctim.tv_sec,
        .changed_ns = st->st_ctim.tv_nsec,
    };
}

static int name_seal(const char *name, struct buf *out)
{
    buf_addf(out, "seal-%s", name);
    return buf_failed(out) ? -1 : 0;
}

bool cache_seal_look(int fd, struct stat *was)
{
    for (int ticks = 0; ticks < FILE_CLOCK_TICKS && fstat(fd, was) == 0; ticks++) {
        if (file_clock_is_past(&was->st_ctim)) {
            return true;
        }
        file_clock_wait();
    }
    return false;
}

void cache_seal_put(const struct cache_folder *folder, const char *name, int fd,
                    const struct stat *was, uint64_t rules)
{
    struct cache_part part;
    struct buf sealed = {0};
    struct stat now;
    const struct seal seal = seal_of(was, rules);
    if (fstat(fd, &now) != 0) {
        return;
    }
    const struct seal still = seal_of(&now, rules);
    if (memcmp(&seal, &still, sizeof seal) == 0 && name_seal(name, &sealed) == 0) {
        if (cache_folder_begin(folder, "", &part) == 0 &&
            cache_folder_write(part.fd, &seal, sizeof seal) == 0) {
            (void)cache_folder_finish(&part, buf_text(&sealed));
        } else {
            cache_folder_drop(&part);
        }
    }
    buf_free(&sealed);
}

bool cache_seal_holds(const struct cache_folder *folder, const char *name, int fd, uint64_t rules)
{
    struct buf sealed = {0};
    struct seal found = {0};
    struct stat now;
    bool holds = false;
    int seal_fd = name_seal(name, &sealed) == 0 ? cache_folder_find(folder, buf_text(&sealed)) : -1;
    if (seal_fd >= 0) {
        ssize_t n = pread(seal_fd, &found, sizeof found, 0);
        (void)close(seal_fd);
        if (n == (ssize_t)sizeof found && fstat(fd, &now) == 0) {
            const struct seal want = seal_of(&now, rules);
            holds = memcmp(&found, &want, sizeof want) == 0;
        }
    }
    buf_free(&sealed);
    return holds;
}
