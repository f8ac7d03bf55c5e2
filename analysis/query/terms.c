/*
 * terms: see terms.h. From words to bits.
 *
 * Names are judged once each. If a word is about more than names, every table that the filter is
 * about gets a bit for each event, in three steps:
 *
 *     lanes    pid, process on all; device, context, stream on GPU lanes; thread on host lanes
 *     partner  what a call and its op tell each other: the host words (thread, nvtx) of calls are
 *              carried to their ops, the device words of ops to their calls. nvtx is a sweep of the
 *              events of a lane beside the sorted windows of the matching ranges of its thread.
 *     events   lane, partner, name and duration together
 *
 * Cost: O(names x words) + O(events x (1 + nvtx words)).
 */
#include "analysis/query/terms.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/query/slice.h"
#include "analysis/query/terms_impl.h"

enum {
    NAME_OUT,
    NAME_IN,
    NAME_FREE, /* of a kind that the filter is not about */
};

struct window {
    int64_t begin_ns;
    int64_t end_ns;
};

/* Everything that a compilation passes around. */
struct work {
    const struct facts *facts;
    const struct trace *trace;
    struct terms *terms;
    struct term_list list;
    uint8_t *name_class; /* enum above */
    bool *lane_in;
    bool asks_host;        /* a thread or nvtx word */
    bool asks_device;      /* a device, context or stream word */
    bool host_none;        /* what the host words say where there is no thread */
    bool device_none;      /* what the device words say where there is no device */
    uint64_t *call_host;   /* API: the host words */
    uint64_t *call_device; /* API: the device words */
};

/* ---- bits ---- */

static uint64_t *bits_new(uint32_t count)
{
    return calloc((size_t)count / 64 + 1, sizeof(uint64_t));
}

static inline bool bit_at(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> (i % 64) & 1U) != 0;
}

static inline void bit_set(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bit_clear(uint64_t *bits, uint32_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* ---- names ---- */

static bool kind_holds(const struct term *term, const struct trace_name *name)
{
    for (uint32_t i = 0; term_kinds[i].word != NULL; i++) {
        const struct term_kind *kind = &term_kinds[i];
        if ((term->choice_bits >> i & 1U) == 0 || (kind->kinds >> name->kind & 1U) == 0)
            continue;
        if (kind->copy_kind[0] == 0 || name->copy_kind == kind->copy_kind[0] ||
            name->copy_kind == kind->copy_kind[1])
            return true;
    }
    return false;
}

static bool pattern_holds(const struct term *term, const struct trace_name *name)
{
    return filter_match(term->filter, name->full, name->full_len) ||
           (name->brief != name->full && filter_match(term->filter, name->brief, name->brief_len));
}

static bool name_holds(const struct term *term, const struct trace_name *name)
{
    bool holds = true;
    switch (term->key) {
    case TERM_NAME:
        holds = pattern_holds(term, name);
        break;
    case TERM_KIND:
        holds = kind_holds(term, name);
        break;
    case TERM_API:
        holds = (name->api & term->choice_bits) != 0;
        break;
    case TERM_DOMAIN:
        holds = name->domain != NULL && (TERMS_KINDS_NVTX >> name->kind & 1U) != 0 &&
                filter_match(term->filter, name->domain, name->domain_len);
        break;
    default:
        return true;
    }
    return holds != term->is_not;
}

/* Words that name a kind make the filter be about it. */
static uint32_t kinds_about(const struct term_list *list, uint32_t kinds)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct term *term = &list->terms[i];
        if (term->is_not)
            continue;
        if (term->key == TERM_API)
            kinds |= 1U << TRACE_API_CALL;
        if (term->key == TERM_DOMAIN)
            kinds |= TERMS_KINDS_NVTX;
        for (uint32_t k = 0; term->key == TERM_KIND && term_kinds[k].word != NULL; k++)
            kinds |= (term->choice_bits >> k & 1U) != 0 ? term_kinds[k].kinds : 0;
    }
    return kinds;
}

static bool asks_names(const struct term_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        enum term_key key = list->terms[i].key;
        if (key == TERM_NAME || key == TERM_KIND || key == TERM_API || key == TERM_DOMAIN)
            return true;
    }
    return false;
}

