/* JSON in place: values, escapes, exact numbers, what is damaged. */
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/import/json_scan.h"
#include "analysis/tests/check.h"

static struct json_value value_of(const char *text)
{
    struct json_value value;
    assert_non_null(json_scan_value(text, text + strlen(text), &value));
    return value;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int shift;
        int64_t want;
    } CASES[] = {
        {"4458676522690.655 ", 3, 4458676522690655},
        {"1682725898236567 ", 3, 1682725898236567000},
        {"0.1 ", 3, 100},
        {"0.0005 ", 3, 1}, /* a half away from 0 */
        {"0.00049999 ", 3, 0},
        {"-1.5 ", 3, -1500},
        {"-0.0005 ", 3, -1},
        {"1.5e3 ", 3, 1500000},
        {"15E-1 ", 3, 1500},
        {"1e-30 ", 3, 0},
        {"123456789012.3456789012345678901234567890 ", 3, 123456789012346},
        {"\"77.25\" ", 3, 77250}, /* some write numbers as texts */
        {"9223372036854775807 ", 0, INT64_MAX},
    };
    static const char *const WRONG[] = {"NaN ",  "Infinity ", "1e30 ",
                                        "-",     "1.2.3 ",    "true ",
                                        "\"\" ", "1e ",       "9223372036854775808 ",
                                        "{} ",   "0x10 "};
    int64_t got;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct json_value value = value_of(CASES[i].text);
        assert_true(json_scaled(&value, CASES[i].shift, &got));
        assert_int_equal(got, CASES[i].want);
    }
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++) {
        struct json_value value;
        (void)json_scan_value(WRONG[i], WRONG[i] + strlen(WRONG[i]), &value);
        assert_false(json_scaled(&value, 0, &got));
    }
}

static void test_texts(void **state)
{
    static const char *const CASES[][2] = {
        {"\"plain\"", "plain"},
        {"\"a\\\"b\\\\c\\/d\"", "a\"b\\c/d"},
        {"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\"\\ud83d!\"", "\xef\xbf\xbd!"}, /* half a pair */
        {"\"\\x41\\q\\u12\"", "x41qu12"}, /* bad escapes stand for themselves */
        {"\"\\n\\t\"", "\n\t"},
    };
    struct buf scratch = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct json_value value = value_of(CASES[i][0]);
        struct json_value plain = json_plain(&value, &scratch);
        assert_int_equal(plain.len, strlen(CASES[i][1]));
        assert_memory_equal(plain.text, CASES[i][1], plain.len);
    }
    buf_free(&scratch);
}

static void test_members(void **state)
{
    struct json_value object = value_of("{ \"a\" : 1 , \"b\":[ {\"}\":2}, \"]\" ],\"c\":{}} ");
    struct json_scan scan = json_scan_in(&object);
    struct json_value key;
    struct json_value value;
    (void)state;
    assert_true(json_scan_member(&scan, &key, &value) && json_is(&key, "a"));
    assert_int_equal(value.kind, JSON_WORD);
    assert_true(json_scan_member(&scan, &key, &value) && json_is(&key, "b"));
    assert_int_equal(value.kind, JSON_ARRAY);
    struct json_scan inner = json_scan_in(&value);
    assert_true(json_scan_element(&inner, &value) && value.kind == JSON_OBJECT);
    assert_true(json_scan_element(&inner, &value) && json_is(&value, "]"));
    assert_false(json_scan_element(&inner, &value) || inner.broken);
    assert_true(json_scan_member(&scan, &key, &value) && json_is(&key, "c"));
    assert_false(json_scan_member(&scan, &key, &value) || scan.broken);
}

static void test_damaged(void **state)
{
    static const char *const CUT[] = {"{\"a\":1", "\"abc", "[1,2", "{\"a\":\"}", "", "  ", "12"};
    static const char *const DAMAGED[] = {"?", "\"a\nb\"", "{\"name\": \"\"b\",\n\"x\": 1}", "{]",
                                          "[{]}"};
    struct json_value object = value_of("{\"a\":1,\"b\"def:2}");
    struct json_scan scan = json_scan_in(&object);
    struct json_value key;
    struct json_value value;
    (void)state;
    assert_true(json_scan_member(&scan, &key, &value));
    assert_false(json_scan_member(&scan, &key, &value));
    assert_true(scan.broken);
    for (size_t i = 0; i < ARRAY_LEN(CUT); i++) {
        assert_null(json_scan_value(CUT[i], CUT[i] + strlen(CUT[i]), &value));
        assert_true(value.kind != JSON_NONE); /* more text could make it whole */
    }
    for (size_t i = 0; i < ARRAY_LEN(DAMAGED); i++) {
        assert_null(json_scan_value(DAMAGED[i], DAMAGED[i] + strlen(DAMAGED[i]), &value));
        assert_int_equal(value.kind, JSON_NONE);
    }
}

/* Many brackets are read to the fitting one. */
static void test_deep(void **state)
{
    enum {
        DEEP = 200
    };
    char text[2 * DEEP + 16] = "{\"a\":";
    size_t len = strlen(text);
    struct json_value value;
    (void)state;
    memset(text + len, '[', DEEP);
    memset(text + len + DEEP, ']', DEEP);
    text[len + DEEP + DEEP] = '}';
    assert_ptr_equal(json_scan_value(text, text + sizeof text, &value),
                     text + len + DEEP + DEEP + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_members), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
