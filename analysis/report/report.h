/*
 * report: the descriptor of a report (`cutline stats`) or a rule (`cutline analyze`), the list of
 * all, and the one way to run them.
 *
 * A descriptor is data: name, texts, arguments, and a function from a trace to a table. Option
 * parsing, --help-reports, the man page check, completion and the viewer's lists read the same
 * table.
 *
 *     report_call_parse("cuda_gpu_kern_sum:base") -> report_run -> result.table -> table_write
 *                                                 -> report_result_free
 *
 * A report's table always has its columns, also where it has no rows or its data are missing, so
 * that csv and json have the same shape whatever the capture holds.
 */
#ifndef CUTLINE_REPORT_REPORT_H
#define CUTLINE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/filter/select.h"
#include "analysis/report/shared.h"
#include "analysis/table/table.h"
#include "analysis/trace/trace.h"

enum report_kind {
    REPORT_STATS, /* for `cutline stats` */
    REPORT_RULE, /* for `cutline analyze` */
};

enum report_arg_type {
    REPORT_ARG_FLAG, /* NAME alone: value.i is 1 */
    REPORT_ARG_INT, /* NAME=12 */
    REPORT_ARG_REAL, /* NAME=0.5 */
    REPORT_ARG_TIME, /* NAME=50us, value.i in ns; a bare number is in unit_ns */
    REPORT_ARG_TEXT, /* NAME=TEXT */
};

struct report_arg {
    const char *name; /* NULL ends a list */
    enum report_arg_type type;
    int64_t unit_ns; /* TIME: what a bare number means */
    const char *fallback; /* the default, written as a person would; NULL = not given */
    const char *help; /* one line */
};

/* The value of one argument; parallel to the descriptor's args. */
struct report_value {
    bool given; /* on the command line, or by the descriptor's default */
    int64_t i; /* FLAG, INT, TIME (ns) */
    double real; /* REAL */
    const char *text; /* TEXT: lives as long as the call; NULL where not given */
};

enum {
    REPORT_ARGS_MAX = 12
};

enum report_status {
    REPORT_ROWS, /* the table is the answer; it may have no rows */
    REPORT_MISSING, /* the capture has no such data: `missing` says which; the table has no rows */
};

/* What the durations in the rows of a rule of nsys add up to, rows=N or not. */
struct report_sum {
    int64_t total_ns;
    int64_t longest_ns;
    int64_t longest_begin_ns;
};

struct report_result {
    enum report_status status;
    struct table *table; /* owned; columns always there */
    const char *missing; /* the "CUDA kernel data" of "FILE does not contain CUDA kernel data." */
    struct report_sum sum; /* rules of nsys */
    struct buf note; /* lines for people after the table, each ends in '\n'; "" = none */
};

struct report;

/* What a run function gets. */
struct report_context {
    const struct report *report; /* what runs */
    struct shared *shared; /* for what others of the same capture ask, too */
    const struct trace *trace;
    const struct selection *select; /* resolved options; never NULL */
    const struct report_value *args; /* parallel to the descriptor's args */
};

struct report {
    const char *name; /* "cuda_gpu_kern_sum" */
    const char *title; /* "CUDA GPU Kernel Summary" */
    enum report_kind kind;
    const char *help; /* one line: what it shows */
    const char *advice; /* rules: what to do about it, one line; NULL for reports */
    const char *missing; /* default of result.missing */
    /* Bits of 1 << enum trace_kind: what of a capture the report reads, where none of nvtx-name,
     * an NVTX range, a process or a device is asked for; 0 = everything. */
    uint32_t kinds;
    const struct report_arg *args; /* ends with a NULL name; NULL = none */
    /*
     * Makes out->table; sets out->status to REPORT_MISSING (and out->missing, where the default
     * does not fit) if the capture lacks the data; adds to out->note. out is zero but for missing.
     * 0 or -1; on -1 the caller frees out.
     */
    int (*run)(const struct report_context *context, struct report_result *out, struct err *err);
};

/* The default of the argument of that name; {0} where it has none. */
struct report_value report_default(const struct report *report, const char *name);
/* The value of the argument of that name; NULL where the report has no such argument. */
const struct report_value *report_value_of(const struct report_context *context, const char *name);

/* All of one kind, in the order of the help; count of them. */
const struct report *const *report_list(enum report_kind kind, int *count);
/* NULL where there is none of that name. */
const struct report *report_find(enum report_kind kind, const char *name);

/* A report with its arguments, as one wrote it: "um_sum:rows=5", "cuda_gpu_kern_sum:base". */
struct report_call {
    const struct report *report;
    struct report_value values[REPORT_ARGS_MAX];
    char *spec; /* owned: the words as written, also what values[].text points into */
    char *text; /* owned: the spec as written, for titles and file names */
};

/*
 * Words are separated by ':'; a backslash makes the next character plain. A word is a flag's name
 * or NAME=VALUE; a bare value goes to the first argument that is no flag ("um_sum:10"). 0, or -1
 * with what is wrong and the names that exist.
 */
int report_call_parse(enum report_kind kind, const char *spec, struct report_call *call,
                      struct err *err);
void report_call_free(struct report_call *call);
/* What trace_options.kinds may be for this call with these options; 0 = everything. */
uint32_t report_call_kinds(const struct report_call *call, const struct select_options *options);

/*
 * Resolves the options (the call's own start=, end= and nvtx= arguments go before them) and runs.
 * 0 or -1; in both cases the caller frees result with report_result_free.
 */
int report_run(struct shared *shared, const struct report_call *call,
               const struct select_options *options, struct report_result *result, struct err *err);
void report_result_free(struct report_result *result);

#endif
