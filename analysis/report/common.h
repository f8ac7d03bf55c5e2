/*
 * common: what the reports share: labels of names, the kernel arguments, sums by group, and the
 * rows of the file that belong to a list of events.
 */
#ifndef CUTLINE_REPORT_COMMON_H
#define CUTLINE_REPORT_COMMON_H

#include "analysis/base/intern.h"
#include "analysis/base/stat.h"
#include "analysis/facts/rows.h"
#include "analysis/filter/select.h"
#include "analysis/report/report.h"

/* ---- labels ---- */

struct kit_text {
    const char *text;
    size_t len;
};

/* The arguments of all reports with kernel names, in the order of the enum. */
enum kit_arg {
    KIT_ARG_NVTX_NAME,
    KIT_ARG_BASE,
    KIT_ARG_MANGLED,
    KIT_ARG_COUNT,
};
extern const struct report_arg KIT_KERNEL_ARGS[];

/* A kernel by the arguments base and mangled (values as of KIT_KERNEL_ARGS; NULL = full name);
 * copies and sets have one name. */
struct kit_text kit_kernel(const struct trace *trace, uint32_t name,
                           const struct report_value *args);
/* An API call without a _v and exactly four digits at its end, as nsys prints it. */
struct kit_text kit_api(const struct trace *trace, uint32_t name);
/* The same with the innermost NVTX range of its call before it, "range/kernel" or
 * "domain:range/kernel". innermost: of nvtx_innermost, NULL = none wanted. op: GPU index. */
void kit_kernel_in_range(struct buf *out, const struct report_context *c, const uint32_t *innermost,
                         uint32_t op);
/* "   1    1    1": three sizes as nsys prints them; nothing where they are unknown (-1). */
void kit_xyz(struct buf *out, const int64_t *xyz);
/* Adds "domain:range", ":range" for the default domain. */
void kit_nvtx(struct buf *out, const struct trace *trace, uint32_t name);

/* Puts a text of our own. */
void kit_put(struct table *table, const char *text);
void kit_put_text(struct table *table, struct kit_text text);

/* Is the event of a lane in, by kind (bits of 1 << enum trace_kind), time and name? */
static inline bool kit_event(const struct report_context *c, enum trace_table table, uint32_t i,
                             uint32_t kinds)
{
    return select_event(c->trace, c->select, table, i, kinds);
}

enum {
    KIT_KERNELS = 1U << TRACE_KERNEL,
    KIT_MEMORY = 1U << TRACE_MEMCPY | 1U << TRACE_MEMSET | 1U << TRACE_MIGRATION,
    KIT_OPS = KIT_KERNELS | KIT_MEMORY,
    KIT_BUSY = KIT_OPS | 1U << TRACE_GRAPH,
    KIT_PUSHPOP = 1U << TRACE_NVTX_PUSHPOP,
    KIT_STARTEND = 1U << TRACE_NVTX_STARTEND,
};

/* A line for people where graph launches are left out of a list of kernels, as nsys does. */
void kit_note_graphs(const struct report_context *c, struct buf *note);
/* A line for people that names the start/end ranges which ended on another thread, where they are
 * left out for that, as nsys does. */
void kit_note_crossed(const struct report_context *c, struct buf *note);
/* Sets the status to missing where a report needs API calls and the capture has none. */
void kit_need_calls(const struct report_context *c, struct report_result *out);

/* ---- sums by group ---- */

enum {
    KIT_TEXTS_MAX = 3
};

/* A group is up to three texts, printed after the numbers. */
struct kit_sums {
    struct intern texts;
    struct intern keys; /* of KIT_TEXTS_MAX text ids: its id is the group */
    struct stat_groups groups;
    struct kit_origin *origins; /* owned; by group, as many as origin_cap */
    size_t origin_cap;
};

/* Where a group is from: a part of the table's query, and the StringIds row in it. */
struct kit_origin {
    uint32_t part;
    uint32_t text; /* 1 + id in kit_sums.texts of what StringIds holds; 0 = nothing */
};

/* The group of some texts; INTERN_NONE without memory. */
uint32_t kit_sums_group(struct kit_sums *sums, const struct kit_text *texts, int count);
/* Says where a group is from, for KIT_SUMS_BY_ID. text.text NULL: from no StringIds row. */
void kit_sums_origin(struct kit_sums *sums, uint32_t group, uint32_t part, struct kit_text text);
/* Adds a value to a group. */
void kit_sums_add(struct kit_sums *sums, uint32_t group, int64_t value);

enum kit_sums_flag {
    KIT_SUMS_BYTES = 1U << 0, /* values are bytes: MB, no percent */
    KIT_SUMS_BY_ID = 1U << 1, /* equal totals by part and StringIds id: nsys groups by it */
};
struct kit_sums_layout {
    const char *title;
    const char *count_header; /* "Instances" */
    const char *text_headers[KIT_TEXTS_MAX]; /* "Style", "Range" */
    int text_count;
    unsigned flags;
};
/*
 * Makes the table: Time (%), Total Time, count, Avg, Med, Min, Max, StdDev and the texts; by total
 * descending, then by origin or count ascending, then by the last text. NULL without memory. Frees
 * the sums.
 */
struct table *kit_sums_table(struct kit_sums *sums, const struct kit_sums_layout *layout,
                             const struct report_context *c);
void kit_sums_free(struct kit_sums *sums);

#endif
