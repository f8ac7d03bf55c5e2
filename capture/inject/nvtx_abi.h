/*
 * The part of the NVTX injection interface that cutline uses. Own declarations; capture/tests
 * compares them with the official headers wherever those are found. Source of numbers and layouts:
 * the NVTX 3 headers (nvtxTypes.h, nvToolsExt.h, nvToolsExtPayload.h).
 */
#ifndef CUTLINE_CAPTURE_INJECT_NVTX_ABI_H
#define CUTLINE_CAPTURE_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Ids of export tables. */
enum nvtx_table {
    NVTX_TABLE_CALLBACKS = 1,
    NVTX_TABLE_VERSION = 3
};

/* Callback modules. */
enum nvtx_module {
    NVTX_MODULE_CORE = 1,
    NVTX_MODULE_CUDA = 2,
    NVTX_MODULE_CUDART = 4,
    NVTX_MODULE_CORE2 = 5
};

enum nvtx_core {
    NVTX_CORE_MARK_EX = 1,
    NVTX_CORE_MARK_A = 2,
    NVTX_CORE_MARK_W = 3,
    NVTX_CORE_RANGE_START_EX = 4,
    NVTX_CORE_RANGE_START_A = 5,
    NVTX_CORE_RANGE_START_W = 6,
    NVTX_CORE_RANGE_END = 7,
    NVTX_CORE_RANGE_PUSH_EX = 8,
    NVTX_CORE_RANGE_PUSH_A = 9,
    NVTX_CORE_RANGE_PUSH_W = 10,
    NVTX_CORE_RANGE_POP = 11,
    NVTX_CORE_NAME_CATEGORY_A = 12,
    NVTX_CORE_NAME_CATEGORY_W = 13,
    NVTX_CORE_NAME_OS_THREAD_A = 14,
    NVTX_CORE_NAME_OS_THREAD_W = 15
};

enum nvtx_core2 {
    NVTX_CORE2_DOMAIN_MARK_EX = 1,
    NVTX_CORE2_DOMAIN_RANGE_START_EX = 2,
    NVTX_CORE2_DOMAIN_RANGE_END = 3,
    NVTX_CORE2_DOMAIN_RANGE_PUSH_EX = 4,
    NVTX_CORE2_DOMAIN_RANGE_POP = 5,
    NVTX_CORE2_DOMAIN_RESOURCE_CREATE = 6,
    NVTX_CORE2_DOMAIN_RESOURCE_DESTROY = 7,
    NVTX_CORE2_DOMAIN_NAME_CATEGORY_A = 8,
    NVTX_CORE2_DOMAIN_NAME_CATEGORY_W = 9,
    NVTX_CORE2_DOMAIN_REGISTER_STRING_A = 10,
    NVTX_CORE2_DOMAIN_REGISTER_STRING_W = 11,
    NVTX_CORE2_DOMAIN_CREATE_A = 12,
    NVTX_CORE2_DOMAIN_CREATE_W = 13,
    NVTX_CORE2_DOMAIN_DESTROY = 14,
    NVTX_CORE2_INITIALIZE = 15
};

enum nvtx_cuda {
    NVTX_CUDA_NAME_CU_DEVICE_A = 1,
    NVTX_CUDA_NAME_CU_DEVICE_W = 2,
    NVTX_CUDA_NAME_CU_CONTEXT_A = 3,
    NVTX_CUDA_NAME_CU_CONTEXT_W = 4,
    NVTX_CUDA_NAME_CU_STREAM_A = 5,
    NVTX_CUDA_NAME_CU_STREAM_W = 6,
    NVTX_CUDA_NAME_CU_EVENT_A = 7,
    NVTX_CUDA_NAME_CU_EVENT_W = 8
};

enum nvtx_cudart {
    NVTX_CUDART_NAME_CUDA_DEVICE_A = 1,
    NVTX_CUDART_NAME_CUDA_DEVICE_W = 2,
    NVTX_CUDART_NAME_CUDA_STREAM_A = 3,
    NVTX_CUDART_NAME_CUDA_STREAM_W = 4,
    NVTX_CUDART_NAME_CUDA_EVENT_A = 5,
    NVTX_CUDART_NAME_CUDA_EVENT_W = 6
};

/* What the loader gives to the entry point. */
typedef const void *(*nvtx_get_table_fn)(uint32_t id);

