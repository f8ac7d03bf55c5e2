/* trace_event: one event of a JSON trace, read into its fields ("Trace Event Format", Google). */
#ifndef CUTLINE_IMPORT_TRACE_EVENT_H
#define CUTLINE_IMPORT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/import/json_scan.h"

/* A member that is missing is of the kind JSON_NONE. */
struct trace_event {
    char phase; /* 'X', 'M', 'i', ...; 0: none */
    struct json_value category;
    struct json_value name;
    struct json_value process;
    struct json_value thread;
    struct json_value id;
    struct json_value begin;
    struct json_value duration;
    struct json_value args;
};

/* What the events of GPU work and of calls say in their args. */
struct trace_args {
    struct json_value device;
    struct json_value context;
    struct json_value stream;
    struct json_value correlation;
    struct json_value bytes;
    struct json_value grid;
    struct json_value block;
    struct json_value registers;
    struct json_value shared;
    struct json_value collective;
    struct json_value details; /* XLA: regs:32 shared:0 grid:1,1,1 block:64,1,1 */
    struct json_value sync_event;
    struct json_value sync_stream;
    struct json_value name; /* of metadata */
    struct json_value process; /* of an op, a range: cutline export */
    struct json_value thread;
    struct json_value full; /* the whole name: cutline export */
    struct json_value domain;
};

/* False where the object is damaged. */
bool trace_event_read(struct trace_event *event, const struct json_value *object);
void trace_args_read(struct trace_args *args, const struct json_value *object);

/* The integer of a value, fallback where it is none. */
int64_t trace_event_int(const struct json_value *value, int64_t fallback);
/* Begin and end in ns, exact. False where the event has no time. */
bool trace_event_times(const struct trace_event *event, int64_t *begin_ns, int64_t *end_ns);

#endif
