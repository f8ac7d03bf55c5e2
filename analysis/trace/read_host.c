/* read_host: rows of the tables of threads: API calls, NVTX, OS runtime, overhead. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/times.h"
#include "analysis/trace/trace_internal.h"

enum {
    HOST_START,
    HOST_END,
    HOST_THREAD,
    HOST_COMMON,
};
enum {
    API_CLASS = HOST_COMMON,
    API_CORRELATION,
    API_NAME,
    API_STATUS,
};
enum {
    NVTX_TYPE = HOST_COMMON,
    NVTX_DOMAIN,
    NVTX_TEXT_ID,
    NVTX_TEXT,
    NVTX_COLOR,
    NVTX_END_THREAD
};
enum {
    OSRT_CLASS = HOST_COMMON,
    OSRT_NAME
};
enum {
    OVERHEAD_NAME = HOST_COMMON
};

/* ENUM_NSYS_EVENT_CLASS */
enum {
    CLASS_CUDA_RUNTIME = 0,
    CLASS_CUDA_DRIVER = 1,
    CLASS_CUDA_EGL = 13,
    CLASS_CUDA_API = 26,
    CLASS_OSRT = 27
};

/* ENUM_NSYS_EVENT_TYPE */
enum {
    TYPE_MARK = 34,
    TYPE_THREAD_NAME = 39,
    TYPE_PUSHPOP = 59,
    TYPE_STARTEND = 60,
    TYPE_NVTXT_PUSHPOP = 70,
    TYPE_NVTXT_STARTEND = 71,
    TYPE_DOMAIN = 75
};

static int read_call(struct piece *piece, struct store_cursor *cursor, struct raw_name *name,
                     enum trace_lane_kind kind, int64_t correlation, struct err *err)
{
    struct raw_track track = {.global_id = store_int(cursor, HOST_THREAD, 0), .kind = kind};
    struct raw_row row = {
        .begin_ns = store_int(cursor, HOST_START, 0),
        .end_ns = store_int(cursor, HOST_END, 0),
        .correlation = correlation,
        .name = name,
        .track = &track,
    };
    return raw_put(piece, cursor, &row, err);
}

int read_api(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    int64_t class = store_int(cursor, API_CLASS, 0);
    struct raw_name name = {.id = {store_int(cursor, API_NAME, RAW_NO_ID)}, .kind = TRACE_API_CALL};
    if (class != CLASS_CUDA_RUNTIME && class != CLASS_CUDA_DRIVER && class != CLASS_CUDA_EGL &&
        class != CLASS_CUDA_API) {
        return 0;
    }
    piece->statuses += store_int(cursor, API_STATUS, 0) != 0;
    return read_call(piece, cursor, &name, TRACE_LANE_API, store_int(cursor, API_CORRELATION, 0),
                     err);
}

int read_osrt(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {.id = {store_int(cursor, OSRT_NAME, RAW_NO_ID)},
                            .kind = TRACE_OSRT_CALL};
    if (store_int(cursor, OSRT_CLASS, CLASS_OSRT) != CLASS_OSRT) {
        return 0;
    }
    return read_call(piece, cursor, &name, TRACE_LANE_OSRT, 0, err);
}

int read_overhead_profiler(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {.id = {store_int(cursor, OVERHEAD_NAME, RAW_NO_ID)},
                            .kind = TRACE_OVERHEAD_PROFILER};
    return read_call(piece, cursor, &name, TRACE_LANE_OVERHEAD, 0, err);
}

int read_overhead_cuda(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_name name = {.id = {store_int(cursor, OVERHEAD_NAME, RAW_NO_ID)},
                            .kind = TRACE_OVERHEAD_CUDA};
    return read_call(piece, cursor, &name, TRACE_LANE_OVERHEAD, 0, err);
}

/* The row's registered string, else its own text. */
static int read_nvtx_text(struct piece *piece, struct store_cursor *cursor, struct raw_text *out,
                          struct err *err)
{
    size_t len;
    out->id = store_int(cursor, NVTX_TEXT_ID, RAW_NO_ID);
    out->text = INTERN_NONE;
    if (out->id != RAW_NO_ID) {
        return 0;
    }
    const char *text = store_text(cursor, NVTX_TEXT, &len);
    out->text = intern_add(&piece->texts, text == NULL ? "" : text, len);
    return out->text == INTERN_NONE ? err_nomem(err, "NVTX texts") : 0;
}

