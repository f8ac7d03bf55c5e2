/*
 * shell: see shell.h.
 *
 * Between single quotes only the quote is special in POSIX shells; in fish a backslash before a
 * quote or a backslash is too. Those are written outside of quotes, as \' and \\, which all shells
 * read alike. Between $' and ' they are octal numbers: a shell that takes $'...' for a dollar sign
 * and a plain string finds no quote that ends it early.
 */
#include "analysis/base/shell.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A control byte, or one that is not ASCII: shells and terminals differ in what they do with these
 * between plain quotes. */
static bool is_odd(unsigned char c)
{
    return c < 0x20 || c >= 0x7f;
}

static bool has_odd(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_odd((unsigned char)word[i])) {
            return true;
        }
    }
    return false;
}

/* zsh expands a "=" at the begin of a word, and old shells a "%". */
static bool is_plain(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char *plain = i == 0 ? "_-+./:,@" : "_-+=./:,@%";
        if (!is_letter((unsigned char)word[i]) && strchr(plain, word[i]) == NULL) {
            return false;
        }
    }
    return len > 0;
}

static bool is_fish(void)
{
    const char *shell = getenv("SHELL");
    const char *slash = shell != NULL ? strrchr(shell, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : shell;
    return name != NULL && strcmp(name, "fish") == 0;
}

/* $'...' */
static void quote_numbers(struct buf *out, const char *word, size_t len)
{
    buf_adds(out, "$'");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)word[i];
        if (is_odd(c) || c == '\'' || c == '\\') {
            buf_addf(out, "\\%03o", c);
        } else {
            buf_addc(out, (char)c);
        }
    }
    buf_addc(out, '\'');
}

/* Must the byte be between the quoted runs? In fish a backslash within quotes is plain before
 * anything but a quote and another backslash. */
static bool stands_outside(const char *word, size_t len, size_t i)
{
    unsigned char c = (unsigned char)word[i];
    unsigned char next = i + 1 < len ? (unsigned char)word[i + 1] : '\'';
    return is_odd(c) || c == '\'' || (c == '\\' && (is_odd(next) || next == '\'' || next == '\\'));
}

/* Runs of plain characters in quotes; what is special there stands between them. */
static void quote_runs(struct buf *out, const char *word, size_t len)
{
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)word[i];
        bool outside = stands_outside(word, len, i);
        if (outside == quoted) {
            buf_addc(out, '\'');
            quoted = !quoted;
        }
        if (is_odd(c)) {
            buf_addf(out, c < 0x80 ? "\\x%02x" : "\\X%02x", c);
        } else {
            buf_adds(out, outside ? "\\" : "");
            buf_addc(out, (char)c);
        }
    }
    buf_adds(out, quoted ? "'" : len == 0 ? "''" : "");
}

void shell_quote(struct buf *out, const char *word, size_t len)
{
    if (is_plain(word, len)) {
        buf_add(out, word, len);
    } else if (has_odd(word, len) && !is_fish()) {
        quote_numbers(out, word, len);
    } else {
        quote_runs(out, word, len);
    }
}

void shell_quote_path(struct buf *out, const char *path)
{
    buf_adds(out, path[0] == '-' ? "./" : "");
    shell_quote(out, path, strlen(path));
}

void shell_words(struct buf *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buf_addc(out, ' ');
        }
        shell_quote(out, words[i], strlen(words[i]));
    }
}
