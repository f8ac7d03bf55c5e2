/*
 * NVTX names: domains, registered strings, categories, threads, CUDA objects.
 *
 * Each is a META record of the spool, and is kept in memory as a note, because a forked child
 * begins a spool of its own and needs it again. Handles that the program gets are pointers to
 * notes; nothing is ever freed. The list of notes grows at its end by one store, so a child forked
 * at any moment finds it whole. Registering takes inject.lock; it is not the hot path.
 *
 * Registered strings are in no list: there may be very many, and a child uses few of its parent's.
 * Each is written when the first event with it is, once in each spool.
 */
#include <string.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define DOMAINS_MAX 65535
#define LOOSE_NOTES_MAX 65536

size_t nvtx_wide_bytes(const wchar_t *text, size_t limit)
{
    size_t bytes = 0;
    for (; *text != L'\0' && bytes < limit; text++) {
        uint32_t c = (uint32_t)*text;
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return bytes < limit ? bytes : limit;
}

/* UTF-8 of one code point (RFC 3629); what is none becomes U+FFFD. */
static size_t encode(uint32_t c, uint8_t *to)
{
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (uint8_t)(0xC0U | c >> 6);
        to[1] = (uint8_t)(0x80U | (c & 0x3FU));
        return 2;
    }
    if (c < 0x10000) {
        c = c >= 0xD800 && c < 0xE000 ? 0xFFFD : c;
        to[0] = (uint8_t)(0xE0U | c >> 12);
        to[1] = (uint8_t)(0x80U | (c >> 6 & 0x3FU));
        to[2] = (uint8_t)(0x80U | (c & 0x3FU));
        return 3;
    }
    c = c > 0x10FFFF ? 0x10FFFF : c;
    to[0] = (uint8_t)(0xF0U | c >> 18);
    to[1] = (uint8_t)(0x80U | (c >> 12 & 0x3FU));
    to[2] = (uint8_t)(0x80U | (c >> 6 & 0x3FU));
    to[3] = (uint8_t)(0x80U | (c & 0x3FU));
    return 4;
}

void nvtx_wide_put(uint8_t *to, size_t bytes, const wchar_t *text)
{
    size_t done = 0;
    for (; *text != L'\0' && done < bytes; text++) {
        uint8_t one[4];
        size_t length = encode((uint32_t)*text, one);
        if (length > bytes - done) {
            break;
        }
        memcpy(to + done, one, length);
        done += length;
    }
    /* A text that was cut may leave a few bytes: no part of a character goes there. */
    memset(to + done, ' ', bytes - done);
}

/* A text given by the program: ASCII (in fact UTF-8) or wide. */
struct text {
    const char *ascii;
    const wchar_t *wide;
};

static size_t text_bytes(const struct text *text)
{
    if (text->wide != NULL) {
        return nvtx_wide_bytes(text->wide, SPOOL_TEXT_MAX);
    }
    return text->ascii == NULL ? 0 : strnlen(text->ascii, SPOOL_TEXT_MAX);
}

static void text_put(char *to, size_t bytes, const struct text *text)
{
    if (text->wide != NULL) {
        nvtx_wide_put((uint8_t *)to, bytes, text->wide);
    } else if (bytes > 0) {
        memcpy(to, text->ascii, bytes);
    }
}

static bool same_text(const struct nvtx_note *note, const char *text, size_t bytes)
{
    return note->text_bytes == bytes && (bytes == 0 || memcmp(note->text, text, bytes) == 0);
}

/* True if TEXT goes on behind its first SPOOL_TEXT_MAX bytes. */
static bool is_cut(const struct text *text)
{
    if (text->wide != NULL) {
        return nvtx_wide_bytes(text->wide, SPOOL_TEXT_MAX + 1) > SPOOL_TEXT_MAX;
    }
    return text->ascii != NULL && strnlen(text->ascii, SPOOL_TEXT_MAX + 1) > SPOOL_TEXT_MAX;
}

/* Makes a note that is in no list yet. With inject.lock held. */
static struct nvtx_note *make_note(const struct spool_meta *head, const struct text *text)
{
    size_t bytes = text_bytes(text);
    struct nvtx_note *note = inject_alloc(sizeof(*note) + bytes);
    if (note != NULL) {
        note->head = *head;
        note->made = inject.spool_serial;
        note->text_bytes = (uint32_t)bytes;
        note->text = (char *)(note + 1);
        note->wanted = true;
        note->is_cut = is_cut(text);
        text_put(note->text, bytes, text);
    }
    return note;
}

