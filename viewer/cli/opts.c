/*
 * opts: parses a command line by the option table of the command. See opts.h.
 *
 * It is written here and not left to getopt_long because of what that cannot do: say which option
 * was meant, take `-f true` for a boolean, and work without global state.
 */
#include "viewer/cli/opts.h"

#include <stdio.h>
#include <string.h>

#include "viewer/cli/opts_internal.h"
#include "viewer/cli/output.h"

#define MISSING "something is missing"

/* One walk over argv. */
struct parse {
    const struct opts_spec *spec;
    char **argv;
    int argc;
    int next; /* the next word to look at */
    void *args;
    struct err *err;
    bool help;
};

static const struct opts_option NO_OPTIONS[] = {{.kind = OPTS_END}};
static const struct opts_option HELP = {
    .letter = 'h', .name = "help", .kind = OPTS_FLAG, .help = "Print this text."};

static const struct opts_option *spec_options(const struct opts_spec *spec)
{
    return spec != NULL && spec->options != NULL ? spec->options : NO_OPTIONS;
}

/* "--report", whichever way it was given. */
static const char *shown(const struct opts_option *option, char out[64])
{
    (void)snprintf(out, 64, "--%s", option->name);
    return out;
}

/* ---- options of another tool ---- */

/* The option of exactly that name or letter; NULL where there is none. */
static const struct opts_known *find_known(const struct parse *p, char letter, const char *name,
                                           size_t len)
{
    const struct opts_known *known = p->spec == NULL ? NULL : p->spec->known;
    for (; known != NULL && known->name != NULL; known++) {
        bool is_letter = letter != 0 && known->letter == letter;
        bool is_name =
            name != NULL && strlen(known->name) == len && strncmp(known->name, name, len) == 0;
        if (is_letter || is_name) {
            return known;
        }
    }
    return NULL;
}

/* Does the argument leave the thing out? */
static bool asks_nothing(const struct opts_known *known, const char *value)
{
    static const char *const nothing[] = {"", "none", "false", "no", "off"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        if (strcmp(value, nothing[i]) == 0) {
            return true;
        }
    }
    if (known->is_bool && strcmp(value, "0") == 0) {
        return true;
    }
    return known->none != NULL && strcmp(value, known->none) == 0;
}

/* attached: what follows the = or the letter; NULL where nothing does. */
static int apply_known(struct parse *p, const struct opts_known *known, const char *attached)
{
    const char *word = p->next < p->argc ? p->argv[p->next] : NULL;
    const char *value = attached;
    if (attached == NULL && known->is_bool) {
        bool given = word != NULL && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0);
        p->next += given ? 1 : 0;
        value = given ? word : "true";
    } else if (attached == NULL && word == NULL) {
        return err_set(p->err, "--%s needs an argument", known->name);
    } else if (attached == NULL) {
        p->next++;
        value = word;
    }
    if (known->call != NULL && known->call(p->args, value, p->err) != 0) {
        return err_prefix(p->err, "--%s", known->name);
    }
    if (known->what == NULL || p->spec == NULL || asks_nothing(known, value)) {
        return 0;
    }
    return p->spec->known_asked(p->args, known, p->err);
}

/* ---- options of the table ---- */

static int apply(struct parse *p, const struct opts_option *option, const char *value)
{
    if (option == &HELP) {
        p->help = true;
        return 0;
    }
    return opts_read(option, value, p->args, p->err);
}

static const char *bare_value(const struct opts_option *option)
{
    if (option->kind == OPTS_FLAG) {
        return "";
    }
    return option->kind == OPTS_BOOL ? "true" : option->bare;
}

/* The option was given without an attached argument: takes the next word where it needs one. */
static int apply_detached(struct parse *p, const struct opts_option *option)
{
    char name[64];
    const char *bare = bare_value(option);
    const char *word = p->next < p->argc ? p->argv[p->next] : NULL;
    if (option->kind == OPTS_BOOL && word != NULL &&
        (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)) {
        p->next++;
        return apply(p, option, word);
    }
    if (bare != NULL) {
        return apply(p, option, bare);
    }
    if (word == NULL) {
        return err_set(p->err, "%s needs %s", shown(option, name), option->arg);
    }
    p->next++;
    return apply(p, option, word);
}

static int unknown_option(const struct parse *p, const char *name, size_t len)
{
    const struct opts_option *options = spec_options(p->spec);
    const char *names[402];
    char word[64];
    size_t count = 0;
    for (; options->kind != OPTS_END && count < 200; options++) {
        if (options->kind != OPTS_GROUP) {
            names[count++] = options->name;
        }
    }
    for (const struct opts_known *known = p->spec == NULL ? NULL : p->spec->known;
         known != NULL && known->name != NULL && count < 400; known++) {
        names[count++] = known->name;
    }
    names[count++] = HELP.name;
    names[count] = NULL;
    (void)snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *near = opts_nearest(word, names);
    if (near != NULL) {
        return err_set(p->err, "no option --%s; did you mean --%s?", word, near);
    }
    return err_set(p->err, "no option --%s; --help lists the options", word);
}