static int judge_names(struct work *work)
{
    const struct trace *trace = work->trace;
    struct terms *terms = work->terms;
    bool is_asked = asks_names(&work->list);
    work->name_class = calloc((size_t)trace->name_count + 1, 1);
    terms->name_bits = is_asked ? bits_new(trace->name_count) : NULL;
    if (work->name_class == NULL || (is_asked && terms->name_bits == NULL))
        return -1;
    for (uint32_t n = 0; n < trace->name_count; n++) {
        const struct trace_name *name = &trace->names[n];
        bool is_about = (terms->kinds >> name->kind & 1U) != 0;
        bool holds = true;
        for (size_t i = 0; is_about && holds && i < work->list.count; i++)
            holds = name_holds(&work->list.terms[i], name);
        terms->names += is_about ? 1 : 0;
        terms->matched += is_about && holds ? 1 : 0;
        work->name_class[n] = (uint8_t)(is_about ? (holds ? NAME_IN : NAME_OUT) : NAME_FREE);
        if (is_asked && holds)
            bit_set(terms->name_bits, n);
    }
    return 0;
}

/* ---- lanes ---- */

static bool in_ranges(const struct term *term, int64_t value)
{
    for (int i = 0; i < term->range_count; i++) {
        if (value >= term->low[i] && value <= term->high[i])
            return true;
    }
    return false;
}

static bool process_holds(const struct work *work, const struct term *term, uint32_t index)
{
    if (index >= work->trace->process_count)
        return false;
    const struct trace_process *process = &work->trace->processes[index];
    if (term->key == TERM_PID)
        return in_ranges(term, process->pid);
    if (term->is_number)
        return process->pid == term->low[0];
    return filter_match(term->filter, process->name, process->name_len);
}

static bool thread_holds(const struct work *work, const struct term *term, uint32_t index)
{
    if (index >= work->trace->thread_count)
        return false;
    const struct trace_thread *thread = &work->trace->threads[index];
    if (term->is_number)
        return thread->tid == term->low[0];
    if (term->is_main && thread->process < work->trace->process_count &&
        work->trace->processes[thread->process].pid == thread->tid)
        return true;
    return filter_match(term->filter, thread->name, thread->name_len);
}

/* A device, context or stream word about a GPU lane. The device is known by the number that is
 * shown and by the one that the process gives it only if that is all there is. */
static bool device_holds(const struct work *work, const struct term *term,
                         const struct trace_lane *lane)
{
    if (term->key == TERM_CONTEXT)
        return lane->kind == TRACE_LANE_STREAM && in_ranges(term, lane->context_id);
    if (term->key == TERM_STREAM)
        return lane->kind == TRACE_LANE_STREAM && in_ranges(term, lane->stream_id);
    return lane->device < work->trace->device_count &&
           in_ranges(term, work->trace->devices[lane->device].id);
}

static bool is_device_key(enum term_key key)
{
    return key == TERM_DEVICE || key == TERM_CONTEXT || key == TERM_STREAM;
}

static bool lane_holds(const struct work *work, const struct trace_lane *lane)
{
    bool is_gpu = lane->table == TRACE_GPU;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        bool holds = !term->is_not;
        if (term->key == TERM_PID || term->key == TERM_PROCESS)
            holds = process_holds(work, term, lane->process);
        else if (is_device_key(term->key) && lane->table != TRACE_API)
            holds = is_gpu && device_holds(work, term, lane);
        else if (term->key == TERM_THREAD && !is_gpu)
            holds = thread_holds(work, term, lane->thread);
        if (holds == term->is_not)
            return false;
    }
    return true;
}

static int judge_lanes(struct work *work)
{
    work->lane_in = calloc((size_t)work->trace->lane_count + 1, sizeof(bool));
    if (work->lane_in == NULL)
        return -1;
    for (uint32_t l = 0; l < work->trace->lane_count; l++)
        work->lane_in[l] = lane_holds(work, &work->trace->lanes[l]);
    return 0;
}

/* Do the device words alone keep this GPU lane? */
static bool device_words_hold(const struct work *work, const struct trace_lane *lane)
{
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (is_device_key(term->key) && device_holds(work, term, lane) == term->is_not)
            return false;
    }
    return true;
}

static bool thread_words_hold(const struct work *work, uint32_t thread)
{
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (term->key == TERM_THREAD && thread_holds(work, term, thread) == term->is_not)
            return false;
    }
    return true;
}

/* ---- nvtx windows ---- */

