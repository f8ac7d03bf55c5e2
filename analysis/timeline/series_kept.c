/* series_kept: series on the shelf of a trace; see series.h. */
#include <string.h>

#include "analysis/timeline/series_internal.h"

enum series_kept_array {
    KEPT_HEAD, /* struct kept_head */
    KEPT_LABEL, /* with its NUL */
    KEPT_AT,
    KEPT_VALUE,
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
    uint64_t has_values;
};

static size_t blocks_of(size_t count)
{
    return count / SERIES_BLOCK + 2;
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
    series.at_ns = shelf_array(trace, kind, number + KEPT_AT, count * sizeof *series.at_ns);
    bool whole = count == 0 || series.at_ns != NULL;
    if (head->has_values != 0) {
        size_t blocks = blocks_of(count);
        series.value = shelf_array(trace, kind, number + KEPT_VALUE, count * sizeof *series.value);
        series.block_area =
            shelf_array(trace, kind, number + KEPT_AREA, blocks * sizeof *series.block_area);
        series.block_max =
            shelf_array(trace, kind, number + KEPT_MAX, blocks * sizeof *series.block_max);
        whole = whole && (count == 0 || series.value != NULL) && series.block_area != NULL &&
                series.block_max != NULL;
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
                               .has_values = series->block_area != NULL ? 1 : 0};
}

void series_keep(const struct series *series, enum shelf_kind kind, uint32_t number,
                 struct shelf_list *list)
{
    shelf_put_made(list, kind, number + KEPT_HEAD, sizeof(struct kept_head), make_head, series);
    shelf_put(list, kind, number + KEPT_LABEL, series->label, strlen(series->label) + 1);
    shelf_put(list, kind, number + KEPT_AT, series->at_ns, series->count * sizeof *series->at_ns);
    if (series->block_area != NULL) {
        size_t blocks = blocks_of(series->count);
        shelf_put(list, kind, number + KEPT_VALUE, series->value,
                  series->count * sizeof *series->value);
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
