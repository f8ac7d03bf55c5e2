/* fuzz_capture_bytes: any bytes as a capture file. */
#include "analysis/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    if (path != NULL) {
        fuzz_read_capture(path);
    }
    return 0;
}
