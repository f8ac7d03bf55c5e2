/* Samples of the GPUs by NVML. Calls of NVML take some microseconds, those for PCIe 20 ms each: these
 * have a thread of their own that goes round once a second. A value that a GPU does not have is not
 * asked for again. */
#include "capture/record/gpu_metrics.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/buf.h"
#include "capture/spool/clock.h"
#include "capture/spool/metrics.h"

enum {
    TEXT_BYTES = 128,
    MIB_SHIFT = 20,
    SLOW_NS = 1000000000,
    SECOND_NS = 1000000000,
    /* of NVML's interface */
    CLOCK_SM = 1,
    CLOCK_MEMORY = 2,
    SENSOR_GPU = 0,
    PCIE_SENT = 0,
    PCIE_RECEIVED = 1,
    FIELD_NVLINK_SENT = 138, /* KiB of data since the driver was loaded */
    FIELD_NVLINK_RECEIVED = 139
};

struct utilization {
    unsigned gpu;
    unsigned memory;
};

struct memory_info {
    uint64_t total;
    uint64_t free;
    uint64_t used;
};

struct field_value {
    unsigned field;
    unsigned scope;
    int64_t time_us;
    int64_t latency_us;
    int type;
    int result;
    uint64_t value;
};

/* X(member, symbol, parameters) */
#define NVML_FUNCTIONS(X) \
    X(init, nvmlInit_v2, (void)) \
    X(shutdown, nvmlShutdown, (void)) \
    X(count, nvmlDeviceGetCount_v2, (unsigned *count)) \
    X(handle, nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device)) \
    X(uuid, nvmlDeviceGetUUID, (void *device, char *text, unsigned bytes)) \
    X(name, nvmlDeviceGetName, (void *device, char *text, unsigned bytes)) \
    X(utilization, nvmlDeviceGetUtilizationRates, (void *device, struct utilization *value)) \
    X(memory, nvmlDeviceGetMemoryInfo, (void *device, struct memory_info *value)) \
    X(power, nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatts)) \
    X(clock, nvmlDeviceGetClockInfo, (void *device, int type, unsigned *megahertz)) \
    X(temperature, nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius)) \
    X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, uint64_t *reasons)) \
    X(pcie, nvmlDeviceGetPcieThroughput, (void *device, int counter, unsigned *kilobytes)) \
    X(fields, nvmlDeviceGetFieldValues, (void *device, int count, struct field_value *values))

struct nvml {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the parameters bring their own */
#define NVML_MEMBER(member, symbol, parameters) int(*member) parameters;
    NVML_FUNCTIONS(NVML_MEMBER)
#undef NVML_MEMBER
};

struct gpu {
    unsigned index;
    void *device;
    bool lacks[METRIC_COUNT];
    uint64_t nvlink_kib[2]; /* sent, received, at the last sample */
    int64_t nvlink_ns; /* when that was; 0: not yet */
};

struct gpu_metrics {
    struct nvml nvml;
    void *library;
    struct gpu gpus[METRICS_GPUS_MAX];
    size_t gpu_count;
    int fd;
    int64_t period_ns;
    pthread_mutex_t lock; /* of stop */
    pthread_cond_t changed;
    bool stop;
    pthread_t quick;
    pthread_t slow;
    bool quick_runs;
    bool slow_runs;
};

/* ---- samples --------------------------------------------------------------------------------- */

/* One line of values. */
struct line {
    char text[METRICS_LINE_BYTES];
    size_t length;
    size_t begin; /* of the values */
};

static void line_begin(struct line *line, int64_t now_ns, const struct gpu *gpu)
{
    int length = snprintf(line->text, sizeof line->text, "at %" PRId64 " %u", now_ns, gpu->index);
    line->length = length > 0 ? (size_t)length : 0;
    line->begin = line->length;
}

/* Adds a value, or notes that the GPU does not have it. */
static void line_add(struct line *line, struct gpu *gpu, enum metric metric, int result,
                     uint64_t value)
{
    if (result != 0) {
        gpu->lacks[metric] = true;
        return;
    }
    size_t room = sizeof line->text - line->length;
    int length = snprintf(line->text + line->length, room, " %d=%" PRIu64, (int)metric, value);
    if (length > 0 && (size_t)length < room) {
        line->length += (size_t)length;
    }
}

