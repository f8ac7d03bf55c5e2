/*
 * variants: a frame in every form that a terminal may show it in, as text, for tests: the script that
 * led to it is played once.
 */
#ifndef CUTLINE_PAINT_VARIANTS_H
#define CUTLINE_PAINT_VARIANTS_H

#include "analysis/base/buf.h"
#include "viewer/app/screens.h"
#include "viewer/paint/theme.h"

/*
 * Adds "== text", "== ascii", "== colour" and "== roles" with the frame (the first two without
 * colour), and "== looks": for {UTF-8, ASCII} x {256, 16, 8, mono} a hash over the characters,
 * colours and attributes of all cells. The session is settled. 0 or -1.
 */
int forms_make(const struct session *session, enum theme_kind kind, struct buf *out,
               struct err *err);

#endif
