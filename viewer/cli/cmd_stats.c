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
#include <sys/stat.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/report/report.h"
#include "analysis/trace/trace.h"
#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

struct stats_args {
    struct opts_list reports;
    struct opts_list formats;
    struct opts_list outputs;
    const char *timeunit;
    const char *filter_time;
    const char *filter_nvtx;
    const char *filter_name;
    const char *help_reports;
    int64_t device;
    int64_t pid;
    int nvtx_scope;
    bool force;
    bool quiet;
};

static const char *stats_report_at(size_t i)
{
    int count;
    const struct report *const *list = report_list(REPORT_STATS, &count);
    return i < (size_t)count ? list[i]->name : NULL;
}

static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What to print"},
    {'r', "report", "REPORT[:ARG]...", .kind = OPTS_LIST, .choice_at = stats_report_at,
     .at = offsetof(struct stats_args, reports),
     .help = "Print this report. Repeatable, or several with commas. Default: "
             "nvtx_sum, osrt_sum, "
             "cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, "
             "cuda_gpu_mem_size_sum."},
    {0, "help-reports", "NAME|ALL", .kind = OPTS_TEXT, .bare = "", .choice_at = stats_report_at,
     .at = offsetof(struct stats_args, help_reports),
     .help = "List the reports; with a name, or ALL, say what each shows and "
             "takes."},
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
    {'q', "quiet", .kind = OPTS_BOOL, .at = offsetof(struct stats_args, quiet),
     .help = "Print the tables alone: no Processing and no SKIPPED lines."},
    {.kind = OPTS_GROUP, .help = "What to count"},
    {0, "filter-time", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct stats_args, filter_time),
     .help = "Only events that overlap this time; ns, or with a unit "
             "(1.5s/2s). They are not cut."},
    {0, "filter-nvtx", "RANGE[@DOMAIN][/INDEX]", .kind = OPTS_TEXT,
     .at = offsetof(struct stats_args, filter_nvtx),
     .help = "Only events that overlap an NVTX range: its first instance, or "
             "that of an index from "
             "0. A push/pop range also keeps to its thread, and on the GPU to "
             "its process. RANGE "
             "means the default domain, RANGE@* any."},
    {0, "filter-name", "REGEX", .kind = OPTS_TEXT, .at = offsetof(struct stats_args, filter_name),
     .help = "Only names that match a regular expression (PCRE2; without "
             "upper-case letters it "
             "ignores case)."},
    {0, "device", "ID", .kind = OPTS_INT, .max = INT32_MAX,
     .at = offsetof(struct stats_args, device), .help = "Only work on this device."},
    {0, "process", "PID", .kind = OPTS_INT, .max = INT64_MAX,
     .at = offsetof(struct stats_args, pid), .help = "Only events of this process."},
    {0, "nvtx-scope", "SCOPE", .kind = OPTS_CHOICE, .choices = "thread|process",
     .at = offsetof(struct stats_args, nvtx_scope),
     .help = "Which GPU work belongs to an NVTX range: thread (default): what "
             "its own thread "
             "launched within it, as nsys; process: what any thread of its "
             "process launched within "
             "it (PyTorch runs the backward pass on a thread of its own)."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Prints reports of a capture, with the names, columns and numbers "
             "of nsys stats.",
    .options = OPTIONS,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline stats train.sqlite                            the six default "
                "reports\n"
                "cutline stats -r cuda_gpu_kern_sum:base train.sqlite  kernels by "
                "short name\n"
                "cutline stats -r cuda_gpu_trace -f csv -o . train.sqlite  "
                "train_cuda_gpu_trace.csv\n"
                "cutline stats --filter-nvtx forward --timeunit ms train.sqlite",
};

/* One thing to print. */
struct stats_job {
    struct report_call call;
    int format;
    const char *output; /* NULL or "-" = stdout */
};

enum {
    STATS_JOBS_MAX = 256
};

struct stats_jobs {
    struct stats_job list[STATS_JOBS_MAX];
    int count;
};

/* What the jobs share. */
struct stats_run {
    const struct stats_args *args;
    const char *path;
    struct trace *trace;
    struct select_options options;
    int64_t unit_ns;
    bool failed;
};

/* The elements of all the option's arguments, split at commas. */
struct stats_words {
    char *memory; /* owned */
    const char *items[STATS_JOBS_MAX];
    int count;
};

