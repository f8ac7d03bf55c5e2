/* What processes.c and process_names.c share. */
#ifndef CUTLINE_TRACE_PROCESSES_H
#define CUTLINE_TRACE_PROCESSES_H

#include "analysis/trace/trace_internal.h"

/* A process's number of a device. No padding. */
struct device_pair {
    int64_t pid;
    int64_t device;
};

/* Reads TARGET_INFO_CUDA_DEVICE into load->device_map and gpu_ids. */
int people_read_device_map(struct load *load, struct err *err);
/* Indices by id, TRACE_NONE where there is none. O(log n). */
uint32_t people_process(const struct trace *trace, int64_t global_pid);
uint32_t people_thread(const struct trace *trace, int64_t global_tid);
uint32_t people_device(const struct trace *trace, int64_t id);
const struct raw_track *people_raw_track(const struct piece *piece, uint32_t track);

#endif
