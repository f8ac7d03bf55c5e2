/*
 * buf: a growing byte string.
 *
 * Failure rule: a buf that could not grow keeps what it had and remembers the failure; later calls
 * do nothing. The caller checks buf_failed() once at the end. data is always NUL-terminated (or
 * NULL while nothing was ever written); the NUL is not counted in len.
 */
#ifndef CUTLINE_BASE_BUF_H
#define CUTLINE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/err.h"

struct buf {
    char *data; /* owned; NULL or NUL-terminated */
    size_t len; /* bytes without the NUL */
    size_t cap; /* bytes allocated */
    bool failed; /* memory ran out */
};

/* The empty buf: struct buf b = {0}; */
void buf_free(struct buf *buf);
/* Forgets the contents and the failure, keeps the memory. */
void buf_reset(struct buf *buf);
void buf_add(struct buf *buf, const void *data, size_t len);
void buf_adds(struct buf *buf, const char *text);
void buf_addc(struct buf *buf, char c);
/* Adds n copies of c. */
void buf_fill(struct buf *buf, char c, size_t n);
void buf_addf(struct buf *buf, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
bool buf_failed(const struct buf *buf);
/* The text, "" for an empty buf; valid until the next change. */
const char *buf_text(const struct buf *buf);

#endif
