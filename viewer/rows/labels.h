/*
 * labels: what tells a kernel from others with the same short name.
 *
 * Kernels made from one template share their short name ("vectorized_elementwise_kernel"). The tail
 * of such a name is the words of its full name that its neighbours do not have, the rarest first:
 * "CUDAFunctor_add float". Where no word tells it apart, the tail is the text from the first place
 * in which the neighbours differ. Names without such neighbours have no tail.
 *
 * Cost: O(n log n) comparisons and one pass over the words, once after loading; only the first
 * LABELS_LOOK bytes of a name count.
 */
#ifndef CUTLINE_APP_LABELS_H
#define CUTLINE_APP_LABELS_H

#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/trace/trace.h"

enum {
    LABELS_LOOK = 16384,
    LABELS_TAIL = 160, /* bytes of a tail at most */
    LABELS_WORDS = 5 /* words of a tail at most */
};

struct label {
    const char *tail; /* in the trace's own text; not NUL-terminated, not sanitised */
    uint32_t tail_len; /* 0 = none */
};

struct labels {
    struct label *list; /* owned: one for each name of the trace */
    struct arena arena;
};

/* 0, or -1 without memory. */
int labels_make(const struct trace *trace, struct labels *out, struct err *err);
void labels_free(struct labels *labels);

#endif
