/* Parsing by an option table: every kind, every form, every slip. */
#include <stdio.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "viewer/cli/opts.h"

struct sample {
    bool flag;
    bool force;
    const char *output;
    struct opts_list reports;
    int64_t number;
    int64_t time_ns;
    int64_t size;
    int format;
    uint32_t trace;
    const char *dump;
    int calls;
    char asked[64]; /* names of known options that asked for something */
};

static int count_call(void *args, const char *value, struct err *err)
{
    struct sample *sample = args;
    if (strcmp(value, "bad") == 0) {
        return err_set(err, "not this");
    }
    sample->calls++;
    return 0;
}

/* clang-format off */
static const struct opts_option OPTIONS[] = {
    {.kind = OPTS_GROUP, .help = "First"},
    {'x', "flag", NULL, OPTS_FLAG, offsetof(struct sample, flag), .help = "A flag."},
    {'f', "force-overwrite", NULL, OPTS_BOOL, offsetof(struct sample, force), .help = "A boolean."},
    {'o', "output", "FILE", OPTS_TEXT, offsetof(struct sample, output), .help = "A text."},
    {'r', "report", "REPORT", OPTS_LIST, offsetof(struct sample, reports), .help = "A list."},
    {.kind = OPTS_GROUP, .help = "Second"},
    {'n', "number", "N", OPTS_INT, offsetof(struct sample, number), .min = -5, .max = 9,
     .help = "A number."},
    {0, "time", "TIME", OPTS_TIME, offsetof(struct sample, time_ns), .unit_ns = 1000,
     .help = "A time. Without a unit in us."},
    {0, "size", "SIZE", OPTS_BYTES, offsetof(struct sample, size), .help = "A size."},
    {0, "format", "FORMAT", OPTS_CHOICE, offsetof(struct sample, format), "column|csv|json",
     .help = "A choice."},
    {'t', "trace", "LIST", OPTS_SET, offsetof(struct sample, trace), "cuda|nvtx|osrt",
     .help = "A set."},
    {0, "dump", "text|roles", OPTS_TEXT, offsetof(struct sample, dump), .bare = "text",
     .help = "An optional text."},
    {0, "help-reports", NULL, OPTS_FLAG, offsetof(struct sample, flag), .help = "Begins as help."},
    {0, "call", "X", OPTS_CALL, .call = count_call, .help = "A call."},
    {.kind = OPTS_END},
};
/* clang-format on */

static int asked(void *args, const struct opts_known *known, struct err *err)
{
    struct sample *sample = args;
    (void)err;
    (void)strncat(sample->asked, known->what, sizeof sample->asked - strlen(sample->asked) - 1);
    return 0;
}

static const struct opts_known KNOWN[] = {
    {'s', "sample", false, "S", NULL, NULL},     {0, "scope", false, "O", "tree", NULL},
    {'y', "switch", true, "W", NULL, NULL},      {0, "detail", false, NULL, NULL, NULL},
    {0, "forma", false, NULL, NULL, count_call}, {0, NULL, false, NULL, NULL, NULL},
};

static const struct opts_spec SPEC = {.options = OPTIONS, .operands_max = 2};
static const struct opts_spec KNOWS = {.options = OPTIONS,
                                       .operands_max = 2,
                                       .known = KNOWN,
                                       .known_about = "Known",
                                       .known_asked = asked};
static const struct opts_spec STOPS = {
    .options = OPTIONS, .operands_min = 1, .operands_max = -1, .stop_at_operand = true};

/* Parses words given as one text with blanks between; returns what opts_parse does. */
static int parse(const struct opts_spec *spec, const char *line, struct sample *sample,
                 struct opts_rest *rest, struct err *err)
{
    static char text[256];
    static char *argv[32];
    int argc = 1;
    static char name[] = "cmd";
    (void)snprintf(text, sizeof text, "%s", line);
    argv[0] = name;
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    *sample = (struct sample){0};
    *err = (struct err){0};
    return opts_parse(spec, argc, argv, sample, rest, err);
}

static struct sample good(const char *line)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    int result = parse(&SPEC, line, &sample, &rest, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(result, 0);
    return sample;
}

static void bad(const char *line, const char *message)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    assert_int_equal(parse(&SPEC, line, &sample, &rest, &err), -1);
    assert_string_equal(err.text, message);
}

