/*
 * keydoc: the keys of the timeline as text, from the action table: for `cutline view --keys` and
 * the man page.
 */
#ifndef CUTLINE_APP_KEYDOC_H
#define CUTLINE_APP_KEYDOC_H

#include "analysis/base/buf.h"
#include "viewer/app/actions.h"

/* "h Left", the keys of an action, cut to the room in bytes. Returns out. */
char *keydoc_keys(const struct keymap *map, enum action_id action, char *out, size_t room);
/* Lines of keys, name and help by group, at most 79 columns where the keys are the default ones. */
void keydoc_text(const struct keymap *map, struct buf *out);
/* Lists of mdoc with the default keys. */
void keydoc_mdoc(struct buf *out);

#endif
