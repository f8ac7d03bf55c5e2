/*
 * cmd_analyze: runs rules and prints their tables; without a rule, the findings of all of them,
 * ranked by the time that could be won.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/timefmt.h"
#include "analysis/detect/findings.h"
#include "analysis/filter/device.h"
#include "analysis/report/report_names.h"
#include "viewer/app/actions.h"
#include "viewer/app/keys.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/nsys_options.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/tables.h"

struct analyze_args {
    struct opts_list rules;
    struct opts_list fail_on;
    const char *output;
    const char *timeunit;
    struct tables_filter filter;
    struct tables_input input;
    const char *help_rules;
    int format; /* index in the choices, -1 = not given */
    bool force;
    bool quiet;
    bool spreadsheet;
    bool all;
    bool whole;
    bool no_cache;
};

static const char *rule_at(size_t i)
{
    int count = 0;
    const struct report *const *list = report_list(REPORT_RULE, &count);
    return i < (size_t)count ? list[i]->name : NULL;
}

static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What to look for"},
    {'r', "rule", "RULE[:ARG=VALUE]...", .kind = OPTS_LIST, .choice_at = rule_at,
     .at = offsetof(struct analyze_args, rules),
     .help = "Print what this rule finds, as a table. Repeatable, or several with commas; all runs "
             "every rule. Default: the findings of all rules, ranked by the time that could be "
             "won."},
    {0, "help-rules", "NAME|ALL", .kind = OPTS_TEXT, .bare = "", .choice_at = rule_at,
     .at = offsetof(struct analyze_args, help_rules),
     .help = "List the rules; with a name, or ALL, say what each finds and takes."},
    {0, "fail-on", "RULE[:THRESHOLD]", .kind = OPTS_LIST, .choice_at = rule_at,
     .at = offsetof(struct analyze_args, fail_on),
     .help =
         "Exit with status 3 where the rule finds more than THRESHOLD (default 0: anything). A "
         "time (5ms) compares the recoverable time of one device; a number compares the value "
         "of the rule, see the manual. Repeatable. Status 1 where there is no GPU work to judge."},
    {0, "all", .kind = OPTS_FLAG, .at = offsetof(struct analyze_args, all),
     .help =
         "Print every finding in full: those that are worth less than 0.1 % of the span, and those "
         "whose time another one counts, too."},
    {0, "whole", .kind = OPTS_FLAG, .at = offsetof(struct analyze_args, whole),
     .help = "The findings are of the whole capture, also where the program has a steady state."},
    {'i', "input", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_CAPTURE,
     .at = offsetof(struct analyze_args, input.file), .help = "The capture, in place of FILE."},
    {0, "sqlite", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_CAPTURE,
     .at = offsetof(struct analyze_args, input.sqlite),
     .help =
         "The export of a report of nsys: it is read in place of the report, where it is there."},
    {0, "no-cache", .kind = OPTS_FLAG, .at = offsetof(struct analyze_args, no_cache),
     .help = KEPT_HELP},
    {.kind = OPTS_GROUP, .help = "How to print it"},
    {'f', "format", "FORMAT", .kind = OPTS_CHOICE, .choices = "column|table|csv|tsv|json",
     .at = offsetof(struct analyze_args, format),
     .help = "Form of the output. Default: column on the standard output, csv in files."},
    {'o', "output", "BASE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct analyze_args, output),
     .help = "Write to BASE_RULE.EXTENSION. - is the standard output, . a base named as the "
             "capture, @COMMAND the input of a command."},
    {0, "force-overwrite", .kind = OPTS_BOOL, .at = offsetof(struct analyze_args, force),
     .help = "Replace files that are there."},
    {0, "timeunit", "UNIT", .kind = OPTS_TEXT, .choices = "ns|us|ms|s",
     .at = offsetof(struct analyze_args, timeunit),
     .help = "Unit of times in tables: ns (default), us, ms or s."},
    {0, "spreadsheet", .kind = OPTS_BOOL, .at = offsetof(struct analyze_args, spreadsheet),
     .help = "csv and tsv: put ' before a text that begins with = + - or @, which a spreadsheet "
             "would take for a formula."},
    {'q', "quiet", .kind = OPTS_BOOL, .at = offsetof(struct analyze_args, quiet),
     .help = "Print the tables alone: no titles and no SKIPPED lines."},
    {.kind = OPTS_GROUP, .help = "Where to look"},
    {0, "filter-time", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct analyze_args, filter.time),
     .help = "Only this time; ns, or with a unit (1.5s/2s). Gaps are cut to it."},
    {0, "filter-nvtx", "RANGE[@DOMAIN][/INDEX]", .kind = OPTS_TEXT,
     .at = offsetof(struct analyze_args, filter.nvtx),
     .help = "With -r: only the time of an NVTX range: its first instance, or that of an index "
             "from 0. See cutline stats for its forms."},
    {0, "filter-name", "REGEX", .kind = OPTS_TEXT, .at = offsetof(struct analyze_args, filter.name),
     .help = "With -r: only rows with a name that matches a regular expression (PCRE2)."},
    {0, "device", "ID", .kind = OPTS_INT, .max = INT32_MAX,
     .at = offsetof(struct analyze_args, filter.device),
     .help = "Only this device: its id, as it is shown, or the number that CUDA has for it."},
    {0, "process", "PID", .kind = OPTS_INT, .max = INT64_MAX,
     .at = offsetof(struct analyze_args, filter.pid), .help = "With -r: only this process."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Says what keeps the devices from working: idle gaps and their cause, zones with too "
             "many small launches, copies that nothing hides, calls that block.\n\n"
             "Exit status: 0 done, 1 failed, 2 wrong usage, 3 --fail-on found something.",
    .options = OPTIONS,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .known = nsys_stats_options,
    .known_about = "Accepted from nsys analyze, without effect",
    .known_asked = nsys_say_unread,
    .examples = "cutline analyze train.sqlite                        the findings, worst first\n"
                "cutline analyze -r idle_gaps:min=1ms train.sqlite   gaps of 1 ms and longer\n"
                "cutline analyze -r idle_gaps:by=cause train.sqlite  idle time by cause\n"
                "cutline analyze --fail-on idle_gaps:10 train.sqlite status 3 above 10 % idle",
};