/* Copies one argument, its commas as the ends of words; a backslash makes a comma plain. Returns
 * where the copy ends. */
static char *stats_split_one(const char *from, char *to, struct stats_words *out)
{
    out->items[out->count++] = to;
    while (*from != '\0') {
        if (*from == ',' && out->count < STATS_JOBS_MAX) {
            *to++ = '\0';
            out->items[out->count++] = to;
            from++;
            continue;
        }
        from += from[0] == '\\' && from[1] == ',' ? 1 : 0;
        *to++ = *from++;
    }
    *to++ = '\0';
    return to;
}

static int stats_split(const struct opts_list *list, struct stats_words *out, struct err *err)
{
    size_t bytes = 1;
    char *at;
    int i;
    for (i = 0; i < list->count; i++) {
        bytes += strlen(list->items[i]) + 1;
    }
    out->memory = malloc(bytes);
    if (out->memory == NULL) {
        return err_nomem(err, "the options");
    }
    at = out->memory;
    for (i = 0; i < list->count; i++) {
        if (out->count < STATS_JOBS_MAX) {
            at = stats_split_one(list->items[i], at, out);
        }
        if (out->count >= STATS_JOBS_MAX) {
            return err_set(err, "more than %d reports, formats or outputs", STATS_JOBS_MAX - 1);
        }
    }
    return 0;
}

static bool stats_is_stdout(const char *output)
{
    return output == NULL || strcmp(output, "-") == 0;
}

/* The format of a job: its name, or what suits the output. -1: no such format.
 */
static int stats_format(const char *name, const char *output, struct err *err)
{
    int format;
    if (name == NULL || strcmp(name, ".") == 0) {
        return stats_is_stdout(output) ? (int)TABLE_FORMAT_COLUMN : (int)TABLE_FORMAT_CSV;
    }
    format = table_format_by_name(name);
    if (format < 0) {
        return err_set(err, "no format '%s'; there are column, table, csv, tsv and json", name);
    }
    return format;
}

static const char *stats_item(const struct stats_words *words, int i)
{
    if (words->count == 0) {
        return NULL;
    }
    return words->items[i < words->count ? i : words->count - 1];
}

/* Lines up reports, formats and outputs. */
static int stats_plan(const struct stats_words *reports, const struct stats_words *formats,
                      const struct stats_words *outputs, struct stats_jobs *jobs, struct err *err)
{
    static const char *const DEFAULTS[] = {"nvtx_sum",
                                           "osrt_sum",
                                           "cuda_api_sum",
                                           "cuda_gpu_kern_sum",
                                           "cuda_gpu_mem_time_sum",
                                           "cuda_gpu_mem_size_sum"};
    enum {
        DEFAULT_COUNT = sizeof DEFAULTS / sizeof DEFAULTS[0]
    };
    int count = reports->count > 0 ? reports->count : (int)DEFAULT_COUNT;
    int report_count = count;
    int i;
    count = formats->count > count ? formats->count : count;
    count = outputs->count > count ? outputs->count : count;
    for (i = 0; i < count; i++) {
        struct stats_job *job = &jobs->list[jobs->count];
        int which = i < report_count ? i : report_count - 1;
        const char *spec = reports->count > 0 ? reports->items[which] : DEFAULTS[which];
        job->output = stats_item(outputs, i);
        job->format = stats_format(stats_item(formats, i), job->output, err);
        if (job->format < 0 || report_call_parse(REPORT_STATS, spec, &job->call, err) != 0) {
            return -1;
        }
        jobs->count++;
    }
    return 0;
}

/* "[start]/[end]". */
static int stats_time(const char *text, struct select_options *options, struct err *err)
{
    char begin[64];
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text);
    if (slash == NULL || len >= sizeof begin) {
        return err_set(err, "--filter-time %s: write START/END, one of them may be left out", text);
    }
    memcpy(begin, text, len);
    begin[len] = '\0';
    if ((len > 0 && timefmt_parse(begin, 1, &options->begin_ns, err) != 0) ||
        (slash[1] != '\0' && timefmt_parse(slash + 1, 1, &options->end_ns, err) != 0)) {
        return err_prefix(err, "--filter-time");
    }
    if (options->end_ns < options->begin_ns) {
        return err_set(err, "--filter-time %s ends before it begins", text);
    }
    return 0;
}

