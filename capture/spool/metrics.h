/*
 * The file "metrics" of a session folder: what the launcher sampled of the GPUs while the command
 * ran. Lines, each written by one call, so that a killed launcher leaves whole ones but the last:
 *
 *   gpu INDEX UUID NAME          once for each GPU; the UUID as NVML has it without "GPU-"
 *   at MONOTONIC_NS INDEX M=V ...   values of metrics M (the numbers below), as integers
 *
 * The samples of one metric of one GPU are in the order of time.
 */
#ifndef CUTLINE_CAPTURE_SPOOL_METRICS_H
#define CUTLINE_CAPTURE_SPOOL_METRICS_H

#define METRICS_FILE "metrics"
#define METRICS_GPUS_MAX 64
#define METRICS_LINE_BYTES 512

/* X(name, text for people) */
#define METRICS(X) \
    X(METRIC_GPU_BUSY, "GPU Busy [%]") \
    X(METRIC_MEMORY_BUSY, "Memory Busy [%]") \
    X(METRIC_MEMORY_USED, "Memory Used [MiB]") \
    X(METRIC_POWER, "Power [mW]") \
    X(METRIC_SM_CLOCK, "SM Clock [MHz]") \
    X(METRIC_MEMORY_CLOCK, "Memory Clock [MHz]") \
    X(METRIC_TEMPERATURE, "Temperature [C]") \
    X(METRIC_THROTTLE, "Throttle Reasons [mask]") \
    X(METRIC_PCIE_SENT, "PCIe Sent [kB/s]") \
    X(METRIC_PCIE_RECEIVED, "PCIe Received [kB/s]") \
    X(METRIC_NVLINK_SENT, "NVLink Sent [kB/s]") \
    X(METRIC_NVLINK_RECEIVED, "NVLink Received [kB/s]")

enum metric {
#define METRIC_NUMBER(name, text) name,
    METRICS(METRIC_NUMBER)
#undef METRIC_NUMBER
    METRIC_COUNT
};

#endif
