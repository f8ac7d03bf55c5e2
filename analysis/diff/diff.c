/*
 * diff: two sorted lists of entries are merged by key; kernels that are left over are sorted by
 * short name and launch shape and merged again, largest first.
 */
#include "analysis/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sort.h"
#include "analysis/diff/diff_side.h"

static const char *const section_names[DIFF_SECTION_COUNT] = {
    [DIFF_TOTAL] = "total", [DIFF_KERNEL] = "kernel", [DIFF_COPY] = "copy",
    [DIFF_API] = "api",     [DIFF_NVTX] = "nvtx",     [DIFF_CAUSE] = "idle",
};

const char *diff_section_name(enum diff_section section)
{
    return (unsigned)section < DIFF_SECTION_COUNT ? section_names[section] : "";
}

/* ---- rows ---- */

/*
 * The 97.5 % quantile of Student's t, within 1 % from 3 degrees of freedom on: the first terms of
 * its expansion about the normal quantile 1.96 (Abramowitz and Stegun, 26.7.5).
 */
static double student(double degrees)
{
    static const double low[] = {12.706, 4.303};
    if (degrees < 3.0) {
        return low[degrees < 2.0 ? 0 : 1];
    }
    double d = degrees;
    return 1.96 + 2.3723 / d + 2.8225 / (d * d) + 2.5558 / (d * d * d) + 1.5895 / (d * d * d * d);
}

static struct diff_side side_of(const struct diff_entry *entry)
{
    struct diff_side side = {0};
    if (entry == NULL) {
        return side;
    }
    side.count = entry->count;
    side.total_ns = entry->total_ns;
    side.mean_ns = entry->is_count ? 0.0 : entry->mean_ns;
    if (entry->count > 1 && !entry->is_count) {
        double n = (double)entry->count;
        side.half_width_ns = student(n - 1.0) * sqrt(entry->m2 / (n - 1.0) / n);
    }
    return side;
}

static bool is_noise(const struct diff_row *row)
{
    const struct diff_side *base = &row->side[0];
    const struct diff_side *new = &row->side[1];
    if (row->section == DIFF_TOTAL || base->count < 2 || new->count < 2) {
        return false;
    }
    /* Not hypot: glibc has a new one since 2.35, which would be needed to run. */
    double width =
        sqrt(base->half_width_ns * base->half_width_ns + new->half_width_ns *new->half_width_ns);
    return fabs(new->mean_ns - base->mean_ns) <= width;
}

/* One of base and new may be NULL, not both. */
static void row_add(struct diff *out, const struct diff_entry *base, const struct diff_entry *new,
                    enum diff_status status)
{
    const struct diff_entry *named = new != NULL ? new : base;
    if (named == NULL) {
        return;
    }
    struct diff_row *row = &out->rows[out->count++];
    *row = (struct diff_row){
        .section = named->section,
        .status = (uint8_t)status,
        .is_count = named->is_count,
        .name = named->key,
        .base_name = status == DIFF_RENAMED && base != NULL ? base->key : NULL,
        .side = {side_of(base), side_of(new)},
        .event = named->event,
        .table = named->table,
    };
    row->noise = is_noise(row);
}

/* ---- matching ---- */

static int match_cmp(const struct diff_entry *x, const struct diff_entry *y)
{
    if (x->section != y->section) {
        return (int)x->section - (int)y->section;
    }
    return strcmp(x->key, y->key);
}

/* By short name and shape. */
static int shape_cmp(const struct diff_entry *x, const struct diff_entry *y)
{
    int c = strcmp(x->brief, y->brief);
    for (int d = 0; c == 0 && d < DIFF_SHAPE_DIMS; d++) {
        c = (x->shape[d] > y->shape[d]) - (x->shape[d] < y->shape[d]);
    }
    return c;
}

struct left_item {
    struct diff_entry *entry;
};

