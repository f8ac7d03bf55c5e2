/*
 * Which API calls are recorded. Programs ask the runtime the same questions thousands of times;
 * those calls are left out, for each costs the program time in CUPTI and a row. The choice is by
 * name, because the names carry the meaning and the ids only follow: ids that this table does not
 * know (newer toolkits) stay on.
 *
 * CUPTI filters by itself from 12.5 on (cuptiActivityEnableRuntimeApi); with older ones the walk
 * blanks the records.
 */
#include <string.h>

#include "capture/inject/inject.h"

/* Left out in full mode: queries without a lasting effect. */
static const char *const chatty[] = {
    "cudaGetDevice_",
    "cudaGetDeviceCount",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetErrorName",
    "cudaDeviceGetAttribute",
    "cudaFuncGetAttributes",
    "cudaOccupancy",
    "cudaEventQuery",
    "cudaStreamQuery",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaPointerGetAttributes",
    "cudaThreadExchangeStreamCaptureMode",
    "cudaGetDriverEntryPoint",
    "cudaGetExportTable",
    "cudaGetDeviceProperties",
    "__cudaRegister",
    "__cudaUnregister",
    "__cudaInitModule",
    "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration",
    "__cudaGetKernel",
    "__cudaGetProcAddress",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuCtxSetCurrent",
    "cuKernelGetAttribute",
    "cuKernelGetFunction",
    "cuDevicePrimaryCtxGetState",
    "cuDeviceGet",
    "cuGetProcAddress",
    "cuGetExportTable",
    "cuFuncGetAttribute",
    "cuOccupancy",
    "cuEventQuery",
    "cuStreamQuery",
    "cuStreamIsCapturing",
    "cuStreamGetCaptureInfo",
    "cuPointerGetAttribute",
    "cuThreadExchangeStreamCaptureMode",
};

/* All that is left in light mode: what puts work on a GPU, and what waits for it. */
static const char *const launching[] = {
    "cudaLaunch",
    "__cudaLaunch",
    "cudaGraphLaunch",
    "cudaMemcpy",
    "cudaMemset",
    "cudaMemPrefetch",
    "cudaDeviceSynchronize",
    "cudaThreadSynchronize",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventSynchronize",
    "cuLaunch",
    "cuGraphLaunch",
    "cuMemcpy",
    "cuMemset",
    "cuMemPrefetch",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuEventSynchronize",
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool begins_with_one(const char *name, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, table[i], strlen(table[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool left_out(const char *name)
{
    if (name == NULL) {
        return false;
    }
    if (inject.config.api == SESSION_API_LAUNCH) {
        return !begins_with_one(name, launching, COUNT(launching));
    }
    return begins_with_one(name, chatty, COUNT(chatty));
}

/* Filters one of the two interfaces; notes the ids in BITS for the walk where CUPTI does not do it.
 */
static uint32_t filter_one(uint32_t count, const char *(*name_of)(uint32_t),
                           int (*enable)(uint32_t, uint8_t), uint64_t *bits)
{
    uint32_t filtered = 0;
    for (uint32_t cbid = 1; cbid < count && cbid < CUPTI_FILTER_IDS; cbid++) {
        if (!left_out(name_of(cbid))) {
            continue;
        }
        filtered++;
        /* An id that this library does not have yet is refused, which is as good. */
        if (enable == NULL || enable(cbid, 0) != 0) {
            bits[cbid / 64] |= UINT64_C(1) << cbid % 64;
        }
    }
    return filtered;
}

uint32_t cupti_filter(struct cupti_state *cupti)
{
    if (inject.config.api == SESSION_API_NONE) {
        return 0;
    }
    uint32_t filtered = filter_one(cupti_runtime_count(), cupti_runtime_name,
                                   cupti->call.enable_runtime_api, cupti->filtered_runtime);
    if (inject.config.driver_api) {
        filtered += filter_one(cupti_driver_count(), cupti_driver_name,
                               cupti->call.enable_driver_api, cupti->filtered_driver);
    }
    return filtered;
}
