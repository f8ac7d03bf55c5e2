/*
 * cmd_export: writes a capture in another form: Chrome trace events, or one table.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/export/chrome.h"
#include "analysis/report/events_table.h"
#include "analysis/report/report_names.h"
#include "analysis/table/document.h"
#include "analysis/table/gzip.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/tables.h"

enum export_type {
    TYPE_CHROME,
    TYPE_CSV,
    TYPE_TSV,
    TYPE_JSON,
};

struct export_args {
    const char *table;
    const char *output;
    const char *timeunit;
    const char *filter_time;
    int type;
    bool force;
    bool no_flows;
    bool no_counters;
    bool spreadsheet;
    bool no_cache;
};

/* Tables of events, then reports, then rules. */
static const char *table_at(size_t i)
{
    size_t at = i;
    for (size_t n = 0; events_table_name(n) != NULL; n++) {
        if (at-- == 0) {
            return events_table_name(n);
        }
    }
    for (int kind = REPORT_STATS; kind <= REPORT_RULE; kind++) {
        int count = 0;
        const struct report *const *list = report_list((enum report_kind)kind, &count);
        if (at < (size_t)count) {
            return list[at]->name;
        }
        at -= (size_t)count;
    }
    return NULL;
}

static const struct opts_option OPTIONS[] = {
    {'t', "type", "TYPE", .kind = OPTS_CHOICE, .choices = "chrome|csv|tsv|json",
     .at = offsetof(struct export_args, type),
     .help = "chrome (default): trace events in JSON, for ui.perfetto.dev and chrome://tracing. "
             "csv, tsv, json: the table of -r."},
    {'r', "report", "TABLE[:ARG]...", .kind = OPTS_TEXT, .choice_at = table_at,
     .at = offsetof(struct export_args, table),
     .help = "The table: gpu (default), api, nvtx, osrt, overhead: every event of that kind; or a "
             "report of stats or a rule of analyze."},
    {'o', "output", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct export_args, output),
     .help = "Write to FILE, compressed where its name ends in .gz. - is the standard output "
             "(default), @COMMAND the input of a command."},
    {0, "force-overwrite", .kind = OPTS_BOOL, .at = offsetof(struct export_args, force),
     .help = "Replace FILE."},
    {0, "filter-time", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct export_args, filter_time),
     .help = "Only events that overlap this time; ns, or with a unit (1.5s/2s)."},
    {0, "timeunit", "UNIT", .kind = OPTS_TEXT, .choices = "ns|us|ms|s",
     .at = offsetof(struct export_args, timeunit),
     .help = "Unit of times in tables: ns (default), us, ms or s."},
    {0, "spreadsheet", .kind = OPTS_BOOL, .at = offsetof(struct export_args, spreadsheet),
     .help = "csv and tsv: put ' before a text that begins with = + - or @, which a spreadsheet "
             "would take for a formula."},
    {0, "no-flows", .kind = OPTS_FLAG, .at = offsetof(struct export_args, no_flows),
     .help = "chrome: leave out the arrows from calls to their ops."},
    {0, "no-counters", .kind = OPTS_FLAG, .at = offsetof(struct export_args, no_counters),
     .help = "chrome: leave out the counters of busy share and launches."},
    {0, "no-cache", .kind = OPTS_FLAG, .at = offsetof(struct export_args, no_cache),
     .help = KEPT_HELP},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Writes a capture in another form: for the Perfetto viewer, or as a table.",
    .options = OPTIONS,
    .operands_min = 1,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline export -o train.json.gz train.sqlite        for ui.perfetto.dev\n"
                "cutline export -t csv -r gpu train.sqlite           every op of the devices\n"
                "cutline export -t json -r cuda_gpu_kern_sum train.sqlite",
};

/* What export carries. */
struct export
{
    const struct export_args *args;
    const char *path;
    struct trace *trace;
    struct select_options options;
    int64_t unit_ns;
    struct err err;
};

static int write_chrome(struct export *run, const struct table_sink *sink)
{
    const struct chrome_options options = {.begin_ns = run->options.begin_ns,
                                           .end_ns = run->options.end_ns,
                                           .flows = !run->args->no_flows,
                                           .counters = !run->args->no_counters};
    struct facts *facts = facts_new(run->trace, &run->err);
    int rc = facts == NULL ? -1 : chrome_write(facts, &options, sink, &run->err);
    facts_free(facts);
    return rc;
}

static int write_table(struct export *run, const struct table *table, const char *missing,
                       const struct table_sink *sink)
{
    const struct document_table entry = {.table = table,
                                         .name = run->args->table != NULL ? run->args->table
                                                                          : events_table_name(0),
                                         .missing = missing};
    static const enum table_format formats[] = {[TYPE_CSV] = TABLE_FORMAT_CSV,
                                                [TYPE_TSV] = TABLE_FORMAT_TSV,
                                                [TYPE_JSON] = TABLE_FORMAT_JSON};
    const struct table_output how = {.format = formats[run->args->type],
                                     .time_unit_ns = run->unit_ns,
                                     .spreadsheet = run->args->spreadsheet};
    if (how.format != TABLE_FORMAT_JSON) {
        return table_write(table, &how, sink, &run->err);
    }
    return document_begin(sink, &run->err) != 0 ||
                   document_table(&entry, &how, sink, &run->err) != 0 ||
                   document_end(sink, &run->err) != 0
               ? -1
               : 0;
}

