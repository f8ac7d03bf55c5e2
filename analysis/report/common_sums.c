/* common_sums: sums by group for the reports; see common.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/report/common.h"

uint32_t kit_sums_group(struct kit_sums *sums, const struct kit_text *texts, int count)
{
    uint32_t ids[KIT_TEXTS_MAX] = {0};
    for (int i = 0; i < count; i++) {
        ids[i] = intern_add(&sums->texts, texts[i].text, texts[i].len);
        if (ids[i] == INTERN_NONE) {
            sums->groups.failed = 1;
            return INTERN_NONE;
        }
    }
    return intern_add(&sums->keys, (const char *)ids, sizeof ids);
}

void kit_sums_add(struct kit_sums *sums, uint32_t group, int64_t value)
{
    if (group == INTERN_NONE) {
        sums->groups.failed = 1;
        return;
    }
    stat_groups_add(&sums->groups, group, value);
}

void kit_sums_origin(struct kit_sums *sums, uint32_t group, uint32_t part, struct kit_text text)
{
    uint32_t id = text.text == NULL ? INTERN_NONE : intern_add(&sums->texts, text.text, text.len);
    size_t old = sums->origin_cap;
    if (group == INTERN_NONE || (text.text != NULL && id == INTERN_NONE)) {
        sums->groups.failed = 1;
        return;
    }
    struct kit_origin *grown =
        array_grow(sums->origins, &sums->origin_cap, (size_t)group + 1, sizeof *grown);
    if (grown == NULL) {
        sums->groups.failed = 1;
        return;
    }
    memset(grown + old, 0, (sums->origin_cap - old) * sizeof *grown);
    sums->origins = grown;
    if (grown[group].part == 0 && grown[group].text == 0) {
        grown[group] = (struct kit_origin){part, text.text == NULL ? 0 : id + 1};
    }
}

/* One row of the table to be. */
struct kit_sum {
    uint32_t group;
    uint32_t part;
    int64_t id; /* of the origin; 0 where it does not matter */
    struct stat_sum stat;
    struct kit_text texts[KIT_TEXTS_MAX];
};

