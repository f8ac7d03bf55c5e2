/* partition: see partition.h. */
#include "analysis/base/partition.h"

#include <stdlib.h>

#include "analysis/base/array.h"

/* Room in both heaps for one more. */
static int partition_grow(struct partition *rows)
{
    struct heap_item *busy =
        array_grow(rows->busy.items, &rows->busy_cap, (size_t)rows->busy.count + 1, sizeof *busy);
    if (busy == NULL) {
        return -1;
    }
    rows->busy.items = busy;
    struct heap_item *idle =
        array_grow(rows->idle.items, &rows->idle_cap, (size_t)rows->row_count + 1, sizeof *idle);
    if (idle == NULL) {
        return -1;
    }
    rows->idle.items = idle;
    return 0;
}

uint32_t partition_row(struct partition *rows, int64_t begin_ns, int64_t end_ns)
{
    if (partition_grow(rows) != 0) {
        return PARTITION_FULL;
    }
    while (rows->busy.count > 0 && rows->busy.items[0].key <= begin_ns) {
        uint32_t row = heap_pop(&rows->busy).value;
        heap_push(&rows->idle, row, row);
    }
    uint32_t row = rows->idle.count > 0 ? heap_pop(&rows->idle).value : rows->row_count++;
    heap_push(&rows->busy, end_ns, row);
    return row;
}

void partition_free(struct partition *rows)
{
    free(rows->busy.items);
    free(rows->idle.items);
    *rows = (struct partition){0};
}
