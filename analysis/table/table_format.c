/*
 * table_format: the text forms of a table.
 *
 * column is the layout of `nsys stats`: one leading blank, two blanks between columns, headers
 * centred over dashes, numbers to the right, text to the left and clipped at 100 columns. Numbers
 * round half away from zero on the exact binary value, as the published outputs do (86953.25 is
 * printed 86953.3, 841.15, which is a little less in binary, 841.1).
 *
 * For machines (csv, tsv, json) times keep every nanosecond in any unit; for people a unit above ns
 * has four decimals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/utf8.h"
#include "analysis/table/json.h"
#include "analysis/table/spark.h"
#include "analysis/table/table_internal.h"

enum {
    TABLE_TEXT_COLS = 100, /* longer texts are clipped for people */
    TABLE_FLUSH_BYTES = 1 << 16,
    TABLE_NUMBER_BYTES = 400, /* a double with decimals has at most 309 + 20 characters */
};

/* Where the form of a text lies in the pool; len 0 = not made yet. */
struct table_form {
    size_t at;
    size_t len;
};

/* What the writers share. */
struct table_writer {
    const struct table *table;
    const struct table_output *output;
    const struct table_sink *sink;
    struct buf out;
    struct buf cell; /* scratch for one cell */
    bool stopped;
    bool machine; /* csv, tsv, json */
    size_t *widths; /* columns of each column; for people */
    char **headers; /* with units; owned */
    int unit_digits; /* 0, 3, 6, 9 */
    struct buf pool; /* csv, tsv, json: the form of each text that was met */
    struct table_form *forms; /* owned, by text number */
};

static void table_flush(struct table_writer *w, size_t limit)
{
    if (w->out.len < limit || w->out.len == 0) {
        return;
    }
    if (!w->stopped && w->sink->write(w->sink->arg, w->out.data, w->out.len) != 0) {
        w->stopped = true;
    }
    buf_reset(&w->out);
}

