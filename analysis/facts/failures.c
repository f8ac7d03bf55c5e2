/*
 * failures: see failures.h. The failing rows are gathered from the file, then found among the calls
 * of the model by row: O(calls + failed log failed).
 */
#include "analysis/facts/failures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/utf8.h"
#include "analysis/store/store.h"

enum {
    WORK = TRACE_API_LAUNCH | TRACE_API_COPY | TRACE_API_SET
};

/* Values that answer a question; `call` is the begin of the name. */
static const struct {
    int code;
    const char *call;
} ANSWERS[] = {
    {600, "cudaEventQuery"},
    {600, "cudaStreamQuery"},
    {600, "cuEventQuery"},
    {600, "cuStreamQuery"},
    {600, "cudaEventElapsedTime"},
    {600, "cuEventElapsedTime"},
    {704, "cudaDeviceEnablePeerAccess"},
    {704, "cuCtxEnablePeerAccess"},
    {705, "cudaDeviceDisablePeerAccess"},
    {705, "cuCtxDisablePeerAccess"},
    {712, "cudaHostRegister"},
    {712, "cuMemHostRegister"},
    {713, "cudaHostUnregister"},
    {713, "cuMemHostUnregister"},
    {1, "cudaPointerGetAttributes"},
    {1, "cuPointerGetAttribute"},
    {500, "cuGetProcAddress"},
    {500, "cudaGetDriverEntryPoint"},
    {500, "cuModuleGetGlobal"},
    {500, "cuModuleGetFunction"},
    {500, "cuLibraryGet"},
    {4, "cudaEventDestroy"}, /* the runtime is shutting down: the program ends */
    {4, "cudaStreamDestroy"},
    {4, "cudaFree"},
};

/* After these the context is lost (CUDA Runtime API, "cudaError_t": "leaves the process in an
 * inconsistent state"). */
static const int STICKY[] = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719};

static const struct {
    int code;
    const char *advice;
} ADVICE[] = {
    {2, "The device has no room for the request: less at once, or free what "
        "is not needed any more before."},
    {209, "The program has no code for this GPU: build it for the compute capability of the device "
          "(nvcc -arch)."},
    {218,
     "The PTX in the program cannot be compiled for this GPU: build it for the device's compute "
     "capability."},
    {222, "The PTX in the program was made by a CUDA toolkit newer than the driver: update the "
          "driver, or build with an older toolkit or for this GPU's architecture (nvcc -arch)."},
    {35, "The driver is older than the CUDA runtime of the program: update the driver."},
    {98, "The kernel has no code for this GPU: build it for the device's compute capability (nvcc "
         "-arch)."},
    {100, "No device is visible: CUDA_VISIBLE_DEVICES, permissions of /dev/nvidia*, the driver."},
    {700,
     "A kernel read or wrote memory that it must not: run the program under compute-sanitizer."},
    {701, "The launch asks for more registers or shared memory than a block may have: a smaller "
          "block, or __launch_bounds__."},
    {702, "A kernel ran into the time limit of a device that also drives a display."},
    {710, "An assert in a kernel failed: the program's error output names it."},
    {716, "A kernel read or wrote a misaligned address: run the program under compute-sanitizer."},
    {719, "A kernel failed while it ran: run the program under compute-sanitizer."},
    {9, "A grid or block size is not allowed (0, or above the device's limit)."},
    {1, "An argument of the call is not allowed."},
};

static bool is_sticky(int64_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(STICKY); i++) {
        if (STICKY[i] == code) {
            return true;
        }
    }
    return false;
}

bool failures_is(int64_t code, const char *call)
{
    if (code == 0 || strstr(call, "LastError") != NULL) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(ANSWERS); i++) {
        if (ANSWERS[i].code == code &&
            strncmp(call, ANSWERS[i].call, strlen(ANSWERS[i].call)) == 0) {
            return false;
        }
    }
    return true;
}

const char *failures_advice(int64_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(ADVICE); i++) {
        if (ADVICE[i].code == code) {
            return ADVICE[i].advice;
        }
    }
    return NULL;
}

void failures_put_code(struct buf *out, int64_t code, const char *call)
{
    const char *name = failures_code_name(code, call);
    if (name != NULL) {
        buf_addf(out, "%s (%" PRId64 ")", name, code);
    } else {
        buf_addf(out, "status %" PRId64, code);
    }
}

