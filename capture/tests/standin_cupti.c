/* A stand-in for libcupti (standin_cupti.h). Built twice: as a CUPTI 13, and, with STANDIN_OLD, as
 * one that lacks what came later than 12.1. */
#include "capture/tests/standin_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/spool/cupti_abi.h"

#define KINDS 64
#define FILTER_IDS 1024
#define BUFFERS 4096
#define CALLBACKS 1024

struct layout {
    const char *name;
    uint32_t version;
    uint16_t sizes[KINDS];
};

#define COMMON \
    [CUPTI_KIND_RUNTIME] = 40, [CUPTI_KIND_DRIVER] = 40, [CUPTI_KIND_STREAM] = 24, \
    [CUPTI_KIND_NAME] = 32, [CUPTI_KIND_MODULE] = 24, [CUPTI_KIND_FUNCTION] = 32, \
    [CUPTI_KIND_EXTERNAL_CORRELATION] = 24, [CUPTI_KIND_DEVICE_ATTRIBUTE] = 24

/* Sizes as published for these CUDA versions: CUPTI documentation and headers. */
static const struct layout layouts[] = {
    {"11.4",
     14,
     {COMMON, [1] = 80, [2] = 80, [3] = 168, [8] = 144, [9] = 16, [10] = 168, [17] = 40, [22] = 88,
      [36] = 24, [38] = 40, [49] = 112, [50] = 64}},
    {"11.6",
     16,
     {COMMON, [1] = 88, [2] = 88, [3] = 176, [8] = 176, [9] = 16, [10] = 176, [17] = 40, [22] = 96,
      [36] = 24, [38] = 40, [49] = 120, [50] = 72}},
    {"12.1",
     18,
     {COMMON, [1] = 88, [2] = 88, [3] = 208, [8] = 176, [9] = 16, [10] = 208, [17] = 40, [22] = 96,
      [36] = 24, [25] = 64, [38] = 40, [49] = 120, [50] = 72, [51] = 48, [52] = 64}},
    {"12.6",
     24,
     {COMMON, [1] = 88, [2] = 88, [3] = 208, [8] = 184, [9] = 32, [10] = 208, [17] = 56, [22] = 96,
      [36] = 24, [38] = 40, [49] = 128, [50] = 72, [51] = 56, [52] = 72}},
    {"13.0",
     130001,
     {COMMON, [1] = 96, [2] = 88, [3] = 216, [8] = 184, [9] = 32, [10] = 216, [17] = 56, [22] = 96,
      [25] = 104, [36] = 56, [38] = 56, [49] = 128, [50] = 80, [51] = 56, [52] = 72, [53] = 56,
      [54] = 64}},
    {"13.4",
     130400,
     {COMMON, [1] = 112, [2] = 104, [3] = 248, [8] = 192, [9] = 40, [10] = 248, [17] = 56,
      [22] = 96, [25] = 104, [36] = 56, [38] = 56, [49] = 128, [50] = 80, [51] = 56, [52] = 72,
      [53] = 56, [54] = 64}},
};

/* A buffer that a client gave. */
struct buffer {
    uint8_t *bytes;
    size_t size;
    size_t used;
};

struct callbacks {
    cupti_request_fn request;
    cupti_complete_fn complete;
};
static struct callbacks shown;

static struct {
    pthread_mutex_t lock;
    const struct layout *layout;
    int subscribe, register_result, enable, enable_kind, flush, per_thread, hang, keep;
    cupti_callback_fn callback;
    struct callbacks *now; /* in the data of the library, as CUPTI has them, or not (hidden=1) */
    uint64_t enabled;
    uint8_t enabled_callbacks[8][CALLBACKS];
    uint8_t filtered[FILTER_IDS];
    uint32_t counters[2]; /* of unified memory, by device */
    bool device_graphs, event_times;
    size_t attributes[10];
    _Atomic size_t dropped;
    _Atomic int flushes[2];
    struct buffer *buffers[BUFFERS];
    int buffer_count;
    struct buffer shared;
} it = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct buffer *own; /* never freed: it is in the list of all */
static int subscriber_object;

static int setting(const char *key, int fallback)
{
    const char *all = getenv("STANDIN_CUPTI");
    size_t length = strlen(key);
    for (const char *at = all; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            return (int)strtol(at + length + 1, NULL, 10);
        }
    }
    return fallback;
}

