/*
 * capture: the file format of captures for programs in C. Installed as cutline/capture.h; what the
 * tables and columns mean is in cutline-capture(5).
 *
 * Tables and columns are one list, STORE_TABLES of schema.h, of which a program takes what it needs:
 *
 *     #define NAME(TABLE, NAME, WHEN) NAME,
 *     static const char *const names[] = {STORE_TABLES(NAME)};
 */
#ifndef CUTLINE_CAPTURE_H
#define CUTLINE_CAPTURE_H

#include <stdint.h>

#include "analysis/store/schema.h"

/* The export schema of Nsight Systems that captures have; ours are tables beside it. */
#define CUTLINE_CAPTURE_SCHEMA "3.25.0"

/* NVTX_EVENTS.eventType. */
enum cutline_nvtx_type {
    CUTLINE_NVTX_CATEGORY = 33, /* a name, no event; the domain is 75 */
    CUTLINE_NVTX_MARK = 34,
    CUTLINE_NVTX_THREAD = 39, /* a name */
    CUTLINE_NVTX_PUSH_POP = 59,
    CUTLINE_NVTX_START_END = 60,
    CUTLINE_NVTX_TEXT_PUSH_POP = 70, /* imported from a text trace */
    CUTLINE_NVTX_TEXT_START_END = 71,
    CUTLINE_NVTX_DOMAIN = 75, /* a name */
};

/* CUPTI_ACTIVITY_KIND_MEMCPY.copyKind, the common ones. */
enum cutline_copy_kind {
    CUTLINE_COPY_HOST_TO_DEVICE = 1,
    CUTLINE_COPY_DEVICE_TO_HOST = 2,
    CUTLINE_COPY_DEVICE_TO_DEVICE = 8,
    CUTLINE_COPY_HOST_TO_HOST = 9,
    CUTLINE_COPY_PEER_TO_PEER = 10,
    CUTLINE_COPY_UM_HOST_TO_DEVICE = 11,
    CUTLINE_COPY_UM_DEVICE_TO_HOST = 12,
    CUTLINE_COPY_UM_DEVICE_TO_DEVICE = 13,
};

/* A globalTid or globalPid is, from the most significant bit, HW:8 | VM:8 | PID:24 | TID:24. */
static inline int64_t cutline_pid(int64_t global_id)
{
    return (int64_t)((uint64_t)global_id >> 24 & 0xFFFFFFU);
}
static inline int64_t cutline_tid(int64_t global_id)
{
    return (int64_t)((uint64_t)global_id & 0xFFFFFFU);
}
static inline int64_t cutline_global_pid(int64_t global_tid)
{
    return (int64_t)((uint64_t)global_tid & ~UINT64_C(0xFFFFFF));
}

#endif
