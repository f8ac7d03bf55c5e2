/*
 * CUPTI in a recorded process: subscribe first (the only way to learn that another client is
 * there), then attributes, buffer callbacks, activity kinds, callbacks. Started from
 * InitializeInjection, inside cuInit: before any context exists. What fails is written to the spool
 * as a status and leaves the program alone; NVTX goes on in every case.
 *
 * There is no timestamp callback: CUPTI's own clock is CLOCK_REALTIME, and anchors in the spool tie
 * it to the others.
 */
#include <string.h>
#include <unistd.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"
#include "capture/spool/cupti_abi.h"

#define SEGMENT_BYTES (UINT64_C(4) << 20)
#define SEGMENT_THREAD_BYTES (UINT64_C(1) << 20) /* where CUPTI has a buffer for each thread */
#define SEGMENTS_OF_LIMIT 16 /* a recording of limited size has room for so many */
#define SEGMENTS_OF_RING 64 /* buffers that wait to be used do not hold old events */
#define SEGMENT_LEAST_BYTES (UINT64_C(64) << 10)
#define SEGMENT_MOST_BYTES (UINT64_C(256) << 20)

/* Writes a status from a thread of the program: not if it interrupted the recorder. */
static void status(enum spool_status code, uint64_t value0, uint64_t value1, const char *text)
{
    struct spool_writer *writer = inject_spool_now();
    if (writer != NULL && nvtx_enter()) {
        spool_writer_status(writer, code, value0, value1, text);
        nvtx_leave();
    }
}

bool cupti_check(int result, uint32_t kind, const char *function)
{
    if (result == CUPTI_RESULT_SUCCESS) {
        return true;
    }
    enum spool_status code = SPOOL_STATUS_CUPTI_FAILED;
    if (result == CUPTI_RESULT_UNKNOWN) {
        code = SPOOL_STATUS_CUPTI_NO_DRIVER;
    }
    status(code, (uint64_t)result, kind, function);
    return false;
}

/* cuProfilerStart acts when it is done, cuProfilerStop before it begins: the range holds what lies
 * between. */
static void on_driver(uint32_t cbid, const struct cupti_callback_data *data)
{
    struct cupti_state *cupti = &inject.cupti;
    bool wanted = inject.config.range == SESSION_RANGE_CUDA_PROFILER_API;
    if (cbid == CUPTI_ID_DRIVER_PROFILER_START && data->site == CUPTI_SITE_EXIT) {
        static const struct inject_range_text no_text = {"", 0, 0};
        bool opens = wanted && !atomic_exchange(&cupti->range_open, true);
        if (opens && !inject_range_open(&no_text)) {
            atomic_store(&cupti->range_open, false);
            opens = false;
        }
        status(SPOOL_STATUS_PROFILER_START, opens ? 1 : 0, 0, NULL);
    } else if (cbid == CUPTI_ID_DRIVER_PROFILER_STOP && data->site == CUPTI_SITE_ENTER) {
        bool closes = wanted && atomic_exchange(&cupti->range_open, false);
        if (closes) {
            inject_range_close();
        }
        status(SPOOL_STATUS_PROFILER_STOP, closes ? 1 : 0, 0, NULL);
        atomic_store(&cupti->flush_asked, true);
        (void)sem_post(&cupti->wake);
    } else if (!cupti_ends(cupti, CUPTI_DOMAIN_DRIVER_API, cbid, data->site)) {
        cupti_rival_count(cbid, data->site);
    }
}

static void on_resource(uint32_t cbid, const struct cupti_resource_data *data)
{
    struct cupti_state *cupti = &inject.cupti;
    uint32_t context = 0;
    uint32_t device = 0;
    if (cbid == CUPTI_ID_RESOURCE_CONTEXT_CREATED) {
        /* The driver may have registered its own exit handler by now: ours has to run before it. */
        if (!atomic_exchange(&cupti->context_seen, true)) {
            inject_at_exit();
        }
        if (cupti->call.get_context_id != NULL) {
            (void)cupti->call.get_context_id(data->context, &context);
        }
        if (cupti->call.get_device_id != NULL) {
            (void)cupti->call.get_device_id(data->context, &device);
        }
        status(SPOOL_STATUS_CONTEXT_CREATED, context, device, NULL);
        cupti_um_start(cupti);
    } else if (cbid == CUPTI_ID_RESOURCE_CU_INIT_FINISHED) {
        cupti_um_start(cupti);
    } else if (cbid == CUPTI_ID_RESOURCE_CONTEXT_DESTROY_STARTING) {
        /* No flush from a resource callback: our thread does it. */
        atomic_store(&cupti->flush_asked, true);
        (void)sem_post(&cupti->wake);
    } else {
        cupti_graph(cupti, cbid, data->descriptor);
    }
}

