/*
 * cmd_completion: prints the completion script of a shell, made from the option tables of all
 * commands. The build runs it and installs what it prints.
 */
#include <string.h>

#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

/* What a shell is told: a head, one part for each command, a tail. */
struct shell {
    const char *name;
    void (*head)(struct buf *out);
    void (*command)(struct buf *out, const struct command *command);
    void (*tail)(struct buf *out);
};

static const struct opts_option HELP = {
    .letter = 'h', .name = "help", .kind = OPTS_FLAG, .help = "Print a help text."};
static const struct opts_option ONLY_END = {.kind = OPTS_END};

static const struct opts_option *first_option(const struct command *command)
{
    const struct opts_spec *spec = command->options;
    return spec != NULL && spec->options != NULL ? spec->options : &ONLY_END;
}

static enum opts_complete operand_kind(const struct command *command)
{
    return command->options == NULL ? OPTS_COMPLETE_NONE : command->options->complete;
}

static bool is_optional(const struct opts_option *option)
{
    return option->kind == OPTS_BOOL || option->bare != NULL;
}

static bool has_choices(const struct opts_option *option)
{
    const char *text;
    size_t len;
    return opts_choice(option, 0, &text, &len);
}

/* The choices with blanks between. */
static void add_choices(struct buf *out, const struct opts_option *option)
{
    const char *text;
    size_t len;
    for (size_t i = 0; opts_choice(option, i, &text, &len); i++) {
        if (i > 0) {
            buf_addc(out, ' ');
        }
        buf_add(out, text, len);
    }
}

static void add_command_names(struct buf *out)
{
    for (const struct command *const *c = command_table(); *c != NULL; c++) {
        buf_addf(out, "%s%s", c == command_table() ? "" : " ", (*c)->name);
    }
}

/* "a|b|c" with blanks between. */
static void add_split(struct buf *out, const char *choices)
{
    while (*choices != '\0') {
        size_t len = strcspn(choices, "|");
        buf_add(out, choices, len);
        choices += len;
        if (*choices == '|') {
            buf_addc(out, ' ');
            choices++;
        }
    }
}

/* The first sentence of the help without its full stop; each byte of `escape` gets a backslash;
 * a quote is left out. */
static void add_sentence(struct buf *out, const char *help, const char *escape)
{
    for (; *help != '\0' && *help != '\n'; help++) {
        if (*help == '.' && (help[1] == ' ' || help[1] == '\0' || help[1] == '\n')) {
            return;
        }
        if (*help == '\'') {
            continue;
        }
        if (strchr(escape, *help) != NULL) {
            buf_addc(out, '\\');
        }
        buf_addc(out, *help);
    }
}

/* ---- bash ---- */

static void bash_head(struct buf *out)
{
    buf_adds(out,
             "# bash completion for cutline; made by: cutline completion bash\n"
             "_cutline_files() {\n"
             "    compopt -o filenames 2>/dev/null\n"
             "    mapfile -t COMPREPLY < <(compgen -d -- \"$2\"; compgen -f -X \"$1\" -- \"$2\")\n"
             "}\n"
             "_cutline() {\n"
             "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local command=${COMP_WORDS[1]} words=\n"
             "    if [[ $cur == = ]]; then\n"
             "        cur=\n"
             "    elif [[ $prev == = && $COMP_CWORD -gt 1 ]]; then\n"
             "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
             "    fi\n"
             "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
             "        _cutline_files '!*.sqlite' \"$cur\"\n"
             "        COMPREPLY+=($(compgen -W \"--help --version ");
    add_command_names(out);
    buf_adds(out, "\" -- \"$cur\"))\n"
                  "        return\n"
                  "    fi\n");
}

static void bash_argument(struct buf *out, const struct opts_option *option)
{
    if (has_choices(option)) {
        buf_adds(out, "COMPREPLY=($(compgen -W \"");
        add_choices(out, option);
        buf_adds(out, "\" -- \"$cur\"))");
    } else if (option->complete == OPTS_COMPLETE_NONE) {
        buf_adds(out, "COMPREPLY=()");
    } else {
        buf_addf(out, "_cutline_files '%s' \"$cur\"",
                 option->complete == OPTS_COMPLETE_CAPTURE  ? "!*.sqlite"
                 : option->complete == OPTS_COMPLETE_FOLDER ? "*"
                                                            : "");
    }
}

/* The case of an option's argument: after its letter or name, or after name and =. */
static void bash_option(struct buf *out, const char *command, const struct opts_option *option)
{
    if (option->kind == OPTS_FLAG) {
        return;
    }
    buf_addf(out, "    %s:--%s", command, option->name);
    if (option->letter != 0) {
        buf_addf(out, "|%s:-%c", command, option->letter);
    }
    buf_adds(out, ") ");
    if (is_optional(option)) {
        buf_adds(out, "if [[ ${COMP_WORDS[COMP_CWORD]} == = || "
                      "${COMP_WORDS[COMP_CWORD-1]} == = ]]; then ");
        bash_argument(out, option);
        buf_adds(out, "; return; fi ;;\n");
        return;
    }
    bash_argument(out, option);
    buf_adds(out, "; return ;;\n");
}

