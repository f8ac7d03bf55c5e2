/*
 * The functions that NVTX clients call, as NVTX has them, and putting them into the clients' slots.
 * Push and pop return the level as NVTX documents it, since programs pop only where push has not
 * failed; in domains beyond the first few they return that levels are not tracked.
 */
#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The event of a text alone, for the slower ways. */
static struct nvtx_attributes ascii_attributes(const char *text)
{
    struct nvtx_attributes attributes = {.size = sizeof(attributes),
                                         .message_type = NVTX_TEXT_ASCII};
    attributes.message.ascii = text;
    return attributes;
}

static struct nvtx_attributes wide_attributes(const wchar_t *text)
{
    struct nvtx_attributes attributes = {.size = sizeof(attributes),
                                         .message_type = NVTX_TEXT_UNICODE};
    attributes.message.unicode = text;
    return attributes;
}

static void mark(const struct nvtx_note *domain, const struct nvtx_attributes *attributes)
{
    struct nvtx_event event = {.type = SPOOL_NVTX_MARK, .domain = domain, .attributes = attributes};
    (void)nvtx_emit(&event);
}

static int push(const struct nvtx_note *domain, const struct nvtx_attributes *attributes)
{
    struct nvtx_event event = {.type = SPOOL_NVTX_PUSH, .domain = domain, .attributes = attributes};
    if (UNLIKELY(inject.nvtx.trigger)) {
        nvtx_range_begin(&event);
    }
    return nvtx_emit(&event);
}

static int pop(const struct nvtx_note *domain)
{
    int level = nvtx_emit_pop(domain);
    if (UNLIKELY(inject.nvtx.trigger)) {
        struct nvtx_event event = {.type = SPOOL_NVTX_POP, .domain = domain};
        nvtx_range_end(&event);
    }
    return level;
}

static uint64_t start(const struct nvtx_note *domain, const struct nvtx_attributes *attributes)
{
    struct nvtx_event event = {.type = SPOOL_NVTX_START,
                               .domain = domain,
                               .attributes = attributes,
                               .range = nvtx_range_id()};
    if (UNLIKELY(inject.nvtx.trigger)) {
        nvtx_range_begin(&event);
    }
    (void)nvtx_emit(&event);
    return event.range;
}

static void end(const struct nvtx_note *domain, uint64_t range)
{
    struct nvtx_event event = {.type = SPOOL_NVTX_END, .domain = domain, .range = range};
    if (range != 0) {
        (void)nvtx_emit(&event);
    }
    if (UNLIKELY(inject.nvtx.trigger)) {
        nvtx_range_end(&event);
    }
}

/* The functions of the CORE module. */
static void core_mark_ex(const struct nvtx_attributes *attributes)
{
    mark(&inject.nvtx.default_domain, attributes);
}

static void core_mark_a(const char *text)
{
    (void)nvtx_emit_text(SPOOL_NVTX_MARK, text);
}

static void core_mark_w(const wchar_t *text)
{
    struct nvtx_attributes attributes = wide_attributes(text);
    mark(&inject.nvtx.default_domain, &attributes);
}

static uint64_t core_start_ex(const struct nvtx_attributes *attributes)
{
    return start(&inject.nvtx.default_domain, attributes);
}

static uint64_t core_start_a(const char *text)
{
    struct nvtx_attributes attributes = ascii_attributes(text);
    return start(&inject.nvtx.default_domain, &attributes);
}

static uint64_t core_start_w(const wchar_t *text)
{
    struct nvtx_attributes attributes = wide_attributes(text);
    return start(&inject.nvtx.default_domain, &attributes);
}

static void core_end(uint64_t range)
{
    end(&inject.nvtx.default_domain, range);
}

static int core_push_ex(const struct nvtx_attributes *attributes)
{
    return push(&inject.nvtx.default_domain, attributes);
}

static int core_push_a(const char *text)
{
    if (UNLIKELY(inject.nvtx.trigger)) {
        struct nvtx_attributes attributes = ascii_attributes(text);
        return push(&inject.nvtx.default_domain, &attributes);
    }
    return nvtx_emit_text(SPOOL_NVTX_PUSH, text);
}

static int core_push_w(const wchar_t *text)
{
    struct nvtx_attributes attributes = wide_attributes(text);
    return push(&inject.nvtx.default_domain, &attributes);
}

static int core_pop(void)
{
    return pop(&inject.nvtx.default_domain);
}

/* The functions of the CORE2 module: the same in a domain. */
static void core2_mark(const void *domain, const struct nvtx_attributes *attributes)
{
    mark(nvtx_domain_of(domain), attributes);
}

