/*
 * diff_table: see diff_table.h. All figures are per step.
 */
#include "analysis/diff/diff_table.h"

#include <math.h>
#include <string.h>

#include "analysis/detect/rules_text.h"

static const struct table_column ALL_COLUMNS[] = {
    {"Kind", TABLE_TEXT, 0},      {"Verdict", TABLE_TEXT, 0},      {"Base Count", TABLE_REAL, 2},
    {"New Count", TABLE_REAL, 2}, {"Base Total", TABLE_TIME_1, 0}, {"New Total", TABLE_TIME_1, 0},
    {"Delta", TABLE_TIME_1, 0},   {"Delta (%)", TABLE_PERCENT, 0}, {"Base Avg", TABLE_TIME_1, 0},
    {"New Avg", TABLE_TIME_1, 0}, {"Avg Delta", TABLE_TIME_1, 0},  {"Speed-up", TABLE_REAL, 3},
    {"Base +-", TABLE_TIME_1, 0}, {"New +-", TABLE_TIME_1, 0},     {"Name", TABLE_TEXT, 0},
    {"Base Name", TABLE_TEXT, 0},
};

static const struct table_column SECTION_COLUMNS[] = {
    {"Delta", TABLE_TIME, 0},      {"Base Total", TABLE_TIME, 0}, {"New Total", TABLE_TIME, 0},
    {"Base Count", TABLE_REAL, 0}, {"New Count", TABLE_REAL, 0},  {"Base Avg", TABLE_TIME, 0},
    {"New Avg", TABLE_TIME, 0},    {"Speed-up", TABLE_REAL, 3},   {"Verdict", TABLE_TEXT, 0},
    {"Name", TABLE_TEXT, 0},
};

static const char *const titles[DIFF_SECTION_COUNT] = {
    [DIFF_TOTAL] = "Totals",  [DIFF_KERNEL] = "Kernels",   [DIFF_COPY] = "Copies",
    [DIFF_API] = "API Calls", [DIFF_NVTX] = "NVTX Ranges", [DIFF_CAUSE] = "Idle Time by Cause",
};

/* Nothing changed: counts and times per step are equal. */
static bool is_same(const struct diff *diff, const struct diff_row *row)
{
    return row->status == DIFF_BOTH && diff_count(diff, row, 0) == diff_count(diff, row, 1) &&
           diff_total_ns(diff, row, 0) == diff_total_ns(diff, row, 1);
}

const char *diff_verdict(const struct diff *diff, const struct diff_row *row)
{
    if (row->status == DIFF_NEW) {
        return "new";
    }
    if (row->status == DIFF_GONE) {
        return "gone";
    }
    if (is_same(diff, row)) {
        return "same";
    }
    if (row->is_count) {
        return diff_count(diff, row, 1) > diff_count(diff, row, 0) ? "more" : "fewer";
    }
    if (row->noise) {
        return "noise";
    }
    double slower = diff_slower_percent(diff, row);
    return slower > 0.0 ? "slower" : slower < 0.0 ? "faster" : "same";
}

double diff_speed_up(const struct diff *diff, const struct diff_row *row)
{
    bool total = row->section == DIFF_TOTAL || row->section == DIFF_CAUSE;
    double base = total ? diff_total_ns(diff, row, 0) : row->side[0].mean_ns;
    double new = total ? diff_total_ns(diff, row, 1) : row->side[1].mean_ns;
    bool both = row->status == DIFF_BOTH || row->status == DIFF_RENAMED;
    return both && !row->is_count && new > 0.0 ? base / new : (double)NAN;
}

static void put_real(struct table *table, bool there, double value)
{
    if (there && isfinite(value)) {
        table_put_real(table, value);
    } else {
        table_put_empty(table);
    }
}

static void put_time(struct table *table, bool there, double ns)
{
    if (there) {
        table_put_int(table, llround(ns));
    } else {
        table_put_empty(table);
    }
}

