/* Where text goes: files, commands, a full disk, a reader that went away. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tests/check.h"
#include "viewer/cli/output.h"

static char folder[] = "/tmp/cutline-output-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void read_back(char text[256])
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, 255, file);
    text[len] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void write_three(struct output *out)
{
    struct buf buf = {0};
    buf_adds(&buf, "two\n");
    assert_int_equal(output_text(out, "one\n"), 0);
    assert_int_equal(output_buf(out, &buf), 0);
    assert_int_equal(output_printf(out, "%s %d\n", "three", 3), 0);
    buf_free(&buf);
}

static void test_a_file_is_made_and_emptied(void **state)
{
    struct output out;
    struct err err = {0};
    char text[256];
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(output_open(&out, path, &err), 0);
        write_three(&out);
        assert_int_equal(output_close(&out, &err), 0);
        read_back(text);
        assert_string_equal(text, "one\ntwo\nthree 3\n");
    }
}

static void test_a_command_gets_the_text(void **state)
{
    struct output out;
    struct err err = {0};
    char command[128];
    char text[256];
    (void)state;
    (void)snprintf(command, sizeof command, "@tr a-z A-Z >%s", path);
    assert_int_equal(output_open(&out, command, &err), 0);
    write_three(&out);
    assert_int_equal(output_close(&out, &err), 0);
    read_back(text);
    assert_string_equal(text, "ONE\nTWO\nTHREE 3\n");
}

static void test_a_command_that_fails_is_named(void **state)
{
    struct output out;
    struct err err = {0};
    (void)state;
    assert_int_equal(output_open(&out, "@cat >/dev/null; exit 9", &err), 0);
    write_three(&out);
    assert_int_equal(output_close(&out, &err), -1);
    assert_string_equal(err.text, "'cat >/dev/null; exit 9' ended with status 9");
}

static void test_a_command_that_reads_nothing_is_no_error(void **state)
{
    struct output out;
    struct err err = {0};
    static char much[1 << 16];
    (void)state;
    memset(much, 'x', sizeof much);
    assert_int_equal(output_open(&out, "@true", &err), 0);
    for (int i = 0; i < 64 && !output_gone(&out); i++) {
        (void)output_write(&out, much, sizeof much);
    }
    assert_true(output_gone(&out));
    assert_int_equal(output_close(&out, &err), 0);
    assert_string_equal(err.text, "");
}

static void test_a_full_disk_is_reported(void **state)
{
    struct output out;
    struct err err = {0};
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    assert_int_equal(output_open(&out, "/dev/full", &err), 0);
    write_three(&out);
    assert_int_equal(output_close(&out, &err), -1);
    assert_string_equal(err.text, "cannot write to /dev/full: No space left on device");
}

static void test_a_place_that_is_not_there_is_named(void **state)
{
    struct output out;
    struct err err = {0};
    (void)state;
    assert_int_equal(output_open(&out, "/nonexistent/out.csv", &err), -1);
    assert_string_equal(err.text,
                        "cannot write to /nonexistent/out.csv: No such file or directory");
}

static void test_the_signal_action_is_given_back(void **state)
{
    struct output out;
    struct err err = {0};
    struct sigaction now;
    (void)state;
    assert_int_equal(output_open(&out, path, &err), 0);
    assert_int_equal(sigaction(SIGPIPE, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    assert_int_equal(output_close(&out, &err), 0);
    assert_int_equal(sigaction(SIGPIPE, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

static void test_a_failed_buffer_is_an_error(void **state)
{
    struct output out;
    struct err err = {0};
    struct buf buf = {.failed = true};
    (void)state;
    assert_int_equal(output_open(&out, path, &err), 0);
    assert_int_equal(output_buf(&out, &buf), 1);
    assert_int_equal(output_close(&out, &err), -1);
    assert_non_null(strstr(err.text, "emory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_is_made_and_emptied),
        cmocka_unit_test(test_a_command_gets_the_text),
        cmocka_unit_test(test_a_command_that_fails_is_named),
        cmocka_unit_test(test_a_command_that_reads_nothing_is_no_error),
        cmocka_unit_test(test_a_full_disk_is_reported),
        cmocka_unit_test(test_a_place_that_is_not_there_is_named),
        cmocka_unit_test(test_the_signal_action_is_given_back),
        cmocka_unit_test(test_a_failed_buffer_is_an_error),
    };
    return cmocka_run_group_tests_name("output", tests, make_folder, remove_folder);
}