static void bash_operand(struct buf *out, const struct command *command)
{
    switch (operand_kind(command)) {
    case OPTS_COMPLETE_CAPTURE:
        buf_adds(out, "_cutline_files '!*.sqlite' \"$cur\"");
        break;
    case OPTS_COMPLETE_FILE:
        buf_adds(out, "_cutline_files '' \"$cur\"");
        break;
    case OPTS_COMPLETE_FOLDER:
        buf_adds(out, "_cutline_files '*' \"$cur\"");
        break;
    case OPTS_COMPLETE_PROGRAM:
        buf_adds(out, "COMPREPLY=($(compgen -c -- \"$cur\"))");
        break;
    case OPTS_COMPLETE_COMMAND:
        buf_adds(out, "COMPREPLY=($(compgen -W \"");
        add_command_names(out);
        buf_adds(out, "\" -- \"$cur\"))");
        break;
    case OPTS_COMPLETE_NONE:
        buf_adds(out, "COMPREPLY=($(compgen -W \"");
        if (command->options != NULL && command->options->operand_choices != NULL) {
            add_split(out, command->options->operand_choices);
        }
        buf_adds(out, "\" -- \"$cur\"))");
        break;
    }
}

static void bash_command(struct buf *out, const struct command *command)
{
    buf_addf(out, "    if [[ $command == %s ]]; then\n    case \"$command:$prev\" in\n",
             command->name);
    for (const struct opts_option *o = first_option(command); o->kind != OPTS_END; o++) {
        if (o->kind != OPTS_GROUP) {
            bash_option(out, command->name, o);
        }
    }
    buf_adds(out, "    esac\n    words=\"");
    for (const struct opts_option *o = first_option(command); o->kind != OPTS_END; o++) {
        if (o->kind != OPTS_GROUP) {
            buf_addf(out, "--%s ", o->name);
        }
    }
    buf_adds(out, "--help\"\n    if [[ $cur != -* ]]; then ");
    bash_operand(out, command);
    buf_adds(out, "; return; fi\n    fi\n");
}

static void bash_tail(struct buf *out)
{
    buf_adds(out, "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "}\n"
                  "complete -F _cutline cutline\n");
}

/* ---- zsh ---- */

static void zsh_head(struct buf *out)
{
    buf_adds(out, "#compdef cutline\n"
                  "# zsh completion for cutline; made by: cutline completion zsh\n"
                  "_cutline() {\n"
                  "    local -a commands\n"
                  "    commands=(\n");
    for (const struct command *const *c = command_table(); *c != NULL; c++) {
        buf_addf(out, "        '%s:", (*c)->name);
        add_sentence(out, (*c)->summary, ":");
        buf_adds(out, "'\n");
    }
    buf_adds(out, "    )\n"
                  "    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n"
                  "        _files -g '*.sqlite'\n"
                  "        return\n"
                  "    fi\n"
                  "    local command=$words[2]\n"
                  "    shift words\n"
                  "    (( CURRENT-- ))\n"
                  "    case $command in\n");
}

static const char *zsh_action(enum opts_complete complete)
{
    static const char *const ACTIONS[] = {
        [OPTS_COMPLETE_NONE] = " ",           [OPTS_COMPLETE_FILE] = "_files",
        [OPTS_COMPLETE_FOLDER] = "_files -/", [OPTS_COMPLETE_CAPTURE] = "_files -g \"*.sqlite\"",
        [OPTS_COMPLETE_PROGRAM] = "_normal",
    };
    return ACTIONS[complete];
}

static void zsh_option(struct buf *out, const struct opts_option *option)
{
    bool many = option->kind == OPTS_LIST;
    const char *long_end = option->kind == OPTS_FLAG ? "" : is_optional(option) ? "=-" : "=";
    const char *short_end = option->kind == OPTS_FLAG ? "" : is_optional(option) ? "-" : "+";
    buf_adds(out, "        ");
    if (option->letter != 0 && many) {
        buf_addf(out, "'*'{-%c%s,--%s%s}'[", option->letter, short_end, option->name, long_end);
    } else if (option->letter != 0) {
        buf_addf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                 short_end, option->name, long_end);
    } else {
        buf_addf(out, "'%s--%s%s[", many ? "*" : "", option->name, long_end);
    }
    add_sentence(out, option->help, "[]:\\");
    buf_addc(out, ']');
    if (option->kind != OPTS_FLAG) {
        buf_adds(out, is_optional(option) ? "::" : ":");
        buf_adds(out, "argument:");
        if (has_choices(option)) {
            buf_addc(out, '(');
            add_choices(out, option);
            buf_addc(out, ')');
        } else {
            buf_adds(out, zsh_action(option->complete));
        }
    }
    buf_adds(out, "' \\\n");
}

