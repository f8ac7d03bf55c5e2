/* fuzz_filter: the first line is a pattern, the rest a name: no pattern crashes or hangs, and a bad
 * one has a message. */
#include <string.h>

#include "analysis/filter/filter.h"
#include "analysis/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = memchr(text, '\n', size);
    size_t len = end == NULL ? size : (size_t)(end - text);
    struct err err = {0};
    struct filter *filter = filter_new(text, len, &err);
    FUZZ_HOLDS((filter == NULL) == (err.text[0] != '\0'));
    if (filter != NULL && end != NULL) {
        (void)filter_match(filter, end + 1, size - len - 1);
    }
    filter_free(filter);
    return 0;
}
