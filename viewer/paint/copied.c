/* copied: see copied.h. */
#include "viewer/paint/copied.h"

#include "viewer/paint/svg.h"

int taken_make(const struct app *app, const struct frame_style *style, const struct theme *theme,
               struct buf *out, struct err *err)
{
    struct frame_style plain = *style;
    struct canvas canvas = {0};
    if (app->take == TAKE_COMMAND) {
        buf_add(out, app->taken.data, app->taken.len);
        return 0;
    }
    plain.plain = app->take == TAKE_SCREEN;
    int rc = frame_paint(app, &plain, &canvas, err);
    if (rc == 0 && app->take == TAKE_SCREEN) {
        canvas_dump(&canvas, CANVAS_DUMP_TEXT, out);
    } else if (rc == 0) {
        svg_write(&canvas, theme, out);
    }
    canvas_free(&canvas);
    return rc;
}

void taken_clipboard(const struct buf *text, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    buf_adds(out, "\033]52;c;");
    for (size_t i = 0; i < text->len; i += 3) {
        uint32_t left = (uint32_t)(text->len - i);
        uint32_t a = (unsigned char)text->data[i];
        uint32_t b = left > 1 ? (unsigned char)text->data[i + 1] : 0;
        uint32_t c = left > 2 ? (unsigned char)text->data[i + 2] : 0;
        uint32_t word = a << 16 | b << 8 | c;
        buf_addc(out, digits[word >> 18 & 63]);
        buf_addc(out, digits[word >> 12 & 63]);
        buf_addc(out, (char)(left > 1 ? digits[word >> 6 & 63] : '='));
        buf_addc(out, (char)(left > 2 ? digits[word & 63] : '='));
    }
    buf_adds(out, "\033\\");
}
