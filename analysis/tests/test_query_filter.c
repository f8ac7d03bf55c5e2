/* Regular expressions over names: smart case, bad patterns, foreign bytes, bounds. */
#include <stdlib.h>
#include <string.h>

#include "analysis/filter/filter.h"
#include "analysis/tests/check.h"
#include "analysis/trace/busy.h"

static bool matches(const char *pattern, const char *text, size_t len)
{
    struct filter *filter = filter_new(pattern, strlen(pattern), NULL);
    assert_non_null(filter);
    bool hit = filter_match(filter, text, len);
    filter_free(filter);
    return hit;
}

static void test_smart_case(void **state)
{
    static const struct {
        const char *pattern;
        const char *text;
        bool hit;
    } CASES[] = {
        {"gemm", "ampere_SGEMM_128", true},
        {"GEMM", "ampere_sgemm_128", false},
        {"Gemm", "cutlass::Gemm<int>", true},
        {"\\Wint", "cutlass::GEMM<INT>", true},
        {"\\p{Lu}x", "Ax", true},
        {"^nccl", "ncclAllReduce", true},
        {"^nccl", "my_nccl", false},
        {"a|b", "xxb", true},
        {"", "anything", true},
        {"\xc3\xa9t", "\xc3\x89T", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(matches(CASES[i].pattern, CASES[i].text, strlen(CASES[i].text)),
                         CASES[i].hit);
    }
}

static void test_bad_pattern(void **state)
{
    struct err err = {{0}};
    (void)state;
    assert_null(filter_new("gemm(", 5, &err));
    assert_non_null(strstr(err.text, "missing closing parenthesis"));
    assert_non_null(strstr(err.text, "at character 6"));
    assert_null(filter_new("\xff", 1, &err));
    assert_non_null(strstr(err.text, "UTF-8"));
}

static void test_foreign_bytes(void **state)
{
    (void)state;
    assert_true(matches("gemm", "\xff\xfe gemm", 7));
    assert_true(matches("b", "a\0b", 3));
    assert_false(matches("c", "\xff\xfe gemm", 7));
}

/* A pattern that backtracks without end gives up soon, also on many names, and says so; ctest's limit
 * would show a hang. */
static void test_bounded(void **state)
{
    static const char pattern[] = "^(x+x+)+[yz]";
    char text[64];
    struct err err = {{0}};
    (void)state;
    memset(text, 'x', sizeof text);
    assert_false(matches("(a+)+$x|(a|aa)+b", text, sizeof text));
    struct filter *filter = filter_new(pattern, sizeof pattern - 1, NULL);
    assert_non_null(filter);
    assert_true(filter_match(filter, "xxy", 3));
    assert_int_equal(filter_check(filter, &err), 0);
    for (int i = 0; i < 100000; i++) {
        assert_false(filter_match(filter, text, sizeof text));
    }
    assert_int_equal(filter_check(filter, &err), -1);
    assert_non_null(strstr(err.text, "takes too long"));
    filter_free(filter);
}

static void test_names(void **state)
{
    static struct trace_name names[70];
    struct trace trace = {.names = names, .name_count = 70};
    struct filter *filter = filter_new("gemm", 4, NULL);
    uint32_t matched;
    uint32_t of;
    (void)state;
    for (uint32_t i = 0; i < 70; i++) {
        names[i].full = i % 2 == 0 ? "void gemm<int>(int)" : "other";
        names[i].full_len = (uint32_t)strlen(names[i].full);
        names[i].brief = i == 69 ? "GEMM" : "x";
        names[i].brief_len = (uint32_t)strlen(names[i].brief);
        names[i].kind = i == 1 ? TRACE_NVTX_MARK : TRACE_KERNEL;
    }
    uint64_t *bits = filter_names(filter, &trace, 1U << TRACE_KERNEL, &matched, &of);
    assert_non_null(bits);
    assert_int_equal(matched, 36);
    assert_int_equal(of, 69);
    assert_true(busy_has(bits, 0));
    assert_true(busy_has(bits, 1));
    assert_false(busy_has(bits, 3));
    assert_true(busy_has(bits, 69));
    free(bits);
    filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smart_case),    cmocka_unit_test(test_bad_pattern),
        cmocka_unit_test(test_foreign_bytes), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
