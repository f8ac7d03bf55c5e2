/* rows_internal: what rows.c and rows_make.c share; nobody else includes it. */
#ifndef CUTLINE_APP_ROWS_INTERNAL_H
#define CUTLINE_APP_ROWS_INTERNAL_H

#include "viewer/app/rows.h"

/* A new row below `up` (TRACE_NONE: a top row), which hands on its device, process and thread. NULL
 * without memory. The pointer is good until the next rows_add. */
struct row *rows_add(struct rows *rows, enum row_kind kind, uint32_t up);
/* Safe text in the arena; "" without memory. */
const char *rows_text(struct rows *rows, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* New zeroed sets that the rows own; NULL without memory. */
struct derive *rows_new_derived(struct rows *rows);
struct series *rows_new_series(struct rows *rows);

int rows_add_device(struct rows *rows, const struct projection *projection, uint32_t device,
                    uint32_t pack_above, struct err *err);
/* up_row: the row that it is below, TRACE_NONE = none. */
int rows_add_process(struct rows *rows, uint32_t process, uint32_t up_row, struct err *err);
/* Of each process: has it no CUDA call, no NVTX range and no GPU work? */
void rows_find_idle(const struct trace *trace, bool *idle);

#endif
