/* What looks like a secret in a command line. One pass, each byte is looked at a bounded number of
 * times. */
#include "capture/spool/secret.h"

#include <stdbool.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define FORM_LEAST 16 /* shorter words of a secret's form are none */
#define LONE_USER 20 /* a URL's user without a password, of that length, is a token */

struct text {
    const char *at;
    const char *end;
};

struct output {
    char *at;
    char *end;
};

static const char *const name_endings[] = {
    "password",   "passwd",      "passphrase", "secret",     "token",        "apikey",
    "accesskey",  "secretkey",   "privatekey", "authkey",    "cookie",       "bearer",
    "credential", "credentials", "signature",  "licensekey", "authorization"};

static const char *const whole_names[] = {"pwd", "pass", "pw", "auth"};

static const char *const value_prefixes[] = {
    "sk-",    "hf_",       "ghp_",   "gho_", "ghs_", "ghu_", "github_pat_",
    "glpat-", "xoxb-",     "xoxp-",  "AKIA", "ASIA", "AIza", "nvapi-",
    "eyJ",    "dckr_pat_", "pypi-A", "npm_", "gsk_", "r8_",  "sk_live_"};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A byte of a name, and of most keys. */
static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* Where a name or a value may begin: behind one of these. */
static bool is_border(char c)
{
    return is_space(c) || is_quote(c) || (c != '\0' && strchr(";&|(){}[]?,=:/@", c) != NULL);
}

static void put(struct output *out, char c)
{
    if (out->at < out->end) {
        *out->at++ = c;
    }
}

static void put_text(struct output *out, const char *from, const char *to)
{
    while (from < to) {
        put(out, *from++);
    }
}

static void put_hidden(struct output *out)
{
    static const char hidden[] = SECRET_HIDDEN;
    put_text(out, hidden, hidden + sizeof hidden - 1);
}

/* The letters and digits of a name in lower case; of a long one its end. Returns their number. */
static size_t plain_name(struct text name, char *out)
{
    size_t count = 0;
    for (const char *c = name.end; c > name.at && count < NAME_MAX_BYTES; c--) {
        count += is_letter(c[-1]) || is_digit(c[-1]) ? 1 : 0;
        name.at = count == NAME_MAX_BYTES ? c - 1 : name.at;
    }
    count = 0;
    for (const char *c = name.at; c < name.end; c++) {
        if (is_letter(*c) || is_digit(*c)) {
            out[count++] = *c;
        }
        if (count > 0 && out[count - 1] >= 'A' && out[count - 1] <= 'Z') {
            out[count - 1] = "abcdefghijklmnopqrstuvwxyz"[out[count - 1] - 'A'];
        }
    }
    return count;
}

static bool ends_with(const char *name, size_t count, const char *ending)
{
    size_t length = strlen(ending);
    return count >= length && memcmp(name + count - length, ending, length) == 0;
}

