/* info: gathers the facts; info_text.c and info_json.c write them. */
#include "analysis/report/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INFO_WARNING = 2, /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
    INFO_ERROR = 3,
    NAME_GPU_DRIVER = 205, /* nameEnum of TARGET_INFO_SYSTEM_ENV */
    NAME_CUDA_VERSION = 611,
};

static struct info_value info_copy(struct info *info, struct store_cursor *cursor, int column)
{
    struct info_value value = {NULL, 0};
    const char *text = store_text(cursor, column, &value.len);
    if (text != NULL) {
        value.text = arena_copy(&info->arena, text, value.len);
    }
    return value;
}

/* Calls each for every row. 0 or -1. */
static int info_rows(struct store *store, const struct store_scan *scan, struct info *info,
                     void (*each)(struct info *info, struct store_cursor *cursor), struct err *err)
{
    struct store_cursor *cursor = store_scan(store, scan, err);
    int status = cursor == NULL ? -1 : 1;
    while (status == 1) {
        status = store_next(cursor, err);
        if (status == 1) {
            each(info, cursor);
        }
    }
    store_cursor_close(cursor);
    return status;
}

static bool info_is(const char *text, size_t len, const char *word)
{
    return text != NULL && strlen(word) == len && memcmp(text, word, len) == 0;
}

static void info_meta_row(struct info *info, struct store_cursor *cursor)
{
    size_t len;
    const char *name = store_text(cursor, 0, &len);
    if (info_is(name, len, "EXPORT_PRODUCT_NAME")) {
        info->product = info_copy(info, cursor, 1);
    } else if (info_is(name, len, "EXPORT_PRODUCT_VERSION")) {
        info->product_version = info_copy(info, cursor, 1);
    } else if (info_is(name, len, "EXPORT_SCHEMA_VERSION")) {
        info->schema = info_copy(info, cursor, 1);
    }
}

static void info_capture_row(struct info *info, struct store_cursor *cursor)
{
    size_t len;
    const char *name = store_text(cursor, 0, &len);
    if (info_is(name, len, "CUDA_GRAPH_TRACE_OPTIONS:MODE") ||
        info_is(name, len, "PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE")) {
        info->graph_mode = info_copy(info, cursor, 1);
    }
}

static void info_start_row(struct info *info, struct store_cursor *cursor)
{
    info->utc = info_copy(info, cursor, 0);
}

/* 12080 -> "12.8" */
static struct info_value info_cuda_version(struct info *info, int64_t number)
{
    struct info_value value = {NULL, 0};
    char text[64];
    if (number >= 1000 && number < 1000000) {
        (void)snprintf(text, sizeof text, "%d.%d", (int)(number / 1000), (int)(number % 1000 / 10));
        value.len = strlen(text);
        value.text = arena_copy(&info->arena, text, value.len);
    }
    return value;
}

/* "52510517" -> "525.105.17": some versions of nsys leave the dots out. */
static struct info_value info_driver_version(struct info *info, struct info_value raw)
{
    struct info_value value = {NULL, 0};
    char text[64];
    if (raw.text == NULL || raw.len < 7 || raw.len > 8 ||
        strspn(raw.text, "0123456789") != raw.len) {
        return raw;
    }
    (void)snprintf(text, sizeof text, "%.3s.%.*s.%s", raw.text, (int)raw.len - 5, raw.text + 3,
                   raw.text + raw.len - 2);
    value.len = strlen(text);
    value.text = arena_copy(&info->arena, text, value.len);
    return value;
}

static void info_system_row(struct info *info, struct store_cursor *cursor)
{
    int64_t name = store_int(cursor, 0, 0);
    if (name == NAME_GPU_DRIVER) {
        info->driver = info_driver_version(info, info_copy(info, cursor, 1));
    } else if (name == NAME_CUDA_VERSION) {
        info->cuda = info_cuda_version(info, store_int(cursor, 1, 0));
    }
}

static void info_note_row(struct info *info, struct store_cursor *cursor)
{
    int64_t severity = store_int(cursor, 0, 0);
    struct info_value copy;
    size_t len;
    const char *text = store_text(cursor, 1, &len);
    if ((severity != INFO_WARNING && severity != INFO_ERROR) || text == NULL) {
        return;
    }
    for (size_t i = 0; i < info->note_count; i++) {
        struct info_note *note = &info->notes[i];
        if (note->severity == severity && note->len == len && memcmp(note->text, text, len) == 0) {
            note->count++;
            return;
        }
    }
    if (info->note_count < INFO_NOTES_MAX) {
        copy = info_copy(info, cursor, 1);
        if (copy.text != NULL) {
            info->notes[info->note_count++] = (struct info_note){copy.text, copy.len, severity, 1};
        }
    }
}

