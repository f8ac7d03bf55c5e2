/* json_scan: see json_scan.h. The grammar is RFC 8259. */
#include "analysis/import/json_scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

const char *json_scan_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

/* What stops the walk over the bytes of a text, and over those between texts. */
enum {
    STOPS_TEXT = 1,
    STOPS_CONTAINER = 2
};
static const unsigned char STOPS[256] = {
    ['"'] = STOPS_TEXT | STOPS_CONTAINER,
    ['\\'] = STOPS_TEXT,
    ['\n'] = STOPS_TEXT,
    ['{'] = STOPS_CONTAINER,
    ['}'] = STOPS_CONTAINER,
    ['['] = STOPS_CONTAINER,
    [']'] = STOPS_CONTAINER,
};

/* The next byte that stops; end if there is none. Four at a time, as this is where the time goes. */
static inline const char *next_stop(const char *at, const char *end, unsigned what)
{
    while (end - at >= 4) {
        const unsigned char *byte = (const unsigned char *)at;
        if (((STOPS[byte[0]] | STOPS[byte[1]] | STOPS[byte[2]] | STOPS[byte[3]]) & what) != 0) {
            break;
        }
        at += 4;
    }
    while (at < end && (STOPS[(unsigned char)*at] & what) == 0) {
        at++;
    }
    return at;
}

/* From after the opening quote to the closing one. NULL: the end came first, or (*damaged) the end of the
 * line, which no text of JSON has in it. */
static const char *text_end(const char *at, const char *end, bool *escaped, bool *damaged)
{
    for (;;) {
        at = next_stop(at, end, STOPS_TEXT);
        if (at == end) {
            return NULL;
        }
        if (*at == '"') {
            return at;
        }
        if (*at == '\\') {
            *escaped = true;
            at++;
        }
        if (at < end && *at == '\n') {
            *damaged = true;
            return NULL;
        }
        at += at < end;
    }
}

/* From after the opening bracket to the closing one. NULL: the end came first, or (*damaged) a bracket
 * that does not fit. Deeper than 64 brackets, their kinds are not compared any more. */
