/* nsys_rep: see nsys_rep.h. nsys is started without a shell; what it prints is kept for the
 * message of a failure. */
#include "analysis/store/nsys_rep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "analysis/store/cache_made.h"
#include "analysis/store/keeper.h"

enum {
    REPORT_OUTPUT_BYTES = 1024, /* the end of what nsys prints */
    REPORT_ASK_MS = 50 /* so often is asked whether to go on */
};

/* POSIX wants it declared by the program. */
extern char **environ;

static bool report_ends(const char *path, const char *suffix)
{
    size_t len = strlen(path);
    size_t n = strlen(suffix);
    return len > n && strcmp(path + len - n, suffix) == 0;
}

bool report_file_is(const char *path)
{
    return report_ends(path, ".nsys-rep") || report_ends(path, ".qdrep");
}

/* The cached export's name: it changes with the report's place, size and time. */
static void report_name(const struct stat *st, struct buf *out)
{
    buf_addf(out, "export-%llx-%llx-%llx-%llx-%lx.sqlite", (unsigned long long)st->st_dev,
             (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
             (unsigned long long)st->st_mtim.tv_sec, (unsigned long)st->st_mtim.tv_nsec);
}

/* Is NAME.sqlite beside NAME.nsys-rep, and not older (report NULL: there is no report)? Puts its
 * path into out. */
static bool report_beside(const char *path, const struct stat *report, struct buf *out)
{
    struct stat st;
    buf_reset(out);
    buf_add(out, path, (size_t)(strrchr(path, '.') - path));
    buf_adds(out, ".sqlite");
    return !buf_failed(out) && stat(buf_text(out), &st) == 0 && st.st_size > 0 &&
           (report == NULL || st.st_mtim.tv_sec > report->st_mtim.tv_sec ||
            (st.st_mtim.tv_sec == report->st_mtim.tv_sec &&
             st.st_mtim.tv_nsec >= report->st_mtim.tv_nsec));
}

/* nsys while it runs, and the end of what it printed. */
struct report_run {
    pid_t pid;
    int out; /* the pipe with its output */
    struct keeper keeper;
    char tail[REPORT_OUTPUT_BYTES + 1];
    size_t len;
};

static void keep_tail(struct report_run *run, const char *chunk, size_t n)
{
    if (run->len + n > REPORT_OUTPUT_BYTES) {
        size_t drop = run->len + n - REPORT_OUTPUT_BYTES;
        memmove(run->tail, run->tail + drop, run->len - drop);
        run->len -= drop;
    }
    memcpy(run->tail + run->len, chunk, n);
    run->len += n;
}

/* Reads to the end of the pipe. False where the wait was stopped before that. */
static bool drain(struct report_run *run, const struct report_wait *wait)
{
    char chunk[REPORT_OUTPUT_BYTES / 2];
    for (;;) {
        struct pollfd ready = {.fd = run->out, .events = POLLIN};
        if (wait != NULL && wait->stopped(wait->arg)) {
            return false;
        }
        if (poll(&ready, 1, wait != NULL ? REPORT_ASK_MS : -1) <= 0) {
            continue;
        }
        ssize_t n = read(run->out, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return true;
        }
        if (n > 0) {
            keep_tail(run, chunk, (size_t)n);
        }
    }
}

/* The last line that is not empty, without control bytes; "" where there is none. */
static const char *report_last_line(char *text, size_t len)
{
    while (len > 0 && (unsigned char)text[len - 1] <= ' ') {
        len--;
    }
    text[len] = '\0';
    size_t begin = len;
    while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') {
        begin--;
    }
    for (size_t i = begin; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            text[i] = '?';
        }
    }
    return text + begin;
}

/* Signals end nsys as ever, also where the thread that starts it takes none; it runs in the group of
 * its keeper. */