static int left_cmp(const void *a, const void *b)
{
    const struct diff_entry *x = ((const struct left_item *)a)->entry;
    const struct diff_entry *y = ((const struct left_item *)b)->entry;
    int c = shape_cmp(x, y);
    if (c == 0) {
        c = (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
    }
    return c != 0 ? c : strcmp(x->key, y->key);
}

/* Kernels that only one side has. */
struct left {
    struct left_item *list;
    size_t count;
};

static void left_over(struct diff *out, struct left *left, struct diff_entry *entry, int side)
{
    if (entry->section == DIFF_KERNEL) {
        entry->shape[0] = -1;
        left->list[left->count++].entry = entry;
    } else if (side == 0) {
        row_add(out, entry, NULL, DIFF_GONE);
    } else {
        row_add(out, NULL, entry, DIFF_NEW);
    }
}

static void match_keys(struct diff *out, const struct diff_sum sums[2], struct left left[2])
{
    size_t i = 0;
    size_t j = 0;
    while (i < sums[0].count && j < sums[1].count) {
        int c = match_cmp(&sums[0].list[i], &sums[1].list[j]);
        if (c == 0) {
            row_add(out, &sums[0].list[i++], &sums[1].list[j++], DIFF_BOTH);
        } else if (c < 0) {
            left_over(out, &left[0], &sums[0].list[i++], 0);
        } else {
            left_over(out, &left[1], &sums[1].list[j++], 1);
        }
    }
    while (i < sums[0].count) {
        left_over(out, &left[0], &sums[0].list[i++], 0);
    }
    while (j < sums[1].count) {
        left_over(out, &left[1], &sums[1].list[j++], 1);
    }
}

static void match_shapes(struct diff *out, struct left left[2])
{
    for (int i = 0; i < 2; i++) {
        if (left[i].count > 0) {
            sort_list(left[i].list, left[i].count, sizeof(*left[i].list), left_cmp);
        }
    }
    size_t i = 0;
    size_t j = 0;
    while (i < left[0].count && j < left[1].count) {
        int c = shape_cmp(left[0].list[i].entry, left[1].list[j].entry);
        if (c == 0) {
            row_add(out, left[0].list[i++].entry, left[1].list[j++].entry, DIFF_RENAMED);
        } else if (c < 0) {
            row_add(out, left[0].list[i++].entry, NULL, DIFF_GONE);
        } else {
            row_add(out, NULL, left[1].list[j++].entry, DIFF_NEW);
        }
    }
    while (i < left[0].count) {
        row_add(out, left[0].list[i++].entry, NULL, DIFF_GONE);
    }
    while (j < left[1].count) {
        row_add(out, NULL, left[1].list[j++].entry, DIFF_NEW);
    }
}

/* ---- order ---- */

struct order {
    struct diff_row row;
    double change;
};

static int order_cmp(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    if (x->row.section != y->row.section) {
        return (int)x->row.section - (int)y->row.section;
    }
    if (x->change != y->change) {
        return x->change < y->change ? 1 : -1;
    }
    return x->row.name != NULL && y->row.name != NULL ? strcmp(x->row.name, y->row.name) : 0;
}

/* Totals stay in a fixed order, by what they say; the rest by the change of time per step. */
static double order_key(const struct diff *diff, const struct diff_row *row)
{
    static const char *const totals[] = {"copied bytes", "copies",   "launches",
                                         "GPU idle",     "GPU busy", "span"};
    if (row->section != DIFF_TOTAL || row->name == NULL) {
        return fabs(diff_total_ns(diff, row, 1) - diff_total_ns(diff, row, 0));
    }
    double key = 0.0;
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        if (strcmp(totals[i], row->name) == 0) {
            key = (double)i;
        }
    }
    return key;
}

static int rows_sort(struct diff *diff)
{
    struct order *order = malloc((diff->count + 1) * sizeof(*order));
    if (order == NULL) {
        return -1;
    }
    for (size_t i = 0; i < diff->count; i++) {
        order[i] = (struct order){diff->rows[i], order_key(diff, &diff->rows[i])};
    }
    if (diff->count > 0) {
        sort_list(order, diff->count, sizeof(*order), order_cmp);
    }
    for (size_t i = 0; i < diff->count; i++) {
        diff->rows[i] = order[i].row;
    }
    free(order);
    return 0;
}

