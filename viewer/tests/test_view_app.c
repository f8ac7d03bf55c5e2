/* window arithmetic, keys, the action table, themes. */
#include <stdio.h>
#include <string.h>

#include "analysis/base/err.h"
#include "analysis/tests/check.h"
#include "viewer/app/actions.h"
#include "viewer/app/keys.h"
#include "viewer/paint/theme.h"
#include "viewer/rows/hue.h"
#include "viewer/rows/labels.h"
#include "viewer/rows/window.h"

static void windows_begin_at_whole_columns(void **state)
{
    static const int64_t begins[] = {0, -7, 123456789, -999999999999};
    static const int64_t spans[] = {1, 10, 4097, 1000000007, 86400000000000};
    static const int cols[] = {1, 3, 63, 200};
    (void)state;
    for (size_t b = 0; b < sizeof begins / sizeof begins[0]; b++) {
        for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++) {
            for (size_t c = 0; c < sizeof cols / sizeof cols[0]; c++) {
                int64_t end_ns = begins[b] + spans[s];
                struct window w = window_fit(begins[b], end_ns, cols[c]);
                assert_true(w.begin_ns <= begins[b] && (window_end(&w) >= end_ns || cols[c] == 1));
                assert_int_equal(w.begin_ns % w.ns_per_col, 0);
                /* No more than a column and rounding is given away. */
                assert_true(w.ns_per_col <= spans[s] / cols[c] * 3 + 3);
                assert_int_equal(window_col(&w, w.begin_ns), 0);
                assert_int_equal(window_col(&w, window_end(&w) - 1), cols[c] - 1);
                assert_int_equal(window_col(&w, w.begin_ns - 1), -1);
            }
        }
    }
}

static void zooming_keeps_the_anchor(void **state)
{
    struct window w = {1000 * 64, 64, 100};
    (void)state;
    for (int anchor = 0; anchor < 100; anchor += 9) {
        /* Also a time at the edge of its column stays in it, however far one zooms. */
        int64_t t_ns = window_time(&w, anchor) + anchor % 64;
        struct window in = window_scale(&w, 3, t_ns, anchor);
        struct window out = window_scale(&w, 1289, t_ns, anchor);
        assert_int_equal(window_col(&in, t_ns), anchor);
        assert_int_equal(window_col(&out, t_ns), anchor);
        assert_int_equal(in.begin_ns % in.ns_per_col, 0);
    }
    assert_int_equal(window_scale(&w, 0, 0, 5).ns_per_col, 1);
}

static void a_pan_moves_by_whole_columns(void **state)
{
    struct window w = {-640, 64, 10};
    struct window p = window_pan(&w, -3);
    (void)state;
    assert_int_equal(p.begin_ns, -640 - 3 * 64);
    p = window_clamp(&p, 0, 6400);
    assert_int_equal(p.begin_ns, -9 * 64);
    p = window_pan(&p, 100000);
    p = window_clamp(&p, 0, 6400);
    assert_int_equal(p.begin_ns, 6400 - 64);
}

static void check_key(const char *text, uint32_t code, int x, int y)
{
    const char *at = text;
    struct key key;
    struct err err = {0};
    assert_int_equal(keys_parse(&at, text + strlen(text), &key, &err), 0);
    assert_int_equal(key.code, code);
    assert_int_equal(key.x, x);
    assert_int_equal(key.y, y);
    assert_int_equal(*at, '\0');
}

static void keys_have_names(void **state)
{
    const char *bad[] = {"<",
                         "<Nothing>",
                         "<Click:1>",
                         "<Click:a,b>",
                         "<>",
                         "<C->",
                         "<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>"};
    (void)state;
    check_key("a", 'a', 0, 0);
    check_key("<lt>", '<', 0, 0);
    check_key("<Enter>", KEYS_ENTER, 0, 0);
    check_key("<C-u>", 21, 0, 0);
    check_key("<S-Left>", KEYS_SHIFT_LEFT, 0, 0);
    check_key("<Click:12,3>", KEYS_CLICK, 12, 3);
    check_key("\xc3\xa9", 0xe9, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *at = bad[i];
        struct key key;
        struct err err = {0};
        assert_int_equal(keys_parse(&at, bad[i] + strlen(bad[i]), &key, &err), -1);
        assert_true(err.text[0] != '\0');
    }
}