static uint64_t core2_start(const void *domain, const struct nvtx_attributes *attributes)
{
    return start(nvtx_domain_of(domain), attributes);
}

static void core2_end(const void *domain, uint64_t range)
{
    end(nvtx_domain_of(domain), range);
}

static int core2_push(const void *domain, const struct nvtx_attributes *attributes)
{
    return push(nvtx_domain_of(domain), attributes);
}

static int core2_pop(const void *domain)
{
    return pop(nvtx_domain_of(domain));
}

static void core2_initialize(const void *reserved)
{
    (void)reserved;
}

#define SLOT(id, function) [id] = (nvtx_function)(function)

static nvtx_function const core_events[] = {
    SLOT(NVTX_CORE_MARK_EX, core_mark_ex),       SLOT(NVTX_CORE_MARK_A, core_mark_a),
    SLOT(NVTX_CORE_MARK_W, core_mark_w),         SLOT(NVTX_CORE_RANGE_START_EX, core_start_ex),
    SLOT(NVTX_CORE_RANGE_START_A, core_start_a), SLOT(NVTX_CORE_RANGE_START_W, core_start_w),
    SLOT(NVTX_CORE_RANGE_END, core_end),         SLOT(NVTX_CORE_RANGE_PUSH_EX, core_push_ex),
    SLOT(NVTX_CORE_RANGE_PUSH_A, core_push_a),   SLOT(NVTX_CORE_RANGE_PUSH_W, core_push_w),
    SLOT(NVTX_CORE_RANGE_POP, core_pop),
};

static nvtx_function const core2_events[] = {
    SLOT(NVTX_CORE2_DOMAIN_MARK_EX, core2_mark),
    SLOT(NVTX_CORE2_DOMAIN_RANGE_START_EX, core2_start),
    SLOT(NVTX_CORE2_DOMAIN_RANGE_END, core2_end),
    SLOT(NVTX_CORE2_DOMAIN_RANGE_PUSH_EX, core2_push),
    SLOT(NVTX_CORE2_DOMAIN_RANGE_POP, core2_pop),
    SLOT(NVTX_CORE2_INITIALIZE, core2_initialize),
};

#define COUNT(table) ((unsigned)(sizeof(table) / sizeof((table)[0])))

/* Puts the functions of FROM into the client's slots; a client of an older NVTX may have fewer or
 * no module at all. */
static void fill(const struct nvtx_callbacks *callbacks, int module, nvtx_function const *from,
                 unsigned count)
{
    nvtx_function **table = NULL;
    unsigned size = 0;
    if (callbacks->get_module_functions(module, &table, &size) == 0 || table == NULL) {
        return;
    }
    for (unsigned id = 1; id < size && id < count; id++) {
        if (from[id] != NULL && table[id] != NULL) {
            *table[id] = from[id];
        }
    }
}

int nvtx_attach(nvtx_get_table_fn get_table)
{
    const struct nvtx_version_info *version = get_table(NVTX_TABLE_VERSION);
    const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);
    if (callbacks == NULL || callbacks->struct_size < sizeof(*callbacks) ||
        callbacks->get_module_functions == NULL) {
        return 0;
    }
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = SPOOL_STATUS_ATTACHED_NVTX};
    if (version != NULL && version->struct_size >= sizeof(*version)) {
        head.value[1] = version->version;
        if (version->set_injection_version != NULL) {
            version->set_injection_version(3);
        }
    }
    uint32_t before = atomic_fetch_add(&inject.nvtx.attached, 1);
    if (before == 0) {
        (void)atomic_fetch_add(&inject.control->processes_nvtx, 1);
    }
    head.value[0] = before + 1;
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    if (nvtx_enter()) {
        (void)nvtx_note_add(&head, NULL);
        nvtx_leave();
    }
    fill(callbacks, NVTX_MODULE_CORE, core_events, COUNT(core_events));
    fill(callbacks, NVTX_MODULE_CORE, nvtx_core_names, NVTX_CORE_NAME_OS_THREAD_W + 1);
    fill(callbacks, NVTX_MODULE_CORE2, core2_events, COUNT(core2_events));
    fill(callbacks, NVTX_MODULE_CORE2, nvtx_core2_names, NVTX_CORE2_INITIALIZE + 1);
    fill(callbacks, NVTX_MODULE_CUDA, nvtx_cuda_names, NVTX_CUDA_NAME_CU_EVENT_W + 1);
    fill(callbacks, NVTX_MODULE_CUDART, nvtx_cudart_names, NVTX_CUDART_NAME_CUDA_EVENT_W + 1);
    return 1;
}
