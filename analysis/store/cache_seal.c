/* cache_seal: see cache_seal.h. */
#include "analysis/store/cache_seal.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SEAL_TICK_NS = 1000000, /* so long is waited for the clock of file times to tick */
    SEAL_TICKS_MAX = 20
};

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

/* The clock that file times are taken from, which ticks a few hundred times a second. */
static struct timespec seal_clock(void)
{
    struct timespec now = {0};
#ifdef CLOCK_REALTIME_COARSE
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    (void)clock_gettime(CLOCK_REALTIME, &now);
#endif
    return now;
}

bool cache_seal_look(int fd, struct stat *was)
{
    const struct timespec tick = {0, SEAL_TICK_NS};
    for (int i = 0; i < SEAL_TICKS_MAX && fstat(fd, was) == 0; i++) {
        struct timespec now = seal_clock();
        const struct timespec *at = &was->st_ctim;
        if (at->tv_sec < now.tv_sec || (at->tv_sec == now.tv_sec && at->tv_nsec < now.tv_nsec)) {
            return true;
        }
        (void)nanosleep(&tick, NULL);
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
