/* cmd_info: what is in a capture. */
#include <stddef.h>

#include "analysis/report/info.h"
#include "viewer/cli/command.h"
#include "viewer/cli/kept.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

enum info_format {
    INFO_FORMAT_TEXT,
    INFO_FORMAT_JSON,
};

struct info_args {
    int format; /* enum info_format */
    bool no_cache;
};

static const struct opts_option OPTIONS[] = {
    {.letter = 'f',
     .name = "format",
     .arg = "FORMAT",
     .kind = OPTS_CHOICE,
     .choices = "text|json",
     .at = offsetof(struct info_args, format),
     .help = "Form of the output. The default is text."},
    {.name = "no-cache",
     .kind = OPTS_FLAG,
     .at = offsetof(struct info_args, no_cache),
     .help = KEPT_HELP},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Prints what is in a capture: whether there is GPU work at all, the program that made "
             "the file, its span, devices and processes with their numbers of events, what is "
             "missing, and what was lost.",
    .options = OPTIONS,
    .operands_min = 1,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline info train.sqlite   what is in it\n"
                "cutline info -f json train.sqlite   the same for a program\n",
};

static int info_print(const struct trace *trace, const struct info_args *args, struct err *err)
{
    struct store *store = trace_store(trace, err);
    struct info info;
    struct buf text = {0};
    if (store == NULL || info_collect(trace, store, &info, err) != 0) {
        store_close(store);
        return -1;
    }
    if (args->format == INFO_FORMAT_JSON) {
        info_json(&info, &text);
    } else {
        info_text(&info, output_ascii(), &text);
    }
    int status = buf_failed(&text) ? err_nomem(err, "the summary") : output_all(&text, err);
    buf_free(&text);
    info_free(&info);
    store_close(store);
    return status;
}

static int info_run(int argc, char **argv)
{
    struct info_args args = {.format = INFO_FORMAT_TEXT};
    struct opts_rest rest;
    struct err err = {""};
    int status;
    if (!opts_begin(&COMMAND_INFO, argc, argv, &args, &rest, &status)) {
        return status;
    }
    struct trace_options options = {0};
    kept_options(args.no_cache, &options);
    struct trace *trace = trace_load(rest.argv[0], &options, &err);
    struct trace_keep *keep = kept_begin(trace);
    status = trace == NULL || info_print(trace, &args, &err) != 0 ? COMMAND_FAILED : COMMAND_DONE;
    if (status == COMMAND_FAILED) {
        output_error(argv[0], &err);
    }
    status = kept_end(argv[0], keep) != 0 ? COMMAND_FAILED : status;
    trace_free(trace);
    return status;
}

const struct command COMMAND_INFO = {
    .name = "info",
    .args = "FILE",
    .summary = "say what is in a capture",
    .options = &SPEC,
    .run = info_run,
};
