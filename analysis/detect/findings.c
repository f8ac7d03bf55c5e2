/*
 * findings: each detector is asked once for what it finds with its defaults, and each answer becomes
 * one finding for each device, thread or kind of copy. Time is counted once where rules overlap:
 * gaps of 50 us and longer belong to idle_gaps, shorter ones inside launch-bound zones to
 * launch_density; gpu_gaps, gpu_time_util and low_utilisation see the same idle time again and get
 * no time of their own. What the rules of nsys say of copies and synchronising calls, and small
 * copies between memories, repeat part of hidden_transfers and idle_gaps; their evidence says so,
 * and they come after the others.
 */
#include "analysis/detect/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/detect/around.h"
#include "analysis/detect/detector.h"
#include "analysis/detect/findings_internal.h"

const char *findings_keep(struct findings_maker *maker, const struct buf *text)
{
    struct buf safe = {0};
    utf8_sanitize(&safe, buf_text(text), text->len, false);
    const char *copy =
        buf_failed(&safe) ? NULL : arena_copy(&maker->out->arena, buf_text(&safe), safe.len);
    buf_free(&safe);
    maker->failed |= copy == NULL || buf_failed(text);
    return copy != NULL ? copy : "";
}

const char *findings_words(struct findings_maker *maker, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    struct buf text = {0};
    if (len > 0) {
        buf_adds(&text, line);
    }
    const char *kept = findings_keep(maker, &text);
    buf_free(&text);
    return kept;
}

void findings_add(struct findings_maker *maker, const struct finding *finding)
{
    struct findings *out = maker->out;
    struct finding *list = array_grow(out->list, &maker->cap, (size_t)out->count + 1, sizeof *list);
    if (list == NULL) {
        maker->failed = true;
        return;
    }
    out->list = list;
    out->list[out->count++] = *finding;
    if (out->steady.is_there) { /* the command shows what the finding is of */
        list[out->count - 1].show =
            findings_words(maker, "%s --filter-time %lld/%lld", finding->show,
                           (long long)out->begin_ns, (long long)out->end_ns);
    }
}

double findings_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

const char *findings_time(int64_t ns, char *out)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (ns % units[i].ns != 0) {
        i++;
    }
    (void)snprintf(out, TIMEFMT_BYTES, "%lld %s", (long long)(ns / units[i].ns), units[i].name);
    return out;
}

/* ---- public ---- */

