/*
 * memory: see memory.h. Events are sorted by process, device and address, so that each free stands
 * behind the allocation that it ends; then by time.
 */
#include "analysis/facts/memory.h"

#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"

enum {
    KIND_PAGEABLE = 0, /* memKind of the file */
    KIND_PINNED = 1,
    OPER_ALLOC = 0, /* memoryOperationType */
    OPER_FREE = 1,
};

static int time_cmp(const void *a, const void *b)
{
    const struct memory_event *x = a;
    const struct memory_event *y = b;
    int c = COMPARE(x->at_ns, y->at_ns);
    return c != 0 ? c : COMPARE(x->row, y->row);
}

static int block_cmp(const struct memory_event *x, const struct memory_event *y)
{
    int c = COMPARE(x->global_pid, y->global_pid);
    if (c == 0) {
        c = COMPARE(x->device_id, y->device_id);
    }
    return c != 0 ? c : COMPARE(x->address, y->address);
}

static int place_cmp(const void *a, const void *b)
{
    int c = block_cmp(a, b);
    return c != 0 ? c : time_cmp(a, b);
}

/* Each event ends the allocation before it at the same address. */
static void pair(struct memory_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        struct memory_event *event = &events->list[i];
        event->ended_bytes = -1;
        event->ended_kind = -1;
        if (i > 0 && block_cmp(event - 1, event) == 0 && !event[-1].is_free) {
            event->ended_bytes = event[-1].bytes;
            event->ended_kind = event[-1].kind;
        }
    }
}

static void read_row(struct store_cursor *cursor, struct memory_event *event)
{
    int64_t bytes = store_int(cursor, 4, 0);
    int64_t kind = store_int(cursor, 5, -1);
    event->at_ns = store_int(cursor, 0, 0);
    event->global_pid = store_int(cursor, 1, 0);
    event->device_id = store_int(cursor, 2, 0);
    event->address = store_int(cursor, 3, 0);
    event->bytes = bytes > 0 ? bytes : 0;
    event->kind = kind >= 0 && kind <= INT32_MAX ? (int32_t)kind : -1;
    event->is_free = store_int(cursor, 6, -1) == OPER_FREE;
    event->row = store_rowid(cursor);
}

int memory_read(struct store *store, struct memory_events *out, struct err *err)
{
    static const char *const columns[] = {"start", "globalPid", "deviceId",           "address",
                                          "bytes", "memKind",   "memoryOperationType"};
    const struct store_scan scan = {.table = "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                    .columns = columns,
                                    .column_count = 7,
                                    .end_row = INT64_MAX};
    int64_t bound = store_count(store, scan.table, err);
    int more = 0;
    *out = (struct memory_events){0};
    if (bound < 0) {
        return -1;
    }
    out->list = calloc((size_t)bound + 1, sizeof *out->list);
    if (out->list == NULL) {
        return err_nomem(err, "the allocations");
    }
    struct store_cursor *cursor = bound > 0 ? store_scan(store, &scan, err) : NULL;
    while (cursor != NULL && out->count < (size_t)bound && (more = store_next(cursor, err)) == 1) {
        int64_t oper = store_int(cursor, 6, -1);
        if ((oper == OPER_ALLOC || oper == OPER_FREE) && times_fit_at(store_int(cursor, 0, 0))) {
            read_row(cursor, &out->list[out->count++]);
        }
    }
    store_cursor_close(cursor);
    if (more < 0 || (bound > 0 && cursor == NULL)) {
        memory_free(out);
        return -1;
    }
    sort_list(out->list, out->count, sizeof *out->list, place_cmp);
    pair(out);
    sort_list(out->list, out->count, sizeof *out->list, time_cmp);
    return 0;
}

void memory_free(struct memory_events *events)
{
    free(events->list);
    *events = (struct memory_events){0};
}

bool memory_on_host(int32_t kind)
{
    return kind == KIND_PAGEABLE || kind == KIND_PINNED;
}
