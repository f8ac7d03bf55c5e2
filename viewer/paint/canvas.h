/*
 * canvas: a grid of cells. Everything that is seen is first painted here.
 *
 * A cell is a character and what it means (role, hue); which colour that is, the theme says. Text
 * from captures is made safe on the way in. Painting outside of the grid is cut, never an error.
 */
#ifndef CUTLINE_PAINT_CANVAS_H
#define CUTLINE_PAINT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/buf.h"
#include "analysis/base/err.h"

/* What a cell means: name, letter in the roles dump. */
#define CANVAS_ROLES(X) \
    X(TEXT, '.') \
    X(DIM, 'd') \
    X(HEADER, 'h') \
    X(HEADER_STRONG, 'H') \
    X(RULER, 'r') \
    X(OVERVIEW, 'o') \
    X(OVERVIEW_HERE, 'O') \
    X(CURSOR, 'c') \
    X(LABEL, 'l') \
    X(LABEL_GROUP, 'L') \
    X(LABEL_CURRENT, '>') \
    X(UTIL, 'u') \
    X(UTIL_LOW, 'U') \
    X(SPARK, 'k') \
    X(GAP, 'g') \
    X(GAP_SELECTED, 'G') \
    X(BAR, 'b') \
    X(BLOCK, 'm') \
    X(BAR_DIM, '-') \
    X(BLOCK_DIM, '_') \
    X(FOUND, 'F') \
    X(FOUND_EDGE, 'e') \
    X(FOUND_BLOCK, 'f') \
    X(SELECTED, 'S') \
    X(MARK, 'M') \
    X(RULE, '=') \
    X(DETAIL, 'D') \
    X(DETAIL_STRONG, 'E') \
    X(STATUS, 's') \
    X(STATUS_KEY, 'K') \
    X(PROMPT, 'p') \
    X(PROMPT_CURSOR, 'P') \
    X(ERROR, '!') \
    X(LIST, 'i') \
    X(LIST_HEAD, 'I') \
    X(LIST_CURRENT, '*') \
    X(BETTER, '+') \
    X(WORSE, 'w')

enum canvas_role {
#define CANVAS_ROLE_ENUM(name, letter) ROLE_##name,
    CANVAS_ROLES(CANVAS_ROLE_ENUM)
#undef CANVAS_ROLE_ENUM
    ROLE_COUNT,
};

struct cell {
    uint32_t ch; /* a code point of width 1 or 2; 0 = the right half of a wide character */
    uint8_t role; /* enum canvas_role */
    uint8_t hue; /* BAR, BLOCK: which colour (see hue.h) */
    uint16_t rgb; /* BAR, BLOCK: an NVTX colour as 5-6-5 bits where hue is HUE_RGB */
};

struct canvas {
    int cols;
    int rows;
    bool ascii; /* only ASCII characters */
    struct cell *cells; /* rows x cols; owned */
};

/* Makes a canvas of blanks of ROLE_TEXT; reuses memory. 0 or -1. */
int canvas_resize(struct canvas *canvas, int cols, int rows, struct err *err);
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* A place to put text: moves on as it is used. */
struct canvas_pen {
    struct canvas *canvas;
    int row;
    int col;
    int end; /* nothing is painted at or behind this column */
    uint8_t role;
    uint8_t hue;
    uint16_t rgb;
};

struct canvas_pen canvas_pen(struct canvas *canvas, int row, int col, int end,
                             enum canvas_role role);
/* Puts one character (safe already) and moves on. */
void canvas_put(struct canvas_pen *pen, uint32_t ch);
/* Puts text of any bytes, as far as there is room. Returns the columns taken. */
int canvas_text(struct canvas_pen *pen, const char *text, size_t len);
/* The same, with an ellipsis in the last column where the text is cut. */
int canvas_text_cut(struct canvas_pen *pen, const char *text, size_t len);
int canvas_puts(struct canvas_pen *pen, const char *text);
int canvas_printf(struct canvas_pen *pen, const char *fmt, ...) CUTLINE_PRINTF(2, 3);
/* Fills n cells; none for n < 1. */
void canvas_fill(struct canvas_pen *pen, uint32_t ch, int n);
/* Fills up to the end of the pen. */
void canvas_fill_rest(struct canvas_pen *pen, uint32_t ch);
/* Changes the role of cells that are there already. */
void canvas_recolor(struct canvas *canvas, int row, int col, int cols, enum canvas_role role);

enum canvas_dump {
    CANVAS_DUMP_TEXT, /* the characters, blanks at line ends cut */
    CANVAS_DUMP_ROLES, /* a letter for each role; the letters of CANVAS_ROLES */
};
void canvas_dump(const struct canvas *canvas, enum canvas_dump how, struct buf *out);

#endif
