/* trace_ranges: see trace_ranges.h. */
#include "analysis/import/trace_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"

/* ENUM_NSYS_EVENT_TYPE */
enum {
    TYPE_MARK = 34,
    TYPE_PUSHPOP = 59,
    TYPE_STARTEND = 60,
    TYPE_DOMAIN = 75
};

enum {
    LOOK_BACK = 4096 /* so many open ranges are asked whether they are the one that ends */
};

void trace_ranges_free(struct trace_ranges *ranges)
{
    intern_free(&ranges->keys);
    intern_free(&ranges->domains);
    free(ranges->open);
    buf_free(&ranges->scratch);
}

static int put_row(struct trace_ranges *ranges, const struct trace_open_range *range, int type,
                   struct store_cell end, const struct json_value *payload, struct err *err)
{
    struct store_cell row[STORE_NVTX_N] = {
        [STORE_NVTX_START] = store_cell_int(range->begin_ns),
        [STORE_NVTX_END] = end,
        [STORE_NVTX_EVENT_TYPE] = store_cell_int(type),
        [STORE_NVTX_TEXT_ID] = store_cell_int(range->name),
        [STORE_NVTX_GLOBAL_TID] = store_cell_int(range->global_tid),
        [STORE_NVTX_DOMAIN_ID] = store_cell_int(range->domain),
    };
    if (payload != NULL && payload->kind == JSON_OBJECT) {
        row[STORE_NVTX_JSON_TEXT] = store_cell_text(payload->text - 1, payload->len + 2);
    }
    return store_writer_row(ranges->writer, STORE_TABLE_NVTX, row, err);
}

/* The number of a domain of the thread's process, and its row where it is new. 0 or -1. */
static int find_domain(struct trace_ranges *ranges, const struct json_value *name,
                       struct trace_open_range *range, struct err *err)
{
    int64_t pid = range->global_tid & ~INT64_C(0xFFFFFF);
    uint32_t before = ranges->domains.count;
    if (name->kind != JSON_TEXT || name->len == 0) {
        return 0;
    }
    buf_reset(&ranges->scratch);
    buf_add(&ranges->scratch, &pid, sizeof pid);
    buf_add(&ranges->scratch, name->text, name->len);
    uint32_t index = buf_failed(&ranges->scratch)
                         ? INTERN_NONE
                         : intern_add(&ranges->domains, ranges->scratch.data, ranges->scratch.len);
    if (index == INTERN_NONE) {
        return err_nomem(err, "domains");
    }
    range->domain = (int64_t)index + 1;
    if (index < before) {
        return 0;
    }
    struct store_cell row[STORE_NVTX_N] = {
        [STORE_NVTX_START] = store_cell_int(range->begin_ns),
        [STORE_NVTX_EVENT_TYPE] = store_cell_int(TYPE_DOMAIN),
        [STORE_NVTX_TEXT] = store_cell_text(name->text, name->len),
        [STORE_NVTX_GLOBAL_TID] = store_cell_int(range->global_tid),
        [STORE_NVTX_DOMAIN_ID] = store_cell_int(range->domain),
    };
    return store_writer_row(ranges->writer, STORE_TABLE_NVTX, row, err);
}

/* What the two ends of a range have in common: the thread, or of asynchronous ones category and id. */
static uint32_t range_key(struct trace_ranges *ranges, const struct trace_range *range,
                          int64_t global_tid)
{
    bool async = range->event->phase == 'b' || range->event->phase == 'e';
    buf_reset(&ranges->scratch);
    buf_addc(&ranges->scratch, async ? 'a' : 't');
    if (async) {
        const struct json_value *parts[] = {&range->event->category, &range->event->id};
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
            if (parts[i]->kind != JSON_NONE) {
                buf_add(&ranges->scratch, parts[i]->text, parts[i]->len);
            }
            buf_addc(&ranges->scratch, '\n');
        }
    } else {
        buf_add(&ranges->scratch, &global_tid, sizeof global_tid);
    }
    return buf_failed(&ranges->scratch)
               ? INTERN_NONE
               : intern_add(&ranges->keys, ranges->scratch.data, ranges->scratch.len);
}

static int begin_range(struct trace_ranges *ranges, const struct trace_open_range *range,
                       struct err *err)
{
    struct trace_open_range *grown =
        range->key == INTERN_NONE
            ? NULL
            : array_grow(ranges->open, &ranges->open_cap, ranges->open_count + 1, sizeof *grown);
    if (grown == NULL) {
        return err_nomem(err, "ranges");
    }
    ranges->open = grown;
    grown[ranges->open_count++] = *range;
    return 0;
}

/* Ends the range that began last of those with the same key; an end alone is nothing. */
static int end_range(struct trace_ranges *ranges, uint32_t key, int64_t end_ns, int64_t *written,
                     struct err *err)
{
    size_t lowest = ranges->open_count > LOOK_BACK ? ranges->open_count - LOOK_BACK : 0;
    for (size_t i = ranges->open_count; i-- > lowest;) {
        struct trace_open_range range = ranges->open[i];
        if (range.key != key) {
            continue;
        }
        memmove(&ranges->open[i], &ranges->open[i + 1],
                (ranges->open_count - i - 1) * sizeof range);
        ranges->open_count--;
        ++*written;
        return put_row(ranges, &range, range.async ? TYPE_STARTEND : TYPE_PUSHPOP,
                       store_cell_int(end_ns < range.begin_ns ? range.begin_ns : end_ns), NULL,
                       err);
    }
    return 0;
}

int trace_ranges_put(struct trace_ranges *ranges, struct trace_thread *thread,
                     const struct trace_range *range, int64_t *written, struct err *err)
{
    struct trace_open_range row = {
        .begin_ns = range->begin_ns,
        .global_tid = trace_global_tid(ranges->threads, thread),
        .async = range->event->phase == 'b',
    };
    const struct json_value *payload =
        range->args->collective.kind == JSON_TEXT ? &range->event->args : NULL;
    char phase = range->event->phase;
    if (phase == 'E' || phase == 'e') {
        return end_range(ranges, range_key(ranges, range, row.global_tid), range->begin_ns, written,
                         err);
    }
    if (store_writer_string(ranges->writer, range->name.text, range->name.len, &row.name, err) !=
            0 ||
        find_domain(ranges, &range->args->domain, &row, err) != 0) {
        return -1;
    }
    if (phase == 'B' || phase == 'b') {
        row.key = range_key(ranges, range, row.global_tid);
        return begin_range(ranges, &row, err);
    }
    ++*written;
    return phase == 'X'
               ? put_row(ranges, &row, TYPE_PUSHPOP, store_cell_int(range->end_ns), payload, err)
               : put_row(ranges, &row, TYPE_MARK, (struct store_cell){0}, payload, err);
}

int trace_ranges_end(struct trace_ranges *ranges, int64_t *written, struct err *err)
{
    for (size_t i = 0; i < ranges->open_count; i++) {
        const struct trace_open_range *range = &ranges->open[i];
        ++*written;
        if (put_row(ranges, range, range->async ? TYPE_STARTEND : TYPE_PUSHPOP,
                    (struct store_cell){0}, NULL, err) != 0) {
            return -1;
        }
    }
    return 0;
}