static int stats_unit(const char *text, int64_t *unit_ns, struct err *err)
{
    int64_t unit = text == NULL ? 1 : timefmt_unit(text);
    if (unit != 1 && unit != 1000 && unit != 1000000 && unit != 1000000000) {
        return err_set(err, "--timeunit %s: there are ns, us, ms and s", text);
    }
    *unit_ns = unit;
    return 0;
}

/* Text from the file or the command line, safe for a terminal. */
static void stats_add_safe(struct buf *out, const char *text)
{
    utf8_sanitize(out, text, strlen(text), false);
}

/* The extension of nsys for a format. */
static const char *stats_extension(int format)
{
    static const char *const NAMES[] = {"txt", "txt", "csv", "tsv", "json"};
    return NAMES[format];
}

/* The file of a job: BASE_REPORT_ARGS[_nvtx=RANGE].EXT; '.' as the base is the
 * capture's name without its last extension. */
static void stats_file_name(const struct stats_run *run, const struct stats_job *job,
                            struct buf *out)
{
    const char *dot = strrchr(run->path, '.');
    const char *slash = strrchr(run->path, '/');
    size_t at;
    if (strcmp(job->output, ".") == 0) {
        bool has = dot != NULL && (slash == NULL || dot > slash + 1);
        buf_add(out, run->path, has ? (size_t)(dot - run->path) : strlen(run->path));
    } else {
        buf_adds(out, job->output);
    }
    buf_addc(out, '_');
    at = out->len;
    buf_adds(out, job->call.text);
    if (run->options.nvtx != NULL) {
        buf_addf(out, "_nvtx=%s", run->options.nvtx);
    }
    for (; at < out->len; at++) {
        if (out->data[at] == ':' || out->data[at] == '/' || (unsigned char)out->data[at] < ' ') {
            out->data[at] = '_';
        }
    }
    buf_addf(out, ".%s", stats_extension(job->format));
}

/* Says what is done; on stdout for people, where the tables are; else on
 * stderr. */
static void stats_say(const struct stats_run *run, bool beside, struct output *out,
                      const struct buf *text)
{
    if (run->args->quiet) {
        return;
    }
    if (beside) {
        (void)output_buf(out, text);
    } else {
        (void)fputs(buf_text(text), stderr);
    }
}

static void stats_say_processing(const struct stats_run *run, const struct stats_job *job,
                                 bool beside, struct output *out)
{
    struct buf text = {0};
    buf_adds(&text, "Processing [");
    stats_add_safe(&text, run->path);
    buf_adds(&text, "] with [");
    stats_add_safe(&text, job->call.text);
    buf_adds(&text, "]... \n");
    stats_say(run, beside, out, &text);
    buf_free(&text);
}

static void stats_say_skipped(const struct stats_run *run, const struct report_result *result,
                              bool beside, struct output *out)
{
    struct buf text = {0};
    buf_adds(&text, "SKIPPED: ");
    stats_add_safe(&text, run->path);
    buf_addf(&text, " does not contain %s.\n%s", result->missing, beside ? "\n" : "");
    stats_say(run, beside, out, &text);
    buf_free(&text);
}

/* The lines after a table, and an empty one. */
static void stats_add_note(struct buf *out, const struct buf *note, bool ascii)
{
    if (ascii) {
        table_text_ascii(out, note->data, note->len);
    } else {
        buf_add(out, note->data, note->len);
    }
    buf_addc(out, '\n');
}

/* The table itself, with its title and notes in the forms for people. */
static int stats_write(const struct stats_run *run, const struct stats_job *job,
                       const struct report_result *result, struct output *out, struct err *err)
{
    bool person = job->format <= (int)TABLE_FORMAT_TABLE;
    struct table_output form = {.format = (enum table_format)job->format,
                                .time_unit_ns = run->unit_ns,
                                .ascii = person && out->kind == OUTPUT_STDOUT && output_ascii()};
    struct table_sink sink = {output_write, out};
    struct buf text = {0};
    if (person) {
        buf_addf(&text, "\n ** %s (", table_title(result->table));
        stats_add_safe(&text, job->call.text);
        buf_adds(&text, "):\n\n");
        (void)output_buf(out, &text);
        buf_reset(&text);
    }
    if (table_write(result->table, &form, &sink, err) != 0 && !output_gone(out)) {
        buf_free(&text);
        return -1;
    }
    if (person) {
        buf_adds(&text, "\n");
        if (result->note.len > 0) {
            stats_add_note(&text, &result->note, form.ascii);
        }
        (void)output_buf(out, &text);
    }
    buf_free(&text);
    return 0;
}

