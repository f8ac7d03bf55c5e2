/* JSON strings and gzip streams. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/base/buf.h"
#include "analysis/table/gzip.h"
#include "analysis/table/json.h"
#include "analysis/tests/check.h"

static void test_json_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *want;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
        {"\n\t\x1b", 3, "\"\\u000a\\u0009\\u001b\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xff\xc3", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc3\xa9", 2, "\"\xc3\xa9\""},
        {"\xe2\x80\xae", 3, "\"\\u202e\""}, /* turns the direction of text */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out = {0};
        json_text(&out, cases[i].text, cases[i].len);
        assert_string_equal(buf_text(&out), cases[i].want);
        buf_free(&out);
    }
}

static void test_json_us(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *want;
    } cases[] = {
        {0, "0.000"},
        {1, "0.001"},
        {1500, "1.500"},
        {-1, "-0.001"},
        {-20180000, "-20180.000"},
        {INT64_MAX, "9223372036854775.807"},
        {INT64_MIN, "-9223372036854775.808"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out = {0};
        json_us(&out, cases[i].ns);
        assert_string_equal(buf_text(&out), cases[i].want);
        buf_free(&out);
    }
}

/* A sink that keeps what it gets, and wants no more after a limit. */
struct keep {
    struct buf buf;
    size_t limit;
};

static int keep_write(void *arg, const char *data, size_t len)
{
    struct keep *keep = arg;
    if (keep->buf.len + len > keep->limit) {
        return 1;
    }
    buf_add(&keep->buf, data, len);
    return 0;
}

static void test_gzip(void **state)
{
    (void)state;
    enum {
        TEXT_BYTES = 300000,
        SPARE_BYTES = 64
    };
    char *text = malloc(TEXT_BYTES);
    char *back = malloc(TEXT_BYTES + SPARE_BYTES);
    assert_non_null(text);
    assert_non_null(back);
    uint32_t seed = 1;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        seed = seed * 1664525U + 1013904223U;
        text[i] = (char)(seed >> 28);
    }
    struct keep keep = {.limit = SIZE_MAX};
    const struct table_sink target = {keep_write, &keep};
    struct gzip *gzip = gzip_new(&target, NULL);
    struct table_sink sink = gzip_sink(gzip);
    for (size_t at = 0; at < TEXT_BYTES; at += 7000) {
        size_t part = TEXT_BYTES - at < 7000 ? TEXT_BYTES - at : 7000;
        assert_int_equal(sink.write(sink.arg, text + at, part), 0);
    }
    assert_int_equal(gzip_finish(gzip, NULL), 0);
    gzip_free(gzip);
    assert_true(keep.buf.len < TEXT_BYTES);

    z_stream stream = {0};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = (unsigned char *)keep.buf.data;
    stream.avail_in = (unsigned)keep.buf.len;
    stream.next_out = (unsigned char *)back;
    stream.avail_out = TEXT_BYTES + SPARE_BYTES;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, TEXT_BYTES);
    assert_memory_equal(back, text, TEXT_BYTES);
    inflateEnd(&stream);
    buf_free(&keep.buf);

    /* A target that stops: writing says so, and finishing fails. */
    struct keep full = {.limit = 10};
    const struct table_sink small = {keep_write, &full};
    struct err err = {0};
    gzip = gzip_new(&small, NULL);
    sink = gzip_sink(gzip);
    int rc = 0;
    for (int i = 0; i < 100 && rc == 0; i++) {
        rc = sink.write(sink.arg, text, TEXT_BYTES);
    }
    assert_int_equal(rc, 1);
    assert_int_equal(gzip_finish(gzip, &err), -1);
    assert_true(err.text[0] != '\0');
    gzip_free(gzip);
    buf_free(&full.buf);
    free(text);
    free(back);
}

static void test_gzip_name(void **state)
{
    (void)state;
    assert_true(gzip_name("a.gz"));
    assert_true(gzip_name("/x/y.json.gz"));
    assert_false(gzip_name(".gz"));
    assert_false(gzip_name("a.gzip"));
    assert_false(gzip_name(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_text),
        cmocka_unit_test(test_json_us),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_gzip_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