/* Digits of n, to the left of end; returns where they begin. */
static char *table_digits(char *end, uint64_t n)
{
    do {
        *--end = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    return end;
}

/* n / 10^decimals, exact. */
static void table_add_scaled(struct buf *out, int64_t n, int decimals)
{
    char text[48];
    char *end = text + sizeof text;
    uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    char *at = table_digits(end, size);
    while (end - at <= decimals) {
        *--at = '0';
    }
    if (n < 0) {
        buf_addc(out, '-');
    }
    buf_add(out, at, (size_t)(end - at - decimals));
    if (decimals > 0) {
        buf_addc(out, '.');
        buf_add(out, end - decimals, (size_t)decimals);
    }
}

/* value with a number of decimals, halves away from zero. */
static void table_add_fixed(struct buf *out, long double value, int decimals)
{
    static const long double POWERS[] = {1.0L, 1e1L, 1e2L, 1e3L, 1e4L,  1e5L,
                                         1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L};
    long double scaled;
    if (decimals < 0 || decimals > 11) {
        decimals = 6;
    }
    scaled = roundl(value * POWERS[decimals]);
    if (scaled > -9e18L && scaled < 9e18L) {
        table_add_scaled(out, (int64_t)scaled, decimals);
    } else {
        buf_addf(out, "%.*Lf", decimals, value);
    }
}

/* A time: ns in the unit of the output. */
static void table_add_time(const struct table_writer *w, struct buf *out,
                           const struct table_cell *cell, bool whole)
{
    int digits = w->unit_digits;
    if (whole && (digits == 0 || w->machine)) {
        table_add_scaled(out, cell->i, digits);
        return;
    }
    if (!whole && (digits == 0 || w->machine)) {
        long double unit = (long double)w->output->time_unit_ns;
        table_add_fixed(out, (long double)cell->real / unit, digits + 1);
        return;
    }
    table_add_fixed(out,
                    (whole ? (long double)cell->i : (long double)cell->real) /
                        (long double)w->output->time_unit_ns,
                    4);
}

/* A number as text. */
static void table_add_number(const struct table_writer *w, struct buf *out,
                             const struct table_column *column, const struct table_cell *cell)
{
    switch (column->type) {
    case TABLE_INT:
        table_add_scaled(out, cell->i, 0);
        break;
    case TABLE_TIME:
        table_add_time(w, out, cell, true);
        break;
    case TABLE_TIME_1:
        table_add_time(w, out, cell, false);
        break;
    case TABLE_PERCENT:
        table_add_fixed(out, (long double)cell->real, 1);
        break;
    case TABLE_MB:
        table_add_fixed(out, (long double)cell->real / 1e6L, 3);
        break;
    case TABLE_REAL:
        table_add_fixed(out, (long double)cell->real, column->decimals);
        break;
    case TABLE_TEXT:
    default:
        break;
    }
}

/* Text cut to TABLE_TEXT_COLS columns, the last one an ellipsis. */
static void table_add_clipped(struct buf *out, const char *text, size_t len, bool ascii)
{
    size_t limit = TABLE_TEXT_COLS - (ascii ? 3U : 1U);
    size_t at = 0;
    size_t cols = 0;
    size_t keep = 0;
    while (at < len) {
        uint32_t cp;
        size_t bytes = utf8_decode(text + at, len - at, &cp);
        int width = utf8_width(cp);
        cols += width > 0 ? (size_t)width : 0;
        at += bytes;
        if (cols <= limit) {
            keep = at;
        }
        if (cols > TABLE_TEXT_COLS) {
            buf_add(out, text, keep);
            buf_adds(out, ascii ? "..." : "\u2026");
            return;
        }
    }
    buf_add(out, text, len);
}

void table_text_ascii(struct buf *out, const char *text, size_t len)
{
    static const char BLOCKS[] = "\xe2\x96"; /* U+2580..U+25BF begin so */
    size_t at = 0;
    while (at < len) {
        int level = 0;
        if (len - at >= 3 && memcmp(text + at, BLOCKS, 2) == 0) {
            level = (unsigned char)text[at + 2] - 0x80;
        }
        if (level >= 1 && level <= SPARK_LEVELS) {
            buf_adds(out, spark_glyph(level, true));
            at += 3;
        } else {
            buf_addc(out, text[at++]);
        }
    }
}

/* The cell as people see it, into w->cell; returns its width in columns. */
static size_t table_person_cell(struct table_writer *w, size_t row, int column)
{
    const struct table_column *about = &w->table->columns[column];
    struct table_cell cell = table_cell_at(w->table, row, column);
    struct buf safe = {0};
    struct buf plain = {0};
    buf_reset(&w->cell);
    if (cell.empty) {
        return 0;
    }
    if (about->type != TABLE_TEXT) {
        table_add_number(w, &w->cell, about, &cell);
        return w->cell.len;
    }
    /* A column takes at least one byte, at most four and a few that combine: no need for more. */
    cell.len = cell.len < 4096 ? cell.len : 4096;
    if (w->output->ascii) {
        table_text_ascii(&plain, cell.text, cell.len);
        cell.text = buf_text(&plain);
        cell.len = plain.len;
    }
    utf8_sanitize(&safe, cell.text, cell.len, w->output->ascii);
    buf_free(&plain);
    table_add_clipped(&w->cell, buf_text(&safe), safe.len, w->output->ascii);
    w->cell.failed = w->cell.failed || safe.failed;
    buf_free(&safe);
    size_t cols = utf8_cols(buf_text(&w->cell), w->cell.len);
    return cols;
}

static void table_measure(struct table_writer *w)
{
    size_t rows = table_rows(w->table);
    for (int column = 0; column < w->table->column_count; column++) {
        size_t width = strlen(w->headers[column]);
        for (size_t row = 0; row < rows; row++) {
            size_t cols = table_person_cell(w, row, column);
            width = cols > width ? cols : width;
        }
        w->widths[column] = width;
    }
}

/* text in the middle of width columns: what is left over goes to the right. */
static void table_centre(struct buf *out, const char *text, size_t width)
{
    size_t len = strlen(text);
    size_t left = (width - len) / 2;
    buf_fill(out, ' ', left);
    buf_adds(out, text);
    buf_fill(out, ' ', width - len - left);
}

static void table_align(struct table_writer *w, size_t row, int column)
{
    size_t cols = table_person_cell(w, row, column);
    size_t pad = w->widths[column] - cols;
    bool left = w->table->columns[column].type == TABLE_TEXT;
    buf_fill(&w->out, ' ', left ? 0 : pad);
    buf_add(&w->out, buf_text(&w->cell), w->cell.len);
    buf_fill(&w->out, ' ', left ? pad : 0);
}

static void table_write_column(struct table_writer *w)
{
    size_t rows = table_rows(w->table);
    table_measure(w);
    for (int column = 0; column < w->table->column_count; column++) {
        buf_adds(&w->out, column == 0 ? " " : "  ");
        table_centre(&w->out, w->headers[column], w->widths[column]);
    }
    buf_addc(&w->out, '\n');
    for (int column = 0; column < w->table->column_count; column++) {
        buf_adds(&w->out, column == 0 ? " " : "  ");
        buf_fill(&w->out, '-', w->widths[column]);
    }
    buf_addc(&w->out, '\n');
    for (size_t row = 0; row < rows && !w->stopped; row++) {
        for (int column = 0; column < w->table->column_count; column++) {
            buf_adds(&w->out, column == 0 ? " " : "  ");
            table_align(w, row, column);
        }
        buf_addc(&w->out, '\n');
        table_flush(w, TABLE_FLUSH_BYTES);
    }
}

static void table_rule(struct table_writer *w, char line)
{
    for (int column = 0; column < w->table->column_count; column++) {
        buf_addc(&w->out, '+');
        buf_fill(&w->out, line, w->widths[column] + 2);
    }
    buf_adds(&w->out, "+\n");
}

static void table_write_framed(struct table_writer *w)
{
    size_t rows = table_rows(w->table);
    table_measure(w);
    table_rule(w, '-');
    for (int column = 0; column < w->table->column_count; column++) {
        buf_adds(&w->out, column == 0 ? "| " : " | ");
        table_centre(&w->out, w->headers[column], w->widths[column]);
    }
    buf_adds(&w->out, " |\n");
    table_rule(w, '=');
    for (size_t row = 0; row < rows && !w->stopped; row++) {
        for (int column = 0; column < w->table->column_count; column++) {
            buf_adds(&w->out, column == 0 ? "| " : " | ");
            table_align(w, row, column);
        }
        buf_adds(&w->out, " |\n");
        table_flush(w, TABLE_FLUSH_BYTES);
    }
    if (rows > 0) {
        table_rule(w, '-');
    }
}

/*
 * A field of csv or tsv. Text is made safe first, so that a row is always one line; quotes go
 * around a text that holds the separator or a quote, and a quote is doubled.
 */
static void table_add_field(struct buf *out, const char *text, size_t len, char separator)
{
    if (memchr(text, separator, len) == NULL && memchr(text, '"', len) == NULL) {
        buf_add(out, text, len);
        return;
    }
    buf_addc(out, '"');
    while (len > 0) {
        const char *quote = memchr(text, '"', len);
        size_t part = quote == NULL ? len : (size_t)(quote - text) + 1;
        buf_add(out, text, part);
        if (quote != NULL) {
            buf_addc(out, '"');
        }
        text += part;
        len -= part;
    }
    buf_addc(out, '"');
}

/* The form of a text cell, made once for each text: names repeat. separator 0 = json. */
static void table_add_form(struct table_writer *w, size_t row, int column,
                           const struct table_cell *cell, char separator)
{
    const union table_slot *slot =
        &w->table->slots[row * (size_t)w->table->column_count + (size_t)column];
    struct table_form *form = &w->forms[slot->text];
    if (form->len == 0) {
        form->at = w->pool.len;
        if (separator == 0) {
            json_text(&w->pool, cell->text, cell->len);
        } else {
            buf_reset(&w->cell);
            if (w->output->spreadsheet && cell->len > 0 &&
                memchr("=+-@\t\r", cell->text[0], 6) != NULL) {
                buf_addc(&w->cell, '\''); /* a spreadsheet would run what follows as a formula */
            }
            utf8_sanitize(&w->cell, cell->text, cell->len, false);
            table_add_field(&w->pool, buf_text(&w->cell), w->cell.len, separator);
            w->pool.failed = w->pool.failed || w->cell.failed;
        }
        if (buf_failed(&w->pool)) {
            w->out.failed = true;
            return;
        }
        form->len = w->pool.len - form->at;
    }
    buf_add(&w->out, buf_text(&w->pool) + form->at, form->len);
}

static void table_add_separated(struct table_writer *w, size_t row, int column, char separator)
{
    const struct table_column *about = &w->table->columns[column];
    struct table_cell cell = table_cell_at(w->table, row, column);
    if (cell.empty) {
        return;
    }
    if (about->type != TABLE_TEXT) {
        table_add_number(w, &w->out, about, &cell);
    } else {
        table_add_form(w, row, column, &cell, separator);
    }
}

static void table_write_separated(struct table_writer *w, char separator)
{
    size_t rows = table_rows(w->table);
    for (int column = 0; column < w->table->column_count; column++) {
        if (column > 0) {
            buf_addc(&w->out, separator);
        }
        table_add_field(&w->out, w->headers[column], strlen(w->headers[column]), separator);
    }
    buf_addc(&w->out, '\n');
    for (size_t row = 0; row < rows && !w->stopped; row++) {
        for (int column = 0; column < w->table->column_count; column++) {
            if (column > 0) {
                buf_addc(&w->out, separator);
            }
            table_add_separated(w, row, column, separator);
        }
        buf_addc(&w->out, '\n');
        table_flush(w, TABLE_FLUSH_BYTES);
    }
}

static void table_add_json_cell(struct table_writer *w, size_t row, int column)
{
    const struct table_column *about = &w->table->columns[column];
    struct table_cell cell = table_cell_at(w->table, row, column);
    buf_addc(&w->out, column == 0 ? '{' : ',');
    json_text(&w->out, w->headers[column], strlen(w->headers[column]));
    buf_addc(&w->out, ':');
    if (cell.empty || (about->type != TABLE_TEXT && !isfinite(cell.real))) {
        buf_adds(&w->out, "null");
    } else if (about->type == TABLE_TEXT) {
        table_add_form(w, row, column, &cell, 0);
    } else {
        table_add_number(w, &w->out, about, &cell);
    }
}

static void table_write_json(struct table_writer *w)
{
    size_t rows = table_rows(w->table);
    buf_addc(&w->out, '[');
    for (size_t row = 0; row < rows && !w->stopped; row++) {
        buf_adds(&w->out, row == 0 ? "\n" : ",\n");
        for (int column = 0; column < w->table->column_count; column++) {
            table_add_json_cell(w, row, column);
        }
        buf_addc(&w->out, '}');
        table_flush(w, TABLE_FLUSH_BYTES);
    }
    buf_adds(&w->out, rows == 0 ? "]\n" : "\n]\n");
}

/* Decimals of a time that keep every nanosecond in the unit. */
static int unit_digits(int64_t time_unit_ns)
{
    return time_unit_ns >= 1000000000 ? 9
           : time_unit_ns >= 1000000  ? 6
           : time_unit_ns >= 1000     ? 3
                                      : 0;
}

const char *table_unit_name(int64_t time_unit_ns)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    return names[unit_digits(time_unit_ns) / 3];
}

