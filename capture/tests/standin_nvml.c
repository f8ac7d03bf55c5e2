/* A stand-in for NVML, for tests: two GPUs, whose values follow from how often they were asked for.
 * The second one has no NVLink and no power. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_SUPPORTED 3
#define INVALID 2

struct gpu {
    unsigned index;
    _Atomic unsigned asked;
    _Atomic uint64_t kib;
};
static struct gpu gpus[2] = {{0, 0, 0}, {1, 0, 0}};

struct pair {
    unsigned first, second;
};
struct memory {
    uint64_t total, free, used;
};
struct field {
    unsigned field, scope;
    int64_t time_us, latency_us;
    int type, result;
    uint64_t value;
};

/* NOLINTBEGIN(readability-identifier-naming): names of NVML */
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetUUID(const struct gpu *gpu, char *text, unsigned bytes);
int nvmlDeviceGetName(const struct gpu *gpu, char *text, unsigned bytes);
int nvmlDeviceGetUtilizationRates(struct gpu *gpu, struct pair *value);
int nvmlDeviceGetMemoryInfo(const struct gpu *gpu, struct memory *value);
int nvmlDeviceGetPowerUsage(const struct gpu *gpu, unsigned *value);
int nvmlDeviceGetClockInfo(const struct gpu *gpu, int type, unsigned *value);
int nvmlDeviceGetTemperature(const struct gpu *gpu, int sensor, unsigned *value);
int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *gpu, uint64_t *value);
int nvmlDeviceGetPcieThroughput(const struct gpu *gpu, int counter, unsigned *value);
int nvmlDeviceGetFieldValues(struct gpu *gpu, int count, struct field *values);
/* NOLINTEND(readability-identifier-naming) */

int nvmlInit_v2(void)
{
    return getenv("STANDIN_NVML_FAILS") != NULL ? 9 : 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = index < 2 ? &gpus[index] : NULL;
    return index < 2 ? 0 : INVALID;
}

int nvmlDeviceGetUUID(const struct gpu *gpu, char *text, unsigned bytes)
{
    (void)snprintf(text, bytes, "GPU-0000000%u-1111-2222-3333-444444444444", gpu->index);
    return 0;
}

int nvmlDeviceGetName(const struct gpu *gpu, char *text, unsigned bytes)
{
    (void)snprintf(text, bytes, "NVIDIA Stand-in %u", gpu->index);
    return 0;
}

int nvmlDeviceGetUtilizationRates(struct gpu *gpu, struct pair *value)
{
    unsigned asked = atomic_fetch_add(&gpu->asked, 1);
    *value = (struct pair){asked % 101, 7};
    return 0;
}

int nvmlDeviceGetMemoryInfo(const struct gpu *gpu, struct memory *value)
{
    *value = (struct memory){UINT64_C(80) << 30, 0, (uint64_t)(100 + gpu->index) << 20};
    return 0;
}

int nvmlDeviceGetPowerUsage(const struct gpu *gpu, unsigned *value)
{
    *value = 123456;
    return gpu->index == 0 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetClockInfo(const struct gpu *gpu, int type, unsigned *value)
{
    *value = (unsigned)type * 1000 + gpu->index;
    return 0;
}

int nvmlDeviceGetTemperature(const struct gpu *gpu, int sensor, unsigned *value)
{
    (void)gpu;
    *value = 55;
    return sensor == 0 ? 0 : INVALID;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *gpu, uint64_t *value)
{
    (void)gpu;
    *value = 0x41;
    return 0;
}

int nvmlDeviceGetPcieThroughput(const struct gpu *gpu, int counter, unsigned *value)
{
    (void)gpu;
    *value = 5000 + (unsigned)counter;
    return 0;
}

int nvmlDeviceGetFieldValues(struct gpu *gpu, int count, struct field *values)
{
    uint64_t kib = atomic_fetch_add(&gpu->kib, 1000);
    for (int i = 0; i < count; i++) {
        values[i].value = kib;
        values[i].result = gpu->index == 0 && values[i].scope == UINT32_MAX ? 0 : NOT_SUPPORTED;
    }
    return 0;
}
