/* Rows a second of the converter, against bare SQLite inserts of the same rows in the same run.
 *
 *     bench_convert [THOUSANDS]     of kernels, calls and NVTX ranges each; 200 when left out
 *
 * A spool is made, converted, and timed. Then all rows of the capture's event tables are read into
 * memory and inserted into a new file, with the same tables: one transaction, no journal,
 * statements prepared once, every column bound, as a program would that has its rows ready. The
 * best of three of each counts. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/convert/convert.h"
#include "capture/spool/clock.h"
#include "capture/tests/spool_make.h"

enum {
    ROUNDS = 3,
    COLUMNS_MAX = 64,
    THREAD = 4242
};

#define REAL INT64_C(1700000000000000000)
#define MONO INT64_C(1000000000)

static void fail(const char *what)
{
    (void)fprintf(stderr, "bench_convert: %s\n", what);
    exit(1);
}

/* ---- the spool ------------------------------------------------------------------------------- */

static uint64_t words[32];

static void times(enum cupti_field start, enum cupti_field end, int64_t at)
{
    spool_make_set(words, start, (uint64_t)(REAL + at));
    spool_make_set(words, end, (uint64_t)(REAL + at + 900));
}

static void add_kernels(struct spool_make *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        memset(words, 0, sizeof words);
        times(CUPTI_KERNEL_START, CUPTI_KERNEL_END, i * 1000);
        spool_make_set(words, CUPTI_KERNEL_NAME, SPOOL_NAME_TAG | (uint64_t)(1 + i % 200));
        spool_make_set(words, CUPTI_KERNEL_CORRELATION_ID, (uint64_t)i + 1);
        spool_make_set(words, CUPTI_KERNEL_STREAM_ID, (uint64_t)(7 + i % 3));
        spool_make_set(words, CUPTI_KERNEL_GRID_X, (uint64_t)(1 + i % 64));
        spool_make_set(words, CUPTI_KERNEL_BLOCK_X, 256);
        spool_make_set(words, CUPTI_KERNEL_REGISTERS_PER_THREAD, (uint64_t)(32 + i % 16));
        spool_make_cupti(m, CUPTI_KIND_CONCURRENT_KERNEL, words, SPOOL_STATE_SCANNED);
    }
}

static void add_calls(struct spool_make *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        memset(words, 0, sizeof words);
        times(CUPTI_API_START, CUPTI_API_END, i * 1000 - 500);
        spool_make_set(words, CUPTI_API_CBID, 211);
        spool_make_set(words, CUPTI_API_THREAD_ID, THREAD);
        spool_make_set(words, CUPTI_API_CORRELATION_ID, (uint64_t)i + 1);
        spool_make_cupti(m, CUPTI_KIND_RUNTIME, words, SPOOL_STATE_SCANNED);
    }
}

static void add_ranges(struct spool_make *m, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "iteration %" PRId64, i % 1000);
        struct spool_make_nvtx push = {.type = SPOOL_NVTX_PUSH,
                                       .flags = SPOOL_NVTX_TEXT,
                                       .tid = THREAD,
                                       .time = (uint64_t)(MONO + i * 1000),
                                       .text = text};
        struct spool_make_nvtx pop = {
            .type = SPOOL_NVTX_POP, .tid = THREAD, .time = (uint64_t)(MONO + i * 1000 + 900)};
        spool_make_nvtx(m, &push);
        spool_make_nvtx(m, &pop);
    }
}

static void make_spool(const char *path, int64_t n)
{
    static struct spool_make m;
    spool_make_begin(&m, path, THREAD);
    m.header.created_real_ns = REAL;
    m.header.created_mono_ns = MONO;
    m.sizes[CUPTI_KIND_CONCURRENT_KERNEL] = 216;
    m.sizes[CUPTI_KIND_RUNTIME] = 40;
    for (int64_t s = 0; s <= 1000; s++) {
        spool_make_anchor(&m, REAL + s * 1000000000, MONO + s * 1000000000, 0, 0);
    }
    for (uint64_t id = 1; id <= 200; id++) {
        char name[64];
        (void)snprintf(name, sizeof name, "_Z10kernel_%03" PRIu64 "PfS_i", id);
        spool_make_string(&m, id, name, 0);
    }
    add_ranges(&m, n);
    add_kernels(&m, n);
    add_calls(&m, n);
    if (spool_make_end(&m, true) < 0) {
        fail("cannot write the spool");
    }
}

/* ---- bare inserts ---------------------------------------------------------------------------- */

struct value {
    int type;
    int len;
    int64_t i;
    double d;
    const char *s;
};

struct table {
    const char *name;
    char *create;
    int columns;
    int64_t rows;
    struct value *values;
};

