/* The CUDA driver and CUPTI, tried in a child: what they say comes back through a shared page, so a
 * crash or a hang loses only what was not reached. */
#define _GNU_SOURCE /* MAP_ANONYMOUS; NOLINT */
#include <dlfcn.h>
#include <errno.h>
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
#include "capture/spool/cupti_places.h"

enum {
    LIMIT_SECONDS = 20
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

static void no_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user;
    (void)domain;
    (void)cbid;
    (void)data;
}

/* Loads it and tries what a recording begins with. True: it will do, or another one would not do
 * better. */
static bool try_cupti(void *arg, const char *path)
{
    struct doctor_probe *probe = arg;
    int (*version)(uint32_t *);
    int (*subscribe)(void **, cupti_callback_fn, void *);
    int (*enable)(int);
    void *subscriber = NULL;
    uint32_t number = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!LOOK_UP(library, "cuptiGetVersion", version) || version(&number) != 0) {
        return false;
    }
    probe->cupti_version = number;
    (void)snprintf(probe->cupti_path, sizeof probe->cupti_path, "%s", path);
    if (!probe->driver_found || probe->init_result != 0) {
        return true;
    }
    if (LOOK_UP(library, "cuptiSubscribe", subscribe)) {
        probe->subscribe_result = subscribe(&subscriber, no_callback, NULL);
    }
    if (probe->subscribe_result == CUPTI_RESULT_NOT_INITIALIZED) {
        return false; /* newer than the driver */
    }
    if (probe->subscribe_result == 0 && LOOK_UP(library, "cuptiActivityEnable", enable)) {
        probe->enable_result = enable(CUPTI_KIND_CONCURRENT_KERNEL);
    }
    return true;
}

/* As in a recorded process, but for what that brings itself. */
static void ask_cupti(struct doctor_probe *probe, const char *cupti)
{
    const struct cupti_places places = {"", "", (uint32_t)probe->driver_version};
    if (cupti != NULL) {
        (void)try_cupti(probe, cupti);
    } else {
        (void)cupti_places_search(&places, try_cupti, probe);
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
