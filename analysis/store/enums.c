/* enums: labels of enum values, from the file or built in. Labels: nsys exports of schema 3.25.0
 * and, for files older than the ENUM_ tables, the names nsys printed in 2020. */
#include <stdlib.h>
#include <string.h>

#include "analysis/store/store_internal.h"

struct enum_list {
    const char *const *labels; /* by value */
    int64_t count;
};

static const char *const MEMCPY_LABELS[] = {
    "Unknown",
    "Host-to-Device",
    "Device-to-Host",
    "Host-to-Array",
    "Array-to-Host",
    "Array-to-Array",
    "Array-to-Device",
    "Device-to-Array",
    "Device-to-Device",
    "Host-to-Host",
    "Peer-to-Peer",
    "Unified Host-to-Device",
    "Unified Device-to-Host",
    "Unified Device-to-Device",
};
static const char *const MEMCPY_LABELS_2020[] = {
    "Unknown",
    "HtoD",
    "DtoH",
    "HtoA",
    "AtoH",
    "AtoA",
    "AtoD",
    "DtoA",
    "DtoD",
    "HtoH",
    "PtoP",
    "Unified Memory HtoD",
    "Unified Memory DtoH",
    "Unified Memory DtoD",
};
static const char *const MEM_KIND_LABELS[] = {
    "Pageable", "Pinned",        "Device",         "Array",
    "Managed",  "Device Static", "Managed Static", "Unknown",
};
static const char *const OVERHEAD_LABELS[] = {
    "Undefined",
    "Unknown",
    "Driver JIT compiler (CUDA)",
    "Buffer flush (Profiler)",
    "Instrumentation (Profiler)",
    "Resource creation/destruction (Profiler)",
    "Runtime module loading (CUDA)",
    "Lazy function loading (CUDA)",
    "Command buffer full (CUDA)",
};
static const char *const MIGRATION_LABELS[] = {
    "Unknown", "User prefetch", "Page fault", "Speculative prefetch", "Eviction", "Access counters",
};
static const char *const STREAM_LABELS[] = {
    "Unknown stream type",
    "Default stream",
    "Non-blocking stream",
    "Null stream",
};

#define ENUM_LIST(array) \
    { \
        (array), (int64_t)(sizeof(array) / sizeof *(array)) \
    }

static const struct enum_kind {
    const char *table;
    struct enum_list built_in;
} ENUM_KINDS[STORE_ENUM_COUNT] = {
    [STORE_ENUM_MEMCPY_OPER] = {"ENUM_CUDA_MEMCPY_OPER", ENUM_LIST(MEMCPY_LABELS)},
    [STORE_ENUM_MEM_KIND] = {"ENUM_CUDA_MEM_KIND", ENUM_LIST(MEM_KIND_LABELS)},
    [STORE_ENUM_OVERHEAD] = {"ENUM_CUPTI_OVERHEAD_TYPE", ENUM_LIST(OVERHEAD_LABELS)},
    [STORE_ENUM_MIGRATION] = {"ENUM_CUDA_UNIF_MEM_MIGRATION", ENUM_LIST(MIGRATION_LABELS)},
    [STORE_ENUM_STREAM] = {"ENUM_CUPTI_STREAM_TYPE", ENUM_LIST(STREAM_LABELS)},
};

enum {
    ENUM_LABELS_MAX = 4096 /* more rows than that are not an enum */
};

static void enum_read(struct store *store, enum store_enum which)
{
    static const char *const columns[] = {"id", "label"};
    struct store_scan scan = {ENUM_KINDS[which].table, columns, 2, 0, INT64_MAX};
    int count = 0;
    store->labels_read[which] = true;
    if (!store_has_table(store, scan.table) || !store_has_column(store, scan.table, "label")) {
        return;
    }
    struct store_label *labels = calloc(ENUM_LABELS_MAX, sizeof *labels);
    struct store_cursor *cursor = labels == NULL ? NULL : store_scan(store, &scan, NULL);
    while (cursor != NULL && count < ENUM_LABELS_MAX && store_next(cursor, NULL) == 1) {
        size_t len;
        const char *text = store_text(cursor, 1, &len);
        if (text != NULL) {
            labels[count].id = store_int(cursor, 0, 0);
            labels[count].text = arena_copy(&store->arena, text, len);
            count += labels[count].text != NULL;
        }
    }
    store_cursor_close(cursor);
    store->labels[which] = labels;
    store->label_count[which] = count;
}

const char *store_enum_label(struct store *store, enum store_enum which, int64_t value)
{
    struct enum_list list = ENUM_KINDS[which].built_in;
    if (!store->labels_read[which]) {
        enum_read(store, which);
    }
    for (int i = 0; i < store->label_count[which]; i++) {
        if (store->labels[which][i].id == value) {
            return store->labels[which][i].text;
        }
    }
    if (which == STORE_ENUM_MEMCPY_OPER && store->label_count[which] == 0 &&
        !store_has_table(store, "META_DATA_EXPORT") &&
        !store_has_table(store, "EXPORT_META_DATA")) {
        list = (struct enum_list)ENUM_LIST(MEMCPY_LABELS_2020);
    }
    return value >= 0 && value < list.count ? list.labels[value] : NULL;
}
