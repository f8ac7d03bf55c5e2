/*
 * detector: one thing that keeps a device from working: how it is found, its table and what the
 * page of findings says of it. Each is one file in this folder and one line of DETECTORS.
 *
 *     `analyze -r NAME`   detector_run: find -> put_row for each row -> note -> drop
 *     `analyze`           findings_make: find with the defaults of rule.args -> finding of all
 *                         -> drop
 *
 * The arguments of the rule are the only place of the defaults; evidence quotes them from there.
 */
#ifndef CUTLINE_DETECT_DETECTOR_H
#define CUTLINE_DETECT_DETECTOR_H

#include "analysis/report/report.h"

struct findings_maker;

/* What a detector found. */
struct detection {
    void *data; /* the detector's own; drop frees it */
    size_t count; /* rows of the table that is asked for */
};

/* One of the tables of a detector. */
struct detector_table {
    const char *by; /* the value of the argument "by" that asks for it; NULL: it has one table */
    const struct table_column *columns;
    int column_count;
    /* Puts the cells of row i, or nothing where the options leave the row out. */
    void (*put_row)(struct table *table, const struct report_context *context, const void *data,
                    size_t i);
};

/* The middle of a detector_table of an array of columns. */
#define DETECTOR_COLUMNS(array) (array), (int)(sizeof(array) / sizeof((array)[0]))

enum {
    DETECTOR_FINDINGS = -1, /* for `by`: the page of findings asks, not a table */
};

struct detector {
    struct report rule; /* name, words, arguments, advice; .run = detector_run */
    const struct detector_table *tables;
    int table_count;
    /* Names the list of the timeline that shows the same; NULL: there is none. */
    const char *timeline_list;
    /* Values of the findings of one place are shares of the same whole: the worst one counts. */
    bool value_is_worst;
    /* Does the capture hold what is looked at? Else the table is missing. */
    bool (*has_data)(const struct trace *trace);
    /* by: index in tables, or DETECTOR_FINDINGS. 0, or -1; out->data may be NULL where there is nothing at all to say. */
    int (*find)(const struct report_context *context, int by, struct detection *out,
                struct err *err);
    void (*drop)(void *data);
    /* Lines for people below the table; NULL: none. 0 or -1. */
    int (*note)(const struct report_context *context, int by, const void *data, struct buf *note,
                struct err *err);
    /* Adds the findings. 0 or -1. */
    int (*finding)(struct findings_maker *maker, const struct report_context *context,
                   const void *data);
};

/* In the order of the help, and of what counts time first. */
#define DETECTORS(X) \
    X(DETECT_FAILED_CALLS) \
    X(DETECT_IDLE_GAPS) \
    X(DETECT_LAUNCH_DENSITY) \
    X(DETECT_SMALL_COPIES) \
    X(DETECT_HIDDEN_TRANSFERS) \
    X(DETECT_UNIFIED_MEMORY) \
    X(DETECT_COMMUNICATION) \
    X(DETECT_LOW_UTILISATION) \
    X(DETECT_TOP_KERNELS) \
    X(DETECT_FULL_QUEUE) \
    X(DETECT_GRAPH_OPAQUE)

#define DETECTOR_DECLARE(symbol) extern const struct detector symbol;
DETECTORS(DETECTOR_DECLARE)
#undef DETECTOR_DECLARE

extern const struct detector *const DETECTOR_LIST[];
extern const size_t DETECTOR_COUNT;

/* NULL where there is none of that name. */
const struct detector *detector_find(const char *name);
/* report.run of all detectors. */
int detector_run(const struct report_context *context, struct report_result *out, struct err *err);

/* What most has_data are. */
bool detector_has_gpu(const struct trace *trace);
/* Is a device kept by the options? */
bool detector_keeps(const struct report_context *context, uint32_t device);

/* The arguments of a detector that looks at a part of the time. */
#define DETECTOR_TIME_ARGS \
    {"start", REPORT_ARG_TIME, 1, NULL, "look only after TIME"}, \
        {"end", REPORT_ARG_TIME, 1, NULL, "look only before TIME"}, \
    { \
        "nvtx", REPORT_ARG_TEXT, 0, NULL, "look only in the first RANGE[@DOMAIN][/INDEX]" \
    }

#endif
