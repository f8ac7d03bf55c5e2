/*
 * rules_text: see rules_text.h.
 */
#include "analysis/detect/rules_text.h"

#include <string.h>

#include "analysis/facts/nvtx_path.h"

/* Labels of CUPTI's memory kinds as an nsys export numbers them. */
static const char *const mem_kinds[] = {"Pageable", "Pinned",        "Device",         "Array",
                                        "Managed",  "Device Static", "Managed Static", "Unknown"};

void rules_put_text(struct table *table, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        table_put_empty(table);
    } else {
        table_put_text(table, text, strlen(text));
    }
}

void rules_put_known(struct table *table, int64_t value)
{
    if (value < 0) {
        table_put_empty(table);
    } else {
        table_put_int(table, value);
    }
}

void rules_put_pid(struct table *table, const struct trace *trace, uint32_t process)
{
    if (process == TRACE_NONE) {
        table_put_empty(table);
    } else {
        table_put_int(table, trace->processes[process].pid);
    }
}

const char *rules_op_name(const struct trace *trace, uint32_t gpu)
{
    const struct trace_name *name = &trace->names[trace->events[TRACE_GPU].name[gpu]];
    return name->kind == TRACE_KERNEL || name->kind == TRACE_GRAPH ? name->brief : name->full;
}

void rules_put_op(struct table *table, const struct trace *trace, uint32_t gpu)
{
    rules_put_text(table, gpu == TRACE_NONE ? NULL : rules_op_name(trace, gpu));
}

void rules_put_path(struct table *table, const struct facts *facts, uint32_t thread, int64_t t_ns)
{
    struct buf path = {0};
    nvtx_path_text(facts, thread, t_ns, &path);
    if (path.len == 0) {
        table_put_empty(table);
    } else {
        table_put_text(table, path.data, path.len);
    }
    buf_free(&path);
}

void rules_put_mem_kind(struct table *table, uint8_t kind)
{
    bool known = kind < sizeof(mem_kinds) / sizeof(mem_kinds[0]);
    rules_put_text(table, known ? mem_kinds[kind] : NULL);
}

void rules_put_percent(struct table *table, int64_t part, int64_t whole)
{
    if (whole <= 0) {
        table_put_empty(table);
    } else {
        table_put_real(table, 100.0 * (double)part / (double)whole);
    }
}
