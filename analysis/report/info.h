/*
 * info: what is in a capture, for a first look: where it comes from, what it holds, what it lacks,
 * what went wrong while it was made, and whether there is GPU work at all.
 *
 *     info_collect(trace, store, &info, &err) -> info_text | info_json -> info_free
 *
 * Never shown: environment variables, host and user names, captured output of the program.
 */
#ifndef CUTLINE_REPORT_INFO_H
#define CUTLINE_REPORT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "analysis/facts/failures.h"
#include "analysis/store/store.h"
#include "analysis/trace/trace.h"

struct info_value {
    const char *text; /* as in the file; NULL where it has none */
    size_t len;
};

/* A message of the recording tool, or a loss that it counted. */
struct info_note {
    const char *text;
    size_t len;
    int64_t severity; /* 2 warning, 3 error (nsys's numbers) */
    int64_t count; /* how many equal ones */
};

/* Events that the recorder knows it lost or left out (CUTLINE_LOSS; the numbers of CUTLINE_BAD_TIME
 * are in it, too). */
struct info_loss {
    const char *kind;
    const char *reason;
    size_t kind_len;
    size_t reason_len;
    int64_t count;
};

enum {
    INFO_NOTES_MAX = 64,
    INFO_LOSSES_MAX = 64
};

/* What the verdict says. */
enum info_verdict {
    INFO_GPU_WORK, /* kernels, or graphs */
    INFO_ONLY_COPIES, /* GPU work, but neither kernels nor graphs */
    INFO_NO_KERNELS, /* API calls, but nothing ran on a GPU */
    INFO_NO_CUDA, /* no CUDA activity */
};

struct info {
    const struct trace *trace; /* not owned; must outlive the info */
    struct arena arena;
    const char *version_table; /* "META_DATA_EXPORT", "EXPORT_META_DATA"; NULL: none */
    struct info_value product; /* of the exporting program */
    struct info_value product_version;
    struct info_value schema;
    struct info_value utc; /* UTC of time 0 */
    struct info_value driver; /* GPU driver */
    struct info_value cuda; /* CUDA version of the driver, "12.8" */
    struct info_value graph_mode; /* "Graph" or "Node" */
    bool has[TRACE_KIND_COUNT]; /* is the kind's table in the file? */
    int64_t busy_ns; /* the sum over devices of the union of ops */
    int64_t device_span_ns; /* the sum over devices of last end - first begin */
    int64_t launches; /* API calls that should have put work on a GPU */
    struct info_note *notes; /* in arena; severity 2 and 3 */
    size_t note_count;
    struct info_loss *losses;
    size_t loss_count;
    struct failures failures; /* owned */
    enum info_verdict verdict;
    const char *reason; /* for INFO_NO_KERNELS: the likeliest cause, a clause */
};

/* 0, or -1 with err set. store is open on the trace's file. */
int info_collect(const struct trace *trace, struct store *store, struct info *info,
                 struct err *err);
void info_free(struct info *info);

/* True for what is no loss: it was asked for (cutline-capture(5), CUTLINE_LOSS). */
bool info_loss_was_asked(const struct info_loss *loss);

/* One line: "has GPU work: ...", "API calls but no kernels: ...", "no CUDA activity: ...". */
void info_verdict_text(const struct info *info, struct buf *out);
/* For people: at most 80 columns, safe for a terminal; ascii: nothing beyond ASCII. */
void info_text(const struct info *info, bool ascii, struct buf *out);
/* One JSON object and a newline. What the file cannot tell is null. */
void info_json(const struct info *info, struct buf *out);

#endif
