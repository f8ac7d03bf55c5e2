/* theme: see theme.h. */
#include "viewer/paint/theme.h"

#include <string.h>

#include "viewer/paint/palette.h"

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
    [ROLE_DIM]           = {0x949494, THEME_OWN, 0, 0},
    [ROLE_HEADER]        = {0xd0d0d0, 0x303030, 0, THEME_REVERSE},
    [ROLE_HEADER_STRONG] = {0xffffff, 0x303030, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_RULER]         = {0x949494, THEME_OWN, 0, 0},
    [ROLE_OVERVIEW]      = {0x5faf5f, THEME_OWN, 0, 0},
    [ROLE_OVERVIEW_HERE] = {0x87ff87, 0x444444, THEME_BOLD, THEME_REVERSE},
    [ROLE_CURSOR]        = {0xffff5f, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL]         = {0xb2b2b2, THEME_OWN, 0, 0},
    [ROLE_LABEL_GROUP]   = {0xffffff, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL_CURRENT] = {0x000000, 0xffd75f, THEME_BOLD, THEME_REVERSE},
    [ROLE_UTIL]          = {0x5fd75f, THEME_OWN, 0, 0},
    [ROLE_UTIL_LOW] = {0xffaf00, THEME_OWN, 0, 0},
    [ROLE_SPARK]         = {0x87afd7, THEME_OWN, 0, 0},
    [ROLE_GAP]           = {0xffffff, 0xaf0000, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_GAP_SELECTED]  = {0x000000, 0xff5f5f, THEME_BOLD | THEME_UNDERLINE, THEME_REVERSE | THEME_BOLD | THEME_UNDERLINE},
    [ROLE_FOUND]         = {THEME_OWN, THEME_OWN, 0, 0}, /* its hue, see theme_fill */
    [ROLE_FOUND_EDGE]    = {0x000000, 0xffff00, THEME_BOLD, THEME_REVERSE | THEME_BOLD | THEME_UNDERLINE},
    [ROLE_FOUND_BLOCK]   = {0xffff00, THEME_OWN, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_SELECTED]      = {0x000000, 0xffffff, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_BAR_DIM]       = {0x9e9e9e, 0x303030, 0, 0},
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
    [ROLE_DIM]           = {0x626262, THEME_OWN, 0, 0},
    [ROLE_HEADER]        = {0x303030, 0xd0d0d0, 0, THEME_REVERSE},
    [ROLE_HEADER_STRONG] = {0x000000, 0xd0d0d0, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_RULER]         = {0x585858, THEME_OWN, 0, 0},
    [ROLE_OVERVIEW]      = {0x5f875f, THEME_OWN, 0, 0},
    [ROLE_OVERVIEW_HERE] = {0x005f00, 0xc6c6c6, THEME_BOLD, THEME_REVERSE},
    [ROLE_CURSOR]        = {0xaf0000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL]         = {0x444444, THEME_OWN, 0, 0},
    [ROLE_LABEL_GROUP]   = {0x000000, THEME_OWN, THEME_BOLD, THEME_BOLD},
    [ROLE_LABEL_CURRENT] = {0xffffff, 0x005faf, THEME_BOLD, THEME_REVERSE},
    [ROLE_UTIL]          = {0x008700, THEME_OWN, 0, 0},
    [ROLE_UTIL_LOW] = {0xaf5f00, THEME_OWN, 0, 0},
    [ROLE_SPARK]         = {0x005faf, THEME_OWN, 0, 0},
    [ROLE_GAP]           = {0xffffff, 0xaf0000, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_GAP_SELECTED]  = {0xffffff, 0x870000, THEME_BOLD | THEME_UNDERLINE, THEME_REVERSE | THEME_BOLD | THEME_UNDERLINE},
    [ROLE_FOUND]         = {THEME_OWN, THEME_OWN, 0, 0}, /* its hue, see theme_fill */
    [ROLE_FOUND_EDGE]    = {0x000000, 0xffff00, THEME_BOLD, THEME_REVERSE | THEME_BOLD | THEME_UNDERLINE},
    [ROLE_FOUND_BLOCK]   = {0xd78700, THEME_OWN, THEME_UNDERLINE, THEME_UNDERLINE | THEME_BOLD},
    [ROLE_SELECTED]      = {0xffffff, 0x000000, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_BAR_DIM]       = {0x585858, 0xe4e4e4, 0, 0},
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
    [ROLE_BETTER]        = {0x005f00, THEME_OWN, 0, 0},
    [ROLE_WORSE]         = {0xd70000, THEME_OWN, 0, THEME_BOLD},
};
/* Where it differs from dark: red on black is hard to see for some; vermilion is left to idle time. */
static const struct theme_role THEME_SAFE_ROLES[ROLE_COUNT] = {
    [ROLE_GAP]           = {0x000000, 0xd75f00, THEME_BOLD, THEME_REVERSE | THEME_BOLD},
    [ROLE_GAP_SELECTED]  = {0x000000, 0xff8700, THEME_BOLD | THEME_UNDERLINE, THEME_REVERSE | THEME_BOLD | THEME_UNDERLINE},
};
/* clang-format on */

