/* rows: see rows.h. */
#include "viewer/rows/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "viewer/rows/rows_internal.h"

enum {
    ROWS_LABEL_BYTES = 160,
    ROWS_PACK_ABOVE = 12
};

struct row *rows_add(struct rows *rows, enum row_kind kind, uint32_t up)
{
    struct row *row;
    struct row *list = array_grow(rows->list, &rows->cap, (size_t)rows->count + 1, sizeof *list);
    if (list == NULL) {
        rows->failed = true;
        return NULL;
    }
    rows->list = list;
    row = &rows->list[rows->count];
    *row = (struct row){.kind = (uint8_t)kind,
                        .up = up,
                        .device = TRACE_NONE,
                        .process = TRACE_NONE,
                        .thread = TRACE_NONE,
                        .label = "",
                        .note = ""};
    if (up != TRACE_NONE) {
        rows->list[up].parent = true;
        row->level = (uint8_t)(rows->list[up].level + 1);
        row->device = rows->list[up].device;
        row->process = rows->list[up].process;
        row->thread = rows->list[up].thread;
    }
    rows->count++;
    return row;
}

const char *rows_text(struct rows *rows, const char *fmt, ...)
{
    char line[ROWS_LABEL_BYTES];
    struct buf safe = {0};
    const char *text = NULL;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    utf8_sanitize(&safe, line, strlen(line), false);
    text = arena_copy(&rows->arena, buf_text(&safe), safe.len);
    buf_free(&safe);
    if (text == NULL) {
        rows->failed = true;
        return "";
    }
    return text;
}

/* Makes room for one more pointer of 8 bytes in a list that grows by doubling. */
static bool rows_grow(void **list, uint32_t count)
{
    void *grown;
    if ((count & (count - 1)) != 0) {
        return true;
    }
    grown = array_resize(*list, (size_t)count * 2 + 1, sizeof(void *));
    if (grown == NULL) {
        return false;
    }
    *list = grown;
    return true;
}

struct derive *rows_new_derived(struct rows *rows)
{
    void *list = rows->derived;
    struct derive *set = calloc(1, sizeof *set);
    if (set == NULL || !rows_grow(&list, rows->derived_count)) {
        free(set);
        rows->failed = true;
        return NULL;
    }
    rows->derived = list;
    rows->derived[rows->derived_count++] = set;
    return set;
}

struct series *rows_new_series(struct rows *rows)
{
    void *list = rows->series;
    struct series *series = calloc(1, sizeof *series);
    if (series == NULL || !rows_grow(&list, rows->series_count)) {
        free(series);
        rows->failed = true;
        return NULL;
    }
    rows->series = list;
    rows->series[rows->series_count++] = series;
    return series;
}

static int recorded_order(const void *a, const void *b, const void *arg)
{
    const struct series *list = arg;
    return COMPARE(list[*(const uint32_t *)a].device, list[*(const uint32_t *)b].device);
}

static int rows_sort_recorded(struct rows *rows)
{
    rows->by_device = malloc((rows->recorded.count + 1) * sizeof *rows->by_device);
    for (size_t i = 0; rows->by_device != NULL && i < rows->recorded.count; i++) {
        rows->by_device[i] = (uint32_t)i;
    }
    return rows->by_device == NULL
               ? -1
               : sort_runs(rows->by_device, rows->recorded.count, sizeof *rows->by_device,
                           recorded_order, rows->recorded.list);
}

/* Processes that did nothing of interest: one folded row over all of them. */
static int rows_add_idle(struct rows *rows, const bool *idle, struct err *err)
{
    const struct trace *trace = rows->trace;
    uint32_t group = TRACE_NONE;
    uint32_t count = 0;
    int rc = 0;
    for (uint32_t i = 0; i < trace->process_count; i++) {
        count += idle[i] ? 1 : 0;
    }
    if (count > 1) {
        struct row *row = rows_add(rows, ROW_GROUP, TRACE_NONE);
        if (row == NULL) {
            return err_nomem(err, "the rows");
        }
        group = rows->count - 1;
        row->collapsed = true;
        row->label = "others";
        row->note = rows_text(rows, "%u processes without CUDA calls or NVTX, folded: Space opens",
                              (unsigned)count);
    }
    for (uint32_t i = 0; rc == 0 && i < trace->process_count; i++) {
        if (idle[i]) {
            rc = rows_add_process(rows, i, group, err);
        }
    }
    return rc;
}

