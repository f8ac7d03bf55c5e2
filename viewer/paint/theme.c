/* theme: see theme.h. */
#include "viewer/paint/theme.h"

#include <string.h>

/* A colour as 0xRRGGBB; -1 = the terminal's own. */
#define THEME_OWN (-1)

struct theme_role {
    int32_t fg;
    int32_t bg;
    uint8_t attrs; /* with colour */
    uint8_t mono; /* without */
};

/* clang-format off */
static const struct theme_role THEME_DARK_ROLES[ROLE_COUNT] = {
    [ROLE_TEXT]          = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_DIM]           = {0x808080, THEME_OWN, 0, 0},
    [ROLE_HEADER]        = {0xd0d0d0, 0x303030, 0, THEME_REVERSE},
    [ROLE_HEADER_STRONG] = {0xffffff, 0x303030, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_RULER]         = {0x949494, THEME_OWN, 0, 0},
    [ROLE_CURSOR]        = {0xffff5f, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL]         = {0xb2b2b2, THEME_OWN, 0, 0},
    [ROLE_LABEL_GROUP]   = {0xffffff, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL_CURRENT] = {0x000000, 0xffd75f, THEME_BOLD, THEME_REVERSE},
    [ROLE_UTIL]          = {0x5fd75f, THEME_OWN, 0, 0},
    [ROLE_UTIL_LOW] = {0xffaf00, THEME_OWN, 0, 0},
    [ROLE_SPARK]         = {0x87afd7, THEME_OWN, 0, 0},
    [ROLE_GAP]           = {0xff5f5f, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_FOUND]         = {0x000000, 0xffff00, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_FOUND_BLOCK]   = {0xffff00, THEME_OWN, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_SELECTED]      = {0x000000, 0xffffff, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_BAR_DIM]       = {0x8a8a8a, 0x303030, 0, 0},
    [ROLE_BLOCK_DIM]     = {0x585858, THEME_OWN, 0, 0},
    [ROLE_MARK]          = {0x000000, 0xff87ff, THEME_BOLD, THEME_REVERSE},
    [ROLE_RULE]          = {0x585858, THEME_OWN, 0, 0},
    [ROLE_DETAIL]        = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_DETAIL_STRONG] = {0xffffff, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_STATUS]        = {0x949494, THEME_OWN, 0, 0},
    [ROLE_STATUS_KEY]    = {0xffd75f, THEME_OWN, 0, THEME_BOLD},
    [ROLE_PROMPT]        = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_PROMPT_CURSOR] = {0x000000, 0xffffff, 0, THEME_REVERSE},
    [ROLE_ERROR]         = {0xff5f5f, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LIST]          = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_LIST_HEAD]     = {0x87d7ff, THEME_OWN, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
    [ROLE_LIST_CURRENT]  = {0x000000, 0xffd75f, 0, THEME_REVERSE},
    [ROLE_BETTER]        = {0x5fd75f, THEME_OWN, 0, 0},
    [ROLE_WORSE]         = {0xff5f5f, THEME_OWN, 0, THEME_BOLD},
};
static const struct theme_role THEME_LIGHT_ROLES[ROLE_COUNT] = {
    [ROLE_TEXT]          = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_DIM]           = {0x767676, THEME_OWN, 0, 0},
    [ROLE_HEADER]        = {0x303030, 0xd0d0d0, 0, THEME_REVERSE},
    [ROLE_HEADER_STRONG] = {0x000000, 0xd0d0d0, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_RULER]         = {0x585858, THEME_OWN, 0, 0},
    [ROLE_CURSOR]        = {0xaf0000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL]         = {0x444444, THEME_OWN, 0, 0},
    [ROLE_LABEL_GROUP]   = {0x000000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL_CURRENT] = {0xffffff, 0x005faf, THEME_BOLD, THEME_REVERSE},
    [ROLE_UTIL]          = {0x008700, THEME_OWN, 0, 0},
    [ROLE_UTIL_LOW] = {0xaf5f00, THEME_OWN, 0, 0},
    [ROLE_SPARK]         = {0x005faf, THEME_OWN, 0, 0},
    [ROLE_GAP]           = {0xd70000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_FOUND]         = {0x000000, 0xffff00, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_FOUND_BLOCK]   = {0xd78700, THEME_OWN, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_SELECTED]      = {0xffffff, 0x000000, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_BAR_DIM]       = {0x767676, 0xe4e4e4, 0, 0},
    [ROLE_BLOCK_DIM]     = {0xbcbcbc, THEME_OWN, 0, 0},
    [ROLE_MARK]          = {0xffffff, 0xaf00af, THEME_BOLD, THEME_REVERSE},
    [ROLE_RULE]          = {0xbcbcbc, THEME_OWN, 0, 0},
    [ROLE_DETAIL]        = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_DETAIL_STRONG] = {0x000000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_STATUS]        = {0x585858, THEME_OWN, 0, 0},
    [ROLE_STATUS_KEY]    = {0x005faf, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_PROMPT]        = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_PROMPT_CURSOR] = {0xffffff, 0x000000, 0, THEME_REVERSE},
    [ROLE_ERROR]         = {0xd70000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LIST]          = {THEME_OWN, THEME_OWN, 0, 0},
    [ROLE_LIST_HEAD]     = {0x005faf, THEME_OWN, THEME_BOLD, THEME_BOLD | THEME_UNDERLINE},
    [ROLE_LIST_CURRENT]  = {0xffffff, 0x005faf, 0, THEME_REVERSE},
    [ROLE_BETTER]        = {0x008700, THEME_OWN, 0, 0},
    [ROLE_WORSE]         = {0xd70000, THEME_OWN, 0, THEME_BOLD},
};
/* clang-format on */