static void on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    (void)user;
    if (cupti_is_forked(&inject.cupti) || data == NULL) {
        return;
    }
    if (domain == CUPTI_DOMAIN_DRIVER_API) {
        on_driver(cbid, data);
    } else if (domain == CUPTI_DOMAIN_RUNTIME_API) {
        const struct cupti_callback_data *call = data;
        (void)cupti_ends(&inject.cupti, domain, cbid, call->site);
    } else if (domain == CUPTI_DOMAIN_RESOURCE) {
        on_resource(cbid, data);
    } else if (domain == CUPTI_DOMAIN_STATE) {
        const struct cupti_state_data *state = data;
        status(SPOOL_STATUS_STATE, cbid, (uint64_t)state->result, state->message);
    }
}

/* The name of the client that holds the subscriber slot, where this CUPTI can tell. */
static void say_busy(struct cupti_state *cupti)
{
    char name[65] = "";
    if (cupti->call.subscribe_named != NULL) {
        void *subscriber = NULL;
        struct cupti_subscriber named = {sizeof(named), "cutline", name, sizeof(name) - 1};
        if (cupti->call.subscribe_named(&subscriber, on_callback, NULL, &named) == 0 &&
            cupti->call.unsubscribe != NULL) {
            (void)cupti->call.unsubscribe(subscriber);
        }
        name[sizeof(name) - 1] = '\0';
    }
    status(SPOOL_STATUS_CUPTI_BUSY, CUPTI_RESULT_MULTIPLE_SUBSCRIBERS, 0, name);
}

/* Subscribes. False: this CUPTI is newer than the driver, another one may do. */
static bool subscribe(struct cupti_state *cupti)
{
    cupti->subscribe_result = cupti->call.subscribe(&cupti->subscriber, on_callback, NULL);
    if (cupti->subscribe_result == CUPTI_RESULT_NOT_INITIALIZED) {
        status(SPOOL_STATUS_CUPTI_PASSED_OVER, cupti->version, 0, cupti->path);
        return false;
    }
    return true;
}

/* Says what came of it; true if all is well. */
static bool check_subscribed(struct cupti_state *cupti)
{
    if (cupti->subscribe_result == CUPTI_RESULT_MULTIPLE_SUBSCRIBERS) {
        say_busy(cupti);
        return false;
    }
    return cupti_check(cupti->subscribe_result, 0, "cuptiSubscribe");
}

/* Sizes of records by kind: the parser of CUPTI steps over two made-up records, and the step is the
 * size. Works without a driver; kinds that the library does not know give an error. */
static void probe_sizes(struct cupti_state *cupti)
{
    uint64_t buffer[256];
    for (uint32_t kind = 1; kind < SPOOL_CUPTI_KINDS; kind++) {
        for (size_t i = 0; i < 256; i++) {
            buffer[i] = kind;
        }
        void *record = NULL;
        uint8_t *bytes = (uint8_t *)buffer;
        if (cupti->call.get_next_record(bytes, sizeof(buffer), &record) != 0 ||
            record != (void *)buffer ||
            cupti->call.get_next_record(bytes, sizeof(buffer), &record) != 0) {
            continue;
        }
        ptrdiff_t step = (uint8_t *)record - bytes;
        if (step >= 8 && step <= 1024 && step % 8 == 0) {
            cupti->sizes[kind] = (uint16_t)step;
        }
    }
    spool_writer_sizes(&inject.writer, cupti->sizes);
}

