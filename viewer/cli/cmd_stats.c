/*
 * cmd_stats: prints reports of a capture.
 *
 * Reports, formats and outputs are taken as triples: the first report with the
 * first format to the first output, and so on; the last element of a shorter
 * list serves for the rest, as in nsys. Tables go to the output alone; what is
 * said about them goes beside them in the forms for people, and to stderr in
 * those for programs.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/nsys_options.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"
#include "viewer/cli/tables.h"

struct stats_args {
    struct opts_list reports;
    struct opts_list formats;
    struct opts_list outputs;
    const char *timeunit;
    struct tables_filter filter;
    struct tables_input input;
    const char *help_reports;
    int nvtx_scope;
    bool force;
    bool quiet;
    bool spreadsheet;
    bool no_cache;
};

static const char *report_at(size_t i)
{
    int count;
    const struct report *const *list = report_list(REPORT_STATS, &count);
    return i < (size_t)count ? list[i]->name : NULL;
}

static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What to print"},
    {'r', "report", "REPORT[:ARG]...", .kind = OPTS_LIST, .choice_at = report_at,
     .at = offsetof(struct stats_args, reports),
     .help = "Print this report. Repeatable, or several with commas. Default: "
             "nvtx_sum, osrt_sum, "
             "cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, "
             "cuda_gpu_mem_size_sum."},
    {0, "help-reports", "NAME|ALL", .kind = OPTS_TEXT, .bare = "", .choice_at = report_at,
     .at = offsetof(struct stats_args, help_reports),
     .help = "List the reports; with a name, or ALL, say what each shows and "
             "takes."},
    {'i', "input", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_CAPTURE,
     .at = offsetof(struct stats_args, input.file), .help = "The capture, in place of FILE."},
    {0, "sqlite", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_CAPTURE,
     .at = offsetof(struct stats_args, input.sqlite),
     .help =
         "The export of a report of nsys: it is read in place of the report, where it is there."},
    {0, "no-cache", .kind = OPTS_FLAG, .at = offsetof(struct stats_args, no_cache),
     .help = KEPT_HELP},
    {.kind = OPTS_GROUP, .help = "How to print it"},
    {'f', "format", "FORMAT", .kind = OPTS_LIST, .choices = "column|table|csv|tsv|json",
     .at = offsetof(struct stats_args, formats),
     .help = "Form of the output: column, table, csv, tsv or json. Several "
             "make one output each. "
             "Default: column on the standard output, csv in files."},
    {'o', "output", "BASE", .kind = OPTS_LIST, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct stats_args, outputs),
     .help = "Write to BASE_REPORT.EXTENSION. - is the standard output, . a "
             "base named as the "
             "capture, @COMMAND the input of a command."},
    {0, "force-overwrite", .kind = OPTS_BOOL, .at = offsetof(struct stats_args, force),
     .help = "Replace files that are there."},
    {0, "timeunit", "UNIT", .kind = OPTS_TEXT, .choices = "ns|us|ms|s",
     .at = offsetof(struct stats_args, timeunit),
     .help = "Unit of times: ns (default), us, ms or s, also nsec, usec, msec, "
             "seconds."},
    {0, "spreadsheet", .kind = OPTS_BOOL, .at = offsetof(struct stats_args, spreadsheet),
     .help = "csv and tsv: put ' before a text that begins with = + - or @, which a spreadsheet "
             "would take for a formula."},
    {'q', "quiet", .kind = OPTS_BOOL, .at = offsetof(struct stats_args, quiet),
     .help = "Print the tables alone: no Processing and no SKIPPED lines."},
    {.kind = OPTS_GROUP, .help = "What to count"},
    {0, "filter-time", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct stats_args, filter.time),
     .help = "Only events that overlap this time; ns, or with a unit "
             "(1.5s/2s). They are not cut."},
    {0, "filter-nvtx", "RANGE[@DOMAIN][/INDEX]", .kind = OPTS_TEXT,
     .at = offsetof(struct stats_args, filter.nvtx),
     .help = "Only events that overlap an NVTX range: its first instance, or "
             "that of an index from "
             "0. A push/pop range also keeps to its thread, and on the GPU to "
             "its process. RANGE "
             "means the default domain, as RANGE@default does, RANGE@* any; DOMAIN:RANGE is taken, "
             "too. A range whose name is spelt exactly so is meant first (layer/3, user@host)."},
    {0, "filter-name", "REGEX", .kind = OPTS_TEXT, .at = offsetof(struct stats_args, filter.name),
     .help = "Only names that match a regular expression (PCRE2; without "
             "upper-case letters it "
             "ignores case); a range is matched with its domain, too, as it is printed."},
    {0, "device", "ID", .kind = OPTS_INT, .max = INT32_MAX,
     .at = offsetof(struct stats_args, filter.device),
     .help =
         "Only work on this device: its id, as it is shown, or the number that CUDA has for it."},
    {0, "process", "PID", .kind = OPTS_INT, .max = INT64_MAX,
     .at = offsetof(struct stats_args, filter.pid), .help = "Only events of this process."},
    {0, "nvtx-scope", "SCOPE", .kind = OPTS_CHOICE, .choices = "thread|process",
     .at = offsetof(struct stats_args, nvtx_scope),
     .help = "Which GPU work belongs to an NVTX range: thread (default): what "
             "its own thread "
             "launched within it, as nsys; process: what any thread of its "
             "process launched within "
             "it (PyTorch runs the backward pass on a thread of its own), also where it ended on "
             "another thread."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Prints reports of a capture, with the names, columns and numbers "
             "of nsys stats.",
    .options = OPTIONS,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .known = nsys_stats_options,
    .known_about = "Accepted from nsys stats, without effect",
    .known_asked = nsys_say_unread,
    .examples = "cutline stats train.sqlite                            the six default "
                "reports\n"
                "cutline stats -r cuda_gpu_kern_sum:base train.sqlite  kernels by "
                "short name\n"
                "cutline stats -r cuda_gpu_trace -f csv -o . train.sqlite  "
                "train_cuda_gpu_trace.csv\n"
                "cutline stats --filter-nvtx forward --timeunit ms train.sqlite",
};

/* What stats carries. */
struct stats {
    const struct stats_args *args;
    const char *path;
    struct trace *trace;
    struct shared *shared;
    struct select_options options;
    int64_t unit_ns;
    struct tables_words words[3]; /* reports, formats, outputs */
    struct report_call *calls; /* owned; one for each table */
    struct tables_form *forms; /* owned; parallel to calls */
    size_t count;
    bool failed;
    struct err err;
};