/* Fills of bars: mid tones on which black (dark, safe) or black text (light) reads well. */
static const int32_t THEME_FILLS[THEME_KIND_COUNT][HUE_COUNT] = {
    [THEME_DARK] = {0x5fafff, 0x87d75f, 0xffaf5f, 0xd787d7, 0x5fd7d7, 0xd7d75f, 0xff8787,
                    0xafafff, 0x87d7af, 0xd7af87, 0xffafd7, 0x87afaf, 0x5f87d7, 0xd75f5f,
                    0x5faf5f, 0xd7875f, 0x87af87, 0xaf87d7, 0x949494, 0x949494},
    [THEME_LIGHT] = {0x87d7ff, 0xafffaf, 0xffd7af, 0xffafff, 0xafffff, 0xffff87, 0xffafaf,
                     0xd7d7ff, 0xafffd7, 0xd7d7af, 0xffd7ff, 0xafd7d7, 0x87afff, 0xff8787,
                     0x87d787, 0xffaf87, 0xafd7af, 0xd7afff, 0xc6c6c6, 0xc6c6c6},
    /* After the palette of Okabe and Ito (2008), in light and dark steps. */
    [THEME_SAFE] = {0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd55e00, 0xcc79a7,
                    0xffd787, 0xafd7ff, 0x87d7af, 0xffafd7, 0xbcbcbc, 0x56b4e9, 0xd55e00,
                    0x009e73, 0xe69f00, 0xf0e442, 0xcc79a7, 0x949494, 0x949494},
};

/* The nearest of the eight colours of old terminals, by hue. 6 = cyan, 4 = blue, ... */
static const uint8_t THEME_FILLS_8[HUE_COUNT] = {4, 2, 3, 5, 6, 3, 1, 4, 6, 3,
                                                 5, 6, 4, 1, 2, 3, 6, 5, 7, 7};

static int theme_level(int32_t value)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int best = 0;
    for (int i = 1; i < 6; i++) {
        int near = levels[i] > value ? levels[i] - value : value - levels[i];
        int old = levels[best] > value ? levels[best] - value : value - levels[best];
        best = near < old ? i : best;
    }
    return best;
}

/* 0xRRGGBB to the 256 colours of xterm: the cube, or the grey ramp for greys. */
static int32_t theme_256(int32_t rgb)
{
    int32_t r = rgb >> 16 & 255;
    int32_t g = rgb >> 8 & 255;
    int32_t b = rgb & 255;
    if (r == g && g == b && r > 4 && r < 243) {
        return 232 + (r - 3) / 10;
    }
    return 16 + 36 * theme_level(r) + 6 * theme_level(g) + theme_level(b);
}

static int32_t theme_grey(int32_t level, bool sixteen)
{
    if (level > 190) {
        return sixteen && level > 230 ? 15 : 7;
    }
    return level <= 64 ? 0 : sixteen ? 8 : 7;
}

