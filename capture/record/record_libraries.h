/* NVIDIA's libraries mark their functions by NVTX, but only where a variable of each asks for it:
 * 1 for the functions that compute, 2 for all. */
#ifndef CUTLINE_CAPTURE_RECORD_RECORD_LIBRARIES_H
#define CUTLINE_CAPTURE_RECORD_RECORD_LIBRARIES_H

#include <stdint.h>

enum record_library {
    RECORD_LIBRARY_CUBLAS,
    RECORD_LIBRARY_CUDNN,
    RECORD_LIBRARY_CUSPARSE,
    RECORD_LIBRARY_CUSOLVER,
    RECORD_LIBRARIES
};

/* What --trace asks of each; 0: nothing. */
struct record_libraries {
    uint8_t level[RECORD_LIBRARIES];
};

/* Calls set with each variable that they need, and its value. */
void record_libraries_each(const struct record_libraries *libraries,
                           void (*set)(void *arg, const char *name, const char *value), void *arg);

#endif