static int finding_cmp(const void *a, const void *b)
{
    const struct finding *x = a;
    const struct finding *y = b;
    if (x->is_first != y->is_first) {
        return x->is_first ? -1 : 1;
    }
    if ((x->within != NULL) != (y->within != NULL)) {
        return x->within != NULL ? 1 : -1;
    }
    int64_t x_ns = x->recoverable_ns < 0 ? x->rank_ns - 1 : x->recoverable_ns;
    int64_t y_ns = y->recoverable_ns < 0 ? y->rank_ns - 1 : y->recoverable_ns;
    if (x_ns != y_ns) {
        return x_ns < y_ns ? 1 : -1;
    }
    int c = findings_is_nsys(x->rule) - findings_is_nsys(y->rule);
    if (c == 0) {
        c = strcmp(x->rule, y->rule);
    }
    return c != 0 ? c : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* A detector with the defaults of its arguments, and what it found. */
struct findings_asked {
    struct report_call call; /* .spec NULL: not asked yet */
    struct report_context context;
    struct detection found;
    bool failed;
};

static void ask(struct findings_maker *maker, const struct detector *detector,
                struct findings_asked *asked)
{
    if (report_call_parse(REPORT_RULE, detector->rule.name, &asked->call, maker->err) != 0) {
        asked->failed = true;
        return;
    }
    asked->context = (struct report_context){.report = &detector->rule,
                                             .shared = maker->shared,
                                             .trace = maker->trace,
                                             .select = &maker->select,
                                             .args = asked->call.values};
    if (detector->has_data(maker->trace)) {
        asked->failed =
            detector->find(&asked->context, DETECTOR_FINDINGS, &asked->found, maker->err) != 0;
    }
}

static size_t index_of(const struct detector *detector)
{
    size_t i = 0;
    while (DETECTOR_LIST[i] != detector) {
        i++;
    }
    return i;
}

const void *findings_found(struct findings_maker *maker, const struct detector *detector)
{
    struct findings_asked *asked = &maker->asked[index_of(detector)];
    if (asked->call.spec == NULL && !asked->failed) {
        ask(maker, detector, asked);
    }
    return asked->failed ? NULL : asked->found.data;
}

static int detect(struct findings_maker *maker, size_t i)
{
    const void *found = findings_found(maker, DETECTOR_LIST[i]);
    const struct findings_asked *asked = &maker->asked[i];
    if (asked->failed) {
        return -1;
    }
    return found != NULL ? DETECTOR_LIST[i]->finding(maker, &asked->context, found) : 0;
}

static void drop_all(struct findings_maker *maker)
{
    for (size_t i = 0; maker->asked != NULL && i < DETECTOR_COUNT; i++) {
        if (maker->asked[i].found.data != NULL) {
            DETECTOR_LIST[i]->drop(maker->asked[i].found.data);
        }
        report_call_free(&maker->asked[i].call);
    }
    free(maker->asked);
    free(maker->zones);
    free(maker->programs);
    select_free(&maker->select);
}

uint32_t findings_program(const struct findings_maker *maker, uint32_t process)
{
    if (process == TRACE_NONE) {
        return 0;
    }
    const struct program *program = &maker->programs[process];
    return program_words(program) | (program->is_compiled ? ADVICE_COMPILED : 0);
}

const char *findings_advice(struct findings_maker *maker, int topic, uint32_t facts,
                            uint32_t process)
{
    struct buf text = {0};
    const struct advice_case of = {
        .topic = topic, .facts = facts | maker->capture_facts | findings_program(maker, process)};
    advice_put(&text, &of);
    const char *kept = findings_keep(maker, &text);
    buf_free(&text);
    return kept;
}

/* "python (4242): PyTorch (kernel names)", a line for each process with a framework. 0 or -1. */
static int know_programs(struct findings_maker *maker)
{
    const struct trace *trace = maker->trace;
    struct buf lines = {0};
    maker->programs = programs_new(trace, shared_store(maker->shared, NULL), maker->err);
    if (maker->programs == NULL) {
        return -1;
    }
    maker->capture_facts = advice_of_capture(maker->facts);
    for (uint32_t p = 0; p < trace->process_count; p++) {
        const struct trace_process *process = &trace->processes[p];
        if ((program_words(&maker->programs[p]) & PROGRAM_FRAMEWORKS) != 0) {
            utf8_sanitize(&lines, process->name, process->name_len, false);
            buf_addf(&lines, " (%lld): ", (long long)process->pid);
            program_put(&lines, &maker->programs[p]);
            buf_addc(&lines, '\n');
        }
    }
    sharing_put(trace, &maker->facts->sharing, &lines);
    const char *about = arena_copy(&maker->out->arena, buf_text(&lines), lines.len);
    maker->failed |= about == NULL || buf_failed(&lines);
    maker->out->about = about != NULL ? about : "";
    buf_free(&lines);
    return 0;
}

const char *findings_span(const struct findings_maker *maker)
{
    bool part = maker->window.begin_ns != INT64_MIN || maker->window.end_ns != INT64_MAX;
    return maker->out->steady.is_there ? "the steady state" : part ? "this time" : "its span";
}

/* A text of around, kept. */
static const char *around_text(struct findings_maker *maker, const struct around *around,
                               void (*put)(const struct around *, struct buf *))
{
    struct buf text = {0};
    put(around, &text);
    const char *kept = findings_keep(maker, &text);
    buf_free(&text);
    return kept;
}

/* Looks for the steady state, which the findings are of then, and tells what lies around. 0 or -1. */
static int look_around(struct findings_maker *maker, const struct findings_options *options)
{
    struct findings *out = maker->out;
    const struct busy *work = shared_busy(maker->shared, SHARED_WORK, maker->err);
    maker->window = *options;
    if (work == NULL || steady_find(maker->facts, work, &out->steady, maker->err) != 0) {
        return -1;
    }
    bool everywhere = options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;
    out->steady.is_there &= everywhere && !options->whole;
    const struct around around = {maker->facts, maker->programs, &out->steady};
    out->before = everywhere ? around_text(maker, &around, around_before) : "";
    out->after = everywhere ? around_text(maker, &around, around_after) : "";
    out->steady_text = around_text(maker, &around, around_steady);
    out->start_up = around_text(maker, &around, around_start_up);
    out->end = around_text(maker, &around, around_end);
    out->series = "";
    if (out->steady.is_there) {
        out->series = around_text(maker, &around, around_series);
        maker->window.begin_ns = out->steady.begin_ns;
        maker->window.end_ns = out->steady.end_ns;
    }
    out->begin_ns = maker->window.begin_ns;
    out->end_ns = maker->window.end_ns;
    return 0;
}

static int detect_all(struct findings_maker *maker)
{
    struct select_options options = SELECT_OPTIONS_ALL;
    options.begin_ns = maker->options->begin_ns;
    options.end_ns = maker->options->end_ns;
    if (maker->options->device != TRACE_NONE) {
        options.device = maker->trace->devices[maker->options->device].id;
    }
    if (select_new(maker->trace, &options, &maker->select, maker->err) != 0) {
        return -1;
    }
    maker->asked = calloc(DETECTOR_COUNT, sizeof *maker->asked);
    int rc = maker->asked == NULL ? err_nomem(maker->err, "the findings") : 0;
    for (size_t i = 0; rc == 0 && i < DETECTOR_COUNT; i++) {
        rc = detect(maker, i);
    }
    return rc == 0 ? findings_nsys(maker, &options) : -1;
}

int findings_make(struct shared *shared, const struct findings_options *options,
                  struct findings *out, struct err *err)
{
    *out = (struct findings){0};
    struct findings_maker maker = {.shared = shared,
                                   .facts = shared_facts(shared, err),
                                   .trace = shared_trace(shared),
                                   .out = out,
                                   .err = err};
    maker.options = &maker.window;
    int rc = maker.facts == NULL || know_programs(&maker) != 0 || look_around(&maker, options) != 0
                 ? -1
                 : detect_all(&maker);
    drop_all(&maker);
    if (rc == 0 && maker.failed) {
        rc = err_nomem(err, "the findings");
    }
    if (rc != 0) {
        findings_free(out);
        return -1;
    }
    if (out->count > 0) {
        sort_list(out->list, out->count, sizeof *out->list, finding_cmp);
    }
    return 0;
}

void findings_free(struct findings *findings)
{
    free(findings->list);
    arena_free(&findings->arena);
    *findings = (struct findings){0};
}