enum {
    WORDS_REPORTS,
    WORDS_FORMATS,
    WORDS_OUTPUTS
};

/* The element of a list for table i; the last serves for the rest. NULL where there is none. */
static const char *word_for(const struct tables_words *words, size_t i)
{
    if (words->count == 0) {
        return NULL;
    }
    return words->list[i < words->count ? i : words->count - 1];
}

static const char *report_for(const struct stats *run, size_t i)
{
    static const char *const defaults[] = {"nvtx_sum",
                                           "osrt_sum",
                                           "cuda_api_sum",
                                           "cuda_gpu_kern_sum",
                                           "cuda_gpu_mem_time_sum",
                                           "cuda_gpu_mem_size_sum"};
    const size_t count = sizeof defaults / sizeof defaults[0];
    const char *named = word_for(&run->words[WORDS_REPORTS], i);
    return named != NULL ? named : i < count ? defaults[i] : NULL;
}

/* How many tables there are: the longest of the lists. */
static size_t count_tables(const struct stats *run)
{
    size_t count = run->words[WORDS_REPORTS].count;
    while (run->words[WORDS_REPORTS].count == 0 && report_for(run, count) != NULL) {
        count++;
    }
    for (int i = WORDS_FORMATS; i <= WORDS_OUTPUTS; i++) {
        count = run->words[i].count > count ? run->words[i].count : count;
    }
    return count;
}

/* Format and output of table i. */
static int make_form(struct stats *run, size_t i)
{
    const char *format = word_for(&run->words[WORDS_FORMATS], i);
    run->forms[i] = (struct tables_form){.command = COMMAND_STATS.name,
                                         .path = run->path,
                                         .target = word_for(&run->words[WORDS_OUTPUTS], i),
                                         .nvtx = run->options.nvtx,
                                         .format = -1,
                                         .unit_ns = run->unit_ns,
                                         .force = run->args->force,
                                         .quiet = run->args->quiet,
                                         .spreadsheet = run->args->spreadsheet,
                                         .as_stats = true};
    if (format == NULL || strcmp(format, ".") == 0) {
        return 0;
    }
    run->forms[i].format = table_format_by_name(format);
    if (run->forms[i].format < 0) {
        return err_set(&run->err, "no format '%s'; there are column, table, csv, tsv and json",
                       format);
    }
    return 0;
}

