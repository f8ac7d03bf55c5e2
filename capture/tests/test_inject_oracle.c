/*
 * NVIDIA's own libcupti, where it is found, as a judge: it has the record sizes that we probe,
 * steps over our spooled records as we do, and knows the callback ids by the names that we have.
 * Without a driver it says so, and the program runs on.
 */
#define _GNU_SOURCE /* dlinfo is not used; setenv; NOLINT */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "capture/tests/records.h"
#include "capture/tests/support.h"

static char oracle_path[600];
static void *oracle;

static bool find_oracle(void)
{
    static const char *const patterns[] = {
        "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[0-9]",
        "/usr/local/cuda*/lib64/libcupti.so.1[0-9]",
        "/usr/local/cuda*/lib/libcupti.so.1[0-9]",
        "/opt/cuda/extras/CUPTI/lib64/libcupti.so.1[0-9]",
        "/usr/lib/*-linux-gnu/libcupti.so.1[0-9]",
    };
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) == 0) {
            (void)snprintf(oracle_path, sizeof(oracle_path), "%s", found.gl_pathv[0]);
            globfree(&found);
            oracle = dlopen(oracle_path, RTLD_NOW | RTLD_LOCAL);
            return oracle != NULL;
        }
    }
    return false;
}

static void look_up(void *function, const char *name)
{
    void *symbol = dlsym(oracle, name);
    assert_non_null(symbol);
    memcpy(function, &symbol, sizeof(symbol));
}

static void begin(struct trial *trial, const char *cupti)
{
    char path[600];
    const char *build = getenv("CUTLINE_BUILD");
    trial_begin(trial, NULL);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcuda.so.1", build);
    (void)setenv("STANDIN_CUDA", path, 1);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcupti.so.13", build);
    (void)setenv("STANDIN_CUPTI", "layout=13.0", 1);
    if (cupti == NULL) {
        (void)setenv("STANDIN_CUPTI_PATH", path, 1);
        cupti = path;
    } else {
        (void)unsetenv("STANDIN_CUPTI_PATH");
    }
    (void)snprintf(trial->config.cupti_path, sizeof(trial->config.cupti_path), "%s", cupti);
    trial_ready(trial);
}

/* All records of all kinds behind one another, as they are in the spool, walked by the oracle. */
static void test_records(void **state)
{
    static const char *const arguments[] = {"records", "400", NULL};
    int (*next)(uint8_t *, size_t, void **) = NULL;
    int (*get_version)(uint32_t *) = NULL;
    uint32_t version = 0;
    struct trial trial;
    struct loot loot;
    (void)state;
    look_up(&next, "cuptiActivityGetNextRecord");
    look_up(&get_version, "cuptiGetVersion");
    assert_int_equal(get_version(&version), 0);
    if (version < 130000 || version >= 130100) {
        print_message("skipped: this libcupti (%u) has another layout\n", version);
        return;
    }
    begin(&trial, NULL);
    assert_int_equal(trial_run(&trial, "client_cuda", arguments), 0);
    loot_read(&loot, trial.dir);
    uint8_t *bytes = calloc(loot.cupti_count, 256);
    size_t used = 0;
    for (size_t i = 0; i < loot.cupti_count; i++) {
        memcpy(bytes + used, loot.cupti[i].record, loot.cupti[i].bytes);
        used += loot.cupti[i].bytes;
    }
    void *record = NULL;
    size_t at = 0;
    assert_int_equal(loot.cupti_count, 400 * 9);
    for (size_t i = 0; i < loot.cupti_count; i++) {
        assert_int_equal(next(bytes, used, &record), 0);
        assert_ptr_equal(record, bytes + at);
        at += loot.cupti[i].bytes;
    }
    assert_int_not_equal(next(bytes, used, &record), 0);
    free(bytes);
    loot_free(&loot);
    trial_end(&trial);
}

static void check_names(int (*get_name)(int, uint32_t, const char **), int domain, uint32_t count,
                        const char *(*name_of)(uint32_t))
{
    uint32_t same = 0;
    for (uint32_t cbid = 1; cbid < count; cbid++) {
        const char *name = NULL;
        if (get_name(domain, cbid, &name) == 0 && name != NULL && name_of(cbid) != NULL) {
            assert_string_equal(name_of(cbid), name);
            same++;
        }
    }
    assert_true(same > 300);
}

static void test_callback_names(void **state)
{
    int (*get_name)(int, uint32_t, const char **) = NULL;
    (void)state;
    look_up(&get_name, "cuptiGetCallbackName");
    check_names(get_name, CUPTI_DOMAIN_RUNTIME_API, cupti_runtime_count(), cupti_runtime_name);
    check_names(get_name, CUPTI_DOMAIN_DRIVER_API, cupti_driver_count(), cupti_driver_name);
}

/* The real library under a driver that is none. */
static void test_no_driver(void **state)
{
    static const char *const arguments[] = {"records", "1", NULL};
    static const uint32_t kinds[] = {1, 2, 4, 5, 8, 9, 10, 17, 22, 36, 37, 38};
    struct trial trial;
    struct loot loot;
    (void)state;
    begin(&trial, oracle_path);
    assert_int_equal(trial_run(&trial, "client_cuda", arguments), 0);
    assert_string_equal(read_text(trial.dir, "err"), "");
    loot_read(&loot, trial.dir);
    assert_string_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_FOUND, 0)->text, oracle_path);
    assert_int_equal(loot_status(&loot, SPOOL_STATUS_CUPTI_NO_DRIVER, 0)->head.value[0], 999);
    assert_int_equal(loot.nvtx_count, 2);
    assert_int_equal(loot.headers[0].sealed, SPOOL_SEAL_EXIT);
    for (size_t i = 0; i < loot.meta_count; i++) {
        for (size_t k = 0; loot.metas[i].head.kind == SPOOL_META_CUPTI_SIZES && k < 12; k++) {
            uint16_t bytes = 0;
            memcpy(&bytes, loot.metas[i].text + 2 * (size_t)kinds[k], sizeof(bytes));
            assert_true(bytes >= 16 && bytes % 8 == 0);
        }
    }
    loot_free(&loot);
    trial_end(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_callback_names),
        cmocka_unit_test(test_no_driver),
    };
    if (!find_oracle()) {
        print_message("skipped: no libcupti of a CUDA toolkit\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
