/*
 * opts: the option table of a command. One table gives the parsing, --help, the option section of
 * the man page and the shell completion, so that they cannot differ.
 *
 * How a cmd_NAME.c uses it, in full:
 *
 *     struct stats_args {               // zeroed, then the defaults, then what was given
 *         struct opts_list reports;
 *         const char *output;
 *         int format;                   // index in the choices
 *         int64_t min_ns;
 *         bool force;
 *     };
 *
 *     static const struct opts_option OPTIONS[] = {
 *         {.kind = OPTS_GROUP, .help = "What to print"},
 *         {'r', "report", "REPORT[:ARG]", .kind = OPTS_LIST, .choice_at = report_name_at,
 *          .at = offsetof(struct stats_args, reports), .help = "Print this report. Repeatable."},
 *         {'f', "format", "FORMAT", .kind = OPTS_CHOICE, .choices = "column|table|csv|tsv|json",
 *          .at = offsetof(struct stats_args, format), .help = "Form of the output."},
 *         {0, "min", "TIME", .kind = OPTS_TIME, .unit_ns = 1000,
 *          .at = offsetof(struct stats_args, min_ns), .help = "Leave out what is shorter."},
 *         {'o', "output", "FILE", .kind = OPTS_TEXT, .complete = OPTS_COMPLETE_FILE,
 *          .at = offsetof(struct stats_args, output), .help = "Write to FILE."},
 *         {0, "force-overwrite", .kind = OPTS_BOOL,
 *          .at = offsetof(struct stats_args, force), .help = "Replace FILE."},
 *         {.kind = OPTS_END},
 *     };
 *
 *     static const struct opts_spec SPEC = {
 *         .about = "Prints the reports of a capture.",
 *         .options = OPTIONS,
 *         .operands_min = 1,
 *         .operands_max = 1,
 *         .complete = OPTS_COMPLETE_CAPTURE,
 *     };
 *
 *     static int stats_run(int argc, char **argv)
 *     {
 *         struct stats_args args = {.min_ns = 50000};
 *         struct opts_rest rest;
 *         int status;
 *         if (!opts_begin(&COMMAND_STATS, argc, argv, &args, &rest, &status)) {
 *             return status;            // --help was printed, or the usage was wrong
 *         }
 *         ... rest.argv[0] is the first operand, rest.argc of them ...
 *     }
 *
 *     const struct command COMMAND_STATS = {
 *         .name = "stats", .args = "FILE", .summary = "print the reports of a capture",
 *         .options = &SPEC, .run = stats_run};
 *
 * Then one line `&COMMAND_STATS,` in main.c's table, and `./dev docs` writes the option section of
 * man/cutline-stats.1 between its two marker lines:
 *
 *     .\" options: made by ./dev docs
 *     .\" options: end
 *
 * Forms that are understood: -r X, -rX, -abc (flags), --report X, --report=X, --rep X (a unique
 * beginning), -- (the rest are operands). Options and operands mix, unless stop_at_operand is set.
 * An option with .bare takes its argument only with = (long) or attached (short). A BOOL is given
 * bare, as --name=false, or as nsys does with the word after it (-f true). -h and --help are in
 * every command and are not in the table.
 */
#ifndef CUTLINE_CLI_OPTS_H
#define CUTLINE_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"
#include "viewer/cli/command.h"

enum {
    OPTS_LIST_MAX = 64
};

/* The type of the variable at args + .at, and how the argument is read. */
enum opts_kind {
    OPTS_END, /* the last entry of a table */
    OPTS_GROUP, /* no option: .help is a heading */
    OPTS_FLAG, /* bool: set to true; no argument */
    OPTS_TEXT, /* const char *: the argument, lives in argv */
    OPTS_LIST, /* struct opts_list: one more text each time */
    OPTS_INT, /* int64_t in [.min, .max]; .max = 0: no limits */
    OPTS_TIME, /* int64_t ns, from .min on (0 and .max = 0: any); a bare number is in .unit_ns */
    OPTS_BYTES, /* int64_t: a number and an optional K, M, G, T (powers of 1024), >= 0 */
    OPTS_BOOL, /* bool: true when bare, else true|false (also yes|no, on|off, 1|0) */
    OPTS_CHOICE, /* int: index of the argument in .choices */
    OPTS_SET, /* uint32_t: bits of .choices, comma-separated in the argument; it replaces */
    OPTS_CALL, /* .call(args, argument) */
};