/* A key of one context means one thing; every action but those of prompts can be pressed. */
static void the_action_table_is_sound(void **state)
{
    struct keymap map;
    (void)state;
    keymap_defaults(&map);
    for (int i = 0; i < ACTION_COUNT; i++) {
        const struct action *action = &ACTION_TABLE[i];
        const char *at = action->keys;
        int words = 0;
        assert_true(action->name[0] != '\0' && action->help[0] != '\0');
        assert_true(strlen(action->help) <= 76);
        assert_int_equal(action_by_name(action->name, strlen(action->name)), i);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(action->name, ACTION_TABLE[j].name);
        }
        while (*at != '\0') {
            size_t len = strcspn(at, " ");
            if (keys_by_name(at, len) == 0) {
                fail_msg("%s: no such key: %s", action->name, at);
            }
            words++;
            at += len + (at[len] == ' ' ? 1 : 0);
        }
        assert_true(words <= ACTION_KEYS_MAX);
        for (int n = 0; n < words; n++) {
            enum action_id found = keymap_find(&map, action->context, map.keys[i][n]);
            if (found != (enum action_id)i) {
                fail_msg("%s and %s share a key", action->name, ACTION_TABLE[found].name);
            }
        }
    }
}

static void check_look(const struct theme *theme, const struct cell *cell)
{
    static const int32_t most[] = {-1, 7, 15, 255, 0xffffff};
    struct theme_look look = theme_look(theme, cell);
    assert_true(look.fg >= -1 && look.fg <= most[theme->colors]);
    assert_true(look.bg >= -1 && look.bg <= most[theme->colors]);
    if (look.fg != -1 || look.bg != -1) {
        assert_true(look.fg != look.bg);
    }
}

static void every_cell_has_a_look(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEME_KIND_COUNT; kind++) {
        for (int colors = THEME_MONO; colors <= THEME_TRUECOLOR; colors++) {
            struct theme theme = {(enum theme_kind)kind, (enum theme_colors)colors};
            for (int role = 0; role < ROLE_COUNT; role++) {
                for (int hue = 0; hue < HUE_COUNT; hue++) {
                    struct cell cell = {'x', (uint8_t)role, (uint8_t)hue, (uint16_t)(hue * 3277)};
                    check_look(&theme, &cell);
                }
            }
        }
    }
}

/* The tail of each of a group of kernels with one short name. */
static void check_tails(const char *const *fulls, const char *const *tails, uint32_t count)
{
    struct trace_name names[4] = {{0}};
    struct trace trace = {.names = names, .name_count = count};
    struct labels labels;
    struct err err = {0};
    for (uint32_t i = 0; i < count; i++) {
        names[i] = (struct trace_name){.full = fulls[i],
                                       .full_len = (uint32_t)strlen(fulls[i]),
                                       .brief = "elementwise_kernel",
                                       .brief_len = 18,
                                       .kind = TRACE_KERNEL};
    }
    assert_int_equal(labels_make(&trace, &labels, &err), 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(labels.list[i].tail_len, strlen(tails[i]));
        assert_memory_equal(labels.list[i].tail, tails[i], strlen(tails[i]));
    }
    labels_free(&labels);
}

static void names_are_told_apart(void **state)
{
    static const char *const functors[] = {
        "void at::elementwise_kernel<4, at::Loop<at::AddFunctor<float> > >(int)",
        "void at::elementwise_kernel<4, at::Loop<at::MulFunctor<float> > >(int)",
        "void at::elementwise_kernel<2, at::Loop<at::MulFunctor<float> > >(int)"};
    static const char *const functor_tails[] = {"AddFunctor 4", "4 MulFunctor", "2 MulFunctor"};
    static const char *const signs[] = {"f<a*>(int)", "f<a&>(int)"};
    static const char *const sign_tails[] = {"*", "&"};
    static const char *const one[] = {"void elementwise_kernel(int)"};
    static const char *const none[] = {""};
    (void)state;
    check_tails(functors, functor_tails, 3);
    check_tails(signs, sign_tails, 2);
    check_tails(one, none, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_begin_at_whole_columns),
        cmocka_unit_test(zooming_keeps_the_anchor),
        cmocka_unit_test(a_pan_moves_by_whole_columns),
        cmocka_unit_test(keys_have_names),
        cmocka_unit_test(the_action_table_is_sound),
        cmocka_unit_test(every_cell_has_a_look),
        cmocka_unit_test(names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
