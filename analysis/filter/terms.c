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
#include "analysis/filter/terms.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/facts/slice.h"
#include "analysis/filter/terms_internal.h"

/* ---- names ---- */

static bool kind_holds(const struct term *term, const struct trace_name *name)
{
    for (uint32_t i = 0; term_kinds[i].word != NULL; i++) {
        const struct term_kind *kind = &term_kinds[i];
        if ((term->choice_bits >> i & 1U) == 0 || (kind->kinds >> name->kind & 1U) == 0) {
            continue;
        }
        if (kind->copy_kind[0] == 0 || name->copy_kind == kind->copy_kind[0] ||
            name->copy_kind == kind->copy_kind[1]) {
            return true;
        }
    }
    return false;
}

/* The domain without a name is called default. */
static bool domain_holds(const struct term *term, const struct trace_name *name)
{
    if (name->domain == NULL || name->domain_len == 0) {
        return filter_match(term->filter, "default", strlen("default"));
    }
    return filter_match(term->filter, name->domain, name->domain_len);
}

static bool name_holds(const struct term *term, const struct trace_name *name)
{
    bool holds = true;
    switch (term->key) {
    case TERM_NAME:
        holds = filter_match_name(term->filter, name);
        break;
    case TERM_KIND:
        holds = kind_holds(term, name);
        break;
    case TERM_API:
        holds = (name->api & term->choice_bits) != 0;
        break;
    case TERM_DOMAIN:
        holds = (TERMS_KINDS_NVTX >> name->kind & 1U) != 0 && domain_holds(term, name);
        break;
    case TERM_CLASS:
        holds =
            name->kind == TRACE_KERNEL && filter_match(term->filter, name->full, name->full_len);
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
        if (term->is_not) {
            continue;
        }
        if (term->key == TERM_API) {
            kinds |= 1U << TRACE_API_CALL;
        }
        if (term->key == TERM_DOMAIN) {
            kinds |= TERMS_KINDS_NVTX;
        }
        for (uint32_t k = 0; term->key == TERM_KIND && term_kinds[k].word != NULL; k++) {
            kinds |= (term->choice_bits >> k & 1U) != 0 ? term_kinds[k].kinds : 0;
        }
    }
    return kinds;
}

static bool asks_names(const struct term_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        enum term_key key = list->terms[i].key;
        if (key == TERM_NAME || key == TERM_KIND || key == TERM_API || key == TERM_DOMAIN ||
            key == TERM_CLASS) {
            return true;
        }
    }
    return false;
}

static int judge_names(struct terms_work *work)
{
    const struct trace *trace = work->trace;
    struct terms *terms = work->terms;
    bool is_asked = asks_names(&work->list);
    work->name_class = calloc((size_t)trace->name_count + 1, 1);
    terms->name_bits = is_asked ? terms_bits_new(trace->name_count) : NULL;
    if (work->name_class == NULL || (is_asked && terms->name_bits == NULL)) {
        return -1;
    }
    for (uint32_t n = 0; n < trace->name_count; n++) {
        const struct trace_name *name = &trace->names[n];
        bool is_about = (terms->kinds >> name->kind & 1U) != 0;
        bool holds = true;
        for (size_t i = 0; is_about && holds && i < work->list.count; i++) {
            holds = name_holds(&work->list.terms[i], name);
        }
        terms->names += is_about ? 1 : 0;
        terms->matched += is_about && holds ? 1 : 0;
        work->name_class[n] =
            (uint8_t)(is_about ? (holds ? TERMS_NAME_IN : TERMS_NAME_OUT) : TERMS_NAME_FREE);
        if (is_asked && holds) {
            terms_bit_set(terms->name_bits, n);
        }
    }
    return 0;
}

/* ---- lanes ---- */

static bool process_holds(const struct terms_work *work, const struct term *term, uint32_t index)
{
    if (index >= work->trace->process_count) {
        return false;
    }
    const struct trace_process *process = &work->trace->processes[index];
    if (term->key == TERM_PID) {
        return terms_in_ranges(term, process->pid);
    }
    if (term->is_number) {
        return process->pid == term->low[0];
    }
    return filter_match(term->filter, process->name, process->name_len);
}

static bool lane_holds(const struct terms_work *work, const struct trace_lane *lane)
{
    bool is_gpu = lane->table == TRACE_GPU;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        bool holds = !term->is_not;
        if (term->key == TERM_PID || term->key == TERM_PROCESS) {
            holds = process_holds(work, term, lane->process);
        } else if (terms_is_device_key(term->key) && lane->table != TRACE_API) {
            holds = is_gpu && terms_device_holds(work, term, lane);
        } else if (term->key == TERM_THREAD && !is_gpu) {
            holds = terms_thread_holds(work, term, lane->thread);
        }
        if (holds == term->is_not) {
            return false;
        }
    }
    return true;
}

static int judge_lanes(struct terms_work *work)
{
    work->lane_in = calloc((size_t)work->trace->lane_count + 1, sizeof(bool));
    if (work->lane_in == NULL) {
        return -1;
    }
    for (uint32_t l = 0; l < work->trace->lane_count; l++) {
        work->lane_in[l] = lane_holds(work, &work->trace->lanes[l]);
    }
    return 0;
}

/* ---- events ---- */