static int stats_check_new(const struct stats_run *run, const char *file, struct err *err)
{
    struct stat st;
    if (!run->args->force && stat(file, &st) == 0) {
        return err_set(err, "%s is there already; --force-overwrite replaces it", file);
    }
    return 0;
}

/* What was said and the table, to an output that is open. */
static int stats_emit_to(const struct stats_run *run, const struct stats_job *job,
                         const struct report_result *result, struct output *out, struct err *err)
{
    bool to_stdout = out->kind == OUTPUT_STDOUT;
    bool beside = to_stdout && job->format <= (int)TABLE_FORMAT_TABLE;
    if (beside || !to_stdout) {
        stats_say_processing(run, job, beside, out);
    }
    if (result->status == REPORT_MISSING) {
        stats_say_skipped(run, result, beside, out);
        if (beside) {
            return 0;
        }
    }
    return stats_write(run, job, result, out, err);
}

/* To stdout, a command or a file. `first`: nothing was written to stdout so far. */
static int stats_emit(const struct stats_run *run, const struct stats_job *job, bool first,
                      const struct report_result *result, struct err *err)
{
    bool to_stdout = stats_is_stdout(job->output);
    struct buf file = {0};
    struct output out;
    int rc = 0;
    if (!to_stdout && result->status == REPORT_MISSING) {
        stats_say_processing(run, job, false, NULL);
        stats_say_skipped(run, result, false, NULL);
        return 0;
    }
    if (!to_stdout && job->output[0] != '@') {
        stats_file_name(run, job, &file);
        rc = buf_failed(&file) ? err_nomem(err, "the file name")
                               : stats_check_new(run, buf_text(&file), err);
    }
    if (rc == 0) {
        rc = output_open(&out, file.len > 0 ? buf_text(&file) : job->output, err);
    }
    if (rc == 0) {
        if (to_stdout && job->format > (int)TABLE_FORMAT_TABLE && !first) {
            (void)output_text(&out, "\n");
        }
        rc = stats_emit_to(run, job, result, &out, err);
        if (output_close(&out, rc == 0 ? err : NULL) != 0) {
            rc = -1;
        }
    }
    buf_free(&file);
    return rc;
}

static void stats_job_run(struct stats_run *run, const struct stats_job *job, bool first)
{
    struct report_result result;
    struct err err = {0};
    int rc = report_run(run->trace, &job->call, &run->options, &result, &err);
    if (rc == 0) {
        rc = stats_emit(run, job, first, &result, &err);
    }
    report_result_free(&result);
    if (rc != 0) {
        output_error(COMMAND_STATS.name, &err);
        run->failed = true;
    }
}

/* What a report shows and takes, in a few lines. */
static void stats_help_one(const struct report *report, bool all, struct buf *out)
{
    int i;
    buf_addf(out, "%s -- %s\n", report->name, report->title);
    if (!all) {
        return;
    }
    buf_addf(out, "\n    %s\n", report->help);
    for (i = 0; report->args != NULL && report->args[i].name != NULL; i++) {
        const struct report_arg *arg = &report->args[i];
        buf_addf(out, "    :%s%s  %s", arg->name, arg->type == REPORT_ARG_FLAG ? "" : "=VALUE",
                 arg->help);
        if (arg->fallback != NULL) {
            buf_addf(out, " (default %s)", arg->fallback);
        }
        buf_addc(out, '\n');
    }
    buf_addc(out, '\n');
}

static int stats_help(const char *name)
{
    int count;
    const struct report *const *list = report_list(REPORT_STATS, &count);
    bool all = strcmp(name, "ALL") == 0 || strcmp(name, "all") == 0;
    struct buf out = {0};
    struct err err = {0};
    int status = COMMAND_DONE;
    int i;
    for (i = 0; i < count; i++) {
        if (name[0] == '\0' || all || strcmp(name, list[i]->name) == 0) {
            stats_help_one(list[i], name[0] != '\0', &out);
        }
    }
    if (out.len == 0) {
        (void)err_set(&err, "no report '%s'; --help-reports lists them", name);
        status = COMMAND_USAGE;
    } else if (output_all(&out, &err) != 0) {
        status = COMMAND_FAILED;
    }
    if (status != COMMAND_DONE) {
        output_error(COMMAND_STATS.name, &err);
    }
    buf_free(&out);
    return status;
}

