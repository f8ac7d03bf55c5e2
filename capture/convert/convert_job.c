/* The place of each process in its job, its host, and the clock pair by which captures of several hosts
 * are laid side by side: CUTLINE_RANK. */
#include <stdlib.h>
#include <string.h>

#include "capture/convert/convert_internal.h"

void convert_job_learn(struct convert_proc *proc, const struct spool_item *item)
{
    size_t bytes = item->u.meta.head.text_bytes;
    if (item->u.meta.head.code >= SPOOL_JOB_COUNT) {
        return;
    }
    char *value = proc->job[item->u.meta.head.code];
    bytes = bytes < sizeof *proc->job ? bytes : sizeof *proc->job - 1;
    memcpy(value, item->u.meta.text, bytes);
    value[bytes] = '\0';
}

/* A number of up to nine digits; else the cell stays empty. */
static void set_number(struct store_cell *cell, const char *value)
{
    size_t len = strlen(value);
    if (len > 0 && len < 10 && strspn(value, "0123456789") == len) {
        *cell = store_cell_int(strtol(value, NULL, 10));
    }
}

static int job_row(struct convert *c, const struct convert_proc *proc, struct err *err)
{
    const char *id = proc->job[SPOOL_JOB_ID];
    struct store_cell row[STORE_CUTLINE_RANK_N] = {
        [STORE_CUTLINE_RANK_GLOBAL_PID] = store_cell_int(proc->global_pid),
        [STORE_CUTLINE_RANK_HOST] = convert_text(&c->scratch, proc->host, strlen(proc->host)),
        [STORE_CUTLINE_RANK_SESSION] =
            store_cell_int(clock_off(proc->created_mono_ns, c->zero_mono_ns)),
        [STORE_CUTLINE_RANK_REALTIME_NS] = store_cell_int(proc->created_real_ns),
        [STORE_CUTLINE_RANK_MONOTONIC_NS] = store_cell_int(proc->created_mono_ns),
    };
    set_number(&row[STORE_CUTLINE_RANK_RANK], proc->job[SPOOL_JOB_RANK]);
    set_number(&row[STORE_CUTLINE_RANK_WORLD_SIZE], proc->job[SPOOL_JOB_WORLD_SIZE]);
    set_number(&row[STORE_CUTLINE_RANK_LOCAL_RANK], proc->job[SPOOL_JOB_LOCAL_RANK]);
    set_number(&row[STORE_CUTLINE_RANK_NODE], proc->job[SPOOL_JOB_NODE]);
    if (*id != '\0') {
        row[STORE_CUTLINE_RANK_JOB_ID] = convert_text(&c->scratch2, id, strlen(id));
    }
    return store_writer_row(c->writer, STORE_TABLE_CUTLINE_RANK, row, err);
}

int convert_job_rows(struct convert *c, struct err *err)
{
    for (size_t i = 0; i < c->procs_n; i++) {
        if (c->procs[i].is_last_image && job_row(c, &c->procs[i], err) < 0) {
            return -1;
        }
    }
    return 0;
}