/* Buffers are zeroed by us, off the program's path. CUPTI's clearing of them would be on it. */
static void set_attributes(struct cupti_state *cupti)
{
    uint8_t one = 1;
    uint8_t per_thread = 0;
    size_t size = sizeof(one);
    if (cupti->call.set_thread_id_type != NULL) {
        (void)cupti_check(cupti->call.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM), 0,
                          "cuptiSetThreadIdType");
    }
    if (cupti->call.set_attribute != NULL) {
        (void)cupti->call.set_attribute(CUPTI_ATTRIBUTE_ZEROED_OUT_BUFFER, &size, &one);
    }
    size = sizeof(per_thread);
    if (cupti->call.get_attribute == NULL ||
        cupti->call.get_attribute(CUPTI_ATTRIBUTE_PER_THREAD_BUFFER, &size, &per_thread) != 0) {
        per_thread = 0;
    }
    uint64_t bytes = inject.config.buffer_bytes;
    if (bytes == 0) {
        uint64_t parts = inject.config.ring ? SEGMENTS_OF_RING : SEGMENTS_OF_LIMIT;
        uint64_t share = inject.config.max_size_bytes / parts;
        bytes = per_thread != 0 ? SEGMENT_THREAD_BYTES : SEGMENT_BYTES;
        bytes = share != 0 && share < bytes ? share : bytes;
    }
    bytes = bytes < SEGMENT_LEAST_BYTES ? SEGMENT_LEAST_BYTES : bytes;
    bytes = bytes > SEGMENT_MOST_BYTES ? SEGMENT_MOST_BYTES : bytes;
    cupti->segment_bytes = (bytes + SPOOL_PAGE - 1) / SPOOL_PAGE * SPOOL_PAGE;
    cupti->out_max_bytes = inject.config.buffers_max_bytes;
}

/* The kinds that the settings ask for, as bits; in the order of their numbers DEVICE and CONTEXT
 * come before what uses them. */
static uint64_t wanted_kinds(const struct session_config *config)
{
    uint64_t kinds = UINT64_C(1) << CUPTI_KIND_DEVICE | UINT64_C(1) << CUPTI_KIND_CONTEXT |
                     UINT64_C(1) << CUPTI_KIND_STREAM |
                     UINT64_C(1) << CUPTI_KIND_CONCURRENT_KERNEL |
                     UINT64_C(1) << CUPTI_KIND_MEMCPY | UINT64_C(1) << CUPTI_KIND_MEMCPY2 |
                     UINT64_C(1) << CUPTI_KIND_MEMSET | UINT64_C(1) << CUPTI_KIND_OVERHEAD |
                     UINT64_C(1) << CUPTI_KIND_SYNCHRONIZATION;
    if (config->api != SESSION_API_NONE) {
        kinds |= UINT64_C(1) << CUPTI_KIND_RUNTIME;
        kinds |= config->driver_api ? UINT64_C(1) << CUPTI_KIND_DRIVER : 0;
    }
    if (config->api == SESSION_API_ALL && config->cuda_events) {
        kinds |= UINT64_C(1) << CUPTI_KIND_CUDA_EVENT;
    }
    if (config->graph == SESSION_GRAPH_GRAPH) {
        kinds |= UINT64_C(1) << CUPTI_KIND_GRAPH_TRACE;
        kinds |= inject.cupti.device_graphs ? UINT64_C(1) << CUPTI_KIND_DEVICE_GRAPH_TRACE : 0;
    }
    if (config->memory_usage) {
        kinds |= UINT64_C(1) << CUPTI_KIND_MEMORY2 | UINT64_C(1) << CUPTI_KIND_MEMORY_POOL;
    }
    return kinds;
}

/* Enables what this library knows of the kinds; returns those that are on. */
static uint64_t enable_kinds(struct cupti_state *cupti)
{
    uint64_t wanted = wanted_kinds(&inject.config);
    uint64_t on = 0;
    for (uint32_t kind = 1; kind < SPOOL_CUPTI_KINDS; kind++) {
        if ((wanted >> kind & 1U) == 0 || cupti->sizes[kind] == 0) {
            continue;
        }
        if (cupti_check(cupti->call.enable((int)kind), kind, "cuptiActivityEnable")) {
            on |= UINT64_C(1) << kind;
        }
    }
    return on;
}