static void line_end(const struct gpu_metrics *metrics, struct line *line)
{
    if (line->length == line->begin || line->length + 1 >= sizeof line->text) {
        return;
    }
    line->text[line->length++] = '\n';
    /* a full disk costs samples and nothing else */
    ssize_t wrote = write(metrics->fd, line->text, line->length);
    (void)wrote;
}

static bool wants(const struct gpu *gpu, enum metric metric, bool have_function)
{
    return have_function && !gpu->lacks[metric];
}

static void add_load(const struct nvml *nvml, struct gpu *gpu, struct line *line)
{
    if (wants(gpu, METRIC_GPU_BUSY, nvml->utilization != NULL)) {
        struct utilization value = {0, 0};
        int result = nvml->utilization(gpu->device, &value);
        line_add(line, gpu, METRIC_GPU_BUSY, result, value.gpu);
        line_add(line, gpu, METRIC_MEMORY_BUSY, result, value.memory);
    }
    if (wants(gpu, METRIC_MEMORY_USED, nvml->memory != NULL)) {
        struct memory_info value = {0, 0, 0};
        int result = nvml->memory(gpu->device, &value);
        line_add(line, gpu, METRIC_MEMORY_USED, result, value.used >> MIB_SHIFT);
    }
}

static void add_state(const struct nvml *nvml, struct gpu *gpu, struct line *line)
{
    static const struct {
        enum metric metric;
        int type;
    } clocks[] = {{METRIC_SM_CLOCK, CLOCK_SM}, {METRIC_MEMORY_CLOCK, CLOCK_MEMORY}};
    unsigned value = 0;
    if (wants(gpu, METRIC_POWER, nvml->power != NULL)) {
        int result = nvml->power(gpu->device, &value);
        line_add(line, gpu, METRIC_POWER, result, value);
    }
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (wants(gpu, clocks[i].metric, nvml->clock != NULL)) {
            int result = nvml->clock(gpu->device, clocks[i].type, &value);
            line_add(line, gpu, clocks[i].metric, result, value);
        }
    }
    if (wants(gpu, METRIC_TEMPERATURE, nvml->temperature != NULL)) {
        int result = nvml->temperature(gpu->device, SENSOR_GPU, &value);
        line_add(line, gpu, METRIC_TEMPERATURE, result, value);
    }
    if (wants(gpu, METRIC_THROTTLE, nvml->throttle != NULL)) {
        uint64_t reasons = 0;
        int result = nvml->throttle(gpu->device, &reasons);
        line_add(line, gpu, METRIC_THROTTLE, result, reasons);
    }
}

/* The counters of all links together; their growth since the last sample is the rate. */
static void add_nvlink(const struct nvml *nvml, struct gpu *gpu, int64_t now_ns, struct line *line)
{
    struct field_value values[2] = {{.field = FIELD_NVLINK_SENT, .scope = UINT32_MAX},
                                    {.field = FIELD_NVLINK_RECEIVED, .scope = UINT32_MAX}};
    if (!wants(gpu, METRIC_NVLINK_SENT, nvml->fields != NULL)) {
        return;
    }
    int result = nvml->fields(gpu->device, 2, values);
    result = result != 0 ? result : values[0].result | values[1].result;
    int64_t for_ns = now_ns - gpu->nvlink_ns;
    for (int i = 0; i < 2; i++) {
        uint64_t grown = values[i].value - gpu->nvlink_kib[i];
        bool known = gpu->nvlink_ns != 0 && for_ns > 0 && values[i].value >= gpu->nvlink_kib[i];
        if (result != 0 || known) {
            double rate = (double)grown * 1.024 * (double)SECOND_NS / (double)(for_ns | 1);
            line_add(line, gpu, i == 0 ? METRIC_NVLINK_SENT : METRIC_NVLINK_RECEIVED, result,
                     (uint64_t)rate);
        }
        gpu->nvlink_kib[i] = values[i].value;
    }
    gpu->nvlink_ns = now_ns;
}

