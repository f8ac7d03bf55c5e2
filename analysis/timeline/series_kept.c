/* series_kept: series on the shelf of a trace; see series.h. */
#include <string.h>

#include "analysis/timeline/series_internal.h"

enum series_kept_array {
    KEPT_HEAD, /* struct kept_head */
    KEPT_LABEL, /* with its NUL */
    KEPT_AT,
    KEPT_BLOCK_AT,
    KEPT_AFTER,
    KEPT_VALUE,
    KEPT_SMALL,
    KEPT_AREA,
    KEPT_MAX,
    KEPT_ARRAYS,
};

_Static_assert((int)KEPT_ARRAYS == (int)SERIES_NUMBERS, "each array has its number");

/* No padding. */
struct kept_head {
    uint64_t count;
    int64_t end_ns;
    int64_t min;
    int64_t max;
    uint32_t kind;
    uint32_t device;
    uint32_t process;
    uint32_t thread;
    uint32_t has_values;
    uint32_t narrow; /* bits: NARROW_TIMES, NARROW_VALUES */
};

enum {
    NARROW_TIMES = 1,
    NARROW_VALUES = 2
};

/* Of times: for each block that has a point. */
static size_t time_blocks_of(size_t count)
{
    return (count + SERIES_BLOCK - 1) / SERIES_BLOCK;
}

static size_t blocks_of(size_t count)
{
    return count / SERIES_BLOCK + 2;
}

/* The times and values of a series of any points. */
static bool take_points(const struct trace *trace, enum shelf_kind kind, uint32_t number,
                        const struct kept_head *head, struct series *out)
{
    size_t count = out->count;
    bool values = head->has_values == 0;
    if ((head->narrow & NARROW_VALUES) != 0) {
        out->small_value =
            shelf_array(trace, kind, number + KEPT_SMALL, count * sizeof *out->small_value);
        values = out->small_value != NULL;
    } else if (!values) {
        out->value = shelf_array(trace, kind, number + KEPT_VALUE, count * sizeof *out->value);
        values = out->value != NULL;
    }
    if ((head->narrow & NARROW_TIMES) == 0) {
        out->at_ns = shelf_array(trace, kind, number + KEPT_AT, count * sizeof *out->at_ns);
        return values && out->at_ns != NULL;
    }
    out->block_at_ns = shelf_array(trace, kind, number + KEPT_BLOCK_AT,
                                   time_blocks_of(count) * sizeof *out->block_at_ns);
    out->after_ns = shelf_array(trace, kind, number + KEPT_AFTER, count * sizeof *out->after_ns);
    return values && out->block_at_ns != NULL && out->after_ns != NULL;
}

bool series_take(const struct trace *trace, enum shelf_kind kind, uint32_t number,
                 struct series *out)
{
    const struct kept_head *head = shelf_array(trace, kind, number + KEPT_HEAD, sizeof *head);
    size_t label_bytes = 0;
    const char *label = shelf_get(trace, kind, number + KEPT_LABEL, &label_bytes);
    if (head == NULL || label == NULL || label[label_bytes - 1] != '\0') {
        return false;
    }
    size_t count = (size_t)head->count;
    struct series series = {.kind = (enum series_kind)head->kind,
                            .label = label,
                            .device = head->device,
                            .process = head->process,
                            .thread = head->thread,
                            .count = count,
                            .end_ns = head->end_ns,
                            .min = head->min,
                            .max = head->max,
                            .kept = true};
    bool whole = count == 0 || take_points(trace, kind, number, head, &series);
    if (head->has_values != 0) {
        size_t blocks = blocks_of(count);
        series.block_area =
            shelf_array(trace, kind, number + KEPT_AREA, blocks * sizeof *series.block_area);
        series.block_max =
            shelf_array(trace, kind, number + KEPT_MAX, blocks * sizeof *series.block_max);
        whole = whole && series.block_area != NULL && series.block_max != NULL;
    }
    if (whole) {
        *out = series;
    }
    return whole;
}

static void make_head(const void *arg, void *out)
{
    const struct series *series = arg;
    struct kept_head *head = out;
    *head = (struct kept_head){.count = series->count,
                               .end_ns = series->end_ns,
                               .min = series->min,
                               .max = series->max,
                               .kind = (uint32_t)series->kind,
                               .device = series->device,
                               .process = series->process,
                               .thread = series->thread,
                               .has_values = series->block_area != NULL ? 1 : 0,
                               .narrow = (series->after_ns != NULL ? NARROW_TIMES : 0U) |
                                         (series->small_value != NULL ? NARROW_VALUES : 0U)};
}

static void keep_points(const struct series *series, enum shelf_kind kind, uint32_t number,
                        struct shelf_list *list)
{
    size_t count = series->count;
    if (series->at_ns != NULL) {
        shelf_put(list, kind, number + KEPT_AT, series->at_ns, count * sizeof *series->at_ns);
    }
    if (series->after_ns != NULL) {
        shelf_put(list, kind, number + KEPT_BLOCK_AT, series->block_at_ns,
                  time_blocks_of(count) * sizeof *series->block_at_ns);
        shelf_put(list, kind, number + KEPT_AFTER, series->after_ns,
                  count * sizeof *series->after_ns);
    }
    if (series->value != NULL) {
        shelf_put(list, kind, number + KEPT_VALUE, series->value, count * sizeof *series->value);
    }
    if (series->small_value != NULL) {
        shelf_put(list, kind, number + KEPT_SMALL, series->small_value,
                  count * sizeof *series->small_value);
    }
}

void series_keep(const struct series *series, enum shelf_kind kind, uint32_t number,
                 struct shelf_list *list)
{
    shelf_put_made(list, kind, number + KEPT_HEAD, sizeof(struct kept_head), make_head, series);
    shelf_put(list, kind, number + KEPT_LABEL, series->label, strlen(series->label) + 1);
    keep_points(series, kind, number, list);
    if (series->block_area != NULL) {
        size_t blocks = blocks_of(series->count);
        shelf_put(list, kind, number + KEPT_AREA, series->block_area,
                  blocks * sizeof *series->block_area);
        shelf_put(list, kind, number + KEPT_MAX, series->block_max,
                  blocks * sizeof *series->block_max);
    }
}

/* ---- the set of a capture ---- */

#define KEPT_COUNT UINT32_MAX /* the number of: how many there are */

bool series_set_take(const struct trace *trace, struct series_set *set)
{
    const uint64_t *count = shelf_array(trace, SHELF_RECORDED, KEPT_COUNT, sizeof *count);
    bool whole = count != NULL && *count < UINT32_MAX / SERIES_NUMBERS;
    for (uint64_t i = 0; whole && i < *count; i++) {
        struct series *series = series_set_add(set);
        whole = series != NULL &&
                series_take(trace, SHELF_RECORDED, (uint32_t)i * SERIES_NUMBERS, series);
    }
    if (!whole) {
        series_set_free(set);
    }
    return whole;
}

static void make_count(const void *arg, void *out)
{
    const struct series_set *set = arg;
    uint64_t *count = out;
    *count = set->count;
}

void series_set_keep(const struct series_set *set, struct shelf_list *list)
{
    shelf_put_made(list, SHELF_RECORDED, KEPT_COUNT, sizeof(uint64_t), make_count, set);
    for (size_t i = 0; i < set->count && i < UINT32_MAX / SERIES_NUMBERS; i++) {
        series_keep(&set->list[i], SHELF_RECORDED, (uint32_t)i * SERIES_NUMBERS, list);
    }
}