static int window_cmp(const void *a, const void *b)
{
    const struct window *x = a;
    const struct window *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Names of ranges that an nvtx word matches. */
static uint64_t *range_names(const struct work *work, const struct term *term)
{
    const struct trace *trace = work->trace;
    uint64_t *bits = bits_new(trace->name_count);
    for (uint32_t n = 0; bits != NULL && n < trace->name_count; n++) {
        uint8_t kind = trace->names[n].kind;
        if ((kind == TRACE_NVTX_PUSHPOP || kind == TRACE_NVTX_STARTEND) &&
            pattern_holds(term, &trace->names[n]))
            bit_set(bits, n);
    }
    return bits;
}

/* Fills windows (NULL: only counts) with the matching ranges of a thread. A range without length is
 * one ns long here, so that it holds itself. */
static size_t collect_windows(const struct work *work, uint32_t thread, const uint64_t *names,
                              struct window *windows)
{
    const struct trace_events *nvtx = &work->trace->events[TRACE_NVTX];
    const struct facts_thread *lanes = &work->facts->threads[thread];
    size_t count = 0;
    for (uint32_t l = lanes->first[TRACE_NVTX]; l < lanes->end[TRACE_NVTX]; l++) {
        const struct trace_lane *lane = &work->trace->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (!bit_at(names, nvtx->name[i]))
                continue;
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
static struct window *thread_windows(const struct work *work, uint32_t thread,
                                     const uint64_t *names, size_t *count)
{
    size_t all = collect_windows(work, thread, names, NULL);
    struct window *windows = malloc((all + 1) * sizeof *windows);
    *count = 0;
    if (windows == NULL)
        return NULL;
    all = collect_windows(work, thread, names, windows);
    qsort(windows, all, sizeof *windows, window_cmp);
    for (size_t i = 0; i < all; i++) {
        if (*count == 0 || windows[i].begin_ns > windows[*count - 1].end_ns)
            windows[(*count)++] = windows[i];
        else if (windows[i].end_ns > windows[*count - 1].end_ns)
            windows[*count - 1].end_ns = windows[i].end_ns;
    }
    return windows;
}

/* Clears the bits of the events of a lane that do not begin in a window (or that do). */
static void sweep_lane(const struct work *work, const struct trace_lane *lane,
                       const struct window *windows, size_t count, bool is_not, uint64_t *bits)
{
    const int64_t *begin_ns = work->trace->events[lane->table].begin_ns;
    size_t at = 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        while (at < count && windows[at].end_ns <= begin_ns[i])
            at++;
        bool is_in = at < count && windows[at].begin_ns <= begin_ns[i];
        if (is_in == is_not)
            bit_clear(bits, i);
    }
}

/* Applies one nvtx word to the bits of a host table. */
static int sweep_table(const struct work *work, const struct term *term, enum trace_table table,
                       uint64_t *bits)
{
    uint64_t *names = range_names(work, term);
    int rc = names == NULL ? -1 : 0;
    for (uint32_t t = 0; rc == 0 && t < work->trace->thread_count; t++) {
        const struct facts_thread *lanes = &work->facts->threads[t];
        size_t count = 0;
        if (lanes->first[table] == lanes->end[table])
            continue;
        struct window *windows = thread_windows(work, t, names, &count);
        if (windows == NULL) {
            rc = -1;
            break;
        }
        for (uint32_t l = lanes->first[table]; l < lanes->end[table]; l++)
            sweep_lane(work, &work->trace->lanes[l], windows, count, term->is_not, bits);
        free(windows);
    }
    free(names);
    return rc;
}

/* The host words for a host table; NULL without memory. */
static uint64_t *host_bits(const struct work *work, enum trace_table table)
{
    const struct trace *trace = work->trace;
    uint64_t *bits = bits_new(trace->events[table].count);
    for (uint32_t l = 0; bits != NULL && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != table || !thread_words_hold(work, lane->thread))
            continue;
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++)
            bit_set(bits, i);
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

static int judge_calls_by_ops(struct work *work)
{
    const struct trace *trace = work->trace;
    const struct trace_events *gpu = &trace->events[TRACE_GPU];
    const struct trace_events *api = &trace->events[TRACE_API];
    work->call_device = bits_new(api->count);
    if (work->call_device == NULL)
        return -1;
    for (uint32_t l = 0; gpu->link != NULL && l < trace->lane_count; l++) {
        const struct trace_lane *lane = &trace->lanes[l];
        if (lane->table != TRACE_GPU || !device_words_hold(work, lane))
            continue;
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            if (gpu->link[i] != TRACE_NONE)
                bit_set(work->call_device, gpu->link[i]);
        }
    }
    for (uint32_t i = 0; work->device_none && i < api->count; i++) {
        if (api->link == NULL || api->link[i] == TRACE_NONE)
            bit_set(work->call_device, i);
    }
    return 0;
}

static int judge_partners(struct work *work)
{
    work->host_none = true;
    work->device_none = true;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (is_device_key(term->key)) {
            work->asks_device = true;
            work->device_none = work->device_none && term->is_not;
        } else if (term->key == TERM_THREAD || term->key == TERM_NVTX) {
            work->asks_host = true;
            work->host_none = work->host_none && term->is_not;
        }
    }
    if (work->asks_host) {
        work->call_host = host_bits(work, TRACE_API);
        if (work->call_host == NULL)
            return -1;
    }
    return work->asks_device ? judge_calls_by_ops(work) : 0;
}