void failures_put(struct buf *out, const struct trace *trace, const struct failure *failure)
{
    const struct trace_name *name = &trace->names[failure->name];
    buf_addf(out, "%" PRIu32 " of %" PRIu32 " ", failure->count, failure->calls);
    utf8_sanitize(out, name->brief, name->brief_len, false);
    buf_adds(out, " failed: ");
    failures_put_code(out, failure->code, name->brief);
    if (failure->bytes >= 0) {
        buf_addf(out, ", %" PRId64 " bytes asked for", failure->bytes);
    }
}

const struct failure *failures_fatal(const struct failures *failures)
{
    static const int codes[] = {FAILURE_OUT_OF_MEMORY, 3, 35, 46, 100, 101, 802, 803, 804, 999};
    for (size_t i = 0; i < failures->count; i++) {
        const struct failure *failure = &failures->list[i];
        bool is_fatal = failure->is_sticky || failure->is_work;
        for (size_t c = 0; c < ARRAY_LEN(codes); c++) {
            is_fatal |= failure->code == codes[c];
        }
        if (is_fatal) {
            return failure;
        }
    }
    return NULL;
}

/* ---- gathering ---- */

struct failed_row {
    int64_t row;
    int64_t code;
    int64_t correlation;
};

struct gather {
    const struct trace *trace;
    struct failed_row *rows; /* owned, by row */
    size_t count;
    size_t cap;
};

