/*
 * json: see json.h.
 */
#include "analysis/query/json.h"

#include "analysis/base/utf8.h"

void json_text(struct buf *out, const char *text, size_t len)
{
    size_t at = 0;
    buf_addc(out, '"');
    while (at < len) {
        uint32_t cp;
        size_t bytes = utf8_decode(text + at, len - at, &cp);
        char encoded[4];
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

void json_us(struct buf *out, int64_t ns)
{
    uint64_t value = ns < 0 ? 0U - (uint64_t)ns : (uint64_t)ns;
    buf_addf(out, "%s%llu.%03u", ns < 0 ? "-" : "", (unsigned long long)(value / 1000),
             (unsigned)(value % 1000));
}
