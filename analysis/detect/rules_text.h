/*
 * rules_text: cells and words that several of our rules share.
 */
#ifndef CUTLINE_DETECT_RULES_TEXT_H
#define CUTLINE_DETECT_RULES_TEXT_H

#include "analysis/base/buf.h"
#include "analysis/facts/facts.h"
#include "analysis/table/table.h"

enum {
    /* What a device runs: all kinds of the GPU table, for report.kinds. */
    RULES_OPS = 1U << TRACE_KERNEL | 1U << TRACE_MEMCPY | 1U << TRACE_MEMSET | 1U << TRACE_GRAPH |
                1U << TRACE_MIGRATION,
};

/* A text cell; empty where the text is "" or NULL. */
void rules_put_text(struct table *table, const char *text);
/* A count or a size; empty where it is unknown, below 0. */
void rules_put_known(struct table *table, int64_t value);
/* The process id of a GPU lane. */
void rules_put_pid(struct table *table, const struct trace *trace, uint32_t process);
/* An op's name: short for kernels and graphs, "[CUDA memcpy HtoD]" in full. TRACE_NONE: empty. */
void rules_put_op(struct table *table, const struct trace *trace, uint32_t gpu);
/* The ranges open on a thread, "step 3 > forward"; empty where there is none. */
void rules_put_path(struct table *table, const struct facts *facts, uint32_t thread, int64_t t_ns);
/* "Pageable"; empty for a kind that the file does not have. */
void rules_put_mem_kind(struct table *table, uint8_t kind);
/* 100 * part / whole; empty where whole is 0. */
void rules_put_percent(struct table *table, int64_t part, int64_t whole);
const char *rules_op_name(const struct trace *trace, uint32_t gpu);

#endif
