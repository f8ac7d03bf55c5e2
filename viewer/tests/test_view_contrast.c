/*
 * Text can be read in every theme with any number of colours, and idle time looks like nothing else.
 * Contrast after WCAG 2.1: (lighter + 0.05) / (darker + 0.05), at least 4.5 for text; blocks, which
 * have no text, at least 3 as WCAG asks of graphics. Colours below 256 as xterm has them.
 */
#include <math.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "viewer/paint/theme.h"

static double part(int value)
{
    double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(int32_t rgb)
{
    return 0.2126 * part(rgb >> 16 & 255) + 0.7152 * part(rgb >> 8 & 255) +
           0.0722 * part(rgb & 255);
}

static double contrast(int32_t a, int32_t b)
{
    double x = luminance(a) + 0.05;
    double y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

static int32_t seen(int32_t color, enum theme_colors colors)
{
    static const int32_t first[] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                    0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                    0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const int32_t levels[] = {0, 95, 135, 175, 215, 255};
    if (colors == THEME_TRUECOLOR) {
        return color;
    }
    if (color < 16) {
        return first[color];
    }
    if (color >= 232) {
        return (8 + 10 * (color - 232)) * 0x010101;
    }
    color -= 16;
    return levels[color / 36] << 16 | levels[color / 6 % 6] << 8 | levels[color % 6];
}

/* Lines and levels: no text is written with them. */
static bool is_graphic(int role)
{
    static const int graphics[] = {ROLE_BLOCK, ROLE_UTIL,      ROLE_UTIL_LOW,   ROLE_SPARK,
                                   ROLE_RULE,  ROLE_BLOCK_DIM, ROLE_FOUND_BLOCK,
                                   ROLE_OVERVIEW, ROLE_OVERVIEW_HERE};
    for (size_t i = 0; i < sizeof graphics / sizeof graphics[0]; i++) {
        if (graphics[i] == role) {
            return true;
        }
    }
    return false;
}

static void check_cell(const struct theme *theme, const struct cell *cell)
{
    static const int32_t backgrounds[2][2] = {{0x000000, 0x1c1c1c}, {0xffffff, 0xf0f0f0}};
    bool light = theme->kind == THEME_LIGHT;
    struct theme_look look = theme_look(theme, cell);
    /* A terminal of few colours has black or white behind its text. */
    for (int i = 0; i < (theme->colors < THEME_256 ? 1 : 2); i++) {
        int32_t bg = look.bg >= 0 ? seen(look.bg, theme->colors) : backgrounds[light][i];
        int32_t fg = look.fg >= 0 ? seen(look.fg, theme->colors) : light ? 0x000000 : 0xe5e5e5;
        /* Decoration may be fainter, and sixteen colours are as they are. */
        double least = !is_graphic(cell->role)                                            ? 4.5
                       : cell->role == ROLE_BLOCK && theme->colors >= THEME_256 && i == 0 ? 3.0
                                                                                          : 1.0;
        if (contrast(fg, bg) < least) {
            fail_msg("theme %d colours %d role %d hue %d rgb %04x: %06x on %06x is %.2f",
                     theme->kind, theme->colors, cell->role, cell->hue, cell->rgb, (unsigned)fg,
                     (unsigned)bg, contrast(fg, bg));
        }
    }
}

static void text_can_be_read(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEME_KIND_COUNT; kind++) {
        for (int colors = THEME_8; colors <= THEME_TRUECOLOR; colors++) {
            struct theme theme = {(enum theme_kind)kind, (enum theme_colors)colors};
            for (int role = 0; role < ROLE_COUNT; role++) {
                for (int hue = 0; hue < HUE_RGB; hue++) {
                    struct cell cell = {'x', (uint8_t)role, (uint8_t)hue, 0};
                    check_cell(&theme, &cell);
                }
            }
            for (int rgb = 0; rgb < 0x10000; rgb++) {
                struct cell cell = {'x', ROLE_BAR, HUE_RGB, (uint16_t)rgb};
                check_cell(&theme, &cell);
            }
        }
    }
}

/* Red in eight and sixteen colours, any strong red in more. */
static bool is_idle_colour(const struct theme *theme, int32_t color, const struct theme_look *idle)
{
    if (color < 0) {
        return false;
    }
    return color == idle->bg || (theme->colors <= THEME_16 && (color == 1 || color == 9));
}

static void idle_has_a_colour_of_its_own(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEME_KIND_COUNT; kind++) {
        for (int colors = THEME_8; colors <= THEME_TRUECOLOR; colors++) {
            struct theme theme = {(enum theme_kind)kind, (enum theme_colors)colors};
            const struct cell gap = {' ', ROLE_GAP, 0, 0};
            const struct cell selected = {' ', ROLE_GAP_SELECTED, 0, 0};
            struct theme_look idle = theme_look(&theme, &gap);
            struct theme_look both = theme_look(&theme, &selected);
            assert_true(idle.bg > 0 && both.bg > 0);
            assert_true(idle.bg != both.bg || idle.attrs != both.attrs);
            for (int hue = 0; hue < HUE_RGB; hue++) {
                const struct cell bar = {' ', ROLE_BAR, (uint8_t)hue, 0};
                const struct cell block = {' ', ROLE_BLOCK, (uint8_t)hue, 0};
                assert_false(is_idle_colour(&theme, theme_look(&theme, &bar).bg, &idle));
                assert_false(is_idle_colour(&theme, theme_look(&theme, &block).fg, &idle));
            }
        }
    }
}

/* Without colour the idle time is reversed and the work of a device row is not. */
static void idle_is_told_without_colour(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEME_KIND_COUNT; kind++) {
        const struct theme theme = {(enum theme_kind)kind, THEME_MONO};
        const struct cell gap = {'-', ROLE_GAP, 0, 0};
        const struct cell selected = {'-', ROLE_GAP_SELECTED, 0, 0};
        const struct cell work = {'#', ROLE_UTIL, 0, 0};
        assert_true((theme_look(&theme, &gap).attrs & THEME_REVERSE) != 0);
        assert_true((theme_look(&theme, &selected).attrs & THEME_REVERSE) != 0);
        assert_true(theme_look(&theme, &selected).attrs != theme_look(&theme, &gap).attrs);
        assert_true((theme_look(&theme, &work).attrs & THEME_REVERSE) == 0);
    }
}

static uint8_t hue_of_kernel(const char *text)
{
    struct trace_name name = {
        .kind = TRACE_KERNEL, .full = text, .full_len = (uint32_t)strlen(text)};
    uint16_t rgb;
    return hue_of_name(&name, &rgb);
}

static void names_of_a_kind_have_one_colour(void **state)
{
    (void)state;
    assert_int_equal(hue_of_kernel("gemm_64x64_nn"), hue_of_kernel("gemm_128x32_nn"));
    assert_int_equal(hue_of_kernel("layer 3"), hue_of_kernel("layer 14"));
    assert_true(hue_of_kernel("gemm_nn") != hue_of_kernel("softmax"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_can_be_read),
        cmocka_unit_test(idle_has_a_colour_of_its_own),
        cmocka_unit_test(idle_is_told_without_colour),
        cmocka_unit_test(names_of_a_kind_have_one_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