static void enable_callbacks(struct cupti_state *cupti)
{
    static const struct {
        int domain;
        uint32_t cbid;
    } wanted[] = {
        {CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CU_INIT_FINISHED},
        {CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CONTEXT_CREATED},
        {CUPTI_DOMAIN_RESOURCE, CUPTI_ID_RESOURCE_CONTEXT_DESTROY_STARTING},
        {CUPTI_DOMAIN_DRIVER_API, CUPTI_ID_DRIVER_PROFILER_START},
        {CUPTI_DOMAIN_DRIVER_API, CUPTI_ID_DRIVER_PROFILER_STOP},
        {CUPTI_DOMAIN_STATE, CUPTI_ID_STATE_FATAL_ERROR},
        {CUPTI_DOMAIN_STATE, CUPTI_ID_STATE_ERROR},
        {CUPTI_DOMAIN_STATE, CUPTI_ID_STATE_WARNING},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        int result =
            cupti->call.enable_callback(1, cupti->subscriber, wanted[i].domain, wanted[i].cbid);
        /* The state domain came with 12.2. */
        if (wanted[i].domain != CUPTI_DOMAIN_STATE) {
            (void)cupti_check(result, 0, "cuptiEnableCallback");
        }
    }
    cupti_graph_enable(cupti);
    cupti_ends_enable(cupti);
}

/* Turns recording on. Our thread starts last: it may find buffers to handle at once. */
static void activate(struct cupti_state *cupti, struct spool_writer *writer)
{
    (void)sem_init(&cupti->wake, 0, 0);
    (void)sem_init(&cupti->finished, 0, 0);
    set_attributes(cupti);
    cupti_optional_start(cupti);
    if (!cupti_buffer_start(cupti)) {
        return;
    }
    cupti_buffer_prepare(cupti);
    atomic_store(&cupti->active, true);
    if (!cupti_check(cupti->call.register_callbacks(cupti_buffer_request, cupti_buffer_complete), 0,
                     "cuptiActivityRegisterCallbacks")) {
        return;
    }
    cupti_rival_watch(cupti);
    uint64_t on = enable_kinds(cupti);
    (void)cupti_filter(cupti);
    enable_callbacks(cupti);
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = SPOOL_STATUS_CUPTI_ACTIVE};
    head.value[0] = cupti->segment_bytes;
    head.value[1] = (uint64_t)__builtin_popcountll(on);
    head.value[2] = on;
    head.value[3] = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    if (nvtx_enter()) {
        spool_writer_meta(writer, &head, NULL, 0);
        nvtx_leave();
    }
    (void)cupti_thread_start(cupti);
}

static void find_and_activate(struct cupti_state *cupti, struct spool_writer *writer)
{
    status(SPOOL_STATUS_ATTACHED_CUDA, cupti_driver_version(), 0, NULL);
    enum cupti_found found = cupti_find(cupti, subscribe);
    if (found == CUPTI_FOUND_NONE) {
        return;
    }
    status(SPOOL_STATUS_CUPTI_FOUND, cupti->version, 0, cupti->path);
    probe_sizes(cupti);
    if (check_subscribed(cupti)) {
        activate(cupti, writer);
    }
}

void cupti_start(void)
{
    struct cupti_state *cupti = &inject.cupti;
    (void)atomic_fetch_add(&inject.control->processes_cuda, 1);
    struct spool_writer *writer = inject_spool();
    if (atomic_load(&cupti->active)) {
        return;
    }
    if (writer != NULL) {
        find_and_activate(cupti, writer);
    }
    if (!cupti->thread_runs) {
        cupti_say_flushed(cupti); /* nobody has to wait for this process */
    }
}

void cupti_fork_child(void)
{
    struct cupti_state *cupti = &inject.cupti;
    atomic_store(&cupti->range_open, false);
    if (atomic_load(&cupti->active)) {
        atomic_store(&cupti->forked, true);
        cupti_buffer_fork_child(cupti);
    }
}

bool cupti_is_forked(struct cupti_state *cupti)
{
    if (inject_is_copy()) {
        (void)inject_after_fork();
    }
    return atomic_load(&cupti->forked);
}

void cupti_exit(void)
{
    struct cupti_state *cupti = &inject.cupti;
    if (atomic_load(&cupti->active) && !atomic_load(&cupti->forked)) {
        cupti_thread_finish(cupti);
    }
}
