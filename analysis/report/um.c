/*
 * um: unified memory: migrations and page faults by virtual address, and in all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/times.h"
#include "analysis/report/common.h"
#include "analysis/report/report_list.h"
#include "analysis/store/writer.h" /* store_table_name */

#define CPU_FAULTS "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
#define GPU_FAULTS "CUDA_UM_GPU_PAGE_FAULT_EVENTS"

enum {
    UM_HTOD = 11, /* copyKind of a migration */
    UM_DTOH = 12,
};

#define NO_ADDRESS INT64_MIN /* the file does not say where */

/* What happened at one address. */
struct um_page {
    int64_t htod_bytes;
    int64_t dtoh_bytes;
    int64_t cpu_faults;
    int64_t gpu_faults;
    int64_t moved_bytes; /* in all directions, with the time they took */
    int64_t moved_ns;
};

struct um_work {
    const struct report_context *c;
    struct intern addresses; /* 8 bytes each: its id is the page */
    struct um_page *pages; /* owned, by id */
    size_t cap;
    struct selected events; /* the migrations */
    bool has_copies; /* the file has the table; so below */
    bool has_cpu_faults;
    bool has_gpu_faults;
    struct um_page nowhere; /* takes what is lost for want of memory */
    bool failed;
};

static struct um_page *um_page(struct um_work *work, int64_t address)
{
    uint32_t id = intern_add(&work->addresses, (const char *)&address, sizeof address);
    if (id != INTERN_NONE) {
        struct um_page *grown =
            array_grow_zeroed(work->pages, &work->cap, (size_t)id + 1, sizeof *grown);
        id = grown == NULL ? INTERN_NONE : id;
        work->pages = grown == NULL ? work->pages : grown;
    }
    if (id == INTERN_NONE) {
        work->failed = true;
        return &work->nowhere;
    }
    return &work->pages[id];
}

static void um_migration(void *arg, size_t k, struct store_cursor *row)
{
    struct um_work *work = arg;
    const struct trace *trace = work->c->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    uint32_t i = work->events.list[k];
    struct um_page *page = um_page(work, store_int(row, 0, NO_ADDRESS));
    int64_t bytes = store_int(row, 1, 0);
    int kind = trace->names[gpu->name[i]].copy_kind;
    page->htod_bytes = i64_add(page->htod_bytes, kind == UM_HTOD ? bytes : 0);
    page->dtoh_bytes = i64_add(page->dtoh_bytes, kind == UM_DTOH ? bytes : 0);
    page->moved_bytes = i64_add(page->moved_bytes, bytes);
    page->moved_ns += gpu->end_ns[i] - gpu->begin_ns[i];
}

static int um_migrations(struct um_work *work, struct err *err)
{
    static const char *const COLUMNS[] = {"virtualAddress", "bytes"};
    struct rows_query rows = {.table = TRACE_GPU,
                              .kinds = 1U << TRACE_MIGRATION,
                              .columns = COLUMNS,
                              .column_count = 2,
                              .visit = um_migration,
                              .arg = work};
    if (selected_new(work->c->trace, work->c->select, TRACE_GPU, 1U << TRACE_MIGRATION,
                     &work->events, err) != 0) {
        return -1;
    }
    struct store *store = shared_store(work->c->shared, err);
    return store == NULL ? -1
                         : rows_visit(work->c->trace, store, work->events.list, work->events.count,
                                      &rows, err);
}

/* Is a fault kept? Faults have a process and a time, on the GPU also a device. */
static bool um_fault_kept(const struct report_context *c, struct store_cursor *row, bool gpu)
{
    const struct selection *select = c->select;
    int64_t begin_ns = store_int(row, 1, 0);
    int64_t end_ns = gpu ? store_int(row, 4, begin_ns) : begin_ns;
    if (!select_time(select, begin_ns, end_ns) || select->none) {
        return false;
    }
    if (gpu && select->device >= 0 && store_int(row, 5, -1) != select->device) {
        return false;
    }
    return select->process == TRACE_NONE ||
           c->trace->processes[select->process].global_pid == store_int(row, 2, 0);
}

