/* Units of analysis/base: buf, arena, intern, utf8, timefmt, err. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/arena.h"
#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/tests/check.h"

static void test_err_is_cut_not_overflowed(void **state)
{
    struct err err;
    char text[2 * ERR_TEXT_BYTES];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(err_set(&err, "%s", text), -1);
    assert_int_equal(strlen(err.text), ERR_TEXT_BYTES - 1);
    err_set(&err, "no such table");
    err_prefix(&err, "%s", "a.sqlite");
    assert_string_equal(err.text, "a.sqlite: no such table");
    assert_int_equal(err_set(NULL, "nobody listens"), -1);
    assert_null(err_null(NULL, "nobody listens"));
}

static void test_buf_grows_and_keeps_nul(void **state)
{
    struct buf buf = {0};
    (void)state;
    assert_string_equal(buf_text(&buf), "");
    for (int i = 0; i < 1000; i++) {
        buf_addf(&buf, "%d,", i);
    }
    assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(buf.data[buf.len], '\0');
    buf_reset(&buf);
    buf_fill(&buf, '-', 3);
    buf_addc(&buf, '>');
    assert_string_equal(buf_text(&buf), "--->");
    buf_add(&buf, "x", (size_t)-1);
    assert_true(buf_failed(&buf));
    assert_string_equal(buf_text(&buf), "--->");
    buf_free(&buf);
}

static void test_arena_gives_zeroed_aligned_memory(void **state)
{
    struct arena arena = {0};
    size_t sizes[] = {1, 7, 64, 4096, 100000, 1000000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *p = arena_alloc(&arena, sizes[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % sizeof(void *), 0);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(p[k], 0);
        }
        memset(p, 0xAB, sizes[i]);
    }
    arena_reset(&arena);
    assert_string_equal(arena_copy(&arena, "abc", 2), "ab");
    assert_null(arena_alloc(&arena, SIZE_MAX));
    arena_free(&arena);
    arena_free(&arena);
}

static void test_intern_numbers_texts_once(void **state)
{
    struct intern table = {0};
    char text[32];
    (void)state;
    assert_int_equal(intern_find(&table, "", 0), INTERN_NONE);
    for (uint32_t i = 0; i < 5000; i++) {
        int len = snprintf(text, sizeof text, "name %u", (unsigned)i);
        assert_int_equal(intern_add(&table, text, (size_t)len), i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        int len = snprintf(text, sizeof text, "name %u", (unsigned)i);
        assert_int_equal(intern_add(&table, text, (size_t)len), i);
        assert_int_equal(intern_find(&table, text, (size_t)len), i);
        assert_string_equal(intern_text(&table, i), text);
    }
    assert_int_equal(intern_add(&table, "a\0b", 3), 5000);
    assert_int_equal(intern_add(&table, "a\0c", 3), 5001);
    assert_int_equal(intern_len(&table, 5001), 3);
    assert_string_equal(intern_text(&table, 999999), "");
    intern_free(&table);
}

/* What comes out for each kind of text, as a person would want it. */
static void test_utf8_makes_text_safe(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
        const char *ascii;
        size_t cols;
    } CASES[] = {
        {"plain", 5, "plain", "plain", 5},
        {"a\x1b[31mb", 7, "a\xEF\xBF\xBD[31mb", "a?[31mb", 7},
        {"a\nb\tc\r", 6, "a b c ", "a b c ", 6},
        {"\xC3\xA9", 2, "\xC3\xA9", "?", 1},
        {"\xE6\x97\xA5", 3, "\xE6\x97\xA5", "?", 2},
        {"e\xCC\x81", 3, "e\xCC\x81", "e?", 1},
        {"\xF0\x9F\x98\x80", 4, "\xF0\x9F\x98\x80", "?", 2},
        {"\xC0\x80", 2, "\xEF\xBF\xBD\xEF\xBF\xBD", "??", 2},
        {"\xED\xA0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", "???", 3},
        {"\xF5\x80", 2, "\xEF\xBF\xBD\xEF\xBF\xBD", "??", 2},
        {"\xE6\x97", 2, "\xEF\xBF\xBD\xEF\xBF\xBD", "??", 2},
        {"\xC2\x9B", 2, "\xEF\xBF\xBD", "?", 1},
        {"\xE2\x80\xAE", 3, "\xEF\xBF\xBD", "?", 1},
        {"\xE2\x80\x8B", 3, "\xEF\xBF\xBD", "?", 1},
        {"a\0b", 3,
         "a\xEF\xBF\xBD"
         "b",
         "a?b", 3},
        {"\x7F", 1, "\xEF\xBF\xBD", "?", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct buf buf = {0};
        utf8_sanitize(&buf, CASES[i].in, CASES[i].len, false);
        assert_string_equal(buf_text(&buf), CASES[i].out);
        buf_reset(&buf);
        utf8_sanitize(&buf, CASES[i].in, CASES[i].len, true);
        assert_string_equal(buf_text(&buf), CASES[i].ascii);
        buf_free(&buf);
        assert_int_equal(utf8_cols(CASES[i].in, CASES[i].len), CASES[i].cols);
    }
}

