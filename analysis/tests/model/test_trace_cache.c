/* The cache of traces: a file that is not the user's, not whole, changed by one bit or wrong in one
 * number is not taken, and no limit or kind of file does harm. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store/cache_folder.h"
#include "analysis/tests/generated_file.h"
#include "analysis/trace/cache_layout.h"

enum {
    FLIPS = 2000
};

static char folder[SQL_FILE_PATH]; /* XDG_CACHE_HOME */
static char kept[SQL_FILE_PATH + 300]; /* the cached trace */
static struct sql_file capture = {""};
static bool rows_were_read;

static int note_rows(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    (void)total;
    rows_were_read = rows_were_read || done > 0;
    return 0;
}

/* Runs a command of the shell in which $F is the path. */
static void run(const char *command, const char *path)
{
    assert_int_equal(setenv("F", path, 1), 0);
    assert_int_equal(system(command), 0);
}

/* Names the one file of the cache that begins so; false where there is none. */
static bool find_kept(const char *begin)
{
    char name[SQL_FILE_PATH + 20];
    (void)snprintf(name, sizeof name, "%s/cutline", folder);
    DIR *dir = opendir(name);
    const struct dirent *entry;
    bool found = false;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, begin, strlen(begin)) == 0) {
            (void)snprintf(kept, sizeof kept, "%s/%s", name, entry->d_name);
            found = true;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return found;
}

/* Loads the capture; did it come from the cache? The trace is sound and has the events either way. */
static bool comes_from_cache(void)
{
    const struct trace_options options = {.threads = 1, .progress = note_rows, .cache_events = 1};
    rows_were_read = false;
    struct trace *trace = sql_file_load(&capture, &options);
    assert_null(trace_broken(trace));
    assert_true(trace->events[TRACE_GPU].count > 50);
    trace_free(trace);
    return !rows_were_read;
}

static int make_capture(void **state)
{
    (void)state;
    generated_file_new(2, &capture, folder);
    assert_false(comes_from_cache());
    assert_true(comes_from_cache());
    assert_true(find_kept("trace-"));
    return 0;
}

static int remove_capture(void **state)
{
    (void)state;
    sql_file_remove(&capture);
    run("rm -rf $F", folder);
    return 0;
}