/* The option of that name, or the only one that begins so. NULL: none, or several (err says). */
static const struct opts_option *find_long(const struct parse *p, const char *name, size_t len)
{
    const struct opts_option *found = strncmp(HELP.name, name, len) == 0 ? &HELP : NULL;
    const struct opts_option *other = NULL;
    if (found != NULL && HELP.name[len] == '\0') {
        return &HELP;
    }
    for (const struct opts_option *o = spec_options(p->spec); o->kind != OPTS_END; o++) {
        if (o->kind == OPTS_GROUP || strncmp(o->name, name, len) != 0) {
            continue;
        }
        if (o->name[len] == '\0') {
            return o;
        }
        other = found;
        found = o;
    }
    if (found == NULL) {
        (void)unknown_option(p, name, len);
    } else if (other != NULL) {
        (void)err_set(p->err, "--%.*s can be --%s or --%s; write it out", (int)len, name,
                      other->name, found->name);
        found = NULL;
    }
    return found;
}

static int parse_long(struct parse *p, const char *name)
{
    char text[64];
    size_t len = strcspn(name, "=");
    const struct opts_known *known = find_known(p, 0, name, len);
    if (known != NULL) {
        return apply_known(p, known, name[len] == '=' ? name + len + 1 : NULL);
    }
    const struct opts_option *option = find_long(p, name, len);
    if (option == NULL) {
        return -1;
    }
    if (name[len] == '\0') {
        return apply_detached(p, option);
    }
    if (option->kind == OPTS_FLAG) {
        return err_set(p->err, "%s takes no argument", shown(option, text));
    }
    return apply(p, option, name + len + 1);
}

static const struct opts_option *find_short(const struct parse *p, char letter)
{
    for (const struct opts_option *o = spec_options(p->spec); o->kind != OPTS_END; o++) {
        if (o->kind != OPTS_GROUP && o->letter == letter) {
            return o;
        }
    }
    return letter == HELP.letter ? &HELP : NULL;
}

/* "-abc": flags; the first that takes an argument takes the rest, or the next word. */
static int parse_short(struct parse *p, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct opts_known *known = find_known(p, *letters, NULL, 0);
        if (known != NULL) {
            const char *rest = letters + (letters[1] == '=' ? 2 : 1);
            return apply_known(p, known, letters[1] == '\0' ? NULL : rest);
        }
        const struct opts_option *option = find_short(p, *letters);
        if (option == NULL) {
            return err_set(p->err, "no option -%c; --help lists the options", *letters);
        }
        if (option->kind != OPTS_FLAG && letters[1] != '\0') {
            return apply(p, option, letters + (letters[1] == '=' ? 2 : 1));
        }
        if (apply_detached(p, option) != 0) {
            return -1;
        }
    }
    return 0;
}

static int parse_word(struct parse *p, const char *word)
{
    return word[1] == '-' ? parse_long(p, word + 2) : parse_short(p, word + 1);
}

static int check_operands(const struct opts_spec *spec, const struct opts_rest *rest,
                          struct err *err)
{
    int max = spec == NULL ? 0 : spec->operands_max;
    int min = spec == NULL ? 0 : spec->operands_min;
    if (rest->argc < min) {
        return rest->argc == 0 ? err_set(err, MISSING " after the command")
                               : err_set(err, MISSING " after '%s'", rest->argv[0]);
    }
    if (max >= 0 && rest->argc > max) {
        return err_set(err, "one word too many: '%s'", rest->argv[max]);
    }
    return 0;
}

int opts_parse(const struct opts_spec *spec, int argc, char **argv, void *args,
               struct opts_rest *rest, struct err *err)
{
    struct parse p = {
        .spec = spec, .argv = argv, .argc = argc, .next = 1, .args = args, .err = err};
    bool over = false; /* only operands follow */
    *rest = (struct opts_rest){.argv = argv + (argc > 0 ? 1 : 0)};
    while (p.next < argc) {
        char *word = argv[p.next++];
        if (!over && strcmp(word, "--") == 0) {
            over = true;
        } else if (!over && word[0] == '-' && word[1] != '\0') {
            if (parse_word(&p, word) != 0) {
                return -1;
            }
        } else {
            rest->argv[rest->argc++] = word; /* never ahead of p.next */
            over = over || (spec != NULL && spec->stop_at_operand);
        }
        if (p.help) {
            return 1;
        }
    }
    return check_operands(spec, rest, err);
}

bool opts_begin(const struct command *command, int argc, char **argv, void *args,
                struct opts_rest *rest, int *status)
{
    struct err err = {0};
    struct buf help = {0};
    int result = opts_parse(command->options, argc, argv, args, rest, &err);
    if (result == 0) {
        return true;
    }
    *status = COMMAND_USAGE;
    if (result > 0) {
        opts_help(command, &help);
        *status = output_all(&help, &err) == 0 ? COMMAND_DONE : COMMAND_FAILED;
        buf_free(&help);
    }
    if (result < 0 && strncmp(err.text, MISSING, strlen(MISSING)) == 0) {
        const struct err missing = err;
        (void)err_set(&err, "%.200s; write cutline %s %s", missing.text, command->name,
                      command->args);
    }
    if (result < 0 || *status == COMMAND_FAILED) {
        output_error(command->name, &err);
    }
    return false;
}
