/* The CUDA driver and CUPTI, tried in a child: what they say comes back through a shared page, so a
 * crash or a hang loses only what was not reached. */
#define _GNU_SOURCE /* MAP_ANONYMOUS; NOLINT */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/record/doctor.h"
#include "capture/spool/cupti_abi.h"

enum {
    LIMIT_SECONDS = 20,
    PATTERNS_MAX = 24
};

static void *symbol_of(void *library, const char *name, void *function, size_t size)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, size);
    return symbol;
}

#define LOOK_UP(library, name, function) \
    (symbol_of((library), (name), &(function), sizeof(function)) != NULL)

static void ask_driver(struct doctor_probe *probe)
{
    int (*init)(unsigned);
    int (*version)(int *);
    int (*count)(int *);
    int (*name)(char *, int, int);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    probe->driver_found = library != NULL;
    if (!LOOK_UP(library, "cuInit", init)) {
        return;
    }
    if (LOOK_UP(library, "cuDriverGetVersion", version)) {
        (void)version(&probe->driver_version);
    }
    probe->init_result = init(0);
    if (probe->init_result != 0 || !LOOK_UP(library, "cuDeviceGetCount", count) ||
        count(&probe->devices) != 0 || !LOOK_UP(library, "cuDeviceGetName", name)) {
        return;
    }
    for (int i = 0; i < probe->devices && i < DOCTOR_DEVICES_MAX; i++) {
        (void)name(probe->names[i], (int)sizeof probe->names[i] - 1, i);
    }
}

/* ---- CUPTI ----------------------------------------------------------------------------------- */

struct places {
    char patterns[PATTERNS_MAX][300];
    int n;
};

static void add_place(struct places *places, const char *folder, const char *rest)
{
    if (folder && *folder && places->n < PATTERNS_MAX) {
        (void)snprintf(places->patterns[places->n++], sizeof places->patterns[0], "%.200s%s",
                       folder, rest);
    }
}

/* Where the recorder would look in a process, and where Python packages lie. */
static void list_places(struct places *places)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
    static const char *const below[] = {"/extras/CUPTI/lib64/libcupti.so*", "/lib64/libcupti.so*",
                                        "/lib/libcupti.so*"};
    static const char *const packages = "/lib/python3*/site-packages/nvidia/c*/lib/libcupti.so*";
    static const char *const usual[] = {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so*",
                                        "/usr/local/cuda/lib64/libcupti.so*",
                                        "/usr/local/cuda-*/extras/CUPTI/lib64/libcupti.so*",
                                        "/usr/local/cuda-*/lib*/libcupti.so*",
                                        "/usr/lib/*-linux-gnu/libcupti.so*",
                                        "/usr/lib64/libcupti.so*",
                                        "/opt/cuda/extras/CUPTI/lib64/libcupti.so*"};
    add_place(places, getenv("VIRTUAL_ENV"), packages);
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        for (size_t k = 0; k < sizeof below / sizeof *below; k++) {
            add_place(places, getenv(homes[i]), below[k]);
        }
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        add_place(places, usual[i], "");
    }
    add_place(places, getenv("HOME"),
              "/.local/lib/python3*/site-packages/nvidia/c*/lib/libcupti.so*");
    add_place(places, "/usr/local", packages);
    add_place(places, "/usr/lib/python3/dist-packages/nvidia/c*/lib/libcupti.so*", "");
}

static void *try_cupti(struct doctor_probe *probe, const char *path)
{
    int (*version)(uint32_t *);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!LOOK_UP(library, "cuptiGetVersion", version) || version(&probe->cupti_version) != 0) {
        return NULL;
    }
    (void)snprintf(probe->cupti_path, sizeof probe->cupti_path, "%s", path);
    return library;
}

static void *find_cupti(struct doctor_probe *probe)
{
    static struct places places;
    void *library = NULL;
    list_places(&places);
    for (int i = 0; i < places.n && !library; i++) {
        glob_t found;
        if (glob(places.patterns[i], 0, NULL, &found) == 0) {
            for (size_t k = found.gl_pathc; k > 0 && !library; k--) {
                library = try_cupti(probe, found.gl_pathv[k - 1]);
            }
            globfree(&found);
        }
    }
    return library;
}

static void no_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user;
    (void)domain;
    (void)cbid;
    (void)data;
}

static void ask_cupti(struct doctor_probe *probe, const char *cupti)
{
    int (*subscribe)(void **, cupti_callback_fn, void *);
    int (*enable)(int);
    void *subscriber = NULL;
    void *library = cupti ? try_cupti(probe, cupti) : find_cupti(probe);
    if (!library || !probe->driver_found || probe->init_result != 0) {
        return;
    }
    if (LOOK_UP(library, "cuptiSubscribe", subscribe)) {
        probe->subscribe_result = subscribe(&subscriber, no_callback, NULL);
    }
    if (probe->subscribe_result == 0 && LOOK_UP(library, "cuptiActivityEnable", enable)) {
        probe->enable_result = enable(CUPTI_KIND_CONCURRENT_KERNEL);
    }
}

void doctor_probe(struct doctor_probe *probe, const char *cupti)
{
    const struct doctor_probe untried = {.subscribe_result = -1, .enable_result = -1};
    const struct timespec tenth = {.tv_nsec = 50000000};
    struct doctor_probe *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *probe = untried;
    if (shared == MAP_FAILED) {
        return;
    }
    *shared = untried;
    pid_t pid = fork();
    if (pid == 0) {
        /* not recorded itself, nor seen by a tool that the environment names */
        (void)unsetenv("CUDA_INJECTION64_PATH");
        (void)unsetenv("NVTX_INJECTION64_PATH");
        ask_driver(shared);
        ask_cupti(shared, cupti);
        shared->finished = 1;
        _exit(0);
    }
    int left = LIMIT_SECONDS * 20;
    while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
        if (left-- == 0) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
            break;
        }
        (void)nanosleep(&tenth, NULL);
    }
    *probe = *shared;
    (void)munmap(shared, sizeof *shared);
}
