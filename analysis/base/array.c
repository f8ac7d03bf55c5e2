/* array: see array.h. */
#include "analysis/base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAP = 16
};

void *array_grow(void *list, size_t *cap, size_t count, size_t size)
{
    if (list != NULL && count <= *cap) {
        return list;
    }
    size_t wanted = *cap < FIRST_CAP ? FIRST_CAP : *cap;
    while (wanted < count) {
        if (wanted > SIZE_MAX / 2) {
            return NULL;
        }
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / size) {
        return NULL;
    }
    void *grown = realloc(list, wanted * size);
    if (grown != NULL) {
        *cap = wanted;
    }
    return grown;
}

void *array_grow_zeroed(void *list, size_t *cap, size_t count, size_t size)
{
    size_t before = list == NULL ? 0 : *cap;
    char *grown = array_grow(list, cap, count, size);
    if (grown != NULL && *cap > before) {
        memset(grown + before * size, 0, (*cap - before) * size);
    }
    return grown;
}

void *array_resize(void *list, size_t count, size_t size)
{
    size_t wanted = count == 0 ? 1 : count;
    return wanted > SIZE_MAX / size ? NULL : realloc(list, wanted * size);
}