static void write_note(struct spool_writer *writer, const struct nvtx_note *note)
{
    spool_writer_meta(writer, &note->head, note->text, note->text_bytes);
}

/* Enters NOTE: into the spool, if there is one, and the list for those to come. With inject.lock
 * held. */
static void enter_note(struct nvtx_note *note)
{
    struct nvtx_state *nvtx = &inject.nvtx;
    struct spool_writer *writer = inject_spool_now();
    if (writer != NULL) {
        write_note(writer, note);
    }
    struct nvtx_note *last = nvtx->last_note;
    struct nvtx_note *next = last == NULL ? atomic_load(&nvtx->notes) : atomic_load(&last->next);
    for (; next != NULL; next = atomic_load(&next->next)) {
        last = next; /* a child that was forked between the two stores below */
    }
    atomic_store_explicit(last == NULL ? &nvtx->notes : &last->next, note, memory_order_release);
    nvtx->last_note = note;
}

/* Names that a parent gave to its own threads and CUDA objects mean nothing here. */
static bool is_inherited_name(const struct nvtx_note *note)
{
    return note->made != inject.spool_serial &&
           (note->head.kind == SPOOL_META_THREAD || note->head.kind == SPOOL_META_RESOURCE);
}

void nvtx_emit_notes(struct spool_writer *writer)
{
    struct nvtx_note *note = atomic_load_explicit(&inject.nvtx.notes, memory_order_acquire);
    for (; note != NULL; note = atomic_load(&note->next)) {
        if (!is_inherited_name(note)) {
            write_note(writer, note);
        }
    }
}

void nvtx_string_write(const struct nvtx_note *note)
{
    struct nvtx_note *entry =
        (struct nvtx_note *)(uintptr_t)note; /* NOLINT: the program's handle */
    struct spool_writer *writer = inject_spool_now();
    if (atomic_load_explicit(&entry->written, memory_order_relaxed) != inject.spool_serial &&
        writer != NULL) {
        atomic_store_explicit(&entry->written, inject.spool_serial, memory_order_relaxed);
        write_note(writer, note);
    }
}

/* A name without a handle: noted as long as there are not too many; the rest is counted. */
static const struct nvtx_note *add_note(const struct spool_meta *head, const struct text *text)
{
    (void)pthread_mutex_lock(&inject.lock);
    struct nvtx_note *note = NULL;
    if (inject.nvtx.loose_notes < LOOSE_NOTES_MAX) {
        inject.nvtx.loose_notes++;
        note = make_note(head, text);
    }
    if (note != NULL) {
        enter_note(note);
    } else if (inject_spool_now() != NULL) {
        spool_writer_loss(&inject.writer, SPOOL_LOSS_META_FULL, SPOOL_LOSS_OF_NAMES, 1);
    }
    (void)pthread_mutex_unlock(&inject.lock);
    return note;
}

const struct nvtx_note *nvtx_note_add(const struct spool_meta *head, const char *text)
{
    struct text given = {text, NULL};
    return add_note(head, &given);
}

const struct nvtx_note *nvtx_domain_of(const void *handle)
{
    return handle == NULL ? &inject.nvtx.default_domain : handle;
}

/* What the lists of --nvtx-domain-include and -exclude say about a domain. */
static bool domain_wanted(const char *name, size_t bytes)
{
    const struct session_config *config = &inject.config;
    if (config->domains_mode == SESSION_DOMAINS_ALL) {
        return true;
    }
    bool listed = false;
    for (uint32_t i = 0; i < config->domains_count; i++) {
        listed = listed || (strlen(config->domains[i]) == bytes &&
                            memcmp(config->domains[i], name, bytes) == 0);
    }
    return listed == (config->domains_mode == SESSION_DOMAINS_INCLUDE);
}

void nvtx_names_init(void)
{
    static const char name[] = "default";
    inject.nvtx.default_domain.wanted = domain_wanted(name, sizeof(name) - 1);
}

