/*
 * sharing: devices that several processes use: how busy each keeps them, and whether they ever run at
 * the same time. Without MPS a device runs one process at a time ("time slicing", NVIDIA MPS
 * documentation, "Introduction").
 */
#ifndef CUTLINE_FACTS_SHARING_H
#define CUTLINE_FACTS_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* One process on one device. */
struct sharing_user {
    uint32_t device;
    uint32_t process;
    int64_t busy_ns; /* the union of its ops there */
    int64_t first_ns; /* its first op begins, its last one ends */
    int64_t last_ns;
};

struct sharing {
    struct sharing_user *list; /* owned; by device, process: of devices with several processes */
    size_t count;
};

/* 0, or -1 without memory. O(lanes + ops of shared devices, n log n where their lanes overlap). */
int sharing_find(const struct trace *trace, struct sharing *out);
void sharing_free(struct sharing *sharing);
/* NULL: the process has no op there, or the device to itself. O(log n). */
const struct sharing_user *sharing_user_of(const struct sharing *sharing, uint32_t device,
                                           uint32_t process);
/* Do ops of different processes run on the device at one time, for a twentieth of its busy time or
 * more? Single ops may touch by the clocks. O(processes). */
bool sharing_is_side_by_side(const struct trace *trace, const struct sharing *sharing,
                             uint32_t device);
/* Adds a line for each shared device: "GPU 0 is shared: a (100) keeps it busy for 30.1 % of its span,
 * b (101) for 30.0 %; they take turns". */
void sharing_put(const struct trace *trace, const struct sharing *sharing, struct buf *out);

#endif