/* Lines up reports, formats and outputs. */
static int plan(struct stats *run)
{
    size_t count = count_tables(run);
    run->calls = calloc(count + 1, sizeof *run->calls);
    run->forms = calloc(count + 1, sizeof *run->forms);
    if (run->calls == NULL || run->forms == NULL) {
        return err_nomem(&run->err, "the reports");
    }
    const char *spec = NULL;
    for (; run->count < count; run->count++) {
        const char *named = report_for(run, run->count);
        spec = named != NULL ? named : spec; /* the last default serves for the rest, too */
        if (make_form(run, run->count) != 0 ||
            report_call_parse(REPORT_STATS, spec, &run->calls[run->count], &run->err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int prepare(struct stats *run, const struct opts_rest *rest)
{
    const struct stats_args *args = run->args;
    const struct opts_list *const lists[] = {&args->reports, &args->formats, &args->outputs};
    run->path = tables_input(&args->input, rest, &run->err);
    if (run->path == NULL) {
        return -1;
    }
    run->options.nvtx_process = args->nvtx_scope == 1;
    for (int i = WORDS_REPORTS; i <= WORDS_OUTPUTS; i++) {
        if (tables_words(lists[i], &run->words[i], &run->err) != 0) {
            return -1;
        }
    }
    if (tables_unit(args->timeunit, &run->unit_ns, &run->err) != 0 ||
        tables_filter(&args->filter, &run->options, &run->err) != 0) {
        return -1;
    }
    return plan(run);
}

static void print_table(struct stats *run, size_t i, struct tables_page *page)
{
    struct report_result result;
    const struct report_call *call = &run->calls[i];
    int rc = report_run(run->shared, call, &run->options, &result, &run->err);
    if (rc == 0) {
        rc = tables_print(&run->forms[i], call->text, &result, page, &run->err);
    }
    report_result_free(&result);
    if (rc != 0) {
        output_error(COMMAND_STATS.name, &run->err);
        run->failed = true;
    }
}

static int print_tables(struct stats *run)
{
    struct trace_options load = {.kinds = tables_kinds(run->calls, run->count, &run->options)};
    struct tables_page page = {0};
    kept_options(run->args->no_cache, &load);
    run->trace = trace_load(run->path, &load, &run->err);
    run->shared = run->trace == NULL ? NULL : shared_new(run->trace, &run->err);
    if (run->shared == NULL) {
        output_error(COMMAND_STATS.name, &run->err);
        trace_free(run->trace);
        return COMMAND_FAILED;
    }
    struct trace_keep *keep = kept_begin(run->trace);
    tables_say_outside(COMMAND_STATS.name, "filter-time", run->trace, run->options.begin_ns,
                       run->options.end_ns);
    tables_say_left_out(COMMAND_STATS.name, run->path, run->trace);
    tables_say_device(COMMAND_STATS.name, run->trace, run->options.device);
    for (size_t i = 0; i < run->count; i++) {
        print_table(run, i, &page);
    }
    if (tables_finish(&page, &run->err) != 0) {
        output_error(COMMAND_STATS.name, &run->err);
        run->failed = true;
    }
    shared_free(run->shared);
    run->failed = kept_end(COMMAND_STATS.name, keep) != 0 || run->failed;
    trace_free(run->trace);
    return run->failed ? COMMAND_FAILED : COMMAND_DONE;
}

static int stats_main(struct stats *run, const struct opts_rest *rest)
{
    if (run->args->help_reports != NULL) {
        return tables_help(COMMAND_STATS.name, REPORT_STATS, run->args->help_reports);
    }
    int status = COMMAND_USAGE;
    if (prepare(run, rest) != 0) {
        output_error(COMMAND_STATS.name, &run->err);
    } else {
        status = print_tables(run);
    }
    for (size_t i = 0; i < run->count; i++) {
        report_call_free(&run->calls[i]);
    }
    for (int i = WORDS_REPORTS; i <= WORDS_OUTPUTS; i++) {
        tables_words_free(&run->words[i]);
    }
    free(run->calls);
    free(run->forms);
    return status;
}

static int stats_run(int argc, char **argv)
{
    struct stats_args *args = calloc(1, sizeof *args); /* the lists are large for a stack */
    struct opts_rest rest;
    int status = COMMAND_FAILED;
    if (args == NULL) {
        struct err err = {0};
        (void)err_nomem(&err, "the options");
        output_error(COMMAND_STATS.name, &err);
        return status;
    }
    args->filter.device = -1;
    args->filter.pid = -1;
    struct stats run = {.args = args, .options = SELECT_OPTIONS_ALL};
    if (opts_begin(&COMMAND_STATS, argc, argv, args, &rest, &status)) {
        status = stats_main(&run, &rest);
    }
    free(args);
    return status;
}

const struct command COMMAND_STATS = {
    .name = "stats",
    .args = "FILE",
    .summary = "print the reports of a capture",
    .options = &SPEC,
    .run = stats_run,
};
