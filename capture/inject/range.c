/*
 * The capture range of this process: opened and closed by NVTX (nvtx_range.c) or by cudaProfilerStart
 * and Stop (cupti.c), counted here, written to the spool, and remembered for the walk over CUPTI's
 * buffers, which come later.
 */
#include <string.h>

#include "capture/inject/inject.h"
#include "capture/spool/clock.h"

#define STRETCHES CUPTI_INTERVALS

void inject_range_start(void)
{
    inject.range.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    inject.range.count = 0;
    inject.range.said_early = false;
    session_ranges_begin(&inject.range.ranges, inject.control);
}

static void put_status(struct spool_writer *writer, enum spool_status code, uint64_t value,
                       int64_t mono_ns, const struct inject_range_text *text)
{
    struct spool_meta head = {.kind = SPOOL_META_STATUS, .code = (uint16_t)code};
    head.domain = text->domain;
    head.value[0] = value;
    head.value[3] = (uint64_t)mono_ns;
    spool_writer_meta(writer, &head, text->text, text->bytes);
}

/* Says once that a range was there before the delay had passed: the next one is recorded. */
static void say_early(struct spool_writer *writer, const struct inject_range_text *text)
{
    if (writer != NULL && !inject.range.said_early && !session_control_stopped(inject.control)) {
        inject.range.said_early = true;
        put_status(writer, SPOOL_STATUS_RANGE_EARLY, 0, clock_read_ns(CLOCK_MONOTONIC), text);
    }
}

/* Remembers that collecting began, or ended, now. */
static void remember(bool open)
{
    struct inject_range *range = &inject.range;
    int64_t now_ns = clock_read_ns(CLOCK_REALTIME);
    (void)pthread_mutex_lock(&range->lock);
    if (open) {
        range->stretches[range->count++ % STRETCHES] = (struct cupti_interval){now_ns, INT64_MAX};
    } else if (range->count > 0) {
        range->stretches[(range->count - 1) % STRETCHES].end_ns = now_ns;
    }
    (void)pthread_mutex_unlock(&range->lock);
}

bool inject_range_open(const struct inject_range_text *text)
{
    struct spool_writer *writer = inject_spool();
    if (atomic_load(&inject.range.ranges.used_up) || !nvtx_enter()) {
        return false;
    }
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    bool goes_on = atomic_load(&inject.range.ranges.collecting);
    bool open = session_control_collecting(inject.control);
    if (open && !goes_on) {
        remember(true);
    }
    uint64_t start_ticks = writer == NULL ? 0 : writer->header->start_ticks;
    open = open && session_ranges_open(&inject.range.ranges, start_ticks);
    if (!open) {
        say_early(writer, text);
    } else if (writer != NULL && !goes_on) {
        put_status(writer, SPOOL_STATUS_RANGE_OPENED, 0, now_ns, text);
    }
    nvtx_leave();
    return open;
}

void inject_range_close(void)
{
    static const struct inject_range_text nothing = {"", 0, 0};
    struct spool_writer *writer = inject_spool();
    bool goes_on = session_ranges_close(&inject.range.ranges);
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (nvtx_enter()) {
        if (!goes_on) {
            remember(false);
        }
        if (writer != NULL) {
            put_status(writer, SPOOL_STATUS_RANGE_CLOSED, goes_on ? 1 : 0, now_ns, &nothing);
        }
        nvtx_leave();
    }
}

/* The stretch in which the gate is GO, from the log of the control page; there is one at most. */
static struct cupti_interval gate_stretch(void)
{
    struct cupti_interval gate = {INT64_MAX, INT64_MAX};
    struct session_transition change;
    for (uint32_t i = 0; session_control_transition(inject.control, i, &change); i++) {
        if (change.collect != 0 && gate.begin_ns == INT64_MAX) {
            gate.begin_ns = change.real_ns;
        } else if (change.collect == 0 && gate.end_ns == INT64_MAX) {
            gate.end_ns = change.real_ns;
        }
    }
    return gate;
}

uint32_t inject_range_stretches(struct cupti_interval *out, bool *all)
{
    struct inject_range *range = &inject.range;
    struct cupti_interval gate = gate_stretch();
    uint32_t count = 0;
    *all = true;
    if (inject.config.range == SESSION_RANGE_NONE) {
        out[0] = gate;
        return gate.begin_ns == INT64_MAX ? 0 : 1;
    }
    (void)pthread_mutex_lock(&range->lock);
    *all = range->count <= STRETCHES;
    for (uint32_t i = *all ? 0 : range->count - STRETCHES; i < range->count; i++) {
        struct cupti_interval one = range->stretches[i % STRETCHES];
        one.end_ns = one.end_ns < gate.end_ns ? one.end_ns : gate.end_ns;
        if (one.begin_ns < one.end_ns) {
            out[count++] = one;
        }
    }
    (void)pthread_mutex_unlock(&range->lock);
    return count;
}
