/*
 * Words quoted for a shell come back from bash, zsh and fish as they were; and where a shell does
 * not know how one is written, nothing of it is run. Shells that are not installed are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/shell.h"
#include "analysis/tests/check.h"

/* Each would make the file "run" where a part of it were taken for a command. */
static const char *const WORDS[] = {
    "plain",
    "",
    "two words",
    "it's",
    "$HOME `touch run` $(touch run) (touch run)",
    "a\nb\tc",
    "a\ntouch run\n",
    "\x1b[31mred",
    "back\\slash",
    "it's\n'both'\\",
    "h\xc3\xa9",
    "*?[a]{b,c}~!#&|;<>()\"",
    "-n",
    "\xff\xfe",
    "a'$(touch run)'b\x01",
    "=ls",
    "%self",
    "@touch run;",
    "\\'; touch run; '",
    "\x01'; touch run; '",
    "\x01\\'; touch run; \\'",
    "\xc3\xa9\"; touch run; \"",
    "';touch run #",
    "\\",
    "'",
};

enum {
    COUNT = sizeof WORDS / sizeof WORDS[0],
    GOT_BYTES = 1024
};

static bool is_ascii_word(const char *word)
{
    for (; *word != '\0'; word++) {
        if ((unsigned char)*word < 0x20 || (unsigned char)*word >= 0x7f) {
            return false;
        }
    }
    return true;
}

static bool has_shell(const char *shell)
{
    struct buf command = {0};
    buf_addf(&command, "command -v %s >/dev/null", shell);
    bool found = system(buf_text(&command)) == 0;
    buf_free(&command);
    return found;
}

/* What the shell prints for `printf '%s|' WORD`; the length. */
static size_t shell_says(const char *shell, const char *quoted, char *got)
{
    struct buf command = {0};
    FILE *script = fopen("script", "w");
    assert_non_null(script);
    assert_true(fprintf(script, "printf '%%s|' %s\n", quoted) > 0);
    assert_int_equal(fclose(script), 0);
    buf_addf(&command, "%s script 2>/dev/null", shell);
    FILE *pipe = popen(buf_text(&command), "r");
    assert_non_null(pipe);
    size_t len = fread(got, 1, GOT_BYTES - 1, pipe);
    got[len] = '\0';
    (void)pclose(pipe);
    buf_free(&command);
    return len;
}

/* Every word by itself, so that one that is an error in a shell does not hide the others. */
static void check_shell(const char *shell, const char *user_shell, bool knows_odd)
{
    char got[GOT_BYTES];
    if (!has_shell(shell)) {
        print_message("no %s here\n", shell);
        return;
    }
    assert_int_equal(setenv("SHELL", user_shell, 1), 0);
    for (int i = 0; i < COUNT; i++) {
        struct buf line = {0};
        shell_quote(&line, WORDS[i], strlen(WORDS[i]));
        for (size_t at = 0; at < line.len; at++) {
            assert_in_range((unsigned char)buf_text(&line)[at], 0x20, 0x7e);
        }
        size_t len = shell_says(shell, buf_text(&line), got);
        if (knows_odd || is_ascii_word(WORDS[i])) {
            if (len != strlen(WORDS[i]) + 1 || memcmp(got, WORDS[i], len - 1) != 0) {
                fail_msg("%s: word %d, written %s, came back as %s", shell, i, buf_text(&line),
                         got);
            }
        }
        if (access("run", F_OK) == 0) {
            fail_msg("%s: word %d, written %s, was run", shell, i, buf_text(&line));
        }
        buf_free(&line);
    }
}

static void test_words_by_shell(void **state)
{
    char folder[] = "/tmp/cutline-shell-XXXXXX";
    char before[4096];
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    check_shell("bash", "/bin/bash", true);
    check_shell("zsh -f", "/bin/zsh", true);
    check_shell("fish --no-config", "/usr/bin/fish", true);
    check_shell("fish --no-config", "/bin/bash", false);
    check_shell("dash", "/bin/sh", false);
    check_shell("sh", "/bin/sh", false);
    (void)unlink("script");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_words_and_paths(void **state)
{
    static const char *const words[] = {"cutline", "view", "--at", "1 s"};
    struct buf line = {0};
    (void)state;
    shell_words(&line, words, 4);
    assert_string_equal(buf_text(&line), "cutline view --at '1 s'");
    buf_reset(&line);
    shell_quote_path(&line, "-o.sqlite");
    assert_string_equal(buf_text(&line), "./-o.sqlite");
    buf_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_by_shell),
        cmocka_unit_test(test_words_and_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