static bool has_side(const struct diff_row *row, int side)
{
    return row->status != (side == 0 ? DIFF_NEW : DIFF_GONE);
}

static void put_all(struct table *table, const struct diff *diff, const struct diff_row *row)
{
    bool base = has_side(row, 0);
    bool new = has_side(row, 1);
    bool time = !row->is_count;
    bool mean = time && row->section != DIFF_TOTAL;
    double delta = diff_total_ns(diff, row, 1) - diff_total_ns(diff, row, 0);
    double was = diff_total_ns(diff, row, 0);
    rules_put_text(table, diff_section_name((enum diff_section)row->section));
    rules_put_text(table, diff_verdict(diff, row));
    put_real(table, base && (row->is_count || mean), diff_count(diff, row, 0));
    put_real(table, new && (row->is_count || mean), diff_count(diff, row, 1));
    put_real(table, base && time, was);
    put_real(table, new &&time, diff_total_ns(diff, row, 1));
    put_real(table, time, delta);
    put_real(table, time && base && was > 0.0, was > 0.0 ? 100.0 * delta / was : 0.0);
    put_real(table, base && mean, row->side[0].mean_ns);
    put_real(table, new &&mean, row->side[1].mean_ns);
    put_real(table, base && new &&mean, row->side[1].mean_ns - row->side[0].mean_ns);
    put_real(table, true, diff_speed_up(diff, row));
    put_real(table, row->side[0].count > 1 && mean, row->side[0].half_width_ns);
    put_real(table, row->side[1].count > 1 && mean, row->side[1].half_width_ns);
    rules_put_text(table, row->name);
    rules_put_text(table, row->base_name);
}

static void put_section(struct table *table, const struct diff *diff, const struct diff_row *row)
{
    bool base = has_side(row, 0);
    bool new = has_side(row, 1);
    bool time = !row->is_count;
    bool mean = time && row->section != DIFF_TOTAL;
    put_time(table, time, diff_total_ns(diff, row, 1) - diff_total_ns(diff, row, 0));
    put_time(table, base && time, diff_total_ns(diff, row, 0));
    put_time(table, new &&time, diff_total_ns(diff, row, 1));
    put_real(table, base && (row->is_count || mean), diff_count(diff, row, 0));
    put_real(table, new && (row->is_count || mean), diff_count(diff, row, 1));
    put_time(table, base && mean, row->side[0].mean_ns);
    put_time(table, new &&mean, row->side[1].mean_ns);
    put_real(table, true, diff_speed_up(diff, row));
    rules_put_text(table, diff_verdict(diff, row));
    rules_put_text(table, row->name);
}

const char *diff_section_title(enum diff_section section)
{
    return titles[section];
}

bool diff_kept(const struct diff *diff, const struct diff_table_options *options,
               const struct diff_row *row, int64_t rows)
{
    bool wanted = !options->changed || row->section == DIFF_TOTAL || !is_same(diff, row);
    return wanted && (options->max_rows < 0 || rows < options->max_rows);
}

struct table *diff_table(const struct diff *diff, const struct diff_table_options *options)
{
    struct table *table = TABLE_NEW("Comparison", ALL_COLUMNS);
    int64_t rows = 0;
    for (size_t i = 0; table != NULL && i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (i > 0 && row->section != row[-1].section) {
            rows = 0;
        }
        if (!diff_kept(diff, options, row, rows)) {
            continue;
        }
        rows++;
        put_all(table, diff, row);
    }
    return table;
}

struct table *diff_section_table(const struct diff *diff, enum diff_section section,
                                 const struct diff_table_options *options, size_t *left_out)
{
    struct table *table = TABLE_NEW(titles[section], SECTION_COLUMNS);
    int64_t rows = 0;
    *left_out = 0;
    for (size_t i = 0; table != NULL && i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (row->section != section) {
            continue;
        }
        if (!diff_kept(diff, options, row, rows)) {
            ++*left_out;
            continue;
        }
        rows++;
        put_section(table, diff, row);
    }
    return table;
}