/* The domain of that name, the same object for every client library in the process. */
static struct nvtx_note *find_domain(const char *name, size_t bytes)
{
    struct nvtx_note *note = atomic_load(&inject.nvtx.notes);
    for (; note != NULL; note = atomic_load(&note->next)) {
        if (note->head.kind == SPOOL_META_DOMAIN && same_text(note, name, bytes)) {
            return note;
        }
    }
    return NULL;
}

static struct nvtx_note *make_domain(const struct text *text)
{
    struct spool_meta head = {.kind = SPOOL_META_DOMAIN};
    struct nvtx_note *note = make_note(&head, text);
    if (note == NULL) {
        return NULL;
    }
    struct nvtx_note *known = find_domain(note->text, note->text_bytes);
    if (known != NULL) {
        return known;
    }
    note->wanted = domain_wanted(note->text, note->text_bytes);
    if (inject.nvtx.domains < DOMAINS_MAX) {
        note->head.domain = ++inject.nvtx.domains;
        enter_note(note);
    } else if (inject_spool_now() != NULL) {
        /* Recorded as the default domain. */
        spool_writer_loss(&inject.writer, SPOOL_LOSS_NVTX_DOMAINS, SPOOL_LOSS_OF_NVTX, 1);
    }
    return note;
}

static const void *create_domain(const struct text *text)
{
    const struct nvtx_note *note = NULL;
    if (nvtx_enter()) {
        (void)pthread_mutex_lock(&inject.lock);
        note = make_domain(text);
        (void)pthread_mutex_unlock(&inject.lock);
        nvtx_leave();
    }
    return note;
}

static const void *register_string(const struct nvtx_note *domain, const struct text *text)
{
    struct nvtx_note *note = NULL;
    if (nvtx_enter()) {
        struct spool_meta head = {.kind = SPOOL_META_STRING, .domain = domain->head.domain};
        head.value[0] = atomic_fetch_add(&inject.nvtx.strings, 1) + 1;
        (void)pthread_mutex_lock(&inject.lock);
        note = make_note(&head, text);
        (void)pthread_mutex_unlock(&inject.lock);
        nvtx_leave();
    }
    return note;
}

/* Notes a name without a handle. */
static void name_it(const struct spool_meta *head, const struct text *text)
{
    if (nvtx_enter()) {
        (void)add_note(head, text);
        nvtx_leave();
    }
}

static void name_category(const struct nvtx_note *domain, uint32_t category,
                          const struct text *text)
{
    struct spool_meta head = {.kind = SPOOL_META_CATEGORY, .domain = domain->head.domain};
    head.value[0] = category;
    name_it(&head, text);
}

static void name_thread(uint32_t tid, const struct text *text)
{
    struct spool_meta head = {.kind = SPOOL_META_THREAD};
    head.value[0] = tid;
    name_it(&head, text);
}

/* What CUPTI calls the object, so that its rows can be found; UINT64_MAX where it cannot be asked.
 */
static void ask_cupti(enum spool_resource kind, uint64_t handle, uint64_t ids[2])
{
    struct cupti_state *cupti = &inject.cupti;
    uint32_t id = 0;
    void *object = (void *)(uintptr_t)handle; /* NOLINT: a handle is a pointer */
    ids[0] = UINT64_MAX;
    ids[1] = UINT64_MAX;
    if (!atomic_load(&cupti->active) || atomic_load(&cupti->forked)) {
        return;
    }
    if (kind == SPOOL_RESOURCE_CU_CONTEXT && cupti->call.get_context_id != NULL) {
        if (cupti->call.get_context_id(object, &id) == 0) {
            ids[0] = id;
        }
        return;
    }
    if (kind != SPOOL_RESOURCE_CU_STREAM && kind != SPOOL_RESOURCE_CUDA_STREAM) {
        return;
    }
    void *context = NULL;
    int (*get_current)(void **) = NULL;
    void *symbol = cupti_driver_symbol("cuCtxGetCurrent");
    memcpy(&get_current, &symbol, sizeof(get_current));
    if (get_current == NULL || get_current(&context) != 0 || context == NULL) {
        return;
    }
    if (cupti->call.get_stream_id != NULL &&
        cupti->call.get_stream_id(context, object, 0, &id) == 0) {
        ids[0] = id;
    }
    if (cupti->call.get_context_id != NULL && cupti->call.get_context_id(context, &id) == 0) {
        ids[1] = id;
    }
}