static int read_nvtx_domain(struct piece *piece, struct store_cursor *cursor,
                            const struct raw_text *text, struct err *err)
{
    struct raw_domain *grown =
        array_resize(piece->domains, (size_t)piece->domain_count + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "NVTX domains");
    }
    piece->domains = grown;
    grown[piece->domain_count++] = (struct raw_domain){store_pid(store_int(cursor, HOST_THREAD, 0)),
                                                       store_int(cursor, NVTX_DOMAIN, 0),
                                                       store_int(cursor, HOST_START, 0), *text};
    return 0;
}

static int read_nvtx_thread(struct piece *piece, struct store_cursor *cursor,
                            const struct raw_text *text, struct err *err)
{
    struct raw_thread_name *grown =
        array_resize(piece->thread_names, (size_t)piece->thread_name_count + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "thread names");
    }
    piece->thread_names = grown;
    grown[piece->thread_name_count++] =
        (struct raw_thread_name){store_int(cursor, HOST_THREAD, 0), *text};
    return 0;
}

static int read_nvtx_event(struct piece *piece, struct store_cursor *cursor, enum trace_kind kind,
                           const struct raw_text *text, struct err *err)
{
    static const enum trace_lane_kind lanes[] = {[TRACE_NVTX_PUSHPOP] = TRACE_LANE_NVTX_PUSHPOP,
                                                 [TRACE_NVTX_STARTEND] = TRACE_LANE_NVTX_STARTEND,
                                                 [TRACE_NVTX_MARK] = TRACE_LANE_NVTX_MARK};
    struct raw_track track = {.global_id = store_int(cursor, HOST_THREAD, 0), .kind = lanes[kind]};
    bool mark = kind == TRACE_NVTX_MARK;
    bool own_text = text->id == RAW_NO_ID;
    struct raw_name name = {
        .id = {own_text ? (int64_t)text->text : text->id},
        .process = store_pid(track.global_id),
        .domain = store_int(cursor, NVTX_DOMAIN, 0),
        .kind = kind,
        .sub = own_text ? 1 : 0,
    };
    struct raw_row row = {
        .begin_ns = store_int(cursor, HOST_START, 0),
        .end_ns = store_int(cursor, mark ? HOST_START : HOST_END, 0),
        .name = &name,
        .track = &track,
        .open = !mark && store_is_null(cursor, HOST_END),
        .cross = kind == TRACE_NVTX_STARTEND && !store_is_null(cursor, NVTX_END_THREAD) &&
                 store_int(cursor, NVTX_END_THREAD, 0) != track.global_id,
        .color = (uint32_t)((uint64_t)store_int(cursor, NVTX_COLOR, 0) & UINT32_MAX),
    };
    return raw_put(piece, cursor, &row, err);
}

static void read_nvtx_latest(struct piece *piece, struct store_cursor *cursor)
{
    int64_t start = store_int(cursor, HOST_START, INT64_MIN);
    int64_t end = store_int(cursor, HOST_END, INT64_MIN);
    if (start > piece->latest_ns && times_fit_at(start)) {
        piece->latest_ns = start;
    }
    if (end > piece->latest_ns && times_fit_at(end)) {
        piece->latest_ns = end;
    }
}

int read_nvtx(struct piece *piece, struct store_cursor *cursor, struct err *err)
{
    struct raw_text text;
    int64_t type = store_int(cursor, NVTX_TYPE, TYPE_PUSHPOP);
    read_nvtx_latest(piece, cursor);
    switch (type) {
    case TYPE_MARK:
    case TYPE_THREAD_NAME:
    case TYPE_PUSHPOP:
    case TYPE_STARTEND:
    case TYPE_NVTXT_PUSHPOP:
    case TYPE_NVTXT_STARTEND:
    case TYPE_DOMAIN:
        break;
    default:
        return 0;
    }
    if (read_nvtx_text(piece, cursor, &text, err) != 0) {
        return -1;
    }
    if (type == TYPE_DOMAIN) {
        return read_nvtx_domain(piece, cursor, &text, err);
    }
    if (type == TYPE_THREAD_NAME) {
        return read_nvtx_thread(piece, cursor, &text, err);
    }
    if (type == TYPE_MARK) {
        return read_nvtx_event(piece, cursor, TRACE_NVTX_MARK, &text, err);
    }
    return read_nvtx_event(piece, cursor,
                           type == TYPE_STARTEND || type == TYPE_NVTXT_STARTEND
                               ? TRACE_NVTX_STARTEND
                               : TRACE_NVTX_PUSHPOP,
                           &text, err);
}