void table_header(const struct table *table, int column, int64_t time_unit_ns, struct buf *out)
{
    const struct table_column *about = &table->columns[column];
    buf_adds(out, about->header);
    if (about->type == TABLE_TIME || about->type == TABLE_TIME_1) {
        buf_addf(out, " (%s)", table_unit_name(time_unit_ns));
    } else if (about->type == TABLE_MB) {
        buf_adds(out, " (MB)");
    }
}

/* Header texts with their units. 0 or -1. */
static int table_make_headers(struct table_writer *w)
{
    w->unit_digits = unit_digits(w->output->time_unit_ns);
    for (int column = 0; column < w->table->column_count; column++) {
        struct buf text = {0};
        table_header(w->table, column, w->output->time_unit_ns, &text);
        w->headers[column] = text.data;
        if (buf_failed(&text)) {
            return -1;
        }
    }
    return 0;
}

static void table_write_as(struct table_writer *w)
{
    switch (w->output->format) {
    case TABLE_FORMAT_TABLE:
        table_write_framed(w);
        break;
    case TABLE_FORMAT_CSV:
        table_write_separated(w, ',');
        break;
    case TABLE_FORMAT_TSV:
        table_write_separated(w, '\t');
        break;
    case TABLE_FORMAT_JSON:
        table_write_json(w);
        break;
    case TABLE_FORMAT_COLUMN:
    default:
        table_write_column(w);
        break;
    }
    table_flush(w, 1);
}

