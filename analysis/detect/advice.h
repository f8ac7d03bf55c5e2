/*
 * advice: what to try, by what a capture shows. One table: a sentence is said where all facts that it
 * needs hold and none that it rules out; words of a framework only to a Python process that uses it.
 *
 * The facts of a case are bits that its evidence prints beside the advice.
 */
#ifndef CUTLINE_DETECT_ADVICE_H
#define CUTLINE_DETECT_ADVICE_H

#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/detect/causes.h"
#include "analysis/facts/facts.h"
#include "analysis/facts/program.h"

enum advice_fact {
    /* the process: program_words */
    ADVICE_PYTHON = PROGRAM_PYTHON,
    ADVICE_TORCH = PROGRAM_TORCH,
    ADVICE_JAX = PROGRAM_JAX,
    ADVICE_TENSORFLOW = PROGRAM_TENSORFLOW,
    /* the copies that take the time: of such memory, ... */
    ADVICE_PAGEABLE = 1U << 4,
    ADVICE_PINNED = 1U << 5, /* on the host; also where there is no host memory in it */
    ADVICE_BETWEEN = 1U << 6, /* between two devices */
    ADVICE_TO_DEVICE = 1U << 7, /* from the host */
    ADVICE_ASYNC = 1U << 8, /* ... their calls do not hold up the thread */
    ADVICE_SAME_STREAM = 1U << 9, /* ... kernels run on their stream, too */
    /* the call that takes the time, by its name */
    ADVICE_COPIES = 1U << 10, /* it copies */
    ADVICE_POOL = 1U << 11, /* cudaMallocAsync, cudaFreeAsync: of a pool */
    ADVICE_HOST_MEMORY = 1U << 12, /* allocates or pins host memory */
    ADVICE_EVENT = 1U << 13, /* waits for an event */
    ADVICE_GRAPH = 1U << 14, /* launches a graph */
    ADVICE_IO = 1U << 15,
    ADVICE_LOCK = 1U << 16,
    ADVICE_SLEEP = 1U << 17,
    /* launches: the first ones of their kernels, or while code is loaded; queue: the driver says that its command
     * buffer is full */
    ADVICE_FIRST = 1U << 18,
    ADVICE_QUEUE = 1U << 19,
    ADVICE_LONG = 1U << 20, /* gaps much longer than a thread needs from launch to launch */
    /* the capture */
    ADVICE_NO_API = 1U << 21, /* holds no API calls */
    ADVICE_PREFETCHES = 1U << 22, /* pages of unified memory are prefetched somewhere */
    ADVICE_UPLOADS = 1U << 23, /* graphs are uploaded somewhere */
    ADVICE_NO_ROOM = 1U << 24, /* little runs beside: hiding wins less than half */
    ADVICE_HELD = 1U << 25, /* the thread had waited for the device until the gap began or later */
    ADVICE_COMPILED = 1U << 26, /* of PyTorch: torch.compile is used already */
    ADVICE_ATTRIBUTES = 1U << 27, /* attributes of a pool are set somewhere */
    ADVICE_FACTS = 28,
};

/* What advice is about: a cause of gaps, or a detector. */
enum advice_topic {
    ADVICE_OF_CAUSE, /* + enum cause_kind */
    ADVICE_OF_TRANSFERS = CAUSE_KIND_COUNT,
    ADVICE_OF_SMALL_COPIES, /* between two memories */
    ADVICE_OF_SMALL_MOVES, /* within a device */
    ADVICE_OF_DENSITY,
    ADVICE_OF_MIGRATIONS,
    ADVICE_OF_COMMUNICATION,
};

struct advice_case {
    int topic; /* enum advice_topic, + enum cause_kind */
    uint32_t facts; /* enum advice_fact */
    const char *call; /* for {call}: the name of the call that takes the time; NULL: none */
    const char
        *wait; /* for {wait}: the call that waited for the device before the launch; NULL: none */
    const char *time; /* for {time}: the number that the sentence is about; NULL: none */
};

/* Adds the sentence of the case, and that of the framework. */
void advice_put(struct buf *out, const struct advice_case *of);

/* What the calls of the capture say: PREFETCHES, UPLOADS, NO_API. O(names). */
uint32_t advice_of_capture(const struct facts *facts);
/* What a copy says: PAGEABLE, PINNED, BETWEEN, TO_DEVICE, ASYNC. */
uint32_t advice_of_op(const struct facts *facts, uint32_t gpu);
/* What a cause says by its calls; without FIRST and LONG. */
uint32_t advice_of_cause(const struct facts *facts, const struct cause *cause);

#endif