static void sample_quick(struct gpu_metrics *metrics)
{
    for (size_t i = 0; i < metrics->gpu_count; i++) {
        struct gpu *gpu = &metrics->gpus[i];
        int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
        struct line line;
        line_begin(&line, now_ns, gpu);
        add_load(&metrics->nvml, gpu, &line);
        add_state(&metrics->nvml, gpu, &line);
        add_nvlink(&metrics->nvml, gpu, now_ns, &line);
        line_end(metrics, &line);
    }
}

static void sample_slow(struct gpu_metrics *metrics)
{
    const struct nvml *nvml = &metrics->nvml;
    for (size_t i = 0; i < metrics->gpu_count; i++) {
        struct gpu *gpu = &metrics->gpus[i];
        struct line line;
        unsigned value = 0;
        line_begin(&line, clock_read_ns(CLOCK_MONOTONIC), gpu);
        if (wants(gpu, METRIC_PCIE_SENT, nvml->pcie != NULL)) {
            int result = nvml->pcie(gpu->device, PCIE_SENT, &value);
            line_add(&line, gpu, METRIC_PCIE_SENT, result, value);
        }
        if (wants(gpu, METRIC_PCIE_RECEIVED, nvml->pcie != NULL)) {
            int result = nvml->pcie(gpu->device, PCIE_RECEIVED, &value);
            line_add(&line, gpu, METRIC_PCIE_RECEIVED, result, value);
        }
        line_end(metrics, &line);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Waits until UNTIL_NS of CLOCK_MONOTONIC; false: it is over. */
static bool wait_until(struct gpu_metrics *metrics, int64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};
    int result = 0;
    (void)pthread_mutex_lock(&metrics->lock);
    while (!metrics->stop && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&metrics->changed, &metrics->lock, &until);
    }
    bool goes_on = !metrics->stop;
    (void)pthread_mutex_unlock(&metrics->lock);
    return goes_on;
}

/* Samples that were missed are not made up for. */
static void run(struct gpu_metrics *metrics, int64_t period_ns,
                void (*sample)(struct gpu_metrics *))
{
    int64_t next_ns = clock_read_ns(CLOCK_MONOTONIC);
    do {
        sample(metrics);
        int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
        next_ns = next_ns + period_ns > now_ns ? next_ns + period_ns : now_ns + period_ns;
    } while (wait_until(metrics, next_ns));
    sample(metrics);
}

static void *run_quick(void *metrics)
{
    run(metrics, ((struct gpu_metrics *)metrics)->period_ns, sample_quick);
    return NULL;
}

static void *run_slow(void *metrics)
{
    run(metrics, SLOW_NS, sample_slow);
    return NULL;
}

/* ---- start and end --------------------------------------------------------------------------- */

static int load(struct gpu_metrics *metrics, struct err *err)
{
    metrics->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (metrics->library == NULL) {
        return err_set(err, "libnvidia-ml.so.1, which comes with the driver, cannot be loaded");
    }
    void *symbol = NULL;
#define NVML_LOOK_UP(member, name, parameters) \
    symbol = dlsym(metrics->library, #name); \
    memcpy(&metrics->nvml.member, &symbol, sizeof symbol);
    NVML_FUNCTIONS(NVML_LOOK_UP)
#undef NVML_LOOK_UP
    const struct nvml *nvml = &metrics->nvml;
    if (nvml->init == NULL || nvml->shutdown == NULL || nvml->count == NULL ||
        nvml->handle == NULL || nvml->uuid == NULL || nvml->name == NULL) {
        return err_set(err, "libnvidia-ml.so.1 is too old");
    }
    int result = nvml->init();
    return result == 0 ? 0 : err_set(err, "nvmlInit failed with result %d", result);
}

/* Whether a list with commas has the GPU: by its number, or by the beginning of its UUID. */
static bool is_listed(const char *list, unsigned index, const char *uuid)
{
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");
        char *end = NULL;
        unsigned long number = strtoul(at, &end, 10);
        if ((end == at + length && end != at && number == index) ||
            (strncmp(at, "GPU-", 4) == 0 && strncmp(at, uuid, length) == 0)) {
            return true;
        }
        at += length;
    }
    return false;
}