/* The threads with projected ranges: from the shelf, else by projecting all. */
static int rows_find_places(struct rows *rows, struct err *err)
{
    if (rows_find_kept(rows)) {
        return 0;
    }
    rows->projection = projection_new(rows->trace, err);
    if (rows->projection == NULL) {
        return -1;
    }
    const struct projection_lane *lanes = rows->projection->lanes;
    uint32_t count = rows->projection->lane_count;
    rows->places = malloc(((size_t)count + 1) * sizeof *rows->places);
    if (rows->places == NULL) {
        return err_nomem(err, "the rows");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || lanes[i].device != lanes[i - 1].device ||
            lanes[i].thread != lanes[i - 1].thread) {
            rows->places[rows->place_count++] =
                (struct rows_place){lanes[i].device, lanes[i].thread};
        }
    }
    return 0;
}

static int rows_build(struct rows *rows, struct err *err)
{
    const struct trace *trace = rows->trace;
    bool *idle = calloc((size_t)trace->process_count + 1, sizeof *idle);
    int rc =
        idle == NULL || rows_find_places(rows, err) != 0 || rows_sort_recorded(rows) != 0 ? -1 : 0;
    if (idle != NULL) {
        rows_find_idle(trace, idle);
    }
    trace_rest(trace);
    for (uint32_t i = 0; rc == 0 && i < trace->device_count; i++) {
        rc = rows_add_device(rows, i, err);
        trace_rest(trace);
    }
    for (uint32_t i = 0; rc == 0 && i < trace->process_count; i++) {
        if (!idle[i]) {
            rc = rows_add_process(rows, i, TRACE_NONE, err);
        }
    }
    rc = rc == 0 ? rows_add_idle(rows, idle, err) : rc;
    projection_free(rows->projection);
    rows->projection = NULL;
    free(idle);
    if (rc == 0 && rows->count == 0) {
        /* There is always a row to stand on. */
        struct row *row = rows_add(rows, ROW_GROUP, TRACE_NONE);
        if (row != NULL) {
            row->label = "empty";
            row->note = "no event of any kind is in this capture";
        }
    }
    return rc;
}

/* Sums of a lane that the trace has none for. 0 or -1. */
static int rows_sums(struct rows *rows, uint32_t row_index)
{
    struct row *row = &rows->list[row_index];
    row->lane.block_ns = rows_take_sums(rows, row_index);
    if (row->lane.block_ns == NULL) {
        row->sums = malloc(lane_blocks(&row->lane) * sizeof *row->sums);
        if (row->sums == NULL) {
            return -1;
        }
        lane_fill_blocks(&row->lane, row->sums);
        row->lane.block_ns = row->sums;
    }
    return 0;
}

/* The sums of all rows: an eighth of a byte for each event. 0 or -1. */
static int rows_all_sums(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct row *row = &rows->list[i];
        if (row->kind == ROW_LANE && rows_has_sums(row)) {
            row->lane.sum_ns = rows->trace->gpu_busy_ns + row->lane.first;
        } else if (row->kind == ROW_LANE && rows_sums(rows, i) != 0) {
            return -1;
        }
    }
    return 0;
}

int rows_make(struct rows *rows, const struct trace *trace, const struct rows_options *options,
              struct err *err)
{
    uint32_t pack =
        options != NULL && options->pack_above > 0 ? options->pack_above : ROWS_PACK_ABOVE;
    *rows = (struct rows){.trace = trace, .pack_above = pack};
    /* What the file holds beside the model may be gone by now: the rest stands without it. */
    (void)series_load(trace, &rows->recorded, NULL);
    if (rows_build(rows, err) != 0) {
        rows_free(rows);
        return -1;
    }
    rows->shown = calloc((size_t)rows->count + 1, sizeof *rows->shown);
    rows->order = calloc((size_t)rows->count + 1, sizeof *rows->order);
    if (rows->shown == NULL || rows->order == NULL || rows->failed || rows_all_sums(rows) != 0) {
        rows_free(rows);
        return err_nomem(err, "the rows");
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->order[i] = i;
    }
    rows_arrange(rows);
    trace_rest(trace);
    return 0;
}

void rows_free(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        free(rows->list[i].sums);
        free(rows->list[i].kept);
    }
    for (uint32_t i = 0; i < rows->derived_count; i++) {
        derive_free(rows->derived[i]);
        free(rows->derived[i]);
    }
    for (uint32_t i = 0; i < rows->series_count; i++) {
        series_free(rows->series[i]);
        free(rows->series[i]);
    }
    series_set_free(&rows->recorded);
    if (!rows->from_shelf) {
        free(rows->places);
    }
    free(rows->by_device);
    free(rows->list);
    free(rows->shown);
    free(rows->order);
    free(rows->derived);
    free(rows->series);
    arena_free(&rows->arena);
    *rows = (struct rows){0};
}