static void test_every_kind_in_every_form(void **state)
{
    (void)state;
    assert_true(good("--flag").flag);
    assert_true(good("-x").flag);
    assert_string_equal(good("-o a").output, "a");
    assert_string_equal(good("-oa").output, "a");
    assert_string_equal(good("-o=a").output, "a");
    assert_string_equal(good("--output a").output, "a");
    assert_string_equal(good("--output=a=b").output, "a=b");
    assert_string_equal(good("--outp=a").output, "a");
    assert_string_equal(good("-xo a").output, "a");
    assert_string_equal(good("-o -").output, "-");
    assert_int_equal(good("-n -5").number, -5);
    assert_int_equal(good("--time 3").time_ns, 3000);
    assert_int_equal(good("--time=-2ms").time_ns, -2000000);
    assert_int_equal(good("--size=64M").size, 64 << 20);
    assert_int_equal(good("--size=2GiB").size, INT64_C(2) << 30);
    assert_int_equal(good("--size=12").size, 12);
    assert_int_equal(good("--format json").format, 2);
    assert_int_equal(good("-t nvtx,osrt").trace, 6);
    assert_int_equal(good("-t cuda -t nvtx").trace, 2);
    assert_int_equal(good("--call a --call b").calls, 2);
}

static void test_booleans_as_nsys_takes_them(void **state)
{
    (void)state;
    assert_true(good("-f").force);
    assert_true(good("-f true").force);
    assert_false(good("-f false").force);
    assert_false(good("-f true --force-overwrite=false").force);
    assert_true(good("--force-overwrite").force);
    assert_true(good("-fyes").force);
    bad("--force-overwrite=maybe",
        "--force-overwrite cannot be 'maybe'; it is one of true or false");
}

static void test_an_optional_argument_needs_its_equals_sign(void **state)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    (void)state;
    assert_string_equal(good("--dump").dump, "text");
    assert_string_equal(good("--dump=roles").dump, "roles");
    assert_int_equal(parse(&SPEC, "--dump roles", &sample, &rest, &err), 0);
    assert_string_equal(sample.dump, "text");
    assert_int_equal(rest.argc, 1);
    assert_string_equal(rest.argv[0], "roles");
}

static void test_lists_keep_their_order(void **state)
{
    struct sample sample = good("-r a --report=b -rc");
    (void)state;
    assert_int_equal(sample.reports.count, 3);
    assert_string_equal(sample.reports.items[0], "a");
    assert_string_equal(sample.reports.items[2], "c");
}

static void test_operands_mix_with_options(void **state)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    (void)state;
    assert_int_equal(parse(&SPEC, "one -o out two -x", &sample, &rest, &err), 0);
    assert_int_equal(rest.argc, 2);
    assert_string_equal(rest.argv[0], "one");
    assert_string_equal(rest.argv[1], "two");
    assert_true(sample.flag);
    assert_int_equal(parse(&SPEC, "-- -x --output", &sample, &rest, &err), 0);
    assert_int_equal(rest.argc, 2);
    assert_string_equal(rest.argv[1], "--output");
    bad("a b c", "one word too many: 'c'");
}

static void test_the_first_operand_can_end_the_options(void **state)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    (void)state;
    assert_int_equal(parse(&STOPS, "-x python3 -o own -- more", &sample, &rest, &err), 0);
    assert_true(sample.flag);
    assert_null(sample.output);
    assert_int_equal(rest.argc, 5);
    assert_string_equal(rest.argv[1], "-o");
    assert_string_equal(rest.argv[3], "--");
    assert_int_equal(parse(&STOPS, "-x -- -o", &sample, &rest, &err), 0);
    assert_int_equal(rest.argc, 1);
    assert_int_equal(parse(&STOPS, "-x", &sample, &rest, &err), -1);
    assert_string_equal(err.text, "something is missing after the command");
}

static void test_slips_are_named(void **state)
{
    (void)state;
    bad("--formt=csv", "no option --formt; did you mean --format?");
    bad("--fromat=csv", "no option --fromat; did you mean --format?");
    bad("--zzz", "no option --zzz; --help lists the options");
    bad("-q", "no option -q; --help lists the options");
    bad("--fo=x", "--fo can be --force-overwrite or --format; write it out");
    bad("--output", "--output needs FILE");
    bad("-o", "--output needs FILE");
    bad("--flag=1", "--flag takes no argument");
    bad("-n ten", "--number takes a whole number, not 'ten'");
    bad("-n 10", "--number is from -5 to 9, not 10");
    bad("--size=9x", "--size takes a size such as 64M or 2G, not '9x'");
    bad("--size=99999999999T", "--size takes a size such as 64M or 2G, not '99999999999T'");
    bad("--format=xml", "--format cannot be 'xml'; it is one of column, csv or json");
    bad("--trace=cuda,vulkan", "--trace cannot be 'vulkan'; it is one of cuda, nvtx or osrt");
    bad("--call bad", "--call: not this");
}

