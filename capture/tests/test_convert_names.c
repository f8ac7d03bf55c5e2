/* The spelling of kernel names, against pairs that nsys printed. */

#include "analysis/tests/check.h"
#include "capture/convert/convert_demangle.h"

static void test_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *mangled;
        const char *full;
        const char *brief;
    } pairs[] = {
        {"saxpy", "saxpy", "saxpy"},
        {"_Z5saxpyPdS_S_di", "saxpy(double *, double *, double *, double, int)", "saxpy"},
        {"_Z9nothing", "_Z9nothing", "_Z9nothing"},
        {"", "", ""},
        {"_Z1fPKcS0_RKiPKPKd", "f(const char *, const char *, const int &, const double *const *)",
         "f"},
        {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4EEEEEvv",
         "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
         "at::native::MeanOps<float, float, float, float>, unsigned int, float, (int)4>>()",
         "reduce_kernel"},
        {"_Z1gILb1ELm18446744073709551615ELin3ELj7EEvSt5arrayIPcLm1EE",
         "void g<(bool)1, (unsigned long)18446744073709551615, (int)-3, (unsigned int)7>("
         "std::array<char *, (unsigned long)1>)",
         "g"},
        {"_ZN2at45_GLOBAL__N__d25d856e_22_ForeachBinaryOpList_c3addEv", "at::<unnamed>::add()",
         "add"},
        {"_Z3runIZ4mainEUliE_EvT_",
         "void run<main::[lambda(int) (instance 1)]>(main::[lambda(int) (instance 1)])", "run"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
