/* The reader of spools on files that are cut, torn and overwritten: it ends, says what is damaged,
 * and reads nothing that is not there (the sanitizers look on). */
#define _GNU_SOURCE /* scandir, ftruncate; NOLINT */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "capture/tests/support.h"

#define MUTATIONS 400

/* Linear congruential generator (Knuth, MMIX constants): the same damage in each run. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "re");
    assert_non_null(in);
    (void)fseek(in, 0, SEEK_END);
    *bytes = (size_t)ftell(in);
    rewind(in);
    uint8_t *data = malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, in), *bytes);
    (void)fclose(in);
    return data;
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
}

/* Reads all of it and touches every byte that is handed out. Returns the items, or -1 if the file
 * is refused. */
static int64_t read_all(const char *path, uint64_t *sum)
{
    const char *why = NULL;
    struct spool_item item;
    int64_t items = 0;
    int got = 0;
    struct spool_reader *reader = spool_reader_open(path, &why);
    if (reader == NULL) {
        assert_non_null(why);
        return -1;
    }
    while ((got = spool_reader_next(reader, &item)) == 1) {
        const uint8_t *bytes = NULL;
        size_t count = 0;
        if (item.kind == SPOOL_ITEM_META) {
            bytes = item.u.meta.text;
            count = item.u.meta.head.text_bytes;
        } else if (item.kind == SPOOL_ITEM_NVTX) {
            bytes = item.u.nvtx.text;
            count = item.u.nvtx.text_bytes;
        } else if (item.kind == SPOOL_ITEM_CUPTI) {
            bytes = item.u.cupti.record;
            count = item.u.cupti.bytes;
        }
        for (size_t i = 0; i < count; i++) {
            *sum += bytes[i];
        }
        items++;
    }
    assert_int_equal(got, 0);
    spool_reader_close(reader);
    return items;
}

/* One mutation of the kind that NUMBER chooses; returns the new length. */
static size_t damage(uint8_t *data, size_t bytes, uint64_t number, uint64_t *random)
{
    size_t at = (size_t)(next_random(random) % bytes);
    size_t count = 1 + (size_t)(next_random(random) % 64);
    count = count < bytes - at ? count : bytes - at;
    switch (number % 4) {
    case 0: /* cut */
        return at;
    case 1: /* a few bytes */
        for (size_t i = 0; i < count; i++) {
            data[at + i] = (uint8_t)next_random(random);
        }
        return bytes;
    case 2: /* the head of a segment or the first records in it */
        at = 8192 + at / 4096 * 4096 % (bytes - 8192 - 256);
        at += (size_t)(next_random(random) % 160);
        data[at] = (uint8_t)next_random(random);
        return bytes;
    default: /* a page of zeros or ones */
        at = at / 4096 * 4096;
        memset(data + at, (int)(next_random(random) % 2) * 255,
               bytes - at < 4096 ? bytes - at : 4096);
        return bytes;
    }
}

static void damage_spool(const char *path, uint64_t seed)
{
    char copy[700];
    size_t bytes = 0;
    uint64_t sum = 0;
    uint64_t random = seed;
    int64_t refused = 0;
    uint8_t *data = read_file(path, &bytes);
    uint8_t *work = malloc(bytes);
    assert_non_null(work);
    int64_t whole = read_all(path, &sum);
    assert_true(whole > 20);
    (void)snprintf(copy, sizeof(copy), "%s.copy", path);
    for (uint64_t i = 0; i < MUTATIONS; i++) {
        memcpy(work, data, bytes);
        size_t left = damage(work, bytes, i, &random);
        write_file(copy, work, left);
        int64_t items = read_all(copy, &sum);
        refused += items < 0 ? 1 : 0;
        assert_true(items <= whole * 8);
    }
    assert_true(refused < MUTATIONS / 2);
    free(work);
    free(data);
}

static void run_and_damage(const char *client, const char *const *arguments)
{
    struct trial trial;
    glob_t found;
    char pattern[700];
    char path[600];
    const char *build = getenv("CUTLINE_BUILD");
    trial_begin(&trial, NULL);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcuda.so.1", build);
    (void)setenv("STANDIN_CUDA", path, 1);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcupti.so.13", build);
    (void)setenv("STANDIN_CUPTI_PATH", path, 1);
    (void)snprintf(trial.config.cupti_path, sizeof(trial.config.cupti_path), "%s", path);
    trial.config.buffer_bytes = 64 << 10;
    trial_ready(&trial);
    assert_int_equal(trial_run(&trial, client, arguments), 0);
    (void)snprintf(pattern, sizeof(pattern), "%s/*.spool", trial.dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    damage_spool(found.gl_pathv[0], found.gl_pathc);
    globfree(&found);
    trial_end(&trial);
}

static void test_nvtx(void **state)
{
    static const char *const arguments[] = {"all", NULL};
    (void)state;
    run_and_damage("client_nvtx", arguments);
}

static void test_cuda(void **state)
{
    static const char *const arguments[] = {"records", "40", NULL};
    (void)state;
    run_and_damage("client_cuda", arguments);
}

static void test_no_spool(void **state)
{
    const char *why = NULL;
    (void)state;
    assert_null(spool_reader_open("/nonexistent/spool", &why));
    assert_string_equal(why, "cannot be opened");
    assert_null(spool_reader_open("/dev/null", &why));
    assert_string_equal(why, "is not a spool");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvtx),
        cmocka_unit_test(test_cuda),
        cmocka_unit_test(test_no_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
