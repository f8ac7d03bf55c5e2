/*
 * report_list: the descriptors of all reports and of the rules of nsys, in the order of the help. A
 * new one is one line here; each lives in the file that its comment names.
 */
#ifndef CUTLINE_REPORT_REPORT_LIST_H
#define CUTLINE_REPORT_REPORT_LIST_H

#include "analysis/report/report.h"

#define REPORT_STATS_ENTRIES(X) \
    X(REPORT_NVTX_SUM) /* nsys_sums.c */ \
    X(REPORT_OSRT_SUM) \
    X(REPORT_CUDA_API_SUM) \
    X(REPORT_CUDA_GPU_KERN_SUM) \
    X(REPORT_CUDA_GPU_MEM_TIME_SUM) \
    X(REPORT_CUDA_GPU_MEM_SIZE_SUM) \
    X(REPORT_CUDA_GPU_SUM) \
    X(REPORT_CUDA_API_GPU_SUM) \
    X(REPORT_NVTX_PUSHPOP_SUM) \
    X(REPORT_NVTX_STARTEND_SUM) \
    X(REPORT_CUDA_API_TRACE) /* nsys_traces.c */ \
    X(REPORT_CUDA_GPU_TRACE) \
    X(REPORT_CUDA_GPU_KERN_GB_SUM) \
    X(REPORT_CUDA_KERN_EXEC_SUM) /* exec.c */ \
    X(REPORT_CUDA_KERN_EXEC_TRACE) \
    X(REPORT_NVTX_PUSHPOP_TRACE) /* nvtx.c */ \
    X(REPORT_NVTX_GPU_PROJ_SUM) \
    X(REPORT_NVTX_GPU_PROJ_TRACE) \
    X(REPORT_NVTX_KERN_SUM) /* nvtx_kern.c */ \
    X(REPORT_UM_SUM) /* um.c */ \
    X(REPORT_UM_TOTAL_SUM) \
    X(REPORT_OCCUPANCY) /* occupancy.c */ \
    X(REPORT_CUDA_GPU_KERN_PCT) /* times.c */ \
    X(REPORT_NVTX_PACE) \
    X(REPORT_OVERLAP) \
    X(REPORT_MEM_USAGE) /* memory_usage.c */

#define REPORT_RULE_ENTRIES(X) \
    X(REPORT_RULE_CUDA_MEMCPY_ASYNC) /* nsys_calls.c */ \
    X(REPORT_RULE_CUDA_MEMCPY_SYNC) \
    X(REPORT_RULE_CUDA_MEMSET_SYNC) \
    X(REPORT_RULE_CUDA_API_SYNC) \
    X(REPORT_RULE_GPU_GAPS) /* nsys_busy.c */ \
    X(REPORT_RULE_GPU_TIME_UTIL)

#define REPORT_DECLARE(symbol) extern const struct report symbol;
REPORT_STATS_ENTRIES(REPORT_DECLARE)
REPORT_RULE_ENTRIES(REPORT_DECLARE)
#undef REPORT_DECLARE

/* All rules of `cutline analyze`: those above and our detectors (analysis/detect). */
extern const struct report *const REPORT_RULES[];
extern const size_t REPORT_RULES_COUNT;

#endif
