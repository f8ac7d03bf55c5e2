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

#endif
