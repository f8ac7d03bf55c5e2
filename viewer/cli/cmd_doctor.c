/* cmd_doctor: can this machine record? */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/table/json.h"
#include "capture/record/doctor.h"
#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

enum doctor_format {
    DOCTOR_FORMAT_TEXT,
    DOCTOR_FORMAT_JSON,
};

struct doctor_args {
    const char *cupti;
    const char *folder;
    int format; /* enum doctor_format */
};

static const struct opts_option OPTIONS[] = {
    {.letter = 'f',
     .name = "format",
     .arg = "FORMAT",
     .kind = OPTS_CHOICE,
     .choices = "text|json",
     .at = offsetof(struct doctor_args, format),
     .help = "Form of the output. The default is text."},
    {.name = "cupti",
     .arg = "FILE",
     .kind = OPTS_TEXT,
     .complete = OPTS_COMPLETE_FILE,
     .at = offsetof(struct doctor_args, cupti),
     .help = "Try this libcupti instead of searching for one."},
    {.name = "session-dir",
     .arg = "FOLDER",
     .kind = OPTS_TEXT,
     .complete = OPTS_COMPLETE_FOLDER,
     .at = offsetof(struct doctor_args, folder),
     .help = "Look for space and for leftover recordings there. Default: $TMPDIR, or /tmp."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Says whether this machine can record CUDA and NVTX, and what to do where it cannot: "
             "one line for each thing that matters, ok, note or problem.",
    .options = OPTIONS,
    .examples = "cutline doctor           a line for each check\n"
                "cutline doctor -f json   the same for a program\n",
};

static void add_text(const struct doctor *doctor, struct buf *out)
{
    bool ascii = output_ascii();
    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        buf_addf(out, "%-8s %-12s ", doctor_level_name(line->level), line->check);
        utf8_sanitize(out, line->text, strlen(line->text), ascii);
        buf_addc(out, '\n');
        if (*line->advice) {
            buf_addf(out, "%-21s -> ", "");
            utf8_sanitize(out, line->advice, strlen(line->advice), ascii);
            buf_addc(out, '\n');
        }
    }
}

static void add_json(const struct doctor *doctor, struct buf *out)
{
    json_head(out, "cutline-doctor", 1);
    buf_adds(out, ",\"checks\":[");
    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        buf_addf(out, "%s\n{\"check\": \"%s\", \"status\": \"%s\", \"text\": ", i ? "," : "",
                 line->check, doctor_level_name(line->level));
        json_text(out, line->text, strlen(line->text));
        buf_adds(out, ", \"advice\": ");
        if (*line->advice) {
            json_text(out, line->advice, strlen(line->advice));
        } else {
            buf_adds(out, "null");
        }
        buf_adds(out, "}");
    }
    buf_adds(out, "\n]}\n");
}

static int doctor_main(int argc, char **argv)
{
    struct doctor_args args = {0};
    struct opts_rest rest;
    struct err err = {0};
    struct buf out = {0};
    int status = COMMAND_FAILED;
    if (!opts_begin(&COMMAND_DOCTOR, argc, argv, &args, &rest, &status)) {
        return status;
    }
    struct doctor *doctor = calloc(1, sizeof *doctor);
    if (!doctor) {
        return COMMAND_FAILED;
    }
    doctor_run(doctor, args.cupti, args.folder);
    if (args.format == DOCTOR_FORMAT_JSON) {
        add_json(doctor, &out);
    } else {
        add_text(doctor, &out);
    }
    status = doctor_problems(doctor) ? COMMAND_FAILED : COMMAND_DONE;
    if (buf_failed(&out) || output_all(&out, &err) < 0) {
        output_error("doctor", &err);
        status = COMMAND_FAILED;
    }
    buf_free(&out);
    free(doctor);
    return status;
}

const struct command COMMAND_DOCTOR = {
    .name = "doctor",
    .args = "",
    .summary = "say whether this machine can record, and what to do where it cannot",
    .options = &SPEC,
    .run = doctor_main,
};