static int um_faults(struct um_work *work, struct store *store, bool gpu, struct err *err)
{
    static const char *const COLUMNS[] = {"address", "start",   "globalPid", "numberOfPageFaults",
                                          "end",     "deviceId"};
    struct store_scan scan = {.table = gpu ? GPU_FAULTS : CPU_FAULTS,
                              .columns = COLUMNS,
                              .column_count = 6,
                              .end_row = INT64_MAX};
    struct store_cursor *cursor = store_scan(store, &scan, err);
    int more = cursor == NULL ? -1 : 1;
    while (more == 1 && (more = store_next(cursor, err)) == 1) {
        if (um_fault_kept(work->c, cursor, gpu)) {
            struct um_page *page = um_page(work, store_int(cursor, 0, NO_ADDRESS));
            page->cpu_faults += gpu ? 0 : 1;
            page->gpu_faults = i64_add(page->gpu_faults, gpu ? store_int(cursor, 3, 1) : 0);
        }
    }
    store_cursor_close(cursor);
    return more < 0 ? -1 : 0;
}

/* All migrations and faults. *has: the capture holds any table of them with rows. */
static int um_gather(const struct report_context *c, struct um_work *work, bool *has,
                     struct err *err)
{
    *work = (struct um_work){.c = c};
    *has = false;
    if (um_migrations(work, err) != 0) {
        return -1;
    }
    struct store *store = shared_store(c->shared, err);
    if (store == NULL) {
        return -1;
    }
    int rc =
        um_faults(work, store, false, err) == 0 && um_faults(work, store, true, err) == 0 ? 0 : -1;
    work->has_copies = store_has_table(store, store_table_name(STORE_TABLE_MEMCPY));
    work->has_cpu_faults = store_has_table(store, CPU_FAULTS);
    work->has_gpu_faults = store_has_table(store, GPU_FAULTS);
    *has = work->addresses.count > 0 || store_row_bound(store, CPU_FAULTS) > 0 ||
           store_row_bound(store, GPU_FAULTS) > 0;
    return rc != 0 || work->failed ? err_set(err, "cannot read the unified-memory events") : 0;
}

static void um_free(struct um_work *work)
{
    intern_free(&work->addresses);
    selected_free(&work->events);
    free(work->pages);
}

static void um_put_address(struct table *table, int64_t address)
{
    struct buf text = {0};
    if (address == NO_ADDRESS) {
        table_put_empty(table);
        return;
    }
    buf_addf(&text, "0x%" PRIX64, (uint64_t)address);
    table_put_text(table, buf_text(&text), text.len);
    buf_free(&text);
}

static int64_t um_address(const struct um_work *work, uint32_t id)
{
    int64_t address;
    memcpy(&address, intern_text(&work->addresses, id), sizeof address);
    return address;
}

static const struct report_arg UM_ARGS[] = {
    {"rows", REPORT_ARG_INT, 0, "10", "the number of addresses at most; -1: all"},
    {0},
};

static const struct table_column UM_COLUMNS[] = {
    {"Virtual Address", TABLE_TEXT, 0},   {"HtoD Migration Size", TABLE_MB, 0},
    {"DtoH Migration Size", TABLE_MB, 0}, {"CPU Page Faults", TABLE_INT, 0},
    {"GPU Page Faults", TABLE_INT, 0},    {"Migration Throughput (MB/s)", TABLE_REAL, 3},
};

struct um_order {
    int64_t bytes;
    int64_t faults;
    int64_t address;
    uint32_t id;
};

static int um_order_compare(const void *left, const void *right)
{
    const struct um_order *a = left;
    const struct um_order *b = right;
    if (a->bytes != b->bytes) {
        return COMPARE(b->bytes, a->bytes);
    }
    if (a->faults != b->faults) {
        return COMPARE(b->faults, a->faults);
    }
    return (uint64_t)a->address < (uint64_t)b->address ? -1 : 1;
}

/* What the file has no table for is empty, not 0. */
static void um_put_numbers(const struct um_work *work, const struct um_page *page,
                           struct table *table)
{
    const struct {
        bool has;
        int64_t value;
    } cells[] = {{work->has_copies, page->htod_bytes},
                 {work->has_copies, page->dtoh_bytes},
                 {work->has_cpu_faults, page->cpu_faults},
                 {work->has_gpu_faults, page->gpu_faults}};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        if (cells[i].has) {
            table_put_int(table, cells[i].value);
        } else {
            table_put_empty(table);
        }
    }
}

