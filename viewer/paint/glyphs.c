/* glyphs: see glyphs.h. */
#include "viewer/paint/glyphs.h"

static const struct glyphs GLYPHS_UTF8 = {
    .level = {' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588},
    .bar_left = '[',
    .bar_right = ']',
    .bar_fill = 0x2500,
    .bar_edge = 0x258F,
    .bar_cut = 0x2500,
    .gap = 0x254C,
    .gap_left = 0x2576,
    .gap_right = 0x2574,
    .folded = 0x25B8,
    .open = 0x25BE,
    .pinned = 0x2020,
    .tick = 0x2502,
    .cursor = 0x25BC,
    .scrollbar = 0x2503,
    .rule = 0x2500,
    .mark = 0x25C6,
    .dim = 0x00B7,
    .ascending = 0x25B4,
    .descending = 0x25BE,
};

static const struct glyphs GLYPHS_ASCII = {
    .level = {' ', '.', '.', ':', ':', '=', '=', '#', '#'},
    .bar_left = '[',
    .bar_right = ']',
    .bar_fill = '-',
    .bar_edge = '|',
    .bar_cut = '-',
    .gap = '~',
    .gap_left = '~',
    .gap_right = '~',
    .folded = '>',
    .open = 'v',
    .pinned = '^',
    .tick = '|',
    .cursor = 'V',
    .scrollbar = '|',
    .rule = '-',
    .mark = '*',
    .dim = '\'',
    .ascending = '^',
    .descending = 'v',
};

const struct glyphs *glyphs_of(bool ascii)
{
    return ascii ? &GLYPHS_ASCII : &GLYPHS_UTF8;
}

int glyphs_level(int64_t part, int64_t whole)
{
    if (part <= 0 || whole <= 0) {
        return 0;
    }
    /* 63-bit products: columns are below 2^46 ns. */
    int64_t level = (part * (int64_t)GLYPHS_LEVELS * 2 + whole) / (whole * 2);
    return level < 1 ? 1 : level > GLYPHS_LEVELS ? GLYPHS_LEVELS : (int)level;
}
