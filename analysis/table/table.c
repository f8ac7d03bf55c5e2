/* table: see table.h. Cells, rows and sorting; the text forms are in table_format.c. */
#include "analysis/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/table/table_internal.h"

struct table *table_new(const char *title, const struct table_column *columns, int column_count)
{
    struct table *table = calloc(1, sizeof *table);
    size_t title_bytes = strlen(title) + 1;
    size_t column_bytes = (size_t)column_count * sizeof *columns;
    if (table == NULL) {
        return NULL;
    }
    table->title = malloc(title_bytes);
    table->columns = malloc(column_bytes > 0 ? column_bytes : 1);
    if (table->title == NULL || table->columns == NULL) {
        table_free(table);
        return NULL;
    }
    memcpy(table->title, title, title_bytes);
    memcpy(table->columns, columns, column_bytes);
    table->column_count = column_count;
    return table;
}

void table_free(struct table *table)
{
    if (table == NULL) {
        return;
    }
    free(table->title);
    free(table->columns);
    free(table->slots);
    intern_free(&table->texts);
    free(table);
}

/* The type of the column that the next cell belongs to. */
static enum table_type table_next_type(const struct table *table)
{
    return table->columns[table->slot_count % (size_t)table->column_count].type;
}

static void table_put(struct table *table, union table_slot slot)
{
    if (table->failed) {
        return;
    }
    union table_slot *grown =
        array_grow(table->slots, &table->slot_cap, table->slot_count + 1, sizeof *grown);
    if (grown == NULL) {
        table->failed = true;
        return;
    }
    table->slots = grown;
    table->slots[table->slot_count++] = slot;
}

static bool table_type_is_integer(enum table_type type)
{
    return type == TABLE_INT || type == TABLE_TIME;
}

void table_put_text(struct table *table, const char *text, size_t len)
{
    if (table_next_type(table) != TABLE_TEXT) {
        table_put_empty(table);
        return;
    }
    uint32_t id = intern_add(&table->texts, text, len);
    if (id == INTERN_NONE) {
        table->failed = true;
    }
    table_put(table, (union table_slot){.text = id});
}

void table_put_int(struct table *table, int64_t value)
{
    enum table_type type = table_next_type(table);
    if (type == TABLE_TEXT) {
        table_put_empty(table);
    } else if (table_type_is_integer(type)) {
        table_put(table, (union table_slot){.i = value});
    } else {
        table_put(table, (union table_slot){.real = (double)value});
    }
}

void table_put_real(struct table *table, double value)
{
    enum table_type type = table_next_type(table);
    if (type == TABLE_TEXT || isnan(value)) {
        table_put_empty(table);
    } else if (table_type_is_integer(type)) {
        bool fits = value > -9.2e18 && value < 9.2e18;
        table_put(table, (union table_slot){.i = fits ? (int64_t)llround(value) : INT64_MIN});
    } else {
        table_put(table, (union table_slot){.real = value});
    }
}

void table_put_empty(struct table *table)
{
    enum table_type type = table_next_type(table);
    union table_slot slot = {.real = (double)NAN};
    if (type == TABLE_TEXT) {
        slot.text = INTERN_NONE;
    } else if (table_type_is_integer(type)) {
        slot.i = INT64_MIN;
    }
    table_put(table, slot);
}

bool table_failed(const struct table *table)
{
    return table->failed;
}

size_t table_rows(const struct table *table)
{
    return table->column_count == 0 ? 0 : table->slot_count / (size_t)table->column_count;
}

int table_columns(const struct table *table)
{
    return table->column_count;
}

const char *table_title(const struct table *table)
{
    return table->title;
}

struct table_cell table_cell_at(const struct table *table, size_t row, int column)
{
    union table_slot slot = table->slots[row * (size_t)table->column_count + (size_t)column];
    enum table_type type = table->columns[column].type;
    struct table_cell cell = {.text = ""};
    if (type == TABLE_TEXT) {
        cell.empty = slot.text == INTERN_NONE;
        if (!cell.empty) {
            cell.text = intern_text(&table->texts, (uint32_t)slot.text);
            cell.len = intern_len(&table->texts, (uint32_t)slot.text);
        }
    } else if (table_type_is_integer(type)) {
        cell.empty = slot.i == INT64_MIN;
        cell.i = cell.empty ? 0 : slot.i;
    } else {
        cell.empty = isnan(slot.real);
        cell.real = cell.empty ? 0.0 : slot.real;
    }
    return cell;
}

