/*
 * Which libcupti is used: (1) one that is in the process already, because a second copy would fight
 * with it; (2) the one that the session names; (3) what lies next to the CUDA runtime of the
 * process; (4) the usual places, the newest first that the driver can serve: a CUPTI newer than the
 * driver does not start. Nothing is loaded before the CUDA driver itself starts, so a program's own
 * choice of libraries is never changed. It is never unloaded.
 */
#define _GNU_SOURCE /* dl_iterate_phdr; NOLINT */
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/inject/inject.h"

#define PATH_BYTES 700

/* Where libcupti may lie, seen from the folder of libcudart (PyPI wheels, conda, toolkits). */
static const char *const beside_runtime[] = {
    "%s/libcupti.so*",
    "%s/../../cuda_cupti/lib/libcupti.so*",
    "%s/../extras/CUPTI/lib64/libcupti.so*",
    "%s/../../../extras/CUPTI/lib64/libcupti.so*",
};

/* The usual places, seen from a folder that a variable names. */
static const char *const below_home[] = {
    "%s/extras/CUPTI/lib64/libcupti.so*",
    "%s/lib64/libcupti.so*",
    "%s/lib/libcupti.so*",
};

static const char *const usual_places[] = {
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so*",
    "/usr/local/cuda/lib64/libcupti.so*",
    "/usr/local/cuda-*/extras/CUPTI/lib64/libcupti.so*",
    "/usr/local/cuda-*/lib64/libcupti.so*",
    "/usr/local/cuda-*/lib/libcupti.so*",
    "/usr/local/cuda-*/targets/*/lib/libcupti.so*",
    "/opt/cuda/extras/CUPTI/lib64/libcupti.so*",
    "/usr/lib/*-linux-gnu/libcupti.so*",
    "/usr/lib64/libcupti.so*",
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Paths of libraries in this process. */
struct mapped {
    char cupti[PATH_BYTES];
    char runtime[PATH_BYTES];
    char driver[PATH_BYTES];
};

static void keep_path(char *to, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    if (to[0] == '\0' && strncmp(base, name, strlen(name)) == 0 && strlen(path) < PATH_BYTES) {
        memcpy(to, path, strlen(path) + 1);
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    struct mapped *mapped = data;
    (void)size;
    if (info->dlpi_name != NULL) {
        keep_path(mapped->cupti, info->dlpi_name, "libcupti.so");
        keep_path(mapped->runtime, info->dlpi_name, "libcudart.so");
        keep_path(mapped->driver, info->dlpi_name, "libcuda.so");
    }
    return 0;
}

void *cupti_driver_symbol(const char *name)
{
    struct mapped mapped = {"", "", ""};
    (void)dl_iterate_phdr(look, &mapped);
    if (mapped.driver[0] == '\0') {
        return NULL;
    }
    void *library = dlopen(mapped.driver, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) {
        return NULL;
    }
    void *symbol = dlsym(library, name);
    (void)dlclose(library); /* the driver's own count keeps it */
    return symbol;
}

uint32_t cupti_driver_version(void)
{
    int (*get_version)(int *) = NULL;
    int version = 0;
    void *symbol = cupti_driver_symbol("cuDriverGetVersion");
    memcpy(&get_version, &symbol, sizeof(get_version));
    if (get_version == NULL || get_version(&version) != 0 || version < 0) {
        return 0;
    }
    return (uint32_t)version;
}

/* Looks up all functions. False if one is missing that we cannot do without. */
static bool look_up(struct cupti_state *cupti, void *library)
{
    void *symbol = NULL;
#define CUPTI_LOOK_UP(member, name, parameters) \
    symbol = dlsym(library, #name); \
    memcpy(&cupti->call.member, &symbol, sizeof(symbol));
    CUPTI_FUNCTIONS(CUPTI_LOOK_UP)
#undef CUPTI_LOOK_UP
    return cupti->call.get_version != NULL && cupti->call.subscribe != NULL &&
           cupti->call.enable_callback != NULL && cupti->call.register_callbacks != NULL &&
           cupti->call.enable != NULL && cupti->call.flush_all != NULL &&
           cupti->call.get_next_record != NULL;
}

/* Loads PATH. True if it is a CUPTI that we can use. */
static bool try_path(struct cupti_state *cupti, const char *path, int flags)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (library == NULL) {
        return false;
    }
    if (!look_up(cupti, library) || cupti->call.get_version(&cupti->version) != 0) {
        memset(&cupti->call, 0, sizeof(cupti->call));
        return false;
    }
    cupti->library = library;
    (void)snprintf(cupti->path, sizeof(cupti->path), "%s", path);
    return true;
}

/* Major version in a file name such as libcupti.so.13 or libcupti.so.2025.3.0; 0 if there is none.
 * Names with a year are the same files as those with a major version beside them. */
static unsigned long name_major(const char *path)
{
    const char *at = strstr(path, "libcupti.so");
    at = at == NULL ? NULL : at + strlen("libcupti.so");
    return at != NULL && *at == '.' ? strtoul(at + 1, NULL, 10) : 0;
}

/* Tries what PATTERN matches, highest version first, up to LIMIT (0: any). */
static bool try_pattern(struct cupti_state *cupti, const char *pattern, unsigned long limit)
{
    glob_t found;
    bool done = false;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        return false;
    }
    unsigned long below = limit == 0 || limit > 99 ? 99 : limit;
    while (!done) {
        const char *best = NULL;
        unsigned long best_major = 0;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            unsigned long major = name_major(found.gl_pathv[i]);
            if (major <= below && major > best_major) {
                best = found.gl_pathv[i];
                best_major = major;
            }
        }
        if (best == NULL) {
            break;
        }
        done = try_path(cupti, best, 0);
        below = best_major - 1;
    }
    globfree(&found);
    return done;
}

