/*
 * json_stream: the events of a JSON trace, plain or gzip-compressed, from the file one by one ("Trace
 * Event Format", Google: an array of events, or an object with one as "traceEvents").
 *
 * A thread of its own reads and inflates ahead; the memory is bounded, whatever the size of the file. What
 * is damaged is passed over and counted: the next event that can be read goes on.
 */
#ifndef CUTLINE_IMPORT_JSON_STREAM_H
#define CUTLINE_IMPORT_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/err.h"
#include "analysis/import/json_scan.h"

/* Where events and the other members of the outermost object go. The values live during the call. Both
 * return 0, or -1 with err set to stop. */
struct json_stream_sink {
    int (*event)(void *arg, const struct json_value *event, struct err *err);
    int (*member)(void *arg, const struct json_value *key, const struct json_value *value,
                  struct err *err);
    /* Asked now and then: is the work not wanted any more? May be NULL. */
    bool (*stopped)(void *arg);
    void *arg;
};

struct json_stream_result {
    bool has_events; /* traceEvents was found */
    bool truncated; /* the file ends before its JSON does */
    bool bad_gzip; /* ... as its compressed data are cut or damaged */
    int64_t damaged; /* places that were passed over */
};

/* Does the file begin like JSON, plain or compressed? */
bool json_stream_is(const char *path);
/* Reads it all. 0, or -1 with err set: it cannot be opened or read, no memory, the sink stopped. */
int json_stream_read(const char *path, const struct json_stream_sink *sink,
                     struct json_stream_result *result, struct err *err);

#endif
