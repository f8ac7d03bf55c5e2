/*
 * The payload extension of NVTX. Ranges and marks with extended payloads are events like others,
 * with the raw bytes of the first payload (bounded); schemas are written to META as text:
 *
 *   name NEWLINE, then for each entry: flags SPACE type SPACE array-or-union SPACE offset SPACE
 * name NEWLINE   (numbers in hex)
 *
 * nvtxDomainIsEnabled answers yes: clients that ask it would otherwise record nothing. Deferred and
 * batched events and other extensions are counted, not recorded.
 */
#include <stdio.h>
#include <string.h>

#include "capture/inject/inject.h"

#define SCHEMA_TEXT_MAX 3000
#define ENTRIES_MAX 256

/* The numbers that NVTX leaves to the tool begin here; below are those that programs choose. */
#define DYNAMIC_IDS (UINT64_C(1) << 32)

static int emit(uint8_t type, const void *domain, const struct nvtx_payload_data *payloads,
                size_t count, uint64_t range)
{
    struct nvtx_event event = {.type = type,
                               .domain = nvtx_domain_of(domain),
                               .range = range,
                               .payloads = payloads,
                               .payload_count = count};
    if (inject.nvtx.trigger && (type == SPOOL_NVTX_PUSH || type == SPOOL_NVTX_START)) {
        nvtx_range_begin(&event);
    }
    int level = nvtx_emit(&event);
    if (inject.nvtx.trigger && (type == SPOOL_NVTX_POP || type == SPOOL_NVTX_END)) {
        nvtx_range_end(&event);
    }
    return level;
}

/* Describes SCHEMA in OUT; returns the bytes used. */
static size_t describe(char *out, size_t size, const struct nvtx_schema *schema)
{
    bool named = (schema->fields & NVTX_SCHEMA_FIELD_NAME) != 0 && schema->name != NULL;
    int used = snprintf(out, size, "%.200s\n", named ? schema->name : "");
    size_t at = used > 0 ? (size_t)used : 0;
    bool listed = (schema->fields & NVTX_SCHEMA_FIELD_ENTRIES) != 0 &&
                  (schema->fields & NVTX_SCHEMA_FIELD_COUNT) != 0 && schema->entries != NULL;
    size_t count = listed ? schema->count : 0;
    for (size_t i = 0; i < count && i < ENTRIES_MAX; i++) {
        const struct nvtx_schema_entry *entry = &schema->entries[i];
        used = snprintf(out + at, size - at, "%llx %llx %llx %llx %.200s\n",
                        (unsigned long long)entry->flags, (unsigned long long)entry->type,
                        (unsigned long long)entry->array_or_union,
                        (unsigned long long)entry->offset, entry->name == NULL ? "" : entry->name);
        if (used < 0 || (size_t)used >= size - at) {
            break;
        }
        at += (size_t)used;
    }
    out[at] = '\0';
    return at;
}

/* The id that a program chose, or a new one. */
static uint64_t schema_id(uint64_t fields, uint64_t field, uint64_t given)
{
    if ((fields & field) != 0 && given != 0) {
        return given;
    }
    return DYNAMIC_IDS + atomic_fetch_add(&inject.nvtx.schemas, 1) + 1;
}

static uint64_t schema_register(const void *domain, const struct nvtx_schema *schema)
{
    char text[SCHEMA_TEXT_MAX];
    if (schema == NULL || !nvtx_enter()) {
        return 0;
    }
    struct spool_meta head = {.kind = SPOOL_META_SCHEMA,
                              .domain = nvtx_domain_of(domain)->head.domain};
    head.value[0] = schema_id(schema->fields, NVTX_SCHEMA_FIELD_ID, schema->id);
    head.value[1] =
        (schema->fields & NVTX_SCHEMA_FIELD_STATIC_BYTES) != 0 ? schema->static_bytes : 0;
    (void)describe(text, sizeof(text), schema);
    (void)nvtx_note_add(&head, text);
    nvtx_leave();
    return head.value[0];
}

