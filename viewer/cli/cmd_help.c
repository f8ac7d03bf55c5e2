/* cmd_help: the list of commands, and the help of one. */
#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

struct help_args {
    bool mdoc;
};

/* clang-format off */
static const struct opts_option OPTIONS[] = {
    {0, "mdoc", .kind = OPTS_FLAG, .at = offsetof(struct help_args, mdoc),
     .help = "Print the options of COMMAND as mdoc, as they stand in its manual page."},
    {.kind = OPTS_END},
};
/* clang-format on */

static const struct opts_spec SPEC = {
    .about = "Prints the list of commands, or what COMMAND does and its options.",
    .options = OPTIONS,
    .operands_max = 1,
    .complete = OPTS_COMPLETE_COMMAND,
};

static void list_commands(struct buf *out)
{
    buf_adds(out, "Usage: cutline FILE\n"
                  "       cutline COMMAND [OPTIONS] ...\n"
                  "\n"
                  "Records CUDA and NVTX events of any command, and shows them, or any SQLite\n"
                  "file that nsys exported, as a timeline in the terminal.\n"
                  "\n"
                  "Commands:\n");
    for (const struct command *const *c = command_table(); *c != NULL; c++) {
        buf_addf(out, "  %-11s %s\n", (*c)->name, (*c)->summary);
    }
    buf_adds(out, "\n"
                  "Options:\n"
                  "  -h, --help      Print this text.\n"
                  "  -V, --version   Print the version.\n"
                  "\n"
                  "'cutline help COMMAND' or 'man cutline-COMMAND' says more.\n");
}

static int help_text(const struct opts_rest *rest, bool mdoc, struct buf *out, struct err *err)
{
    if (rest->argc == 0) {
        list_commands(out);
        return 0;
    }
    const struct command *command = command_find(rest->argv[0]);
    if (command == NULL) {
        return err_set(err, "no command '%s'; 'cutline help' lists the commands", rest->argv[0]);
    }
    if (mdoc) {
        opts_mdoc(command, out);
    } else {
        opts_help(command, out);
    }
    return 0;
}

static int help_run(int argc, char **argv)
{
    struct help_args args = {0};
    struct opts_rest rest;
    struct err err = {0};
    struct buf out = {0};
    int status;
    if (!opts_begin(&COMMAND_HELP, argc, argv, &args, &rest, &status)) {
        return status;
    }
    status = help_text(&rest, args.mdoc, &out, &err) == 0 ? COMMAND_DONE : COMMAND_USAGE;
    if (status == COMMAND_DONE && output_all(&out, &err) != 0) {
        status = COMMAND_FAILED;
    }
    if (status != COMMAND_DONE) {
        output_error(COMMAND_HELP.name, &err);
    }
    buf_free(&out);
    return status;
}

const struct command COMMAND_HELP = {
    .name = "help",
    .args = "[COMMAND]",
    .summary = "say what a command does",
    .options = &SPEC,
    .run = help_run,
};