/* Fills of bars: mid tones on which black text reads well. No red: that is idle time. */
static const int32_t THEME_FILLS[THEME_KIND_COUNT][HUE_COUNT] = {
    [THEME_DARK] = {0x5fafff, 0x87d75f, 0xffaf5f, 0xd787d7, 0x5fd7d7, 0xd7d75f, 0xd7d7af,
                    0xafafff, 0x87d7af, 0xd7af87, 0xffafd7, 0x87afaf, 0x5f87d7, 0xd787af,
                    0x5faf5f, 0xd7875f, 0x87af87, 0xaf87d7, 0x949494, 0x949494},
    [THEME_LIGHT] = {0x87d7ff, 0xafffaf, 0xffd7af, 0xffafff, 0xafffff, 0xffff87, 0xffd787,
                     0xd7d7ff, 0xafffd7, 0xd7d7af, 0xffd7ff, 0xafd7d7, 0x87afff, 0xff87d7,
                     0x87d787, 0xffaf87, 0xafd7af, 0xd7afff, 0xc6c6c6, 0xc6c6c6},
    /* After the palette of Okabe and Ito (2008), in light and dark steps. */
    [THEME_SAFE] = {0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd0d0d0, 0xcc79a7,
                    0xffd787, 0xafd7ff, 0x87d7af, 0xffafd7, 0xbcbcbc, 0x56b4e9, 0xffd7af,
                    0x009e73, 0xe69f00, 0xf0e442, 0xcc79a7, 0x949494, 0x949494},
};

/* One of the eight colours of old terminals, by hue: 2 = green, 3 = yellow, 4 = blue, 6 = cyan. Red is
 * idle time. */
static const uint8_t THEME_FILLS_8[HUE_COUNT] = {4, 2, 3, 6, 4, 3, 2, 4, 6, 3,
                                                 2, 6, 4, 3, 2, 6, 6, 7, 7, 7};

/* The nearest colour that the terminal has; as the colour of text or lines, or of what is behind
 * them. */
static int32_t theme_color(const struct theme *theme, int32_t rgb, bool text)
{
    /* On white, what eight or sixteen colours have of green, yellow, cyan and grey cannot be read. */
    static const uint8_t on_white[16] = {0, 1, 4, 0, 4, 5, 4, 0, 0, 1, 4, 0, 4, 5, 4, 15};
    if (rgb == THEME_OWN || theme->colors == THEME_TRUECOLOR) {
        return rgb;
    }
    if (theme->colors == THEME_256) {
        return palette_256(rgb);
    }
    int32_t index = palette_16(rgb, theme->colors == THEME_16);
    return text && theme->kind == THEME_LIGHT && !(theme->colors == THEME_8 && rgb == 0xffffff)
               ? on_white[index]
               : index;
}

static int32_t theme_rgb565(uint16_t rgb)
{
    int32_t r = (rgb >> 11 & 31) * 255 / 31;
    int32_t g = (rgb >> 5 & 63) * 255 / 63;
    int32_t b = (rgb & 31) * 255 / 31;
    return r << 16 | g << 8 | b;
}

/* Text on a fill. With 256 colours it is the terminal's first black or last white: each change of
 * colour is half as long as one to black or white of the cube, and a pan is full of them. */
static int32_t theme_ink(const struct theme *theme, bool black)
{
    if (theme->colors == THEME_TRUECOLOR) {
        return black ? 0x000000 : 0xffffff;
    }
    return black ? 0 : theme->colors == THEME_8 ? 7 : 15;
}

