/*
 * state: what a person chose for one capture, as text: folded, hidden and pinned rows, their order,
 * bookmarks. It is written to the user's state folder and read again with the next opening.
 *
 *     bookmark BEGIN_NS END_NS TEXT
 *     row FLAGS PATH          FLAGS: f folded, h hidden, p pinned, - none; PATH: labels from the
 * top
 *
 * Lines that name no row of the capture are skipped; the order counts only where all rows are
 * named.
 */
#ifndef CUTLINE_APP_STATE_H
#define CUTLINE_APP_STATE_H

#include <stddef.h>

#include "analysis/base/buf.h"
#include "viewer/app/app.h"

void state_write(const struct app *app, struct buf *out);
void state_read(struct app *app, const char *text, size_t len);

/* What differs from a capture that was just opened: rows, marks, what is selected; on one line, parts
 * apart by ';', for --state. Nothing where nothing does. */
void state_put_view(const struct app *app, struct buf *out);
/* The same back, once the window is set. A part that does not fit the capture is left out. */
void state_take_view(struct app *app, const char *text);

#endif
