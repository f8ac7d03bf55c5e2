/* json_capture: see json_capture.h. */
#include "analysis/import/json_capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/import/json_stream.h"
#include "analysis/import/trace_rows.h"
#include "analysis/store/cache_made.h"

enum {
    FORM = 1, /* of the captures that are made here: a new one makes them again */
    PAGE_BYTES = 65536
};

struct work {
    struct trace_rows *rows;
    const struct report_wait *wait;
};

bool json_capture_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && json_stream_is(path);
}

static int take_event(void *arg, const struct json_value *event, struct err *err)
{
    struct work *work = arg;
    return trace_rows_event(work->rows, event, err);
}

static int take_member(void *arg, const struct json_value *key, const struct json_value *value,
                       struct err *err)
{
    struct work *work = arg;
    return trace_rows_member(work->rows, key, value, err);
}

static bool is_stopped(void *arg)
{
    const struct work *work = arg;
    return work->wait != NULL && work->wait->stopped(work->wait->arg);
}

static int add_loss(struct store_writer *writer, const char *reason, int64_t count, struct err *err)
{
    static const char kind[] = "events of the trace";
    struct store_cell row[STORE_CUTLINE_LOSS_N] = {
        [STORE_CUTLINE_LOSS_KIND] = store_cell_text(kind, strlen(kind)),
        [STORE_CUTLINE_LOSS_REASON] = store_cell_text(reason, strlen(reason)),
        [STORE_CUTLINE_LOSS_COUNT] = store_cell_int(count),
    };
    return store_writer_row(writer, STORE_TABLE_CUTLINE_LOSS, row, err);
}

/* What could not be read is said in the capture: as losses, and as one line. 0 or -1. */
static int add_losses(struct store_writer *writer, const struct json_stream_result *result,
                      int64_t damaged, struct err *err)
{
    char line[200];
    const char *cut = result->bad_gzip ? "its compressed data are cut or damaged" : "it is cut off";
    if (damaged > 0 && add_loss(writer, "not readable", damaged, err) != 0) {
        return -1;
    }
    if (result->truncated && add_loss(writer, cut, 1, err) != 0) {
        return -1;
    }
    if (damaged == 0 && !result->truncated) {
        return 0;
    }
    (void)snprintf(line, sizeof line, "%s%s%s", result->truncated ? cut : "",
                   result->truncated && damaged > 0 ? "; " : "",
                   damaged > 0 ? "events that cannot be read are left out" : "");
    return store_writer_note(writer, STORE_TABLE_CUTLINE_RECORDER, "incomplete", line, err);
}

/* A trace in which nothing happened is one; what is cut or has no events at all is not. 0 or -1. */
static int check_empty(const struct json_stream_result *result, struct err *err)
{
    if (!result->has_events) {
        return err_set(err, "a JSON file, but not a trace: it has no traceEvents");
    }
    return result->truncated || result->damaged > 0
               ? err_set(err, "a JSON trace of which no event can be read")
               : 0;
}

/* All rows of the trace. 0 or -1. */
static int write_rows(const char *path, struct store_writer *writer, const struct report_wait *wait,
                      struct err *err)
{
    struct json_stream_result result;
    struct work work = {trace_rows_new(writer, err), wait};
    const struct json_stream_sink sink = {take_event, take_member, is_stopped, &work};
    int status = work.rows == NULL ? -1 : json_stream_read(path, &sink, &result, err);
    if (status == 0) {
        status = trace_rows_end(work.rows, err);
    }
    if (status == 0 && trace_rows_written(work.rows) == 0) {
        status = check_empty(&result, err);
    }
    if (status == 0) {
        status = add_losses(writer, &result, result.damaged + trace_rows_damaged(work.rows), err);
    }
    trace_rows_free(work.rows);
    return status;
}

/* Makes the capture under the name target, closed to others. 0 or -1. */
static int write_capture(const char *path, const char *target, const struct report_wait *wait,
                         struct err *err)
{
    const struct store_writer_opts opts = {.overwrite = true, .page_size_bytes = PAGE_BYTES};
    struct store_writer *writer = NULL;
    if (store_writer_open(target, &opts, &writer, err) != 0) {
        return -1;
    }
    if (write_rows(path, writer, wait, err) != 0) {
        store_writer_abandon(writer);
        return -1;
    }
    if (store_writer_finish(writer, err) != 0) {
        return -1;
    }
    return chmod(target, S_IRUSR | S_IWUSR) == 0 ? 0
                                                 : err_set(err, "%s: %s", target, strerror(errno));
}

struct source {
    const char *path;
    const struct report_wait *wait;
};

static int make_capture(void *arg, struct cache_part *part, const struct buf *target,
                        struct err *err)
{
    const struct source *source = arg;
    (void)part;
    return write_capture(source->path, buf_text(target), source->wait, err);
}

int json_capture_make(const char *path, const struct report_wait *wait, struct buf *out,
                      struct err *err)
{
    struct cache_folder folder;
    struct buf name = {0};
    struct stat st;
    if (stat(path, &st) != 0) {
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    int status = cache_folder_open(&folder, err);
    buf_addf(&name, "export-json%d-%llx-%llx-%llx-%llx-%lx.sqlite", FORM,
             (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
             (unsigned long long)st.st_size, (unsigned long long)st.st_mtim.tv_sec,
             (unsigned long)st.st_mtim.tv_nsec);
    if (status == 0) {
        struct source source = {path, wait};
        status = cache_made(&folder, &name, make_capture, &source, out, err);
    }
    if (status != 0) {
        (void)err_prefix(err, "%s", path);
    }
    buf_free(&name);
    cache_folder_close(&folder);
    return status;
}
