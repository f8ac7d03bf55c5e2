/* svg: see svg.h. One rectangle for each run of cells with one background, one text for each run
 * with one foreground; textLength keeps the columns whatever font the reader has. */
#include "viewer/paint/svg.h"

#include "analysis/base/utf8.h"

enum {
    SVG_CELL_W = 8,
    SVG_CELL_H = 17,
    SVG_BASE = 13, /* of the letters, from the top of the cell */
    SVG_DARK_BG = 0x1c1c1c,
    SVG_DARK_FG = 0xd0d0d0,
    SVG_LIGHT_BG = 0xffffff,
    SVG_LIGHT_FG = 0x202020
};

static void svg_char(struct buf *out, uint32_t ch)
{
    char bytes[4];
    switch (ch) {
    case '<':
        buf_adds(out, "&lt;");
        break;
    case '>':
        buf_adds(out, "&gt;");
        break;
    case '&':
        buf_adds(out, "&amp;");
        break;
    case ' ':
        buf_adds(out, "\xc2\xa0");
        break;
    default:
        buf_add(out, bytes, utf8_encode(ch, bytes));
        break;
    }
}

static struct theme_look svg_look(const struct theme *theme, const struct cell *cell)
{
    struct theme full = {theme->kind, THEME_TRUECOLOR};
    struct theme_look look = theme_look(&full, cell);
    bool light = theme->kind == THEME_LIGHT;
    look.fg = look.fg < 0 ? (light ? SVG_LIGHT_FG : SVG_DARK_FG) : look.fg;
    look.bg = look.bg < 0 ? (light ? SVG_LIGHT_BG : SVG_DARK_BG) : look.bg;
    return look;
}

static void svg_run(struct buf *out, const struct cell *cells, int cols, int x, int y,
                    const struct theme_look *look)
{
    bool blank = true;
    buf_addf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
             x * SVG_CELL_W, y * SVG_CELL_H, cols * SVG_CELL_W, SVG_CELL_H, (unsigned)look->bg);
    for (int i = 0; i < cols; i++) {
        blank = blank && (cells[i].ch == ' ' || cells[i].ch == 0);
    }
    if (blank) {
        return;
    }
    buf_addf(out, "<text x=\"%d\" y=\"%d\" fill=\"#%06x\" textLength=\"%d\"%s>", x * SVG_CELL_W,
             y * SVG_CELL_H + SVG_BASE, (unsigned)look->fg, cols * SVG_CELL_W,
             (look->attrs & THEME_BOLD) != 0 ? " font-weight=\"bold\"" : "");
    for (int i = 0; i < cols; i++) {
        if (cells[i].ch != 0) {
            svg_char(out, cells[i].ch);
        }
    }
    buf_adds(out, "</text>\n");
}

/* The first cell from col on that looks different. */
static int svg_run_end(const struct cell *cells, int col, int cols, const struct theme *theme)
{
    struct theme_look look = svg_look(theme, &cells[col]);
    for (col++; col < cols; col++) {
        struct theme_look next = svg_look(theme, &cells[col]);
        if (next.fg != look.fg || next.bg != look.bg || next.attrs != look.attrs) {
            break;
        }
    }
    return col;
}

void svg_write(const struct canvas *canvas, const struct theme *theme, struct buf *out)
{
    int width = canvas->cols * SVG_CELL_W;
    int height = canvas->rows * SVG_CELL_H;
    buf_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
             "viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"13\">\n",
             width, height, width, height);
    for (int row = 0; row < canvas->rows; row++) {
        const struct cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->cols];
        int col = 0;
        while (col < canvas->cols) {
            struct theme_look look = svg_look(theme, &cells[col]);
            int end = svg_run_end(cells, col, canvas->cols, theme);
            svg_run(out, cells + col, end - col, col, row, &look);
            col = end;
        }
    }
    buf_adds(out, "</svg>\n");
}
