/*
 * terms_host: what the words about threads, ranges and devices say of an event, and what a call and
 * its ops tell each other.
 */
#include <stdlib.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/filter/terms_internal.h"

struct window {
    int64_t begin_ns;
    int64_t end_ns;
};

/* ---- words ---- */

bool terms_in_ranges(const struct term *term, int64_t value)
{
    for (int i = 0; i < term->range_count; i++) {
        if (value >= term->low[i] && value <= term->high[i]) {
            return true;
        }
    }
    return false;
}

bool terms_thread_holds(const struct terms_work *work, const struct term *term, uint32_t index)
{
    if (index >= work->trace->thread_count) {
        return false;
    }
    const struct trace_thread *thread = &work->trace->threads[index];
    if (term->is_number) {
        return thread->tid == term->low[0];
    }
    if (term->is_main && thread->process < work->trace->process_count &&
        work->trace->processes[thread->process].pid == thread->tid) {
        return true;
    }
    return filter_match(term->filter, thread->name, thread->name_len);
}

/* A device, context or stream word about a GPU lane. The device is known by the number that is
 * shown and by the one that the process gives it only if that is all there is. */
bool terms_device_holds(const struct terms_work *work, const struct term *term,
                        const struct trace_lane *lane)
{
    if (term->key == TERM_CONTEXT) {
        return lane->kind == TRACE_LANE_STREAM && terms_in_ranges(term, lane->context_id);
    }
    if (term->key == TERM_STREAM) {
        return lane->kind == TRACE_LANE_STREAM && terms_in_ranges(term, lane->stream_id);
    }
    return lane->device < work->trace->device_count &&
           terms_in_ranges(term, work->trace->devices[lane->device].id);
}

bool terms_is_device_key(enum term_key key)
{
    return key == TERM_DEVICE || key == TERM_CONTEXT || key == TERM_STREAM;
}

/* Do the device words alone keep this GPU lane? */
static bool device_words_hold(const struct terms_work *work, const struct trace_lane *lane)
{
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (terms_is_device_key(term->key) &&
            terms_device_holds(work, term, lane) == term->is_not) {
            return false;
        }
    }
    return true;
}

static bool thread_words_hold(const struct terms_work *work, uint32_t thread)
{
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (term->key == TERM_THREAD && terms_thread_holds(work, term, thread) == term->is_not) {
            return false;
        }
    }
    return true;
}

/* ---- nvtx windows ---- */

static int window_cmp(const void *a, const void *b)
{
    const struct window *x = a;
    const struct window *y = b;
    return COMPARE(x->begin_ns, y->begin_ns);
}

/* Names of ranges that an nvtx word matches. */
static uint64_t *range_names(const struct terms_work *work, const struct term *term)
{
    const struct trace *trace = work->trace;
    uint64_t *bits = terms_bits_new(trace->name_count);
    for (uint32_t n = 0; bits != NULL && n < trace->name_count; n++) {
        uint8_t kind = trace->names[n].kind;
        if ((kind == TRACE_NVTX_PUSHPOP || kind == TRACE_NVTX_STARTEND) &&
            filter_match_name(term->filter, &trace->names[n])) {
            terms_bit_set(bits, n);
        }
    }
    return bits;
}

/* Fills windows (NULL: only counts) with the matching ranges of a thread. A range without length is
 * one ns long here, so that it holds itself. */
static size_t collect_windows(const struct terms_work *work, uint32_t thread, const uint64_t *names,
                              struct window *windows)
{
    const struct trace_events *nvtx = &work->trace->events[TRACE_NVTX];
    const struct facts_thread *lanes = &work->facts->threads[thread];
    size_t count = 0;
    for (uint32_t l = lanes->first[TRACE_NVTX]; l < lanes->end[TRACE_NVTX]; l++) {
        const struct trace_lane *lane = &work->trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (!terms_bit(names, nvtx->name[i])) {
                continue;
            }
            if (windows != NULL) {
                windows[count].begin_ns = nvtx->begin_ns[i];
                windows[count].end_ns =
                    nvtx->end_ns[i] > nvtx->begin_ns[i] ? nvtx->end_ns[i] : nvtx->begin_ns[i] + 1;
            }
            count++;
        }
    }
    return count;
}

/* The union of the matching ranges of a thread, sorted. *count of them; NULL without memory. */
static struct window *thread_windows(const struct terms_work *work, uint32_t thread,
                                     const uint64_t *names, size_t *count)
{
    size_t all = collect_windows(work, thread, names, NULL);
    struct window *windows = malloc((all + 1) * sizeof *windows);
    *count = 0;
    if (windows == NULL) {
        return NULL;
    }
    all = collect_windows(work, thread, names, windows);
    sort_list(windows, all, sizeof *windows, window_cmp);
    for (size_t i = 0; i < all; i++) {
        if (*count == 0 || windows[i].begin_ns > windows[*count - 1].end_ns) {
            windows[(*count)++] = windows[i];
        } else if (windows[i].end_ns > windows[*count - 1].end_ns) {
            windows[*count - 1].end_ns = windows[i].end_ns;
        }
    }
    return windows;
}