static void table_writer_free(struct table_writer *w)
{
    for (int column = 0; w->headers != NULL && column < w->table->column_count; column++) {
        free(w->headers[column]);
    }
    free(w->headers);
    free(w->widths);
    buf_free(&w->out);
    buf_free(&w->cell);
    buf_free(&w->pool);
    free(w->forms);
}

int table_write(const struct table *table, const struct table_output *output,
                const struct table_sink *sink, struct err *err)
{
    struct table_writer w = {.table = table, .output = output, .sink = sink};
    size_t columns = (size_t)table->column_count;
    int rc = -1;
    w.machine = output->format >= TABLE_FORMAT_CSV;
    w.widths = calloc(columns + 1, sizeof *w.widths);
    w.headers = calloc(columns + 1, sizeof *w.headers);
    w.forms = calloc((size_t)table->texts.count + 1, sizeof *w.forms);
    if (table->failed || w.widths == NULL || w.headers == NULL || w.forms == NULL ||
        table_make_headers(&w) != 0) {
        (void)err_nomem(err, table->title);
    } else {
        table_write_as(&w);
        if (w.stopped) {
            (void)err_set(err, "cannot write the table '%s'", table->title);
        } else if (buf_failed(&w.out) || buf_failed(&w.cell)) {
            (void)err_nomem(err, table->title);
        } else {
            rc = 0;
        }
    }
    table_writer_free(&w);
    return rc;
}

int table_format_by_name(const char *name)
{
    static const char *const NAMES[] = {"column", "table", "csv", "tsv", "json"};
    for (int i = 0; i < (int)(sizeof NAMES / sizeof NAMES[0]); i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return i;
        }
    }
    return -1;
}
