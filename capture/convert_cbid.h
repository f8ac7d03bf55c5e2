/* Names of CUDA runtime and driver calls by CUPTI's callback numbers. */
#ifndef CUTLINE_CAPTURE_CONVERT_CBID_H
#define CUTLINE_CAPTURE_CONVERT_CBID_H

#include <stdint.h>

enum cbid_domain {
    CBID_DRIVER,
    CBID_RUNTIME
};

/* "cudaLaunchKernel_v7000", "cuLaunchKernel"; NULL for a number that is not known. Static text. */
const char *cbid_name(enum cbid_domain domain, uint32_t cbid);

#endif
