/*
 * bench_load: how fast a capture gets into memory, and how much it takes.
 *
 *     bench_load CAPTURE
 *     bench_load --select CAPTURE    the seconds of the yardstick alone
 *     bench_load --events CAPTURE    how many events it has
 *
 * The yardstick is a one-thread SELECT of the same columns in the same run: every table read by a
 * store cursor, every value fetched, nothing kept. Both are repeated; the best of each counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/trace/trace_internal.h"

enum {
    BENCH_ROUNDS = 5
};

static double bench_now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Fetches all values of a table; returns a sum so that nothing is left out. */
static int64_t bench_select_table(struct store *store, const struct raw_table *table,
                                  struct err *err)
{
    struct store_scan scan = {table->name, table->columns, table->column_count, 0, INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int64_t sum = 0;
    while (cursor != NULL && store_next(cursor, err) == 1) {
        for (int c = 0; c < table->column_count; c++) {
            size_t len = 0;
            bool text = table->table == TRACE_NVTX && c == 6; /* the column "text" */
            sum += text ? (store_text(cursor, c, &len) == NULL ? 0 : (int64_t)len)
                        : store_int(cursor, c, 0) & 1;
        }
    }
    store_cursor_close(cursor);
    return sum;
}

static int bench_select(const char *path, int64_t *sum, struct err *err)
{
    struct store *store = store_open(path, err);
    if (store == NULL) {
        return -1;
    }
    for (int s = 0; s < RAW_SOURCE_COUNT; s++) {
        *sum += bench_select_table(store, &RAW_TABLES[s], err);
    }
    store_close(store);
    return 0;
}

/* What the arrays of the trace take, without names. */
static double bench_bytes(const struct trace *trace, uint64_t *events)
{
    double bytes = 0;
    *events = 0;
    for (int t = 0; t < TRACE_TABLE_COUNT; t++) {
        const struct trace_events *table = &trace->events[t];
        *events += table->count;
        bytes += (double)table->count * (table->link == NULL ? 24 : 28);
    }
    bytes += (double)trace->launch_op_count * 4 + (double)trace->events[TRACE_GPU].count * 8;
    for (uint32_t d = 0; d < trace->device_count; d++) {
        bytes += (double)trace->devices[d].busy_count * 24;
    }
    return bytes;
}

static double bench_rss_mib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

struct bench {
    double select_s;
    double load_s[2]; /* with all processors, with one thread */
    double bytes;
    uint64_t events;
    int64_t check;
};

static int bench_round(const char *path, struct bench *best, struct err *err)
{
    double begin = bench_now_s();
    if (bench_select(path, &best->check, err) != 0) {
        return -1;
    }
    double taken = bench_now_s() - begin;
    best->select_s = taken < best->select_s ? taken : best->select_s;
    for (int i = 0; i < 2; i++) {
        struct trace_options options = {.threads = i};
        begin = bench_now_s();
        struct trace *trace = trace_load(path, &options, err);
        if (trace == NULL) {
            return -1;
        }
        taken = bench_now_s() - begin;
        best->load_s[i] = taken < best->load_s[i] ? taken : best->load_s[i];
        best->bytes = bench_bytes(trace, &best->events);
        trace_free(trace);
    }
    return 0;
}

/* One figure for another benchmark. */
static int bench_figure(const char *what, const char *path, struct err *err)
{
    struct bench best = {.select_s = 1e9};
    struct trace *trace = NULL;
    if (strcmp(what, "--events") == 0) {
        trace = trace_load(path, NULL, err);
        if (trace == NULL) {
            return -1;
        }
        (void)bench_bytes(trace, &best.events);
        trace_free(trace);
        printf("%llu\n", (unsigned long long)best.events);
        return 0;
    }
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        double begin = bench_now_s();
        if (bench_select(path, &best.check, err) != 0) {
            return -1;
        }
        double taken = bench_now_s() - begin;
        best.select_s = taken < best.select_s ? taken : best.select_s;
    }
    printf("%.3f\n", best.select_s);
    return 0;
}

int main(int argc, char **argv)
{
    struct bench best = {.select_s = 1e9, .load_s = {1e9, 1e9}};
    struct err err = {""};
    if (argc == 3 && strncmp(argv[1], "--", 2) == 0) {
        if (bench_figure(argv[1], argv[2], &err) != 0) {
            (void)fprintf(stderr, "bench_load: %s\n", err.text);
            return 1;
        }
        return 0;
    }
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_load [--select | --events] CAPTURE\n");
        return 2;
    }
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        if (bench_round(argv[1], &best, &err) != 0) {
            (void)fprintf(stderr, "bench_load: %s\n", err.text);
            return 1;
        }
    }
    printf("load      %.1f M events, one-thread SELECT %.2f s (check %lld)\n",
           (double)best.events / 1e6, best.select_s, (long long)best.check);
    printf("load      %.2f x the SELECT with all processors, %.2f x with one thread\n",
           best.load_s[0] / best.select_s, best.load_s[1] / best.select_s);
    printf("load      %.1f bytes an event at rest, peak RSS %.0f MiB (file pages included)\n",
           best.bytes / (double)best.events, bench_rss_mib());
    return 0;
}
