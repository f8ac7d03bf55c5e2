/* hue: see hue.h. */
#include "viewer/rows/hue.h"

#include <stddef.h>

/* FNV-1a over the name without its digits: stable over captures and machines, so that colours can be
 * learnt; "layer 3" and "layer 4", tiles of 64 and of 128 are of a kind. */
static uint32_t hue_hash(const char *text, uint32_t len)
{
    uint32_t hash = 2166136261U;
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            hash = (hash ^ (unsigned char)text[i]) * 16777619U;
        }
    }
    return hash ^ hash >> 15;
}

static uint8_t hue_of_api(uint16_t api)
{
    static const struct {
        uint16_t flags;
        uint8_t hue;
    } hues[] = {
        {TRACE_API_SYNC, HUE_SYNC},
        {TRACE_API_LAUNCH | TRACE_API_GRAPH, HUE_LAUNCH},
        {TRACE_API_COPY | TRACE_API_SET, HUE_COPY},
        {TRACE_API_ALLOC | TRACE_API_MODULE, HUE_ALLOC},
    };
    for (size_t i = 0; i < sizeof hues / sizeof hues[0]; i++) {
        if ((api & hues[i].flags) != 0) {
            return hues[i].hue;
        }
    }
    return HUE_OTHER;
}

uint8_t hue_of_name(const struct trace_name *name, uint16_t *rgb)
{
    *rgb = 0;
    switch ((enum trace_kind)name->kind) {
    case TRACE_API_CALL:
        return hue_of_api(name->api);
    case TRACE_MEMCPY:
    case TRACE_MIGRATION:
        return name->copy_kind == 1 ? HUE_COPY_IN : name->copy_kind == 2 ? HUE_COPY_OUT : HUE_COPY;
    case TRACE_MEMSET:
        return HUE_COPY;
    case TRACE_OSRT_CALL:
    case TRACE_OVERHEAD_PROFILER:
    case TRACE_OVERHEAD_CUDA:
        return HUE_OTHER;
    default:
        break;
    }
    if (name->color_argb != 0) {
        *rgb = (uint16_t)((name->color_argb >> 19 & 31) << 11 | (name->color_argb >> 10 & 63) << 5 |
                          (name->color_argb >> 3 & 31));
        return HUE_RGB;
    }
    return (uint8_t)(hue_hash(name->full, name->full_len) % HUE_NAMES);
}