static bool is_secret_name(struct text name)
{
    char plain[NAME_MAX_BYTES];
    size_t count = plain_name(name, plain);
    for (size_t i = 0; i < COUNT(name_endings); i++) {
        if (ends_with(plain, count, name_endings[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(whole_names); i++) {
        if (count == strlen(whole_names[i]) && ends_with(plain, count, whole_names[i])) {
            return true;
        }
    }
    return false;
}

/* A name that ends in "key" may mean anything: it takes a value that is no word and no path. */
static bool is_key_of(struct text name, struct text value)
{
    char plain[NAME_MAX_BYTES];
    size_t count = plain_name(name, plain);
    size_t digits = 0;
    size_t letters = 0;
    if (!ends_with(plain, count, "key") || value.end - value.at < FORM_LEAST) {
        return false;
    }
    for (const char *c = value.at; c < value.end && *c != '/' && *c != '.'; c++) {
        digits += is_digit(*c) ? 1 : 0;
        letters += is_letter(*c) ? 1 : 0;
    }
    return digits > 2 && letters > 2 && (digits + letters) * 4 > (size_t)(value.end - value.at) * 3;
}

/* A word of the form of a well-known service's key; such a key has a digit somewhere. */
static bool is_secret_form(struct text word)
{
    const char *digit = word.at;
    while (digit < word.end && !is_digit(*digit)) {
        digit++;
    }
    for (size_t i = 0; digit < word.end && i < COUNT(value_prefixes); i++) {
        size_t length = strlen(value_prefixes[i]);
        if (word.end - word.at >= FORM_LEAST && memcmp(word.at, value_prefixes[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static struct text name_at(const char *at, const char *end)
{
    struct text name = {at, at};
    while (name.end < end && is_name(*name.end)) {
        name.end++;
    }
    return name;
}

/* The end of a value within a text: a quote that matches its first byte, or what ends a word. */
static const char *value_end(const char *at, const char *end, bool to_line)
{
    char quote = '\0';
    if (at < end && is_quote(*at)) {
        quote = *at;
    }
    at += quote != '\0' ? 1 : 0;
    for (; at < end && *at != '\n'; at++) {
        bool ends_word = is_space(*at) || strchr(";&,})", *at) != NULL;
        if (quote != '\0' ? *at == quote : is_quote(*at) || (ends_word && !to_line)) {
            break;
        }
    }
    return at;
}

/* A URL's user and password behind "://": hides the password. Returns where to go on. */
static const char *put_user(struct output *out, const char *at, const char *end)
{
    const char *colon = NULL;
    const char *c = at;
    while (c < end && *c != '@' && *c != '/' && *c != '?' && !is_space(*c) && !is_quote(*c)) {
        colon = *c == ':' && colon == NULL ? c : colon;
        c++;
    }
    if (c == end || *c != '@' || (colon == NULL && c - at < LONE_USER)) {
        return at;
    }
    put_text(out, at, colon == NULL ? at : colon + 1);
    put_hidden(out);
    return c;
}

/* What the piece of WORD at AT is about. */
struct piece {
    struct text name;
    const char *value; /* NULL: it has none that is a secret */
    bool to_line; /* the value goes to the end of the line: a header's */
};

/* NAME=VALUE, "NAME": VALUE, NAME: VALUE, or, for an option within a text, -NAME VALUE. */
static struct piece piece_at(const char *at, struct text word)
{
    struct piece piece = {name_at(at, word.end), NULL, false};
    const char *c = piece.name.end;
    c += c < word.end && is_quote(*c) && c + 1 < word.end && c[1] == ':' ? 1 : 0;
    if (c == word.end || piece.name.end == piece.name.at) {
        return piece;
    }
    bool option = *at == '-' && is_space(*c);
    if (*c != '=' && *c != ':' && !option) {
        return piece;
    }
    piece.to_line = *c == ':' && c == piece.name.end;
    for (c++; c < word.end && (is_space(*c) && *c != '\n'); c++) {
    }
    struct text value = {c, value_end(c, word.end, false)};
    if (c < word.end && *c != '/' && !(option && *c == '-') &&
        (is_secret_name(piece.name) || is_key_of(piece.name, value))) {
        piece.value = c;
    }
    return piece;
}

/* Copies one word. */
static void put_word(struct output *out, struct text word)
{
    const char *at = word.at;
    while (at < word.end) {
        struct piece piece = piece_at(at, word);
        if (piece.value != NULL) {
            /* A word that is all NAME=VALUE may have blanks in its value. */
            bool whole = at == word.at;
            const char *end = whole ? word.end : value_end(piece.value, word.end, piece.to_line);
            put_text(out, at, piece.value);
            put_hidden(out);
            at = end < word.end && is_quote(*end) && is_quote(*piece.value) ? end + 1 : end;
            continue;
        }
        if (is_secret_form(piece.name)) {
            put_hidden(out);
        } else {
            put_text(out, at, piece.name.end);
        }
        at = piece.name.end;
        bool url = word.end - at > 3 && memcmp(at, "://", 3) == 0;
        if (url) {
            put_text(out, at, at + 3);
            at = put_user(out, at + 3, word.end);
            continue;
        }
        while (at < word.end && (!is_name(*at) || (at > word.at && !is_border(at[-1])))) {
            put(out, *at++);
            if (at < word.end && is_border(at[-1])) {
                break;
            }
        }
    }
}

/* Whether the word behind WORD is the value of it, an option that names a secret. */
static bool wants_value(struct text word)
{
    struct text name = name_at(word.at, word.end);
    return word.at < word.end && *word.at == '-' && name.end == word.end && is_secret_name(name);
}

size_t secret_hide(char *out, size_t size, const char *words, size_t bytes)
{
    struct output output = {out, out + size};
    const char *end = words + bytes;
    bool is_value = false;
    for (const char *at = words; at < end;) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        struct text word = {at, stop == NULL ? end : stop};
        bool option = word.end - word.at >= 2 && *word.at == '-' &&
                      (word.at[1] == '-' || word.end - word.at == 2);
        if (is_value && !option && word.end > word.at) {
            put_hidden(&output);
            is_value = false;
        } else {
            put_word(&output, word);
            is_value = wants_value(word);
        }
        if (stop != NULL) {
            put(&output, '\0');
        }
        at = stop == NULL ? end : stop + 1;
    }
    return (size_t)(output.at - out);
}
