/*
 * utf8: text from strangers, made safe for a terminal, and its width in columns.
 *
 * Safe means: no byte below 0x20, no 0x7f, no C1 control (U+0080..U+009F), no invalid UTF-8, no
 * surrogate, no bidirectional control (U+202A..202E, U+2066..2069), no zero-width joiner games:
 * every code point that comes out has width 1 or 2 or combines with one before it. Replaced: a
 * control byte by U+FFFD (or '?' with ascii), newline, tab and carriage return by a blank.
 */
#ifndef CUTLINE_BASE_UTF8_H
#define CUTLINE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"

#define UTF8_BAD 0xFFFDU

/*
 * Decodes one code point at text[0..len), len > 0. Returns the bytes taken (1..4) and sets *cp; an
 * invalid or cut sequence gives UTF8_BAD and takes 1 byte.
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *cp);
/* Encodes cp into out[4]; returns the bytes (1..4). A bad cp is written as UTF8_BAD. */
size_t utf8_encode(uint32_t cp, char out[4]);
/* Columns of a code point: 0 (combining), 1 or 2; -1 for a control. No locale is asked. */
int utf8_width(uint32_t cp);
/* The code point that may be shown in place of cp (see above). With ascii: never above 0x7e. */
uint32_t utf8_safe(uint32_t cp, bool ascii);
/* Adds the safe form of text to out. */
void utf8_sanitize(struct buf *out, const char *text, size_t len, bool ascii);
/* The safe form of text in out[room], room > 0, cut before the first character that does not fit, and
 * NUL-terminated. "" without memory. */
void utf8_copy(char *out, size_t room, const char *text, size_t len);
/* Columns that the safe form of text takes. */
size_t utf8_cols(const char *text, size_t len);

#endif