/* What analyze carries. */
struct analyze {
    const struct analyze_args *args;
    struct tables_form form;
    struct select_options options;
    struct trace *trace;
    struct shared *shared;
    bool failed;
    struct tables_page page;
    struct err err;
};

/* ---- rules ---- */

static void rule_run(struct analyze *run, const struct report_call *call)
{
    struct report_result result;
    int rc = report_run(run->shared, call, &run->options, &result, &run->err);
    if (rc == 0) {
        rc = tables_print(&run->form, call->text, &result, &run->page, &run->err);
    }
    report_result_free(&result);
    if (rc != 0) {
        output_error(COMMAND_ANALYZE.name, &run->err);
        run->failed = true;
    }
}

/* The rules of all -r options; "all" stands for every rule. */
struct calls {
    struct report_call *list; /* owned */
    size_t count;
    size_t cap;
};

static int calls_add(struct calls *calls, const char *spec, struct err *err)
{
    struct report_call *list =
        array_grow(calls->list, &calls->cap, (size_t)calls->count + 1, sizeof *list);
    if (list == NULL) {
        return err_nomem(err, "the rules");
    }
    calls->list = list;
    if (report_call_parse(REPORT_RULE, spec, &calls->list[calls->count], err) != 0) {
        return -1;
    }
    calls->count++;
    return 0;
}