static void load(sqlite3 *db, struct table *table)
{
    char sql[256];
    sqlite3_stmt *stmt;
    (void)snprintf(sql, sizeof sql, "SELECT sql FROM sqlite_master WHERE name = '%s'", table->name);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        fail(table->name);
    }
    table->create = strdup((const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
    (void)snprintf(sql, sizeof sql, "SELECT *, count(*) OVER () FROM %s", table->name);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fail(sqlite3_errmsg(db));
    }
    table->columns = sqlite3_column_count(stmt) - 1;
    struct value *at = NULL;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        if (!at) {
            size_t n = (size_t)sqlite3_column_int64(stmt, table->columns);
            table->values = calloc(n * (size_t)table->columns, sizeof *at);
            at = table->values;
        }
        for (int i = 0; at && i < table->columns; i++, at++) {
            at->type = sqlite3_column_type(stmt, i);
            at->i = sqlite3_column_int64(stmt, i);
            at->d = sqlite3_column_double(stmt, i);
            at->len = at->type == SQLITE_TEXT ? sqlite3_column_bytes(stmt, i) : 0;
            at->s = at->len ? strdup((const char *)sqlite3_column_text(stmt, i)) : "";
        }
        table->rows++;
    }
    (void)sqlite3_finalize(stmt);
}

static void bind(sqlite3_stmt *stmt, int at, const struct value *value)
{
    if (value->type == SQLITE_INTEGER) {
        (void)sqlite3_bind_int64(stmt, at, value->i);
    } else if (value->type == SQLITE_FLOAT) {
        (void)sqlite3_bind_double(stmt, at, value->d);
    } else if (value->type == SQLITE_TEXT) {
        (void)sqlite3_bind_text(stmt, at, value->s, value->len, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_null(stmt, at);
    }
}

static void insert(sqlite3 *db, const struct table *table)
{
    char sql[1024];
    sqlite3_stmt *stmt;
    int at = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table->name);
    for (int i = 1; i < table->columns; i++) {
        at += snprintf(sql + at, sizeof sql - (size_t)at, ",?");
    }
    (void)snprintf(sql + at, sizeof sql - (size_t)at, ")");
    if (sqlite3_exec(db, table->create, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fail(sqlite3_errmsg(db));
    }
    const struct value *value = table->values;
    for (int64_t row = 0; row < table->rows; row++) {
        for (int i = 0; i < table->columns; i++) {
            bind(stmt, i + 1, value++);
        }
        if (sqlite3_step(stmt) != SQLITE_DONE) {
            fail(sqlite3_errmsg(db));
        }
        (void)sqlite3_reset(stmt);
    }
    (void)sqlite3_finalize(stmt);
}

static double time_inserts(const char *path, const struct table *tables, size_t n)
{
    sqlite3 *db;
    int64_t began = clock_read_ns(CLOCK_MONOTONIC);
    (void)unlink(path);
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        fail("cannot make the file of bare inserts");
    }
    (void)sqlite3_exec(db,
                       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                       "PRAGMA locking_mode = EXCLUSIVE; BEGIN",
                       NULL, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        insert(db, &tables[i]);
    }
    (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return (double)(clock_read_ns(CLOCK_MONOTONIC) - began) / 1e9;
}

/* ---- the comparison -------------------------------------------------------------------------- */

static double time_conversion(const char *folder, const char *output, int64_t *rows)
{
    static struct convert_result result;
    struct err err = {0};
    const struct convert_opts opts = {.session = folder, .output = output, .overwrite = true};
    int64_t began = clock_read_ns(CLOCK_MONOTONIC);
    if (convert_session(&opts, &result, &err) < 0) {
        fail(err.text);
    }
    *rows = (int64_t)result.events;
    convert_result_free(&result);
    return (double)(clock_read_ns(CLOCK_MONOTONIC) - began) / 1e9;
}

int main(int argc, char **argv)
{
    static struct table tables[] = {{.name = "CUPTI_ACTIVITY_KIND_KERNEL"},
                                    {.name = "CUPTI_ACTIVITY_KIND_RUNTIME"},
                                    {.name = "NVTX_EVENTS"}};
    const size_t n = sizeof tables / sizeof *tables;
    char folder[] = "/tmp/cutline-bench-XXXXXX";
    char spool[64];
    char output[64];
    char bare[64];
    sqlite3 *db;
    int64_t rows = 0;
    double convert = 1e9;
    double inserts = 1e9;
    long thousands = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    if (!mkdtemp(folder)) {
        fail("cannot make a folder");
    }
    (void)snprintf(spool, sizeof spool, "%s/h.1.1.0%s", folder, SPOOL_SUFFIX);
    (void)snprintf(output, sizeof output, "%s/out.sqlite", folder);
    (void)snprintf(bare, sizeof bare, "%s/bare.sqlite", folder);
    make_spool(spool, thousands * 1000);
    for (int i = 0; i < ROUNDS; i++) {
        double took = time_conversion(folder, output, &rows);
        convert = took < convert ? took : convert;
    }
    if (sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        fail("cannot read the capture");
    }
    for (size_t i = 0; i < n; i++) {
        load(db, &tables[i]);
    }
    (void)sqlite3_close(db);
    for (int i = 0; i < ROUNDS; i++) {
        double took = time_inserts(bare, tables, n);
        inserts = took < inserts ? took : inserts;
    }
    (void)printf("convert: %" PRId64 " rows in %.3f s: %.0f rows/s; bare inserts of the same rows "
                 "%.3f s: %.0f rows/s; ratio %.2f (aim 0.80)\n",
                 rows, convert, (double)rows / convert, inserts, (double)rows / inserts,
                 inserts / convert);
    (void)unlink(spool);
    (void)unlink(output);
    (void)unlink(bare);
    return rmdir(folder) == 0 ? 0 : 1;
}
