/* raw: reads a range of rows of one table into plain columns. See trace_internal.h for the whole. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/times.h"
#include "analysis/trace/trace_internal.h"

enum {
    RAW_FIRST_CAP = 1024,
    RAW_TICK_ROWS = 16384
};

static const char *const KERNEL_COLUMNS[] = {
    "start",         "end",       "deviceId",      "contextId", "streamId",
    "correlationId", "globalPid", "demangledName", "shortName", "mangledName"};
static const char *const MEMCPY_COLUMNS[] = {"start",    "end",           "deviceId",  "contextId",
                                             "streamId", "correlationId", "globalPid", "copyKind"};
static const char *const MEMSET_COLUMNS[] = {"start",    "end",           "deviceId", "contextId",
                                             "streamId", "correlationId", "globalPid"};
static const char *const GRAPH_COLUMNS[] = {"start",    "end",           "deviceId",  "contextId",
                                            "streamId", "correlationId", "globalPid", "graphId"};
static const char *const API_COLUMNS[] = {"start",         "end",    "globalTid",  "eventClass",
                                          "correlationId", "nameId", "returnValue"};
static const char *const NVTX_COLUMNS[] = {"start",  "end",  "globalTid", "eventType",   "domainId",
                                           "textId", "text", "color",     "endGlobalTid"};
static const char *const OSRT_COLUMNS[] = {"start", "end", "globalTid", "eventClass", "nameId"};
static const char *const OVERHEAD_COLUMNS[] = {"start", "end", "globalTid", "nameId"};

#define RAW_COLUMNS(list) (list), (int)(sizeof(list) / sizeof *(list))

const struct raw_table RAW_TABLES[RAW_SOURCE_COUNT] = {
    [RAW_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL", TRACE_GPU, RAW_COLUMNS(KERNEL_COLUMNS),
                    read_kernel},
    [RAW_MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY", TRACE_GPU, RAW_COLUMNS(MEMCPY_COLUMNS),
                    read_memcpy},
    [RAW_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET", TRACE_GPU, RAW_COLUMNS(MEMSET_COLUMNS),
                    read_memset},
    [RAW_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", TRACE_GPU, RAW_COLUMNS(GRAPH_COLUMNS),
                   read_graph},
    [RAW_API] = {"CUPTI_ACTIVITY_KIND_RUNTIME", TRACE_API, RAW_COLUMNS(API_COLUMNS), read_api},
    [RAW_NVTX] = {"NVTX_EVENTS", TRACE_NVTX, RAW_COLUMNS(NVTX_COLUMNS), read_nvtx},
    [RAW_OSRT] = {"OSRT_API", TRACE_OSRT, RAW_COLUMNS(OSRT_COLUMNS), read_osrt},
    [RAW_OVERHEAD_PROFILER] = {"PROFILER_OVERHEAD", TRACE_OVERHEAD, RAW_COLUMNS(OVERHEAD_COLUMNS),
                               read_overhead_profiler},
    [RAW_OVERHEAD_CUDA] = {"CUPTI_ACTIVITY_KIND_OVERHEAD", TRACE_OVERHEAD,
                           RAW_COLUMNS(OVERHEAD_COLUMNS), read_overhead_cuda},
};

static bool raw_links(const struct piece *piece)
{
    enum trace_table table = RAW_TABLES[piece->source].table;
    return table == TRACE_GPU || table == TRACE_API;
}

/* Grows one column; false without memory (the old column stays). */
static bool raw_grow_column(void **column, size_t cap, size_t bytes)
{
    void *grown = array_resize(*column, cap, bytes);
    if (grown != NULL) {
        *column = grown;
    }
    return grown != NULL;
}

static int raw_grow(struct piece *piece, struct err *err)
{
    uint32_t cap = piece->cap == 0 ? RAW_FIRST_CAP : piece->cap * 2;
    void *begin = piece->begin_ns;
    void *end = piece->end_ns;
    void *name = piece->name;
    void *row = piece->row;
    void *track = piece->track;
    void *link = piece->link;
    bool ok = piece->cap < UINT32_MAX / 4 && raw_grow_column(&begin, cap, sizeof(int64_t)) &&
              raw_grow_column(&end, cap, sizeof(int64_t)) &&
              raw_grow_column(&name, cap, sizeof(uint32_t)) &&
              raw_grow_column(&row, cap, sizeof(uint32_t)) &&
              raw_grow_column(&track, cap, sizeof(uint32_t)) &&
              (!raw_links(piece) || raw_grow_column(&link, cap, sizeof(uint32_t)));
    piece->begin_ns = begin;
    piece->end_ns = end;
    piece->name = name;
    piece->row = row;
    piece->track = track;
    piece->link = link;
    if (!ok) {
        return err_nomem(err, "events");
    }
    piece->cap = cap;
    return 0;
}