static void choose_layout(void)
{
    const char *all = getenv("STANDIN_CUPTI");
    const char *name = all == NULL ? NULL : strstr(all, "layout=");
    it.layout = &layouts[4];
    for (size_t i = 0; name != NULL && i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (strncmp(name + 7, layouts[i].name, strlen(layouts[i].name)) == 0) {
            it.layout = &layouts[i];
        }
    }
}

static void __attribute__((constructor)) begin(void)
{
    choose_layout();
    it.subscribe = setting("subscribe", 0);
#ifndef STANDIN_OLD
    it.subscribe = setting("too_new", 0) != 0 ? 15 : it.subscribe;
#endif
    it.register_result = setting("register", 0);
    it.enable = setting("enable", 0);
    it.enable_kind = setting("enable_kind", 0);
    it.flush = setting("flush", 0);
    it.per_thread = setting("per_thread", 0);
    it.hang = setting("hang", 0);
    it.keep = setting("keep", 0);
    it.now = setting("hidden", 0) != 0 ? calloc(1, sizeof(*it.now)) : &shown;
}

/* The functions of CUPTI. Their declarations: */
#define DECLARE(member, symbol, parameters) int symbol parameters;
CUPTI_FUNCTIONS(DECLARE)
#undef DECLARE

int cuptiGetVersion(uint32_t *version)
{
    *version = it.layout->version;
    return 0;
}

int cuptiGetTimestamp(uint64_t *now_ns)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *now_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    return 0;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn callback, void *user)
{
    (void)user;
    if (it.subscribe != 0) {
        return it.subscribe;
    }
    it.callback = callback;
    *subscriber = &subscriber_object;
    return 0;
}

int cuptiUnsubscribe(void *subscriber)
{
    (void)subscriber;
    it.callback = NULL;
    return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
    if (subscriber != &subscriber_object || domain < 1 || domain > 7 || cbid >= CALLBACKS) {
        return CUPTI_RESULT_INVALID_PARAMETER;
    }
    it.enabled_callbacks[domain][cbid] = (uint8_t)enable;
    return 0;
}

int cuptiSetThreadIdType(int type)
{
    return type == CUPTI_THREAD_ID_SYSTEM ? 0 : CUPTI_RESULT_INVALID_PARAMETER;
}

int cuptiActivityGetAttribute(int attribute, size_t *size, void *value)
{
    if (attribute != CUPTI_ATTRIBUTE_PER_THREAD_BUFFER || it.layout->version < 22) {
        return CUPTI_RESULT_INVALID_PARAMETER;
    }
    *(uint8_t *)value = (uint8_t)it.per_thread;
    *size = 1;
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as CUPTI has it */
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    if (attribute == CUPTI_ATTRIBUTE_ZEROED_OUT_BUFFER && *size == 1) {
        return 0;
    }
    bool known = attribute == CUPTI_ATTRIBUTE_DEVICE_BUFFER_SIZE ||
                 attribute == CUPTI_ATTRIBUTE_DEVICE_BUFFER_POOL_LIMIT;
    if (!known || *size != sizeof(it.attributes[0])) {
        return CUPTI_RESULT_INVALID_PARAMETER;
    }
    memcpy(&it.attributes[attribute], value, *size);
    return 0;
}

/* Once cuInit is over; per device. The copy between devices came with 11.4 or later. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as CUPTI has it */
int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_um_config *config, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (config[i].scope != 1 || config[i].device >= 2 || config[i].kind == 0 ||
            config[i].kind > 8 || (config[i].kind == 8 && it.layout->version < 18)) {
            return CUPTI_RESULT_INVALID_PARAMETER;
        }
        it.counters[config[i].device] |= config[i].enable << config[i].kind;
    }
    return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn request, cupti_complete_fn complete)
{
    *it.now = (struct callbacks){request, complete};
    return it.register_result;
}

int cuptiActivityEnable(int kind)
{
    if (it.enable != 0 && (it.enable_kind == 0 || it.enable_kind == kind)) {
        return it.enable;
    }
    if (kind < 1 || kind >= KINDS || it.layout->sizes[kind] == 0) {
        return CUPTI_RESULT_INVALID_KIND;
    }
    it.enabled |= UINT64_C(1) << kind;
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
    uint8_t *at = *record == NULL ? buffer : *record;
    for (int skip = *record == NULL ? 0 : 1; skip >= 0; skip--) {
        uint32_t kind = 0;
        size_t left = valid - (size_t)(at - buffer);
        if (left < 8) {
            return CUPTI_RESULT_MAX_LIMIT_REACHED;
        }
        memcpy(&kind, at, sizeof(kind));
        if (kind == 0 || kind >= KINDS || it.layout->sizes[kind] == 0) {
            return CUPTI_RESULT_INVALID_KIND;
        }
        if (it.layout->sizes[kind] > left) {
            return CUPTI_RESULT_MAX_LIMIT_REACHED;
        }
        at += skip == 1 ? it.layout->sizes[kind] : 0;
    }
    *record = at;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = atomic_exchange(&it.dropped, 0);
    return 0;
}

