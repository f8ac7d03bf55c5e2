/* fuzz_text: text from strangers comes out safe; times and sizes parse or are refused. */
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/fuzz/fuzz.h"

/* The sanitised text is valid, holds no control, and has the width that was foretold. */
static void check_safe(const char *text, size_t len, bool ascii)
{
    struct buf out = {0};
    size_t cols = 0;
    size_t at = 0;
    utf8_sanitize(&out, text, len, ascii);
    while (at < out.len) {
        uint32_t cp;
        size_t taken = utf8_decode(out.data + at, out.len - at, &cp);
        int width = utf8_width(cp);
        FUZZ_HOLDS(taken >= 1 && at + taken <= out.len);
        FUZZ_HOLDS(cp != UTF8_BAD || taken == 3);
        FUZZ_HOLDS(width >= 0);
        FUZZ_HOLDS(utf8_safe(cp, ascii) == cp);
        FUZZ_HOLDS(!ascii || cp < 0x7F);
        cols += (size_t)width;
        at += taken;
    }
    FUZZ_HOLDS(ascii || cols == utf8_cols(text, len));
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    char printed[TIMEFMT_BYTES];
    int64_t ns;
    size_t len = size < sizeof text - 1 ? size : sizeof text - 1;
    check_safe((const char *)data, size, false);
    check_safe((const char *)data, size, true);
    memcpy(text, data, len);
    text[len] = '\0';
    if (timefmt_parse(text, 1, &ns, NULL) == 0) {
        FUZZ_HOLDS(strlen(timefmt_duration(ns, printed)) < TIMEFMT_BYTES);
        FUZZ_HOLDS(strlen(timefmt_at(ns, 1, printed)) < TIMEFMT_BYTES);
        FUZZ_HOLDS(strlen(timefmt_count(ns, printed)) < TIMEFMT_BYTES);
        FUZZ_HOLDS(strlen(timefmt_bytes(ns, printed)) < TIMEFMT_BYTES);
    }
    return 0;
}
