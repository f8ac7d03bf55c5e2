/* screen: see screen.h. */
#include "viewer/paint/screen.h"

#include <string.h>

static void screen_copy(struct canvas *to, const struct canvas *from, int row)
{
    int y;
    for (y = 0; y < from->rows && row + y < to->rows; y++) {
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
    int i;
    if (session->apps[1] == NULL) {
        return frame_paint(session->apps[0], style, canvas, err);
    }
    canvas->ascii = style->ascii;
    if (canvas_resize(canvas, session->cols, session->rows, err) != 0) {
        return -1;
    }
    for (i = 0; i < 2 && rc == 0; i++) {
        rc = frame_paint(session->apps[i], style, &part, err);
        if (rc == 0) {
            screen_copy(canvas, &part, session_row(session, i));
        }
    }
    canvas_free(&part);
    return rc;
}
