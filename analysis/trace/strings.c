/* strings: which StringIds rows are in use, and their texts. One pass over the table; texts that
 * nobody needs (captured output, files of /proc) are never read from disk. */
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace_internal.h"

struct strings {
    struct intern ids; /* int64_t */
    uint32_t *text; /* of each id: number in the trace's texts */
};

struct strings *strings_new(void)
{
    return calloc(1, sizeof(struct strings));
}

void strings_free(struct strings *strings)
{
    if (strings != NULL) {
        intern_free(&strings->ids);
        free(strings->text);
        free(strings);
    }
}

int strings_need(struct strings *strings, int64_t id)
{
    if (id == RAW_NO_ID) {
        return 0;
    }
    return intern_add(&strings->ids, (const char *)&id, sizeof id) == INTERN_NONE ? -1 : 0;
}

int strings_load(struct strings *strings, struct store *store, struct intern *texts,
                 struct err *err)
{
    static const char *const columns[] = {"id", "value"};
    struct store_scan scan = {"StringIds", columns, 2, 0, INT64_MAX};
    int status;
    strings->text = malloc(((size_t)strings->ids.count + 1) * sizeof *strings->text);
    if (strings->text == NULL) {
        return err_nomem(err, "names");
    }
    memset(strings->text, 0xff, ((size_t)strings->ids.count + 1) * sizeof *strings->text);
    struct store_cursor *cursor = store_scan(store, &scan, err);
    if (cursor == NULL) {
        return -1;
    }
    while ((status = store_next(cursor, err)) == 1) {
        int64_t id = store_int(cursor, 0, RAW_NO_ID);
        uint32_t index = intern_find(&strings->ids, (const char *)&id, sizeof id);
        size_t len;
        if (index == INTERN_NONE || strings->text[index] != INTERN_NONE) {
            continue;
        }
        const char *value = store_text(cursor, 1, &len);
        if (value != NULL) {
            strings->text[index] = intern_add(texts, value, len);
            if (strings->text[index] == INTERN_NONE) {
                status = err_nomem(err, "names");
                break;
            }
        }
    }
    store_cursor_close(cursor);
    return status;
}

uint32_t strings_text(const struct strings *strings, int64_t id)
{
    uint32_t index =
        id == RAW_NO_ID ? INTERN_NONE : intern_find(&strings->ids, (const char *)&id, sizeof id);
    return index == INTERN_NONE ? INTERN_NONE : strings->text[index];
}
