/*
 * json: text as a JSON string (RFC 8259): quotes, backslashes, controls and what no terminal should
 * get are escaped, so that the exact text comes back; bytes that are no UTF-8 become U+FFFD.
 */
#ifndef CUTLINE_TABLE_JSON_H
#define CUTLINE_TABLE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"

/* Adds the text with its quotes. len bytes. */
void json_text(struct buf *out, const char *text, size_t len);
/* Adds '{"schema":"NAME","version":N,"producer":"cutline VERSION"': how every document begins. The
 * version of a schema counts up where a member changes its meaning or goes; new members may come. */
void json_head(struct buf *out, const char *schema, int version);
/* Adds a decimal integer. */
void json_number(struct buf *out, int64_t value);
/* Adds ns as microseconds with three decimals, exactly: 1500 -> "1.500". */
void json_us(struct buf *out, int64_t ns);

#endif
