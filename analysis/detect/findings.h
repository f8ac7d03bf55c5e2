/*
 * findings: what is worth a person's time in a capture, from all rules, ranked by the time that
 * could be won.
 */
#ifndef CUTLINE_DETECT_FINDINGS_H
#define CUTLINE_DETECT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/facts/steady.h"
#include "analysis/report/shared.h"
#include "analysis/table/table.h"

struct finding {
    const char *rule; /* "idle_gaps": the rule that shows more */
    const char *title; /* "GPU 0 idle after a blocking call" */
    const char *evidence; /* one line with its figures */
    const char *advice; /* one line: what to try */
    const char *show; /* the command that shows it, without the file name */
    const char *within; /* the rule whose findings count this time already; NULL: none */
    bool is_first; /* explains what is missing: comes before all others, whatever can be won */
    int64_t recoverable_ns; /* at most this can be won; -1 where the capture cannot tell */
    int64_t
        rank_ns; /* where recoverable_ns is -1: it stands where one of this time would; 0 = last */
    double value; /* what --fail-on compares, more is worse: idle_gaps: percent of the
                               span; hidden_transfers: percent of copy time that is exposed;
                               low_utilisation: percent idle; graph_opaque: percent of busy time;
                               launch_density: zones; small_copies: copies; unified_memory: migrations;
                               failed_calls, full_queue: calls; NVIDIA's rules: rows */
    int64_t begin_ns; /* where to look first: the worst place */
    int64_t end_ns;
    uint32_t device; /* index in devices, TRACE_NONE */
    uint32_t thread; /* index in threads, TRACE_NONE */
};

struct findings {
    struct finding
        *list; /* largest recoverable time first (unknown: rank_ns); then those whose time
                             another one counts already */
    size_t count;
    const char *about; /* lines on the programs, "" = none */
    struct steady steady; /* is_there: the findings are of it alone */
    int64_t begin_ns; /* what they are of: as asked for, or the steady state */
    int64_t end_ns;
    const char *before; /* around_before and so on, "" = nothing to tell */
    const char *after;
    const char *steady_text;
    const char *series; /* around_series */
    const char *start_up;
    const char *end;
    struct arena arena; /* the texts, sanitised */
};

struct findings_options {
    bool whole; /* do not look for the steady state */
    int64_t begin_ns; /* INT64_MIN, INT64_MAX = everywhere, or the steady state */
    int64_t end_ns;
    uint32_t device; /* TRACE_NONE = all */
};

/* O(n log n). 0 or -1. */
int findings_make(struct shared *shared, const struct findings_options *options,
                  struct findings *out, struct err *err);
void findings_free(struct findings *findings);

/* The findings as a table: one row each, for csv, tsv and json. NULL: no memory. */
struct table *findings_table(const struct trace *trace, const struct findings *findings);
/* How the page for people is written. */
struct findings_page {
    const char *file; /* the name for the commands, which quote it for a shell */
    bool all; /* see findings_text */
    /* The key of the list of the timeline of that name, for hints; NULL: there is none. */
    const char *(*key_of_list)(const char *list);
};

/*
 * The findings for people, at most 79 columns: what the devices did, then each finding with its
 * evidence, advice and command; last, a line for each rule that sees time again which another one
 * counts. With all set, those are findings like the others, and findings below 0.1 % of the span
 * are shown, too; without, they are counted.
 */
void findings_text(const struct trace *trace, const struct findings *findings,
                   const struct findings_page *page, struct buf *out);
/* The largest sum of the values of one rule over a device (or thread), and of its recoverable
 * times; 0 where there is no finding. --fail-on compares them. */
double findings_value(const struct findings *findings, const char *rule);
int64_t findings_recoverable_ns(const struct findings *findings, const char *rule);

#endif
