/*
 * generated_file: a generated capture for unit tests of what is kept of captures, with a cache folder of its own.
 */
#ifndef CUTLINE_TESTS_GENERATED_FILE_H
#define CUTLINE_TESTS_GENERATED_FILE_H

#include "analysis/tests/sql_file.h"
#include "testdata/gen.h"

/* Makes a capture of one step and one layer on that many devices, to be removed by sql_file_remove, and names
 * a folder that is not there yet (SQL_FILE_PATH bytes), which becomes XDG_CACHE_HOME. */
static inline void generated_file_new(int64_t devices, struct sql_file *capture, char *folder)
{
    struct gen_options options = GEN_DEFAULTS;
    struct err err = {""};
    struct sql_file place = {""};
    options.devices = devices;
    options.steps = 1;
    options.layers = 1;
    options.overwrite = true;
    sql_file_new(&place);
    sql_file_remove(&place);
    (void)snprintf(folder, SQL_FILE_PATH, "%s", place.path);
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    sql_file_new(capture);
    if (gen_capture(&options, capture->path, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

#endif
