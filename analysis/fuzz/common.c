/* common: see fuzz.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "analysis/fuzz/fuzz.h"
#include "analysis/report/info.h"
#include "analysis/report/report.h"
#include "analysis/trace/trace.h"

enum {
    FORMATS = TABLE_FORMAT_JSON + 1 /* each report is printed in one, in turn */
};

void fuzz_broken(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

static char fuzz_path[] = "/tmp/cutline-fuzz-XXXXXX";

static void remove_file(void)
{
    (void)unlink(fuzz_path);
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int made;
    FILE *file;
    if (!made) {
        int fd = mkstemp(fuzz_path);
        made = fd >= 0;
        if (fd < 0 || close(fd) != 0 || atexit(remove_file) != 0) {
            return NULL;
        }
    }
    file = fopen(fuzz_path, "wb");
    if (file == NULL) {
        return NULL;
    }
    if (fwrite(data, 1, size, file) != size) {
        (void)fclose(file);
        return NULL;
    }
    return fclose(file) == 0 ? fuzz_path : NULL;
}

static int sink(void *arg, const char *data, size_t len)
{
    (void)arg;
    (void)data;
    (void)len;
    return 0;
}

static void run_reports(struct shared *shared, enum report_kind kind)
{
    static const struct table_sink OUT = {.write = sink};
    const struct select_options options = SELECT_OPTIONS_ALL;
    int count;
    const struct report *const *list = report_list(kind, &count);
    for (int i = 0; i < count; i++) {
        struct report_call call;
        struct report_result result;
        struct err err = {0};
        if (report_call_parse(kind, list[i]->name, &call, &err) != 0) {
            fuzz_broken(__FILE__, __LINE__, list[i]->name);
        }
        if (report_run(shared, &call, &options, &result, &err) == 0 && result.table != NULL) {
            const struct table_output form = {.format = (enum table_format)(i % FORMATS),
                                              .time_unit_ns = 1};
            (void)table_write(result.table, &form, &OUT, &err);
        }
        report_result_free(&result);
        report_call_free(&call);
    }
}

void fuzz_read_capture(const char *path)
{
    const struct trace_options options = {.threads = 1};
    struct err err = {0};
    struct trace *trace = trace_load(path, &options, &err);
    struct info info;
    if (trace == NULL) {
        FUZZ_HOLDS(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        return;
    }
    struct store *store = trace_store(trace, &err);
    if (store != NULL && info_collect(trace, store, &info, &err) == 0) {
        struct buf text = {0};
        info_text(&info, false, &text);
        info_json(&info, &text);
        buf_free(&text);
        info_free(&info);
    }
    store_close(store);
    struct shared *shared = shared_new(trace, &err);
    if (shared != NULL) {
        run_reports(shared, REPORT_STATS);
        run_reports(shared, REPORT_RULE);
    }
    shared_free(shared);
    trace_free(trace);
}