/* 0xRRGGBB to the eight or sixteen first colours: which parts are strong. */
static int32_t theme_16(int32_t rgb, bool sixteen)
{
    int32_t parts[3] = {rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255};
    int32_t top = 0;
    int32_t index = 0;
    if (parts[0] == parts[1] && parts[1] == parts[2]) {
        return theme_grey(parts[0], sixteen);
    }
    for (int i = 0; i < 3; i++) {
        top = parts[i] > top ? parts[i] : top;
    }
    for (int i = 0; i < 3; i++) {
        index |= parts[i] >= top * 3 / 4 && parts[i] > 64 ? 1 << i : 0;
    }
    return sixteen && top > 200 ? index + 8 : index;
}

static int32_t theme_color(const struct theme *theme, int32_t rgb)
{
    if (rgb == THEME_OWN || theme->colors == THEME_TRUECOLOR) {
        return rgb;
    }
    return theme->colors == THEME_256 ? theme_256(rgb) : theme_16(rgb, theme->colors == THEME_16);
}

static int32_t theme_rgb565(uint16_t rgb)
{
    int32_t r = (rgb >> 11 & 31) * 255 / 31;
    int32_t g = (rgb >> 5 & 63) * 255 / 63;
    int32_t b = (rgb & 31) * 255 / 31;
    return r << 16 | g << 8 | b;
}

static int32_t theme_luma(int32_t rgb)
{
    return ((rgb >> 16 & 255) * 299 + (rgb >> 8 & 255) * 587 + (rgb & 255) * 114) / 1000;
}

/* Text on a fill. With 256 colours it is the terminal's first black or last white: each change of
 * colour is half as long as one to black or white of the cube, and a pan is full of them. */
static int32_t theme_ink(const struct theme *theme, bool black)
{
    if (theme->colors == THEME_256) {
        return black ? 0 : 15;
    }
    return theme_color(theme, black ? 0x000000 : 0xffffff);
}

/* Bars: text on a fill; blocks: the fill as foreground. */
static struct theme_look theme_fill(const struct theme *theme, const struct cell *cell)
{
    bool block = cell->role == ROLE_BLOCK;
    int32_t fill = THEME_FILLS[theme->kind][cell->hue < HUE_COUNT ? cell->hue : 0];
    struct theme_look look = {THEME_OWN, THEME_OWN, 0};
    if (theme->colors == THEME_MONO) {
        look.attrs = block ? 0 : THEME_REVERSE;
        return look;
    }
    if (cell->hue == HUE_RGB) {
        fill = theme_rgb565(cell->rgb);
    }
    if (theme->colors < THEME_256) {
        int32_t index =
            cell->hue == HUE_RGB ? theme_16(fill, false) : THEME_FILLS_8[cell->hue % HUE_COUNT];
        index = index == 0 ? 7 : index;
        look.fg = block ? index : 0;
        look.bg = block ? THEME_OWN : index;
        return look;
    }
    look.fg = block ? theme_color(theme, fill) : theme_ink(theme, theme_luma(fill) > 110);
    look.bg = block ? THEME_OWN : theme_color(theme, fill);
    return look;
}

struct theme_look theme_look(const struct theme *theme, const struct cell *cell)
{
    const struct theme_role *role =
        theme->kind == THEME_LIGHT ? &THEME_LIGHT_ROLES[cell->role] : &THEME_DARK_ROLES[cell->role];
    struct theme_look look;
    if (cell->role == ROLE_BAR || cell->role == ROLE_BLOCK) {
        return theme_fill(theme, cell);
    }
    if (theme->colors == THEME_MONO) {
        return (struct theme_look){THEME_OWN, THEME_OWN, role->mono};
    }
    look.fg = theme_color(theme, role->fg);
    look.bg = theme_color(theme, role->bg);
    look.attrs = role->attrs;
    if (theme->colors == THEME_8 &&
        (cell->role == ROLE_HEADER || cell->role == ROLE_HEADER_STRONG)) {
        look = (struct theme_look){7, 4, role->attrs};
    }
    if (theme->colors == THEME_8 && cell->role == ROLE_BAR_DIM) {
        look = (struct theme_look){7, 0, THEME_UNDERLINE};
    }
    return look;
}

int theme_kind_by_name(const char *name)
{
    static const char *const names[] = {
#define THEME_KIND_NAME(id, text) text,
        THEME_KINDS(THEME_KIND_NAME)
#undef THEME_KIND_NAME
    };
    for (int i = 0; i < THEME_KIND_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}
