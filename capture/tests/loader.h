/* A client of NVTX without the NVTX headers: does what the loader in those headers does, for tests
 * of the injected library. Each `struct loader` is one client library of a process. */
#ifndef CUTLINE_CAPTURE_TESTS_LOADER_H
#define CUTLINE_CAPTURE_TESTS_LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "capture/inject/nvtx_abi.h"

/* Opens NVTX_INJECTION64_PATH and lets it fill the function slots. With OLD, the client has no
 * CORE2 module and calls the entry of NVTX 1. False if there is no tool; the functions then do
 * nothing, as in a real client. Not thread-safe. */
bool loader_open(bool old);

/* The second client of this process gets slots of its own. */
bool loader_open_second(void);

/* The calls. Handles are what the tool gave. SECOND says whose slots. */
extern struct nvtx_calls {
    void (*mark_ex)(const struct nvtx_attributes *attributes);
    void (*mark_a)(const char *text);
    void (*mark_w)(const wchar_t *text);
    uint64_t (*start_ex)(const struct nvtx_attributes *attributes);
    uint64_t (*start_a)(const char *text);
    uint64_t (*start_w)(const wchar_t *text);
    void (*end)(uint64_t range);
    int (*push_ex)(const struct nvtx_attributes *attributes);
    int (*push_a)(const char *text);
    int (*push_w)(const wchar_t *text);
    int (*pop)(void);
    void (*category_a)(uint32_t category, const char *name);
    void (*category_w)(uint32_t category, const wchar_t *name);
    void (*thread_a)(uint32_t tid, const char *name);
    void (*thread_w)(uint32_t tid, const wchar_t *name);
    void (*domain_mark)(const void *domain, const struct nvtx_attributes *attributes);
    uint64_t (*domain_start)(const void *domain, const struct nvtx_attributes *attributes);
    void (*domain_end)(const void *domain, uint64_t range);
    int (*domain_push)(const void *domain, const struct nvtx_attributes *attributes);
    int (*domain_pop)(const void *domain);
    const void *(*resource_create)(const void *domain, const struct nvtx_resource *resource);
    void (*resource_destroy)(const void *resource);
    void (*domain_category_a)(const void *domain, uint32_t category, const char *name);
    void (*domain_category_w)(const void *domain, uint32_t category, const wchar_t *name);
    const void *(*string_a)(const void *domain, const char *text);
    const void *(*string_w)(const void *domain, const wchar_t *text);
    const void *(*domain_a)(const char *name);
    const void *(*domain_w)(const wchar_t *name);
    void (*domain_destroy)(const void *domain);
    void (*initialize)(const void *reserved);
    void (*cu_stream_a)(const void *stream, const char *name);
    void (*cu_context_w)(const void *context, const wchar_t *name);
    void (*cuda_device_a)(int device, const char *name);
    void (*cuda_stream_w)(const void *stream, const wchar_t *name);
    void (*cuda_event_a)(const void *event, const char *name);
    /* The payload extension. */
    uint64_t (*schema_register)(const void *domain, const struct nvtx_schema *schema);
    void (*mark_payload)(const void *domain, const struct nvtx_payload_data *data, size_t count);
    int (*push_payload)(const void *domain, const struct nvtx_payload_data *data, size_t count);
    int (*pop_payload)(const void *domain, const struct nvtx_payload_data *data, size_t count);
    uint8_t (*domain_is_enabled)(const void *domain);
    void (*event_submit)(const void *domain, const struct nvtx_payload_data *data, size_t count);
} nvtx, nvtx_second;

#endif
