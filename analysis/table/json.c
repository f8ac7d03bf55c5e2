/*
 * json: see json.h.
 */
#include "analysis/table/json.h"

#include "analysis/base/utf8.h"

/* Bytes at the begin of text that stand for themselves: plain ASCII. */
static size_t plain_run(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] >= ' ' && text[n] != 0x7f && text[n] != '"' && text[n] != '\\') {
        n++;
    }
    return n;
}

void json_text(struct buf *out, const char *text, size_t len)
{
    size_t at = 0;
    buf_addc(out, '"');
    while (at < len) {
        uint32_t cp;
        char encoded[4];
        size_t run = plain_run(text + at, len - at);
        if (run > 0) {
            buf_add(out, text + at, run);
            at += run;
            continue;
        }
        size_t bytes = utf8_decode(text + at, len - at, &cp);
        if (cp == '"' || cp == '\\') {
            buf_addc(out, '\\');
            buf_addc(out, (char)cp);
        } else if (cp >= 0x20 && cp == utf8_safe(cp, false)) {
            buf_add(out, encoded, utf8_encode(cp, encoded));
        } else if (cp <= 0xFFFF) {
            buf_addf(out, "\\u%04x", (unsigned)cp);
        } else {
            uint32_t low = cp - 0x10000U;
            buf_addf(out, "\\u%04x\\u%04x", 0xD800U + (unsigned)(low >> 10),
                     0xDC00U + (unsigned)(low & 0x3FFU));
        }
        at += bytes;
    }
    buf_addc(out, '"');
}

enum {
    DIGITS_MAX = 20 /* of 64 bits */
};

/* Puts the digits of value, at least `least` of them, at the end of digits; returns how many. */
static size_t digits_of(uint64_t value, size_t least, char digits[DIGITS_MAX])
{
    size_t count = 0;
    while (count < DIGITS_MAX && (value > 0 || count < least)) {
        count++;
        digits[DIGITS_MAX - count] = (char)('0' + (int)(value % 10));
        value /= 10;
    }
    return count;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0U - (uint64_t)value : (uint64_t)value;
}

void json_number(struct buf *out, int64_t value)
{
    char digits[DIGITS_MAX] = {0};
    size_t count = digits_of(magnitude(value), 1, digits);
    if (value < 0) {
        buf_addc(out, '-');
    }
    buf_add(out, &digits[DIGITS_MAX - count], count);
}

void json_us(struct buf *out, int64_t ns)
{
    enum {
        DECIMALS = 3
    };
    char digits[DIGITS_MAX] = {0};
    size_t count = digits_of(magnitude(ns), DECIMALS + 1, digits);
    if (ns < 0) {
        buf_addc(out, '-');
    }
    buf_add(out, &digits[DIGITS_MAX - count], count - DECIMALS);
    buf_addc(out, '.');
    buf_add(out, &digits[DIGITS_MAX - DECIMALS], DECIMALS);
}

void json_head(struct buf *out, const char *schema, int version)
{
    buf_addf(out, "{\"schema\":\"%s\",\"version\":%d,\"producer\":\"cutline %s\"", schema, version,
             CUTLINE_VERSION);
}
