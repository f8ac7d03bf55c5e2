/* diff_text: see diff_text.h. All figures are per step. */
#include "analysis/diff/diff_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"

enum {
    FIELD_BYTES = 2 * TIMEFMT_BYTES,
    FIXED_COLS = 54, /* of a line, before its name */
};

/* Columns of a number: before, after, change; counts; speed-up; verdict. */
static const char line_format[] = "%8s %8s %9s %10s %6s %-7s ";

/* A time, or a number where the row counts; "" where that side is not there. */
static void put_amount(char *text, const struct diff_row *row, bool there, double value, bool sign)
{
    char bare[TIMEFMT_BYTES];
    double size = fabs(value);
    text[0] = '\0';
    if (!there) {
        return;
    }
    if (!row->is_count) {
        (void)timefmt_duration(llround(size), bare);
    } else if (strstr(row->name, "bytes") != NULL) {
        (void)timefmt_bytes(llround(size), bare);
    } else {
        (void)snprintf(bare, sizeof(bare), "%.7g", size);
    }
    const char *mark = value < 0.0 ? "-" : sign && value > 0.0 ? "+" : "";
    (void)snprintf(text, FIELD_BYTES, "%s%s", mark, bare);
}

/* "1289", "12.25", "99999", "124k", "1.24M". */
static void short_count(double count, char *text)
{
    if (count < 99999.5) {
        (void)snprintf(text, TIMEFMT_BYTES, count < 9999.5 ? "%.4g" : "%.5g", count);
    } else if (count < 999500.0) {
        (void)snprintf(text, TIMEFMT_BYTES, "%.3gk", count / 1e3);
    } else {
        (void)snprintf(text, TIMEFMT_BYTES, "%.3gM", count / 1e6);
    }
}

static void put_counts(char *text, const struct diff *diff, const struct diff_row *row)
{
    double base = diff_count(diff, row, 0);
    double new = diff_count(diff, row, 1);
    char was[TIMEFMT_BYTES];
    char is[TIMEFMT_BYTES];
    text[0] = '\0';
    if (row->is_count || row->section == DIFF_TOTAL) {
        return;
    }
    short_count(base, was);
    short_count(new, is);
    if (base == new) {
        (void)snprintf(text, FIELD_BYTES, "%s", is);
    } else {
        (void)snprintf(text, FIELD_BYTES, "%.30s>%.30s", was, is);
    }
}

static const char *row_name(const struct facts *const facts[2], const struct diff_row *row,
                            bool full)
{
    const struct trace *trace = facts[row->status == DIFF_GONE ? 0 : 1]->trace;
    if (full || row->section != DIFF_KERNEL || row->event == TRACE_NONE) {
        return row->name;
    }
    return trace->names[trace->events[row->table].name[row->event]].brief;
}

/* The name, sanitised, in cols columns; cut with "..". */
static void add_name(struct buf *out, const char *name, size_t cols)
{
    struct buf safe = {0};
    size_t at = 0;
    size_t used = 0;
    utf8_sanitize(&safe, name, strlen(name), false);
    const char *text = buf_text(&safe);
    bool whole = utf8_cols(text, safe.len) <= cols;
    while (at < safe.len) {
        uint32_t cp = 0;
        size_t bytes = utf8_decode(text + at, safe.len - at, &cp);
        int width = utf8_width(cp);
        used += width > 0 ? (size_t)width : 0;
        if (!whole && used + 2 > cols) {
            break;
        }
        at += bytes;
    }
    buf_add(out, text, at);
    buf_adds(out, whole ? "\n" : "..\n");
    buf_free(&safe);
}

static void add_row(const struct facts *const facts[2], const struct diff *diff,
                    const struct diff_row *row, size_t cols, struct buf *out)
{
    char fields[5][FIELD_BYTES];
    bool base = row->status != DIFF_NEW;
    bool new = row->status != DIFF_GONE;
    double was = row->is_count ? diff_count(diff, row, 0) : diff_total_ns(diff, row, 0);
    double is = row->is_count ? diff_count(diff, row, 1) : diff_total_ns(diff, row, 1);
    double ratio = diff_speed_up(diff, row);
    put_amount(fields[0], row, base, was, false);
    put_amount(fields[1], row, new, is, false);
    put_amount(fields[2], row, true, is - was, true);
    put_counts(fields[3], diff, row);
    fields[4][0] = '\0';
    if (isfinite(ratio)) {
        (void)snprintf(fields[4], FIELD_BYTES, ratio < 99.95 ? "%.2fx" : "%.0fx", ratio);
    }
    buf_addf(out, line_format, fields[0], fields[1], fields[2], fields[3], fields[4],
             diff_verdict(diff, row));
    add_name(out, row_name(facts, row, cols >= DIFF_TEXT_FULL_COLS), cols - FIXED_COLS);
}

void diff_text(const struct facts *const facts[2], const struct diff *diff,
               enum diff_section section, const struct diff_table_options *options, size_t cols,
               struct buf *out)
{
    int64_t rows = 0;
    size_t left_out = 0;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (row->section != section) {
            continue;
        }
        if (!diff_kept(diff, options, row, rows)) {
            left_out++;
            continue;
        }
        if (rows++ == 0) {
            buf_addf(out, "\n%s\n", diff_section_title(section));
            buf_addf(out, "%8s %8s %9s %10s %6s\n", "base", "new", "change",
                     section == DIFF_TOTAL ? "" : "count", "speed");
        }
        add_row(facts, diff, row, cols < DIFF_TEXT_COLS ? DIFF_TEXT_COLS : cols, out);
    }
    if (rows > 0 && left_out > 0) {
        buf_addf(out, "%zu more rows are the same or change less; --all --rows -1 prints them\n",
                 left_out);
    }
}
