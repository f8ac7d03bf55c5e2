/*
 * findings_internal: what detectors add findings with; used in this folder alone.
 */
#ifndef CUTLINE_DETECT_FINDINGS_INTERNAL_H
#define CUTLINE_DETECT_FINDINGS_INTERNAL_H

#include "analysis/detect/advice.h"
#include "analysis/detect/findings.h"
#include "analysis/detect/idle_tally.h"
#include "analysis/filter/select.h"

/* What findings_make carries. */
struct findings_maker {
    struct shared *shared;
    const struct facts *facts;
    const struct trace *trace;
    const struct findings_options *options; /* &window */
    struct findings_options window; /* what was asked for, or the steady state */
    struct findings *out;
    size_t cap;
    struct selection select; /* what the options keep */
    struct findings_asked *asked; /* parallel to DETECTOR_LIST */
    int64_t sync_idle_ns; /* idle time that synchronising calls explain; by idle_gaps */
    struct program *programs; /* by process; owned */
    uint32_t capture_facts; /* advice_of_capture */
    struct idle_zone
        *zones; /* idle time that the zones of launch_density count; by idle_gaps, owned */
    bool failed;
    struct err *err;
};

struct detector;
/* What a detector found with its defaults: asked once for all. NULL where there is nothing, or on
 * failure, which findings_make notices. */
const void *findings_found(struct findings_maker *maker, const struct detector *detector);

/* The text, made safe, in the arena. "" without memory, and maker->failed. */
const char *findings_keep(struct findings_maker *maker, const struct buf *text);
/* The same of a format; cut at 1023 bytes. */
const char *findings_words(struct findings_maker *maker, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
void findings_add(struct findings_maker *maker, const struct finding *finding);
/* 100 * part / whole, 0 where whole is 0. */
double findings_percent(int64_t part, int64_t whole);

/* The facts of advice that a process is good for: what it is written with. */
uint32_t findings_program(const struct findings_maker *maker, uint32_t process);

/* The advice on a topic by these facts and those of the capture and the process (TRACE_NONE: none). */
const char *findings_advice(struct findings_maker *maker, int topic, uint32_t facts,
                            uint32_t process);

/* What shares are of: "its span", "the steady state", or "this time". */
const char *findings_span(const struct findings_maker *maker);

/* A time of an argument, in the largest unit that it is a whole number of: "50 us". out holds
 * TIMEFMT_BYTES. Returns out. */
const char *findings_time(int64_t ns, char *out);

/* Adds those of the rules of nsys, after all detectors. 0 or -1. */
int findings_nsys(struct findings_maker *maker, const struct select_options *options);
/* Is it a rule of nsys? */
bool findings_is_nsys(const char *rule);

#endif
