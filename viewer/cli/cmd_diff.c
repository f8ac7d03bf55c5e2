/*
 * cmd_diff: compares two captures.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/diff/diff_table.h"
#include "analysis/diff/diff_text.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/tables.h"

enum {
    ROWS_PERSON = 20, /* of a section on a page for people */
};

struct diff_args {
    const char *per;
    const char *fail_on;
    const char *output;
    const char *timeunit;
    const char *filter_base;
    const char *filter_new;
    int64_t rows; /* -2 = not given */
    int format;
    bool exact;
    bool all;
    bool force;
    bool quiet;
    bool spreadsheet;
    bool no_cache;
};

static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "What to compare"},
    {0, "per", "RANGE", .kind = OPTS_TEXT, .at = offsetof(struct diff_args, per),
     .help = "Count and time per instance of this NVTX range (RANGE, DOMAIN:RANGE or "
             "RANGE@DOMAIN; @default is the domain without a name), from its "
             "first begin to its last end: for runs of different length."},
    {0, "exact", .kind = OPTS_FLAG, .at = offsetof(struct diff_args, exact),
     .help = "Keep the numbers of PyTorch's calls in range names; by default \"aten::add, seq = 5, "
             "op_id = 7\" is \"aten::add\"."},
    {0, "filter-time-base", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct diff_args, filter_base),
     .help = "Only what begins in this time of BASE; ns, or with a unit (1.5s/2s)."},
    {0, "filter-time-new", "[START]/[END]", .kind = OPTS_TEXT,
     .at = offsetof(struct diff_args, filter_new), .help = "Only what begins in this time of NEW."},
    {0, "fail-on-regression", "PERCENT", .kind = OPTS_TEXT,
     .at = offsetof(struct diff_args, fail_on),
     .help = "Exit with status 3 where NEW is slower than BASE by more than PERCENT: its span, its "
             "GPU busy time, or the mean of a kernel, copy or range with 1 % of the time of its "
             "kind, beyond the noise; with status 1 where one of them has no GPU work."},
    {0, "no-cache", .kind = OPTS_FLAG, .at = offsetof(struct diff_args, no_cache),
     .help = KEPT_HELP},
    {.kind = OPTS_GROUP, .help = "How to print it"},
    {'f', "format", "FORMAT", .kind = OPTS_CHOICE, .choices = "column|table|csv|tsv|json",
     .at = offsetof(struct diff_args, format),
     .help = "Form of the output. Default: a page as wide as the terminal on the standard output, "
             "csv in files."},
    {'o', "output", "BASE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct diff_args, output),
     .help = "Write to BASE_diff.EXTENSION. - is the standard output, . a base named as NEW, "
             "@COMMAND the input of a command."},
    {0, "force-overwrite", .kind = OPTS_BOOL, .at = offsetof(struct diff_args, force),
     .help = "Replace files that are there."},
    {0, "timeunit", "UNIT", .kind = OPTS_TEXT, .choices = "ns|us|ms|s",
     .at = offsetof(struct diff_args, timeunit),
     .help = "Unit of times: ns (default), us, ms or s."},
    {0, "rows", "N", .kind = OPTS_INT, .min = -1, .max = INT32_MAX,
     .at = offsetof(struct diff_args, rows),
     .help = "At most N rows of each kind; -1 prints all. Default: 20 for people, else all."},
    {0, "all", .kind = OPTS_FLAG, .at = offsetof(struct diff_args, all),
     .help = "For people: rows that did not change, too."},
    {0, "spreadsheet", .kind = OPTS_BOOL, .at = offsetof(struct diff_args, spreadsheet),
     .help = "csv and tsv: put ' before a text that begins with = + - or @, which a spreadsheet "
             "would take for a formula."},
    {'q', "quiet", .kind = OPTS_BOOL, .at = offsetof(struct diff_args, quiet),
     .help = "Print the tables alone: no titles."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Compares two captures: totals, kernels, copies, API calls, NVTX ranges and causes of "
             "idle time; what is new, what is gone, what is within the noise.\n\n"
             "Exit status: 0 done, 1 failed, 2 wrong usage, 3 --fail-on-regression found one.",
    .options = OPTIONS,
    .operands_min = 2,
    .operands_max = 2,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline diff before.sqlite after.sqlite\n"
                "cutline diff --per iteration before.sqlite after.sqlite\n"
                "cutline diff --fail-on-regression 5 -f csv before.sqlite after.sqlite",
};