/* Clears the bits of the events of a lane that do not begin in a window (or that do). */
static void sweep_lane(const struct terms_work *work, const struct trace_lane *lane,
                       const struct window *windows, size_t count, bool is_not, uint64_t *bits)
{
    const int64_t *begin_ns = work->trace->events[lane->table].begin_ns;
    size_t at = 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        while (at < count && windows[at].end_ns <= begin_ns[i]) {
            at++;
        }
        bool is_in = at < count && windows[at].begin_ns <= begin_ns[i];
        if (is_in == is_not) {
            terms_bit_clear(bits, i);
        }
    }
}

/* Applies one nvtx word to the bits of a host table. */
static int sweep_table(const struct terms_work *work, const struct term *term,
                       enum trace_table table, uint64_t *bits)
{
    uint64_t *names = range_names(work, term);
    int rc = names == NULL ? -1 : 0;
    for (uint32_t t = 0; rc == 0 && t < work->trace->thread_count; t++) {
        const struct facts_thread *lanes = &work->facts->threads[t];
        size_t count = 0;
        if (lanes->first[table] == lanes->end[table]) {
            continue;
        }
        struct window *windows = thread_windows(work, t, names, &count);
        if (windows == NULL) {
            rc = -1;
            break;
        }
        for (uint32_t l = lanes->first[table]; l < lanes->end[table]; l++) {
            sweep_lane(work, &work->trace->lanes[l], windows, count, term->is_not, bits);
        }
        free(windows);
    }
    free(names);
    return rc;
}

/* The host words for a host table; NULL without memory. */
static uint64_t *host_bits(const struct terms_work *work, enum trace_table table)
{
    const struct trace *trace = work->trace;
    uint64_t *bits = terms_bits_new(trace->events[table].count);
    for (uint32_t l = 0; bits != NULL && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != table || !thread_words_hold(work, lane->thread)) {
            continue;
        }
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            terms_bit_set(bits, i);
        }
    }
    for (size_t i = 0; bits != NULL && i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (term->key == TERM_NVTX && sweep_table(work, term, table, bits) != 0) {
            free(bits);
            bits = NULL;
        }
    }
    return bits;
}

/* ---- partners ---- */

static int judge_calls_by_ops(struct terms_work *work)
{
    const struct trace *trace = work->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    work->call_device = terms_bits_new(api->count);
    if (work->call_device == NULL) {
        return -1;
    }
    for (uint32_t l = 0; gpu->link != NULL && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_GPU || !device_words_hold(work, lane)) {
            continue;
        }
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (gpu->link[i] != TRACE_NONE) {
                terms_bit_set(work->call_device, gpu->link[i]);
            }
        }
    }
    for (uint32_t i = 0; work->device_none && i < api->count; i++) {
        if (api->link == NULL || api->link[i] == TRACE_NONE) {
            terms_bit_set(work->call_device, i);
        }
    }
    return 0;
}

int terms_judge_partners(struct terms_work *work)
{
    work->host_none = true;
    work->device_none = true;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (terms_is_device_key(term->key)) {
            work->asks_device = true;
            work->device_none = work->device_none && term->is_not;
        } else if (term->key == TERM_THREAD || term->key == TERM_NVTX) {
            work->asks_host = true;
            work->host_none = work->host_none && term->is_not;
        }
    }
    if (work->asks_host) {
        work->call_host = host_bits(work, TRACE_API);
        if (work->call_host == NULL) {
            return -1;
        }
    }
    return work->asks_device ? judge_calls_by_ops(work) : 0;
}

/* A call: the words about its own thread, and those about the devices of its ops. */
static uint64_t *call_bits(const struct terms_work *work)
{
    uint32_t count = work->trace->events[TRACE_API].count;
    size_t words = (size_t)count / 64 + 1;
    uint64_t *bits = terms_bits_new(count);
    for (size_t w = 0; bits != NULL && w < words; w++) {
        bits[w] = (work->call_host != NULL ? work->call_host[w] : UINT64_MAX) &
                  (work->call_device != NULL ? work->call_device[w] : UINT64_MAX);
    }
    return bits;
}

/* An op: the words about the thread of its call. */
static uint64_t *op_bits(const struct terms_work *work)
{
    const struct trace_events *gpu = &work->trace->events[TRACE_GPU];
    uint64_t *bits = terms_bits_new(gpu->count);
    for (uint32_t i = 0; bits != NULL && i < gpu->count; i++) {
        uint32_t call = gpu->link != NULL ? gpu->link[i] : TRACE_NONE;
        if (call == TRACE_NONE ? work->host_none : terms_bit(work->call_host, call)) {
            terms_bit_set(bits, i);
        }
    }
    return bits;
}

int terms_partner_bits(const struct terms_work *work, enum trace_table table, uint64_t **bits)
{
    *bits = NULL;
    if (!work->asks_host && (table != TRACE_API || !work->asks_device)) {
        return 0;
    }
    if (table == TRACE_API) {
        *bits = call_bits(work);
    } else {
        *bits = table == TRACE_GPU ? op_bits(work) : host_bits(work, table);
    }
    return *bits == NULL ? -1 : 0;
}
