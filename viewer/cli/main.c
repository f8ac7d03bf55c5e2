/*
 * The program: finds the command by its name and hands over to it. `cutline FILE` is `cutline view
 * FILE`. Each command is one line in the table and one file cmd_NAME.c.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

static const struct command *const COMMANDS[] = {
    /* clang-format off */
    &COMMAND_VIEW,
    &COMMAND_INFO,
    &COMMAND_STATS,
    &COMMAND_ANALYZE,
    &COMMAND_DIFF,
    &COMMAND_EXPORT,
    &COMMAND_RECORD,
    &COMMAND_DOCTOR,
    &COMMAND_TOUR, &COMMAND_CONFIG, &COMMAND_CACHE, &COMMAND_HELP,
    &COMMAND_COMPLETION,
    NULL,
    /* clang-format on */
};

const struct command *const *command_table(void)
{
    return COMMANDS;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; COMMANDS[i] != NULL; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0) {
            return COMMANDS[i];
        }
    }
    return NULL;
}

static int print_version(void)
{
    struct err err = {0};
    struct buf text = {0};
    buf_addf(&text, "cutline %s\n", CUTLINE_VERSION);
    int result = output_all(&text, &err);
    buf_free(&text);
    if (result != 0) {
        output_error(NULL, &err);
        return COMMAND_FAILED;
    }
    return COMMAND_DONE;
}

/* Our command for a word of nsys and its kin; NULL where it is none. */
static const char *nsys_command(const char *word)
{
    static const struct {
        const char *word;
        const char *ours;
    } words[] = {{"profile", "record"}, {"launch", "record"}, {"start", "record"},
                 {"nvprof", "record"},  {"status", "doctor"}, {"recipe", "stats"},
                 {"ui", "view"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, word) == 0) {
            return words[i].ours;
        }
    }
    return NULL;
}

/* The word is no command and no option: a file to view, or a slip. */
static int run_default(int argc, char **argv)
{
    const struct command *view = command_find("view");
    const char *names[sizeof COMMANDS / sizeof COMMANDS[0]];
    struct err err = {0};
    struct stat st;
    size_t count = 0;
    bool path = strpbrk(argv[1], "./") != NULL || argv[1][0] == '-' || stat(argv[1], &st) == 0;
    if (view != NULL && path) {
        return view->run(argc, argv);
    }
    for (; COMMANDS[count] != NULL; count++) {
        names[count] = COMMANDS[count]->name;
    }
    names[count] = NULL;
    const char *near = nsys_command(argv[1]);
    near = near != NULL ? near : opts_nearest(argv[1], names);
    if (near != NULL) {
        (void)err_set(&err, "no command or file '%s'; did you mean '%s'?", argv[1], near);
    } else {
        (void)err_set(&err, "no command or file '%s'; 'cutline help' lists the commands", argv[1]);
    }
    output_error(NULL, &err);
    return COMMAND_USAGE;
}

static int run_command(const char *name, int argc, char **argv)
{
    const struct command *command = command_find(name);
    return command == NULL ? run_default(argc, argv) : command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    static char help[] = "help";
    char *only_help[] = {help, NULL};
    const char *word = argc > 1 ? argv[1] : "";
    (void)setlocale(LC_CTYPE, "");
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version();
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return COMMAND_HELP.run(1, only_help);
    }
    if (argc < 2) {
        struct err err = {0};
        (void)err_set(&err, "name a capture or a command; 'cutline help' lists the commands");
        output_error(NULL, &err);
        return COMMAND_USAGE;
    }
    return run_command(word, argc, argv);
}
