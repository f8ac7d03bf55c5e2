/*
 * command: the commands of the program. main.c finds a command in the table and hands over to it.
 */
#ifndef CUTLINE_CLI_COMMAND_H
#define CUTLINE_CLI_COMMAND_H

/* What a command returns to the shell. record returns the recorded command's own status. */
enum command_status {
    COMMAND_DONE = 0,
    COMMAND_FAILED = 1,
    COMMAND_USAGE = 2,
    COMMAND_THRESHOLD = 3, /* --fail-on found something */
};

struct
    opts_spec; /* viewer/cli/opts.h: the option table: parsing, --help, man page and completion */

struct command {
    const char *name;
    const char *args; /* "FILE", "[--] COMMAND [ARG...]": for the usage line */
    const char *summary; /* one line for the list of commands */
    const struct opts_spec *options;
    /* argv[0] is the command's name. Returns an exit status. */
    int (*run)(int argc, char **argv);
};

/* One for each command; each is defined in its cmd_NAME.c. */
extern const struct command COMMAND_VIEW;
extern const struct command COMMAND_TOUR;
extern const struct command COMMAND_CONFIG;
extern const struct command COMMAND_CACHE;
extern const struct command COMMAND_INFO;
extern const struct command COMMAND_STATS;
extern const struct command COMMAND_ANALYZE;
extern const struct command COMMAND_DIFF;
extern const struct command COMMAND_EXPORT;
extern const struct command COMMAND_RECORD;
extern const struct command COMMAND_DOCTOR;
extern const struct command COMMAND_HELP;
extern const struct command COMMAND_COMPLETION;

/* All commands of the program, NULL-terminated. The table is in main.c. */
const struct command *const *command_table(void);
/* The command of that name, NULL where there is none. */
const struct command *command_find(const char *name);

#endif
