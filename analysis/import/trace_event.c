/* trace_event: see trace_event.h. Members are found by tables of their names. */
#include "analysis/import/trace_event.h"

#include <stddef.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/times.h"

struct field {
    const char *name;
    size_t offset; /* of the struct json_value */
};

#define EVENT(member) offsetof(struct trace_event, member)
#define ARGS(member) offsetof(struct trace_args, member)

static const struct field EVENT_FIELDS[] = {
    {"name", EVENT(name)},  {"cat", EVENT(category)}, {"pid", EVENT(process)},
    {"tid", EVENT(thread)}, {"ts", EVENT(begin)},     {"dur", EVENT(duration)},
    {"args", EVENT(args)},  {"id", EVENT(id)},
};

static const struct field ARGS_FIELDS[] = {
    {"device", ARGS(device)},
    {"context", ARGS(context)},
    {"stream", ARGS(stream)},
    {"correlation", ARGS(correlation)},
    {"correlation_id", ARGS(correlation)},
    {"bytes", ARGS(bytes)},
    {"grid", ARGS(grid)},
    {"block", ARGS(block)},
    {"registers per thread", ARGS(registers)},
    {"shared memory", ARGS(shared)},
    {"Collective name", ARGS(collective)},
    {"kernel_details", ARGS(details)},
    {"memcpy_details", ARGS(details)},
    {"wait_on_cuda_event_id", ARGS(sync_event)},
    {"wait_on_stream", ARGS(sync_stream)},
    {"name", ARGS(name)},
    {"process", ARGS(process)},
    {"thread", ARGS(thread)},
    {"full", ARGS(full)},
    {"domain", ARGS(domain)},
};

static void put_field(void *into, const struct field *fields, size_t count,
                      const struct json_value *key, const struct json_value *value)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].name[0] == key->text[0] && json_is(key, fields[i].name)) {
            memcpy((char *)into + fields[i].offset, value, sizeof *value);
            return;
        }
    }
}

bool trace_event_read(struct trace_event *event, const struct json_value *object)
{
    struct json_scan scan = json_scan_in(object);
    struct json_value key;
    struct json_value value;
    *event = (struct trace_event){0};
    while (json_scan_member(&scan, &key, &value)) {
        if (key.len == 2 && key.text[0] == 'p' && key.text[1] == 'h') {
            event->phase = value.kind == JSON_TEXT && value.len == 1 ? value.text[0] : '\0';
        } else {
            put_field(event, EVENT_FIELDS, ARRAY_LEN(EVENT_FIELDS), &key, &value);
        }
    }
    return !scan.broken;
}

void trace_args_read(struct trace_args *args, const struct json_value *object)
{
    struct json_scan scan = json_scan_in(object);
    struct json_value key;
    struct json_value value;
    *args = (struct trace_args){0};
    while (object->kind == JSON_OBJECT && json_scan_member(&scan, &key, &value)) {
        put_field(args, ARGS_FIELDS, ARRAY_LEN(ARGS_FIELDS), &key, &value);
    }
}

int64_t trace_event_int(const struct json_value *value, int64_t fallback)
{
    int64_t number;
    return json_scaled(value, 0, &number) ? number : fallback;
}

bool trace_event_times(const struct trace_event *event, int64_t *begin_ns, int64_t *end_ns)
{
    int64_t duration = 0;
    if (!json_scaled(&event->begin, 3, begin_ns) ||
        (event->duration.kind != JSON_NONE && !json_scaled(&event->duration, 3, &duration))) {
        return false;
    }
    *end_ns = i64_add(*begin_ns, duration);
    return times_fit(*begin_ns, *end_ns);
}
