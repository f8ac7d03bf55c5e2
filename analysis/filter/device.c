/* device: see device.h. */
#include "analysis/filter/device.h"

#include <inttypes.h>

/* The next device of [from, ...) that some process numbers so; TRACE_NONE if none. */
static uint32_t next_numbered(const struct trace *trace, int64_t number, uint32_t from)
{
    for (uint32_t d = from; d < trace->device_count; d++) {
        const struct trace_device *device = &trace->devices[d];
        for (uint32_t l = 0; l < device->lane_count; l++) {
            if (trace->lanes[device->first_lane + l].device_id == number) {
                return d;
            }
        }
    }
    return TRACE_NONE;
}

int64_t device_cuda_number(const struct trace *trace, uint32_t device)
{
    const struct trace_device *d = &trace->devices[device];
    int64_t number = d->lane_count == 0 ? -1 : trace->lanes[d->first_lane].device_id;
    for (uint32_t l = 1; l < d->lane_count; l++) {
        if (trace->lanes[d->first_lane + l].device_id != number) {
            return -1;
        }
    }
    return number;
}

void device_put(struct buf *out, const struct trace *trace, uint32_t device)
{
    int64_t number = device_cuda_number(trace, device);
    buf_addf(out, "%" PRId64, trace->devices[device].id);
    if (number >= 0 && number != trace->devices[device].id) {
        buf_addf(out, " (CUDA %" PRId64 ")", number);
    }
}

static void put_all(struct buf *out, const struct trace *trace)
{
    buf_adds(out, trace->device_count == 0 ? "none" : "");
    for (uint32_t i = 0; i < trace->device_count; i++) {
        buf_adds(out, i == 0 ? "" : ", ");
        device_put(out, trace, i);
    }
}

uint32_t device_other(const struct trace *trace, int64_t number)
{
    uint32_t found = next_numbered(trace, number, 0);
    while (found != TRACE_NONE && trace->devices[found].id == number) {
        found = next_numbered(trace, number, found + 1);
    }
    return found;
}

uint32_t device_find(const struct trace *trace, int64_t number, struct err *err)
{
    struct buf list = {0};
    for (uint32_t i = 0; i < trace->device_count; i++) {
        if (trace->devices[i].id == number) {
            return i;
        }
    }
    uint32_t found = next_numbered(trace, number, 0);
    if (found != TRACE_NONE && next_numbered(trace, number, found + 1) == TRACE_NONE) {
        return found;
    }
    put_all(&list, trace);
    if (found != TRACE_NONE) {
        (void)err_set(err, "several devices are CUDA device %" PRId64 "; give an id: %.500s",
                      number, buf_text(&list));
    } else {
        (void)err_set(err,
                      "no work on a device %" PRId64 " in this capture; devices with work: %.500s",
                      number, buf_text(&list));
    }
    buf_free(&list);
    return TRACE_NONE;
}