/* Fills one word of bits after the other; most words are whole within a lane. */
static void judge_lane(const struct terms_work *work, const struct trace_lane *lane,
                       bool is_lane_in, const uint64_t *partner, uint64_t *bits)
{
    const struct trace_events *events = &work->trace->events[lane->table];
    const int64_t min_ns = work->terms->min_dur_ns;
    const int64_t max_ns = work->terms->max_dur_ns;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint8_t class = work->name_class[events->name[i]];
        int64_t dur_ns = events->end_ns[i] - events->begin_ns[i];
        bool is_in = class == TERMS_NAME_IN && is_lane_in && dur_ns >= min_ns && dur_ns <= max_ns &&
                     (partner == NULL || terms_bit(partner, i));
        bits[i / 64] |= (uint64_t)(is_in || class == TERMS_NAME_FREE) << (i % 64);
    }
}

static int judge_table(struct terms_work *work, enum trace_table table)
{
    const struct trace *trace = work->trace;
    uint64_t *partner = NULL;
    uint64_t *bits = NULL;
    if (terms_partner_bits(work, table, &partner) == 0) {
        bits = terms_bits_new(trace->events[table].count);
    }
    for (uint32_t l = 0; bits != NULL && l < trace->lane_count; l++) {
        if (trace->lanes[l].table == table) {
            judge_lane(work, &trace->lanes[l], work->lane_in[l], partner, bits);
        }
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

static int judge_events(struct terms_work *work)
{
    struct terms *terms = work->terms;
    bool is_needed = false;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        is_needed = is_needed ||
                    (term->key != TERM_NAME && term->key != TERM_KIND && term->key != TERM_API &&
                     term->key != TERM_DOMAIN && term->key != TERM_CLASS);
    }
    if (!is_needed) {
        return 0;
    }
    if (judge_lanes(work) != 0 || terms_judge_partners(work) != 0) {
        return -1;
    }
    for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
        if ((table_kinds((enum trace_table)table) & terms->kinds) != 0 &&
            judge_table(work, (enum trace_table)table) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Durations: the words narrow one interval; a negated one must be all of one side, which is what
 * the comparisons give, or a hole (-dur=800), which is not an interval. */
static int judge_durations(struct terms_work *work, size_t *at, struct err *err)
{
    struct terms *terms = work->terms;
    terms->min_dur_ns = INT64_MIN;
    terms->max_dur_ns = INT64_MAX;
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        int64_t low = term->low[0];
        int64_t high = term->high[0];
        if (term->key != TERM_DUR) {
            continue;
        }
        if (term->is_not && low == INT64_MIN) {
            low = high == INT64_MAX ? high : high + 1;
            high = INT64_MAX;
        } else if (term->is_not && high == INT64_MAX) {
            high = low == INT64_MIN ? low : low - 1;
            low = INT64_MIN;
        } else if (term->is_not) {
            if (at != NULL) {
                *at = term->begin;
            }
            return err_set(err, "filter: dur= cannot be turned round; use dur< or dur>");
        }
        terms->min_dur_ns = low > terms->min_dur_ns ? low : terms->min_dur_ns;
        terms->max_dur_ns = high < terms->max_dur_ns ? high : terms->max_dur_ns;
    }
    return 0;
}

/* Did any word give up on a text? */
static int check_filters(const struct terms_work *work, size_t *at, struct err *err)
{
    for (size_t i = 0; i < work->list.count; i++) {
        const struct term *term = &work->list.terms[i];
        if (term->filter != NULL && filter_check(term->filter, err) != 0) {
            if (at != NULL) {
                *at = term->begin;
            }
            return -1;
        }
    }
    return 0;
}

/* ---- public ---- */

static int compile(struct terms_work *work, const char *text, size_t len, size_t *at,
                   struct err *err)
{
    struct terms *terms = work->terms;
    if (term_list_parse(&work->list, text, len, at, err) != 0 ||
        judge_durations(work, at, err) != 0) {
        return -1;
    }
    terms->is_all = work->list.count == 0;
    terms->kinds = kinds_about(&work->list, terms->kinds);
    if (judge_names(work) != 0 || judge_events(work) != 0) {
        return err_nomem(err, "the filter");
    }
    return check_filters(work, at, err);
}

struct terms *terms_new(const struct facts *facts, const char *text, size_t len, uint32_t kinds,
                        size_t *at, struct err *err)
{
    struct terms_work work = {.facts = facts, .trace = facts->trace};
    if (at != NULL) {
        *at = len;
    }
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
    if (terms == NULL) {
        return;
    }
    free(terms->name_bits);
    for (int table = 0; table < TRACE_TABLE_COUNT; table++) {
        free(terms->event_bits[table]);
    }
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
    for (uint32_t i = slice.from; i < slice.to; i++) {
        count += terms_has(terms, (enum trace_table)lane->table, i) ? 1 : 0;
    }
    return count;
}

uint32_t terms_next(const struct terms *terms, const struct trace_lane *lane, uint32_t from,
                    int step)
{
    uint32_t end = lane->first + lane->count;
    uint32_t i = from;
    while (i >= lane->first && i < end) {
        if (terms_has(terms, (enum trace_table)lane->table, i)) {
            return i;
        }
        if (step < 0 && i == lane->first) {
            break;
        }
        i = step < 0 ? i - 1 : i + 1;
    }
    return TRACE_NONE;
}
