/*
 * opts: parses a command line by the option table of the command. See opts.h.
 *
 * It is written here and not left to getopt_long because of what that cannot do: say which option
 * was meant, take `-f true` for a boolean, and work without global state.
 */
#include "viewer/opts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/timefmt.h"
#include "viewer/output.h"

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

bool opts_choice(const struct opts_option *option, size_t i, const char **text, size_t *len)
{
    const char *at = option->choices;
    if (option->choice_at != NULL) {
        *text = option->choice_at(i);
        *len = *text == NULL ? 0 : strlen(*text);
        return *text != NULL;
    }
    if (option->kind == OPTS_BOOL) {
        at = "true|false";
    }
    for (; at != NULL && i > 0; i--) {
        at = strchr(at, '|');
        at = at == NULL ? NULL : at + 1;
    }
    *text = at;
    *len = at == NULL ? 0 : strcspn(at, "|");
    return at != NULL;
}

/* "-r" or "--report", as it was most likely given. */
static const char *shown(const struct opts_option *option, char out[64])
{
    (void)snprintf(out, 64, "--%s", option->name);
    return out;
}

static void *slot(const struct parse *p, const struct opts_option *option)
{
    return (char *)p->args + option->at;
}

static int find_choice(const struct opts_option *option, const char *value, size_t value_len)
{
    const char *text;
    size_t len;
    for (size_t i = 0; opts_choice(option, i, &text, &len); i++) {
        if (len == value_len && memcmp(text, value, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* "a, b or c" of the choices. */
static void list_choices(const struct opts_option *option, struct buf *out)
{
    const char *text;
    const char *after;
    size_t len;
    size_t after_len;
    for (size_t i = 0; opts_choice(option, i, &text, &len); i++) {
        if (i > 0) {
            buf_adds(out, opts_choice(option, i + 1, &after, &after_len) ? ", " : " or ");
        }
        buf_add(out, text, len);
    }
}

static int bad_choice(const struct parse *p, const struct opts_option *option, const char *value,
                      size_t len)
{
    struct buf list = {0};
    char name[64];
    list_choices(option, &list);
    (void)err_set(p->err, "%s cannot be '%.*s'; it is one of %s", shown(option, name), (int)len,
                  value, buf_text(&list));
    buf_free(&list);
    return -1;
}

/* Each reader of a kind: the argument into the slot. 0, or -1 with err set. */
typedef int reader(const struct parse *p, const struct opts_option *option, const char *value);

static int read_flag(const struct parse *p, const struct opts_option *option, const char *value)
{
    (void)value;
    *(bool *)slot(p, option) = true;
    return 0;
}

static int read_text(const struct parse *p, const struct opts_option *option, const char *value)
{
    *(const char **)slot(p, option) = value;
    return 0;
}

static int read_list(const struct parse *p, const struct opts_option *option, const char *value)
{
    struct opts_list *list = slot(p, option);
    char name[64];
    if (list->count == OPTS_LIST_MAX) {
        return err_set(p->err, "%s was given more than %d times", shown(option, name),
                       OPTS_LIST_MAX);
    }
    list->items[list->count++] = value;
    return 0;
}

static int read_int(const struct parse *p, const struct opts_option *option, const char *value)
{
    char name[64];
    char *end;
    long long number;
    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0') {
        return err_set(p->err, "%s takes a whole number, not '%s'", shown(option, name), value);
    }
    if ((option->max != 0 || option->min != 0) && (number < option->min || number > option->max)) {
        return err_set(p->err, "%s is from %" PRId64 " to %" PRId64 ", not %s", shown(option, name),
                       option->min, option->max, value);
    }
    *(int64_t *)slot(p, option) = number;
    return 0;
}

static int read_time(const struct parse *p, const struct opts_option *option, const char *value)
{
    char name[64];
    int64_t unit_ns = option->unit_ns == 0 ? INT64_C(1000000000) : option->unit_ns;
    if (timefmt_parse(value, unit_ns, slot(p, option), p->err) != 0) {
        return err_prefix(p->err, "%s", shown(option, name));
    }
    return 0;
}

static int read_bytes(const struct parse *p, const struct opts_option *option, const char *value)
{
    static const char UNITS[] = "kmgt";
    char name[64];
    char *end;
    const char *unit;
    int shift = 0;
    long long number;
    errno = 0;
    number = strtoll(value, &end, 10);
    if (errno == 0 && end != value && *end != '\0') {
        unit = strchr(UNITS, *end | 0x20);
        shift = unit == NULL ? 0 : (int)(unit - UNITS + 1) * 10;
        end += unit == NULL ? 0 : 1;
        end += (*end | 0x20) == 'i' ? 1 : 0;
        end += (*end | 0x20) == 'b' ? 1 : 0;
    }
    if (errno != 0 || end == value || *end != '\0' || number < 0 || number > INT64_MAX >> shift) {
        return err_set(p->err, "%s takes a size such as 64M or 2G, not '%s'", shown(option, name),
                       value);
    }
    *(int64_t *)slot(p, option) = (int64_t)number << shift;
    return 0;
}

/* The truth of a word; -1 where it is none. */
static int truth(const char *value)
{
    static const char *const WORDS[] = {"false", "true", "no", "yes", "off", "on", "0", "1", NULL};
    for (int i = 0; WORDS[i] != NULL; i++) {
        if (strcmp(WORDS[i], value) == 0) {
            return i % 2;
        }
    }
    return -1;
}

static int read_bool(const struct parse *p, const struct opts_option *option, const char *value)
{
    int is = truth(value);
    if (is < 0) {
        return bad_choice(p, option, value, strlen(value));
    }
    *(bool *)slot(p, option) = is == 1;
    return 0;
}

static int read_choice(const struct parse *p, const struct opts_option *option, const char *value)
{
    int index = find_choice(option, value, strlen(value));
    if (index < 0) {
        return bad_choice(p, option, value, strlen(value));
    }
    *(int *)slot(p, option) = index;
    return 0;
}

static int read_set(const struct parse *p, const struct opts_option *option, const char *value)
{
    uint32_t bits = 0;
    while (*value != '\0') {
        size_t len = strcspn(value, ",");
        int index = find_choice(option, value, len);
        if (index < 0 || index > 31) {
            return bad_choice(p, option, value, len);
        }
        bits |= UINT32_C(1) << index;
        value += len + (value[len] == ',' ? 1 : 0);
    }
    *(uint32_t *)slot(p, option) = bits;
    return 0;
}

static int read_call(const struct parse *p, const struct opts_option *option, const char *value)
{
    char name[64];
    if (option->call(p->args, value, p->err) != 0) {
        return err_prefix(p->err, "%s", shown(option, name));
    }
    return 0;
}

static reader *const READERS[] = {
    [OPTS_FLAG] = read_flag, [OPTS_TEXT] = read_text,     [OPTS_LIST] = read_list,
    [OPTS_INT] = read_int,   [OPTS_TIME] = read_time,     [OPTS_BYTES] = read_bytes,
    [OPTS_BOOL] = read_bool, [OPTS_CHOICE] = read_choice, [OPTS_SET] = read_set,
    [OPTS_CALL] = read_call,
};

static int apply(struct parse *p, const struct opts_option *option, const char *value)
{
    if (option == &HELP) {
        p->help = true;
        return 0;
    }
    return READERS[option->kind](p, option, value);
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
    const char *names[256];
    char word[64];
    const char *near;
    size_t count = 0;
    for (; options->kind != OPTS_END && count < 254; options++) {
        if (options->kind != OPTS_GROUP) {
            names[count++] = options->name;
        }
    }
    names[count++] = HELP.name;
    names[count] = NULL;
    (void)snprintf(word, sizeof word, "%.*s", (int)len, name);
    near = opts_nearest(word, names);
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
        return rest->argc == 0 ? err_set(err, "something is missing after the command")
                               : err_set(err, "something is missing after '%s'", rest->argv[0]);
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
    if (result < 0 || *status == COMMAND_FAILED) {
        output_error(command->name, &err);
    }
    return false;
}

/* Damerau's distance (optimal alignment) of two short words. */
static size_t distance(const char *a, const char *b)
{
    enum {
        MAX = 48
    };
    size_t rows[3][MAX + 1];
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > MAX || lb > MAX) {
        return MAX;
    }
    for (size_t j = 0; j <= lb; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t *now = rows[i % 3];
        const size_t *up = rows[(i + 2) % 3];
        const size_t *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best) {
                best = up2[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

const char *opts_nearest(const char *word, const char *const *names)
{
    const char *near = NULL;
    size_t best = strlen(word) / 3 + 1;
    for (; *names != NULL; names++) {
        size_t d = distance(word, *names);
        if (d < best || (d == best && near == NULL)) {
            best = d;
            near = *names;
        }
    }
    return near;
}
