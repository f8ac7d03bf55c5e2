/* canvas: see canvas.h. */
#include "viewer/paint/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/utf8.h"

enum {
    CANVAS_LINE_BYTES = 512,
    CANVAS_ELLIPSIS = 0x2026
};

int canvas_resize(struct canvas *canvas, int cols, int rows, struct err *err)
{
    if (cols < 1 || rows < 1) {
        return err_set(err, "a screen of %d x %d cells is too small", cols, rows);
    }
    struct cell *cells = array_resize(canvas->cells, (size_t)cols * (size_t)rows, sizeof *cells);
    if (cells == NULL) {
        return err_nomem(err, "the screen");
    }
    canvas->cells = cells;
    canvas->cols = cols;
    canvas->rows = rows;
    canvas_clear(canvas);
    return 0;
}

void canvas_free(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

void canvas_clear(struct canvas *canvas)
{
    size_t count = (size_t)canvas->cols * (size_t)canvas->rows;
    for (size_t i = 0; i < count; i++) {
        canvas->cells[i] = (struct cell){.ch = ' '};
    }
}

struct canvas_pen canvas_pen(struct canvas *canvas, int row, int col, int end,
                             enum canvas_role role)
{
    return (struct canvas_pen){.canvas = canvas,
                               .row = row,
                               .col = col,
                               .end = end < canvas->cols ? end : canvas->cols,
                               .role = (uint8_t)role};
}

static struct cell *canvas_cell(const struct canvas_pen *pen)
{
    const struct canvas *canvas = pen->canvas;
    if (pen->row < 0 || pen->row >= canvas->rows || pen->col < 0 || pen->col >= pen->end) {
        return NULL;
    }
    return &canvas->cells[(size_t)pen->row * (size_t)canvas->cols + (size_t)pen->col];
}

static void canvas_set(struct canvas_pen *pen, uint32_t ch)
{
    struct cell *cell = canvas_cell(pen);
    if (cell != NULL) {
        *cell = (struct cell){.ch = ch, .role = pen->role, .hue = pen->hue, .rgb = pen->rgb};
    }
    pen->col++;
}

void canvas_put(struct canvas_pen *pen, uint32_t ch)
{
    int width = utf8_width(ch);
    if (width == 2 && pen->col + 1 >= pen->end) {
        canvas_set(pen, ' ');
        return;
    }
    canvas_set(pen, ch);
    if (width == 2) {
        canvas_set(pen, 0);
    }
}

int canvas_text(struct canvas_pen *pen, const char *text, size_t len)
{
    int begin = pen->col;
    size_t at = 0;
    while (at < len && pen->col < pen->end) {
        uint32_t cp = 0;
        at += utf8_decode(text + at, len - at, &cp);
        cp = utf8_safe(cp, pen->canvas->ascii);
        if (utf8_width(cp) > 0) {
            canvas_put(pen, cp);
        }
    }
    return pen->col - begin;
}

int canvas_text_cut(struct canvas_pen *pen, const char *text, size_t len)
{
    int begin = pen->col;
    int room = pen->end - pen->col;
    size_t look = room > 0 && len > (size_t)room * 4 + 4 ? (size_t)room * 4 + 4 : len;
    if (room <= 0) {
        return 0;
    }
    if (utf8_cols(text, look) <= (size_t)room && look == len) {
        return canvas_text(pen, text, len);
    }
    pen->end--;
    (void)canvas_text(pen, text, len);
    pen->end++;
    canvas_put(pen, pen->canvas->ascii ? '~' : CANVAS_ELLIPSIS);
    return pen->col - begin;
}

int canvas_puts(struct canvas_pen *pen, const char *text)
{
    return canvas_text(pen, text, strlen(text));
}

int canvas_printf(struct canvas_pen *pen, const char *fmt, ...)
{
    char line[CANVAS_LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    return canvas_puts(pen, line);
}

void canvas_fill(struct canvas_pen *pen, uint32_t ch, int n)
{
    int end = n > pen->end - pen->col ? pen->end : pen->col + n;
    while (pen->col < end) {
        canvas_set(pen, ch);
    }
}

void canvas_fill_rest(struct canvas_pen *pen, uint32_t ch)
{
    canvas_fill(pen, ch, pen->end - pen->col);
}

void canvas_recolor(struct canvas *canvas, int row, int col, int cols, enum canvas_role role)
{
    struct canvas_pen pen = canvas_pen(canvas, row, col, col + cols, role);
    for (; pen.col < pen.end; pen.col++) {
        struct cell *cell = canvas_cell(&pen);
        if (cell != NULL) {
            cell->role = (uint8_t)role;
        }
    }
}

static void canvas_dump_row(const struct canvas *canvas, int row, enum canvas_dump how,
                            struct buf *out)
{
    static const char letters[] = {
#define CANVAS_ROLE_LETTER(name, letter) letter,
        CANVAS_ROLES(CANVAS_ROLE_LETTER)
#undef CANVAS_ROLE_LETTER
    };
    const struct cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->cols];
    int end = canvas->cols;
    while (how == CANVAS_DUMP_TEXT && end > 0 && cells[end - 1].ch == ' ') {
        end--;
    }
    for (int col = 0; col < end; col++) {
        char text[4];
        if (how == CANVAS_DUMP_ROLES) {
            buf_addc(out, letters[cells[col].role]);
        } else if (cells[col].ch != 0) {
            buf_add(out, text, utf8_encode(cells[col].ch, text));
        }
    }
    buf_addc(out, '\n');
}

void canvas_dump(const struct canvas *canvas, enum canvas_dump how, struct buf *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        canvas_dump_row(canvas, row, how, out);
    }
}
