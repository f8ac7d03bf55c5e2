/* api_flags: what a CUDA call does, from its name. Names: CUDA runtime and driver API
 * documentation. */
#include <string.h>

#include "analysis/trace/trace_internal.h"

/* Is part somewhere in the name? */
static bool has(const char *name, size_t len, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= len; i++) {
        if (memcmp(name + i, part, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins(const char *name, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);
    return len >= n && memcmp(name, prefix, n) == 0;
}

enum api_where {
    API_BEGINS,
    API_HAS
};

/* Every rule that holds adds its flags. */
static const struct api_rule {
    enum api_where where;
    const char *part;
    uint16_t flags;
} API_RULES[] = {
    {API_HAS, "LaunchKernel", TRACE_API_LAUNCH},
    {API_HAS, "LaunchCooperative", TRACE_API_LAUNCH},
    {API_BEGINS, "cudaLaunchDevice", TRACE_API_LAUNCH},
    {API_BEGINS, "cuLaunchGrid", TRACE_API_LAUNCH},
    {API_HAS, "GraphLaunch", TRACE_API_LAUNCH | TRACE_API_GRAPH},
    {API_HAS, "Memcpy", TRACE_API_COPY},
    {API_HAS, "Memset", TRACE_API_SET},
    {API_HAS, "Async", TRACE_API_ASYNC},
    {API_HAS, "Synchronize", TRACE_API_SYNC},
    {API_HAS, "Malloc", TRACE_API_ALLOC},
    {API_BEGINS, "cudaFree", TRACE_API_ALLOC},
    {API_HAS, "HostAlloc", TRACE_API_ALLOC},
    {API_HAS, "HostRegister", TRACE_API_ALLOC},
    {API_HAS, "HostUnregister", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemAlloc", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemFree", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemHost", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemCreate", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemRelease", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemMap", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemUnmap", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemSetAccess", TRACE_API_ALLOC},
    {API_BEGINS, "cuMemAddress", TRACE_API_ALLOC},
    {API_HAS, "ArrayCreate", TRACE_API_ALLOC},
    {API_HAS, "ArrayDestroy", TRACE_API_ALLOC},
    {API_HAS, "ModuleLoad", TRACE_API_MODULE},
    {API_HAS, "ModuleUnload", TRACE_API_MODULE},
    {API_HAS, "LibraryLoad", TRACE_API_MODULE},
    {API_HAS, "LibraryUnload", TRACE_API_MODULE},
    {API_BEGINS, "cuLink", TRACE_API_MODULE},
    {API_HAS, "CtxCreate", TRACE_API_MODULE},
    {API_HAS, "CtxDestroy", TRACE_API_MODULE},
    {API_HAS, "PrimaryCtx", TRACE_API_MODULE},
    {API_BEGINS, "cudaDeviceReset", TRACE_API_MODULE},
    {API_BEGINS, "cuInit", TRACE_API_MODULE},
    {API_BEGINS, "cudaInitDevice", TRACE_API_MODULE},
    {API_HAS, "EventQuery", TRACE_API_QUERY},
    {API_HAS, "StreamQuery", TRACE_API_QUERY},
};

/* Calls that build a graph ("cudaGraphAddMemcpyNode", "cudaGraphExecMemsetNodeSetParams") do not do
 * what their names say; only a graph launch does. */
static bool builds_graph(const char *name, size_t len)
{
    return has(name, len, "Graph") && !has(name, len, "GraphLaunch");
}

uint16_t api_flags(const char *name, size_t len)
{
    uint16_t flags = 0;
    if (begins(name, len, "cu") && !begins(name, len, "cuda")) {
        flags |= TRACE_API_DRIVER;
    }
    if (builds_graph(name, len)) {
        return flags;
    }
    for (size_t i = 0; i < sizeof API_RULES / sizeof API_RULES[0]; i++) {
        const struct api_rule *rule = &API_RULES[i];
        if (rule->where == API_BEGINS ? begins(name, len, rule->part)
                                      : has(name, len, rule->part)) {
            flags |= rule->flags;
        }
    }
    if (len == 10 && begins(name, len, "cudaLaunch")) {
        flags |= TRACE_API_LAUNCH; /* before CUDA 7 */
    }
    return len == 8 && begins(name, len, "cuLaunch") ? flags | TRACE_API_LAUNCH : flags;
}

size_t api_brief_len(const char *name, size_t len)
{
    enum {
        VERSION_DIGITS = 4
    };
    size_t digits = 0;
    while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9') {
        digits++;
    }
    if (digits < VERSION_DIGITS || len < digits + 3 || name[len - digits - 1] != 'v' ||
        name[len - digits - 2] != '_') {
        return len;
    }
    return len - digits - 2;
}
