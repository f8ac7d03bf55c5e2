/* detail_fields: see detail_fields.h. */
#include "viewer/app/detail_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "analysis/store/store.h"

enum shape {
    SHAPE_DROP, /* leads to another table, or stands in the lines above */
    SHAPE_TIME,
    SHAPE_BYTES,
    SHAPE_PID,
    SHAPE_TID,
    SHAPE_COPY_KIND,
    SHAPE_MEM_KIND,
    SHAPE_CAUSE,
    SHAPE_OVERHEAD,
};

/* Columns that are not shown as they are; name NULL: the column's own. */
static const struct column {
    const char *key;
    enum shape shape;
    const char *name;
} COLUMNS[] = {
    {"start", SHAPE_TIME, "begin"},
    {"end", SHAPE_TIME, NULL},
    {"globalPid", SHAPE_PID, "process"},
    {"globalTid", SHAPE_TID, "thread"},
    {"endGlobalTid", SHAPE_TID, "end thread"},
    {"deviceId", SHAPE_DROP, NULL},
    {"streamId", SHAPE_DROP, NULL},
    {"correlationId", SHAPE_DROP, NULL},
    {"demangledName", SHAPE_DROP, NULL},
    {"shortName", SHAPE_DROP, NULL},
    {"mangledName", SHAPE_DROP, NULL},
    {"nameId", SHAPE_DROP, NULL},
    {"textId", SHAPE_DROP, NULL},
    {"jsonTextId", SHAPE_DROP, NULL},
    {"domainId", SHAPE_DROP, NULL},
    {"rangeId", SHAPE_DROP, NULL},
    {"eventClass", SHAPE_DROP, NULL},
    {"eventType", SHAPE_DROP, NULL},
    {"callchainId", SHAPE_DROP, NULL},
    {"argumentsId", SHAPE_DROP, NULL},
    {"deprecatedSrcId", SHAPE_DROP, NULL},
    {"gridId", SHAPE_DROP, NULL},
    {"gridX", SHAPE_DROP, NULL},
    {"gridY", SHAPE_DROP, NULL},
    {"gridZ", SHAPE_DROP, NULL},
    {"blockX", SHAPE_DROP, NULL},
    {"blockY", SHAPE_DROP, NULL},
    {"blockZ", SHAPE_DROP, NULL},
    {"registersPerThread", SHAPE_DROP, NULL},
    {"bytes", SHAPE_BYTES, NULL},
    {"staticSharedMemory", SHAPE_BYTES, "static smem"},
    {"dynamicSharedMemory", SHAPE_BYTES, "dynamic smem"},
    {"sharedMemoryExecuted", SHAPE_BYTES, "smem configured"},
    {"localMemoryPerThread", SHAPE_BYTES, "local, a thread"},
    {"localMemoryTotal", SHAPE_BYTES, "local, in all"},
    {"copyKind", SHAPE_COPY_KIND, "copy"},
    {"srcKind", SHAPE_MEM_KIND, "from"},
    {"dstKind", SHAPE_MEM_KIND, "to"},
    {"memKind", SHAPE_MEM_KIND, "memory"},
    {"migrationCause", SHAPE_CAUSE, "cause"},
    {"overheadType", SHAPE_OVERHEAD, "overhead"},
};

static const struct column *column_of(const char *key)
{
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++) {
        if (strcmp(COLUMNS[i].key, key) == 0) {
            return &COLUMNS[i];
        }
    }
    return NULL;
}

/* The value in words; NULL: as it is. */
static const char *worded(struct store *store, enum shape shape, int64_t value, char *text)
{
    switch (shape) {
    case SHAPE_TIME:
        return timefmt_at(value, 1, text);
    case SHAPE_BYTES:
        return timefmt_bytes(value, text);
    case SHAPE_PID:
    case SHAPE_TID:
        (void)snprintf(text, TIMEFMT_BYTES, "%lld",
                       (long long)(shape == SHAPE_PID ? store_pid(value) : store_tid(value)));
        return text;
    case SHAPE_COPY_KIND:
        return store_enum_label(store, STORE_ENUM_MEMCPY_OPER, value);
    case SHAPE_MEM_KIND:
        return store_enum_label(store, STORE_ENUM_MEM_KIND, value);
    case SHAPE_CAUSE:
        return store_enum_label(store, STORE_ENUM_MIGRATION, value);
    case SHAPE_OVERHEAD:
        return store_enum_label(store, STORE_ENUM_OVERHEAD, value);
    case SHAPE_DROP:
        break;
    }
    return NULL;
}

/* Shapes one field; false where it is to be left out. */
static bool shape_field(struct detail *detail, struct detail_field *field)
{
    const struct column *column = column_of(field->key);
    char text[TIMEFMT_BYTES];
    char *end = NULL;
    if (column == NULL) {
        return true;
    }
    if (column->shape == SHAPE_DROP) {
        return false;
    }
    field->key = column->name != NULL ? column->name : field->key;
    long long value = strtoll(field->value, &end, 10);
    if (end == field->value || *end != '\0') {
        return true;
    }
    const char *words = worded(detail->store, column->shape, value, text);
    const char *copy = words != NULL ? arena_copy(&detail->arena, words, strlen(words)) : NULL;
    if (copy != NULL) {
        field->value = copy;
        field->value_len = strlen(copy);
    }
    return true;
}

void detail_fields_shape(struct detail *detail)
{
    int count = 0;
    for (int i = 0; i < detail->field_count; i++) {
        struct detail_field field = detail->fields[i];
        if (shape_field(detail, &field)) {
            detail->fields[count++] = field;
        }
    }
    detail->field_count = count;
}