static int calls_add_all(struct calls *calls, struct err *err)
{
    for (size_t i = 0; rule_at(i) != NULL; i++) {
        if (calls_add(calls, rule_at(i), err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int calls_parse(const struct opts_list *rules, struct calls *calls, struct err *err)
{
    struct tables_words words;
    int rc = tables_words(rules, &words, err);
    for (size_t i = 0; rc == 0 && i < words.count; i++) {
        rc = strcmp(words.list[i], "all") == 0 ? calls_add_all(calls, err)
                                               : calls_add(calls, words.list[i], err);
    }
    tables_words_free(&words);
    return rc;
}

static void calls_free(struct calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        report_call_free(&calls->list[i]);
    }
    free(calls->list);
}

/* ---- findings ---- */

/* The name of the first key of a list, as a person has set it up. */
static const char *key_of_list(const char *list)
{
    static char name[KEYS_NAME_BYTES];
    struct keymap map;
    enum action_id action = action_by_name(list, strlen(list));
    keymap_defaults(&map);
    return action == ACTION_COUNT ? NULL : keys_name(keymap_key(&map, action), name);
}

static int findings_print(struct analyze *run, const struct findings *findings, struct err *err)
{
    struct output out;
    struct buf file = {0};
    if (tables_open(&run->form, "findings", &out, &file, err) != 0) {
        buf_free(&file);
        return -1;
    }
    int rc = 0;
    if (tables_person(&run->form) && run->args->format < 0) {
        struct buf text = {0};
        const struct findings_page page = {
            .file = run->form.path, .all = run->args->all, .key_of_list = key_of_list};
        findings_text(run->trace, findings, &page, &text);
        (void)output_buf(&out, &text);
        buf_free(&text);
    } else {
        struct table *table = findings_table(run->trace, findings);
        rc = table == NULL ? err_nomem(err, "the findings")
                           : tables_write(&run->form, "findings", table, NULL, &out, err);
        table_free(table);
    }
    if (output_close(&out, rc == 0 ? err : NULL) != 0) {
        rc = -1;
    }
    buf_free(&file);
    return rc;
}

/* One --fail-on: "RULE", "RULE:10", "RULE:5ms". */
struct threshold {
    char rule[64];
    bool is_time;
    int64_t ns;
    double value;
};

static int threshold_parse(const char *text, struct threshold *out, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
    *out = (struct threshold){0};
    if (len < sizeof(out->rule)) {
        memcpy(out->rule, text, len);
    }
    const struct report *rule = report_named(REPORT_RULE, out->rule);
    if (rule == NULL) {
        return err_set(err, "--fail-on %.100s: no such rule; --help-rules lists them", text);
    }
    (void)snprintf(out->rule, sizeof out->rule, "%s", rule->name);
    if (colon == NULL) {
        return 0;
    }
    const char *end = NULL;
    if (tables_limit(colon + 1, &out->value, &end) != 0) {
        return err_set(err, "--fail-on %.100s: write a number or a time after the colon", text);
    }
    if (strcmp(end, "%") == 0 || *end == '\0') {
        return 0;
    }
    out->is_time = true;
    if (timefmt_parse(colon + 1, 1, &out->ns, err) != 0) {
        return err_prefix(err, "--fail-on");
    }
    return 0;
}

/* Says so where the rule finds more than it may. */
static bool threshold_exceeded(struct analyze *run, const struct threshold *limit,
                               const struct findings *findings)
{
    char found[TIMEFMT_BYTES];
    char allowed[TIMEFMT_BYTES];
    double value = findings_value(findings, limit->rule);
    int64_t ns = findings_recoverable_ns(findings, limit->rule);
    if (limit->is_time ? ns <= limit->ns : value <= limit->value) {
        return false;
    }
    if (limit->is_time) {
        (void)err_set(&run->err, "%s: %s is more than %s", limit->rule, timefmt_duration(ns, found),
                      timefmt_duration(limit->ns, allowed));
    } else {
        (void)err_set(&run->err, "%s: %.1f is more than %.1f", limit->rule, value, limit->value);
    }
    output_error(COMMAND_ANALYZE.name, &run->err);
    return true;
}

/* A status. Where there is no work of a device to judge, the gate is not passed. */
static int thresholds_status(struct analyze *run, const struct findings *findings)
{
    const struct opts_list *list = &run->args->fail_on;
    bool exceeded = false;
    if (list->count > 0 &&
        !tables_has_ops(run->trace, run->options.begin_ns, run->options.end_ns)) {
        (void)err_set(&run->err, "--fail-on: no GPU work to judge in the capture%s",
                      run->args->filter.time != NULL ? " in the time of --filter-time" : "");
        output_error(COMMAND_ANALYZE.name, &run->err);
        return COMMAND_FAILED;
    }
    for (int i = 0; i < list->count; i++) {
        struct threshold limit;
        if (threshold_parse(list->items[i], &limit, NULL) == 0) {
            exceeded |= threshold_exceeded(run, &limit, findings);
        }
    }
    return exceeded ? COMMAND_THRESHOLD : COMMAND_DONE;
}

static int device_index(const struct trace *trace, int64_t number, uint32_t *device,
                        struct err *err)
{
    *device = number < 0 ? TRACE_NONE : device_find(trace, number, err);
    return number >= 0 && *device == TRACE_NONE ? err_prefix(err, "--device") : 0;
}

/* Makes the findings where they are asked for; prints them where no rule is. Returns a status. */
static int findings_run(struct analyze *run, bool print)
{
    struct findings findings = {0};
    struct findings_options options = {.whole = run->args->whole,
                                       .begin_ns = run->options.begin_ns,
                                       .end_ns = run->options.end_ns};
    int rc = device_index(run->trace, run->args->filter.device, &options.device, &run->err);
    if (rc == 0) {
        rc = findings_make(run->shared, &options, &findings, &run->err);
    }
    if (rc == 0 && print) {
        rc = findings_print(run, &findings, &run->err);
    }
    int status = COMMAND_DONE;
    if (rc != 0) {
        output_error(COMMAND_ANALYZE.name, &run->err);
        status = COMMAND_FAILED;
    } else {
        status = thresholds_status(run, &findings);
    }
    findings_free(&findings);
    return status;
}

/* ---- the command ---- */

static int prepare(struct analyze *run, const struct opts_rest *rest, struct calls *calls,
                   struct err *err)
{
    const struct analyze_args *args = run->args;
    const char *path = tables_input(&args->input, rest, err);
    if (path == NULL) {
        return -1;
    }
    run->form = (struct tables_form){.command = COMMAND_ANALYZE.name,
                                     .path = path,
                                     .target = args->output,
                                     .format = args->format,
                                     .force = args->force,
                                     .quiet = args->quiet,
                                     .spreadsheet = args->spreadsheet};
    for (int i = 0; i < args->fail_on.count; i++) {
        struct threshold limit;
        if (threshold_parse(args->fail_on.items[i], &limit, err) != 0) {
            return -1;
        }
    }
    if (args->rules.count == 0 &&
        (args->filter.nvtx != NULL || args->filter.name != NULL || args->filter.pid >= 0)) {
        return err_set(err, "--filter-nvtx, --filter-name and --process need a rule: add -r RULE");
    }
    if (tables_unit(args->timeunit, &run->form.unit_ns, err) != 0 ||
        tables_filter(&args->filter, &run->options, err) != 0) {
        return -1;
    }
    return calls_parse(&args->rules, calls, err);
}

static int run_all(struct analyze *run, const struct calls *calls)
{
    bool findings = calls->count == 0 || run->args->fail_on.count > 0;
    struct trace_options load = {
        .kinds = findings ? 0 : tables_kinds(calls->list, calls->count, &run->options)};
    int status = COMMAND_DONE;
    kept_options(run->args->no_cache, &load);
    run->trace = trace_load(run->form.path, &load, &run->err);
    if (run->trace == NULL) {
        output_error(COMMAND_ANALYZE.name, &run->err);
        return COMMAND_FAILED;
    }
    tables_say_outside(COMMAND_ANALYZE.name, "filter-time", run->trace, run->options.begin_ns,
                       run->options.end_ns);
    tables_say_left_out(COMMAND_ANALYZE.name, run->form.path, run->trace);
    tables_say_device(COMMAND_ANALYZE.name, run->trace, run->options.device);
    run->shared = shared_new(run->trace, &run->err);
    if (run->shared == NULL) {
        output_error(COMMAND_ANALYZE.name, &run->err);
        trace_free(run->trace);
        return COMMAND_FAILED;
    }
    struct trace_keep *keep = kept_begin(run->trace);
    for (size_t i = 0; i < calls->count; i++) {
        rule_run(run, &calls->list[i]);
    }
    if (tables_finish(&run->page, &run->err) != 0) {
        output_error(COMMAND_ANALYZE.name, &run->err);
        run->failed = true;
    }
    if (findings) {
        status = findings_run(run, calls->count == 0);
    }
    shared_free(run->shared);
    run->failed = kept_end(COMMAND_ANALYZE.name, keep) != 0 || run->failed;
    trace_free(run->trace);
    return run->failed ? COMMAND_FAILED : status;
}

static int analyze_main(struct analyze *run, const struct opts_rest *rest)
{
    struct calls calls = {0};
    if (run->args->help_rules != NULL) {
        return tables_help(COMMAND_ANALYZE.name, REPORT_RULE, run->args->help_rules);
    }
    int status = COMMAND_USAGE;
    if (prepare(run, rest, &calls, &run->err) != 0) {
        output_error(COMMAND_ANALYZE.name, &run->err);
    } else {
        status = run_all(run, &calls);
    }
    calls_free(&calls);
    return status;
}

static int analyze_run(int argc, char **argv)
{
    struct analyze_args *args = calloc(1, sizeof(*args)); /* the lists are large for a stack */
    struct opts_rest rest;
    int status = COMMAND_FAILED;
    if (args == NULL) {
        struct err err = {0};
        (void)err_nomem(&err, "the options");
        output_error(COMMAND_ANALYZE.name, &err);
        return status;
    }
    args->filter.device = -1;
    args->filter.pid = -1;
    args->format = -1;
    struct analyze run = {.args = args, .options = SELECT_OPTIONS_ALL};
    if (opts_begin(&COMMAND_ANALYZE, argc, argv, args, &rest, &status)) {
        status = analyze_main(&run, &rest);
    }
    free(args);
    return status;
}

const struct command COMMAND_ANALYZE = {
    .name = "analyze",
    .args = "FILE",
    .summary = "say what keeps the devices from working",
    .options = &SPEC,
    .run = analyze_run,
};
