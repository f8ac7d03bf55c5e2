/*
 * transfers: how much copying is hidden behind kernels, and copies too small to be worth a call.
 *
 * A copy is hidden while a kernel or a graph runs on the same device; the rest of its time is
 * exposed. Copies of one kind (process, device, direction, memory kinds) are one row.
 */
#ifndef CUTLINE_DETECT_TRANSFERS_H
#define CUTLINE_DETECT_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/detect/detector.h"
#include "analysis/facts/facts.h"

struct transfers_options {
    int64_t max_bytes; /* copies of at most so many bytes; INT64_MAX = all, of unknown size too */
    int64_t begin_ns; /* copies that lie in [begin, end); INT64_MIN, INT64_MAX = everywhere */
    int64_t end_ns;
    uint32_t device; /* TRACE_NONE = all */
};

struct transfer {
    uint32_t process;
    uint32_t device;
    uint32_t name; /* "[CUDA memcpy Host-to-Device]" */
    uint8_t src_kind; /* FACTS_MEM_UNKNOWN where the file has none */
    uint8_t dst_kind;
    uint32_t count;
    int64_t bytes; /* -1 where unknown for any of them */
    int64_t total_ns; /* sum of durations */
    int64_t hidden_ns; /* the part of them that kernels cover */
    int64_t call_ns; /* time in the calls that started them */
    uint32_t facts; /* parts: enum advice_fact of its copies; else 0 */
    uint32_t longest; /* GPU index of the copy with the most exposed time */
    int64_t longest_exposed_ns;
};

struct transfers {
    struct transfer *list; /* most exposed time first; owned */
    size_t count;
    struct transfer *parts; /* the same, those of different facts apart; owned */
    size_t part_count;
    uint32_t *order; /* indices in list by device, then as in list; owned */
    uint32_t *first; /* of each device in order; one more at the end; owned */
};

/* O(n log n). 0 or -1. */
int transfers_find(struct shared *shared, const struct transfers_options *options,
                   struct transfers *out, struct err *err);
void transfers_free(struct transfers *transfers);
/* The facts that hold for half of the exposed time of the copies of a device between two memories, or more;
 * fact_ns: ADVICE_FACTS times, of each fact. */
uint32_t transfers_facts(const struct trace *trace, const struct transfers *transfers,
                         uint32_t device, int64_t *fact_ns);
/* Those of one device: *count indices in list. */
const uint32_t *transfers_of(const struct transfers *transfers, uint32_t device, uint32_t *count);
/*
 * Time that a device does nothing but copy from or to another memory: the union of its copies
 * between host and device and between devices, without what kernels and graphs cover. -1: no
 * memory.
 */
int64_t transfers_exposed_ns(struct shared *shared, uint32_t device, int64_t begin_ns,
                             int64_t end_ns);

/* What the detectors of copies share: detection.data is a struct transfers. max_bytes as above. */
int transfers_detect(const struct report_context *context, int64_t max_bytes, struct detection *out,
                     struct err *err);
void transfers_drop(void *data);
/* Does the capture hold a copy? */
bool transfers_any(const struct trace *trace);
bool transfers_kept(const struct report_context *context, const struct transfer *one);
/* The cells PID, Device ID, Src Kind and Dst Kind. */
void transfers_put_place(struct table *table, const struct trace *trace,
                         const struct transfer *one);
/* Sums up the kept rows of `least` copies and more. */
void transfers_note(const struct report_context *context, const struct transfers *transfers,
                    int64_t least, struct buf *note);

#endif