/* The track's number in the piece; INTERN_NONE without memory. */
static uint32_t raw_track_index(struct piece *piece, const struct raw_track *track)
{
    if (piece->tracks.count > 0 && memcmp(track, &piece->last_track, sizeof *track) == 0) {
        return piece->last_track_index;
    }
    uint32_t index = intern_add(&piece->tracks, (const char *)track, sizeof *track);
    if (index == INTERN_NONE) {
        return index;
    }
    struct raw_track_use *grown =
        array_grow_zeroed(piece->uses, &piece->uses_cap, (size_t)index + 1, sizeof *grown);
    if (grown == NULL) {
        return INTERN_NONE;
    }
    piece->uses = grown;
    piece->last_track = *track;
    piece->last_track_index = index;
    return index;
}

static void raw_use(struct raw_track_use *use, int64_t begin_ns, int64_t end_ns)
{
    if (use->events == 0) {
        use->first_begin_ns = begin_ns;
        use->first_end_ns = end_ns;
    } else if (begin_ns < use->last_begin_ns ||
               (begin_ns == use->last_begin_ns && end_ns > use->last_end_ns)) {
        use->unsorted = true;
    }
    use->last_begin_ns = begin_ns;
    use->last_end_ns = end_ns;
    use->events++;
}

/* Adds to a list that doubles at powers of two. */
static int raw_list_add(uint32_t **list, uint32_t *count, uint32_t value, struct err *err)
{
    if (*count == 0 || (*count >= 16 && (*count & (*count - 1)) == 0)) {
        uint32_t *grown = array_resize(*list, *count == 0 ? 16 : (size_t)*count * 2, sizeof *grown);
        if (grown == NULL) {
            return err_nomem(err, "ranges");
        }
        *list = grown;
    }
    (*list)[(*count)++] = value;
    return 0;
}

static int raw_color(struct piece *piece, uint32_t name, uint32_t color, struct err *err)
{
    uint32_t *grown =
        array_grow_zeroed(piece->colors, &piece->colors_cap, (size_t)name + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "colours");
    }
    piece->colors = grown;
    if (piece->colors[name] == 0) {
        piece->colors[name] = color;
    }
    return 0;
}

/* Are the times of the row good for a lane? Counts those that are not. */
static bool raw_timed(struct piece *piece, const struct raw_row *row)
{
    if (RAW_TABLES[piece->source].table == TRACE_GPU && row->begin_ns == 0 && row->end_ns == 0) {
        piece->untimed++;
        return false;
    }
    if (!times_fit(row->begin_ns, row->open ? row->begin_ns : row->end_ns)) {
        piece->reversed++;
        return false;
    }
    return true;
}

/*
 * The id that links a call and its ops, 0 where there is none. Where a process replaced itself by
 * exec, our captures have the number of the image in the bits from 32 up (cutline-capture(5)).
 */
