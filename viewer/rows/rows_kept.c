/*
 * rows_kept: what the rows derive, on the shelf of the trace. Rows of one trace and the same options
 * derive the same sets and series in the same order: that order is their number.
 */
#include "viewer/rows/rows_internal.h"

enum kept_array {
    KEPT_HEAD, /* struct kept_set */
    KEPT_BEGIN,
    KEPT_END,
    KEPT_NAME,
    KEPT_INDEX,
    KEPT_LANE_END,
    KEPT_ARRAYS,
};

#define KEPT_ROWS UINT32_MAX /* the numbers of: struct kept_rows */
#define KEPT_PLACES (UINT32_MAX - 1) /* the places */

/* No padding in either. */
struct kept_set {
    uint32_t table;
    uint32_t count;
    uint32_t lane_count;
};

struct kept_rows {
    uint32_t pack_above;
    uint32_t place_count;
    uint32_t set_count;
    uint32_t series_count;
};

bool rows_find_kept(struct rows *rows)
{
    const struct kept_rows *kept =
        shelf_array(rows->trace, SHELF_ROW_SETS, KEPT_ROWS, sizeof *kept);
    if (kept == NULL || kept->pack_above != rows->pack_above) {
        return false;
    }
    rows->places = shelf_array(rows->trace, SHELF_ROW_SETS, KEPT_PLACES,
                               kept->place_count * sizeof *rows->places);
    if (kept->place_count > 0 && rows->places == NULL) {
        return false;
    }
    rows->place_count = kept->place_count;
    rows->from_shelf = true;
    return true;
}

bool rows_take_set(const struct rows *rows, struct derive *set)
{
    const struct trace *trace = rows->trace;
    uint32_t number = (rows->derived_count - 1) * KEPT_ARRAYS;
    const struct kept_set *head =
        !rows->from_shelf ? NULL
                          : shelf_array(trace, SHELF_ROW_SETS, number + KEPT_HEAD, sizeof *head);
    if (head == NULL || head->table >= TRACE_TABLE_COUNT) {
        return false;
    }
    size_t count = head->count;
    struct derive taken = {.table = (enum trace_table)head->table,
                           .count = head->count,
                           .lane_count = head->lane_count,
                           .kept = true};
    taken.begin_ns =
        shelf_array(trace, SHELF_ROW_SETS, number + KEPT_BEGIN, count * sizeof *taken.begin_ns);
    taken.end_ns =
        shelf_array(trace, SHELF_ROW_SETS, number + KEPT_END, count * sizeof *taken.end_ns);
    taken.name = shelf_array(trace, SHELF_ROW_SETS, number + KEPT_NAME, count * sizeof *taken.name);
    taken.index =
        shelf_array(trace, SHELF_ROW_SETS, number + KEPT_INDEX, count * sizeof *taken.index);
    taken.lane_end = shelf_array(trace, SHELF_ROW_SETS, number + KEPT_LANE_END,
                                 head->lane_count * sizeof *taken.lane_end);
    if ((count > 0 && (taken.begin_ns == NULL || taken.end_ns == NULL || taken.name == NULL ||
                       taken.index == NULL)) ||
        (head->lane_count > 0 && taken.lane_end == NULL)) {
        return false;
    }
    *set = taken;
    return true;
}

bool rows_take_series(const struct rows *rows, struct series *series)
{
    return rows->from_shelf && series_take(rows->trace, SHELF_ROW_SERIES,
                                           (rows->series_count - 1) * SERIES_NUMBERS, series);
}

const int64_t *rows_take_sums(const struct rows *rows, uint32_t row)
{
    return !rows->from_shelf ? NULL
                             : shelf_array(rows->trace, SHELF_ROW_SUMS, row,
                                           lane_blocks(&rows->list[row].lane) * sizeof(int64_t));
}

static void make_set(const void *arg, void *out)
{
    const struct derive *set = arg;
    struct kept_set *head = out;
    *head = (struct kept_set){(uint32_t)set->table, set->count, set->lane_count};
}

static void make_rows(const void *arg, void *out)
{
    const struct rows *rows = arg;
    struct kept_rows *kept = out;
    *kept = (struct kept_rows){rows->pack_above, rows->place_count, rows->derived_count,
                               rows->series_count};
}

static void keep_set(const struct derive *set, uint32_t number, struct shelf_list *list)
{
    size_t count = set->count;
    shelf_put_made(list, SHELF_ROW_SETS, number + KEPT_HEAD, sizeof(struct kept_set), make_set,
                   set);
    shelf_put(list, SHELF_ROW_SETS, number + KEPT_BEGIN, set->begin_ns,
              count * sizeof *set->begin_ns);
    shelf_put(list, SHELF_ROW_SETS, number + KEPT_END, set->end_ns, count * sizeof *set->end_ns);
    shelf_put(list, SHELF_ROW_SETS, number + KEPT_NAME, set->name, count * sizeof *set->name);
    shelf_put(list, SHELF_ROW_SETS, number + KEPT_INDEX, set->index, count * sizeof *set->index);
    shelf_put(list, SHELF_ROW_SETS, number + KEPT_LANE_END, set->lane_end,
              set->lane_count * sizeof *set->lane_end);
}

void rows_keep(const struct rows *rows, struct shelf_list *list)
{
    shelf_put_made(list, SHELF_ROW_SETS, KEPT_ROWS, sizeof(struct kept_rows), make_rows, rows);
    shelf_put(list, SHELF_ROW_SETS, KEPT_PLACES, rows->places,
              rows->place_count * sizeof *rows->places);
    for (uint32_t i = 0; i < rows->derived_count; i++) {
        keep_set(rows->derived[i], i * KEPT_ARRAYS, list);
    }
    for (uint32_t i = 0; i < rows->series_count; i++) {
        series_keep(rows->series[i], SHELF_ROW_SERIES, i * SERIES_NUMBERS, list);
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        if (row->kind == ROW_LANE && !rows_has_sums(row)) {
            shelf_put(list, SHELF_ROW_SUMS, i, row->lane.block_ns,
                      lane_blocks(&row->lane) * sizeof(int64_t));
        }
    }
    series_set_keep(&rows->recorded, list);
}