static void info_add_loss(struct info *info, struct info_value kind, struct info_value reason,
                          int64_t count)
{
    if (kind.text == NULL || reason.text == NULL) {
        return;
    }
    for (size_t i = 0; i < info->loss_count; i++) {
        struct info_loss *loss = &info->losses[i];
        if (loss->kind_len == kind.len && loss->reason_len == reason.len &&
            memcmp(loss->kind, kind.text, kind.len) == 0 &&
            memcmp(loss->reason, reason.text, reason.len) == 0) {
            loss->count += count;
            return;
        }
    }
    if (info->loss_count < INFO_LOSSES_MAX) {
        info->losses[info->loss_count++] =
            (struct info_loss){kind.text, reason.text, kind.len, reason.len, count};
    }
}

static void info_loss_row(struct info *info, struct store_cursor *cursor)
{
    int64_t count = store_int(cursor, 2, 1);
    /* A count beyond all reason is damage; it must not overflow a sum. */
    count = count < 0 || count > INT64_MAX / (1 << 20) ? 0 : count;
    info_add_loss(info, info_copy(info, cursor, 0), info_copy(info, cursor, 1), count);
}

static int info_read(struct info *info, struct store *store, struct err *err)
{
    static const char *const meta[] = {"name", "value"};
    static const char *const start[] = {"utcTime"};
    static const char *const system[] = {"nameEnum", "value"};
    static const char *const note[] = {"severity", "text"};
    static const char *const loss[] = {"kind", "reason", "count"};
    const struct {
        struct store_scan scan;
        void (*each)(struct info *info, struct store_cursor *cursor);
    } passes[] = {
        {{"EXPORT_META_DATA", meta, 2, 0, INT64_MAX}, info_meta_row},
        {{"META_DATA_EXPORT", meta, 2, 0, INT64_MAX}, info_meta_row},
        {{"META_DATA_CAPTURE", meta, 2, 0, INT64_MAX}, info_capture_row},
        {{"TARGET_INFO_SESSION_START_TIME", start, 1, 0, INT64_MAX}, info_start_row},
        {{"TARGET_INFO_SYSTEM_ENV", system, 2, 0, INT64_MAX}, info_system_row},
        {{"DIAGNOSTIC_EVENT", note, 2, 0, INT64_MAX}, info_note_row},
        {{"CUTLINE_LOSS", loss, 3, 0, INT64_MAX}, info_loss_row},
    };
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        if (info_rows(store, &passes[i].scan, info, passes[i].each, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static void info_tables(struct info *info, struct store *store)
{
    static const char *const tables[TRACE_KIND_COUNT] = {
        [TRACE_KERNEL] = "CUPTI_ACTIVITY_KIND_KERNEL",
        [TRACE_MEMCPY] = "CUPTI_ACTIVITY_KIND_MEMCPY",
        [TRACE_MEMSET] = "CUPTI_ACTIVITY_KIND_MEMSET",
        [TRACE_GRAPH] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        [TRACE_MIGRATION] = "CUPTI_ACTIVITY_KIND_MEMCPY",
        [TRACE_API_CALL] = "CUPTI_ACTIVITY_KIND_RUNTIME",
        [TRACE_NVTX_PUSHPOP] = "NVTX_EVENTS",
        [TRACE_NVTX_STARTEND] = "NVTX_EVENTS",
        [TRACE_NVTX_MARK] = "NVTX_EVENTS",
        [TRACE_OSRT_CALL] = "OSRT_API",
        [TRACE_OVERHEAD_PROFILER] = "PROFILER_OVERHEAD",
        [TRACE_OVERHEAD_CUDA] = "CUPTI_ACTIVITY_KIND_OVERHEAD",
    };
    for (int i = 0; i < TRACE_KIND_COUNT; i++) {
        info->has[i] = store_has_table(store, tables[i]);
    }
    info->version_table = store_has_table(store, "META_DATA_EXPORT")   ? "META_DATA_EXPORT"
                          : store_has_table(store, "EXPORT_META_DATA") ? "EXPORT_META_DATA"
                                                                       : NULL;
}

static void info_sums(struct info *info)
{
    const struct trace *trace = info->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        if (device->busy_count > 0) {
            info->busy_ns += device->busy_sum_ns[device->busy_count];
            info->device_span_ns +=
                device->busy_end_ns[device->busy_count - 1] - device->busy_begin_ns[0];
        }
    }
    for (uint32_t i = 0; i < api->count; i++) {
        uint16_t flags = trace->names[api->name[i]].api;
        info->launches += (flags & (TRACE_API_LAUNCH | TRACE_API_COPY | TRACE_API_SET)) != 0;
    }
}

static void info_judge(struct info *info)
{
    const struct trace_counts *counts = &info->trace->counts;
    if (counts->kernels + counts->graph_launches > 0) {
        info->verdict = INFO_GPU_WORK;
        return;
    }
    if (counts->memcpys + counts->memsets > 0) {
        info->verdict = INFO_ONLY_COPIES;
        return;
    }
    if (counts->api_calls == 0) {
        info->verdict = INFO_NO_CUDA;
        return;
    }
    info->verdict = INFO_NO_KERNELS;
    if (info->launches == 0) {
        info->reason = "no call asked for GPU work (the program stopped early, launched outside "
                       "the recording, or the profiling library does not know this driver)";
    } else {
        info->reason = "work was launched but the driver delivered no GPU activity (the usual "
                       "causes: a driver newer than the profiling library, no permission for GPU "
                       "tracing, another profiler on the same GPU, a process killed before its "
                       "buffers were flushed)";
    }
}

int info_collect(const struct trace *trace, struct store *store, struct info *info, struct err *err)
{
    *info = (struct info){.trace = trace};
    info->notes = arena_alloc(&info->arena, INFO_NOTES_MAX * sizeof *info->notes);
    info->losses = arena_alloc(&info->arena, INFO_LOSSES_MAX * sizeof *info->losses);
    if (info->notes == NULL || info->losses == NULL) {
        info_free(info);
        return err_nomem(err, "the summary");
    }
    info_tables(info, store);
    if (info_read(info, store, err) != 0 || trace_check(trace, err) != 0) {
        info_free(info);
        return -1;
    }
    if (failures_new(info->trace, store, &info->failures, err) != 0) {
        info_free(info);
        return -1;
    }
    info_sums(info);
    info_judge(info);
    return 0;
}

void info_free(struct info *info)
{
    failures_free(&info->failures);
    arena_free(&info->arena);
    *info = (struct info){0};
}

/* The failure that explains why nothing ran: of launches, allocations or a lost context. False if
 * there is none. */
static bool info_put_failure(const struct info *info, struct buf *out)
{
    const struct failure *failure = failures_fatal(&info->failures);
    if (failure == NULL) {
        return false;
    }
    failures_put(out, info->trace, failure);
    return true;
}

bool info_loss_was_asked(const struct info_loss *loss)
{
    static const char *const reasons[] = {"outside the capture range", "API filter"};
    bool asked = false;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        asked |= strlen(reasons[i]) == loss->reason_len &&
                 memcmp(reasons[i], loss->reason, loss->reason_len) == 0;
    }
    return asked;
}

/* Whether kernels ran that the recorder lost. */
static bool lost_kernels(const struct info *info)
{
    static const char kernel[] = "kernel";
    for (size_t i = 0; i < info->loss_count; i++) {
        const struct info_loss *loss = &info->losses[i];
        if (loss->kind_len == strlen(kernel) && memcmp(loss->kind, kernel, loss->kind_len) == 0 &&
            !info_loss_was_asked(loss)) {
            return true;
        }
    }
    return false;
}

void info_verdict_text(const struct info *info, struct buf *out)
{
    switch (info->verdict) {
    case INFO_GPU_WORK:
        buf_adds(out, "has GPU work");
        break;
    case INFO_ONLY_COPIES:
        buf_adds(out, "has GPU work, but no kernels: ");
        if (!info_put_failure(info, out)) {
            buf_adds(out, "only copies and memory sets");
        }
        break;
    case INFO_NO_KERNELS:
        buf_adds(out, "API calls but no kernels: ");
        if (!info_put_failure(info, out)) {
            buf_adds(out, info->reason);
        }
        break;
    case INFO_NO_CUDA:
        buf_adds(out, lost_kernels(info) ? "no CUDA activity: kernels ran, but were lost"
                                         : "no CUDA activity");
        break;
    }
}