/* Reads the options into the run and the jobs. */
static int stats_prepare(struct stats_run *run, const struct stats_words *words,
                         struct stats_jobs *jobs, struct err *err)
{
    const struct stats_args *args = run->args;
    run->options.nvtx = args->filter_nvtx;
    run->options.name = args->filter_name;
    run->options.device = args->device;
    run->options.pid = args->pid;
    run->options.nvtx_process = args->nvtx_scope == 1;
    if (stats_unit(args->timeunit, &run->unit_ns, err) != 0 ||
        (args->filter_time != NULL && stats_time(args->filter_time, &run->options, err) != 0)) {
        return -1;
    }
    return stats_plan(&words[0], &words[1], &words[2], jobs, err);
}

/* What of the capture the jobs read; 0 = everything. */
static uint32_t stats_kinds(const struct stats_run *run, const struct stats_jobs *jobs)
{
    uint32_t all = 0;
    int i;
    for (i = 0; i < jobs->count; i++) {
        uint32_t kinds = report_call_kinds(&jobs->list[i].call, &run->options);
        if (kinds == 0) {
            return 0;
        }
        all |= kinds;
    }
    return all;
}

static int stats_all(struct stats_run *run, const struct stats_jobs *jobs)
{
    struct trace_options load = {.kinds = stats_kinds(run, jobs)};
    struct err err = {0};
    bool first = true;
    int i;
    run->trace = trace_load(run->path, &load, &err);
    if (run->trace == NULL) {
        output_error(COMMAND_STATS.name, &err);
        return COMMAND_FAILED;
    }
    for (i = 0; i < jobs->count; i++) {
        stats_job_run(run, &jobs->list[i], first);
        first = first && !stats_is_stdout(jobs->list[i].output);
    }
    trace_free(run->trace);
    return run->failed ? COMMAND_FAILED : COMMAND_DONE;
}

/* After the options are read. */
static int stats_main(struct stats_run *run, const struct opts_rest *rest,
                      struct stats_words *words, struct stats_jobs *jobs)
{
    const struct stats_args *args = run->args;
    struct err err = {0};
    int rc = 0;
    if (args->help_reports != NULL) {
        return stats_help(args->help_reports);
    }
    if (rest->argc == 0) {
        rc = err_set(&err, "name a capture; --help shows the options");
    } else {
        run->path = rest->argv[0];
        if (stats_split(&args->reports, &words[0], &err) != 0 ||
            stats_split(&args->formats, &words[1], &err) != 0 ||
            stats_split(&args->outputs, &words[2], &err) != 0 ||
            stats_prepare(run, words, jobs, &err) != 0) {
            rc = -1;
        }
    }
    if (rc != 0) {
        output_error(COMMAND_STATS.name, &err);
        return COMMAND_USAGE;
    }
    return stats_all(run, jobs);
}

/* The lists are too large for the stack. */
struct stats_memory {
    struct stats_args args;
    struct stats_words words[3];
    struct stats_jobs jobs;
};

static int stats_run(int argc, char **argv)
{
    struct stats_memory *memory = calloc(1, sizeof *memory);
    struct stats_run run = {.options = SELECT_OPTIONS_ALL};
    struct opts_rest rest;
    int status = COMMAND_FAILED;
    int i;
    if (memory == NULL) {
        struct err err = {0};
        (void)err_nomem(&err, "the options");
        output_error(COMMAND_STATS.name, &err);
        return status;
    }
    memory->args.device = -1;
    memory->args.pid = -1;
    run.args = &memory->args;
    if (opts_begin(&COMMAND_STATS, argc, argv, &memory->args, &rest, &status)) {
        status = stats_main(&run, &rest, memory->words, &memory->jobs);
    }
    for (i = 0; i < memory->jobs.count; i++) {
        report_call_free(&memory->jobs.list[i].call);
    }
    for (i = 0; i < 3; i++) {
        free(memory->words[i].memory);
    }
    free(memory);
    return status;
}

const struct command COMMAND_STATS = {
    .name = "stats",
    .args = "FILE",
    .summary = "print the reports of a capture",
    .options = &SPEC,
    .run = stats_run,
};