static int kit_text_compare(struct kit_text a, struct kit_text b)
{
    int order = memcmp(a.text, b.text, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int kit_sum_compare(const void *left, const void *right)
{
    const struct kit_sum *a = left;
    const struct kit_sum *b = right;
    if (a->stat.total != b->stat.total) {
        return COMPARE(b->stat.total, a->stat.total);
    }
    if (a->part != b->part) {
        return COMPARE(a->part, b->part);
    }
    if (a->id != b->id) {
        return COMPARE(a->id, b->id);
    }
    if (a->stat.count != b->stat.count) {
        return COMPARE(a->stat.count, b->stat.count);
    }
    int order = 0;
    for (int i = KIT_TEXTS_MAX - 1; i >= 0 && order == 0; i--) {
        if (a->texts[i].text != NULL) {
            order = kit_text_compare(a->texts[i], b->texts[i]);
        }
    }
    return order;
}

static void kit_sums_fill(struct kit_sums *sums, const struct kit_sums_layout *layout,
                          struct kit_sum *rows)
{
    for (uint32_t g = 0; g < sums->keys.count; g++) {
        uint32_t ids[KIT_TEXTS_MAX];
        size_t count;
        int64_t *values = stat_groups_values(&sums->groups, g, &count);
        rows[g].stat = stat_of(values, count);
        rows[g].group = g;
        memcpy(ids, intern_text(&sums->keys, g), sizeof ids);
        for (int i = 0; i < layout->text_count; i++) {
            rows[g].texts[i].text = intern_text(&sums->texts, ids[i]);
            rows[g].texts[i].len = intern_len(&sums->texts, ids[i]);
        }
    }
    sort_list(rows, sums->keys.count, sizeof *rows, kit_sum_compare);
}

static void kit_sums_put(struct table *table, const struct kit_sum *row,
                         const struct kit_sums_layout *layout, double all)
{
    if ((layout->flags & KIT_SUMS_BYTES) == 0) {
        table_put_real(table, all > 0 ? 100.0 * (double)row->stat.total / all : 0.0);
    }
    table_put_int(table, row->stat.total);
    table_put_int(table, row->stat.count);
    table_put_real(table, row->stat.mean);
    table_put_real(table, row->stat.median);
    table_put_int(table, row->stat.min);
    table_put_int(table, row->stat.max);
    table_put_real(table, row->stat.deviation);
    for (int i = 0; i < layout->text_count; i++) {
        kit_put_text(table, row->texts[i]);
    }
}

static struct table *kit_sums_columns(const struct kit_sums_layout *layout)
{
    bool bytes = (layout->flags & KIT_SUMS_BYTES) != 0;
    enum table_type whole = bytes ? TABLE_MB : TABLE_TIME;
    enum table_type real = bytes ? TABLE_MB : TABLE_TIME_1;
    struct table_column columns[8 + KIT_TEXTS_MAX] = {
        {"Time (%)", TABLE_PERCENT, 0},
        {bytes ? "Total" : "Total Time", whole, 0},
        {layout->count_header, TABLE_INT, 0},
        {"Avg", real, 0},
        {"Med", real, 0},
        {"Min", whole, 0},
        {"Max", whole, 0},
        {"StdDev", real, 0},
    };
    for (int i = 0; i < layout->text_count; i++) {
        columns[8 + i] = (struct table_column){layout->text_headers[i], TABLE_TEXT, 0};
    }
    return table_new(layout->title, bytes ? columns + 1 : columns,
                     (bytes ? 7 : 8) + layout->text_count);
}

/* The smallest StringIds id of each text; 0 where it has none. The caller frees. */
static int64_t *kit_text_ids(const struct kit_sums *sums, struct store *store)
{
    static const char *const columns[] = {"id", "value"};
    const struct store_scan scan = {"StringIds", columns, 2, 0, INT64_MAX};
    int64_t *ids = calloc((size_t)sums->texts.count + 1, sizeof *ids);
    struct store_cursor *cursor = ids == NULL ? NULL : store_scan(store, &scan, NULL);
    while (cursor != NULL && store_next(cursor, NULL) == 1) {
        size_t len;
        const char *value = store_text(cursor, 1, &len);
        uint32_t text = value == NULL ? INTERN_NONE : intern_find(&sums->texts, value, len);
        int64_t id = store_int(cursor, 0, 0);
        if (text != INTERN_NONE && (ids[text] == 0 || id < ids[text])) {
            ids[text] = id;
        }
    }
    store_cursor_close(cursor);
    return ids;
}

/* Orders rows of equal totals by where they are from. The file is asked only where there are any. */
static int kit_sums_order(const struct kit_sums *sums, const struct report_context *c,
                          struct kit_sum *rows)
{
    bool tied = false;
    for (uint32_t i = 1; i < sums->keys.count; i++) {
        tied = tied || rows[i].stat.total == rows[i - 1].stat.total;
    }
    if (!tied) {
        return 0;
    }
    struct store *store = shared_store(c->shared, NULL);
    int64_t *ids = store == NULL ? NULL : kit_text_ids(sums, store);
    if (ids == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < sums->keys.count; i++) {
        if (rows[i].group < sums->origin_cap) {
            const struct kit_origin *origin = &sums->origins[rows[i].group];
            rows[i].part = origin->part;
            rows[i].id = origin->text == 0 ? 0 : ids[origin->text - 1];
        }
    }
    free(ids);
    sort_list(rows, sums->keys.count, sizeof *rows, kit_sum_compare);
    return 0;
}

struct table *kit_sums_table(struct kit_sums *sums, const struct kit_sums_layout *layout,
                             const struct report_context *c)
{
    struct table *table = kit_sums_columns(layout);
    struct kit_sum *rows = calloc((size_t)sums->keys.count + 1, sizeof *rows);
    double all = 0;
    if (table == NULL || rows == NULL || stat_groups_sort(&sums->groups, sums->keys.count) != 0) {
        table_free(table);
        free(rows);
        kit_sums_free(sums);
        return NULL;
    }
    kit_sums_fill(sums, layout, rows);
    if ((layout->flags & KIT_SUMS_BY_ID) != 0 && kit_sums_order(sums, c, rows) != 0) {
        table_free(table);
        free(rows);
        kit_sums_free(sums);
        return NULL;
    }
    for (uint32_t i = 0; i < sums->keys.count; i++) {
        all += (double)rows[i].stat.total;
    }
    for (uint32_t i = 0; i < sums->keys.count; i++) {
        if (rows[i].stat.count > 0) {
            kit_sums_put(table, &rows[i], layout, all);
        }
    }
    free(rows);
    kit_sums_free(sums);
    return table;
}

void kit_sums_free(struct kit_sums *sums)
{
    intern_free(&sums->texts);
    intern_free(&sums->keys);
    stat_groups_free(&sums->groups);
    free(sums->origins);
    *sums = (struct kit_sums){0};
}