/* What diff carries. */
struct compare {
    const struct diff_args *args;
    struct tables_form form;
    struct diff_options options;
    const char *paths[2];
    struct trace *traces[2];
    struct trace_keep *keeps[2];
    struct facts *facts[2];
    struct diff diff;
    double limit; /* percent, -1 = none */
    struct err err;
};

static int number(const char *text, double *value, struct err *err)
{
    const char *end = NULL;
    if (tables_limit(text, value, &end) != 0 || (*end != '\0' && strcmp(end, "%") != 0)) {
        return err_set(err, "--fail-on-regression %.100s: write a number of percent", text);
    }
    return 0;
}

static int prepare(struct compare *run, const struct opts_rest *rest)
{
    const struct diff_args *args = run->args;
    run->paths[0] = rest->argv[0];
    run->paths[1] = rest->argv[1];
    run->limit = -1.0;
    run->form = (struct tables_form){.command = COMMAND_DIFF.name,
                                     .path = run->paths[1],
                                     .target = args->output,
                                     .format = args->format,
                                     .force = args->force,
                                     .quiet = args->quiet,
                                     .spreadsheet = args->spreadsheet};
    run->options = (struct diff_options){.per = args->per,
                                         .exact = args->exact,
                                         .begin_ns = {INT64_MIN, INT64_MIN},
                                         .end_ns = {INT64_MAX, INT64_MAX}};
    if (tables_time("filter-time-base", args->filter_base, &run->options.begin_ns[0],
                    &run->options.end_ns[0], &run->err) != 0 ||
        tables_time("filter-time-new", args->filter_new, &run->options.begin_ns[1],
                    &run->options.end_ns[1], &run->err) != 0) {
        return -1;
    }
    if (args->fail_on != NULL && number(args->fail_on, &run->limit, &run->err) != 0) {
        return -1;
    }
    return tables_unit(args->timeunit, &run->form.unit_ns, &run->err);
}

static int load(struct compare *run)
{
    struct trace_options options = {0};
    kept_options(run->args->no_cache, &options);
    for (int i = 0; i < 2; i++) {
        run->traces[i] = trace_load(run->paths[i], &options, &run->err);
        if (run->traces[i] == NULL) {
            return err_prefix(&run->err, i == 0 ? "BASE" : "NEW");
        }
        run->keeps[i] = kept_begin(run->traces[i]);
        run->facts[i] = facts_new(run->traces[i], &run->err);
        if (run->facts[i] == NULL) {
            return -1;
        }
        tables_say_outside(COMMAND_DIFF.name, i == 0 ? "filter-time-base" : "filter-time-new",
                           run->traces[i], run->options.begin_ns[i], run->options.end_ns[i]);
        tables_say_left_out(COMMAND_DIFF.name, run->paths[i], run->traces[i]);
    }
    const struct facts *const facts[2] = {run->facts[0], run->facts[1]};
    return diff_make(facts, &run->options, &run->diff, &run->err);
}

static void page_head(const struct compare *run, struct output *out)
{
    struct buf text = {0};
    static const char *const labels[2] = {"BASE", "NEW "};
    for (int i = 0; i < 2; i++) {
        buf_addf(&text, "%s  ", labels[i]);
        utf8_sanitize(&text, run->paths[i], strlen(run->paths[i]), false);
        if (run->options.per != NULL) {
            buf_addf(&text, "  (%lld steps)", (long long)run->diff.steps[i]);
        }
        buf_addc(&text, '\n');
    }
    (void)output_buf(out, &text);
    buf_free(&text);
}

static int page_section(struct compare *run, enum diff_section section, struct output *out)
{
    const struct diff_table_options options = {
        .changed = !run->args->all,
        .max_rows = run->args->rows == -2 ? ROWS_PERSON : run->args->rows,
    };
    size_t left_out = 0;
    struct buf note = {0};
    struct table *table = diff_section_table(&run->diff, section, &options, &left_out);
    if (table == NULL) {
        return err_nomem(&run->err, "the comparison");
    }
    if (left_out > 0) {
        buf_addf(&note, "%zu more rows are the same or change less; --all --rows -1 prints them\n",
                 left_out);
    }
    int rc = 0;
    if (table_rows(table) > 0) {
        rc = tables_write(&run->form, diff_section_name(section), table, &note, out, &run->err);
    }
    buf_free(&note);
    table_free(table);
    return rc;
}

/* Columns of the terminal, of the narrowest page where there is none. */
static size_t page_cols(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col <= DIFF_TEXT_COLS) {
        return DIFF_TEXT_COLS;
    }
    return size.ws_col - 1U;
}

