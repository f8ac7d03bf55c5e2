/* Samples of the GPUs by NVML while a command runs: utilisation, memory, power, clocks, temperature,
 * throttling, PCIe and NVLink. Two threads of the launcher write them to the session folder
 * (capture/spool/metrics.h). NVML is loaded when it is asked for; without it nothing is sampled. */
#ifndef CUTLINE_CAPTURE_RECORD_GPU_METRICS_H
#define CUTLINE_CAPTURE_RECORD_GPU_METRICS_H

#include "analysis/base/err.h"

enum {
    GPU_METRICS_HZ_DEFAULT = 10,
    GPU_METRICS_HZ_MAX = 100 /* NVML's own values are no newer */
};

struct gpu_metrics;

/* Takes a first sample and goes on with HZ of them a second. DEVICES: "all", "cuda-visible" or
 * numbers with commas. NULL with err where there is no NVML or no such GPU. */
struct gpu_metrics *gpu_metrics_start(const char *dir, const char *devices, int hz,
                                      struct err *err);

/* Takes a last sample, ends the threads and frees; NULL is allowed. */
void gpu_metrics_stop(struct gpu_metrics *metrics);

#endif
