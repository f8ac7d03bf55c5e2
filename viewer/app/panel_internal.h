/* panel_internal: what the makers of lists share. */
#ifndef CUTLINE_APP_PANEL_INTERNAL_H
#define CUTLINE_APP_PANEL_INTERNAL_H

#include "analysis/base/buf.h"
#include "viewer/app/app_internal.h"

/* A copy of the text in the list's arena. */
const char *panel_copy(struct panel *list, const struct buf *text, size_t *len);
/* Does the list's own filter keep a line of this text? */
bool panel_wants(const struct app *app, const char *text, size_t len);

void panel_make_zones(struct app *app);
void panel_make_findings(struct app *app);
void panel_make_bookmarks(struct app *app);
void panel_make_instances(struct app *app);
void panel_make_events(struct app *app);
void panel_make_delta(struct app *app);

#endif