static bool rows_is_open(const struct rows *rows, uint32_t row)
{
    uint32_t up = rows->list[row].up;
    if (rows->list[row].hidden || rows->list[row].filtered) {
        return false;
    }
    while (up != TRACE_NONE) {
        if (rows->list[up].collapsed || rows->list[up].hidden) {
            return false;
        }
        up = rows->list[up].up;
    }
    return true;
}

void rows_arrange(struct rows *rows)
{
    rows->shown_count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->list[rows->order[i]].pinned) {
            rows->shown[rows->shown_count++] = rows->order[i];
        }
    }
    rows->pinned_count = rows->shown_count;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!rows->list[rows->order[i]].pinned && rows_is_open(rows, rows->order[i])) {
            rows->shown[rows->shown_count++] = rows->order[i];
        }
    }
}

/* The end of a row and what is below it in the order. */
static uint32_t rows_block_end(const struct rows *rows, uint32_t at)
{
    uint8_t level = rows->list[rows->order[at]].level;
    at++;
    while (at < rows->count && rows->list[rows->order[at]].level > level) {
        at++;
    }
    return at;
}

static void rows_reverse(uint32_t *list, uint32_t from, uint32_t to)
{
    while (from + 1 < to) {
        uint32_t swap = list[from];
        list[from++] = list[--to];
        list[to] = swap;
    }
}

bool rows_move(struct rows *rows, uint32_t row, int step)
{
    uint32_t up = rows->list[row].up;
    uint32_t at = 0;
    uint32_t before = TRACE_NONE;
    while (at < rows->count && rows->order[at] != row) {
        before = rows->list[rows->order[at]].up == up ? at : before;
        at++;
    }
    uint32_t first = step > 0 ? at : before;
    if (first == TRACE_NONE) {
        return false;
    }
    uint32_t middle = step > 0 ? rows_block_end(rows, at) : at;
    if (middle >= rows->count || rows->list[rows->order[middle]].up != up) {
        return false;
    }
    uint32_t end = rows_block_end(rows, middle);
    /* Two blocks change places by three reversals. */
    rows_reverse(rows->order, first, middle);
    rows_reverse(rows->order, middle, end);
    rows_reverse(rows->order, first, end);
    rows_arrange(rows);
    return true;
}

uint32_t rows_place(const struct rows *rows, uint32_t row)
{
    for (uint32_t i = 0; i < rows->shown_count; i++) {
        if (rows->shown[i] == row) {
            return i;
        }
    }
    return TRACE_NONE;
}

uint32_t rows_of_event(const struct rows *rows, enum trace_table table, uint32_t index)
{
    const struct trace_events *events = &rows->trace->events[table];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        if (row->kind == ROW_LANE && row->lane.table == table && row->lane.index == NULL &&
            index >= row->lane.first && index - row->lane.first < row->lane.count) {
            return i;
        }
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        if (row->kind == ROW_LANE && row->lane.table == table && row->lane.index != NULL &&
            lane_find(&row->lane, events->begin_ns[index], index) < row->lane.count) {
            return i;
        }
    }
    return TRACE_NONE;
}

void rows_reveal(struct rows *rows, uint32_t row)
{
    uint32_t up = rows->list[row].up;
    rows->list[row].hidden = false;
    rows->list[row].filtered = false;
    while (up != TRACE_NONE) {
        rows->list[up].collapsed = false;
        rows->list[up].hidden = false;
        rows->list[up].filtered = false;
        up = rows->list[up].up;
    }
    rows_arrange(rows);
}

void rows_settle(struct rows *rows, uint32_t row_index, const struct rows_filter *filter)
{
    struct row *row = &rows->list[row_index];
    bool gpu = rows_has_sums(row);
    if (row->kind != ROW_LANE) {
        return;
    }
    if (filter->terms == NULL) {
        row->lane.kept_sum_ns = NULL;
        return;
    }
    if (gpu && filter->busy != NULL) {
        row->lane.kept_sum_ns = filter->busy->lane_sum_ns + row->lane.first;
        return;
    }
    if (row->kept == NULL) {
        row->kept = malloc(((size_t)row->lane.count + 1) * sizeof *row->kept);
        row->kept_stamp = 0;
    }
    if (row->kept != NULL && row->kept_stamp != filter->stamp) {
        lane_fill_sums(&row->lane, filter->terms, row->kept);
        row->kept_stamp = filter->stamp;
    }
    row->lane.kept_sum_ns = row->kept;
}
