/* trace_facts: what a JSON trace says of the run and of its devices; readers of small texts. */
#ifndef CUTLINE_IMPORT_TRACE_FACTS_H
#define CUTLINE_IMPORT_TRACE_FACTS_H

#include "analysis/base/err.h"
#include "analysis/import/json_scan.h"
#include "analysis/store/writer.h"

struct trace_facts {
    int64_t base_ns; /* of all times of the trace, since 1970 */
    bool has_base;
    int64_t shift_ns; /* the time 0 of the capture: the full hour before the first event */
    bool has_shift;
};

/* From times of the trace, which often count from 1970, to those of the capture. */
void trace_facts_times(struct trace_facts *facts, int64_t *begin_ns, int64_t *end_ns);

/* A member of the outermost object: distributedInfo, deviceProperties, baseTimeNanoseconds, host_name;
 * others are nothing. 0 or -1. */
int trace_facts_member(struct trace_facts *facts, struct store_writer *writer,
                       const struct json_value *key, const struct json_value *value,
                       struct err *err);
/* Rows of what is known only at the end. 0 or -1. */
int trace_facts_end(const struct trace_facts *facts, struct store_writer *writer, struct err *err);

enum {
    TRACE_MEMORY_DEVICE = 2 /* ENUM_CUDA_MEM_KIND */
};

/* What the name of a copy tells: ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND; from, to -1: not told. */
struct trace_copy {
    int64_t kind;
    int64_t from;
    int64_t to;
};
struct trace_copy trace_copy_of(const struct json_value *name);

/* Up to count numbers after the key ("grid:") of a text of XLA; what is not there stays. */
void trace_details(const struct json_value *details, const char *key, int64_t *out, int count);
/* Does the text begin so? */
bool trace_begins(const struct json_value *text, const char *with);
/* A number as a value; its text is written to room. */
struct json_value trace_number(int64_t number, char room[24]);

#endif