static void test_help_is_found_anywhere(void **state)
{
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    (void)state;
    assert_int_equal(parse(&SPEC, "-x --help --zzz", &sample, &rest, &err), 1);
    assert_int_equal(parse(&SPEC, "-xh", &sample, &rest, &err), 1);
    assert_int_equal(parse(&SPEC, "--help", &sample, &rest, &err), 1);
    bad("--hel", "--hel can be --help or --help-reports; write it out");
    assert_int_equal(parse(&STOPS, "prog --help", &sample, &rest, &err), 0);
}

static void test_a_list_that_is_too_long_is_refused(void **state)
{
    static char name[] = "cmd";
    static char option[] = "-r";
    char *argv[2 * OPTS_LIST_MAX + 3];
    struct sample sample = {0};
    struct opts_rest rest;
    struct err err = {0};
    int argc = 1;
    (void)state;
    argv[0] = name;
    for (int i = 0; i <= OPTS_LIST_MAX; i++) {
        argv[argc++] = option;
        argv[argc++] = name;
    }
    assert_int_equal(opts_parse(&SPEC, argc, argv, &sample, &rest, &err), -1);
    assert_string_equal(err.text, "--report was given more than 64 times");
}

static void test_help_text_fits_the_terminal(void **state)
{
    const struct command command = {.name = "demo", .args = "FILE", .options = &SPEC};
    struct buf help = {0};
    (void)state;
    opts_help(&command, &help);
    assert_non_null(strstr(buf_text(&help), "\nSecond:\n  -n, --number=N "));
    assert_non_null(strstr(buf_text(&help), "--force-overwrite[=true|false]\n"));
    for (const char *line = buf_text(&help); *line != '\0'; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 79);
    }
    buf_free(&help);
}

/* Options of another tool: each form, what asks for nothing, and our own names beside them. */
static void test_options_of_another_tool(void **state)
{
    static const struct {
        const char *line;
        const char *asked;
        int operands;
    } CASES[] = {
        {"--sample=cpu a", "S", 1},
        {"--sample cpu a b", "S", 2},
        {"-s cpu -scpu -s=cpu", "SSS", 0},
        {"-s none --sample=false --sample= a", "", 1},
        {"--scope=tree --scope=all", "O", 0},
        {"--switch --switch=1 -y true -y", "WWWW", 0},
        {"--switch false -y false --switch=0 a b", "", 2},
        {"--switch a", "W", 1},
        {"--detail 5 --detail=x a", "", 1},
        {"--forma=5 --format=csv", "", 0},
    };
    struct sample sample;
    struct opts_rest rest;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(parse(&KNOWS, CASES[i].line, &sample, &rest, &err), 0);
        assert_string_equal(sample.asked, CASES[i].asked);
        assert_int_equal(rest.argc, CASES[i].operands);
    }
    assert_int_equal(sample.calls, 1);
    assert_int_equal(sample.format, 1);
    assert_int_equal(parse(&KNOWS, "--sample", &sample, &rest, &err), -1);
    assert_string_equal(err.text, "--sample needs an argument");
    assert_int_equal(parse(&KNOWS, "--forma=bad", &sample, &rest, &err), -1);
    assert_string_equal(err.text, "--forma: not this");
    assert_int_equal(parse(&KNOWS, "--smaple=cpu", &sample, &rest, &err), -1);
    assert_non_null(strstr(err.text, "did you mean --sample?"));
    assert_int_equal(parse(&SPEC, "--sample=cpu", &sample, &rest, &err), -1);
}

static void test_nearest_word(void **state)
{
    static const char *const NAMES[] = {"view", "stats", "record", "analyze", NULL};
    (void)state;
    assert_string_equal(opts_nearest("stat", NAMES), "stats");
    assert_string_equal(opts_nearest("recrod", NAMES), "record");
    assert_string_equal(opts_nearest("analyse", NAMES), "analyze");
    assert_null(opts_nearest("train", NAMES));
    assert_null(opts_nearest("", NAMES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_in_every_form),
        cmocka_unit_test(test_booleans_as_nsys_takes_them),
        cmocka_unit_test(test_an_optional_argument_needs_its_equals_sign),
        cmocka_unit_test(test_lists_keep_their_order),
        cmocka_unit_test(test_operands_mix_with_options),
        cmocka_unit_test(test_the_first_operand_can_end_the_options),
        cmocka_unit_test(test_slips_are_named),
        cmocka_unit_test(test_help_is_found_anywhere),
        cmocka_unit_test(test_a_list_that_is_too_long_is_refused),
        cmocka_unit_test(test_help_text_fits_the_terminal),
        cmocka_unit_test(test_options_of_another_tool),
        cmocka_unit_test(test_nearest_word),
    };
    return cmocka_run_group_tests_name("opts", tests, NULL, NULL);
}