/* What a shell offers for an argument or operand where there are no choices. */
enum opts_complete {
    OPTS_COMPLETE_NONE,
    OPTS_COMPLETE_FILE,
    OPTS_COMPLETE_FOLDER,
    OPTS_COMPLETE_CAPTURE, /* *.sqlite */
    OPTS_COMPLETE_PROGRAM,
    OPTS_COMPLETE_COMMAND, /* names of our commands */
};

struct opts_list {
    const char *items[OPTS_LIST_MAX]; /* in argv */
    int count;
};

struct opts_option {
    char letter; /* 0: no short form */
    const char *name; /* without dashes; never NULL */
    const char *arg; /* placeholder: "FILE"; NULL for FLAG and BOOL */
    enum opts_kind kind;
    size_t at; /* offsetof in the args struct */
    const char *choices; /* "a|b|c": CHOICE and SET; for others only what completion offers */
    const char *(*choice_at)(size_t i); /* instead of choices, for completion: NULL at the end */
    const char *bare; /* the argument is optional, and this is it when left out */
    int64_t min;
    int64_t max;
    int64_t unit_ns;
    int (*call)(void *args, const char *value, struct err *err);
    enum opts_complete complete;
    const char *help; /* whole sentences; the default is named here */
};

/*
 * An option of the tool whose command lines a command takes too. It is parsed, and has one word in
 * --help and the manual page; what to make of it is the command's business.
 */
struct opts_known {
    char letter; /* 0: no short form */
    const char *name; /* NULL ends a list */
    bool is_bool; /* true|false, which may be left out; else an argument follows */
    const char *what; /* what it asks for, where the command cannot give it; NULL: nothing to say */
    const char *none; /* the argument that does not ask for it, beside those that mean "no" */
    int (*call)(void *args, const char *value, struct err *err); /* does something; may be NULL */
};

struct opts_spec {
    const char *about; /* a paragraph or more (blank line between) for --help; may be NULL */
    const struct opts_option *options; /* ends with OPTS_END; NULL: only --help */
    int operands_min;
    int operands_max; /* -1: any number */
    bool stop_at_operand; /* the first operand ends the options (record) */
    enum opts_complete complete; /* what the operands are */
    const char *operand_choices; /* "bash|zsh|fish": instead of complete */
    const char *examples; /* lines of "command   what it does" for --help; may be NULL */
    const struct opts_known *known; /* may be NULL */
    const char *known_about; /* the heading over their names */
    /* Something of known was asked for that the command cannot give. 0, or -1 with err set. */
    int (*known_asked)(void *args, const struct opts_known *known, struct err *err);
};

struct opts_rest {
    char **argv; /* the operands, in argv's own memory */
    int argc;
};

/*
 * What every command calls first: parses into args, prints --help to stdout or one line on stderr.
 * True: go on. False: over, and *status is what run() returns.
 */
bool opts_begin(const struct command *command, int argc, char **argv, void *args,
                struct opts_rest *rest, int *status);

/* The same without printing: 0; 1 where --help was asked for; -1 with err set. argv is reordered:
 * operands come first. */
int opts_parse(const struct opts_spec *spec, int argc, char **argv, void *args,
               struct opts_rest *rest, struct err *err);

/* The --help text of a command: at most 79 columns. One without run() is a program of its own. */
void opts_help(const struct command *command, struct buf *out);
/* The option list as mdoc, for the man page. */
void opts_mdoc(const struct command *command, struct buf *out);

/*
 * The name in a NULL-terminated list nearest to a mistyped word, NULL where none is near (more than
 * a third of its letters differ). Edit distance with swaps (Damerau 1964), O(len^2) a name.
 */
const char *opts_nearest(const char *word, const char *const *names);

/* One choice of an option by index: its text and length; false past the end. */
bool opts_choice(const struct opts_option *option, size_t i, const char **text, size_t *len);

#endif
