/* Names: the spelling of nsys for kernels (pairs that nsys printed), and the names of CUDA calls
 * against the real library where it is at hand. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "capture/convert_cbid.h"
#include "capture/convert_demangle.h"

static void test_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *mangled;
        const char *full;
        const char *brief;
    } pairs[] = {
        {"saxpy",                                                                                 "saxpy",                                                             "saxpy"        },
        {"_Z5saxpyPdS_S_di",                                                                      "saxpy(double *, double *, double *, double, int)",                  "saxpy"        },
        {"_Z9nothing",                                                                            "_Z9nothing",                                                        "_Z9nothing"   },
        {"",                                                                                      "",                                                                  ""             },
        {"_Z1fPKcS0_RKiPKPKd",                                                                    "f(const char *, const char *, const int &, const double *const *)",
         "f"                                                                                                                                                                          },
        {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4EEEEEvv",
         "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
         "at::native::MeanOps<float, float, float, float>, unsigned int, float, (int)4>>()",                                                                           "reduce_kernel"},
        {"_Z1gILb1ELm18446744073709551615ELin3ELj7EEvSt5arrayIPcLm1EE",
         "void g<(bool)1, (unsigned long)18446744073709551615, (int)-3, (unsigned int)7>("
         "std::array<char *, (unsigned long)1>)",                                                                                                                      "g"            },
        {"_ZN2at45_GLOBAL__N__d25d856e_22_ForeachBinaryOpList_c3addEv",                           "at::<unnamed>::add()",
         "add"                                                                                                                                                                        },
        {"_Z3runIZ4mainEUliE_EvT_",
         "void run<main::[lambda(int) (instance 1)]>(main::[lambda(int) (instance 1)])",                                                                               "run"          },
    };
    struct demangle demangle;
    struct buf full = {0};
    struct buf brief = {0};
    if (!demangle_open(&demangle)) {
        print_message("skipped: no C++ runtime library here\n");
        skip();
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        demangle_name(&demangle, pairs[i].mangled, &full, &brief);
        assert_string_equal(buf_text(&full), pairs[i].full);
        assert_string_equal(buf_text(&brief), pairs[i].brief);
    }
    demangle_close(&demangle);
    demangle_name(&demangle, "_Z1fv", &full, &brief);
    assert_string_equal(buf_text(&full), "_Z1fv");
    buf_free(&full);
    buf_free(&brief);
}

static void test_calls(void **state)
{
    (void)state;
    assert_string_equal(cbid_name(CBID_RUNTIME, 211), "cudaLaunchKernel_v7000");
    assert_string_equal(cbid_name(CBID_DRIVER, 307), "cuLaunchKernel");
    assert_null(cbid_name(CBID_RUNTIME, 0));
    assert_null(cbid_name(CBID_DRIVER, UINT32_MAX));
}

static void test_calls_against_library(void **state)
{
    (void)state;
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    library = library ? library : dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW);
    library = library ? library : dlopen("/usr/local/cuda/lib/libcupti.so.13", RTLD_NOW);
    if (!library) {
        print_message("skipped: no libcupti.so.13 here\n");
        skip();
    }
    int (*get_name)(int, uint32_t, const char **);
    void *symbol = dlsym(library, "cuptiGetCallbackName");
    assert_non_null(symbol);
    memcpy(&get_name, &symbol, sizeof symbol);
    for (uint32_t cbid = 1; cbid < 600; cbid++) {
        for (int domain = 1; domain <= 2; domain++) {
            const char *ours = cbid_name(domain == 1 ? CBID_DRIVER : CBID_RUNTIME, cbid);
            const char *theirs = NULL;
            if (ours && get_name(domain, cbid, &theirs) == 0) {
                assert_string_equal(ours, theirs);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_calls_against_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
