/* The sorter against qsort of the same records, in memory and by runs; and its order of equals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/convert/convert_sorter.h"

struct item {
    int64_t key;
    uint64_t number; /* in the order of adding */
    uint32_t tail; /* bytes of tail, each with the low byte of number */
    uint32_t pad;
};

static uint64_t seed;

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return seed >> 16;
}

static int by_key(const void *a, const void *b)
{
    const struct item *left = a;
    const struct item *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

static void check_sorted(struct item *items, size_t n, size_t budget)
{
    struct sorter *sorter = sorter_new("/tmp", budget);
    struct sorter_record record;
    struct err err = {0};
    static char tail[3000000];
    assert_non_null(sorter);
    for (size_t i = 0; i < n; i++) {
        memset(tail, (int)(i & 0xFF), items[i].tail);
        assert_int_equal(sorter_add(sorter, items[i].key, SORTER_PART(&items[i], sizeof *items),
                                    SORTER_PART(tail, items[i].tail), &err),
                         0);
    }
    assert_int_equal(sorter_count(sorter), n);
    qsort(items, n, sizeof *items, by_key);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sorter_next(sorter, &record, &err), 1);
        assert_int_equal(record.key, items[i].key);
        assert_int_equal(record.bytes, sizeof *items + items[i].tail);
        assert_memory_equal(record.data, &items[i], sizeof *items);
        if (items[i].tail) {
            const unsigned char *bytes = (const unsigned char *)record.data + sizeof *items;
            assert_int_equal(bytes[0], items[i].number & 0xFF);
            assert_int_equal(bytes[items[i].tail - 1], items[i].number & 0xFF);
        }
    }
    assert_int_equal(sorter_next(sorter, &record, &err), 0);
    assert_int_equal(sorter_next(sorter, &record, &err), 0);
    sorter_free(sorter);
}

static struct item *made(size_t n, uint64_t keys, uint32_t tail)
{
    struct item *items = calloc(n + 1, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys ? next_random() % keys - keys / 2 : next_random() << 17;
        items[i] = (struct item){
            .key = (int64_t)key, .number = i, .tail = tail ? (uint32_t)(next_random() % tail) : 0};
    }
    return items;
}

static void test_all(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint64_t keys; /* 0: any 64-bit number */
        uint32_t tail;
        size_t budget;
    } cases[] = {
        {0, 0, 0, 1 << 20},      {1, 0, 50, 1 << 20},       {3, 1, 0, 1 << 20},
        {50000, 0, 30, 1 << 28}, {50000, 100, 30, 1 << 28}, {100000, 0, 60, 1 << 21},
        {60000, 7, 20, 1 << 20}, {600, 1000, 3000, 1},      {12, 3, 3000000, 1 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seed = i + 1;
        struct item *items = made(cases[i].n, cases[i].keys, cases[i].tail);
        check_sorted(items, cases[i].n, cases[i].budget);
        free(items);
    }
}

static void test_bad_folder(void **state)
{
    (void)state;
    struct err err = {0};
    struct sorter *sorter = sorter_new("/nowhere/at/all", 1);
    int result = 0;
    for (int i = 0; i < 100000 && result == 0; i++) {
        result = sorter_add(sorter, i, SORTER_PART("x", 1), SORTER_PART(NULL, 0), &err);
    }
    assert_int_equal(result, -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    sorter_free(sorter);
    sorter_free(NULL);
}

#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
/* No more memory than what is there and 24 MiB, for 100 MB of records that were to stay in memory. */
static void test_no_memory(void **state)
{
    (void)state;
    long pages = 0;
    struct rlimit old;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1); /* NOLINT(cert-err34-c) */
    (void)fclose(file);
    seed = 99;
    struct item *items = made(1500000, 0, 40);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    rlim_t size = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 1500000 * sizeof *items;
    struct rlimit tight = {.rlim_cur = size + (24 << 20), .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    check_sorted(items, 1500000, (size_t)1 << 32);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    free(items);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_bad_folder),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
