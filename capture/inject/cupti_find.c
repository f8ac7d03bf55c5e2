/*
 * Which libcupti is used: one that is in the process already, because a second copy would fight with
 * it; else the one that the session names, and no other; else the first of those that
 * capture/spool/cupti_places.h finds. One that does not start because it is newer than the driver is
 * passed over. Nothing is loaded before the CUDA driver itself starts, so a program's own choice of
 * libraries is never changed. It is never unloaded.
 */
#define _GNU_SOURCE /* dl_iterate_phdr; NOLINT */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "capture/inject/inject.h"
#include "capture/spool/cupti_places.h"

#define PATH_BYTES 700

/* Paths of libraries in this process. */
struct mapped {
    char cupti[PATH_BYTES];
    char runtime[PATH_BYTES];
    char driver[PATH_BYTES];
    char packages[PATH_BYTES]; /* a folder of Python packages that one of them lies in */
};

static void keep_path(char *to, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    if (to[0] == '\0' && strncmp(base, name, strlen(name)) == 0 && strlen(path) < PATH_BYTES) {
        memcpy(to, path, strlen(path) + 1);
    }
}

/* The folder of packages in a path such as /venv/lib/python3.11/site-packages/numpy/core/x.so. */
static void keep_packages(char *to, const char *path)
{
    static const char name[] = "/site-packages";
    const char *at = strstr(path, name);
    size_t length = at == NULL ? 0 : (size_t)(at - path) + strlen(name);
    if (to[0] == '\0' && length > 0 && path[length] == '/' && length < PATH_BYTES) {
        memcpy(to, path, length);
        to[length] = '\0';
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
        keep_packages(mapped->packages, info->dlpi_name);
    }
    return 0;
}

void *cupti_driver_symbol(const char *name)
{
    struct mapped mapped = {"", "", "", ""};
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

/* What cupti_places_search offers to. */
struct search {
    struct cupti_state *cupti;
    bool (*takes)(struct cupti_state *cupti);
    bool loaded; /* one was there, and not taken */
};

static bool offer(struct search *search, const char *path, int flags)
{
    if (!try_path(search->cupti, path, flags)) {
        return false;
    }
    search->loaded = true;
    return search->takes(search->cupti);
}

static bool offer_place(void *arg, const char *path)
{
    return offer(arg, path, 0);
}

enum cupti_found cupti_find(struct cupti_state *cupti, bool (*takes)(struct cupti_state *cupti))
{
    struct mapped mapped = {"", "", "", ""};
    struct search search = {cupti, takes, false};
    (void)dl_iterate_phdr(look, &mapped);
    const char *named = inject.config.cupti_path;
    if (mapped.cupti[0] != '\0' && offer(&search, mapped.cupti, RTLD_NOLOAD)) {
        return CUPTI_FOUND_TAKEN;
    }
    if (named[0] != '\0') {
        if (offer(&search, named, 0)) {
            return CUPTI_FOUND_TAKEN;
        }
    } else {
        const struct cupti_places places = {mapped.runtime, mapped.packages,
                                            cupti_driver_version()};
        if (cupti_places_search(&places, offer_place, &search)) {
            return CUPTI_FOUND_TAKEN;
        }
    }
    if (search.loaded) {
        return CUPTI_FOUND_REFUSED;
    }
    if (nvtx_enter()) {
        spool_writer_status(&inject.writer, SPOOL_STATUS_CUPTI_NOT_FOUND, 0, 0,
                            named[0] != '\0' ? named : cupti_places_text);
        nvtx_leave();
    }
    return CUPTI_FOUND_NONE;
}
