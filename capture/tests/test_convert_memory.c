/* Limits of control groups, in made-up trees of both versions. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/convert/convert_internal.h"

static char root[64];

static const char *place(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(place(name), "we");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static uint64_t limit(const char *groups)
{
    char path[256];
    put("groups", groups);
    (void)snprintf(path, sizeof path, "%s", place("groups"));
    return convert_memory_group(path, root);
}

static void test_groups(void **state)
{
    (void)state;
    static const char *const folders[] = {"a", "a/b", "memory", "memory/c"};
    static const char *const files[] = {"groups", "a/memory.max", "a/b/memory.max",
                                        "memory/memory.limit_in_bytes"};
    (void)snprintf(root, sizeof root, "/tmp/cutline-groups-XXXXXX");
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        assert_int_equal(mkdir(place(folders[i]), 0700), 0);
    }
    put("a/memory.max", "123456789\n");
    put("a/b/memory.max", "max\n");
    put("memory/memory.limit_in_bytes", "5000000\n");
    assert_true(limit("0::/a/b\n") == 123456789); /* the one above */
    assert_true(limit("0::/\n") == UINT64_MAX);
    assert_true(limit("0::/gone/../../x\n") == UINT64_MAX);
    assert_true(limit("5:cpu:/a\n") == UINT64_MAX); /* not of memory */
    assert_true(limit("7:memory:/c\n0::/a/b\n") == 5000000); /* the least */
    assert_true(limit("nonsense\n:\n") == UINT64_MAX);
    put("a/b/memory.max", "4096\n");
    assert_true(limit("0::/a/b\n") == 4096);
    assert_true(convert_memory_bytes() > 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_equal(unlink(place(files[i])), 0);
    }
    for (size_t i = sizeof folders / sizeof *folders; i > 0; i--) {
        assert_int_equal(rmdir(place(folders[i - 1])), 0);
    }
    assert_int_equal(rmdir(root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