static bool is_wanted(const char *devices, unsigned index, const char *uuid)
{
    if (strcmp(devices, "all") == 0) {
        return true;
    }
    if (strcmp(devices, "cuda-visible") == 0) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        return visible == NULL || is_listed(visible, index, uuid);
    }
    return is_listed(devices, index, uuid);
}

static void add_gpu(struct gpu_metrics *metrics, unsigned index, const char *devices)
{
    const struct nvml *nvml = &metrics->nvml;
    struct gpu *gpu = &metrics->gpus[metrics->gpu_count];
    char uuid[TEXT_BYTES] = "";
    char name[TEXT_BYTES] = "";
    char line[METRICS_LINE_BYTES];
    *gpu = (struct gpu){.index = index};
    if (nvml->handle(index, &gpu->device) != 0 || nvml->uuid(gpu->device, uuid, sizeof uuid) != 0 ||
        !is_wanted(devices, index, uuid)) {
        return;
    }
    (void)nvml->name(gpu->device, name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    const char *number = strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid;
    int length = snprintf(line, sizeof line, "gpu %u %s %s\n", index, number, name);
    if (length > 0 && (size_t)length < sizeof line &&
        write(metrics->fd, line, (size_t)length) == length) {
        metrics->gpu_count++;
    }
}

static int open_file(struct gpu_metrics *metrics, const char *dir, struct err *err)
{
    struct buf path = {0};
    buf_addf(&path, "%s/%s", dir, METRICS_FILE);
    metrics->fd = open(buf_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    int saved = errno;
    buf_free(&path);
    return metrics->fd >= 0 ? 0 : err_set(err, "cannot write to '%s': %s", dir, strerror(saved));
}

static int begin(struct gpu_metrics *metrics, const char *dir, const char *devices, int hz,
                 struct err *err)
{
    pthread_condattr_t monotonic;
    unsigned count = 0;
    if (load(metrics, err) < 0 || open_file(metrics, dir, err) < 0) {
        return -1;
    }
    (void)metrics->nvml.count(&count);
    for (unsigned i = 0; i < count && metrics->gpu_count < METRICS_GPUS_MAX; i++) {
        add_gpu(metrics, i, devices);
    }
    if (metrics->gpu_count == 0) {
        return err_set(err, "NVML has no GPU '%s'", devices);
    }
    metrics->period_ns = SECOND_NS / hz;
    (void)pthread_mutex_init(&metrics->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&metrics->changed, &monotonic);
    metrics->quick_runs = pthread_create(&metrics->quick, NULL, run_quick, metrics) == 0;
    metrics->slow_runs = pthread_create(&metrics->slow, NULL, run_slow, metrics) == 0;
    return metrics->quick_runs ? 0 : err_set(err, "no thread can be started");
}

struct gpu_metrics *gpu_metrics_start(const char *dir, const char *devices, int hz, struct err *err)
{
    struct gpu_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL) {
        return err_null(err, "no memory");
    }
    metrics->fd = -1;
    if (begin(metrics, dir, devices, hz, err) < 0) {
        gpu_metrics_stop(metrics);
        return NULL;
    }
    return metrics;
}

void gpu_metrics_stop(struct gpu_metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    if (metrics->quick_runs || metrics->slow_runs) {
        (void)pthread_mutex_lock(&metrics->lock);
        metrics->stop = true;
        (void)pthread_cond_broadcast(&metrics->changed);
        (void)pthread_mutex_unlock(&metrics->lock);
    }
    if (metrics->quick_runs) {
        (void)pthread_join(metrics->quick, NULL);
    }
    if (metrics->slow_runs) {
        (void)pthread_join(metrics->slow, NULL);
    }
    if (metrics->fd >= 0) {
        (void)close(metrics->fd);
    }
    if (metrics->nvml.shutdown != NULL) {
        (void)metrics->nvml.shutdown();
    }
    /* NVML is not unloaded: it may have threads */
    free(metrics);
}
