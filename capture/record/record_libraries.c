/* The variables by which NVIDIA's libraries emit NVTX ranges. Which library reads which was found
 * by the libraries of CUDA 13.0, which run far enough without a GPU. */
#include "capture/record/record_libraries.h"

#include <stddef.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum record_library library;
} variables[] = {
    {"CUBLAS_NVTX_LEVEL", RECORD_LIBRARY_CUBLAS},
    {"CUBLASLT_NVTX_LEVEL", RECORD_LIBRARY_CUBLAS},
    {"CUBLASXT_NVTX_LEVEL", RECORD_LIBRARY_CUBLAS},
    {"CUDNN_NVTX_LEVEL", RECORD_LIBRARY_CUDNN},
    {"CUSPARSE_NVTX_LEVEL", RECORD_LIBRARY_CUSPARSE},
    {"CUSOLVERDN_NVTX_LEVEL", RECORD_LIBRARY_CUSOLVER},
};

void record_libraries_each(const struct record_libraries *libraries,
                           void (*set)(void *arg, const char *name, const char *value), void *arg)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        uint8_t level = libraries->level[variables[i].library];
        if (level > 0) {
            char value[8];
            (void)snprintf(value, sizeof value, "%u", (unsigned)level);
            set(arg, variables[i].name, value);
        }
    }
}