/* ---- public ---- */

double diff_count(const struct diff *diff, const struct diff_row *row, int side)
{
    return (double)row->side[side].count / (double)diff->steps[side];
}

double diff_total_ns(const struct diff *diff, const struct diff_row *row, int side)
{
    return (double)row->side[side].total_ns / (double)diff->steps[side];
}

double diff_slower_percent(const struct diff *diff, const struct diff_row *row)
{
    bool total = row->section == DIFF_TOTAL || row->section == DIFF_CAUSE;
    if (row->noise || row->status == DIFF_NEW || row->status == DIFF_GONE || row->is_count) {
        return 0.0;
    }
    double base = total ? diff_total_ns(diff, row, 0) : row->side[0].mean_ns;
    double new = total ? diff_total_ns(diff, row, 1) : row->side[1].mean_ns;
    return base > 0.0 ? 100.0 * (new - base) / base : 0.0;
}

static int64_t section_total(const struct diff *diff, uint8_t section)
{
    int64_t ns = 0;
    for (size_t i = 0; i < diff->count; i++) {
        if (diff->rows[i].section == section) {
            ns += diff->rows[i].side[0].total_ns;
        }
    }
    return ns;
}

const struct diff_row *diff_regression(const struct diff *diff, double percent)
{
    int64_t sections[DIFF_SECTION_COUNT];
    for (int i = 0; i < DIFF_SECTION_COUNT; i++) {
        sections[i] = section_total(diff, (uint8_t)i);
    }
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        bool weighs =
            row->section == DIFF_TOTAL ? strcmp(row->name, "GPU idle") != 0
            : row->section == DIFF_KERNEL || row->section == DIFF_COPY || row->section == DIFF_NVTX
                ? row->side[0].total_ns >= sections[row->section] / 100
                : false;
        if (weighs && diff_slower_percent(diff, row) > percent) {
            return row;
        }
    }
    return NULL;
}

int diff_make(const struct facts *const facts[2], const struct diff_options *options,
              struct diff *out, struct err *err)
{
    *out = (struct diff){.steps = {1, 1}};
    struct diff_sum sums[2] = {{0}};
    struct left left[2] = {{0}};
    int rc = -1;
    for (int i = 0; i < 2; i++) {
        if (diff_sum_make(facts[i], options, i, &out->arena, &sums[i], err) != 0) {
            goto out;
        }
        out->steps[i] = sums[i].steps;
    }
    size_t bound = sums[0].count + sums[1].count + 1;
    out->rows = calloc(bound, sizeof(*out->rows));
    left[0].list = malloc(bound * sizeof(*left[0].list));
    left[1].list = malloc(bound * sizeof(*left[1].list));
    if (out->rows == NULL || left[0].list == NULL || left[1].list == NULL) {
        err_nomem(err, "the comparison");
        goto out;
    }
    match_keys(out, sums, left);
    if (left[0].count > 0 && left[1].count > 0) {
        diff_sum_shapes(facts[0], &sums[0]);
        diff_sum_shapes(facts[1], &sums[1]);
    }
    match_shapes(out, left);
    rc = rows_sort(out);
    if (rc != 0) {
        err_nomem(err, "the comparison");
    }
    if (trace_check(facts[0]->trace, err) != 0 || trace_check(facts[1]->trace, err) != 0) {
        rc = -1;
    }
out:
    free(left[0].list);
    free(left[1].list);
    diff_sum_free(&sums[0]);
    diff_sum_free(&sums[1]);
    if (rc != 0) {
        diff_free(out);
    }
    return rc;
}

void diff_free(struct diff *diff)
{
    free(diff->rows);
    arena_free(&diff->arena);
    *diff = (struct diff){0};
}
