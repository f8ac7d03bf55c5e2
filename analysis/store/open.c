/* open: see store.h. Opening, the list of tables and their columns, scans; where the rows come from is
 * the file's source (source.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/store/file_internal.h"
#include "analysis/store/store.h"
#include "analysis/store/store_internal.h"

struct store_cursor {
    const struct source *source;
    void *rows; /* NULL: a missing table */
};

static char *keep_name(struct store *store, const char *name)
{
    return arena_copy(&store->arena, name, strlen(name));
}

int source_add_table(struct store *store, const char *name)
{
    struct store_table_info *grown =
        array_grow(store->tables, &store->table_cap, store->table_count + 1, sizeof *grown);
    if (grown == NULL) {
        return -1;
    }
    store->tables = grown;
    grown[store->table_count] = (struct store_table_info){.name = keep_name(store, name)};
    store->table_count += grown[store->table_count].name != NULL;
    return grown[store->table_count - 1].name == NULL ? -1 : 0;
}

int source_add_column(struct store *store, const char *table, const char *name)
{
    struct store_table_info *info = store_exact_table(store, table);
    const char **grown = info == NULL ? NULL
                                      : array_grow(info->columns, &info->column_cap,
                                                   info->column_count + 1, sizeof *grown);
    char *copy = keep_name(store, name);
    if (grown != NULL) {
        info->columns = grown;
    }
    if (grown == NULL || copy == NULL) {
        return -1;
    }
    grown[info->column_count++] = copy;
    return 0;
}

void *source_input(const struct store *store)
{
    return store->file->input;
}

struct store *store_open_file(struct store_file *file, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return err_null(err, "not enough memory to open %s", store_file_path(file));
    }
    store->file = store_file_share(file);
    store->source = file->source;
    store->path = store_file_path(file);
    store->connection = store->source->connect(store, err);
    if (store->connection != NULL && store->source->list_tables(store->connection, err) == 0 &&
        store_sniff_tables(store, err) == 0 && store_file_check(file, err) == 0) {
        return store;
    }
    (void)store_file_check(file, err); /* that comes before whatever was found in it */
    store_close(store);
    return NULL;
}

struct store *store_open(const char *path, struct err *err)
{
    struct store_file *file = store_file_open(path, err);
    struct store *store = file == NULL ? NULL : store_open_file(file, err);
    store_file_close(file);
    return store;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->connection != NULL) {
        store->source->disconnect(store->connection);
    }
    for (int i = 0; i < STORE_ENUM_COUNT; i++) {
        free(store->labels[i]);
    }
    for (size_t i = 0; i < store->table_count; i++) {
        free(store->tables[i].columns);
    }
    free(store->tables);
    store_file_close(store->file);
    arena_free(&store->arena);
    free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

/* The n of "NAME_V<n>" for the table name, -1 where it is not of that form. */
static long store_variant(const char *name, const char *table)
{
    size_t len = strlen(table);
    char *end;
    if (strncmp(name, table, len) != 0 || strncmp(name + len, "_V", 2) != 0 ||
        name[len + 2] < '0' || name[len + 2] > '9') {
        return -1;
    }
    errno = 0;
    long n = strtol(name + len + 2, &end, 10);
    return *end != '\0' || errno != 0 ? -1 : n;
}

struct store_table_info *store_exact_table(const struct store *store, const char *table)
{
    for (size_t i = 0; i < store->table_count; i++) {
        if (strcmp(store->tables[i].name, table) == 0) {
            return &store->tables[i];
        }
    }
    return NULL;
}

/* The table of that name, else the newest "NAME_V<n>" (seen in the wild); NULL where neither is. */
static struct store_table_info *find_table(struct store *store, const char *table)
{
    struct store_table_info *best = store_exact_table(store, table);
    long best_variant = -1;
    for (size_t i = 0; best == NULL && i < store->table_count; i++) {
        long variant = store_variant(store->tables[i].name, table);
        if (variant > best_variant) {
            best_variant = variant;
        }
    }
    for (size_t i = 0; best == NULL && best_variant >= 0 && i < store->table_count; i++) {
        if (store_variant(store->tables[i].name, table) == best_variant) {
            best = &store->tables[i];
        }
    }
    return best;
}

bool store_has_table(struct store *store, const char *table)
{
    return find_table(store, table) != NULL;
}

static bool has_column(struct store *store, struct store_table_info *info, const char *column)
{
    if (!info->columns_listed) {
        info->columns_listed = true;
        store->source->list_columns(store->connection, info->name);
    }
    for (size_t i = 0; i < info->column_count; i++) {
        if (sqlite3_stricmp(info->columns[i], column) == 0) {
            return true;
        }
    }
    return false;
}

bool store_has_column(struct store *store, const char *table, const char *column)
{
    struct store_table_info *info = find_table(store, table);
    return info != NULL && has_column(store, info, column);
}

int64_t store_count(struct store *store, const char *table, struct err *err)
{
    struct store_table_info *info = find_table(store, table);
    return info == NULL ? 0 : store->source->count(store->connection, info->name, err);
}

int64_t store_row_bound(struct store *store, const char *table)
{
    struct store_table_info *info = find_table(store, table);
    int64_t last = info == NULL ? 0 : store->source->last_row(store->connection, info->name);
    return last < 0 || last == INT64_MAX ? 0 : last + (last > 0);
}

struct store_cursor *store_scan(struct store *store, const struct store_scan *scan, struct err *err)
{
    const char *columns[STORE_COLUMNS_MAX];
    struct store_table_info *info = find_table(store, scan->table);
    struct store_cursor *cursor = calloc(1, sizeof *cursor);
    struct store_scan known = *scan;
    if (cursor == NULL) {
        return err_null(err, "not enough memory to read %s", scan->table);
    }
    cursor->source = store->source;
    if (info == NULL) {
        return cursor;
    }
    for (int i = 0; i < scan->column_count; i++) {
        columns[i] = has_column(store, info, scan->columns[i]) ? scan->columns[i] : NULL;
    }
    known.table = info->name;
    known.columns = columns;
    if (store_file_check(store->file, err) == 0) {
        cursor->rows = store->source->scan(store->connection, &known, err);
    }
    if (cursor->rows == NULL) {
        free(cursor);
        return NULL;
    }
    return cursor;
}

int store_next(struct store_cursor *cursor, struct err *err)
{
    return cursor->rows == NULL ? 0 : cursor->source->next(cursor->rows, err);
}

void store_cursor_close(struct store_cursor *cursor)
{
    if (cursor != NULL && cursor->rows != NULL) {
        cursor->source->close(cursor->rows);
    }
    free(cursor);
}

int64_t store_rowid(struct store_cursor *cursor)
{
    return cursor->source->row_id(cursor->rows);
}

bool store_is_null(struct store_cursor *cursor, int column)
{
    return cursor->source->is_null(cursor->rows, column);
}

int64_t store_int(struct store_cursor *cursor, int column, int64_t fallback)
{
    /* NULL reads as 0: only a 0 needs a second look, and none where 0 is the fallback. */
    int64_t value = cursor->source->integer(cursor->rows, column);
    return value == 0 && fallback != 0 && store_is_null(cursor, column) ? fallback : value;
}

double store_real(struct store_cursor *cursor, int column, double fallback)
{
    return store_is_null(cursor, column) ? fallback : cursor->source->real(cursor->rows, column);
}

const char *store_text(struct store_cursor *cursor, int column, size_t *len)
{
    *len = 0;
    return store_is_null(cursor, column) ? NULL : cursor->source->text(cursor->rows, column, len);
}