static void um_put(const struct um_work *work, const struct um_order *order, struct table *table)
{
    const struct um_page *page = &work->pages[order->id];
    um_put_address(table, order->address);
    um_put_numbers(work, page, table);
    if (page->moved_ns > 0) {
        table_put_real(table, (double)page->moved_bytes * 1e3 / (double)page->moved_ns);
    } else {
        table_put_empty(table);
    }
}

static int um_sum(const struct report_context *c, struct report_result *out, struct err *err)
{
    struct um_work work;
    struct um_order *order = NULL;
    bool has;
    size_t limit = (size_t)(c->args[0].i < 0 ? INT64_MAX : c->args[0].i);
    int rc = um_gather(c, &work, &has, err);
    out->status = has ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_UM_SUM.title, UM_COLUMNS);
    order = calloc((size_t)work.addresses.count + 1, sizeof *order);
    if (rc == 0 && order != NULL && out->table != NULL) {
        for (uint32_t i = 0; i < work.addresses.count; i++) {
            const struct um_page *page = &work.pages[i];
            order[i] = (struct um_order){i64_add(page->htod_bytes, page->dtoh_bytes),
                                         i64_add(page->cpu_faults, page->gpu_faults),
                                         um_address(&work, i), i};
        }
        sort_list(order, work.addresses.count, sizeof *order, um_order_compare);
        for (uint32_t i = 0; i < work.addresses.count && i < limit; i++) {
            um_put(&work, &order[i], out->table);
        }
    }
    free(order);
    um_free(&work);
    return rc;
}

static int um_total_sum(const struct report_context *c, struct report_result *out, struct err *err)
{
    static const struct table_column COLUMNS[] = {
        {"Total HtoD Migration Size", TABLE_MB, 0}, {"Total DtoH Migration Size", TABLE_MB, 0},
        {"Total CPU Page Faults", TABLE_INT, 0},    {"Total GPU PageFaults", TABLE_INT, 0},
        {"Minimum Virtual Address", TABLE_TEXT, 0}, {"Maximum Virtual Address", TABLE_TEXT, 0},
    };
    struct um_work work;
    struct um_page sum = {0};
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    bool has;
    int rc = um_gather(c, &work, &has, err);
    out->status = has ? REPORT_ROWS : REPORT_MISSING;
    out->table = TABLE_NEW(REPORT_UM_TOTAL_SUM.title, COLUMNS);
    for (uint32_t i = 0; rc == 0 && i < work.addresses.count; i++) {
        uint64_t address = (uint64_t)um_address(&work, i);
        sum.htod_bytes = i64_add(sum.htod_bytes, work.pages[i].htod_bytes);
        sum.dtoh_bytes = i64_add(sum.dtoh_bytes, work.pages[i].dtoh_bytes);
        sum.cpu_faults = i64_add(sum.cpu_faults, work.pages[i].cpu_faults);
        sum.gpu_faults = i64_add(sum.gpu_faults, work.pages[i].gpu_faults);
        if (um_address(&work, i) != NO_ADDRESS) {
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
    }
    if (rc == 0 && out->table != NULL && work.addresses.count > 0) {
        um_put_numbers(&work, &sum, out->table);
        um_put_address(out->table, low > high ? NO_ADDRESS : (int64_t)low);
        um_put_address(out->table, low > high ? NO_ADDRESS : (int64_t)high);
    }
    um_free(&work);
    return rc;
}

const struct report REPORT_UM_SUM = {
    .name = "um_sum",
    .title = "Unified Memory Analysis Summary",
    .kinds = KIT_MEMORY,
    .help = "migrations and page faults of unified memory by virtual address, most bytes first",
    .missing = "CUDA Unified Memory CPU page faults data",
    .args = UM_ARGS,
    .run = um_sum,
};
const struct report REPORT_UM_TOTAL_SUM = {
    .name = "um_total_sum",
    .title = "Unified Memory Totals Summary",
    .kinds = KIT_MEMORY,
    .help = "migrations and page faults of unified memory in all",
    .missing = "CUDA Unified Memory CPU page faults data",
    .run = um_total_sum,
};
