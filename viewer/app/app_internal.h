/* app_internal: what the files of the app share; nobody outside of viewer/app includes it. */
#ifndef CUTLINE_APP_APP_INTERNAL_H
#define CUTLINE_APP_APP_INTERNAL_H

#include "viewer/app/app.h"

/* Works out the places of the parts of the screen. */
void app_lay_out(struct app *app);
/* Scrolls so that the current row is on the screen. */
void app_scroll(struct app *app);
/* The text of the prompt changed: live filter, message of a bad pattern. */
void app_prompt_changed(struct app *app);
void app_mouse(struct app *app, const struct key *key);
/* Selects the event of the row that lies nearest to t (prefers the one that holds t). */
void app_select_near(struct app *app, uint32_t row, int64_t t_ns);

#endif