static const char *container_end(const char *at, const char *end, char open, bool *damaged)
{
    uint64_t objects = open == '{';
    size_t depth = 1;
    size_t deepest = 1;
    bool escaped;
    while ((at = next_stop(at, end, STOPS_CONTAINER)) < end) {
        if (*at == '"') {
            at = text_end(at + 1, end, &escaped, damaged);
            if (at == NULL) {
                return NULL;
            }
        } else if (*at == '{' || *at == '[') {
            objects = objects << 1 | (*at == '{');
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else {
            *damaged = deepest <= 64 && (objects & 1) != (*at == '}');
            objects >>= 1;
            depth--;
            if (depth == 0 || *damaged) {
                return *damaged ? NULL : at;
            }
        }
        at++;
    }
    return NULL;
}

const char *json_scan_value(const char *at, const char *end, struct json_value *value)
{
    const char *stop;
    bool damaged = false;
    *value = (struct json_value){0};
    at = json_scan_blanks(at, end);
    if (at == end) {
        value->kind = JSON_WORD; /* nothing wrong so far */
        return NULL;
    }
    value->text = at + 1;
    if (*at == '"') {
        value->kind = JSON_TEXT;
        stop = text_end(at + 1, end, &value->escaped, &damaged);
    } else if (*at == '{' || *at == '[') {
        value->kind = *at == '{' ? JSON_OBJECT : JSON_ARRAY;
        stop = container_end(at + 1, end, *at, &damaged);
    } else if (is_word(*at)) {
        value->kind = JSON_WORD;
        value->text = at;
        stop = at;
        while (stop < end && is_word(*stop)) {
            stop++;
        }
        value->len = (size_t)(stop - at);
        return stop < end ? stop : NULL; /* it may go on */
    } else {
        value->text = NULL;
        return NULL;
    }
    if (stop == NULL) {
        value->kind = damaged ? JSON_NONE : value->kind;
        return NULL;
    }
    value->len = (size_t)(stop - value->text);
    return stop + 1;
}

struct json_scan json_scan_in(const struct json_value *container)
{
    bool is_container = container->kind == JSON_OBJECT || container->kind == JSON_ARRAY;
    const char *begin = is_container ? container->text : NULL;
    /* The closing bracket counts in: a word ends before it. */
    return (struct json_scan){begin, is_container ? begin + container->len + 1 : NULL, false};
}

/* To the next value: past blanks and a comma. False at the closing bracket. */
static bool scan_more(struct json_scan *scan)
{
    if (scan->at == NULL || scan->broken) {
        return false;
    }
    scan->at = json_scan_blanks(scan->at, scan->end);
    if (scan->at < scan->end && *scan->at == ',') {
        scan->at = json_scan_blanks(scan->at + 1, scan->end);
    }
    return scan->at + 1 < scan->end;
}

static bool scan_value(struct json_scan *scan, struct json_value *value)
{
    const char *next = json_scan_value(scan->at, scan->end, value);
    scan->broken = next == NULL;
    scan->at = next;
    return next != NULL;
}

bool json_scan_member(struct json_scan *scan, struct json_value *key, struct json_value *value)
{
    if (!scan_more(scan)) {
        return false;
    }
    if (*scan->at != '"' || !scan_value(scan, key)) {
        scan->broken = true;
        return false;
    }
    scan->at = json_scan_blanks(scan->at, scan->end);
    if (scan->at == scan->end || *scan->at != ':') {
        scan->broken = true;
        return false;
    }
    scan->at++;
    return scan_value(scan, value);
}

bool json_scan_element(struct json_scan *scan, struct json_value *value)
{
    return scan_more(scan) && scan_value(scan, value);
}

bool json_is(const struct json_value *value, const char *text)
{
    return value->kind == JSON_TEXT && strlen(text) == value->len &&
           memcmp(value->text, text, value->len) == 0;
}

/* Four hexadecimal digits; -1 where they are not there. */
static long hex4(const char *at, const char *end)
{
    long value = 0;
    if (end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static void put_utf8(struct buf *out, long code)
{
    if (code < 0x80) {
        buf_addc(out, (char)code);
    } else if (code < 0x800) {
        buf_addc(out, (char)(0xc0 | code >> 6));
        buf_addc(out, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        buf_addc(out, (char)(0xe0 | code >> 12));
        buf_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
        buf_addc(out, (char)(0x80 | (code & 0x3f)));
    } else {
        buf_addc(out, (char)(0xf0 | code >> 18));
        buf_addc(out, (char)(0x80 | (code >> 12 & 0x3f)));
        buf_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
        buf_addc(out, (char)(0x80 | (code & 0x3f)));
    }
}

/* \uXXXX from after the u, or a pair of them (RFC 8259, 7); half a pair is U+FFFD. Returns where it
 * ends; NULL where there are no digits. */
static const char *put_unicode(struct buf *out, const char *at, const char *end)
{
    long code = hex4(at, end);
    if (code < 0) {
        return NULL;
    }
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        long low = hex4(at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            put_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            return at + 6;
        }
    }
    put_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return at;
}

struct json_value json_plain(const struct json_value *value, struct buf *scratch)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    const char *end = value->text + value->len;
    if (value->kind != JSON_TEXT || !value->escaped) {
        return *value;
    }
    buf_reset(scratch);
    for (const char *at = value->text; at < end;) {
        const char *next = NULL;
        if (*at != '\\' || at + 1 == end) {
            buf_addc(scratch, *at++);
            continue;
        }
        const char *known = strchr(from, at[1]);
        if (at[1] == 'u') {
            next = put_unicode(scratch, at + 2, end);
        } else if (at[1] != '\0' && known != NULL) {
            buf_addc(scratch, to[known - from]);
            next = at + 2;
        }
        if (next == NULL) {
            buf_addc(scratch, at[1]); /* \" \\ \/ and what should not be there */
            next = at + 2;
        }
        at = next;
    }
    return (struct json_value){JSON_TEXT, false, buf_text(scratch), scratch->len};
}

/* A decimal number: digits * 10^exponent. */
struct decimal {
    bool negative;
    uint64_t digits;
    int exponent;
};

/* Digits at `at`, those after the point counted off the exponent; what no longer fits is dropped. */
static const char *decimal_digits(struct decimal *number, const char *at, const char *end,
                                  bool *any)
{
    bool point = false;
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        *any = true;
        if (number->digits > (UINT64_MAX - 9) / 10) {
            number->exponent += !point;
            continue;
        }
        number->digits = number->digits * 10 + (uint64_t)(*at - '0');
        number->exponent -= point;
    }
    return at;
}

static bool decimal_read(struct decimal *number, const char *at, const char *end)
{
    bool any = false;
    int exponent = 0;
    number->negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    at = decimal_digits(number, at, end, &any);
    if (any && at < end && (*at == 'e' || *at == 'E')) {
        bool negative = ++at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        any = at < end;
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            exponent = exponent < 1000 ? exponent * 10 + (*at - '0') : exponent;
        }
        number->exponent += negative ? -exponent : exponent;
    }
    return any && at == end;
}

bool json_scaled(const struct json_value *value, int shift, int64_t *out)
{
    struct decimal number = {0};
    unsigned last = 0; /* the digit that was cut off last */
    if ((value->kind != JSON_WORD && value->kind != JSON_TEXT) ||
        !decimal_read(&number, value->text, value->text + value->len)) {
        return false;
    }
    number.exponent += shift;
    for (; number.exponent > 0 && number.digits != 0; number.exponent--) {
        if (number.digits > INT64_MAX / 10) {
            return false;
        }
        number.digits *= 10;
    }
    for (; number.exponent < 0 && (number.digits != 0 || last != 0); number.exponent++) {
        last = (unsigned)(number.digits % 10);
        number.digits /= 10;
    }
    number.digits += last >= 5;
    if (number.digits > INT64_MAX) {
        return false;
    }
    *out = number.negative ? -(int64_t)number.digits : (int64_t)number.digits;
    return true;
}