int cuptiGetContextId(void *context, uint32_t *id)
{
    *id = context == NULL ? 0 : 1;
    return context == NULL ? CUPTI_RESULT_INVALID_PARAMETER : 0;
}

int cuptiGetDeviceId(void *context, uint32_t *id)
{
    *id = 0;
    return context == NULL ? CUPTI_RESULT_INVALID_PARAMETER : 0;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)per_thread;
    *id = (uint32_t)(uintptr_t)stream & 0xffU;
    return 0;
}

/* Ids of graphs and of executable ones come from one row of numbers. What a handle points to is its
 * id. */
int cuptiGetGraphId(void *graph, uint32_t *id)
{
    *id = graph == NULL ? 0 : *(const uint32_t *)graph;
    return graph == NULL ? CUPTI_RESULT_INVALID_PARAMETER : 0;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    *id = node == NULL ? 0 : *(const uint32_t *)node;
    return node == NULL ? CUPTI_RESULT_INVALID_PARAMETER : 0;
}

#ifndef STANDIN_OLD
int cuptiActivityEnableDeviceGraph(uint8_t enable)
{
    it.device_graphs = enable != 0;
    return 0;
}

int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
    it.event_times = enable != 0;
    return 0;
}

int cuptiGetGraphExecId(void *exec, uint32_t *id)
{
    *id = exec == NULL ? 0 : *(const uint32_t *)exec;
    return exec == NULL ? CUPTI_RESULT_INVALID_PARAMETER : 0;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    if (cbid >= FILTER_IDS) {
        return CUPTI_RESULT_INVALID_PARAMETER;
    }
    it.filtered[cbid] = enable == 0 ? 1 : 0;
    return 0;
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    (void)cbid;
    (void)enable;
    return 0;
}

int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn callback, void *user,
                      struct cupti_subscriber *named)
{
    if (it.subscribe == CUPTI_RESULT_MULTIPLE_SUBSCRIBERS && named->old_name != NULL) {
        (void)strncpy(named->old_name, "CUPTI for somebody", named->old_name_bytes);
    }
    return cuptiSubscribe(subscriber, callback, user);
}
#endif

/* The buffer of the caller; with per_thread its own. */
static struct buffer *current_buffer(void)
{
    if (it.per_thread == 0) {
        return &it.shared;
    }
    if (own == NULL && it.buffer_count < BUFFERS) {
        own = calloc(1, sizeof(*own));
        it.buffers[it.buffer_count++] = own;
    }
    return own;
}

static void give(struct buffer *buffer, size_t more)
{
    if (buffer->bytes != NULL) {
        uint8_t *bytes = buffer->bytes;
        size_t used = buffer->used;
        buffer->bytes = NULL;
        it.now->complete(NULL, 0, bytes, buffer->size, used + more);
    }
}

int cuptiActivityFlushAll(uint32_t flag)
{
    while (flag == CUPTI_FLUSH_FORCED && it.hang != 0) {
        (void)sleep(1);
    }
    (void)pthread_mutex_lock(&it.lock);
    it.flushes[flag != 0 ? 1 : 0]++;
    if (it.flush == 0 && (flag != 0 || it.keep == 0)) {
        give(&it.shared, 0);
        for (int i = 0; i < it.buffer_count; i++) {
            give(it.buffers[i], 0);
        }
    }
    (void)pthread_mutex_unlock(&it.lock);
    return it.flush;
}

/* What a test program drives it by. */
uint32_t standin_record_bytes(uint32_t kind);
int standin_put(const void *record, size_t bytes);
void standin_force(const void *record, size_t bytes);
void standin_give_back(size_t more);
void standin_give_foreign(void);
void standin_request_only(void);
void standin_drop(size_t count);
int standin_fire(int domain, uint32_t cbid, const void *data);
int standin_is_filtered(uint32_t cbid);
int standin_is_watched(int domain, uint32_t cbid);
size_t standin_attribute(int attribute);
int standin_flushes(int forced);

