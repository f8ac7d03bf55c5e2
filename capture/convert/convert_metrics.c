/* Samples of GPUs (capture/spool/metrics.h) to the tables of GPU metrics. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/convert/convert_internal.h"
#include "capture/spool/metrics.h"

/* What nsys has above the number of the GPU in the type of a metric. */
#define TYPE_BASE (INT64_C(1) << 56)

static const char *const names[METRIC_COUNT] = {
#define METRIC_NAME(name, text) [name] = (text),
    METRICS(METRIC_NAME)
#undef METRIC_NAME
};

/* A sample stands for so much time around it: the first one is taken just before the recording
 * begins. */
#define AROUND_NS INT64_C(100000000)

struct gpu {
    int64_t id; /* of the file; -1: not told */
    char name[METRICS_LINE_BYTES];
    bool told[METRIC_COUNT]; /* it has its row of TARGET_INFO_GPU_METRICS */
};

struct reading {
    struct convert *c;
    struct gpu gpus[METRICS_GPUS_MAX];
};

static struct store_cell text_of(struct convert *c, const char *text)
{
    return convert_text(&c->scratch, text, strlen(text));
}

/* "INDEX UUID NAME". A GPU that no program used has no row of TARGET_INFO_GPU yet. */
static int read_gpu(struct reading *reading, char *line, struct err *err)
{
    struct convert *c = reading->c;
    char *at = line;
    unsigned long index = strtoul(at, &at, 10);
    if (index >= METRICS_GPUS_MAX || *at != ' ') {
        return 0;
    }
    char *uuid = at + 1;
    char *name = strchr(uuid, ' ');
    if (name == NULL) {
        return 0;
    }
    *name++ = '\0';
    struct gpu *gpu = &reading->gpus[index];
    (void)snprintf(gpu->name, sizeof gpu->name, "%s", name);
    uint32_t known = c->gpus.count;
    uint32_t id = intern_add(&c->gpus, uuid, strlen(uuid));
    if (id == INTERN_NONE) {
        return err_nomem(err, "GPUs");
    }
    gpu->id = id;
    if (id != known) {
        return 0;
    }
    struct store_cell row[STORE_GPU_N] = {
        [STORE_GPU_VM_ID] = store_cell_int(store_global_tid(0, 0)),
        [STORE_GPU_ID] = store_cell_int(id),
        [STORE_GPU_NAME] = text_of(c, name),
        [STORE_GPU_UUID] = store_cell_text(uuid, strlen(uuid)),
    };
    return store_writer_row(c->writer, STORE_TABLE_GPU, row, err);
}

static int tell_metric(struct convert *c, struct gpu *gpu, unsigned long metric, struct err *err)
{
    struct store_cell row[STORE_GPU_METRICS_INFO_N] = {
        [STORE_GPU_METRICS_INFO_TYPE_ID] = store_cell_int(TYPE_BASE | gpu->id),
        [STORE_GPU_METRICS_INFO_SOURCE_ID] = store_cell_int(0),
        [STORE_GPU_METRICS_INFO_TYPE_NAME] = text_of(c, gpu->name),
        [STORE_GPU_METRICS_INFO_METRIC_ID] = store_cell_int((int64_t)metric),
        [STORE_GPU_METRICS_INFO_METRIC_NAME] =
            store_cell_text(names[metric], strlen(names[metric])),
    };
    gpu->told[metric] = true;
    return store_writer_row(c->writer, STORE_TABLE_GPU_METRICS_INFO, row, err);
}

/* A sample is of a device: it is wanted where an event of any process would be. */
static bool wanted_by_any(const struct convert *c, int64_t begin_ns, int64_t end_ns)
{
    for (size_t i = 0; i < c->procs_n; i++) {
        if (convert_wanted(c, &c->procs[i], begin_ns, end_ns)) {
            return true;
        }
    }
    return c->procs_n == 0;
}

/* "MONOTONIC_NS INDEX M=V ..." */
static int read_sample(struct reading *reading, char *line, struct err *err)
{
    struct convert *c = reading->c;
    char *at = line;
    int64_t time_ns = clock_off(strtoll(at, &at, 10), c->zero_mono_ns);
    unsigned long index = strtoul(at, &at, 10);
    if (index >= METRICS_GPUS_MAX || reading->gpus[index].id < 0 || time_ns < c->low_ns ||
        time_ns > c->high_ns || !wanted_by_any(c, time_ns - AROUND_NS, time_ns + AROUND_NS)) {
        return 0;
    }
    struct gpu *gpu = &reading->gpus[index];
    while (*at == ' ') {
        unsigned long metric = strtoul(at, &at, 10);
        if (*at != '=' || metric >= METRIC_COUNT) {
            return 0;
        }
        int64_t value = strtoll(at + 1, &at, 10);
        struct store_cell row[STORE_GPU_METRICS_N] = {
            [STORE_GPU_METRICS_TIMESTAMP] = store_cell_int(time_ns),
            [STORE_GPU_METRICS_TYPE_ID] = store_cell_int(TYPE_BASE | gpu->id),
            [STORE_GPU_METRICS_METRIC_ID] = store_cell_int((int64_t)metric),
            [STORE_GPU_METRICS_VALUE] = store_cell_int(value),
        };
        if ((!gpu->told[metric] && tell_metric(c, gpu, metric, err) < 0) ||
            store_writer_row(c->writer, STORE_TABLE_GPU_METRICS, row, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_lines(struct reading *reading, FILE *file, struct err *err)
{
    char line[METRICS_LINE_BYTES];
    int result = 0;
    while (result == 0 && fgets(line, sizeof line, file) != NULL) {
        char *end = strchr(line, '\n');
        if (end == NULL) {
            break; /* the last line of a killed launcher */
        }
        *end = '\0';
        if (strncmp(line, "gpu ", 4) == 0) {
            result = read_gpu(reading, line + 4, err);
        } else if (strncmp(line, "at ", 3) == 0) {
            result = read_sample(reading, line + 3, err);
        }
    }
    return result;
}

int convert_metrics(struct convert *c, struct err *err)
{
    if (c->control != NULL && atomic_load(&c->control->log_count) == 0) {
        return 0; /* the recording never began */
    }
    buf_reset(&c->scratch2);
    buf_addf(&c->scratch2, "%s/%s", c->opts->session, METRICS_FILE);
    FILE *file = fopen(buf_text(&c->scratch2), "re");
    if (file == NULL) {
        return 0; /* they were not asked for */
    }
    struct reading *reading = calloc(1, sizeof *reading);
    int result = -1;
    if (reading == NULL) {
        (void)err_nomem(err, "GPU metrics");
    } else {
        reading->c = c;
        for (size_t i = 0; i < METRICS_GPUS_MAX; i++) {
            reading->gpus[i].id = -1;
        }
        result = read_lines(reading, file, err);
    }
    free(reading);
    (void)fclose(file);
    return result;
}