static int report_attributes(pid_t group, posix_spawnattr_t *attributes)
{
    sigset_t none;
    int code = posix_spawnattr_init(attributes);
    if (code == 0) {
        (void)sigemptyset(&none);
        (void)posix_spawnattr_setsigmask(attributes, &none);
        (void)posix_spawnattr_setpgroup(attributes, group);
        (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }
    return code;
}

/* Starts nsys with its output in a pipe. 0 or an errno value. */
static int report_spawn(char *const argv[], struct report_run *run)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int ends[2];
    if (pipe(ends) != 0) {
        return errno;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    int code = report_attributes(run->keeper.pid, &attributes);
    if (code == 0) {
        code = posix_spawn_file_actions_init(&actions);
        if (code != 0) {
            (void)posix_spawnattr_destroy(&attributes);
        }
    }
    if (code == 0) {
        (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
        code = posix_spawnp(&run->pid, argv[0], &actions, &attributes, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        return code;
    }
    run->out = ends[0];
    return 0;
}

static int report_no_nsys(const char *path, struct err *err)
{
    struct buf word = {0};
    shell_quote_path(&word, path);
    (void)err_set(err,
                  "%s: only nsys can read it, and nsys is not on PATH: where it is, run nsys "
                  "export --type sqlite %s",
                  path, buf_text(&word));
    buf_free(&word);
    return -1;
}

/* Starts `nsys export` from path to target under a keeper. 0 or an errno value. */
static int start_export(const char *path, const struct buf *target, struct report_run *run)
{
    /* Not const: posix_spawnp takes char *const[]. */
    static char words[][20] = {"nsys", "export",  "--type", "sqlite", "--force-overwrite",
                               "true", "--output"};
    struct buf from = {0};
    char *argv[10] = {words[0], words[1], words[2],     words[3], words[4],
                      words[5], words[6], target->data, NULL,     NULL};
    /* A name that begins with "-" is no option. */
    buf_addf(&from, "%s%s", path[0] == '-' ? "./" : "", path);
    argv[8] = from.data;
    int code = buf_failed(&from) ? ENOMEM : keeper_start(&run->keeper, buf_text(target));
    if (code == 0) {
        code = report_spawn(argv, run);
        if (code != 0) {
            keeper_end(&run->keeper);
        }
    }
    buf_free(&from);
    return code;
}

/* Runs `nsys export` from path to target. 0 or -1. */
static int export_with_nsys(const char *path, const struct buf *target,
                            const struct report_wait *wait, struct err *err)
{
    struct report_run run = {.len = 0};
    int status = 0;
    int code = start_export(path, target, &run);
    if (code == ENOENT) {
        return report_no_nsys(path, err);
    }
    if (code != 0) {
        return err_set(err, "%s: nsys could not be started: %s", path, strerror(code));
    }
    bool whole = drain(&run, wait);
    (void)close(run.out);
    if (!whole) {
        keeper_kill(&run.keeper);
        return err_set(err, "%s: the export was stopped", path);
    }
    while (waitpid(run.pid, &status, 0) < 0 && errno == EINTR) {
    }
    keeper_end(&run.keeper);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && run.len == 0) {
        return report_no_nsys(path, err);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return err_set(err, "%s: nsys export failed: %.300s", path,
                       report_last_line(run.tail, run.len));
    }
    return 0;
}

/* What nsys wrote under the part's name: closed to others, whatever nsys thinks of that. */
static int report_adopt(const char *path, struct cache_part *part, struct err *err)
{
    struct stat st;
    int fd = openat(part->folder->fd, buf_text(&part->name),
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int status = 0;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        status = err_set(err, "%s: nsys export wrote nothing", path);
    } else if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) {
        status = err_set(err, "%s/%s: %s", buf_text(&part->folder->path), buf_text(&part->name),
                         strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

struct report_source {
    const char *path;
    const struct report_wait *wait;
};

static int report_make(void *arg, struct cache_part *part, const struct buf *target,
                       struct err *err)
{
    const struct report_source *source = arg;
    return export_with_nsys(source->path, target, source->wait, err) == 0
               ? report_adopt(source->path, part, err)
               : -1;
}

/* Takes the export from the cache folder, or puts it there. */
static int report_cached(const char *path, const struct stat *st, const struct report_wait *wait,
                         struct buf *out, struct err *err)
{
    struct cache_folder folder;
    struct buf name = {0};
    int status = cache_folder_open(&folder, err);
    if (status != 0) {
        (void)err_prefix(err, "%s", path);
    } else {
        struct report_source source = {path, wait};
        report_name(st, &name);
        status = cache_made(&folder, &name, report_make, &source, out, err);
    }
    buf_free(&name);
    cache_folder_close(&folder);
    return status;
}

int report_file_export(const char *path, const struct report_wait *wait, struct buf *out,
                       struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        if (errno == ENOENT && report_beside(path, NULL, out)) {
            return 0; /* `-o x.nsys-rep` made x.sqlite */
        }
        return err_set(err, "%s: %s", path, errno == ENOENT ? "no such file" : strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, "%s: not a regular file", path);
    }
    return report_beside(path, &st, out) ? 0 : report_cached(path, &st, wait, out, err);
}
