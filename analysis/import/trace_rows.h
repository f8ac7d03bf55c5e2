/*
 * trace_rows: events of a JSON trace become rows of a capture. What PyTorch's profiler (Kineto), JAX and
 * TensorFlow (XLA) and cutline export write is known by category or, where there is none, by the names of
 * processes and threads:
 *
 *     kernel, gpu_memcpy, gpu_memset            ops of a stream
 *     cuda_runtime, cuda_driver, cuda_api       CUDA API calls
 *     cuda_sync                                 waits
 *     osrt                                      OS calls
 *     gpu_user_annotation, Trace, flows         left out: the timeline makes its own
 *     threads "Stream #N" of "/device:GPU:N"    ops of a stream; the other threads there are left out
 *     all other slices, instants                NVTX ranges and marks of their thread
 *
 *     trace_rows_new -> trace_rows_event, trace_rows_member... -> trace_rows_end -> trace_rows_free
 */
#ifndef CUTLINE_IMPORT_TRACE_ROWS_H
#define CUTLINE_IMPORT_TRACE_ROWS_H

#include "analysis/base/err.h"
#include "analysis/import/json_scan.h"
#include "analysis/store/writer.h"

struct trace_rows;

/* Rows go to the writer, which is the caller's. NULL without memory. */
struct trace_rows *trace_rows_new(struct store_writer *writer, struct err *err);
void trace_rows_free(struct trace_rows *rows);

/* One event; one member of the outermost object. 0, or -1: a row could not be written. */
int trace_rows_event(struct trace_rows *rows, const struct json_value *event, struct err *err);
int trace_rows_member(struct trace_rows *rows, const struct json_value *key,
                      const struct json_value *value, struct err *err);

/* Writes what is known only at the end: open ranges, names of processes and threads. 0 or -1. */
int trace_rows_end(struct trace_rows *rows, struct err *err);

/* Events that became rows; that could not be read, or have no time. */
int64_t trace_rows_written(const struct trace_rows *rows);
int64_t trace_rows_damaged(const struct trace_rows *rows);

#endif
