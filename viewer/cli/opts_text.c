/* opts_text: the option table as --help text and as mdoc. See opts.h. */
#include <ctype.h>
#include <string.h>

#include "viewer/cli/opts.h"

enum {
    HELP_COLS = 79,
    MDOC_COLS = 76,
    HELP_INDENT = 30, /* where the text of an option begins */
};

static bool is_boolean(const struct opts_option *option)
{
    return option->kind == OPTS_BOOL;
}

static const char *placeholder(const struct opts_option *option)
{
    return is_boolean(option) ? "true|false" : option->arg;
}

static bool is_optional(const struct opts_option *option)
{
    return is_boolean(option) || option->bare != NULL;
}

/* Adds text, broken at blanks so that lines keep to HELP_COLS; begins at column `col`. A newline in
 * the text ends a line. */
static void wrap(struct buf *out, const char *text, size_t indent, size_t col)
{
    while (*text != '\0') {
        size_t len = strcspn(text, " \n");
        if (col > indent && col + 1 + len > HELP_COLS) {
            buf_addc(out, '\n');
            col = 0;
        }
        if (col < indent) {
            buf_fill(out, ' ', indent - col);
            col = indent;
        } else if (col > indent && len > 0) {
            buf_addc(out, ' ');
            col++;
        }
        buf_add(out, text, len);
        col += len;
        text += len;
        if (*text == '\n') {
            buf_addc(out, '\n');
            col = 0;
        }
        text += *text == '\0' ? 0 : 1;
    }
    buf_addc(out, '\n');
}

static void help_option(struct buf *out, const struct opts_option *option)
{
    size_t start = out->len;
    if (option->letter != 0) {
        buf_addf(out, "  -%c, --%s", option->letter, option->name);
    } else {
        buf_addf(out, "      --%s", option->name);
    }
    if (placeholder(option) != NULL) {
        buf_addf(out, is_optional(option) ? "[=%s]" : "=%s", placeholder(option));
    }
    size_t col = out->len - start;
    if (col + 2 > HELP_INDENT) {
        buf_addc(out, '\n');
        col = 0;
    }
    wrap(out, option->help, HELP_INDENT, col);
}

static void help_options(struct buf *out, const struct opts_option *options)
{
    static const struct opts_option HELP = {
        .letter = 'h', .name = "help", .kind = OPTS_FLAG, .help = "Print this text."};
    if (options == NULL || options->kind != OPTS_GROUP) {
        buf_adds(out, "\nOptions:\n");
    }
    for (; options != NULL && options->kind != OPTS_END; options++) {
        if (options->kind == OPTS_GROUP) {
            buf_addf(out, "\n%s:\n", options->help);
        } else {
            help_option(out, options);
        }
    }
    help_option(out, &HELP);
}

/* "--a, --b, ..." of the options of another tool. */
static void known_names(struct buf *out, const struct opts_known *known)
{
    for (; known->name != NULL; known++) {
        if (known->letter != 0) {
            buf_addf(out, "-%c, ", known->letter);
        }
        buf_addf(out, "--%s%s", known->name, known[1].name == NULL ? "" : ", ");
    }
}

static void help_known(struct buf *out, const struct opts_spec *spec)
{
    struct buf names = {0};
    known_names(&names, spec->known);
    buf_addf(out, "\n%s:\n", spec->known_about);
    wrap(out, buf_text(&names), 4, 0);
    out->failed = out->failed || buf_failed(&names);
    buf_free(&names);
}

void opts_help(const struct command *command, struct buf *out)
{
    const struct opts_spec *spec = command->options;
    buf_addf(out, "Usage: %s%s [OPTIONS]%s%s\n", command->run == NULL ? "" : "cutline ",
             command->name, command->args[0] == '\0' ? "" : " ", command->args);
    if (spec != NULL && spec->about != NULL) {
        buf_addc(out, '\n');
        wrap(out, spec->about, 0, 0);
    }
    help_options(out, spec == NULL ? NULL : spec->options);
    if (spec != NULL && spec->known != NULL) {
        help_known(out, spec);
    }
    if (spec != NULL && spec->examples != NULL) {
        buf_addf(out, "\nExamples:\n%s", spec->examples);
        if (spec->examples[strlen(spec->examples) - 1] != '\n') {
            buf_addc(out, '\n');
        }
    }
}