static int read_rows(struct gather *gather, struct store *store)
{
    static const char *const columns[] = {"returnValue", "correlationId"};
    const struct store_scan scan = {.table = "CUPTI_ACTIVITY_KIND_RUNTIME",
                                    .columns = columns,
                                    .column_count = 2,
                                    .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    int rc = 0;
    while (cursor != NULL && rc == 0 && store_next(cursor, NULL) == 1) {
        int64_t code = store_int(cursor, 0, 0);
        if (code == 0) {
            continue;
        }
        struct failed_row *rows =
            array_grow(gather->rows, &gather->cap, gather->count + 1, sizeof *rows);
        if (rows == NULL) {
            rc = -1;
            break;
        }
        gather->rows = rows;
        rows[gather->count++] =
            (struct failed_row){store_rowid(cursor), code, store_int(cursor, 1, 0)};
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
    return rc;
}

static const struct failed_row *row_of(const struct gather *gather, uint32_t row)
{
    size_t at = 0;
    BISECT(size_t, at, gather->count, mid, gather->rows[mid].row < (int64_t)row)
    return at < gather->count && gather->rows[at].row == (int64_t)row ? &gather->rows[at] : NULL;
}

static bool is_failed_call(const struct gather *gather, uint32_t api)
{
    const struct trace_events *calls = &gather->trace->events[TRACE_API];
    const struct failed_row *row = row_of(gather, calls->row[api]);
    return row != NULL && failures_is(row->code, gather->trace->names[calls->name[api]].brief);
}

/* The group of a failed call; NULL without memory. */
static struct failure *group_of(struct failures *out, size_t *cap, uint32_t name, int64_t code)
{
    for (size_t i = 0; i < out->count; i++) {
        if (out->list[i].name == name && out->list[i].code == code) {
            return &out->list[i];
        }
    }
    struct failure *list = array_grow(out->list, cap, out->count + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    out->list = list;
    list[out->count] = (struct failure){
        .name = name, .code = code, .first = TRACE_NONE, .bytes = -1, .is_sticky = is_sticky(code)};
    return &list[out->count++];
}

/* Groups the failed calls; sticky_ns: when the first sticky failure began. */
static int group_calls(const struct gather *gather, struct failures *out, int64_t *sticky_ns)
{
    const struct trace *trace = gather->trace;
    const struct trace_events *api = &trace->events[TRACE_API];
    size_t cap = 0;
    for (uint32_t i = 0; i < api->count; i++) {
        const struct trace_name *name = &trace->names[api->name[i]];
        bool is_work = (name->api & WORK) != 0;
        const struct failed_row *row = row_of(gather, api->row[i]);
        out->work_calls += is_work;
        if (row == NULL || !failures_is(row->code, name->brief)) {
            continue;
        }
        struct failure *failure = group_of(out, &cap, api->name[i], row->code);
        if (failure == NULL) {
            return -1;
        }
        failure->count++;
        failure->is_work = is_work;
        out->work_failed += is_work;
        if (failure->first == TRACE_NONE || api->begin_ns[i] < api->begin_ns[failure->first]) {
            failure->first = i;
        }
        if (failure->is_sticky && api->begin_ns[i] < *sticky_ns) {
            *sticky_ns = api->begin_ns[i];
        }
    }
    return 0;
}

/* How many calls each group's name has in all, and how many failed after the first sticky one. 0, or
 * -1 without memory. */
static int count_calls(const struct gather *gather, struct failures *out, int64_t sticky_ns)
{
    const struct trace_events *api = &gather->trace->events[TRACE_API];
    uint32_t *calls = calloc((size_t)gather->trace->name_count + 1, sizeof *calls);
    if (calls == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < api->count; i++) {
        calls[api->name[i]]++;
        out->after_sticky += api->begin_ns[i] > sticky_ns && is_failed_call(gather, i);
    }
    for (size_t f = 0; f < out->count; f++) {
        out->list[f].calls = calls[out->list[f].name];
    }
    free(calls);
    return 0;
}

/* The bytes that the first failed call of each group asked for, where memory events tell. */
static void read_bytes(const struct gather *gather, struct store *store, struct failures *out)
{
    static const char *const columns[] = {"correlationId", "bytes"};
    const struct store_scan scan = {.table = "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                    .columns = columns,
                                    .column_count = 2,
                                    .end_row = INT64_MAX};
    const struct trace_events *api = &gather->trace->events[TRACE_API];
    struct store_cursor *cursor = store_scan(store, &scan, NULL);
    while (cursor != NULL && store_next(cursor, NULL) == 1) {
        int64_t correlation = store_int(cursor, 0, 0);
        for (size_t f = 0; correlation != 0 && f < out->count; f++) {
            struct failure *failure = &out->list[f];
            const struct failed_row *row = row_of(gather, api->row[failure->first]);
            if (failure->code == FAILURE_OUT_OF_MEMORY && row != NULL &&
                row->correlation == correlation) {
                failure->bytes = store_int(cursor, 1, -1);
            }
        }
    }
    if (cursor != NULL) {
        store_cursor_close(cursor);
    }
}

static bool is_out_of_memory(const struct failures *failures)
{
    for (size_t i = 0; i < failures->count; i++) {
        if (failures->list[i].code == FAILURE_OUT_OF_MEMORY) {
            return true;
        }
    }
    return false;
}

static int failure_order(const void *a, const void *b)
{
    const struct failure *x = a;
    const struct failure *y = b;
    if (x->is_sticky != y->is_sticky) {
        return COMPARE(y->is_sticky, x->is_sticky);
    }
    if (x->is_sticky && x->first != y->first) {
        return COMPARE(x->first, y->first);
    }
    if (x->is_work != y->is_work) {
        return COMPARE(y->is_work, x->is_work);
    }
    if (x->count != y->count) {
        return COMPARE(y->count, x->count);
    }
    return COMPARE(x->first, y->first);
}

int failures_new(const struct trace *trace, struct store *store, struct failures *out,
                 struct err *err)
{
    struct gather gather = {.trace = trace};
    int64_t sticky_ns = INT64_MAX;
    *out = (struct failures){0};
    int rc = store == NULL || trace->counts.statuses == 0 ? 0 : read_rows(&gather, store);
    if (rc == 0 && gather.count > 0) {
        rc = group_calls(&gather, out, &sticky_ns);
    }
    if (rc == 0 && out->count > 0) {
        rc = count_calls(&gather, out, sticky_ns);
    }
    if (rc == 0 && out->count > 0) {
        if (is_out_of_memory(out)) {
            read_bytes(&gather, store, out);
        }
        sort_list(out->list, out->count, sizeof *out->list, failure_order);
    }
    free(gather.rows);
    if (rc != 0) {
        failures_free(out);
        return err_nomem(err, "the failed calls");
    }
    return 0;
}

void failures_free(struct failures *failures)
{
    free(failures->list);
    *failures = (struct failures){0};
}
