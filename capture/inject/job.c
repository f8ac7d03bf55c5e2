/* The place of this process in a job of several: rank, size of the job, and the like, from the variables
 * of the usual launchers. Nothing else of the environment is looked at. */
#include <stdlib.h>
#include <string.h>

#include "capture/inject/inject.h"

enum {
    VARIABLES = 6,
    VALUE_BYTES = 128 /* longer ones are cut */
};

/* The first that is set counts: those that a program's own launcher sets go before those of the job
 * system around it. cutline-capture(5) lists them. */
static const char *const variables[SPOOL_JOB_COUNT][VARIABLES] = {
    [SPOOL_JOB_RANK] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                        "MV2_COMM_WORLD_RANK", "SLURM_PROCID"},
    [SPOOL_JOB_WORLD_SIZE] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                              "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"},
    [SPOOL_JOB_LOCAL_RANK] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                              "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"},
    [SPOOL_JOB_NODE] = {"GROUP_RANK", "SLURM_NODEID"},
    [SPOOL_JOB_ID] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID"},
};

static const char *value_of(const char *const *names)
{
    for (size_t i = 0; i < VARIABLES && names[i] != NULL; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            return value;
        }
    }
    return NULL;
}

void inject_job(struct spool_writer *writer)
{
    for (uint16_t i = 0; i < SPOOL_JOB_COUNT; i++) {
        const char *value = value_of(variables[i]);
        if (value != NULL) {
            struct spool_meta head = {.kind = SPOOL_META_JOB, .code = i};
            spool_writer_meta(writer, &head, value, strnlen(value, VALUE_BYTES));
        }
    }
}
