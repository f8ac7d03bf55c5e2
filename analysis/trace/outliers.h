/* What the two files of the outliers share; see outliers.c. */
#ifndef CUTLINE_TRACE_OUTLIERS_H
#define CUTLINE_TRACE_OUTLIERS_H

#include "analysis/trace/trace_internal.h"

#define OUTLIER_SECOND_NS INT64_C(1000000000)
#define OUTLIER_HOUR_NS (3600 * OUTLIER_SECOND_NS)

/* Leaves a row out: it is named where there is room, and counted. */
void outliers_leave_out(struct load *load, struct piece *piece, uint32_t i);
/* Takes the rows that were left out from the columns. True where there were any. */
bool outliers_settle(struct load *load);
/* outliers_silence.c: leaves out what a silence cuts off. partial: only looks for a silence, and sets
 * *again. 0, or -1 without memory. */
int outliers_silence(struct load *load, bool partial, bool *again);

static inline bool outliers_is_gpu(const struct piece *piece)
{
    return raw_table_of(piece) == TRACE_GPU;
}

#endif