static void zsh_command(struct buf *out, const struct command *command)
{
    buf_addf(out, "    %s) _arguments -s \\\n", command->name);
    for (const struct opts_option *o = first_option(command); o->kind != OPTS_END; o++) {
        if (o->kind != OPTS_GROUP) {
            zsh_option(out, o);
        }
    }
    zsh_option(out, &HELP);
    if (operand_kind(command) == OPTS_COMPLETE_PROGRAM) {
        buf_adds(out, "        '*::program:_normal' ;;\n");
        return;
    }
    buf_adds(out, "        '*:operand:");
    if (operand_kind(command) == OPTS_COMPLETE_COMMAND) {
        buf_addc(out, '(');
        add_command_names(out);
        buf_addc(out, ')');
    } else if (command->options != NULL && command->options->operand_choices != NULL) {
        buf_addc(out, '(');
        add_split(out, command->options->operand_choices);
        buf_addc(out, ')');
    } else {
        buf_adds(out, zsh_action(operand_kind(command)));
    }
    buf_adds(out, "' ;;\n");
}

static void zsh_tail(struct buf *out)
{
    buf_adds(out, "    esac\n"
                  "}\n"
                  "_cutline \"$@\"\n");
}

/* ---- fish ---- */

static void fish_head(struct buf *out)
{
    buf_adds(out, "# fish completion for cutline; made by: cutline completion fish\n");
    for (const struct command *const *c = command_table(); *c != NULL; c++) {
        buf_addf(out, "complete -c cutline -n __fish_use_subcommand -a %s -d '", (*c)->name);
        add_sentence(out, (*c)->summary, "");
        buf_adds(out, "'\n");
    }
    buf_adds(out, "complete -c cutline -n __fish_use_subcommand -l version -s V -d 'Version'\n");
}

static void fish_option(struct buf *out, const char *command, const struct opts_option *option)
{
    buf_addf(out, "complete -c cutline -n '__fish_seen_subcommand_from %s' -l %s", command,
             option->name);
    if (option->letter != 0) {
        buf_addf(out, " -s %c", option->letter);
    }
    if (has_choices(option)) {
        buf_addf(out, " %s -a '", is_optional(option) ? "-f" : "-x");
        add_choices(out, option);
        buf_addc(out, '\'');
    } else if (option->kind != OPTS_FLAG) {
        buf_adds(out, option->complete == OPTS_COMPLETE_NONE ? " -x" : " -r -F");
    }
    buf_adds(out, " -d '");
    add_sentence(out, option->help, "");
    buf_adds(out, "'\n");
}

static void fish_command(struct buf *out, const struct command *command)
{
    for (const struct opts_option *o = first_option(command); o->kind != OPTS_END; o++) {
        if (o->kind != OPTS_GROUP) {
            fish_option(out, command->name, o);
        }
    }
    fish_option(out, command->name, &HELP);
    if (operand_kind(command) == OPTS_COMPLETE_COMMAND) {
        buf_addf(out, "complete -c cutline -n '__fish_seen_subcommand_from %s' -x -a '",
                 command->name);
        add_command_names(out);
        buf_adds(out, "'\n");
    } else if (command->options != NULL && command->options->operand_choices != NULL) {
        buf_addf(out, "complete -c cutline -n '__fish_seen_subcommand_from %s' -x -a '",
                 command->name);
        add_split(out, command->options->operand_choices);
        buf_adds(out, "'\n");
    }
}

static void fish_tail(struct buf *out)
{
    (void)out;
}

static const struct shell SHELLS[] = {
    {"bash", bash_head, bash_command, bash_tail},
    {"zsh", zsh_head, zsh_command, zsh_tail},
    {"fish", fish_head, fish_command, fish_tail},
};

static const struct opts_spec SPEC = {
    .about = "Prints the completion script of a shell: bash, zsh or fish. An installed cutline has "
             "them in place; else put it where your shell looks for such scripts, or for this "
             "session alone:\n\n  source <(cutline completion bash)",
    .operands_min = 1,
    .operands_max = 1,
    .operand_choices = "bash|zsh|fish",
};

static int completion_text(const char *name, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < sizeof SHELLS / sizeof SHELLS[0]; i++) {
        if (strcmp(SHELLS[i].name, name) != 0) {
            continue;
        }
        SHELLS[i].head(out);
        for (const struct command *const *c = command_table(); *c != NULL; c++) {
            SHELLS[i].command(out, *c);
        }
        SHELLS[i].tail(out);
        return 0;
    }
    return err_set(err, "no shell '%s'; it is one of bash, zsh or fish", name);
}

static int completion_run(int argc, char **argv)
{
    struct opts_rest rest;
    struct err err = {0};
    struct buf out = {0};
    int status;
    if (!opts_begin(&COMMAND_COMPLETION, argc, argv, NULL, &rest, &status)) {
        return status;
    }
    status = completion_text(rest.argv[0], &out, &err) == 0 ? COMMAND_DONE : COMMAND_USAGE;
    if (status == COMMAND_DONE && output_all(&out, &err) != 0) {
        status = COMMAND_FAILED;
    }
    if (status != COMMAND_DONE) {
        output_error(COMMAND_COMPLETION.name, &err);
    }
    buf_free(&out);
    return status;
}

const struct command COMMAND_COMPLETION = {
    .name = "completion",
    .args = "SHELL",
    .summary = "print the completion script of bash, zsh or fish",
    .options = &SPEC,
    .run = completion_run,
};