/* What the partner words say of each event of a table, or NULL where they say nothing (*failed on
 * lack of memory). Owned by the caller. */
static uint64_t *partner_bits(const struct work *work, enum trace_table table, bool *failed)
{
    const struct trace_events *events = &work->trace->events[table];
    uint64_t *bits = NULL;
    if (table == TRACE_API && (work->asks_host || work->asks_device)) {
        size_t words = (size_t)events->count / 64 + 1;
        bits = bits_new(events->count);
        for (size_t w = 0; bits != NULL && w < words; w++)
            bits[w] = (work->call_host != NULL ? work->call_host[w] : UINT64_MAX) &
                      (work->call_device != NULL ? work->call_device[w] : UINT64_MAX);
        *failed = bits == NULL;
    } else if (table == TRACE_GPU && work->asks_host) {
        bits = bits_new(events->count);
        for (uint32_t i = 0; bits != NULL && i < events->count; i++) {
            uint32_t call = events->link != NULL ? events->link[i] : TRACE_NONE;
            if (call == TRACE_NONE ? work->host_none : bit_at(work->call_host, call))
                bit_set(bits, i);
        }
        *failed = bits == NULL;
    } else if (table != TRACE_GPU && work->asks_host) {
        bits = host_bits(work, table);
        *failed = bits == NULL;
    }
    return bits;
}

/* ---- events ---- */

/* Fills one word of bits after the other; most words are whole within a lane. */
static void judge_lane(const struct work *work, const struct trace_lane *lane, bool is_lane_in,
                       const uint64_t *partner, uint64_t *bits)
{
    const struct trace_events *events = &work->trace->events[lane->table];
    const int64_t min_ns = work->terms->min_dur_ns;
    const int64_t max_ns = work->terms->max_dur_ns;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint8_t class = work->name_class[events->name[i]];
        int64_t dur_ns = events->end_ns[i] - events->begin_ns[i];
        bool is_in = class == NAME_IN && is_lane_in && dur_ns >= min_ns && dur_ns <= max_ns &&
                     (partner == NULL || bit_at(partner, i));
        bits[i / 64] |= (uint64_t)(is_in || class == NAME_FREE) << (i % 64);
    }
}

static int judge_table(struct work *work, enum trace_table table)
{
    const struct trace *trace = work->trace;
    bool failed = false;
    uint64_t *partner = partner_bits(work, table, &failed);
    uint64_t *bits = failed ? NULL : bits_new(trace->events[table].count);
    for (uint32_t l = 0; bits != NULL && l < trace->lane_count; l++) {
        if (trace->lanes[l].table == table)
            judge_lane(work, &trace->lanes[l], work->lane_in[l], partner, bits);
    }
    free(partner);
    work->terms->event_bits[table] = bits;
    return bits == NULL ? -1 : 0;
}

/* Kinds of names that a table holds. */
static uint32_t table_kinds(enum trace_table table)
{
    static const uint32_t kinds[TRACE_TABLE_COUNT] = {
        [TRACE_GPU] = TERMS_KINDS_GPU,
        [TRACE_API] = 1U << TRACE_API_CALL,
        [TRACE_NVTX] = TERMS_KINDS_NVTX,
        [TRACE_OSRT] = 1U << TRACE_OSRT_CALL,
        [TRACE_OVERHEAD] = 1U << TRACE_OVERHEAD_PROFILER | 1U << TRACE_OVERHEAD_CUDA,
    };
    return kinds[table];
}

