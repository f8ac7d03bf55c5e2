/*
 * findings: what is worth a person's time in a capture, from all rules, ranked by the time that
 * could be won.
 */
#ifndef CUTLINE_QUERY_FINDINGS_H
#define CUTLINE_QUERY_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/err.h"
#include "analysis/query/facts.h"

struct finding {
    const char *rule;       /* "idle_gaps": the rule that shows more */
    const char *title;      /* "GPU 0 idle after a blocking call" */
    const char *evidence;   /* one line with its figures */
    const char *advice;     /* one line: what to try */
    const char *show;       /* the command that shows it, without the file name */
    int64_t recoverable_ns; /* at most this can be won; -1 where the capture cannot tell */
    double value;           /* what --fail-on compares: percent or count, see the rule */
    int64_t begin_ns;       /* where to look first: the worst place */
    int64_t end_ns;
    uint32_t device; /* index in devices, TRACE_NONE */
    uint32_t thread; /* index in threads, TRACE_NONE */
};

struct findings {
    struct finding *list; /* largest recoverable time first, unknown last */
    size_t count;
    struct arena arena; /* the texts, sanitised */
};

struct findings_options {
    int64_t begin_ns; /* INT64_MIN, INT64_MAX = everywhere */
    int64_t end_ns;
    uint32_t device; /* TRACE_NONE = all */
};

/* O(n log n). 0 or -1. */
int findings_make(const struct facts *facts, const struct findings_options *options,
                  struct findings *out, struct err *err);
void findings_free(struct findings *findings);

#endif
