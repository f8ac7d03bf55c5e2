/* Can this machine record? Looks, changes nothing, and tells for each thing what to do. What may
 * hang or crash (the CUDA driver, CUPTI) is tried in a child with a time limit. */
#ifndef CUTLINE_CAPTURE_RECORD_DOCTOR_H
#define CUTLINE_CAPTURE_RECORD_DOCTOR_H

#include <stddef.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

enum doctor_level {
    DOCTOR_OK,
    DOCTOR_NOTE, /* works, with a limit or something to know */
    DOCTOR_PROBLEM, /* something is not recorded */
};

enum {
    DOCTOR_LINES_MAX = 24,
    DOCTOR_TEXT_BYTES = 400
};

struct doctor_line {
    enum doctor_level level;
    const char *check; /* "driver", "cupti", ...: static */
    char text[DOCTOR_TEXT_BYTES]; /* what is there */
    char advice[DOCTOR_TEXT_BYTES]; /* what to do; "" where nothing is */
};

struct doctor {
    struct doctor_line lines[DOCTOR_LINES_MAX];
    size_t n;
};

/* Looks at everything. cupti: a libcupti to try, NULL to search. folder: where sessions would go,
 * NULL for the usual place. */
void doctor_run(struct doctor *doctor, const char *cupti, const char *folder);

/* "ok", "note", "problem". */
const char *doctor_level_name(enum doctor_level level);

/* How many lines are problems. */
size_t doctor_problems(const struct doctor *doctor);

/* ---- doctor_probe.c: what CUDA itself says --------------------------------------------------- */

enum {
    DOCTOR_DEVICES_MAX = 16
};

struct doctor_probe {
    int finished; /* the child came to its end; 0: it crashed or hung */
    int driver_found; /* libcuda.so.1 is there */
    int init_result; /* of cuInit */
    int driver_version; /* 13000 */
    int devices;
    char names[DOCTOR_DEVICES_MAX][64];
    char cupti_path[512]; /* "" where none was found */
    unsigned cupti_version;
    int subscribe_result; /* of cuptiSubscribe, -1: not tried */
    int enable_result; /* of cuptiActivityEnable for kernels, -1: not tried */
};

/* Fills probe in a child process, within 20 seconds. */
void doctor_probe(struct doctor_probe *probe, const char *cupti);

#endif
