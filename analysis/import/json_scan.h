/*
 * json_scan: JSON in memory, read in place. A value is a slice of the text; what lies in an object or an
 * array is read with another scan of that slice. Nothing is copied but texts with escapes.
 *
 *     struct json_scan scan = json_scan_in(&object);
 *     while (json_scan_member(&scan, &key, &value)) { ... }
 *     if (scan.broken) { ... what was read so far stands }
 *
 * Lenient where writers are known to err: NaN and Infinity are words, bad escapes stand for themselves.
 *
 * Cost: O(n); nothing recurses.
 */
#ifndef CUTLINE_IMPORT_JSON_SCAN_H
#define CUTLINE_IMPORT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"

enum json_kind {
    JSON_NONE, /* not a value; a missing one */
    JSON_TEXT,
    JSON_WORD, /* a number, true, null, NaN */
    JSON_OBJECT,
    JSON_ARRAY,
};

struct json_value {
    enum json_kind kind;
    bool escaped; /* JSON_TEXT: has a backslash */
    const char *text; /* without the quotes or brackets */
    size_t len;
};

/* Reads the value that begins at `at` or after blanks. Returns where it ends; NULL where `end` comes
 * first (kind is what began), or where it is damaged or no value at all (kind is JSON_NONE). */
const char *json_scan_value(const char *at, const char *end, struct json_value *value);
/* After blanks. */
const char *json_scan_blanks(const char *at, const char *end);

struct json_scan {
    const char *at;
    const char *end;
    bool broken; /* what follows is not JSON */
};

struct json_scan json_scan_in(const struct json_value *container);
/* The next member of an object, the next element of an array; false at the end. */
bool json_scan_member(struct json_scan *scan, struct json_value *key, struct json_value *value);
bool json_scan_element(struct json_scan *scan, struct json_value *value);

/* Is it a text of these bytes (a key: without escapes)? */
bool json_is(const struct json_value *value, const char *text);
/* The text without its escapes: of the value itself, or written to scratch. */
struct json_value json_plain(const struct json_value *value, struct buf *scratch);

/* The number times 10^shift, to the nearest integer (a half away from 0); also of a text that is a
 * number. Exact: no floating point. False where it is no number or does not fit. */
bool json_scaled(const struct json_value *value, int shift, int64_t *out);

#endif