/* Tries the PATTERNS, each with a %s for FOLDER. */
static bool try_below(struct cupti_state *cupti, const char *const *patterns, size_t count,
                      const char *folder, unsigned long limit)
{
    for (size_t i = 0; i < count; i++) {
        char pattern[PATH_BYTES];
        const char *rest = patterns[i] + 2; /* behind the %s */
        int length = snprintf(pattern, sizeof(pattern), "%s%s", folder, rest);
        if (length > 0 && (size_t)length < sizeof(pattern) && try_pattern(cupti, pattern, limit)) {
            return true;
        }
    }
    return false;
}

static bool try_runtime(struct cupti_state *cupti, char *runtime, unsigned long limit)
{
    char *slash = strrchr(runtime, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return try_below(cupti, beside_runtime, COUNT(beside_runtime), runtime, limit);
}

static bool try_homes(struct cupti_state *cupti, unsigned long limit)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *folder = getenv(variables[i]);
        if (folder != NULL && folder[0] == '/' &&
            try_below(cupti, below_home, COUNT(below_home), folder, limit)) {
            return true;
        }
    }
    return false;
}

static bool try_usual(struct cupti_state *cupti, unsigned long limit)
{
    for (size_t i = 0; i < COUNT(usual_places); i++) {
        if (try_pattern(cupti, usual_places[i], limit)) {
            return true;
        }
    }
    /* What the loader itself finds. */
    unsigned long highest = limit == 0 ? 14 : limit;
    for (unsigned long major = highest; major >= 11; major--) {
        char name[32];
        (void)snprintf(name, sizeof(name), "libcupti.so.%lu", major);
        if (try_path(cupti, name, 0)) {
            return true;
        }
    }
    return false;
}

bool cupti_find(struct cupti_state *cupti)
{
    struct mapped mapped = {"", "", ""};
    (void)dl_iterate_phdr(look, &mapped);
    if (mapped.cupti[0] != '\0' && try_path(cupti, mapped.cupti, RTLD_NOLOAD)) {
        return true;
    }
    const char *named = inject.config.cupti_path;
    const char *searched = "the process, its CUDA runtime, CUDA_HOME, /usr/local/cuda*";
    if (named[0] != '\0') {
        if (try_path(cupti, named, 0)) {
            return true;
        }
        searched = named;
    } else {
        unsigned long limit = cupti_driver_version() / 1000;
        if (try_runtime(cupti, mapped.runtime, limit) || try_homes(cupti, limit) ||
            try_usual(cupti, limit)) {
            return true;
        }
    }
    if (nvtx_enter()) {
        spool_writer_status(&inject.writer, SPOOL_STATUS_CUPTI_NOT_FOUND, 0, 0, searched);
        nvtx_leave();
    }
    return false;
}