static uint32_t raw_correlation(int64_t id)
{
    const int image_bit = 28;
    int64_t image = id >> 32;
    if (image > 0 && image < 16 && (id & UINT32_MAX) < INT64_C(1) << image_bit) {
        return (uint32_t)id | (uint32_t)image << image_bit;
    }
    return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

/* Notes what outliers.c looks for first. */
static void raw_note(struct piece *piece, int64_t begin_ns, int64_t end_ns)
{
    int64_t length_ns = end_ns == INT64_MAX ? 0 : end_ns - begin_ns;
    int64_t last_ns = begin_ns + length_ns;
    piece->first_ns = begin_ns < piece->first_ns ? begin_ns : piece->first_ns;
    piece->last_ns = last_ns > piece->last_ns ? last_ns : piece->last_ns;
    piece->longest_ns = length_ns > piece->longest_ns ? length_ns : piece->longest_ns;
    piece->sum_ns = i64_add(piece->sum_ns, length_ns);
}

int raw_put(struct piece *piece, struct store_cursor *cursor, const struct raw_row *row,
            struct err *err)
{
    int64_t rowid = store_rowid(cursor);
    uint32_t track = raw_track_index(piece, row->track);
    uint32_t i = piece->count;
    if (rowid < 0 || rowid >= UINT32_MAX) {
        return err_set(err, "row id %lld of %s is out of range (0 to 4294967294): export again",
                       (long long)rowid, RAW_TABLES[piece->source].name);
    }
    if (track == INTERN_NONE || (i == piece->cap && raw_grow(piece, NULL) != 0)) {
        return err_nomem(err, "events");
    }
    piece->uses[track].rows++;
    if (!raw_timed(piece, row)) {
        return 0;
    }
    uint32_t name = intern_add(&piece->names, (const char *)row->name, sizeof *row->name);
    if (name == INTERN_NONE) {
        return err_nomem(err, "names");
    }
    piece->begin_ns[i] = row->begin_ns;
    piece->end_ns[i] = row->open ? INT64_MAX : row->end_ns;
    piece->name[i] = name;
    piece->row[i] = (uint32_t)rowid;
    piece->track[i] = track;
    if (piece->link != NULL) {
        piece->link[i] = raw_correlation(row->correlation);
    }
    raw_use(&piece->uses[track], row->begin_ns, piece->end_ns[i]);
    raw_note(piece, row->begin_ns, piece->end_ns[i]);
    piece->count++;
    if (row->color != 0 && raw_color(piece, name, row->color, err) != 0) {
        return -1;
    }
    if (row->open && raw_list_add(&piece->open, &piece->open_count, i, err) != 0) {
        return -1;
    }
    return row->cross ? raw_list_add(&piece->cross, &piece->cross_count, i, err) : 0;
}

int raw_read(struct piece *piece, struct store *store, const struct raw_tick *tick, struct err *err)
{
    const struct raw_table *table = &RAW_TABLES[piece->source];
    struct store_scan scan = {table->name, table->columns, table->column_count, piece->first_row,
                              piece->end_row};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int64_t rows = 0;
    int status = cursor == NULL ? -1 : 1;
    piece->latest_ns = INT64_MIN;
    piece->first_ns = INT64_MAX;
    piece->last_ns = INT64_MIN;
    while (status == 1) {
        status = store_next(cursor, err);
        if (status != 1) {
            break;
        }
        if (table->read(piece, cursor, err) != 0) {
            status = -1;
        } else if (++rows % RAW_TICK_ROWS == 0 && tick->call(tick->arg, RAW_TICK_ROWS) != 0) {
            status = err_set(err, "interrupted");
        }
    }
    store_cursor_close(cursor);
    if (status == 0 && tick->call(tick->arg, rows % RAW_TICK_ROWS) != 0) {
        status = err_set(err, "interrupted");
    }
    return status;
}

/* Takes what is left out from an ascending list of events, and gives the others their new places. */
static uint32_t raw_settle_list(const struct piece *piece, uint32_t *list, uint32_t count)
{
    uint32_t kept = 0;
    uint32_t gone = 0;
    uint32_t at = 0;
    for (uint32_t k = 0; k < count; k++) {
        for (; at < list[k]; at++) {
            gone += piece->track[at] == RAW_GONE;
        }
        if (piece->track[at] != RAW_GONE) {
            list[kept++] = at - gone;
        }
    }
    return kept;
}

static void raw_settle_uses(struct piece *piece)
{
    for (uint32_t t = 0; t < piece->tracks.count; t++) {
        piece->uses[t].events = 0;
        piece->uses[t].unsorted = false;
    }
    piece->first_ns = INT64_MAX;
    piece->last_ns = INT64_MIN;
    piece->longest_ns = 0;
    piece->sum_ns = 0;
    for (uint32_t i = 0; i < piece->count; i++) {
        raw_use(&piece->uses[piece->track[i]], piece->begin_ns[i], piece->end_ns[i]);
        raw_note(piece, piece->begin_ns[i], piece->end_ns[i]);
    }
}

void raw_settle(struct piece *piece)
{
    uint32_t kept = 0;
    piece->open_count = raw_settle_list(piece, piece->open, piece->open_count);
    piece->cross_count = raw_settle_list(piece, piece->cross, piece->cross_count);
    for (uint32_t i = 0; i < piece->count; i++) {
        if (piece->track[i] == RAW_GONE) {
            continue;
        }
        piece->begin_ns[kept] = piece->begin_ns[i];
        piece->end_ns[kept] = piece->end_ns[i];
        piece->name[kept] = piece->name[i];
        piece->row[kept] = piece->row[i];
        piece->track[kept] = piece->track[i];
        if (piece->link != NULL) {
            piece->link[kept] = piece->link[i];
        }
        kept++;
    }
    piece->count = kept;
    piece->gone = 0;
    raw_settle_uses(piece);
}

void raw_free(struct piece *piece)
{
    free(piece->begin_ns);
    free(piece->end_ns);
    free(piece->name);
    free(piece->row);
    free(piece->track);
    free(piece->link);
    free(piece->colors);
    free(piece->uses);
    free(piece->domains);
    free(piece->thread_names);
    free(piece->open);
    free(piece->cross);
    free(piece->name_map);
    free(piece->track_map);
    intern_free(&piece->names);
    intern_free(&piece->texts);
    intern_free(&piece->tracks);
}
