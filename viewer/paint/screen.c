/* screen: see screen.h. */
#include "viewer/paint/screen.h"

#include <string.h>

static void screen_copy(struct canvas *to, const struct canvas *from, int row)
{
    for (int y = 0; y < from->rows && row + y < to->rows; y++) {
        memcpy(&to->cells[(size_t)(row + y) * (size_t)to->cols],
               &from->cells[(size_t)y * (size_t)from->cols],
               (size_t)(from->cols < to->cols ? from->cols : to->cols) * sizeof *to->cells);
    }
}

int screen_paint(const struct session *session, const struct frame_style *style,
                 struct canvas *canvas, struct err *err)
{
    struct canvas part = {0};
    int rc = 0;
    if (session->apps[1] == NULL) {
        return frame_paint(session->apps[0], style, canvas, err);
    }
    canvas->ascii = style->ascii;
    if (canvas_resize(canvas, session->cols, session->rows, err) != 0) {
        return -1;
    }
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = frame_paint(session->apps[i], style, &part, err);
        if (rc == 0) {
            screen_copy(canvas, &part, session_row(session, i));
        }
    }
    canvas_free(&part);
    return rc;
}

int screen_reading(const struct screen_note *note, const struct frame_style *style,
                   struct canvas *canvas, struct err *err)
{
    canvas->ascii = style->ascii;
    if (canvas_resize(canvas, note->cols < 1 ? 1 : note->cols, note->rows < 1 ? 1 : note->rows,
                      err) != 0) {
        return -1;
    }
    canvas_clear(canvas);
    struct canvas_pen pen = canvas_pen(canvas, 0, 0, canvas->cols, ROLE_HEADER_STRONG);
    (void)canvas_text_cut(&pen, note->title, strlen(note->title));
    pen.role = ROLE_HEADER;
    canvas_fill_rest(&pen, ' ');
    pen = canvas_pen(canvas, canvas->rows / 2, 2, canvas->cols, ROLE_TEXT);
    (void)canvas_puts(&pen, note->text);
    pen = canvas_pen(canvas, canvas->rows - 1, 0, canvas->cols, ROLE_STATUS_KEY);
    canvas_put(&pen, 'q');
    pen.role = ROLE_STATUS;
    (void)canvas_puts(&pen, " quit");
    return 0;
}
