/* select: see select.h. */
#include "analysis/filter/select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/buf.h"
#include "analysis/base/sort.h"
#include "analysis/filter/device.h"
#include "analysis/filter/filter.h"
#include "analysis/filter/range_name.h"

static int select_compare_begin(const void *left, const void *right)
{
    const int64_t *a = left;
    const int64_t *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]) != 0 ? (a[0] > b[0]) - (a[0] < b[0])
                                              : (a[1] > b[1]) - (a[1] < b[1]);
}

/* All instances of the ranges that text means, as pairs (begin, NVTX index), by begin; form says how
 * it was read. NULL: no memory. */
static int64_t *select_instances(const struct trace *trace, const char *text,
                                 struct range_name *form, size_t *count)
{
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    bool *wanted = calloc((size_t)trace->name_count + 1, sizeof *wanted);
    int64_t *pairs = malloc(((size_t)nvtx->count + 1) * 2 * sizeof *pairs);
    *count = 0;
    if (wanted == NULL || pairs == NULL) {
        free(wanted);
        free(pairs);
        return NULL;
    }
    (void)range_name_mark(trace, text, RANGE_NAME_INDEX, wanted, form);
    for (uint32_t i = 0; i < nvtx->count; i++) {
        if (wanted[nvtx->name[i]]) {
            pairs[2 * *count] = nvtx->begin_ns[i];
            pairs[2 * *count + 1] = (int64_t)i;
            (*count)++;
        }
    }
    sort_list(pairs, *count, 2 * sizeof *pairs, select_compare_begin);
    free(wanted);
    return pairs;
}

static int select_no_range(const struct range_name *form, size_t count, struct err *err)
{
    if (count > 0) {
        return err_set(err,
                       "NVTX range '%.*s' has %zu instances, numbered from 0: no instance %" PRIu64,
                       (int)form->len, form->text, count, form->index);
    }
    return err_set(err, "no NVTX range '%.*s' in %s%.*s (RANGE@* looks in every domain)",
                   (int)form->len, form->text,
                   form->domain_len == 0 ? "the default domain" : "domain ", (int)form->domain_len,
                   form->domain_len == 0 ? "" : form->domain);
}

/* Narrows the selection to one range. Like nsys: a push/pop range means its thread, a start/end
 * range its process. */
static int select_nvtx(const struct trace *trace, const char *text, struct selection *out,
                       struct err *err)
{
    struct range_name form = {0};
    const struct trace_events *nvtx = &trace->events[TRACE_NVTX];
    size_t count;
    int64_t *pairs = select_instances(trace, text, &form, &count);
    if (pairs == NULL) {
        return err_nomem(err, "the NVTX filter");
    }
    if (form.index >= count) {
        free(pairs);
        return select_no_range(&form, count, err);
    }
    uint32_t event = (uint32_t)pairs[2 * form.index + 1];
    free(pairs);
    const struct trace_lane *lane = &trace->lanes[trace_lane_of(trace, TRACE_NVTX, event)];
    out->begin_ns = nvtx->begin_ns[event] > out->begin_ns ? nvtx->begin_ns[event] : out->begin_ns;
    out->end_ns = nvtx->end_ns[event] < out->end_ns ? nvtx->end_ns[event] : out->end_ns;
    if (out->process != TRACE_NONE && out->process != lane->process) {
        out->none = true;
    }
    out->process = lane->process;
    out->thread = lane->kind == TRACE_LANE_NVTX_PUSHPOP ? lane->thread : TRACE_NONE;
    return 0;
}

static int select_process(const struct trace *trace, int64_t pid, struct selection *out,
                          struct err *err)
{
    struct buf list = {0};
    for (uint32_t i = 0; i < trace->process_count; i++) {
        if (trace->processes[i].pid == pid) {
            out->process = i;
            buf_free(&list);
            return 0;
        }
        buf_addf(&list, "%s%" PRId64, i == 0 ? "" : ", ", trace->processes[i].pid);
    }
    (void)err_set(err, "no process %" PRId64 " in this capture; it has: %.500s", pid,
                  buf_text(&list));
    buf_free(&list);
    return -1;
}

static int select_device(const struct trace *trace, int64_t number, struct selection *out,
                         struct err *err)
{
    uint32_t device = device_find(trace, number, err);
    if (device == TRACE_NONE) {
        return -1;
    }
    out->device = trace->devices[device].id;
    return 0;
}

static int select_names(const struct trace *trace, const char *pattern, struct selection *out,
                        struct err *err)
{
    struct filter *filter = filter_new(pattern, strlen(pattern), err);
    if (filter == NULL) {
        return -1;
    }
    out->name_bits = filter_names(filter, trace, UINT32_MAX, NULL, NULL);
    int rc = filter_check(filter, err);
    filter_free(filter);
    return out->name_bits == NULL ? err_nomem(err, "the name filter") : rc;
}

int select_new(const struct trace *trace, const struct select_options *options,
               struct selection *out, struct err *err)
{
    *out = (struct selection){.begin_ns = options->begin_ns,
                              .end_ns = options->end_ns,
                              .device = -1,
                              .process = TRACE_NONE,
                              .thread = TRACE_NONE,
                              .nvtx_process = options->nvtx_process};
    if (options->pid >= 0 && select_process(trace, options->pid, out, err) != 0) {
        return -1;
    }
    if (options->device >= 0 && select_device(trace, options->device, out, err) != 0) {
        return -1;
    }
    if (options->nvtx != NULL && select_nvtx(trace, options->nvtx, out, err) != 0) {
        return -1;
    }
    if (options->name != NULL && select_names(trace, options->name, out, err) != 0) {
        return -1;
    }
    return 0;
}

void select_free(struct selection *select)
{
    free(select->name_bits);
    select->name_bits = NULL;
}

bool select_lane(const struct trace *trace, const struct selection *select,
                 const struct trace_lane *lane)
{
    if (select->none || (select->process != TRACE_NONE && select->process != lane->process)) {
        return false;
    }
    if (lane->table == TRACE_GPU) {
        return select->device < 0 ||
               (lane->device != TRACE_NONE && trace->devices[lane->device].id == select->device);
    }
    return select->thread == TRACE_NONE || select->thread == lane->thread;
}
