/* A client of NVTX without the NVTX headers. */
#include "capture/tests/loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 20

struct nvtx_calls nvtx;
struct nvtx_calls nvtx_second;

/* Slots by module; slot 0 of each is none. */
static struct slots {
    nvtx_function functions[8][SLOTS];
    nvtx_function *pointers[8][SLOTS];
    intptr_t extension[64];
    bool old;
} first, second, *current;

static int get_module_functions(int module, nvtx_function ***table, unsigned *size)
{
    static const unsigned sizes[8] = {0, 16, 9, 15, 7, 16, 7, 0};
    if (module < 1 || module > 6 || (current->old && module >= NVTX_MODULE_CORE2)) {
        return 0;
    }
    for (unsigned i = 1; i < sizes[module]; i++) {
        current->pointers[module][i] = &current->functions[module][i];
    }
    *table = current->pointers[module];
    *size = sizes[module];
    return 1;
}

static void set_version(uint32_t version)
{
    (void)version;
}

static const void *get_table(uint32_t id)
{
    static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_module_functions};
    static const struct nvtx_version_info version = {sizeof(version), 3, 0, set_version};
    if (id == NVTX_TABLE_CALLBACKS) {
        return &callbacks;
    }
    return id == NVTX_TABLE_VERSION ? &version : NULL;
}

/* Functions of a client without a tool. Called through other types, as the real ones are; they take
 * and give nothing of value. */
static uint64_t nothing(void)
{
    return 0;
}

static void bind(void *call, nvtx_function function)
{
    nvtx_function use = function == NULL ? (nvtx_function)nothing : function;
    memcpy(call, &use, sizeof(use));
}

static void bind_extension(void *call, const struct slots *slots, int slot)
{
    intptr_t function = slots->extension[slot];
    nvtx_function use = (nvtx_function)nothing;
    if (function != 0) {
        memcpy(&use, &function, sizeof(use));
    }
    memcpy(call, &use, sizeof(use));
}

static void bind_all(struct nvtx_calls *calls, struct slots *slots)
{
    nvtx_function *core = slots->functions[NVTX_MODULE_CORE];
    nvtx_function *core2 = slots->functions[NVTX_MODULE_CORE2];
    nvtx_function *cuda = slots->functions[NVTX_MODULE_CUDA];
    nvtx_function *cudart = slots->functions[NVTX_MODULE_CUDART];
    /* The members lie in the order of the slots. */
    for (int i = NVTX_CORE_MARK_EX; i <= NVTX_CORE_NAME_OS_THREAD_W; i++) {
        bind((char *)calls + sizeof(nvtx_function) * (size_t)(i - 1), core[i]);
    }
    for (int i = NVTX_CORE2_DOMAIN_MARK_EX; i <= NVTX_CORE2_INITIALIZE; i++) {
        bind((char *)&calls->domain_mark + sizeof(nvtx_function) * (size_t)(i - 1), core2[i]);
    }
    bind(&calls->cu_stream_a, cuda[NVTX_CUDA_NAME_CU_STREAM_A]);
    bind(&calls->cu_context_w, cuda[NVTX_CUDA_NAME_CU_CONTEXT_W]);
    bind(&calls->cuda_device_a, cudart[NVTX_CUDART_NAME_CUDA_DEVICE_A]);
    bind(&calls->cuda_stream_w, cudart[NVTX_CUDART_NAME_CUDA_STREAM_W]);
    bind(&calls->cuda_event_a, cudart[NVTX_CUDART_NAME_CUDA_EVENT_A]);
    bind_extension(&calls->schema_register, slots, NVTX_PAYLOAD_SCHEMA_REGISTER);
    bind_extension(&calls->mark_payload, slots, NVTX_PAYLOAD_MARK);
    bind_extension(&calls->push_payload, slots, NVTX_PAYLOAD_RANGE_PUSH);
    bind_extension(&calls->pop_payload, slots, NVTX_PAYLOAD_RANGE_POP);
    bind_extension(&calls->domain_is_enabled, slots, NVTX_PAYLOAD_DOMAIN_IS_ENABLED);
    bind_extension(&calls->event_submit, slots, NVTX_PAYLOAD_EVENT_SUBMIT);
}

static bool attach(struct slots *slots, bool old)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path == NULL ? NULL : dlopen(path, RTLD_LAZY);
    if (library == NULL) {
        return false;
    }
    int (*initialize)(nvtx_get_table_fn) = NULL;
    void *symbol = dlsym(library, old ? "InitializeInjectionNvtx" : "InitializeInjectionNvtx2");
    memcpy(&initialize, &symbol, sizeof(symbol));
    current = slots;
    slots->old = old;
    if (initialize == NULL || initialize(get_table) != 1) {
        return false;
    }
    int (*extend)(struct nvtx_extension *) = NULL;
    symbol = dlsym(library, "InitializeInjectionNvtxExtension");
    memcpy(&extend, &symbol, sizeof(symbol));
    struct nvtx_extension_segment segment = {0, 63, slots->extension};
    struct nvtx_extension extension = {
        3, sizeof(extension), NVTX_EXTENSION_PAYLOAD, 260, 1, &segment, NULL, NULL};
    return old || (extend != NULL && extend(&extension) == 1);
}

bool loader_open(bool old)
{
    bool attached = attach(&first, old);
    bind_all(&nvtx, &first);
    return attached;
}

bool loader_open_second(void)
{
    bool attached = attach(&second, false);
    bind_all(&nvtx_second, &second);
    return attached;
}