static void name_object(enum spool_resource kind, uint64_t handle, const struct text *text)
{
    struct spool_meta head = {.kind = SPOOL_META_RESOURCE, .code = (uint16_t)kind};
    uint64_t ids[2];
    ask_cupti(kind, handle, ids);
    head.value[0] = handle;
    head.value[1] = ids[0];
    head.value[2] = ids[1];
    name_it(&head, text);
}

/* The functions of the interface, in an ASCII and a wide form each. */
static void core_category_a(uint32_t category, const char *given)
{
    struct text text = {given, NULL};
    name_category(&inject.nvtx.default_domain, category, &text);
}

static void core_category_w(uint32_t category, const wchar_t *given)
{
    struct text text = {NULL, given};
    name_category(&inject.nvtx.default_domain, category, &text);
}

static void core_thread_a(uint32_t tid, const char *given)
{
    struct text text = {given, NULL};
    name_thread(tid, &text);
}

static void core_thread_w(uint32_t tid, const wchar_t *given)
{
    struct text text = {NULL, given};
    name_thread(tid, &text);
}

static void core2_category_a(const void *domain, uint32_t category, const char *given)
{
    struct text text = {given, NULL};
    name_category(nvtx_domain_of(domain), category, &text);
}

static void core2_category_w(const void *domain, uint32_t category, const wchar_t *given)
{
    struct text text = {NULL, given};
    name_category(nvtx_domain_of(domain), category, &text);
}

static const void *core2_string_a(const void *domain, const char *given)
{
    struct text text = {given, NULL};
    return register_string(nvtx_domain_of(domain), &text);
}

static const void *core2_string_w(const void *domain, const wchar_t *given)
{
    struct text text = {NULL, given};
    return register_string(nvtx_domain_of(domain), &text);
}

static const void *core2_domain_a(const char *given)
{
    struct text text = {given, NULL};
    return create_domain(&text);
}

static const void *core2_domain_w(const wchar_t *given)
{
    struct text text = {NULL, given};
    return create_domain(&text);
}

/* Handles stay valid: another client library may hold the same domain. */
static void core2_domain_destroy(const void *domain)
{
    (void)domain;
}

static const void *core2_resource_create(const void *domain, const struct nvtx_resource *resource)
{
    if (resource == NULL || resource->size < sizeof(*resource)) {
        return NULL;
    }
    struct text text = {NULL, NULL};
    if (resource->message_type == NVTX_TEXT_ASCII) {
        text.ascii = resource->message.ascii;
    } else if (resource->message_type == NVTX_TEXT_UNICODE) {
        text.wide = resource->message.unicode;
    }
    struct spool_meta head = {.kind = SPOOL_META_RESOURCE, .code = SPOOL_RESOURCE_GENERIC};
    head.domain = nvtx_domain_of(domain)->head.domain;
    head.value[0] = resource->identifier.value;
    head.value[1] = (uint32_t)resource->identifier_type;
    if (resource->message_type == NVTX_TEXT_REGISTERED && resource->message.registered != NULL) {
        const struct nvtx_note *string = resource->message.registered;
        head.value[2] = string->head.value[0];
    }
    const struct nvtx_note *note = NULL;
    if (nvtx_enter()) {
        note = add_note(&head, &text);
        nvtx_leave();
    }
    return note;
}

static void core2_resource_destroy(const void *resource)
{
    (void)resource;
}

/* Names of CUDA objects: the same two lines for each kind, once for ordinals and once for handles.
 */
#define NAME_ORDINAL(function, kind) \
    static void function##_a(int ordinal, const char *given) \
    { \
        struct text text = {given, NULL}; \
        name_object(kind, (uint64_t)(uint32_t)ordinal, &text); \
    } \
    static void function##_w(int ordinal, const wchar_t *given) \
    { \
        struct text text = {NULL, given}; \
        name_object(kind, (uint64_t)(uint32_t)ordinal, &text); \
    }
