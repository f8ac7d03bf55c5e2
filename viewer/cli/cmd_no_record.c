/* cmd_no_record: in place of cmd_record and cmd_doctor where the recorder was not built. */
#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

static const struct opts_option OPTIONS[] = {{.kind = OPTS_END}};

static const struct opts_spec SPEC = {
    .about = "This build reads captures and has no recorder: record where the program runs, on "
             "Linux.",
    .options = OPTIONS,
    .operands_max = -1,
};

static int no_record_main(int argc, char **argv)
{
    struct err err = {0};
    (void)argc;
    (void)err_set(&err, "this build has no recorder (CUTLINE_RECORD=OFF): record on Linux with one "
                        "that has");
    output_error(argv[0], &err);
    return COMMAND_FAILED;
}

const struct command COMMAND_RECORD = {
    .name = "record",
    .args = "COMMAND [ARG...]",
    .summary = "not in this build",
    .options = &SPEC,
    .run = no_record_main,
};

const struct command COMMAND_DOCTOR = {
    .name = "doctor",
    .args = "",
    .summary = "not in this build",
    .options = &SPEC,
    .run = no_record_main,
};