/* No code point at all may come out as a control, and every one round-trips through the decoder. */
static void test_utf8_every_code_point_is_safe(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        uint32_t safe = utf8_safe(cp, false);
        uint32_t back;
        char bytes[4];
        size_t len = utf8_encode(safe, bytes);
        if (utf8_width(safe) < 0 || utf8_decode(bytes, len, &back) != len || back != safe ||
            utf8_safe(cp, true) > 0x7E || utf8_safe(cp, true) < 0x20) {
            fail_msg("U+%04X is not safe", (unsigned)cp);
        }
    }
}

static void test_durations_read_well(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } CASES[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1000, "1.00 us"},
        {18432, "18.4 us"},
        {412345, "412 us"},
        {999499, "999 us"},
        {999501, "1.00 ms"},
        {3200000, "3.20 ms"},
        {-1500000, "-1.50 ms"},
        {999500000, "1.000 s"},
        {12345000000, "12.345 s"},
        {1234000000000, "1,234 s"},
        {INT64_MAX, "9,223,372,036 s"},
        {INT64_MIN, "-9,223,372,036 s"},
    };
    char out[TIMEFMT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_string_equal(timefmt_duration(CASES[i].ns, out), CASES[i].text);
    }
    assert_string_equal(timefmt_at(12345678901, 1000000, out), "12.345 s");
    assert_string_equal(timefmt_at(12345678901, 1, out), "12.345678901 s");
    assert_string_equal(timefmt_at(-20180000000, 10000000, out), "-20.18 s");
    assert_string_equal(timefmt_at(5000000000, 2000000000, out), "5 s");
    assert_string_equal(timefmt_count(-1234567, out), "-1,234,567");
    assert_string_equal(timefmt_count(INT64_MIN, out), "-9,223,372,036,854,775,808");
    assert_string_equal(timefmt_bytes(512, out), "512 B");
    assert_string_equal(timefmt_bytes(33554432, out), "33.6 MB");
}

static void test_times_parse_or_say_why(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } GOOD[] = {
        {"50us", 50000},        {"12.5ms", 12500000},
        {"3 s", 3000000000},    {"-2s", -2000000000},
        {"1e6", 1000000},       {"9223372036854775807", INT64_MAX},
        {"2min", 120000000000}, {"0", 0},
    };
    static const char *const BAD[] = {"",    "x",     "5parsecs", "5ms5",  "nan",
                                      "inf", "1e30s", "--5",      "5 ms x"};
    struct err err;
    int64_t ns;
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        assert_int_equal(timefmt_parse(GOOD[i].text, 1, &ns, &err), 0);
        assert_true(ns == GOOD[i].ns);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        err.text[0] = '\0';
        assert_int_equal(timefmt_parse(BAD[i], 1, &ns, &err), -1);
        assert_non_null(strstr(err.text, BAD[i]));
    }
    assert_int_equal(timefmt_parse("3", 1000000, &ns, &err), 0);
    assert_true(ns == 3000000);
    assert_true(timefmt_unit("msec") == 1000000);
    assert_true(timefmt_unit("usx") == 1000);
    assert_true(timefmt_unit("x") == 0);
}

static void a_copy_is_cut_at_whole_characters(void **state)
{
    (void)state;
    char out[8];
    utf8_copy(out, sizeof out, "abc", 3);
    assert_string_equal(out, "abc");
    utf8_copy(out, sizeof out, "abcdefgh", 8);
    assert_string_equal(out, "abcdefg");
    utf8_copy(out, sizeof out, "abcdef\xC3\xA9", 8); /* the last one does not fit whole */
    assert_string_equal(out, "abcdef");
    utf8_copy(out, sizeof out, "\xFF\xFF\xFF", 3); /* 3 bytes each in the safe form */
    assert_string_equal(out, "\xEF\xBF\xBD\xEF\xBF\xBD");
    utf8_copy(out, 1, "abc", 3);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err_is_cut_not_overflowed),
        cmocka_unit_test(test_buf_grows_and_keeps_nul),
        cmocka_unit_test(test_arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(test_intern_numbers_texts_once),
        cmocka_unit_test(test_utf8_makes_text_safe),
        cmocka_unit_test(test_utf8_every_code_point_is_safe),
        cmocka_unit_test(test_durations_read_well),
        cmocka_unit_test(test_times_parse_or_say_why),
        cmocka_unit_test(a_copy_is_cut_at_whole_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
