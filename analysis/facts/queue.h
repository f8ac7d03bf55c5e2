/*
 * queue: why an op begins long after its launch, and how many launches are queued as a call begins.
 *
 * An op waits behind the ops of its own stream, for an event, beside ops of other streams that fill
 * the device, or for nothing that the capture shows. A launching call returns at once until about
 * 1,024 launches are queued; then each waits for one to end.
 */
#ifndef CUTLINE_FACTS_QUEUE_H
#define CUTLINE_FACTS_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/facts/facts.h"

enum {
    QUEUE_FULL = 1000, /* so many queued launches and more are called full */
    QUEUE_AT_ONCE_NS = 20000, /* an op that begins within this did not wait: the default of
                                 launch_density for a device that keeps up */
};

enum queue_why {
    QUEUE_AT_ONCE, /* it did not wait */
    QUEUE_STREAM, /* behind ops of its own stream, for half of the wait or more */
    QUEUE_EVENT, /* its stream was told to wait for an event, whose work ended meanwhile */
    QUEUE_OTHERS, /* ops of other streams ran for half of the wait or more */
    QUEUE_IDLE, /* the device had it and did not begin it */
};

struct queue_wait {
    enum queue_why why;
    int64_t ns; /* from the return of its call, or the begin of the capture's ops, to its begin */
    uint32_t behind; /* STREAM: the last op of the stream before it; OTHERS: that which ran most */
    int64_t behind_ns; /* OTHERS: how long that ran in the wait */
    uint32_t ahead; /* STREAM: ops of the stream that had not ended as the call returned */
    const struct facts_wait *event; /* EVENT */
};

/* false: the capture has no call that launched it. O(lanes log n + ops in the wait). */
bool queue_wait_of(const struct facts *facts, uint32_t gpu, struct queue_wait *out);
/* Adds "waited 30.0 ms: AllReduce on stream 40 ran for 30.0 ms of it"; nothing of AT_ONCE. */
void queue_wait_put(const struct facts *facts, const struct queue_wait *wait, struct buf *out);

/* Launches of the process on a device that were made before t and have not ended: ops whose call is
 * not in the capture count as made before it. O(lanes of the device, log n). */
uint32_t queue_depth(const struct trace *trace, uint32_t process, uint32_t device, int64_t t_ns);

#endif