static int write_events(struct export *run, int events, const struct table_sink *sink)
{
    struct table *table = events_table(run->trace, (enum trace_table)events, run->options.begin_ns,
                                       run->options.end_ns, &run->err);
    int rc = table == NULL ? -1 : write_table(run, table, NULL, sink);
    table_free(table);
    return rc;
}

static bool is_rule(const char *spec)
{
    char name[64];
    size_t len = strcspn(spec, ":");
    if (len >= sizeof(name)) {
        return false;
    }
    memcpy(name, spec, len);
    name[len] = '\0';
    return report_named(REPORT_RULE, name) != NULL;
}

static int write_report(struct export *run, const struct table_sink *sink)
{
    struct report_call call;
    struct report_result result = {0};
    const char *spec = run->args->table;
    enum report_kind kind = is_rule(spec) ? REPORT_RULE : REPORT_STATS;
    if (report_call_parse(kind, spec, &call, &run->err) != 0) {
        return -1;
    }
    struct shared *shared = shared_new(run->trace, &run->err);
    int rc = shared == NULL ? -1 : report_run(shared, &call, &run->options, &result, &run->err);
    if (rc == 0) {
        rc = write_table(run, result.table, result.status == REPORT_MISSING ? result.missing : NULL,
                         sink);
    }
    shared_free(shared);
    report_result_free(&result);
    report_call_free(&call);
    return rc;
}

static int write_all(struct export *run, const struct table_sink *sink)
{
    const char *table = run->args->table != NULL ? run->args->table : events_table_name(0);
    int events = events_table_by_name(table);
    if (run->args->type == TYPE_CHROME) {
        return write_chrome(run, sink);
    }
    return events >= 0 ? write_events(run, events, sink) : write_report(run, sink);
}

/* To the output, through gzip where the name asks for it. */
static int write_packed(struct export *run, struct output *out)
{
    const struct table_sink plain = {output_write, out};
    if (!gzip_name(run->args->output)) {
        return write_all(run, &plain);
    }
    struct gzip *gzip = gzip_new(&plain, &run->err);
    if (gzip == NULL) {
        return -1;
    }
    const struct table_sink packed = gzip_sink(gzip);
    int rc = write_all(run, &packed);
    if (rc == 0) {
        rc = gzip_finish(gzip, &run->err);
    }
    gzip_free(gzip);
    return rc;
}

static int prepare(struct export *run)
{
    const struct export_args *args = run->args;
    if (args->type == TYPE_CHROME && args->table != NULL) {
        return err_set(&run->err, "-r %.100s needs -t csv, tsv or json", args->table);
    }
    if (args->table != NULL && events_table_by_name(args->table) < 0) {
        struct report_call call;
        enum report_kind kind = is_rule(args->table) ? REPORT_RULE : REPORT_STATS;
        if (report_call_parse(kind, args->table, &call, &run->err) != 0) {
            return -1;
        }
        report_call_free(&call);
    }
    if (tables_time("filter-time", args->filter_time, &run->options.begin_ns, &run->options.end_ns,
                    &run->err) != 0) {
        return -1;
    }
    return tables_unit(args->timeunit, &run->unit_ns, &run->err);
}

static int write_file(struct export *run)
{
    struct output out;
    const char *target = run->args->output;
    int opened = output_kind_of(target) == OUTPUT_FILE
                     ? output_open_file(&out, target, run->args->force, &run->err)
                     : output_open(&out, target, &run->err);
    if (opened != 0) {
        return -1;
    }
    int rc = write_packed(run, &out);
    if (rc != 0 && output_gone(&out)) {
        rc = 0; /* the reader went away, or output_close says why */
    }
    if (output_close(&out, rc == 0 ? &run->err : NULL) != 0) {
        rc = -1;
    }
    return rc;
}

static int export_main(struct export *run)
{
    if (prepare(run) != 0) {
        output_error(COMMAND_EXPORT.name, &run->err);
        return COMMAND_USAGE;
    }
    struct trace_options options = {0};
    kept_options(run->args->no_cache, &options);
    run->trace = trace_load(run->path, &options, &run->err);
    struct trace_keep *keep = kept_begin(run->trace);
    int rc = run->trace == NULL ? -1 : 0;
    if (rc == 0) {
        tables_say_outside(COMMAND_EXPORT.name, "filter-time", run->trace, run->options.begin_ns,
                           run->options.end_ns);
        tables_say_left_out(COMMAND_EXPORT.name, run->path, run->trace);
        rc = write_file(run);
    }
    if (rc != 0) {
        output_error(COMMAND_EXPORT.name, &run->err);
    }
    rc = kept_end(COMMAND_EXPORT.name, keep) != 0 ? -1 : rc;
    trace_free(run->trace);
    return rc == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

static int export_run(int argc, char **argv)
{
    struct export_args args = {0};
    struct export run = {.args = &args, .options = SELECT_OPTIONS_ALL};
    struct opts_rest rest;
    int status;
    if (!opts_begin(&COMMAND_EXPORT, argc, argv, &args, &rest, &status)) {
        return status;
    }
    run.path = rest.argv[0];
    return export_main(&run);
}

const struct command COMMAND_EXPORT = {
    .name = "export",
    .args = "FILE",
    .summary = "write a capture for Perfetto, or a table of it",
    .options = &SPEC,
    .run = export_run,
};