/* A copy of the kept file as cache_read takes it. */
static unsigned char *copy_kept(size_t *len)
{
    struct stat st;
    int fd = open(kept, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    *len = (size_t)st.st_size;
    void *bytes = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    assert_true(bytes != MAP_FAILED);
    assert_int_equal(close(fd), 0);
    return bytes;
}

static struct trace *read_bytes(unsigned char *bytes, size_t len)
{
    struct cache_key key;
    struct buf name = {0};
    struct store_file *file = store_file_open(capture.path, NULL);
    assert_non_null(file);
    assert_int_equal(cache_name(file, &name, &key), 0);
    buf_free(&name);
    struct trace *trace = cache_read(bytes, len, &key, file);
    store_file_close(file);
    return trace;
}

static void no_bit_may_be_changed(void **state)
{
    uint32_t random = 1;
    size_t len = 0;
    (void)state;
    for (int i = 0; i < FLIPS; i++) {
        unsigned char *bytes = copy_kept(&len);
        random = random * 1664525U + 1013904223U;
        /* Every second one in the head, which is small. */
        size_t at = (random >> 3) % (i % 2 == 0 ? sizeof(struct cache_head) : len);
        bytes[at] ^= (unsigned char)(1U << (random & 7U));
        assert_null(read_bytes(bytes, len));
    }
    struct trace *trace = read_bytes(copy_kept(&len), len);
    assert_non_null(trace);
    trace_free(trace);
}

static void a_file_of_another_length_is_not_taken(void **state)
{
    size_t len = 0;
    (void)state;
    for (size_t cut = 1; cut < 4096; cut += 67) {
        unsigned char *bytes = copy_kept(&len);
        assert_null(read_bytes(bytes, len - cut));
    }
}

/* Where a section begins. */
static size_t section_at(const struct cache_head *head, int section)
{
    uint64_t at = cache_aligned(sizeof *head);
    for (int s = 0; s < section; s++) {
        at += cache_aligned(head->sections[s].bytes);
    }
    return (size_t)at;
}

/* Puts a value into the file and makes all sums right again. */
static struct trace *read_with(int section, size_t offset, const void *value, size_t bytes)
{
    size_t len = 0;
    unsigned char *file = copy_kept(&len);
    struct cache_head *head = (struct cache_head *)(void *)file;
    size_t at = section_at(head, section);
    struct cache_place *place = &head->sections[section];
    assert_true(offset + bytes <= place->bytes);
    memcpy(file + at + offset, value, bytes);
    place->sum = cache_section_sum(file + at, cache_aligned(place->bytes));
    head->sum = cache_head_sum(head);
    return read_bytes(file, len);
}

static void refuse32(int section, size_t offset, uint32_t value)
{
    assert_null(read_with(section, offset, &value, sizeof value));
}

static void refuse64(int section, size_t offset, uint64_t value)
{
    assert_null(read_with(section, offset, &value, sizeof value));
}

#define COLUMN(table, column) (CACHE_EVENTS + (table)*CACHE_COLUMNS + (column))
#define LANE(field) (CACHE_LANES), offsetof(struct trace_lane, field)
#define DEVICE(field) (CACHE_DEVICES), offsetof(struct trace_device, field)

/* The sums are right, a number is not: what only looking at the model can tell. */
static void every_index_is_looked_at(void **state)
{
    const uint8_t no_kind = TRACE_KIND_COUNT;
    const uint8_t no_lane = TRACE_LANE_KIND_COUNT;
    const uint8_t api = TRACE_LANE_API;
    uint32_t same = 0;
    (void)state;
    struct trace *trace = read_with(COLUMN(TRACE_GPU, 2), 0, &same, 0);
    assert_non_null(trace); /* nothing changed: the sums that this test makes are right */
    trace_free(trace);
    for (int t = TRACE_GPU; t <= TRACE_NVTX; t++) {
        refuse32(COLUMN(t, 2), 4, 0x7fffffff); /* the name of an event */
        refuse64(COLUMN(t, 0), 8, (uint64_t)INT64_MAX); /* begins after its end */
        refuse64(COLUMN(t, 1), 8, (uint64_t)INT64_MIN); /* ends before its begin */
    }
    refuse32(COLUMN(TRACE_GPU, 4), 0, 0x7fffffff); /* the call of an op */
    refuse32(COLUMN(TRACE_API, 4), 0, 0x7fffffff); /* the ops of a call */
    refuse32(CACHE_LAUNCH_OPS, 4, 0x7fffffff);
    refuse32(CACHE_LAUNCH_OPS, 4, 0);
    refuse64(CACHE_GPU_BUSY, 8, 1);
    refuse32(LANE(first), 1);
    refuse32(LANE(count), UINT32_MAX);
    refuse32(LANE(count), 0);
    refuse32(LANE(depth), 9);
    refuse32(LANE(process), 1000);
    refuse32(LANE(thread), 0);
    refuse32(LANE(device), 2);
    assert_null(read_with(LANE(kind), &no_lane, sizeof no_lane));
    assert_null(read_with(LANE(kind), &api, sizeof api));
    assert_null(read_with(LANE(table), &api, sizeof api));
    assert_null(read_with(CACHE_NAMES, offsetof(struct trace_name, kind), &no_kind, 1));
    refuse32(CACHE_NAMES, offsetof(struct trace_name, full_len), UINT32_MAX);
    refuse32(CACHE_NAMES, offsetof(struct trace_name, full_len), 1);
    refuse32(CACHE_NAMES, offsetof(struct trace_name, domain_len),
             5); /* of a domain that it has not */
    for (size_t text = 0; text < 4; text++) {
        refuse64(CACHE_NAME_TEXTS, text * sizeof(uint64_t), UINT64_MAX - 1);
        refuse64(CACHE_NAME_TEXTS, text * sizeof(uint64_t), UINT32_MAX);
    }
    refuse64(CACHE_PEOPLE_TEXTS, 0, UINT64_MAX);
    refuse32(CACHE_THREADS, offsetof(struct trace_thread, process), 1000);
    refuse32(DEVICE(first_lane), 1);
    refuse32(DEVICE(lane_count), UINT32_MAX);
    refuse32(DEVICE(busy_count), UINT32_MAX);
    refuse32(DEVICE(busy_count), 0);
    refuse64(CACHE_UNIONS, 0, (uint64_t)INT64_MAX);
    refuse64(CACHE_PROCESSES, offsetof(struct trace_process, kernels), UINT64_MAX);
}

/* A file that others could have written is made anew, and then is the user's. */
static void check_refused(void)
{
    struct stat st;
    assert_false(comes_from_cache());
    assert_int_equal(lstat(kept, &st), 0);
    assert_true(S_ISREG(st.st_mode) && st.st_uid == geteuid());
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(comes_from_cache());
}

static void only_a_private_file_is_taken(void **state)
{
    (void)state;
    run("chmod 0660 $F", kept);
    check_refused();
    run("chmod 0604 $F", kept);
    check_refused();
    run("mv $F $F.moved; ln -s $F.moved $F", kept);
    check_refused();
    run("rm $F $F.moved; mkfifo -m 600 $F", kept);
    check_refused();
    run("rm $F; ln -s /dev/zero $F", kept);
    check_refused();
    run(": >$F", kept);
    check_refused();
    if (geteuid() == 0) {
        assert_int_equal(chown(kept, 12345, (gid_t)-1), 0);
        check_refused();
    }
    run("rm $F; mkdir $F", kept); /* cannot be replaced */
    assert_false(comes_from_cache());
    assert_false(comes_from_cache());
    run("rmdir $F", kept);
    assert_false(find_kept("part-"));
    check_refused();
}

static void a_folder_that_others_can_write_to_is_not_used(void **state)
{
    struct err err = {""};
    struct cache_folder opened;
    (void)state;
    run("chmod 0777 $F/cutline", folder);
    assert_false(comes_from_cache());
    assert_int_equal(cache_folder_open(&opened, &err), -1);
    cache_folder_close(&opened);
    assert_non_null(strstr(err.text, "others can write"));
    run("chmod 0755 $F/cutline", folder);
    assert_true(comes_from_cache());
    if (geteuid() == 0) {
        run("chown 12345 $F/cutline", folder);
        assert_false(comes_from_cache());
        run("chown 0 $F/cutline", folder);
    }
    run("mv $F $F.moved; : >$F", folder);
    assert_false(comes_from_cache());
    run("rm $F; mv $F.moved $F", folder);
    run("d=$F/cutline; mv $d $d.moved; mkfifo $d", folder);
    assert_false(comes_from_cache());
    run("d=$F/cutline; rm $d; mv $d.moved $d", folder);
    assert_true(comes_from_cache());
}

/* The program neither ends by SIGXFSZ nor leaves a half file. */
static void a_limit_of_file_sizes_does_no_harm(void **state)
{
    struct rlimit before;
    struct rlimit limit;
    (void)state;
    assert_int_equal(unlink(kept), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (rlim_t bytes = 0; bytes <= 20480; bytes += 10240) {
        limit = (struct rlimit){bytes, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_false(comes_from_cache());
        assert_false(find_kept("part-"));
        assert_false(find_kept("trace-"));
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(comes_from_cache());
    assert_true(find_kept("trace-"));
    assert_true(comes_from_cache());
}

static void a_full_disk_is_told(void **state)
{
    struct cache_key key = {0};
    struct trace *trace = sql_file_load(&capture, NULL);
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    (void)state;
    if (fd >= 0) {
        errno = 0;
        assert_int_equal(cache_write(fd, trace, &key, NULL), -1);
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(close(fd), 0);
    }
    trace_free(trace);
}

/* The oldest go first, exports too; rests of killed programs always. */
static void the_folder_is_trimmed(void **state)
{
    char path[SQL_FILE_PATH + 20];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/cutline", folder);
    run("cd $F && rm trace-* && truncate -s 3G export-older.sqlite && truncate -s 2G trace-newer "
        "&&"
        " truncate -s 1G export-newest.sqlite && : >part-1-0 && : >part-2-0 && : >mine &&"
        " touch -d '-9 days' export-older.sqlite part-1-0 mine && touch -d '-2 days' trace-newer &&"
        " touch -d '-1 day' export-newest.sqlite",
        path);
    assert_false(comes_from_cache());
    run("cd $F && [ ! -e export-older.sqlite ] && [ -e trace-newer ] && [ -e mine ] &&"
        " [ -e export-newest.sqlite ] && [ ! -e part-1-0 ] && [ -e part-2-0 ] &&"
        " rm trace-newer export-newest.sqlite part-2-0 mine",
        path);
    assert_true(comes_from_cache());
}

/* What a program that is gone left goes after ten minutes, what one that runs writes stays for a day. */
static void rests_of_dead_programs_go(void **state)
{
    char path[SQL_FILE_PATH + 20];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/cutline", folder);
    run("cd $F && rm -f trace-* && sh -c 'echo $$' >pid && dead=$(cat pid) && : >part-$dead-0 && "
        ": >part-$dead-1.sqlite && : >part-$PPID-0 && touch -d '-11 minutes' part-$dead-0 "
        "part-$PPID-0 && touch -d '-9 minutes' part-$dead-1.sqlite && echo $PPID >alive",
        path);
    assert_false(comes_from_cache());
    run("cd $F && dead=$(cat pid) && [ ! -e part-$dead-0 ] && [ -e part-$dead-1.sqlite ] && "
        "[ -e part-$(cat alive)-0 ] && rm part-* pid alive",
        path);
}

/* The rows of a write-ahead log are not in the file that the cache knows. */
static void rows_in_a_log_are_not_missed(void **state)
{
    sqlite3 *db = NULL;
    (void)state;
    assert_int_equal(sqlite3_open(capture.path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0", NULL, NULL, NULL),
        SQLITE_OK);
    (void)comes_from_cache();
    assert_int_equal(sqlite3_exec(db, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_false(comes_from_cache());
    assert_false(comes_from_cache());
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_false(comes_from_cache());
    assert_true(comes_from_cache());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bit_may_be_changed),
        cmocka_unit_test(a_file_of_another_length_is_not_taken),
        cmocka_unit_test(every_index_is_looked_at),
        cmocka_unit_test(only_a_private_file_is_taken),
        cmocka_unit_test(a_folder_that_others_can_write_to_is_not_used),
        cmocka_unit_test(a_limit_of_file_sizes_does_no_harm),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(the_folder_is_trimmed),
        cmocka_unit_test(rests_of_dead_programs_go),
        cmocka_unit_test(rows_in_a_log_are_not_missed),
    };
    return cmocka_run_group_tests(tests, make_capture, remove_capture);
}
