/* palette: see palette.h. Luminance and contrast: WCAG 2.1, "relative luminance". */
#include "viewer/paint/palette.h"

enum {
    CUBE = 16, /* the first colour of the cube of six levels */
    GREYS = 232, /* ... of the grey ramp */
    CUBE_SIDE = 6
};

static const int32_t LEVELS[CUBE_SIDE] = {0, 95, 135, 175, 215, 255};

static int32_t level(int32_t value)
{
    int32_t best = 0;
    for (int32_t i = 1; i < CUBE_SIDE; i++) {
        int32_t near = LEVELS[i] > value ? LEVELS[i] - value : value - LEVELS[i];
        int32_t old = LEVELS[best] > value ? LEVELS[best] - value : value - LEVELS[best];
        best = near < old ? i : best;
    }
    return best;
}

int32_t palette_256(int32_t rgb)
{
    int32_t r = rgb >> 16 & 255;
    int32_t g = rgb >> 8 & 255;
    int32_t b = rgb & 255;
    if (r == g && g == b && r > 4 && r < 243) {
        return GREYS + (r - 3) / 10;
    }
    return CUBE + CUBE_SIDE * CUBE_SIDE * level(r) + CUBE_SIDE * level(g) + level(b);
}

static int32_t grey(int32_t value, bool sixteen)
{
    if (value > 190) {
        return sixteen && value > 230 ? 15 : 7;
    }
    return value <= 64 ? 0 : sixteen ? 8 : 7;
}

int32_t palette_16(int32_t rgb, bool sixteen)
{
    int32_t parts[3] = {rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255};
    int32_t top = 0;
    int32_t index = 0;
    if (parts[0] == parts[1] && parts[1] == parts[2]) {
        return grey(parts[0], sixteen);
    }
    for (int i = 0; i < 3; i++) {
        top = parts[i] > top ? parts[i] : top;
    }
    for (int i = 0; i < 3; i++) {
        index |= parts[i] >= top * 3 / 4 && parts[i] > 64 ? 1 << i : 0;
    }
    return sixteen && top > 200 ? index + 8 : index;
}

int32_t palette_rgb(int32_t index)
{
    static const int32_t first[CUBE] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                        0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                        0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    if (index < CUBE) {
        return first[index & (CUBE - 1)];
    }
    if (index >= GREYS) {
        return (8 + 10 * (index - GREYS)) * 0x010101;
    }
    index -= CUBE;
    return LEVELS[index / (CUBE_SIDE * CUBE_SIDE)] << 16 |
           LEVELS[index / CUBE_SIDE % CUBE_SIDE] << 8 | LEVELS[index % CUBE_SIDE];
}

/* A part of a colour as light, 0 to 1: sRGB's curve as a polynomial, exact to 0.002. */
static double light(int32_t part)
{
    double c = (double)part / 255.0;
    return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);
}

bool palette_wants_black(int32_t rgb)
{
    double luminance = 0.2126 * light(rgb >> 16 & 255) + 0.7152 * light(rgb >> 8 & 255) +
                       0.0722 * light(rgb & 255);
    /* (L + 0.05) / 0.05 > 1.05 / (L + 0.05) */
    return luminance > 0.1791;
}
