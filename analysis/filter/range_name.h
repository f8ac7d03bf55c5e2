/*
 * range_name: NVTX ranges as a person writes them, for options.
 *
 *     RANGE            spelt exactly, in the default domain (or any, see below)
 *     DOMAIN:RANGE     as the tables print it; ":RANGE" is the default domain
 *     RANGE@DOMAIN     as nsys has it; @default is the default domain, @* any
 *     FORM/INDEX       the instance of that number, from 0
 *
 * Texts may hold ':', '@' and '/' themselves ("aten::add", "user@host", "layer/3"). The forms are
 * tried in the order above, the index last, and the first that names a range of the capture is
 * meant: what is spelt exactly is found.
 */
#ifndef CUTLINE_FILTER_RANGE_NAME_H
#define CUTLINE_FILTER_RANGE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/trace.h"

/* What a plain RANGE may mean, and what may follow it. */
enum range_name_flags {
    RANGE_NAME_ANY_DOMAIN = 1U << 0, /* else the default domain */
    RANGE_NAME_INDEX = 1U << 1,
};

/* One way to read the text. Pointers into it. */
struct range_name {
    const char *text;
    size_t len;
    const char *domain; /* NULL = the default domain, "*" = any; not NUL-terminated */
    size_t domain_len;
    bool is_printed; /* text is DOMAIN:RANGE */
    bool has_index;
    uint64_t index;
};

/*
 * Marks in wanted (one for each name of the trace) the names of ranges that the text means, and
 * says in *form how it was read; where none is there, as what it was most likely meant. Returns how
 * many. O(names).
 */
size_t range_name_mark(const struct trace *trace, const char *text, unsigned flags, bool *wanted,
                       struct range_name *form);

#endif