#define NAME_HANDLE(function, kind) \
    static void function##_a(const void *handle, const char *given) \
    { \
        struct text text = {given, NULL}; \
        name_object(kind, (uint64_t)(uintptr_t)handle, &text); \
    } \
    static void function##_w(const void *handle, const wchar_t *given) \
    { \
        struct text text = {NULL, given}; \
        name_object(kind, (uint64_t)(uintptr_t)handle, &text); \
    }

NAME_ORDINAL(cu_device, SPOOL_RESOURCE_CU_DEVICE)
NAME_HANDLE(cu_context, SPOOL_RESOURCE_CU_CONTEXT)
NAME_HANDLE(cu_stream, SPOOL_RESOURCE_CU_STREAM)
NAME_HANDLE(cu_event, SPOOL_RESOURCE_CU_EVENT)
NAME_ORDINAL(cuda_device, SPOOL_RESOURCE_CUDA_DEVICE)
NAME_HANDLE(cuda_stream, SPOOL_RESOURCE_CUDA_STREAM)
NAME_HANDLE(cuda_event, SPOOL_RESOURCE_CUDA_EVENT)

#define SLOT(id, function) [id] = (nvtx_function)(function)

nvtx_function const nvtx_core_names[NVTX_CORE_NAME_OS_THREAD_W + 1] = {
    SLOT(NVTX_CORE_NAME_CATEGORY_A, core_category_a),
    SLOT(NVTX_CORE_NAME_CATEGORY_W, core_category_w),
    SLOT(NVTX_CORE_NAME_OS_THREAD_A, core_thread_a),
    SLOT(NVTX_CORE_NAME_OS_THREAD_W, core_thread_w),
};

nvtx_function const nvtx_core2_names[NVTX_CORE2_INITIALIZE + 1] = {
    SLOT(NVTX_CORE2_DOMAIN_RESOURCE_CREATE, core2_resource_create),
    SLOT(NVTX_CORE2_DOMAIN_RESOURCE_DESTROY, core2_resource_destroy),
    SLOT(NVTX_CORE2_DOMAIN_NAME_CATEGORY_A, core2_category_a),
    SLOT(NVTX_CORE2_DOMAIN_NAME_CATEGORY_W, core2_category_w),
    SLOT(NVTX_CORE2_DOMAIN_REGISTER_STRING_A, core2_string_a),
    SLOT(NVTX_CORE2_DOMAIN_REGISTER_STRING_W, core2_string_w),
    SLOT(NVTX_CORE2_DOMAIN_CREATE_A, core2_domain_a),
    SLOT(NVTX_CORE2_DOMAIN_CREATE_W, core2_domain_w),
    SLOT(NVTX_CORE2_DOMAIN_DESTROY, core2_domain_destroy),
};

nvtx_function const nvtx_cuda_names[NVTX_CUDA_NAME_CU_EVENT_W + 1] = {
    SLOT(NVTX_CUDA_NAME_CU_DEVICE_A, cu_device_a),
    SLOT(NVTX_CUDA_NAME_CU_DEVICE_W, cu_device_w),
    SLOT(NVTX_CUDA_NAME_CU_CONTEXT_A, cu_context_a),
    SLOT(NVTX_CUDA_NAME_CU_CONTEXT_W, cu_context_w),
    SLOT(NVTX_CUDA_NAME_CU_STREAM_A, cu_stream_a),
    SLOT(NVTX_CUDA_NAME_CU_STREAM_W, cu_stream_w),
    SLOT(NVTX_CUDA_NAME_CU_EVENT_A, cu_event_a),
    SLOT(NVTX_CUDA_NAME_CU_EVENT_W, cu_event_w),
};

nvtx_function const nvtx_cudart_names[NVTX_CUDART_NAME_CUDA_EVENT_W + 1] = {
    SLOT(NVTX_CUDART_NAME_CUDA_DEVICE_A, cuda_device_a),
    SLOT(NVTX_CUDART_NAME_CUDA_DEVICE_W, cuda_device_w),
    SLOT(NVTX_CUDART_NAME_CUDA_STREAM_A, cuda_stream_a),
    SLOT(NVTX_CUDART_NAME_CUDA_STREAM_W, cuda_stream_w),
    SLOT(NVTX_CUDART_NAME_CUDA_EVENT_A, cuda_event_a),
    SLOT(NVTX_CUDART_NAME_CUDA_EVENT_W, cuda_event_w),
};