static void page(struct compare *run, struct output *out)
{
    const struct diff_table_options options = {
        .changed = !run->args->all,
        .max_rows = run->args->rows == -2 ? ROWS_PERSON : run->args->rows,
    };
    const struct facts *const facts[2] = {run->facts[0], run->facts[1]};
    struct buf text = {0};
    page_head(run, out);
    for (int i = 0; i < DIFF_SECTION_COUNT; i++) {
        diff_text(facts, &run->diff, (enum diff_section)i, &options, page_cols(), &text);
    }
    buf_adds(&text, "\nbase, new, change: time in all. count: base>new where they differ.\n"
                    "speed: old mean over new. noise: means no further apart than instances "
                    "spread.\n");
    (void)output_buf(out, &text);
    buf_free(&text);
}

static int print_all(struct compare *run, struct output *out)
{
    if (tables_stdout(&run->form) && run->args->format < 0 && run->args->timeunit == NULL &&
        !run->form.quiet) {
        page(run, out);
        return 0;
    }
    if (tables_person(&run->form)) {
        int rc = 0;
        if (!run->form.quiet) {
            page_head(run, out);
        }
        for (int i = 0; rc == 0 && i < DIFF_SECTION_COUNT; i++) {
            rc = page_section(run, (enum diff_section)i, out);
        }
        return rc;
    }
    const struct diff_table_options options = {.max_rows =
                                                   run->args->rows == -2 ? -1 : run->args->rows};
    struct table *table = diff_table(&run->diff, &options);
    if (table == NULL) {
        return err_nomem(&run->err, "the comparison");
    }
    int rc = tables_write(&run->form, "diff", table, NULL, out, &run->err);
    table_free(table);
    return rc;
}

static int print(struct compare *run)
{
    struct output out;
    struct buf file = {0};
    int rc = tables_open(&run->form, "diff", &out, &file, &run->err);
    if (rc == 0) {
        rc = print_all(run, &out);
        if (output_close(&out, rc == 0 ? &run->err : NULL) != 0) {
            rc = -1;
        }
    }
    buf_free(&file);
    return rc;
}

/* COMMAND_THRESHOLD where there is a regression, and says which; COMMAND_FAILED where a side has
 * nothing to compare, so that the gate is not passed. */
static int check_regression(struct compare *run)
{
    for (int i = 0; run->limit >= 0.0 && i < 2; i++) {
        if (!tables_has_ops(run->traces[i], run->options.begin_ns[i], run->options.end_ns[i])) {
            (void)err_set(&run->err, "--fail-on-regression: no GPU work to judge in %s",
                          i == 0 ? "BASE" : "NEW");
            output_error(COMMAND_DIFF.name, &run->err);
            return COMMAND_FAILED;
        }
    }
    const struct diff_row *row = run->limit < 0.0 ? NULL : diff_regression(&run->diff, run->limit);
    if (row == NULL) {
        return COMMAND_DONE;
    }
    (void)err_set(&run->err, "regression: %s %.200s is %.1f %% slower, more than %.1f %%",
                  diff_section_name((enum diff_section)row->section), row->name,
                  diff_slower_percent(&run->diff, row), run->limit);
    output_error(COMMAND_DIFF.name, &run->err);
    return COMMAND_THRESHOLD;
}

static int compare_main(struct compare *run, const struct opts_rest *rest)
{
    if (prepare(run, rest) != 0) {
        output_error(COMMAND_DIFF.name, &run->err);
        return COMMAND_USAGE;
    }
    int status = COMMAND_FAILED;
    if (load(run) != 0 || print(run) != 0) {
        output_error(COMMAND_DIFF.name, &run->err);
    } else {
        status = check_regression(run);
    }
    diff_free(&run->diff);
    for (int i = 0; i < 2; i++) {
        facts_free(run->facts[i]);
        status = kept_end(COMMAND_DIFF.name, run->keeps[i]) != 0 ? COMMAND_FAILED : status;
        trace_free(run->traces[i]);
    }
    return status;
}

static int diff_run(int argc, char **argv)
{
    struct diff_args args = {.format = -1, .rows = -2};
    struct compare run = {.args = &args};
    struct opts_rest rest;
    int status;
    if (!opts_begin(&COMMAND_DIFF, argc, argv, &args, &rest, &status)) {
        return status;
    }
    return compare_main(&run, &rest);
}

const struct command COMMAND_DIFF = {
    .name = "diff",
    .args = "BASE NEW",
    .summary = "compare two captures",
    .options = &SPEC,
    .run = diff_run,
};