static int judge_events(struct work *work)
{
    struct terms *terms = work->terms;
    bool is_needed = false;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        is_needed = is_needed || (term->key != TERM_NAME && term->key != TERM_KIND &&
                                  term->key != TERM_API && term->key != TERM_DOMAIN);
    }
    if (!is_needed)
        return 0;
    if (judge_lanes(work) != 0 || judge_partners(work) != 0)
        return -1;
    for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
        if ((table_kinds((enum trace_table)table) & terms->kinds) != 0 &&
            judge_table(work, (enum trace_table)table) != 0)
            return -1;
    }
    return 0;
}

/* Durations: the words narrow one interval; a negated one must be all of one side, which is what
 * the comparisons give, or a hole (-dur=800), which is not an interval. */
static int judge_durations(struct work *work, size_t *at, struct err *err)
{
    struct terms *terms = work->terms;
    terms->min_dur_ns = INT64_MIN;
    terms->max_dur_ns = INT64_MAX;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        int64_t low = term->low[0];
        int64_t high = term->high[0];
        if (term->key != TERM_DUR)
            continue;
        if (term->is_not && low == INT64_MIN) {
            low = high == INT64_MAX ? high : high + 1;
            high = INT64_MAX;
        } else if (term->is_not && high == INT64_MAX) {
            high = low == INT64_MIN ? low : low - 1;
            low = INT64_MIN;
        } else if (term->is_not) {
            if (at != NULL)
                *at = term->begin;
            return err_set(err, "filter: dur= cannot be turned round; use dur< or dur>");
        }
        terms->min_dur_ns = low > terms->min_dur_ns ? low : terms->min_dur_ns;
        terms->max_dur_ns = high < terms->max_dur_ns ? high : terms->max_dur_ns;
    }
    return 0;
}

/* ---- public ---- */

static int compile(struct work *work, const char *text, size_t len, size_t *at, struct err *err)
{
    struct terms *terms = work->terms;
    if (term_list_parse(&work->list, text, len, at, err) != 0 ||
        judge_durations(work, at, err) != 0)
        return -1;
    terms->is_all = work->list.count == 0;
    terms->kinds = kinds_about(&work->list, terms->kinds);
    if (judge_names(work) != 0 || judge_events(work) != 0)
        return err_nomem(err, "the filter");
    return 0;
}

struct terms *terms_new(const struct facts *facts, const char *text, size_t len, uint32_t kinds,
                        size_t *at, struct err *err)
{
    struct work work = {.facts = facts, .trace = facts->trace};
    if (at != NULL)
        *at = len;
    work.terms = calloc(1, sizeof *work.terms);
    if (work.terms == NULL) {
        (void)err_nomem(err, "the filter");
        return NULL;
    }
    work.terms->trace = facts->trace;
    work.terms->kinds = kinds;
    int rc = compile(&work, text, len, at, err);
    term_list_free(&work.list);
    free(work.name_class);
    free(work.lane_in);
    free(work.call_host);
    free(work.call_device);
    if (rc != 0) {
        terms_free(work.terms);
        return NULL;
    }
    return work.terms;
}

void terms_free(struct terms *terms)
{
    if (terms == NULL)
        return;
    free(terms->name_bits);
    for (int table = 0; table < TRACE_TABLE_COUNT; table++)
        free(terms->event_bits[table]);
    free(terms);
}

struct busy *terms_busy(struct busy *old, const struct trace *trace, const struct terms *terms,
                        struct err *err)
{
    return busy_renew(old, trace, terms != NULL ? terms->name_bits : NULL,
                      terms != NULL ? terms->event_bits[TRACE_GPU] : NULL, err);
}

uint32_t terms_count(const struct terms *terms, const struct trace_lane *lane, int64_t begin_ns,
                     int64_t end_ns)
{
    struct slice slice = slice_of(terms->trace, lane, begin_ns, end_ns);
    uint32_t count = 0;
    for (uint32_t i = slice.from; i < slice.to; i++)
        count += terms_has(terms, (enum trace_table)lane->table, i) ? 1 : 0;
    return count;
}

uint32_t terms_next(const struct terms *terms, const struct trace_lane *lane, uint32_t from,
                    int step)
{
    uint32_t end = lane->first + lane->count;
    uint32_t i = from;
    while (i >= lane->first && i < end) {
        if (terms_has(terms, (enum trace_table)lane->table, i))
            return i;
        if (step < 0 && i == lane->first)
            break;
        i = step < 0 ? i - 1 : i + 1;
    }
    return TRACE_NONE;
}