void table_number_rows(struct table *table, int column)
{
    for (size_t row = 0; row < table_rows(table); row++) {
        table->slots[row * (size_t)table->column_count + (size_t)column].i = (int64_t)row + 1;
    }
}

void table_map_averages(struct table *table, double (*fn)(double value))
{
    size_t width = (size_t)table->column_count;
    for (size_t i = 0; i < table->slot_count; i++) {
        enum table_type type = table->columns[i % width].type;
        if ((type == TABLE_TIME_1 || type == TABLE_PERCENT) && !isnan(table->slots[i].real)) {
            table->slots[i].real = fn(table->slots[i].real);
        }
    }
}

void table_truncate(struct table *table, size_t rows)
{
    size_t slots = rows * (size_t)table->column_count;
    if (rows < table_rows(table)) {
        table->slot_count = slots;
    }
}

/* Order of two cells; empty ones come after all others. */
static int table_compare(const struct table *table, int column, size_t left, size_t right)
{
    struct table_cell a = table_cell_at(table, left, column);
    struct table_cell b = table_cell_at(table, right, column);
    size_t len = a.len < b.len ? a.len : b.len;
    if (a.empty || b.empty) {
        return (int)a.empty - (int)b.empty;
    }
    if (a.i != b.i) {
        return COMPARE(a.i, b.i);
    }
    if (a.real < b.real || a.real > b.real) {
        return a.real < b.real ? -1 : 1;
    }
    int order = memcmp(a.text, b.text, len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Does row `right` go before row `left`, which stands before it now? */
static bool table_goes_before(const struct table *table, int column, bool descending,
                              const size_t *pair)
{
    bool left_empty = table_cell_at(table, pair[0], column).empty;
    bool right_empty = table_cell_at(table, pair[1], column).empty;
    int order = table_compare(table, column, pair[0], pair[1]);
    if (left_empty || right_empty || !descending) {
        return order > 0;
    }
    return order < 0;
}

/* Merges the runs [begin, middle) and [middle, end) of from into to. */
static void table_merge(const struct table *table, int column, bool descending, const size_t *bound,
                        size_t *const *arrays)
{
    const size_t *from = arrays[0];
    size_t *to = arrays[1];
    size_t left = bound[0];
    size_t right = bound[1];
    for (size_t at = bound[0]; at < bound[2]; at++) {
        bool take_right = left == bound[1];
        if (!take_right && right < bound[2]) {
            size_t pair[2] = {from[left], from[right]};
            take_right = table_goes_before(table, column, descending, pair);
        }
        to[at] = take_right ? from[right++] : from[left++];
    }
}

/* Puts the rows in the order of order[]. 0 or -1. */
static int table_reorder(struct table *table, const size_t *order, size_t rows)
{
    size_t width = (size_t)table->column_count;
    union table_slot *slots = malloc(rows * width * sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    for (size_t i = 0; i < rows; i++) {
        memcpy(slots + i * width, table->slots + order[i] * width, width * sizeof *slots);
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = rows * width;
    table->slot_cap = rows * width;
    return 0;
}

/* Merge sort from the bottom up: stable, O(n log n). */
void table_sort(struct table *table, int column, bool descending)
{
    size_t rows = table_rows(table);
    size_t *memory = rows < 2 || table->failed ? NULL : malloc(2 * rows * sizeof *memory);
    size_t *arrays[2] = {memory, memory == NULL ? NULL : memory + rows};
    if (memory == NULL) {
        table->failed = table->failed || rows >= 2;
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        arrays[0][i] = i;
    }
    for (size_t step = 1; step < rows; step *= 2) {
        size_t *swap = arrays[0];
        for (size_t i = 0; i < rows; i += 2 * step) {
            size_t middle = i + step < rows ? i + step : rows;
            size_t end = i + 2 * step < rows ? i + 2 * step : rows;
            size_t bound[3] = {i, middle, end};
            table_merge(table, column, descending, bound, arrays);
        }
        arrays[0] = arrays[1];
        arrays[1] = swap;
    }
    if (table_reorder(table, arrays[0], rows) != 0) {
        table->failed = true;
    }
    free(memory);
}
