/* The search for libcupti. Patterns are expanded by glob; in a folder the highest version that the
 * driver can serve is offered first, and one without a version in its name last. */
#define _XOPEN_SOURCE 700 /* realpath; NOLINT */
#include "capture/spool/cupti_places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_BYTES = 1024,
    MAJOR_FIRST = 11, /* of CUDA: the oldest that the recorder knows */
    MAJOR_LAST = 20,
    MAJOR_MOST = 99 /* beyond it is a year, of a file that has a major version as well */
};

#define LIBRARY "libcupti.so*"
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const char cupti_places_text[] =
    "the process, its CUDA runtime, VIRTUAL_ENV, CONDA_PREFIX, CUDA_HOME, the python on PATH, "
    "toolkits in /usr/local and /opt, the system's libraries";

/* Seen from the folder of libcudart: wheels, conda, toolkits. */
static const char *const beside_runtime[] = {
    "/" LIBRARY,
    "/../../cuda_cupti/lib/" LIBRARY,
    "/../extras/CUPTI/lib64/" LIBRARY,
    "/../../../extras/CUPTI/lib64/" LIBRARY,
};

/* Seen from a toolkit, or the folder of a conda environment. */
static const char *const below_toolkit[] = {
    "/extras/CUPTI/lib64/" LIBRARY,
    "/lib64/" LIBRARY,
    "/lib/" LIBRARY,
    "/targets/*/lib/" LIBRARY,
};

/* Seen from a folder of Python packages: NVIDIA's wheels. */
static const char *const below_packages[] = {
    "/nvidia/c*/lib/" LIBRARY,
};

/* Seen from the folder that a Python is installed in. */
static const char *const below_python[] = {
    "/lib/python3*/site-packages/nvidia/c*/lib/" LIBRARY,
    "/lib64/python3*/site-packages/nvidia/c*/lib/" LIBRARY,
    "/lib/python3*/dist-packages/nvidia/c*/lib/" LIBRARY,
    "/lib/python3/dist-packages/nvidia/c*/lib/" LIBRARY,
};

static const char *const usual_places[] = {
    "/usr/local/cuda/extras/CUPTI/lib64/" LIBRARY,
    "/usr/local/cuda/lib64/" LIBRARY,
    "/usr/local/cuda-*/extras/CUPTI/lib64/" LIBRARY,
    "/usr/local/cuda-*/lib64/" LIBRARY,
    "/usr/local/cuda-*/lib/" LIBRARY,
    "/usr/local/cuda-*/targets/*/lib/" LIBRARY,
    "/opt/cuda/extras/CUPTI/lib64/" LIBRARY,
    "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*/extras/CUPTI/lib64/" LIBRARY,
    "/usr/lib/*-linux-gnu/" LIBRARY,
    "/usr/lib64/" LIBRARY,
};

/* One search. */
struct search {
    unsigned long most; /* major version; 0: any */
    cupti_place_fn *offer;
    void *arg;
};

/* Major version in a file name such as libcupti.so.13; 0 where there is none, or a year. */
static unsigned long major_of(const char *path)
{
    const char *at = strstr(path, "libcupti.so");
    at = at == NULL ? "" : at + strlen("libcupti.so");
    unsigned long major = *at == '.' ? strtoul(at + 1, NULL, 10) : 0;
    return major > MAJOR_MOST ? 0 : major;
}

/* Offers those of the paths that have that major version. */
static bool offer_major(const struct search *search, const glob_t *found, unsigned long major)
{
    for (size_t i = 0; i < found->gl_pathc; i++) {
        if (major_of(found->gl_pathv[i]) == major &&
            search->offer(search->arg, found->gl_pathv[i])) {
            return true;
        }
    }
    return false;
}

static bool try_pattern(const struct search *search, const char *pattern)
{
    glob_t found;
    bool done = false;
    if (glob(pattern, 0, NULL, &found) != 0) {
        return false;
    }
    bool versions = false;
    for (size_t i = 0; i < found.gl_pathc && !versions; i++) {
        versions = major_of(found.gl_pathv[i]) != 0;
    }
    unsigned long most = search->most == 0 ? MAJOR_MOST : search->most;
    for (unsigned long major = most; versions && major > 0 && !done; major--) {
        done = offer_major(search, &found, major);
    }
    /* a plain name beside versions is one of them */
    done = done || (!versions && offer_major(search, &found, 0));
    globfree(&found);
    return done;
}

/* Tries the patterns behind a folder, whose own characters mean themselves. */
static bool try_below(const struct search *search, const char *folder, const char *const *patterns,
                      size_t count)
{
    char quoted[PATH_BYTES];
    size_t length = 0;
    for (const char *c = folder; *c != '\0' && length + 2 < sizeof(quoted); c++) {
        if (strchr("*?[]\\", *c) != NULL) {
            quoted[length++] = '\\';
        }
        quoted[length++] = *c;
    }
    quoted[length] = '\0';
    for (size_t i = 0; i < count; i++) {
        char pattern[PATH_BYTES + 128];
        (void)snprintf(pattern, sizeof(pattern), "%s%s", quoted, patterns[i]);
        if (try_pattern(search, pattern)) {
            return true;
        }
    }
    return false;
}

