/*
 * cmd_view_state: what a person chose for a capture (rows folded, hidden, pinned, bookmarks), kept
 * in a file in the user's folder for states. What fails here is no matter.
 */
#ifndef CUTLINE_CLI_CMD_VIEW_STATE_H
#define CUTLINE_CLI_CMD_VIEW_STATE_H

#include "analysis/base/buf.h"
#include "viewer/app/app.h"

/* Applies what was kept for the capture of the app. */
void view_state_load(struct app *app);
/* Keeps what was chosen, where it differs from before (as state_write wrote it). */
void view_state_save(const struct app *app, const struct buf *before);

#endif