/* Does a line of mdoc end at this blank: at the end of a sentence, or where the next word would not
 * fit? begin: where the line began in out. */
static bool mdoc_breaks(const struct buf *out, size_t begin, const char *text)
{
    if (*text == '\n') {
        return true;
    }
    return *text == ' ' && ((text[-1] == '.' && isupper((unsigned char)text[1])) ||
                            out->len - begin + strcspn(text + 1, " \n") > MDOC_COLS);
}

/* Adds text as mdoc: each sentence on its own line, what roff would take for its own escaped. */
static void mdoc_text(struct buf *out, const char *text)
{
    bool line_start = true;
    size_t begin = out->len;
    for (; *text != '\0'; text++) {
        bool word_start = line_start || text[-1] == ' ' || text[-1] == '(';
        if (line_start && (*text == '.' || *text == '\'')) {
            buf_adds(out, "\\&");
        }
        line_start = false;
        if (*text == '\\') {
            buf_adds(out, "\\e");
        } else if (*text == '-' && (word_start || text[-1] == '-')) {
            buf_adds(out, "\\-");
        } else if (mdoc_breaks(out, begin, text)) {
            buf_addc(out, '\n');
            line_start = true;
            begin = out->len;
        } else {
            buf_addc(out, *text);
        }
    }
    buf_addc(out, '\n');
}

/* "true|false" -> "true Ns | Ns Ar false": an argument as mdoc; | is a delimiter there. */
static void mdoc_arg(struct buf *out, const char *arg)
{
    for (; *arg != '\0'; arg++) {
        if (*arg == '|') {
            buf_adds(out, "\\*(Ba");
        } else if (*arg == '[' || *arg == ']' || *arg == '.' || *arg == ',' || *arg == ':') {
            buf_addf(out, "\\&%c", *arg);
        } else {
            buf_addc(out, *arg);
        }
    }
}

static void mdoc_option(struct buf *out, const struct opts_option *option)
{
    const char *arg = placeholder(option);
    buf_adds(out, ".It ");
    if (option->letter != 0) {
        buf_addf(out, "Fl %c , ", option->letter);
    }
    buf_addf(out, "Fl Fl %s", option->name);
    if (arg != NULL && is_optional(option)) {
        buf_adds(out, " Ns Op = Ns Ar ");
        mdoc_arg(out, arg);
    } else if (arg != NULL) {
        buf_adds(out, " Ns = Ns Ar ");
        mdoc_arg(out, arg);
    }
    buf_addc(out, '\n');
    mdoc_text(out, option->help);
}

void opts_mdoc(const struct command *command, struct buf *out)
{
    const struct opts_option *o = command->options == NULL ? NULL : command->options->options;
    bool open = false;
    for (; o != NULL && o->kind != OPTS_END; o++) {
        if (o->kind == OPTS_GROUP) {
            buf_addf(out, "%s.Ss %s\n", open ? ".El\n" : "", o->help);
            open = false;
            continue;
        }
        if (!open) {
            buf_adds(out, ".Bl -tag -width Ds\n");
            open = true;
        }
        mdoc_option(out, o);
    }
    if (!open) {
        buf_adds(out, ".Bl -tag -width Ds\n");
    }
    buf_adds(out, ".It Fl h , Fl Fl help\nPrint a short help text.\n.El\n");
    if (command->options != NULL && command->options->known != NULL) {
        struct buf names = {0};
        known_names(&names, command->options->known);
        buf_addf(out, ".Ss %s\n", command->options->known_about);
        mdoc_text(out, buf_text(&names));
        out->failed = out->failed || buf_failed(&names);
        buf_free(&names);
    }
}