#define TRY_BELOW(search, folder, patterns) try_below(search, folder, patterns, COUNT(patterns))

/* The folder that a path lies in, UP times; "" where there is none. */
static void folder_of(char *out, size_t size, const char *path, int up)
{
    (void)snprintf(out, size, "%s", path);
    for (; up > 0; up--) {
        char *slash = strrchr(out, '/');
        if (slash == NULL) {
            out[0] = '\0';
            return;
        }
        *slash = '\0';
    }
}

static bool try_runtime(const struct search *search, const char *runtime)
{
    char folder[PATH_BYTES];
    folder_of(folder, sizeof(folder), runtime, 1);
    return *folder != '\0' && TRY_BELOW(search, folder, beside_runtime);
}

/* The folder that a variable names, if that is a whole path. */
static const char *folder_named(const char *variable)
{
    const char *folder = getenv(variable);
    return folder != NULL && folder[0] == '/' ? folder : NULL;
}

static bool try_environment(const struct search *search)
{
    static const char *const pythons[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    static const char *const toolkits[] = {"CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
    for (size_t i = 0; i < COUNT(pythons); i++) {
        const char *folder = folder_named(pythons[i]);
        if (folder != NULL && TRY_BELOW(search, folder, below_python)) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(toolkits); i++) {
        const char *folder = folder_named(toolkits[i]);
        if (folder != NULL && TRY_BELOW(search, folder, below_toolkit)) {
            return true;
        }
    }
    return false;
}

/* The first file of that name on PATH; false where there is none. */
static bool find_on_path(const char *name, char *out, size_t size)
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ":");
        int wrote = snprintf(out, size, "%.*s/%s", (int)length, at, name);
        if (length > 0 && wrote > 0 && (size_t)wrote < size && access(out, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return false;
}

/* A Python lies in PREFIX/bin. In a virtual environment it is a link to the Python that it was made
 * from, whose packages are not its own; the link goes first. Of pyenv there is a script in
 * ROOT/shims, and the Pythons are in ROOT/versions. */
static bool try_python(const struct search *search, const char *name)
{
    char path[PATH_BYTES];
    char prefix[PATH_BYTES];
    char versions[PATH_BYTES + 32];
    if (!find_on_path(name, path, sizeof(path))) {
        return false;
    }
    folder_of(prefix, sizeof(prefix), path, 2);
    if (*prefix != '\0' && TRY_BELOW(search, prefix, below_python)) {
        return true;
    }
    for (size_t i = 0; *prefix != '\0' && i < COUNT(below_python); i++) {
        (void)snprintf(versions, sizeof(versions), "%s/versions/*%s", prefix, below_python[i]);
        if (try_pattern(search, versions)) {
            return true;
        }
    }
    char *real = realpath(path, NULL);
    if (real != NULL) {
        folder_of(prefix, sizeof(prefix), real, 2);
        free(real);
    }
    return *prefix != '\0' && TRY_BELOW(search, prefix, below_python);
}

static bool try_usual(const struct search *search)
{
    static const char *const homes[] = {"/usr/local", "/usr", "/opt/conda"};
    char local[PATH_BYTES];
    const char *home = folder_named("HOME");
    for (size_t i = 0; i < COUNT(usual_places); i++) {
        if (try_pattern(search, usual_places[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(homes); i++) {
        if (TRY_BELOW(search, homes[i], below_python)) {
            return true;
        }
    }
    (void)snprintf(local, sizeof(local), "%.900s/.local", home == NULL ? "" : home);
    return home != NULL && TRY_BELOW(search, local, below_python);
}

/* What the loader finds by name. */
static bool try_loader(const struct search *search)
{
    unsigned long most = search->most == 0 ? MAJOR_LAST : search->most;
    for (unsigned long major = most; major >= MAJOR_FIRST; major--) {
        char name[32];
        (void)snprintf(name, sizeof(name), "libcupti.so.%lu", major);
        if (search->offer(search->arg, name)) {
            return true;
        }
    }
    return search->offer(search->arg, "libcupti.so");
}

bool cupti_places_search(const struct cupti_places *places, cupti_place_fn *offer, void *arg)
{
    unsigned long major = places->driver / 1000;
    const struct search search = {major > MAJOR_MOST ? MAJOR_MOST : major, offer, arg};
    return try_runtime(&search, places->runtime) ||
           (*places->packages != '\0' && TRY_BELOW(&search, places->packages, below_packages)) ||
           try_environment(&search) || try_python(&search, "python3") ||
           try_python(&search, "python") || try_usual(&search) || try_loader(&search);
}
