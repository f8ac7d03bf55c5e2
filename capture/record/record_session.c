/* The session folder of a recording: made before the command runs, removed when its capture is
 * whole. capture/spool/session.h says what is in it. */
#define _XOPEN_SOURCE 700 /* realpath; NOLINT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/record/record.h"

enum {
    COPY_BYTES = 1 << 16
};

/* ---- the library ----------------------------------------------------------------------------- */

char *record_library(struct err *err)
{
    static const char *const places[] = {"", "../lib/cutline/", "../lib/", "../lib64/cutline/",
                                         "../lib64/"};
    struct buf path = {0};
    char *self = realpath("/proc/self/exe", NULL);
    char *slash = self ? strrchr(self, '/') : NULL;
    if (!slash) {
        free(self);
        return err_null(err, "cannot find the program's own path in /proc/self/exe");
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        buf_reset(&path);
        buf_addf(&path, "%s%s%s", self, places[i], SESSION_LIBRARY);
        if (access(buf_text(&path), R_OK) == 0) {
            free(self);
            return path.data;
        }
    }
    buf_free(&path);
    (void)err_set(err,
                  "cannot find %s beside the program in '%s' or in ../lib/cutline; install it "
                  "there",
                  SESSION_LIBRARY, self);
    free(self);
    return NULL;
}

/* In a child, so that nothing of the library stays in this process. */
int record_library_loads(const char *path, struct err *err)
{
    char reason[512] = "";
    int pipe_fds[2];
    int status = 0;
    if (pipe(pipe_fds) != 0) {
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
            _exit(0);
        }
        const char *text = dlerror();
        ssize_t wrote = text ? write(pipe_fds[1], text, strlen(text)) : 0;
        _exit(wrote < 0 ? 2 : 1);
    }
    (void)close(pipe_fds[1]);
    if (pid > 0) {
        ssize_t got = read(pipe_fds[0], reason, sizeof reason - 1);
        reason[got > 0 ? got : 0] = '\0';
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    (void)close(pipe_fds[0]);
    if (pid < 0) {
        return err_set(err, "cannot start a process: %s", strerror(errno));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return err_set(err, "the recorder's library cannot be loaded: %s",
                       *reason ? reason : "it ended the program that tried");
    }
    return 0;
}

static int copy_file(const char *from, const char *to, struct err *err)
{
    char *bytes = malloc(COPY_BYTES);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    ssize_t got = -1;
    if (!bytes || in < 0 || out < 0) {
        goto done;
    }
    while ((got = read(in, bytes, COPY_BYTES)) > 0) {
        if (write(out, bytes, (size_t)got) != got) {
            got = -1;
            break;
        }
    }
done:
    if (got < 0) {
        (void)err_set(err, "cannot copy '%s' to '%s': %s", from, to, strerror(errno));
    }
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    free(bytes);
    return got < 0 ? -1 : 0;
}

/* ---- the folder ------------------------------------------------------------------------------ */

bool record_session_in_memory(const char *dir)
{
    static const unsigned long in_memory[] = {TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC};
    struct statfs st;
    if (statfs(dir, &st) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof in_memory / sizeof *in_memory; i++) {
        if ((unsigned long)st.f_type == in_memory[i]) {
            return true;
        }
    }
    return false;
}

/* Removes what is in the folder, but for the file keep (NULL: all). */
static void empty_folder(const char *dir, const char *keep)
{
    DIR *list = opendir(dir);
    if (!list) {
        return;
    }
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        bool kept = keep && strcmp(entry->d_name, keep) == 0;
        if (!kept && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlinkat(dirfd(list), entry->d_name, 0);
        }
    }
    (void)closedir(list);
}

void record_session_remove(const char *dir)
{
    empty_folder(dir, NULL);
    (void)rmdir(dir);
}

void record_session_strip(const char *dir)
{
    empty_folder(dir, SESSION_LIBRARY);
}

void record_session_free(struct record_session *session)
{
    session_control_close(session->control);
    free(session->dir);
    free(session->library);
    *session = (struct record_session){0};
}

/* PARENT/cutline-XXXXXX with everything in it. */
static int make_in(const struct record_opts *opts, const char *parent, const char *library,
                   struct record_session *session, struct err *err)
{
    struct buf dir = {0};
    struct buf copy = {0};
    int result = -1;
    buf_addf(&dir, "%s/cutline-XXXXXX", parent);
    if (buf_failed(&dir) || !mkdtemp(dir.data)) {
        result = err_set(err,
                         "cannot make a session folder in '%s': %s; name another one with "
                         "--session-dir",
                         parent, strerror(errno));
        goto out;
    }
    char *real = realpath(dir.data, NULL);
    if (real) {
        buf_reset(&dir);
        buf_adds(&dir, real);
        free(real);
    }
    buf_addf(&copy, "%s/%s", buf_text(&dir), SESSION_LIBRARY);
    if (copy_file(library, buf_text(&copy), err) == 0) {
        result = record_library_loads(buf_text(&copy), err);
    }
    if (result == 0 && session_config_write(&opts->config, dir.data) < 0) {
        result = err_set(err, "cannot write to '%s': %s", dir.data, strerror(errno));
    }
    if (result == 0) {
        session->control = session_control_create(&opts->config, dir.data);
        if (!session->control) {
            result = err_set(err, "cannot write to '%s': %s", dir.data, strerror(errno));
        }
    }
    if (result < 0) {
        record_session_remove(dir.data);
        goto out;
    }
    session->dir = dir.data;
    session->library = copy.data;
    return 0;
out:
    buf_free(&dir);
    buf_free(&copy);
    return result;
}

int record_session_make(const struct record_opts *opts, const char *near,
                        struct record_session *session, struct err *err)
{
    const char *places[] = {opts->session_dir ? opts->session_dir : getenv("TMPDIR"), "/tmp", near};
    char *library = record_library(err);
    int result = -1;
    *session = (struct record_session){0};
    if (!library) {
        return -1;
    }
    /* a folder that was asked for is the only one; else the first that holds a library that loads
     * (not one mounted with noexec) */
    size_t n = opts->session_dir ? 1 : sizeof places / sizeof *places;
    for (size_t i = 0; i < n && result < 0; i++) {
        if (places[i] && *places[i]) {
            result = make_in(opts, places[i], library, session, err);
        }
    }
    free(library);
    return result;
}