/* Bars and blocks where there are only a few colours. */
static struct theme_look theme_fill_few(const struct theme *theme, const struct cell *cell)
{
    int32_t index = THEME_FILLS_8[cell->hue % HUE_COUNT];
    if (cell->hue == HUE_RGB) {
        index = palette_16(theme_rgb565(cell->rgb), false);
        /* Text on magenta would be hard to read. */
        index = index == 0 ? 7 : index == 5 ? 4 : index;
    }
    if (cell->role == ROLE_BLOCK) {
        index = theme->kind == THEME_LIGHT && (index == 7 || index == 3) ? 0 : index;
        return (struct theme_look){index, THEME_OWN, 0};
    }
    return (struct theme_look){theme_ink(theme, palette_wants_black(palette_rgb(index))), index, 0};
}

/* A block on white must be darker than a bar with black text in it. */
static int32_t theme_block_fill(const struct theme *theme, int32_t fill)
{
    if (theme->kind != THEME_LIGHT) {
        return fill;
    }
    return ((fill >> 16 & 255) / 2) << 16 | ((fill >> 8 & 255) / 2) << 8 | (fill & 255) / 2;
}

/* Bars: text on a fill; blocks: the fill as foreground. */
static struct theme_look theme_fill(const struct theme *theme, const struct cell *cell)
{
    bool block = cell->role == ROLE_BLOCK;
    int32_t fill = THEME_FILLS[theme->kind][cell->hue < HUE_COUNT ? cell->hue : 0];
    if (theme->colors == THEME_MONO) {
        return (struct theme_look){THEME_OWN, THEME_OWN, block ? 0 : THEME_REVERSE};
    }
    if (theme->colors < THEME_256) {
        return theme_fill_few(theme, cell);
    }
    if (cell->hue == HUE_RGB) {
        fill = theme_rgb565(cell->rgb);
    }
    if (block) {
        return (struct theme_look){theme_color(theme, theme_block_fill(theme, fill), true),
                                   THEME_OWN, 0};
    }
    int32_t bg = theme_color(theme, fill, false);
    int32_t seen = theme->colors == THEME_256 ? palette_rgb(bg) : bg;
    return (struct theme_look){theme_ink(theme, palette_wants_black(seen)), bg, 0};
}

/* What eight colours need otherwise. */
static const struct theme_eight {
    uint8_t role;
    bool dark; /* on a dark background only */
    struct theme_look look;
} THEME_EIGHT[] = {
    {ROLE_HEADER, false, {7, 4, 0}},
    {ROLE_HEADER_STRONG, false, {7, 4, THEME_BOLD}},
    {ROLE_BAR_DIM, false, {7, 0, THEME_UNDERLINE}},
    {ROLE_MARK, false, {0, 6, THEME_BOLD}},
    {ROLE_GAP, false, {7, 1, THEME_BOLD}},
    {ROLE_GAP_SELECTED, false, {7, 1, THEME_BOLD | THEME_UNDERLINE}},
    {ROLE_ERROR, true, {3, THEME_OWN, THEME_BOLD}},
    {ROLE_WORSE, true, {3, THEME_OWN, THEME_BOLD}},
};

static const struct theme_role *theme_role(const struct theme *theme, uint8_t role)
{
    if (theme->kind == THEME_LIGHT) {
        return &THEME_LIGHT_ROLES[role];
    }
    return theme->kind == THEME_SAFE && THEME_SAFE_ROLES[role].bg != 0 ? &THEME_SAFE_ROLES[role]
                                                                       : &THEME_DARK_ROLES[role];
}

struct theme_look theme_look(const struct theme *theme, const struct cell *cell)
{
    const struct theme_role *role = theme_role(theme, cell->role);
    if (cell->role == ROLE_BAR || cell->role == ROLE_BLOCK) {
        return theme_fill(theme, cell);
    }
    if (cell->role == ROLE_FOUND) {
        struct theme_look look = theme_fill(theme, cell);
        look.attrs |= THEME_UNDERLINE | THEME_BOLD;
        return look;
    }
    if (theme->colors == THEME_MONO) {
        return (struct theme_look){THEME_OWN, THEME_OWN, role->mono};
    }
    for (size_t i = 0; theme->colors == THEME_8 && i < sizeof THEME_EIGHT / sizeof THEME_EIGHT[0];
         i++) {
        if (THEME_EIGHT[i].role == cell->role &&
            (!THEME_EIGHT[i].dark || theme->kind != THEME_LIGHT)) {
            return THEME_EIGHT[i].look;
        }
    }
    return (struct theme_look){theme_color(theme, role->fg, true),
                               theme_color(theme, role->bg, false), role->attrs};
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
