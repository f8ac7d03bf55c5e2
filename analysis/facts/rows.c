/*
 * rows: see rows.h. The rows are sorted by radix, so that reading many columns of many events costs
 * one pass over the table of the file. Where nothing is wanted for long, a new pass begins at the
 * next wanted row: a few events of millions are not worth reading all.
 */
#include "analysis/facts/rows.h"

#include <stdlib.h>
#include <string.h>

struct row_ref {
    uint32_t row;
    uint32_t k;
};

enum {
    RADIX_BITS = 11,
    RADIX = 1 << RADIX_BITS,
    FAR_ROWS = 4096, /* reading on over so many rows costs more than to begin anew */
};

/* One pass of a least-significant-digit radix sort (Knuth, vol. 3, 5.2.5). */
static void radix_pass(const struct row_ref *from, struct row_ref *to, size_t count, int shift,
                       size_t *bins)
{
    size_t sum = 0;
    memset(bins, 0, RADIX * sizeof *bins);
    for (size_t i = 0; i < count; i++) {
        bins[from[i].row >> shift & (RADIX - 1)]++;
    }
    for (size_t i = 0; i < RADIX; i++) {
        size_t here = bins[i];
        bins[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[bins[from[i].row >> shift & (RADIX - 1)]++] = from[i];
    }
}

/* The rows of the wanted events, ascending. The caller frees. NULL without memory. */
static struct row_ref *sorted_rows(const struct trace *trace, const uint32_t *events,
                                   size_t event_count, const struct rows_query *query,
                                   size_t *count)
{
    const struct trace_events *table = &trace->events[query->table];
    struct row_ref *from = malloc((event_count + 1) * sizeof *from);
    struct row_ref *to = malloc((event_count + 1) * sizeof *to);
    size_t *bins = malloc(RADIX * sizeof *bins);
    struct row_ref *sorted = NULL;
    *count = 0;
    for (size_t k = 0; from != NULL && k < event_count; k++) {
        uint32_t event = events[k];
        if ((query->kinds >> trace->names[table->name[event]].kind & 1U) != 0) {
            from[(*count)++] = (struct row_ref){table->row[event], (uint32_t)k};
        }
    }
    if (from != NULL && to != NULL && bins != NULL) {
        for (int shift = 0; shift < 32; shift += RADIX_BITS) {
            struct row_ref *swap = from;
            radix_pass(from, to, *count, shift, bins);
            from = to;
            to = swap;
        }
        sorted = from;
        from = NULL;
    }
    free(from);
    free(to);
    free(bins);
    return sorted;
}

/* Walks the file's table beside the sorted rows. */
static int walk(struct store *store, const struct store_scan *scan, const struct row_ref *sorted,
                const struct rows_query *query, size_t count, struct err *err)
{
    struct store_cursor *cursor = store_scan(store, scan, err);
    size_t at = 0;
    int more = cursor == NULL ? -1 : 1;
    while (at < count && more == 1 && (more = store_next(cursor, err)) == 1) {
        int64_t row = store_rowid(cursor);
        while (at < count && sorted[at].row < row) {
            at++;
        }
        while (at < count && sorted[at].row == row) {
            query->visit(query->arg, sorted[at++].k, cursor);
        }
    }
    store_cursor_close(cursor);
    return more < 0 ? -1 : 0;
}

int rows_visit(const struct trace *trace, struct store *store, const uint32_t *events,
               size_t event_count, const struct rows_query *query, struct err *err)
{
    size_t count;
    struct row_ref *sorted = sorted_rows(trace, events, event_count, query, &count);
    int rc = 0;
    if (sorted == NULL) {
        return err_nomem(err, "the rows of the file");
    }
    size_t from = 0;
    while (rc == 0 && from < count) {
        size_t to = from + 1;
        while (to < count && sorted[to].row - sorted[to - 1].row < FAR_ROWS) {
            to++;
        }
        const struct store_scan scan = {
            .table = trace_source_table(trace, query->table, events[sorted[from].k]),
            .columns = query->columns,
            .column_count = query->column_count,
            .first_row = sorted[from].row,
            .end_row = (int64_t)sorted[to - 1].row + 1,
        };
        rc = walk(store, &scan, sorted + from, query, to - from, err);
        from = to;
    }
    free(sorted);
    return rc;
}
