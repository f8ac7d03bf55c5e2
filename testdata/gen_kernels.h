/* gen_kernels: the kernels of the generated training loop. */
#ifndef CUTLINE_TESTDATA_GEN_KERNELS_H
#define CUTLINE_TESTDATA_GEN_KERNELS_H

#include <stdint.h>

enum gen_kernel_id {
    GEN_LN_FWD,
    GEN_GEMM_QKV,
    GEN_FLASH_FWD,
    GEN_GEMM_PROJ,
    GEN_DROPOUT_ADD,
    GEN_GEMM_MLP1,
    GEN_GEMM_MLP2,
    GEN_ADD,
    GEN_LN_BWD,
    GEN_FLASH_BWD,
    GEN_GEMM_DGRAD,
    GEN_GEMM_WGRAD,
    GEN_GELU_GRAD,
    GEN_EMBED,
    GEN_EMBED_GRAD,
    GEN_XENT_FWD,
    GEN_XENT_BWD,
    GEN_NORM,
    GEN_ADAMW,
    GEN_TINY,
    GEN_ALLREDUCE,
    GEN_KERNEL_COUNT,
};

struct gen_kernel {
    const char *full; /* demangled */
    const char *brief; /* the function's own name */
    const char *mangled; /* the same as full where it is plain C */
    int64_t mean_ns; /* how long it runs */
    int registers; /* a thread */
    int static_bytes; /* shared memory */
    int dynamic_bytes; /* shared memory */
    int grid[3];
    int block[3];
};

extern const struct gen_kernel GEN_KERNELS[GEN_KERNEL_COUNT];

#endif