/* A slot is a place of a function pointer; the functions have various types. */
typedef void (*nvtx_function)(void);

/* Export table 1. */
struct nvtx_callbacks {
    size_t struct_size;
    /* 1 and the slots of the module, 0 if the client does not have the module. */
    int (*get_module_functions)(int module, nvtx_function ***table, unsigned *size);
};

/* Export table 3. */
struct nvtx_version_info {
    size_t struct_size;
    uint32_t version;
    uint32_t reserved;
    void (*set_injection_version)(uint32_t version);
};

enum nvtx_message_type {
    NVTX_TEXT_UNKNOWN = 0,
    NVTX_TEXT_ASCII = 1,
    NVTX_TEXT_UNICODE = 2,
    NVTX_TEXT_REGISTERED = 3
};

#define NVTX_COLOR_KIND_ARGB 1
#define NVTX_PAYLOAD_KIND_EXT ((int32_t)0xDFBD0009)
#define NVTX_RESULT_NO_PUSH_POP (-2)

/* nvtxEventAttributes_t, version 2. */
struct nvtx_attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved0; /* with an extended payload: how many nvtx_payload_data */
    union {
        uint64_t bits;
        const void *pointer;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
};

/* nvtxResourceAttributes_t. */
struct nvtx_resource {
    uint16_t version;
    uint16_t size;
    int32_t identifier_type;
    union {
        const void *pointer;
        uint64_t value;
    } identifier;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
};

/* One element of an extended payload. */
struct nvtx_payload_data {
    uint64_t schema;
    size_t size; /* SIZE_MAX: the payload ends with a terminating zero */
    const void *payload;
};

/* nvtxPayloadSchemaAttr_t; bits of `fields` say what is set. */
struct nvtx_schema {
    uint64_t fields;
    const char *name;
    uint64_t type;
    uint64_t flags;
    const struct nvtx_schema_entry *entries;
    size_t count;
    size_t static_bytes;
    size_t align;
    uint64_t id;
    void *extension;
};

struct nvtx_schema_entry {
    uint64_t flags;
    uint64_t type;
    const char *name;
    const char *description;
    uint64_t array_or_union;
    uint64_t offset;
    const void *semantics;
    const void *reserved;
};

enum nvtx_schema_field {
    NVTX_SCHEMA_FIELD_NAME = 1 << 1,
    NVTX_SCHEMA_FIELD_TYPE = 1 << 2,
    NVTX_SCHEMA_FIELD_FLAGS = 1 << 3,
    NVTX_SCHEMA_FIELD_ENTRIES = 1 << 4,
    NVTX_SCHEMA_FIELD_COUNT = 1 << 5,
    NVTX_SCHEMA_FIELD_STATIC_BYTES = 1 << 6,
    NVTX_SCHEMA_FIELD_ALIGN = 1 << 7,
    NVTX_SCHEMA_FIELD_ID = 1 << 8
};

/* What the loader of an NVTX extension gives to InitializeInjectionNvtxExtension. */
struct nvtx_extension_segment {
    size_t id;
    size_t slots;
    intptr_t *functions;
};

struct nvtx_extension {
    uint16_t nvtx_version;
    uint16_t struct_size;
    uint16_t module;
    uint16_t compatibility;
    size_t segment_count;
    struct nvtx_extension_segment *segments;
    intptr_t (*get_export_function)(uint32_t id);
    const void *info;
};

#define NVTX_EXTENSION_PAYLOAD 2

/* Slots of the payload extension. */
enum nvtx_payload_slot {
    NVTX_PAYLOAD_SCHEMA_REGISTER = 0,
    NVTX_PAYLOAD_ENUM_REGISTER = 1,
    NVTX_PAYLOAD_MARK = 2,
    NVTX_PAYLOAD_RANGE_PUSH = 3,
    NVTX_PAYLOAD_RANGE_POP = 4,
    NVTX_PAYLOAD_RANGE_START = 5,
    NVTX_PAYLOAD_RANGE_END = 6,
    NVTX_PAYLOAD_DOMAIN_IS_ENABLED = 7,
    NVTX_PAYLOAD_EVENT_SUBMIT = 16,
    NVTX_PAYLOAD_EVENT_BATCH_SUBMIT = 17
};

#endif
