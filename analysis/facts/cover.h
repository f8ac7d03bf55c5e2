/*
 * cover: two times of a device that several findings rest on: how much of it the ops of one name
 * cover, and how soon an op follows another that did not have to wait for the host.
 */
#ifndef CUTLINE_FACTS_COVER_H
#define CUTLINE_FACTS_COVER_H

#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

/* The union of the ops of a name on a device, each cut to [begin, end): 0 or more; -1 without
 * memory. O(ops of the device + n log n of the name). */
int64_t cover_of_name(const struct trace *trace, uint32_t device, uint32_t name, int64_t begin_ns,
                      int64_t end_ns);

/*
 * The median time from the end of a kernel to the begin of the next one of its stream, of those that
 * were queued by then: their call had returned as the one before ended, or launched both. *pairs is
 * how many there are; 0 and 0: too few to tell. -1 without memory. O(ops of the device).
 */
int64_t cover_follow_ns(const struct trace *trace, uint32_t device, uint32_t *pairs);

#endif
