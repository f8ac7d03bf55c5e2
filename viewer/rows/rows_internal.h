/* rows_internal: what rows*.c share; nobody else includes it. */
#ifndef CUTLINE_APP_ROWS_INTERNAL_H
#define CUTLINE_APP_ROWS_INTERNAL_H

#include "viewer/rows/rows.h"

/* A new row below `up` (TRACE_NONE: a top row), which hands on its device, process and thread. NULL
 * without memory. The pointer is good until the next rows_add. */
struct row *rows_add(struct rows *rows, enum row_kind kind, uint32_t up);
/* Safe text in the arena; "" without memory. */
const char *rows_text(struct rows *rows, const char *fmt, ...) CUTLINE_PRINTF(2, 3);

/* New zeroed sets that the rows own; NULL without memory. */
struct derive *rows_new_derived(struct rows *rows);
struct series *rows_new_series(struct rows *rows);

int rows_add_device(struct rows *rows, uint32_t device, struct err *err);
/* up_row: the row that it is below, TRACE_NONE = none. */
int rows_add_process(struct rows *rows, uint32_t process, uint32_t up_row, struct err *err);
/* Of each process: has it no CUDA call, no NVTX range and no GPU work? */
void rows_find_idle(const struct trace *trace, bool *idle);

/* Has the trace itself the sums of a lane? */
static inline bool rows_has_sums(const struct row *row)
{
    return row->lane.table == TRACE_GPU && row->lane.index == NULL;
}

/* rows_kept.c: is there a shelf with what rows of these options derive? Takes the places from it. */
bool rows_find_kept(struct rows *rows);
/* The newest derived set, the newest series, from the shelf. False where it is not there. */
bool rows_take_set(const struct rows *rows, struct derive *set);
bool rows_take_series(const struct rows *rows, struct series *series);
/* The sums before blocks of a row; NULL where they are not there. */
const int64_t *rows_take_sums(const struct rows *rows, uint32_t row);

#endif
