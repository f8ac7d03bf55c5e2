/*
 * device: a GPU by a number that a person knows it by: the id that is shown (gpuId of nsys), or the
 * number that CUDA gives it in a process, which can be another one (CUDA_VISIBLE_DEVICES, the order
 * of the bus).
 */
#ifndef CUTLINE_FILTER_DEVICE_H
#define CUTLINE_FILTER_DEVICE_H

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/*
 * The device with work of that id, else the one that CUDA numbers so. TRACE_NONE with err set where
 * there is none, or where processes mean several by CUDA's number; err names those that there are.
 */
uint32_t device_find(const struct trace *trace, int64_t number, struct err *err);
/* The device that some process numbers so and that has another id; TRACE_NONE if none. */
uint32_t device_other(const struct trace *trace, int64_t number);
/* The number of a device in CUDA, -1 where processes differ. */
int64_t device_cuda_number(const struct trace *trace, uint32_t device);
/* "1", "1 (CUDA 0)" where CUDA has another number for it. */
void device_put(struct buf *out, const struct trace *trace, uint32_t device);

#endif
