/* Kernel names as people read them; convert_demangle.h says which demangler and why. All passes are
 * linear in the length of the name, but for "const", which looks back to the start of its type. */
#include "capture/convert/convert_demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/brief_name.h"

bool demangle_open(struct demangle *demangle)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1"};
    *demangle = (struct demangle){0};
    for (size_t i = 0; i < sizeof names / sizeof *names && !demangle->run; i++) {
        demangle->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (demangle->library) {
            void *symbol = dlsym(demangle->library, "__cxa_demangle");
            memcpy(&demangle->run, &symbol, sizeof symbol);
        }
    }
    return demangle->run != NULL;
}

void demangle_close(struct demangle *demangle)
{
    if (demangle->library) {
        (void)dlclose(demangle->library);
    }
    *demangle = (struct demangle){0};
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static char last_char(const struct buf *out)
{
    static const char none = '\0';
    const char *at = out->len ? &out->data[out->len - 1] : &none;
    return *at;
}

static bool ends_with(const struct buf *out, const char *with)
{
    size_t len = strlen(with);
    return out->len >= len && memcmp(out->data + out->len - len, with, len) == 0;
}

/* ---- spelling -------------------------------------------------------------------------------- */

/* A literal template argument: "4ul" becomes "(unsigned long)4". Returns the bytes taken, 0 if none
 * is here. */
static size_t spell_literal(const char *text, struct buf *out)
{
    static const char *const types[][2] = {
        {"", "int"},         {"u", "unsigned int"},         {"l", "long"}, {"ul", "unsigned long"},
        {"ll", "long long"}, {"ull", "unsigned long long"},
    };
    static const char *const bools[] = {"false", "true"};
    if (last_char(out) != '<' && !ends_with(out, ", ")) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(bools[i]);
        if (starts(text, bools[i]) && strchr(",> ", text[len])) {
            buf_addf(out, "(bool)%d", i);
            return len;
        }
    }
    size_t digits = strspn(text + (*text == '-'), "0123456789") + (*text == '-');
    size_t suffix = strspn(text + digits, "ul");
    if (digits == (size_t)(*text == '-') || !strchr(",> ", text[digits + suffix])) {
        return 0;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i][0]) == suffix && strncmp(types[i][0], text + digits, suffix) == 0) {
            buf_addf(out, "(%s)%.*s", types[i][1], (int)digits, text);
            return digits + suffix;
        }
    }
    return 0;
}

/* Where in out the type that ends there begins: behind the nearest ',' '<' or '(' that is not
 * closed again. */
static size_t type_begin(const struct buf *out)
{
    size_t at = out->len;
    int depth = 0;
    while (at > 0) {
        char c = out->data[at - 1];
        depth += c == '>' || c == ')' || c == ']';
        if (depth == 0 && (c == ',' || c == '<' || c == '(')) {
            break;
        }
        depth -= c == '<' || c == '(' || c == '[';
        at--;
    }
    return at < out->len && out->data[at] == ' ' ? at + 1 : at;
}

/* " const" behind a type goes before it: "int const*" becomes "const int *"; behind a pointer it
 * stays: "char *const". Returns the bytes taken, 0 if none is here. */
static size_t spell_const(const char *text, struct buf *out)
{
    static const char word[] = "const ";
    size_t len = strlen(" const");
    if (!starts(text, " const") || !text[len] || !strchr("*&,)> ", text[len]) ||
        last_char(out) == ')') {
        return 0;
    }
    if (last_char(out) == '*' || last_char(out) == '&') {
        buf_adds(out, "const");
        return len;
    }
    size_t at = type_begin(out);
    size_t moved = out->len - at;
    buf_adds(out, word);
    if (!buf_failed(out)) {
        memmove(out->data + at + strlen(word), out->data + at, moved);
        memcpy(out->data + at, word, strlen(word));
    }
    return len;
}

/* A fixed text that is spelled differently. Returns the bytes taken, 0 if none is here. */
static size_t spell_word(const char *text, struct buf *out)
{
    static const char *const words[][2] = {
        {"(anonymous namespace)", "<unnamed>"},
        {"{lambda(", "[lambda("},
        {"operator()", "operator ()"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (starts(text, words[i][0])) {
            buf_adds(out, words[i][1]);
            return strlen(words[i][0]);
        }
    }
    size_t digits = *text == '#' ? strspn(text + 1, "0123456789") : 0;
    if (digits > 0 && text[1 + digits] == '}') {
        buf_addf(out, " (instance %.*s)]", (int)digits, text + 1);
        return digits + 2;
    }
    return 0;
}

static size_t spell_one(const char *text, struct buf *out)
{
    size_t taken = spell_word(text, out);
    taken = taken ? taken : spell_literal(text, out);
    taken = taken ? taken : spell_const(text, out);
    if (taken) {
        return taken;
    }
    if (text[0] == ' ' && text[1] == '>' && last_char(out) == '>') {
        return 1;
    }
    if ((*text == '*' || *text == '&') && out->len && !strchr(" (*&", last_char(out)) &&
        !ends_with(out, "operator")) {
        buf_addc(out, ' ');
    }
    buf_addc(out, *text);
    return 1;
}

void demangle_spell(const char *text, struct buf *full)
{
    buf_reset(full);
    while (*text) {
        text += spell_one(text, full);
    }
}

void demangle_name(const struct demangle *demangle, const char *name, struct buf *full,
                   struct buf *brief)
{
    int status = -1;
    char *text =
        demangle->run && starts(name, "_Z") ? demangle->run(name, NULL, NULL, &status) : NULL;
    if (text && status == 0) {
        demangle_spell(text, full);
        brief_name(text, brief);
    } else {
        buf_reset(full);
        buf_adds(full, name);
        buf_reset(brief);
        buf_adds(brief, name);
    }
    free(text);
}
