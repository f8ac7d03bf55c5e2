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
/* The orders of processes, threads and devices, for sort_list and bsearch (find.c). */
int process_order(const void *a, const void *b);
int thread_order(const void *a, const void *b);
int device_order(const void *a, const void *b);
const struct raw_track *people_raw_track(const struct piece *piece, uint32_t track);

#endif
