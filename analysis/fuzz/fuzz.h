/*
 * fuzz: what the fuzz targets share. A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput.
 *
 * With the preset `fuzz` each is a libFuzzer program. In the other presets each is linked with
 * replay.c and runs over its first inputs as a test, so that what fuzzing found stays found.
 */
#ifndef CUTLINE_ANALYSIS_FUZZ_H
#define CUTLINE_ANALYSIS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A breach of what is promised: ends the program, so that libFuzzer keeps the input. */
#define FUZZ_HOLDS(condition) \
    do { \
        if (!(condition)) { \
            fuzz_broken(__FILE__, __LINE__, #condition); \
        } \
    } while (0)
void fuzz_broken(const char *file, int line, const char *what);

/* Writes the bytes to a new file; its path lives until the next call. NULL on failure. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Reads a capture and does with it what the commands do: summary, all reports, all rules. */
void fuzz_read_capture(const char *path);

#endif