uint32_t standin_record_bytes(uint32_t kind)
{
    return kind < KINDS ? it.layout->sizes[kind] : 0;
}

static void ask(struct buffer *buffer)
{
    size_t max_records = 0;
    buffer->used = 0;
    it.now->request(&buffer->bytes, &buffer->size, &max_records);
    if (buffer->bytes == NULL) {
        abort(); /* as CUPTI before 12.9 */
    }
}

void standin_force(const void *record, size_t bytes)
{
    if (it.now->request == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&it.lock);
    struct buffer *buffer = current_buffer();
    if (buffer->bytes != NULL && buffer->size - buffer->used < bytes) {
        give(buffer, 0);
    }
    if (buffer->bytes == NULL) {
        ask(buffer);
    }
    memcpy(buffer->bytes + buffer->used, record, bytes);
    buffer->used += bytes;
    (void)pthread_mutex_unlock(&it.lock);
}

/* What is launched is a call of the driver. */
static void launch(uint32_t kind)
{
    static const uint32_t cbids[KINDS] = {
        [CUPTI_KIND_CONCURRENT_KERNEL] = CUPTI_ID_DRIVER_LAUNCH_KERNEL,
        [CUPTI_KIND_MEMCPY] = 277, /* cuMemcpyHtoDAsync_v2 */
        [CUPTI_KIND_MEMSET] = 216, /* cuMemsetD8Async */
        [CUPTI_KIND_GRAPH_TRACE] = 514,
    };
    struct cupti_callback_data data;
    memset(&data, 0, sizeof(data));
    if (kind < KINDS && cbids[kind] != 0) {
        data.site = CUPTI_SITE_ENTER;
        (void)standin_fire(CUPTI_DOMAIN_DRIVER_API, cbids[kind], &data);
        data.site = CUPTI_SITE_EXIT;
        (void)standin_fire(CUPTI_DOMAIN_DRIVER_API, cbids[kind], &data);
    }
}

int standin_put(const void *record, size_t bytes)
{
    uint32_t kind = 0;
    uint32_t cbid = 0;
    memcpy(&kind, record, sizeof(kind));
    memcpy(&cbid, (const uint8_t *)record + 4, sizeof(cbid));
    bool on = kind < KINDS && (it.enabled >> kind & 1U) != 0;
    if (on && kind == CUPTI_KIND_RUNTIME && cbid < FILTER_IDS && it.filtered[cbid] != 0) {
        on = false;
    }
    if (kind == CUPTI_KIND_UNIFIED_MEMORY_COUNTER && cbid < 32) {
        on = on && (it.counters[0] & it.counters[1] & 1U << cbid) != 0;
    }
    on = on && (kind != CUPTI_KIND_DEVICE_GRAPH_TRACE || it.device_graphs);
    launch(kind);
    if (on) {
        standin_force(record, bytes);
    }
    return on ? 1 : 0;
}

void standin_give_back(size_t more)
{
    (void)pthread_mutex_lock(&it.lock);
    give(current_buffer(), more);
    (void)pthread_mutex_unlock(&it.lock);
}

void standin_give_foreign(void)
{
    static uint8_t bytes[4096];
    bytes[0] = CUPTI_KIND_RUNTIME;
    it.now->complete(NULL, 0, bytes, sizeof(bytes), 40);
}

void standin_request_only(void)
{
    struct buffer buffer;
    ask(&buffer);
    it.now->complete(NULL, 0, buffer.bytes, buffer.size, 0);
}

void standin_drop(size_t count)
{
    it.dropped += count;
}

int standin_fire(int domain, uint32_t cbid, const void *data)
{
    if (it.callback == NULL || it.enabled_callbacks[domain][cbid] == 0) {
        return 0;
    }
    it.callback(NULL, domain, cbid, data);
    return 1;
}

size_t standin_attribute(int attribute)
{
    return attribute == 100 ? (size_t)it.event_times : it.attributes[attribute];
}

int standin_is_watched(int domain, uint32_t cbid)
{
    return it.enabled_callbacks[domain][cbid];
}

int standin_is_filtered(uint32_t cbid)
{
    return cbid < FILTER_IDS ? it.filtered[cbid] : 0;
}

int standin_flushes(int forced)
{
    return it.flushes[forced];
}