/* Enumerations are not kept; their numbers are, in the payloads. */
static uint64_t enum_register(const void *domain, const void *attributes)
{
    (void)domain;
    (void)attributes;
    return DYNAMIC_IDS + atomic_fetch_add(&inject.nvtx.schemas, 1) + 1;
}

static void mark_payload(const void *domain, const struct nvtx_payload_data *payloads, size_t count)
{
    (void)emit(SPOOL_NVTX_MARK, domain, payloads, count, 0);
}

static int push_payload(const void *domain, const struct nvtx_payload_data *payloads, size_t count)
{
    return emit(SPOOL_NVTX_PUSH, domain, payloads, count, 0);
}

static int pop_payload(const void *domain, const struct nvtx_payload_data *payloads, size_t count)
{
    return emit(SPOOL_NVTX_POP, domain, payloads, count, 0);
}

static uint64_t start_payload(const void *domain, const struct nvtx_payload_data *payloads,
                              size_t count)
{
    uint64_t range = nvtx_range_id();
    (void)emit(SPOOL_NVTX_START, domain, payloads, count, range);
    return range;
}

static void end_payload(const void *domain, uint64_t range,
                        const struct nvtx_payload_data *payloads, size_t count)
{
    if (range != 0) {
        (void)emit(SPOOL_NVTX_END, domain, payloads, count, range);
    }
}

static uint8_t domain_is_enabled(const void *domain)
{
    (void)domain;
    return 1;
}

static void not_recorded(void)
{
    struct spool_writer *writer = inject_spool_now();
    if (writer != NULL) {
        spool_writer_loss(writer, SPOOL_LOSS_NVTX_EXTENSION, SPOOL_LOSS_OF_NVTX, 1);
    }
}

static void event_submit(const void *domain, const void *payloads, size_t count)
{
    (void)domain;
    (void)payloads;
    (void)count;
    not_recorded();
}

static void batch_submit(const void *domain, const void *batch)
{
    (void)domain;
    (void)batch;
    not_recorded();
}

#define SLOT(id, function) [id] = (nvtx_function)(function)

static nvtx_function const payload_functions[] = {
    SLOT(NVTX_PAYLOAD_SCHEMA_REGISTER, schema_register),
    SLOT(NVTX_PAYLOAD_ENUM_REGISTER, enum_register),
    SLOT(NVTX_PAYLOAD_MARK, mark_payload),
    SLOT(NVTX_PAYLOAD_RANGE_PUSH, push_payload),
    SLOT(NVTX_PAYLOAD_RANGE_POP, pop_payload),
    SLOT(NVTX_PAYLOAD_RANGE_START, start_payload),
    SLOT(NVTX_PAYLOAD_RANGE_END, end_payload),
    SLOT(NVTX_PAYLOAD_DOMAIN_IS_ENABLED, domain_is_enabled),
    SLOT(NVTX_PAYLOAD_EVENT_SUBMIT, event_submit),
    SLOT(NVTX_PAYLOAD_EVENT_BATCH_SUBMIT, batch_submit),
};

int nvtx_extension_attach(struct nvtx_extension *extension)
{
    if (extension == NULL || extension->struct_size < sizeof(*extension) ||
        extension->module != NVTX_EXTENSION_PAYLOAD || extension->segment_count < 1 ||
        extension->segments == NULL || extension->segments[0].functions == NULL) {
        return 1;
    }
    struct nvtx_extension_segment *segment = &extension->segments[0];
    size_t count = sizeof(payload_functions) / sizeof(payload_functions[0]);
    for (size_t i = 0; i < count && i < segment->slots; i++) {
        if (payload_functions[i] != NULL) {
            segment->functions[i] = (intptr_t)payload_functions[i];
        }
    }
    return 1;
}
