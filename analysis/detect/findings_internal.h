/*
 * findings_internal: what the parts of findings share; used by findings_*.c alone.
 */
#ifndef CUTLINE_DETECT_FINDINGS_INTERNAL_H
#define CUTLINE_DETECT_FINDINGS_INTERNAL_H

#include "analysis/detect/findings.h"

#define GAP_MIN_NS INT64_C(50000) /* the default of idle_gaps */

/* What findings_make carries. */
struct findings_maker {
    const struct facts *facts;
    const struct trace *trace;
    const struct findings_options *options;
    struct findings *out;
    size_t cap;
    int64_t sync_idle_ns; /* idle time that synchronising calls explain */
    bool failed;
    struct err *err;
};

/* The text, made safe, in the arena. "" without memory, and maker->failed. */
const char *findings_keep(struct findings_maker *maker, const struct buf *text);
/* The same of a format; cut at 1023 bytes. */
const char *findings_words(struct findings_maker *maker, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
void findings_add(struct findings_maker *maker, const struct finding *finding);
/* 100 * part / whole, 0 where whole is 0. */
double findings_percent(int64_t part, int64_t whole);

/* Each adds the findings of its rules. 0 or -1. findings_idle goes before findings_nsys. */
int findings_idle(struct findings_maker *maker);
int findings_density(struct findings_maker *maker);
int findings_copies(struct findings_maker *maker);
int findings_low(struct findings_maker *maker);
int findings_opaque(struct findings_maker *maker);
int findings_nsys(struct findings_maker *maker);
/* Is it a rule of nsys? */
bool findings_is_nsys(const char *rule);

#endif
