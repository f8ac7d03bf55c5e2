/* buf: see buf.h. Growth doubles, so n bytes cost O(n) copies. */
#include "analysis/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for extra bytes and a NUL. False: memory ran out (now or before). */
static bool buf_room(struct buf *buf, size_t extra)
{
    size_t cap = buf->cap == 0 ? 64 : buf->cap;
    if (buf->failed || extra > (size_t)-1 / 4 - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t want = buf->len + extra + 1;
    if (want <= buf->cap) {
        return true;
    }
    while (cap < want) {
        cap *= 2;
    }
    char *data = realloc(buf->data, cap);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
    if (len == 0 || !buf_room(buf, len)) {
        return;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_adds(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_addc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_fill(struct buf *buf, char c, size_t n)
{
    if (n == 0 || !buf_room(buf, n)) {
        return;
    }
    memset(buf->data + buf->len, c, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int need = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (need < 0 || !buf_room(buf, (size_t)need)) {
        buf->failed = true;
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(buf->data + buf->len, (size_t)need + 1, fmt, args);
    va_end(args);
    buf->len += (size_t)need;
}

bool buf_failed(const struct buf *buf)
{
    return buf->failed;
}

const char *buf_text(const struct buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}
