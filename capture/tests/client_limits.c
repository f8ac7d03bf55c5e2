/*
 * A program that takes the session folder out of its own reach: "client_limits HOW COUNT" makes
 * COUNT ranges before and COUNT after. It ends with 77 where the machine does not let it do HOW.
 */
#define _GNU_SOURCE /* chroot, setgroups, unshare; NOLINT */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/tests/loader.h"

enum {
    SKIPPED = 77,
    NOBODY = 65534
};

static bool limit(__rlimit_resource_t which, rlim_t value)
{
    struct rlimit limits = {value, value};
    return setrlimit(which, &limits) == 0;
}

/* Any folder that the session is not in. */
static bool change_root(void)
{
    return chroot("/usr") == 0 && chdir("/") == 0;
}

/* The folder of the session, which the library lies in. */
static void session_folder(char *out, size_t size)
{
    const char *library = getenv("NVTX_INJECTION64_PATH");
    const char *slash = library == NULL ? NULL : strrchr(library, '/');
    int length = slash == NULL ? 0 : (int)(slash - library);
    (void)snprintf(out, size, "%.*s", length, library == NULL ? "" : library);
}

static bool change_mounts(void)
{
    char folder[1024];
    session_folder(folder, sizeof(folder));
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, NULL) == 0;
}

static bool move_folder(void)
{
    char folder[1024];
    char moved[1100];
    session_folder(folder, sizeof(folder));
    (void)snprintf(moved, sizeof(moved), "%s.moved", folder);
    return rename(folder, moved) == 0;
}

/* Every descriptor that the limit allows is in use. */
static bool use_descriptors(void)
{
    if (!limit(RLIMIT_NOFILE, 64)) {
        return false;
    }
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    return errno == EMFILE;
}

/* Opening a file does ACTION from now on. */
static bool filter_opens(uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool apply(const char *how)
{
    if (strcmp(how, "chroot") == 0) {
        return change_root();
    }
    if (strcmp(how, "user") == 0) {
        return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
    }
    if (strcmp(how, "mounts") == 0) {
        return change_mounts();
    }
    if (strcmp(how, "moved") == 0) {
        return move_folder();
    }
    if (strcmp(how, "descriptors") == 0) {
        return use_descriptors();
    }
    if (strcmp(how, "filter") == 0) {
        return filter_opens(SECCOMP_RET_ERRNO | EPERM);
    }
    if (strcmp(how, "deadly filter") == 0) {
        return filter_opens(SECCOMP_RET_KILL_PROCESS);
    }
    return strcmp(how, "none") == 0;
}

static void emit(const char *what, long count)
{
    char text[64];
    for (long i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "%s %ld", what, i);
        nvtx.push_a(text);
        nvtx.pop();
    }
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    (void)loader_open(false);
    emit("before", count);
    if (!apply(argc > 1 ? argv[1] : "none")) {
        return SKIPPED;
    }
    emit("after", count);
    return write(STDOUT_FILENO, "ok\n", 3) == 3 ? 0 : 1;
}
