/*
 * What CUPTI records only where it is asked for by calls of their own: page faults and migrations of
 * unified memory, graphs that a device launches, times of CUDA events on the device, and the memory
 * that it takes on the device for its own. And the flush before a context ends: its records go with
 * it otherwise.
 */
#include <string.h>

#include "capture/inject/inject.h"

#define DEVICES_MAX 64

/* CUpti_ActivityUnifiedMemoryCounterKind and ...Scope. */
enum um_counter {
    UM_BYTES_HTOD = 1,
    UM_BYTES_DTOH = 2,
    UM_CPU_PAGE_FAULT = 3,
    UM_GPU_PAGE_FAULT = 4,
    UM_BYTES_DTOD = 8
};
#define UM_SCOPE_SINGLE_DEVICE 1

/* Sets what must be known before the first context. */
void cupti_optional_start(struct cupti_state *cupti)
{
    const struct session_config *config = &inject.config;
    const struct {
        int attribute;
        uint64_t value;
    } wanted[] = {
        {CUPTI_ATTRIBUTE_DEVICE_BUFFER_SIZE, config->device_buffer_bytes},
        {CUPTI_ATTRIBUTE_DEVICE_BUFFER_POOL_LIMIT, config->device_buffers},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t value = (size_t)wanted[i].value;
        size_t size = sizeof(value);
        if (value != 0 && cupti->call.set_attribute != NULL) {
            (void)cupti_check(cupti->call.set_attribute(wanted[i].attribute, &size, &value), 0,
                              "cuptiActivitySetAttribute");
        }
    }
    cupti->device_graphs = config->graph == SESSION_GRAPH_GRAPH &&
                           cupti->call.enable_device_graph != NULL &&
                           cupti->call.enable_device_graph(1) == CUPTI_RESULT_SUCCESS;
    if (config->event_times && cupti->call.enable_event_times != NULL) {
        (void)cupti_check(cupti->call.enable_event_times(1), CUPTI_KIND_CUDA_EVENT,
                          "cuptiActivityEnableCudaEventDeviceTimestamps");
    }
}

/* ---- unified memory -------------------------------------------------------------------------- */

static uint32_t count_devices(void)
{
    int (*get_count)(int *) = NULL;
    int count = 0;
    void *symbol = cupti_driver_symbol("cuDeviceGetCount");
    memcpy(&get_count, &symbol, sizeof(get_count));
    if (get_count == NULL || get_count(&count) != 0 || count < 0) {
        return 0;
    }
    return (uint32_t)count < DEVICES_MAX ? (uint32_t)count : DEVICES_MAX;
}

/* Asks for one counter of all devices; the result of the first call that fails, or 0. */
static int configure(struct cupti_state *cupti, enum um_counter counter, uint32_t devices)
{
    int result = 0;
    for (uint32_t device = 0; device < devices && result == 0; device++) {
        struct cupti_um_config config = {UM_SCOPE_SINGLE_DEVICE, (uint32_t)counter, device, 1};
        result = cupti->call.configure_um(&config, 1);
    }
    return result;
}

void cupti_um_start(struct cupti_state *cupti)
{
    const struct session_config *config = &inject.config;
    const struct {
        enum um_counter counter;
        bool wanted;
    } counters[] = {
        {UM_BYTES_HTOD, true},
        {UM_BYTES_DTOH, true},
        {UM_CPU_PAGE_FAULT, config->um_cpu_faults},
        {UM_GPU_PAGE_FAULT, config->um_gpu_faults},
    };
    if ((!config->um_cpu_faults && !config->um_gpu_faults) || cupti->call.configure_um == NULL ||
        cupti->sizes[CUPTI_KIND_UNIFIED_MEMORY_COUNTER] == 0 ||
        atomic_exchange(&cupti->um_started, true)) {
        return;
    }
    uint32_t devices = count_devices();
    bool good = devices > 0;
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && good; i++) {
        if (counters[i].wanted) {
            good = cupti_check(configure(cupti, counters[i].counter, devices),
                               CUPTI_KIND_UNIFIED_MEMORY_COUNTER,
                               "cuptiActivityConfigureUnifiedMemoryCounter");
        }
    }
    if (good) {
        (void)configure(cupti, UM_BYTES_DTOD, devices); /* came later than the others */
        (void)cupti_check(cupti->call.enable(CUPTI_KIND_UNIFIED_MEMORY_COUNTER),
                          CUPTI_KIND_UNIFIED_MEMORY_COUNTER, "cuptiActivityEnable");
    }
}

/* ---- the end of a context -------------------------------------------------------------------- */

/* Calls that end a context, by how their names begin. Not the release of a primary context, which
 * some libraries call all the time: if it is the last one, our thread flushes. */
static const char *const ends[] = {
    "cudaDeviceReset",
    "cudaThreadExit",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxReset",
};

static bool ends_context(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (strncmp(name, ends[i], strlen(ends[i])) == 0) {
            return true;
        }
    }
    return false;
}

static const char *name_of(int domain, uint32_t cbid)
{
    return domain == CUPTI_DOMAIN_RUNTIME_API ? cupti_runtime_name(cbid) : cupti_driver_name(cbid);
}

void cupti_ends_enable(struct cupti_state *cupti)
{
    for (int domain = CUPTI_DOMAIN_DRIVER_API; domain <= CUPTI_DOMAIN_RUNTIME_API; domain++) {
        uint32_t count =
            domain == CUPTI_DOMAIN_RUNTIME_API ? cupti_runtime_count() : cupti_driver_count();
        for (uint32_t cbid = 1; cbid < count; cbid++) {
            if (ends_context(name_of(domain, cbid))) {
                (void)cupti->call.enable_callback(1, cupti->subscriber, domain, cbid);
            }
        }
    }
}

bool cupti_ends(struct cupti_state *cupti, int domain, uint32_t cbid, int site)
{
    if (!ends_context(name_of(domain, cbid))) {
        return false;
    }
    if (site == CUPTI_SITE_ENTER && !atomic_load(&cupti->rival.there)) {
        (void)cupti->call.flush_all(CUPTI_FLUSH_COMPLETED); /* allowed in callbacks of calls */
        (void)sem_post(&cupti->wake);
    }
    return true;
}
